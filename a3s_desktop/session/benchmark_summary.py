"""From single runs to what a report says: means and ranges over seeds, answers to reach a level, areas, comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.session.benchmark_plan import (
    CHECKPOINTS,
    COBRA,
    COBRA_K,
    INITIAL,
    MAIN,
    ORACLE,
    OURS,
    PAPER,
    REGROUPED,
    START,
    TAU,
    initial_text,
    tau_text,
)
from a3s_desktop.session.simulation import NOTHING_LEFT

METRICS = ("nmi", "ari")
LEVELS = {"nmi": (0.9, 0.92, 0.924, 0.95, 0.975), "ari": (0.8, 0.9, 0.95, 0.975)}
AGAINST_AT = (40, 60, 83, 100, 200, 300, 525, 600)
TOLERANCE = 0.005
FROM_SMALL = {83: 200}  # points that are of interest only where the budget is at most this

Numbers = npt.NDArray[np.float64]


class Curve:
    """The learning curve of one run. After the end of a run that had nothing left to ask, its last values stand."""

    def __init__(self, result: Mapping[str, Any]) -> None:
        points = result["curve"]
        self._queries = np.array([point["queries"] for point in points])
        self._values = {
            name: np.array([point[name] for point in points], np.float64) for name in (*METRICS, "purity", "clusters")
        }
        self.end = int(self._queries[-1])
        self._goes_on = result["end"]["stopped_by"] == NOTHING_LEFT

    def at(self, metric: str, queries: int) -> float | None:
        """The value after so many answers; None where the run did not come as far."""
        if queries > self.end and not self._goes_on:
            return None
        return float(self._values[metric][np.searchsorted(self._queries, queries, side="right") - 1])

    def reach(self, metric: str, level: float) -> int | None:
        """Answers at the first point of the curve that is at ``level`` or above; None where none is."""
        hits = np.flatnonzero(self._values[metric] >= level)
        return int(self._queries[hits[0]]) if len(hits) else None

    def area(self, metric: str, until: int) -> float | None:
        """Mean height of the curve between no answer and ``until``."""
        last = self.at(metric, until)
        if last is None or until <= 0:
            return None
        inside = self._queries < until
        x = np.append(self._queries[inside], until).astype(np.float64)
        return float(np.trapezoid(np.append(self._values[metric][inside], last), x) / until)

    def on(self, metric: str, grid: npt.NDArray[np.int64]) -> Numbers:
        """Values on a grid; NaN where the run did not come as far."""
        found = [self.at(metric, int(queries)) for queries in grid]
        return np.array([np.nan if value is None else value for value in found])


def summarise(results: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that the tables show, as JSON-able values; see the functions below for its parts."""
    cases = [(case["case"], case["budget"]) for case in results["cases"]]
    strategies = list(results["options"]["strategies"])
    return {
        "main": {title: _main(results, title, budget, strategies) for title, budget in cases},
        "against_all": against_all(results),
        "cobra_k": {title: _cobra_k(results, title) for title, _ in cases},
        "initial": {title: _initial(results, title) for title, _ in cases},
        "start": {title: _variants(results, title, START, _leading(strategies), REGROUPED) for title, _ in cases},
        "tau": {title: _variants(results, title, TAU, PAPER, tau_text(-0.1)) for title, _ in cases},
        "oracle": {title: _variants(results, title, ORACLE, _leading(strategies), "no mistakes") for title, _ in cases},
        "views": _views(results, strategies),
        "failures": [
            {**{name: run[name] for name in ("case", "strategy", "variant", "seed")}, "reason": run["failed"]}
            for run in results["runs"]
            if run["failed"]
        ]
        + [
            {"case": entry["case"], "strategy": "", "variant": "initial clusterings", "seed": entry["seed"],
             "reason": entry["failed"]}
            for entry in results["agreements"]
            if entry["failed"]
        ],
    }  # fmt: skip


def finished_runs(results: Mapping[str, Any], case: str, group: str, strategy: str | None = None) -> list[Any]:
    """Runs of a case and group, of all strategies or one, that did not fail."""
    return [
        run
        for run in results["runs"]
        if run["case"] == case
        and run["group"] == group
        and not run["failed"]
        and (strategy is None or run["strategy"] == strategy)
    ]


def row(runs: Sequence[Mapping[str, Any]], area_until: int, budget: int) -> dict[str, Any]:
    """Means over the seeds of one strategy on one case, at the checkpoints up to ``budget``.

    Returns
    -------
    dict
        ``seeds``; ``at``: checkpoint → metric → [mean, least, most], with ``ended``: how many of the runs had nothing
        left to ask before; ``reach``: metric → level → mean answers (None: not every run came there) and how many did;
        ``area``: metric → mean; start and end of the other measures; ``seconds``; ``latency_ms``.
    """
    curves = [Curve(run["result"]) for run in runs]
    results = [run["result"] for run in runs]
    at = {}
    for queries in (queries for queries in CHECKPOINTS if queries <= budget):
        values = {metric: [curve.at(metric, queries) for curve in curves] for metric in METRICS}
        if all(value is not None for value in values["nmi"]):
            at[str(queries)] = {
                **{metric: _spread(found) for metric, found in values.items()},
                "ended": sum(curve.end < queries for curve in curves),
            }
    return {
        "seeds": len(runs),
        "at": at,
        "reach": {
            metric: {f"{level:g}": _reach([curve.reach(metric, level) for curve in curves]) for level in levels}
            for metric, levels in LEVELS.items()
        },
        "area": {metric: _mean(curve.area(metric, area_until) for curve in curves) for metric in METRICS},
        "area_until": area_until,
        "start": {name: _mean(result["init"][name] for result in results) for name in _SHAPE},
        "end": {name: _mean(result["end"][name] for result in results) for name in ("queries", *METRICS, *_SHAPE)},
        "stopped_by": sorted({result["end"]["stopped_by"] for result in results}),
        "seconds": _mean(result["end"]["seconds"] for result in results),
        "seconds_start": _mean(result["init"]["seconds"] for result in results),
        "latency_ms": {name: _mean(result["latency_ms"][name] for result in results) for name in ("median", "p99")},
    }


_SHAPE = ("fission_rate", "entropy_ratio", "purity", "clusters", "singletons")


def against_all(results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Our strategy against every other: where its mean NMI or ARI is lower by more than the tolerance.

    One entry for each case and number of answers that our curve reaches: ``ours``, and for every other strategy that
    reaches it ``margin`` (ours less theirs) of NMI and ARI; ``holds`` where no margin is below the tolerance.
    """
    found: list[dict[str, Any]] = []
    others = [name for name in results["options"]["strategies"] if name != OURS]
    for case in results["cases"]:
        ours = [Curve(run["result"]) for run in finished_runs(results, case["case"], MAIN, OURS)]
        rest = {
            name: [Curve(run["result"]) for run in finished_runs(results, case["case"], MAIN, name)] for name in others
        }
        for queries in AGAINST_AT:
            if not ours or case["budget"] > FROM_SMALL.get(queries, case["budget"]):
                continue
            own = {metric: _all_mean(curve.at(metric, queries) for curve in ours) for metric in METRICS}
            margins: dict[str, dict[str, float]] = {}
            for name, curves in rest.items():
                theirs = {metric: _all_mean(curve.at(metric, queries) for curve in curves) for metric in METRICS}
                if own["nmi"] is not None and theirs["nmi"] is not None:
                    margins[name] = {m: round((own[m] or 0.0) - (theirs[m] or 0.0), 6) for m in METRICS}
            if margins:
                holds = all(value >= -TOLERANCE for margin in margins.values() for value in margin.values())
                entry = {"case": case["case"], "queries": queries, "ours": own, "margins": margins, "holds": holds}
                found.append(entry)
    return found


# ------------------------------------------------------------------------------------------------ parts


def _main(results: Mapping[str, Any], case: str, budget: int, strategies: Sequence[str]) -> dict[str, Any]:
    runs = {name: finished_runs(results, case, MAIN, name) for name in strategies}
    # Areas can be compared only over what every strategy covered.
    until = min([budget, *(run["budget"] for group in runs.values() for run in group)])
    return {name: row(group, until, budget) for name, group in runs.items() if group}


def _variants(
    results: Mapping[str, Any], case: str, group: str, strategy: str | None, usual: str
) -> dict[str, dict[str, Any]]:
    """Rows of an ablation, the main run among them; empty where the ablation was not made."""
    of: dict[str, list[Any]] = {}
    for run in finished_runs(results, case, group, strategy):
        of.setdefault(run["variant"], []).append(run)
    if not of:
        return {}
    main = finished_runs(results, case, MAIN, strategy)
    groups = {usual: main, **of} if main else of
    until = min(run["budget"] for runs in groups.values() for run in runs)
    return {name: row(runs, until, until) for name, runs in groups.items()}


def _initial(results: Mapping[str, Any], case: str) -> dict[str, dict[str, Any]]:
    strategy = _leading(results["options"]["strategies"])
    return _variants(results, case, INITIAL, strategy, initial_text("fpc", 1.0))


def _cobra_k(results: Mapping[str, Any], case: str) -> list[dict[str, Any]]:
    """COBRA by its number of super-instances: answers until every pair of them is known, and what it can reach."""
    runs = finished_runs(results, case, COBRA_K, COBRA)
    default = finished_runs(results, case, MAIN, COBRA)[:1]
    found = []
    for run in [*runs, *default]:
        start, end = run["result"]["init"], run["result"]["end"]
        found.append(
            {
                "k": start["clusters"] + start["singletons"],
                "default": run["group"] == MAIN,
                # Its groups only ever join, so no later partition is purer than the first.
                "purity_ceiling": start["purity"],
                **{name: end[name] for name in ("queries", "nmi", "ari", "purity", "stopped_by")},
            }
        )
    return sorted(found, key=lambda entry: entry["k"]) if runs else []


def _views(results: Mapping[str, Any], strategies: Sequence[str]) -> list[dict[str, Any]]:
    """One entry for each case of a data set that comes in different numbers of views."""
    numbers: dict[str, set[int]] = {}
    for case in results["cases"]:
        numbers.setdefault(case["dataset"], set()).add(len(case["views"]))
    found = []
    for case in results["cases"]:
        if len(numbers[case["dataset"]]) > 1:
            for name in strategies:
                runs = finished_runs(results, case["case"], MAIN, name)
                if runs:
                    entry = {"case": case["case"], "views": len(case["views"]), "strategy": name}
                    until = min(run["budget"] for run in runs)
                    found.append({**entry, "row": row(runs, until, until)})
    return found


def _leading(strategies: Sequence[str]) -> str | None:
    return next((name for name in (OURS, PAPER) if name in strategies), None)


def _spread(values: Sequence[float | None]) -> list[float]:
    known = [value for value in values if value is not None]
    return [round(float(np.mean(known)), 6), round(min(known), 6), round(max(known), 6)]


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(float(np.mean(known)), 6) if known else None


def _all_mean(values: Iterable[float | None]) -> float | None:
    """The mean; None where there is no value, or one is not known."""
    listed = list(values)
    return None if None in listed or not listed else _mean(listed)


def _reach(values: Sequence[int | None]) -> dict[str, Any]:
    known = [value for value in values if value is not None]
    mean = round(float(np.mean(known)), 1) if known and len(known) == len(values) else None
    return {"mean": mean, "reached": len(known)}
