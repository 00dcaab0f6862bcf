"""The map of very many points: what is drawn in turns, kept, or found without looking at all is as if done at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from a3s_desktop.ui import map_items, map_names
from a3s_desktop.ui.cluster_map import ClusterMap
from a3s_desktop.ui.map_colours import ColourBy
from a3s_desktop.ui.map_names import NameCopy
from a3s_desktop.ui.map_raster import PointGrid
from a3s_desktop.ui.map_scene import MapScene
from a3s_desktop.ui.theme import apply_theme
from tests.ui.map_tools import Names

N = 600
Make = Callable[[], ClusterMap]


@pytest.fixture
def points() -> np.ndarray:
    return np.random.default_rng(2).normal(size=(N, 2)).astype(np.float32)


@pytest.fixture
def make(qtbot: QtBot, qapp: QApplication, points: np.ndarray) -> Iterator[Make]:
    def made() -> ClusterMap:
        chart = ClusterMap()
        qtbot.addWidget(chart)
        chart.resize(420, 460)
        chart.show()
        chart.set_points(points)
        chart.set_labels(np.arange(N, dtype=np.int32) // 20)
        qapp.processEvents()
        return chart

    yield made
    apply_theme(qapp, "light")


def seen(chart: ClusterMap) -> QImage:
    """The points alone, as they are painted."""
    for layer in (chart.plot.hulls, chart.plot.names, chart.plot.marks):
        layer.hide()
    return chart.plot.viewport().grab().toImage()


def settle(chart: ClusterMap, qtbot: QtBot) -> None:
    chart.plot.viewport().repaint()
    qtbot.waitUntil(lambda: not chart.plot.points.busy)


CHANGES: dict[str, Callable[[ClusterMap], object]] = {
    "labels": lambda chart: chart.set_labels(np.arange(N, dtype=np.int32)[::-1] // 30),
    "selection": lambda chart: chart.select(range(0, N, 2)),
    "confirmed": lambda chart: (chart.set_confirmed(np.arange(N) % 3 == 0), chart.set_colour_by(ColourBy.CONFIRMED)),
    "layout": lambda chart: chart.set_points(chart.plot.places[::-1] * np.float32(1.5)),
    "zoom": lambda chart: chart.plot.zoom(5),
    "selection in a part": lambda chart: (chart.plot.zoom(3), chart.select(range(100, N))),
}


@pytest.mark.parametrize("change", CHANGES)
def test_drawn_in_turns_it_looks_as_drawn_at_once(
    make: Make, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    at_once, in_turns = make(), make()
    CHANGES[change](at_once)
    at_once.plot.viewport().repaint()
    assert not at_once.plot.points.busy
    monkeypatch.setattr(map_items, "_SLOW", 10)
    CHANGES[change](in_turns)
    in_turns.plot.viewport().repaint()
    assert in_turns.plot.points.busy
    settle(in_turns, qtbot)
    assert seen(in_turns) == seen(at_once)


def test_until_a_new_look_is_there_the_former_one_is_shown(
    make: Make, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    chart = make()
    before = seen(chart)
    monkeypatch.setattr(map_items, "_SLOW", 10)
    chart.select(range(N))
    assert seen(chart) == before
    settle(chart, qtbot)
    assert seen(chart) != before


def test_the_last_of_two_changes_is_what_is_shown(make: Make, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once, chart = make(), make()
    at_once.select(range(5))
    at_once.plot.zoom(2)
    monkeypatch.setattr(map_items, "_SLOW", 10)
    chart.select(range(N))
    chart.plot.viewport().repaint()
    chart.select(range(5))  # while the other one is under way
    chart.plot.viewport().repaint()
    chart.plot.zoom(2)
    chart.plot.viewport().repaint()
    settle(chart, qtbot)
    monkeypatch.undo()
    assert seen(chart) == seen(at_once)


@pytest.mark.parametrize("selected", [0, 40, N])
def test_a_change_of_theme_keeps_the_images_and_changes_their_colours(
    make: Make, qapp: QApplication, selected: int
) -> None:
    chart = make()
    chart.select(range(selected))
    light = seen(chart)
    kept = [picture.pixels for picture in chart.plot.points._pictures]
    apply_theme(qapp, "dark")
    qapp.processEvents()
    dark = seen(chart)
    assert all(a is b.pixels for a, b in zip(kept, chart.plot.points._pictures, strict=True))
    fresh = make()
    fresh.select(range(selected))
    assert light != dark == seen(fresh)


def test_very_many_selected_points_are_drawn_where_a_part_is_shown(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """The points out of view are left out before they are drawn."""
    chart = make()
    chart.plot.zoom(6)
    chart.select(range(N))
    monkeypatch.setattr(map_items, "_MANY", 1)
    monkeypatch.setattr(map_items, "_common", lambda some, _others, _count: some)
    chart.plot.points._changed()
    whole = seen(chart)
    monkeypatch.undo()
    monkeypatch.setattr(map_items, "_MANY", 1)
    chart.plot.points._changed()
    assert seen(chart) == whole


@pytest.mark.parametrize("lattice", [False, True])
def test_the_next_image_is_the_one_that_a_search_over_all_finds(qapp: QApplication, lattice: bool) -> None:
    rng = np.random.default_rng(8)
    places = rng.integers(0, 12, (300, 2)) if lattice else rng.normal(size=(300, 2)) ** 3
    scene = MapScene()
    scene.set_grid(PointGrid(places))
    for item in range(300):
        for right, up in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            away = scene.places - scene.places[item]
            along, across = away @ np.float32([right, up]), np.abs(away @ np.float32([up, right]))
            cost = np.where((along > 0) & (across <= along), along + 2 * across, np.inf)
            wanted = int(cost.argmin()) if np.isfinite(cost).any() else item
            assert scene.next_item(item, right, up) == wanted


def test_items_and_clusters_are_chosen_and_given_up_like_sets(make: Make) -> None:
    chart, rng, chosen = make(), np.random.default_rng(4), set[int]()
    for item in rng.integers(0, N, 60).tolist():
        whole = item % 2 == 0
        some = set(range(item // 20 * 20, item // 20 * 20 + 20)) if whole else {item}
        chart._selecting.toggle(item, whole)
        chosen = chosen - some if some <= chosen else chosen | some
        assert chart.selection == tuple(sorted(chosen))


def test_what_answers_confirm_looks_as_if_told_anew(make: Make) -> None:
    first, second = make(), make()
    rng, confirmed = np.random.default_rng(6), np.zeros(N, np.bool_)
    for chart in (first, second):
        chart.set_confirmed(confirmed)
        chart.set_colour_by(ColourBy.CONFIRMED)
    for count in (0, 1, 20, N // 2, 3):
        confirmed = confirmed.copy()
        confirmed[rng.integers(0, N, count)] ^= True
        first.set_confirmed(confirmed)
        second.set_confirmed(None)
        second.set_confirmed(confirmed)
        second.set_colour_by(ColourBy.CONFIRMED)
        np.testing.assert_array_equal(first.plot.points._slots, second.plot.points._slots)
        np.testing.assert_array_equal(first.plot.points._shapes, second.plot.points._shapes)
        assert first._frame.legend._entries == second._frame.legend._entries


def test_junk_that_comes_and_goes_looks_as_if_told_anew(make: Make, qtbot: QtBot) -> None:
    chart, rng = make(), np.random.default_rng(4)
    labels, junk = np.arange(N, dtype=np.int32) // 20, np.zeros(N, np.bool_)
    for few in (2, 5, 19, 400, 3, 20, 0, 8):
        junk = junk.copy()
        places = rng.integers(N - 40) + np.arange(few) if few < 40 else np.flatnonzero(rng.random(N) < 0.7)
        junk[places] = ~junk[places]
        moved = rng.choice(N, 3, replace=False)
        labels = labels.copy()
        labels[moved] = rng.integers(N // 20, size=3)
        chart.set_labels(labels, moved)
        chart.set_junk(junk)
        anew = make()
        anew.set_labels(labels)
        anew.set_junk(junk)
        for one in (chart, anew):
            qtbot.waitUntil(lambda one=one: not one.plot._work.isActive())
        assert chart._data.sizes.tolist() == anew._data.sizes.tolist()
        assert chart.status == anew.status
        assert (chart.plot.points._slots == anew.plot.points._slots).all()
        assert (shapes(chart) == shapes(anew)).all()
        assert (chart.plot.hulls.hulls.clusters == anew.plot.hulls.hulls.clusters).all()
        assert (chart.plot.hulls.hulls.corners == anew.plot.hulls.hulls.corners).all()
    chart.set_junk(None)
    assert chart._data.junk is None
    assert chart.plot.points._shapes is None


def shapes(chart: ClusterMap) -> np.ndarray:
    """By sorted place."""
    found = chart.plot.points._shapes
    return np.zeros(N, np.uint8) if found is None else found


def test_very_many_names_are_copied_in_turns(make: Make, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(map_names, "_BLOCK", 7)
    chart = make()
    chart.set_items(Names([f"b/é {k}.png" for k in range(N)]))
    chart.select(range(50))
    acted: list[tuple[str, tuple[int, ...]]] = []
    chart.selectionActed.connect(lambda action, items: acted.append((action, tuple(items))))
    chart.selection_bar.button("copy").click()
    assert acted == []
    chart.set_items(Names([f"other {k}" for k in range(N)]))  # another project meanwhile
    qtbot.waitUntil(lambda: bool(acted))
    assert acted == [("copy", tuple(range(50)))]
    assert QGuiApplication.clipboard().text() == "\n".join(f"é {k}.png" for k in range(50))


@pytest.mark.parametrize("count", [1, 6, 7, 8, 14, 15])
def test_all_names_are_copied_whatever_their_number(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(map_names, "_BLOCK", 7)
    copy = NameCopy()
    copy.begin(np.arange(count), str)
    qtbot.waitUntil(lambda: not copy.busy)
    assert QGuiApplication.clipboard().text() == "\n".join(map(str, range(count)))
