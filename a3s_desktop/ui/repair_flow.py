"""What is offered where a project does not open, or is to be checked: check, repair, go back."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from a3s_desktop.errors import A3SError, Cancelled, NoProjectError, ProjectVersionError
from a3s_desktop.i18n import tr
from a3s_desktop.ui.backups_flow import BackupsFlow
from a3s_desktop.ui.bridge import Bridge, BridgePhase
from a3s_desktop.ui.dialogs import MessageDialog, show_error
from a3s_desktop.ui.findings_dialog import FindingsDialog
from a3s_desktop.ui.jobs import Jobs, Worker
from a3s_desktop.ui.main_window import MainWindow
from a3s_desktop.ui.shortcuts import Shortcuts
from a3s_desktop.ui.work_progress import ShownWork

if TYPE_CHECKING:
    from a3s_desktop.storage.check import Finding

log = logging.getLogger(__name__)


class RepairFlow(QObject):
    """Dialogs and background work around a project that is damaged.

    Parameters
    ----------
    window, bridge, jobs, shortcuts
        Of the program.
    open_project : callable
        ``open_project(folder, read_only, take_over)``.
    forget : callable
        ``forget(folder)``: take it off the list of recent projects.

    Attributes
    ----------
    backups : BackupsFlow
    work : ShownWork
        A check or repair under way.
    """

    def __init__(
        self,
        window: MainWindow,
        bridge: Bridge,
        jobs: Jobs,
        shortcuts: Shortcuts,
        open_project: Callable[..., None],
        forget: Callable[[Path], None],
    ) -> None:
        super().__init__(window)
        self._window, self._bridge, self._jobs, self._shortcuts = window, bridge, jobs, shortcuts
        self._open_project, self._forget = open_project, forget
        self.backups = BackupsFlow(window, bridge, jobs, shortcuts, open_project)
        self.work = ShownWork(window, jobs)
        self._folder = Path()
        self._was_open = self._repairing = False
        shortcuts.action("project.check").triggered.connect(self.check_current)
        bridge.phaseChanged.connect(self._update_actions)
        self._update_actions()

    # A project that does not open

    def offer_for_broken(self, folder: Path, error: A3SError, known: bool) -> None:
        """Repair and backups, where there is anything to mend; off the list where it is on it (``known``)."""
        buttons, primary = [("close", tr("Close"))], "close"
        if not isinstance(error, NoProjectError | ProjectVersionError):
            buttons = [*buttons, ("backups", tr("Backups…")), ("repair", tr("Check and repair"))]
            primary = "repair"
        if known:
            buttons.insert(0, ("forget", tr("Remove from list")))
        dialog = MessageDialog(
            self._window, tr("Project not opened"), error.message, error.hint, buttons=tuple(buttons),
            primary=primary, details=str(error),
        )  # fmt: skip
        dialog.chosen.connect(partial(self._on_broken_choice, folder))
        dialog.open()

    def _on_broken_choice(self, folder: Path, choice: str) -> None:
        if choice == "forget":
            self._forget(folder)
        elif choice == "repair":
            self.repair(folder)
        elif choice == "backups":
            self.backups.show_of(folder)

    # Checking and repairing

    @Slot()
    def check_current(self) -> None:
        """Check the open project, which stays open."""
        from a3s_desktop.session.checking import check_project

        project = self._bridge.project
        if project is None or self.work.busy:
            return
        self._folder, self._was_open, self._repairing = project.folder, True, False
        promise = tr("A check only reads; you can cancel at any time.")
        self._begin(tr("Checking the project"), promise, Worker.ASIDE, check_project)

    def repair(self, folder: Path) -> None:
        """Check and repair, then say what was done; an open project is closed meanwhile."""
        from a3s_desktop.session.checking import check_project

        if self.work.busy:
            return
        project = self._bridge.project
        self._folder, self._repairing = folder, True
        self._was_open = project is not None and project.folder == folder
        self._bridge.close_project()
        self._begin(
            tr("Checking and repairing the project"),
            tr("You can cancel at any time; each step of a repair leaves a project that is whole."),
            Worker.ENGINE,  # behind the closing
            partial(check_project, repair=True),
        )

    def _begin(self, title: str, promise: str, worker: Worker, work: Callable[..., object]) -> None:
        self.work.begin(title, promise, worker, work, self._folder, done=self._on_checked, failed=self._on_failed)

    def _end(self) -> None:
        self.work.end()
        if not self._repairing:
            return
        if self._was_open:
            self._open_project(self._folder)
        else:
            self._bridge.close_project()  # nothing is open; it tells the window that the engine is idle again

    @Slot(object)
    def _on_checked(self, findings: tuple[Finding, ...]) -> None:
        from a3s_desktop.session.checking import is_whole

        self._end()
        dialog = FindingsDialog(self._window, findings, is_whole(findings), self._repairing, self._was_open)
        dialog.chosen.connect(self._on_findings_choice)
        dialog.open()

    @Slot(object)
    def _on_failed(self, error: BaseException) -> None:
        self._end()
        if isinstance(error, A3SError):
            title = tr("Project not repaired") if self._repairing else tr("Project not checked")
            show_error(self._window, error, title)
        elif not isinstance(error, Cancelled):
            log.error("The check ended early", exc_info=error)

    @Slot(str)
    def _on_findings_choice(self, choice: str) -> None:
        if choice == "repair":
            self.repair(self._folder)
        elif choice == "open":
            self._open_project(self._folder)
        elif choice == "backups" and self._was_open:
            self.backups.show_current()
        elif choice == "backups":
            self.backups.show_of(self._folder)

    @Slot()
    def _update_actions(self) -> None:
        quiet = self._bridge.phase in (BridgePhase.ASKING, BridgePhase.FINISHED)
        self._shortcuts.action("project.check").setEnabled(quiet)
