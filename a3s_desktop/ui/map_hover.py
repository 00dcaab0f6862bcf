"""The picture beside the point that the pointer or the keyboard is at."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPoint, QPointF, Qt, Signal, Slot
from PySide6.QtGui import QAccessible, QAccessibleEvent
from PySide6.QtWidgets import QApplication, QWidget

from a3s_desktop.ui.hover_card import HoverCard
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.map_data import MapData
from a3s_desktop.ui.map_lasso import Lasso, LassoState
from a3s_desktop.ui.map_scene import MapScene


class MapHover(QObject):
    """See the module.

    Parameters
    ----------
    scene : MapScene
    data : MapData
    lasso : Lasso
        While it draws, nothing is shown.
    loader : ImageLoader or None
    stage : QWidget
        What the card floats on.

    Signals
    -------
    hovered(int)
        The item under the pointer; -1: none.
    """

    hovered = Signal(int)

    def __init__(
        self, scene: MapScene, data: MapData, lasso: Lasso, loader: ImageLoader | None, stage: QWidget
    ) -> None:
        super().__init__(stage)
        self._scene = scene
        self._data = data
        self._lasso = lasso
        self._item = -1
        self.card = HoverCard(loader, stage)
        scene.left.connect(self.leave)
        scene.focused.connect(self._focused)
        scene.getViewBox().sigRangeChangedManually.connect(self.leave)
        scene.scene().sigMouseMoved.connect(self._moved)

    @Slot()
    def leave(self) -> None:
        """Nothing is under the pointer."""
        self.hover(-1, QPoint())

    def hover(self, item: int, position: QPoint) -> None:
        """The pointer is at an item (-1: none), at a place of the plot."""
        if item != self._item:
            self._item = item
            self._scene.marks.set_hovered(self._scene.point(item) if item >= 0 else None)
            shape = Qt.CursorShape.PointingHandCursor if item >= 0 else Qt.CursorShape.ArrowCursor
            self._scene.setCursor(Qt.CursorShape.CrossCursor if self._lasso.armed else shape)
            self.hovered.emit(item)
        if item < 0:
            self.card.dismiss()
        else:
            self._show(item, position)

    @Slot(int)
    def reached(self, item: int) -> None:
        """The keyboard is at an item: show it, and tell screen readers."""
        self._show(item, self._scene.position_of(item).toPoint())
        self._scene.setAccessibleDescription(f"{self._data.item_name(item)} · {self._data.cluster_text(item)}")
        QAccessible.updateAccessibility(QAccessibleEvent(self._scene, QAccessible.Event.DescriptionChanged))

    def _show(self, item: int, position: QPoint) -> None:
        items = self._data.items
        path = items.file(item) if items is not None else None
        name, cluster = self._data.item_name(item), self._data.cluster_text(item)
        self.card.show_item(path, name, cluster, self._scene.mapTo(self.card.parentWidget(), position))

    @Slot(object)
    def _moved(self, scene_position: QPointF) -> None:
        if QApplication.mouseButtons() != Qt.MouseButton.NoButton or self._lasso.state is not LassoState.IDLE:
            self.leave()
            return
        position = QPointF(self._scene.mapFromScene(scene_position))
        self.hover(self._scene.item_at(position), position.toPoint())

    @Slot(bool)
    def _focused(self, on: bool) -> None:
        self._scene.marks.set_focus(on)
        if not on:
            self.card.dismiss()
