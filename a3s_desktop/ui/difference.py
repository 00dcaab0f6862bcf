"""The difference of two images as they lie on one stage, at the resolution of the screen."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from PIL import Image
from PySide6.QtGui import QImage

from a3s_desktop.ui.adjustments import Orientation, as_pixels

_SHOWN = (QImage.Format.Format_RGB32, QImage.Format.Format_ARGB32_Premultiplied)


@dataclass(frozen=True, slots=True)
class Layer:
    """An image and where it lies: left, top, width, height in device pixels of the stage."""

    image: QImage
    orientation: Orientation
    target: tuple[float, float, float, float]


def difference(left: Layer, right: Layer, width: int, height: int, gain: float, ground: int) -> QImage:
    """Distance of the two images in each colour.

    Parameters
    ----------
    left, right : Layer
    width, height : int
        Device pixels of the stage.
    gain : float
        What differences are multiplied by.
    ground : int
        Colour (0xRRGGBB) of the parts that only one image covers, or none.

    Returns
    -------
    QImage
        RGB32, black where both images are the same.
    """
    result = np.full((height, width), 0xFF000000 | ground, np.uint32)
    places = [_covered(layer.target, width, height) for layer in (left, right)]
    x0, y0 = max(p[0] for p in places), max(p[1] for p in places)
    x1, y1 = min(p[2] for p in places), min(p[3] for p in places)
    if x1 > x0 and y1 > y0:
        first, second = (_part(layer, (x0, y0, x1, y1)) for layer in (left, right))
        apart = np.maximum(first, second)
        apart -= np.minimum(first, second)
        if gain != 1.0:
            table = np.rint(np.minimum(np.arange(256) * gain, 255)).astype(np.uint8)
            apart = np.frombuffer(apart.tobytes().translate(table.tobytes()), np.uint8).reshape(apart.shape).copy()
        apart[..., 3] = 255
        result[y0:y1, x0:x1] = np.ascontiguousarray(apart).view(np.uint32)[..., 0]
    return QImage(result.data, width, height, width * 4, QImage.Format.Format_RGB32)


def _covered(target: tuple[float, float, float, float], width: int, height: int) -> tuple[int, int, int, int]:
    left, top, wide, high = target
    return (
        max(0, math.ceil(left - 0.5)), max(0, math.ceil(top - 0.5)),
        min(width, math.floor(left + wide + 0.5)), min(height, math.floor(top + high + 0.5)),
    )  # fmt: skip


def _part(layer: Layer, place: tuple[int, int, int, int]) -> np.ndarray:
    """What a layer shows in a rectangle of the stage: uint8 (height, width, 4)."""
    image = layer.image if layer.image.format() in _SHOWN else layer.image.convertToFormat(_SHOWN[0])
    pixels = as_pixels(image)
    if layer.orientation.mirrored:
        pixels = pixels[:, ::-1]
    pixels = np.rot90(pixels, -layer.orientation.turns)
    left, top, wide, high = layer.target
    rows, columns = pixels.shape
    x0, y0, x1, y1 = place
    box = [
        min(max((x0 - left) / wide * columns, 0.0), columns), min(max((y0 - top) / high * rows, 0.0), rows),
        min(max((x1 - left) / wide * columns, 0.0), columns), min(max((y1 - top) / high * rows, 0.0), rows),
    ]  # fmt: skip
    # Only the part that is seen is turned and copied.
    c0, r0, c1, r1 = math.floor(box[0]), math.floor(box[1]), math.ceil(box[2]), math.ceil(box[3])
    c1, r1 = max(c1, c0 + 1), max(r1, r0 + 1)
    part = np.ascontiguousarray(pixels[r0:r1, c0:c1])
    size = (x1 - x0, y1 - y0)
    # Four plain bands: as RGBA, Pillow would weigh colours by an alpha that RGB32 does not have.
    picture = Image.frombuffer("RGBX", (part.shape[1], part.shape[0]), part.view(np.uint8), "raw", "RGBX", 0, 1)
    inner = (box[0] - c0, box[1] - r0, max(box[2] - c0, box[0] - c0 + 1e-3), max(box[3] - r0, box[1] - r0 + 1e-3))
    resized = picture if picture.size == size else picture.resize(size, Image.Resampling.BILINEAR, box=inner)
    return np.array(resized)
