"""Open image files for Pillow, after a look at what they ask for: no decoder sees a file that asks for too much.

The formats pack evenness a thousand to one, and some say a size without any pixels behind it, so a file of a few bytes
can ask for gigabytes, or for minutes. What a file announces is read from its head and held against its length, before
anything is allocated.
"""

from __future__ import annotations

import contextlib
import os
import struct
import threading
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from a3s_desktop.i18n import number, tr

if TYPE_CHECKING:
    from PIL import Image

MAX_PIXELS = 500_000_000  # of a file that can be read scaled (JPEG)
MAX_DECODED_BYTES = 800_000_000  # of a file that must be decoded whole first
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "DIB", "TIFF", "PPM", "AVIF", "HEIF")  # never PostScript and its like
_ORIENTATION = 0x0112
# A file may announce this many pixels however short it is (a blank page), beyond that so many for each of its bytes.
_FREE_PIXELS = 40_000_000
_PIXELS_PER_BYTE = 500
# A JPEG in passes is walked through once for each: cameras make about ten.
_FREE_PASSES = 20
_MOST_PASS_PIXELS = 4_000_000_000
_REGISTER = threading.Lock()


class PictureError(Exception):
    """The file cannot be shown; the message is a clause without a full stop ("the file is empty")."""


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Image.Image]:
    """An image as Pillow opens it, without its pixels, once it was seen that it asks for nothing out of proportion.

    Raises
    ------
    PictureError
        It announces more than its file can hold, or than can be shown.
    PIL.UnidentifiedImageError, OSError
        And anything else that a decoder raises on a damaged file.
    """
    from PIL import Image

    register_heif()
    Image.MAX_IMAGE_PIXELS = None  # Pillow's limit would refuse large photos that can be read scaled
    with _REGISTER:  # odd metadata is no news to anyone; not by catch_warnings, which is not for several threads
        warnings.filterwarnings("ignore", module=r"PIL\.")
    Image.init()
    with open(path, "rb") as file:
        length = check_stream(file)
    with Image.open(path, formats=tuple(name for name in FORMATS if name in Image.OPEN)) as image:
        check_size(*image.size, whole=image.format not in ("JPEG", "MPO"), length=length)
        yield image


def register_heif() -> bool:
    """Teach Pillow HEIC, where the package for it is there."""
    try:
        import pi_heif
    except ImportError:
        return False
    with _REGISTER:
        pi_heif.register_heif_opener(thumbnails=False)
    return True


def exif_of(image: Image.Image) -> Image.Exif:
    """The EXIF data of an image that `opened` gave; its pixels are not read for that, where that can be helped.

    Decoders raise anything on damaged data.
    """
    from PIL import Image

    if image.format == "PNG" and "exif" not in image.info and not _late_exif(getattr(image, "fp", None)):
        return Image.Image.getexif(image)  # a PNG file's own would decode it to look behind the pixels
    return image.getexif()


def orientation_of(image: Image.Image) -> int:
    """The EXIF orientation of an image that `opened` gave, 1 where it has none."""
    try:
        value = exif_of(image).get(_ORIENTATION, 1)
    except Exception:  # noqa: BLE001 - damaged EXIF data must not hide the picture
        return 1
    return value if isinstance(value, int) and 1 <= value <= 8 else 1


def check_size(width: int, height: int, whole: bool, length: int) -> None:
    """Raise `PictureError` where so many pixels are too many, or more than ``length`` bytes of a file can hold.

    ``whole``: they must be decoded whole before they are scaled.
    """
    if width < 1 or height < 1:
        raise PictureError(tr("it has no pixels"))
    if width * height > MAX_PIXELS or (whole and width * height * 4 > MAX_DECODED_BYTES):
        raise PictureError(tr("it is too large to be shown ({width} × {height} pixels)", width=width, height=height))
    if width * height > max(_FREE_PIXELS, length * _PIXELS_PER_BYTE):
        raise PictureError(
            tr(
                "it announces {width} × {height} pixels, but its file has only {length} bytes",
                width=width,
                height=height,
                length=number(length),
            )
        )


def check_stream(file: IO[bytes], passes: bool = True) -> int:
    """Look at a file before any decoder does; returns its length.

    Here are the formats that say their size at the beginning, and those whose decoders take memory as soon as they are
    opened, or time without end. The others are checked by the size that their decoders read.

    Parameters
    ----------
    file : binary file
    passes : bool
        Whether to count the passes of a JPEG file, for which those that have some are read whole.

    Raises
    ------
    PictureError
    """
    length = file.seek(0, os.SEEK_END)
    file.seek(0)
    head = file.read(32)
    size = _size_in(head)
    if size is not None:
        check_size(*size, whole=True, length=length)
    elif head[:3] == b"\xff\xd8\xff":
        frame = _jpeg_frame(file)
        if frame is not None:
            check_size(frame.width, frame.height, whole=False, length=length)
            _check_passes(file, frame, passes)
    return length


def _size_in(head: bytes) -> tuple[int, int] | None:
    """The size that the first 32 bytes of a PNG, GIF, BMP or WebP file say; None for all else."""
    if len(head) < 32:
        return None
    if head[:8] == b"\x89PNG\r\n\x1a\n" and head[12:16] == b"IHDR":
        width, height = struct.unpack(">II", head[16:24])
        return width, height
    if head[:6] in (b"GIF87a", b"GIF89a"):
        width, height = struct.unpack("<HH", head[6:10])
        return width, height
    if head[:2] == b"BM" and head[14] >= 40:
        width, height = struct.unpack("<ii", head[18:26])
        return width, abs(height)
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return _webp_size(head[12:16], head[20:32])
    return None


def _webp_size(kind: bytes, body: bytes) -> tuple[int, int] | None:
    if kind == b"VP8X":
        return 1 + int.from_bytes(body[4:7], "little"), 1 + int.from_bytes(body[7:10], "little")
    if kind == b"VP8L":
        bits = int.from_bytes(body[1:5], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 ":
        return int.from_bytes(body[6:8], "little") & 0x3FFF, int.from_bytes(body[8:10], "little") & 0x3FFF
    return None


def _late_exif(file: IO[bytes] | None) -> bool:
    """Whether a PNG file has EXIF data behind its pixels; the place in the file is kept."""
    if file is None:
        return True
    place = file.tell()
    try:
        return any(kind == b"eXIf" for kind, _, _ in png_chunks(file))
    finally:
        file.seek(place)


def png_chunks(file: IO[bytes]) -> Iterator[tuple[bytes, int, int]]:
    """Kind, place and announced length of the data of each chunk of a PNG file; the last may be cut off."""
    end = file.seek(0, os.SEEK_END)
    at = 8
    while at + 12 <= end:
        file.seek(at)
        length, kind = struct.unpack(">I4s", file.read(8))
        yield kind, at + 8, length
        if kind == b"IEND":
            return
        at += 12 + length


# ------------------------------------------------------------------------------------------------ JPEG


@dataclass(frozen=True, slots=True)
class _Frame:
    """What the head of a JPEG file says; ``passes_at`` is where the first pass begins, ``bytes`` what passes need."""

    width: int
    height: int
    in_passes: bool
    bytes: int
    passes_at: int


def _jpeg_frame(file: IO[bytes]) -> _Frame | None:
    """None where the head is damaged, which the decoders say."""
    at, size, found = 2, (0, 0), (False, 0, 0)
    while True:
        file.seek(at)
        head = file.read(4)
        if len(head) < 4 or head[0] != 0xFF:
            return None
        if head[1] == 0xFF or head[1] in (0x01, *range(0xD0, 0xD9)):  # filling, and markers without content
            at += 1 if head[1] == 0xFF else 2
            continue
        length = int.from_bytes(head[2:], "big")
        if length < 2:
            return None
        if 0xC0 <= head[1] <= 0xCF and head[1] not in (0xC4, 0xC8, 0xCC):
            body = file.read(min(length - 2, 6 + 3 * 255))
            if len(body) < 6 or len(body) < 6 + 3 * body[5]:
                return None
            height, width = struct.unpack(">HH", body[1:5])
            factors = [max(1, body[7 + 3 * each] >> 4) * max(1, body[7 + 3 * each] & 15) for each in range(body[5])]
            size = width, height
            # Each pass adds to numbers of two bytes, of which the largest component has one for each pixel.
            needed = 2 * width * height * sum(factors) // max(factors, default=1)
            found = head[1] in (0xC2, 0xC6, 0xCA, 0xCE), needed, body[5]
        elif head[1] == 0xDA:
            parts = file.read(1)
            in_passes = found[0] or (bool(parts) and parts[0] < found[2])
            return _Frame(*size, in_passes, found[1], at) if all(size) else None
        at += 2 + length


def _check_passes(file: IO[bytes], frame: _Frame, count: bool) -> None:
    if not frame.in_passes:
        return
    if frame.bytes > MAX_DECODED_BYTES:
        raise PictureError(
            tr("it is too large to be shown ({width} × {height} pixels)", width=frame.width, height=frame.height)
        )
    if not count:
        return
    file.seek(frame.passes_at)
    passes, last = 0, b""
    while block := file.read(1 << 20):
        passes += (last + block).count(b"\xff\xda")  # within the picture, 0xff is followed by nothing else like it
        last = b"\xff" if block.endswith(b"\xff") else b""
    if passes > _FREE_PASSES and passes * frame.width * frame.height > _MOST_PASS_PIXELS:
        raise PictureError(
            tr(
                "it is stored in {passes} passes of {width} × {height} pixels, which would take too long",
                passes=number(passes),
                width=frame.width,
                height=frame.height,
            )
        )
