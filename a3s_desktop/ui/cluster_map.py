"""The map of all images: near points look alike, colours are clusters, the current pair is joined by a line."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, Signal, Slot
from PySide6.QtGui import QColor, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QStackedLayout,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from a3s_desktop.ui.hover_card import HoverCard
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.map_items import MarkLayer, PairMark, PointLayer, colour_slots
from a3s_desktop.ui.map_plot import MapPlot
from a3s_desktop.ui.map_raster import PointGrid
from a3s_desktop.ui.theme import SPACE_1, SPACE_2, SPACE_4, icon, set_role, tokens

_CATCH = 9  # logical pixels from the pointer at which a point is still meant
_WHOLE, _PAIR, _FREE = "whole", "pair", "free"


class MapItems(Protocol):
    """What the map asks of the project's items (``storage.workspace.Items``)."""

    def file(self, item: int) -> Any:
        """Path of the image file."""

    def name(self, item: int) -> str:
        """File name to show."""


class ClusterMap(QWidget):
    """See the module.

    Parameters
    ----------
    loader : ImageLoader, optional
        For the picture of the hovered point.
    parent : QWidget, optional

    Signals
    -------
    clusterClicked(int)
        A point of this cluster was clicked.
    itemClicked(int)
        The item whose point was clicked; comes after ``clusterClicked``.
    itemHovered(int)
        The item under the pointer; -1: none.
    """

    clusterClicked = Signal(int)
    itemClicked = Signal(int)
    itemHovered = Signal(int)

    def __init__(self, loader: ImageLoader | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._items: MapItems | None = None
        self._labels = np.zeros(0, np.int32)
        self._sizes = np.zeros(0, np.int64)
        self._places = np.zeros((0, 2), np.float32)  # by item
        self._pair: tuple[int, int] | None = None
        self._selected: int | None = None
        self._hovered = -1
        self._mode = _WHOLE
        self._build(loader)
        self._retheme()
        self._tell()

    # what is shown

    def set_items(self, items: MapItems | None) -> None:
        """File names and images for the hover card."""
        self._items = items
        self._leave()

    @Slot(object)
    def set_points(self, points: npt.NDArray[Any] | PointGrid | None) -> None:
        """Show a layout, or replace it; the labels are kept where their number fits.

        Parameters
        ----------
        points : float, shape (N, 2), or PointGrid, or None
            A grid that a worker has built saves 30 ms at 100,000 points. None: nothing to show (yet).
        """
        grid = points if isinstance(points, PointGrid) else PointGrid(np.zeros((0, 2)) if points is None else points)
        anchor = self._anchor()
        same = len(grid) == len(self._points.grid)
        self._leave()
        self._points.set_grid(grid)
        self._marks.set_bounds(self._points.boundingRect())
        self._places = np.zeros((len(grid), 2), np.float32)
        self._places[grid.order, 0], self._places[grid.order, 1] = grid.x, grid.y
        self._plot.set_extent(grid.bounds)
        self._recolour()
        self._mark_pair()
        if not same:
            self._mode = _WHOLE
        self._stack.setCurrentWidget(self._plot if len(grid) else self._empty)
        if self._mode == _FREE and anchor is not None:
            item, place = anchor  # the image that was in the middle stays there
            shift = self._places[item] - np.asarray(place, np.float32)
            self._plot.getViewBox().translateBy(x=float(shift[0]), y=float(shift[1]))
        else:
            self._fit()
        self._tell()

    def set_labels(self, labels: npt.NDArray[Any], moved: npt.NDArray[Any] | None = None) -> None:
        """Recolour.

        Parameters
        ----------
        labels : int32, shape (N,)
            Cluster id of every item.
        moved : int, optional
            Items whose id changed; an empty array says that there is nothing to do.
        """
        if moved is not None and len(moved) == 0 and len(labels) == len(self._labels):
            return
        self._labels = np.array(labels, np.int32)
        self._sizes = np.bincount(self._labels) if len(self._labels) else np.zeros(0, np.int64)
        self._recolour()
        self._mark_pair()
        self._tell()

    def set_pair(self, left: int | None, right: int | None = None) -> None:
        """Mark the current pair by its items, or none."""
        self._pair = None if left is None or right is None else (int(left), int(right))
        self._emphasise()
        self._mark_pair()
        if self._mode == _PAIR:
            self._fit()
        self._tell()

    def set_selected_cluster(self, cluster: int | None) -> None:
        """Raise one more cluster than those of the pair (the one whose images are open)."""
        self._selected = cluster
        self._emphasise()

    # the view

    @Slot()
    def whole_map(self) -> None:
        """Show all points, also after the window's size or the layout changes."""
        self._mode = _WHOLE
        self._fit()

    @Slot()
    def zoom_to_pair(self) -> None:
        """Show the current pair large, and each pair after it; until the user moves the map."""
        if self._marked() is not None:
            self._mode = _PAIR
            self._fit()

    def zoom(self, factor: float) -> None:
        """Zoom about the middle; ``factor`` > 1 is nearer."""
        self._mode = _FREE
        self._plot.getViewBox().scaleBy((1 / factor, 1 / factor))

    def item_at(self, position: QPointF) -> int:
        """Item under a place of the plot (logical pixels); -1 where there is none."""
        self._plot.settle()
        transform = self._points.view_transform().inverted()[0]
        at = transform.map(position)
        reach = max(_CATCH, self._points.radius + 2) * abs(transform.m11())
        return self._points.grid.nearest(at.x(), at.y(), reach)

    def position_of(self, item: int) -> QPointF:
        """Where an item's point is in the plot (logical pixels)."""
        self._plot.settle()
        return self._points.view_transform().map(self._point(item))

    @property
    def plot(self) -> QWidget:
        """The widget that the points are drawn in."""
        return self._plot

    @property
    def status(self) -> str:
        """What the line below the map says; also the accessible description."""
        return self._status.toolTip()

    # construction and events

    def _build(self, loader: ImageLoader | None) -> None:
        self._plot = MapPlot()
        self._points, self._marks = PointLayer(), MarkLayer()
        for layer, height in ((self._points, 0), (self._marks, 10)):
            layer.setZValue(height)
            self._plot.getViewBox().addItem(layer, ignoreBounds=True)
        self._empty = QLabel("The map appears here as soon as the images have been compared.")
        self._empty.setWordWrap(True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setMargin(SPACE_4)
        set_role(self._empty, role="muted")
        stage = QWidget()
        self._stack = QStackedLayout(stage)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._plot)
        self._status = QLabel()
        self._status.setTextFormat(Qt.TextFormat.PlainText)
        self._status.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        set_role(self._status, role="small")
        self._whole = self._button("Whole map", "Show all images (Home)", self.whole_map)
        self._near = self._button("Zoom to pair", "Show the current pair large (P)", self.zoom_to_pair)
        foot = QHBoxLayout()
        foot.setContentsMargins(SPACE_2, SPACE_1, SPACE_1, SPACE_1)
        foot.setSpacing(SPACE_1)
        foot.addWidget(self._status, 1)
        foot.addWidget(self._whole)
        foot.addWidget(self._near)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(stage, 1)
        column.addLayout(foot)
        self._card = HoverCard(loader, self)
        self.setFocusProxy(self._plot)
        self.setAccessibleName("Map of the images")
        self._plot.setAccessibleName("Map of the images")
        self._plot.left.connect(self._leave)
        self._plot.resized.connect(self._resized)
        self._plot.keyPressed.connect(self._key)
        scene = self._plot.scene()
        scene.sigMouseMoved.connect(self._pointer_moved)
        scene.sigMouseClicked.connect(self._clicked)
        self._plot.getViewBox().sigRangeChangedManually.connect(self._moved_by_hand)

    def _button(self, name: str, tip: str, slot: Any) -> QToolButton:
        button = QToolButton()
        button.setAccessibleName(name)
        button.setToolTip(tip)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Space belongs to the pair
        button.clicked.connect(slot)
        set_role(button, kind="icon")
        return button

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange) and hasattr(self, "_card"):
            self._retheme()

    def _retheme(self) -> None:
        self._plot.setBackground(QColor(tokens().surface))
        self._whole.setIcon(icon("fit"))
        self._near.setIcon(icon("link"))
        self._points.update()
        self._marks.update()

    @Slot()
    def _resized(self) -> None:
        if self._mode != _FREE:
            self._fit()

    @Slot(object)
    def _moved_by_hand(self, _axes: object) -> None:
        self._mode = _FREE
        self._leave()

    @Slot(QKeyEvent)
    def _key(self, event: QKeyEvent) -> None:
        key = event.key()
        if key == Qt.Key.Key_Home:
            self.whole_map()
        elif key == Qt.Key.Key_P:
            self.zoom_to_pair()
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom(1.25)
        elif key == Qt.Key.Key_Minus:
            self.zoom(0.8)
        else:
            return
        event.accept()

    @Slot(object)
    def _pointer_moved(self, scene_position: QPointF) -> None:
        if QApplication.mouseButtons() != Qt.MouseButton.NoButton:
            self._leave()
            return
        position = QPointF(self._plot.mapFromScene(scene_position))
        self._hover(self.item_at(position), position.toPoint())

    def _hover(self, item: int, position: QPoint) -> None:
        if item != self._hovered:
            self._hovered = item
            self._marks.set_hovered(self._point(item) if item >= 0 else None)
            self._plot.setCursor(Qt.CursorShape.PointingHandCursor if item >= 0 else Qt.CursorShape.ArrowCursor)
            self.itemHovered.emit(item)
        if item < 0:
            self._card.dismiss()
            return
        path = self._items.file(item) if self._items is not None else None
        name = self._items.name(item) if self._items is not None else f"Image {item + 1:,}"
        self._card.show_item(path, name, self._cluster_text(item), self._plot.mapTo(self, position))

    @Slot()
    def _leave(self) -> None:
        self._hover(-1, QPoint())

    @Slot(object)
    def _clicked(self, event: Any) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        item = self.item_at(QPointF(self._plot.mapFromScene(event.scenePos())))
        if item < 0:
            return
        event.accept()
        if item < len(self._labels):
            self.clusterClicked.emit(int(self._labels[item]))
        self.itemClicked.emit(item)

    # colours, marks, texts

    def _recolour(self) -> None:
        if len(self._labels) == len(self._points.grid):
            self._points.set_slots(colour_slots(self._labels))
        self._emphasise()

    def _emphasise(self) -> None:
        if len(self._labels) != len(self._points.grid):
            return
        wanted = [self._selected] if self._selected is not None else []
        if self._marked() is not None:
            wanted += [int(self._labels[item]) for item in self._pair or ()]
        self._points.set_emphasis(np.isin(self._labels, wanted) if wanted else None)

    def _marked(self) -> tuple[int, int] | None:
        """The pair, if both of its points are on the map."""
        if self._pair is None or max(self._pair) >= len(self._places):
            return None
        return self._pair

    def _mark_pair(self) -> None:
        pair = self._marked()
        self._near.setEnabled(pair is not None)
        if pair is None:
            self._marks.set_pair(None)
            return
        texts = ["L", "R"]
        if len(self._labels) == len(self._places):
            texts = [f"{side} {self._labels[item]}" for side, item in zip("LR", pair, strict=True)]
        self._marks.set_pair(PairMark(self._point(pair[0]), self._point(pair[1]), *texts))

    def _cluster_text(self, item: int) -> str:
        if item >= len(self._labels):
            return ""
        cluster = int(self._labels[item])
        size = int(self._sizes[cluster])
        return f"Cluster {cluster} · {size:,} images" if size > 1 else f"Cluster {cluster} · single image"

    def _tell(self) -> None:
        n = len(self._points.grid)
        parts = [f"{n:,} image{'' if n == 1 else 's'}"]
        if n and len(self._labels) == n:
            clusters, single = int((self._sizes > 1).sum()), int((self._sizes == 1).sum())
            parts += [f"{clusters:,} cluster{'' if clusters == 1 else 's'}", f"{single:,} single (grey)"]
            pair = self._marked()
            if pair is not None:
                first, second = (int(self._labels[item]) for item in pair)
                parts.append(
                    f"pair in cluster {first}" if first == second else f"pair in clusters {first} and {second}"
                )
        text = " · ".join(parts) if n else ""
        self._status.setToolTip(text)
        self._elide()
        for widget in (self, self._plot):
            widget.setAccessibleDescription(text or self._empty.text())

    def _elide(self) -> None:
        self._status.setText(
            self._status.fontMetrics().elidedText(
                self._status.toolTip(), Qt.TextElideMode.ElideRight, max(self._status.width(), 40)
            )
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.layout().activate()
        self._elide()

    # geometry

    def _point(self, item: int) -> QPointF:
        return QPointF(float(self._places[item, 0]), float(self._places[item, 1]))

    def _fit(self) -> None:
        pair = self._marked()
        if self._mode == _PAIR and pair is not None:
            self._plot.show_pair(self._point(pair[0]), self._point(pair[1]))
        elif len(self._points.grid):
            self._plot.show_whole()

    def _anchor(self) -> tuple[int, tuple[float, float]] | None:
        """The item nearest to the middle of the view, and where it is on the map."""
        grid = self._points.grid
        if not len(grid):
            return None
        centre = self._plot.getViewBox().viewRect().center()
        x0, y0, x1, y1 = grid.bounds
        item = grid.nearest(centre.x(), centre.y(), 2 * max(x1 - x0, y1 - y0, 1.0))
        return None if item < 0 else (item, (float(self._places[item, 0]), float(self._places[item, 1])))
