"""What an image pane paints besides the image: placeholder, corners, badge, caption."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath

from a3s_desktop.ui.theme import RADIUS, SPACE_2, SPACE_3, SPACE_4, icon_pixmap, scaled_font, tokens


def draw_placeholder(painter: QPainter, stage: QRect, reason: str, ratio: float) -> None:
    """Say in the middle of ``stage`` that there is no image, and why."""
    t = tokens()
    size = 40
    middle = stage.center()
    symbol = icon_pixmap("image-off", t.muted, size, ratio)
    painter.drawPixmap(middle.x() - size // 2, middle.y() - size - SPACE_2, symbol)
    painter.setFont(scaled_font("heading", bold=True))
    painter.setPen(QColor(t.text))
    line = QRect(stage.left() + SPACE_4, middle.y() + SPACE_2, stage.width() - 2 * SPACE_4, 28)
    painter.drawText(line, Qt.AlignmentFlag.AlignHCenter, "This image cannot be shown")
    painter.setFont(scaled_font("base"))
    painter.setPen(QColor(t.muted))
    rest = QRect(line.left(), line.bottom() + 1, line.width(), max(20, stage.bottom() - line.bottom() - SPACE_2))
    painter.drawText(rest, int(Qt.AlignmentFlag.AlignHCenter) | int(Qt.TextFlag.TextWordWrap), reason)


def draw_corners(painter: QPainter, stage: QRect) -> None:
    """Round ``stage`` by painting the page over its corners: cheaper than clipping an image to a path."""
    outer, inner = QPainterPath(), QPainterPath()
    outer.addRect(QRectF(stage))
    inner.addRoundedRect(QRectF(stage), RADIUS, RADIUS)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.fillPath(outer.subtracted(inner), QColor(tokens().window))
    painter.restore()


def draw_badge(painter: QPainter, stage: QRect, text: str) -> None:
    """A pill with a short note at the upper edge of ``stage``."""
    t = tokens()
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setFont(scaled_font("small", bold=True))
    metrics = painter.fontMetrics()
    shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, stage.width() - 2 * SPACE_3 - 20)
    width, height = metrics.horizontalAdvance(shown) + 20, metrics.height() + 10
    box = QRectF(stage.center().x() - width / 2, stage.top() + SPACE_3, width, height)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(t.accent))
    painter.drawRoundedRect(box, height / 2, height / 2)
    painter.setPen(QColor(t.on_accent))
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, shown)
    painter.restore()


def draw_caption(painter: QPainter, row: QRect, name: str, facts: str, *, warn: bool = False) -> None:
    """File name on the left, shortened in the middle so that its number stays; facts on the right."""
    t = tokens()
    painter.setFont(scaled_font("small"))
    metrics = painter.fontMetrics()
    painter.setPen(QColor(t.warning if warn else t.muted))
    painter.drawText(row, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, facts)
    painter.setPen(QColor(t.text))
    room = max(row.width() - metrics.horizontalAdvance(facts) - SPACE_4, 40)
    shown = metrics.elidedText(name.replace("\n", " "), Qt.TextElideMode.ElideMiddle, room)
    painter.drawText(row, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)
