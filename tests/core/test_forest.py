"""Trees over the members of clusters: whole after any change, and cut where the answers say."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from a3s_desktop.core import forest as forest_module
from a3s_desktop.core.context import Context
from a3s_desktop.core.forest import Forest
from a3s_desktop.core.types import Answer, StrategyOptions
from tests.core.a3s_cases import check_forest
from tests.core.cases import graph_of

N = 14
SAMPLE = st.integers(0, N - 1)
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("same"), SAMPLE, SAMPLE),
        st.tuples(st.just("different"), SAMPLE, SAMPLE),
        st.tuples(st.just("guess"), SAMPLE, SAMPLE),
        *3 * [st.tuples(st.just("cut"), SAMPLE, st.integers(0, 20))],
        st.tuples(st.just("isolate"), SAMPLE, SAMPLE),
        st.tuples(st.just("mark"), SAMPLE, SAMPLE),
        st.tuples(st.just("rewind"), SAMPLE, st.integers(0, 5)),
    ),
    max_size=30,
)
TABLES = ("left", "right", "face", "guess", "root")


def make(labels: list[int], similarity: dict[tuple[int, int], float]) -> tuple[Context, Forest]:
    """A context with these edges, and its forest, grown and watching."""
    n = len(labels)
    graph = graph_of(n, dict.fromkeys(similarity, 0.5))
    rows = np.repeat(np.arange(n), np.diff(graph.indptr)).tolist()
    values = [similarity[min(i, j), max(i, j)] for i, j in zip(rows, graph.indices.tolist(), strict=True)]
    views = (np.arange(n, dtype=np.float32)[:, None],)
    context = Context(graph, views, StrategyOptions(strategy="a3s"), np.array(labels, np.int32))
    forest = Forest(context, np.array(values, np.float64))
    forest.grow()
    context.watchers.append(forest)
    return context, forest


def random_forest(seed: int, density: float, clusters: int) -> tuple[Context, Forest]:
    rng = np.random.default_rng(seed)
    # Few values, so that ties are common.
    edges = {
        pair: float(rng.integers(0, 5)) / 4.0 for pair in itertools.combinations(range(N), 2) if rng.random() < density
    }
    return make(rng.integers(0, clusters, N).tolist(), edges)


def state(context: Context) -> tuple:
    return (
        [list(context.table(name).sorted_items()) for name in TABLES],
        context.partition.labels.tolist(),
        list(context.store.constraints()),
    )


def agrees(context: Context) -> bool:
    labels = context.partition.labels
    return all(
        (labels[i] == labels[j]) == (relation is Answer.SAME)
        for i, j in itertools.combinations(range(len(labels)), 2)
        if (relation := context.store.relation(i, j)) is not None
    )


def below(forest: Forest, node: int) -> set[frozenset[int]]:
    """The groups of samples that a node is made of."""
    groups = {frozenset(forest.leaves(node).tolist())}
    return groups if forest.is_leaf(node) else groups.union(*(below(forest, child) for child in forest.children(node)))


def apply(context: Context, forest: Forest, operation: str, i: int, j: int) -> None:
    partition, store = context.partition, context.store
    a, b = partition.cluster_of(i), partition.cluster_of(j % N)
    if operation == "cut":
        nodes = sorted(node for node, *_ in forest.nodes(forest.root(a)))
        if not nodes:
            return
        node = nodes[j % len(nodes)]
        faces = [forest.face(child) for child in forest.children(node)]
        if store.relation(*faces) is None:
            store.add(*faces, Answer.DIFFERENT)
            forest.cut(a, node)
            assert partition.cluster_of(faces[0]) != partition.cluster_of(faces[1])
            whole = set(partition.members(partition.cluster_of(faces[0])).tolist())
            whole |= set(partition.members(partition.cluster_of(faces[1])).tolist())
            assert i in whole
    elif operation == "isolate":
        context.isolate(i)
    elif i != j and store.relation(i, j) is None:
        if operation == "guess":
            members = [*partition.members(a).tolist(), *partition.members(b).tolist()]
            apart = any(store.relation(*pair) is Answer.DIFFERENT for pair in itertools.combinations(members, 2))
            if a != b and not apart:
                forest.mark_guess(context.merge(a, b, (i, j)))
            return
        store.add(i, j, Answer.SAME if operation == "same" else Answer.DIFFERENT)
        if operation == "same" and a != b:
            context.merge(a, b, (i, j))
        elif operation == "different" and a == b and i < j:
            forest.cut_between(i, j)
        elif operation == "different" and a == b:
            context.isolate(j)


@given(
    st.integers(0, 10_000), st.sampled_from((0.0, 0.2, 0.6)), st.integers(1, 8), st.sampled_from((600, 3)), OPERATIONS
)
def test_trees_are_whole_after_any_changes(
    seed: int, density: float, clusters: int, dense: int, operations: list[tuple]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forest_module, "LARGEST_DENSE", dense)
        patch.setattr(forest_module, "_KEPT", 3 * dense)  # few are kept, or all
        context, forest = random_forest(seed, density, clusters)
        check_forest(context, forest)
        start = (context.log.mark(), state(context))
        marks = []
        for operation, i, j in operations:
            if operation == "mark":
                marks.append((context.log.mark(), state(context)))
            elif operation == "rewind":
                if marks:
                    del marks[len(marks) - j % len(marks) :]
                    mark, then = marks.pop()
                    context.log.rewind(mark)
                    assert state(context) == then
            else:
                apply(context, forest, operation, i, j)
            check_forest(context, forest)
            assert agrees(context)
        context.log.rewind(start[0])
        assert state(context) == start[1]


@given(st.integers(0, 10_000), OPERATIONS)
def test_the_same_changes_make_the_same_trees(seed: int, operations: list[tuple]) -> None:
    """Also where something else was done and taken back in between: numbers of nodes are used again."""
    states = []
    for detour in (False, True):
        context, forest = random_forest(seed, 0.4, 4)
        for operation, i, j in operations:
            if detour:
                mark = context.log.mark()
                apply(context, forest, "cut", j % N, i)
                apply(context, forest, "guess", j % N, i)
                context.log.rewind(mark)
            if operation not in ("mark", "rewind"):
                apply(context, forest, operation, i, j)
        states.append(state(context))
    assert states[0] == states[1]


def test_average_linkage_by_hand() -> None:
    """Pairs {0, 1} and {2, 3} are alike; 4 resembles both a little, the second pair more."""
    edges = {(0, 1): 0.9, (2, 3): 0.8, (0, 2): 0.1, (1, 4): 0.2, (2, 4): 0.4, (3, 4): 0.4}
    _, forest = make([0] * 5, edges)
    groups = {tuple(sorted(group)) for group in below(forest, forest.root(0))}
    assert groups >= {(0, 1), (2, 3), (2, 3, 4), (0, 1, 2, 3, 4)}
    assert forest.face(3) == 3
    assert forest.is_leaf(3)
    assert not forest.is_leaf(forest.root(0))


@pytest.mark.parametrize("dense", [600, 2])
def test_two_cliques_come_apart_at_the_root(monkeypatch: pytest.MonkeyPatch, dense: int) -> None:
    monkeypatch.setattr(forest_module, "LARGEST_DENSE", dense)
    edges = {(i, j): 0.9 if i // 4 == j // 4 else 0.1 for i, j in itertools.combinations(range(8), 2)}
    context, forest = make([0] * 8, edges)
    root = forest.root(0)
    halves = sorted(sorted(forest.leaves(child).tolist()) for child in forest.children(root))
    assert halves == [[0, 1, 2, 3], [4, 5, 6, 7]]
    left, right = (forest.face(child) for child in forest.children(root))
    context.store.add(left, right, Answer.DIFFERENT)
    forest.cut(0, root)
    assert sorted(context.partition.members(c).tolist() for c in context.partition.cluster_ids().tolist()) == halves
    # The parts keep their trees as they were, and are not planted anew.
    assert {forest.root(int(c)) for c in context.partition.cluster_ids()} == set(forest.children(root))


def test_the_face_is_whom_the_group_resembles_more() -> None:
    """Of the pairs' faces 0 and 2, the second resembles the whole group more."""
    edges = {(0, 1): 0.9, (2, 3): 0.8, (0, 2): 0.5, (1, 2): 0.7}
    _, forest = make([0] * 4, edges)
    assert {forest.face(child) for child in forest.children(forest.root(0))} == {0, 2}
    assert forest.face(forest.root(0)) == 2


@pytest.mark.parametrize("dense", [600, 2])
def test_the_face_is_of_whom_more_is_known(monkeypatch: pytest.MonkeyPatch, dense: int) -> None:
    """Cluster 1 was told from four others by sample 0. It stays the face when the cluster is joined to another, and
    when its tree is planted anew, though the rest resembles sample 1 more."""
    monkeypatch.setattr(forest_module, "LARGEST_DENSE", dense)
    edges = {(0, 1): 0.5, (1, 2): 0.9, (1, 3): 0.9, (2, 3): 0.5, (3, 4): 0.3}
    context, forest = make([0, 0, 0, 0, 1, 2, 3, 4, 5], edges)
    assert forest.face(forest.root(0)) != 0
    for other in (5, 6, 7, 8):
        context.store.add(0, other, Answer.DIFFERENT)
    context.split(0, (np.array([0, 1, 2], np.int32), np.array([3], np.int32)))
    assert forest.face(forest.root(context.partition.cluster_of(0))) == 0
    context.merge(context.partition.cluster_of(0), context.partition.cluster_of(3), (1, 3))
    assert forest.face(forest.root(context.partition.cluster_of(0))) == 0


@pytest.mark.parametrize("dense", [600, 2])
def test_must_linked_samples_are_joined_first(monkeypatch: pytest.MonkeyPatch, dense: int) -> None:
    """Whatever the edges say: 0, 3 and 5 were said to be the same, each resembles another sample more."""
    monkeypatch.setattr(forest_module, "LARGEST_DENSE", dense)
    edges = {(0, 1): 0.95, (1, 5): 0.95, (2, 3): 0.95, (4, 5): 0.95, (1, 2): 0.5}
    context, forest = make([0, 0, 0, 0, 0, 0, 1], edges)
    context.store.add(0, 3, Answer.SAME)
    context.store.add(5, 0, Answer.SAME)
    context.split(0, (np.array([0, 1, 2, 3, 5], np.int32), np.array([4], np.int32)))
    check_forest(context, forest)
    assert frozenset((0, 3, 5)) in below(forest, forest.root(context.partition.cluster_of(0)))


def test_a_cut_keeps_must_linked_samples_together_however_they_hang() -> None:
    """Each half of the tree holds members of both components; the two faces differ."""
    edges = {(0, 1): 0.9, (1, 2): 0.9, (0, 2): 0.9, (3, 4): 0.9, (4, 5): 0.9, (3, 5): 0.9, (2, 3): 0.1}
    context, forest = make([0] * 6, edges)
    root = forest.root(0)
    one, other = forest.children(root)
    a, b = forest.face(one), forest.face(other)
    first = [i for i in forest.leaves(one).tolist() if i != a]
    second = [i for i in forest.leaves(other).tolist() if i != b]
    for mate in second:
        context.store.add(a, mate, Answer.SAME)
    context.store.add(b, first[0], Answer.SAME)
    context.store.add(a, b, Answer.DIFFERENT)
    forest.cut(0, root)
    assert agrees(context)
    check_forest(context, forest)
    partition = context.partition
    assert partition.cluster_of(a) == partition.cluster_of(second[0]) == partition.cluster_of(second[1])
    assert partition.cluster_of(b) == partition.cluster_of(first[0])


def test_a_cut_parts_two_components_of_which_each_half_holds_as_much() -> None:
    """Neither half holds more of the one than of the other: the two faces say which is whose."""
    edges = {(0, 1): 0.9, (2, 3): 0.9, (1, 2): 0.1}
    context, forest = make([0] * 4, edges)
    root = forest.root(0)
    one, other = forest.children(root)
    a, b = forest.face(one), forest.face(other)
    (of_a,) = (i for i in forest.leaves(other).tolist() if i != b)
    (of_b,) = (i for i in forest.leaves(one).tolist() if i != a)
    context.store.add(a, of_a, Answer.SAME)
    context.store.add(b, of_b, Answer.SAME)
    context.store.add(a, b, Answer.DIFFERENT)
    forest.cut(0, root)
    assert agrees(context)
    check_forest(context, forest)


def test_a_cut_deep_in_the_tree_lets_the_rest_follow_whom_it_resembles() -> None:
    """{0, 1} against {2, 3} differ; 4 hangs above both and resembles 2 and 3, 5 is must-linked with a face."""
    edges = {(0, 1): 0.9, (2, 3): 0.9, (0, 2): 0.8, (0, 3): 0.8, (1, 2): 0.8, (1, 3): 0.8}
    edges |= {(2, 4): 0.3, (3, 4): 0.3, (0, 4): 0.1, (0, 5): 0.01}
    context, forest = make([0] * 6, edges)
    (node,) = (node for node, *_ in forest.nodes(forest.root(0)) if set(forest.leaves(node).tolist()) == {0, 1, 2, 3})
    left, right = (forest.face(child) for child in forest.children(node))
    low, high = min(left, right), max(left, right)
    assert low in (0, 1)
    assert high in (2, 3)
    context.store.add(5, high, Answer.SAME)
    context.store.add(left, right, Answer.DIFFERENT)
    forest.cut(0, node)
    partition = context.partition
    assert partition.members(partition.cluster_of(low)).tolist() == [0, 1]
    assert partition.members(partition.cluster_of(high)).tolist() == [2, 3, 4, 5]


def test_a_stranger_deep_in_the_tree_takes_nobody_with_it() -> None:
    """Each of 3, 4 and 5 resembles stranger 0 more than it does 1 and 2 in the mean, but less than both together."""
    edges = {(0, 1): 0.95, (0, 2): 0.9, (1, 2): 0.9}
    edges |= {(near, far): 0.4 for near in (1, 2) for far in (3, 4, 5)} | {(0, far): 0.5 for far in (3, 4, 5)}
    context, forest = make([0] * 6, edges)
    (node,) = (node for node, *_ in forest.nodes(forest.root(0)) if set(forest.leaves(node).tolist()) == {0, 1, 2})
    (node,) = (child for child in forest.children(node) if not forest.is_leaf(child))
    assert set(forest.leaves(node).tolist()) == {0, 1}
    context.store.add(0, 1, Answer.DIFFERENT)
    context.store.add(1, 2, Answer.SAME)
    forest.cut(0, node)
    assert context.partition.members(context.partition.cluster_of(0)).tolist() == [0]


def test_a_guess_is_a_node_that_can_be_taken_apart_again() -> None:
    edges = {(0, 1): 0.9, (2, 3): 0.9, (1, 2): 0.5}
    context, forest = make([0, 0, 1, 1], edges)
    before = {cluster: forest.root(cluster) for cluster in (0, 1)}
    kept = context.merge(0, 1, (1, 2))
    forest.mark_guess(kept)
    root = forest.root(kept)
    assert forest.is_guess(root)
    assert not any(forest.is_guess(node) for node in before.values())
    assert forest.children(root) == (before[0], before[1])
    left, right = (forest.face(child) for child in forest.children(root))
    context.store.add(left, right, Answer.DIFFERENT)
    forest.cut(kept, root)
    assert {forest.root(int(c)) for c in context.partition.cluster_ids()} == set(before.values())


@given(st.integers(0, 10_000), st.sampled_from((0.0, 0.2, 0.6)), st.integers(2, N), st.sampled_from((3, 1000)))
def test_large_clusters_are_linked_as_by_the_definition(seed: int, density: float, n: int, edges: int) -> None:
    """Strongest edge first (ties: the smaller samples), what is must-linked before all. Each face is that of which more
    is known, else the one with more similarity to both parts."""
    rng = np.random.default_rng(seed)
    alike = np.triu(rng.integers(1, 4, (n, n)) / 4.0 * (rng.random((n, n)) < density), 1)
    alike += alike.T
    rows, columns = np.nonzero(alike)
    links = [tuple(sorted(rng.choice(n, 2, replace=False).tolist())) for _ in range(rng.integers(0, 3))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forest_module, "_EDGES", edges)  # that are looked at in one go
        pairs = forest_module._spanning_linkage(n, rows, columns, alike[rows, columns], links)
    parts = [{i} for i in range(n)]
    expected = []
    ranked = sorted(zip(rows, columns, strict=True), key=lambda pair: (-alike[pair], *pair))
    for i, j in (*links, *ranked, *((0, i) for i in range(n))):
        left, right = (max(k for k, part in enumerate(parts) if sample in part) for sample in (i, j))
        if left != right:
            expected.append((left, right))
            parts.append(parts[left] | parts[right])
    assert pairs == expected
    known = rng.integers(0, 3, n).tolist()
    faces = list(range(n))
    for left, right in pairs:
        a, b = faces[left], faces[right]
        both = sorted(parts[left] | parts[right])
        first = (known[a], alike[a, both].sum()) >= (known[b], alike[b, both].sum())
        faces.append(a if first else b)
    assert forest_module._faces(known, pairs, rows, columns, alike[rows, columns]) == faces[n:]


def test_edges_inside_are_the_same_in_whatever_blocks_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    context, forest = random_forest(3, 0.5, 1)
    members = context.partition.members(0)
    whole = forest._inside(members)
    assert len(whole[0]) > len(members) > 6
    monkeypatch.setattr(forest_module, "_SAMPLES", 3)
    for one, other in zip(whole, forest._inside(members), strict=True):
        assert one.tolist() == other.tolist()


def test_no_edges_at_all() -> None:
    context, forest = make([0] * 5 + [1], {})
    check_forest(context, forest)
    for cluster in (0, 1):
        assert set(forest.leaves(forest.root(cluster)).tolist()) == set(context.partition.members(cluster).tolist())


def test_a_long_chain_needs_no_recursion(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forest_module, "LARGEST_DENSE", 10)
    monkeypatch.setattr(forest_module, "_EDGES", 700)
    monkeypatch.setattr(forest_module, "_SAMPLES", 500)
    n = 3000
    edges = {(i, i + 1): 1.0 - i / (2 * n) for i in range(n - 1)}
    rows = np.repeat(np.arange(n), [1, *[2] * (n - 2), 1])
    indices = np.concatenate([[1], *([i - 1, i + 1] for i in range(1, n - 1)), [n - 2]]).astype(np.int32)
    graph = graph_of(2, {(0, 1): 0.5})
    graph = type(graph)(
        np.concatenate(([0], np.cumsum(np.bincount(rows)))).astype(np.int64),
        indices,
        np.zeros((1, len(indices)), np.float32),
        np.zeros(len(indices), np.float32),
        -4.0,
    )
    context = Context(graph, (np.zeros((n, 1), np.float32),), StrategyOptions(), np.zeros(n, np.int32))
    similarity = np.array([edges[min(i, j), max(i, j)] for i, j in zip(rows.tolist(), indices.tolist(), strict=True)])
    forest = Forest(context, similarity)
    forest.grow()
    assert sorted(forest.leaves(forest.root(0)).tolist()) == list(range(n))
    assert len(forest.nodes(forest.root(0))) == n - 1


@given(st.integers(0, 10_000), st.integers(0, 25), st.integers(0, 25))
def test_a_cluster_is_cut_where_the_branches_of_two_samples_meet(seed: int, first: int, second: int) -> None:
    context, forest = random_forest(seed, 0.4, 2)
    left, right = first % N, second % N
    cluster = context.partition.cluster_of(left)
    if left == right or context.partition.cluster_of(right) != cluster:
        return
    leaves = {node: set(forest.leaves(node).tolist()) for node, *_ in forest.nodes(forest.root(cluster))}
    meeting = min((node for node, own in leaves.items() if {left, right} <= own), key=lambda node: len(leaves[node]))
    sides = [set(forest.leaves(child).tolist()) for child in forest.children(meeting)]
    context.store.add(left, right, Answer.DIFFERENT)
    forest.cut_between(left, right)
    labels = context.partition.labels
    assert labels[left] != labels[right]
    for side in sides:  # what hung below the meeting stays together
        assert len({int(labels[i]) for i in side}) == 1
