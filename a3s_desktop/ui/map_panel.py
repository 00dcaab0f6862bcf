"""The map's place in the window, before there is a map.

pyqtgraph takes a third of a second that the start page need not wait for. The map is made soon after that page is
there, since making it together with the first pair would hold the window up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from a3s_desktop.ui.image_loader import ImageLoader

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
