"""The line that says what the colours and shapes of the map mean."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from a3s_desktop.i18n import tr
from a3s_desktop.ui.map_colours import LegendEntry, Shape
from a3s_desktop.ui.plain import plain_tip
from a3s_desktop.ui.theme import SPACE_1, SPACE_2, scaled_font, tokens

_DOT = 5.0  # radius in logical pixels
_GAP = 12.0


def draw_swatch(painter: QPainter, at: QPointF, entry: LegendEntry, radius: float = _DOT) -> float:
    """Draw an entry's sign with its left edge at a place; returns its width."""
    if len(entry.colours) > 4:  # a scale
        for place, colour in enumerate(entry.colours):
            box = QRectF(at.x() + place * radius * 1.4, at.y() - radius, radius * 1.4 + 0.5, 2 * radius)
            painter.fillRect(box, QColor(colour))
        return len(entry.colours) * radius * 1.4
    step = radius * (1.5 if len(entry.colours) > 1 else 2.0)
    for index, colour in enumerate(entry.colours):
        middle = QPointF(at.x() + radius + index * step, at.y())
        if entry.shape is Shape.CROSS:
            arm = radius * 0.7
            painter.setPen(QPen(QColor(colour), radius * 0.45))
            painter.drawLine(middle + QPointF(-arm, -arm), middle + QPointF(arm, arm))
            painter.drawLine(middle + QPointF(-arm, arm), middle + QPointF(arm, -arm))
        elif entry.shape is Shape.RING:
            painter.setPen(QPen(QColor(colour), radius * 0.4))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawEllipse(middle, radius * 0.75, radius * 0.75)
        else:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colour))
            painter.drawEllipse(middle, radius * 0.9, radius * 0.9)
    return (len(entry.colours) - 1) * step + 2 * radius


class MapLegend(QWidget):
    """See the module. What does not fit into the line is left to the tool tip."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entries: tuple[LegendEntry, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Legend"))

    def set_entries(self, entries: tuple[LegendEntry, ...]) -> None:
        """Replace what is shown."""
        if entries == self._entries:
            return
        self._entries = entries
        text = " · ".join(entry.text for entry in entries)
        self.setAccessibleDescription(text)
        self.setToolTip(plain_tip(text))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(120, round(QFontMetricsF(self._font()).height()) + SPACE_1 * 2)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def _font(self) -> QFont:
        return scaled_font("small")

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._font())
        metrics = QFontMetricsF(self._font())
        x, y = float(SPACE_2), self.height() / 2
        for entry in self._entries:
            wide = metrics.horizontalAdvance(entry.text)
            if x + 40 + wide > self.width() and x > SPACE_2:
                return
            x += draw_swatch(painter, QPointF(x, y), entry) + SPACE_1
            painter.setPen(QColor(tokens().muted))
            painter.drawText(QPointF(x, y + metrics.ascent() / 2 - 1), entry.text)
            x += wide + _GAP
