"""A whole annotation run without a person: the same `Session`, a journal in memory, and an oracle that answers.

The labels stay in the `Oracle` and in the metrics. Neither the initialization nor the engine ever sees them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.initialization import initialize, stage_count
from a3s_desktop.core.metrics import evaluate
from a3s_desktop.core.types import Answer, InitialOptions, InitialState, IntArray, StrategyOptions
from a3s_desktop.errors import ContradictionError, InputError
from a3s_desktop.session.oracle import Oracle, OracleOptions
from a3s_desktop.session.session import Session
from a3s_desktop.session.state import QuestionView, SessionState
from a3s_desktop.storage.journal_types import MemoryJournal
from a3s_desktop.task import Task

BUDGET = "budget"
NOTHING_LEFT = "nothing-left"


@dataclass
class Stopwatch:
    """Adds up the time spent inside ``with`` blocks, and keeps each."""

    laps: list[float] = field(default_factory=list)

    def __enter__(self) -> None:
        self._started = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.laps.append(time.perf_counter() - self._started)

    @property
    def seconds(self) -> float:
        """The sum of all laps in seconds."""
        return sum(self.laps)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A stage one that was computed before, and the seconds that it took."""

    state: InitialState
    seconds: float


def simulate(
    views: Sequence[npt.NDArray[Any]],
    labels: npt.NDArray[Any],
    initial_options: InitialOptions,
    strategy_options: StrategyOptions,
    *,
    budget: int | None = None,
    every: int = 10,
    at: Collection[int] = (),
    oracle_options: OracleOptions | None = None,
    prepared: Prepared | None = None,
    task: Task | None = None,
) -> dict[str, Any]:
    """Initialize, answer every question by ``labels`` until ``budget`` or the end, and measure.

    Parameters
    ----------
    views : sequence of arrays, each (N, D_v)
    labels : int array, shape (N,)
        True classes, for the oracle and the metrics only.
    initial_options : InitialOptions
    strategy_options : StrategyOptions
    budget : int, optional
        Most answers; None: until nothing is left to ask.
    every : int
        Answers between two points of the curve.
    at : collection of int
        Numbers of answers at which the curve has a point besides.
    oracle_options : OracleOptions, optional
        Wrong answers and skips; default: none. A skip is no answer: neither the budget nor the curve counts it.
    prepared : Prepared, optional
        The result of stage one for these views and options, in place of computing it; its seconds are counted.
    task : Task, optional

    Returns
    -------
    dict
        JSON-able: ``data``, ``settings``, ``init``, ``curve``, ``end``, ``latency_ms`` (milliseconds from an answer
        to the next question, look-ahead off; None where nothing was asked). Seconds do not count the metrics.
        ``end`` also counts the skips, the wrong answers, and those of them that earlier answers ruled out and that
        were corrected on the spot.

    Raises
    ------
    InputError, Cancelled
    """
    task = task or Task()
    initial_options = initial_options.for_strategy(strategy_options.strategy)
    _check(views, labels, budget, every)
    oracle_options = oracle_options or OracleOptions()
    oracle = Oracle(labels, oracle_options)
    initializing, starting, answering = Stopwatch(), Stopwatch(), Stopwatch()
    if prepared is None:
        task.plan(stage_count(len(views), initial_options) + 1)
        with initializing:
            initial = initialize(views, initial_options, task)
        prepared = Prepared(initial, initializing.seconds)
    with starting:
        session = Session(prepared.state, views, strategy_options, MemoryJournal(), snapshot_every=0)
    task.stage("Answering")
    classes = np.asarray(labels, np.int32)
    start = _quality(session.state, classes)
    curve = [_point(start)]
    stopped_by, corrected = NOTHING_LEFT, 0
    while (question := session.state.question) is not None:
        if budget is not None and session.state.answers >= budget:
            stopped_by = BUDGET
            break
        task.step(session.state.answers / budget if budget else 0.0)
        answer = oracle.answer(question.left, question.right)
        with answering:
            corrected += not _give(session, question, answer)
        answers = session.state.answers
        if answers != curve[-1]["queries"] and (answers % every == 0 or answers in at):
            curve.append(_point(_quality(session.state, classes)))
    end = _quality(session.state, classes)
    if curve[-1]["queries"] == end["queries"]:
        curve.pop()  # skips may have come after it
    curve.append(_point(end))
    seconds = prepared.seconds + starting.seconds + answering.seconds
    state = session.state
    session.close()
    return {
        "data": {
            "n": len(labels),
            "classes": len(np.unique(classes)),
            "dim": int(sum(view.shape[1] for view in views)),
        },
        "settings": {
            **initial_options.to_json(),
            **strategy_options.to_json(),
            "budget": budget,
            "every": every,
            "views": len(views),
            "oracle_error": oracle_options.error,
            "oracle_skip": oracle_options.skip,
        },
        "init": {
            "seconds": round(prepared.seconds, 4),
            **{name: value for name, value in start.items() if name != "queries"},
        },
        "curve": curve,
        "end": {
            **end,
            "seconds": round(seconds, 4),
            "same": state.same,
            "different": state.different,
            "skipped": state.skipped,
            "wrong": oracle.wrong,
            "corrected": corrected,
            "stopped_by": stopped_by,
        },
        "latency_ms": latencies(answering.laps),
    }


def _give(session: Session, question: QuestionView, answer: Answer) -> bool:
    """Answer the question; False where earlier answers ruled the answer out, and its opposite was given instead."""
    try:
        session.answer(question.id, answer)
    except ContradictionError:
        # What a person does who is shown the earlier answers; nothing was changed, and the question still stands.
        session.answer(question.id, Answer.DIFFERENT if answer is Answer.SAME else Answer.SAME)
        return False
    return True


def latencies(seconds: Sequence[float]) -> dict[str, float | None]:
    """Median, 99th percentile and maximum in milliseconds; None where nothing was measured."""
    if not seconds:
        return {"median": None, "p99": None, "max": None}
    values = np.asarray(seconds) * 1000.0
    return {
        "median": round(float(np.median(values)), 3),
        "p99": round(float(np.percentile(values, 99)), 3),
        "max": round(float(values.max()), 3),
    }


def _check(views: Sequence[npt.NDArray[Any]], labels: npt.NDArray[Any], budget: int | None, every: int) -> None:
    if not views:
        raise InputError("A simulation needs at least one feature file.")
    for number, view in enumerate(views, 1):
        if len(view) != len(labels):
            raise InputError(
                f"Feature file {number} has {len(view)} rows, but there are {len(labels)} labels.",
                "Both must describe the same images in the same order.",
            )
    if budget is not None and budget < 0:
        raise InputError("The budget cannot be negative.")
    if every < 1:
        raise InputError("The curve needs at least one answer between two points.")


def _quality(state: SessionState, classes: IntArray) -> dict[str, Any]:
    found = evaluate(state.labels, classes)
    return {
        "queries": state.answers,
        "nmi": round(found.nmi, 6),
        "ari": round(found.ari, 6),
        "purity": round(found.purity, 6),
        "clusters": state.clusters,
        "singletons": state.singletons,
        "fission_rate": round(found.fission_rate, 6),
        # Classes without entropy (all rows of one class) leave it undefined, and JSON knows no infinity.
        "entropy_ratio": round(found.entropy_ratio, 6) if math.isfinite(found.entropy_ratio) else None,
    }


def _point(quality: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in quality.items() if name not in ("fission_rate", "entropy_ratio")}
