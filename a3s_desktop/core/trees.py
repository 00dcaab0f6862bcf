"""A binary tree over samples as two arrays, so that trees are joined and divided without a walk."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.types import IntArray


class Part(NamedTuple):
    """All below one node of a tree: leaves [start, end), and one inner node less than these, from row ``at`` on."""

    node: int
    start: int
    end: int
    at: int


class Tree(NamedTuple):
    """A node and all that is below it.

    Attributes
    ----------
    leaves : int32, shape (n,)
        Samples, left to right.
    nodes : int32, shape (n - 1, 4)
        Inner nodes as (node, start, middle, end): positions in ``leaves``; a child is [start, middle) or [middle, end).
        Each stands before those below its right child, and these before those below its left child.
    """

    leaves: IntArray
    nodes: IntArray

    @classmethod
    def walked(cls, root: int, n: int, children: Callable[[int], tuple[int, int]]) -> Tree:
        """The tree below a node; nodes from ``n`` on are inner ones."""
        if root < n:
            return cls(np.array([root], np.int32), np.zeros((0, 4), np.int32))
        order: list[int] = []
        stack = [root]
        while stack:
            node = stack.pop()
            order.append(node)
            if node >= n:
                stack += children(node)
        # Not lists: to turn those of a hundred thousand nodes into arrays would hold up other threads.
        leaves, nodes = array("i"), array("i")
        sizes: list[int] = []
        for node in reversed(order):  # a left child with all below it, then the right one, then their node
            if node < n:
                leaves.append(node)
                sizes.append(1)
            else:
                right = sizes.pop()
                sizes[-1] += right
                end = len(leaves)
                nodes.extend((node, end - sizes[-1], end - right, end))
        found = np.frombuffer(nodes, np.int32).reshape(-1, 4)
        return cls(np.frombuffer(leaves, np.int32), found[::-1].copy())

    def joined(self, right: Tree, node: int) -> Tree:
        """This tree and one to its right under a new node."""
        middle, end = len(self.leaves), len(self.leaves) + len(right.leaves)
        nodes = np.concatenate((np.array([[node, 0, middle, end]], np.int32), right.nodes, self.nodes))
        nodes[1 : end - middle, 1:] += middle
        return Tree(np.concatenate((self.leaves, right.leaves)), nodes)

    def gathered(self, parts: Sequence[Part], nodes: Sequence[int]) -> Tree:
        """Some parts of this tree as one, each joined by one of ``nodes`` to the right of all before it."""
        sizes = [part.end - part.start for part in parts]
        ends = np.cumsum(sizes).tolist()
        rows = []
        for k in range(len(parts) - 1, -1, -1):
            part, start = parts[k], ends[k] - sizes[k]
            if k:
                rows.append(np.array([[nodes[k - 1], 0, start, ends[k]]], np.int32))
            below = self.nodes[part.at : part.at + sizes[k] - 1].copy()
            below[:, 1:] += start - part.start
            rows.append(below)
        return Tree(np.concatenate([self.leaves[part.start : part.end] for part in parts]), np.concatenate(rows))

    def around(self, node: int) -> tuple[tuple[Part, Part], list[Part]]:
        """The two parts below an inner node, and what else hangs on the way from it up to the root, nearest first."""
        (at,) = np.flatnonzero(self.nodes[:, 0] == node).tolist()
        start, end = self.nodes[at, 1], self.nodes[at, 3]
        way = np.flatnonzero((self.nodes[: at + 1, 1] <= start) & (self.nodes[: at + 1, 3] >= end)).tolist()
        below = list(map(self._halves, way))
        branches = [halves[0] if inner[0].start >= halves[1].start else halves[1] for halves, inner in pairwise(below)]
        return below[-1], branches[::-1]

    def span(self, node: int) -> tuple[int, int]:
        """Positions of the first leaf below a node, and behind the last."""
        at = np.flatnonzero(self.nodes[:, 0] == node)
        if len(at):
            return int(self.nodes[at[0], 1]), int(self.nodes[at[0], 3])
        (place,) = np.flatnonzero(self.leaves == node).tolist()
        return place, place + 1

    def above(self, start: int, end: int) -> npt.NDArray[np.int32]:
        """The rows of the inner nodes that some span of leaves is a part of, the root first."""
        return self.nodes[(self.nodes[:, 1] <= start) & (self.nodes[:, 3] >= end)]

    # --- inner workings

    def _halves(self, at: int) -> tuple[Part, Part]:
        """The two parts below the inner node of a row."""
        _, start, middle, end = self.nodes[at].tolist()
        return self._part(start, middle, at + end - middle), self._part(middle, end, at + 1)

    def _part(self, start: int, end: int, at: int) -> Part:
        return Part(int(self.leaves[start] if end - start == 1 else self.nodes[at, 0]), start, end, at)
