"""Places where ladybirds sit: leaves with veins, blurred greenery, bark and petals."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFilter

Array = npt.NDArray[np.float32]

# Linear RGB: shade and light of each kind of ground.
_LEAVES = (
    ((0.020, 0.085, 0.012), (0.120, 0.330, 0.040)),
    ((0.035, 0.110, 0.020), (0.230, 0.430, 0.070)),
    ((0.012, 0.060, 0.025), (0.070, 0.220, 0.080)),
    ((0.060, 0.120, 0.015), (0.380, 0.480, 0.090)),
)
_BARK = ((0.040, 0.026, 0.016), (0.240, 0.165, 0.105))
_PETALS = (
    ((0.480, 0.330, 0.020), (0.860, 0.700, 0.120)),
    ((0.420, 0.380, 0.400), (0.840, 0.800, 0.800)),
    ((0.250, 0.120, 0.330), (0.620, 0.430, 0.720)),
)


def _noise(rng: np.random.Generator, width: int, height: int, cells: int, stretch: float = 1.0) -> Array:
    """Smooth noise in about [-2, 2] with ``cells`` bumps along the width."""
    rows = max(round(cells * stretch * height / width), 2)
    small = Image.fromarray(rng.standard_normal((rows, max(cells, 2)), dtype=np.float32))
    return np.asarray(small.resize((width, height), Image.Resampling.BICUBIC), dtype=np.float32)


def _fractal(
    rng: np.random.Generator, width: int, height: int, cells: int, octaves: int, stretch: float = 1.0
) -> Array:
    total = np.zeros((height, width), dtype=np.float32)
    for octave in range(octaves):
        total += _noise(rng, width, height, cells * 2**octave, stretch) * np.float32(0.55**octave)
    return total


def _mix(dark: tuple[float, float, float], bright: tuple[float, float, float], share: Array) -> Array:
    low, high = np.asarray(dark, dtype=np.float32), np.asarray(bright, dtype=np.float32)
    return np.asarray(low + (high - low) * np.clip(share, 0.0, 1.15)[..., None], dtype=np.float32)


def _veins(rng: np.random.Generator, width: int, height: int) -> tuple[Array, Array]:
    """Masks of a leaf's veins (ridges) and of the furrows beside them, shape (height, width), in [0, 1]."""
    size = 2 * max(width, height)
    mask = Image.new("L", (size, size), 0)
    draw = ImageDraw.Draw(mask)
    unit = size / 100.0
    middle = size / 2
    draw.line([(middle, 0), (middle, size)], fill=255, width=max(round(1.3 * unit), 2))
    gap = rng.uniform(7, 11) * unit
    rise = rng.uniform(0.45, 0.8)
    count = int(size / gap) + 8
    for k in range(-2, count):
        for side in (-1, 1):
            start = k * gap + (gap / 2 if side > 0 else 0) + rng.normal(0, 0.4) * unit
            points = [
                (middle + side * s * size / 2, start - size / 2 * rise * s**1.25 + gap * 2)
                for s in np.linspace(0, 1, 14).tolist()
            ]
            draw.line(points, fill=190, width=max(round(0.55 * unit), 1), joint="curve")
            for s in np.linspace(0.06, 0.95, 12).tolist():  # the fine net between two side veins
                x = middle + side * s * size / 2
                y = start - size / 2 * rise * s**1.25 + gap * 2
                draw.line([(x, y), (x + side * rng.normal(1, 1) * unit, y + gap)], fill=75, width=1)
    turned = mask.rotate(float(rng.uniform(0, 360)), Image.Resampling.BILINEAR)
    left = int(rng.uniform(0.18, 0.32) * size)
    upper = int(rng.uniform(0.18, 0.32) * size)
    crop = turned.crop((left, upper, left + width, upper + height))
    ridge = np.asarray(crop.filter(ImageFilter.GaussianBlur(width / 420)), dtype=np.float32) / 255.0
    broad = np.asarray(crop.filter(ImageFilter.GaussianBlur(width / 110)), dtype=np.float32) / 255.0
    return ridge, broad


def _leaf(rng: np.random.Generator, width: int, height: int) -> Array:
    dark, bright = _LEAVES[int(rng.integers(len(_LEAVES)))]
    ridge, broad = _veins(rng, width, height)
    tone = 0.50 + 0.13 * _fractal(rng, width, height, 3, 3) + 0.035 * _fractal(rng, width, height, 70, 2)
    leaf = _mix(dark, bright, tone - 0.28 * broad)
    pale = np.asarray(bright, dtype=np.float32) * 1.1 + 0.05
    leaf += (0.55 * ridge[..., None]) * (pale - leaf)
    if rng.random() < 0.5:  # a few blemishes
        holes = np.clip(_noise(rng, width, height, 9) - 1.55, 0.0, 0.5)[..., None] * 1.6
        leaf += holes * (np.asarray([0.16, 0.11, 0.03], dtype=np.float32) - leaf)
    return leaf


def _greenery(rng: np.random.Generator, width: int, height: int) -> Array:
    dark, bright = _LEAVES[int(rng.integers(len(_LEAVES)))]
    tone = 0.35 + 0.30 * _fractal(rng, width, height, 2, 2)
    scene = _mix(dark, bright, tone)
    for _ in range(int(rng.integers(6, 14))):  # out-of-focus discs of light between the leaves
        x, y = rng.uniform(0, width), rng.uniform(0, height)
        radius = rng.uniform(0.03, 0.10) * width
        xs = np.arange(width, dtype=np.float32)[None, :] - x
        ys = np.arange(height, dtype=np.float32)[:, None] - y
        disc = np.clip((radius - np.hypot(xs, ys)) / (0.12 * radius), 0.0, 1.0)[..., None]
        scene += disc * rng.uniform(0.05, 0.22) * (np.asarray([0.8, 0.95, 0.55], dtype=np.float32) - scene)
    return scene


def _bark(rng: np.random.Generator, width: int, height: int) -> Array:
    rough = _fractal(rng, width, height, 24, 3, stretch=0.18)
    lichen = np.clip(_noise(rng, width, height, 6) - 0.9, 0.0, 1.0)[..., None]
    bark = _mix(_BARK[0], _BARK[1], 0.45 + 0.17 * rough + 0.05 * _fractal(rng, width, height, 90, 2))
    bark += 0.7 * lichen * (np.asarray([0.26, 0.32, 0.20], dtype=np.float32) - bark)
    turned = Image.fromarray((np.clip(bark, 0, 1) * 255).astype(np.uint8))
    if rng.random() < 0.5:
        turned = turned.rotate(90, expand=True).resize((width, height), Image.Resampling.BICUBIC)
    return np.asarray(turned, dtype=np.float32) / 255.0


def _petal(rng: np.random.Generator, width: int, height: int) -> Array:
    dark, bright = _PETALS[int(rng.integers(len(_PETALS)))]
    xs = np.linspace(-1, 1, width, dtype=np.float32)[None, :]
    ys = np.linspace(-1, 1, height, dtype=np.float32)[:, None]
    angle = np.arctan2(ys - rng.uniform(-3, -1.5), xs - rng.uniform(-1.5, 1.5))
    furrows = np.sin(angle * rng.uniform(55, 90) + 0.8 * _noise(rng, width, height, 4))
    tone = 0.62 + 0.13 * _fractal(rng, width, height, 2, 2) + 0.07 * furrows
    return _mix(dark, bright, np.asarray(tone, dtype=np.float32))


def backgrounds(rng: np.random.Generator, width: int, height: int, count: int) -> list[Array]:
    """Draw a stock of backgrounds.

    Parameters
    ----------
    rng : numpy.random.Generator
    width, height : int
        Pixels.
    count : int

    Returns
    -------
    list of float32, shape (height, width, 3)
        Linear RGB in [0, 1].
    """
    kinds = (_leaf, _leaf, _leaf, _greenery, _leaf, _bark, _leaf, _petal)
    stock = []
    for k in range(count):
        picture = kinds[k % len(kinds)](rng, width, height)
        stock.append(np.clip(picture, 0.004, 1.0).astype(np.float32))
    return stock
