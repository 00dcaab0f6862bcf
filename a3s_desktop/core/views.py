"""Several feature sets of the same samples: one neighbour graph, log-odds that add up (paper: multi-view section)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from a3s_desktop.core.calibration import CLIP, Calibration
from a3s_desktop.core.neighbors import pair_distances, scaled, unscaled
from a3s_desktop.core.types import FloatArray, IndexArray, IntArray, PairGraph
from a3s_desktop.task import Task

MISS_AT_MOST = -0.5  # log-odds of a pair that is no edge are never above this
_CHUNK_EDGES = 400_000
_LIMIT = float(np.log((1.0 - CLIP) / CLIP))


class Edges(NamedTuple):
    """Symmetric edges (CSR, rows sorted by column, no diagonal) and their distance in each view."""

    indptr: IndexArray  # int64, shape (N + 1,)
    indices: IntArray  # int32, shape (E,)
    distances: FloatArray  # float32, shape (V, E)


def union_edges(
    neighbors: Sequence[IntArray], distances: Sequence[FloatArray], views: Sequence[FloatArray], task: Task
) -> Edges:
    """Symmetric union of directed neighbour lists: an edge if either sample lists the other in any view.

    Parameters
    ----------
    neighbors, distances : sequences of V arrays, each of shape (N, M)
        Neighbour lists of each view and the distances to them.
    views : sequence of V float32 arrays, each of shape (N, D_v)
    task : Task

    Returns
    -------
    Edges
    """
    n = len(neighbors[0])
    listed_by = [_listed_by(lists) for lists in neighbors]
    step = max(1, _CHUNK_EDGES // max(1, 2 * sum(lists.shape[1] for lists in neighbors)))
    degrees = np.zeros(n, np.int64)
    columns, known = [], []
    for a in range(0, n, step):
        task.step(0.5 * a / n)
        b = min(a + step, n)
        keys, values = [], []
        for lists, far, (bounds, places) in zip(neighbors, distances, listed_by, strict=True):
            keys.append(np.repeat(np.arange(b - a), lists.shape[1]) * n + lists[a:b].ravel())
            values.append(far[a:b].ravel())
            listing = np.sort(places[bounds[a] : bounds[b]])
            listed = lists.ravel()[listing].astype(np.int64) - a
            keys.append(listed * n + listing // lists.shape[1])
            values.append(far.ravel()[listing])
        unique, first = np.unique(np.concatenate(keys), return_index=True)
        row, column = np.divmod(unique, n)
        degrees[a:b] = np.bincount(row, minlength=b - a)
        columns.append(column.astype(np.int32))
        known.append(np.concatenate(values)[first])
    indptr = np.concatenate(([0], np.cumsum(degrees)))
    indices = np.concatenate(columns)
    if len(views) == 1:
        return Edges(indptr, indices, np.concatenate(known)[None])
    table = np.empty((len(views), len(indices)), np.float32)
    for view, features in enumerate(views):
        _edge_distances(features, indptr, indices, table[view], task)
    return Edges(indptr, indices, table)


def _listed_by(lists: IntArray) -> tuple[IndexArray, IndexArray]:
    """For each sample where it stands in the lists of all, as ranges of places in ``lists.ravel()``: one sort, in place
    of a walk through all lists for each block of samples."""
    from scipy import sparse

    n, m = lists.shape
    places = np.arange(n * m)
    by_row = sparse.csr_array((places, lists.ravel(), np.arange(n + 1) * m), shape=(n, n))
    by_column = by_row.tocsc()  # a counting sort
    return by_column.indptr.astype(np.int64), by_column.data


def _edge_distances(features: FloatArray, indptr: IndexArray, indices: IntArray, out: FloatArray, task: Task) -> None:
    points, factor = scaled(features)
    rows = np.repeat(np.arange(len(indptr) - 1, dtype=np.int32), np.diff(indptr))
    step = max(1, 8_000_000 // max(1, features.shape[1]))
    for a in range(0, len(indices), step):
        task.step(0.5 + 0.5 * a / len(indices))
        b = a + step
        out[a:b] = unscaled(pair_distances(points, rows[a:b], points, indices[a:b]), factor)


def fuse(
    edges: Edges, calibrations: Sequence[Calibration], farthest: Sequence[FloatArray], weights: Sequence[float] = ()
) -> PairGraph:
    """The pair graph: ``p_ij = prod p / (prod p + prod (1 - p))`` over views, so log-odds add up.

    Parameters
    ----------
    edges : Edges
    calibrations : sequence of V curves
    farthest : sequence of V float32 arrays, each of shape (N,)
        Distance of each sample's last neighbour in the view. Pairs outside the graph are at least as far in every
        view: they count as the sum over views of the mean log-odds at these distances, and never above -0.5.
    weights : sequence of V floats, optional
        What each view's log-odds are multiplied by; 1 each where there are none.

    Returns
    -------
    PairGraph
        Its log-odds are clipped like probabilities of a single view, to [1e-4, 1 - 1e-4].
    """
    total = np.zeros(len(edges.indices), np.float32)
    miss = 0.0
    factors = weights or (1.0,) * len(calibrations)
    for distances, calibration, far, factor in zip(edges.distances, calibrations, farthest, factors, strict=True):
        total += np.float32(factor) * calibration.logodds(distances)
        miss += factor * float(np.mean(calibration.logodds(far), dtype=np.float64))
    np.clip(total, -_LIMIT, _LIMIT, out=total)
    return PairGraph(edges.indptr, edges.indices, edges.distances, total, max(-_LIMIT, min(MISS_AT_MOST, miss)))
