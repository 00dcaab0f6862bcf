"""How an image is shown: tone (brightness, contrast, gamma, equalise) and orientation. Files are never changed.

Arrays and `QImage` only, no widgets; the heavy parts run on a worker (see ``darkroom``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from PySide6.QtCore import QSize
from PySide6.QtGui import QImage

LIMIT = 100  # of brightness, contrast and gamma, both ways
STEP = 10  # of one key press
_BLOCK = 1 << 18  # pixels at once: `bytes.translate` holds the interpreter lock for about a millisecond
_SAMPLES = 1 << 20  # pixels that are enough for a histogram


@dataclass(frozen=True, slots=True)
class Adjustments:
    """Tone of both images.

    Attributes
    ----------
    brightness, contrast, gamma : int
        -100 .. 100; 0 changes nothing. Positive gamma lightens the dark parts.
    equalise : bool
        Spread the lightness of each image over the whole range, before the rest.
    """

    brightness: int = 0
    contrast: int = 0
    gamma: int = 0
    equalise: bool = False

    @property
    def neutral(self) -> bool:
        """Whether images are shown as they are."""
        return self == Adjustments()

    def stepped(self, name: str, by: int) -> Adjustments:
        """A copy with one of the three numbers moved, within its limits."""
        value = min(max(getattr(self, name) + by, -LIMIT), LIMIT)
        return replace(self, **{name: value})


@dataclass(frozen=True, slots=True)
class Orientation:
    """Mirrored first (left and right exchanged), then turned clockwise by quarter turns."""

    turns: int = 0
    mirrored: bool = False

    @property
    def neutral(self) -> bool:
        """Whether the image stands as the file says."""
        return self.turns == 0 and not self.mirrored

    @property
    def upright(self) -> bool:
        """Whether width and height keep their places."""
        return self.turns % 2 == 0

    def turned(self) -> Orientation:
        """What is seen, turned a quarter clockwise."""
        return Orientation((self.turns + 1) % 4, self.mirrored)

    def flipped(self) -> Orientation:
        """What is seen, with left and right exchanged."""
        return Orientation(-self.turns % 4, not self.mirrored)

    def size(self, size: QSize) -> QSize:
        """Size of an image once it is oriented so."""
        return QSize(size) if self.upright else size.transposed()


def turned_point(x: float, y: float) -> tuple[float, float]:
    """Where a point (shares of width and height) of what is seen goes by a quarter turn clockwise."""
    return 1.0 - y, x


def flipped_point(x: float, y: float) -> tuple[float, float]:
    """Where a point of what is seen goes by mirroring."""
    return 1.0 - x, y


def curve(adjustments: Adjustments) -> np.ndarray:
    """The tone curve without equalising.

    Returns
    -------
    uint8 (256,)
        Rising; the identity for neutral adjustments.
    """
    x = np.arange(256) / 255.0
    x = x ** (2.0 ** (-adjustments.gamma / 50.0))
    slope = 4.0 ** (adjustments.contrast / 100.0)
    x = (x - 0.5) * slope + 0.5 + adjustments.brightness / 200.0
    return np.rint(np.clip(x, 0.0, 1.0) * 255.0).astype(np.uint8)


def equalising_curve(histogram: np.ndarray) -> np.ndarray:
    """The tone curve that spreads tones evenly.

    Parameters
    ----------
    histogram : int (256,)
        Of the image's luminance.

    Returns
    -------
    uint8 (256,)
        Rising. The identity where there is only one tone to spread.
    """
    used = np.flatnonzero(histogram)
    if used.size < 2:
        return np.arange(256, dtype=np.uint8)
    total = np.cumsum(histogram, dtype=np.float64)
    first = total[used[0]]
    return np.rint(np.clip((total - first) / (total[-1] - first), 0.0, 1.0) * 255.0).astype(np.uint8)


def developed(image: QImage, adjustments: Adjustments) -> QImage:
    """A copy of a decoded image with other tones; the image itself where nothing changes or its format is unusual.

    Parameters
    ----------
    image : QImage
        RGB32 or ARGB32_Premultiplied.
    adjustments : Adjustments
    """
    transparent = image.format() == QImage.Format.Format_ARGB32_Premultiplied
    if adjustments.neutral or image.isNull() or not (transparent or image.format() == QImage.Format.Format_RGB32):
        return image
    pixels = as_pixels(image)
    table = curve(adjustments).tobytes()
    even = equalising_curve(_histogram(pixels)).astype(np.int16) if adjustments.equalise else None
    source = pixels.reshape(-1)
    result = np.empty_like(source)
    for start in range(0, source.size, _BLOCK):
        part = source[start : start + _BLOCK]
        done = part if even is None else _equalised(part, even)
        done = np.frombuffer(done.tobytes().translate(table), np.uint32)
        if transparent:
            result[start : start + _BLOCK] = _premultiplied(done, part)
        else:
            np.bitwise_or(done, np.uint32(0xFF000000), out=result[start : start + _BLOCK])
    return _as_image(result.reshape(pixels.shape), image)


def as_pixels(image: QImage) -> np.ndarray:
    """A view of a 32-bit image's pixels, uint32 (height, width); only while the image itself is alive."""
    lines = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), image.bytesPerLine() // 4)
    return lines[:, : image.width()]


def _as_image(pixels: np.ndarray, like: QImage) -> QImage:
    height, width = pixels.shape
    # The QImage keeps a reference to the array; nothing is copied.
    result = QImage(pixels.data, width, height, width * 4, like.format())
    for name in ("source", "note"):
        if like.text(name):
            result.setText(name, like.text(name))
    return result


def _equalised(part: np.ndarray, even: np.ndarray) -> np.ndarray:
    """Pixels with the luminance of the curve; their hues stay."""
    bands = part.view(np.uint8).reshape(-1, 4).astype(np.int16)
    luminance = _luminance(part)
    bands += (even[luminance] - luminance.astype(np.int16))[:, None]
    return np.clip(bands, 0, 255).astype(np.uint8).view(np.uint32).reshape(-1)


def _luminance(part: np.ndarray) -> np.ndarray:
    blue, green, red = (((part >> shift) & 0xFF).astype(np.uint16) for shift in (0, 8, 16))
    return (red * 77 + green * 150 + blue * 29) >> 8


def _premultiplied(done: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Colours no larger than their alpha, which stays as it was."""
    colours = done.view(np.uint8).reshape(-1, 4).copy()
    alpha = before.view(np.uint8).reshape(-1, 4)[:, 3:]
    np.minimum(colours, alpha, out=colours)
    colours[:, 3:] = alpha
    return colours.view(np.uint32).reshape(-1)


def _histogram(pixels: np.ndarray) -> np.ndarray:
    stride = max(1, int((pixels.size / _SAMPLES) ** 0.5))
    sample = np.ascontiguousarray(pixels[::stride, ::stride]).reshape(-1)
    luminance = _luminance(sample)
    solid = (sample >> 24) > 0
    return np.bincount(luminance[solid] if not solid.all() else luminance, minlength=256)[:256]
