"""Which images of the map are selected, how they come to be, and what is asked for them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from PySide6.QtCore import QObject, QPointF, Qt, Signal, Slot
from PySide6.QtGui import QPolygonF
from PySide6.QtWidgets import QToolButton

from a3s_desktop.core.types import IndexArray
from a3s_desktop.i18n import tr, trn
from a3s_desktop.ui.map_data import MapData
from a3s_desktop.ui.map_lasso import Lasso, LassoState, items_inside
from a3s_desktop.ui.map_names import NameCopy
from a3s_desktop.ui.map_raster import ascending, flags
from a3s_desktop.ui.map_scene import MapScene
from a3s_desktop.ui.map_selection_bar import SelectionBar


class MapSelecting(QObject):
    """See the module.

    Parameters
    ----------
    scene : MapScene
    data : MapData
    bar : SelectionBar
    tool : QToolButton
        Switches the lasso on and off.

    Signals
    -------
    changed()
        The selection, or what `hint` says.
    acted(str, object)
        An action and the selected items (int64, ascending).
    moveWanted(object, int)
        The selected items (int64, ascending) belong to the cluster of this item.
    remarked(str)
        Something to be said in passing.
    """

    changed = Signal()
    acted = Signal(str, object)
    moveWanted = Signal(object, int)
    remarked = Signal(str)

    def __init__(
        self, scene: MapScene, data: MapData, bar: SelectionBar, tool: QToolButton, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._scene = scene
        self._data = data
        self._bar = bar
        self._tool = tool
        self._items: IndexArray = np.zeros(0, np.int64)
        self._moving = False
        self.lasso = Lasso(scene.lasso, self)
        scene.tool = self.lasso
        self.lasso.closed.connect(self._caught)
        self.lasso.toggled.connect(self._toggle_at)
        self.lasso.stateChanged.connect(self.changed)
        self._copy = NameCopy(self)
        self._copy.copied.connect(self._copied)
        bar.acted.connect(self._act)
        bar.cleared.connect(self._clear)
        tool.toggled.connect(self._arm)

    @property
    def items(self) -> tuple[int, ...]:
        """The selected items, ascending."""
        return tuple(self._items.tolist())

    @property
    def hint(self) -> str:
        """What the user can do next; empty where nothing is under way."""
        if self._moving:
            return tr("Click an image of the cluster they belong to. Esc stops.")
        if self.lasso.state is LassoState.CORNERS:
            return tr("Click corner by corner; a double click closes. Esc stops.")
        if self.lasso.armed and not len(self._items):
            return tr("Draw around images, or click corner by corner.")
        return ""

    def select(self, items: Iterable[int]) -> None:
        """Select these items instead of what was selected."""
        given = items if isinstance(items, np.ndarray) else np.fromiter(items, np.int64)
        count = len(self._scene.places)
        self._take(ascending(given[(given >= 0) & (given < count)], count))

    def _take(self, items: IndexArray) -> None:
        """Select items of this map that are in order already."""
        self._items = items
        self._moving = self._moving and len(self._items) > 0
        self.refresh()
        self._bar.show_count(len(self._items))
        self.changed.emit()

    def refresh(self) -> None:
        """Mark the selected points anew, after the positions changed."""
        self._scene.points.set_selected(self._items)

    def toggle(self, item: int, whole: bool = False) -> None:
        """Select an item or its whole cluster; what is selected already is given up."""
        known = whole and len(self._data.labels) == len(self._scene.places)
        items = np.flatnonzero(self._data.labels == self._data.labels[item]) if known else np.array([item])
        chosen = flags(self._items, len(self._scene.places))
        chosen[items] = not chosen[items].all()
        self._take(np.flatnonzero(chosen))

    def target(self, item: int) -> bool:
        """An image was chosen; True: as the target of the move that is under way."""
        if not self._moving:
            return False
        self._moving = False
        moved = self._items
        self.select(())
        self.moveWanted.emit(moved, item)
        return True

    def back(self) -> bool:
        """One step back: the move, the line, the selection, the tool; False: there was none."""
        if self._moving:
            self._moving = False
            self.changed.emit()
        elif self.lasso.state is not LassoState.IDLE:
            self.lasso.cancel()
        elif len(self._items):
            self.select(())
        elif self.lasso.armed:
            self._tool.setChecked(False)
        else:
            return False
        return True

    @Slot()
    def _clear(self) -> None:
        self._moving = False
        self.lasso.cancel()
        self.select(())

    @Slot(bool)
    def _arm(self, on: bool) -> None:
        self.lasso.armed = on
        if not on:
            self.lasso.cancel()
        elif self._scene.isVisible():
            self._scene.setFocus(Qt.FocusReason.OtherFocusReason)  # Escape, Enter and Backspace are the lasso's now
        self._scene.setCursor(Qt.CursorShape.CrossCursor if on else Qt.CursorShape.ArrowCursor)
        self.changed.emit()

    @Slot(object, bool)
    def _caught(self, polygon: QPolygonF, add: bool) -> None:
        items = items_inside(self._scene.points.grid, polygon)
        if not len(items):
            self.remarked.emit(tr("No image is inside the line."))
            return
        self._take(ascending(np.concatenate([self._items, items]), len(self._scene.places)) if add else items)

    @Slot(object)
    def _toggle_at(self, position: QPointF) -> None:
        item = self._scene.item_at(position)
        if item >= 0:
            self.toggle(item)

    @Slot(str)
    def _act(self, action: str) -> None:
        if not len(self._items):
            return
        if action == "move":
            self._moving = True
            self.changed.emit()
        elif action == "copy":
            known = self._data.items  # another project may be opened meanwhile
            self._copy.begin(self._items, self._data.item_name if known is None else known.name)
        else:
            self.acted.emit(action, self._items)

    @Slot(object)
    def _copied(self, items: IndexArray) -> None:
        self.remarked.emit(trn("{n} name copied.", "{n} names copied.", len(items)))
        self.acted.emit("copy", items)
