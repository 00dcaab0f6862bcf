"""Going back to a backup: from the start page, from the menu, and where a project does not open.

What the disk holds is read aside; going back needs the project for itself, so that it is closed meanwhile.
"""

from __future__ import annotations

import datetime
import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from a3s_desktop.errors import A3SError, Cancelled
from a3s_desktop.i18n import tr, trc
from a3s_desktop.task import Task
from a3s_desktop.ui.backups_dialog import BackupsDialog
from a3s_desktop.ui.bridge import Bridge, BridgePhase
from a3s_desktop.ui.dialogs import MessageDialog, show_error
from a3s_desktop.ui.engine_room import Opened
from a3s_desktop.ui.jobs import Job, Jobs, Worker
from a3s_desktop.ui.main_window import MainWindow
from a3s_desktop.ui.shortcuts import Shortcuts
from a3s_desktop.ui.work_progress import ShownWork

if TYPE_CHECKING:
    from a3s_desktop.session.restoring import Listing, Present, Preview, Row
    from a3s_desktop.storage.backup_file import Backup

log = logging.getLogger(__name__)


class BackupsFlow(QObject):
    """Opens the dialog, fills it, and sees a restoration through; lives on the GUI thread.

    Parameters
    ----------
    window, bridge, jobs, shortcuts
        Of the program.
    open_project : callable
        ``open_project(folder)``.

    Attributes
    ----------
    dialog : BackupsDialog or None
        The one that is open.
    work : ShownWork
        A restoration under way.
    """

    def __init__(
        self,
        window: MainWindow,
        bridge: Bridge,
        jobs: Jobs,
        shortcuts: Shortcuts,
        open_project: Callable[[Path], None],
    ) -> None:
        super().__init__(window)
        self._window, self._bridge, self._jobs, self._shortcuts = window, bridge, jobs, shortcuts
        self._open_project = open_project
        self._folder = Path()
        self._was_open = False
        self._reading: Job | None = None
        self._read_for: Path | None = None  # the backup that is being read
        self._listing: Listing | None = None
        self._present: Present | None = None
        self.work = ShownWork(window, jobs)
        self._outcome: tuple[str, str] | None = None  # told once the project is open again
        self.dialog: BackupsDialog | None = None
        shortcuts.action("project.backups").triggered.connect(self.show_current)
        bridge.phaseChanged.connect(self._update_actions)
        bridge.entered.connect(self._on_entered)
        bridge.openFailed.connect(self._on_open_failed)
        self._update_actions()

    @Slot()
    def show_current(self) -> None:
        """Those of the open project."""
        project = self._bridge.project
        if project is not None:
            self._show(project.folder, project.name, True)

    @Slot(object)
    def show_of(self, folder: Path) -> None:
        """Those of a project that is not open."""
        self._show(folder, folder.name, False)

    # The dialog

    def _show(self, folder: Path, name: str, is_open: bool) -> None:
        if self.dialog is not None or self.work.busy:
            return
        from a3s_desktop.session.restoring import list_rows

        self._folder, self._was_open = folder, is_open
        self._listing, self._present = None, None
        self.dialog = BackupsDialog(self._window, name, folder)
        self.dialog.marked.connect(self._on_marked)
        self.dialog.restoreWanted.connect(self._on_restore_wanted)
        self.dialog.finished.connect(self._on_dialog_closed)
        self.dialog.open()
        self._read(None, list_rows, folder, done=self._on_listed)

    def _read(self, path: Path | None, work: Callable[..., object], *args: object, done: Callable[..., None]) -> None:
        self._read_for = path
        self._reading = self._jobs.submit(
            Worker.ASIDE, work, *args, done=done, failed=self._on_not_read, with_task=True
        )

    def _drop_reading(self) -> None:
        if self._reading is not None:
            self._reading.drop()
            self._reading = None

    @Slot(object)
    def _on_listed(self, listing: Listing) -> None:
        from a3s_desktop.session.restoring import look_at_now

        self._reading = None
        self._listing = listing
        if self.dialog is not None:
            if listing.rows:
                self._read(None, look_at_now, self._folder, done=self._on_looked)
            self.dialog.show_listing(listing)

    @Slot(object)
    def _on_looked(self, present: Present) -> None:
        self._reading = None
        self._present = present
        self._read_next()

    def _read_next(self) -> None:
        """What the marked backup holds, then what the others hold, one after the other."""
        from a3s_desktop.session.restoring import look_into

        row = self.dialog.wanted() if self.dialog is not None else None
        if row is not None and row.backup is not None and self._present is not None:
            self._read(row.path, look_into, row.backup, self._listing, self._present, done=self._on_previewed)

    @Slot(object)
    def _on_previewed(self, preview: Preview) -> None:
        path, self._reading = self._read_for, None
        if self.dialog is not None and path is not None:
            self.dialog.show_preview(path, preview)
            self._read_next()

    @Slot(object)
    def _on_not_read(self, error: BaseException) -> None:
        path, self._reading = self._read_for, None
        if self.dialog is None:
            return
        if path is not None:  # a bug of the reading, too, says so in its row; `Jobs.crashed` tells of it besides
            text = error.message if isinstance(error, A3SError) else tr("This backup cannot be read.")
            self.dialog.show_problem(path, text)
            self._read_next()
        else:
            self.dialog.reject()
            if isinstance(error, A3SError):
                show_error(self._window, error, tr("Backups"))

    @Slot(object)
    def _on_marked(self, row: Row) -> None:
        """The one that is looked at comes first."""
        if self._present is not None and self.dialog is not None and self.dialog.wanted() == row:
            self._drop_reading()
            self._read_next()

    @Slot(int)
    def _on_dialog_closed(self, _result: int) -> None:
        self._drop_reading()
        self.dialog = None

    # Restoring

    @Slot(object)
    def _on_restore_wanted(self, backup: Backup) -> None:
        from a3s_desktop.session.restoring import restore

        self._bridge.close_project()
        when = datetime.datetime.fromtimestamp(backup.made).astimezone()
        moment = when.strftime(trc("date and time", "%Y-%m-%d %H:%M"))
        self.work.begin(
            tr("Restoring a backup"),
            tr("You can cancel until the backup is put in place; the project then stays as it was."),
            Worker.ENGINE, _restore, restore, self._folder, backup, moment,  # behind the closing of the project
            done=self._on_restored, failed=self._on_failed,
        )  # fmt: skip

    @Slot(object)
    def _on_restored(self, outcome: tuple[str, str]) -> None:
        self.work.end()
        self._outcome = outcome
        self._open_project(self._folder)

    @Slot(object)
    def _on_failed(self, error: BaseException) -> None:
        self.work.end()
        if self._was_open:
            self._open_project(self._folder)
        else:
            self._bridge.close_project()  # nothing is open; it tells the window that the engine is idle again
        if isinstance(error, A3SError):
            show_error(self._window, error, tr("Backup not restored"))
        elif not isinstance(error, Cancelled):
            log.error("The backup could not be restored", exc_info=error)

    @Slot(object)
    def _on_entered(self, opened: Opened) -> None:
        outcome, self._outcome = self._outcome, None
        if outcome is not None and opened.folder == self._folder:
            MessageDialog(self._window, tr("Backup restored"), *outcome, symbol="check-circle").open()

    @Slot(object, object)
    def _on_open_failed(self, _error: A3SError, _folder: Path | None) -> None:
        self._outcome = None

    @Slot()
    def _update_actions(self) -> None:
        open_now = self._bridge.phase in (BridgePhase.ASKING, BridgePhase.FINISHED)
        state = self._bridge.state
        self._shortcuts.action("project.backups").setEnabled(open_now and state is not None and not state.read_only)


def _restore(
    work: Callable[[Path, Backup, Task], str], folder: Path, backup: Backup, moment: str, task: Task
) -> tuple[str, str]:
    """On the worker: what is said of it, and what was done."""
    done = work(folder, backup, task)
    return tr("The project is as it was on {moment}.", moment=moment), done
