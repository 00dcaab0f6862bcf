"""The difference lies where the images lie, is black where they agree, and knows turned images."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QGuiApplication, QImage, QPainter, QPixmap

from a3s_desktop.ui.adjustments import Orientation, as_pixels
from a3s_desktop.ui.difference import Layer, difference
from a3s_desktop.ui.pane_drawing import draw_picture

GROUND = 0x123456


def plain(colour: str, width: int = 60, height: int = 40) -> QImage:
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(QColor(colour))
    return image


def scene(width: int = 64, height: int = 48) -> QImage:
    """Smooth, and different in every corner."""
    y, x = np.mgrid[0:height, 0:width]
    bands = np.full((height, width, 4), 255, np.uint8)
    bands[..., 0], bands[..., 1], bands[..., 2] = 255 * x / width, 255 * y / height, 127 + 100 * np.sin(x / 9)
    return QImage(bands.tobytes(), width, height, width * 4, QImage.Format.Format_RGB32).copy()


def test_equal_images_are_black() -> None:
    layer = Layer(scene(), Orientation(), (10, 5, 64, 48))
    result = difference(layer, layer, 84, 58, 4.0, GROUND)
    inner = result.copy(QRect(10, 5, 64, 48))
    assert (as_pixels(inner) == 0xFF000000).all()
    assert result.pixelColor(0, 0).rgb() & 0xFFFFFF == GROUND


def test_distances_are_multiplied_and_bounded() -> None:
    left, right = plain("#102030"), plain("#182010")
    whole = (0.0, 0.0, 60.0, 40.0)
    layers = Layer(left, Orientation(), whole), Layer(right, Orientation(), whole)
    assert difference(*layers, 60, 40, 1.0, GROUND).pixelColor(30, 20) == QColor("#080020")
    assert difference(*layers, 60, 40, 4.0, GROUND).pixelColor(30, 20) == QColor("#200080")
    assert difference(*layers, 60, 40, 64.0, GROUND).pixelColor(30, 20) == QColor("#ff00ff")


def test_where_only_one_image_lies_is_ground() -> None:
    left = Layer(plain("#ffffff"), Orientation(), (0, 0, 60, 40))
    right = Layer(plain("#000000"), Orientation(), (30, 0, 60, 40))
    result = difference(left, right, 90, 40, 1.0, GROUND)
    assert [result.pixelColor(x, 20).rgb() & 0xFFFFFF for x in (10, 45, 80)] == [GROUND, 0xFFFFFF, GROUND]
    apart = Layer(plain("#000000"), Orientation(), (200, 0, 60, 40))
    assert (as_pixels(difference(left, apart, 90, 40, 1.0, GROUND)) == 0xFF000000 | GROUND).all()


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("turns", [0, 1, 2, 3])
@pytest.mark.parametrize("zoom", [1.0, 2.5])
def test_it_sees_an_image_as_it_is_painted(qapp: QGuiApplication, turns: int, mirrored: bool, zoom: float) -> None:
    """Painted by Qt, and turned by the arithmetic of the difference: the same picture."""
    image, orientation = scene(), Orientation(turns, mirrored)
    size = orientation.size(image.size())
    target = (-7.0, -4.0, size.width() * zoom, size.height() * zoom)
    painted = QImage(90, 70, QImage.Format.Format_RGB32)
    painted.fill(QColor("#000000"))
    painter = QPainter(painted)
    draw_picture(painter, painted.rect(), QPixmap.fromImage(image), orientation, target, 1.0)
    painter.end()
    result = difference(
        Layer(painted, Orientation(), (0, 0, 90, 70)), Layer(image, orientation, target), 90, 70, 1.0, 0
    )
    bands = np.ascontiguousarray(as_pixels(result)).view(np.uint8).reshape(70, 90, 4)[..., :3]
    height, width = int(min(70, target[3] - 4)) - 2, int(min(90, target[2] - 7)) - 2
    assert bands[2:height, 2:width].max() <= 12, "no more than two ways of smoothing differ by"
