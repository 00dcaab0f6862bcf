"""Times of the map: ``python tests/benchmarks/map_frames.py [N ...]`` prints a table.

Figures are milliseconds of the GUI thread's CPU time, median and worst. Below them, with nothing and with two thirds of
the points selected: the longest time between two turns of the event loop of each operation (limit 50).

Software rendering, offscreen, 1000 x 800 pixels. Not a test: figures depend on the machine.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtCore import QEventLoop, QPointF, Qt, QTimer
from PySide6.QtWidgets import QApplication

from a3s_desktop.ui.cluster_map import ClusterMap
from a3s_desktop.ui.heartbeat import Heartbeat
from a3s_desktop.ui.map_colours import ColourBy
from a3s_desktop.ui.map_raster import PointGrid
from a3s_desktop.ui.theme import apply_theme


def clustered(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Positions and labels of ``n`` points in clusters of about 25."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-1, 1, (max(n // 25, 1), 2))
    labels = rng.integers(len(centres), size=n).astype(np.int32)
    points = centres[labels] + rng.normal(size=(n, 2)) * 0.3 / len(centres) ** 0.5
    return points.astype(np.float32), labels


def timed(action: Callable[[], object], count: int = 30) -> str:
    """``median / worst`` of some calls."""
    seconds = []
    for _ in range(count):
        start = time.thread_time()
        action()
        seconds.append(time.thread_time() - start)
    return f"{np.median(seconds) * 1e3:7.2f} /{max(seconds) * 1e3:7.2f}"


def run_loop(milliseconds: int) -> None:
    """Let the event loop run for a while."""
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()


def settle(chart: ClusterMap) -> None:
    """Until everything that was put off is done."""
    run_loop(60)
    while chart.plot._work.isActive() or chart.plot.points.busy or chart._selecting._copy.busy:
        run_loop(20)
    run_loop(20)


def longest(chart: ClusterMap, action: Callable[[], object]) -> float:
    """Longest stretch of CPU, in milliseconds, from an operation until everything that it put off is done."""
    settle(chart)
    with Heartbeat(interval=1, patience=60) as heart:
        action()
        settle(chart)
    return heart.result().cpu_max


def lasso(chart: ClusterMap, share: float, add: bool = False) -> Callable[[], object]:
    """Draw a square line around this share of an even map; what is measured is the moment in which it closes."""
    tool, transform = chart._selecting.lasso, chart.plot.points.view_transform()
    x0, y0, x1, y1 = chart.plot.points.grid.bounds
    turns = np.linspace(0, 2 * np.pi, 400)
    ring = np.stack([np.cos(turns), np.sin(turns)]) / np.maximum(np.abs(np.cos(turns)), np.abs(np.sin(turns)))
    side = 0.51 * min(share, 1) ** 0.5
    at = [
        transform.map(QPointF((x0 + x1) / 2 + x * side * (x1 - x0), (y0 + y1) / 2 + y * side * (y1 - y0)))
        for x, y in ring.T.tolist()
    ]
    held = Qt.KeyboardModifier.ControlModifier if add else Qt.KeyboardModifier.NoModifier
    tool.armed = True
    tool.press(at[0], Qt.MouseButton.LeftButton, held)
    for place in at[1:]:
        tool.move(place)
    tool.armed = False
    return lambda: tool.release(at[-1], held)


def operations(app: QApplication, chart: ClusterMap, labels: np.ndarray) -> dict[str, Callable[[], object]]:
    """What a user and the session do with the map, in this order."""
    n, rng = len(labels), np.random.default_rng(2)
    confirmed, junk, doubt = rng.random(n) < 0.3, np.zeros(n, np.bool_), rng.random(n)
    moved = {count: np.sort(rng.choice(n, count, replace=False)) for count in (10, n // 10, 3 * n // 10)}

    def told(items: np.ndarray, back: bool) -> Callable[[], object]:
        now, sure = labels.copy(), confirmed.copy()
        if not back:
            now[items] = np.roll(labels[items], 1)
            sure[items] = True

        def tell() -> None:
            chart.set_junk(junk)
            chart.set_confirmed(sure)
            chart.set_names({})
            chart.set_labels(now, items)
            chart.set_pair(int(rng.integers(n)), int(rng.integers(n)))

        return tell

    layout = PointGrid(chart.plot.places * np.float32(1.1))  # a worker makes it
    some = junk.copy()
    some[moved[3 * n // 10]] = True
    found: dict[str, Callable[[], object]] = {"answer, nothing moved": told(np.zeros(0, np.int64), True)}
    for count, items in moved.items():
        found |= {f"answer, {count:,} moved": told(items, False), f"undo, {count:,} moved": told(items, True)}
    return found | {
        "junk, three in ten": lambda: chart.set_junk(some),
        "no junk": lambda: chart.set_junk(junk),
        "doubts": lambda: chart.set_doubt(doubt),
        "colour by confirmed": lambda: chart.set_colour_by(ColourBy.CONFIRMED),
        "all confirmed": lambda: chart.set_confirmed(np.ones(n, np.bool_)),
        "colour by doubt": lambda: chart.set_colour_by(ColourBy.DOUBT),
        "colour by cluster": lambda: chart.set_colour_by(ColourBy.CLUSTER),
        "theme dark": lambda: apply_theme(app, "dark"),
        "theme light": lambda: apply_theme(app, "light"),
        "zoom to pair": chart.zoom_to_pair,
        "whole map": chart.whole_map,
        "select an image": lambda: chart._selecting.toggle(n // 3),
        "select its cluster": lambda: chart._selecting.toggle(n // 3, True),
        "arrow key": lambda: chart._keys._walk(1, 0),
        "copy names": lambda: chart._selecting._act("copy"),
        "split off": lambda: chart._selecting._act("split"),
        "picture": chart.picture,
        "new layout": lambda: chart.set_points(layout),
    }


def measure(app: QApplication, n: int) -> None:
    """Print the lines for one size."""
    points, labels = clustered(n)
    chart = ClusterMap()
    chart.resize(1000, 830)
    chart.show()
    chart.set_points(points)
    chart.set_labels(labels)
    chart.set_pair(0, n // 2)
    view = chart.plot.getViewBox()
    app.processEvents()

    def frame() -> None:
        chart.plot.viewport().repaint()

    def pan() -> None:
        view.translateBy(x=0.003, y=0.001)
        frame()

    def recolour() -> None:
        chart.set_labels(np.roll(labels, 1))
        frame()

    def pair() -> None:
        chart.set_pair(int(rng.integers(n)), int(rng.integers(n)))
        frame()

    rng = np.random.default_rng(1)
    spots = rng.uniform((0, 0), (1000, 800), (1000, 2))
    print(f"{n:>9,}  grid                 {timed(lambda: PointGrid(points), 5)}")  # noqa: T201
    for name, action in (
        ("pan, whole map", pan),
        ("unchanged frame", frame),
        ("recolour", recolour),
        ("next pair", pair),
    ):
        print(f"{'':9}  {name:20} {timed(action)}")  # noqa: T201
    chart.plot.zoom(8)
    print(f"{'':9}  {'pan, zoomed in 8x':20} {timed(pan)}")  # noqa: T201
    hits = iter(spots)
    print(f"{'':9}  {'hit test':20} {timed(lambda: chart.plot.item_at(QPointF(*next(hits))), 500)}")  # noqa: T201
    chart.whole_map()
    for name, share, add in (
        ("lasso of 10 %", 0.1, False), ("lasso of 45 %, added", 0.45, True), ("lasso of all", 1.0, False),
    ):  # fmt: skip
        print(f"{'':9}  {name:32} {longest(chart, lasso(chart, share, add)):7.1f}")  # noqa: T201
    print(f"{'':9}  {'all given up':32} {longest(chart, lambda: chart.select(())):7.1f}")  # noqa: T201
    for tag in ("none", "67 %"):
        if tag != "none":
            caught = longest(chart, lasso(chart, 0.675))
            print(f"{'':9}  {'lasso of 67 %':32} {caught:7.1f}   {len(chart.selection):,} images")  # noqa: T201
        for name, action in operations(app, chart, labels).items():
            print(f"{'':9}  {tag + ': ' + name:32} {longest(chart, action):7.1f}")  # noqa: T201
    chart.close()


if __name__ == "__main__":
    application = QApplication([])
    apply_theme(application, "dark")
    for size in [int(text) for text in sys.argv[1:]] or [1_000, 10_000, 100_000]:
        measure(application, size)
