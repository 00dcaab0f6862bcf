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
        start, end = tree.span(node)
        assert_array_equal(tree.leaves[start:end], below.leaves)
        above = [other for other in children if set(below.leaves) <= set(leaves_of(other, children))]
        assert sorted(tree.above(start, end)[:, 0].tolist()) == sorted(above)
        sizes = tree.above(start, end)[:, 3] - tree.above(start, end)[:, 1]
        assert (np.diff(sizes) < 0).all()
        if count > 1:
            assert tree.above(start, end)[0, 0] == root


@given(st.integers(2, N), st.integers(0, 10_000))
def test_what_hangs_around_a_node_is_gathered_as_joins_have_it(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    children: dict[int, tuple[int, int]] = {}
    tops = rng.permutation(N)[:count].tolist()
    while len(tops) > 1:
        left, right = rng.choice(tops, 2, replace=False).tolist()
        tops = [top for top in tops if top not in (left, right)] + [N + len(children)]
        children[tops[-1]] = left, right
    tree = Tree.walked(tops[0], N, children.__getitem__)
    node = int(rng.choice(list(children)))
    halves, branches = tree.around(node)
    assert tuple(part.node for part in halves) == children[node]
    parts = [*halves, *branches]
    for part in parts:
        assert_array_equal(tree.leaves[part.start : part.end], leaves_of(part.node, children))
        same(tree.gathered([part], []), Tree.walked(part.node, N, children.__getitem__))
    inside = node
    for branch in branches:  # one more of them with every step up
        (above,) = (other for other, pair in children.items() if inside in pair)
        assert branch.node in children[above]
        assert branch.node != inside
        inside = above
    assert inside == tops[0]
    made = list(range(2 * N, 2 * N + len(parts) - 1))
    top = parts[0].node
    for new, part in zip(made, parts[1:], strict=True):
        children[new] = top, part.node
        top = new
    same(tree.gathered(parts, made), Tree.walked(top, N, children.__getitem__))


def leaves_of(node: int, children: dict[int, tuple[int, int]]) -> list[int]:
    return [node] if node < N else [leaf for child in children[node] for leaf in leaves_of(child, children)]


def same(one: Tree, other: Tree) -> None:
    assert_array_equal(one.leaves, other.leaves)
    assert_array_equal(one.nodes, other.nodes)
