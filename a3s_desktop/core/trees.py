"""A binary tree over samples as two arrays, so that trees are joined and divided without a walk."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.types import IntArray


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
        leaves: list[int] = []
        nodes: list[tuple[int, int, int, int]] = []
        sizes: list[int] = []
        for node in reversed(order):  # a left child with all below it, then the right one, then their node
            if node < n:
                leaves.append(node)
                sizes.append(1)
            else:
                right = sizes.pop()
                sizes[-1] += right
                end = len(leaves)
                nodes.append((node, end - sizes[-1], end - right, end))
        nodes.reverse()
        return cls(np.array(leaves, np.int32), np.array(nodes, np.int32))

    def joined(self, right: Tree, node: int) -> Tree:
        """This tree and one to its right under a new node."""
        middle, end = len(self.leaves), len(self.leaves) + len(right.leaves)
        nodes = np.concatenate((np.array([[node, 0, middle, end]], np.int32), right.nodes, self.nodes))
        nodes[1 : end - middle, 1:] += middle
        return Tree(np.concatenate((self.leaves, right.leaves)), nodes)

    def below(self, node: int) -> Tree:
        """The tree below one of the nodes; of a leaf too."""
        at = np.flatnonzero(self.nodes[:, 0] == node)
        if not len(at):
            return Tree(np.array([node], np.int32), self.nodes[:0])
        _, start, _, end = self.nodes[at[0]].tolist()
        nodes = self.nodes[at[0] : at[0] + end - start - 1].copy()
        nodes[:, 1:] -= start
        return Tree(self.leaves[start:end].copy(), nodes)

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
