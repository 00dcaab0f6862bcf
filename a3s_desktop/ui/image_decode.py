"""One image file, upright and no larger than a box, as a QImage: Qt's reader first, then `storage.picture`.

Both give the same pixels but for rounding: what Qt's reader would show differently (CMYK, deep grey, colour profiles
that it does not know, odd kinds of TIFF) is left to the other.

Runs on decoding threads. ``QImageReader.read`` releases the interpreter lock, QImage's own conversions do not, so big
images are scaled while they are read, and converted only once they are small.
"""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QByteArray, QSize, Qt
from PySide6.QtGui import QColorSpace, QImage, QImageIOHandler, QImageReader

from a3s_desktop.i18n import tr
from a3s_desktop.storage.keys import Part, locate_part
from a3s_desktop.storage.picture import MAX_RESULT_PIXELS, PictureError, is_srgb, read_picture
from a3s_desktop.storage.picture_opening import check_size, check_stream

_CONVERT_PIXELS = 4_000_000  # above, QImage.convertToFormat would stop the window: it holds the interpreter lock
_TAIL = 65_536
SHOWN = (QImage.Format.Format_RGB32, QImage.Format.Format_ARGB32_Premultiplied)
# What Qt reads: it shows half a GIF or BMP without a word, and would run an SVG. The kind is told by the content, here:
# Qt would ask all its plugins while the calling thread holds the interpreter lock, and the one for SVG takes a lock of
# Qt's signals. The window's thread, which may hold that one and wait for the interpreter, would wait for ever.
_HEADS = ((b"\xff\xd8\xff", "jpeg"), (b"\x89PNG\r\n\x1a\n", "png"), (b"II*\0", "tiff"), (b"MM\0*", "tiff"))
_NOT_BY_QT = (
    # Scientific images have any range, where Qt takes the largest number (or 1.0) for white.
    QImage.Format.Format_Grayscale16,
    QImage.Format.Format_RGBX64,
    QImage.Format.Format_RGBA64,
    QImage.Format.Format_RGBA64_Premultiplied,
    QImage.Format.Format_RGBX32FPx4,
    QImage.Format.Format_RGBA32FPx4,
    QImage.Format.Format_RGBA32FPx4_Premultiplied,
    QImage.Format.Format_RGBX16FPx4,
    QImage.Format.Format_RGBA16FPx4,
    QImage.Format.Format_RGBA16FPx4_Premultiplied,
    QImage.Format.Format_CMYK8888,
)
_TIFF = (
    QImage.Format.Format_RGB32,
    QImage.Format.Format_RGB888,
    QImage.Format.Format_Indexed8,
    QImage.Format.Format_Grayscale8,
)
_ROTATED = QImageIOHandler.Transformation.TransformationRotate90


class DecodeError(Exception):
    """The file cannot be shown; the message is the reason in plain words."""


def decode(path: Path, box: QSize, part: Part | None = None) -> QImage:
    """Read an image.

    Parameters
    ----------
    path : Path
    box : QSize
        Device pixels to fit into, keeping the aspect ratio; never enlarged. An invalid size means whole.
    part : Part, optional
        Only this rectangle of the upright photo; the path may name it, too (see `storage.keys`).

    Returns
    -------
    QImage
        RGB32 or ARGB32_Premultiplied where that is cheap, upright by EXIF; carries `source_size` and `image_note`.

    Raises
    ------
    DecodeError
    """
    if part is None:
        path, part = locate_part(path)
    cut, turned, kind = _check_file(path)
    # Qt does not know the orientation of PNG and WebP files.
    image = None if turned or part is not None or not kind else _by_qt(path, box, kind)
    if image is None:
        image = _by_array(path, box, part)
    if cut:
        say_cut(image)
    return image


def say_cut(image: QImage) -> None:
    """Note on an image that the end of its file is missing."""
    image.setText("note", tr("The end of this file is missing: grey parts are not of the photo."))


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


def _check_file(path: Path) -> tuple[bool, bool, str]:
    """Raise the plain reasons first.

    Returns
    -------
    cut, exif : bool
        Whether a JPEG file lacks its end (Qt shows a grey rest without a word); whether a PNG or WebP file has EXIF.
    kind : str
        Qt's name of the format, where it is one that Qt reads; else empty.
    """
    try:
        with path.open("rb") as file:
            head = file.read(_TAIL)
            if not head:
                raise DecodeError(tr("The file is empty."))
            check_stream(file)
            kind = next((name for start, name in _HEADS if head.startswith(start)), "")
            if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
                kind = "webp"
            size = file.seek(0, os.SEEK_END)
            if head.startswith(b"\xff\xd8\xff"):
                file.seek(max(0, size - _TAIL))
                return b"\xff\xd9" not in file.read(), False, kind
            if head.startswith(b"\x89PNG"):
                file.seek(max(len(head), size - _TAIL))
                return False, b"eXIf" in head or b"eXIf" in file.read(), kind
            webp = head[:4] == b"RIFF" and head[8:16] == b"WEBPVP8X" and len(head) > 20
            return False, webp and bool(head[20] & 0x08), kind
    except PictureError as error:
        raise _failed(error) from None
    except FileNotFoundError:
        raise DecodeError(tr("The file is missing.")) from None
    except IsADirectoryError:
        raise DecodeError(tr("This is a folder, not an image.")) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DecodeError(tr("The file cannot be opened ({reason}).", reason=reason)) from None


def _by_qt(path: Path, box: QSize, kind: str) -> QImage | None:
    reader = QImageReader(str(path), QByteArray(kind.encode()))
    reader.setAutoDetectImageFormat(False)
    reader.setAutoTransform(True)
    if reader.imageFormat() in _NOT_BY_QT:
        return None
    if kind == "tiff" and reader.imageFormat() not in _TIFF:
        return None
    stored = reader.size()  # before rotation, as is setScaledSize
    if not stored.isValid() or stored.isEmpty():
        return None
    try:
        check_size(stored.width(), stored.height(), whole=False, length=path.stat().st_size)
    except PictureError as error:
        raise _failed(error) from None
    turned = bool(reader.transformation().value & _ROTATED.value)
    limit = _bounded(stored, box.transposed() if turned else box)
    if limit != stored:
        reader.setScaledSize(limit)
    image = reader.read()
    if image.isNull() or image.format() in _NOT_BY_QT:
        return None
    space = image.colorSpace()
    foreign = space.isValid() and space != QColorSpace(QColorSpace.NamedColorSpace.SRgb) and not _is_srgb(space)
    if foreign and (image.width() * image.height() > _CONVERT_PIXELS or image.isGrayscale()):
        return None
    upright = stored.transposed() if turned else stored
    if image.format() not in SHOWN:
        if image.width() * image.height() > _CONVERT_PIXELS:
            return None  # Pillow converts without holding the lock
        alpha = image.hasAlphaChannel()
        image = image.convertToFormat(SHOWN[1] if alpha else SHOWN[0])
    if foreign:
        image.convertToColorSpace(QColorSpace(QColorSpace.NamedColorSpace.SRgb))
    image.setDevicePixelRatio(1.0)
    image.setText("source", f"{upright.width()}x{upright.height()}")
    return image


def _is_srgb(space: QColorSpace) -> bool:
    return is_srgb(bytes(space.iccProfile().data()))


def _bounded(size: QSize, box: QSize) -> QSize:
    result = fitted(size, box)
    pixels = result.width() * result.height()
    if pixels > MAX_RESULT_PIXELS:
        shrink = (MAX_RESULT_PIXELS / pixels) ** 0.5
        result = QSize(max(1, int(result.width() * shrink)), max(1, int(result.height() * shrink)))
    return result


def _failed(error: PictureError) -> DecodeError:
    return DecodeError(tr("The image cannot be shown: {error}.", error=error))


def _by_array(path: Path, box: QSize, part: Part | None) -> QImage:
    """By the program's own reading of images (`storage.picture`), which knows what Qt does not."""
    import numpy as np

    size = (max(1, box.width()), max(1, box.height())) if box.isValid() else None
    try:
        picture = read_picture(path, size, part)
    except PictureError as error:
        raise _failed(error) from None
    pixels = picture.pixels
    height, width = pixels.shape[:2]
    alpha = pixels.shape[2] == 4
    data = np.empty((height, width, 4), np.uint8)
    data[:, :, 3] = pixels[:, :, 3] if alpha else 255
    for channel in range(3):
        values = pixels[:, :, channel]
        if alpha:
            values = (values.astype(np.uint16) * pixels[:, :, 3] + 127) // 255
        data[:, :, 2 - channel] = values
    # The QImage keeps a reference to the array; nothing is copied.
    image = QImage(data, width, height, width * 4, SHOWN[1] if alpha else SHOWN[0])
    image.setText("source", f"{picture.size[0]}x{picture.size[1]}")
    return image
