"""A whole annotation run without a person: the same `Session`, a journal in memory, and an oracle that answers.

The labels stay in the `Oracle` and in the metrics. Neither the initialization nor the engine ever sees them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.initialization import initialize, stage_count
from a3s_desktop.core.metrics import evaluate
from a3s_desktop.core.types import Answer, InitialOptions, IntArray, StrategyOptions
from a3s_desktop.errors import InputError
from a3s_desktop.session.session import Session
from a3s_desktop.session.state import SessionState
from a3s_desktop.storage.journal_types import MemoryJournal
from a3s_desktop.task import Task

BUDGET = "budget"
NOTHING_LEFT = "nothing-left"


class Oracle:
    """Answers pairs from the true classes.

    Parameters
    ----------
    labels : int array, shape (N,)
        True class of every row, >= 0.

    Raises
    ------
    InputError
        A row has no class.
    """

    def __init__(self, labels: npt.NDArray[Any]) -> None:
        values = np.asarray(labels)
        if values.ndim != 1 or not np.issubdtype(values.dtype, np.integer):
            raise InputError("The labels must be one whole number for each row.")
        if len(values) and values.min() < 0:
            raise InputError(
                f"Row {int(np.argmax(values < 0))} has no label.", "A simulation needs the true label of every row."
            )
        self._labels = values.copy()

    def answer(self, left: int, right: int) -> Answer:
        """SAME where both samples are of one class, else DIFFERENT."""
        return Answer.SAME if self._labels[left] == self._labels[right] else Answer.DIFFERENT


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


def simulate(
    views: Sequence[npt.NDArray[Any]],
    labels: npt.NDArray[Any],
    initial_options: InitialOptions,
    strategy_options: StrategyOptions,
    *,
    budget: int | None = None,
    every: int = 10,
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
    task : Task, optional

    Returns
    -------
    dict
        JSON-able: ``data``, ``settings``, ``init``, ``curve``, ``end``, ``latency_ms`` (milliseconds from an answer
        to the next question, look-ahead off; None where nothing was asked). Seconds do not count the metrics.

    Raises
    ------
    InputError, Cancelled
    """
    task = task or Task()
    _check(views, labels, budget, every)
    oracle = Oracle(labels)
    initializing, starting, answering = Stopwatch(), Stopwatch(), Stopwatch()
    task.plan(stage_count(len(views), initial_options) + 1)
    with initializing:
        initial = initialize(views, initial_options, task)
    with starting:
        session = Session(initial, views, strategy_options, MemoryJournal(), snapshot_every=0)
    task.stage("Answering")
    classes = np.asarray(labels, np.int32)
    start = _quality(session.state, classes)
    curve = [_point(start)]
    stopped_by = NOTHING_LEFT
    while (question := session.state.question) is not None:
        if budget is not None and session.state.answers >= budget:
            stopped_by = BUDGET
            break
        task.step(session.state.answers / budget if budget else 0.0)
        answer = oracle.answer(question.left, question.right)
        with answering:
            session.answer(question.id, answer)
        if session.state.answers % every == 0:
            curve.append(_point(_quality(session.state, classes)))
    end = _quality(session.state, classes)
    if curve[-1]["queries"] != end["queries"]:
        curve.append(_point(end))
    seconds = initializing.seconds + starting.seconds + answering.seconds
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
        },
        "init": {
            "seconds": round(initializing.seconds, 4),
            **{name: value for name, value in start.items() if name != "queries"},
        },
        "curve": curve,
        "end": {
            **end,
            "seconds": round(seconds, 4),
            "same": state.same,
            "different": state.different,
            "stopped_by": stopped_by,
        },
        "latency_ms": latencies(answering.laps),
    }


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
