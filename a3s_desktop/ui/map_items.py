"""What lies on the map: all points as one raster image, above them the pair, the hovered point and their marks."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter, QPen, QTransform
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from a3s_desktop.ui.map_raster import LEVELS, PointGrid, Projection, disc, draw, point_radius
from a3s_desktop.ui.theme import Tokens, cluster_colour, cluster_colours, scaled_font, tokens

SINGLE = 1  # slot of clusters of one; the clusters' colours follow
_MARK = 9.0  # logical pixels from a point of the pair to its badge


def colour_slots(labels: npt.NDArray[np.int32]) -> npt.NDArray[np.uint8]:
    """Colour slot of every item: grey for a cluster of one, else a colour that follows from the cluster's id alone."""
    if not len(labels):
        return np.zeros(0, np.uint8)
    sizes = np.bincount(labels)
    slots = labels % len(cluster_colours()) + (SINGLE + 1)
    return np.where(sizes[labels] > 1, slots, SINGLE).astype(np.uint8)


@lru_cache(maxsize=8)
def slot_colours(theme: Tokens) -> tuple[str, ...]:
    """Colour of each slot as ``#rrggbb``; slot 0 is never drawn."""
    clusters = (cluster_colour(c, theme).name() for c in range(len(cluster_colours(theme))))
    return theme.outline, theme.outline, *clusters


@lru_cache(maxsize=32)
def _table(colours: tuple[str, ...], opacity: float) -> list[int]:
    table = [0] * 256
    for level in range(LEVELS):
        for slot, colour in enumerate(colours):
            if slot:
                shade = QColor(colour)
                shade.setAlphaF(opacity * (level + 1) / LEVELS)
                table[level * len(colours) + slot] = shade.rgba()
    return table


class _Item(pg.GraphicsObject):  # type: ignore[misc]
    """An item that paints in device pixels, over the whole view."""

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

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:  # noqa: ARG002
        painter.save()
        painter.resetTransform()
        self.draw(painter)
        painter.restore()

    def draw(self, painter: QPainter) -> None:
        """Paint in logical pixels of the viewport."""
        raise NotImplementedError


@dataclass(slots=True)
class _Picture:
    """One raster image and what it was made from."""

    key: tuple[object, ...] = ()
    image: QImage | None = None
    pixels: npt.NDArray[np.uint8] | None = None  # the image's memory
    corner: QPointF = field(default_factory=QPointF)


class PointLayer(_Item):
    """All points. Emphasised clusters are drawn above the others, larger, with a soft outline; the others are paler."""

    def __init__(self) -> None:
        super().__init__()
        self.grid = PointGrid(np.zeros((0, 2), np.float32))
        self._slots = np.zeros(0, np.uint8)  # by sorted place
        self._raised = np.zeros(0, np.int64)  # sorted places of emphasised points
        self._revision = 0
        self._base, self._halo, self._top = _Picture(), _Picture(), _Picture()
        self.radius = 1.0  # of a point in logical pixels, as last painted

    def set_grid(self, grid: PointGrid) -> None:
        """Replace the positions; colours and emphasis start anew."""
        self.grid = grid
        self._slots = np.full(len(grid), SINGLE, np.uint8)
        self._raised = np.zeros(0, np.int64)
        x0, y0, x1, y1 = grid.bounds
        spare = max(x1 - x0, y1 - y0, 1e-9) * 2  # discs reach beyond the points; when nothing of it shows, no paint
        self.set_bounds(QRectF(x0 - spare, y0 - spare, x1 - x0 + 2 * spare, y1 - y0 + 2 * spare))
        self._changed()

    def set_slots(self, slots: npt.NDArray[np.uint8]) -> None:
        """Colour slot of every item."""
        self._slots = slots[self.grid.order]
        self._changed()

    def set_emphasis(self, items: npt.NDArray[np.bool_] | None) -> None:
        """Which items to raise, as a mask over the items."""
        self._raised = np.zeros(0, np.int64) if items is None else np.flatnonzero(items[self.grid.order])
        self._changed()

    def _changed(self) -> None:
        self._revision += 1
        self.update()

    def draw(self, painter: QPainter) -> None:
        if not len(self.grid):
            return
        device, transform = painter.device(), self.view_transform()
        ratio = device.devicePixelRatioF()
        view = self.getViewWidget().viewport()
        width, height = round(view.width() * ratio), round(view.height() * ratio)
        projection = Projection(
            transform.m11() * ratio, transform.dx() * ratio, transform.m22() * ratio, transform.dy() * ratio,
            width, height,
        )  # fmt: skip
        theme = tokens()
        key = (self._revision, projection, ratio, theme.name)
        if self._base.key != key:
            self._render(projection, ratio, theme)
            self._base.key = key
        for picture in (self._base, self._halo, self._top):
            if picture.image is not None:
                painter.drawImage(picture.corner, picture.image)

    def _render(self, projection: Projection, ratio: float, theme: Tokens) -> None:
        x0, y0, x1, y1 = self.grid.bounds
        wide, high = max(x1 - x0, 1e-12), max(y1 - y0, 1e-12)
        scale = abs(projection.scale_x)
        fit = min(projection.width / wide, projection.height / high)
        radius = point_radius(len(self.grid), fit * fit * wide * high, scale / fit, ratio)
        self.radius = radius / ratio
        colours = slot_colours(theme)
        places = self.grid.within(*projection.visible(radius + 1))
        some = len(self._raised) > 0
        opacity = 0.68 if some else 0.92
        self._base = self._raster(projection, ratio, places, self._slots[places], radius, 1.0, colours, opacity)
        self._halo, self._top = _Picture(), _Picture()
        if some:
            ink = (theme.text, theme.text)
            ones = np.ones(len(self._raised), np.uint8)
            larger = max(radius * 1.2, 2.0 * ratio)
            soft = 3.0 * ratio
            self._halo = self._raster(projection, ratio, self._raised, ones, larger + soft * 0.7, soft, ink, 0.42)
            self._top = self._raster(
                projection, ratio, self._raised, self._slots[self._raised], larger, 1.0, colours, 1.0
            )

    def _raster(
        self,
        projection: Projection,
        ratio: float,
        places: npt.NDArray[np.int64] | slice,
        slots: npt.NDArray[np.uint8],
        radius: float,
        softness: float,
        colours: tuple[str, ...],
        opacity: float,
    ) -> _Picture:
        """An image just as large as the discs need."""
        px, py = projection.pixels(self.grid.x[places], self.grid.y[places])
        if not len(px):
            return _Picture()
        reach = radius + softness + 1
        left, top = max(int(px.min() - reach), 0), max(int(py.min() - reach), 0)
        right = min(int(px.max() + reach) + 1, projection.width)
        bottom = min(int(py.max() + reach) + 1, projection.height)
        if right <= left or bottom <= top:
            return _Picture()
        size = right - left, bottom - top
        pixels = draw(px - left, py - top, slots, size, disc(radius, softness), len(colours))
        image = QImage(pixels, *size, pixels.shape[1], QImage.Format.Format_Indexed8)  # shares the memory
        image.setColorTable(_table(colours, opacity))
        image.setDevicePixelRatio(ratio)
        return _Picture((), image, pixels, QPointF(left / ratio, top / ratio))


@dataclass(frozen=True, slots=True)
class PairMark:
    """Where the two images of the current pair lie, and what to write beside them."""

    left: QPointF
    right: QPointF
    left_text: str
    right_text: str


class MarkLayer(_Item):
    """The current pair (line, rings, badges "L 12" and "R 31") and a ring around the hovered point."""

    def __init__(self) -> None:
        super().__init__()
        self._pair: PairMark | None = None
        self._hovered: QPointF | None = None
        self.ring = 5.0  # radius in logical pixels

    def set_pair(self, pair: PairMark | None) -> None:
        """Show the current pair (map coordinates), or none."""
        self._pair = pair
        self.update()

    def set_hovered(self, point: QPointF | None) -> None:
        """Ring around a point (map coordinates), or none."""
        if point != self._hovered:
            self._hovered = point
            self.update()

    def draw(self, painter: QPainter) -> None:
        transform, theme = self.view_transform(), tokens()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if self._pair is not None:
            self._draw_pair(painter, self._pair, transform, theme)
        if self._hovered is not None:
            self._ring(painter, transform.map(self._hovered), self.ring + 2, theme)

    def _draw_pair(self, painter: QPainter, pair: PairMark, transform: QTransform, theme: Tokens) -> None:
        left, right = transform.map(pair.left), transform.map(pair.right)
        line = QLineF(left, right)
        length = line.length()
        away = QPointF(line.dx() / length, line.dy() / length) if length > 1 else QPointF(1, 0)
        if length > 2 * self.ring:
            begin, end = left + away * self.ring, right - away * self.ring
            for pen in _pens(theme, 1.8):
                painter.setPen(pen)
                painter.drawLine(begin, end)
        for point in (left, right):
            self._ring(painter, point, self.ring, theme)
        view = QRectF(self.getViewWidget().viewport().rect())
        boxes = [
            _badge_box(point, -away if first else away, text, view, self.ring + _MARK)
            for first, point, text in ((True, left, pair.left_text), (False, right, pair.right_text))
        ]
        if boxes[0].intersects(boxes[1]):  # both at one edge of the view
            boxes[1].moveTop(boxes[0].bottom() + 2 if boxes[0].bottom() + 24 < view.bottom() else boxes[0].top() - 24)
        for box, text in zip(boxes, (pair.left_text, pair.right_text), strict=True):
            _badge(painter, box, text, theme)

    @staticmethod
    def _ring(painter: QPainter, point: QPointF, radius: float, theme: Tokens) -> None:
        for pen in _pens(theme, 1.8):
            painter.setPen(pen)
            painter.drawEllipse(point, radius, radius)


def _pens(theme: Tokens, width: float) -> tuple[QPen, QPen]:
    """A pen in the ground's colour to set the line off, then the line."""
    casing = QColor(theme.surface)
    casing.setAlphaF(0.85)
    pens = QPen(casing, width + 2.6), QPen(QColor(theme.text), width)
    for pen in pens:
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    return pens


def _badge_box(point: QPointF, direction: QPointF, text: str, view: QRectF, gap: float) -> QRectF:
    metrics = QFontMetricsF(scaled_font("small", bold=True))
    width, height = max(metrics.horizontalAdvance(text) + 12, 20.0), metrics.height() + 4
    centre = point + QPointF(direction.x() * (gap + width / 2 - 4), direction.y() * (gap + height / 2 - 4))
    box = QRectF(centre.x() - width / 2, centre.y() - height / 2, width, height)
    # A point outside the view is pointed at from the edge.
    box.moveLeft(min(max(box.left(), view.left() + 4), view.right() - 4 - width))
    box.moveTop(min(max(box.top(), view.top() + 4), view.bottom() - 4 - height))
    return box


def _badge(painter: QPainter, box: QRectF, text: str, theme: Tokens) -> None:
    painter.setPen(QPen(QColor(theme.surface), 1.5))
    painter.setBrush(QColor(theme.text))
    painter.drawRoundedRect(box, 6, 6)
    painter.setPen(QColor(theme.surface))
    painter.setFont(scaled_font("small", bold=True))
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
    painter.setBrush(Qt.BrushStyle.NoBrush)
