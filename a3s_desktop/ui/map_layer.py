"""What every layer of the map is: an item that paints in pixels of the view, whatever the zoom."""

from __future__ import annotations

import pyqtgraph as pg
from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QTransform
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget


class MapLayer(pg.GraphicsObject):  # type: ignore[misc]
    """An item that paints in logical pixels, over the whole view."""

    def __init__(self) -> None:
        super().__init__()
        self._bounds = QRectF(-1, -1, 2, 2)

    def set_bounds(self, bounds: QRectF) -> None:
        """The region of the map that this item may touch."""
        self.prepareGeometryChange()
        self._bounds = bounds

    def boundingRect(self) -> QRectF:
        return self._bounds

    def view_transform(self) -> QTransform:
        """Map coordinates to logical pixels of the viewport."""
        return self.sceneTransform() * self.getViewWidget().viewportTransform()

    def view_rect(self) -> QRectF:
        """The viewport, in logical pixels."""
        return QRectF(self.getViewWidget().viewport().rect())

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:  # noqa: ARG002
        painter.save()
        painter.resetTransform()
        self.draw(painter)
        painter.restore()

    def draw(self, painter: QPainter) -> None:
        """Paint in logical pixels of the viewport."""
        raise NotImplementedError
