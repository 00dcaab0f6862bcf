"""What strategies work with: asking, probabilities, leaders, and changes that never go against an answer."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from a3s_desktop.core.context import Context
from a3s_desktop.core.types import Answer, PairGraph, Reason, StrategyOptions
from tests.core.cases import graph_of

N = 10


def make(labels: list[int], graph: PairGraph | None = None, features: np.ndarray | None = None) -> Context:
    n = len(labels)
    views = (np.arange(n, dtype=np.float32)[:, None] if features is None else features,)
    return Context(graph or graph_of(n, {}), views, StrategyOptions(), np.array(labels, np.int32))


def snapshot(context: Context) -> tuple:
    return (
        context.partition.labels.tolist(),
        context.partition.next_id,
        list(context.leaders.sorted_items()),
        list(context.store.constraints()),
    )


def agrees(context: Context) -> bool:
    labels = context.partition.labels
    return all(
        (labels[i] == labels[j]) == (context.store.relation(i, j) is Answer.SAME)
        for i, j in itertools.combinations(range(len(labels)), 2)
        if context.store.relation(i, j) is not None
    )


PAIR = st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)).filter(lambda pair: pair[0] != pair[1])


@given(
    st.lists(st.integers(0, 3), min_size=N, max_size=N),
    st.lists(st.tuples(PAIR, st.booleans()), max_size=25),
    st.lists(st.tuples(PAIR, st.sampled_from(("merge", "isolate", "join", "leader"))), max_size=12),
)
def test_changes_never_go_against_an_answer(
    labels: list[int], constraints: list[tuple], changes: list[tuple[tuple[int, int], str]]
) -> None:
    context = make(labels)
    partition, store = context.partition, context.store
    for (i, j), within in constraints:  # answers that the partition agrees with already
        answer = Answer.SAME if labels[i] == labels[j] and within else Answer.DIFFERENT
        if store.relation(i, j) is None and (labels[i] != labels[j] or answer is Answer.SAME):
            store.add(i, j, answer)
    assert agrees(context)
    start, begin = snapshot(context), context.log.mark()
    for (i, j), change in changes:
        before, mark = snapshot(context), context.log.mark()
        a, b = partition.cluster_of(i), partition.cluster_of(j)
        if change == "isolate":
            alone = context.isolate(i)
            together = {k for k in range(N) if store.relation(i, k) is Answer.SAME}
            assert set(partition.members(alone).tolist()) == together
        elif change == "leader":
            assert partition.cluster_of(context.leader(a)) == a
        elif a != b and store.relation(i, j) is None:
            store.add(i, j, Answer.SAME)
            if change == "merge":
                members = {*partition.members(a).tolist(), *partition.members(b).tolist()}
                kept = context.merge(a, b, (i, j))
                gone = members - set(partition.members(kept).tolist())
                joined = {k for k in range(N) if store.relation(i, k) is Answer.SAME}
                assert not joined & gone
                for sample in gone:  # who left was held apart from someone, and took along its must-linked mates only
                    assert any(store.relation(sample, other) is Answer.DIFFERENT for other in members)
                    own = partition.members(partition.cluster_of(sample)).tolist()
                    assert all(store.relation(sample, other) is Answer.SAME for other in own)
            else:
                context.join(i, j)
            assert partition.cluster_of(i) == partition.cluster_of(j)
        assert agrees(context)
        for cluster in partition.cluster_ids().tolist():
            assert partition.cluster_of(context.leader(cluster)) == cluster
        after = snapshot(context)
        context.log.rewind(mark)
        assert snapshot(context) == before
        replay(context, change, i, j)
        for cluster in partition.cluster_ids().tolist():
            context.leader(cluster)
        assert snapshot(context) == after
    context.log.rewind(begin)
    assert snapshot(context) == start


def replay(context: Context, change: str, i: int, j: int) -> None:
    a, b = context.partition.cluster_of(i), context.partition.cluster_of(j)
    if change == "isolate":
        context.isolate(i)
    elif change == "leader":
        context.leader(a)
    elif a != b and context.store.relation(i, j) is None:
        context.store.add(i, j, Answer.SAME)
        if change == "merge":
            context.merge(a, b, (i, j))
        else:
            context.join(i, j)


@pytest.mark.parametrize("joined", [(0, 5), (5, 0)])
@pytest.mark.parametrize("larger", [0, 5])
def test_a_member_held_apart_from_the_other_leader_stays_behind(joined: tuple[int, int], larger: int) -> None:
    """The member shares a cluster with one of the joined samples, and was told apart from the other one."""
    context = make([0, 0, 0, 0, 0, 1, 1, 1, 1, 1, *((larger and 1,) * 2)])
    context.store.add(1, 5, Answer.DIFFERENT)
    context.store.add(6, 0, Answer.DIFFERENT)
    context.store.add(*joined, Answer.SAME)
    kept = context.merge(0, 1, joined)
    assert agrees(context)
    assert context.partition.size(kept) == 10
    assert context.partition.size(context.partition.cluster_of(1)) == 1
    assert context.partition.size(context.partition.cluster_of(6)) == 1


def test_of_two_components_held_apart_the_smaller_leaves_whole() -> None:
    context = make([0, 0, 0, 1, 1, 1, 1])
    context.store.add(1, 2, Answer.SAME)
    context.store.add(4, 5, Answer.SAME)
    context.store.add(5, 6, Answer.SAME)
    context.store.add(1, 6, Answer.DIFFERENT)
    context.store.add(0, 3, Answer.SAME)
    context.merge(0, 1, (0, 3))
    labels = context.partition.labels.tolist()
    assert labels[1] == labels[2] != labels[0]
    assert labels[0] == labels[3] == labels[4] == labels[5] == labels[6]


def test_asking_looks_in_the_store_first() -> None:
    context = make([0, 0, 1, 1], graph_of(4, {(0, 2): 0.75}))
    step = context.ask(0, 2, Reason.MERGE)
    question = next(step)
    assert (question.left, question.right, question.reason) == (0, 2, Reason.MERGE)
    assert (question.left_cluster, question.right_cluster) == (0, 1)
    assert question.probability == pytest.approx(0.75)
    assert finish(step, Answer.SAME) is Answer.SAME
    assert context.store.n_constraints == 0  # the engine takes the answer, not the question
    context.store.add(0, 2, Answer.SAME)
    context.store.add(2, 3, Answer.DIFFERENT)
    context.store.skip(1, 0)
    assert finish(context.ask(2, 0, Reason.MERGE)) is Answer.SAME
    assert finish(context.ask(0, 3, Reason.MERGE)) is Answer.DIFFERENT
    assert finish(context.ask(0, 1, Reason.PURITY)) is Answer.SKIP


def finish(step: object, answer: Answer | None = None) -> Answer:
    with pytest.raises(StopIteration) as stop:
        step.send(answer)  # type: ignore[attr-defined]
    return stop.value.value


@given(st.integers(0, 10_000), st.data())
def test_pair_probabilities_equal_single_look_ups(seed: int, data: st.DataObject) -> None:
    rng = np.random.default_rng(seed)
    pairs = {pair: float(rng.uniform(0.01, 0.99)) for pair in itertools.combinations(range(N), 2) if rng.random() < 0.4}
    graph = graph_of(N, pairs, miss=-3.0)
    context = make([0] * N, graph)
    subset = st.lists(st.integers(0, N - 1), unique=True, max_size=N)
    rows, columns = (np.array(data.draw(subset), np.int32) for _ in range(2))
    found = context.pair_probabilities(rows, columns)
    assert found.dtype == np.float32
    assert found.shape == (len(rows), len(columns))
    for (x, i), (y, j) in itertools.product(enumerate(rows.tolist()), enumerate(columns.tolist())):
        expected = 1.0 if i == j else pairs.get((min(i, j), max(i, j)), 1.0 / (1.0 + np.exp(3.0)))
        assert found[x, y] == pytest.approx(expected, abs=1e-5)
        if i != j:
            assert graph.probability(i, j) == pytest.approx(expected, abs=1e-5)
    assert np.all(context._position == -1)


def test_members_come_in_order_of_distance_from_the_one_nearest_to_their_mean() -> None:
    features = np.array([[0.0], [10.0], [4.0], [5.0], [9.0], [50.0]], np.float32)
    context = make([0, 0, 0, 0, 0, 1], features=features)
    members = context.partition.members(0)
    assert context.from_centre(members).tolist() == [3, 2, 4, 0, 1]  # mean 5.6; ties by index
    assert context.leader(0) == 3
    assert context.leader(1) == 5


def test_a_leader_is_kept_over_merges_and_goes_with_its_part() -> None:
    context = make([0, 0, 0, 1, 1])
    assert context.leader(0) == 1
    context.store.add(0, 3, Answer.SAME)
    context.merge(0, 1, (0, 3))
    assert context.leader(0) == 1
    ids = context.split(0, (np.array([0, 2, 3, 4], np.int32), np.array([1], np.int32)))
    assert context.leader(ids[1]) == 1
    assert context.leader(ids[0]) in (0, 2, 3, 4)


def test_views_are_scaled_to_the_same_spread() -> None:
    rng = np.random.default_rng(0)
    small, large = rng.normal(size=(50, 4)) * 0.01, rng.normal(size=(50, 2)) * 1000.0
    context = Context(graph_of(50, {}), (small, large), StrategyOptions(), np.zeros(50, np.int32))
    rows = context.rows(np.arange(50, dtype=np.int32))
    assert rows.dtype == np.float32
    assert rows.shape == (50, 6)
    assert rows[:, :4].var(axis=0).sum() == pytest.approx(1.0, rel=1e-3)
    assert rows[:, 4:].var(axis=0).sum() == pytest.approx(1.0, rel=1e-3)


def test_a_view_without_spread_does_no_harm() -> None:
    context = Context(graph_of(3, {}), (np.ones((3, 2)),), StrategyOptions(), np.zeros(3, np.int32))
    assert context.from_centre(np.arange(3, dtype=np.int32)).tolist() == [0, 1, 2]
