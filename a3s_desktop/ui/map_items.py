"""All points of the map as one raster image."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QImage, QPainter

from a3s_desktop.core.types import IndexArray
from a3s_desktop.ui.map_colours import GREY, ColourBy, Look, Shape, palette
from a3s_desktop.ui.map_layer import MapLayer
from a3s_desktop.ui.map_raster import (
    LEVELS,
    PointGrid,
    Projection,
    Stamp,
    ascending,
    cross,
    disc,
    draw,
    point_radius,
    ring,
)
from a3s_desktop.ui.theme import Tokens, tokens

_STAMPS = {Shape.CROSS: cross, Shape.RING: ring, Shape.DISC: disc}  # in the order of drawing
_Places = npt.NDArray[np.int64]
_NOWHERE: _Places = np.zeros(0, np.int64)
_MANY = 50_000  # raised points
_DUST = 1.1  # logical pixels of radius below which shapes cannot be told apart


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


@dataclass(slots=True)
class _Picture:
    """One raster image; ``pixels`` is its memory."""

    image: QImage
    pixels: npt.NDArray[np.uint8]
    corner: QPointF = field(default_factory=QPointF)


class PointLayer(MapLayer):
    """All points.

    Emphasised ones (the clusters of the pair) and selected ones are drawn above the others, larger, with a soft
    outline, a strong one where they are selected; the others are paler then.
    """

    def __init__(self) -> None:
        super().__init__()
        self.grid = PointGrid(np.zeros((0, 2), np.float32))
        self._slots = np.zeros(0, np.uint8)  # by sorted place
        self._shapes: npt.NDArray[np.uint8] | None = None  # None: all are discs
        self._by = ColourBy.CLUSTER
        self._raised, self._selected = _NOWHERE, _NOWHERE  # sorted places
        self._revision = 0
        self._key: tuple[object, ...] = ()
        self._pictures: list[_Picture] = []
        self.radius = 1.0  # of a point in logical pixels, as last painted

    def set_grid(self, grid: PointGrid) -> None:
        """Replace the positions; colours and emphasis start anew."""
        self.grid = grid
        self._slots = np.full(len(grid), GREY, np.uint8)
        self._shapes = None
        self._raised, self._selected = _NOWHERE, _NOWHERE
        x0, y0, x1, y1 = grid.bounds
        spare = max(x1 - x0, y1 - y0, 1e-9) * 2  # discs reach beyond the points; when nothing of it shows, no paint
        self.set_bounds(QRectF(x0 - spare, y0 - spare, x1 - x0 + 2 * spare, y1 - y0 + 2 * spare))
        self._changed()

    def set_look(self, look: Look, by: ColourBy) -> None:
        """Colour and shape of every item."""
        self._slots = look.slots[self.grid.order]
        self._shapes = look.shapes[self.grid.order] if look.shapes.any() else None
        self._by = by
        self._changed()

    def change_look(self, items: IndexArray, look: Look) -> None:
        """Colour and shape of some items; those of the others stay."""
        places = self.grid.place_of[items]
        self._slots[places] = look.slots
        if self._shapes is None and look.shapes.any():
            self._shapes = np.zeros(len(self.grid), np.uint8)
        if self._shapes is not None:
            self._shapes[places] = look.shapes
        self._changed()

    def set_emphasis(self, items: IndexArray) -> None:
        """Which items to raise."""
        self._raised = self._places(items, self._raised)

    def set_selected(self, items: IndexArray) -> None:
        """Which items are selected."""
        self._selected = self._places(items, self._selected)

    def _places(self, items: IndexArray, former: _Places) -> _Places:
        """Sorted places of items on this map; a repaint where they are not the former ones."""
        known = items if not len(items) or int(items.max()) < len(self.grid) else _NOWHERE
        places = ascending(self.grid.place_of[known], len(self.grid))
        if not np.array_equal(places, former):
            self._changed()
        return places

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
        if self._key != key:
            self._render(projection, ratio, theme)
            self._key = key
        for picture in self._pictures:
            painter.drawImage(picture.corner, picture.image)

    def _render(self, projection: Projection, ratio: float, theme: Tokens) -> None:
        x0, y0, x1, y1 = self.grid.bounds
        wide, high = max(x1 - x0, 1e-12), max(y1 - y0, 1e-12)
        scale = abs(projection.scale_x)
        fit = min(projection.width / wide, projection.height / high)
        radius = point_radius(len(self.grid), fit * fit * wide * high, scale / fit, ratio)
        self.radius = radius / ratio
        places = self.grid.within(*projection.visible(radius + 1))
        some = len(self._raised) > 0 or len(self._selected) > 0
        self._pictures = []
        canvas = _Canvas(projection, ratio, self.grid, self._pictures)
        self._points(canvas, places, radius, 0.68 if some else 0.92, theme)
        for raised, ink, strength in ((self._raised, theme.text, 0.42), (self._selected, theme.text, 0.9)):
            if len(raised):
                # Wide edges around very many points would only fill the map, slowly.
                some = len(raised) < _MANY
                larger, soft = max(radius * 1.2, (2.0 if some else 1.2) * ratio), (3.0 if some else 1.0) * ratio
                ones = np.ones(len(raised), np.uint8)
                canvas.add(raised, ones, disc(larger + soft * 0.7, soft), (ink, ink), strength)
                self._points(canvas, raised, larger, 1.0, theme)

    def _points(self, canvas: _Canvas, places: _Places | slice, radius: float, opacity: float, theme: Tokens) -> None:
        colours = palette(self._by, theme)
        if self._shapes is None or radius < _DUST * canvas.ratio:
            canvas.add(places, self._slots[places], disc(radius), colours, opacity)
            return
        shapes = self._shapes[places]
        where = np.arange(places.start, places.stop) if isinstance(places, slice) else places
        for shape, stamp in _STAMPS.items():
            some = where[shapes == shape]
            if len(some):
                canvas.add(some, self._slots[some], stamp(radius), colours, opacity)


@dataclass(frozen=True, slots=True)
class _Canvas:
    """Makes raster images just as large as the shapes on them need."""

    projection: Projection
    ratio: float
    grid: PointGrid
    pictures: list[_Picture]

    def add(
        self,
        places: _Places | slice,
        slots: npt.NDArray[np.uint8],
        stamp: Stamp,
        colours: tuple[str, ...],
        opacity: float,
    ) -> None:
        """One more image on top of the others."""
        px, py = self.projection.pixels(self.grid.x[places], self.grid.y[places])
        if not len(px):
            return
        reach = max(abs(part) for _, dy, dx in stamp for part in (dy, dx)) + 1
        left, top = max(int(px.min() - reach), 0), max(int(py.min() - reach), 0)
        right = min(int(px.max() + reach) + 1, self.projection.width)
        bottom = min(int(py.max() + reach) + 1, self.projection.height)
        if right <= left or bottom <= top:
            return
        size = right - left, bottom - top
        pixels = draw(px - left, py - top, slots, size, stamp, len(colours))
        image = QImage(pixels, *size, pixels.shape[1], QImage.Format.Format_Indexed8)  # shares the memory
        image.setColorTable(_table(colours, opacity))
        image.setDevicePixelRatio(self.ratio)
        self.pictures.append(_Picture(image, pixels, QPointF(left / self.ratio, top / self.ratio)))
