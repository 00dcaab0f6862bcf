"""Answers with mistakes and skips: how often, that they can be repeated, and that no run stumbles over them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from a3s_desktop.core.types import Answer, InitialOptions, StrategyOptions
from a3s_desktop.errors import ContradictionError, InputError
from a3s_desktop.session.oracle import Oracle, OracleOptions
from a3s_desktop.session.session import Session
from a3s_desktop.session.simulation import Prepared, simulate
from tests.session.conftest import Data

CLASSES = np.repeat(np.arange(20), 4)
PAIRS = list(itertools.combinations(range(len(CLASSES)), 2))


def run(data: Data, **more: Any) -> dict[str, Any]:
    prepared = Prepared(data.initial, 0.25)
    return simulate(data.views, data.classes, InitialOptions(), StrategyOptions(), prepared=prepared, **more)


def test_as_many_mistakes_and_skips_as_asked_for() -> None:
    oracle = Oracle(CLASSES, OracleOptions(error=0.05, skip=0.1))
    truth = Oracle(CLASSES)
    given = [oracle.answer(*pair) for pair in PAIRS]
    wrong = sum(said not in (Answer.SKIP, truth.answer(*pair)) for said, pair in zip(given, PAIRS, strict=True))
    assert wrong == oracle.wrong
    assert 0.09 < given.count(Answer.SKIP) / len(PAIRS) < 0.11
    assert 0.04 < wrong / (len(PAIRS) - given.count(Answer.SKIP)) < 0.06
    assert truth.wrong == 0


def test_a_mistake_depends_on_seed_and_pair_alone() -> None:
    options = OracleOptions(error=0.3, skip=0.2, seed=4)
    first, second = Oracle(CLASSES, options), Oracle(CLASSES, options)
    forward = {pair: first.answer(*pair) for pair in PAIRS}
    backward = {pair: second.answer(*pair[::-1]) for pair in reversed(PAIRS)}
    assert forward == backward
    other = Oracle(CLASSES, OracleOptions(error=0.3, skip=0.2, seed=5))
    assert forward != {pair: other.answer(*pair) for pair in PAIRS}


def test_a_second_look_is_a_new_draw() -> None:
    oracle = Oracle(CLASSES, OracleOptions(error=0.5))
    assert {oracle.answer(0, 1) for _ in range(30)} == {Answer.SAME, Answer.DIFFERENT}


@pytest.mark.parametrize(
    "options", [OracleOptions(error=-0.1), OracleOptions(error=1.1), OracleOptions(skip=1.0), OracleOptions(skip=-1.0)]
)
def test_shares_out_of_range_are_refused(options: OracleOptions) -> None:
    with pytest.raises(InputError):
        Oracle(CLASSES, options)


@pytest.mark.parametrize("seed", range(3))
def test_runs_with_mistakes_and_skips_end_and_can_be_repeated(blobs: Data, seed: int) -> None:
    options = OracleOptions(error=0.2, skip=0.3, seed=seed)
    result = run(blobs, oracle_options=options)
    end = result["end"]
    assert end["stopped_by"] == "nothing-left"
    assert end["wrong"] > 0
    assert end["skipped"] > 0
    assert end["same"] + end["different"] == end["queries"]
    assert result["settings"]["oracle_error"] == 0.2
    assert result["settings"]["oracle_skip"] == 0.3
    queries = [point["queries"] for point in result["curve"]]
    assert queries == sorted(set(queries))
    assert result["curve"][-1] == {name: end[name] for name in result["curve"][-1]}
    assert run(blobs, oracle_options=options)["curve"] == result["curve"]


def test_skips_are_no_answers(blobs: Data) -> None:
    result = run(blobs, oracle_options=OracleOptions(skip=0.5), budget=6)
    assert result["end"]["queries"] == 6
    assert result["end"]["skipped"] > 0
    assert run(blobs, budget=6)["end"]["skipped"] == 0


def test_an_answer_that_was_ruled_out_is_corrected(blobs: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    answer, refused = Session.answer, []

    def refuse_once(session: Session, question_id: int, said: Answer) -> Any:
        if len(session.history()) == 2 and not refused:
            refused.append(said)
            raise ContradictionError("Earlier answers imply the opposite.", ())
        return answer(session, question_id, said)

    monkeypatch.setattr(Session, "answer", refuse_once)
    result = run(blobs, budget=5)
    assert result["end"]["corrected"] == 1
    assert result["end"]["queries"] == 5


def test_a_prepared_start_is_used_and_its_seconds_count(blobs: Data) -> None:
    result = run(blobs, budget=0)
    sizes = np.bincount(blobs.initial.labels)
    assert result["init"]["clusters"] == int((sizes > 1).sum())
    assert result["init"]["seconds"] == 0.25
    assert result["end"]["seconds"] >= 0.25


def test_points_of_the_curve_where_they_are_wanted(blobs: Data) -> None:
    queries = [point["queries"] for point in run(blobs, every=5, at=(0, 3, 7), budget=11)["curve"]]
    assert queries == [0, 3, 5, 7, 10, 11]
