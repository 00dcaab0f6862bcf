"""A description of images that needs no network: shape, texture, colour, and a small picture.

Each image of `SIDE` pixels square becomes one row of four parts, each of unit length: histograms of oriented gradients
(Dalal and Triggs 2005), local binary patterns (Ojala et al. 2002, uniform ones), histograms of opponent colours (van de
Sande et al. 2010), and a thumbnail without its mean. `reduce` (see `core.projection`) makes few columns of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.types import FloatArray

SIDE = 128
VERSION = 1  # raised whenever the numbers change: kept blocks of another version are not reused
_CELL = 16
_BINS = 9
_THUMB = 12
_EPSILON = 1e-6
WEIGHTS = {"gradients": 0.7, "patterns": 1.0, "colours": 1.4, "thumbnail": 0.5}

Images = npt.NDArray[np.uint8]


def describe(images: Images) -> FloatArray:
    """Describe images.

    Parameters
    ----------
    images : uint8, shape (B, SIDE, SIDE, 3)
        sRGB.

    Returns
    -------
    float32, shape (B, D)
    """
    if images.ndim != 4 or images.shape[1:] != (SIDE, SIDE, 3):
        raise ValueError(f"images of shape {images.shape}")
    values = images.astype(np.float32) / 255.0
    grey = values @ np.array([0.299, 0.587, 0.114], np.float32)
    parts = {
        "gradients": _gradients(np.sqrt(values)),
        "patterns": _patterns(grey),
        "colours": _colours(values),
        "thumbnail": _thumbnail(values),
    }
    return np.concatenate([WEIGHTS[name] * unit(part) for name, part in parts.items()], axis=1).astype(np.float32)


def columns() -> int:
    """Width of what `describe` gives."""
    cells = SIDE // _CELL
    return (cells - 1) ** 2 * 4 * _BINS + 16 * 59 + 5 * 80 + _THUMB * _THUMB * 3


def unit(rows: npt.NDArray[Any]) -> FloatArray:
    """Rows at unit length; rows of zeros stay."""
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return np.asarray(rows / np.maximum(norms, _EPSILON), np.float32)


def _gradients(values: FloatArray) -> FloatArray:
    """Histograms of gradient directions in cells, each block of four cells at unit length, clipped."""
    across = np.zeros_like(values)
    down = np.zeros_like(values)
    across[:, :, 1:-1] = values[:, :, 2:] - values[:, :, :-2]
    down[:, 1:-1] = values[:, 2:] - values[:, :-2]
    strength = across * across + down * down
    strongest = strength.argmax(axis=3)[..., None]
    across = np.take_along_axis(across, strongest, 3)[..., 0]
    down = np.take_along_axis(down, strongest, 3)[..., 0]
    strength = np.sqrt(across * across + down * down)
    angle = (np.arctan2(down, across) / np.pi) % 1.0 * _BINS
    low = angle.astype(np.int64)
    share = angle - low
    low %= _BINS
    count, cells = len(values), SIDE // _CELL
    cell = np.arange(SIDE) // _CELL
    place = (np.arange(count)[:, None, None] * cells + cell[:, None]) * cells + cell
    size = count * cells * cells * _BINS
    sums = np.bincount((place * _BINS + low).ravel(), (strength * (1 - share)).ravel(), size)
    sums += np.bincount((place * _BINS + (low + 1) % _BINS).ravel(), (strength * share).ravel(), size)
    grid = sums.reshape(count, cells, cells, _BINS)
    blocks = np.concatenate([grid[:, :-1, :-1], grid[:, :-1, 1:], grid[:, 1:, :-1], grid[:, 1:, 1:]], axis=3)
    flat = unit(blocks.reshape(-1, 4 * _BINS))
    clipped: FloatArray = unit(np.minimum(flat, 0.2)).reshape(count, -1)
    return clipped


def _uniform_table() -> npt.NDArray[np.int64]:
    """Number of each pattern of eight bits: 0 .. 57 for those with at most two changes around the circle, else 58."""
    table = np.full(256, 58, np.int64)
    number = 0
    for pattern in range(256):
        turned = ((pattern << 1) | (pattern >> 7)) & 255
        if bin(pattern ^ turned).count("1") <= 2:
            table[pattern] = number
            number += 1
    return table


def _patterns(grey: FloatArray) -> FloatArray:
    """Histograms of local binary patterns in 4 x 4 fields, by square root."""
    inner = grey[:, 1:-1, 1:-1]
    codes = np.zeros(inner.shape, np.uint8)
    steps = ((-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1))
    for bit, (y, x) in enumerate(steps):
        near = grey[:, 1 + y : SIDE - 1 + y, 1 + x : SIDE - 1 + x]
        codes |= (near > inner + 0.008).astype(np.uint8) << np.uint8(bit)
    numbers = _uniform_table()[codes]
    field = np.arange(SIDE - 2) * 4 // (SIDE - 2)
    count = len(grey)
    place = (np.arange(count)[:, None, None] * 4 + field[:, None]) * 4 + field
    sums = np.bincount((place * 59 + numbers).ravel(), minlength=count * 16 * 59)
    return np.asarray(np.sqrt(sums).reshape(count, -1), np.float32)


def _colours(values: FloatArray) -> FloatArray:
    """Histograms of two opponent colours together and of brightness, whole and in quarters, by square root."""
    red, green, blue = values[..., 0], values[..., 1], values[..., 2]
    first = np.clip(((red - green) * 0.5 + 0.5) * 8, 0, 7).astype(np.int64)
    second = np.clip((((red + green) * 0.5 - blue) * 0.5 + 0.5) * 8, 0, 7).astype(np.int64)
    light = np.clip((red + green + blue) / 3.0 * 16, 0, 15).astype(np.int64)
    count = len(values)
    half = np.arange(SIDE) * 2 // SIDE
    place = (np.arange(count)[:, None, None] * 2 + half[:, None]) * 2 + half
    joint = np.bincount((place * 64 + first * 8 + second).ravel(), minlength=count * 4 * 64).reshape(count, 4, 64)
    bright = np.bincount((place * 16 + light).ravel(), minlength=count * 4 * 16).reshape(count, 4, 16)
    quarters = np.concatenate([joint, bright], axis=2)
    every = np.concatenate([quarters, quarters.sum(axis=1, keepdims=True)], axis=1)
    return np.asarray(np.sqrt(every).reshape(count, -1), np.float32)


def _thumbnail(values: FloatArray) -> FloatArray:
    """A small picture, each channel without its mean."""
    edges = np.linspace(0, SIDE, _THUMB + 1).astype(int)
    rows = np.add.reduceat(values, edges[:-1], axis=1)
    small = np.add.reduceat(rows, edges[:-1], axis=2)
    small /= (np.diff(edges)[:, None] * np.diff(edges))[None, :, :, None]
    small = small - small.mean(axis=(1, 2), keepdims=True)
    return np.asarray(small.reshape(len(values), -1), np.float32)
