"""What several tests of the map need: a small map on the screen, and a hand that draws."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from a3s_desktop.ui.cluster_map import ClusterMap

GRID = np.array([[x, y] for y in range(4) for x in range(5)], np.float32)  # item = 5 * y + x
LABELS = np.repeat([3, 8, 9, 11], 5).astype(np.int32)


class Names:
    """Items with names and no files."""

    def __init__(self, paths: list[str]) -> None:
        self.paths = tuple(paths)

    def file(self, item: int) -> None:
        return None

    def name(self, item: int) -> str:
        return self.paths[item].rpartition("/")[2]

    def __len__(self) -> int:
        return len(self.paths)


def place(chart: ClusterMap, item: int, dx: int = 0, dy: int = 0) -> QPoint:
    """Where an item is on the plot, moved by some pixels."""
    return chart.plot.position_of(item).toPoint() + QPoint(dx, dy)


def around(chart: ClusterMap, items: list[int], margin: int = 14) -> list[QPoint]:
    """Corners of a rectangle around some items."""
    places = [place(chart, item) for item in items]
    left, right = min(p.x() for p in places) - margin, max(p.x() for p in places) + margin
    top, bottom = min(p.y() for p in places) - margin, max(p.y() for p in places) + margin
    return [QPoint(left, top), QPoint(right, top), QPoint(right, bottom), QPoint(left, bottom)]


def draw(chart: ClusterMap, corners: list[QPoint], held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    """Press, move along the corners, let go."""
    port = chart.plot.viewport()
    QTest.mousePress(port, Qt.MouseButton.LeftButton, held, corners[0])
    for corner in (*corners[1:], corners[0]):
        chart._selecting.lasso.move(corner.toPointF())  # QTest cannot move with a button held
    QTest.mouseRelease(port, Qt.MouseButton.LeftButton, held, corners[-1])
    QApplication.processEvents()
