"""What is asked before images are added, features replaced or a folder located; and the work under way."""

from __future__ import annotations

import enum
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QCheckBox, QDialog, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from a3s_desktop.i18n import mark, tr
from a3s_desktop.ui.dialogs import wrapped
from a3s_desktop.ui.fields import FEATURE_FILTER, ORDER_FILTER, PARTS_FILTER, PathField, PathList
from a3s_desktop.ui.theme import SPACE_2, SPACE_3, SPACE_4, SPACE_5, set_role

_PAUSE_MS = 400  # of typing after which what was given is checked


class Later(enum.Enum):
    """What comes later."""

    ADD = "add"
    REPLACE = "replace"
    LOCATE = "locate"


TITLES = {
    Later.ADD: mark("Add images"),
    Later.REPLACE: mark("Replace features"),
    Later.LOCATE: mark("Locate image folder"),
}
_INTRODUCTIONS = {
    Later.ADD: mark(
        "Every answer, name and mark stays. The new images are put where they seem to belong, and only what is not "
        "clear is asked. Undo does not take them out again; the project as it is now is kept in its folder "
        "“earlier”."
    ),
    Later.REPLACE: mark(
        "For features of a better model, with one row for each image. First you are shown what they would change; "
        "every answer stays in force."
    ),
    Later.LOCATE: mark(
        "For images that were moved. They are found by their place in the folder, else by what the files hold. None is "
        "dropped: what is not found keeps a placeholder."
    ),
}
_BUTTONS = {Later.ADD: mark("Add images"), Later.REPLACE: mark("Compare"), Later.LOCATE: mark("Use this folder")}


class LaterDialog(QDialog):
    """A form whose content is checked while it is filled in. Nothing is written by it.

    Signals
    -------
    changed()
        Something else was given, and is to be checked; see `show_check`.
    requested()
        Go on with what was given.
    """

    changed = Signal()
    requested = Signal()

    def __init__(self, parent: QWidget | None, what: Later, root: Path, parts: bool = False) -> None:
        super().__init__(parent)
        self.what = what
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setWindowTitle(tr(TITLES[what]))
        self.setMinimumWidth(560)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(SPACE_5, SPACE_5, SPACE_5, SPACE_4)
        layout.setSpacing(SPACE_3)
        layout.addWidget(wrapped(tr(TITLES[what]), "heading"))
        layout.addWidget(wrapped(tr(_INTRODUCTIONS[what]), "muted"))
        self.folder = PathField(
            tr("Folder with the new images") if what is Later.ADD else tr("Where the images are now"), folder=True
        )
        self.features = PathList(tr("Feature files"), FEATURE_FILTER)
        self.order = PathField(tr("Order of the rows (optional)"), pattern=ORDER_FILTER)
        self.parts = PathField(tr("Rectangles of the new photos"), pattern=PARTS_FILTER)
        self.leave_out = QCheckBox(tr("Leave out new images without a row"))
        for field in (self.folder, self.features, self.order, self.parts):
            field.start = str(root)
        if what is not Later.REPLACE:
            self._add(layout, self.folder)
        if what is not Later.LOCATE:
            self._add(layout, self.features)
            if what is Later.ADD:
                layout.addWidget(wrapped(tr("None where this project describes its images itself."), "muted"))
            self._add(layout, self.order)
        if what is Later.ADD:
            if parts:
                self._add(layout, self.parts)
            layout.addWidget(self.leave_out)
        self.found = wrapped("", "muted")
        layout.addWidget(self.found)
        layout.addStretch(1)
        row = QHBoxLayout()
        row.addStretch(1)
        self.cancel_button = QPushButton(tr("Cancel"))
        self.cancel_button.clicked.connect(self.reject)
        self.ok_button = QPushButton(tr(_BUTTONS[what]))
        set_role(self.ok_button, kind="primary")
        self.ok_button.clicked.connect(self._accept)
        self.ok_button.setDefault(True)
        self.ok_button.setEnabled(False)
        for button in (self.cancel_button, self.ok_button):
            row.addWidget(button)
        layout.addLayout(row)
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self.changed)
        for signal in (self.folder.changed, self.features.changed, self.order.changed, self.parts.changed):
            signal.connect(self._touched)
        self.leave_out.toggled.connect(self._touched)
        if what is Later.ADD:
            self.folder.set_path(root)

    def show_check(self, text: str, ok: bool) -> None:
        """What the check of the present content found."""
        if not self._pause.isActive():
            self.found.setText(text)
            self.ok_button.setEnabled(ok)
            self._fit()

    def showEvent(self, event: QShowEvent) -> None:
        """As high as its text needs."""
        super().showEvent(event)
        self._fit()

    def _fit(self) -> None:
        layout = self.layout()
        if layout is not None:
            layout.activate()
            needed = layout.totalHeightForWidth(self.width()) if layout.hasHeightForWidth() else 0
            self.setMinimumHeight(max(needed, layout.totalMinimumSize().height()))

    def _add(self, layout: QVBoxLayout, field: PathField | PathList) -> None:
        block = QVBoxLayout()
        block.setSpacing(SPACE_2)
        line = field.edit if isinstance(field, PathField) else field.list
        label = QLabel(line.accessibleName())
        label.setBuddy(line)
        block.addWidget(label)
        block.addWidget(field)
        layout.addLayout(block)

    @Slot()
    def _touched(self) -> None:
        self.ok_button.setEnabled(False)
        self.found.setText(tr("Checking…"))
        self._pause.start()

    @Slot()
    def _accept(self) -> None:
        self.requested.emit()
        self.accept()
