"""One image file, upright and no larger than a box, as a QImage: Qt's reader first, Pillow for what Qt refuses.

Runs on decoding threads. ``QImageReader.read`` releases the interpreter lock, QImage's own conversions do not, so big
images are scaled while they are read, and converted only once they are small.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QImage, QImageIOHandler, QImageReader

if TYPE_CHECKING:
    from PIL import Image

MAX_PIXELS = 500_000_000  # of a file that can be read scaled (JPEG)
MAX_DECODED_BYTES = 800_000_000  # of a file that must be decoded whole by Pillow
MAX_RESULT_PIXELS = 48_000_000  # what a pane is ever given
_CONVERT_PIXELS = 4_000_000  # above, QImage.convertToFormat would stop the window: it holds the interpreter lock
_TAIL = 65_536
_SHOWN = (QImage.Format.Format_RGB32, QImage.Format.Format_ARGB32_Premultiplied)
_FLOATS = (
    QImage.Format.Format_RGBX32FPx4,
    QImage.Format.Format_RGBA32FPx4,
    QImage.Format.Format_RGBA32FPx4_Premultiplied,
    QImage.Format.Format_RGBX16FPx4,
    QImage.Format.Format_RGBA16FPx4,
    QImage.Format.Format_RGBA16FPx4_Premultiplied,
)
_ROTATED = QImageIOHandler.Transformation.TransformationRotate90


class DecodeError(Exception):
    """The file cannot be shown; the message is the reason in plain words."""


def decode(path: Path, box: QSize) -> QImage:
    """Read an image.

    Parameters
    ----------
    path : Path
    box : QSize
        Device pixels to fit into, keeping the aspect ratio; never enlarged. An invalid size means whole.

    Returns
    -------
    QImage
        RGB32 or ARGB32_Premultiplied where that is cheap, upright by EXIF; carries `source_size` and `image_note`.

    Raises
    ------
    DecodeError
    """
    cut, turned = _check_file(path)
    # Qt does not know the orientation of PNG and WebP files.
    image = None if turned else _by_qt(path, box)
    if image is None:
        image = _by_pillow(path, box)
    if cut:
        image.setText("note", "The end of this file is missing: grey parts are not of the photo.")
    return image


def scaled_copy(image: QImage, box: QSize) -> QImage:
    """A smaller copy of an image that is decoded already, as `decode` would give; only for small images."""
    result = image.scaled(
        fitted(image.size(), box), Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
    )
    for name in ("source", "note"):
        if image.text(name):
            result.setText(name, image.text(name))
    return result


def source_size(image: QImage) -> QSize:
    """Size of the original, upright, in pixels."""
    width, _, height = image.text("source").partition("x")
    return QSize(int(width), int(height)) if width and height else image.size()


def image_note(image: QImage) -> str:
    """What a viewer should know of the file ("cut off"), or ""."""
    return image.text("note")


def fitted(size: QSize, box: QSize) -> QSize:
    """``size`` shrunk into ``box``, each side at least 1; never enlarged."""
    if not box.isValid() or (size.width() <= box.width() and size.height() <= box.height()):
        return QSize(size)
    result = size.scaled(box, Qt.AspectRatioMode.KeepAspectRatio)
    return result.expandedTo(QSize(1, 1))


def _check_file(path: Path) -> tuple[bool, bool]:
    """Raise the plain reasons first.

    Returns
    -------
    cut, exif : bool
        Whether a JPEG file lacks its end (Qt shows a grey rest without a word); whether a PNG or WebP file has EXIF.
    """
    try:
        with path.open("rb") as file:
            head = file.read(_TAIL)
            if not head:
                raise DecodeError("The file is empty.")
            size = file.seek(0, os.SEEK_END)
            if head.startswith(b"\xff\xd8\xff"):
                file.seek(max(0, size - _TAIL))
                return b"\xff\xd9" not in file.read(), False
            if head.startswith(b"\x89PNG"):
                file.seek(max(len(head), size - _TAIL))
                return False, b"eXIf" in head or b"eXIf" in file.read()
            return False, head[:4] == b"RIFF" and head[8:16] == b"WEBPVP8X" and bool(head[20] & 0x08)
    except FileNotFoundError:
        raise DecodeError("The file is missing.") from None
    except IsADirectoryError:
        raise DecodeError("This is a folder, not an image.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DecodeError(f"The file cannot be opened ({reason}).") from None


def _by_qt(path: Path, box: QSize) -> QImage | None:
    reader = QImageReader(str(path))
    reader.setDecideFormatFromContent(True)
    reader.setAutoTransform(True)
    stored = reader.size()  # before rotation, as is setScaledSize
    if not stored.isValid() or stored.isEmpty():
        return None
    if stored.width() * stored.height() > MAX_PIXELS:
        raise DecodeError(_too_large(stored.width(), stored.height()))
    turned = bool(reader.transformation().value & _ROTATED.value)
    limit = _bounded(stored, box.transposed() if turned else box)
    if reader.imageFormat() in _FLOATS:
        return None  # Qt takes 1.0 for white; scientific images have any range
    if limit != stored:
        reader.setScaledSize(limit)
    image = reader.read()
    if image.isNull():
        return None
    upright = stored.transposed() if turned else stored
    if image.format() not in _SHOWN:
        if image.width() * image.height() > _CONVERT_PIXELS:
            return None  # Pillow converts without holding the lock
        alpha = image.hasAlphaChannel()
        image = image.convertToFormat(_SHOWN[1] if alpha else _SHOWN[0])
    image.setDevicePixelRatio(1.0)
    image.setText("source", f"{upright.width()}x{upright.height()}")
    return image


def _bounded(size: QSize, box: QSize) -> QSize:
    result = fitted(size, box)
    pixels = result.width() * result.height()
    if pixels > MAX_RESULT_PIXELS:
        shrink = (MAX_RESULT_PIXELS / pixels) ** 0.5
        result = QSize(max(1, int(result.width() * shrink)), max(1, int(result.height() * shrink)))
    return result


def _too_large(width: int, height: int) -> str:
    return f"The image is too large to be shown ({width} × {height} pixels)."


def _by_pillow(path: Path, box: QSize) -> QImage:
    from PIL import Image, ImageOps

    # Our own limits follow below; Pillow's is a warning that would refuse scaled reads of large photos.
    Image.MAX_IMAGE_PIXELS = None
    try:
        with Image.open(path) as opened:
            width, height = opened.size
            whole = opened.format != "JPEG"
            if width * height > MAX_PIXELS or (whole and width * height * 4 > MAX_DECODED_BYTES):
                raise DecodeError(_too_large(width, height))
            turned = opened.getexif().get(0x0112, 1) in (5, 6, 7, 8)
            target = _bounded(QSize(width, height), box.transposed() if turned else box)
            size = (target.width(), target.height())
            picture: Image.Image = opened
            if opened.format == "JPEG" and size != opened.size:
                opened.draft("RGB", size)
            if opened.mode.startswith(("I", "F")):
                picture = _stretched(opened)
            picture = ImageOps.exif_transpose(picture)
            if turned:
                size = size[::-1]
            if picture.size != size:
                if picture.mode in ("P", "1"):
                    picture = picture.convert("RGBA")
                picture = picture.resize(size, Image.Resampling.BILINEAR, reducing_gap=2.0)
            alpha = "A" in picture.getbands() or "transparency" in picture.info
            if alpha:
                data = picture.convert("RGBA").convert("RGBa").tobytes("raw", "BGRa")
            else:
                data = picture.convert("RGB").tobytes("raw", "BGRX")
    except DecodeError:
        raise
    except MemoryError:
        raise DecodeError("There is not enough memory to show this image.") from None
    except Exception as error:  # noqa: BLE001 - decoders raise anything on broken files
        raise DecodeError(f"The file is not an image that can be read ({_short(error, path)}).") from None
    # The QImage keeps a reference to the bytes; nothing is copied.
    image = QImage(data, size[0], size[1], size[0] * 4, _SHOWN[1] if alpha else _SHOWN[0])
    image.setText("source", f"{height}x{width}" if turned else f"{width}x{height}")
    return image


def _stretched(picture: Image.Image) -> Image.Image:
    """16- and 32-bit grey as 8 bit. Pillow's own conversion would clip to white."""
    import numpy as np
    from PIL import Image

    values = np.asarray(picture)
    if values.dtype in (np.uint16, np.dtype(">u2")):
        return Image.fromarray((values >> 8).astype(np.uint8))
    low, high = np.nanpercentile(values, (0.1, 99.9))
    span = float(high - low) or 1.0
    return Image.fromarray(np.clip(np.nan_to_num((values - low) * (255.0 / span)), 0, 255).astype(np.uint8))


def _short(error: Exception, path: Path) -> str:
    text = str(error).replace(str(path), path.name).splitlines()
    name = "unknown format" if type(error).__name__ == "UnidentifiedImageError" else (text[0] if text else "")
    return (name or type(error).__name__)[:120]
