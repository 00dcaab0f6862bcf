"""How photographs are taken: pose, place, light, and what the camera makes of it."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageFilter

from a3s_desktop.demo.beetle import Pose

Array = npt.NDArray[np.float32]


def pose(rng: np.random.Generator, width: int, height: int) -> Pose:
    """Draw how a photograph of ``width`` x ``height`` pixels is taken."""
    scale = float(rng.uniform(0.215, 0.285)) * height
    azimuth = rng.uniform(0, 2 * math.pi)
    slant = rng.uniform(0.25, 0.95)
    return Pose(
        turn=float(np.clip(rng.normal(0.0, 0.45), -1.2, 1.2)),
        tilt=float(np.clip(rng.normal(0.05, 0.22), -0.45, 0.5)),
        lean=float(np.clip(rng.normal(0.0, 0.26), -0.6, 0.6)),
        scale=scale,
        centre=(
            float(width / 2 + rng.normal(0, 0.045) * width),
            float(height / 2 + rng.normal(0.03, 0.03) * height),
        ),
        light=(float(slant * math.cos(azimuth)), float(0.35 + 0.5 * abs(slant * math.sin(azimuth))), 1.0),
        hardness=float(rng.beta(1.4, 1.6)),
    )


def backdrop(rng: np.random.Generator, stock: list[Array], width: int, height: int) -> Array:
    """A part of one of the stock's pictures, mirrored or turned over, more or less in focus."""
    picture = stock[int(rng.integers(len(stock)))]
    top = int(rng.integers(picture.shape[0] - height + 1))
    left = int(rng.integers(picture.shape[1] - width + 1))
    part = picture[top : top + height, left : left + width]
    if rng.random() < 0.5:
        part = part[:, ::-1]
    if rng.random() < 0.5:
        part = part[::-1]
    return np.ascontiguousarray(part)


def develop(rng: np.random.Generator, picture: Array) -> Image.Image:
    """What the camera makes of the light: exposure, white balance, vignette, blur, noise, tone curve.

    Parameters
    ----------
    rng : numpy.random.Generator
    picture : float32, shape (H, W, 3)
        Linear RGB.

    Returns
    -------
    PIL.Image.Image
        RGB, 8 bits.
    """
    height, width = picture.shape[:2]
    warm = rng.normal(0.0, 0.09)
    green = rng.normal(0.0, 0.03)
    gain = np.asarray([1 + warm, 1 + green, 1 - warm], dtype=np.float32) * np.float32(np.exp(rng.normal(0.12, 0.20)))
    xs = np.linspace(-1, 1, width, dtype=np.float32)[None, :]
    ys = np.linspace(-1, 1, height, dtype=np.float32)[:, None]
    vignette = 1.0 - np.float32(rng.uniform(0.05, 0.22)) * (xs * xs + ys * ys)
    light = picture * vignette[..., None] * gain
    light /= 1.0 + 0.18 * light  # highlights roll off instead of clipping
    tone = np.sqrt(np.clip(light, 0.0, 1.0))  # near the display's curve, and far cheaper than a power
    grain = float(rng.uniform(0.004, 0.018))
    small = rng.standard_normal((height, width, 1), dtype=np.float32)
    tone += grain * small
    np.clip(tone, 0.0, 1.0, out=tone)
    image = Image.fromarray((tone * np.float32(255.0) + np.float32(0.5)).astype(np.uint8))
    blur = float(rng.gamma(1.6, 0.35)) * height / 360.0
    if blur > 0.25:
        image = image.filter(ImageFilter.GaussianBlur(min(blur, 2.0 * height / 360.0)))
    return image
