"""What an image pane paints besides the image: placeholder, corners, badge, caption."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPixmap

from a3s_desktop.i18n import tr
from a3s_desktop.ui.adjustments import Orientation, flipped_point, turned_point
from a3s_desktop.ui.theme import RADIUS, RADIUS_SMALL, SPACE_2, SPACE_3, SPACE_4, icon_pixmap, scaled_font, tokens

_SMOOTH_UP_TO = 20.0  # device pixels per image pixel; beyond, single pixels are shown as squares
_VEIL = "#101318"  # behind small texts over an image, in both themes: images have any colour
_ON_VEIL, _NOTE = "#F2F4F8", "#FFD479"


def draw_picture(
    painter: QPainter,
    stage: QRect,
    pixmap: QPixmap,
    orientation: Orientation,
    place: tuple[float, float, float, float],
    ratio: float,
    opacity: float = 1.0,
) -> None:
    """Paint an image, turned and mirrored.

    Parameters
    ----------
    painter : QPainter
    stage : QRect
        What may be painted, in logical pixels.
    pixmap : QPixmap
        As the file has it.
    orientation : Orientation
    place : tuple of float
        Left, top, width and height of the whole turned image on the stage, in device pixels.
    ratio : float
        Device pixels of a logical one.
    opacity : float
    """
    left, top, width, height = place
    # Whole device pixels: an image decoded for exactly this place is then copied, not resampled.
    target = QRectF(round(left), round(top), round(width), round(height))
    size = orientation.size(pixmap.size())
    exact = abs(size.width() - target.width()) <= 1 and abs(size.height() - target.height()) <= 1
    if exact:
        target.setSize(QSizeF(size))
    painter.save()
    painter.setClipRect(stage, Qt.ClipOperation.IntersectClip)
    painter.translate(stage.topLeft())
    painter.scale(1 / ratio, 1 / ratio)
    smooth = not exact and target.width() / max(1, size.width()) < _SMOOTH_UP_TO
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, smooth)
    painter.setOpacity(opacity)
    if not orientation.neutral:
        middle = target.center()
        painter.translate(middle)
        painter.rotate(90 * orientation.turns)
        if orientation.mirrored:
            painter.scale(-1, 1)
        unturned = target.size() if orientation.upright else target.size().transposed()
        target = QRectF(QPointF(-unturned.width() / 2, -unturned.height() / 2), unturned)
    painter.drawPixmap(target, pixmap, QRectF(pixmap.rect()))
    painter.restore()


def draw_mark(
    painter: QPainter,
    stage: QRect,
    area: tuple[float, float, float, float],
    orientation: Orientation,
    size: QSize,
    place: tuple[float, float, float, float],
    ratio: float,
) -> None:
    """Outline a part of an image that is painted at ``place`` (see `draw_picture`).

    Parameters
    ----------
    area : tuple of float
        Left, top, width and height in pixels of the file.
    size : QSize
        Of the original, turned.
    """
    file = orientation.size(size)
    corners = []
    for x, y in ((area[0], area[1]), (area[0] + area[2], area[1] + area[3])):
        at = (x / file.width(), y / file.height())
        at = flipped_point(*at) if orientation.mirrored else at
        for _ in range(orientation.turns):
            at = turned_point(*at)
        corners.append(QPointF(place[0] + at[0] * place[2], place[1] + at[1] * place[3]) / ratio)
    box = QRectF(*corners).normalized().translated(stage.topLeft())
    painter.save()
    painter.setClipRect(stage, Qt.ClipOperation.IntersectClip)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for colour, width in ((_VEIL, 4), (_NOTE, 2)):
        painter.setPen(QPen(QColor(colour), width))
        painter.drawRect(box)
    painter.restore()


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
    painter.drawText(line, Qt.AlignmentFlag.AlignHCenter, tr("This image cannot be shown"))
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


def draw_remarks(painter: QPainter, stage: QRect, facts: Sequence[str], note: str, *, right: bool = False) -> None:
    """Facts of the file, then what is done to its image, in a lower corner of ``stage``; readable on any image."""
    lines = (*facts, note) if note else tuple(facts)
    if not lines:
        return
    painter.save()
    painter.setFont(scaled_font("small"))
    metrics = painter.fontMetrics()
    room = stage.width() - 2 * SPACE_2 - 2 * SPACE_3
    shown = [metrics.elidedText(line, Qt.TextElideMode.ElideMiddle, room) for line in lines]
    width = max((metrics.horizontalAdvance(line) for line in shown), default=0) + 2 * SPACE_3
    height = len(shown) * metrics.lineSpacing() + 2 * (SPACE_2 - 2)
    x = stage.right() + 1 - SPACE_2 - width if right else stage.left() + SPACE_2
    y = stage.bottom() + 1 - SPACE_2 - height
    box = QRectF(x, y, width, height)
    veil = QColor(_VEIL)
    veil.setAlphaF(0.82)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(veil)
    painter.drawRoundedRect(box, RADIUS_SMALL, RADIUS_SMALL)
    for at, line in enumerate(shown):
        painter.setPen(QColor(_NOTE if note and at == len(shown) - 1 else _ON_VEIL))
        row = QRectF(x + SPACE_3, y + SPACE_2 - 2 + at * metrics.lineSpacing(), width, metrics.lineSpacing())
        painter.drawText(row, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, line)
    painter.restore()
