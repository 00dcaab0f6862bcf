"""Ties the clusters page to the window: which page's keys are live, and images that the map opens."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from a3s_desktop.actions import Scope
from a3s_desktop.core.types import IndexArray
from a3s_desktop.ui.bridge import Bridge
from a3s_desktop.ui.clusters_page import ClustersPage
from a3s_desktop.ui.corrections import Corrections
from a3s_desktop.ui.main_window import MainWindow
from a3s_desktop.ui.map_panel import MapPanel
from a3s_desktop.ui.shortcuts import Shortcuts


class ClustersDesk(QObject):
    """See the module.

    Parameters
    ----------
    window, bridge, shortcuts, map_panel
        Of the program.
    pair, clusters : QWidget, ClustersPage
        The two pages between which the person goes back and forth.
    corrections : Corrections
    """

    def __init__(
        self,
        window: MainWindow,
        bridge: Bridge,
        shortcuts: Shortcuts,
        map_panel: MapPanel,
        pair: QWidget,
        clusters: ClustersPage,
        corrections: Corrections,
    ) -> None:
        super().__init__(window)
        self._window, self._shortcuts = window, shortcuts
        self._pair, self._clusters = pair, clusters
        shortcuts.action("page.pair").triggered.connect(self.show_pair)
        shortcuts.action("page.clusters").triggered.connect(self.show_clusters)
        window.pages.currentChanged.connect(self._page_changed)
        corrections.refused.connect(window.say)
        map_panel.selectionActed.connect(self._acted)
        bridge.entered.connect(self._page_changed)
        bridge.closed.connect(self._page_changed)
        self._page_changed()

    @Slot()
    def show_pair(self) -> None:
        """The pair page, if a project is open."""
        self._show(self._pair)

    @Slot()
    def show_clusters(self) -> None:
        """The clusters page, if a project is open."""
        self._show(self._clusters)

    def _show(self, page: QWidget) -> None:
        if self._window.working:
            self._window.show_page(page, working=True)
        self._page_changed()  # the check mark has flipped by itself

    @Slot()
    def _page_changed(self) -> None:
        page, working = self._window.pages.currentWidget(), self._window.working
        for name, own, scope in (
            ("page.pair", self._pair, Scope.PAIR), ("page.clusters", self._clusters, Scope.CLUSTERS),
        ):  # fmt: skip
            self._shortcuts.action(name).setChecked(page is own)
            self._shortcuts.action(name).setEnabled(working)
            self._shortcuts.set_live(scope, page is own)

    @Slot(str, object)
    def _acted(self, action: str, items: IndexArray) -> None:
        if action == "open":
            self._clusters.open_items(items)
            self.show_clusters()
