"""What is known of two groups of samples before anyone is asked: the facts that `link_model` works on.

Facts of cluster pairs and of the nodes inside clusters, kept for each cluster and computed again only where the
cluster, or one next to it, changed. All of it is derived from the partition, the store and the forest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.aggregation import merge_entropy
from a3s_desktop.core.cluster_graph import ClusterGraph, edges_of
from a3s_desktop.core.context import Context, Watcher
from a3s_desktop.core.forest import PLANTED, Forest
from a3s_desktop.core.learnt_metric import LearntMetric, differences, evenly
from a3s_desktop.core.link_model import FACTS, link_strengths
from a3s_desktop.core.moments import Moments
from a3s_desktop.core.node_table import Inner, NodeTable
from a3s_desktop.core.pair_table import Pairs, PairTable
from a3s_desktop.core.types import Answer, IntArray

Matrix = npt.NDArray[np.float64]
Spans = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]

FACES = 3
"""Samples that may stand for a cluster, where the pair of the first ones was skipped."""

MOST_NODES = 128
"""Nodes of one cluster that are looked at: those whose division would change most. Bounds the work per answer."""

NEAREST = 5
"""Samples inside and outside a cluster that a part of it is compared with."""

LONGEST = 2.0
"""Length taken for the shortest edge of two parts that no edge joins, and for longer ones: two standard deviations."""

_PAIRS, _NODES = 0.45, 0.35  # shares of the making of an engine, after the trees

_MOST_FOR_CENTRE = 2048  # samples that the mean of all is taken from

_SOFT_NEAREST = 0.02  # keeps the log ratio of two means over the nearest samples finite
_MOST_RATIO = 3.0  # of logarithms: beyond e^3 the ratio of two sums tells no more
_SOFT_TOTAL = 0.2  # ... and that of two sums over all samples: those of one sample are up to some ten


class GroupFacts(Watcher):
    """Facts about the clusters of one engine. A `Watcher` that looks at most of what changed when it is asked.

    Parameters
    ----------
    context : Context
    links : ClusterGraph
    forest : Forest
    saved : mapping, optional
        What `arrays` gave for this state of all three.
    """

    def __init__(
        self,
        context: Context,
        links: ClusterGraph,
        forest: Forest,
        saved: Mapping[str, npt.NDArray[Any]] | None = None,
    ) -> None:
        self._context = context
        self.links = links
        self.forest = forest
        metric: tuple[Matrix, float, float] | None = None
        known: Inner | None = None
        if saved is None:
            some = evenly(context.graph.n, _MOST_FOR_CENTRE).astype(np.int32)
            self._centre = context.rows(some).mean(axis=0, dtype=np.float64)
            self._middle, self._spread = self._edge_distances()
        else:
            self._centre = saved["centre"]
            self._middle, self._spread, middle, spread = saved["scale"].tolist()
            metric, known = (saved["whiten"], middle, spread), _nodes_from(saved)
        self._learnt = LearntMetric(context.graph, links.similarity, self.rows, metric)
        self._moments = Moments(context.partition, self.rows, self._learnt.whiten, saved)
        distances = (self.distance, self._learnt.distance)
        self.pairs = PairTable(links, self._moments, distances, self._is_closed, self._tell_pairs, saved)
        clusters = context.partition.cluster_ids().tolist()
        self.nodes = NodeTable(self._nodes_of, clusters, self._tell_nodes, known)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """All that is dear to derive again, as arrays of their own."""
        inner = self.nodes.facts()
        order = np.argsort(inner.cluster, kind="stable")
        return {
            **self.pairs.arrays(),
            **self._moments.arrays(),
            "centre": self._centre,
            "scale": np.array((self._middle, self._spread, self._learnt.middle, self._learnt.spread)),
            "whiten": self._learnt.whiten,
            "nodes": np.stack((inner.cluster, inner.node), axis=1)[order].astype(np.int32),
            "node_facts": inner.rows[order],
            "node_entropy": inner.entropy[order],
            "node_guess": inner.guess[order],
        }

    def constrained(self, left: int, right: int) -> None:
        """Look again at the nodes inside a cluster that something was said of."""
        cluster = self._context.partition.cluster_of(left)
        if cluster == self._context.partition.cluster_of(right):
            self.doubt(cluster)

    def merged(self, kept: int, gone: int) -> None:
        """Look again at the nodes of two clusters."""
        self.doubt(kept, gone)

    def divided(self, old: int, parts: Sequence[int]) -> None:
        """Look again at the nodes of the parts."""
        self.doubt(old, *parts)

    def doubt(self, *clusters: int) -> None:
        """Look again at the nodes inside some clusters, also when what changed them is taken back."""
        self.nodes.doubt(*clusters)
        self._context.log.push(self.nodes.doubt, *clusters)

    def size(self, cluster: int) -> int:
        """Number of members of a cluster."""
        return self._context.partition.size(cluster)

    def faces(self, cluster: int) -> tuple[int, ...]:
        """Samples that may stand for a cluster, best first."""
        first = self.forest.face(self.forest.root(cluster))
        members = self._context.partition.members(cluster)
        others = [i for i in members[:: max(1, len(members) // FACES)].tolist() if i != first]
        return (first, *others[: FACES - 1])

    def _tell_pairs(self, share: float) -> None:
        self._context.tell(PLANTED + _PAIRS * share)

    def _tell_nodes(self, share: float) -> None:
        self._context.tell(PLANTED + _PAIRS + _NODES * share)

    # --- pairs of clusters

    def merges(self) -> Pairs:
        """All linked pairs of clusters about which something can be asked, in no fixed order."""
        return self.pairs.facts()

    def _is_closed(self, a: int, b: int) -> bool:
        face, root = self.forest.face, self.forest.root
        return self._context.store.relation(face(root(a)), face(root(b))) is not None

    # --- nodes inside clusters

    def inner(self) -> Inner:
        """The nodes inside all clusters at which a division is possible (not answered *same*), in no fixed order."""
        return self.nodes.facts()

    def _nodes_of(self, cluster: int) -> Inner | None:
        members = self._context.partition.members(cluster)
        return self._node_facts(cluster, members) if len(members) > 1 else None

    def _node_facts(self, cluster: int, members: IntArray) -> Inner:
        forest, store = self.forest, self._context.store
        root = forest.root(cluster)
        nodes = []
        for node, start, middle, end in forest.nodes(root):
            left, right = forest.children(node)
            if store.relation(forest.face(left), forest.face(right)) is not Answer.SAME:
                nodes.append((node, start, middle, end))
        sizes = np.array([(middle - start, end - middle) for _, start, middle, end in nodes]).reshape(-1, 2)
        entropy = merge_entropy(sizes[:, 0], sizes[:, 1], 1)
        if len(nodes) > MOST_NODES:
            chosen = np.sort(np.argsort(-entropy, kind="stable")[:MOST_NODES])
            nodes, entropy, sizes = [nodes[k] for k in chosen], entropy[chosen], sizes[chosen]
        rows = _NodeFacts(self, root, members).of(nodes, self._context.table("confirmed").get(cluster, 0))
        return Inner(
            np.full(len(nodes), cluster, np.int64),
            np.array([node for node, *_ in nodes], np.int64),
            rows,
            entropy,
            np.array([forest.is_guess(node) for node, *_ in nodes], np.bool_),
        )

    # --- distances

    def distance(self, gap: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Root mean squared distances between two groups, in units of the edges' spread around their mean."""
        return (np.sqrt(gap.round(12)) - self._middle) / self._spread

    def rows(self, samples: IntArray) -> Matrix:
        """Features of some samples less the mean of all (about): squares of large numbers would hide small ones."""
        rows: Matrix = np.subtract(self._context.rows(samples), self._centre, dtype=np.float64)
        return rows

    def edges(self, samples: IntArray) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], Matrix, Matrix]:
        """Edges from some samples: how many each has, the samples they lead to, their similarities and lengths."""
        graph, links = self._context.graph, self.links
        edges = edges_of(graph, samples)
        counts = graph.indptr[samples.astype(np.int64) + 1] - graph.indptr[samples]
        return counts, graph.indices[edges], links.similarity[edges], links.length[edges]

    def _edge_distances(self) -> tuple[float, float]:
        """Mean and standard deviation of the length of edges, in the scaled features, from at most 20,000 of them."""
        graph = self._context.graph
        if not len(graph.indices):
            return 0.0, 1.0
        length = np.sqrt((differences(graph, evenly(len(graph.indices)), self.rows) ** 2).sum(axis=1))
        return float(length.mean()), float(length.std()) or 1.0


def _nodes_from(saved: Mapping[str, npt.NDArray[Any]]) -> Inner:
    cluster, node = saved["nodes"].astype(np.int64).T
    return Inner(cluster, node, saved["node_facts"], saved["node_entropy"], saved["node_guess"])


class _NodeFacts:
    """Facts of the nodes of one cluster's tree, from arrays in the order of its leaves."""

    def __init__(self, facts: GroupFacts, root: int, members: IntArray) -> None:
        self._facts = facts
        leaves = facts.forest.leaves(root)
        self._n = len(leaves)
        counts, to, self._values, self._lengths = facts.edges(leaves)
        self._ends = np.concatenate(([0], np.cumsum(counts)))
        order = np.argsort(leaves)
        at = np.minimum(np.searchsorted(members, to), len(members) - 1)
        self._place = np.where(members[at] == to, order[at], -1)  # position of the edge's end in the tree, or -1
        self._to = to
        rows = facts.rows(leaves)
        self._sums = np.concatenate((np.zeros((1, rows.shape[1])), np.cumsum(rows, axis=0)))
        self._squares = np.concatenate(([0.0], np.cumsum((rows**2).sum(axis=1))))

    def of(self, nodes: list[tuple[int, int, int, int]], confirmed: int) -> Matrix:
        """Facts of nodes given as (node, start, middle, end): float64 (m, FACTS)."""
        rows = np.ones((len(nodes), FACTS))
        if not nodes:
            return rows
        _, start, middle, end = np.array(nodes, np.int64).T
        flip = middle - start > end - middle
        small = np.where(flip, middle, start), np.where(flip, end, middle)
        large = np.where(flip, start, middle), np.where(flip, middle, end)
        sizes = small[1] - small[0], large[1] - large[0]
        largest, mean, rows[:, 3], rows[:, 8], belonging = self._likeness(small, large)
        rows[:, 1], rows[:, 2] = link_strengths(largest, mean)
        rows[:, 4] = self._distance(small, large)
        rows[:, 5], rows[:, 6] = np.log(sizes[0]), np.log(sizes[1])
        rows[:, 7] = np.log1p(confirmed)
        rows[:, 9:12] = 0.0
        rows[:, 12] = belonging
        return rows.round(9)

    def _likeness(self, small: Spans, large: Spans) -> tuple[Matrix, Matrix, Matrix, Matrix, Matrix]:
        """For each node: the largest and the mean similarity of its parts, how much more alike the smaller part is to
        the nearest of the rest of the cluster than to the nearest others (log ratio), the shortest edge between the
        parts, and how much more alike the smaller part is to all the rest than to all others (log ratio)."""
        count, sizes = len(small[0]), small[1] - small[0]
        spans = self._ends[small[0]], self._ends[small[1]]
        lengths = spans[1] - spans[0]
        owner = np.repeat(np.arange(count), lengths)
        edges = np.arange(int(lengths.sum())) + np.repeat(spans[0] - np.cumsum(lengths) + lengths, lengths)
        place, values = self._place[edges], self._values[edges]
        opposite = np.flatnonzero((place >= large[0][owner]) & (place < large[1][owner]))
        across, length = values[opposite], self._lengths[edges[opposite]]
        largest, shortest = np.zeros(count), np.full(count, LONGEST)
        starts = np.flatnonzero(np.diff(owner[opposite], prepend=-1))
        if len(starts):
            some = owner[opposite[starts]]
            largest[some] = np.maximum.reduceat(across, starts)
            shortest[some] = np.minimum(np.minimum.reduceat(length, starts), LONGEST)
        mean = np.bincount(owner[opposite], across, count) / (sizes * (large[1] - large[0]))
        within = (place >= small[0][owner]) & (place < small[1][owner])
        inside, outside = np.flatnonzero((place >= 0) & ~within), np.flatnonzero(place < 0)
        nearest = np.minimum(NEAREST, self._n - sizes)
        near = _largest_sums(owner[inside], place[inside], values[inside], nearest)
        far = _largest_sums(owner[outside], self._to[edges[outside]], values[outside], nearest)
        area = sizes * nearest
        nearer = np.log((near / area + _SOFT_NEAREST) / (far / area + _SOFT_NEAREST))
        own, others = (np.bincount(owner[part], values[part], count) / sizes for part in (inside, outside))
        own *= np.maximum(1.0, lengths / sizes / (self._n - sizes))  # as if the cluster had room for all neighbours
        belonging = np.log((own + _SOFT_TOTAL) / (others + _SOFT_TOTAL)).clip(-_MOST_RATIO, _MOST_RATIO)
        return largest, mean, nearer, shortest, belonging

    def _distance(self, small: Spans, large: Spans) -> Matrix:
        middles, variances = [], np.zeros(len(small[0]))
        for a, b in (small, large):
            middle = (self._sums[b] - self._sums[a]) / (b - a)[:, None]
            middles.append(middle)
            variances += np.maximum(0.0, (self._squares[b] - self._squares[a]) / (b - a) - (middle**2).sum(axis=1))
        return self._facts.distance(((middles[0] - middles[1]) ** 2).sum(axis=1) + variances)


def _largest_sums(
    owner: npt.NDArray[np.int64], to: npt.NDArray[np.integer[Any]], values: Matrix, counts: npt.NDArray[np.int64]
) -> Matrix:
    """For each owner the sum of its ``counts`` largest totals by sample, ``counts`` at most `NEAREST`; owners are
    ascending. The values are exact (see `exact`), so that the order of a sum does not matter."""
    if not len(owner):
        return np.zeros(len(counts))
    width = int(to.max()) + 1
    key = owner * width + to
    order = np.argsort(key, kind="stable")
    key = key[order]
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    totals: Matrix = np.add.reduceat(values[order], starts)
    owner = key[starts] // width
    order = np.lexsort((-totals, owner))
    totals, owner = totals[order], owner[order]
    first = np.searchsorted(owner, np.arange(len(counts)))
    kept = np.arange(len(owner)) - first[owner] < counts[owner]
    return np.bincount(owner[kept], totals[kept], len(counts)).astype(np.float64)
