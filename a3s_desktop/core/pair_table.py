"""Facts of all linked pairs of clusters as columns, of which an answer changes only a few cells."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.aggregation import merge_entropy
from a3s_desktop.core.cluster_graph import ClusterGraph
from a3s_desktop.core.link_model import FACTS, link_strengths

Column = npt.NDArray[np.float64]
Moment = tuple[Column, float]

_CHUNK = 1_000  # pairs looked at in one go: long calls into numpy's list conversion would hold up other threads
_FAR = 9.0  # learnt distance taken for a cluster that has no next best
_SOFT_MEAN = 0.003  # keeps the log ratio of two mean similarities finite


@dataclass(frozen=True, slots=True)
class Pairs:
    """Linked pairs of clusters, all of shape (m, ...).

    ``first < second`` are cluster ids, ``rows`` the facts, ``entropy`` is Δh times N, and ``mixed`` says that some
    members are known to differ, though the clusters as they stand are not.
    """

    first: npt.NDArray[np.int64]
    second: npt.NDArray[np.int64]
    rows: Column
    entropy: Column
    mixed: npt.NDArray[np.bool_]


class PairTable:
    """A slot for each linked pair, a cell for each cluster. Slots have no order.

    Parameters
    ----------
    links : ClusterGraph
    size : callable
        Number of members of a cluster.
    moment : callable
        Mean and total variance of a cluster's features.
    distance : callable
        From mean squared distances between two groups to the fact "distance".
    closed : callable
        Whether the two samples that stand for two clusters are known to differ: nothing is left to ask there.
    learnt : callable
        Distances of pairs of clusters in the learnt metric, in units of the edges' spread.
    """

    def __init__(
        self,
        links: ClusterGraph,
        size: Callable[[int], int],
        moment: Callable[[int], Moment],
        distance: Callable[[Column], Column],
        closed: Callable[[int, int], bool],
        learnt: Callable[[Sequence[tuple[int, int]]], Column],
    ) -> None:
        self._links, self._size, self._moment, self._distance = links, size, moment, distance
        self._is_closed = closed
        self._learnt = learnt
        self._slot: dict[tuple[int, int], int] = {}
        self._free: list[int] = []
        self._pairs = np.zeros((0, 2), np.int64)  # ids, smaller first; (-1, -1) where the slot is free
        # Of each pair: mean similarity, log largest, log mean, distance, shortest edge, learnt distance.
        self._cells = np.zeros((0, 6))
        self._apart = np.zeros((0, 2), np.bool_)  # known to differ: some members; the clusters as they stand
        self._rows = np.zeros((0, FACTS))  # facts of each pair, and its Δh times N, as they were when last asked for
        self._entropy = np.zeros(0)
        self._stale = np.zeros(0, np.bool_)  # where they are to be computed again
        # Of each cluster: largest and second largest mean, number apart, size, and its two least learnt distances.
        self._clusters = np.zeros((0, 6))
        links.take_changed()
        self._update(links.pairs())

    def facts(self) -> Pairs:
        """All pairs about which something can be asked, in no fixed order."""
        self._update(self._links.take_changed())
        live = np.flatnonzero((self._pairs[:, 0] >= 0) & ~self._apart[:, 1])
        stale = live[self._stale[live]]
        self._compute(stale)
        self._stale[stale] = False
        first, second = self._pairs[live, 0], self._pairs[live, 1]
        return Pairs(first, second, self._rows[live], self._entropy[live], self._apart[live, 0])

    # --- inner workings

    def _compute(self, slots: npt.NDArray[np.int64]) -> None:
        """Facts of some pairs from their cells and those of their clusters: value by value, whatever stands beside."""
        first, second, cells = self._pairs[slots, 0], self._pairs[slots, 1], self._cells[slots]
        a, b = self._clusters[first], self._clusters[second]
        small, large = np.minimum(a[:, 3], b[:, 3]), np.maximum(a[:, 3], b[:, 3])
        rows = np.ones((len(slots), FACTS))
        rows[:, 1:3] = cells[:, 1:3]
        rows[:, 3] = np.minimum(_margin(cells[:, 0], a), _margin(cells[:, 0], b))
        rows[:, 4] = cells[:, 3]
        rows[:, 5], rows[:, 6] = np.log(small), np.log(large)
        smaller = np.where(a[:, 3] < b[:, 3], a[:, 2], b[:, 2])
        smaller = np.where(a[:, 3] == b[:, 3], np.minimum(a[:, 2], b[:, 2]), smaller)
        rows[:, 7] = np.log1p(smaller)
        rows[:, 8] = cells[:, 4]
        first_ahead, second_ahead = _ahead(cells[:, 5], a), _ahead(cells[:, 5], b)
        swapped = a[:, 3] > b[:, 3]
        rows[:, 9] = cells[:, 5]
        rows[:, 10] = np.where(swapped, second_ahead, first_ahead)
        rows[:, 11] = np.where(swapped, first_ahead, second_ahead)
        self._rows[slots] = rows.round(9)
        self._entropy[slots] = merge_entropy(a[:, 3], b[:, 3], 1)

    def _update(self, changed: Collection[tuple[int, int]]) -> None:
        if not changed:
            return
        present: list[tuple[int, int]] = []
        for pair in changed:
            if pair[1] in self._links.links(pair[0]):
                present.append(pair)
            elif pair in self._slot:
                slot = self._slot.pop(pair)
                self._pairs[slot] = -1
                self._free.append(slot)
        clusters = {cluster for pair in changed for cluster in pair}
        self._make_room(len(present), max(clusters) + 1)
        for at in range(0, len(present), _CHUNK):
            self._fill(present[at : at + _CHUNK])
        ids = np.array(list(clusters))
        before = self._clusters[ids]
        # All sizes first: those of the clusters that did not change stand in the table already.
        sizes = self._clusters[:, 3]
        for cluster in clusters:
            sizes[cluster] = self._size(cluster)
        for cluster in clusters:
            row = self._links.links(cluster)
            links = row.values()
            means = np.zeros(len(row) + 2)
            means[2:] = np.array([link.total for link in links]) / (sizes[cluster] * sizes[list(row)]) if row else 0.0
            means.partition(len(row))
            self._clusters[cluster, :3] = (means[-1], means[-2], [link.apart for link in links].count(True))
            slots = [self._slot[min(cluster, other), max(cluster, other)] for other in row]
            gaps = np.full(len(row) + 2, _FAR)
            gaps[2:] = np.where(self._apart[slots, 1], _FAR, self._cells[slots, 5])
            gaps.partition(1)
            self._clusters[cluster, 4:] = gaps[:2]
        other = np.zeros(len(self._clusters) + 1, np.bool_)  # the last for slots that are free
        other[ids[(self._clusters[ids] != before).any(axis=1)]] = True
        self._stale |= other[self._pairs[:, 0]] | other[self._pairs[:, 1]]

    def _fill(self, present: list[tuple[int, int]]) -> None:
        slots = np.array([self._take(pair) for pair in present])
        links = [self._links.links(a)[b] for a, b in present]
        areas = np.array([float(self._size(a) * self._size(b)) for a, b in present])
        mean = np.array([link.total for link in links]) / areas
        moments = {cluster: self._moment(cluster) for pair in present for cluster in pair}
        middles = np.array([[moments[a][0], moments[b][0]] for a, b in present])
        variances = np.array([moments[a][1] + moments[b][1] for a, b in present])
        self._pairs[slots] = present
        self._stale[slots] = True
        self._cells[slots, 0] = mean
        self._cells[slots, 1], self._cells[slots, 2] = link_strengths([link.largest for link in links], mean)
        self._cells[slots, 3] = self._distance(((middles[:, 0] - middles[:, 1]) ** 2).sum(axis=1) + variances)
        self._cells[slots, 5] = self._learnt(present)
        self._cells[slots, 4] = [link.shortest for link in links]
        self._apart[slots] = [
            (link.apart, link.apart and self._is_closed(a, b)) for link, (a, b) in zip(links, present, strict=True)
        ]

    def _take(self, pair: tuple[int, int]) -> int:
        if pair not in self._slot:
            self._slot[pair] = self._free.pop()
        return self._slot[pair]

    def _make_room(self, pairs: int, clusters: int) -> None:
        if len(self._free) < pairs:
            old = len(self._pairs)
            more = max(pairs, old // 2, 64)
            self._pairs = np.concatenate((self._pairs, np.full((more, 2), -1, np.int64)))
            self._cells = np.concatenate((self._cells, np.zeros((more, 6))))
            self._apart = np.concatenate((self._apart, np.zeros((more, 2), np.bool_)))
            self._rows = np.concatenate((self._rows, np.zeros((more, FACTS))))
            self._entropy = np.concatenate((self._entropy, np.zeros(more)))
            self._stale = np.concatenate((self._stale, np.ones(more, np.bool_)))
            self._free += range(old + more - 1, old - 1, -1)
        if len(self._clusters) < clusters:
            self._clusters = np.concatenate((self._clusters, np.zeros((clusters - len(self._clusters) + 256, 6))))


def _margin(mean: Column, cluster: Column) -> Column:
    """How much more alike than the cluster's next best: log ratio of mean similarities."""
    rival = np.where(mean >= cluster[:, 0] - 1e-12, cluster[:, 1], cluster[:, 0])
    ratio: Column = np.log((mean + _SOFT_MEAN) / (rival + _SOFT_MEAN))
    return ratio


def _ahead(gap: Column, cluster: Column) -> Column:
    """How much nearer in the learnt metric than the cluster's next best."""
    rival = np.where(gap <= cluster[:, 4] + 1e-12, cluster[:, 5], cluster[:, 4])
    ahead: Column = np.clip(rival - gap, -5.0, 3.0)
    return ahead
