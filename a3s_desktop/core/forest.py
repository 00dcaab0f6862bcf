"""Every cluster as a binary tree of its samples: where it would come apart, if it were to.

The inner nodes of a cluster are the places that a purity question can be put to: do the two parts below belong
together? Initial clusters get their tree by average linkage on the similarities; a merge of two clusters becomes a
node above both, so what was joined by a guess of the model can be taken apart again at the same place.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.context import Context
from a3s_desktop.core.edge_values import Similarities
from a3s_desktop.core.runs import run_starts
from a3s_desktop.core.side_links import SideLinks
from a3s_desktop.core.trees import Tree
from a3s_desktop.core.types import Answer, IntArray
from a3s_desktop.core.watcher import Watcher

LARGEST_DENSE = 600
"""Clusters above this size get their tree from a spanning tree of their edges instead of average linkage, which needs
all pairs."""

_KEPT = 1 << 21  # leaves of the trees that are kept as arrays, 20 bytes each: those of a million samples, twice
PLANTED = 0.2
"""Share of the making of an engine that the trees of a first clustering take."""

# Samples whose edges are read, and edges that are compared, in one go: no call holds up other threads for long.
_SAMPLES, _EDGES = 1 << 14, 1 << 19
_TOLD = 64  # trees after which progress is told
_LEAST_DISTANCE = 1e-6  # of samples that were not said to be the same: those that were are joined first


class Forest(Watcher):
    """Trees over the samples, one for each cluster. A `Watcher` of the partition.

    Node ``i < N`` is sample i; nodes above are made from two others. All is kept by the context: rows ``nodes`` (both
    children and the sample that represents the node), tables ``guess`` (1 for nodes that the model joined unasked) and
    ``root`` (cluster id -> node).

    Parameters
    ----------
    context : Context
    similarity : Similarities, or float64, shape (E,)
        Of the graph's edges.
    """

    def __init__(self, context: Context, similarity: Similarities | npt.NDArray[np.float64]) -> None:
        self._context = context
        self._similarity = similarity
        self._nodes = context.growing("nodes", 3, whole=True)
        self._guess, self._root = context.table("guess"), context.table("root")
        self._n = context.graph.n
        self._prepared: dict[int, int] = {}  # first sample of a part -> its root, made ready by `cut`
        self._trees: OrderedDict[int, Tree] = OrderedDict()  # by root, the one longest unused first
        self._leaves = 0  # of these

    def grow(self) -> None:
        """Make the trees of a partition that nothing was asked of yet."""
        ids = self._context.partition.cluster_ids().tolist()
        for count, cluster in enumerate(ids):
            if count % _TOLD == 0:
                self._context.tell(PLANTED * count / len(ids))
            self._root[cluster] = self._plant(cluster)

    # --- reading

    def root(self, cluster: int) -> int:
        """The root of a cluster's tree."""
        return self._root[cluster]

    def is_leaf(self, node: int) -> bool:
        """Whether a node is a single sample."""
        return node < self._n

    def children(self, node: int) -> tuple[int, int]:
        """The two nodes below an inner node."""
        left, right, _ = self._nodes[node - self._n]
        return left, right

    def face(self, node: int) -> int:
        """The sample that represents a node: of its children's faces, the one of which more is known; of equally known
        ones, the one that the node's samples resemble more. What was answered of a cluster by its face would else be
        asked again."""
        return node if node < self._n else int(self._nodes[node - self._n][2])

    def is_guess(self, node: int) -> bool:
        """Whether the model joined this node's children without asking."""
        return node in self._guess

    def tree(self, node: int) -> Tree:
        """All below a node, as arrays. Not to be written to."""
        if node < self._n:
            return Tree.walked(node, self._n, self.children)
        if node in self._trees:
            self._trees.move_to_end(node)
            return self._trees[node]
        return self._keep(node, Tree.walked(node, self._n, self.children))

    def leaves(self, node: int) -> IntArray:
        """Samples below a node, int32, left to right."""
        return self.tree(node).leaves

    def nodes(self, root: int) -> list[tuple[int, int, int, int]]:
        """Inner nodes as (node, start, middle, end): positions in ``leaves(root)``; a child is [start, middle) or
        [middle, end)."""
        return [(node, start, middle, end) for node, start, middle, end in self.tree(root).nodes.tolist()]

    # --- changing

    def merged(self, kept: int, gone: int) -> None:
        """Put the trees of two clusters under one node."""
        self._note_new()
        self._root[kept] = self._join(self._root[kept], self._root[gone])
        self._root.discard(gone)

    def mark_guess(self, cluster: int) -> None:
        """Note that the two parts below a cluster's root were joined by the model."""
        self._guess[self.root(cluster)] = 1

    def divided(self, old: Sequence[int], parts: Sequence[int]) -> None:
        """Give each part of some clusters its tree: the one that `cut` made ready, else a new one."""
        self._note_new()
        for cluster in old:
            self._root.discard(cluster)
        for count, part in enumerate(parts):
            if count % _TOLD == 0:
                self._context.tell(count / len(parts))
            first = int(self._context.partition.members(part)[0])
            self._root[part] = self._prepared[first] if first in self._prepared else self._plant(part)
        self._prepared.clear()

    def cut(self, cluster: int, node: int, differ: tuple[int, int] | None = None) -> None:
        """Divide a cluster where the two parts below a node turned out to differ.

        The rest of the tree follows the part that it is must-linked with, else the one that it has more similarity to
        in all, nearest branches first. By the mean, a single stranger would take branches of a large cluster with it,
        which another answer has to bring back: with 5 % of the answers wrong, people of 100 identities reach ARI .86
        after 525 answers instead of .83.

        Parameters
        ----------
        cluster, node : int
        differ : (int, int), optional
            Samples of the first and of the second part that are known to differ; default: their faces.
        """
        self._note_new()
        first, second = self._shared_out(self.tree(self.root(cluster)), node)
        faces = differ or tuple(map(self.face, self.children(node)))
        parts = [np.sort(self.leaves(first)), np.sort(self.leaves(second))]
        if not self._breaks_a_link(parts):
            self._prepared = {int(parts[0][0]): first, int(parts[1][0]): second}
        else:
            parts = self._mended(parts, *faces)
        self._context.split(cluster, parts)

    def cut_between(self, left: int, right: int) -> None:
        """Divide a cluster between two of its samples that differ: where their branches of the tree meet."""
        cluster = self._context.partition.cluster_of(left)
        tree = self.tree(self.root(cluster))
        places = [tree.span(sample)[0] for sample in (left, right)]
        node, _, middle, _ = tree.above(min(places), max(places) + 1)[-1].tolist()
        self.cut(cluster, node, (left, right) if places[0] < middle else (right, left))

    # --- inner workings

    def _keep(self, node: int, tree: Tree) -> Tree:
        """Have a tree at hand; single samples are not worth it."""
        if node >= self._n and node not in self._trees:
            self._trees[node] = tree
            self._leaves += len(tree.leaves)
            while self._leaves > _KEPT and len(self._trees) > 1:
                self._leaves -= len(self._trees.popitem(last=False)[1].leaves)
        return tree

    def _note_new(self) -> None:
        """Say that nodes from here on may be made: their numbers are given again where that is taken back."""
        self._context.log.push(self._drop_from, self._n + len(self._nodes))

    def _drop_from(self, first: int) -> None:
        self._drop(*[node for node in self._trees if node >= first])

    def _drop(self, *nodes: int) -> None:
        for node in nodes:
            tree = self._trees.pop(node, None)
            self._leaves -= 0 if tree is None else len(tree.leaves)

    def _shared_out(self, tree: Tree, node: int) -> tuple[int, int]:
        """Trees of the two parts below a node, each with its share of all that hangs above; returns their roots."""
        halves, branches = tree.around(node)
        parts = [*halves, *branches]
        faces = [self.face(part.node) for part in parts]
        links = SideLinks(self._context, self._similarity, tree.leaves, parts, faces)
        roots, shown = [part.node for part in halves], [0, 1]  # of each side: root, and the part whose face it has
        sides = [halves[0]], [halves[1]]  # parts of each side ...
        made: tuple[list[int], list[int]] = [], []  # ... and the nodes that join them
        for number, branch in enumerate(branches, 2):
            to = self._side_of(links, faces, shown, number)
            links.put(number, to)
            shown[to] = self._shown(links, faces, (shown[to], number), to)
            roots[to] = self._add(roots[to], branch.node, faces[shown[to]])
            sides[to].append(branch)
            made[to].append(roots[to])
        for root, side, nodes in zip(roots, sides, made, strict=True):
            self._keep(root, tree.gathered(side, nodes))
        return roots[0], roots[1]

    def _side_of(self, links: SideLinks, faces: Sequence[int], shown: Sequence[int], part: int) -> int:
        """The side that a part goes to; ``shown`` are the parts whose faces the sides have."""
        for side in (0, 1):
            if self._context.store.relation(faces[part], faces[shown[side]]) is Answer.SAME:
                return side
        first, second, _ = links.of_part(part).tolist()
        return int(second > first)

    def _shown(self, links: SideLinks, faces: Sequence[int], two: tuple[int, int], side: int) -> int:
        """Which of two parts of a side lends its face to both; see `face`."""
        known = [self._context.store.n_known(faces[part]) for part in two]
        if known[0] != known[1]:
            return two[int(known[1] > known[0])]
        alike = [links.of_face(part)[side] for part in two]
        return two[int(alike[1] > alike[0])]

    def _total(self, samples: IntArray, others: IntArray) -> float:
        """Sum of the similarities of all edges from some samples to others."""
        edges = self._context.graph.edges_of(samples)
        places = self._context.places(self._context.graph.indices[edges], others)
        return float(self._similarity[edges[places >= 0]].sum())

    def _breaks_a_link(self, parts: Sequence[IntArray]) -> bool:
        return self._components(parts[0]).keys() & self._components(parts[1]).keys() != set()

    def _components(self, samples: IntArray) -> dict[int, list[int]]:
        store = self._context.store
        found: dict[int, list[int]] = {}
        for i in filter(store.is_touched, samples.tolist()):
            found.setdefault(store.find(i), []).append(i)
        return found

    def _mended(self, parts: Sequence[IntArray], one: int, other: int) -> list[IntArray]:
        """Bring each must-link component to one part: those of the two that differ to their own, others to the part
        that holds more of them."""
        find = self._context.store.find
        home = {find(one): True, find(other): False}
        first, second = (self._components(part) for part in parts)
        moved: list[int] = []
        for root in sorted(first.keys() & second.keys()):
            to_first = home.get(root, len(first[root]) >= len(second[root]))
            moved += second[root] if to_first else [-1 - i for i in first[root]]
        to_first_part = np.array([i for i in moved if i >= 0], np.int32)
        to_second_part = np.array([-1 - i for i in moved if i < 0], np.int32)
        return [
            np.union1d(np.setdiff1d(parts[0], to_second_part), to_first_part).astype(np.int32),
            np.union1d(np.setdiff1d(parts[1], to_first_part), to_second_part).astype(np.int32),
        ]

    def _join(self, left: int, right: int) -> int:
        """A new node above two others."""
        trees = self.tree(left), self.tree(right)
        node = self._add(left, right, self._choose_face(left, right))
        self._keep(node, trees[0].joined(trees[1], node))
        return node

    def _add(self, left: int, right: int, face: int) -> int:
        self._nodes.append((left, right, face))
        return self._n + len(self._nodes) - 1

    def _choose_face(self, left: int, right: int) -> int:
        a, b = self.face(left), self.face(right)
        known = self._context.store.n_known(a), self._context.store.n_known(b)
        if known[0] != known[1]:
            return a if known[0] > known[1] else b
        both = np.concatenate((self.leaves(left), self.leaves(right)))
        likeness = [self._total(np.array([face], np.int32), both) for face in (a, b)]
        return a if likeness[0] >= likeness[1] else b

    def _plant(self, cluster: int) -> int:
        """A tree for a cluster by average linkage, must-linked samples joined first; returns its root."""
        members = self._context.partition.members(cluster)
        if len(members) == 1:
            return int(members[0])
        nodes = [int(i) for i in members]
        inside = self._inside(members)
        pairs = self._linkage(members, *inside)
        known = [self._context.store.n_known(i) for i in members.tolist()]
        faces = _faces(known, pairs, *inside)
        for (left, right), face in zip(pairs, faces, strict=True):
            nodes.append(self._add(nodes[left], nodes[right], int(members[face])))
        return nodes[-1]

    def _inside(
        self, members: IntArray
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """Edges between members: positions of their ends, and similarities."""
        graph, lots = self._context.graph, []
        for at in range(0, len(members), _SAMPLES):
            some = members[at : at + _SAMPLES]
            edges = graph.edges_of(some)
            rows = at + np.repeat(np.arange(len(some)), graph.degrees(some))
            to = graph.indices[edges]
            place = np.searchsorted(members, to)
            inside = np.flatnonzero(members[np.minimum(place, len(members) - 1)] == to)
            lots.append((rows[inside], place[inside], self._similarity[edges[inside]]))
        rows, place, values = (np.concatenate(columns) for columns in zip(*lots, strict=True))
        return rows, place, values

    def _linkage(
        self,
        members: IntArray,
        rows: npt.NDArray[np.int64],
        columns: npt.NDArray[np.int64],
        values: npt.NDArray[np.float64],
    ) -> list[tuple[int, int]]:
        """Pairs to join, in order; indices below n are members, n + k is the k-th pair."""
        n = len(members)
        linked = self._linked_inside(members)
        if n > LARGEST_DENSE:
            stars = [(int(places[0]), int(place)) for places in linked for place in places[1:]]
            return _spanning_linkage(n, rows, columns, values, stars)
        if n == 2:
            return [(0, 1)]
        from scipy.cluster.hierarchy import linkage
        from scipy.spatial.distance import squareform

        distance = np.ones((n, n))
        distance[rows, columns] = np.maximum(1.0 - values, _LEAST_DISTANCE)
        for places in (places for places in linked if len(places) > 1):
            distance[np.ix_(places, places)] = 0.0
        np.fill_diagonal(distance, 0.0)
        merges = linkage(squareform(distance, checks=False), "average")
        return [(int(a), int(b)) for a, b in merges[:, :2]]

    def _linked_inside(self, members: IntArray) -> list[npt.NDArray[np.int64]]:
        """Positions of the samples of each must-link component."""
        return [np.searchsorted(members, samples) for samples in self._components(members).values()]


def _faces(
    known: Sequence[int],
    pairs: Sequence[tuple[int, int]],
    rows: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int64],
    values: npt.NDArray[np.float64],
) -> list[int]:
    """The position that represents each pair: of its parts' faces, the one of which more is ``known``, else the one
    that its samples resemble more. ``rows`` ascend."""
    n = len(known)
    starts = np.searchsorted(rows, np.arange(n + 1)).tolist()
    part = np.arange(n)  # of each position: a number of what it is joined to by now
    faces, parts, below = list(range(n)), list(range(n)), [[i] for i in range(n)]

    def likeness(face: int, number: int) -> float:
        own = slice(starts[face], starts[face + 1])
        return float(values[own][part[columns[own]] == number].sum())

    for left, right in pairs:
        larger, smaller = (left, right) if len(below[left]) >= len(below[right]) else (right, left)
        number = parts[larger]
        part[below[smaller]] = number
        a, b = faces[left], faces[right]
        more = known[a] - known[b] or likeness(a, number) - likeness(b, number)
        faces.append(a if more >= 0 else b)
        parts.append(number)
        below[larger] += below[smaller]  # the smaller into the larger: as many moves as n log n at most
        below.append(below[larger])
        below[larger] = below[smaller] = []
    return faces[n:]


def _spanning_linkage(
    n: int,
    rows: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int64],
    values: npt.NDArray[np.float64],
    links: Sequence[tuple[int, int]],
) -> list[tuple[int, int]]:
    """Single linkage over the edges, strongest first, must-links before all; what no edge joins comes last."""
    upper = np.flatnonzero(rows < columns)
    order = upper[np.lexsort((columns[upper], rows[upper], -values[upper]))]
    taken = order[_spanning(n, rows[order], columns[order])]
    candidates = [*links, *zip(rows[taken].tolist(), columns[taken].tolist(), strict=True), *((0, i) for i in range(n))]
    parent = list(range(n))
    node = list(range(n))
    pairs: list[tuple[int, int]] = []
    for i, j in candidates:
        a, b = _top(parent, i), _top(parent, j)
        if a != b:
            pairs.append((node[a], node[b]))
            parent[b] = a
            node[a] = n + len(pairs) - 1
    return pairs


def _spanning(n: int, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Which of some edges, the strongest first, join what no stronger ones do; ascending."""
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

    part, taken = np.arange(n), [np.zeros(0, np.int64)]  # of each sample, what it is joined to by now
    for at in range(0, len(rows), _EDGES):  # some at a time: no call holds up other threads for long
        left, right = part[rows[at : at + _EDGES]], part[columns[at : at + _EDGES]]
        across = np.flatnonzero(left != right)
        # Of several edges between two parts the strongest is the first; by their ranks no two weigh the same.
        key = np.minimum(left, right)[across] * n + np.maximum(left, right)[across]
        order = np.argsort(key, kind="stable")
        first = order[run_starts(key[order])]
        graph = sparse.coo_array((across[first] + 1.0, np.divmod(key[first], n)), shape=(n, n)).tocsr()
        tree = minimum_spanning_tree(graph)
        taken.append(at + np.sort(tree.data).astype(np.int64) - 1)
        part = connected_components(tree, directed=False)[1].astype(np.int64)[part]
    return np.concatenate(taken)


def _top(parent: list[int], i: int) -> int:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i
