"""What a report says about runs, on made-up runs with known answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from a3s_desktop.session.benchmark_summary import Curve, against_all, row, summarise


def result(points: dict[int, tuple[float, float]], stopped_by: str = "budget", purity: float = 0.9) -> dict[str, Any]:
    """The JSON of a simulation with the given NMI and ARI after so many answers."""
    shape = {"purity": purity, "clusters": 4, "singletons": 1, "fission_rate": 1.5, "entropy_ratio": 1.1}
    curve = [{"queries": q, "nmi": nmi, "ari": ari, **shape} for q, (nmi, ari) in points.items()]
    return {
        "init": {"seconds": 0.5, **curve[0]},
        "curve": curve,
        "end": {**curve[-1], "seconds": 2.0, "stopped_by": stopped_by},
        "latency_ms": {"median": 1.0, "p99": 5.0, "max": 9.0},
    }


def run(strategy: str, points: dict[int, tuple[float, float]], seed: int = 0, **more: Any) -> dict[str, Any]:
    stopped_by, purity = more.pop("stopped_by", "budget"), more.pop("purity", 0.9)
    return {
        "case": "x",
        "strategy": strategy,
        "group": "main",
        "variant": "",
        "seed": seed,
        "budget": max(points),
        "failed": None,
        "result": result(points, stopped_by, purity),
        **more,
    }


def results(*runs: dict[str, Any], budget: int = 100) -> dict[str, Any]:
    return {
        "cases": [{"case": "x", "dataset": "x", "views": ["a.npy"], "budget": budget}],
        "options": {"strategies": list(dict.fromkeys(run["strategy"] for run in runs))},
        "runs": list(runs),
        "agreements": [],
    }


def test_a_curve_holds_between_points_and_after_a_natural_end() -> None:
    points = {0: (0.5, 0.2), 10: (0.6, 0.4), 15: (0.8, 0.6)}
    ended, capped = Curve(result(points, "nothing-left")), Curve(result(points))
    assert [capped.at("nmi", q) for q in (0, 9, 10, 14, 15, 16)] == [0.5, 0.5, 0.6, 0.6, 0.8, None]
    assert ended.at("ari", 1000) == 0.6
    assert capped.reach("nmi", 0.6) == 10
    assert capped.reach("ari", 0.9) is None
    assert capped.area("nmi", 15) == pytest.approx((0.55 * 10 + 0.7 * 5) / 15)
    assert ended.area("nmi", 30) == pytest.approx((0.55 * 10 + 0.7 * 5 + 0.8 * 15) / 30)
    assert capped.area("nmi", 30) is None
    assert capped.area("nmi", 10) == pytest.approx(0.55)
    assert np.isnan(capped.on("nmi", np.array([15, 16]))).tolist() == [False, True]


def test_a_row_has_means_and_ranges() -> None:
    runs = [
        run("a3s", {0: (0.5, 0.2), 20: (0.91, 0.5), 40: (0.95, 0.8)}, 0),
        run("a3s", {0: (0.7, 0.4), 20: (0.8, 0.6), 40: (0.93, 0.7)}, 1),
    ]
    found = row(runs, 40, 100)
    assert list(found["at"]) == ["0", "20", "40"]
    assert found["at"]["20"] == {"nmi": [0.855, 0.8, 0.91], "ari": [0.55, 0.5, 0.6], "ended": 0}
    assert found["reach"]["nmi"]["0.9"] == {"mean": 30.0, "reached": 2}
    assert found["reach"]["nmi"]["0.95"] == {"mean": None, "reached": 1}
    assert found["reach"]["ari"]["0.95"] == {"mean": None, "reached": 0}
    assert found["seeds"] == 2
    assert found["seconds"] == 2.0


def test_a_row_ends_where_a_run_does() -> None:
    long, short = {0: (0.5, 0.2), 60: (0.9, 0.8)}, {0: (0.5, 0.2), 40: (0.9, 0.8)}
    assert list(row([run("a", long), run("a", short)], 40, 100)["at"]) == ["0", "20", "40"]
    ended = row([run("a", long), run("a", short, stopped_by="nothing-left")], 40, 100)
    assert ended["at"]["60"]["ended"] == 1


def test_against_all() -> None:
    ours = {0: (0.5, 0.2), 40: (0.9, 0.80), 60: (0.92, 0.85), 100: (0.95, 0.9)}
    close = {0: (0.5, 0.2), 40: (0.904, 0.8), 60: (0.93, 0.8), 100: (0.9, 0.9)}
    short = {0: (0.5, 0.2), 40: (0.1, 0.1)}
    found = against_all(results(run("a3s", ours), run("npu", close), run("cobra", short)))
    assert [(entry["queries"], entry["holds"]) for entry in found] == [
        (40, True),
        (60, False),
        (83, False),
        (100, True),
    ]
    assert set(found[0]["margins"]) == {"npu", "cobra"}
    assert set(found[1]["margins"]) == {"npu"}
    assert found[1]["margins"]["npu"] == {"nmi": -0.01, "ari": 0.05}
    large = against_all(results(run("a3s", ours), run("npu", close), budget=1200))
    assert [entry["queries"] for entry in large] == [40, 60, 100]
    assert against_all(results(run("npu", close), run("cobra", short))) == []
    assert against_all(results(run("a3s", ours))) == []


def test_areas_are_over_what_all_strategies_cover() -> None:
    ours = {0: (0.5, 0.2), 40: (0.9, 0.8), 100: (0.95, 0.9)}
    short = {0: (0.5, 0.2), 40: (0.8, 0.7)}
    main = summarise(results(run("a3s", ours), run("npu", short)))["main"]["x"]
    assert main["a3s"]["area_until"] == main["npu"]["area_until"] == 40
    assert main["a3s"]["area"]["nmi"] == 0.7


def test_failures_are_listed_and_left_out() -> None:
    points = {0: (0.5, 0.2), 40: (0.9, 0.8)}
    broken = {**run("npu", points), "failed": "It was too large.", "result": None}
    found = summarise(results(run("a3s", points), broken))
    assert list(found["main"]["x"]) == ["a3s"]
    assert found["failures"] == [
        {"case": "x", "strategy": "npu", "variant": "", "seed": 0, "reason": "It was too large."}
    ]


def test_cobra_by_its_k_and_ablations() -> None:
    points = {0: (0.5, 0.2), 40: (0.9, 0.8)}
    runs = [
        run("a3s", points),
        run("a3s", points, group="initial", variant="kmeans, r = 1"),
        run("a3s", points, group="start", variant="as FPC gives it"),
        run("a3s", points, group="oracle", variant="5 % wrong"),
        run("cobra", points),
        run("cobra", points, group="cobra-k", variant="k = 5", purity=0.97),
    ]
    found = summarise(results(*runs))
    assert list(found["initial"]["x"]) == ["fpc, r = 1", "kmeans, r = 1"]
    assert list(found["start"]["x"]) == ["regrouped (default)", "as FPC gives it"]
    assert list(found["oracle"]["x"]) == ["no mistakes", "5 % wrong"]
    assert found["tau"]["x"] == {}
    by_k = found["cobra_k"]["x"]
    assert {entry["purity_ceiling"] for entry in by_k} == {0.9, 0.97}
    assert sum(entry["default"] for entry in by_k) == 1
