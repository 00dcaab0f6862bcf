"""Messages and small questions. None blocks: each is opened, tells its outcome by a signal, and deletes itself."""

from __future__ import annotations

import platform
import sys
import traceback
from pathlib import Path

import PySide6
from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QPalette, QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from a3s_desktop import __version__
from a3s_desktop.discretion import without_names
from a3s_desktop.errors import A3SError, ContradictionError
from a3s_desktop.i18n import tr
from a3s_desktop.logs import Crash, log_tail
from a3s_desktop.ui.theme import SPACE_2, SPACE_4, SPACE_5, icon_pixmap, set_role, tokens


def system_details() -> str:
    """Versions that a report of a problem should carry; no names, no paths."""
    import numpy as np  # here, since a dialog may be the first thing that is shown

    return (
        f"A3S Desktop {__version__}, Python {platform.python_version()}, PySide6 {PySide6.__version__}, "
        f"NumPy {np.__version__}, {platform.system()} {platform.release()} {platform.machine()}, "
        f"{QGuiApplication.platformName()}"
    )


def error_details(error: BaseException) -> str:
    """The whole of an error as text to be copied: message, hint, versions, and for a bug its traceback."""
    parts = [str(error)]
    if isinstance(error, A3SError):
        parts = [error.message, error.hint]
    if isinstance(error, ContradictionError):
        parts.append("; ".join(f"{left} {answer} {right}" for left, right, answer in error.chain))
    parts.append(system_details())
    if not isinstance(error, A3SError) or error.__cause__ is not None:
        parts.append("".join(traceback.format_exception(error)).rstrip())
    return "\n".join(part for part in parts if part)


class MessageDialog(QDialog):
    """An icon, a sentence, a hint, optional details and buttons.

    Signals
    -------
    chosen(str)
        Key of the button that was pressed; "close" where the dialog was closed in another way.
    """

    chosen = Signal(str)

    def __init__(
        self,
        parent: QWidget | None,
        title: str,
        message: str,
        hint: str = "",
        *,
        symbol: str = "warning",
        buttons: tuple[tuple[str, str], ...] = (),
        primary: str = "close",
        details: str = "",
        show_details: bool = False,
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setWindowTitle(title)
        self.setMinimumWidth(680 if show_details else 460)
        self._details = details
        self._answered = False
        layout = QVBoxLayout(self)
        layout.setContentsMargins(SPACE_5, SPACE_5, SPACE_5, SPACE_4)
        layout.setSpacing(SPACE_4)
        layout.addLayout(self._text(symbol, message, hint))
        if show_details and details:
            self.view = QPlainTextEdit(details)
            self.view.setReadOnly(True)
            self.view.setMinimumHeight(220)
            self.view.setAccessibleName(tr("Details"))
            layout.addWidget(self.view, 1)
        self.below = QVBoxLayout()  # between the text and the buttons
        layout.addLayout(self.below)
        layout.addLayout(self._buttons(buttons or (("close", tr("Close")),), primary))

    def _text(self, symbol: str, message: str, hint: str) -> QHBoxLayout:
        theme = tokens()
        colour = {"warning": theme.warning, "info": theme.accent, "check-circle": theme.same}.get(symbol, theme.text)
        row = QHBoxLayout()
        row.setSpacing(SPACE_4)
        picture = QLabel()
        picture.setPixmap(icon_pixmap(symbol, colour, 32, self.devicePixelRatioF()))
        row.addWidget(picture, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout()
        column.setSpacing(SPACE_2)
        self.message = wrapped(message, "heading")
        column.addWidget(self.message)
        self.hint = wrapped(hint, "muted")
        self.hint.setVisible(bool(hint))
        column.addWidget(self.hint)
        column.addStretch(1)
        row.addLayout(column, 1)
        return row

    def _buttons(self, buttons: tuple[tuple[str, str], ...], primary: str) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(SPACE_2)
        if self._details:
            copy = QPushButton(tr("Copy details"))
            copy.setAutoDefault(False)
            copy.clicked.connect(self._copy)
            row.addWidget(copy)
            self._copy_button = copy
        row.addStretch(1)
        self.buttons: dict[str, QPushButton] = {}
        for key, text in buttons:
            button = QPushButton(text)
            button.setProperty("key", key)
            button.setAutoDefault(False)
            button.clicked.connect(self._press)
            row.addWidget(button)
            self.buttons[key] = button
        chosen = self.buttons[primary]
        set_role(chosen, kind="primary")
        chosen.setDefault(True)
        self._first_focus = chosen
        return row

    @Slot()
    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._details)
        self._copy_button.setText(tr("Copied"))

    @Slot()
    def _press(self) -> None:
        self._finish(str(self.sender().property("key")))

    def showEvent(self, event: QShowEvent) -> None:
        """The main button has the focus, and the height fits the wrapped text."""
        super().showEvent(event)
        self._first_focus.setFocus()
        _fit_height(self)

    def reject(self) -> None:
        """Escape and the window's close button: however it is closed, the one who asked gets an answer."""
        self._finish("close")

    def _finish(self, key: str) -> None:
        if not self._answered:
            self._answered = True
            self.done(0)  # first, so that what follows may open another dialog
            self.chosen.emit(key)


def show_error(parent: QWidget, error: A3SError, title: str = "A3S Desktop") -> MessageDialog:
    """Say a known problem: its sentence, its hint, and the details to be copied."""
    dialog = MessageDialog(parent, title, error.message, error.hint, details=error_details(error))
    dialog.open()
    return dialog


class CrashDialog(MessageDialog):
    """Says that a bug was met. The answers are safe, since each is on disk before the next pair is shown.

    The details are without the names of images, folders and projects, unless they are asked for.

    Parameters
    ----------
    parent : QWidget or None
    message, hint : str
    details : str
        Versions, traceback, the end of the log.
    buttons, primary
        As of `MessageDialog`.
    """

    def __init__(
        self,
        parent: QWidget | None,
        message: str,
        hint: str,
        details: str,
        buttons: tuple[tuple[str, str], ...],
        primary: str = "close",
    ) -> None:
        self._all, self._bare = details, without_names(details)
        super().__init__(
            parent, tr("A3S Desktop – unexpected problem"), message, hint,
            buttons=buttons, primary=primary, details=self._bare, show_details=True,
        )  # fmt: skip
        self.with_names = QCheckBox(tr("With the names of images and folders"))
        self.with_names.toggled.connect(self._choose_details)
        self.below.addWidget(self.with_names)

    @Slot(bool)
    def _choose_details(self, whole: bool) -> None:
        self._details = self._all if whole else self._bare
        self.view.setPlainText(self._details)


def show_crash(parent: QWidget | None, crash: Crash, log_file: Path | None = None) -> CrashDialog:
    """Say that a bug was met, and offer to go on."""
    hint = tr(
        "Every answer that you gave is saved. You can go on; if it happens again, quit and start the program again."
    )
    details = crash.details
    tail = log_tail(log_file)
    if tail:
        details += f"\n\n{tail}"
    dialog = CrashDialog(
        parent, tr("Something went wrong inside the program."), hint, details,
        (("quit", tr("Quit")), ("close", tr("Go on"))),
    )  # fmt: skip
    dialog.open()
    return dialog


def ask(
    parent: QWidget,
    title: str,
    message: str,
    hint: str,
    buttons: tuple[tuple[str, str], ...],
    primary: str,
    symbol: str = "info",
) -> MessageDialog:
    """A question with named answers; see `MessageDialog.chosen`."""
    dialog = MessageDialog(parent, title, message, hint, symbol=symbol, buttons=buttons, primary=primary)
    dialog.open()
    return dialog


class AboutDialog(MessageDialog):
    """What the program is, and its versions."""

    def __init__(self, parent: QWidget | None) -> None:
        super().__init__(
            parent,
            tr("About A3S Desktop"),
            f"A3S Desktop {__version__}",
            tr(
                "Sorts images by identity with few answers. It compares the images' embeddings, groups what is surely "
                "alike, and asks you about the pairs whose answer tells most. Works offline; your images stay where "
                "they are."
            )
            + f"\n\n{system_details()}",
            symbol="app",
            details=f"{system_details()}\n{sys.version}",
        )


def _fit_height(dialog: QDialog) -> None:
    layout = dialog.layout()
    if layout is not None and layout.hasHeightForWidth():
        dialog.resize(dialog.width(), layout.totalHeightForWidth(dialog.width()))


def wrapped(text: str, role: str) -> QLabel:
    """A label of plain text that may go over several lines and can be copied from."""
    label = QLabel(text)
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.setTextFormat(Qt.TextFormat.PlainText)  # file names may look like markup
    label.setForegroundRole(QPalette.ColorRole.WindowText)
    label.setProperty("role", role)
    return label
