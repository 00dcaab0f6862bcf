"""How clusters and single images became fewer over the answers of this session, as two lines."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from a3s_desktop.i18n import number, tr
from a3s_desktop.ui.theme import SPACE_1, SPACE_2, SPACE_3, scaled_font, tokens

_SAMPLE = 22  # pixels of a line before its word
_MOST = 1000  # points kept, each drawn at every answer; beyond, every second one of the older half goes


@dataclass(frozen=True, slots=True)
class Point:
    """What held after so many answers."""

    answers: int
    clusters: int
    singles: int


class ProgressCurve(QWidget):
    """Two lines over the number of answers. One is solid and one dashed, so no colour has to be told apart."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._points: list[Point] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(110)
        self.setAccessibleName(tr("Clusters and single images over the answers of this session"))

    @property
    def points(self) -> tuple[Point, ...]:
        """What is drawn."""
        return tuple(self._points)

    def clear(self) -> None:
        """Another project."""
        self._points = []
        self.update()

    def add(self, point: Point) -> None:
        """What holds now; after an undo the line ends earlier."""
        while self._points and self._points[-1].answers >= point.answers:
            self._points.pop()
        self._points.append(point)
        if len(self._points) > _MOST:
            half = len(self._points) // 2
            self._points = self._points[:half:2] + self._points[half:]
        first, last = self._points[0], self._points[-1]
        self.setAccessibleDescription(
            tr("From {clusters} clusters and {singles} single images to {clusters2} and {singles2}.",
               clusters=number(first.clusters), singles=number(first.singles),
               clusters2=number(last.clusters), singles2=number(last.singles))
        )  # fmt: skip
        self.update()

    def sizeHint(self) -> QSize:
        """Wider than high."""
        return QSize(280, 150)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's; see `draw`."""
        painter = QPainter(self)
        self.draw(painter)
        painter.end()

    def draw(self, painter: QPainter) -> None:
        """Paint the frame, the lines and their words."""
        t = tokens()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(scaled_font("small"))
        metrics = painter.fontMetrics()
        high = metrics.height()
        points = self._points
        top = max((max(p.clusters, p.singles) for p in points), default=0)
        left = metrics.horizontalAdvance(number(max(top, 10))) + SPACE_2
        head = high + SPACE_1  # the words: beside the lines they would lie on them while both are close
        area = QRectF(left, head + high / 2, self.width() - left - SPACE_1, self.height() - head - 2 * high - SPACE_1)
        painter.setPen(QPen(QColor(t.border), 1))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        painter.drawLine(area.topLeft(), area.topRight())
        painter.setPen(QColor(t.muted))
        side = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRectF(0, area.top() - high / 2, left - SPACE_1, high), side, number(top))
        painter.drawText(QRectF(0, area.bottom() - high / 2, left - SPACE_1, high), side, "0")
        if len(points) < 2:
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, tr("A line appears with the answers."))
            return
        first, last = points[0].answers, points[-1].answers
        below = QRectF(area.left(), area.bottom() + 2, area.width(), high)
        painter.drawText(below, Qt.AlignmentFlag.AlignLeft, tr("after {n} answers", n=number(first)))
        painter.drawText(below, Qt.AlignmentFlag.AlignRight, number(last))
        across, up = area.width() / max(1, last - first), area.height() / max(1, top)
        x = area.left()
        for values, colour, dash, word in (
            ([p.clusters for p in points], t.accent, Qt.PenStyle.SolidLine, tr("clusters")),
            ([p.singles for p in points], t.different, Qt.PenStyle.DashLine, tr("single images")),
        ):
            line = QPolygonF(
                [
                    QPointF(area.left() + (p.answers - first) * across, area.bottom() - value * up)
                    for p, value in zip(points, values, strict=True)
                ]
            )
            painter.setPen(QPen(QColor(colour), 2, dash))
            painter.drawPolyline(line)
            painter.drawLine(QPointF(x, high / 2), QPointF(x + _SAMPLE, high / 2))
            x += _SAMPLE + SPACE_1
            painter.setPen(QColor(t.text))
            painter.drawText(QRectF(x, 0, self.width() - x, high), Qt.AlignmentFlag.AlignLeft, word)
            x += metrics.horizontalAdvance(word) + SPACE_3
