"""The map's place in the window, before there is a map.

pyqtgraph takes a third of a second, and memory, that the start page need not have. The map is made as soon as that page
is left or a project begins to open, since making it together with the first pair would hold the window up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from a3s_desktop.ui.bridge import Bridge, BridgePhase
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.jobs import Jobs, Worker

if TYPE_CHECKING:
    from a3s_desktop.ui.cluster_map import ClusterMap


def import_map() -> None:
    """Import what the map needs, on another thread than the window's."""
    import a3s_desktop.ui.cluster_map  # noqa: F401 - for its effect


class MapPanel(QWidget):
    """Holds the map, which is made when it is first asked for.

    Parameters
    ----------
    loader : ImageLoader
        For the picture of the hovered point.

    Signals
    -------
    clusterClicked(int), selectionActed(str, object), moveWanted(object, int), saveWanted(), coloursChosen(object)
        The map's.
    """

    clusterClicked = Signal(int)  # noqa: N815 - Qt's naming
    selectionActed = Signal(str, object)  # noqa: N815
    moveWanted = Signal(object, int)  # noqa: N815
    saveWanted = Signal()  # noqa: N815
    coloursChosen = Signal(object)  # noqa: N815

    def __init__(self, loader: ImageLoader, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._loader = loader
        self._map: ClusterMap | None = None
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)

    @Slot(object)
    def prepare(self, _nothing: object = None) -> None:
        """Make the map now."""
        self.map.ensurePolished()

    @property
    def made(self) -> bool:
        """Whether there is a map yet."""
        return self._map is not None

    @property
    def map(self) -> ClusterMap:
        """The map."""
        if self._map is None:
            from a3s_desktop.ui.cluster_map import ClusterMap

            self._map = ClusterMap(self._loader)
            self._map.clusterClicked.connect(self.clusterClicked)
            self._map.selectionActed.connect(self.selectionActed)
            self._map.moveWanted.connect(self.moveWanted)
            self._map.saveWanted.connect(self.saveWanted)
            self._map.coloursChosen.connect(self.coloursChosen)
            self._column.addWidget(self._map)
            self.setFocusProxy(self._map)
        return self._map


class MapMaker(QObject):
    """Has the map made once, in good time: imported on the background thread, built on the window's.

    Parameters
    ----------
    panel : MapPanel
    pages : QStackedWidget
        The window's pages; ``start`` is the one that needs no map.
    bridge : Bridge
    jobs : Jobs
    """

    def __init__(self, panel: MapPanel, pages: QStackedWidget, start: QWidget, bridge: Bridge, jobs: Jobs) -> None:
        super().__init__(pages)
        self._panel, self._pages, self._start, self._jobs = panel, pages, start, jobs
        self._begun = False
        pages.currentChanged.connect(self._on_page)
        bridge.phaseChanged.connect(self._on_phase)

    @Slot(int)
    def _on_page(self, _number: int) -> None:
        if self._pages.currentWidget() is not self._start:
            self._begin()

    @Slot(str)
    def _on_phase(self, phase: str) -> None:
        if phase == BridgePhase.OPENING:
            self._begin()

    def _begin(self) -> None:
        if not self._begun:
            self._begun = True
            self._jobs.submit(Worker.BACKGROUND, import_map, done=self._panel.prepare)
