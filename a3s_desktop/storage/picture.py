"""One image file as an array of pixels: upright, in sRGB, eight bits, no larger than asked for.

What every part of the program but the window's fast path sees of a file: reports, exports, descriptors, and the window
wherever Qt's own reader would show something else (``ui/image_decode.py``).
"""

from __future__ import annotations

import io
import zlib
from dataclasses import dataclass
from math import ceil, floor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from a3s_desktop.i18n import mark, tr
from a3s_desktop.storage.deep_picture import deep_layout, stretched_colour, stretched_grey
from a3s_desktop.storage.keys import Part, locate_part
from a3s_desktop.storage.picture_opening import (
    FORMATS,
    PictureError,
    opened,
    orientation_of,
    png_chunks,
    register_heif,
)

if TYPE_CHECKING:
    from PIL import Image

__all__ = [
    "CUT",
    "FORMATS",
    "MAX_RESULT_PIXELS",
    "Picture",
    "PictureError",
    "inside",
    "is_srgb",
    "read_picture",
    "register_heif",
    "scaled_size",
    "upright_size",
]

MAX_RESULT_PIXELS = 48_000_000  # what anyone is ever given: less than 256 MB
CUT = mark("the end of the file is missing")
_TURNED = (5, 6, 7, 8)


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """What was read.

    Attributes
    ----------
    pixels : uint8, shape (H, W, 3) or (H, W, 4)
        sRGB; the fourth channel is opacity, not multiplied in.
    size : tuple of int
        Width and height of the original, upright; of the part, where one was asked for.
    note : str
        What is wrong though there is something to show; empty where nothing is.
    """

    pixels: npt.NDArray[np.uint8]
    size: tuple[int, int]
    note: str = ""

    def opaque(self, background: int = 255) -> npt.NDArray[np.uint8]:
        """The pixels in three channels, on an even background."""
        if self.pixels.shape[2] == 3:
            return self.pixels
        alpha = self.pixels[:, :, 3:].astype(np.uint16)
        mixed = self.pixels[:, :, :3] * alpha + np.uint16(background) * (255 - alpha)
        return ((mixed + 127) // 255).astype(np.uint8)


def read_picture(path: Path, box: tuple[int, int] | None = None, part: Part | None = None) -> Picture:
    """Read an image file.

    The first frame or page; EXIF orientation applied once; colour profiles and CMYK brought to sRGB; images of more
    than eight bits stretched from their 0.1th to their 99.9th percentile. A JPEG file that lacks its end is read as far
    as it goes.

    Parameters
    ----------
    path : Path
    box : tuple of int, optional
        Width and height to fit into, keeping the aspect ratio; never enlarged. None: whole, up to `MAX_RESULT_PIXELS`.
    part : Part, optional
        Only this rectangle of the upright photo; what lies outside of the photo is cut off. A path that ends in
        ``#xywh=x,y,width,height``, where no file is called so, means such a part, too.

    Raises
    ------
    PictureError
    """
    try:
        if part is None:
            path, part = locate_part(path)
        return _read(path, box, part)
    except PictureError:
        raise
    except MemoryError:
        raise PictureError(tr("there is not enough memory to show it")) from None
    except FileNotFoundError:
        raise PictureError(tr("the file is missing")) from None
    except IsADirectoryError:
        raise PictureError(tr("it is a folder, not an image")) from None
    except PermissionError:
        raise PictureError(tr("there is no permission to read the file")) from None
    except Exception as error:  # decoders raise anything on damaged files
        raise PictureError(tr("it cannot be decoded ({short})", short=_short(error, path))) from None


def upright_size(path: Path) -> tuple[int, int] | None:
    """Width and height of an image as it is shown, from its head alone; None where that cannot be read."""
    try:
        with opened(path) as image:
            turned = image.format != "TIFF" and orientation_of(image) in _TURNED
            return image.size[::-1] if turned else image.size
    except Exception:  # noqa: BLE001 - decoders raise anything on damaged files; reading it whole says what is wrong
        return None


def scaled_size(size: tuple[int, int], box: tuple[int, int] | None) -> tuple[int, int]:
    """``size`` shrunk into ``box`` and below `MAX_RESULT_PIXELS`, each side at least 1; never enlarged."""
    width, height = size
    scale = 1.0
    if box is not None:
        scale = min(1.0, box[0] / width, box[1] / height)
    if width * height * scale * scale > MAX_RESULT_PIXELS:
        scale = (MAX_RESULT_PIXELS / (width * height)) ** 0.5
    if scale == 1.0:
        return width, height
    return max(1, round(width * scale)), max(1, round(height * scale))


def _read(path: Path, box: tuple[int, int] | None, part: Part | None) -> Picture:
    from PIL import Image, UnidentifiedImageError

    try:
        with opened(path) as image:
            if image.format == "PNG":
                _check_sums(path)
            jpeg = image.format in ("JPEG", "MPO")
            try:
                return _picture(image, box, part)
            except OSError:
                if not jpeg:
                    raise
    except UnidentifiedImageError:
        raise PictureError(_unknown(path)) from None
    # A JPEG file that ends too early: with an end added, the decoder gives what there is.
    with Image.open(io.BytesIO(path.read_bytes() + b"\xff\xd9" * 8), formats=("JPEG",)) as image:
        picture = _picture(image, box, part)
        return Picture(picture.pixels, picture.size, tr(CUT))


def _check_sums(path: Path) -> None:
    """Compare the checksums of a PNG file's chunks of pixels, at which Pillow does not look."""
    with path.open("rb") as file:
        for kind, place, length in png_chunks(file):
            if kind != b"IDAT":
                continue
            found, left = zlib.crc32(kind), length
            file.seek(place)
            while left and (data := file.read(min(left, 1 << 20))):
                found, left = zlib.crc32(data, found), left - len(data)
            if left:
                raise PictureError(tr(CUT))
            if found != int.from_bytes(file.read(4), "big"):
                raise PictureError(tr("it is damaged (a checksum is wrong)"))


def _unknown(path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(16)
    if not head:
        return tr("the file is empty")
    if head[4:8] == b"ftyp" and head[8:12] in (b"heic", b"heix", b"hevc", b"mif1", b"msf1") and not register_heif():
        return tr("HEIC images need the package pi-heif")
    return tr("it is no image of a known format, or its beginning is damaged")


def _picture(image: Image.Image, box: tuple[int, int] | None, part: Part | None) -> Picture:
    jpeg = image.format in ("JPEG", "MPO")
    width, height = image.size
    deep = deep_layout(image)  # before anything loads the image
    # Pillow turns TIFF files by itself: they say their upright size, and no orientation once they are loaded.
    turned = image.format != "TIFF" and orientation_of(image) in _TURNED
    upright = (height, width) if turned else (width, height)
    area = inside(part, upright) if part is not None else Part(0, 0, *upright)
    size = scaled_size((area.width, area.height), box)
    profile = image.info.get("icc_profile")
    if jpeg and size != (area.width, area.height):
        ratio = max(size[0] / area.width, size[1] / area.height)
        image.draft(None, (max(1, int(width * ratio)), max(1, int(height * ratio))))
    image.load()
    picture = _eight_bit(image) if deep is None else stretched_colour(image, deep)
    picture = _turned(picture, orientation_of(image))
    if part is not None or picture.size != size:
        across, down = picture.size[0] / upright[0], picture.size[1] / upright[1]
        corners = (
            area.x * across,
            area.y * down,
            min((area.x + area.width) * across, picture.size[0]),
            min((area.y + area.height) * down, picture.size[1]),
        )
        # Cropped first: what lies beside a part must not bleed into its edges.
        left, top, right, bottom = (floor(corners[0]), floor(corners[1]), ceil(corners[2]), ceil(corners[3]))
        if part is not None:
            picture = picture.crop((left, top, right, bottom))
            corners = (corners[0] - left, corners[1] - top, corners[2] - left, corners[3] - top)
        picture = _resized(picture, size, corners)
    return Picture(_pixels(picture, profile), (area.width, area.height))


def _turned(picture: Image.Image, orientation: int) -> Image.Image:
    from PIL import Image

    turn = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_270,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_90,
    }.get(orientation)
    return picture if turn is None else picture.transpose(turn)


def inside(part: Part, size: tuple[int, int]) -> Part:
    """What of a part lies in a photo of this size. Raises `PictureError` where nothing does."""
    left, top = max(0, part.x), max(0, part.y)
    right, bottom = min(size[0], part.x + part.width), min(size[1], part.y + part.height)
    if right <= left or bottom <= top:
        raise PictureError(
            tr("its rectangle lies outside of the photo ({size} × {size2} pixels)", size=size[0], size2=size[1])
        )
    return Part(left, top, right - left, bottom - top)


def _resized(picture: Image.Image, size: tuple[int, int], corners: tuple[float, float, float, float]) -> Image.Image:
    from PIL import Image

    if picture.mode in ("RGBA", "LA"):  # colours of transparent pixels must not bleed into their neighbours
        premultiplied = picture.convert("RGBA").convert("RGBa")
        return premultiplied.resize(size, Image.Resampling.BILINEAR, corners, reducing_gap=2.0).convert("RGBA")
    return picture.resize(size, Image.Resampling.BILINEAR, corners, reducing_gap=2.0)


# ------------------------------------------------------------------------------------------------ colours


def _eight_bit(image: Image.Image) -> Image.Image:
    """The image in a mode of eight bits a channel; palettes and bitmaps resolved."""
    if image.mode.startswith(("I", "F")):
        return stretched_grey(image)
    if "transparency" in image.info:
        return image.convert("RGBA")
    if image.mode in ("P", "PA"):
        return image.convert("RGBA" if image.mode == "PA" else "RGB")
    if image.mode in ("La", "RGBa"):
        return image.convert("LA" if image.mode == "La" else "RGBA")
    return image.convert("L") if image.mode == "1" else image


def _pixels(picture: Image.Image, profile: bytes | None) -> npt.NDArray[np.uint8]:
    alpha = picture.getchannel("A") if "A" in picture.getbands() and picture.mode in ("RGBA", "LA") else None
    if alpha is not None:
        picture = picture.convert("RGB" if picture.mode == "RGBA" else "L")
    colours = np.asarray(_to_srgb(picture, profile))
    if alpha is None:
        return colours
    return np.dstack([colours, np.asarray(alpha)])


def is_srgb(profile: bytes) -> bool:
    """Whether a colour profile calls itself sRGB: nothing is to be converted then."""
    head = profile[:4096]
    return b"sRGB" in head or "sRGB".encode("utf-16-be") in head


def _to_srgb(picture: Image.Image, profile: bytes | None) -> Image.Image:
    """Eight-bit sRGB, by the file's colour profile where it has a usable one."""
    from PIL import ImageCms

    if picture.mode == "LAB":
        source = ImageCms.createProfile("LAB")
        changed = ImageCms.profileToProfile(picture, source, ImageCms.createProfile("sRGB"), outputMode="RGB")
        return changed if changed is not None else picture.convert("RGB")
    if profile and not is_srgb(profile) and picture.mode in ("RGB", "L", "CMYK"):
        try:
            changed = ImageCms.profileToProfile(
                picture,
                ImageCms.ImageCmsProfile(io.BytesIO(profile)),
                ImageCms.createProfile("sRGB"),
                renderingIntent=ImageCms.Intent.RELATIVE_COLORIMETRIC,
                outputMode="RGB",
            )
            if changed is not None:
                return changed
        except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
            pass  # a damaged profile, or one of another kind of colours: the numbers are taken as they are
    return picture.convert("RGB")


def _short(error: Exception, path: Path) -> str:
    lines = str(error).replace(str(path), path.name).strip().splitlines()
    return (lines[0] if lines else type(error).__name__)[:120]
