"""A bug, wherever it was met, ends in one dialog on the GUI thread; the program goes on."""

from __future__ import annotations

import platform
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal, Slot

from a3s_desktop import __version__
from a3s_desktop.i18n import tr
from a3s_desktop.logs import Crash, describe_crash, log_tail
from a3s_desktop.ui.dialogs import CrashDialog, show_crash
from a3s_desktop.ui.jobs import Jobs
from a3s_desktop.ui.last_run import FormerEnd
from a3s_desktop.ui.main_window import MainWindow


class CrashReport(QObject):
    """Shows crashes of jobs, and those that the crash hooks hand over by `report`, from any thread.

    Parameters
    ----------
    window : MainWindow
    jobs : Jobs
    log_file : Path or None
        Its end is among the details.
    """

    _arrived = Signal(object)

    def __init__(self, window: MainWindow, jobs: Jobs, log_file: Path | None) -> None:
        super().__init__(window)
        self._window = window
        self._log_file = log_file
        self._shown = False
        self._arrived.connect(self._show, Qt.ConnectionType.QueuedConnection)
        jobs.crashed.connect(self._on_job_crashed)

    def report(self, crash: Crash) -> None:
        """Hand over a crash; callable on any thread."""
        self._arrived.emit(crash)

    @Slot(object)
    def _on_job_crashed(self, error: BaseException) -> None:
        self._show(describe_crash(type(error), error, error.__traceback__, "in a worker"))

    @Slot(object)
    def _show(self, crash: Crash) -> None:
        if self._shown:
            return  # further ones are in the log; a heap of dialogs would help nobody
        self._shown = True
        dialog = show_crash(self._window, crash, self._log_file)
        dialog.chosen.connect(self._on_choice)

    def tell_former(self, former: FormerEnd) -> None:
        """Say that the last run broke down, where it did."""
        if former.crash:
            head = f"A3S Desktop {__version__}, Python {platform.python_version()}, {platform.platform()}"
            dialog = CrashDialog(
                self._window,
                tr("The program ended unexpectedly the last time."),
                tr("Every answer that you gave is saved. The details below help to find the reason."),
                f"{head}\n{former.crash}\n\n{log_tail(self._log_file)}",
                (("close", tr("Close")),),
            )
            dialog.open()

    @Slot(str)
    def _on_choice(self, choice: str) -> None:
        self._shown = False
        if choice == "quit":
            self._window.close()
