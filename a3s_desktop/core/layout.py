"""Positions of the images on the map: PCA at once, then a neighbour embedding of the pair graph.

The neighbour embedding is t-SNE [1]_ on the thinned pair graph. Its repulsion is a potential, so it is computed by the
particle-mesh method [2]_: every point's charge goes to a grid, one convolution by FFT gives the potential, its gradient
is read back. One iteration costs O(N + E + cells log cells), needs nothing but numpy, and is free of random samples.
The layout starts from a layout of landmarks (groups of near images), which keeps related groups together, where an
embedding of the whole graph would scatter them.

References
----------
.. [1] L. van der Maaten, G. Hinton, "Visualizing data using t-SNE", JMLR 9, 2008.
.. [2] G. Linderman et al., "Fast interpolation-based t-SNE", Nature Methods 16, 2019 (grid and FFT);
       R. Hockney, J. Eastwood, "Computer simulation using particles", 1981 (cloud-in-cell, force by differences).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.runs import run_starts
from a3s_desktop.core.types import FloatArray, IndexArray, PairGraph
from a3s_desktop.i18n import tr
from a3s_desktop.task import Task

_Float = npt.NDArray[np.floating[Any]]

NEIGHBORS = 15  # edges kept for an image: the strongest ones; more only cost time
WEIGHT_FLOOR = 0.05  # attraction of an edge that the calibration does not believe in, so that single images stay near
DIRECT = 2000  # up to this many images no landmarks are needed
ROOM = 0.35  # largest root mean square radius, in units of the square root of the number of images
CELL = 0.5  # width of a grid cell; the repulsion's own scale is 1
_BLOCK = 1 << 20  # edges that are looked at in one go
MAX_CELLS = 480  # of the grid's side; wider layouts get wider cells


@dataclass(frozen=True, slots=True)
class _Phase:
    """A stretch of the descent."""

    iterations: int
    exaggeration: float = 1.0  # of the attraction; at first more, so that groups form before they spread
    apart: float = 0.0  # neighbours nearer than this repel, at the end, so that a group is a disc and not a dot


_LAST = 0.5
_DIRECT = (_Phase(150, 12.0), _Phase(250), _Phase(100, apart=_LAST))
_COARSE = (_Phase(150, 12.0), _Phase(250))
_REFINE = (_Phase(60, 4.0), _Phase(80), _Phase(60, apart=_LAST))


@dataclass(frozen=True, slots=True)
class _Edges:
    """Symmetric weighted edges, sorted by row; the weights sum to 1."""

    rows: IndexArray
    columns: IndexArray
    weights: FloatArray
    count: int  # of nodes


def pca_layout(features: npt.NDArray[Any]) -> FloatArray:
    """The first two principal components, as a first picture.

    Parameters
    ----------
    features : float, shape (N, D)
        May be memory-mapped; it is read in blocks of rows.

    Returns
    -------
    float32, shape (N, 2)
        Centred, with root mean square radius 1 (all zero where the rows are all equal). Deterministic, signs included.
    """
    n, width = features.shape
    if n < 2 or width == 0:
        return np.zeros((n, 2), np.float32)
    # Wide features: a sample of the rows spans the leading directions well enough for a first picture.
    rows = np.arange(n) if width <= 2048 else np.unique(np.linspace(0, n - 1, min(n, 2048)).astype(np.int64))
    mean = np.zeros(width)
    for block in np.array_split(rows, len(rows) // 8192 + 1):
        mean += features[block].sum(axis=0, dtype=np.float64)
    mean /= len(rows)
    axes = _principal_axes(features, rows, mean)
    points = np.zeros((n, 2))
    for block in np.array_split(np.arange(n), n // 8192 + 1):
        points[block, : axes.shape[1]] = (features[block] - mean) @ axes
    return _unit_radius(points)


def graph_layout(graph: PairGraph, start: npt.NDArray[Any], seed: int, task: Task) -> FloatArray:
    """Neighbour embedding of the pair graph, turned and scaled to lie as near as possible to ``start``.

    Parameters
    ----------
    graph : PairGraph
        Its log-odds weigh the edges.
    start : float, shape (N, 2)
        What is on the screen now (the PCA); gives the large-scale arrangement and the orientation.
    seed : int
        Equal seeds give equal layouts.
    task : Task
        Progress ("Drawing the map"), cancellation.

    Returns
    -------
    float32, shape (N, 2)
        Finite, centred.

    Raises
    ------
    Cancelled
    """
    task.stage(tr("Drawing the map"))
    n = graph.n
    if n < 4:
        return _unit_radius(start)
    rng = np.random.default_rng(seed)
    edges = _strongest_edges(graph, NEIGHBORS, task)
    if not len(edges.rows):  # nothing known that the start does not show already
        return align(start, start)
    origin = _unit_radius(start)
    if n <= DIRECT:
        first = origin.T * 0.1 + rng.normal(0.0, 0.001, (2, n))
        points = _embed(edges, first, _DIRECT, task, (0.0, 1.0))
        return align(points.T, start)
    owner = _landmarks(edges, min(max(n // 10, 500), 2000), rng, task)
    coarse = _contract(edges, owner)
    sizes = np.bincount(owner, minlength=coarse.count)
    centres = np.stack([np.bincount(owner, origin[:, axis], coarse.count) / sizes for axis in (0, 1)])
    first = centres * 0.1 + rng.normal(0.0, 0.001, centres.shape)
    placed = _embed(coarse, first, _COARSE, task, (0.02, 0.15))
    spread = np.sqrt(n / coarse.count)  # room for the members of each landmark
    first = placed[:, owner] * spread + rng.normal(0.0, 0.3 * spread, (2, n))
    points = _embed(edges, first, _REFINE, task, (0.15, 1.0))
    return align(points.T, start)


def align(points: npt.NDArray[Any], reference: npt.NDArray[Any]) -> FloatArray:
    """Turn, mirror, move and scale a layout to lie as near as possible to another one of the same images.

    The turn is that of the orthogonal Procrustes problem. The scale makes the two equally large: the least-squares
    scale would shrink a layout that differs much from the reference.

    Parameters
    ----------
    points, reference : float, shape (N, 2)

    Returns
    -------
    float32, shape (N, 2)
    """
    moved = np.asarray(points, np.float64)
    fixed = np.asarray(reference, np.float64)
    if len(moved) == 0:
        return np.zeros((0, 2), np.float32)
    centre = fixed.mean(axis=0)
    radius = float(np.sqrt(((fixed - centre) ** 2).sum(axis=1).mean()))
    moved = _unit_radius(moved).astype(np.float64)
    u, _, vt = np.linalg.svd(moved.T @ (fixed - centre))
    return np.asarray(moved @ (u @ vt) * (radius or 1.0) + centre, np.float32)


def _unit_radius(points: npt.NDArray[Any]) -> FloatArray:
    centred = np.asarray(points, np.float64) - np.mean(points, axis=0, dtype=np.float64)
    radius = float(np.sqrt((centred**2).sum(axis=1).mean()))
    extent = float(np.abs(points).max()) if len(points) else 0.0
    if radius <= 1e-9 * extent or radius == 0.0:  # equal but for rounding
        return np.zeros(np.shape(points), np.float32)
    return np.asarray(centred / radius, np.float32)


def _principal_axes(features: npt.NDArray[Any], rows: IndexArray, mean: npt.NDArray[np.float64]) -> _Float:
    """Leading one or two directions, shape (D, 1 or 2)."""
    width = len(mean)
    if width <= 2048:
        scatter = np.zeros((width, width))
        for block in np.array_split(rows, len(rows) // 8192 + 1):
            centred = features[block] - mean
            scatter += centred.T @ centred
        axes = np.linalg.eigh(scatter)[1][:, ::-1][:, :2]
    else:
        centred = np.asarray(features[rows] - mean, np.float32)
        _, vectors = np.linalg.eigh(centred @ centred.T)
        axes = centred.T @ vectors[:, ::-1][:, :2]
        axes = axes / np.maximum(np.linalg.norm(axes, axis=0), np.finfo(np.float32).tiny)
    # The sign of an eigenvector is free; this choice makes the picture the same everywhere.
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    return np.asarray(axes * np.where(signs == 0, 1, signs), np.float64)


def _strongest_edges(graph: PairGraph, count: int, task: Task) -> _Edges:
    """The ``count`` most probable edges of every image (ties: nearest first), made symmetric."""
    n = graph.n
    scale = graph.distances.mean(axis=1, keepdims=True) if graph.distances.size else np.ones((len(graph.distances), 1))
    scale = np.where(scale > 0, scale, 1)
    bounds = _row_blocks(graph.indptr)

    def length(edges: slice) -> _Float:
        """Mean distance over the views, in units of each view's mean."""
        if not len(graph.distances):
            return np.zeros(edges.stop - edges.start)
        return np.asarray((graph.distances[:, edges] / scale).mean(axis=0), np.float64)

    spans = [slice(int(graph.indptr[a]), int(graph.indptr[b])) for a, b in pairwise(bounds)]
    far = _range(length(edges) for edges in spans)
    doubtful = _range(-graph.logodds[edges].astype(np.float64) for edges in spans)
    kept: list[tuple[IndexArray, IndexArray, _Float]] = []
    for (first, last), edges in zip(pairwise(bounds), spans, strict=True):
        task.check()
        degrees = np.diff(graph.indptr[first : last + 1])
        rows = np.repeat(np.arange(first, last), degrees)
        logodds = graph.logodds[edges].astype(np.float64)
        # One key for row, probability (in 4,096 steps) and distance: sorting by three keys takes six times as long.
        doubt = np.rint(_share(-logodds, *doubtful) * 4095)
        order = np.argsort(rows + (doubt + 0.999 * _share(length(edges), *far)) / 4096, kind="stable")
        rank = np.arange(len(rows)) - np.repeat(graph.indptr[first:last] - edges.start, degrees)
        best = order[rank < count]
        weights = WEIGHT_FLOOR + 1.0 / (1.0 + np.exp(-logodds[best]))
        kept.append((rows[best], graph.indices[edges][best].astype(np.int64), weights))
    left, right, weights = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    kept.clear()
    task.check()
    return _symmetric(left, right, weights, n)


def _row_blocks(indptr: IndexArray) -> list[int]:
    """Bounds of blocks of rows with some `_BLOCK` edges each: memory is bounded, and so is each call."""
    block = indptr[:-1] // _BLOCK
    return [*run_starts(block).tolist(), len(indptr) - 1]


def _range(parts: Iterable[_Float]) -> tuple[float, float]:
    """Least and greatest of some values; (0, 0) where there are none."""
    ends = [(float(part.min()), float(part.max())) for part in parts if len(part)]
    return (min(low for low, _ in ends), max(high for _, high in ends)) if ends else (0.0, 0.0)


def _share(values: _Float, low: float, high: float) -> _Float:
    """Values from ``low`` to ``high`` moved and scaled to [0, 1]."""
    return np.asarray((values - low) / (high - low if high > low else 1))


def _sum_by_key(keys: IndexArray, weights: _Float) -> tuple[IndexArray, _Float]:
    """The distinct keys, ascending, and the sum of the weights of each.

    Like ``numpy.unique``, which would hold the interpreter's lock, and thus the window, for a fifth of a second.
    """
    if not len(keys):
        return keys, np.zeros(0)
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = run_starts(ordered)
    return ordered[starts], np.asarray(np.add.reduceat(weights[order].astype(np.float64), starts))


def _symmetric(left: IndexArray, right: IndexArray, weights: _Float, n: int) -> _Edges:
    keys, summed = _sum_by_key(np.concatenate([left * n + right, right * n + left]), np.concatenate([weights, weights]))
    total = summed.sum()
    return _Edges(keys // n, keys % n, np.asarray(summed / (total if total > 0 else 1), np.float32), n)


def _landmarks(edges: _Edges, count: int, rng: np.random.Generator, task: Task) -> IndexArray:
    """Group number of every node: the landmark it is best connected to; parts without one get their own.

    A node joins its neighbour with the highest product of edge weights along the way, in rounds.
    """
    n = edges.count
    score = np.zeros(n)
    owner = np.full(n, -1, np.int64)
    seeds = np.sort(rng.permutation(n)[:count])
    score[seeds], owner[seeds] = 1.0, seeds
    starts = run_starts(edges.rows)
    heads = edges.rows[starts]
    relative = edges.weights / edges.weights.max() * 0.99 if len(edges.weights) else edges.weights
    for _ in range(64):
        task.check()
        if not len(starts):
            break
        offer = score[edges.columns] * relative
        best = np.maximum.reduceat(offer, starts)
        gains = best > score[heads]
        if not gains.any():
            break
        first = np.full(n, -1, np.int64)
        hit = np.flatnonzero(offer == np.repeat(best, np.diff(starts, append=len(offer))))
        first[edges.rows[hit][::-1]] = hit[::-1]
        winners = heads[gains]
        owner[winners] = owner[edges.columns[first[winners]]]
        score[winners] = best[gains]
    lost = np.flatnonzero(owner < 0)
    owner[lost] = lost
    for _ in range(64):  # the rest: the smallest index of each connected part
        if not len(lost) or not len(starts):
            break
        lowest = owner.copy()
        lowest[heads] = np.minimum(lowest[heads], np.minimum.reduceat(owner[edges.columns], starts))
        if np.array_equal(lowest[lost], owner[lost]):
            break
        owner[lost] = lowest[lost]
    return np.unique(owner, return_inverse=True)[1].astype(np.int64)


def _contract(edges: _Edges, owner: IndexArray) -> _Edges:
    """The graph of the groups: weights between two groups added up, each group then counted alike."""
    count = int(owner.max()) + 1
    left, right = owner[edges.rows], owner[edges.columns]
    between = left != right
    keys, summed = _sum_by_key(left[between] * count + right[between], edges.weights[between])
    rows = keys // count
    total = np.bincount(rows, summed, count)
    return _symmetric(rows, keys % count, summed / np.where(total > 0, total, 1)[rows], count)


def _embed(
    edges: _Edges,
    first: _Float,
    phases: tuple[_Phase, ...],
    task: Task,
    span: tuple[float, float],
) -> FloatArray:
    """Gradient descent with momentum and gains on t-SNE's loss.

    Positions have shape (2, N); ``span`` is the share of the task's stage that this is.
    """
    n = edges.count
    points = np.ascontiguousarray(first, np.float32)
    mesh = _Mesh()
    velocity = np.zeros_like(points)
    gains = np.ones_like(points)
    rate = np.float32(n / 6.0)
    room = np.float32(ROOM * n**0.5)
    total = sum(phase.iterations for phase in phases)
    done = 0
    for phase in phases:
        momentum = np.float32(0.5 if phase.exaggeration > 4 else 0.8)
        for _ in range(phase.iterations):
            pull = _attraction(edges, points, phase.apart)
            push, partition = mesh.repulsion(points)
            gradient = np.float32(phase.exaggeration) * pull - push / np.float32(max(partition, 1e-12))
            agree = (gradient > 0) == (velocity > 0)
            gains = np.where(agree, gains * np.float32(0.8), gains + np.float32(0.2)).clip(0.05, None)
            velocity = momentum * velocity - rate * gains * gradient
            length = np.sqrt((velocity**2).sum(axis=0))
            velocity *= np.minimum(np.float32(1), np.float32(5) / np.maximum(length, np.float32(1e-12)))
            points = points + velocity
            points -= points.mean(axis=1, keepdims=True)
            radius = np.sqrt((points**2).sum(axis=0).mean())
            if radius > room:  # a soft wall: groups that share no edge would drift apart for ever and shrink to dots
                points *= (room / radius) ** np.float32(0.2)
            done += 1
            task.step(span[0] + (span[1] - span[0]) * done / total)
    return points


def _attraction(edges: _Edges, points: FloatArray, apart: float) -> FloatArray:
    x, y = points
    dx = x[edges.rows] - x[edges.columns]
    dy = y[edges.rows] - y[edges.columns]
    squares = dx * dx + dy * dy
    force = edges.weights / (1 + squares)
    if apart > 0:
        force *= 1 - np.float32(apart) / np.sqrt(np.maximum(squares, np.float32(1e-4 * apart * apart)))
    n = edges.count
    pull = (np.bincount(edges.rows, force * dx, n), np.bincount(edges.rows, force * dy, n))
    return np.asarray(pull, np.float32)


class _Mesh:
    """Repulsion by the particle-mesh method; keeps the kernel's transform between calls."""

    def __init__(self) -> None:
        self._key = (0, 0.0)
        self._transform: npt.NDArray[np.complexfloating[Any]] = np.zeros((0, 0), np.complex64)
        self._own = (0.0, 0.0, 0.0)  # the kernel between the corners of one cell: none, one, two steps apart

    def repulsion(self, points: FloatArray) -> tuple[FloatArray, float]:
        """Force ``sum_j (y_i - y_j) / (1 + d_ij^2)^2``, shape (2, N), and ``sum_(i != j) 1 / (1 + d_ij^2)``."""
        low = points.min(axis=1)
        extent = float((points.max(axis=1) - low).max())
        most = min(MAX_CELLS, 64 + int(6 * points.shape[1] ** 0.5))
        cell = CELL
        while extent / cell > most - 8:
            cell *= 1.25
        while extent / cell < 16 and cell > 0.01:
            cell /= 2
        side = -(-(int(extent / cell) + 8) // 32) * 32
        self._prepare(side, cell)
        at = (points - low[:, None]) / np.float32(cell) + np.float32(3)
        base = at.astype(np.int32)
        fx, fy = at - base
        corner = base[0] * side + base[1]
        shares = ((1 - fx) * (1 - fy), (1 - fx) * fy, fx * (1 - fy), fx * fy)
        places = (corner, corner + 1, corner + side, corner + side + 1)
        density = np.zeros(side * side)
        for place, share in zip(places, shares, strict=True):
            density += np.bincount(place, share, side * side)
        wide = (2 * side, 2 * side)
        spectrum = np.fft.rfft2(density.reshape(side, side).astype(np.float32), wide)
        potential = np.fft.irfft2(spectrum * self._transform, wide)[:side, :side]
        fields = np.zeros((3, side, side), np.float32)
        fields[0] = potential
        # The force is minus half the potential's gradient (differences of the fourth order).
        near, far = np.float32(-8 / (24 * cell)), np.float32(1 / (24 * cell))
        fields[1, 2:-2] = (potential[3:-1] - potential[1:-3]) * near + (potential[4:] - potential[:-4]) * far
        fields[2, :, 2:-2] = (potential[:, 3:-1] - potential[:, 1:-3]) * near
        fields[2, :, 2:-2] += (potential[:, 4:] - potential[:, :-4]) * far
        flat = fields.reshape(3, -1)
        values = np.zeros((3, points.shape[1]), np.float32)
        for place, share in zip(places, shares, strict=True):
            values += share * flat[:, place]
        # What every point's charge, spread over four corners, gives to itself.
        (nx, ny), (cx, cy) = ((1 - f) ** 2 + f**2 for f in (fx, fy)), (2 * f * (1 - f) for f in (fx, fy))
        own = nx * ny * self._own[0] + (cx * ny + nx * cy) * self._own[1] + cx * cy * self._own[2]
        return values[1:], float((values[0] - own).sum(dtype=np.float64))

    def _prepare(self, side: int, cell: float) -> None:
        if self._key == (side, cell):
            return
        wide = 2 * side
        away = np.minimum(np.arange(wide), wide - np.arange(wide)) * cell
        kernel = np.fft.rfft2(1.0 / (1.0 + away[:, None] ** 2 + away[None, :] ** 2))
        # Spreading to and reading from corners blurs twice; the kernel is sharpened by as much beforehand.
        blur_x, blur_y = np.sinc(np.fft.fftfreq(wide)) ** 4, np.sinc(np.fft.rfftfreq(wide)) ** 4
        kernel /= blur_x[:, None] * blur_y[None, :]
        sharp = np.fft.irfft2(kernel, (wide, wide))
        self._own = float(sharp[0, 0]), float(sharp[0, 1]), float(sharp[1, 1])
        self._transform = kernel.astype(np.complex64)
        self._key = (side, cell)
