"""What a change of an old answer did, with the ways on: see what has no effect now, take the change back."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from a3s_desktop.i18n import tr
from a3s_desktop.ui.theme import SPACE_2, SPACE_3, set_role


class HistoryNotice(QFrame):
    """A sentence and two buttons; hidden while there is nothing to say.

    Signals
    -------
    showWanted(), undoWanted()
    """

    showWanted = Signal()  # noqa: N815 - Qt's naming
    undoWanted = Signal()  # noqa: N815

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = QLabel()
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setWordWrap(True)
        self._text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        self.show_button = QPushButton(tr("Show them"))
        self.show_button.setAccessibleName(tr("Show the entries without effect"))
        self.undo_button = QPushButton(tr("Undo"))
        self.undo_button.setAccessibleName(tr("Undo the change of the old answer"))
        self.close_button = QPushButton(tr("Close"))
        self.close_button.setAccessibleName(tr("Close this message"))
        set_role(self.close_button, kind="quiet")
        buttons = QHBoxLayout()
        buttons.setSpacing(SPACE_2)
        for button in (self.show_button, self.undo_button):
            buttons.addWidget(button)
        buttons.addStretch(1)
        buttons.addWidget(self.close_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_3, SPACE_2, SPACE_3, SPACE_2)
        column.setSpacing(SPACE_2)
        column.addWidget(self._text)
        column.addLayout(buttons)
        self.show_button.clicked.connect(self.showWanted)
        self.undo_button.clicked.connect(self.undoWanted)
        self.close_button.clicked.connect(self.clear)
        self.hide()

    @property
    def text(self) -> str:
        """What it says; "" while it is hidden."""
        return "" if self.isHidden() else self._text.text()

    def say(self, text: str, conflicts: bool) -> None:
        """Say something; with ``conflicts`` it is a warning, and the way to them is offered."""
        self._text.setText(text)
        self.show_button.setVisible(conflicts)
        set_role(self, role="banner-warning" if conflicts else "banner")
        self.setAccessibleName(text)
        self.show()

    @Slot()
    def clear(self) -> None:
        """Nothing to say any more."""
        self.hide()
