"""What can be done with the images that the lasso caught: a small bar at the foot of the map."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from a3s_desktop.i18n import mark, tr, trn
from a3s_desktop.ui.theme import SPACE_1, SPACE_2, icon, set_role, tokens


@dataclass(frozen=True, slots=True)
class SelectionAction:
    """One button of the bar."""

    id: str
    text: str
    tip: str
    icon: str


ACTIONS = (
    SelectionAction("open", mark("Open"), mark("Show these images"), "grid"),
    SelectionAction("split", mark("Split off"), mark("Make these images a cluster of their own"), "split-off"),
    SelectionAction("move", mark("Move to…"), mark("Put these images into another cluster: click it next"), "move-to"),
    SelectionAction("junk", mark("Junk"), mark("Take these images out of the sorting; can be undone"), "trash"),
    SelectionAction("copy", mark("Copy names"), mark("Copy the file names to the clipboard"), "copy"),
)


class SelectionBar(QFrame):
    """See the module. It is hidden while nothing is selected.

    Signals
    -------
    acted(str)
        A button was pressed: the id of its action.
    cleared()
        The selection is to be given up.
    """

    acted = Signal(str)
    cleared = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._dressed = ""
        set_role(self, role="foot")
        self.setAccessibleName(tr("Selected images"))
        self._text = QLabel()
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        set_role(self._text, role="strong")
        self._close = QToolButton()
        self._close.setAccessibleName(tr("Clear the selection"))
        self._close.setToolTip(tr("Clear the selection (Esc)"))
        self._close.clicked.connect(self.cleared)
        set_role(self._close, kind="icon")
        self._buttons: dict[str, QToolButton] = {}
        head, row = QHBoxLayout(), QHBoxLayout()
        head.addWidget(self._text, 1)
        head.addWidget(self._close)
        row.setSpacing(SPACE_1)
        for action in ACTIONS:
            button = QToolButton()
            button.setObjectName(action.id)
            button.setText(tr(action.text))
            button.setToolTip(tr(action.tip))
            button.setAccessibleName(tr(action.text))
            button.clicked.connect(self._press)
            set_role(button, kind="quiet")
            self._buttons[action.id] = button
            row.addWidget(button)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_2, SPACE_1, SPACE_1, SPACE_1)
        column.setSpacing(0)
        column.addLayout(head)
        column.addLayout(row)
        for button in (self._close, *self._buttons.values()):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the keys with the pair
        self.setMinimumWidth(1)
        self.set_actions(("open", "copy"))
        self.hide()

    def set_actions(self, names: Iterable[str]) -> None:
        """Ids of the actions that can be used now; the others are greyed."""
        wanted = set(names)
        for name, button in self._buttons.items():
            button.setEnabled(name in wanted)

    def show_count(self, count: int) -> None:
        """Say how many images are selected; none hides the bar."""
        self._text.setText(trn("{n} image selected", "{n} images selected", count))
        self.setVisible(count > 0)
        self.raise_()
        self._fit()

    def button(self, name: str) -> QToolButton:
        """A button by its action's id."""
        return self._buttons[name]

    @property
    def text(self) -> str:
        """What the bar says."""
        return self._text.text()

    @Slot()
    def _press(self) -> None:
        sender = self.sender()
        if isinstance(sender, QToolButton):
            self.acted.emit(sender.objectName())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        changed = event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange)
        if changed and hasattr(self, "_buttons") and self.isVisible():
            self._retheme()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._retheme()  # not before: drawing the icons takes 20 ms

    def _retheme(self) -> None:
        if self._dressed == tokens().name:  # Qt tells of one change of theme several times
            return
        self._dressed = tokens().name
        self._close.setIcon(icon("close"))
        for action in ACTIONS:
            self._buttons[action.id].setIcon(icon(action.icon))

    def _fit(self) -> None:
        """Texts where there is room for them, else icons alone (their names are in the tool tips)."""
        texts = Qt.ToolButtonStyle.ToolButtonTextBesideIcon
        metrics = self.fontMetrics()
        needed = sum(metrics.horizontalAdvance(button.text()) + 52 for button in self._buttons.values())
        style = texts if needed <= self.width() else Qt.ToolButtonStyle.ToolButtonIconOnly
        for button in self._buttons.values():
            button.setToolButtonStyle(style)
