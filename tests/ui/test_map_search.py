"""Search on the map, and the map without a mouse."""

from __future__ import annotations

import unicodedata
from functools import partial

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QHBoxLayout, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from a3s_desktop.ui.cluster_map import ClusterMap
from a3s_desktop.ui.map_data import MapData
from a3s_desktop.ui.map_search import Finding, find_clusters, find_step, folded
from tests.ui.map_tools import GRID, LABELS, Names

PATHS = [f"north/IMG_{i:04d}.JPG" for i in range(18)] + ["süd/Müller, alt.png", "odd/new\nline 7.png"]
Key = Qt.Key


@pytest.fixture
def window(qtbot: QtBot, qapp: QApplication) -> QWidget:
    """A window with a field that has the focus, and a map."""
    made = QWidget()
    row = QHBoxLayout(made)
    chart = ClusterMap()
    chart.set_items(Names(PATHS))
    chart.set_points(GRID)
    chart.set_labels(LABELS)
    chart.set_names({3: "Old Tom", 8: "Molly"})
    row.addWidget(QPushButton("pair"))
    row.addWidget(chart)
    qtbot.addWidget(made)
    made.resize(700, 520)
    made.show()
    made.activateWindow()
    made.findChild(QPushButton).setFocus()
    qapp.processEvents()
    return made


@pytest.fixture
def chart(window: QWidget) -> ClusterMap:
    return window.findChild(ClusterMap)


def search(chart: ClusterMap, qtbot: QtBot, text: str) -> list[str]:
    """Type into the field; the rows of the list."""
    field = chart._frame.search
    field.setFocus()
    field.setText(text)
    qtbot.waitUntil(lambda: not field.searching)
    return [field.results.item(row).text() for row in range(field.results.count())]


def test_file_names_are_found_without_case_in_any_folder(chart: ClusterMap, qtbot: QtBot) -> None:
    assert search(chart, qtbot, " img_001") == [f"IMG_{i:04d}.JPG  ·  north" for i in range(10, 18)]
    assert chart.status == "8 images found"
    assert search(chart, qtbot, "NORTH/img_0003") == ["IMG_0003.JPG  ·  north"]
    assert search(chart, qtbot, unicodedata.normalize("NFD", "MÜLLER")) == ["Müller, alt.png  ·  süd"]
    assert search(chart, qtbot, "north") == []  # a folder's name alone would find all that is in it
    assert len(search(chart, qtbot, "north/")) == 18
    assert search(chart, qtbot, "zebra") == []
    assert chart.status == "Nothing found"
    assert not chart._frame.search.results.isVisible()


def test_a_name_with_a_line_break_takes_one_row(chart: ClusterMap, qtbot: QtBot) -> None:
    rows = search(chart, qtbot, "line 7")
    assert len(rows) == 1
    assert rows[0].isprintable()


def test_found_images_are_marked_and_unmarked(chart: ClusterMap, qtbot: QtBot) -> None:
    chart.set_pair(0, 1)
    points = chart.plot.points

    def raised() -> list[int]:
        return sorted(points.grid.order[points._raised].tolist())

    pair = sorted(np.flatnonzero(np.isin(chart._data.labels, chart._data.labels[[0, 1]])).tolist())
    qtbot.waitUntil(lambda: raised() == pair)
    search(chart, qtbot, "IMG_0007")
    qtbot.waitUntil(lambda: raised() == [7])
    chart._frame.search.clear()
    qtbot.waitUntil(lambda: raised() == pair)
    assert "pair" in chart.status


def test_clusters_are_found_by_name_and_number(chart: ClusterMap, qtbot: QtBot) -> None:
    opened: list[int] = []
    chart.clusterClicked.connect(opened.append)
    assert search(chart, qtbot, "molly") == ["Molly (cluster 8) · 5 images"]
    QTest.keyClick(chart._frame.search, Key.Key_Return)
    assert opened == [8]
    for text in ("9", "cluster 9", "Cluster  9"):
        assert search(chart, qtbot, text)[0] == "Cluster 9 · 5 images"
    assert find_clusters(chart._data, "10") == []  # there is no such cluster


def test_enter_goes_to_the_image_at_once_and_down_to_the_next(chart: ClusterMap, qtbot: QtBot) -> None:
    field, view = chart._frame.search, chart.plot.getViewBox()
    whole = view.viewRect().width()
    field.setFocus()
    QTest.keyClicks(field, "img_000")
    QTest.keyClick(field, Key.Key_Return)  # sooner than the search begins by itself
    assert chart._keys.at == 0
    assert view.viewRect().width() < whole / 2
    assert view.viewRect().contains(chart.plot.point(0))
    search(chart, qtbot, "img_000")
    QTest.keyClick(field, Key.Key_Down)
    QTest.keyClick(field, Key.Key_Return)
    assert chart._keys.at == 1
    assert chart._hover.card.isVisible()


def test_escape_clears_the_search_then_gives_the_focus_back(window: QWidget, chart: ClusterMap, qtbot: QtBot) -> None:
    search(chart, qtbot, "img")
    field = chart._frame.search
    QTest.keyClick(field, Key.Key_Escape)
    assert field.text() == ""
    assert field.hasFocus()
    QTest.keyClick(field, Key.Key_Escape)
    assert window.findChild(QPushButton).hasFocus()


def test_letters_typed_into_the_field_are_text(window: QWidget, chart: ClusterMap) -> None:
    fired: list[str] = []
    QShortcut("F", window).activated.connect(partial(fired.append, "F"))
    chart._frame.search.setFocus()
    QTest.keyClick(chart._frame.search, Key.Key_F)
    assert (chart._frame.search.text(), fired) == ("f", [])
    chart.plot.setFocus()
    QTest.keyClick(chart.plot, Key.Key_F)  # but on the map the answer keys are live
    assert fired == ["F"]


def test_a_long_list_is_searched_in_steps_and_shown_in_part() -> None:
    paths = [f"{i:06d}.jpg" for i in range(20_000)]
    finding = Finding(folded("1"), [], [])
    steps = 1
    while find_step(finding, paths):
        steps += 1
    assert steps == 3
    assert finding.total == sum("1" in path for path in paths)
    assert len(finding.items) == 5000
    assert find_clusters(MapData(), "5") == []


def test_another_project_ends_the_search(chart: ClusterMap, qtbot: QtBot) -> None:
    search(chart, qtbot, "img")
    chart.set_items(Names(["a.png"] * 20))
    assert chart._frame.search.text() == ""
    assert chart._frame.search.results.count() == 0
    chart.set_items(None)
    assert search(chart, qtbot, "a") == []


def test_arrows_go_from_image_to_image(chart: ClusterMap) -> None:
    chart.plot.setFocus()
    chart._keys.place(6)
    went = []
    for key in (Key.Key_Right, Key.Key_Up, Key.Key_Left, Key.Key_Down):
        QTest.keyClick(chart.plot, key)
        went.append(chart._keys.at)
    assert went == [7, 12, 11, 6]
    assert "Molly (cluster 8)" in chart.plot.accessibleDescription()
    chart._keys.place(4)
    QTest.keyClick(chart.plot, Key.Key_Right)  # nothing is there
    assert chart._keys.at == 4


def test_the_first_arrow_begins_in_the_middle_and_the_view_follows(chart: ClusterMap, qapp: QApplication) -> None:
    chart.plot.setFocus()
    QTest.keyClick(chart.plot, Key.Key_Right)
    assert chart._keys.at in (7, 12)
    chart.plot.zoom(6)
    for _ in range(4):
        QTest.keyClick(chart.plot, Key.Key_Right)
        qapp.processEvents()
        view = chart.plot.viewport().rect()
        assert view.contains(chart.plot.position_of(chart._keys.at).toPoint())


def test_keys_open_select_and_draw(chart: ClusterMap) -> None:
    opened: list[int] = []
    chart.clusterClicked.connect(opened.append)
    chart.plot.setFocus()
    chart._keys.place(12)
    QTest.keyClick(chart.plot, Key.Key_Return)
    assert opened == [9]
    QTest.keyClick(chart.plot, Key.Key_S)
    assert chart.selection == (12,)
    QTest.keyClick(chart.plot, Key.Key_S, Qt.KeyboardModifier.ShiftModifier)
    assert chart.selection == (10, 11, 12, 13, 14)
    QTest.keyClick(chart.plot, Key.Key_S, Qt.KeyboardModifier.ShiftModifier)
    assert chart.selection == ()
    QTest.keyClick(chart.plot, Key.Key_L)
    assert chart._frame.lasso.isChecked()
    QTest.keyClick(chart.plot, Key.Key_Slash)
    assert chart._frame.search.hasFocus()


def test_on_the_map_the_arrows_do_not_answer_the_pair(window: QWidget, chart: ClusterMap) -> None:
    fired: list[str] = []
    for key in ("Left", "Right", "Space"):
        QShortcut(key, window).activated.connect(partial(fired.append, key))
    chart.plot.setFocus()
    chart._keys.place(7)
    QTest.keyClick(chart.plot, Key.Key_Left)
    assert (chart._keys.at, fired) == (6, [])
    window.findChild(QPushButton).setFocus()
    QTest.keyClick(window.findChild(QPushButton), Key.Key_Left)
    assert (chart._keys.at, fired) == (6, ["Left"])


def test_escape_on_the_map_gives_the_focus_back_to_the_pair(window: QWidget, chart: ClusterMap) -> None:
    button = window.findChild(QPushButton)
    button.setFocus()
    chart.plot.setFocus()
    QTest.keyClick(chart.plot, Key.Key_Escape)
    assert button.hasFocus()


def test_the_place_of_the_keyboard_follows_a_better_layout(chart: ClusterMap) -> None:
    chart._keys.place(6)
    chart.set_points(GRID[::-1].copy())
    assert chart._keys.at == 6
    assert chart.plot.marks._cursor == chart.plot.point(6)
    chart.set_points(np.zeros((3, 2)))
    assert chart._keys.at == -1
