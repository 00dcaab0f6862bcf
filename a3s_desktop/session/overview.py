"""Clusters and images by how doubtful they are, and what is near to what: for the gallery, the map and the lists.

Nothing here is kept: all of it is computed from the graph when a view asks for it, on the engine thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.engine import Engine
from a3s_desktop.core.runs import run_starts
from a3s_desktop.core.types import FloatArray, IntArray, PairGraph

NEAREST = 5
"""Edges from an image to a cluster that count: the most probable ones."""

COVER = 4
"""Images that stand for a cluster in the gallery."""

_BLOCK = 8_192  # images whose edges are looked at in one go

CONFIRMED = 0.2
"""Share of its doubt that an image keeps which is must-linked with another."""


@dataclass(frozen=True, slots=True)
class ClusterSummary:
    """A cluster as the gallery shows it.

    Attributes
    ----------
    id, size : int
    name : str
    doubt : float
        Mean doubt of its images, in [0, 1].
    finished : bool
    confirmed : int
        Images that are must-linked with another.
    cover : tuple of int
        Images that show what it holds, confirmed ones first; at most `COVER`.
    """

    id: int
    size: int
    name: str
    doubt: float
    finished: bool
    confirmed: int
    cover: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Home:
    """Where an image, or a cluster, most likely belongs.

    Attributes
    ----------
    item : int
        The image; of a cluster, the one that stands for it.
    cluster : int
        The likely home; -1 where nothing is near.
    likeness : float
        Mean P(same) over the best edges to it, in [0, 1].
    cover : int
        An image of that cluster; -1 where there is none.
    """

    item: int
    cluster: int
    likeness: float
    cover: int


def likeness(graph: PairGraph, labels: IntArray, items: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
    """How much images resemble the clusters that their edges lead to.

    Returns
    -------
    position, cluster : int32, shape (m,)
        Position in ``items``, cluster id; each pair once, in ascending order.
    value : float32, shape (m,)
        Sum of the (at most) `NEAREST` largest P(same) over their number, or over the cluster's size without the image
        itself, if that is less.
    """
    edges = graph.edges_of(items)
    counts = graph.degrees(items)
    position = np.repeat(np.arange(len(items), dtype=np.int32), counts)
    cluster = labels[graph.indices[edges]]
    p = 1.0 / (1.0 + np.exp(-graph.logodds[edges].astype(np.float64)))
    order = np.lexsort((-p, cluster, position))
    position, cluster, p = position[order], cluster[order], p[order]
    if not len(order):
        return position, cluster, p.astype(np.float32)
    first = np.flatnonzero(np.concatenate(([True], (position[1:] != position[:-1]) | (cluster[1:] != cluster[:-1]))))
    rank = np.arange(len(p)) - np.repeat(first, np.diff(np.append(first, len(p))))
    total = np.add.reduceat(np.where(rank < NEAREST, p, 0.0), first)
    position, cluster = position[first], cluster[first]
    sizes = np.bincount(labels)[cluster] - (labels[items[position]] == cluster)
    return position, cluster, (total / np.clip(sizes, 1, NEAREST)).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Overview:
    """Looks at an engine's clusters as they are now.

    Attributes
    ----------
    engine : Engine
    graph : PairGraph
    names : mapping of int to str
        Cluster id -> name.
    """

    engine: Engine
    graph: PairGraph
    names: Mapping[int, str]

    def doubts(self, items: IntArray | None = None) -> FloatArray:
        """How much more images resemble another cluster than their own.

        Parameters
        ----------
        items : int32 array, shape (m,), optional
            Default: all.

        Returns
        -------
        float32, shape (m,)
            0 (sure) to 1; 0 for junk and for finished clusters.
        """
        engine, labels = self.engine, self.engine.labels
        chosen = np.arange(len(labels), dtype=np.int32) if items is None else items
        inside, outside = np.zeros(len(chosen)), np.zeros(len(chosen))
        for position, cluster, value in self._likeness(chosen):
            own = cluster == labels[chosen[position]]
            inside[position[own]] = value[own]
            foreign = ~own & ~self._is_junk(cluster)
            np.maximum.at(outside, position[foreign], value[foreign])
        alone = np.bincount(labels)[labels[chosen]] == 1
        doubt = np.where(alone, outside, (outside + 0.05) / (inside + outside + 0.1))
        doubt[engine.confirmed.values[chosen]] *= CONFIRMED
        doubt[engine.junk.values[chosen] | engine.finished.values[chosen]] = 0.0
        return doubt.astype(np.float32)

    def clusters(self) -> tuple[ClusterSummary, ...]:
        """All clusters but the junk, single images included, by ascending id."""
        engine, labels, doubts = self.engine, self.engine.labels, self.doubts()
        ids = np.setdiff1d(engine.partition.cluster_ids(), labels[engine.junk.samples()])
        sizes = np.bincount(labels)
        mean = np.bincount(labels, doubts) / np.maximum(sizes, 1)
        confirmed = np.bincount(labels, engine.confirmed.values)
        done = np.bincount(labels, engine.finished.values)
        return tuple(
            ClusterSummary(
                id=cluster,
                size=int(sizes[cluster]),
                name=self.names.get(cluster, ""),
                doubt=round(float(mean[cluster]), 4),
                finished=bool(done[cluster] == sizes[cluster]),
                confirmed=int(confirmed[cluster]),
                cover=self._cover(cluster),
            )
            for cluster in ids.tolist()
        )

    def junk(self) -> tuple[int, ...]:
        """The images that left the clustering, ascending."""
        return tuple(self.engine.junk.samples().tolist())

    def nearest(self, cluster: int, count: int) -> tuple[Home, ...]:
        """The clusters most like another one, best first; those known to differ are left out."""
        members, labels = self.engine.partition.members(cluster), self.engine.labels
        if not len(members):
            return ()
        total = np.zeros(int(labels.max()) + 1)
        for _, other, value in self._likeness(members):
            near = (other != cluster) & ~self._is_junk(other)
            total += np.bincount(other[near], value[near], minlength=len(total))
        total /= len(members)
        found = np.flatnonzero(total)
        store = self.engine.store
        apart = {c for root in store.roots(members.tolist()) for c in labels[store.separated_from(root)].tolist()}
        best = [int(c) for c in found[np.lexsort((found, -total[found]))] if int(c) not in apart]
        return tuple(Home(self._face(cluster), c, float(total[c]), self._face(c)) for c in best[:count])

    def homes(self, items: Sequence[int] | None = None) -> tuple[Home, ...]:
        """For each image the cluster that it resembles most, of those it is not in and not known to differ from.

        Parameters
        ----------
        items : sequence of int, optional
            Default: the images that are a cluster of their own.
        """
        labels = self.engine.labels
        if items is None:
            alone = (np.bincount(labels)[labels] == 1) & ~self.engine.junk.values
            items = np.flatnonzero(alone).tolist()
        chosen = np.array(items, np.int32)
        found: list[Home] = []
        apart_of: dict[int, set[int]] = {}  # root -> clusters: one may differ from a hundred thousand samples
        for position, cluster, value in self._likeness(chosen):
            near = (cluster != labels[chosen[position]]) & ~self._is_junk(cluster)
            position, cluster, value = position[near], cluster[near], value[near]
            order = np.lexsort((cluster, -value, position))
            position, cluster, value = position[order], cluster[order], value[order]
            starts = run_starts(position)
            ends = np.append(starts[1:], len(position))
            for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
                item = int(chosen[position[start]])
                root = self.engine.store.find(item)
                if root not in apart_of:
                    apart_of[root] = set(labels[self.engine.store.separated_from(root)].tolist())
                apart = apart_of[root]
                at = next((k for k in range(start, end) if not apart or int(cluster[k]) not in apart), None)
                if at is not None:
                    home = int(cluster[at])
                    found.append(Home(item, home, float(value[at]), self._cover(home)[0]))
        known = {home.item: home for home in found}
        return tuple(known.get(item) or Home(item, -1, 0.0, -1) for item in chosen.tolist())

    # --- inner workings

    def _likeness(self, items: IntArray) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
        """`likeness` of some images, part by part: memory is bounded, and no long call holds up other threads."""
        for at in range(0, len(items), _BLOCK):
            position, cluster, value = likeness(self.graph, self.engine.labels, items[at : at + _BLOCK])
            yield position + np.int32(at), cluster, value

    def _is_junk(self, clusters: IntArray) -> npt.NDArray[np.bool_]:
        labels = self.engine.labels
        table = np.zeros(int(labels.max(initial=0)) + 1, np.bool_)
        table[labels[self.engine.junk.samples()]] = True
        return table[clusters]

    def _face(self, cluster: int) -> int:
        return self.engine.representatives(cluster, (), 1)[0]

    def _cover(self, cluster: int) -> tuple[int, ...]:
        members = self.engine.partition.members(cluster)
        if len(members) <= COVER:
            return tuple(members.tolist())
        # Confirmed ones first; exact representatives of every cluster would cost a pass over all pairs.
        confirmed = self.engine.confirmed.values[members]
        return tuple(members[np.lexsort((members, ~confirmed))][:COVER].tolist())
