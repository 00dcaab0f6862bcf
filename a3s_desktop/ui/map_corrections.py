"""What is asked for on the map with selected images becomes a correction of the session; what is known comes back."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QObject, QTimer, Slot

from a3s_desktop.core.types import IndexArray
from a3s_desktop.ui.bridge import Bridge
from a3s_desktop.ui.corrections import Corrections
from a3s_desktop.ui.engine_room import Reading
from a3s_desktop.ui.map_colours import ColourBy
from a3s_desktop.ui.map_panel import MapPanel

_CHANGING = ("split", "move", "junk")
_AFTER_MS = 10  # after a change, until the map is told: in another turn than the clusters, with very many images
_QUIET_MS = 1500  # without an answer, before the doubts are asked for: they must not delay the next question


class MapCorrections(QObject):
    """Ties the map's selection to the bridge; lives on the GUI thread.

    Parameters
    ----------
    bridge : Bridge
    panel : MapPanel
    corrections : Corrections
        Carries out what is asked for; asks back where it is much.
    """

    def __init__(
        self, bridge: Bridge, panel: MapPanel, corrections: Corrections, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._panel = panel
        self._do = corrections
        self._asked = False  # a correction of the selection is on its way
        self._known = False  # the doubts of this project were read once
        self._fresh = False  # and nothing was answered since
        self._quiet = QTimer(self, singleShot=True, interval=_QUIET_MS)
        self._quiet.timeout.connect(self._read_doubts)
        bridge.opened.connect(self._on_opened)
        self._turn = QTimer(self, singleShot=True, interval=_AFTER_MS)
        self._turn.timeout.connect(self._tell)
        bridge.stateChanged.connect(self._turn.start)
        bridge.failed.connect(self._on_failed)
        panel.selectionActed.connect(self._on_acted)
        panel.moveWanted.connect(self._on_move)
        panel.coloursChosen.connect(self._on_colours)

    @Slot(object)
    def _on_opened(self, _opened: object) -> None:
        self._asked = self._known = self._fresh = False

    @Slot()
    def _read_doubts(self) -> None:
        chart = self._panel.map
        if not self._known or chart.colour_by is ColourBy.DOUBT:  # once, so that they can be chosen; then if wanted
            self._bridge.read(Reading.DOUBTS, None, done=self._show_doubts)

    @Slot(object)
    def _on_colours(self, by: ColourBy) -> None:
        if by is ColourBy.DOUBT and not self._fresh:  # answers came since they were read
            self._quiet.start()

    @Slot(object)
    def _show_doubts(self, doubts: np.ndarray) -> None:
        self._known = self._fresh = True
        self._panel.map.set_doubt(doubts)

    @Slot()
    def _tell(self) -> None:
        state, chart = self._bridge.state, self._panel.map
        if state is None:
            return
        chart.set_junk(state.is_junk)
        chart.set_confirmed(state.confirmed)
        chart.set_names(state.names)
        chart.selection_bar.set_actions(("open", *(() if state.read_only else _CHANGING), "copy"))
        self._fresh = False
        self._quiet.start()
        if self._asked:  # what was selected has gone where it was sent
            self._asked = False
            chart.select(())

    @Slot(object)
    def _on_failed(self, _error: object) -> None:
        self._asked = False  # the selection stays, for another try

    @Slot(str, object)
    def _on_acted(self, action: str, items: IndexArray) -> None:
        if action == "split":
            self._asked = True
            self._do.split(items)
        elif action == "junk":
            self._asked = True
            self._do.junk(items)

    @Slot(object, int)
    def _on_move(self, items: IndexArray, to: int) -> None:
        self._do.move(items, to)
