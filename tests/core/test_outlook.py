"""The estimate of the questions left: what is counted, and that it holds on real data."""

from __future__ import annotations

import csv
import itertools
from pathlib import Path

import numpy as np
import pytest

from a3s_desktop.core.engine import Engine
from a3s_desktop.core.initialization import initialize
from a3s_desktop.core.outlook import LEAST_CHANCE, Load, Outlook, forecast, load
from a3s_desktop.core.strategies import a3s as a3s_module
from a3s_desktop.core.types import Answer, InitialOptions, StrategyOptions
from a3s_desktop.task import Task
from tests.core.a3s_cases import A3S
from tests.core.cases import random_case

NONE = np.zeros(0)


def pairs(*rows: tuple[int, int, float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    first, second, chance = (np.array(column) for column in zip(*rows, strict=True))
    return first, second, chance


def test_a_pair_counts_by_the_chance_that_neither_cluster_was_joined_before() -> None:
    found = load(*pairs((1, 2, 0.5), (1, 3, 0.4), (2, 4, 0.3), (5, 6, 0.1)), NONE)
    assert found.chains == pytest.approx(1.0 + 0.5 + 0.5 + 1.0)
    assert found.width == pytest.approx(np.sqrt(4 * 6))


def test_what_is_never_asked_does_not_count() -> None:
    least = LEAST_CHANCE / 2
    found = load(*pairs((1, 2, least)), np.array([least, 0.5, 0.02]))
    assert (found.chains, found.width, found.nodes) == (0.0, 0.0, 2)
    assert found.splits == pytest.approx(0.52 + least)
    assert load(NONE.astype(np.int64), NONE.astype(np.int64), NONE, NONE) == Load(0.0, 0, 0.0, 0.0)


def test_the_order_of_the_candidates_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    first, second = np.divmod(rng.choice(20 * 40, 300, replace=False), 40)
    second, chance = second + 20, rng.integers(0, 7, 300) / 10.0  # few values: many pairs are equally likely
    inner = rng.uniform(0, 0.3, 80)
    for _ in range(10):
        order = rng.permutation(300)
        found = load(first[order], second[order], chance[order], rng.permutation(inner))
        assert found == load(first, second, chance, inner)


def test_the_range_narrows_as_answers_come_in() -> None:
    work = Load(100.0, 60, 5.0, 80.0)
    ranges = [forecast(work, answered) for answered in (0, 10, 100, 1000)]
    assert len({one.middle for one in ranges}) == 1
    assert [one.high for one in ranges] == sorted((one.high for one in ranges), reverse=True)
    assert all(1 <= one.low <= one.middle <= one.high for one in ranges)
    assert forecast(Load(0.0, 0, 0.0, 0.0), 50) == Outlook(1, 1, 2), "a question is pending"


@pytest.mark.parametrize("strategy", ["a3s-paper", "cobra", "random"])
def test_a_strategy_that_cannot_tell_says_nothing(strategy: str) -> None:
    engine = random_case(3, 20, 3).engine(StrategyOptions(strategy, clusters=3))
    assert engine.question is not None
    assert engine.outlook() is None


def test_none_are_left_at_the_end_and_undo_brings_the_estimate_back() -> None:
    case = random_case(3, 20, 3)
    engine = case.engine(StrategyOptions("a3s"))
    seen = []
    while engine.question is not None:
        seen.append((engine.mark(), engine.outlook()))
        engine.record(case.truth(engine.question.left, engine.question.right))
    assert engine.outlook() == Outlook(0, 0, 0)
    for mark, outlook in reversed(seen):
        engine.restore(mark)
        assert engine.outlook() == outlook
        assert outlook is not None
        assert outlook.middle >= 1


def test_of_many_candidates_it_is_kept_until_nothing_else_is_to_be_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """No answer waits for it: it is made anew when that is asked for, and only where it is old."""
    monkeypatch.setattr(a3s_module, "_MANY", -1)
    monkeypatch.setattr(a3s_module, "_OUTLOOK_EVERY", 10)
    case = random_case(3, 60, 8)
    engine = case.engine(A3S)
    told = engine.outlook()
    for answers in itertools.count(1):
        assert engine.question is not None
        engine.record(case.truth(engine.question.left, engine.question.right))
        if engine.question is None:
            break
        assert engine.outlook() == told
        engine.renew_outlook()
        if answers % 10 == 0:
            told = case.reload(engine, A3S).outlook()
        assert engine.outlook() == told
    assert answers > 30


def run(folder: Path, seed: int) -> tuple[int, dict[int, Outlook]]:
    """Answers of a run with true answers to its end, and the estimate before every tenth of them."""
    if folder.name == "people200":
        with (folder / "labels.csv").open(encoding="utf-8", newline="") as file:
            labels = np.unique([row["label"] for row in csv.DictReader(file)], return_inverse=True)[1]
        features = np.load(folder / "lite0.npy")
    else:
        labels, features = np.load(folder / "labels.npy"), np.load(folder / "features.npy")
    state = initialize([features], InitialOptions(seed=seed).for_strategy("a3s"), Task())
    engine = Engine(state, [features], StrategyOptions(seed=seed))
    found: dict[int, Outlook] = {}
    given = 0
    while (question := engine.question) is not None:
        if given % 10 == 0:
            outlook = engine.outlook()
            assert outlook is not None
            found[given] = outlook
        given += 1
        engine.record(Answer.SAME if labels[question.left] == labels[question.right] else Answer.DIFFERENT)
    return given, found


@pytest.mark.parametrize(("name", "seed"), [("people200", 0), ("people200", 1), ("people200", 2), ("mk100", 0)])
def test_at_mid_run_the_truth_is_within_a_factor_of_one_and_a_half(shared_data: Path, name: str, seed: int) -> None:
    given, found = run(shared_data / name, seed)
    half = min(found, key=lambda at: abs(2 * at - given))
    left, outlook = given - half, found[half]
    assert outlook.middle / 1.5 <= left <= outlook.middle * 1.5
    assert outlook.low <= left <= outlook.high
