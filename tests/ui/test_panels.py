"""The map is told of clusters a moment after the pair page: of all that changed until then, once."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QDockWidget

from a3s_desktop.session.state import ChangeKind
from a3s_desktop.ui.cluster_view import ClusterView
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.map_panel import MapPanel
from a3s_desktop.ui.map_raster import PointGrid
from a3s_desktop.ui.panels import Panels

N = 40
POINTS = PointGrid(np.random.default_rng(0).normal(size=(N, 2)).astype(np.float32))


class Session(QObject):
    """What the panels hear of a bridge."""

    opened = Signal(object)
    closed = Signal()
    stateChanged = Signal(object, object)
    layoutReady = Signal(object)

    def __init__(self):
        super().__init__()
        self.state = None
        self.items = SimpleNamespace(name=str, file=str, problems={})

    def open(self, labels):
        if self.state is not None:
            self.state = None
            self.closed.emit()
        self.opened.emit(SimpleNamespace(items=self.items))
        self.tell(labels, (), ChangeKind.OPENED)

    def tell(self, labels, moved, kind=ChangeKind.ANSWER):
        self.state = SimpleNamespace(labels=labels, question=SimpleNamespace(left=1, right=2))
        self.stateChanged.emit(self.state, SimpleNamespace(kind=kind, moved=np.array(moved, np.int64)))


@pytest.fixture
def session(qtbot):
    session, loader = Session(), ImageLoader(max_bytes=1_000_000)
    panel, view, dock = MapPanel(loader), ClusterView(loader), QDockWidget()
    for widget in (panel, view, dock):
        qtbot.addWidget(widget)
    session.map, session.view = panel.map, view
    session.panels = Panels(session, panel, view, dock, session)
    yield session
    loader.shutdown()


def test_points_never_come_before_the_clusters_of_their_project(session):
    session.open(np.arange(N, dtype=np.int32) % 3)
    session.layoutReady.emit(POINTS)  # at once
    assert session.map._data.sizes.tolist() == [14, 13, 13]
    session.open(np.arange(N, dtype=np.int32) % 2)
    assert session.map._data.labels.tolist() == []  # not those of the former project
    session.layoutReady.emit(POINTS)
    assert session.map._data.sizes.tolist() == [20, 20]


def test_what_changed_until_the_map_s_turn_is_told_once(session, qtbot):
    labels = np.arange(N, dtype=np.int32) % 3
    session.open(labels)
    session.layoutReady.emit(POINTS)
    for moved in ((0, 1), (1, 5), ()):
        labels = labels.copy()
        labels[list(moved)] = (labels[list(moved)] + 1) % 4
        session.tell(labels, moved)
    qtbot.waitUntil(lambda: session.map._data.labels.tolist() == labels.tolist())
    assert session.map._data.sizes.tolist() == np.bincount(labels).tolist()
    assert session.map._pair == (1, 2)


def test_a_project_that_was_closed_is_not_told_of(session, qtbot):
    session.open(np.arange(N, dtype=np.int32) % 3)
    session.state = None
    session.closed.emit()
    qtbot.wait(60)
    assert session.map._data.labels.tolist() == []
