"""From distances to probabilities: pseudo labels and isotonic regression (paper: adaptive initialization, step 2).

Both are written in numpy here rather than taken from scikit-learn: importing that takes longer than all of stage one on
two thousand images, its K-means cannot be cancelled, and its result depends on the number of threads. The tests compare
with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.neighbors import NearestFinder, block_rows, pair_distances, scaled
from a3s_desktop.core.runs import run_starts
from a3s_desktop.core.types import FloatArray, IndexArray, IntArray
from a3s_desktop.task import Task

CLIP = 1e-4  # probabilities stay in [CLIP, 1 - CLIP]
_ITERATIONS = 40
_FIT_PER_CENTRE = 64  # samples per centre that K-means is fitted on, where there are more
_SEED_PER_CENTRE = 16  # samples per centre among which its first centres are drawn
_SEED_AT_LEAST = 2000
_BLOCK_PAIRS = 1_000_000
_MOST_PAIRS = 4_000_000  # a curve is learnt from; of more, evenly spaced ones tell the same


def default_pseudo_labels(n: int) -> int:
    """K0, the number of pseudo labels where the user gives none: 1.5 sqrt(N), but at most half the samples."""
    return max(1, min(round(1.5 * float(np.sqrt(n))), max(2, n // 2), n))


def pseudo_labels(features: FloatArray, k: int, seed: int, task: Task) -> IntArray:
    """K-means (Lloyd's iterations from k-means++ centres) labels of the samples.

    With more than 64 samples per centre it is fitted on a random part and the rest are assigned to the centres.

    Parameters
    ----------
    features : float32, shape (N, D)
    k : int
        Number of centres, 1 <= k <= N. Centres that lose all their samples are left out.
    seed : int
    task : Task

    Returns
    -------
    int32, shape (N,)
        Index of the nearest centre of each sample (the lower one of two equally near).

    Raises
    ------
    Cancelled
        The user cancelled the task.
    """
    n = len(features)
    points, _ = scaled(features)
    if k >= n:
        return np.arange(n, dtype=np.int32)
    if k <= 1:
        return np.zeros(n, np.int32)
    rng = np.random.default_rng(seed)
    part = points
    if n > _FIT_PER_CENTRE * k:
        part = points[np.sort(rng.choice(n, _FIT_PER_CENTRE * k, replace=False))].astype(np.float32, copy=False)
    middle = points.mean(axis=0, dtype=np.float64).astype(np.float32)
    centres = _first_centres(part, k, rng, task)
    labels = np.full(len(part), -1, np.int32)
    for iteration in range(_ITERATIONS):
        task.step(0.3 + 0.6 * iteration / _ITERATIONS)
        before = labels
        labels = _assign(part, centres, middle, task, 0.3 + 0.6 * iteration / _ITERATIONS)
        if np.count_nonzero(labels != before) * 1000 <= len(part):
            break
        centres = _means(part, labels)
    return labels if part is points else _assign(points, centres, middle, task, 0.9)


def _first_centres(points: FloatArray, k: int, rng: np.random.Generator, task: Task) -> FloatArray:
    """Greedy k-means++ (Arthur and Vassilvitskii 2007): of a few draws in proportion to the squared distance, the best.

    Squared distances come from float64 products rounded to float32, which absorbs the order of summation.
    """
    size = max(_SEED_PER_CENTRE * k, _SEED_AT_LEAST)
    if len(points) > size:
        points = points[np.sort(rng.choice(len(points), size, replace=False))]
    table = points.astype(np.float64)
    table -= table.mean(axis=0)
    norm2 = np.einsum("nd,nd->n", table, table)
    zero = 1e-12 * float(norm2.max())

    def squared(candidates: IndexArray) -> npt.NDArray[np.float32]:
        result = norm2[candidates, None] + norm2 - 2.0 * (table[candidates] @ table.T)
        result[result <= zero] = 0.0
        return np.asarray(result, np.float32)

    trials = 2 + int(np.log(k))
    chosen = [int(rng.integers(len(points)))]
    nearest = squared(np.array(chosen))[0]
    for count in range(1, k):
        if count % 16 == 0:
            task.step(0.3 * count / k)
        total = np.cumsum(nearest, dtype=np.float64)
        if total[-1] == 0.0:  # fewer distinct samples than centres
            break
        drawn = np.searchsorted(total, rng.random(trials) * total[-1], "right")
        drawn = np.minimum(drawn, len(points) - 1)
        after = np.minimum(squared(drawn), nearest)
        best = int(np.argmin(after.sum(axis=1, dtype=np.float64)))
        chosen.append(int(drawn[best]))
        nearest = after[best]
    return np.take(points, chosen, axis=0)


def _assign(points: FloatArray, centres: FloatArray, middle: FloatArray, task: Task, fraction: float) -> IntArray:
    finder = NearestFinder(centres, middle)
    labels = np.empty(len(points), np.int32)
    step = block_rows(len(centres), points.shape[1])
    for a in range(0, len(points), step):
        task.step(fraction)
        rows, columns = finder.candidates(np.asarray(points[a : a + step], np.float32), 1)
        first = run_starts(rows)
        count = np.diff(first, append=len(rows))
        best = columns[first]
        if len(first) < len(rows):  # near ties are decided by exact distances
            tied = np.repeat(count > 1, count)
            rows, columns = rows[tied], columns[tied]
            exact = pair_distances(points, rows + a, centres, columns)
            order = np.lexsort((columns, exact, rows))
            best[count > 1] = columns[order[run_starts(rows)]]
        labels[a : a + step] = best
    return labels


def _means(points: FloatArray, labels: IntArray) -> FloatArray:
    order = np.argsort(labels, kind="stable")
    starts = run_starts(labels[order])
    sizes = np.diff(starts, append=len(order))
    sums = np.add.reduceat(points[order], starts, axis=0)
    return np.asarray(sums / sizes[:, None].astype(np.float32), np.float32)


@dataclass(frozen=True, slots=True)
class Calibration:
    """A falling curve from distance to probability, linear between its knots and constant outside them.

    Attributes
    ----------
    distances : float64, shape (T,)
        Ascending.
    probabilities : float64, shape (T,)
        P(same class) at the knots, falling, in [1e-4, 1 - 1e-4].
    """

    distances: npt.NDArray[np.float64]
    probabilities: npt.NDArray[np.float64]

    def probability(self, distances: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """P(same class) at ``distances``, same shape."""
        return np.asarray(np.interp(distances, self.distances, self.probabilities))

    def logodds(self, distances: npt.NDArray[Any]) -> FloatArray:
        """Log-odds ``log(p / (1 - p))`` at ``distances``, float32, same shape."""
        result = np.empty(distances.shape, np.float32)
        for a in range(0, len(distances), _BLOCK_PAIRS):
            p = self.probability(distances[a : a + _BLOCK_PAIRS])
            result[a : a + _BLOCK_PAIRS] = np.log(p / (1.0 - p))
        return result


def isotonic(distances: npt.NDArray[Any], same: npt.NDArray[Any]) -> Calibration:
    """Isotonic regression of "same" on distance: the falling curve of least squared error.

    Pools adjacent violators, all of them at once in each round. Any two neighbouring blocks in the wrong order have one
    common value in the solution, so whole runs of them may be pooled together, in any order. Of more than 4 million
    pairs, so many are used.

    Parameters
    ----------
    distances : float, shape (P,), P >= 1
    same : bool or float, shape (P,)

    Returns
    -------
    Calibration
    """
    if len(distances) > _MOST_PAIRS:
        chosen = np.linspace(0, len(distances) - 1, _MOST_PAIRS).astype(np.int64)
        distances, same = distances[chosen], same[chosen]
    order = np.argsort(distances, kind="stable")
    x = np.asarray(distances, np.float64)[order]
    y = np.asarray(same, np.float64)[order]
    starts = np.flatnonzero(np.diff(x, prepend=-np.inf))
    sums = np.add.reduceat(y, starts)
    weights = np.diff(starts, append=len(x)).astype(np.float64)
    while True:
        means = sums / weights
        keep = np.flatnonzero(np.concatenate(([True], means[1:] < means[:-1])))
        if len(keep) == len(starts):
            break
        starts, sums, weights = starts[keep], np.add.reduceat(sums, keep), np.add.reduceat(weights, keep)
    ends = np.append(starts[1:], len(x)) - 1
    knots: IndexArray = np.stack((starts, ends), axis=1).ravel()
    value = np.repeat(np.clip(means, CLIP, 1.0 - CLIP), 2)
    different = np.concatenate(([True], np.diff(x[knots]) > 0.0))
    return Calibration(x[knots][different], value[different])


def calibrate(distances: FloatArray, indices: IntArray, labels: IntArray) -> Calibration:
    """The curve learnt from pseudo labels over all neighbour pairs.

    Parameters
    ----------
    distances : float32, shape (N, M)
    indices : int32, shape (N, M)
        The neighbours of each sample.
    labels : int32, shape (N,)
        Pseudo labels; -1 for samples that have none, whose pairs are left out.
    """
    theirs = labels[indices]
    known = (theirs >= 0) & (labels >= 0)[:, None]
    return isotonic(distances[known], (theirs == labels[:, None])[known])
