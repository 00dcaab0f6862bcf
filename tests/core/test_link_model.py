"""The model of P(same) against a general optimiser, and what its prior says of plain cases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from a3s_desktop.core.link_model import (
    FACTS,
    MEMORY,
    STEADIEST,
    STEADY_FROM,
    Prior,
    fit,
    inner_prior,
    link_strengths,
    merge_prior,
    probability,
    steadied,
)
from tests.examples import examples

PRIORS = {"merge": merge_prior(), "inner": inner_prior()}


def facts_of(rng: np.random.Generator, n: int) -> np.ndarray:
    """Facts in the ranges that they have on data."""
    facts = np.ones((n, FACTS))
    facts[:, 1] = np.log(rng.random(n) + 0.01)
    facts[:, 2] = facts[:, 1] - rng.exponential(1.5, n)
    facts[:, 3] = rng.normal(size=n)
    facts[:, 4] = rng.normal(size=n) * 2.0
    facts[:, 5] = np.log(rng.integers(1, 40, n))
    facts[:, 6] = facts[:, 5] + np.log(rng.integers(1, 40, n))
    facts[:, 7] = np.log1p(rng.integers(0, 10, n))
    return facts


def penalised(w: np.ndarray, rows: np.ndarray, prior: Prior) -> float:
    """Minus the logarithm of the posterior density, up to a constant."""
    age = np.arange(len(rows))[::-1]
    z = rows[:, :FACTS] @ w
    likelihood = rows[:, FACTS] * z - np.logaddexp(0.0, z)
    return float(-(np.exp(-age / MEMORY) * likelihood).sum() + (((w - prior.mean) / prior.deviation) ** 2).sum() / 2.0)


@examples(40)
@given(
    st.integers(0, 10_000),
    st.sampled_from((0, 1, 2, 5, 30, 150, 400)),
    st.sampled_from(("by the prior", "all same", "all different", "at random", "against the prior")),
    st.sampled_from(sorted(PRIORS)),
)
def test_fit_finds_the_optimum(seed: int, n: int, answers: str, which: str) -> None:
    from scipy.optimize import minimize

    prior = PRIORS[which]
    rng = np.random.default_rng(seed)
    facts = facts_of(rng, n)
    chance = {
        "by the prior": probability(facts, prior.mean),
        "all same": np.ones(n),
        "all different": np.zeros(n),
        "at random": np.full(n, 0.5),
        "against the prior": 1.0 - probability(facts, prior.mean),
    }[answers]
    rows = np.concatenate((facts, (rng.random(n) < chance)[:, None]), axis=1)
    best = minimize(penalised, prior.mean, (rows, prior), method="BFGS", options={"gtol": 1e-7})
    found = fit(rows, prior)
    assert penalised(found, rows, prior) <= best.fun + 1e-5
    np.testing.assert_allclose(found, best.x, atol=5e-3)
    elsewhere = prior.mean + rng.normal(size=FACTS) * prior.deviation
    np.testing.assert_allclose(fit(rows, prior, start=elsewhere), found, atol=1.1e-6)


def test_nothing_answered_leaves_the_prior() -> None:
    for prior in PRIORS.values():
        np.testing.assert_allclose(fit(np.zeros((0, FACTS + 1)), prior), prior.mean, atol=1e-6)


@pytest.mark.parametrize("n", [1, 2, 400])
def test_extreme_facts_stay_finite(n: int) -> None:
    rng = np.random.default_rng(n)
    rows = np.concatenate((rng.normal(size=(n, FACTS)) * 1e3, rng.integers(0, 2, (n, 1))), axis=1)
    weights = fit(rows, merge_prior())
    assert np.isfinite(weights).all()
    assert np.isfinite(probability(rows[:, :FACTS], weights)).all()


def test_what_is_older_than_the_memory_hardly_counts() -> None:
    rng = np.random.default_rng(0)
    old = np.concatenate((facts_of(rng, 300), np.zeros((300, 1))), axis=1)
    new = np.concatenate((facts_of(rng, 400), rng.integers(0, 2, (400, 1))), axis=1)
    np.testing.assert_array_equal(fit(np.concatenate((old, new)), merge_prior()), fit(new, merge_prior()))


def test_weights_do_not_depend_on_the_last_bits() -> None:
    rng = np.random.default_rng(1)
    rows = np.concatenate((facts_of(rng, 60), rng.integers(0, 2, (60, 1))), axis=1)
    rows[:, :FACTS] = rows[:, :FACTS].round(9)
    shaken = rows.copy()
    shaken[:, 1:FACTS] *= 1.0 + 1e-15
    np.testing.assert_array_equal(fit(shaken, merge_prior()), fit(rows, merge_prior()))


@given(st.integers(0, 10_000), st.integers(1, 70))
def test_a_row_is_worth_the_same_alone_and_among_others(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    facts, weights = facts_of(rng, n), rng.normal(size=FACTS)
    together = probability(facts, weights)
    np.testing.assert_array_equal(together, [probability(facts[k : k + 1], weights)[0] for k in range(n)])
    order = rng.permutation(n)
    np.testing.assert_array_equal(probability(facts[order], weights), together[order])
    assert ((together > 0.0) & (together < 1.0)).all()


@given(st.floats(0.0, 1.0), st.integers(1, 100_000), st.integers(1, 100_000))
def test_the_more_samples_tell_it_the_surer_it_is(chance: float, few: int, many: int) -> None:
    few, many = sorted((few, many))
    less, more = steadied(np.full(2, chance), np.log([few, many]))
    assert abs(less - 0.5) <= abs(more - 0.5) + 1e-9
    assert (more - 0.5) * (chance - 0.5) >= 0.0
    assert few > STEADY_FROM or less == pytest.approx(chance)


def test_no_logit_grows_by_more_than_is_said() -> None:
    chance = np.linspace(0.001, 0.999, 99)
    found = steadied(chance, np.full(99, np.log(1e6)))
    np.testing.assert_allclose(np.log(found / (1.0 - found)), STEADIEST * np.log(chance / (1.0 - chance)), atol=1e-9)


def test_no_rows_no_probabilities() -> None:
    assert probability(np.zeros((0, FACTS)), merge_prior().mean).shape == (0,)


@pytest.mark.parametrize("which", sorted(PRIORS))
def test_the_prior_says_what_anybody_would(which: str) -> None:
    weights = PRIORS[which].mean
    typical = facts_of(np.random.default_rng(2), 200)
    for fact, sign in ((1, 1), (2, 1), (3, 1), (4, -1)):  # more alike is more likely the same, farther apart is less
        more = typical.copy()
        more[:, fact] += 1.0
        assert (np.sign(probability(more, weights) - probability(typical, weights)) == sign).all()


@pytest.mark.parametrize("which", sorted(PRIORS))
def test_answers_move_the_level(which: str) -> None:
    """A dozen equal answers are believed over the prior."""
    prior = PRIORS[which]
    facts = np.repeat(facts_of(np.random.default_rng(3), 1), 12, axis=0)
    for same in (0.0, 1.0):
        weights = fit(np.concatenate((facts, np.full((12, 1), same)), axis=1), prior)
        assert abs(float(probability(facts[:1], weights)[0]) - same) < 0.2


def test_strengths_are_finite_where_nothing_is_alike() -> None:
    largest, mean = link_strengths([0.0, 1.0], [0.0, 0.5])
    np.testing.assert_allclose(largest, np.log([0.01, 1.01]))
    np.testing.assert_allclose(mean, np.log([0.01, 0.51]))
