"""Whole runs with an oracle: the JSON, the stopping rules, and that labels reach nothing but oracle and metrics."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from a3s_desktop.core.types import Answer, InitialOptions, InitialState, StrategyOptions
from a3s_desktop.errors import Cancelled, InputError
from a3s_desktop.session import simulation
from a3s_desktop.session.session import Session
from a3s_desktop.session.simulation import Oracle, latencies, simulate
from a3s_desktop.task import Progress, Task
from tests.session.conftest import Data


def run(data: Data, **more: Any) -> dict[str, Any]:
    return simulate(data.views, data.classes, InitialOptions(neighbors=12), StrategyOptions(), **more)


def test_the_oracle_knows_pairs() -> None:
    oracle = Oracle(np.array([0, 1, 0]))
    assert oracle.answer(0, 2) is Answer.SAME
    assert oracle.answer(0, 1) is Answer.DIFFERENT


@pytest.mark.parametrize("labels", [np.array([0, -1, 2]), np.array([0.5, 1.0]), np.array([["a"]])])
def test_labels_that_are_none_are_refused(labels: np.ndarray) -> None:
    with pytest.raises(InputError):
        Oracle(labels)


def test_the_json_is_as_documented(blobs: Data) -> None:
    result = run(blobs)
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    assert list(result) == ["data", "settings", "init", "curve", "end", "latency_ms"]
    assert result["data"] == {"n": 48, "classes": 6, "dim": 8}
    assert set(result["init"]) == {
        *("seconds", "clusters", "singletons", "nmi", "ari", "purity", "fission_rate", "entropy_ratio"),
    }
    point = {"queries", "nmi", "ari", "purity", "clusters", "singletons"}
    assert all(set(entry) == point for entry in result["curve"])
    extra = {"fission_rate", "entropy_ratio", "seconds", "same", "different", "skipped", "wrong"}
    extra |= {"corrected", "stopped_by"}
    assert set(result["end"]) == point | extra
    assert set(result["latency_ms"]) == {"median", "p99", "max"}
    assert result["settings"]["strategy"] == "a3s"
    assert result["settings"]["neighbors"] == 12


def test_the_curve_has_the_start_every_step_and_the_end(blobs: Data) -> None:
    result = run(blobs, every=4)
    end = result["end"]["queries"]
    expected = [*range(0, end, 4), end]
    assert [entry["queries"] for entry in result["curve"]] == expected
    assert result["end"]["same"] + result["end"]["different"] == end
    assert result["end"]["stopped_by"] == "nothing-left"
    assert {name: result["end"][name] for name in result["curve"][-1]} == result["curve"][-1]
    assert {name: result["init"][name] for name in ("nmi", "ari", "clusters")} == {
        name: result["curve"][0][name] for name in ("nmi", "ari", "clusters")
    }
    assert result["curve"][-1]["nmi"] > result["curve"][0]["nmi"]


@pytest.mark.parametrize("budget", [0, 1, 7])
def test_the_budget_ends_it(blobs: Data, budget: int) -> None:
    result = run(blobs, budget=budget)
    assert result["end"]["queries"] == budget
    assert result["end"]["stopped_by"] == "budget"
    assert (result["latency_ms"]["median"] is None) == (budget == 0)


def test_it_is_deterministic_and_the_budget_changes_no_answer(blobs: Data) -> None:
    short, long = run(blobs, every=1, budget=10), run(blobs, every=1)
    assert short["curve"] == long["curve"][:11]
    assert run(blobs, every=1)["curve"] == long["curve"]


def test_labels_never_reach_the_engine(blobs: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    """With other labels and the same answers, the same questions are asked."""
    asked: list[tuple[int, int]] = []
    answer = Session.answer

    def watch(session: Session, question_id: int, said: Answer) -> Any:
        assert session.state.question is not None
        asked.append((session.state.question.left, session.state.question.right))
        return answer(session, question_id, said)

    monkeypatch.setattr(Session, "answer", watch)
    monkeypatch.setattr(Oracle, "answer", lambda self, left, right: Answer.DIFFERENT)
    run(blobs)
    first, asked[:] = list(asked), []
    others = Data(blobs.views, np.roll(blobs.classes, 5), blobs.initial)
    run(others)
    assert asked == first


def test_seconds_leave_the_metrics_out(blobs: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate = simulation.evaluate
    spent = [0.0]

    def slow(*arguments: Any) -> Any:
        spent[0] += 0.05
        simulation.time.sleep(0.05)
        return evaluate(*arguments)

    monkeypatch.setattr(simulation, "evaluate", slow)
    started = simulation.time.perf_counter()
    result = run(blobs, every=1)
    took = simulation.time.perf_counter() - started
    assert result["end"]["seconds"] <= took - spent[0] + 0.01
    assert result["end"]["seconds"] >= result["init"]["seconds"]


def test_views_of_different_length_are_refused(blobs: Data) -> None:
    with pytest.raises(InputError, match="48 rows"):
        simulate(blobs.views, blobs.classes[:-1], InitialOptions(), StrategyOptions())
    with pytest.raises(InputError):
        simulate((), blobs.classes, InitialOptions(), StrategyOptions())
    with pytest.raises(InputError):
        run(blobs, budget=-1)
    with pytest.raises(InputError):
        run(blobs, every=0)


def test_several_views_count_their_columns(blobs: Data) -> None:
    views = (blobs.views[0], blobs.views[0][:, :3])
    result = simulate(views, blobs.classes, InitialOptions(neighbors=12), StrategyOptions(), budget=3)
    assert result["data"]["dim"] == 11
    assert result["settings"]["views"] == 2


def test_one_class_gives_valid_json(blobs: Data) -> None:
    result = simulate(blobs.views, np.zeros(48, np.int32), InitialOptions(neighbors=12), StrategyOptions(), budget=2)
    json.dumps(result, allow_nan=False)


def test_progress_and_cancellation(blobs: Data) -> None:
    reports: list[Progress] = []
    run(blobs, task=Task(reports.append, min_interval=0.0))
    assert reports[-1].stage == "Answering"
    assert reports[-1].index == reports[-1].count - 1
    task = Task(lambda report: task.cancel() if report.stage == "Answering" else None)
    with pytest.raises(Cancelled):
        run(blobs, task=task)


def test_latencies() -> None:
    assert latencies([]) == {"median": None, "p99": None, "max": None}
    assert latencies([0.001, 0.002, 0.009]) == {"median": 2.0, "p99": 8.86, "max": 9.0}


def test_the_start_is_that_of_the_initialization(blobs: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation, "initialize", lambda views, options, task: blobs.initial)
    state: InitialState = blobs.initial
    sizes = np.bincount(state.labels)
    result = run(blobs, budget=0)
    assert result["init"]["clusters"] == int((sizes > 1).sum())
    assert result["init"]["singletons"] == int((sizes == 1).sum())


def test_real_features_end_where_they_should(shared_data: Path) -> None:
    folder = shared_data / "mk20"
    features, classes = (np.load(folder / f"{name}.npy", allow_pickle=False) for name in ("features", "labels"))
    result = simulate([features], classes, InitialOptions(pseudo_labels=20), StrategyOptions("a3s-paper"), budget=83)
    assert result["end"]["nmi"] >= 0.95
    assert result["end"]["ari"] >= 0.95
