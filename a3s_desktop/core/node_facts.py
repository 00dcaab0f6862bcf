"""Facts of the nodes inside clusters: where a cluster would come apart, and what speaks for it.

What is told of a node by the two parts below it alone stays the same as long as the node is there; only how the parts
stand to the rest of the cluster, and to all others, is another thing when the cluster has changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.aggregation import merge_entropy
from a3s_desktop.core.cluster_graph import ClusterGraph
from a3s_desktop.core.context import Context
from a3s_desktop.core.edge_values import GRAIN
from a3s_desktop.core.forest import Forest
from a3s_desktop.core.link_model import FACTS, link_strengths
from a3s_desktop.core.node_table import Inner
from a3s_desktop.core.runs import missing, run_starts
from a3s_desktop.core.trees import Tree
from a3s_desktop.core.types import Answer, IntArray

Matrix = npt.NDArray[np.float64]
Column = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]
Spans = tuple[Places, Places]

MOST_NODES = 128
"""Nodes of one cluster that are looked at: those whose division would change most. Bounds the work per answer."""

NEAREST = 5
"""Samples inside and outside a cluster that a part of it is compared with."""

LONGEST = 2.0
"""Length taken for the shortest edge of two parts that no edge joins, and for longer ones: two standard deviations."""

_ROWS = 256  # samples whose features are held at once

_SOFT_NEAREST = 0.02  # keeps the log ratio of two means over the nearest samples finite
_MOST_RATIO = 3.0  # of logarithms: beyond e^3 the ratio of two sums tells no more
_SOFT_TOTAL = 0.2  # ... and that of two sums over all samples: those of one sample are up to some ten

# Bits of a sample and of a similarity, which is not negative, and of a sum of these; `MOST_NODES` has the rest.
_SAMPLE, _VALUE, _TOTAL = 29, 26, 50


class NodeFacts:
    """Looks at the nodes of one cluster after the other.

    Parameters
    ----------
    context : Context
    links : ClusterGraph
        For the similarities and lengths of edges.
    forest : Forest
    rows : callable
        Features of some samples, float64 (m, ΣD).
    distance : callable
        From mean squared distances between two groups to the fact.
    """

    def __init__(
        self,
        context: Context,
        links: ClusterGraph,
        forest: Forest,
        rows: Callable[[IntArray], Matrix],
        distance: Callable[[Matrix], Matrix],
    ) -> None:
        self._context, self._forest, self._links = context, forest, links
        self._rows, self._distance = rows, distance
        self._roots: dict[int, int] = {}  # of each cluster that was looked at here: its tree then

    def of(self, cluster: int, known: Inner | None) -> Inner | None:
        """The nodes at which a division is possible (not answered *same*); None where there are no two members.

        Parameters
        ----------
        cluster : int
        known : Inner, optional
            What was found of this cluster when it was last looked at. None of its nodes was taken back since.
        """
        if self._context.partition.size(cluster) < 2:
            self._roots.pop(cluster, None)
            return None
        root = self._forest.root(cluster)
        tree = self._forest.tree(root)
        nodes, entropy = self._chosen(tree)
        ids = nodes[:, 0].astype(np.int64)
        rows = np.ones((len(ids), FACTS))
        new = compared = np.arange(len(ids))
        if known is not None:
            there, old = _places(ids, known.node)
            rows[there] = known.rows[old]
            new = missing(new, there)
            if self._roots.get(cluster) == root:
                compared = new
        self._roots[cluster] = root
        if len(compared):
            rows[compared] = self._compared(tree, nodes[compared], rows[compared])
        if len(new):
            rows[new, 4] = self._apart(tree, nodes[new])
        rows[:, 7] = np.log1p(self._context.table("confirmed").get(cluster, 0))
        rows[:, 9:12] = 0.0
        guess = np.array([self._forest.is_guess(node) for node in ids.tolist()], np.bool_)
        return Inner(np.full(len(ids), cluster, np.int64), ids, rows.round(9), entropy, guess)

    def forget(self, *clusters: int) -> None:
        """What was found of some clusters is not to be used any more."""
        for cluster in clusters:
            self._roots.pop(cluster, None)

    # --- inner workings

    def _chosen(self, tree: Tree) -> tuple[IntArray, Column]:
        """The nodes that are looked at, rows of the tree's, and Δh times N of their division."""
        nodes = tree.nodes
        linked = np.concatenate(([0], np.cumsum(self._context.confirmed.values[tree.leaves])))
        start, middle, end = (linked[nodes[:, k]] for k in (1, 2, 3))
        relation, face = self._context.store.relation, self._forest.face
        whole = [
            k
            for k in np.flatnonzero((middle > start) & (end > middle)).tolist()  # else nobody can have linked the faces
            if relation(*map(face, self._forest.children(int(nodes[k, 0])))) is Answer.SAME
        ]
        nodes = np.delete(nodes, whole, axis=0)
        entropy = merge_entropy(nodes[:, 2] - nodes[:, 1], nodes[:, 3] - nodes[:, 2], 1)
        if len(nodes) > MOST_NODES:
            chosen = np.sort(np.argsort(-entropy, kind="stable")[:MOST_NODES])
            nodes, entropy = nodes[chosen], entropy[chosen]
        return nodes, entropy

    def _compared(self, tree: Tree, nodes: IntArray, rows: Matrix) -> Matrix:
        """The facts that edges tell, and sizes."""
        small, large = _spans(nodes)
        sizes = small[1] - small[0]
        edges = self._edges(tree.leaves, small)
        largest, mean, rows[:, 8] = self._between(edges, sizes, large)
        rows[:, 1], rows[:, 2] = link_strengths(largest, mean)
        rows[:, 3], rows[:, 12] = self._belonging(edges, sizes, small, len(tree.leaves))
        rows[:, 5], rows[:, 6] = np.log(sizes), np.log(large[1] - large[0])
        return rows

    def _edges(self, leaves: IntArray, spans: Spans) -> _Edges:
        """The edges that start in each of some spans of a tree."""
        graph, count = self._context.graph, len(leaves)
        inside = np.zeros(count + 1, np.int64)
        np.add.at(inside, spans[0], 1)
        np.subtract.at(inside, spans[1], 1)
        used = np.flatnonzero(np.cumsum(inside[:-1]))
        counts = np.zeros(count, np.int64)
        counts[used] = graph.degrees(leaves[used])
        edges = graph.edges_of(leaves[used])
        to = graph.indices[edges]
        place = self._context.places(to, leaves)
        values = self._links.similarity[edges]
        ends = np.concatenate(([0], np.cumsum(counts)))
        first, last = ends[spans[0]], ends[spans[1]]
        lengths = last - first
        owner = np.repeat(np.arange(len(first)), lengths)
        at = np.arange(len(owner)) + np.repeat(first - np.cumsum(lengths) + lengths, lengths)
        return _Edges(owner, edges[at], to[at], place[at], values[at], lengths)

    def _between(self, edges: _Edges, sizes: Places, large: Spans) -> tuple[Column, Column, Column]:
        """Of both parts of each node: the largest and the mean similarity, and the shortest edge."""
        count, owner = len(sizes), edges.owner
        across = np.flatnonzero((edges.place >= large[0][owner]) & (edges.place < large[1][owner]))
        values, length = edges.values[across], self._links.length[edges.edge[across]]
        largest, shortest = np.zeros(count), np.full(count, LONGEST)
        starts = run_starts(owner[across])
        if len(starts):
            some = owner[across[starts]]
            largest[some] = np.maximum.reduceat(values, starts)
            shortest[some] = np.minimum(np.minimum.reduceat(length, starts), LONGEST)
        mean = np.bincount(owner[across], values, count) / (sizes * (large[1] - large[0]))
        return largest, mean, shortest

    def _belonging(self, edges: _Edges, sizes: Places, small: Spans, members: int) -> tuple[Column, Column]:
        """How much more alike the smaller part of each node is to the nearest of the rest of the cluster than to the
        nearest others, and to all the rest than to all others (log ratios)."""
        count, owner, place = len(sizes), edges.owner, edges.place
        within = (place >= small[0][owner]) & (place < small[1][owner])
        inside, outside = np.flatnonzero((place >= 0) & ~within), np.flatnonzero(place < 0)
        nearest = np.minimum(NEAREST, members - sizes)
        near, far = (
            _largest_sums(owner[part], edges.to[part], edges.values[part], nearest) for part in (inside, outside)
        )
        area = sizes * nearest
        nearer = np.log((near / area + _SOFT_NEAREST) / (far / area + _SOFT_NEAREST))
        own, others = (np.bincount(owner[part], edges.values[part], count) / sizes for part in (inside, outside))
        own *= np.maximum(1.0, edges.lengths / sizes / (members - sizes))  # as if there were room for all neighbours
        ratio = np.log((own + _SOFT_TOTAL) / (others + _SOFT_TOTAL)).clip(-_MOST_RATIO, _MOST_RATIO)
        return nearer, ratio

    def _apart(self, tree: Tree, nodes: IntArray) -> Column:
        """The distance of both parts of each node."""
        bounds = np.unique(nodes[:, 1:])
        sums, squares = self._sums(tree.leaves, bounds)
        middles, variances = [], np.zeros(len(nodes))
        for a, b in _spans(nodes):
            first, last, size = np.searchsorted(bounds, a), np.searchsorted(bounds, b), b - a
            middle = (sums[last] - sums[first]) / size[:, None]
            middles.append(middle)
            variances += np.maximum(0.0, (squares[last] - squares[first]) / size - (middle**2).sum(axis=1))
        return self._distance(((middles[0] - middles[1]) ** 2).sum(axis=1) + variances)

    def _sums(self, leaves: IntArray, bounds: IntArray) -> tuple[Matrix, Column]:
        """Sums of the features, and of their squares, of all leaves between the first of some places and each."""
        begins, sums, squares = [], [], []
        for at in range(int(bounds[0]), int(bounds[-1]), _ROWS):
            end = min(at + _ROWS, int(bounds[-1]))
            rows = self._rows(leaves[at:end])
            starts = np.union1d(at, bounds[(bounds > at) & (bounds < end)]) - at
            sums.append(np.add.reduceat(rows, starts, axis=0))
            squares.append(np.add.reduceat(np.einsum("nd,nd->n", rows, rows), starts))
            begins.append(starts + at)
        at_bounds = np.searchsorted(np.concatenate(begins), bounds)
        total = np.cumsum(np.concatenate((np.zeros_like(sums[0][:1]), *sums)), axis=0)
        return total[at_bounds], np.cumsum(np.concatenate(([0.0], *squares)))[at_bounds]


class _Edges(NamedTuple):
    """Edges from the smaller parts of nodes, node by node: of each edge the node's number, its position in the graph,
    the sample it leads to, that sample's place in the tree or -1, and its similarity; of each node, how many."""

    owner: Places
    edge: Places
    to: IntArray
    place: IntArray
    values: Column
    lengths: Places


def _spans(nodes: IntArray) -> tuple[Spans, Spans]:
    """Leaves of the smaller and of the larger part of each node; ties: the left one counts as the smaller."""
    _, start, middle, end = nodes.T.astype(np.int64)
    flip = middle - start > end - middle
    return (
        (np.where(flip, middle, start), np.where(flip, end, middle)),
        (np.where(flip, start, middle), np.where(flip, middle, end)),
    )


def _places(ids: Places, known: Places) -> tuple[Places, Places]:
    """Which of some ids are known, and where; no id is twice in either."""
    order = np.argsort(known)
    at = np.minimum(np.searchsorted(known[order], ids), len(known) - 1)
    there = np.flatnonzero(known[order[at]] == ids) if len(known) else np.zeros(0, np.int64)
    return there, order[at[there]]


def _largest_sums(owner: Places, to: IntArray, values: Column, counts: Places) -> Column:
    """For each owner the sum of its ``counts`` largest totals by sample, ``counts`` at most `NEAREST`.

    All is done on whole numbers, of which three fit into one: they are sorted fast, and their sums are exact.
    """
    if not len(owner):
        return np.zeros(len(counts))
    key = ((owner << _SAMPLE) + to << _VALUE) + np.rint(values * GRAIN).astype(np.int64)
    key.sort()
    group = key >> _VALUE
    starts = run_starts(group)
    totals = np.add.reduceat(key & (1 << _VALUE) - 1, starts)
    key = ((group[starts] >> _SAMPLE) << _TOTAL) + ((1 << _TOTAL) - 1 - totals)
    key.sort()
    owner = key >> _TOTAL
    first = np.searchsorted(owner, np.arange(len(counts)))
    kept = np.arange(len(owner)) - first[owner] < counts[owner]
    totals = (1 << _TOTAL) - 1 - (key[kept] & (1 << _TOTAL) - 1)
    return np.bincount(owner[kept], totals.astype(np.float64), len(counts)) / GRAIN
