"""Pictures of the benchmark's report, by matplotlib, which is an optional extra and loaded only here."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from a3s_desktop.session.benchmark_plan import COBRA_K, FINE_UP_TO, MAIN
from a3s_desktop.session.benchmark_summary import METRICS, Curve, finished_runs

MISSING = (
    "The plots were left out, because matplotlib is not installed; `pip install 'a3s-desktop[benchmark]'` installs it."
)
# Okabe and Ito's colours, which most kinds of colour vision tell apart; dashes tell them apart in print.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D1F")
_DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (6, 2, 2, 2)))
_GRID_POINTS = 240
_DPI = 110


def available() -> bool:
    """Whether matplotlib can be loaded."""
    return importlib.util.find_spec("matplotlib") is not None


def plot_case(results: Mapping[str, Any], case: str) -> bytes:
    """NMI and ARI against answers: mean and range over the seeds of every strategy, as PNG.

    Parameters
    ----------
    results : mapping
        As in ``results.json``.
    case : str
    """
    runs = {
        name: [Curve(run["result"]) for run in finished_runs(results, case, MAIN, name)]
        for name in results["options"]["strategies"]
    }
    return _draw({name: curves for name, curves in runs.items() if curves}, case)


def plot_cobra(results: Mapping[str, Any], case: str) -> bytes | None:
    """The same for COBRA by its number of super-instances; None where there are no such runs."""
    runs = finished_runs(results, case, COBRA_K)
    if not runs:
        return None
    return _draw({f"cobra, {run['variant']}": [Curve(run["result"])] for run in runs}, f"{case}: COBRA's k")


def plot_growth(series: Mapping[str, Sequence[tuple[int, float, float]]]) -> bytes:
    """Seconds and GiB of stage one against samples, both on logarithmic axes, with the fitted exponents, as PNG.

    Parameters
    ----------
    series : mapping
        Name of the data -> (samples, seconds, GiB) of each size.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 4.4), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, column, unit in zip(figure.subplots(1, 2), (1, 2), ("seconds", "GiB above the file"), strict=True):
        for number, (name, points) in enumerate(series.items()):
            size, value = (np.maximum([point[k] for point in points], 1e-3) for k in (0, column))
            slope = np.polyfit(np.log(size), np.log(value), 1)[0] if len(points) > 1 else 0.0
            axes.loglog(size, value, marker="o", color=_COLOURS[number], label=f"{name}: N^{slope:.2f}")
        axes.set_xlabel("samples")
        axes.set_ylabel(f"stage one, {unit}")
        axes.legend()
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=_DPI)
    return buffer.getvalue()


def _draw(curves: Mapping[str, Sequence[Curve]], title: str) -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    # Not by pyplot, which would choose a window system and keep figures alive.
    figure = Figure(figsize=(11.0, 4.4), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(_plain(title), fontsize=12)
    axes = figure.subplots(1, len(METRICS), squeeze=False)[0]
    last = max((curve.end for group in curves.values() for curve in group), default=0)
    # Every answer where the curve is that fine, else an even choice that a screen can show.
    grid = np.arange(last + 1) if last <= FINE_UP_TO else np.unique(np.linspace(0, last, _GRID_POINTS).astype(np.int64))
    for axis, metric in zip(axes, METRICS, strict=True):
        for number, (name, group) in enumerate(curves.items()):
            values = np.array([curve.on(metric, grid) for curve in group])
            covered = ~np.isnan(values).any(axis=0)  # a mean over some of the seeds would jump where one ends
            values, x = values[:, covered], grid[covered]
            colour, dash = _COLOURS[number % len(_COLOURS)], _DASHES[number // 2 % len(_DASHES)]
            axis.plot(x, values.mean(axis=0), color=colour, linestyle=dash, linewidth=1.6, label=_plain(name))
            if len(group) > 1:
                axis.fill_between(x, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.15, linewidth=0)
        axis.set_xlabel("answers")
        axis.set_ylabel(metric.upper())
        axis.set_xlim(0, max(last, 1))
        axis.set_ylim(top=1.005)
        axis.grid(alpha=0.3)
    if curves:
        axes[-1].legend(loc="lower right", fontsize=8)
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=_DPI, metadata={"Software": None})
    return data.getvalue()


def _plain(text: str) -> str:
    """Without mathematics: a dollar sign would begin a formula, and unprintable characters a warning."""
    return "".join(letter if letter.isprintable() else " " for letter in text).replace("$", r"\$")
