"""Lasso, selection and what is done with it."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QPolygonF
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from a3s_desktop.ui.cluster_map import ClusterMap
from a3s_desktop.ui.map_lasso import LassoState, items_inside
from a3s_desktop.ui.map_raster import PointGrid
from tests.ui.map_tools import GRID, LABELS, Names, around, draw, place

LEFT, SHIFT, CTRL = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def chart(qtbot: QtBot, qapp: QApplication) -> ClusterMap:
    made = ClusterMap()
    qtbot.addWidget(made)
    made.resize(460, 520)
    made.set_items(Names([f"b/img {i}.png" for i in range(20)]))
    made.set_points(GRID)
    made.set_labels(LABELS)
    made.show()
    qapp.processEvents()
    return made


def polygon(*corners: tuple[float, float]) -> QPolygonF:
    return QPolygonF([QPointF(*corner) for corner in corners])


def test_items_inside_agrees_with_geometry() -> None:
    rng = np.random.default_rng(3)
    points = rng.uniform(0, 10, (3000, 2)).astype(np.float32)
    triangle = polygon((1, 1), (9, 2), (4, 8.5))
    corners = np.array([[1, 1], [9, 2], [4, 8.5]])
    edges = np.roll(corners, -1, axis=0) - corners
    sides = np.stack(
        [e[0] * (points[:, 1] - c[1]) - e[1] * (points[:, 0] - c[0]) for e, c in zip(edges, corners, strict=True)]
    )
    deep = np.abs(sides).min(axis=0) > 0.2  # the edge itself is a pixel wide
    found = np.zeros(3000, np.bool_)
    found[items_inside(PointGrid(points), triangle)] = True
    assert found[deep].tolist() == (sides > 0).all(axis=0)[deep].tolist()


@pytest.mark.parametrize("shape", [polygon(), polygon((1, 1), (2, 2)), polygon((5, 5), (5, 5), (5, 5))])
def test_a_line_without_area_holds_nothing(shape: QPolygonF) -> None:
    assert not len(items_inside(PointGrid(GRID), shape))
    assert not len(items_inside(PointGrid(np.zeros((0, 2))), polygon((0, 0), (1, 0), (0, 1))))


def test_drawing_with_the_tool_selects_what_is_inside(chart: ClusterMap) -> None:
    before = chart.plot.getViewBox().viewRect()
    chart._frame.lasso.click()
    draw(chart, around(chart, [5, 6, 10, 11]))
    assert chart.selection == (5, 6, 10, 11)
    assert chart.selection_bar.isVisible()
    assert chart.selection_bar.text == "4 images selected"
    assert chart.plot.getViewBox().viewRect() == before  # not dragged, and nothing jumps


def test_shift_draws_without_the_tool_and_ctrl_adds(chart: ClusterMap) -> None:
    draw(chart, around(chart, [0, 1]), SHIFT)
    draw(chart, around(chart, [18, 19]), SHIFT | CTRL)
    assert chart.selection == (0, 1, 18, 19)
    draw(chart, around(chart, [7]), SHIFT)
    assert chart.selection == (7,)
    assert chart.selection_bar.text == "1 image selected"


def test_without_shift_and_tool_a_drag_moves_the_map(chart: ClusterMap) -> None:
    draw(chart, around(chart, [0, 1]))
    assert chart.selection == ()


def test_a_lasso_of_nothing_says_so_and_keeps_the_selection(chart: ClusterMap) -> None:
    chart.select([3])
    corner = place(chart, 6)
    draw(chart, [corner + QPoint(15, 15), corner + QPoint(40, 15), corner + QPoint(40, 40)], SHIFT)
    assert chart.status == "No image is inside the line."
    assert chart.selection == (3,)
    chart.select([])
    assert not chart.selection_bar.isVisible()


def test_corner_by_corner_closed_by_a_double_click(chart: ClusterMap, qtbot: QtBot) -> None:
    chart._frame.lasso.click()
    port, corners = chart.plot.viewport(), around(chart, [0, 1, 5, 6])
    for corner in corners:
        QTest.mouseClick(port, LEFT, pos=corner)
    assert chart._selecting.lasso.state is LassoState.CORNERS
    assert "double click" in chart.status
    QTest.mouseDClick(port, LEFT, pos=corners[-1])
    assert chart.selection == (0, 1, 5, 6)


def test_corner_by_corner_closed_at_the_first_corner_and_corrected(chart: ClusterMap) -> None:
    chart._frame.lasso.click()
    port, corners = chart.plot.viewport(), around(chart, [0, 1])
    for corner in (*corners[:3], place(chart, 19)):
        QTest.mouseClick(port, LEFT, pos=corner)
    QTest.keyClick(chart.plot, Qt.Key.Key_Backspace)
    QTest.mouseClick(port, LEFT, pos=corners[3])
    QTest.mouseClick(port, LEFT, pos=corners[0] + QPoint(3, 3))
    assert chart.selection == (0, 1)


def test_escape_goes_back_one_step_at_a_time(chart: ClusterMap) -> None:
    chart.select([1, 2])
    chart._frame.lasso.click()
    QTest.mouseClick(chart.plot.viewport(), LEFT, pos=place(chart, 0, 10, 10))
    chart.selection_bar.button("move").setEnabled(True)
    steps: list[tuple[LassoState, int, bool]] = []
    for _ in range(3):
        QTest.keyClick(chart.plot, Qt.Key.Key_Escape)
        steps.append((chart._selecting.lasso.state, len(chart.selection), chart._frame.lasso.isChecked()))
    idle = LassoState.IDLE
    assert steps == [(idle, 2, True), (idle, 0, True), (idle, 0, False)]


def test_shift_and_click_adds_and_removes_one_image(chart: ClusterMap) -> None:
    port = chart.plot.viewport()
    opened: list[int] = []
    chart.clusterClicked.connect(opened.append)
    QTest.mouseClick(port, LEFT, SHIFT, place(chart, 4))
    QTest.mouseClick(port, LEFT, SHIFT, place(chart, 9))
    assert chart.selection == (4, 9)
    QTest.mouseClick(port, LEFT, SHIFT, place(chart, 4))
    assert chart.selection == (9,)
    assert opened == []


@pytest.mark.parametrize("action", ["open", "split", "junk"])
def test_an_action_is_handed_on_with_the_images(chart: ClusterMap, action: str) -> None:
    acted: list[tuple[str, object]] = []
    chart.selectionActed.connect(lambda name, items: acted.append((name, tuple(items))))
    chart.select([6, 2])
    button = chart.selection_bar.button(action)
    assert not button.isEnabled()  # nothing is offered before the owner says so
    chart.selection_bar.set_actions(["open", "split", "move", "junk", "copy"])
    button.click()
    assert acted == [(action, (2, 6))]


def test_move_asks_for_the_target(chart: ClusterMap) -> None:
    moves: list[tuple[object, int]] = []
    opened: list[int] = []
    chart.moveWanted.connect(lambda items, to: moves.append((tuple(items), to)))
    chart.clusterClicked.connect(opened.append)
    chart.selection_bar.set_actions(["move"])
    chart.select([0, 1])
    chart.selection_bar.button("move").click()
    assert chart.status.startswith("Click an image")
    QTest.keyClick(chart.plot, Qt.Key.Key_Escape)
    QTest.mouseClick(chart.plot.viewport(), LEFT, pos=place(chart, 12))
    assert (moves, opened) == ([], [9])
    chart.selection_bar.button("move").click()
    QTest.mouseClick(chart.plot.viewport(), LEFT, pos=place(chart, 12))
    assert moves == [((0, 1), 12)]
    assert opened == [9]
    assert chart.selection == ()


def test_names_are_copied(chart: ClusterMap) -> None:
    chart.select([2, 3])
    chart.selection_bar.button("copy").click()
    assert QGuiApplication.clipboard().text() == "img 2.png\nimg 3.png"
    assert chart.status == "2 names copied."


def test_a_narrow_bar_shows_icons_with_names(chart: ClusterMap, qapp: QApplication) -> None:
    chart.select([1])
    bar = chart.selection_bar
    chart.resize(900, 500)
    qapp.processEvents()
    assert bar.button("split").toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonTextBesideIcon
    chart.resize(250, 500)
    qapp.processEvents()
    assert bar.button("split").toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonIconOnly
    assert bar.button("copy").geometry().right() <= bar.width()
    assert all(bar.button(name).accessibleName() for name in ("open", "split", "move", "junk", "copy"))


def test_another_project_forgets_the_selection(chart: ClusterMap) -> None:
    chart.select([1, 2, 99, -1])
    assert chart.selection == (1, 2)
    chart.set_points(GRID[:7])
    assert chart.selection == ()
    chart.select([1])
    chart.set_points(GRID[:7] * 2)  # a better layout of the same images keeps it
    assert chart.selection == (1,)
    chart.set_items(None)
    assert chart.selection == ()


def test_clicks_on_the_bar_leave_the_keys_with_the_pair(chart: ClusterMap) -> None:
    chart.select([1])
    for name in ("open", "split", "move", "junk", "copy"):
        assert not chart.selection_bar.button(name).focusPolicy() & Qt.FocusPolicy.ClickFocus
