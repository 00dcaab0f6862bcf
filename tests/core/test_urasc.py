"""URASC: the affinity, the first-order change against finite differences, and small cases."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from a3s_desktop.core.context import Context
from a3s_desktop.core.pckmeans import Closure
from a3s_desktop.core.strategies import urasc
from a3s_desktop.core.strategies.neighbourhoods import Neighbourhoods
from a3s_desktop.core.strategies.urasc import URASC, Spectrum, constrained_affinity
from a3s_desktop.core.types import Answer, StrategyOptions
from a3s_desktop.errors import InputError
from tests.core.cases import Case, case_of, check_at_rest, random_case


def context_of(case: Case, *said: tuple[int, int, Answer], clusters: int = 2) -> tuple[Context, Closure]:
    options = StrategyOptions(strategy="urasc", clusters=clusters)
    context = Context(case.initial.graph, case.views, options, case.initial.labels)
    for left, right, answer in said:
        context.store.add(left, right, answer)
    return context, Closure.of(context.store, case.n)


def moons(bridge: float = 0.4) -> Case:
    """Two chains of cliques, joined by one weak bridge: what spectral clustering divides and K-means does not."""
    half, size = 5, 4
    angle = np.linspace(0.0, np.pi, half)
    centres = [(np.cos(a), np.sin(a)) for a in angle] + [(1.0 - np.cos(a), 0.4 - np.sin(a)) for a in angle]
    features = np.repeat(np.array(centres), size, axis=0)
    clique = np.repeat(np.arange(2 * half), size)
    edges = {}
    for i, j in itertools.combinations(range(len(clique)), 2):
        if clique[i] == clique[j]:
            edges[i, j] = 0.95
        elif clique[j] - clique[i] == 1 and clique[i] // half == clique[j] // half:
            edges[i, j] = 0.6
    edges[size * half - 1, size * half] = bridge
    classes = (clique // half).tolist()
    return case_of(classes, classes, edges, features)


def test_answers_overwrite_the_affinity() -> None:
    case = case_of([0] * 5, [0] * 5, {(0, 1): 0.5, (1, 2): 0.5, (0, 3): 0.9, (3, 4): 0.7}, np.arange(5)[:, None])
    context, closure = context_of(case, (0, 2, Answer.SAME), (0, 3, Answer.DIFFERENT))
    found = constrained_affinity(context, closure).toarray()
    np.fill_diagonal(found, 0.0)
    expected = np.zeros((5, 5))
    for i, j, value in ((0, 1, 0.5), (1, 2, 0.5), (0, 2, 1.0), (3, 4, 0.7)):
        expected[i, j] = expected[j, i] = value
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_two_moons_of_cliques_are_told_apart_at_the_start() -> None:
    case = moons()
    for seed in range(3):
        labels = case.engine(StrategyOptions(strategy="urasc", clusters=2, seed=seed)).labels
        assert len(set(zip(labels.tolist(), case.classes.tolist(), strict=True))) == 2


@given(st.integers(0, 1_000))
def test_direct_and_iterative_eigenvectors_agree(seed: int) -> None:
    case = random_case(seed, 40, 3)
    context, closure = context_of(case, (0, 1, Answer.DIFFERENT), (2, 3, Answer.SAME))
    dense = urasc._spectrum(context, closure, 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(urasc, "_DENSE", 0)
        sparse = urasc._spectrum(context, closure, 2)
    np.testing.assert_allclose(sparse.values, dense.values, atol=1e-5)
    assert sparse.rest == pytest.approx(dense.rest, abs=1e-5)
    assert np.all(np.diff(dense.values) <= 1e-12)


def test_the_gradient_of_the_entropy() -> None:
    rng = np.random.default_rng(0)
    vectors, centroids = rng.normal(size=(6, 3)), rng.normal(size=(3, 3))

    def total(values: np.ndarray, spread: float) -> float:
        rows = values / np.linalg.norm(values, axis=1, keepdims=True)
        logits = -((rows[:, None] - centroids) ** 2).sum(axis=2) / (2.0 * spread)
        share = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        return float(-(share * np.log(share)).sum())

    length = np.linalg.norm(vectors, axis=1)
    rows = vectors / length[:, None]
    spread = float(((rows[:, None] - centroids) ** 2).sum(axis=2).min(axis=1).mean())
    entropy, gradient = urasc._entropy(rows, length, centroids)
    assert entropy.sum() == pytest.approx(total(vectors, spread))
    for i, k in itertools.product(range(6), range(3)):
        step = np.zeros_like(vectors)
        step[i, k] = 1e-6
        change = (total(vectors + step, spread) - total(vectors - step, spread)) / 2e-6
        assert gradient[i, k] == pytest.approx(change, abs=1e-6)


def test_the_first_order_change_of_the_eigenvectors() -> None:
    """With the whole spectrum known, for any function of the embedding that no turn changes."""
    rng = np.random.default_rng(1)
    n, k = 9, 3
    matrix = rng.random((n, n))
    matrix = matrix + matrix.T + np.diag([9.0, 8.0, 7.0, 0, 0, 0, 0, 0, 0])
    values, vectors = np.linalg.eigh(matrix)
    spectrum = Spectrum(values[::-1], vectors[:, ::-1], 0.0, np.ones(n))
    weights = rng.normal(size=(n, n))

    def function(of: np.ndarray) -> float:  # of the projector, which turns inside the embedding do not change
        basis = np.linalg.eigh(of)[1][:, ::-1][:, :k]
        return float((weights * (basis @ basis.T)).sum())

    basis = spectrum.vectors[:, :k]
    gradient = (weights + weights.T) @ basis
    response = urasc._response(spectrum, gradient)
    change = rng.normal(size=(n, n))
    change = change + change.T
    expected = (function(matrix + 1e-6 * change) - function(matrix - 1e-6 * change)) / 2e-6
    assert np.einsum("nk,nm,mk->", response, change, basis) == pytest.approx(expected, abs=1e-5)


def test_a_sample_between_two_sets_is_worth_more_than_one_inside() -> None:
    edges = dict.fromkeys(itertools.combinations(range(5), 2), 0.9)
    edges |= dict.fromkeys(itertools.combinations(range(5, 10), 2), 0.9)
    edges |= {(i, 10): 0.5 for i in range(10)}
    classes = [0] * 5 + [1] * 6
    features = np.array([[0.0]] * 5 + [[9.0]] * 5 + [[4.5]])
    case = case_of(classes, classes, edges, features)
    engine = case.engine(StrategyOptions(strategy="urasc", clusters=2))
    context = engine._context
    assert context.values["worth"].argmax() == 10
    context.values["founders"] = np.array([0, 5])
    context.store.add(0, 5, Answer.DIFFERENT)
    strategy = URASC()
    strategy._recluster(context)
    known = Neighbourhoods.of(context)
    assert strategy._choose(context, known, np.array([1, 2, 6, 7, 10])) == 10


def test_true_answers_mend_a_wrong_bridge() -> None:
    case = moons(bridge=0.9)
    engine = case.engine(StrategyOptions(strategy="urasc", clusters=2))
    while engine.question is not None:
        engine.record(case.truth(engine.question.left, engine.question.right))
        check_at_rest(engine)
    assert len(set(zip(engine.labels.tolist(), case.classes.tolist(), strict=True))) == 2


def test_a_graph_in_pieces_and_samples_without_edges() -> None:
    case = case_of([0, 0, 1, 1, 2, 3], [0, 0, 1, 1, 2, 3], {(0, 1): 0.9, (2, 3): 0.9}, np.arange(6)[:, None])
    engine = case.engine(StrategyOptions(strategy="urasc", clusters=4))
    assert np.isfinite(engine._context.values["worth"]).all()
    while engine.question is not None:
        engine.record(case.truth(engine.question.left, engine.question.right))
        check_at_rest(engine)
    assert len(set(engine.labels.tolist())) == 4


def test_too_many_samples_are_refused_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(urasc, "LARGEST", 10)
    with pytest.raises(InputError, match="at most 10 images; there are 12"):
        random_case(1, 12, 3).engine(StrategyOptions(strategy="urasc", clusters=3))
