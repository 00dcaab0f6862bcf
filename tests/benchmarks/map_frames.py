"""Times of the map: ``python tests/benchmarks/map_frames.py [N ...]`` prints a table.

Figures are milliseconds of the GUI thread's CPU time, median and worst.

Software rendering, offscreen, 1000 x 800 pixels. Not a test: figures depend on the machine.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QApplication

from a3s_desktop.ui.cluster_map import ClusterMap
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
    chart.zoom(8)
    print(f"{'':9}  {'pan, zoomed in 8x':20} {timed(pan)}")  # noqa: T201
    hits = iter(spots)
    print(f"{'':9}  {'hit test':20} {timed(lambda: chart.item_at(QPointF(*next(hits))), 500)}")  # noqa: T201
    chart.close()


if __name__ == "__main__":
    application = QApplication([])
    apply_theme(application, "dark")
    for size in [int(text) for text in sys.argv[1:]] or [1_000, 10_000, 100_000]:
        measure(application, size)
