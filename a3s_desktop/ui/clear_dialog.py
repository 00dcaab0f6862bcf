"""What the program keeps besides answers, images and backups: what, where, how large; and what of it is to go."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from a3s_desktop.i18n import mark, tr, trn
from a3s_desktop.storage.clearing import TITLES, Cleared, Hoard, Kind
from a3s_desktop.ui.dialogs import wrapped
from a3s_desktop.ui.file_facts import byte_text
from a3s_desktop.ui.theme import SPACE_1, SPACE_2, SPACE_3, SPACE_4, SPACE_5, set_role

_WHY = {
    Kind.THUMBNAILS: mark("Show large photos quickly; they are made again when they are needed."),
    Kind.LOGS: mark("What the program did, for reports of problems. Names of images and folders may be in them."),
    Kind.RECENT: mark("The list on the start page, and the folders shown last. The projects themselves stay."),
    Kind.PROJECT: mark("The layout of the map and work that was interrupted; made again when it is needed."),
    Kind.DEMOS: mark("Their images and projects, with everything that you answered in them."),
}
_MOST_OF_THE_SCREEN = 0.88  # its height; the rest is for the window's frame
_AT_FIRST = (Kind.THUMBNAILS, Kind.LOGS, Kind.RECENT)


class ClearDialog(QDialog):
    """One line for each kind.

    Parameters
    ----------
    parent : QWidget or None

    Signals
    -------
    wanted(object)
        Tuple of `Kind`, to be cleared.
    """

    wanted = Signal(object)

    def __init__(self, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setWindowTitle(tr("Clear private data"))
        self.setMinimumWidth(620)
        self.boxes: dict[Kind, QCheckBox] = {}
        self._sizes: dict[Kind, QLabel] = {}
        layout = QVBoxLayout(self)
        layout.setContentsMargins(SPACE_5, SPACE_5, SPACE_5, SPACE_4)
        layout.setSpacing(SPACE_3)
        layout.addWidget(wrapped(tr("What the program keeps about your work"), "heading"))
        layout.addWidget(
            wrapped(
                tr("None of it leaves this computer. Images are never touched, nor answers, names and backups."),
                "muted",
            )
        )
        self._list = QWidget()
        self._grid = QGridLayout(self._list)
        self._grid.setContentsMargins(0, 0, SPACE_2, 0)
        self._grid.setColumnStretch(0, 1)
        self._grid.setHorizontalSpacing(SPACE_4)
        self._grid.setVerticalSpacing(SPACE_1)
        self._scroll = QScrollArea()
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setWidget(self._list)
        for each in (self._scroll.viewport(), self._list):  # the scroll area has switched it on
            each.setAutoFillBackground(False)
        layout.addWidget(self._scroll, 1)
        self.outcome = wrapped(tr("Looking…"), "strong")
        layout.addWidget(self.outcome)
        self.problem = wrapped("", "error")
        self.problem.hide()
        layout.addWidget(self.problem)
        row = QHBoxLayout()
        row.addStretch(1)
        self.close_button = QPushButton(tr("Close"))
        self.clear_button = QPushButton(tr("Clear"))
        set_role(self.clear_button, kind="primary")
        for button, slot in ((self.close_button, self.close), (self.clear_button, self._ask)):
            button.setAutoDefault(False)
            button.clicked.connect(slot)
            row.addWidget(button)
        layout.addLayout(row)
        self._update()

    def show_hoards(self, hoards: Sequence[Hoard], recent: int) -> None:
        """Say what there is; ``recent``: so many projects are on the list."""
        first = not self.boxes
        if first:
            for hoard in hoards:
                self._add(hoard)
            self.outcome.hide()
        for hoard in hoards:
            box, size = self.boxes[hoard.kind], self._sizes[hoard.kind]
            there = bool(hoard.size or (hoard.kind is Kind.RECENT and recent))
            text = trn("{n} project", "{n} projects", recent) if hoard.kind is Kind.RECENT else byte_text(hoard.size)
            size.setText(text if there else tr("nothing"))
            box.setEnabled(there)
            box.setChecked(first and there and hoard.kind in _AT_FIRST)
            box.setAccessibleDescription(size.text())
        self._update()
        self._fit()
        (self.clear_button if self.clear_button.isEnabled() else self.close_button).setFocus()

    def show_busy(self) -> None:
        """The clearing is under way."""
        self.outcome.setText(tr("Clearing…"))
        self.outcome.show()
        self.problem.hide()
        for button in (*self.boxes.values(), self.clear_button):
            button.setEnabled(False)

    def show_done(self, done: Sequence[Cleared]) -> None:
        """Say what is gone, and what is not; `show_hoards` follows."""
        what = " · ".join(
            tr(TITLES[one.kind]) if one.kind is Kind.RECENT else f"{tr(TITLES[one.kind])} ({byte_text(one.size)})"
            for one in done
        )
        self.outcome.setText(tr("Removed: {what}", what=what))
        problems = [one.problem for one in done if one.problem]
        self.problem.setText("\n".join(problems))
        self.problem.setVisible(bool(problems))

    def _add(self, hoard: Hoard) -> None:
        box = QCheckBox(tr(TITLES[hoard.kind]))
        box.toggled.connect(self._update)
        size = QLabel()
        size.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        row = self._grid.rowCount()
        self._grid.addWidget(box, row, 0)
        self._grid.addWidget(size, row, 1)
        text = wrapped(f"{tr(_WHY[hoard.kind])}\n{_breakable(str(hoard.place))}", "small")
        text.setContentsMargins(SPACE_5, 0, 0, SPACE_2)
        self._grid.addWidget(text, row + 1, 0, 1, 2)
        self.boxes[hoard.kind], self._sizes[hoard.kind] = box, size

    def showEvent(self, event: QShowEvent) -> None:
        """As high as the text needs."""
        super().showEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        """Another size of text needs another height."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange) and self.boxes:
            self._fit()

    def _fit(self) -> None:
        """As high as the text needs, as far as the screen has room; the list is scrolled otherwise."""
        self._grid.activate()
        rows = max(0, self._grid.totalHeightForWidth(max(1, self._scroll.viewport().width()))) + SPACE_1
        screen = self.screen().availableGeometry().height()
        self._scroll.setFixedHeight(min(rows, screen // 2))
        self.layout().activate()
        others = self.layout().totalHeightForWidth(self.width()) - self._scroll.height()
        self._scroll.setMinimumHeight(0)
        self._scroll.setMaximumHeight(rows)
        self.resize(self.width(), min(round(screen * _MOST_OF_THE_SCREEN), others + rows))

    @Slot()
    def _update(self) -> None:
        self.clear_button.setEnabled(any(box.isChecked() for box in self.boxes.values()))

    @Slot()
    def _ask(self) -> None:
        self.wanted.emit(tuple(kind for kind, box in self.boxes.items() if box.isChecked()))


def _breakable(path: str) -> str:
    """A path that may go over several lines, after each of its separators."""
    return path.replace("/", "/\u200b").replace("\\", "\\\u200b")
