"""Ties the panels beside the pair to the bridge: the map, the images of one cluster."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtWidgets import QDockWidget

from a3s_desktop.core.types import IndexArray
from a3s_desktop.session.state import Change, ChangeKind, SessionState
from a3s_desktop.ui.bridge import Bridge
from a3s_desktop.ui.cluster_view import ClusterView
from a3s_desktop.ui.engine_room import Opened
from a3s_desktop.ui.map_panel import MapPanel
from a3s_desktop.ui.map_raster import PointGrid, ascending

_LATER_MS = 30  # until the map is told of the clusters: the pair comes first, and what is pressed meanwhile


class Panels(QObject):
    """Feeds map and cluster view; lives on the GUI thread.

    Parameters
    ----------
    bridge : Bridge
    map_panel : MapPanel or None
        None: there is no map (safe mode).
    cluster_view : ClusterView
    cluster_dock : QDockWidget
        Shown and raised when a cluster of the map is clicked.
    """

    def __init__(
        self,
        bridge: Bridge,
        map_panel: MapPanel | None,
        cluster_view: ClusterView,
        cluster_dock: QDockWidget,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._panel = map_panel
        self._view = cluster_view
        self._dock = cluster_dock
        self._followed: int | None = None  # an image of the cluster that is shown: ids may change, it stays
        self._moved: list[IndexArray] | None = None  # of which the map does not know yet; None: of all
        # Of very many images it takes a moment. Without a pause it would follow in the same breath as the pair.
        self._late = QTimer(self, singleShot=True, interval=_LATER_MS)
        self._late.timeout.connect(self._label)
        self._following = QTimer(self, singleShot=True, interval=2 * _LATER_MS)
        self._following.timeout.connect(self._follow)
        bridge.opened.connect(self._on_opened)
        bridge.closed.connect(self._on_closed)
        bridge.stateChanged.connect(self._on_state_changed)
        bridge.layoutReady.connect(self._on_layout)
        if map_panel is not None:
            map_panel.clusterClicked.connect(self.show_cluster)

    @Slot(int)
    def show_cluster(self, cluster: int) -> None:
        """Show the images of a cluster; from now on it is followed through merges and splits."""
        self._dock.show()
        self._dock.raise_()
        self._show(cluster)

    def _show(self, cluster: int) -> None:
        state = self._bridge.state
        if state is None:
            return
        members = np.flatnonzero(state.labels == cluster)
        if not len(members):
            return
        if self._followed is None or self._followed not in members:
            self._followed = int(members[0])
        self._view.show_cluster(cluster, members)
        if self._panel is not None:
            self._panel.map.set_selected_cluster(cluster)

    @Slot()
    def _follow(self) -> None:
        state = self._bridge.state
        if state is not None and self._followed is not None:
            self._show(int(state.labels[self._followed]))

    @Slot(object)
    def _on_opened(self, opened: Opened) -> None:
        self._followed = None
        if self._panel is not None:
            self._panel.map.set_items(opened.items)  # it is empty: no project is opened before the former one is closed
        self._view.set_items(opened.items)

    @Slot()
    def _on_closed(self) -> None:
        self._followed = None
        self._late.stop()
        if self._panel is not None and self._panel.made:
            chart = self._panel.map
            chart.set_points(None)
            chart.set_labels(np.zeros(0, np.int32))
            chart.set_pair(None)
            chart.set_selected_cluster(None)
            chart.set_items(None)
        self._view.set_items(None)

    @Slot(object)
    def _on_layout(self, points: PointGrid) -> None:
        if self._late.isActive():
            self._late.stop()
            self._label()
        if self._panel is not None:
            self._panel.map.set_points(points)

    @Slot()
    def _label(self) -> None:
        """Tell the map of the clusters, and of the pair."""
        state, moved = self._bridge.state, self._moved
        self._moved = []
        if self._panel is None or state is None:
            return
        chart, question = self._panel.map, state.question
        some = None
        if moved is not None:
            some = ascending(np.concatenate([np.zeros(0, np.int64), *moved]), len(state.labels))
        chart.set_labels(state.labels, some)
        chart.set_pair(*((question.left, question.right) if question is not None else (None, None)))

    @Slot(object, object)
    def _on_state_changed(self, state: SessionState, change: Change) -> None:
        question = state.question
        pair = (question.left, question.right) if question is not None else (None, None)
        if change.kind is ChangeKind.OPENED:
            self._moved = None
        elif self._moved is not None:
            self._moved.append(change.moved)
        if not self._late.isActive():
            self._late.start()
        self._view.set_pair(*pair)
        if self._followed is not None and len(change.moved):
            self._following.start()
