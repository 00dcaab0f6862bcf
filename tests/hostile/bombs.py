"""Image files that are small and ask for much: each is built here, byte by byte."""

from __future__ import annotations

import io
import struct
import warnings
import zlib
from collections.abc import Callable

from PIL import Image

WIDE = 14_000  # squared, with four bytes a pixel, just below what the program decodes whole


def chunk(kind: bytes, data: bytes) -> bytes:
    """A chunk of a PNG file."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def packed_zeros(count: int) -> bytes:
    """So many zero bytes as zlib packs them, a thousand to one, without packing more than the first million."""
    block = 1 << 20
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    one = packer.compress(bytes(block)) + packer.flush(zlib.Z_FULL_FLUSH)
    last = zlib.compressobj(9, zlib.DEFLATED, -15)
    end = last.compress(bytes(count % block)) + last.flush()
    total = 1 + (count % 65_521 << 16)  # Adler's sum over zeros: 1 in the lower half, their number in the upper
    return b"\x78\xda" + one * (count // block) + end + total.to_bytes(4, "big")


def png(
    width: int, height: int, *, rows: int | None = None, before: bytes = b"", depth: int = 8, kind: int = 6
) -> bytes:
    """A blank PNG file whose pixels are packed as tightly as they go, or not all there."""
    bands = {0: 1, 2: 3, 6: 4}[kind]
    line = 1 + (width * bands * depth + 7) // 8
    packed = packed_zeros(line * (height if rows is None else rows))
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + before + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def text_bomb(kind: bytes) -> bytes:
    """A tiny picture with 200 MB of packed text, comment or colour profile before it."""
    packed = packed_zeros(200 << 20)
    heads = {b"zTXt": b"note\0\0", b"iTXt": b"note\0\1\0\0\0", b"iCCP": b"icc\0\0"}
    return png(8, 8, before=chunk(kind, heads[kind] + packed), kind=2)


def long_chunk() -> bytes:
    """A chunk that says it has two gigabytes."""
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + b"\x7f\xff\xff\xffIDAT12345"


def gif(width: int, height: int, frames: int = 1) -> bytes:
    """A GIF file: a huge canvas, and frames of one pixel."""
    frame = b"\x2c" + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\x02\x02\x44\x01\x00"
    colours = bytes(3) + b"\xff\xff\xff"
    return b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + colours + frame * frames + b";"


def bmp(width: int, height: int, *, packing: int = 0, bits: int = 8) -> bytes:
    """A BMP file without its pixels."""
    head = struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, packing, 0, 0, 0, 256 if bits == 8 else 0, 0)
    colours = bytes(1024) if bits == 8 else b""
    body = b"\x00\x01" if packing else bytes(64)
    return b"BM" + struct.pack("<IHHI", 54 + len(colours) + len(body), 0, 0, 54 + len(colours)) + head + colours + body


def ico(width: int = 256) -> bytes:
    """An icon that holds a huge PNG; under the name of another kind of picture."""
    inside = png(WIDE, WIDE, rows=1)
    return struct.pack("<HHHBBBBHHII", 0, 1, 1, width & 255, 0, 0, 0, 1, 32, len(inside), 22) + inside


def ppm(width: int, height: int) -> bytes:
    """A PPM file without its pixels."""
    return b"P6\n%d %d\n255\n" % (width, height)


def tiff(*entries: tuple[int, int, int, int], after: int = 0, tail: bytes = b"") -> bytes:
    """A little-endian TIFF file of one list of tags (number, type, count, value); ``after``: where the next one is."""
    listed = b"".join(struct.pack("<HHII", *entry) for entry in sorted(entries))
    return b"II*\0" + struct.pack("<IH", 8, len(entries)) + listed + struct.pack("<I", after) + tail


def plain_tiff(width: int, height: int, after: int = 0, **changed: tuple[int, int, int]) -> bytes:
    """A grey TIFF file; ``changed`` names tags as ``t256``."""
    tags = {256: (4, 1, width), 257: (4, 1, height), 258: (3, 1, 8), 259: (3, 1, 1), 262: (3, 1, 1), 273: (4, 1, 200)}
    tags |= {277: (3, 1, 1), 278: (4, 1, height), 279: (4, 1, width * height & 0xFFFFFFFF)}
    tags |= {int(name[1:]): value for name, value in changed.items()}
    return tiff(*((tag, *value) for tag, value in tags.items()), after=after, tail=bytes(5000))


def tiled_tiff(side: int) -> bytes:
    """A small picture in one tile of a huge size."""
    return plain_tiff(64, 64, t322=(4, 1, side), t323=(4, 1, side), t324=(4, 1, 200), t325=(4, 1, 4096), t259=(3, 1, 8))


def deflated_tiff(width: int, height: int) -> bytes:
    """A blank TIFF file that is packed as tightly as it goes."""
    data = packed_zeros(width * height)
    return plain_tiff(width, height, t259=(3, 1, 8), t279=(4, 1, len(data)))[:200].ljust(200, b"\0") + data


def many_lists(count: int) -> bytes:
    """A TIFF file with very many pages, the last of which leads back to the first."""
    page = 2 + 12 * 9 + 4
    data = bytearray(b"II*\0" + struct.pack("<I", 8))
    tags = ((256, 4), (257, 4), (258, 8), (259, 1), (262, 1), (273, 8), (277, 1), (278, 4), (279, 16))
    for at in range(count):
        data += struct.pack("<H", 9) + b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
        data += struct.pack("<I", 8 if at == count - 1 else 8 + (at + 1) * page)
    return bytes(data)


def webp(width: int, height: int) -> bytes:
    """A WebP file with a huge canvas and a tiny picture."""
    memory = io.BytesIO()
    Image.new("RGB", (1, 1)).save(memory, "WEBP", lossless=True)
    picture = memory.getvalue()[12:]
    extended = b"VP8X" + struct.pack("<I", 10) + b"\x02\0\0\0"
    extended += (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    loop = b"ANIM" + struct.pack("<IIH", 6, 0, 0)
    frame = bytes(12) + b"\x64\0\0\0" + picture
    body = extended + loop + b"ANMF" + struct.pack("<I", len(frame)) + frame
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WEBP" + body


def blank(kind: str, width: int, height: int, **options: object) -> bytes:
    """A blank picture by Pillow's own writer, for those kinds that pack one well."""
    memory = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Image.new("L" if kind != "WEBP" else "RGB", (width, height)).save(memory, kind, **options)
    return memory.getvalue()


def grown_avif() -> bytes:
    """An AVIF file that says of itself that it is a million pixels wide."""
    data = bytearray(blank("AVIF", 16, 16))
    at = data.index(b"ispe") + 8
    data[at : at + 8] = struct.pack(">II", 1_000_000, 1_000_000)
    return bytes(data)


def grown_heic(data: bytes) -> bytes:
    """The same of a HEIC file."""
    grown, at = bytearray(data), -1
    while (at := grown.find(b"ispe", at + 1)) >= 0:
        grown[at + 8 : at + 16] = struct.pack(">II", 1_000_000, 1_000_000)
    return bytes(grown)


def progressive(width: int, height: int, scans: int) -> bytes:
    """A grey JPEG file of very many passes over a large picture, each of a few bytes."""
    blocks = -(-width // 8) * -(-height // 8)
    quantities = b"\xff\xdb" + struct.pack(">HB", 67, 0) + b"\1" * 64
    frame = b"\xff\xc2" + struct.pack(">HBHHBBBB", 11, 8, height, width, 1, 1, 0x11, 0)
    # One code of one bit in each table: "nothing changes" and "the band ends here, and in 16,384 more blocks, and ...".
    tables = b"".join(
        b"\xff\xc4" + struct.pack(">HB", 20, kind) + b"\1" + bytes(15) + symbol
        for kind, symbol in ((0x00, b"\0"), (0x10, b"\xe0"))
    )
    first = b"\xff\xda" + struct.pack(">HBBBBBB", 8, 1, 1, 0, 0, 0, 0) + bytes(blocks // 8 + 1)
    bits = ("0" + "1" * 14) * -(-blocks // 32_767)
    bits += "1" * (-len(bits) % 8)
    band = int(bits, 2).to_bytes(len(bits) // 8, "big").replace(b"\xff", b"\xff\0")
    one = b"\xff\xda" + struct.pack(">HBBBBBB", 8, 1, 1, 0, 1, 63, 0) + band
    return b"\xff\xd8" + quantities + frame + tables + first + one * scans + b"\xff\xd9"


def jpeg(width: int, height: int, *, extra: bytes = b"") -> bytes:
    """A JPEG file that says it is huge, and holds one block."""
    small = bytearray(blank("JPEG", 16, 16, quality=50))
    at = small.index(b"\xff\xc0") + 5
    small[at : at + 4] = struct.pack(">HH", height, width)
    return bytes(small[:2]) + extra + bytes(small[2:])


def segments(kind: int, start: bytes, count: int, each: int = 60_000) -> bytes:
    """Very many segments of a JPEG file."""
    return b"".join(
        bytes((0xFF, kind)) + struct.pack(">H", 2 + len(start) + each) + start + bytes(each) for _ in range(count)
    )


def exif_loop() -> bytes:
    """EXIF data whose lists lead to themselves, with a value that says it has four billion numbers."""
    entries = ((0x8769, 4, 1, 8), (0x8825, 4, 1, 8), (0xA005, 4, 1, 8), (0x0112, 3, 0x7FFFFFFF, 8))
    body = b"Exif\0\0" + tiff(*entries, after=8)
    return b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body


def xmp_bomb() -> bytes:
    """XMP that would grow to gigabytes if its entities were put in."""
    lines = [f'<!ENTITY a{n} "{f"&a{n - 1};" * 16}">' for n in range(1, 9)]
    kind = f'<!DOCTYPE x [<!ENTITY a0 "{"lol" * 20}">{"".join(lines)}]>'
    text = f'{kind}<x:xmpmeta xmlns:x="adobe:ns:meta/">&a8;</x:xmpmeta>'
    body = b"http://ns.adobe.com/xap/1.0/\0" + text.encode()
    return b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body


def bombs(heic: bytes) -> dict[str, Callable[[], bytes]]:
    """All of them: name and maker."""
    return {
        "ihdr.png": lambda: png(2_000_000_000, 2_000_000_000, rows=0),
        "blank.png": lambda: png(WIDE, WIDE, kind=6, rows=1),
        "thin.png": lambda: png(190_000_000, 1, kind=0, rows=0),
        "deep.png": lambda: png(WIDE, WIDE, kind=2, depth=16, rows=1),
        "packed.png": lambda: png(8_000, 8_000, kind=0, depth=1),
        "ztxt.png": lambda: text_bomb(b"zTXt"),
        "itxt.png": lambda: text_bomb(b"iTXt"),
        "iccp.png": lambda: text_bomb(b"iCCP"),
        "chunk.png": long_chunk,
        "canvas.gif": lambda: gif(65_535, 65_535),
        "canvas2.gif": lambda: gif(WIDE, WIDE),
        "frames.gif": lambda: gif(10, 10, 100_000),
        "tall.bmp": lambda: bmp(20_000, -2_000_000_000),
        "least.bmp": lambda: bmp(1, -(1 << 31)),
        "rows.bmp": lambda: bmp(WIDE, WIDE),
        "rle.bmp": lambda: bmp(WIDE, WIDE, packing=1),
        "icon.bmp": ico,
        "rows.ppm": lambda: ppm(WIDE, WIDE),
        "huge.ppm": lambda: ppm(10**18, 10**18),
        "size.tif": lambda: plain_tiff(0xFFFFFFFF, 0xFFFFFFFF),
        "rows.tif": lambda: plain_tiff(WIDE, WIDE),
        "strips.tif": lambda: plain_tiff(64, 64, t273=(4, 0x3FFFFFFF, 200), t279=(4, 0x3FFFFFFF, 200)),
        "samples.tif": lambda: plain_tiff(64, 64, t277=(3, 1, 65_535)),
        "tiles.tif": lambda: tiled_tiff(0x7FFFFFF0),
        "tile.tif": lambda: tiled_tiff(30_000),
        "nosize.tif": lambda: plain_tiff(0, 0),
        "loop.tif": lambda: plain_tiff(16, 16, after=8),
        "pages.tif": lambda: many_lists(20_000),
        "packed.tif": lambda: deflated_tiff(25_000, 25_000),
        "canvas.webp": lambda: webp(1 << 24, 1 << 24),
        "canvas2.webp": lambda: webp(16_384, 16_384),
        "canvas3.webp": lambda: webp(WIDE, WIDE),
        "ispe.avif": grown_avif,
        "ispe.heic": lambda: grown_heic(heic),
        "size.jpg": lambda: jpeg(65_500, 65_500),
        "rows.jpg": lambda: jpeg(22_000, 22_000),
        "scans.jpg": lambda: progressive(6_000, 6_000, 3_000),
        "progressive.jpg": lambda: progressive(22_000, 22_000, 1),
        "app.jpg": lambda: jpeg(16, 16, extra=segments(0xED, b"Photoshop 3.0\0", 200)),
        "profile.jpg": lambda: jpeg(16, 16, extra=segments(0xE2, b"ICC_PROFILE\0\1\xff", 200)),
        "exif.jpg": lambda: jpeg(16, 16, extra=exif_loop()),
        "xmp.jpg": lambda: jpeg(16, 16, extra=xmp_bomb()),
    }
