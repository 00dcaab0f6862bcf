"""Clusters and images by how doubtful they are, and what is near to what: for the gallery, the map and the lists.

Nothing here is kept: all of it is computed from the graph when a view asks for it, on the engine thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.cluster_graph import edges_of
from a3s_desktop.core.engine import Engine
from a3s_desktop.core.types import FloatArray, IntArray, PairGraph

NEAREST = 5
"""Edges from an image to a cluster that count: the most probable ones."""

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
        Images that show best what it holds, best first; at most four.
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
    edges = edges_of(graph, items)
    counts = graph.indptr[items.astype(np.int64) + 1] - graph.indptr[items]
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


def item_doubts(engine: Engine, graph: PairGraph, items: IntArray | None = None) -> FloatArray:
    """How much more images resemble another cluster than their own: float32, 0 (sure) to 1; 0 for junk and finished.

    Parameters
    ----------
    engine : Engine
    graph : PairGraph
    items : int32 array, optional
        Default: all.
    """
    labels = engine.labels
    chosen = np.arange(len(labels), dtype=np.int32) if items is None else items
    position, cluster, value = likeness(graph, labels, chosen)
    own = cluster == labels[chosen[position]]
    inside, outside = np.zeros(len(chosen)), np.zeros(len(chosen))
    inside[position[own]] = value[own]
    foreign = ~own & ~engine.junk.values[_first_of(engine, cluster)]
    np.maximum.at(outside, position[foreign], value[foreign])
    alone = np.bincount(labels)[labels[chosen]] == 1
    doubt = np.where(alone, outside, (outside + 0.05) / (inside + outside + 0.1))
    doubt[engine.confirmed.values[chosen]] *= CONFIRMED
    doubt[engine.junk.values[chosen] | engine.finished.values[chosen]] = 0.0
    return doubt.astype(np.float32)


def clusters(engine: Engine, graph: PairGraph, names: dict[int, str]) -> tuple[ClusterSummary, ...]:
    """All clusters but the junk, single images included, by ascending id."""
    labels, doubts = engine.labels, item_doubts(engine, graph)
    ids = np.setdiff1d(engine.partition.cluster_ids(), labels[engine.junk.samples()])
    sizes = np.bincount(labels)
    mean = np.bincount(labels, doubts) / np.maximum(sizes, 1)
    confirmed = np.bincount(labels, engine.confirmed.values)
    done = np.bincount(labels, engine.finished.values)
    return tuple(
        ClusterSummary(
            id=cluster,
            size=int(sizes[cluster]),
            name=names.get(cluster, ""),
            doubt=round(float(mean[cluster]), 4),
            finished=bool(done[cluster] == sizes[cluster]),
            confirmed=int(confirmed[cluster]),
            cover=_cover(engine, cluster),
        )
        for cluster in ids.tolist()
    )


def members_by_doubt(engine: Engine, graph: PairGraph, cluster: int) -> tuple[tuple[int, float], ...]:
    """(image, doubt) of a cluster's members, most doubtful first."""
    members = engine.partition.members(cluster)
    doubts = item_doubts(engine, graph, members)
    return tuple((int(members[k]), float(doubts[k])) for k in np.lexsort((members, -doubts)))


def nearest_clusters(engine: Engine, graph: PairGraph, cluster: int, count: int) -> tuple[Home, ...]:
    """The clusters most like another one, best first; those known to differ are left out."""
    members, labels = engine.partition.members(cluster), engine.labels
    if not len(members):
        return ()
    _, other, value = likeness(graph, labels, members)
    near = (other != cluster) & ~engine.junk.values[_first_of(engine, other)]
    total = np.bincount(other[near], value[near], minlength=int(labels.max()) + 1) / len(members)
    found = np.flatnonzero(total)
    apart = {int(labels[root]) for i in members.tolist() for root in _separated(engine, i)}
    face = engine.representatives(cluster, (), 1)[0]
    best = [int(c) for c in found[np.lexsort((found, -total[found]))] if int(c) not in apart]
    return tuple(Home(face, c, float(total[c]), _face(engine, c)) for c in best[:count])


def likely_homes(engine: Engine, graph: PairGraph, items: Sequence[int]) -> tuple[Home, ...]:
    """For each image the cluster that it resembles most, other than its own and those it is known to differ from."""
    chosen, labels = np.array(items, np.int32), engine.labels
    position, cluster, value = likeness(graph, labels, chosen)
    near = (cluster != labels[chosen[position]]) & ~engine.junk.values[_first_of(engine, cluster)]
    position, cluster, value = position[near], cluster[near], value[near]
    order = np.lexsort((cluster, -value, position))
    homes = {at: Home(item, -1, 0.0, -1) for at, item in enumerate(chosen.tolist())}
    for at, other, how in zip(position[order].tolist(), cluster[order].tolist(), value[order].tolist(), strict=True):
        item = int(chosen[at])
        if homes[at].cluster < 0 and other not in {int(labels[root]) for root in _separated(engine, item)}:
            homes[at] = Home(item, other, how, _face(engine, other))
    return tuple(homes.values())


def _first_of(engine: Engine, cluster: IntArray) -> npt.NDArray[np.int64]:
    """Some member of each of the clusters."""
    some = np.zeros(int(engine.labels.max(initial=0)) + 1, np.int64)
    some[engine.labels] = np.arange(len(engine.labels))
    return some[cluster]


def _separated(engine: Engine, item: int) -> list[int]:
    return engine.store.separated_from(item) if engine.store.is_touched(item) else []


def _face(engine: Engine, cluster: int) -> int:
    return engine.representatives(cluster, (), 1)[0]


def _cover(engine: Engine, cluster: int) -> tuple[int, ...]:
    members = engine.partition.members(cluster)
    if len(members) <= 4:
        return tuple(members.tolist())
    # Confirmed ones first; exact representatives of every cluster would cost a pass over all pairs.
    confirmed = engine.confirmed.values[members]
    return tuple(members[np.lexsort((members, ~confirmed))][:4].tolist())
