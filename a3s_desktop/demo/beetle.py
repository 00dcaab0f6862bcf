"""Draws one ladybird as a camera would see it: three shaded ellipsoids with painted wing cases, legs and a shadow.

The wing cases are an ellipsoid that is cut by rays of a perspective camera, so a spot near the edge narrows and
vanishes when the animal is seen from the side, as it does on photographs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFilter

Array = npt.NDArray[np.float32]

TEXTURE = 288  # pixels along a side of the painted wing cases, enough for a body of 200 pixels
CAMERA_DISTANCE = 7.0  # in half body widths
_RIM = 1.12  # the texture's disc reaches a little below the widest part of the body

# Semi-axes (half width, half length, height) and centre along the body; the unit is the half width of the wing cases.
WINGS = ((1.0, 1.14, 0.80), 0.0)
PRONOTUM = ((0.70, 0.44, 0.46), 1.05)
HEAD = ((0.36, 0.27, 0.30), 1.42)


@dataclass(frozen=True, slots=True)
class Spot:
    """A dark patch on the wing cases, in the coordinates of the texture's unit disc (x to the right, y to the head)."""

    x: float
    y: float
    radius: float
    stretch: float  # length over width, about 1
    angle: float  # radians, of the long axis
    wobble: tuple[float, float, float]  # relative amplitude and phases of the outline's harmonics


@dataclass(frozen=True, slots=True)
class Coat:
    """What identifies an individual.

    Attributes
    ----------
    spots : tuple of Spot
    bridges : tuple of (int, int)
        Pairs of spots that have grown together.
    base, spot : tuple of float
        Linear RGB of the wing cases and of the spots, in [0, 1].
    width : float
        Width of the body relative to the usual one.
    cheeks, crown : float
        Size of the white patches at the sides and at the front of the pronotum, in [0, 1].
    seed : int
        Of the fine grain.
    """

    spots: tuple[Spot, ...]
    bridges: tuple[tuple[int, int], ...]
    base: tuple[float, float, float]
    spot: tuple[float, float, float]
    width: float
    cheeks: float
    crown: float
    seed: int


@dataclass(frozen=True, slots=True)
class Pose:
    """How one photograph sees the animal.

    Attributes
    ----------
    turn, tilt, lean : float
        Radians: in the picture's plane, head down (+) or up (-), and to the right side (+) or the left one.
    scale : float
        Pixels per half body width.
    centre : tuple of float
        Where the body's centre is, in pixels.
    light : tuple of float
        Direction to the light in camera coordinates (right, up, towards the camera).
    hardness : float
        0 = overcast sky, 1 = direct sun.
    """

    turn: float
    tilt: float
    lean: float
    scale: float
    centre: tuple[float, float]
    light: tuple[float, float, float]
    hardness: float


@dataclass(frozen=True, slots=True)
class Painted:
    """An individual's textures, painted once and photographed often."""

    coat: Coat
    wings: Array = field(repr=False)  # (size, size, 3), linear RGB
    pronotum: Array = field(repr=False)
    head: Array = field(repr=False)


@dataclass(frozen=True, slots=True)
class _View:
    pose: Pose
    to_camera: Array  # (3, 3), body to camera
    floor: float  # lowest visible height, relative to the ellipsoid's


def _grid(size: int) -> tuple[Array, Array]:
    line = np.linspace(-_RIM, _RIM, size, dtype=np.float32)
    x, y = np.meshgrid(line, line[::-1])
    return x, y


def _step(values: npt.NDArray[np.floating[Any]], soft: float) -> Array:
    """0 below ``-soft``, 1 above ``soft``, smooth between."""
    t = np.clip(values / (2.0 * soft) + 0.5, 0.0, 1.0)
    return np.asarray(t * t * (3.0 - 2.0 * t), dtype=np.float32)


def _blob(x: Array, y: Array, spot: Spot) -> Array:
    """Signed distance (about) into a spot: positive inside."""
    c, s = np.cos(spot.angle), np.sin(spot.angle)
    dx, dy = x - spot.x, y - spot.y
    u = (c * dx + s * dy) / np.sqrt(spot.stretch)
    v = (c * dy - s * dx) * np.sqrt(spot.stretch)
    amplitude, two, three = spot.wobble
    phi = np.arctan2(v, u)
    radius = spot.radius * (1.0 + amplitude * (np.cos(2 * phi + two) + 0.7 * np.cos(3 * phi + three)))
    return np.asarray(radius - np.hypot(u, v), dtype=np.float32)


def _capsule(x: Array, y: Array, a: Spot, b: Spot) -> Array:
    """Signed distance into the bridge between two spots, slimmer than both."""
    px, py = x - a.x, y - a.y
    bx, by = b.x - a.x, b.y - a.y
    t = np.clip((px * bx + py * by) / max(bx * bx + by * by, 1e-6), 0.0, 1.0)
    return np.asarray(0.5 * min(a.radius, b.radius) - np.hypot(px - t * bx, py - t * by), dtype=np.float32)


def _grain(rng: np.random.Generator, size: int, cells: int) -> Array:
    """Smooth noise, about N(0, 1), with ``cells`` bumps along a side."""
    small = Image.fromarray(rng.standard_normal((cells, cells), dtype=np.float32))
    return np.asarray(small.resize((size, size), Image.Resampling.BICUBIC), dtype=np.float32)


def paint(coat: Coat, size: int = TEXTURE) -> Painted:
    """Paint the textures of an individual.

    Parameters
    ----------
    coat : Coat
    size : int
        Pixels along a side of a texture.

    Returns
    -------
    Painted
    """
    rng = np.random.default_rng(coat.seed)
    x, y = _grid(size)
    rho = np.hypot(x, y)
    base = np.asarray(coat.base, dtype=np.float32)
    ink = np.asarray(coat.spot, dtype=np.float32)

    depth = np.full_like(x, -9.0)
    for spot in coat.spots:
        np.maximum(depth, _blob(x, y, spot), out=depth)
    for a, b in coat.bridges:
        np.maximum(depth, _capsule(x, y, coat.spots[a], coat.spots[b]), out=depth)

    tone = 1.0 + 0.05 * _grain(rng, size, 9) + 0.03 * _grain(rng, size, 60) - 0.22 * np.clip(rho - 0.55, 0, 1)
    wings = base * tone[..., None]
    halo = _step(depth + 0.035, 0.03)[..., None]  # the ground is a little paler around a spot
    wings += 0.16 * halo * (np.sqrt(base) - base)
    pale = _step(0.24 - np.hypot(np.abs(x) - 0.30, (y - 0.93) * 1.6), 0.05)[..., None]  # shoulders beside the pronotum
    wings += 0.35 * pale * (np.float32(0.85) - wings)
    mask = _step(depth, 0.016)[..., None]
    wings += mask * (ink * (1.0 + 0.25 * tone[..., None] - 0.25) - wings)
    seam = _step(0.010 - np.abs(x), 0.007) * 0.75  # where the wing cases meet
    wings *= (1.0 - seam)[..., None]
    ridge = _step(0.022 - np.abs(np.abs(x) - 0.026), 0.018)[..., None]
    wings += 0.06 * ridge * base
    scutellum = _step(np.minimum(y - 0.80, 0.11 - np.abs(x) - 0.55 * (0.98 - y)), 0.02)[..., None]
    wings += scutellum * (ink * 0.8 - wings)
    edge = _step(rho - 1.02, 0.03)[..., None]
    wings += 0.6 * edge * (base * 0.45 - wings)
    return Painted(coat, np.clip(wings, 0.0, 1.0), _paint_pronotum(coat, x, y, ink), _paint_head(x, y))


def _paint_pronotum(coat: Coat, x: Array, y: Array, ink: Array) -> Array:
    white = np.float32(0.80) * np.asarray([1.0, 0.97, 0.86], dtype=np.float32)
    dark = np.minimum(ink, 0.03)
    side = 0.34 + 0.26 * coat.cheeks
    cheeks = _step(side - np.hypot((np.abs(x) - 0.88) * 1.05, (y - 0.12) * 0.75), 0.04)
    front = _step(0.05 + 0.16 * coat.crown - np.abs(y - 0.92), 0.04) * _step(0.75 - np.abs(x), 0.1)
    notch = _step(0.10 + 0.35 * max(coat.crown - 0.5, 0.0) - np.hypot(x * 0.8, y + 0.75), 0.05)
    patch = np.maximum(np.maximum(cheeks, front), notch)[..., None]
    return np.asarray(dark + patch * (white - dark), dtype=np.float32)


def _paint_head(x: Array, y: Array) -> Array:
    dark = np.full((*x.shape, 3), 0.018, dtype=np.float32)
    pale = _step(0.17 - np.hypot(np.abs(x) - 0.42, y - 0.15), 0.04)[..., None]
    return np.asarray(dark + pale * (np.float32(0.7) - dark), dtype=np.float32)


def _rotation(pose: Pose) -> Array:
    """Body to camera."""
    ct, st = np.cos(pose.turn), np.sin(pose.turn)
    cx, sx = np.cos(pose.tilt), np.sin(pose.tilt)
    cy, sy = np.cos(pose.lean), np.sin(pose.lean)
    turn = np.array([[ct, -st, 0], [st, ct, 0], [0, 0, 1]])
    tilt = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    lean = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    return np.asarray(turn @ tilt @ lean, dtype=np.float32)


def _sample(texture: Array, x: Array, y: Array) -> Array:
    """Bilinear look-up at disc coordinates; shape (n, 3)."""
    size = texture.shape[0]
    column = np.clip((x / _RIM + 1.0) * (0.5 * (size - 1)), 0, size - 1.001)
    row = np.clip((1.0 - y / _RIM) * (0.5 * (size - 1)), 0, size - 1.001)
    c0, r0 = column.astype(np.int32), row.astype(np.int32)
    fc, fr = (column - c0)[:, None], (row - r0)[:, None]
    flat = texture.reshape(-1, 3)
    at = r0 * size + c0
    top = flat[at] * (1.0 - fc) + flat[at + 1] * fc
    bottom = flat[at + size] * (1.0 - fc) + flat[at + size + 1] * fc
    return np.asarray(top * (1.0 - fr) + bottom * fr, dtype=np.float32)


def _ellipsoid(canvas: Array, corner: tuple[int, int], axes: Array, centre: Array, texture: Array, view: _View) -> None:
    """Shade one ellipsoid (in body coordinates) over what is on the canvas, whose first pixel is ``corner`` (x, y)."""
    pose, to_camera = view.pose, view.to_camera
    middle = to_camera @ centre
    reach = float(axes.max())
    zoom = pose.scale * CAMERA_DISTANCE / (CAMERA_DISTANCE - float(middle[2]))
    radius = reach * zoom * CAMERA_DISTANCE / (CAMERA_DISTANCE - reach) + 2.0
    px, py = pose.centre[0] + float(middle[0]) * zoom, pose.centre[1] - float(middle[1]) * zoom
    x0, x1 = max(int(px - radius), corner[0]), min(int(px + radius) + 1, corner[0] + canvas.shape[1])
    y0, y1 = max(int(py - radius), corner[1]), min(int(py + radius) + 1, corner[1] + canvas.shape[0])
    if x0 >= x1 or y0 >= y1:
        return
    part = canvas[y0 - corner[1] : y1 - corner[1], x0 - corner[0] : x1 - corner[0]]

    # A ray is origin + t (u, v, -1) in camera coordinates; stretch space so that the ellipsoid becomes the unit ball.
    inverse = (1.0 / axes).astype(np.float32)
    basis = to_camera * inverse  # rows: the camera's axes as seen in that space
    origin = (np.float32(CAMERA_DISTANCE) * to_camera[2] - centre) * inverse
    step = np.float32(1.0 / (pose.scale * CAMERA_DISTANCE))
    u = (np.arange(x0, x1, dtype=np.float32) + np.float32(0.5 - pose.centre[0])) * step
    v = (np.float32(pose.centre[1] - 0.5) - np.arange(y0, y1, dtype=np.float32)) * step
    along_u, along_v = u[:, None] * basis[0], v[:, None] * basis[1] - basis[2]
    a = (along_v**2).sum(axis=1)[:, None] + (along_u**2).sum(axis=1)[None, :] + 2.0 * (along_v @ along_u.T)
    b = (along_v @ origin)[:, None] + (along_u @ origin)[None, :]
    disc = b * b - a * (origin @ origin - np.float32(1.0))
    # The outline is one pixel soft; near it the discriminant grows linearly with the distance.
    soft = np.float32(2.2 * CAMERA_DISTANCE / pose.scale / float(axes[:2].mean()))
    cover = disc / (soft * a) + np.float32(0.5)
    rows, columns = np.nonzero(cover > 0.0)
    if not len(rows):
        return
    cover, a, b, disc = (plane[rows, columns] for plane in (np.minimum(cover, 1.0), a, b, disc))
    t = (-b - np.sqrt(np.maximum(disc, 0.0))) / a
    unit = origin + (along_v[rows] + along_u[columns]) * t[:, None]
    unit /= np.sqrt((unit**2).sum(axis=1, keepdims=True))
    x, y, z = unit.T
    # What lies below the body's rim is hidden in its shade.
    cover = cover * np.clip((z - view.floor) * np.float32(axes[2] * pose.scale / 1.5) + np.float32(0.5), 0.0, 1.0)
    spread = np.sqrt(np.maximum(1.0 - z, 0.0) / np.maximum(x * x + y * y, 1e-9))  # equal-area map of the ball
    colour = _sample(texture, x * spread, y * spread)
    normal = unit * inverse
    normal = (normal / np.sqrt((normal**2).sum(axis=1, keepdims=True))) @ to_camera.T
    colour = _shade(colour, normal, z, pose)
    part[rows, columns] += cover[:, None] * (colour - part[rows, columns])


def _shade(colour: Array, normal: Array, height: Array, pose: Pose) -> Array:
    """Sky and sun on a glossy surface; all arguments of shape (n, 3) or (n,), in linear light."""
    light = np.asarray(pose.light, dtype=np.float32)
    light = light / np.linalg.norm(light)
    half = light + np.asarray([0.0, 0.0, 1.0], dtype=np.float32)
    half /= np.linalg.norm(half)
    sun = np.clip(normal @ light, 0.0, 1.0)
    sky = 0.5 + 0.5 * normal[:, 1] * 0.5 + 0.25 * normal[:, 2]
    contact = np.clip(0.42 + 0.9 * height, 0.3, 1.0)  # less light reaches the rim near the ground
    hard = np.float32(pose.hardness)
    diffuse = (0.62 - 0.22 * hard) * sky * contact + (0.50 + 0.45 * hard) * sun
    shine = np.clip(normal @ half, 0.0, 1.0)
    sharp = shine**4
    sharp *= sharp
    broad = sharp * sharp
    sharp = (broad * broad) ** 4
    gloss = (0.45 + 0.85 * hard) * sharp * np.sqrt(sharp) + (0.05 + 0.02 * hard) * broad
    facing = np.clip(1.0 - normal[:, 2], 0.0, 1.0)
    rim = 0.16 * facing**4 * np.clip(0.4 + 0.6 * normal[:, 1], 0.0, 1.0)
    return np.asarray(colour * diffuse[:, None] + (gloss + rim)[:, None], dtype=np.float32)


def _limbs(coat: Coat, pose: Pose, to_camera: Array, size: int) -> Image.Image:
    """Legs and feelers as a mask of ``size`` pixels around the body's centre."""
    fine = 2
    mask = Image.new("L", (size * fine, size * fine), 0)
    draw = ImageDraw.Draw(mask)
    rng = np.random.default_rng(coat.seed + int(1000 * (pose.turn + 7)))

    def project(point: tuple[float, float, float]) -> tuple[float, float]:
        x, y, z = to_camera @ np.asarray(point, dtype=np.float32)
        zoom = pose.scale * fine * CAMERA_DISTANCE / (CAMERA_DISTANCE - float(z))
        return size * fine / 2 + float(x) * zoom, size * fine / 2 - float(y) * zoom

    def stroke(points: list[tuple[float, float, float]], widths: tuple[float, ...]) -> None:
        flat = [project(point) for point in points]
        for a, b, width in zip(flat, flat[1:], widths, strict=False):
            w = max(width * pose.scale * fine, 1.5)
            draw.line([a, b], fill=255, width=round(w))
            draw.ellipse([b[0] - w / 2, b[1] - w / 2, b[0] + w / 2, b[1] + w / 2], fill=255)

    for side in (-1.0, 1.0):
        for y, reach, back in ((0.78, 0.42, 0.30), (0.05, 0.50, -0.05), (-0.62, 0.42, -0.38)):
            sway = float(rng.normal(0, 0.08))
            edge = coat.width * np.sqrt(max(1.0 - (y / 1.25) ** 2, 0.05))
            knee = (side * (edge + 0.55 * reach), y + 0.5 * back + sway, -0.02)
            foot = (side * (edge + reach), y + 1.5 * back + sway, -0.25)
            toe = (side * (edge + 1.15 * reach), y + 2.0 * back + sway, -0.27)
            stroke([(side * edge * 0.8, y, -0.1), knee, foot, toe], (0.11, 0.075, 0.05))
        bend = float(rng.normal(0, 0.05))
        stroke(
            [(side * 0.20, 1.55, 0.05), (side * (0.36 + bend), 1.78, 0.10), (side * (0.52 + bend), 1.86, 0.06)],
            (0.04, 0.04),
        )
        tip = project((side * (0.55 + bend), 1.87, 0.05))
        w = 0.045 * pose.scale * fine
        draw.ellipse([tip[0] - w, tip[1] - w, tip[0] + w, tip[1] + w], fill=255)
    return mask.reduce(fine)


def photograph(painted: Painted, pose: Pose, background: Array) -> Array:
    """Put an individual on a background.

    Parameters
    ----------
    painted : Painted
    pose : Pose
    background : float32, shape (H, W, 3)
        Linear RGB in [0, 1]; not changed.

    Returns
    -------
    float32, shape (H, W, 3)
        Linear RGB; highlights may exceed 1.
    """
    height, width = background.shape[:2]
    half = int(2.15 * pose.scale) + 2
    cx, cy = pose.centre
    left, top = round(cx) - half, round(cy) - half
    size = 2 * half
    x0, y0, x1, y1 = max(left, 0), max(top, 0), min(left + size, width), min(top + size, height)
    window = (slice(y0, y1), slice(x0, x1))
    inner = (slice(y0 - top, y1 - top), slice(x0 - left, x1 - left))
    to_camera = _rotation(pose)

    picture = background.copy()
    canvas = picture[window]
    limbs_mask = _limbs(painted.coat, pose, to_camera, size)
    canvas *= _shadow(painted.coat, pose, to_camera, limbs_mask)[inner][..., None]
    limbs = (np.asarray(limbs_mask, dtype=np.float32) / 255.0)[inner][..., None]
    canvas += limbs * (np.asarray([0.022, 0.016, 0.013], dtype=np.float32) - canvas)

    parts = ((HEAD, painted.head, -0.6), (PRONOTUM, painted.pronotum, -0.35), (WINGS, painted.wings, -0.22))
    for (axes, forward), texture, floor in parts:
        stretched = np.asarray([axes[0] * painted.coat.width, axes[1], axes[2]], dtype=np.float32)
        centre = np.asarray([0, forward, 0], dtype=np.float32)
        _ellipsoid(canvas, (x0, y0), stretched, centre, texture, _View(pose, to_camera, floor))
    return picture


def _shadow(coat: Coat, pose: Pose, to_camera: Array, limbs: Image.Image) -> Array:
    """Factor of the light that reaches the ground, shape (size, size): a wide soft shadow and a dark contact one."""
    size = limbs.width
    small = 4
    mask = Image.new("L", (size // small + 1, size // small + 1), 0)
    draw = ImageDraw.Draw(mask)
    angle = np.linspace(0, 2 * np.pi, 40)
    ring = np.stack([np.cos(angle) * coat.width * 1.03, np.sin(angle) * 1.45 + 0.15, np.full(40, -0.25)], axis=1)
    flat = ring @ to_camera.T
    light = np.asarray(pose.light) / np.linalg.norm(pose.light)
    shift = -0.32 * light[:2] / max(light[2], 0.45)
    points = (flat[:, :2] + shift) * (pose.scale / small)
    middle = size / small / 2
    draw.polygon([(middle + x, middle - y) for x, y in points.tolist()], fill=255)
    legs = limbs.resize(mask.size, Image.Resampling.BILINEAR)
    mask.paste(150, (round(shift[0] * pose.scale / small), round(-shift[1] * pose.scale / small)), legs)
    soft = mask.filter(ImageFilter.GaussianBlur(max((0.16 - 0.10 * pose.hardness) * pose.scale / small, 0.4)))
    wide = np.asarray(soft.resize((size, size), Image.Resampling.BILINEAR), dtype=np.float32) / 255.0
    return np.asarray(1.0 - (0.50 + 0.28 * pose.hardness) * wide, dtype=np.float32)
