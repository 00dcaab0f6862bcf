"""Facts of all linked pairs of clusters as columns, of which an answer changes only a few cells."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.aggregation import merge_entropy
from a3s_desktop.core.chances import Chances, Worth, exactly
from a3s_desktop.core.cluster_graph import ClusterGraph, by_cluster
from a3s_desktop.core.link_model import FACTS, link_strengths
from a3s_desktop.core.moments import Moments

Column = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

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


@dataclass(frozen=True, slots=True)
class Scored:
    """All pairs as they stand in the table, dead ones among them: for reading, until the next change.

    ``best`` are gains and places of those that a question may be put about, best first.
    """

    first: npt.NDArray[np.int64]
    second: npt.NDArray[np.int64]
    rows: Column
    best: Iterator[tuple[float, int]]


class PairTable:
    """A slot for each linked pair, a cell for each cluster. Slots have no order.

    Parameters
    ----------
    links : ClusterGraph
    size : callable
        Number of members of a cluster.
    moments : Moments
        Of the clusters.
    distances : two callables
        From mean squared distances between two groups, of features and of transformed ones, to the facts.
    closed : callable
        Whether the two samples that stand for two clusters are known to differ: nothing is left to ask there.
    saved : mapping, optional
        What `arrays` gave for this state.
    """

    def __init__(
        self,
        links: ClusterGraph,
        size: Callable[[int], int],
        moments: Moments,
        distances: tuple[Callable[[Column], Column], Callable[[Column], Column]],
        closed: Callable[[int, int], bool],
        saved: Mapping[str, npt.NDArray[Any]] | None = None,
    ) -> None:
        self._links, self._size, self._moments, self._distances = links, size, moments, distances
        self._is_closed = closed
        self._slot: dict[tuple[int, int], int] = {}
        self._slots: dict[int, dict[int, int]] = {}  # of each cluster: other cluster -> slot of their pair
        self._free: list[int] = []
        self._pairs = np.zeros((0, 2), np.int64)  # ids, smaller first; (-1, -1) where the slot is free
        # Of each pair: mean similarity, log largest, log mean, distance, shortest edge, learnt distance.
        self._cells = np.zeros((0, 6))
        self._apart = np.zeros((0, 2), np.bool_)  # known to differ: some members; the clusters as they stand
        # Facts of each pair, and its Δh times N, as they were when last asked for.
        self._rows = np.zeros((0, FACTS))
        self._entropy = np.zeros(0)
        self._stale = np.zeros(0, np.bool_)  # where they are to be computed again
        self._chances = Chances(same=True)
        self._unscored: list[npt.NDArray[np.int64]] = []  # slots to be scored again
        # Of each cluster: largest and second largest mean, number apart, size, and its two least learnt distances.
        self._clusters = np.zeros((0, 6))
        links.take_changed()
        if saved is None:
            self._update(links.pairs())
        else:
            self._take_over(saved)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All pairs, their links and what is told of them and their clusters, as arrays."""
        self._renew()
        live = np.flatnonzero(self._pairs[:, 0] >= 0)
        pairs = self._pairs[live]
        return {
            **self._links.arrays(pairs.tolist()),
            "pairs": pairs.astype(np.int32),
            "cells": self._cells[live],
            "closed": self._apart[live, 1],
            "clusters": self._clusters,
        }

    def facts(self) -> Pairs:
        """All pairs about which something can be asked, in no fixed order."""
        self._renew()
        live = np.flatnonzero((self._pairs[:, 0] >= 0) & ~self._apart[:, 1])
        first, second = self._pairs[live, 0], self._pairs[live, 1]
        return Pairs(first, second, self._rows[live], self._entropy[live], self._apart[live, 0])

    def scored(self, weights: Column, worth: Worth) -> Scored:
        """All pairs in the order of their worth; only what changed, and the best, are computed."""
        self._score(weights, worth)

        def gains(slots: npt.NDArray[np.int64]) -> Column:
            return worth(exactly(self._rows[slots], (weights,)), self._entropy[slots])

        first, second = self._pairs[:, 0], self._pairs[:, 1]
        return Scored(first, second, self._rows, self._chances.best(first, second, gains))

    def likely(self, weights: Column, worth: Worth, least: float) -> tuple[IntArray, IntArray, Column]:
        """Pairs with P(same) of at least ``least`` about which something can be asked, of whose members none are known
        to differ: both clusters, int64 (m,), and P(same); in no fixed order."""
        self._score(weights, worth)
        slots = self._chances.likely(least)
        slots = slots[~self._apart[slots, 0]]
        chance = exactly(self._rows[slots], (weights,))
        near = np.flatnonzero(chance >= least)
        return self._pairs[slots[near], 0], self._pairs[slots[near], 1], chance[near]

    # --- inner workings

    def _score(self, weights: Column, worth: Worth) -> None:
        self._renew()

        def most(slots: npt.NDArray[np.int64]) -> Column:
            is_open = (self._pairs[slots, 0] >= 0) & ~self._apart[slots, 1]
            gain: Column = worth(np.ones(len(slots)), self._entropy[slots]) * is_open
            return gain

        self._chances.update(self._rows, most, (weights,), self._unscored)
        self._unscored.clear()

    def _take_over(self, saved: Mapping[str, npt.NDArray[Any]]) -> None:
        pairs = saved["pairs"]
        self._make_room(len(pairs), len(saved["clusters"]))
        slots = np.arange(len(pairs))
        self._free = list(range(len(self._pairs) - 1, len(pairs) - 1, -1))
        self._pairs[slots], self._cells[slots] = pairs, saved["cells"]
        self._apart[slots] = np.stack((saved["apart"], saved["closed"]), axis=1)
        self._stale[slots] = True
        self._clusters[: len(saved["clusters"])] = saved["clusters"]
        self._slot = {(a, b): slot for slot, (a, b) in enumerate(pairs.tolist())}
        self._slots = by_cluster(pairs, slots.tolist())

    def _renew(self) -> None:
        """Bring the facts of all pairs up to date."""
        self._update(self._links.take_changed())
        stale = np.flatnonzero(self._stale)
        if len(stale):
            self._compute(stale)
            self._stale[stale] = False
            self._unscored.append(stale)

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
        rows[:, 12] = 0.0
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
                del self._slots[pair[0]][pair[1]], self._slots[pair[1]][pair[0]]
                self._pairs[slot], self._stale[slot] = -1, False
                self._free.append(slot)
                self._unscored.append(np.array([slot]))
        clusters = {cluster for pair in changed for cluster in pair}
        self._make_room(len(present), max(clusters) + 1)
        for at in range(0, len(present), _CHUNK):
            self._fill(present[at : at + _CHUNK])
        self._sum_up(list(clusters))

    def _sum_up(self, clusters: list[int]) -> None:
        """What is told of some clusters by all their pairs; where that changes, their pairs' facts are stale."""
        rows = [self._slots.get(cluster, {}) for cluster in clusters]
        counts = np.array([len(row) for row in rows])
        slots = np.fromiter(chain.from_iterable(row.values() for row in rows), np.int64, int(counts.sum()))
        ids = np.array(clusters)
        now = np.zeros((len(ids), 6))
        now[:, 3] = [self._size(cluster) for cluster in clusters]
        now[:, 4:] = _FAR
        linked = np.flatnonzero(counts)
        if len(linked):
            starts = (np.cumsum(counts) - counts)[linked]
            owner = np.repeat(np.arange(len(linked)), counts[linked])
            now[linked, 0], now[linked, 1] = _two_largest(self._cells[slots, 0], starts, owner, 0.0)
            now[linked, 2] = np.add.reduceat(self._apart[slots, 0].astype(np.float64), starts)
            gaps = np.where(self._apart[slots, 1], _FAR, self._cells[slots, 5])
            least = _two_largest(-gaps, starts, owner, -_FAR)
            now[linked, 4], now[linked, 5] = -least[0], -least[1]
        changed = (self._clusters[ids] != now).any(axis=1)
        self._clusters[ids] = now
        self._stale[slots[np.repeat(changed, counts)]] = True

    def _fill(self, present: list[tuple[int, int]]) -> None:
        slots = np.array([self._take(pair) for pair in present])
        links = [self._links.links(a)[b] for a, b in present]
        clusters, place = np.unique(np.array(present), return_inverse=True)
        left, right = place.reshape(-1, 2).T
        sizes = np.array([float(self._size(cluster)) for cluster in clusters.tolist()])
        mean = np.array([link.total for link in links]) / (sizes[left] * sizes[right])
        self._moments.renew(clusters.tolist())
        moments = [self._moments.of(cluster) for cluster in clusters.tolist()]
        gap = _gap([one.mean for one in moments], [one.variance for one in moments], left, right)
        turned = _gap([one.turned_mean for one in moments], [one.turned_variance for one in moments], left, right)
        self._pairs[slots] = present
        self._stale[slots] = True
        self._cells[slots, 0] = mean
        self._cells[slots, 1], self._cells[slots, 2] = link_strengths([link.largest for link in links], mean)
        self._cells[slots, 3] = self._distances[0](gap)
        self._cells[slots, 5] = self._distances[1](turned)
        self._cells[slots, 4] = [link.shortest for link in links]
        self._apart[slots] = [
            (link.apart, link.apart and self._is_closed(a, b)) for link, (a, b) in zip(links, present, strict=True)
        ]

    def _take(self, pair: tuple[int, int]) -> int:
        if pair not in self._slot:
            slot = self._slot[pair] = self._free.pop()
            self._slots.setdefault(pair[0], {})[pair[1]] = slot
            self._slots.setdefault(pair[1], {})[pair[0]] = slot
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
            self._stale = np.concatenate((self._stale, np.zeros(more, np.bool_)))
            self._free += range(old + more - 1, old - 1, -1)
        if len(self._clusters) < clusters:
            self._clusters = np.concatenate((self._clusters, np.zeros((clusters - len(self._clusters) + 256, 6))))


def _gap(means: list[Column], variances: list[float], left: IntArray, right: IntArray) -> Column:
    """Mean squared distances of some pairs of clusters."""
    middles, variance = np.array(means), np.array(variances)
    apart = middles[left]
    apart -= middles[right]
    gap: Column = np.einsum("nd,nd->n", apart, apart) + (variance[left] + variance[right])
    return gap


def _two_largest(
    values: Column, starts: npt.NDArray[np.int64], owner: npt.NDArray[np.int64], least: float
) -> tuple[Column, Column]:
    """The largest and second largest value of each run, and of two more values ``least`` in each."""
    largest: Column = np.maximum.reduceat(values, starts)
    first = np.flatnonzero(values == largest[owner])
    first = first[np.flatnonzero(np.diff(owner[first], prepend=-1))]  # one in each run
    rest = values.copy()
    rest[first] = least
    return np.maximum(largest, least), np.maximum(np.maximum.reduceat(rest, starts), least)


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
