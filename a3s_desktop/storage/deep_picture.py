"""Images of more than eight bits: their whole range, between two percentiles, in eight bits.

Pillow has no mode for colours of sixteen bits: it gives the upper byte of each. Its decoders can be told to give the
other one, so such a file is decoded twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from PIL import Image

_STRETCH = (0.1, 99.9)  # percentiles that become black and white
_SAMPLE = 4_000_000  # values that the percentiles are taken of
_ROWS = 1024  # in one block: a large image has no room for a second copy as floats
_OTHER_BYTE = {
    **{f"{bands};16{order}": f"{bands};16{other}" for bands in ("RGB", "RGBA") for order, other in ("BL", "LB", "NB")},
    "LA;16B": "RGBA",  # both bytes of grey, both of opacity: four bands of eight bits
}


def deep_layout(image: Image.Image) -> str | None:
    """How the file of an image lays its colours of sixteen bits out (Pillow's raw mode); None where it has none.

    To be asked before the image is loaded.
    """
    layouts = {_raw_mode(tile) for tile in getattr(image, "tile", ())}
    layout = layouts.pop() if len(layouts) == 1 else None
    return layout if layout in _OTHER_BYTE else None


def stretched_colour(image: Image.Image, layout: str) -> Image.Image:
    """Colours of sixteen bits, stretched together, so that their hue stays; opacity as it is.

    Parameters
    ----------
    image : Image
        Loaded, as Pillow does it: RGB or RGBA.
    layout : str
        From `deep_layout`.

    Returns
    -------
    Image
        RGB, RGBA or LA.
    """
    from PIL import Image

    upper, other = np.asarray(image), np.asarray(_read_again(image, layout))
    if layout == "LA;16B":
        upper, other = other[:, :, ::2], other[:, :, 1::2]
    colours = slice(0, -1 if upper.shape[2] in (2, 4) else None)
    step = max(1, int((upper.size / _SAMPLE) ** 0.5))
    sample = _joined(upper[::step, ::step], other[::step, ::step])
    seen = sample[:, :, colours] if colours.stop is None else sample[sample[:, :, -1] > 0][:, :-1]
    low, high = _edges(seen)
    result = upper.copy()
    for rows in _blocks(len(upper)):
        deep = _joined(upper[rows], other[rows])[:, :, colours]
        result[rows][:, :, colours] = _scaled(deep, low, high) if high > low else upper[rows][:, :, colours]
    return Image.fromarray(result, "LA") if result.shape[2] == 2 else Image.fromarray(result)


def stretched_grey(image: Image.Image) -> Image.Image:
    """Grey of 16 or 32 bits or floats, stretched. Pillow's own conversion would clip."""
    from PIL import Image

    values = np.asarray(image)
    if image.mode == "I" and _is_unsigned(image):
        values = values.view(np.uint32)
    step = max(1, int((values.size / _SAMPLE) ** 0.5))
    sample = values[::step, ::step]
    low, high = _edges(sample[np.isfinite(sample)] if values.dtype.kind == "f" else sample)
    if high <= low:  # an even image: as bright as 16 bits say, else a middle grey
        level = round(low * 255 / 65535) if values.dtype.kind == "u" and values.dtype.itemsize == 2 else 128
        return Image.fromarray(np.full(values.shape, level, np.uint8))
    grey = np.empty(values.shape, np.uint8)
    for rows in _blocks(len(values)):
        grey[rows] = _scaled(values[rows], low, high)
    return Image.fromarray(grey)


def _raw_mode(tile: Any) -> str | None:
    found = tile[3] if isinstance(tile[3], str) else tile[3][0] if tile[3] else None
    return found if isinstance(found, str) else None


def _read_again(image: Image.Image, layout: str) -> Image.Image:
    """The bytes of a file that Pillow left out."""
    from PIL import Image

    wanted = _OTHER_BYTE[layout]
    again = Image.open(image.filename, formats=(image.format,))  # type: ignore[attr-defined,arg-type]
    again.tile = [
        tile._replace(args=(wanted, *tile.args[1:]) if isinstance(tile.args, tuple) else wanted) for tile in again.tile
    ]
    again.load()
    return again


def _joined(upper: npt.NDArray[np.uint8], lower: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint16]:
    return (upper.astype(np.uint16) << np.uint16(8)) | lower


def _edges(known: npt.NDArray[Any]) -> tuple[float, float]:
    if not known.size:
        return 0.0, 0.0
    low, high = (float(edge) for edge in np.percentile(known, _STRETCH))
    return (low, high) if high > low else (float(known.min()), float(known.max()))


def _blocks(rows: int) -> Iterator[slice]:
    return (slice(start, start + _ROWS) for start in range(0, rows, _ROWS))


def _scaled(values: npt.NDArray[Any], low: float, high: float) -> npt.NDArray[np.uint8]:
    block = np.nan_to_num((values.astype(np.float64) - low) * (255.0 / (high - low)), posinf=255.0, neginf=0.0)
    return np.clip(np.rint(block), 0, 255).astype(np.uint8)


def _is_unsigned(image: Image.Image) -> bool:
    """Whether a 32-bit TIFF file counts without sign, which Pillow's mode cannot say."""
    tags = getattr(image, "tag_v2", None)
    return tags is not None and tuple(tags.get(339, (1,)) or (1,)) == (1,) and tuple(tags.get(258, ())) == (32,)
