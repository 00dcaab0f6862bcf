"""Several feature sets of the same samples: one neighbour graph, log-odds that add up (paper: multi-view section)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from a3s_desktop.core.calibration import CLIP, Calibration
from a3s_desktop.core.neighbors import pair_distances
from a3s_desktop.core.types import FloatArray, IndexArray, IntArray, PairGraph
from a3s_desktop.task import Task

MISS_AT_MOST = -0.5  # log-odds of a pair that is no edge are never above this
_CHUNK_EDGES = 1_000_000
_LIMIT = float(np.log((1.0 - CLIP) / CLIP))


def union_edges(neighbors: Sequence[IntArray], task: Task) -> tuple[IndexArray, IntArray]:
    """Symmetric union of directed neighbour lists: an edge if either sample lists the other in any view.

    Parameters
    ----------
    neighbors : sequence of int32 arrays, each of shape (N, M)
        Neighbour lists of each view.
    task : Task

    Returns
    -------
    indptr : int64, shape (N + 1,)
    indices : int32, shape (E,)
        CSR rows, sorted by column, no diagonal.
    """
    n = len(neighbors[0])
    per_row = max(1, 2 * sum(lists.shape[1] for lists in neighbors))
    step = max(1, _CHUNK_EDGES // per_row)
    counts = np.zeros(n + 1, np.int64)
    parts = []
    for a in range(0, n, step):
        task.step(a / n)
        b = min(a + step, n)
        keys = []
        for lists in neighbors:
            rows = np.repeat(np.arange(b - a), lists.shape[1])
            keys.append(rows * n + lists[a:b].ravel())
            listing = np.flatnonzero((lists >= a) & (lists < b))
            listed = lists.ravel()[listing].astype(np.int64) - a
            keys.append(listed * n + listing // lists.shape[1])
        row, column = np.divmod(np.unique(np.concatenate(keys)), n)
        row_count = np.bincount(row, minlength=b - a)
        counts[a + 1 : b + 1] = row_count
        parts.append(column.astype(np.int32))
    return np.cumsum(counts), np.concatenate(parts)


def edge_distances(features: FloatArray, indptr: IndexArray, indices: IntArray, task: Task) -> FloatArray:
    """Distance of each edge in one view, float32, shape (E,)."""
    rows = np.repeat(np.arange(len(indptr) - 1, dtype=np.int32), np.diff(indptr))
    result = np.empty(len(indices), np.float32)
    step = max(1, 8_000_000 // max(1, features.shape[1]))
    for a in range(0, len(indices), step):
        task.step(a / len(indices))
        result[a : a + step] = pair_distances(features, rows[a : a + step], features, indices[a : a + step])
    return result


def fuse(
    indptr: IndexArray,
    indices: IntArray,
    distances: FloatArray,
    calibrations: Sequence[Calibration],
    farthest: Sequence[FloatArray],
) -> PairGraph:
    """The pair graph: ``p_ij = prod p / (prod p + prod (1 - p))`` over views, so log-odds add up.

    Parameters
    ----------
    indptr, indices : CSR structure of the edges
    distances : float32, shape (V, E)
    calibrations : sequence of V curves
    farthest : sequence of V float32 arrays, each of shape (N,)
        Distance of each sample's last neighbour in the view. Pairs outside the graph are at least as far in every
        view: they count as the sum over views of the mean log-odds at these distances, and never above -0.5.

    Returns
    -------
    PairGraph
    """
    total = np.zeros(len(indices), np.float32)
    miss = 0.0
    for view, calibration in enumerate(calibrations):
        total += calibration.logodds(distances[view])
        miss += float(np.mean(calibration.logodds(farthest[view]), dtype=np.float64))
    np.clip(total, -_LIMIT, _LIMIT, out=total)
    return PairGraph(indptr, indices, distances, total, max(-_LIMIT, min(MISS_AT_MOST, miss)))
