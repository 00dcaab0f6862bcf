"""What the map costs the window: frames while it is moved, and the longest hold-ups of each operation.

``python -m tests.ui.map_load --items 20000 100000`` prints the figures; a worker's part (layout) is not in them.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QEventLoop, QPointF, QTimer
from PySide6.QtGui import QPolygonF
from PySide6.QtWidgets import QApplication

from a3s_desktop.ui.app import make_application
from a3s_desktop.ui.cluster_map import ClusterMap
from a3s_desktop.ui.heartbeat import Heartbeat
from a3s_desktop.ui.map_colours import ColourBy
from a3s_desktop.ui.map_lasso import items_inside
from a3s_desktop.ui.map_raster import PointGrid
from a3s_desktop.ui.theme import apply_theme


def clustered(items: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Points in round groups of very different sizes, a tenth of them single images; and their labels."""
    rng = np.random.default_rng(seed)
    clusters = max(items // 15, 2)
    share = rng.pareto(1.5, clusters) + 0.2
    labels = rng.choice(clusters, items, p=share / share.sum()).astype(np.int32)
    sizes = np.bincount(labels, minlength=clusters)
    centres = rng.normal(size=(clusters, 2)) * items**0.5
    angle, distance = rng.uniform(0, 2 * np.pi, items), np.sqrt(rng.uniform(0, 1, items) * sizes[labels])
    points = centres[labels] + np.stack([np.cos(angle), np.sin(angle)], axis=1) * distance[:, None]
    single = rng.random(items) < 0.1
    labels[single] = clusters + np.arange(single.sum())
    return points.astype(np.float32), labels


class Names:
    """Items that have names and no files."""

    def __init__(self, count: int) -> None:
        self.paths = tuple(f"site {i % 40:02d}/IMG_{i:07d} left.jpg" for i in range(count))

    def file(self, item: int) -> None:
        return None

    def name(self, item: int) -> str:
        return self.paths[item]

    def __len__(self) -> int:
        return len(self.paths)


def run_loop(milliseconds: int) -> None:
    """Let the event loop run for a while."""
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()


def frame_times(chart: ClusterMap, frames: int = 60) -> dict[str, list[float]]:
    """Milliseconds of CPU of single frames, while the whole map and a part of it are dragged and zoomed."""
    view, port = chart.plot.getViewBox(), chart.plot.viewport()
    found: dict[str, list[float]] = {}
    for name, depth in (("whole", 1.0), ("near", 8.0)):
        chart.whole_map()
        chart.plot.zoom(depth)
        port.repaint()
        spent = []
        for step in range(frames):
            begin = time.thread_time()
            width = view.viewRect().width()
            if step % 3 == 2:
                view.scaleBy((0.97, 0.97) if step % 2 else (1.03, 1.03))
            else:
                view.translateBy(x=width * 0.01 * (1 if step % 20 < 10 else -1), y=width * 0.004)
            port.repaint()
            spent.append((time.thread_time() - begin) * 1000)
        found[name] = spent
    return found


def operations(chart: ClusterMap, labels: np.ndarray) -> dict[str, Callable[[], object]]:
    """What a user and the session do with the map."""
    rng = np.random.default_rng(1)
    items = len(labels)
    sizes = np.bincount(labels)
    large, other = np.argsort(-sizes)[:2]
    merged, part = labels.copy(), labels.copy()
    merged[labels == other] = large
    half = np.flatnonzero(labels == large)[::2]
    part[half] = labels.max() + 1
    x0, y0, x1, y1 = chart.plot.points.grid.bounds
    middle, radius = ((x0 + x1) / 2, (y0 + y1) / 2), (x1 - x0) * 0.18
    circle = QPolygonF(
        [QPointF(middle[0] + np.cos(a) * radius, middle[1] + np.sin(a) * radius) for a in np.linspace(0, 6.2, 300)]
    )
    search = chart._frame.search
    confirmed, doubt, junk, mixed = rng.random(items) < 0.5, rng.random(items), rng.random(items) < 0.02, labels.copy()
    rng.shuffle(mixed)
    moved = PointGrid(chart.plot.places * np.float32(1.1))  # a worker makes it
    return {
        "merge": lambda: chart.set_labels(merged, np.flatnonzero(labels == other)),
        "split": lambda: chart.set_labels(part, np.union1d(half, np.flatnonzero(labels == other))),
        "all labels new": lambda: chart.set_labels(mixed),
        "labels back": lambda: chart.set_labels(labels),
        "pair": lambda: chart.set_pair(1, items - 2),
        "lasso": lambda: chart.select(items_inside(chart.plot.points.grid, circle)),
        "confirmed": lambda: (chart.set_confirmed(confirmed), chart.set_colour_by(ColourBy.CONFIRMED)),
        "doubt": lambda: (chart.set_doubt(doubt), chart.set_colour_by(ColourBy.DOUBT)),
        "junk": lambda: chart.set_junk(junk),
        "search": lambda: search.setText("33"),
        "search ends": search.stop,
        "theme": lambda: apply_theme(QApplication.instance(), "dark"),
        "theme back": lambda: apply_theme(QApplication.instance(), "light"),
        "picture": chart.picture,
        "new layout": lambda: chart.set_points(moved),
    }


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, nargs="+", default=[20_000, 100_000])
    parser.add_argument("--size", type=int, nargs=2, default=[1000, 800])
    arguments = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    make_application([])
    for items in arguments.items:
        points, labels = clustered(items)
        grid = PointGrid(points)
        chart = ClusterMap()
        chart.resize(*arguments.size)
        chart.set_items(Names(items))
        chart.show()
        run_loop(200)
        with Heartbeat() as heart:
            chart.set_points(grid)
            chart.set_labels(labels)
            run_loop(1500)
        sys.stdout.write(f"{items:,} images: shown: {heart.result()}\n")
        chart.set_pair(0, items - 1)
        for name, spent in frame_times(chart).items():
            low, high = np.percentile(spent, [50, 95])
            sys.stdout.write(f"  frame, {name}: median {low:.1f}, p95 {high:.1f}, worst {max(spent):.1f} ms\n")
        chart.whole_map()
        for name, work in operations(chart, labels).items():
            run_loop(100)
            with Heartbeat() as heart:
                work()
                run_loop(600)
            beats = heart.result()
            sys.stdout.write(f"  {name}: CPU gap {beats.cpu_max:.0f} ms, wall {beats.wall_max:.0f} ms\n")
            sys.stdout.flush()
        chart.close()
        chart.deleteLater()
        run_loop(100)
    return 0


if __name__ == "__main__":
    sys.exit(main())
