"""What is offered where a project does not open: take over, check and repair."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from a3s_desktop.errors import A3SError, ProjectLockedError
from a3s_desktop.i18n import tr
from a3s_desktop.ui.dialogs import MessageDialog, ask, show_error
from a3s_desktop.ui.jobs import Jobs, Worker

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from a3s_desktop.storage.check import Finding


class RepairFlow(QObject):
    """Dialogs and background work around a project that is in use or damaged.

    Parameters
    ----------
    window : QWidget
    jobs : Jobs
    open_project : callable
        ``open_project(folder, read_only, take_over)``.
    """

    def __init__(self, window: QWidget, jobs: Jobs, open_project: Callable[[Path, bool, bool], None]) -> None:
        super().__init__(window)
        self._window = window
        self._jobs = jobs
        self._open_project = open_project

    def offer_for_locked(self, folder: Path, error: ProjectLockedError) -> None:
        """Read-only; to take over only where the other computer has been silent for long."""
        buttons = [("close", tr("Cancel")), ("read", tr("Open read-only"))]
        hint = tr("You can look at it and export it here; answers can only be given in the other window.")
        if error.stale:
            buttons.insert(1, ("take", tr("Take over")))
            hint = error.hint
        dialog = ask(
            self._window, tr("Project in use"), error.message, hint, tuple(buttons), "read", symbol="lock"
        )  # fmt: skip
        dialog.chosen.connect(partial(self._on_locked_choice, folder))

    def repair(self, folder: Path) -> None:
        """Check and repair on the background thread, then say what was done."""
        from a3s_desktop.session.checking import check_project

        self._jobs.submit(
            Worker.BACKGROUND, partial(check_project, folder, repair=True),
            done=self._on_checked, failed=self._on_failed,
        )  # fmt: skip

    def _on_locked_choice(self, folder: Path, choice: str) -> None:
        if choice in ("read", "take"):
            self._open_project(folder, choice == "read", choice == "take")

    @Slot(object)
    def _on_checked(self, findings: tuple[Finding, ...]) -> None:
        from a3s_desktop.session.checking import is_whole

        whole = is_whole(findings)
        dialog = MessageDialog(
            self._window, tr("Project checked"),
            tr("Everything is in order; the project can be opened.") if whole else tr("Something is still damaged."),
            "" if whole else tr("The details say what; go back to a backup, or ask for help with them."),
            symbol="info" if whole else "warning",
            details="\n".join(one.line() for one in findings), show_details=True,
        )  # fmt: skip
        dialog.open()

    @Slot(object)
    def _on_failed(self, error: BaseException) -> None:
        if isinstance(error, A3SError):
            show_error(self._window, error, tr("Project not repaired"))
