"""Ties what concerns old answers together: panel, second look, progress of long changes, contradictions."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QDockWidget, QMainWindow

from a3s_desktop.session.state import Change, HistoryEntry, SessionState
from a3s_desktop.ui.bridge import Bridge
from a3s_desktop.ui.contradiction_flow import ContradictionFlow
from a3s_desktop.ui.doubtful_dialog import SecondLook
from a3s_desktop.ui.history_busy import BusyDialog
from a3s_desktop.ui.history_panel import HistoryPanel
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.shortcuts import Shortcuts


class HistoryFlow(QObject):
    """See the module.

    Parameters
    ----------
    window : QMainWindow
    dock : QDockWidget
        Holds the panel.
    panel : HistoryPanel
    bridge, loader, shortcuts
        Of the program.

    Attributes
    ----------
    busy : BusyDialog
    contradictions : ContradictionFlow
    """

    def __init__(
        self,
        window: QMainWindow,
        dock: QDockWidget,
        panel: HistoryPanel,
        bridge: Bridge,
        loader: ImageLoader,
        shortcuts: Shortcuts,
    ) -> None:
        super().__init__(window)
        self._window, self._dock, self._panel = window, dock, panel
        self._bridge, self._loader, self._shortcuts = bridge, loader, shortcuts
        self._look: SecondLook | None = None
        self.busy = BusyDialog(bridge, window)
        self.contradictions = ContradictionFlow(window, bridge, loader)
        panel.lookWanted.connect(self.look_at)
        panel.conflictsAppeared.connect(self._on_conflicts)
        bridge.stateChanged.connect(self._on_state)
        bridge.closed.connect(self._on_closed)
        shortcuts.action("history.doubtful").triggered.connect(self.show_doubtful)
        shortcuts.action("history.doubtful").setEnabled(False)

    @property
    def second_look(self) -> SecondLook:
        """The window for a second look; made when it is first asked for."""
        if self._look is None:
            self._look = SecondLook(self._bridge, self._loader, self._shortcuts, self._window)
        return self._look

    @Slot()
    def show_doubtful(self) -> None:
        """The doubtful answers."""
        if self._bridge.state is not None:
            self.second_look.show_doubtful()

    @Slot(object)
    def look_at(self, entry: HistoryEntry) -> None:
        """One entry, large."""
        self.second_look.show_entry(entry)

    @Slot()
    def _on_conflicts(self) -> None:
        # What lost its effect must be seen, wherever the change was made.
        self._dock.show()
        self._dock.raise_()

    @Slot(object, object)
    def _on_state(self, _state: SessionState, _change: Change) -> None:
        self._shortcuts.action("history.doubtful").setEnabled(True)

    @Slot()
    def _on_closed(self) -> None:
        self._shortcuts.action("history.doubtful").setEnabled(False)
