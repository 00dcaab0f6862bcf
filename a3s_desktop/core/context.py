"""What a strategy sees: the graph, the store, the partition, its own logged tables, and the one way to ask."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.constraints import ConstraintStore
from a3s_desktop.core.partition import Partition
from a3s_desktop.core.types import (
    Answer,
    FloatArray,
    IndexArray,
    IntArray,
    PairGraph,
    Question,
    Reason,
    StrategyOptions,
)
from a3s_desktop.core.undo import LoggedDict, LoggedFlags, LoggedRows, UndoLog
from a3s_desktop.core.watcher import Watcher

Step = Generator[Question, Answer, Answer | None]
"""A step of a strategy: yields questions, is sent the answers."""

ANSWERED = (1e-4, 1.0 - 1e-4)
"""Probability of a pair that was answered *different* or *same* (or where that is implied)."""


class Strategy(Protocol):
    """Decides what is asked. All it learns is in the context's logged tables; whatever else it holds is derived."""

    def begin(self, context: Context) -> None:
        """Fill the tables for a partition that nothing was asked of yet."""
        ...

    def next_step(self, context: Context) -> Step | None:
        """The next step from the present state, or None where nothing is left to ask.

        A step is run from the same state again to undo an answer inside it: it must depend on nothing but the
        context, and may be left at any of its questions, so the tables must be whole whenever it asks.
        """
        ...

    def reconsider(self, context: Context) -> None:
        """A correction was made by hand: look again at what was done with."""
        ...


@runtime_checkable
class Keeper(Protocol):
    """A strategy whose derived parts are dear, so that they are worth to be kept beside the state."""

    def facts(self, context: Context) -> dict[str, npt.NDArray[Any]]:
        """The derived parts as arrays, for `Context.facts` of an engine that takes up this state."""
        ...


class Context:
    """Data and state of one engine.

    Attributes
    ----------
    graph : PairGraph
    views : sequence of (N, D_v) arrays
        May be memory-mapped: take rows, never the whole.
    options : StrategyOptions
    log : UndoLog
    store : ConstraintStore
    partition : Partition
    confirmed, junk, finished : LoggedFlags
        Samples that are must-linked with another; that left the clustering, each a cluster of its own that nothing
        is asked about; that were marked as finished.
    leaders : LoggedDict
        Cluster id -> the sample that stands for its dominant class, where one was chosen.
    values : LoggedDict
        The strategy's own state by name: numbers, strings or arrays that are replaced, never written into.
    tables : dict of LoggedDict
        The strategy's own integer-to-integer tables.
    rows_of : dict of LoggedRows
        The strategy's own growing lists of numbers.
    watchers : list of Watcher
        Told of every merge and split.
    facts : mapping of arrays, or None
        What a strategy derived from this very state before and gave away by `Keeper.facts`; None once it is taken.
    tell : callable
        Hears, while an engine is made, which share of that is done, and may raise `Cancelled`.
    divider : callable or None
        How the strategy divides a cluster between two samples that differ, ``divider(left, right)``; None: each
        sample goes to the more probable of the two.
    """

    def __init__(
        self,
        graph: PairGraph,
        views: Sequence[npt.NDArray[Any]],
        options: StrategyOptions,
        labels: IntArray,
        next_id: int | None = None,
        tell: Callable[[float], None] | None = None,
    ) -> None:
        self.tell = tell or _silent
        self.graph = graph
        self.views = tuple(np.asarray(view) for view in views)  # a mapped file's own kind of array is slow to index
        self.options = options
        self.log = UndoLog()
        self.store = ConstraintStore(self.log)
        self.partition = Partition(labels, self.log, next_id)
        self.confirmed = LoggedFlags(self.log, graph.n)
        self.junk = LoggedFlags(self.log, graph.n)
        self.finished = LoggedFlags(self.log, graph.n)
        self.leaders: LoggedDict[int, int] = LoggedDict(self.log)
        self.values: LoggedDict[str, Any] = LoggedDict(self.log)
        self.tables: dict[str, LoggedDict[int, int]] = {}
        self.rows_of: dict[str, LoggedRows] = {}
        self.watchers: list[Watcher] = []
        self.facts: Mapping[str, npt.NDArray[Any]] | None = None
        self.divider: Callable[[int, int], None] | None = None
        self._scales = tuple(_scale(view) for view in self.views)
        self._position = np.full(graph.n, -1, np.int32)  # scratch of `places`, all -1 between calls

    def made(self) -> None:
        """The engine is made: from now on nobody hears how far the work is."""
        self.tell = _silent

    def release(self) -> None:
        """The engine is gone: break the reference cycles. They would hold its memory until a collection of all
        objects, which a window does not make."""
        for watcher in self.watchers:
            watcher.release()
        self.watchers.clear()
        self.divider = None
        self.log.forget(self.log.mark())

    def table(self, name: str) -> LoggedDict[int, int]:
        """The strategy's table of that name."""
        if name not in self.tables:
            self.tables[name] = LoggedDict(self.log)
        return self.tables[name]

    def growing(self, name: str, width: int, whole: bool = False) -> LoggedRows:
        """The strategy's growing list of that name, each row ``width`` numbers, or whole numbers."""
        if name not in self.rows_of:
            self.rows_of[name] = LoggedRows(self.log, width, whole)
        return self.rows_of[name]

    # --- asking

    def ask(self, left: int, right: int, reason: Reason) -> Step:
        """What the pair is: known answers come from the store, only the rest is asked (Algorithm 3)."""
        if self._is_closed(left, right):
            return Answer.SKIP
        known = self.store.relation(left, right)
        if known is not None:
            return known
        if self.store.is_skipped(left, right):
            return Answer.SKIP
        labels = self.partition.labels
        answer = yield Question(
            left, right, reason, int(labels[left]), int(labels[right]), self.graph.probability(left, right)
        )
        return answer

    def may_ask(self, left: int, right: int) -> bool:
        """Whether a pair of unknown relation may be put: not skipped, and neither cluster junk or finished."""
        return not (self.store.is_skipped(left, right) or self._is_closed(left, right))

    def is_barred(self, cluster: int) -> bool:
        """Whether nothing is asked about a cluster any more, and only the annotator changes it: junk, or finished."""
        members = self.partition.members(cluster)
        return self._is_junk(cluster) or bool(self.finished.values[members].all())

    def barred(self) -> IntArray:
        """The clusters for which `is_barred` holds, int32, ascending."""
        if not self.junk.count and not self.finished.count:
            return np.zeros(0, np.int32)
        labels, size = self.partition.labels, self.partition.size
        found, counts = np.unique(labels[self.finished.samples()], return_counts=True)
        whole = [c for c, count in zip(found.tolist(), counts.tolist(), strict=True) if size(c) == count]
        return np.union1d(labels[self.junk.samples()], np.array(whole, np.int32))

    # --- clusters

    def home(self, sample: int) -> int:
        """The cluster of a sample; of a junk one, that of the samples it is must-linked with."""
        if self.junk[sample]:
            sample = next((i for i in self.store.component(sample) if not self.junk[i]), sample)
        return self.partition.cluster_of(sample)

    def homes(self, samples: IndexArray) -> IntArray:
        """`home` of each of some samples, int32 (m,)."""
        found = self.partition.labels[samples]
        if self.junk.count:
            for at in np.flatnonzero(self.junk.values[samples]).tolist():
                found[at] = self.home(int(samples[at]))
        return found

    def component(self, sample: int) -> IntArray:
        """The samples of a sample's cluster that are must-linked with it, itself included, int32, ascending."""
        members = self.partition.members(self.partition.cluster_of(sample))
        own = np.array(self.store.component(sample), np.int32)
        return np.intersect1d(own, members, assume_unique=True)

    def leader(self, cluster: int) -> int:
        """The sample that stands for the cluster's dominant class; chosen once, then kept."""
        known = self.leaders.get(cluster, -1)
        if known >= 0 and self.partition.cluster_of(known) == cluster:
            return known
        chosen = int(self.from_centre(self.partition.members(cluster))[0])
        self.leaders[cluster] = chosen
        return chosen

    def from_centre(self, members: IntArray) -> IntArray:
        """The members ordered by distance from the one nearest to their mean (the centre j0), j0 first."""
        if len(members) <= 2:
            return members
        rows = self.rows(members)
        centre = int(np.argmin(np.sum((rows - rows.mean(axis=0)) ** 2, axis=1).round(6)))
        distance = np.sum((rows - rows[centre]) ** 2, axis=1).round(6)
        distance[centre] = -1.0
        return members[np.argsort(distance, kind="stable")]

    def rows(self, samples: IntArray) -> npt.NDArray[np.float32]:
        """Features of some samples, all views side by side and each scaled to unit variance, float32 (m, ΣD)."""
        parts = [
            np.asarray(view[samples], np.float32) * scale for view, scale in zip(self.views, self._scales, strict=True)
        ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    def places(self, samples: IntArray, among: IntArray) -> IntArray:
        """Where each of some samples stands in an array that names none twice, int32; -1 where it does not."""
        self._position[among] = np.arange(len(among), dtype=np.int32)
        try:
            return self._position[samples]
        finally:
            self._position[among] = -1

    def pair_probabilities(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """P(same class) of all pairs of two sample sets, float32 (len(rows), len(columns)); 1 on equal samples."""
        graph = self.graph
        miss = np.float32(1.0 / (1.0 + np.exp(-graph.miss)))
        result = np.full((len(rows), len(columns)), miss, np.float32)
        row_of, edges = np.repeat(np.arange(len(rows)), graph.degrees(rows)), graph.edges_of(rows)
        column_of, own = self.places(graph.indices[edges], columns), self.places(rows, columns)
        inside = column_of >= 0
        result[row_of[inside], column_of[inside]] = 1.0 / (1.0 + np.exp(-graph.logodds[edges[inside]]))
        result[np.flatnonzero(own >= 0), own[own >= 0]] = 1.0
        return result

    # --- changing the partition, never against an answer

    def merge(self, a: int, b: int, joined: tuple[int, int]) -> int:
        """Unite two clusters that an answer joined; returns the id that stays.

        Members that earlier answers hold apart do not come along: of two such must-link components, the one that
        the joined pair does not belong to (else the smaller) becomes a cluster of its own.

        Parameters
        ----------
        a, b : int
            Cluster ids.
        joined : (int, int)
            The must-linked pair behind the merge; it always ends in the united cluster.
        """
        leader = self.leader(a if (-self.partition.size(a), a) < (-self.partition.size(b), b) else b)
        outcasts = self._outcasts(a, b, joined)
        kept = self.partition.merge(a, b)
        self.leaders[kept] = leader
        for watcher in self.watchers:
            watcher.merged(kept, a + b - kept)
        if outcasts:
            self.regroup([np.array(component, np.int32) for component in outcasts])
            kept = self.partition.cluster_of(joined[0])
        return kept

    def split(self, cluster: int, parts: Sequence[IntArray]) -> list[int]:
        """Divide a cluster; the leader goes with its part. See `Partition.split`."""
        leader = self.leaders.get(cluster, -1)
        ids = self.partition.split(cluster, parts)
        self.leaders.discard(cluster)
        if leader >= 0:
            self.leaders[self.partition.cluster_of(leader)] = leader
        for watcher in self.watchers:
            watcher.divided([cluster], ids)
        return ids

    def regroup(self, groups: Sequence[IntArray]) -> None:
        """Take groups of samples out of their clusters, each to be one; leaders go along. See `Partition.regroup`."""
        old, new = self.partition.regroup(groups)
        leaders = [(cluster, self.leaders[cluster]) for cluster in old if cluster in self.leaders]
        for cluster, _ in leaders:
            self.leaders.discard(cluster)
        for cluster, leader in leaders:
            home = self.partition.cluster_of(leader)
            if home == cluster or home not in self.leaders:
                self.leaders[home] = leader
        if old:
            for watcher in self.watchers:
                watcher.divided(old, new)

    def relabel(self, labels: IntArray) -> None:
        """Replace the whole partition; junk stays apart, and finished clusters stay as they are. See `Partition`."""
        barred = self.barred()
        if len(barred):
            kept = np.isin(self.partition.labels, barred)
            labels = labels.copy()
            labels[kept] = self.partition.labels[kept] + int(labels.max(initial=0)) + 1
        self.partition.relabel(labels)

    def isolate(self, sample: int) -> int:
        """Take a sample out of its cluster, together with all that is must-linked with it; returns its cluster id."""
        self.regroup([self.component(sample)])
        return self.partition.cluster_of(sample)

    def join(self, sample: int, home: int) -> None:
        """Move a sample, with all that is must-linked with it, to the cluster of ``home``, its must-linked mate."""
        if self.partition.cluster_of(sample) != self.partition.cluster_of(home):
            self.merge(self.isolate(sample), self.partition.cluster_of(home), (sample, home))

    def _is_closed(self, left: int, right: int) -> bool:
        if not (self.junk.count or self.finished.count):
            return False
        return self.is_barred(self.partition.cluster_of(left)) or self.is_barred(self.partition.cluster_of(right))

    def _is_junk(self, cluster: int) -> bool:
        return self.junk[int(self.partition.members(cluster)[0])]

    def _outcasts(self, a: int, b: int, joined: tuple[int, int]) -> list[tuple[int, ...]]:
        """Must-link components that cannot stay when two clusters become one, each as its members."""
        if self.partition.size(a) > self.partition.size(b):
            a, b = b, a
        store = self.store
        keep = {store.find(sample) for sample in joined}
        roots = sorted(store.roots(self.partition.members(a).tolist()))
        out: dict[int, tuple[int, ...]] = {}
        for root in roots:
            # The joined component reaches into both clusters, so that it may be held apart from members of either.
            across = (a, b) if root in keep else (b,)
            others = store.separated_from(root)
            for other in others[np.isin(self.homes(others), across)].tolist():
                if root in out or other in out:
                    continue
                sizes = {r: (r in keep, len(store.component(r)), -r) for r in (root, other)}
                weaker = min(sizes, key=lambda r: sizes[r])
                out[weaker] = tuple(i for i in store.component(weaker) if not self.junk[i])
        return [out[root] for root in sorted(out)]


def _scale(view: npt.NDArray[Any]) -> np.float32:
    """One over the root of the total variance, from at most 2,048 rows spread evenly."""
    step = max(1, len(view) // 2048)
    sample = np.asarray(view[::step], np.float64)
    spread = float(sample.var(axis=0).sum())
    return np.float32(1.0 / np.sqrt(spread)) if spread > 0.0 else np.float32(1.0)


def _silent(_share: float) -> None:
    """Nobody wants to know how far the work is."""
