"""The published strategy on small cases with known answers."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from a3s_desktop.core.aggregation import cluster_pairs, merge_entropy
from a3s_desktop.core.context import Context
from a3s_desktop.core.engine import Engine
from a3s_desktop.core.strategies.a3s_paper import LARGEST_DENSITY_SAMPLE, A3SPaper
from a3s_desktop.core.types import Answer, Question, Reason, StrategyOptions
from tests.core.cases import Case, Pair, case_of, check_at_rest, random_case
from tests.examples import examples


def blocks(labels: list[int], within: float, between: dict[Pair, float]) -> dict[Pair, float]:
    """All pairs inside a cluster at one probability, all pairs of two clusters at another."""
    edges: dict[Pair, float] = {}
    for i, j in itertools.combinations(range(len(labels)), 2):
        a, b = sorted((labels[i], labels[j]))
        if a == b:
            edges[i, j] = within
        elif (a, b) in between:
            edges[i, j] = between[a, b]
    return edges


def answer_all(case: Case, engine: Engine) -> list[tuple[Question, Answer]]:
    """Answer truthfully to the end."""
    given_answers: list[tuple[Question, Answer]] = []
    while engine.question is not None:
        question = engine.question
        answer = case.truth(question.left, question.right)
        given_answers.append((question, answer))
        engine.record(answer)
        check_at_rest(engine)
    return given_answers


def same_clustering(labels: np.ndarray, classes: np.ndarray) -> bool:
    return (
        len(set(zip(labels.tolist(), classes.tolist(), strict=True)))
        == len(set(labels.tolist()))
        == len(set(classes.tolist()))
    )


def two_cliques_per_class() -> Case:
    """Three classes, each in two halves of four: halves of one class are near, some of other classes not quite far."""
    labels = np.repeat(np.arange(6), 4).tolist()
    classes = np.repeat(np.arange(3), 8).tolist()
    between = {(0, 1): 0.6, (2, 3): 0.6, (4, 5): 0.6, (1, 2): 0.1, (3, 4): 0.1}
    features = np.array(labels)[:, None] * 10.0 + np.tile(np.arange(4), 6)[:, None]
    return case_of(labels, classes, blocks(labels, 0.95, between), features)


def test_two_cliques_of_a_class_are_merged() -> None:
    case = two_cliques_per_class()
    engine = case.engine()
    answers = answer_all(case, engine)
    assert same_clustering(engine.labels, case.classes)
    assert Counter(answer for _, answer in answers) == {Answer.SAME: 3, Answer.DIFFERENT: 2}
    assert [answer for _, answer in answers[:3]] == [Answer.SAME] * 3  # the largest expected gain first
    assert {question.reason for question, _ in answers} == {Reason.MERGE}


def test_a_difference_of_halves_is_inferred_for_the_whole() -> None:
    """Once two classes are told apart by one half each, no other half of them is asked."""
    labels = np.repeat(np.arange(4), 4).tolist()
    classes = np.repeat(np.arange(2), 8).tolist()
    between = dict.fromkeys(itertools.combinations(range(4), 2), 0.2) | {(0, 1): 0.6, (2, 3): 0.6}
    case = case_of(labels, classes, blocks(labels, 0.95, between), np.array(labels)[:, None] * 10.0)
    engine = case.engine()
    answers = answer_all(case, engine)
    assert [answer for _, answer in answers] == [Answer.SAME, Answer.SAME, Answer.DIFFERENT]
    assert same_clustering(engine.labels, case.classes)


def test_an_outlier_finds_its_cluster_and_a_stranger_stays_alone() -> None:
    labels = [0] * 5 + [1] * 5 + [2, 3]
    classes = [0] * 5 + [1] * 5 + [0, 9]
    edges = blocks(labels, 0.95, {}) | {(i, 10): 0.7 for i in range(5)} | {(5, 10): 0.8} | {(0, 11): 0.5, (6, 11): 0.4}
    case = case_of(labels, classes, edges, np.array([[0.0]] * 5 + [[10.0]] * 5 + [[1.0], [20.0]]))
    engine = case.engine()
    answers = answer_all(case, engine)
    assert same_clustering(engine.labels, case.classes)
    assert {question.reason for question, _ in answers} == {Reason.OUTLIER}
    # First the most probable home of each, in order of gain; then the next home.
    asked = [({question.left, question.right} & {10, 11}, answer) for question, answer in answers]
    assert asked == [
        ({10}, Answer.DIFFERENT),
        ({11}, Answer.DIFFERENT),
        ({10}, Answer.SAME),
        ({11}, Answer.DIFFERENT),
    ]


def planted_impure() -> Case:
    """A cluster of six samples of one class and four of another, and a second cluster of the first class."""
    labels = [0] * 10 + [1] * 5 + [2] * 5
    classes = [0] * 6 + [1] * 4 + [0] * 5 + [2] * 5
    parts = [0] * 6 + [3] * 4 + [1] * 5 + [2] * 5
    edges = blocks(parts, 0.95, {(0, 3): 0.02, (0, 1): 0.7, (1, 2): 0.05})
    at = {0: 0.0, 3: 5.0, 1: 0.5, 2: 30.0}
    features = np.array([[at[part] + 0.01 * i] for i, part in enumerate(parts)])
    return case_of(labels, classes, edges, features)


def test_an_impure_cluster_is_found_and_split() -> None:
    case = planted_impure()
    engine = case.engine()
    answers = answer_all(case, engine)
    assert same_clustering(engine.labels, case.classes)
    first, said = answers[0]
    assert (first.reason, said) == (Reason.PURITY, Answer.DIFFERENT)
    assert first.left_cluster == first.right_cluster == 0
    reasons = Counter(question.reason for question, _ in answers)
    assert reasons[Reason.PURITY] == 1
    assert reasons[Reason.SPLIT] == 8  # each of the other members once, against its most probable part
    splits = [answer for question, answer in answers if question.reason is Reason.SPLIT]
    assert splits == [Answer.SAME] * 8


def test_the_tested_member_is_that_at_rank_70_percent_from_the_centre() -> None:
    case = planted_impure()
    question = case.engine().question
    assert question is not None
    rows = case.views[0][:10, 0].astype(float)
    centre = int(np.argmin(np.abs(rows - rows.mean())))
    by_distance = sorted(range(10), key=lambda i: (abs(rows[i] - rows[centre]), i))
    assert (question.left, question.right) == (centre, by_distance[6])  # the sphere that holds 7 of 10


def test_a_cluster_that_passes_by_answer_is_not_tested_again() -> None:
    case = planted_impure()
    engine = case.engine(StrategyOptions("a3s-paper", iterations=4))
    tested = []
    while engine.question is not None:
        if engine.question.reason is Reason.PURITY:
            tested.append(engine.question.left_cluster)
            engine.record(Answer.SAME)
        else:
            engine.record(Answer.DIFFERENT)
        check_at_rest(engine)
    assert tested == [0]


def test_without_the_purity_test_nothing_is_split() -> None:
    case = planted_impure()
    engine = case.engine(StrategyOptions("a3s-paper", purity_test=False))
    reasons = {question.reason for question, _ in answer_all(case, engine)}
    assert reasons <= {Reason.MERGE, Reason.OUTLIER}
    assert len(set(engine.labels[:10].tolist())) == 1


def test_a_member_skipped_in_a_split_stays_with_the_centre() -> None:
    engine = planted_impure().engine()
    assert engine.question is not None
    centre, tested = engine.question.left, engine.question.right
    engine.record(Answer.DIFFERENT)
    skipped = set()
    while engine.question is not None and engine.question.reason is Reason.SPLIT:
        skipped.add(engine.question.right)
        engine.record(Answer.SKIP)
        check_at_rest(engine)
    labels = engine.labels
    assert skipped == set(range(10)) - {centre, tested}
    assert {int(labels[i]) for i in skipped} == {int(labels[centre])}
    assert engine.partition.size(int(labels[tested])) == 1


def make_context(case: Case, **options: object) -> Context:
    return Context(case.initial.graph, case.views, StrategyOptions("a3s-paper", **options), case.initial.labels)  # type: ignore[arg-type]


def test_density_by_hand() -> None:
    """Each row without itself, falling; of four members the last two of three values count (Eq. 5)."""
    edges = {(0, 1): 0.9, (0, 2): 0.8, (0, 3): 0.1, (1, 2): 0.7, (1, 3): 0.6, (2, 3): 0.2}
    case = case_of([0, 0, 0, 0, 1, 1, 2], [0] * 7, edges | {(4, 5): 0.5}, np.zeros((7, 1)))
    context, strategy = make_context(case), A3SPaper()
    four = (0.8 + 0.1 + 0.7 + 0.6 + 0.7 + 0.2 + 0.2 + 0.1) / 8
    assert strategy._density(context, np.arange(4, dtype=np.int32)) == pytest.approx(four, abs=1e-6)
    assert strategy._density(context, np.array([4, 5], np.int32)) == pytest.approx(0.5, abs=1e-6)
    assert strategy._density(context, np.array([6], np.int32)) == 1.0
    strategy.begin(context)
    assert context.values["tau"] == pytest.approx((four + 0.5 + 1.0) / 3 - 0.1, abs=1e-6)


def test_density_of_a_huge_cluster_is_measured_on_some() -> None:
    n = LARGEST_DENSITY_SAMPLE * 3
    case = case_of([0] * n, [0] * n, {(0, 1): 0.9}, np.zeros((n, 1)))
    density = A3SPaper()._density(make_context(case), np.arange(n, dtype=np.int32))
    assert density == pytest.approx(1.0 / (1.0 + np.exp(4.0)), abs=1e-3)


@given(st.integers(0, 10_000), st.integers(4, 30), st.sampled_from(("mean", "product")))
def test_the_first_list_holds_the_k_most_probable_pairs_in_order_of_gain(seed: int, n: int, how: str) -> None:
    case = random_case(seed, n, 4)
    context = make_context(case, aggregation=how)
    A3SPaper().begin(context)
    partition = context.partition
    pairs = cluster_pairs(context.graph, partition.labels, context.options.aggregation)
    rows = list(
        zip(pairs.first.tolist(), pairs.second.tolist(), pairs.probability.tolist(), pairs.gain.tolist(), strict=True)
    )
    rows = [row for row in rows if partition.size(row[0]) > 1 and partition.size(row[1]) > 1]
    rows = sorted(rows, key=lambda row: -round(row[2], 9))[: partition.n_clusters]
    rows.sort(key=lambda row: -round(row[3], 12))
    expected = [[context.leader(a), context.leader(b)] for a, b, *_ in rows]
    assert context.values["list"].tolist() == expected
    assert context.values["list"].dtype == np.int64


@given(st.integers(0, 10_000), st.integers(4, 30), st.lists(st.sampled_from(Answer), max_size=30))
def test_an_outlier_round_holds_the_best_open_home_of_each(seed: int, n: int, answers: list[Answer]) -> None:
    case = random_case(seed, n, 4, mixed=0.5)
    engine = case.engine()
    for answer in answers:
        if engine.question is not None:
            engine.record(answer)
    context, strategy = engine._context, A3SPaper()
    strategy._start_outlier_round(context)
    labels, partition, store = partition_facts(context)
    rows = []
    for cluster in partition.cluster_ids().tolist():
        if partition.size(cluster) > 2:
            continue
        leader = context.leader(cluster)
        homes: dict[int, float] = {}
        for i in partition.members(cluster).tolist():
            for j, value in zip(*(part.tolist() for part in context.graph.row(i)), strict=True):
                homes[int(labels[j])] = max(value, homes.get(int(labels[j]), -1e9))
        homes.pop(cluster, None)
        for home in sorted(homes, key=lambda home: (-homes[home], home)):
            other = context.leader(home)
            if (
                store.relation(leader, other) is None
                and not store.is_skipped(leader, other)
                and not (context.junk[leader] or context.junk[other])
            ):
                chance = 1.0 / (1.0 + float(np.exp(-homes[home])))
                gain = chance * float(merge_entropy(partition.size(cluster), partition.size(home), n))
                rows.append((-round(gain, 12), leader, other))
                break
    assert context.values["list"].tolist() == [list(row[1:]) for row in sorted(rows)]


def partition_facts(context: Context) -> tuple:
    return context.partition.labels, context.partition, context.store


@given(st.integers(0, 10_000), st.integers(4, 40), st.booleans())
def test_skipping_everything_ends_and_moves_nothing(seed: int, n: int, purity_test: bool) -> None:
    case = random_case(seed, n, 4)
    engine = case.engine(StrategyOptions("a3s-paper", purity_test=purity_test, tau_offset=0.3))
    count = 0
    while engine.question is not None:
        engine.record(Answer.SKIP)
        count += 1
    assert count == engine.store.n_skipped <= n * (n - 1) // 2
    assert engine.labels.tolist() == case.initial.labels.tolist()


@examples(25)
@given(st.integers(0, 10_000), st.integers(20, 60), st.floats(0.0, 1.0))
def test_wrong_answers_never_crash_or_loop(seed: int, n: int, wrong: float) -> None:
    case = random_case(seed, n, 6, mixed=0.4)
    rng = np.random.default_rng(seed)
    engine = case.engine(StrategyOptions("a3s-paper", iterations=3, tau_offset=0.2))
    count = 0
    while engine.question is not None:
        answer = case.truth(engine.question.left, engine.question.right)
        if rng.random() < wrong:
            answer = [other for other in Answer if other is not answer][rng.integers(2)]
        engine.record(answer)
        check_at_rest(engine)
        count += 1
        assert count <= n * (n - 1) // 2


@given(st.integers(0, 10_000))
def test_truth_keeps_classes_apart_that_were_pure(seed: int) -> None:
    """From pure clusters, true answers lead to pure clusters, and never to more of them."""
    case = random_case(seed, 24, 4, mixed=0.0)
    engine = case.engine()
    start = len(set(engine.labels.tolist()))
    answer_all(case, engine)
    for cluster in engine.partition.cluster_ids().tolist():
        assert len(set(case.classes[engine.partition.members(cluster)].tolist())) == 1
    joined = sum(answer is Answer.SAME for *_, answer in engine.store.constraints())
    assert len(set(engine.labels.tolist())) >= start - joined


def test_several_views_are_used_together() -> None:
    case = planted_impure()
    both = Case(case.initial, (case.views[0], case.views[0] ** 2), case.classes)
    engine = both.engine()
    answer_all(both, engine)
    assert same_clustering(engine.labels, both.classes)


def test_nothing_is_asked_where_one_cluster_holds_everything() -> None:
    case = case_of([0] * 5, [0] * 5, blocks([0] * 5, 0.9, {}), np.arange(5)[:, None])
    assert case.engine().question is None
