"""The map as PNG. Qt's images and painters work in any thread; nothing here touches a widget."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QImage, QPainter, QPen, QPolygonF

from a3s_desktop.ui.map_colours import Shape
from a3s_desktop.ui.map_legend import draw_swatch
from a3s_desktop.ui.map_picture import MapPicture
from a3s_desktop.ui.map_raster import LEVELS, cross, disc, draw, ring
from a3s_desktop.ui.map_sheet import HEAD, LETTER, MARGIN, ROW, Sheet, sheet_of, texts_of
from a3s_desktop.ui.one_line import shortened

LONGEST = 4000  # pixels of the image's longer side
_STAMPS = {Shape.CROSS: cross, Shape.RING: ring, Shape.DISC: disc}
_MOST_OUTLINES = 2000


def png_bytes(picture: MapPicture, longest: int = 3200) -> bytes:
    """The whole file.

    Parameters
    ----------
    picture : MapPicture
    longest : int
        Pixels of the longer side, at most `LONGEST`.
    """
    sheet = sheet_of(picture)
    scale = min(longest, LONGEST) / max(sheet.width, sheet.height)
    image = QImage(round(sheet.width * scale), round(sheet.height * scale), QImage.Format.Format_RGB32)
    image.fill(QColor(picture.theme.surface))
    painter = QPainter(image)
    try:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.scale(scale, scale)
        _draw_outlines(painter, picture, sheet)
        painter.resetTransform()
        _draw_points(painter, picture, sheet, scale, (image.width(), image.height()))
        painter.scale(scale, scale)
        _draw_texts(painter, picture, sheet)
        _draw_legend(painter, picture, sheet)
    finally:
        painter.end()
    return _encoded(image)


def _encoded(image: QImage) -> bytes:
    """By Pillow, which lets the window go on meanwhile; Qt's own writer would hold it up."""
    shape = (image.height(), image.bytesPerLine() // 4, 4)
    pixels = np.frombuffer(image.constBits(), np.uint8).reshape(shape)[:, : image.width(), 2::-1]
    out = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels), "RGB").save(out, "PNG", compress_level=6)
    return out.getvalue()


def _draw_outlines(painter: QPainter, picture: MapPicture, sheet: Sheet) -> None:
    hulls = picture.hulls
    for row in range(min(len(hulls), _MOST_OUTLINES)):
        line = QColor(picture.cluster_colour(int(hulls.clusters[row])))
        fill = QColor(line)
        line.setAlphaF(0.6)
        fill.setAlphaF(0.1)
        painter.setPen(QPen(line, 1.2))
        painter.setBrush(fill)
        x, y = sheet.x(hulls.corners[row, :, 0]).tolist(), sheet.y(hulls.corners[row, :, 1]).tolist()
        painter.drawPolygon(QPolygonF([QPointF(a, b) for a, b in zip(x, y, strict=True)]))


def _draw_points(painter: QPainter, picture: MapPicture, sheet: Sheet, scale: float, size: tuple[int, int]) -> None:
    px = sheet.x(picture.places[:, 0]) * np.float32(scale)
    py = sheet.y(picture.places[:, 1]) * np.float32(scale)
    colours = picture.palette
    table = [0] * 256
    for level in range(LEVELS):
        for slot in range(1, len(colours)):
            colour = QColor(colours[slot])
            colour.setAlphaF((level + 1) / LEVELS)
            table[level * len(colours) + slot] = colour.rgba()
    for shape, stamp in _STAMPS.items():
        some = picture.shapes == shape
        if not some.any():
            continue
        pixels = draw(px[some], py[some], picture.slots[some], size, stamp(sheet.radius * scale), len(colours))
        layer = QImage(pixels, *size, pixels.shape[1], QImage.Format.Format_Indexed8)
        layer.setColorTable(table)
        painter.drawImage(0, 0, layer)


def _draw_texts(painter: QPainter, picture: MapPicture, sheet: Sheet) -> None:
    ground = QColor(picture.theme.surface)
    ground.setAlphaF(0.8)
    painter.setFont(_font(14, bold=True))
    for x, y, text, cluster in texts_of(picture, sheet):
        wide = len(text) * LETTER + 4
        box = QRectF(x - wide / 2, y - 10, wide, 20)
        painter.setPen(QPen(QColor(picture.cluster_colour(cluster)), 1.2))
        painter.setBrush(ground)
        painter.drawRoundedRect(box, 4, 4)
        painter.setPen(QColor(picture.theme.text))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)


def _draw_legend(painter: QPainter, picture: MapPicture, sheet: Sheet) -> None:
    theme = picture.theme
    left, right, top = sheet.legend_left, sheet.width - MARGIN / 2, MARGIN + HEAD + ROW / 2
    painter.setFont(_font(18, bold=True))
    painter.setPen(QColor(theme.text))
    centred = Qt.AlignmentFlag.AlignVCenter
    painter.drawText(QRectF(MARGIN, MARGIN, sheet.width - 2 * MARGIN, HEAD), centred, picture.title)
    painter.setFont(_font(14))
    for entry in picture.legend:
        draw_swatch(painter, QPointF(left, top), entry, 4.2 if len(entry.colours) > 4 else 6.0)
        painter.setPen(QColor(theme.text))
        painter.drawText(QRectF(left + 60, top - ROW / 2, right - left - 60, ROW), centred, entry.text)
        top += ROW
    top += ROW / 2
    for row in picture.clusters:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(row.colour))
        painter.drawEllipse(QPointF(left + 6, top), 6, 6)
        box = QRectF(left + 20, top - ROW / 2, right - left - 20, ROW)
        painter.setPen(QColor(theme.text))
        painter.drawText(box, centred, shortened(row.text))
        painter.setPen(QColor(theme.muted))
        painter.drawText(box, centred | Qt.AlignmentFlag.AlignRight, row.count)
        top += ROW


def _font(size: int, bold: bool = False) -> QFont:
    font = QFont("Inter")
    font.setFamilies(["Inter", "Segoe UI", "Noto Sans", "DejaVu Sans"])
    font.setPixelSize(size)
    font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    return font
