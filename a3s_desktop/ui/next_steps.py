"""What can be done besides answering: ask skipped pairs again, check a sample, go on where the end page points."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from a3s_desktop.i18n import tr, trn
from a3s_desktop.session.operations import Requeue
from a3s_desktop.ui.audit_page import AuditPage
from a3s_desktop.ui.bridge import Bridge, BridgePhase
from a3s_desktop.ui.label_page import LabelPage
from a3s_desktop.ui.main_window import MainWindow
from a3s_desktop.ui.shortcuts import Shortcuts


class NextSteps(QObject):
    """Ties the actions ``edit.requeue`` and ``audit.open``, the sample check and the end page together.

    Parameters
    ----------
    window : MainWindow
    bridge : Bridge
    label : LabelPage
    audit : AuditPage
        A page of the window.
    shortcuts : Shortcuts
    """

    def __init__(
        self, window: MainWindow, bridge: Bridge, label: LabelPage, audit: AuditPage, shortcuts: Shortcuts
    ) -> None:
        super().__init__(window)
        self._window, self._bridge, self._label, self._audit = window, bridge, label, audit
        self._shortcuts = shortcuts
        bridge.stateChanged.connect(self._update)
        bridge.phaseChanged.connect(self._update)
        bridge.closed.connect(self._update)
        shortcuts.action("edit.requeue").triggered.connect(self._requeue)
        shortcuts.action("audit.open").triggered.connect(self._open_audit)
        label.auditWanted.connect(self._open_audit)
        label.singlesWanted.connect(self._show_singles)
        audit.backWanted.connect(self._back)
        self._update()

    @Slot()
    def _update(self) -> None:
        state = self._bridge.state
        quiet = self._bridge.phase in (BridgePhase.ASKING, BridgePhase.FINISHED)
        able = quiet and state is not None and not state.read_only
        requeue = self._shortcuts.action("edit.requeue")
        count = state.skipped if state is not None else 0
        requeue.setText(
            trn("Ask {n} skipped pair again", "Ask {n} skipped pairs again", count)
            if count
            else tr("Ask skipped pairs again")
        )
        requeue.setEnabled(able and count > 0)
        self._shortcuts.action("audit.open").setEnabled(able)

    @Slot()
    def _requeue(self) -> None:
        self._bridge.perform(Requeue())

    @Slot()
    def _open_audit(self) -> None:
        if self._bridge.state is not None:
            self._window.show_page(self._audit, working=True)

    @Slot()
    def _back(self) -> None:
        if self._bridge.state is not None:
            self._window.show_page(self._label, working=True)

    @Slot()
    def _show_singles(self) -> None:
        for name in ("page.clusters", "gallery.singles"):
            self._shortcuts.action(name).trigger()
