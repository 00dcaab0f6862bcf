"""The map's selection as corrections of a real session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from a3s_desktop.errors import InputError
from a3s_desktop.ui.cluster_map import ClusterMap
from a3s_desktop.ui.corrections import Corrections
from a3s_desktop.ui.map_colours import ColourBy
from a3s_desktop.ui.map_corrections import MapCorrections
from a3s_desktop.ui.map_panel import MapPanel
from tests.ui.pair_project import Desk, make_desk, make_project


@pytest.fixture
def desk(qtbot: QtBot, tmp_path: Path) -> Iterator[Desk]:
    made = make_desk(qtbot)
    panel = MapPanel(made.loader)
    qtbot.addWidget(panel)
    made.corrections = MapCorrections(
        made.bridge, panel, Corrections(made.bridge, made.loader, made.settings, made.window), made.window
    )
    made.chart = panel.map
    made.bridge.stateChanged.connect(lambda state, _change: panel.map.set_labels(state.labels))
    made.bridge.layoutReady.connect(panel.map.set_points)
    made.open(make_project(tmp_path))
    made.until(lambda: len(panel.map.plot.places) > 0)
    yield made
    made.close()


def largest(desk: Desk) -> np.ndarray:
    labels = desk.bridge.state.labels
    return np.flatnonzero(labels == np.bincount(labels).argmax())


def test_split_off_and_undo(desk: Desk) -> None:
    chart: ClusterMap = desk.chart
    items = tuple(largest(desk)[:2].tolist())
    before = desk.bridge.state.labels.copy()
    chart.select(items)
    chart.selection_bar.button("split").click()
    desk.until(lambda: desk.bridge.state.labels[items[0]] != before[items[0]] or bool(desk.errors))
    assert not desk.errors
    after = desk.bridge.state.labels
    assert after[items[0]] == after[items[1]]
    assert not (after[largest(desk)] == after[items[0]]).all() or len(largest(desk)) == 2
    desk.until(lambda: chart.selection == ())
    desk.bridge.undo()
    desk.until(lambda: (desk.bridge.state.labels == before).all())


def test_junk_becomes_a_cross_and_moves_reach_their_cluster(desk: Desk) -> None:
    chart: ClusterMap = desk.chart
    junk, moved = (int(item) for item in largest(desk)[:2])
    chart.select([junk])
    chart.selection_bar.button("junk").click()
    desk.until(lambda: chart._data.junk_count == 1)
    desk.until(desk.waits)
    labels = desk.bridge.state.labels
    target = next(i for i in range(len(labels)) if labels[i] != labels[moved] and i != junk)
    chart.moveWanted.emit((moved,), target)
    desk.until(lambda: desk.bridge.state.labels[moved] == desk.bridge.state.labels[target] or bool(desk.errors))
    assert not desk.errors


def test_what_cannot_be_done_is_said_and_the_selection_stays(desk: Desk) -> None:
    chart: ClusterMap = desk.chart
    everything = largest(desk).tolist()
    chart.select(everything)
    chart.selection_bar.button("split").click()
    desk.until(lambda: bool(desk.errors))
    assert isinstance(desk.errors[0], InputError)
    assert list(chart.selection) == everything


def test_doubts_are_read_when_it_is_quiet(desk: Desk) -> None:
    chart: ClusterMap = desk.chart
    desk.until(lambda: chart._data.doubt is not None)
    chart.set_colour_by(ColourBy.DOUBT)
    assert chart.colour_by is ColourBy.DOUBT
    assert chart._data.confirmed is not None
