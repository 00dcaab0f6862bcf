"""The map without a mouse: from image to image by the arrows, and a key for everything that a pointer can do."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPointF, Qt, Signal
from PySide6.QtGui import QKeyEvent

from a3s_desktop.ui.map_lasso import Lasso, LassoState
from a3s_desktop.ui.map_scene import MapScene

_ARROWS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, 1),
    Qt.Key.Key_Down: (0, -1),
}
_STEP = 0.2  # of the view that Ctrl and an arrow move


class MapKeys(QObject):
    """See the module.

    Parameters
    ----------
    scene : MapScene
    lasso : Lasso

    Signals
    -------
    reached(int)
        The keyboard is at this item now.
    opened(int)
        Enter on an item.
    toggled(int, bool)
        Select this item, or (True) its whole cluster.
    asked(str)
        "whole", "pair", "lasso", "find" or "back".
    """

    reached = Signal(int)
    opened = Signal(int)
    toggled = Signal(int, bool)
    asked = Signal(str)

    def __init__(self, scene: MapScene, lasso: Lasso, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._scene = scene
        self._lasso = lasso
        self._at = -1
        self._asks = {
            Qt.Key.Key_Home: "whole",
            Qt.Key.Key_P: "pair",
            Qt.Key.Key_L: "lasso",
            Qt.Key.Key_Slash: "find",
            Qt.Key.Key_Escape: "back",
        }
        zooms = (Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Minus, Qt.Key.Key_Underscore)
        others = (Qt.Key.Key_S, Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Backspace)
        scene.keys = frozenset(int(key) for key in (*_ARROWS, *self._asks, *zooms, *others))

    @property
    def at(self) -> int:
        """The item that the keyboard is at; -1: none yet."""
        return self._at

    def place(self, item: int) -> None:
        """Put the keyboard's place at an item; -1: nowhere."""
        self._at = item if item < len(self._scene.places) else -1
        self._scene.marks.set_cursor(self._scene.point(self._at) if self._at >= 0 else None)
        if self._at >= 0:
            self.reached.emit(self._at)

    def refresh(self) -> None:
        """Follow the item to its new place."""
        if self._at >= len(self._scene.places):
            self._at = -1
        self._scene.marks.set_cursor(self._scene.point(self._at) if self._at >= 0 else None)

    def press(self, event: QKeyEvent) -> bool:
        """Do what a key means on the map; False: nothing."""
        key, held = Qt.Key(event.key()), event.modifiers()
        if self._lasso.state is LassoState.CORNERS and self._corner_key(key, held):
            return True
        if key in _ARROWS:
            right, up = _ARROWS[key]
            if held & Qt.KeyboardModifier.ControlModifier:
                self._scene.pan(right * _STEP, -up * _STEP)
            else:
                self._walk(right, up)
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self._scene.zoom(1.25)
        elif key in (Qt.Key.Key_Minus, Qt.Key.Key_Underscore):
            self._scene.zoom(0.8)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._at >= 0:
            self.opened.emit(self._at)
        elif key == Qt.Key.Key_S and self._at >= 0:
            self.toggled.emit(self._at, bool(held & Qt.KeyboardModifier.ShiftModifier))
        elif key in self._asks:
            self.asked.emit(self._asks[key])
        else:
            return False
        return True

    def _corner_key(self, key: Qt.Key, held: Qt.KeyboardModifier) -> bool:
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._lasso.finish(held)
        elif key == Qt.Key.Key_Backspace:
            self._lasso.back()
        else:
            return False
        return True

    def _walk(self, right: int, up: int) -> None:
        scene = self._scene
        if not len(scene.places):
            return
        if self._at < 0:  # begins in the middle of what is in view
            view = scene.viewport().rect()
            middle = scene.points.view_transform().inverted()[0].map(QPointF(view.center()))
            x0, y0, x1, y1 = scene.points.grid.bounds
            self._at = max(scene.points.grid.nearest(middle.x(), middle.y(), 4 * max(x1 - x0, y1 - y0, 1.0)), 0)
        else:
            self._at = scene.next_item(self._at, right, up)
        scene.bring_into_view(self._at)
        self.place(self._at)
