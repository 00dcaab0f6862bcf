"""Graph-context refinement: how alike are the neighbourhoods of two samples?

Distances are not comparable between identities: a dense class and a sparse one differ in scale. The neighbourhoods are:
two samples of one class list each other's neighbours. The measure is the Jaccard index of the k-reciprocal
neighbourhoods, as in re-ranking for person re-identification (k-reciprocal encoding, k1 = 30, k2 = 6), computed only
for the edges of the neighbour graph: sparse, linear in edges. On the edges of real data it separates "same" from
"different" better than distance does (area under the ROC curve: mk100 .90 for .77, handwritten fou .73 for .70,
handwritten zer .81 for .68, people200 equal).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.neighbors import pair_distances, scaled
from a3s_desktop.core.types import FloatArray, IndexArray, IntArray
from a3s_desktop.task import Task, at_once

RECIPROCAL = 30
"""k1: two samples are reciprocal neighbours if each lists the other among so many nearest ones."""

EXPANSION = 6
"""k2: a sample's neighbourhood is averaged with those of so many nearest ones, itself included."""

_OVERLAP = 2.0 / 3.0  # a neighbour's own neighbourhood is taken in if so much of it is shared already
_SCALE_NEIGHBOUR = 9  # weights fall off over the median distance of the tenth neighbour
_CHUNK_EDGES = 20_000
_BLOCK_ROWS = 4_096


def jaccard_similarity(
    neighbors: IntArray, distances: FloatArray, table: FloatArray, indptr: IndexArray, indices: IntArray, task: Task
) -> FloatArray:
    """Jaccard index of k-reciprocal neighbourhoods for the edges of a symmetric graph.

    Parameters
    ----------
    neighbors : int32, shape (N, M)
        Nearest neighbours of each sample, nearest first, itself left out.
    distances : float32, shape (N, M)
    table : float32, shape (N, D)
        The features that the neighbours were found in.
    indptr, indices : CSR of the edges, shapes (N + 1,) and (E,)
    task : Task

    Returns
    -------
    float32, shape (E,)
        In [0, 1]; equal for both directions of an edge.
    """
    weights = _neighbourhoods(neighbors, distances, table, task)
    from scipy import sparse

    n = len(indptr) - 1
    rows = np.repeat(np.arange(n, dtype=np.int32), np.diff(indptr))
    upper = np.flatnonzero(rows < indices)
    similarity = np.zeros(len(indices), np.float32)

    starts = range(0, len(upper), _CHUNK_EDGES)
    compare = partial(_shared, weights, rows, indices, upper)
    for start, values in zip(starts, at_once(compare, starts, task, (0.4, 1.0)), strict=True):
        similarity[upper[start : start + _CHUNK_EDGES]] = values
    # The edges are symmetric and sorted: those of the transposed table stand in the same places.
    above = sparse.csr_array((similarity, indices, indptr), shape=(n, n))
    similarity += above.T.tocsr().data
    return similarity


def _shared(weights: Any, rows: IntArray, indices: IntArray, upper: IndexArray, start: int) -> npt.NDArray[Any]:
    """The Jaccard index of a block of edges, whose places are in ``upper``; shape (n,)."""
    edges = upper[start : start + _CHUNK_EDGES]
    both = weights[rows[edges]].minimum(weights[indices[edges]])
    shared = np.minimum(np.asarray(both.sum(axis=1)).ravel(), 1.0)  # a row's sum may be above one by rounding
    return np.asarray(shared / (2.0 - shared))


def _neighbourhoods(neighbors: IntArray, distances: FloatArray, table: FloatArray, task: Task) -> Any:
    """Each sample's weighted neighbourhood as a row that sums to one: scipy CSR, (N, N), float32."""
    from scipy import sparse

    n, m = neighbors.shape
    near, nearer = (_listing(neighbors[:, : min(k, m)]) for k in (RECIPROCAL, max(1, RECIPROCAL // 2)))
    mutual, close = near.multiply(near.T).tocsr(), nearer.multiply(nearer.T).tocsr()
    task.step(0.05)
    reverse, sizes = close.T.tocsr(), np.asarray(close.sum(axis=1)).ravel()
    points, factor = scaled(table)
    scale = float(np.median(distances[:, min(_SCALE_NEIGHBOUR, m - 1)])) * factor or 1.0

    weigh = partial(_weighed, mutual, close, reverse, sizes, points, scale)
    rows: Any = sparse.vstack(list(at_once(weigh, range(0, n, _BLOCK_ROWS), task, (0.05, 0.3))), "csr")
    count = min(EXPANSION, m + 1)
    average = _listing(neighbors[:, : count - 1])
    return ((average @ rows) * np.float32(1.0 / count)).tocsr()


def _weighed(
    mutual: Any, close: Any, reverse: Any, sizes: npt.NDArray[Any], points: FloatArray, scale: float, start: int
) -> Any:
    """The neighbourhoods of a block of rows before they are averaged: scipy CSR, (n, N)."""
    from scipy import sparse

    # In blocks of rows: between all samples the overlaps would take more memory than all the rest.
    some = mutual[start : start + _BLOCK_ROWS]
    overlap = (some @ reverse).multiply(some).tocoo()
    enough = overlap.data > _OVERLAP * sizes[overlap.col]
    ones = np.ones(np.count_nonzero(enough), np.float32)
    taken = sparse.csr_matrix((ones, (overlap.row[enough], overlap.col[enough])), shape=some.shape)
    whole = (some + taken @ close).tocoo()
    far = pair_distances(points, whole.row + start, points, whole.col)
    weight = np.exp(-np.minimum((far / scale) ** 2, 60.0))
    rows: Any = sparse.csr_matrix((weight, (whole.row, whole.col)), shape=some.shape)
    total = np.asarray(rows.sum(axis=1)).ravel()
    return sparse.diags((1.0 / total).astype(np.float32)) @ rows


def _listing(lists: IntArray) -> Any:
    """Who lists whom, each sample itself too: scipy CSR of ones, (N, N)."""
    from scipy import sparse

    n, k = lists.shape
    columns: Any = np.concatenate((np.arange(n)[:, None], lists), axis=1).ravel()
    ones = np.ones(len(columns), np.float32)
    return sparse.csr_matrix((ones, columns, np.arange(n + 1) * (k + 1)), shape=(n, n))
