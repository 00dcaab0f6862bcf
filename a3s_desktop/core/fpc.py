"""Fast Probabilistic Clustering on a sparse graph of log-odds, without an interpreter loop over samples."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.types import IndexArray, IntArray, PairGraph
from a3s_desktop.task import Task

_FIRST_ROUNDS = 5
_MIXED_ROUNDS = 60
_EXCLUSIVE_ROUNDS = 1000
_JOIN_ROUNDS = 50
_CHUNK_EDGES = 500_000
_GAIN = 1e-6  # a move must gain this much, so that rounding cannot keep samples moving for ever

_Float64 = npt.NDArray[np.float64]


class _Moves(NamedTuple):
    samples: IndexArray  # ascending
    targets: IndexArray  # cluster, or -1 for a new one
    gains: _Float64  # by how much the objective grows, > 0


def compact(labels: npt.NDArray[np.integer[Any]]) -> IntArray:
    """Labels renumbered 0 .. k-1 without gaps, in the order of first appearance.

    Parameters
    ----------
    labels : int, shape (N,)

    Returns
    -------
    int32, shape (N,)
    """
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return rank[inverse]


def objective(graph: PairGraph, labels: npt.NDArray[np.integer[Any]]) -> float:
    """Total log-odds of all pairs inside clusters, what FPC maximises; pairs that are no edges count ``graph.miss``."""
    rows = np.repeat(np.arange(graph.n), np.diff(graph.indptr))
    inside = labels[rows] == labels[graph.indices]
    sizes = np.bincount(labels).astype(np.float64)
    known = float(np.sum(graph.logodds[inside].astype(np.float64) - graph.miss)) / 2.0
    return known + graph.miss * float(np.sum(sizes * (sizes - 1.0))) / 2.0


def fpc(graph: PairGraph, seed: int, task: Task) -> IntArray:
    """Cluster the samples and find the number of clusters (paper: Fast Probabilistic Clustering).

    Starts from singletons; each sample moves to the cluster with the largest sum of log-odds to its members, or to one
    of its own, while the total of log-odds inside clusters grows. The first few rounds make only moves that share no
    cluster, best first, which pairs up what belongs together most surely. Then a random half of the active samples
    moves at a time (all at once would swap places for ever); when few still move, again only moves that share no
    cluster are made together, each of which raises the objective, until no single move does. Then whole clusters are
    joined where that raises the objective, and single moves follow, until neither does.

    The joins are not in the paper. Single moves stop where two halves of one identity hold each other in place; with
    joins the objective is 3-6 % higher and hardly depends on the seed (measured on the person re-identification sets).

    Parameters
    ----------
    graph : PairGraph
    seed : int
    task : Task

    Returns
    -------
    int32, shape (N,)
        Labels 0 .. k-1 without gaps.

    Raises
    ------
    Cancelled
        The user cancelled the task.
    """
    state = _State(graph, task)
    rng = np.random.default_rng(seed)
    n = graph.n
    active = np.arange(n)
    for _ in range(_FIRST_ROUNDS):
        state.move(state.exclusive(state.best_moves(active)))
    for round_ in range(_MIXED_ROUNDS):
        task.step(0.6 * round_ / _MIXED_ROUNDS)
        chosen = active[rng.random(len(active)) < 0.5] if n > 2 else active[:1]
        moves = state.best_moves(chosen)
        state.move(moves)
        # Who was not asked stays active; who was asked becomes active again only through a neighbour's move.
        awake = np.zeros(n, bool)
        awake[active] = True
        awake[chosen] = False
        awake[moves.samples] = True
        awake[state.neighbours(moves.samples)] = True
        active = np.flatnonzero(awake)
        if len(moves.samples) * 500 <= n and len(active) * 20 <= n:
            break
    _single_moves(state, np.arange(n), 0.6)
    for _ in range(_JOIN_ROUNDS):
        joined = state.join_clusters()
        if not len(joined):
            break
        _single_moves(state, np.union1d(joined, state.neighbours(joined)), 0.8)
    return compact(state.labels)


def _single_moves(state: _State, active: IndexArray, fraction: float) -> None:
    """Moves that share no cluster, made together, until no single move raises the objective."""
    n = len(state.labels)
    for round_ in range(_EXCLUSIVE_ROUNDS):
        state.task.step(fraction + 0.2 * round_ / _EXCLUSIVE_ROUNDS)
        moves = state.best_moves(active)
        if len(moves.samples):
            done = state.exclusive(moves)
            state.move(done)
            active = np.union1d(moves.samples, state.neighbours(done.samples))
        elif len(active) < n:
            active = np.arange(n)  # cluster sizes changed for others too
        else:
            break


class _State:
    """Current labels, and the best move of each sample under them."""

    def __init__(self, graph: PairGraph, task: Task) -> None:
        from scipy import sparse  # here: it takes a quarter of a second

        self._sparse = sparse
        self._graph = graph
        self.task = task
        # log-odds above `miss`: the sum to a cluster is then this product + miss x size, missing pairs included.
        self._above = graph.logodds.astype(np.float64) - graph.miss
        self.labels: IndexArray = np.arange(graph.n, dtype=np.int64)

    def neighbours(self, samples: IndexArray) -> IndexArray:
        """Samples that share an edge with one of ``samples`` (with repetitions)."""
        return self._graph.indices[self._graph.edges_of(samples)].astype(np.int64)

    def best_moves(self, samples: IndexArray) -> _Moves:
        """For each of ``samples`` its best move if that raises the objective."""
        self.labels = compact(self.labels).astype(np.int64)
        sizes = np.bincount(self.labels).astype(np.float64)
        degrees = np.cumsum(self._graph.degrees(samples))
        cuts = np.searchsorted(degrees, np.arange(_CHUNK_EDGES, degrees[-1] if len(degrees) else 0, _CHUNK_EDGES))
        ones = self._one_hot(len(sizes))  # once for all chunks: it is as large as the data
        parts = []
        for part in np.split(samples, np.unique(cuts)):
            self.task.check()
            parts.append(self._best_of(part, sizes, ones))
        return _Moves(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def _best_of(self, samples: IndexArray, sizes: _Float64, ones: Any) -> _Moves:
        graph = self._graph
        sums = self._sums(samples, ones)
        degree = np.diff(sums.indptr)
        cluster = sums.indices.astype(np.int64)
        own = self.labels[samples]
        is_own = cluster == np.repeat(own, degree)
        value = sums.data + graph.miss * (sizes[cluster] - is_own)
        # Staying counts even where no edge leads to the own cluster.
        stay = graph.miss * (sizes[own] - 1.0)
        row = np.repeat(np.arange(len(samples)), degree)
        stay[row[is_own]] = value[is_own]
        best = np.zeros(len(samples))  # a cluster of its own
        target = np.full(len(samples), -1, np.int64)
        linked = np.flatnonzero(degree)
        if len(linked):
            starts = sums.indptr[:-1][linked]
            top = np.maximum.reduceat(value, starts)
            first = np.where(value == np.repeat(top, degree[linked]), cluster, len(sizes))
            lowest = np.minimum.reduceat(first, starts)  # equal sums: the lower cluster
            better = top > 0.0
            best[linked[better]] = top[better]
            target[linked[better]] = lowest[better]
        gain = best - stay
        good = (gain > _GAIN) & (target != own)
        return _Moves(samples[good], target[good], gain[good])

    def _one_hot(self, count: int) -> Any:
        n = self._graph.n
        return self._sparse.csr_array((np.ones(n), self.labels, np.arange(n + 1)), shape=(n, count))

    def _sums(self, samples: IndexArray, ones: Any) -> Any:
        graph, sparse = self._graph, self._sparse
        edges = graph.edges_of(samples)
        indptr = np.concatenate(([0], np.cumsum(graph.degrees(samples))))
        rows = sparse.csr_array((self._above[edges], graph.indices[edges], indptr), shape=(len(samples), graph.n))
        return rows @ ones

    def exclusive(self, moves: _Moves) -> _Moves:
        """The moves that are the best of all that touch their two clusters: together they gain their sum."""
        source = self.labels[moves.samples]
        joins = moves.targets >= 0
        target = np.where(joins, moves.targets, source)
        good = _best_of_both(source, target, moves.gains, int(self.labels.max()) + 1)
        return _Moves(moves.samples[good], moves.targets[good], moves.gains[good])

    def join_clusters(self) -> IndexArray:
        """Join pairs of clusters where that raises the objective, each cluster once at most; the samples concerned."""
        graph = self._graph
        self.labels = compact(self.labels).astype(np.int64)
        sizes = np.bincount(self.labels).astype(np.float64)
        rows = np.repeat(self.labels, np.diff(graph.indptr))
        columns = self.labels[graph.indices]
        across = np.flatnonzero(rows < columns)
        between = self._sparse.coo_array(
            (self._above[across], (rows[across], columns[across])), shape=(len(sizes), len(sizes))
        )
        between.sum_duplicates()
        left, right = (axis.astype(np.int64) for axis in between.coords)
        gains = between.data + graph.miss * sizes[left] * sizes[right]
        good = gains > _GAIN
        left, right, gains = left[good], right[good], gains[good]
        best = _best_of_both(left, right, gains, len(sizes))
        left, right = left[best], right[best]
        new = np.arange(len(sizes))
        new[right] = left
        concerned = np.zeros(len(sizes), bool)
        concerned[left] = True
        self.labels = new[self.labels]
        return np.flatnonzero(concerned[self.labels])

    def move(self, moves: _Moves) -> None:
        """Make all of ``moves``."""
        new = moves.targets < 0
        targets = moves.targets.copy()
        targets[new] = self.labels.max() + 1 + np.arange(np.count_nonzero(new))
        self.labels[moves.samples] = targets


def _best_of_both(left: IndexArray, right: IndexArray, gains: _Float64, count: int) -> npt.NDArray[np.bool_]:
    """Which pairs of clusters have the largest gain of all pairs that share one of the two (ties: the first)."""
    rank = np.empty(len(gains), np.int64)
    rank[np.argsort(-gains, kind="stable")] = np.arange(len(gains))
    best = np.full(count, len(gains))
    np.minimum.at(best, left, rank)
    np.minimum.at(best, right, rank)
    return np.asarray((best[left] == rank) & (best[right] == rank))
