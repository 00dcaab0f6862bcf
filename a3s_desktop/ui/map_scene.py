"""The plot with all that lies on it, and what of it is in view: everything, the pair, or what the user chose."""

from __future__ import annotations

import enum

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, QTimer, Slot

from a3s_desktop.core.types import IndexArray, IntArray
from a3s_desktop.ui.map_hull_layer import HullLayer, NameLayer
from a3s_desktop.ui.map_hulls import HullStore
from a3s_desktop.ui.map_items import PointLayer
from a3s_desktop.ui.map_lasso import LassoLayer
from a3s_desktop.ui.map_marks import MarkLayer
from a3s_desktop.ui.map_plot import MapPlot
from a3s_desktop.ui.map_raster import PointGrid

_CATCH = 9  # logical pixels from the pointer at which a point is still meant
_AROUND = 0.05  # of the map's side is shown around an image that was searched for


class ViewMode(enum.Enum):
    """What the view keeps to when the window or the layout changes."""

    WHOLE = "whole"
    PAIR = "pair"
    FREE = "free"


class MapScene(MapPlot):
    """See the module.

    Attributes
    ----------
    points, marks, hulls, names, lasso
        The layers.
    mode : ViewMode
    """

    def __init__(self) -> None:
        super().__init__()
        self.points, self.marks, self.hulls, self.lasso = PointLayer(), MarkLayer(), HullLayer(), LassoLayer()
        self.names = NameLayer(self.hulls)
        self.names.avoid = self.marks.badges
        self.mode = ViewMode.WHOLE
        self._places = np.zeros((0, 2), np.float32)  # by item
        self._store = HullStore(self._places[:, 0], self._places[:, 1])
        self._pair: tuple[int, int] | None = None
        self._work = QTimer(self, interval=0)
        self._work.timeout.connect(self._step)
        for height, layer in enumerate((self.hulls, self.points, self.names, self.marks, self.lasso)):
            layer.setZValue(height * 10 - 10)
            self.getViewBox().addItem(layer, ignoreBounds=True)
        self.getViewBox().sigRangeChangedManually.connect(self._by_hand)
        self.resized.connect(self.keep)

    def set_grid(self, grid: PointGrid) -> None:
        """Replace the positions. What was in the middle of a view that the user chose stays there."""
        same = len(grid) == len(self.points.grid)
        anchor = self._anchor() if same else None
        if not same:
            self.mode = ViewMode.WHOLE
        self.points.set_grid(grid)
        for layer in (self.marks, self.hulls, self.names, self.lasso):
            layer.set_bounds(self.points.boundingRect())
        self._places = grid.positions
        self._store = HullStore(self._places[:, 0], self._places[:, 1])
        self._show_hulls()
        self.set_extent(grid.bounds)
        if self.mode is ViewMode.FREE and anchor is not None:
            item, place = anchor
            shift = self._places[item] - np.asarray(place, np.float32)
            self.getViewBox().translateBy(x=float(shift[0]), y=float(shift[1]))
        else:
            self.keep()

    def set_clusters(
        self,
        labels: IntArray,
        sizes: npt.NDArray[np.int64],
        shown: npt.NDArray[np.bool_] | None,
        changed: IndexArray | None = None,
    ) -> None:
        """Draw the outlines of these clusters, soon; see `HullStore.set_labels`."""
        if len(labels) == len(self._places):
            self._store.set_labels(labels, sizes, shown, changed)
            if self._store.pending:  # the former outlines stay for these milliseconds: nothing flickers
                self._work.start()
            else:
                self._show_hulls()

    def set_pair(self, pair: tuple[int, int] | None) -> None:
        """The two items that `ViewMode.PAIR` keeps to."""
        self._pair = pair
        self.names.changed()
        if self.mode is ViewMode.PAIR:
            self.keep()

    @property
    def places(self) -> npt.NDArray[np.float32]:
        """Positions by item, shape (N, 2)."""
        return self._places

    def point(self, item: int) -> QPointF:
        """Where an item is on the map."""
        return QPointF(float(self._places[item, 0]), float(self._places[item, 1]))

    def item_at(self, position: QPointF) -> int:
        """Item under a place of the plot (logical pixels); -1 where there is none."""
        self.settle()
        transform = self.points.view_transform().inverted()[0]
        at = transform.map(position)
        reach = max(_CATCH, self.points.radius + 2) * abs(transform.m11())
        return self.points.grid.nearest(at.x(), at.y(), reach)

    def position_of(self, item: int) -> QPointF:
        """Where an item's point is in the plot (logical pixels)."""
        self.settle()
        return self.points.view_transform().map(self.point(item))

    def next_item(self, item: int, right: int, up: int) -> int:
        """The item that an arrow key leads to: near, and in that direction; the item itself where there is none."""
        grid, (x, y) = self.points.grid, self._places[item]
        x0, y0, x1, y1 = grid.bounds
        side = max(x1 - x0, y1 - y0)
        reach = side / 64
        while True:
            # An image ahead that is not in this square is farther along than its half side.
            places = grid.within(float(x) - reach, float(y) - reach, float(x) + reach, float(y) + reach)
            dx, dy = grid.x[places] - x, grid.y[places] - y
            along, across = dx * right + dy * up, np.abs(dx * up + dy * right)
            ahead = np.flatnonzero((along > 0) & (across <= along))
            cost = along[ahead] + 2 * across[ahead]
            least = float(cost.min(initial=np.inf))
            if least < reach or reach > 2 * side:
                break
            reach = min(max(4 * reach, 1.01 * least), 3 * side + 1)
        return int(grid.order[places][ahead[cost == least]].min(initial=len(grid))) if len(ahead) else item

    # the view

    def zoom(self, factor: float) -> None:
        """Zoom about the middle; ``factor`` > 1 is nearer."""
        self.mode = ViewMode.FREE
        self.getViewBox().scaleBy((1 / factor, 1 / factor))

    def pan(self, columns: float, lines: float) -> None:
        """Move the view by shares of its size."""
        self.mode = ViewMode.FREE
        self.shift(columns, lines)

    def show_mode(self, mode: ViewMode) -> None:
        """Show all, or the pair, and keep to it."""
        self.mode = mode
        self.keep()

    @Slot()
    def keep(self) -> None:
        """Bring the view to what it keeps to."""
        if self.mode is ViewMode.PAIR and self._pair is not None:
            self.show_pair(*(self.point(item) for item in self._pair))
        elif self.mode is not ViewMode.FREE and len(self._places):
            self.show_whole()

    def show_items(self, items: IndexArray) -> None:
        """Show some items large, with what is around them."""
        if not len(items):
            return
        self.mode = ViewMode.FREE
        (x0, y0), (x1, y1) = self._places[items].min(axis=0).tolist(), self._places[items].max(axis=0).tolist()
        self.show_around(QRectF(x0, y0, x1 - x0, y1 - y0), _AROUND if len(items) == 1 else _AROUND / 2)

    def bring_into_view(self, item: int) -> None:
        """Move the view as little as puts an item well inside it."""
        at, view = self.position_of(item), self.viewport().rect()
        margin = min(view.width(), view.height()) * 0.12
        dx = min(at.x() - margin, 0.0) or max(at.x() - view.width() + margin, 0.0)
        dy = min(at.y() - margin, 0.0) or max(at.y() - view.height() + margin, 0.0)
        if dx or dy:
            self.pan(dx / max(view.width(), 1), dy / max(view.height(), 1))
            self.settle()

    @Slot(object)
    def _by_hand(self, _axes: object) -> None:
        self.mode = ViewMode.FREE

    def _anchor(self) -> tuple[int, tuple[float, float]] | None:
        """The item nearest to the middle of the view, and where it is on the map."""
        grid = self.points.grid
        if not len(grid):
            return None
        centre = self.getViewBox().viewRect().center()
        x0, y0, x1, y1 = grid.bounds
        item = grid.nearest(centre.x(), centre.y(), 2 * max(x1 - x0, y1 - y0, 1.0))
        return None if item < 0 else (item, (float(self._places[item, 0]), float(self._places[item, 1])))

    # outlines

    @Slot()
    def _step(self) -> None:
        if self.points.busy:  # one thing in a turn: the points first, since the former outlines are still there
            return
        self._store.step()
        if not self._store.pending:  # all at once: outlines that come one by one would flicker
            self._work.stop()
            self._show_hulls()

    def _show_hulls(self) -> None:
        self.hulls.set_hulls(self._store.hulls)
        self.names.changed()
