"""Which clusters are linked, and how strongly: kept up to date cluster by cluster, never computed anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.context import Context
from a3s_desktop.core.edge_values import Lengths, Similarities
from a3s_desktop.core.pair_index import PairIndex, Places
from a3s_desktop.core.room import enlarged
from a3s_desktop.core.runs import run_starts, sorted_places
from a3s_desktop.core.types import Answer, IntArray
from a3s_desktop.core.undo import UndoLog
from a3s_desktop.core.watcher import Watcher

_BLOCK = 1 << 20
"""Edges that are looked at in one go where all links are counted: it bounds memory."""

_SAMPLES = 1 << 14  # of one cluster, whose edges are looked at in one go: no call holds up other threads for long


class Link(NamedTuple):
    """What joins two clusters."""

    total: float  # sum of the similarities of all edges between them
    largest: float  # the largest of them
    shortest: float  # length of the shortest edge between them
    apart: bool  # some member of one is known to differ from some member of the other


class Links(NamedTuple):
    """Links of one cluster to m others, or of m pairs."""

    others: Places
    strengths: npt.NDArray[np.float64]  # shape (m, 3): total, largest, shortest
    apart: npt.NDArray[np.bool_]

    def part(self, chosen: Any) -> Links:
        """Some of them."""
        return Links(self.others[chosen], self.strengths[chosen], self.apart[chosen])


class Changes(NamedTuple):
    """What is to be looked at again."""

    slots: Places  # whose link or sizes changed, or that were freed, ascending
    clusters: list[int]  # that changed, or all of whose links may have
    others: Places  # clusters of which a link changed, once for each, shape (k,)
    at: Places  # ... and the link's slot, shape (k,); it may be free, or another's by now


class ClusterGraph(Watcher):
    """For each cluster, its links to others. It follows merges and divisions of the partition, and their undo.

    Each linked pair has a slot in some columns; slots have no order, and one that was freed is used again. A merge
    costs the links of both clusters; a division, the edges of the parts.

    Attributes
    ----------
    similarity : Similarities
        Of the graph's edges, rounded so that sums are exact.
    length : Lengths
        Of the graph's edges.
    ends : int32, shape (capacity, 2)
        Clusters of each pair, smaller id first; (-1, -1) where the slot is free. Like the others not to be written to.
    strengths : float64, shape (capacity, 3)
        Total, largest, shortest; see `Link`.
    apart : bool, shape (capacity,)
        See `Link`.

    Junk has no links.

    Parameters
    ----------
    context : Context
        The present state of its partition and its store is taken over.
    similarity : Similarities, or float, shape (E,)
        Of the graph's edges.
    log : UndoLog, optional
        Default: the context's.
    saved : mapping, optional
        What `arrays` gave for this state of the context.
    """

    def __init__(
        self,
        context: Context,
        similarity: Similarities | npt.NDArray[np.floating[Any]],
        log: UndoLog | None = None,
        saved: Mapping[str, npt.NDArray[Any]] | None = None,
    ) -> None:
        self._context = context
        self._graph = context.graph
        self._partition = context.partition
        self._store = context.store
        self._log = log or context.log
        self.similarity = similarity if isinstance(similarity, Similarities) else Similarities(similarity)
        self.length = Lengths(context.graph, None if saved is None else saved["lengths"])
        self._free: list[int] = []
        self._changed: list[tuple[Places, Places]] = []  # other clusters of links that changed, and their slots
        self._around: set[int] = set()  # clusters that such links were changed for
        self._resized: set[int] = set()
        if saved is not None:
            self._fill([(saved["pairs"], saved["links"])])
            self.apart[: len(saved["pairs"])] = saved["apart"]
            return
        self._fill(list(self._counted()))
        for i, j, answer in context.store.constraints():
            if answer is Answer.DIFFERENT:
                slot = self.slot(context.home(i), context.home(j))
                if slot >= 0:  # not logged: this is the state that is taken over
                    self.apart[slot] = True
        known = np.zeros(context.partition.next_id, np.bool_)
        known[[context.home(sample) for sample in context.store.identities()]] = True
        if known.any():
            self.apart |= known[self.ends].all(axis=1) & (self.ends[:, 0] >= 0)

    def links(self, cluster: int) -> dict[int, Link]:
        """The links of a cluster by the other cluster's id, in no order that has a meaning."""
        found = self._links(cluster)
        values = zip(*found.strengths.T.tolist(), found.apart.tolist(), strict=True)
        return dict(zip(found.others.tolist(), (Link(*value) for value in values), strict=True))

    @property
    def count(self) -> int:
        """Number of linked pairs."""
        return len(self.ends) - len(self._free)

    def size(self, cluster: int) -> int:
        """Number of members of a cluster."""
        return self._partition.size(cluster)

    def slot(self, a: int, b: int) -> int:
        """Where the facts of a linked pair stand; -1 where the two are not linked."""
        return self._index.slot(a, b)

    def slots(self, clusters: Sequence[int]) -> tuple[Places, Places]:
        """How many links each of some clusters has, and their slots, cluster by cluster."""
        return self._index.slots(clusters)

    def live(self) -> Places:
        """The slots of all linked pairs, by their smaller, then their larger id."""
        slots = np.flatnonzero(self.ends[:, 0] >= 0)
        return slots[np.lexsort((self.ends[slots, 1], self.ends[slots, 0]))]

    def arrays(self, slots: Places) -> dict[str, npt.NDArray[Any]]:
        """All links as arrays, in the order of `live`, which is to be given."""
        return {
            "lengths": self.length.scale,
            "pairs": self.ends[slots],
            "links": self.strengths[slots],
            "apart": self.apart[slots],
        }

    def take_changed(self) -> Changes:
        """What changed since this was last called; undoing changes too."""
        changed, clusters, resized = self._changed, self._around, self._resized
        self._changed, self._around, self._resized = [], set(), set()
        changed += map(self._index.row, resized)
        clusters |= resized
        none = np.zeros(0, np.int64)
        others = np.concatenate([none, *(others for others, _ in changed)])
        at = np.concatenate([none, *(slots for _, slots in changed)])
        return Changes(sorted_places([at]), list(clusters), others, at)

    def set_apart(self, a: int, b: int) -> None:
        """Note that two clusters are known to differ, or know it of more members than before."""
        slot = self._index.slot(a, b)
        if slot >= 0:
            before = Links(np.array([b]), self.strengths[[slot]], self.apart[[slot]])
            self._assign(a, before._replace(apart=np.array([True])))
            self._log.push(self._assign, a, before)

    def touch(self, cluster: int) -> None:
        """Say that something that facts about all pairs of a cluster depend on has changed."""
        self._note_size(cluster)
        self._log.push(self._note_size, cluster)

    def constrained(self, left: int, right: int) -> None:
        """Follow an answer."""
        a, b = self._context.home(left), self._context.home(right)
        if a == b:
            self.touch(a)
            if self._context.junk[left] or self._context.junk[right]:  # it had no home before, and brings what it knows
                self._set_all_apart(a, [left])
        elif self._store.relation(left, right) is Answer.DIFFERENT:
            self.set_apart(a, b)

    def merged(self, kept: int, gone: int) -> None:
        """Follow a merge of the partition."""
        self.touch(kept)
        moved = self._links(gone)
        self._detach(gone, moved)
        moved = moved.part(moved.others != kept)
        slots = self._index.find(kept, moved.others)
        both, new = np.flatnonzero(slots >= 0), np.flatnonzero(slots < 0)
        slots = slots[both]
        before = Links(moved.others[both], self.strengths[slots], self.apart[slots])
        joined = before.strengths + moved.strengths[both]
        joined[:, 1] = np.maximum(before.strengths[:, 1], moved.strengths[both, 1])
        joined[:, 2] = np.minimum(before.strengths[:, 2], moved.strengths[both, 2])
        self._assign(kept, Links(before.others, joined, before.apart | moved.apart[both]))
        self._log.push(self._assign, kept, before)
        self._attach(kept, moved.part(new))
        # One of the two may have been known to differ from a cluster that only the other had an edge to.
        self._set_all_apart(kept, self._partition.members(kept).tolist())

    def divided(self, old: Sequence[int], parts: Sequence[int]) -> None:
        """Follow a division of the partition: the links of all parts are counted from their edges."""
        for cluster in old:
            self._detach(cluster, self._links(cluster))
        for part in parts:
            members = self._partition.members(part)
            if not self._context.junk[int(members[0])]:
                found, strengths = self._outward(part, members)
                self._attach(part, Links(found, strengths, np.isin(found, self._apart_from(members.tolist()))))

    # --- inner workings

    def _outward(self, cluster: int, members: IntArray) -> tuple[Places, npt.NDArray[np.float64]]:
        """The clusters that a cluster's members have edges to, ascending, and the strengths of the links."""
        labels, junk = self._partition.labels, self._context.junk.values
        lots: list[tuple[Places, npt.NDArray[np.float64]]] = []
        for at in range(0, len(members), _SAMPLES):
            edges = self._graph.edges_of(members[at : at + _SAMPLES])
            to = self._graph.indices[edges]
            others = labels[to]
            outward = (others != cluster) & ~junk[to]
            lots.append(self._grouped(others[outward].astype(np.int64), edges[outward]))
        if len(lots) == 1:
            return lots[0]
        found, strengths = (np.concatenate(columns) for columns in zip(*lots, strict=True))
        order = np.argsort(found, kind="stable")
        return _summed(found[order], tuple(strengths[order].T))

    def _links(self, cluster: int) -> Links:
        others, slots = self._index.row(cluster)
        return Links(others, self.strengths[slots], self.apart[slots])

    def _set_all_apart(self, cluster: int, samples: Sequence[int]) -> None:
        """Note all clusters from which some samples at home in a cluster are known to differ."""
        for other in self._apart_from(samples).tolist():
            slot = self._index.slot(cluster, other)
            if slot >= 0 and not self.apart[slot]:
                self.set_apart(cluster, other)

    def _apart_from(self, samples: Sequence[int]) -> Places:
        """Clusters with a member that is known to differ from one of some samples, ascending."""
        found = np.zeros(self._partition.next_id, np.bool_)
        for root in self._store.roots(samples):
            found[self._context.homes(self._store.separated_from(root))] = True
        return found.nonzero()[0]

    def _fill(self, blocks: list[tuple[IntArray, npt.NDArray[np.float64]]]) -> None:
        """Begin with the links of some blocks, which are emptied: a copy of all would need the memory twice."""
        count = sum(len(ends) for ends, _ in blocks)
        room = count + count // 16 + 1024  # what an answer adds mostly finds a place: making room moves everything
        self.ends, self.strengths = np.full((room, 2), -1, np.int32), np.zeros((room, 3))
        self.apart = np.zeros(room, np.bool_)
        self._free = list(range(room - 1, count - 1, -1))
        at = 0
        blocks.reverse()
        while blocks:
            ends, strengths = blocks.pop()
            self.ends[at : at + len(ends)], self.strengths[at : at + len(ends)] = ends, strengths
            at += len(ends)
        self._index = PairIndex(self.ends[:count])

    def _counted(self) -> Iterator[tuple[IntArray, npt.NDArray[np.float64]]]:
        """All links as they are in the graph, in blocks: ends, ascending, and strengths."""
        labels = self._partition.labels
        home = np.where(self._context.junk.values, -1, labels).astype(np.int32)
        width = int(labels.max(initial=0)) + 1
        for samples in self._blocks(home):
            edges = self._graph.edges_of(samples)
            own = np.repeat(home[samples], self._graph.degrees(samples))
            other = home[self._graph.indices[edges]]
            between = np.flatnonzero(own < other)
            key = own[between].astype(np.int64) * width + other[between]
            codes, strengths = self._grouped(key, edges[between])
            yield np.stack(np.divmod(codes, width), axis=1).astype(np.int32), strengths

    def _blocks(self, home: IntArray) -> Iterator[IntArray]:
        """All samples but junk, ascending by cluster, in blocks that hold whole clusters and some `_BLOCK` edges."""
        order = np.argsort(home, kind="stable").astype(np.int32)
        order = order[int(np.count_nonzero(home < 0)) :]
        counts = self._graph.degrees(order)
        starts = run_starts(home[order])
        before = (np.cumsum(counts) - counts)[starts]  # edges of all clusters before each cluster
        block = before // _BLOCK
        bounds = [*starts[run_starts(block)].tolist(), len(order)]
        for begin, end in pairwise(bounds):
            yield order[begin:end]

    def _grouped(self, groups: Places, edges: Places) -> tuple[Places, npt.NDArray[np.float64]]:
        """The groups of some edges, ascending, and the strengths of each."""
        order = np.argsort(groups, kind="stable")
        edges = edges[order]
        similarity = self.similarity[edges]
        return _summed(groups[order], (similarity, similarity, self.length[edges]))

    def _note_size(self, cluster: int) -> None:
        self._resized.add(cluster)

    # Changes of one cluster's links. Those that are logged are taken back by those that are not.

    def _attach(self, cluster: int, links: Links) -> None:
        """Set links, some of which may be there; they are gone when this is taken back."""
        self._assign(cluster, links)
        self._log.push(self._remove, cluster, links.others)

    def _detach(self, cluster: int, links: Links) -> None:
        """Remove all links of a cluster, which are given."""
        self._remove(cluster, links.others)
        self._log.push(self._assign, cluster, links)

    def _assign(self, cluster: int, links: Links) -> None:
        slots = self._index.find(cluster, links.others)
        new = np.flatnonzero(slots < 0)
        if len(new):
            others = links.others[new]
            slots[new] = taken = self._take(len(new))
            self.ends[taken, 0], self.ends[taken, 1] = np.minimum(others, cluster), np.maximum(others, cluster)
            self._index.put(cluster, others, taken)
        self.strengths[slots], self.apart[slots] = links.strengths, links.apart
        self._note(cluster, links.others, slots)

    def _remove(self, cluster: int, others: Places) -> None:
        slots = self._index.find(cluster, others)
        there = slots >= 0
        others, slots = others[there], slots[there]
        self._index.drop(cluster, others)
        self.ends[slots] = -1
        self._free += slots.tolist()
        self._note(cluster, others, slots)

    def _note(self, cluster: int, others: Places, slots: Places) -> None:
        if len(slots):
            self._changed.append((others, slots))
            self._around.add(cluster)

    def _take(self, count: int) -> Places:
        """Some free slots; there are more where none are left."""
        if len(self._free) < count:
            old = len(self.ends)
            more = max(count, old // 8, 64)
            self.ends = enlarged(self.ends, old + more, -1)
            self.strengths, self.apart = enlarged(self.strengths, old + more), enlarged(self.apart, old + more)
            self._free += range(old + more - 1, old - 1, -1)
        taken = self._free[-count:]
        del self._free[-count:]
        return np.array(taken, np.int64)


def _summed(groups: Places, columns: Sequence[npt.NDArray[np.float64]]) -> tuple[Places, npt.NDArray[np.float64]]:
    """Each of some groups, ascending as they stand, once, and its strengths from totals, largest and shortest."""
    if not len(groups):
        return np.zeros(0, np.int64), np.zeros((0, 3))
    starts = run_starts(groups)
    reduced = (
        way.reduceat(column, starts) for way, column in zip((np.add, np.maximum, np.minimum), columns, strict=True)
    )
    return groups[starts], np.stack(list(reduced), axis=1)
