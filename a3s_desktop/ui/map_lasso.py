"""The lasso: draw around images with the button held, or click corner by corner.

Free hand: press, draw, let go. Corners: click, click, … and close with a double click, Enter or a click on the first
corner; Backspace takes the last corner back, Escape stops. With Ctrl the images are added to those selected already.
"""

from __future__ import annotations

import enum

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QLineF, QObject, QPointF, Qt, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPen, QPolygonF, QTransform

from a3s_desktop.core.types import IndexArray
from a3s_desktop.ui.map_layer import MapLayer
from a3s_desktop.ui.map_raster import PointGrid
from a3s_desktop.ui.theme import tokens

_DRAG = 6.0  # logical pixels from the press at which a click becomes a line
_STEP = 3.0  # logical pixels between two corners of a line
_CLOSE = 10.0  # logical pixels from the first corner at which a click closes
_MASK = 2048  # pixels of the image by which images inside are told


class LassoState(enum.Enum):
    """What the lasso is doing."""

    IDLE = 0
    PRESSED = 1
    LINE = 2
    CORNERS = 3


def items_inside(grid: PointGrid, polygon: QPolygonF) -> IndexArray:
    """Items inside a closed polygon (map coordinates), ascending; exact to 1/2,000 of its size.

    The polygon is painted into a mask and each point looked up there: the time does not depend on its corners.
    """
    box = polygon.boundingRect()
    if polygon.size() < 3 or not len(grid) or max(box.width(), box.height()) <= 0:
        return np.zeros(0, np.int64)
    places = grid.within(box.left(), box.top(), box.right(), box.bottom())
    scale = (_MASK - 2) / max(box.width(), box.height())
    wide, high = int(box.width() * scale) + 3, int(box.height() * scale) + 3
    image = QImage(wide, high, QImage.Format.Format_Grayscale8)
    image.fill(0)
    painter = QPainter(image)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(Qt.GlobalColor.white)
    painter.setTransform(QTransform(scale, 0, 0, scale, 1 - box.left() * scale, 1 - box.top() * scale))
    painter.drawPolygon(polygon, Qt.FillRule.WindingFill)
    painter.end()
    mask = np.frombuffer(image.constBits(), np.uint8).reshape(high, image.bytesPerLine())
    # What is not in the box is looked up in the edge, which is blank.
    at = _pixels(grid.y[places], box.top(), scale, high) * np.int32(mask.shape[1])
    at += _pixels(grid.x[places], box.left(), scale, wide)
    caught = np.zeros(len(grid), np.bool_)
    caught[grid.order[places]] = mask.reshape(-1).take(at) > 127
    return np.flatnonzero(caught)


def _pixels(values: npt.NDArray[np.float32], low: float, scale: float, count: int) -> npt.NDArray[np.int32]:
    """Pixels of the mask along one side; pixel 1 begins at ``low``."""
    return np.clip((values - low) * scale + 1, 0, count - 1).astype(np.int32)


class LassoLayer(MapLayer):
    """Draws the line that is being made."""

    def __init__(self) -> None:
        super().__init__()
        self._path: list[QPointF] = []
        self._corners = False

    def show_path(self, path: list[QPointF], corners: bool) -> None:
        """The line so far (map coordinates); ``corners``: with a dot on each."""
        self._path, self._corners = path, corners
        self.update()

    def draw(self, painter: QPainter) -> None:
        if len(self._path) < 2:
            return
        transform, theme = self.view_transform(), tokens()
        points = QPolygonF([transform.map(point) for point in self._path])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        fill = QColor(theme.accent)
        fill.setAlphaF(0.14)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        painter.drawPolygon(points, Qt.FillRule.WindingFill)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(theme.accent), 1.6))
        painter.drawPolyline(points)
        painter.setPen(QPen(QColor(theme.accent), 1.2, Qt.PenStyle.DashLine))
        painter.drawLine(points.at(points.size() - 1), points.at(0))
        if self._corners:
            painter.setPen(QPen(QColor(theme.surface), 1.5))
            painter.setBrush(QColor(theme.accent))
            for index in range(points.size() - 1):
                size = 4.5 if index == 0 else 3.0
                painter.drawEllipse(points.at(index), size, size)


class Lasso(QObject):
    """Turns presses, moves and releases into a closed line.

    Parameters
    ----------
    layer : LassoLayer

    Attributes
    ----------
    armed : bool
        The tool is on: a plain press draws. Off: only with Shift held.

    Signals
    -------
    closed(object, bool)
        The polygon in map coordinates (`QPolygonF`), and whether to add to the selection.
    toggled(object)
        A point of the plot was clicked with Shift: add or remove that image.
    stateChanged()
    """

    closed = Signal(object, bool)
    toggled = Signal(object)
    stateChanged = Signal()

    def __init__(self, layer: LassoLayer, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._layer = layer
        self._state = LassoState.IDLE
        self._path: list[QPointF] = []
        self._start = QPointF()
        self._last = QPointF()
        self.armed = False

    @property
    def state(self) -> LassoState:
        """What it is doing."""
        return self._state

    def press(self, at: QPointF, button: Qt.MouseButton, held: Qt.KeyboardModifier) -> bool:
        """A mouse button went down (logical pixels of the plot); True: it was for the lasso."""
        if self._state is LassoState.CORNERS:
            if button == Qt.MouseButton.LeftButton:
                self._corner(at, held)
            elif button == Qt.MouseButton.RightButton:
                self.back()
            return True
        if button != Qt.MouseButton.LeftButton or not (self.armed or held & Qt.KeyboardModifier.ShiftModifier):
            return False
        self._start = self._last = QPointF(at)
        self._path = [self._on_map(at)]
        self._to(LassoState.PRESSED)
        return True

    def move(self, at: QPointF) -> bool:
        """The pointer moved; True: it was for the lasso."""
        if self._state is LassoState.PRESSED and QLineF(self._start, at).length() >= _DRAG:
            self._to(LassoState.LINE)
        if self._state is LassoState.LINE and QLineF(self._last, at).length() >= _STEP:
            self._last = QPointF(at)
            self._path.append(self._on_map(at))
            self._layer.show_path(list(self._path), corners=False)
        elif self._state is LassoState.CORNERS:
            self._layer.show_path([*self._path, self._on_map(at)], corners=True)
        return self._state is not LassoState.IDLE

    def release(self, at: QPointF, held: Qt.KeyboardModifier) -> bool:
        """The button went up; True: it was for the lasso."""
        if self._state is LassoState.LINE:
            self._path.append(self._on_map(at))
            self._close(held)
            return True
        if self._state is LassoState.PRESSED:
            if self.armed:
                self._to(LassoState.CORNERS)
                self._layer.show_path([*self._path, self._on_map(at)], corners=True)
            else:
                self.cancel()
                self.toggled.emit(at)
            return True
        return self._state is LassoState.CORNERS

    def double(self, at: QPointF, held: Qt.KeyboardModifier) -> bool:
        """A double click; its first half was a press already."""
        if self._state is not LassoState.CORNERS:
            return self.armed
        if len(self._path) >= 3:
            self.finish(held)
        else:  # two quick clicks at the beginning are two corners
            self._corner(at, held)
        return True

    def finish(self, held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Close the corners made so far."""
        if self._state is LassoState.CORNERS and len(self._path) >= 3:
            self._close(held)

    def back(self) -> None:
        """Take the last corner back; the first one ends it."""
        if self._state is LassoState.CORNERS:
            self._path.pop()
            if not self._path:
                self.cancel()
            else:
                self._layer.show_path([*self._path, self._path[-1]], corners=True)

    def cancel(self) -> None:
        """Forget the line."""
        self._path = []
        self._layer.show_path([], corners=False)
        self._to(LassoState.IDLE)

    def _corner(self, at: QPointF, held: Qt.KeyboardModifier) -> None:
        first = self._layer.view_transform().map(self._path[0])
        if len(self._path) >= 3 and QLineF(first, at).length() <= _CLOSE:
            self._close(held)
            return
        self._path.append(self._on_map(at))
        self._layer.show_path([*self._path, self._on_map(at)], corners=True)

    def _close(self, held: Qt.KeyboardModifier) -> None:
        polygon = QPolygonF(self._path)
        self.cancel()
        self.closed.emit(polygon, bool(held & Qt.KeyboardModifier.ControlModifier))

    def _on_map(self, at: QPointF) -> QPointF:
        return self._layer.view_transform().inverted()[0].map(at)

    def _to(self, state: LassoState) -> None:
        if state is not self._state:
            self._state = state
            self.stateChanged.emit()
