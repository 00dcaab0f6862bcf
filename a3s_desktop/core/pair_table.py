"""Facts of all linked pairs of clusters as columns, of which an answer changes only a few cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.aggregation import merge_entropy
from a3s_desktop.core.chances import Chances, Worth, exactly, logits
from a3s_desktop.core.cluster_graph import Changes, ClusterGraph
from a3s_desktop.core.link_model import FACTS, link_strengths, probability, steadied
from a3s_desktop.core.moments import Moments
from a3s_desktop.core.room import enlarged
from a3s_desktop.core.runs import run_starts, sorted_places

Column = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_CHUNK = 2_048  # pairs looked at in one go
_CLUSTERS = 16_384  # clusters summed up in one go
_BLOCK = 65_536  # pairs whose facts are computed in one go
_OWN = np.array([1, 2, 4, 8])  # facts of a pair that depend on nothing but its two clusters
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

    first: npt.NDArray[np.int32]
    second: npt.NDArray[np.int32]
    rows: Column
    best: Iterator[tuple[float, int]]


class PairTable:
    """Facts by the slots of the cluster graph, and some figures of each cluster.

    Parameters
    ----------
    links : ClusterGraph
    moments : Moments
        Of the clusters.
    distances : two callables
        From mean squared distances between two groups, of features and of transformed ones, to the facts.
    closed : callable
        Whether the two samples that stand for two clusters are known to differ: nothing is left to ask there.
    tell : callable
        Hears which share of the pairs was looked at.
    saved : mapping, optional
        What `arrays` gave for this state.
    """

    def __init__(
        self,
        links: ClusterGraph,
        moments: Moments,
        distances: tuple[Callable[[Column], Column], Callable[[Column], Column]],
        closed: Callable[[int, int], bool],
        tell: Callable[[float], None],
        saved: Mapping[str, npt.NDArray[Any]] | None = None,
    ) -> None:
        self._links, self._moments, self._distances = links, moments, distances
        self._is_closed, self._tell = closed, tell
        self._nearness = np.zeros((0, 2))  # of each pair: mean similarity, learnt distance
        self._closed = np.zeros(0, np.bool_)  # the clusters are known to differ as they stand
        self._apart = np.zeros(0, np.bool_)  # some of their members are
        # Facts of each pair, and its Δh times N, as they were when last asked for.
        self._rows = np.zeros((0, FACTS))
        self._entropy = np.zeros(0)
        self._stale: list[IntArray] = []  # where they are to be computed again
        self._chances = Chances(same=True)
        self._unscored: list[npt.NDArray[np.int64]] = []  # slots to be scored again
        # Of each cluster: largest and second largest mean, number apart, size, and its two least learnt distances.
        self._clusters = np.zeros((0, 6))
        links.take_changed()
        live = links.live()
        self._make_room(int(links.ends.max(initial=-1)) + 1)
        if saved is None:
            self._look_at(live)
            self._sum_up(np.flatnonzero(np.bincount(links.ends[live].ravel())).tolist())
            self._stale = [live]
        else:
            self._take_over(live, saved)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All pairs, their links and what is told of them and their clusters, as arrays."""
        self._renew()
        live = self._links.live()
        return {
            **self._links.arrays(live),
            "nearness": self._nearness[live],
            "cells": self._rows[live[:, None], _OWN],
            "closed": self._closed[live],
            "clusters": self._clusters,
        }

    @property
    def count(self) -> int:
        """Number of linked pairs."""
        return self._links.count

    def facts(self) -> Pairs:
        """All pairs about which something can be asked, in no fixed order."""
        self._renew()
        return self._at(np.flatnonzero(self._open()))

    def chances(self, looked_at: Column, logit: float, weights: Column) -> tuple[IntArray, IntArray, Column]:
        """The clusters of all pairs about which something can be asked, int32 (m,) twice, and P(same) by some weights;
        of those only whose logit by the weights ``looked_at`` is at least so much, but for the last bits; in no fixed
        order."""
        self._renew()
        found: list[tuple[IntArray, IntArray, Column]] = []
        for at in range(0, len(self._rows), _BLOCK):
            slots = slice(at, at + _BLOCK)
            rows = self._rows[slots]
            chosen = np.flatnonzero((logits(rows, (looked_at,)) >= logit) & self._open(slots))
            first, second = self._links.ends[slots][chosen].T
            found.append((first, second, probability(rows[chosen], weights)))
        none = np.zeros(0, np.int32)
        first, second, same = (np.concatenate(parts) for parts in zip((none, none, np.zeros(0)), *found, strict=True))
        return first, second, same

    def scored(self, weights: Column, worth: Worth) -> Scored:
        """All pairs in the order of their worth; only what changed, and the best, are computed."""
        self._score(weights, worth)

        def gains(slots: npt.NDArray[np.int64]) -> Column:
            rows = self._rows[slots]
            chance = exactly(rows, (weights,))
            return worth(chance, self._entropy[slots], steadied(chance, rows[:, 5]))

        first, second = self._links.ends.T
        return Scored(first, second, self._rows, self._chances.best(first, second, gains))

    def likely(self, weights: Column, worth: Worth, least: float) -> tuple[IntArray, IntArray, Column]:
        """Pairs with P(same) of at least ``least`` about which something can be asked, of whose members none are known
        to differ: both clusters, int64 (m,), and P(same); in no fixed order."""
        self._score(weights, worth)
        slots = self._chances.likely(least)
        slots = slots[~self._links.apart[slots]]
        chance = exactly(self._rows[slots], (weights,))
        near = np.flatnonzero(chance >= least)
        first, second = self._links.ends[slots[near]].astype(np.int64).T
        return first, second, chance[near]

    # --- inner workings

    def _open(self, slots: IntArray | slice = slice(None)) -> npt.NDArray[np.bool_]:
        """Where something can be asked, of all slots or of some."""
        return (self._links.ends[slots, 0] >= 0) & ~self._closed[slots]

    def _at(self, slots: IntArray) -> Pairs:
        first, second = self._links.ends[slots].astype(np.int64).T
        return Pairs(first, second, self._rows[slots], self._entropy[slots], self._links.apart[slots])

    def _score(self, weights: Column, worth: Worth) -> None:
        self._renew()

        def most(slots: npt.NDArray[np.int64]) -> Column:
            gain: Column = worth(np.ones(len(slots)), self._entropy[slots]) * self._open(slots)
            return gain

        self._chances.update(self._rows, most, (weights,), self._unscored, worth)
        self._unscored.clear()

    def _take_over(self, slots: IntArray, saved: Mapping[str, npt.NDArray[Any]]) -> None:
        self._nearness[slots], self._rows[slots[:, None], _OWN] = saved["nearness"], saved["cells"]
        self._rows[slots, 0], self._closed[slots], self._apart[slots] = 1.0, saved["closed"], self._links.apart[slots]
        self._stale.append(slots)
        self._clusters = saved["clusters"].astype(np.float64)

    def _renew(self) -> None:
        """Bring the facts of all pairs up to date."""
        changes = self._links.take_changed()
        if changes.clusters:
            self._make_room(max(*changes.clusters, int(changes.others.max(initial=0))) + 1)
            told = self._tells(changes)
            free = self._links.ends[changes.slots, 0] < 0
            self._unscored.append(changes.slots[free])
            self._look_at(changes.slots[~free])
            told |= self._tells(changes)
            self._sum_up(sorted_places([np.array(changes.clusters), changes.others[told]]).tolist())
        stale = sorted_places(self._stale)
        stale = stale[self._links.ends[stale, 0] >= 0]
        self._stale.clear()
        for at in range(0, len(stale), _BLOCK):
            self._compute(stale[at : at + _BLOCK])
        if len(stale):
            self._unscored.append(stale)

    def _tells(self, changes: Changes) -> npt.NDArray[np.bool_]:
        """Which of the links that changed, as the table has them now, may have a part in what is told of their other
        clusters: only links among the two strongest or nearest have, and those that are apart."""
        cluster, slots = self._clusters[changes.others], changes.at
        gaps = np.where(self._closed[slots], _FAR, self._nearness[slots, 1])
        strong = self._nearness[slots, 0] >= cluster[:, 1]
        return np.asarray(strong | (gaps <= cluster[:, 5]) | self._apart[slots], np.bool_)

    def _compute(self, slots: IntArray) -> None:
        """Facts of some pairs that others take part in: value by value, whatever stands beside."""
        first, second = self._links.ends[slots].T
        mean, gap = self._nearness[slots].T
        a, b = self._clusters[first], self._clusters[second]
        small, large = np.minimum(a[:, 3], b[:, 3]), np.maximum(a[:, 3], b[:, 3])
        rows = self._rows[slots]
        rows[:, 3] = np.minimum(_margin(mean, a), _margin(mean, b))
        rows[:, 5], rows[:, 6] = np.log(small), np.log(large)
        smaller = np.where(a[:, 3] < b[:, 3], a[:, 2], b[:, 2])
        smaller = np.where(a[:, 3] == b[:, 3], np.minimum(a[:, 2], b[:, 2]), smaller)
        rows[:, 7] = np.log1p(smaller)
        first_ahead, second_ahead = _ahead(gap, a), _ahead(gap, b)
        swapped = a[:, 3] > b[:, 3]
        rows[:, 9] = gap
        rows[:, 10] = np.where(swapped, second_ahead, first_ahead)
        rows[:, 11] = np.where(swapped, first_ahead, second_ahead)
        self._rows[slots] = rows.round(9)
        self._entropy[slots] = merge_entropy(a[:, 3], b[:, 3], 1)

    def _look_at(self, slots: IntArray) -> None:
        """The facts of some pairs that depend on nothing but the two clusters."""
        self._moments.renew(sorted_places([self._links.ends[slots].ravel()]))
        for at in range(0, len(slots), _CHUNK):
            self._tell(at / len(slots))
            self._measure(slots[at : at + _CHUNK])

    def _measure(self, slots: IntArray) -> None:
        (first, second), (total, largest, shortest) = self._links.ends[slots].T, self._links.strengths[slots].T
        gaps = self._moments.gaps(first, second)
        self._nearness[slots, 0] = mean = total / gaps.pairs
        self._nearness[slots, 1] = self._distances[1](gaps.turned)
        rows = np.zeros((len(slots), FACTS))
        rows[:, 0] = 1.0
        rows[:, 1], rows[:, 2] = link_strengths(largest, mean)
        rows[:, 4] = self._distances[0](gaps.plain)
        rows[:, 8] = shortest
        self._rows[slots] = rows.round(9)
        self._closed[slots] = False
        self._apart[slots] = apart = self._links.apart[slots]
        for slot in slots[apart].tolist():
            self._closed[slot] = self._is_closed(*self._links.ends[slot].tolist())
        self._stale.append(slots)

    def _sum_up(self, clusters: list[int]) -> None:
        """What is told of some clusters by all their pairs; where that changes, their pairs' facts are stale."""
        for at in range(0, len(clusters), _CLUSTERS):
            self._sum_up_some(clusters[at : at + _CLUSTERS])

    def _sum_up_some(self, clusters: list[int]) -> None:
        counts, slots = self._links.slots(clusters)
        now = np.zeros((len(clusters), 6))
        now[:, 3] = [self._links.size(cluster) for cluster in clusters]
        now[:, 4:] = _FAR
        linked = np.flatnonzero(counts)
        if len(linked):
            starts = (np.cumsum(counts) - counts)[linked]
            owner = np.repeat(np.arange(len(linked)), counts[linked])
            now[linked, 0], now[linked, 1] = _two_largest(self._nearness[slots, 0], starts, owner, 0.0)
            now[linked, 2] = np.add.reduceat(self._links.apart[slots].astype(np.float64), starts)
            gaps = np.where(self._closed[slots], _FAR, self._nearness[slots, 1])
            least = _two_largest(-gaps, starts, owner, -_FAR)
            now[linked, 4], now[linked, 5] = -least[0], -least[1]
        changed = (self._clusters[clusters] != now).any(axis=1)
        self._clusters[clusters] = now
        self._stale.append(slots[np.repeat(changed, counts)])

    def _make_room(self, clusters: int) -> None:
        slots = len(self._links.ends)
        if slots > len(self._rows):
            self._nearness, self._rows = enlarged(self._nearness, slots), enlarged(self._rows, slots)
            self._entropy = enlarged(self._entropy, slots)
            self._closed, self._apart = enlarged(self._closed, slots), enlarged(self._apart, slots)
        if len(self._clusters) < clusters:
            self._clusters = enlarged(self._clusters, clusters + 256)


def _two_largest(
    values: Column, starts: npt.NDArray[np.int64], owner: npt.NDArray[np.int64], least: float
) -> tuple[Column, Column]:
    """The largest and second largest value of each run, and of two more values ``least`` in each."""
    largest: Column = np.maximum.reduceat(values, starts)
    first = np.flatnonzero(values == largest[owner])
    first = first[run_starts(owner[first])]  # one in each run
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
