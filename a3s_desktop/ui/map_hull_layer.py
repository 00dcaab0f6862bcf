"""Outlines of the clusters below the points, and their numbers or names above them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.ma  # its first use, in "isin", would import it on the thread of the window: 100 ms
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QPolygonF, QTransform

from a3s_desktop.ui.map_colours import GREY, ColourBy, palette
from a3s_desktop.ui.map_hulls import Hulls, no_hulls
from a3s_desktop.ui.map_layer import MapLayer
from a3s_desktop.ui.theme import scaled_font, tokens

_MOST = 300  # outlines that are drawn at once: the largest clusters in view
_BUDGET = 10_000.0  # logical pixels of radius, of all outlines together
_MOST_TEXTS = 50
_SMALL = 7.0  # logical pixels of radius below which an outline is only noise
_CELL = 12  # logical pixels of the grid by which texts keep clear of each other
_WIDEST = 150.0  # logical pixels of a name


class HullLayer(MapLayer):
    """Soft outlines of the clusters in view; those of the pair are stronger."""

    def __init__(self) -> None:
        super().__init__()
        self.hulls = no_hulls()
        self._strong: frozenset[int] = frozenset()
        self._rows: list[int] = []  # of the strong ones
        self._polygons: dict[int, QPolygonF] = {}
        self.on = True
        self.coloured = True  # by cluster; else grey

    def set_hulls(self, hulls: Hulls) -> None:
        """Replace all outlines."""
        self.hulls = hulls
        self._polygons.clear()
        self._rows = np.flatnonzero(np.isin(hulls.clusters, list(self._strong))).tolist()
        self.update()

    def set_strong(self, clusters: frozenset[int]) -> None:
        """Clusters to be drawn stronger."""
        if clusters != self._strong:
            self._strong = clusters
            self._rows = np.flatnonzero(np.isin(self.hulls.clusters, list(clusters))).tolist()
            self.update()

    def visible(self, transform: QTransform, least: float) -> npt.NDArray[np.int64]:
        """Rows of the outlines that are in view and have at least this radius in logical pixels, largest first."""
        view = self.view_rect()
        x = self.hulls.centres[:, 0] * transform.m11() + transform.dx()
        y = self.hulls.centres[:, 1] * transform.m22() + transform.dy()
        radius = self.hulls.radii * abs(transform.m11())
        inside = (x > view.left() - radius) & (x < view.right() + radius)
        inside &= (y > view.top() - radius) & (y < view.bottom() + radius) & (radius >= least)
        return np.flatnonzero(inside)

    def draw(self, painter: QPainter) -> None:
        if not self.on or not len(self.hulls):
            return
        transform, theme = self.view_transform(), tokens()
        scale = abs(transform.m11())
        rows = self.visible(transform, _SMALL)[:_MOST]
        radii = self.hulls.radii[rows] * scale
        rows = rows[np.cumsum(radii) - radii <= _BUDGET]  # where clusters are muddled, all would cover all
        strong = [row for row in self._rows if self.hulls.radii[row] * scale >= _SMALL]
        usual = [row for row in rows.tolist() if row not in strong]
        reach = 2.0 * max(self.view_rect().width(), self.view_rect().height())
        fillable = [row for row in (*usual, *strong) if self.hulls.radii[row] * scale < reach]
        colours = palette(ColourBy.CLUSTER, theme)
        ink = [QColor(name) for name in colours[GREY + 1 :]] if self.coloured else [QColor(theme.outline)]
        painter.setTransform(transform, True)
        # Filling with soft edges takes four times as long, and the line covers the edges.
        painter.setPen(Qt.PenStyle.NoPen)
        for row in fillable:
            colour = QColor(ink[int(self.hulls.clusters[row]) % len(ink)])
            colour.setAlphaF(0.2 if row in strong else 0.1 if theme.dark else 0.085)
            painter.setBrush(colour)
            painter.drawPolygon(self._polygon(row))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for row in (*usual, *strong):
            colour = QColor(ink[int(self.hulls.clusters[row]) % len(ink)])
            colour.setAlphaF(0.95 if row in strong else 0.45 if len(usual) > 150 else 0.55)
            pen = QPen(colour, 2.0 if row in strong else 1.0)
            pen.setCosmetic(True)
            painter.setPen(pen)
            painter.drawPolygon(self._polygon(row))

    def _polygon(self, row: int) -> QPolygonF:
        polygon = self._polygons.get(row)
        if polygon is None:
            polygon = QPolygonF([QPointF(x, y) for x, y in self.hulls.corners[row].tolist()])
            self._polygons[row] = polygon
        return polygon


class NameLayer(MapLayer):
    """Numbers or names at the middles of the clusters, where there is room for them.

    Parameters
    ----------
    outlines : HullLayer
        Where the clusters are.

    Attributes
    ----------
    text : callable
        Cluster id to its text.
    avoid : callable
        Rectangles (logical pixels) that are taken already.
    """

    def __init__(self, outlines: HullLayer) -> None:
        super().__init__()
        self._outlines = outlines
        self.text: Callable[[int], str] = str
        self.avoid: Callable[[], list[QRectF]] = list
        self._revision = 0
        self._key: tuple[object, ...] = ()
        self._placed: list[tuple[QRectF, str, int]] = []

    def changed(self) -> None:
        """Place all texts anew at the next paint."""
        self._revision += 1
        self.update()

    def cluster_at(self, position: QPointF) -> int:
        """Cluster whose text is at a place of the plot (logical pixels); -1 where there is none."""
        if self._outlines.on:
            for box, _, cluster in self._placed:
                if box.contains(position):
                    return cluster
        return -1

    def draw(self, painter: QPainter) -> None:
        if not self._outlines.on or not len(self._outlines.hulls):
            return
        transform, theme = self.view_transform(), tokens()
        font = scaled_font("small", bold=True)
        key = (self._revision, transform, self.view_rect(), font.key())
        if key != self._key:
            self._placed = self._place(transform, QFontMetricsF(font))
            self._key = key
        ground = QColor(theme.surface)
        ground.setAlphaF(0.78)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(font)
        colours = palette(ColourBy.CLUSTER, theme)
        for box, text, cluster in self._placed:
            edge = colours[GREY + 1 + cluster % (len(colours) - GREY - 1)] if self._outlines.coloured else theme.outline
            painter.setPen(QPen(QColor(edge), 1.2))
            painter.setBrush(ground)
            painter.drawRoundedRect(box, 4, 4)
            painter.setPen(QColor(theme.text))
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def _place(self, transform: QTransform, metrics: QFontMetricsF) -> list[tuple[QRectF, str, int]]:
        """Boxes that keep clear of each other: the largest clusters first."""
        hulls, view = self._outlines.hulls, self.view_rect()
        placed: list[tuple[QRectF, str, int]] = []
        taken = {cell for box in self.avoid() for cell in _cells(box)}
        high = metrics.height() + 2
        for row in self._outlines.visible(transform, high * 0.75)[:250].tolist():
            if len(placed) >= _MOST_TEXTS:
                break
            cluster, radius = int(hulls.clusters[row]), float(hulls.radii[row]) * abs(transform.m11())
            texts = (metrics.elidedText(self.text(cluster), Qt.TextElideMode.ElideRight, _WIDEST), str(cluster))
            text, wide = texts[0], 0.0
            for text in texts:  # the number where there is no room for the name
                wide = max(metrics.horizontalAdvance(text) + 8, high)
                if wide <= 3.2 * radius:
                    break
            else:
                continue
            middle = transform.map(QPointF(*hulls.centres[row].tolist()))
            top = middle.y() - high / 2
            if radius < 2.2 * high:  # inside it would hide most of the images
                top = float(hulls.corners[row, :, 1].max()) * transform.m22() + transform.dy() - high + 4
            box = QRectF(middle.x() - wide / 2, top, wide, high)
            cells = _cells(box)
            if not view.contains(box) or cells & taken:
                continue
            taken |= cells
            placed.append((box, text, cluster))
        return placed


def _cells(box: QRectF) -> set[tuple[int, int]]:
    """Cells of a coarse grid that a rectangle touches."""
    return {
        (column, line)
        for column in range(int(box.left() // _CELL), int(box.right() // _CELL) + 1)
        for line in range(int(box.top() // _CELL), int(box.bottom() // _CELL) + 1)
    }
