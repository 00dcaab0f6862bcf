"""COBRA on small cases with known answers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from a3s_desktop.core.engine import Engine
from a3s_desktop.core.metrics import evaluate
from a3s_desktop.core.strategies import cobra
from a3s_desktop.core.types import Answer, Reason, StrategyOptions
from a3s_desktop.errors import InputError
from tests.core.cases import Case, case_of, check_at_rest, random_case

COBRA = StrategyOptions(strategy="cobra")


def with_k(k: int, seed: int = 0) -> StrategyOptions:
    return StrategyOptions(strategy="cobra", clusters=k, seed=seed)


def points(at: list[tuple[float, float]], each: int, classes: list[int]) -> Case:
    """Some samples at each of these places (a super-instance each), the classes by place."""
    rng = np.random.default_rng(0)
    features = np.repeat(np.array(at), each, axis=0) + rng.normal(size=(len(at) * each, 2)) * 0.01
    places = np.repeat(np.arange(len(at)), each).tolist()
    return case_of(places, np.repeat(classes, each).tolist(), {(0, 1): 0.5}, features)


def answers(case: Case, engine: Engine) -> list[tuple[int, int, Answer]]:
    """Place of the two samples asked, and the true answer, to the end."""
    found = []
    places = case.initial.labels
    while engine.question is not None:
        question = engine.question
        assert question.reason is Reason.MERGE
        answer = case.truth(question.left, question.right)
        a, b = sorted((int(places[question.left]), int(places[question.right])))
        found.append((a, b, answer))
        engine.record(answer)
        check_at_rest(engine)
    return found


def two_moons() -> Case:
    """Two moons, each a chain of six cliques whose ends lie nearer to the other moon than to their own other end."""
    angle = np.linspace(0.0, np.pi, 6)
    upper = [(float(np.cos(a)), float(np.sin(a))) for a in angle]
    lower = [(1.0 - float(np.cos(a)), 0.4 - float(np.sin(a))) for a in angle]
    return points(upper + lower, 5, [0] * 6 + [1] * 6)


def test_two_moons_of_cliques_become_two_clusters() -> None:
    case = two_moons()
    engine = case.engine(with_k(12))
    asked = answers(case, engine)
    assert evaluate(engine.labels, case.classes).ari == pytest.approx(1.0)
    assert sum(answer is Answer.SAME for *_, answer in asked) == 10  # 12 super-instances, 2 classes: a tree of each
    assert len(asked) < 12 * 11 / 2


def test_the_closest_pair_comes_first_and_what_follows_is_not_asked() -> None:
    case = points([(0, 0), (1, 0), (3, 0), (7, 0)], 3, [0, 0, 1, 1])
    engine = case.engine(with_k(4))
    # 0-1 are one; 1-2 differ, so 0-2 is known; 2-3 are one, and so all is known.
    assert answers(case, engine) == [(0, 1, Answer.SAME), (1, 2, Answer.DIFFERENT), (2, 3, Answer.SAME)]
    assert engine.question is None


def test_the_end_is_reached_when_every_pair_is_known() -> None:
    case = points([(0, 0), (1, 0), (3, 0)], 4, [0, 1, 2])
    engine = case.engine(with_k(3))
    assert len(answers(case, engine)) == 3
    medoids = engine._context.values["medoids"].tolist()
    assert all(engine.store.relation(i, j) is not None for i, j in itertools.combinations(medoids, 2))


def test_medoids_are_nearest_to_the_mean() -> None:
    features = np.array([[0.0], [1.0], [2.0], [30.0], [31.0], [35.0]])
    case = case_of([0] * 3 + [1] * 3, [0] * 3 + [1] * 3, {(0, 1): 0.5}, features)
    values = case.engine(with_k(2))._context.values
    assert sorted(values["medoids"].tolist()) == [1, 4]
    assert sorted(values["stand_ins"].tolist()) == [0, 3]


def test_k_is_the_number_of_initial_clusters_unless_it_is_given() -> None:
    case = points([(0, 0), (1, 0), (3, 0), (7, 0)], 3, [0, 0, 1, 1])
    assert case.engine(COBRA).partition.n_clusters == 4
    assert case.engine(with_k(2)).partition.n_clusters == 2
    alone = case_of(list(range(5)), [0] * 5, {(0, 1): 0.5}, np.arange(5)[:, None])
    assert case_of([0, 0, 1, 1, 2], [0] * 5, {(0, 1): 0.5}, np.arange(5)[:, None]).engine(COBRA)._context.values[
        "medoids"
    ].shape == (2,)
    assert alone.engine(COBRA).partition.n_singletons == 5


def test_purity_has_the_ceiling_of_the_super_instances() -> None:
    """A planted impure super-instance is never divided; more super-instances raise the ceiling, and the price."""
    at = [(0.0, 0.0), (0.4, 0.0), (9.0, 0.0), (9.0, 9.0)]
    case = points(at, 5, [0, 1, 0, 1])
    coarse, fine = case.engine(with_k(3)), case.engine(with_k(4))
    asked = [answers(case, engine) for engine in (coarse, fine)]
    purity = [evaluate(engine.labels, case.classes).purity for engine in (coarse, fine)]
    assert purity == pytest.approx([0.75, 1.0])
    assert len(asked[0]) < len(asked[1])


@pytest.mark.parametrize(("k", "words"), [(0, "between 1 and 12"), (13, "not 13")])
def test_k_must_fit(k: int, words: str) -> None:
    with pytest.raises(InputError, match=words):
        random_case(1, 12, 3).engine(with_k(k))


def test_too_many_super_instances_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cobra, "LARGEST", 5)
    with pytest.raises(InputError, match="6 super-instances"):
        random_case(1, 12, 3).engine(with_k(6))


def test_a_neighbour_of_the_medoid_stands_in_for_a_skipped_pair() -> None:
    case = points([(0, 0), (1, 0), (9, 0)], 3, [0, 0, 1])
    engine = case.engine(with_k(3))
    first = engine.question
    assert first is not None
    engine.record(Answer.SKIP)
    second = engine.question
    assert second is not None
    assert second.right == first.right
    assert second.left != first.left
    assert case.initial.labels[second.left] == case.initial.labels[first.left]
    engine.record(Answer.SAME)
    assert engine.labels[first.left] == engine.labels[first.right]
    check_at_rest(engine)
    while engine.question is not None:
        engine.record(case.truth(engine.question.left, engine.question.right))
        check_at_rest(engine)
    assert evaluate(engine.labels, case.classes).ari == pytest.approx(1.0)


@given(st.integers(0, 10_000), st.integers(6, 30), st.integers(2, 8), st.lists(st.sampled_from(Answer), max_size=60))
def test_super_instances_stay_whole(seed: int, n: int, k: int, said: list[Answer]) -> None:
    engine = random_case(seed, n, 4).engine(with_k(min(k, n), seed))
    start = engine.labels.copy()
    pairs = itertools.combinations(range(n), 2)
    for answer in said:
        if engine.question is not None:
            engine.record(answer)
            check_at_rest(engine)
    if engine.store.n_skipped == 0:
        pairs = [(i, j) for i, j in pairs if not (engine.junk[i] or engine.junk[j])]
        assert all(engine.labels[i] == engine.labels[j] for i, j in pairs if start[i] == start[j])
