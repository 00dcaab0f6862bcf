"""Trees as arrays: joined and divided as a walk would have it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from a3s_desktop.core.trees import Tree

N = 30


@given(st.integers(1, N), st.integers(0, 10_000))
def test_trees_are_joined_and_divided_as_a_walk_has_it(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    children: dict[int, tuple[int, int]] = {}
    trees = {int(i): Tree.walked(int(i), N, children.__getitem__) for i in rng.permutation(N)[:count]}
    while len(trees) > 1:
        left, right = rng.choice(sorted(trees), 2, replace=False).tolist()
        node = N + len(children)
        children[node] = left, right
        trees[node] = trees.pop(left).joined(trees.pop(right), node)
        same(trees[node], Tree.walked(node, N, children.__getitem__))
    ((root, tree),) = trees.items()
    assert len(tree.nodes) == count - 1
    for node in (*children, *tree.leaves.tolist()):
        below = Tree.walked(node, N, children.__getitem__)
        same(tree.below(node), below)
        start, end = tree.span(node)
        assert_array_equal(tree.leaves[start:end], below.leaves)
        above = [other for other in children if set(below.leaves) <= set(tree.below(other).leaves.tolist())]
        assert sorted(tree.above(start, end)[:, 0].tolist()) == sorted(above)
        sizes = tree.above(start, end)[:, 3] - tree.above(start, end)[:, 1]
        assert (np.diff(sizes) < 0).all()
        if count > 1:
            assert tree.above(start, end)[0, 0] == root


def same(one: Tree, other: Tree) -> None:
    assert_array_equal(one.leaves, other.leaves)
    assert_array_equal(one.nodes, other.nodes)
