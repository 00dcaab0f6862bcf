"""Marks above the points: the current pair, the point under the pointer, the keyboard's place."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen, QTransform

from a3s_desktop.ui.map_layer import MapLayer
from a3s_desktop.ui.theme import Tokens, scaled_font, tokens

_MARK = 9.0  # logical pixels from a point of the pair to its badge


@dataclass(frozen=True, slots=True)
class PairMark:
    """Where the two images of the current pair lie, and what to write beside them."""

    left: QPointF
    right: QPointF
    left_text: str
    right_text: str


class MarkLayer(MapLayer):
    """The current pair (line, rings, badges "L 12" and "R 31"), a ring around the hovered point, the keyboard's place.

    While the map has the focus, a frame says so.
    """

    def __init__(self) -> None:
        super().__init__()
        self._pair: PairMark | None = None
        self._hovered: QPointF | None = None
        self._cursor: QPointF | None = None
        self._focus = False
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

    def set_cursor(self, point: QPointF | None) -> None:
        """The point that the keyboard is at (map coordinates), or none."""
        self._cursor = point
        self.update()

    def set_focus(self, on: bool) -> None:
        """Whether keys go to the map."""
        self._focus = on
        self.update()

    def draw(self, painter: QPainter) -> None:
        transform, theme = self.view_transform(), tokens()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if self._pair is not None:
            self._draw_pair(painter, self._pair, transform, theme)
        if self._hovered is not None:
            self._ring(painter, transform.map(self._hovered), self.ring + 2, theme)
        if self._focus:
            painter.setPen(QPen(QColor(theme.accent), 2))
            painter.drawRect(self.view_rect().adjusted(1, 1, -1, -1))
            if self._cursor is not None:
                at, side = transform.map(self._cursor), self.ring + 4
                for pen in _pens(theme, 2.0, theme.accent):
                    painter.setPen(pen)
                    painter.drawRect(QRectF(at.x() - side, at.y() - side, 2 * side, 2 * side))

    def badges(self) -> list[QRectF]:
        """Where the texts of the pair are, in logical pixels."""
        if self._pair is None:
            return []
        transform = self.view_transform()
        left, right = transform.map(self._pair.left), transform.map(self._pair.right)
        return self._badge_boxes(self._pair, left, right)

    def _badge_boxes(self, pair: PairMark, left: QPointF, right: QPointF) -> list[QRectF]:
        line = QLineF(left, right)
        length = line.length()
        away = QPointF(line.dx() / length, line.dy() / length) if length > 1 else QPointF(1, 0)
        view = self.view_rect()
        boxes = [
            _badge_box(point, -away if first else away, text, view, self.ring + _MARK)
            for first, point, text in ((True, left, pair.left_text), (False, right, pair.right_text))
        ]
        if boxes[0].intersects(boxes[1]):  # both at one edge of the view
            boxes[1].moveTop(boxes[0].bottom() + 2 if boxes[0].bottom() + 24 < view.bottom() else boxes[0].top() - 24)
        return boxes

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
        boxes = self._badge_boxes(pair, left, right)
        for box, text in zip(boxes, (pair.left_text, pair.right_text), strict=True):
            _badge(painter, box, text, theme)

    @staticmethod
    def _ring(painter: QPainter, point: QPointF, radius: float, theme: Tokens) -> None:
        for pen in _pens(theme, 1.8):
            painter.setPen(pen)
            painter.drawEllipse(point, radius, radius)


def _pens(theme: Tokens, width: float, colour: str = "") -> tuple[QPen, QPen]:
    """A pen in the ground's colour to set the line off, then the line."""
    casing = QColor(theme.surface)
    casing.setAlphaF(0.85)
    pens = QPen(casing, width + 2.6), QPen(QColor(colour or theme.text), width)
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
