"""The start of `a3s`: average linkage on the refined graph, whichever clustering the number of groups came from.

FPC decides for every sample alone where it belongs; what it leaves behind are clusters that hold a few strangers and
singletons whose class is next to them. Average linkage on the same graph, cut at as many groups, makes a better start
(the same answers later lead further on people, glyphs and digits), and the other initial clusterings, regrouped the
same way, lead to much the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.edge_values import Lengths, exact
from a3s_desktop.core.fpc import compact
from a3s_desktop.core.runs import run_starts
from a3s_desktop.core.types import FloatArray, IntArray, PairGraph
from a3s_desktop.task import Task

LONGEST = 2.0
"""Length taken for pairs that are no edge, and for longer edges: two standard deviations above the mean."""

KEPT = 1.5
"""What being together in the given clustering counts, in standard deviations: more than one of the two measures of
likeness is worth for one standard deviation, less than both together.

From 0.5 to 1.5 the figures on people and glyphs hardly change. Data with few large classes lose what FPC knows of them
in the first hundred answers when it is small: 1.5 instead of 1 is worth +.008, +.003, +.003 and +.003 NMI after 20, 40,
60 and 100 answers (ARI +.006, +.007, +.006, +.002), as a mean of twelve feature sets of people, faces and digits. Most
is gained on digits by their Fourier coefficients (after 40: .695 to .725 and .579 to .630), most is lost on digits by
their Zernike moments (-.014 and -.021); after 200 it makes no difference. From 2 on, people lose (after 60: .852 to
.842 and .765 to .743), and the choice of the clustering (K-means or FPC, one ratio or another) makes more of a
difference again."""

KEPT_OF_A_NUMBER = 0.5
"""The same where the given clustering was cut at a number of clusters (K-means, spectral, agglomerative): which pairs
it holds together depends on that number as much as on the data, so it counts for half of one measure of likeness.

On people of 100 identities, answers to reach NMI .92 (means of five seeds) go from 171 to 242 over the four clusterings
and the ratios 1, 1.5 and 2 with 1.0 for these, from 194 to 235 with 0.5, and the nine of these take 216 instead of 219
in the mean. On glyphs, other people, faces and digits each of the two is ahead about as often."""

_BLOCK = 1 << 20  # edges whose weights are worked out in one go

_Float64 = npt.NDArray[np.float64]
_Int64 = npt.NDArray[np.int64]


def regroup(graph: PairGraph, labels: IntArray, task: Task, kept: float = KEPT) -> IntArray:
    """As many groups as a clustering has (singletons counted), by average linkage.

    Two samples are the more alike the more of their neighbourhoods they share and the nearer they are, both measured
    in standard deviations over the edges, with equal weight; pairs that are no edge share nothing and are `LONGEST`
    apart. Being in one cluster of the given clustering counts ``kept`` more.

    Parameters
    ----------
    graph : PairGraph
        With ``similarity``.
    labels : int32, shape (N,)
        The given clustering.
    task : Task
    kept : float
        What being together in it counts, in standard deviations: `KEPT` or `KEPT_OF_A_NUMBER`.

    Returns
    -------
    int32, shape (N,)
        Labels 0 .. k-1 without gaps; k is the given number, or the number of parts of the graph if they are more.

    Raises
    ------
    Cancelled
        The user cancelled the task.
    """
    if graph.similarity is None:
        raise ValueError("only a refined graph can be regrouped")
    count = int(np.count_nonzero(np.bincount(labels)))
    return average_linkage(graph.indptr, graph.indices, _likeness(graph, graph.similarity, labels, kept), count, task)


def _likeness(graph: PairGraph, shared: FloatArray, labels: IntArray, kept: float) -> _Float64:
    """The weights of the edges, worked out block by block: of all edges each value would fill the memory."""
    spread = float(shared.astype(np.float64).std()) if len(shared) else 0.0
    lengths = Lengths(graph)
    found = np.empty(len(shared))
    for begin in range(0, len(shared), _BLOCK):
        edges = slice(begin, min(begin + _BLOCK, len(shared)))
        alike = shared[edges].astype(np.float64)
        if spread > 1e-9:
            alike /= spread
        alike += LONGEST - np.minimum(lengths[edges], LONGEST)
        first, last = np.searchsorted(graph.indptr, (edges.start, edges.stop - 1), "right") - 1
        bounds = graph.indptr[first : last + 2].clip(edges.start, edges.stop)
        rows = np.repeat(np.arange(first, last + 1), np.diff(bounds))
        alike += kept * (labels[rows] == labels[graph.indices[edges]])
        found[edges] = exact(alike)
    return found


def average_linkage(indptr: _Int64, indices: IntArray, weight: _Float64, count: int, task: Task) -> IntArray:
    """Average linkage on a sparse symmetric graph, cut at a number of groups; pairs that are no edge weigh 0.

    Pairs of groups that are each other's best are joined all at once, round by round: no later join can come between
    them, so the tree is the one that joins made one by one give. Linear in edges for each of a few dozen rounds.

    Parameters
    ----------
    indptr, indices : CSR of the edges, shapes (N + 1,) and (E,)
    weight : float64, shape (E,)
        At least 0, equal for both directions of an edge; sums must be exact (see `exact`).
    count : int
        Groups wanted.
    task : Task

    Returns
    -------
    int32, shape (N,)
        Labels 0 .. k-1 without gaps, k >= count; more where the graph has more parts.
    """
    n = len(indptr) - 1
    wanted = n - count
    group = np.arange(n)  # of each sample
    size: _Float64 = np.ones(n)
    # Edges between groups: rows, columns and total weights. There may be a hundred million: whoever works on them takes
    # them out, so that nobody else holds them meanwhile.
    edges: list[npt.NDArray[Any]] = [
        np.repeat(np.arange(n, dtype=np.int32), np.diff(indptr)),
        indices.astype(np.int32),
        weight,
    ]
    del weight
    joins: list[tuple[_Float64, _Int64, _Int64]] = []  # heights, and a sample of each of the two groups
    made, least = 0, 0.0
    sample = np.arange(n)  # the first of each group
    while len(edges[0]) and wanted > 0:
        task.step(0.9 * min(1.0, made / wanted))
        left, right, height = _mutual_best(edges, size)
        good = height > least if made >= wanted else np.ones(len(left), np.bool_)
        left, right, height = left[good], right[good], height[good]
        if not len(left):
            break
        joins.append((height, sample[left], sample[right]))
        made += len(left)
        if made >= wanted:
            heights = np.concatenate([of for of, _, _ in joins])
            least = float(np.partition(heights, made - wanted)[made - wanted])
        new = np.arange(len(size))
        new[right] = left
        ids, place = np.unique(new, return_inverse=True)
        size = np.bincount(place, size).astype(np.float64)
        sample = sample[ids]
        group = place[group]
        _join(edges, place.astype(np.int32), len(ids))
    return _cut(n, joins, wanted)


def _mutual_best(edges: list[npt.NDArray[Any]], size: _Float64) -> tuple[_Int64, _Int64, _Float64]:
    """Pairs that are each other's best, the smaller id first (ties: the smallest partner); rows are sorted."""
    rows, columns, total = edges
    n = len(size)
    mean = size[rows]
    mean *= size[columns]
    np.divide(total, mean, out=mean)
    starts = run_starts(rows)
    top = np.maximum.reduceat(mean, starts)
    is_top = mean == np.repeat(top, np.diff(starts, append=len(rows)))
    del mean
    partner = np.where(is_top, columns, np.int32(n))
    best = np.full(n, -1, np.int64)
    height = np.zeros(n)
    best[rows[starts]], height[rows[starts]] = np.minimum.reduceat(partner, starts), top
    left = np.flatnonzero((best > np.arange(n)) & (best[best] == np.arange(n)))
    return left, best[left], height[left]


def _join(edges: list[npt.NDArray[Any]], place: IntArray, n: int) -> None:
    """Put the edges between n groups in the place of those between the former ones, whose ids are ``place`` now: summed
    and sorted."""
    rows, columns, total = place[edges[0]], place[edges[1]], edges[2]
    edges.clear()
    across = rows != columns
    key = rows[across].astype(np.int64)
    del rows
    key *= n
    key += columns[across]
    del columns
    total = total[across]
    order = np.argsort(key, kind="stable")
    key, total = key[order], total[order]
    del order
    starts = run_starts(key)
    total = np.add.reduceat(total, starts) if len(starts) else total
    key = key[starts]
    edges += [(key // n).astype(np.int32), (key % n).astype(np.int32), total]


def _cut(n: int, joins: list[tuple[_Float64, _Int64, _Int64]], wanted: int) -> IntArray:
    """Labels after the ``wanted`` highest joins (of equal ones, those made first)."""
    if not joins or wanted <= 0:
        return np.arange(n, dtype=np.int32)
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    height, left, right = (np.concatenate(column) for column in zip(*joins, strict=True))
    chosen = np.argsort(-height, kind="stable")[:wanted]
    edges = sparse.coo_array((np.ones(len(chosen)), (left[chosen], right[chosen])), shape=(n, n))
    return compact(connected_components(edges, directed=False)[1])
