"""Animals that differ by their spots, and their looks as numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from a3s_desktop.demo.beetle import Coat, Spot

Array = npt.NDArray[np.float32]

# Where spots can be on the right wing case (mirrored on the left one), in the texture's disc; shared by all
# individuals as by the animals of one species. The last one lies on the seam.
SITES = (
    (0.24, 0.64),
    (0.56, 0.52),
    (0.30, 0.24),
    (0.66, 0.16),
    (0.88, 0.02),
    (0.26, -0.16),
    (0.58, -0.22),
    (0.80, -0.40),
    (0.30, -0.54),
    (0.58, -0.62),
    (0.22, -0.84),
)
SEAM = (0.0, 0.70)
# Morphs: which sites carry a spot, and how large spots are.
MORPHS: tuple[tuple[tuple[int, ...], float], ...] = (
    ((2, 6), 0.19),
    ((1, 5, 7), 0.17),
    ((0, 3, 5, 9), 0.13),
    ((1, 2, 3, 6, 8), 0.12),
    ((0, 1, 3, 5, 6, 7, 8), 0.10),
    ((0, 1, 2, 3, 4, 5, 6, 7, 8, 9), 0.085),
    ((3, 8), 0.23),
    ((0, 4, 6, 10), 0.14),
)
GROUNDS = (
    (0.62, 0.030, 0.012),
    (0.70, 0.090, 0.012),
    (0.76, 0.200, 0.016),
    (0.48, 0.016, 0.014),
    (0.80, 0.330, 0.030),
)


@dataclass(frozen=True, slots=True)
class Individual:
    """An animal: how it looks, and its looks as numbers.

    Attributes
    ----------
    coat : Coat
    pattern : float32, shape (P,)
        Standardised description of the coat: size and place of every possible spot on both sides, colours, pronotum.
    """

    coat: Coat
    pattern: Array


def individuals(rng: np.random.Generator, count: int) -> list[Individual]:
    """Draw animals. About three of them at a time vary one morph, as siblings do, so that some pairs are hard.

    Parameters
    ----------
    rng : numpy.random.Generator
    count : int

    Returns
    -------
    list of Individual
    """
    found: list[Individual] = []
    family: tuple[tuple[int, ...], float, tuple[float, float, float]] | None = None
    for k in range(count):
        if family is None or k % 3 == 0:
            sites, size = MORPHS[(k // 3) % len(MORPHS)]
            extra = tuple(s for s in range(len(SITES)) if s not in sites and rng.random() < 0.10)
            ground = GROUNDS[int(rng.integers(len(GROUNDS)))]
            family = (tuple(sorted(sites + extra)), size, ground)
        found.append(_individual(rng, *family))
    return found


def _individual(
    rng: np.random.Generator, sites: tuple[int, ...], size: float, ground: tuple[float, float, float]
) -> Individual:
    chosen = set(sites)
    for site in range(len(SITES)):  # what sets siblings apart: a spot more, a spot less
        if site in chosen and len(chosen) > 2 and rng.random() < 0.16:
            chosen.remove(site)
        elif site not in chosen and rng.random() < 0.10:
            chosen.add(site)
    spots: list[Spot] = []
    numbers: list[float] = []
    place: dict[tuple[int, int], int] = {}
    for site, (x, y) in enumerate(SITES):
        radius = size * float(np.exp(rng.normal(0.0, 0.24)))
        dx, dy = rng.normal(0.0, 0.042, 2)
        stretch = float(np.exp(rng.normal(0.0, 0.22)))
        angle = float(rng.uniform(0, math.pi))
        for side in (-1, 1):
            # Left and right are alike but not equal; now and then a spot is missing on one side.
            r = radius * float(np.exp(rng.normal(0.0, 0.07)))
            sx, sy = x + dx + rng.normal(0, 0.012), y + dy + rng.normal(0, 0.012)
            there = site in chosen and rng.random() > 0.05 and r > 0.03
            if there:
                amplitude, two, three = rng.uniform((0.02, 0, 0), (0.12, 2 * math.pi, 2 * math.pi)).tolist()
                tilt = angle if side > 0 else math.pi - angle
                place[site, side] = len(spots)
                spots.append(Spot(side * sx, sy, r, stretch, tilt, (amplitude, two, three)))
            weight = r / 0.12 if there else 0.0
            numbers += [weight, weight * (sx - x) / 0.05, weight * (sy - y) / 0.05]
    seam = float(rng.uniform(0.06, 0.13)) if rng.random() < 0.45 else 0.0
    if seam:
        spots.append(Spot(*SEAM, seam, 1.3, math.pi / 2, (0.05, 0.0, 1.0)))
    bridges = []
    for a, b in ((0, 1), (2, 3), (5, 6), (8, 9), (3, 4), (6, 7)):
        for side in (-1, 1):
            if (a, side) in place and (b, side) in place and rng.random() < 0.14:
                bridges.append((place[a, side], place[b, side]))
                numbers[6 * a + (3 if side > 0 else 0)] += 0.6
    base = np.clip(np.asarray(ground) * np.exp(rng.normal(0.0, 0.16, 3)), 0.01, 0.85)
    ink = (0.016, 0.011, 0.010) if rng.random() < 0.85 else (0.050, 0.018, 0.010)
    coat = Coat(
        spots=tuple(spots),
        bridges=tuple(bridges),
        base=(float(base[0]), float(base[1]), float(base[2])),
        spot=ink,
        width=float(rng.uniform(0.94, 1.06)),
        cheeks=float(rng.uniform(0, 1)),
        crown=float(rng.uniform(0, 1)),
        seed=int(rng.integers(2**31)),
    )
    look = [seam / 0.1, *(2.0 * np.log(base / 0.2)).tolist(), 2 * coat.cheeks, 2 * coat.crown, 10 * (coat.width - 1)]
    return Individual(coat, np.asarray(numbers + look, dtype=np.float32))
