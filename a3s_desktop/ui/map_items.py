"""All points of the map as one raster image."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, QTimer, Slot
from PySide6.QtGui import QColor, QImage, QPainter, QTransform

from a3s_desktop.core.types import IndexArray
from a3s_desktop.ui.map_colours import GREY, ColourBy, Look, Shape, palette, slot_count
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
    draw_outlined,
    flags,
    point_radius,
    ring,
    stamp_reach,
)
from a3s_desktop.ui.theme import Tokens, tokens

_STAMPS = {Shape.CROSS: cross, Shape.RING: ring, Shape.DISC: disc}  # in the order of drawing
_Places = npt.NDArray[np.int64]
_NOWHERE: _Places = np.zeros(0, np.int64)
_MANY = 50_000  # raised points
_SLOW = 200_000  # points of the map, from which on a new look of them is drawn in turns
_PAUSE = 15  # ms before such a look is begun: what else is told of the images meanwhile would make it void
_LEAP = 2.0  # times nearer or farther: more than a step of the wheel
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


def _common(some: _Places, others: _Places | slice, count: int) -> _Places:
    """Places that are among the others, too; both ascending."""
    if isinstance(others, slice):
        begin, end = np.searchsorted(some, (others.start, others.stop))
        return some[begin:end]
    return others[flags(some, count)[others]]


@dataclass(slots=True)
class _Picture:
    """One raster image; ``pixels`` is its memory, ``by`` what its slots mean (None: all are in the text's colour)."""

    image: QImage
    pixels: npt.NDArray[np.uint8]
    corner: QPointF
    by: ColourBy | None
    opacity: float

    def dress(self, theme: Tokens) -> None:
        """Give it a theme's colours."""
        colours = (theme.text, theme.text) if self.by is None else palette(self.by, theme)
        self.image.setColorTable(_table(colours, self.opacity))


@dataclass(frozen=True, slots=True)
class _Drawn:
    """Of what the images were made."""

    revision: int
    projection: Projection
    ratio: float

    def near(self, other: _Drawn) -> bool:
        """Whether the view alone is another one, and no other than by hand, which must be followed at once."""
        zoomed = self.projection.scale_x / other.projection.scale_x
        return self.revision == other.revision and 1 / _LEAP < zoomed < _LEAP

    def seen_in(self, now: _Drawn) -> QTransform:
        """Where the images belong (logical pixels) after the view changed."""
        if self.projection == now.projection:
            return QTransform()
        old, new = self.projection, now.projection
        wide, high = new.scale_x / old.scale_x, new.scale_y / old.scale_y
        right, down = new.shift_x - wide * old.shift_x, new.shift_y - high * old.shift_y
        return QTransform(wide, 0, 0, high, right / now.ratio, down / now.ratio)


class PointLayer(MapLayer):
    """All points.

    Emphasised ones (the clusters of the pair) and selected ones are drawn above the others, larger, with a soft
    outline, a strong one where they are selected; the others are paler then.

    Where there are very many points, a new look of them, or of a view that is much nearer or farther, is drawn image by
    image, each in a turn of the event loop of its own; until all are there the former ones are shown, wherever the view
    is by then. A change of theme only changes the images' colour tables.
    """

    def __init__(self) -> None:
        super().__init__()
        self.grid = PointGrid(np.zeros((0, 2), np.float32))
        self._slots = np.zeros(0, np.uint8)  # by sorted place
        self._shapes: npt.NDArray[np.uint8] | None = None  # None: all are discs
        self._by = ColourBy.CLUSTER
        self._raised, self._selected = _NOWHERE, _NOWHERE  # sorted places
        self._revision = 0
        self._drawn = _Drawn(-1, Projection(1.0, 0.0, 1.0, 0.0, 0, 0), 1.0)  # what the pictures show
        self._pictures: list[_Picture] = []
        self._dressed = ""  # the theme whose colours they have
        self._making: _Drawn | None = None  # what is under way, in turns
        self._made: list[_Picture] = []
        self._work: Iterator[_Picture] = iter(())
        self._turn = QTimer(self, interval=0)
        self._turn.timeout.connect(self._go_on)
        self.radius = 1.0  # of a point in logical pixels, as last painted

    def set_grid(self, grid: PointGrid) -> None:
        """Replace the positions; colours and emphasis start anew."""
        if len(grid) != len(self.grid):
            self._pictures = []
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
            self._shapes = self._shapes if self._shapes.any() else None
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
        self._stop()
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
        wanted = _Drawn(self._revision, projection, ratio)
        if wanted not in (self._drawn, self._making):
            later = len(self.grid) >= _SLOW and self._making is None and not wanted.near(self._drawn)
            self._work = self._layers(projection, ratio)
            if later:  # what was clicked has taken its time already
                self._making, self._made = wanted, []
                self._turn.start(_PAUSE)
            else:
                self._show(wanted, list(self._work))
        theme = tokens()
        if self._dressed != theme.name:
            self._dressed = theme.name
            for picture in self._pictures:
                picture.dress(theme)
        painter.setTransform(self._drawn.seen_in(wanted), True)
        for picture in self._pictures:
            painter.drawImage(picture.corner, picture.image)

    @property
    def busy(self) -> bool:
        """Whether a new picture of very many points is under way; until it is there the former one is shown."""
        return self._making is not None

    @Slot()
    def _go_on(self) -> None:
        """A few milliseconds of the picture that is under way."""
        self._turn.setInterval(0)
        picture = next(self._work, None)
        if picture is not None:
            self._made.append(picture)
        elif self._making is not None:
            self._show(self._making, self._made)
            self.update()

    def _show(self, drawn: _Drawn, pictures: list[_Picture]) -> None:
        self._stop()
        self._drawn, self._pictures, self._dressed = drawn, pictures, ""

    def _stop(self) -> None:
        self._turn.stop()
        self._making, self._made, self._work = None, [], iter(())

    def _layers(self, projection: Projection, ratio: float) -> Iterator[_Picture]:
        """The images, from the lowest to the highest."""
        x0, y0, x1, y1 = self.grid.bounds
        wide, high = max(x1 - x0, 1e-12), max(y1 - y0, 1e-12)
        scale = abs(projection.scale_x)
        fit = min(projection.width / wide, projection.height / high)
        radius = point_radius(len(self.grid), fit * fit * wide * high, scale / fit, ratio)
        self.radius = radius / ratio
        places = self.grid.within(*projection.visible(radius + 2 + 2 * ratio))
        some = len(self._raised) > 0 or len(self._selected) > 0
        canvas = _Canvas(projection, ratio, self.grid)
        dust = self._shapes is None or radius < _DUST * ratio
        yield from self._points(canvas, places, radius, 0.68 if some else 0.92, dust)
        for raised, strength in ((self._raised, 0.42), (self._selected, 0.9)):
            # Wide edges around very many points would only fill the map, slowly.
            many = len(raised) >= _MANY
            larger, soft = max(radius * 1.2, (1.2 if many else 2.0) * ratio), (1.0 if many else 3.0) * ratio
            edge = disc(larger + soft * 0.7, soft)
            if many and dust:
                seen = _common(raised, places, len(self.grid))
                yield from canvas.outlined(seen, self._slots[seen], edge, disc(larger), self._by, strength)
            elif len(raised):
                yield from canvas.add(raised, np.ones(len(raised), np.uint8), edge, None, strength)
                yield from self._points(canvas, raised, larger, 1.0, self._shapes is None or larger < _DUST * ratio)

    def _points(
        self, canvas: _Canvas, places: _Places | slice, radius: float, opacity: float, dust: bool
    ) -> Iterator[_Picture]:
        shapes = None if dust or self._shapes is None else self._shapes[places]
        if shapes is None:
            yield from canvas.add(places, self._slots[places], disc(radius), self._by, opacity)
            return
        where = np.arange(places.start, places.stop) if isinstance(places, slice) else places
        for shape, stamp in _STAMPS.items():
            some = where[shapes == shape]
            if len(some):
                yield from canvas.add(some, self._slots[some], stamp(radius), self._by, opacity)


@dataclass(frozen=True, slots=True)
class _Canvas:
    """Makes raster images just as large as the shapes on them need."""

    projection: Projection
    ratio: float
    grid: PointGrid

    def add(
        self,
        places: _Places | slice,
        slots: npt.NDArray[np.uint8],
        stamp: Stamp,
        by: ColourBy | None,
        opacity: float,
    ) -> Iterator[_Picture]:
        """One more image on top of the others, if anything of it is in view."""
        px, py, left, top, size = self._spots(places, stamp)
        if min(size) > 0:
            count = 2 if by is None else slot_count(by)
            yield self._picture(draw(px - left, py - top, slots, size, stamp, count), left, top, size, by, opacity)

    def outlined(
        self,
        places: _Places,
        slots: npt.NDArray[np.uint8],
        under: Stamp,
        over: Stamp,
        by: ColourBy,
        strength: float,
    ) -> Iterator[_Picture]:
        """Very many points with an edge around them: two images."""
        px, py, left, top, size = self._spots(places, under)
        if min(size) > 0:
            below, above = draw_outlined(px - left, py - top, slots, size, under, over, slot_count(by))
            yield self._picture(below, left, top, size, None, strength)
            yield self._picture(above, left, top, size, by, 1.0)

    def _spots(
        self, places: _Places | slice, stamp: Stamp
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], int, int, tuple[int, int]]:
        """Centres in device pixels; left, top and size of what they cover of the view."""
        px, py = self.projection.pixels(self.grid.x[places], self.grid.y[places])
        if not len(px):
            return px, py, 0, 0, (0, 0)
        reach = stamp_reach(stamp) + 1
        left, top = max(int(px.min() - reach), 0), max(int(py.min() - reach), 0)
        right = min(int(px.max() + reach) + 1, self.projection.width)
        bottom = min(int(py.max() + reach) + 1, self.projection.height)
        return px, py, left, top, (right - left, bottom - top)

    def _picture(
        self,
        pixels: npt.NDArray[np.uint8],
        left: int,
        top: int,
        size: tuple[int, int],
        by: ColourBy | None,
        opacity: float,
    ) -> _Picture:
        image = QImage(pixels, *size, pixels.shape[1], QImage.Format.Format_Indexed8)  # shares the memory
        image.setDevicePixelRatio(self.ratio)
        return _Picture(image, pixels, QPointF(left / self.ratio, top / self.ratio), by, opacity)
