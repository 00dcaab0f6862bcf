"""Links between clusters, kept up to date, against their definition."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from a3s_desktop.core import cluster_graph
from a3s_desktop.core.cluster_graph import ClusterGraph
from a3s_desktop.core.context import Context
from a3s_desktop.core.types import Answer, PairGraph, StrategyOptions
from a3s_desktop.core.undo import UndoLog
from tests.core.a3s_cases import check_links, links_by_definition, told_by
from tests.core.cases import graph_of

N = 12
SAMPLE = st.integers(0, N - 1)
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("same"), SAMPLE, SAMPLE),
        st.tuples(st.just("different"), SAMPLE, SAMPLE),
        st.tuples(st.just("merge"), SAMPLE, SAMPLE),
        st.tuples(st.just("isolate"), SAMPLE),
        st.tuples(st.just("halve"), SAMPLE),
        st.tuples(st.just("mark")),
        st.tuples(st.just("rewind"), st.integers(0, 5)),
    ),
    max_size=30,
)


def context_of(seed: int, density: float) -> tuple[Context, np.ndarray]:
    """A random graph, similarities of which some are nothing, and a random partition."""
    rng = np.random.default_rng(seed)
    pairs = [pair for pair in itertools.combinations(range(N), 2) if rng.random() < density]
    graph = graph_of(N, dict.fromkeys(pairs, 0.5))
    full = np.triu(np.where(rng.random((N, N)) < 0.25, 0.0, rng.random((N, N))), 1)
    full += full.T
    rows = np.repeat(np.arange(N), np.diff(graph.indptr))
    labels = rng.integers(0, int(rng.integers(1, N + 1)), N).astype(np.int32)
    views = (np.arange(N, dtype=np.float32)[:, None],)
    return Context(graph, views, StrategyOptions(), labels), full[rows, graph.indices].astype(np.float32)


def links_of(context: Context, similarity: np.ndarray) -> ClusterGraph:
    return ClusterGraph(context, similarity)


def pairs_of(links: ClusterGraph) -> list[tuple[int, int]]:
    return [(a, b) for a, b in links.ends[links.live()].tolist()]


def check_slots(links: ClusterGraph, ids: int) -> None:
    """Every linked pair is found from both of its clusters, at one slot that no other pair has, and nothing else is."""
    pairs = pairs_of(links)
    assert pairs == sorted(set(pairs))
    found = {(a, b): links.slot(a, b) for a, b in itertools.product(range(ids), repeat=2) if links.slot(a, b) >= 0}
    assert set(found) == {pair for a, b in pairs for pair in ((a, b), (b, a))}
    for (a, b), slot in found.items():
        assert sorted((a, b)) == links.ends[slot].tolist()
        assert b in links.links(a)
    counts, slots = links.slots(range(ids))
    assert counts.sum() == 2 * len(pairs)
    rows = np.split(slots, np.cumsum(counts)[:-1])
    assert all(sorted(row.tolist()) == sorted(found[a, b] for b in links.links(a)) for a, row in enumerate(rows))


def apply(context: Context, links: ClusterGraph, operation: str, i: int, j: int) -> None:
    partition, store = context.partition, context.store
    a, b = partition.cluster_of(i), partition.cluster_of(j)
    if operation == "isolate":
        context.isolate(i)
    elif operation == "halve":
        members = partition.members(a)
        roots = np.array([store.find(k) for k in members.tolist()])
        parts = members[roots % 2 == 0], members[roots % 2 == 1]
        if min(map(len, parts)):
            context.split(a, parts)
    elif i == j:
        return
    elif operation == "merge":
        both = (*partition.members(a).tolist(), *partition.members(b).tolist())
        apart = any(store.relation(*pair) is Answer.DIFFERENT for pair in itertools.combinations(both, 2))
        if a != b and not apart:
            context.merge(a, b, (i, j))
    elif store.relation(i, j) is None:
        store.add(i, j, Answer.SAME if operation == "same" else Answer.DIFFERENT)
        if operation == "same" and a != b:
            context.merge(a, b, (i, j))
        elif operation == "different" and a == b:
            context.isolate(j)
        elif operation == "different":
            links.set_apart(a, b)


@given(st.integers(0, 10_000), st.sampled_from((0.0, 0.1, 0.3, 0.8)), OPERATIONS, st.sampled_from((2, 1000)))
def test_equal_the_definition_after_any_changes(seed: int, density: float, operations: list[tuple], block: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster_graph, "_SAMPLES", block)
        follow_changes(seed, density, operations)


def follow_changes(seed: int, density: float, operations: list[tuple]) -> None:
    context, similarity = context_of(seed, density)
    links = links_of(context, similarity)
    context.watchers.append(links)
    start = context.log.mark()
    check_links(context, links)
    before = links_by_definition(context, links.similarity)
    marks = []
    for operation, *arguments in operations:
        if operation == "mark":
            marks.append((context.log.mark(), links_by_definition(context, links.similarity)))
        elif operation == "rewind":
            if marks:
                at = len(marks) - 1 - arguments[0] % len(marks)
                mark, then = marks[at]
                del marks[at:]
                context.log.rewind(mark)
                assert links_by_definition(context, links.similarity) == then
        else:
            apply(context, links, operation, arguments[0], arguments[-1])
        check_links(context, links)
    check_slots(links, context.partition.next_id)
    anew = ClusterGraph(context, similarity, UndoLog())
    for cluster in context.partition.cluster_ids().tolist():
        assert dict(links.links(cluster)) == dict(anew.links(cluster))
    assert pairs_of(links) == pairs_of(anew)
    assert set(pairs_of(links)) >= set(links_by_definition(context, links.similarity))
    check_slots(links, context.partition.next_id)
    context.log.rewind(start)
    check_links(context, links)
    assert links_by_definition(context, links.similarity) == before


@given(st.integers(0, 10_000), OPERATIONS)
def test_every_change_is_told(seed: int, operations: list[tuple]) -> None:
    """The slots of a pair whose place, link or sizes are not what they were are among the changed, and its clusters."""
    context, similarity = context_of(seed, 0.3)
    links = links_of(context, similarity)
    context.watchers.append(links)
    links.take_changed()
    assert not len(links.take_changed().slots)

    def state() -> dict[tuple[int, int], tuple]:
        size = context.partition.size
        return {(a, b): (links.slot(a, b), links.links(a)[b], size(a), size(b)) for a, b in pairs_of(links)}

    marks = [context.log.mark()]
    before = state()
    for operation, *arguments in operations:
        if operation == "mark":
            marks.append(context.log.mark())
        elif operation == "rewind":
            context.log.rewind(marks[-1])
        else:
            apply(context, links, operation, arguments[0], arguments[-1])
        after, told = state(), links.take_changed()
        different = {pair for pair in before.keys() | after.keys() if before.get(pair) != after.get(pair)}
        slots = {now[pair][0] for pair in different for now in (before, after) if pair in now}
        assert slots <= set(told.slots.tolist())
        assert {cluster for pair in different for cluster in pair} <= {*told.clusters, *told.others.tolist()}
        before = after


def small() -> tuple[Context, ClusterGraph]:
    """Clusters {0, 1}, {2, 3}, {4}, {5} in a row."""
    probability = {(0, 2): 0.5, (1, 2): 0.5, (1, 3): 0.5, (3, 4): 0.5, (4, 5): 0.5}
    graph = graph_of(6, probability)
    views = (np.arange(6, dtype=np.float32)[:, None],)
    context = Context(graph, views, StrategyOptions(), np.array([0, 0, 1, 1, 2, 3], np.int32))
    weights = {(0, 2): 0.25, (1, 2): 0.5, (1, 3): 0.125, (3, 4): 0.75, (4, 5): 0.0}
    rows = np.repeat(np.arange(6), np.diff(graph.indptr))
    pairs = zip(rows.tolist(), graph.indices.tolist(), strict=True)
    links = links_of(context, np.array([weights[min(i, j), max(i, j)] for i, j in pairs], np.float32))
    context.watchers.append(links)
    return context, links


def test_links_by_hand() -> None:
    context, links = small()
    assert told_by(links, 0) == {1: (0.875, 0.5, False)}
    assert told_by(links, 1) == {0: (0.875, 0.5, False), 2: (0.75, 0.75, False)}
    assert told_by(links, 3) == {}
    assert dict(links.links(99)) == {}
    links.set_apart(1, 2)
    links.set_apart(0, 3)  # no edge between them: nothing to note
    assert told_by(links, 2)[1] == (0.75, 0.75, True)
    context.merge(0, 1, (1, 3))
    assert told_by(links, 0)[2][:2] == (0.75, 0.75)
    assert dict(links.links(1)) == {}


def test_a_difference_between_unlinked_clusters_shows_once_they_are_linked() -> None:
    """0 and 4 are known to differ and share no edge; then the cluster of 0 takes in one that has an edge to 4."""
    context, links = small()
    context.store.add(0, 4, Answer.DIFFERENT)
    links.set_apart(0, 2)
    context.merge(0, 1, (1, 2))
    check_links(context, links)
    assert links.links(0)[2].apart


def test_a_new_graph_leaves_nothing_to_undo() -> None:
    """It is derived from the state: taking back what came before or after must not take back a part of it."""
    context, links = small()
    context.store.add(1, 2, Answer.DIFFERENT)
    mark = context.log.mark()
    again = links_of(context, np.asarray(links.similarity, np.float32))
    assert again.links(0)[1].apart
    assert context.log.mark() == mark
    context.log.rewind(mark)
    assert again.links(0)[1].apart


def test_no_edges_no_links() -> None:
    context, similarity = context_of(0, 0.0)
    links = links_of(context, similarity)
    assert pairs_of(links) == []
    assert not len(links.take_changed().slots)


def test_sums_are_exact_in_any_order() -> None:
    """A thousand numbers that no binary fraction equals, added in two orders."""
    n = 46
    graph = graph_of(n, dict.fromkeys(itertools.combinations(range(n), 2), 0.5))
    rows = np.repeat(np.arange(n), np.diff(graph.indptr))
    similarity = np.where((rows + graph.indices) % 3, 0.1, 0.7).astype(np.float32)
    views = (np.zeros((n, 1), np.float32),)
    context = Context(graph, views, StrategyOptions(), np.arange(n, dtype=np.int32))
    links = links_of(context, similarity)
    context.watchers.append(links)
    for i in np.random.default_rng(0).permutation(n).tolist():
        a, b = context.partition.cluster_of(i), context.partition.cluster_of(i % 2)
        if a != b:
            context.merge(a, b, (i, i % 2))
    at_once = links_of(Context(graph, views, StrategyOptions(), (np.arange(n) % 2).astype(np.int32)), similarity)
    a, b = context.partition.cluster_of(0), context.partition.cluster_of(1)
    assert links.links(a)[b] == at_once.links(0)[1]


@pytest.mark.parametrize("samples", [[], [0], [3, 1], [5, 4, 0]])
def test_edges_come_sample_by_sample(samples: list[int]) -> None:
    context, _ = small()
    graph: PairGraph = context.graph
    rows = [range(graph.indptr[i], graph.indptr[i + 1]) for i in samples]
    assert graph.edges_of(np.array(samples, np.int32)).tolist() == [edge for row in rows for edge in row]
    assert graph.degrees(np.array(samples, np.int32)).tolist() == [len(row) for row in rows]


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_lengths_are_in_units_of_their_spread(scale: float) -> None:
    context, similarity = context_of(1, 0.5)
    distances = np.random.default_rng(0).random((2, len(similarity))).astype(np.float32)
    distances[1] += 5.0
    expected = ((distances - distances.mean(axis=1, keepdims=True)) / distances.std(axis=1, keepdims=True)).mean(axis=0)
    context.graph = replace(context.graph, distances=distances * np.float32(scale))
    links = ClusterGraph(context, similarity)
    np.testing.assert_allclose(links.length, expected, atol=1e-4)


def test_equal_lengths_are_all_typical() -> None:
    context, similarity = context_of(1, 0.5)
    context.graph = replace(context.graph, distances=np.full((1, len(similarity)), 0.1, np.float32))
    links = ClusterGraph(context, similarity)
    np.testing.assert_array_equal(links.length, 0.0)


@pytest.mark.parametrize("block", [1, 7, 50])
def test_links_counted_in_blocks_are_the_same(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    context, similarity = context_of(3, 0.6)
    whole = links_of(context, similarity)
    monkeypatch.setattr(cluster_graph, "_BLOCK", block)
    links = links_of(context, similarity)
    assert pairs_of(links) == pairs_of(whole)
    assert [links.links(cluster) for cluster in range(N)] == [whole.links(cluster) for cluster in range(N)]
