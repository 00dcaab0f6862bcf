"""The tools for looking at the pair, in a narrow column beside the images: it takes no height from them."""

from __future__ import annotations

from PySide6.QtCore import QSize, Slot
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

from a3s_desktop.i18n import tr
from a3s_desktop.ui.label_parts import ToolIcon
from a3s_desktop.ui.shortcuts import Shortcuts
from a3s_desktop.ui.theme import SPACE_2, icon

# In groups; "" parts them. All of them are in the menus too.
TOOLS = (
    "view.fit", "view.actual", "view.zoom_in", "view.zoom_out", "view.link", "",
    "compare.flip", "compare.overlay", "compare.split", "compare.difference", "",
    "compare.turn_left", "compare.turn_right", "compare.mirror_left", "compare.mirror_right", "compare.tones",
    "compare.original", "compare.facts", "",
    "view.legend",
)  # fmt: skip
WIDTH = 34
_CELL = 30
_GAP = SPACE_2


class ToolStrip(QWidget):
    """Icon buttons one above the other; what does not fit is behind "more"."""

    def __init__(self, shortcuts: Shortcuts, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedWidth(WIDTH)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self._buttons: list[tuple[ToolIcon, bool]] = []  # and whether a gap stands before it
        gap = False
        for name in TOOLS:
            if name:
                self._buttons.append((self._button(shortcuts.action(name)), gap))
            gap = not name
        self._more_action = QAction(tr("More tools"), self)
        self._more = self._button(self._more_action)
        self._menu = QMenu(self)
        self._more_action.triggered.connect(self._open)
        self.recolour()

    def recolour(self) -> None:
        """After a change of theme."""
        self._more_action.setIcon(icon("more"))

    def fitting(self) -> int:
        """How many tools are in sight; the others are behind "more"."""
        return sum(not button.isHidden() for button, _ in self._buttons)

    def minimumSizeHint(self) -> QSize:
        """Any height will do."""
        return QSize(WIDTH, 2 * _CELL)

    def sizeHint(self) -> QSize:
        """All tools."""
        return QSize(WIDTH, self._height(len(self._buttons)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place what fits."""
        super().resizeEvent(event)
        room, count = self.height(), len(self._buttons)
        whole = self._height(count) <= room
        while not whole and count and self._height(count) + _CELL > room:
            count -= 1
        y = 0
        for at, (button, gap) in enumerate(self._buttons):
            button.setHidden(at >= count)
            y += _GAP if gap and at < count else 0
            button.move((WIDTH - _CELL) // 2, y)
            y += _CELL if at < count else 0
        self._more.setHidden(whole)
        self._more.move((WIDTH - _CELL) // 2, y)

    def _button(self, action: QAction) -> ToolIcon:
        button = ToolIcon(action, self)
        button.setFixedSize(QSize(_CELL, _CELL))
        return button

    def _height(self, count: int) -> int:
        return sum(_CELL + (_GAP if gap else 0) for _, gap in self._buttons[:count])

    @Slot()
    def _open(self) -> None:
        self._menu.clear()
        self._menu.addActions([button.action for button, _ in self._buttons if button.isHidden()])
        self._menu.popup(self._more.mapToGlobal(self._more.rect().topRight()))
