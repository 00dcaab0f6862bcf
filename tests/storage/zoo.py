"""A zoo of small image files: formats x orientations x faults, each with the pixels it must show or why it cannot.

The reference is the picture that was put in, turned by NumPy: no decoder has a part in it.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageCms

Pixels = npt.NDArray[np.uint8]
HEIC = Path(__file__).parent / "heic"
EXACT, CLOSE, LOSSY = 0.0, 1.5, 12.0  # mean difference allowed, of 255


@dataclass(frozen=True, slots=True)
class Specimen:
    """One file of the zoo; ``pixels`` is None where it cannot be shown."""

    name: str
    data: bytes
    pixels: Pixels | None
    tolerance: float = EXACT


def base() -> Pixels:
    """A picture without symmetry, 48 wide and 32 high: soft colours, so that lossy formats stay close."""
    y, x = np.mgrid[0:32, 0:48].astype(np.float64)
    picture = np.dstack([40 + 4 * x, 30 + 5 * y, 200 - 2 * x - 1.5 * y])
    picture[2:12, 3:19] = (220, 60, 40)
    picture[22:30, 30:46] = (30, 90, 210)
    picture[4:10, 36:42] = (240, 230, 60)
    return np.clip(np.rint(picture), 0, 255).astype(np.uint8)


def oriented(upright: npt.NDArray[Any], orientation: int) -> npt.NDArray[Any]:
    """What a file of this EXIF orientation holds so that it is shown as ``upright``."""
    swap = upright.swapaxes(0, 1)
    stored = {
        1: upright,
        2: upright[:, ::-1],
        3: upright[::-1, ::-1],
        4: upright[::-1],
        5: swap,
        6: swap[::-1],
        7: swap[::-1, ::-1],
        8: swap[:, ::-1],
    }[orientation]
    return np.ascontiguousarray(stored)


def grey(picture: Pixels) -> Pixels:
    """One channel, by a simple mean."""
    return picture.mean(axis=2).astype(np.uint8)


def rgb(values: npt.NDArray[Any]) -> Pixels:
    """Three equal channels."""
    return np.repeat(values[:, :, None], 3, axis=2).astype(np.uint8)


def stretched(values: npt.NDArray[Any]) -> Pixels:
    """What images of more than eight bits become."""
    low, high = np.percentile(values, (0.1, 99.9))
    grey = np.clip(np.rint((values.astype(np.float64) - low) * 255 / (high - low)), 0, 255)
    return rgb(grey) if values.ndim == 2 else grey.astype(np.uint8)


def encoded(picture: npt.NDArray[Any] | Image.Image, form: str, **options: Any) -> bytes:
    """A file made by Pillow."""
    import io

    image = picture if isinstance(picture, Image.Image) else Image.fromarray(picture)
    file = io.BytesIO()
    image.save(file, form, **options)
    return file.getvalue()


def exif(orientation: int) -> Image.Exif:
    """EXIF data with nothing but an orientation."""
    data = Image.Exif()
    data[0x0112] = orientation
    return data


# ------------------------------------------------------------------------------------------------ own writers


def png(rows: list[list[bytes]], width: int, height: int, depth: int, colour: int, interlaced: bool) -> bytes:
    """A PNG file from the lines of each pass."""
    raw = b"".join(b"\0" + row for lines in rows for row in lines)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, int(interlaced))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")


def png_of(values: npt.NDArray[Any], interlaced: bool = False) -> bytes:
    """Grey or RGB, with or without opacity, 8 or 16 bit, plain or with Adam7."""
    values = values[:, :, None] if values.ndim == 2 else values
    height, width, channels = values.shape
    big = values.astype(">u2") if values.dtype == np.uint16 else values
    passes = [(0, 0, 1, 1)]
    if interlaced:
        passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    rows = [[line.tobytes() for line in big[y::down, x::right]] for x, y, right, down in passes]
    return png(rows, width, height, values.dtype.itemsize * 8, {1: 0, 2: 4, 3: 2, 4: 6}[channels], interlaced)


def tiff_of(values: npt.NDArray[Any], tile: int = 0, big_endian: bool = False, orientation: int = 1) -> bytes:
    """An uncompressed TIFF of any number type, in one strip or in tiles."""
    values = values[:, :, None] if values.ndim == 2 else values
    height, width, channels = values.shape
    order = ">" if big_endian else "<"
    values = values.astype(values.dtype.newbyteorder(order))
    kind = {"u": 1, "i": 2, "f": 3}[values.dtype.kind]
    bits = values.dtype.itemsize * 8
    blocks = [values.tobytes()]
    if tile:
        down, across = -(-height // tile), -(-width // tile)
        padded = np.zeros((down * tile, across * tile, channels), values.dtype)
        padded[:height, :width] = values
        blocks = [
            padded[y * tile : (y + 1) * tile, x * tile : (x + 1) * tile].tobytes()
            for y in range(down)
            for x in range(across)
        ]
    offsets, at = [], 8
    for block in blocks:
        offsets.append(at)
        at += len(block)
    body = b"".join(blocks)
    if at % 2:
        body, at = body + b"\0", at + 1
    tags: list[tuple[int, int, list[int]]] = [
        (256, 3, [width]),
        (257, 3, [height]),
        (258, 3, [bits] * channels),
        (259, 3, [1]),
        (262, 3, [2 if channels == 3 else 1]),
        (274, 3, [orientation]),
        (277, 3, [channels]),
        (339, 3, [kind] * channels),
    ]
    if tile:
        tags += [(322, 3, [tile]), (323, 3, [tile]), (324, 4, offsets), (325, 4, [len(block) for block in blocks])]
    else:
        tags += [(273, 4, offsets), (278, 3, [height]), (279, 4, [len(blocks[0])])]
    tags.sort()
    table, extra = b"", b""
    extra_at = at + 2 + 12 * len(tags) + 4
    for tag, size, numbers in tags:
        data = struct.pack(f"{order}{len(numbers)}{'H' if size == 3 else 'I'}", *numbers)
        if len(data) > 4:
            field, extra = struct.pack(f"{order}I", extra_at + len(extra)), extra + data + b"\0" * (len(data) % 2)
        else:
            field = data.ljust(4, b"\0")
        table += struct.pack(f"{order}HHI", tag, size, len(numbers)) + field
    head = (b"MM" if big_endian else b"II") + struct.pack(f"{order}HI", 42, at)
    return head + body + struct.pack(f"{order}H", len(tags)) + table + b"\0\0\0\0" + extra


def swapped_profile() -> bytes:
    """A colour profile whose red is blue and whose blue is red: sRGB primaries in another order, gamma 2.2 or so.

    A picture with this profile and swapped channels looks as the picture itself.
    """
    data = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    count = struct.unpack_from(">I", data, 128)[0]
    places = {bytes(data[132 + 12 * i : 136 + 12 * i]): 132 + 12 * i for i in range(count)}
    red, blue = places[b"rXYZ"], places[b"bXYZ"]
    data[red : red + 4], data[blue : blue + 4] = b"bXYZ", b"rXYZ"
    return bytes(data).replace(b"sRGB", b"BGRs").replace("sRGB".encode("utf-16-be"), "BGRs".encode("utf-16-be"))


def linear_grey_profile() -> bytes:
    """A colour profile of grey whose numbers are amounts of light."""
    white = struct.pack(">iii", 63190, 65536, 54061)
    tags = {
        b"wtpt": b"XYZ \0\0\0\0" + white,
        b"kTRC": b"curv\0\0\0\0" + struct.pack(">I", 0),
        b"desc": b"desc\0\0\0\0" + struct.pack(">I", 7) + b"linear\0" + bytes(79),
        b"cprt": b"text\0\0\0\0none",
    }
    place = 132 + 12 * len(tags)
    table, body = struct.pack(">I", len(tags)), b""
    for name, data in tags.items():
        table += name + struct.pack(">II", place + len(body), len(data))
        body += data + bytes(-len(data) % 4)
    head = struct.pack(">I4sI4s4s4s", place + len(body), bytes(4), 0x02100000, b"mntr", b"GRAY", b"XYZ ")
    return head + bytes(12) + b"acsp" + bytes(28) + white + bytes(48) + table + body


# ------------------------------------------------------------------------------------------------ the zoo


def _oriented_files(picture: Pixels) -> list[Specimen]:
    found = []
    writers: dict[str, Callable[[Pixels, int], bytes]] = {
        "jpg": lambda values, turn: encoded(values, "JPEG", quality=95, subsampling=0, exif=exif(turn)),
        "tif": lambda values, turn: tiff_of(values, orientation=turn),
        "png": lambda values, turn: encoded(values, "PNG", exif=exif(turn)),
        "webp": lambda values, turn: encoded(values, "WEBP", lossless=True, exif=exif(turn).tobytes()),
        "avif": lambda values, turn: encoded(values, "AVIF", quality=95, subsampling="4:4:4", exif=exif(turn)),
    }
    for extension, write in writers.items():
        close = LOSSY if extension in ("jpg", "avif") else EXACT
        found += [
            Specimen(f"turn-{turn}.{extension}", write(oriented(picture, turn), turn), picture, close)
            for turn in range(1, 9)
        ]
    found += [
        Specimen(f"turn-{turn}.heic", (HEIC / f"turn-{turn}.heic").read_bytes(), picture, LOSSY) for turn in range(1, 9)
    ]
    found.append(
        Specimen(
            "turn-6-progressive.jpg",
            encoded(oriented(picture, 6), "JPEG", quality=95, subsampling=0, progressive=True, exif=exif(6)),
            picture,
            LOSSY,
        )
    )
    return found


def _jpeg(picture: Pixels) -> list[Specimen]:
    image = Image.fromarray(picture)
    plain = encoded(picture, "JPEG", quality=95, subsampling=0)
    inks = 255 - picture
    cmyk = Image.fromarray(np.dstack([inks, np.zeros_like(inks[:, :, :1])]), "CMYK")
    swapped = np.ascontiguousarray(picture[:, :, ::-1])
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    return [
        Specimen("plain.jpg", plain, picture, LOSSY),
        Specimen("capitals.JPEG", plain, picture, LOSSY),
        Specimen("progressive.jpg", encoded(picture, "JPEG", quality=95, progressive=True), picture, LOSSY),
        Specimen("coarse.jpg", encoded(picture, "JPEG", quality=90, subsampling=2), picture, LOSSY),
        Specimen("grey.jpg", encoded(grey(picture), "JPEG", quality=95), rgb(grey(picture)), LOSSY),
        Specimen("cmyk.jpg", encoded(cmyk, "JPEG", quality=95), picture, LOSSY),
        Specimen(
            "profile.jpg",
            encoded(swapped, "JPEG", quality=97, subsampling=0, icc_profile=swapped_profile()),
            picture,
            LOSSY,
        ),
        Specimen("srgb.jpg", encoded(image, "JPEG", quality=95, icc_profile=srgb), picture, LOSSY),
        Specimen("bad-profile.jpg", encoded(image, "JPEG", quality=95, icc_profile=b"nonsense" * 40), picture, LOSSY),
        Specimen("trailer.jpg", plain + b"maker's notes " * 40, picture, LOSSY),
        Specimen("jpeg-named.png", plain, picture, LOSSY),
        Specimen("jpeg-named.tif", plain, picture, LOSSY),
        Specimen(
            "bad-exif.jpg", encoded(image, "JPEG", quality=95, exif=b"Exif\0\0II*\0\xff\xff\xff\xff"), picture, LOSSY
        ),
        Specimen("orientation-99.jpg", encoded(image, "JPEG", quality=95, exif=exif(99)), picture, LOSSY),
    ]


def _png(picture: Pixels) -> list[Specimen]:
    image = Image.fromarray(picture)
    alpha = np.full(picture.shape[:2], 255, np.uint8)
    alpha[:16] = 0
    with_alpha = np.dstack([picture, alpha])
    on_white = picture.copy()
    on_white[:16] = 255
    few = image.quantize(16)
    palette = np.asarray(few.convert("RGB"))
    one = (grey(picture) > 128).astype(np.uint8) * 255
    deep = grey(picture).astype(np.uint16) * 20 + 300  # as a camera of 12 bits gives
    wide = picture.astype(np.uint16) * 11 + 900  # a part of the range
    wide_alpha = np.dstack([wide, alpha.astype(np.uint16) * 257])
    wide_white = stretched(wide[16:])
    wide_white = np.vstack([np.full_like(picture[:16], 255), wide_white])
    grey_white = np.vstack([np.full_like(picture[:16], 255), stretched(wide[16:, :, 2])])
    clear = few.copy()
    clear.info["transparency"] = 0
    see_through = np.asarray(clear.convert("RGBA"))
    palette_white = np.where(see_through[:, :, 3:] == 0, 255, see_through[:, :, :3]).astype(np.uint8)
    swapped = np.ascontiguousarray(picture[:, :, ::-1])
    light = grey(picture)
    seen = rgb(np.rint(255 * (1.055 * (light / 255.0) ** (1 / 2.4) - 0.055)))
    return [
        Specimen("plain.png", encoded(picture, "PNG"), picture),
        Specimen("alpha.png", encoded(with_alpha, "PNG"), on_white),
        Specimen("palette.png", encoded(few, "PNG"), palette),
        Specimen("palette-clear.png", encoded(clear, "PNG", transparency=0), palette_white),
        Specimen("grey.png", encoded(grey(picture), "PNG"), rgb(grey(picture))),
        Specimen(
            "grey-alpha.png",
            encoded(Image.fromarray(with_alpha).convert("LA"), "PNG"),
            np.where(alpha[:, :, None] > 0, rgb(np.asarray(image.convert("L"))), 255).astype(np.uint8),
            CLOSE,
        ),
        Specimen("bits.png", encoded(Image.fromarray(one).convert("1"), "PNG"), rgb(one)),
        Specimen("deep-grey.png", png_of(deep), stretched(deep), CLOSE),
        Specimen("deep-colour.png", png_of(wide), stretched(wide), CLOSE),
        Specimen("deep-colour-interlaced.png", png_of(wide, True), stretched(wide), CLOSE),
        Specimen("deep-colour-alpha.png", png_of(wide_alpha), wide_white, CLOSE),
        Specimen("deep-grey-alpha.png", png_of(wide_alpha[:, :, 2:]), grey_white, CLOSE),
        Specimen("interlaced.png", png_of(picture, True), picture),
        Specimen("interlaced-grey.png", png_of(grey(picture), True), rgb(grey(picture))),
        Specimen("interlaced-deep.png", png_of(deep, True), stretched(deep), CLOSE),
        Specimen("profile.png", encoded(swapped, "PNG", icc_profile=swapped_profile()), picture, CLOSE + 1),
        Specimen("even-deep.png", png_of(np.full((20, 30), 0x7FFF, np.uint16)), np.full((20, 30, 3), 127, np.uint8)),
        Specimen("grey-profile.png", encoded(light, "PNG", icc_profile=linear_grey_profile()), seen, CLOSE),
        Specimen(
            "grey-profile.jpg", encoded(light, "JPEG", quality=98, icc_profile=linear_grey_profile()), seen, LOSSY
        ),
        Specimen("one-pixel.png", encoded(picture[:1, :1], "PNG"), picture[:1, :1]),
        Specimen("thin.png", encoded(picture[:1], "PNG"), picture[:1]),
        Specimen("png-named.jpg", encoded(picture, "PNG"), picture),
        Specimen("png-named.heic", encoded(picture, "PNG"), picture),
    ]


def _tiff(picture: Pixels) -> list[Specimen]:
    image = Image.fromarray(picture)
    deep = grey(picture).astype(np.uint16) * 20 + 300
    far = grey(picture).astype(np.float32) / 3e4 - 0.002
    holes = far.copy()
    holes[5, 5] = np.nan
    filled = stretched(far)
    filled[5, 5] = 0
    unsigned = grey(picture).astype(np.uint32) * 10_000_000 + 1_000_000_000
    second = Image.fromarray(picture[::-1].copy())
    few = image.quantize(16)
    one = (grey(picture) > 128).astype(np.uint8) * 255
    inks = 255 - picture
    cmyk = Image.fromarray(np.dstack([inks, np.zeros_like(inks[:, :, :1])]), "CMYK")
    wide = picture.astype(np.uint16) * 11 + 900
    swapped = np.ascontiguousarray(picture[:, :, ::-1])
    found = [
        Specimen("plain.tif", tiff_of(picture), picture),
        Specimen("plain.TIFF", tiff_of(picture, big_endian=True), picture),
        Specimen("tiled.tif", tiff_of(picture, tile=16), picture),
        Specimen("tiled-turned.tif", tiff_of(oriented(picture, 8), tile=16, orientation=8), picture),
        Specimen("tiled-grey.tif", tiff_of(grey(picture), tile=16), rgb(grey(picture))),
        Specimen("deep.tif", tiff_of(deep), stretched(deep), CLOSE),
        Specimen("deep-big-endian.tif", tiff_of(deep, big_endian=True), stretched(deep), CLOSE),
        Specimen("deep-tiled.tif", tiff_of(deep, tile=16), stretched(deep), CLOSE),
        Specimen("deep-colour.tif", tiff_of(wide), stretched(wide), CLOSE),
        Specimen("deep-colour-big-endian.tif", tiff_of(wide, big_endian=True), stretched(wide), CLOSE),
        Specimen("deep-colour-tiled.tif", tiff_of(wide, tile=16), stretched(wide), CLOSE),
        Specimen("signed-32.tif", tiff_of(deep.astype(np.int32) - 4000), stretched(deep), CLOSE),
        Specimen("unsigned-32.tif", tiff_of(unsigned), stretched(unsigned), CLOSE),
        Specimen("float.tif", tiff_of(far), stretched(far), CLOSE),
        Specimen("float-turned.tif", tiff_of(oriented(far, 5), orientation=5), stretched(far), CLOSE),
        Specimen("float-holes.tif", tiff_of(holes), filled, CLOSE),
        Specimen("pages.tif", encoded(image, "TIFF", save_all=True, append_images=[second, few]), picture),
        Specimen("palette.tif", encoded(few, "TIFF"), np.asarray(few.convert("RGB"))),
        Specimen("cmyk.tif", encoded(cmyk, "TIFF"), picture, CLOSE),
        Specimen("profile.tif", encoded(swapped, "TIFF", icc_profile=swapped_profile()), picture, CLOSE + 1),
        Specimen("bits.tif", encoded(Image.fromarray(one).convert("1"), "TIFF", compression="group4"), rgb(one)),
    ]
    found += [
        Specimen(f"{compression}.tif", encoded(image, "TIFF", compression=compression), picture)
        for compression in ("tiff_lzw", "tiff_adobe_deflate", "packbits")
    ]
    found.append(Specimen("jpeg-inside.tif", encoded(image, "TIFF", compression="jpeg", quality=95), picture, LOSSY))
    return found


def _others(picture: Pixels) -> list[Specimen]:
    image = Image.fromarray(picture)
    later = Image.fromarray(picture[::-1].copy())
    few = image.quantize(64)
    palette = np.asarray(few.convert("RGB"))
    deep = grey(picture).astype(np.uint16) * 200 + 3000
    shades = np.array([(9, 9, 9), (250, 20, 30), (20, 250, 30), (20, 30, 250), (250, 250, 30)], np.uint8)
    numbers = grey(picture) // 52
    clear = Image.fromarray(numbers, "P")
    clear.putpalette(shades.tobytes())
    on_white = np.where(numbers[:, :, None] == 0, 255, shades[numbers]).astype(np.uint8)
    alpha = np.full(picture.shape[:2], 255, np.uint8)
    alpha[:, :24] = 0
    half_white = picture.copy()
    half_white[:, :24] = 255
    gif = {"save_all": True, "append_images": [later.quantize(64)], "duration": 100, "loop": 0}
    return [
        Specimen("plain.webp", encoded(picture, "WEBP", lossless=True), picture),
        Specimen("lossy.webp", encoded(picture, "WEBP", quality=95), picture, LOSSY),
        Specimen("alpha.webp", encoded(np.dstack([picture, alpha]), "WEBP", lossless=True), half_white),
        Specimen("moving.webp", encoded(image, "WEBP", lossless=True, save_all=True, append_images=[later]), picture),
        Specimen("plain.gif", encoded(few, "GIF"), palette),
        Specimen("interlaced.gif", encoded(few, "GIF", interlace=1), palette),
        Specimen("moving.gif", encoded(few, "GIF", **gif), palette),
        Specimen("clear.gif", encoded(clear, "GIF", transparency=0), on_white),
        Specimen("plain.bmp", encoded(picture, "BMP"), picture),
        Specimen("palette.bmp", encoded(few, "BMP"), palette),
        Specimen("grey.bmp", encoded(grey(picture), "BMP"), rgb(grey(picture))),
        Specimen("plain.dib", encoded(picture, "DIB"), picture),
        Specimen("plain.avif", encoded(picture, "AVIF", quality=95, subsampling="4:4:4"), picture, LOSSY),
        Specimen("alpha.avif", encoded(np.dstack([picture, alpha]), "AVIF", quality=95), half_white, LOSSY),
        Specimen(
            "moving.avif", encoded(image, "AVIF", quality=95, save_all=True, append_images=[later]), picture, LOSSY
        ),
        Specimen("plain.ppm", encoded(picture, "PPM"), picture),
        Specimen("grey.pgm", encoded(grey(picture), "PPM"), rgb(grey(picture))),
        Specimen("deep.pgm", b"P5\n48 32\n65535\n" + deep.astype(">u2").tobytes(), stretched(deep), CLOSE),
        Specimen("webp-named.jpg", encoded(picture, "WEBP", lossless=True), picture),
        Specimen("gif-named.bmp", encoded(few, "GIF"), palette),
        Specimen("heic-named.jpg", (HEIC / "turn-1.heic").read_bytes(), picture, LOSSY),
        Specimen("avif-named.png", encoded(picture, "AVIF", quality=95, subsampling="4:4:4"), picture, LOSSY),
    ]


def _faults(whole: list[Specimen]) -> list[Specimen]:
    """Files of each format, broken in each way."""
    found = []
    by_name = {specimen.name: specimen.data for specimen in whole}
    for name in (
        "plain.jpg",
        "progressive.jpg",
        "plain.png",
        "deep-grey.png",
        "plain.webp",
        "plain.gif",
        "plain.bmp",
        "plain.tif",
        "tiff_lzw.tif",
        "float.tif",
        "turn-1.heic",
        "plain.avif",
        "plain.ppm",
    ):
        data = by_name[name]
        stem, _, extension = name.partition(".")
        broken = {
            "empty": b"",
            "half": data[: len(data) // 2],
            "start-only": data[:12],
            "no-start": b"\0" * 16 + data[16:],
            "text": b"This is a letter, not an image.\n" * 20,
            "zeros": bytes(len(data)),
        }
        found += [Specimen(f"{stem}-{fault}.{extension}", bad, None) for fault, bad in broken.items()]
    html = b"<!DOCTYPE html><html><body>404 Not Found</body></html>"
    found.append(Specimen("error-page.jpg", html, None))
    found.append(Specimen("vector.png", b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>', None))
    found.append(Specimen("postscript.tif", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\nshowpage\n", None))
    bomb = png([[]], 60_000, 60_000, 8, 2, False)
    found.append(Specimen("bomb.png", bomb, None))
    flipped = bytearray(by_name["plain.png"])
    flipped[len(flipped) // 2] ^= 0xFF
    found.append(Specimen("flipped-bit.png", bytes(flipped), None))
    return found


def zoo() -> list[Specimen]:
    """All specimens; names are unique."""
    picture = base()
    whole = [*_oriented_files(picture), *_jpeg(picture), *_png(picture), *_tiff(picture), *_others(picture)]
    return [*whole, *_faults(whole)]
