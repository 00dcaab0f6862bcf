"""Which clusters are linked, and how strongly: kept up to date cluster by cluster, never computed anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.context import Context, Watcher
from a3s_desktop.core.edge_values import Lengths, Similarities
from a3s_desktop.core.types import Answer, PairGraph
from a3s_desktop.core.undo import UndoLog

Value = TypeVar("Value")


class Link(NamedTuple):
    """What joins two clusters."""

    total: float  # sum of the similarities of all edges between them
    largest: float  # the largest of them
    shortest: float  # length of the shortest edge between them
    apart: bool  # some member of one is known to differ from some member of the other


class ClusterGraph(Watcher):
    """For each cluster, its links to others. It follows merges and divisions of the partition, and their undo.

    A merge costs the links of both clusters; a division, the edges of the parts.

    Attributes
    ----------
    similarity : Similarities
        Of the graph's edges, rounded so that sums are exact.
    length : Lengths
        Of the graph's edges.

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
        self._rows: dict[int, dict[int, Link]] = {}
        self._changed: set[tuple[int, int]] = set()
        self._resized: set[int] = set()
        if saved is not None:
            links = [Link(*values) for values in zip(*saved["links"].T.tolist(), saved["apart"].tolist(), strict=True)]
            self._rows = by_cluster(saved["pairs"], links)
            return
        self._fill()
        for i, j, answer in context.store.constraints():
            if answer is Answer.DIFFERENT:
                a, b = context.home(i), context.home(j)
                if b in self.links(a):  # not logged: this is the state that is taken over
                    self._set(a, b, self._rows[a][b]._replace(apart=True))
        known = {context.home(sample) for sample in context.store.identities()}
        for a in sorted(known):
            for b in sorted(self.links(a).keys() & known):
                self._set(a, b, self._rows[a][b]._replace(apart=True))

    def links(self, cluster: int) -> Mapping[int, Link]:
        """The links of a cluster by the other cluster's id. Not to be written to; order has no meaning."""
        return self._rows.get(cluster, {})

    def pairs(self) -> list[tuple[int, int]]:
        """All linked pairs, smaller id first, in no order that has a meaning."""
        return [(a, b) for a, row in self._rows.items() for b in row if a < b]

    def arrays(self, pairs: Sequence[Sequence[int]]) -> dict[str, npt.NDArray[Any]]:
        """The links of all linked pairs, in the order of ``pairs``, as arrays."""
        links = [self._rows[a][b] for a, b in pairs]
        return {
            "lengths": self.length.scale,
            # One by one: making arrays of lists of tuples holds up all other threads.
            "links": np.fromiter((value for link in links for value in link[:3]), np.float64, 3 * len(links)).reshape(
                -1, 3
            ),
            "apart": np.fromiter((link.apart for link in links), np.bool_, len(links)),
        }

    def take_changed(self) -> set[tuple[int, int]]:
        """Pairs (smaller id first) whose link or sizes changed since this was last called; undoing changes too."""
        changed, self._changed = self._changed, set()
        resized, self._resized = self._resized, set()
        for cluster in resized:
            changed.update((min(cluster, other), max(cluster, other)) for other in self._rows.get(cluster, ()))
        return changed

    def set_apart(self, a: int, b: int) -> None:
        """Note that two clusters are known to differ, or know it of more members than before."""
        link = self._rows.get(a, {}).get(b)
        if link is not None:
            self._put(a, b, link._replace(apart=True))

    def touch(self, cluster: int) -> None:
        """Say that something that facts about all pairs of a cluster depend on has changed."""
        self._note_size(cluster)
        self._log.push(self._note_size, cluster)

    def constrained(self, left: int, right: int) -> None:
        """Follow an answer."""
        a, b = self._context.home(left), self._context.home(right)
        if a == b:
            self.touch(a)
        elif self._store.relation(left, right) is Answer.DIFFERENT:
            self.set_apart(a, b)

    def merged(self, kept: int, gone: int) -> None:
        """Follow a merge of the partition."""
        self.touch(kept)
        for other, link in sorted(self._rows.get(gone, {}).items()):
            self._put(gone, other, None)
            if other == kept:
                continue
            present = self._rows.get(kept, {}).get(other)
            if present is not None:
                link = Link(
                    present.total + link.total,
                    max(present.largest, link.largest),
                    min(present.shortest, link.shortest),
                    present.apart or link.apart,
                )
            self._put(kept, other, link)
        # One of the two may have been known to differ from a cluster that only the other had an edge to.
        for other in sorted(self._apart_from(self._partition.members(kept)) & self.links(kept).keys()):
            if not self._rows[kept][other].apart:
                self.set_apart(kept, other)

    def divided(self, old: int, parts: Sequence[int]) -> None:
        """Follow a division of the partition: the links of all parts are counted from their edges."""
        for other in sorted(self._rows.get(old, {})):
            self._put(old, other, None)
        labels, junk = self._partition.labels, self._context.junk.values
        for part in parts:
            members = self._partition.members(part)
            if junk[members[0]]:
                continue
            apart = self._apart_from(members)
            edges = edges_of(self._graph, members)
            to = self._graph.indices[edges]
            others = labels[to]
            outward = (others != part) & ~junk[to]
            for other, link in self._links_of(others[outward], edges[outward]):
                self._put(part, other, link._replace(apart=other in apart))

    # --- inner workings

    def _apart_from(self, members: npt.NDArray[np.int32]) -> set[int]:
        roots = {self._store.find(i) for i in members.tolist() if self._store.is_touched(i)}
        return {self._context.home(other) for root in roots for other in self._store.separated_from(root)}

    def _fill(self) -> None:
        labels = self._partition.labels
        place = np.where(self._context.junk.values, -1, labels)
        own = np.repeat(place, np.diff(self._graph.indptr))
        other = place[self._graph.indices]
        between = np.flatnonzero((own < other) & (own >= 0))
        key = own[between].astype(np.int64) * (int(labels.max(initial=0)) + 1) + other[between]
        for code, link in self._links_of(key, between):
            a, b = divmod(code, int(labels.max(initial=0)) + 1)
            self._rows.setdefault(a, {})[b] = link
            self._rows.setdefault(b, {})[a] = link

    def _links_of(self, groups: npt.NDArray[np.integer[Any]], edges: npt.NDArray[np.int64]) -> list[tuple[int, Link]]:
        """One link for each group of edges, ascending."""
        if not len(groups):
            return []
        order = np.argsort(groups, kind="stable")
        groups, similarity, length = groups[order], self.similarity[edges[order]], self.length[edges[order]]
        starts = np.flatnonzero(np.concatenate(([True], groups[1:] != groups[:-1])))
        columns = (
            groups[starts].tolist(),
            np.add.reduceat(similarity, starts).tolist(),
            np.maximum.reduceat(similarity, starts).tolist(),
            np.minimum.reduceat(length, starts).tolist(),
        )
        return [
            (group, Link(total, largest, shortest, False))
            for group, total, largest, shortest in zip(*columns, strict=True)
        ]

    def _note_size(self, cluster: int) -> None:
        self._resized.add(cluster)

    def _put(self, a: int, b: int, link: Link | None) -> None:
        old = self._rows.get(a, {}).get(b)
        self._set(a, b, link)
        self._log.push(self._set, a, b, old)

    def _set(self, a: int, b: int, link: Link | None) -> None:
        self._changed.add((min(a, b), max(a, b)))
        for i, j in ((a, b), (b, a)):
            if link is None:
                self._rows.get(i, {}).pop(j, None)
            else:
                self._rows.setdefault(i, {})[j] = link


def by_cluster(pairs: npt.NDArray[np.integer[Any]], values: Sequence[Value]) -> dict[int, dict[int, Value]]:
    """For each cluster of some pairs, the values of its pairs by the other cluster."""
    if not len(pairs):
        return {}
    own = np.concatenate((pairs[:, 0], pairs[:, 1]))
    order = np.argsort(own, kind="stable")
    other = np.concatenate((pairs[:, 1], pairs[:, 0]))[order].tolist()
    found = [values[place] for place in (order % len(pairs)).tolist()]
    own = own[order]
    starts = np.flatnonzero(np.diff(own, prepend=-1))
    ends = [*starts[1:].tolist(), len(own)]
    return {
        cluster: dict(zip(other[start:end], found[start:end], strict=True))
        for cluster, start, end in zip(own[starts].tolist(), starts.tolist(), ends, strict=True)
    }


def edges_of(graph: PairGraph, samples: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Positions of all edges that start at some samples, int64, sample by sample."""
    starts = graph.indptr[samples]
    counts = graph.indptr[samples.astype(np.int64) + 1] - starts
    shift = starts - np.concatenate(([0], np.cumsum(counts)[:-1]))
    return np.arange(int(counts.sum())) + np.repeat(shift, counts)
