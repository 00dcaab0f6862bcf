"""A bug, wherever it was met, ends in one dialog on the GUI thread; the program goes on."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal, Slot

from a3s_desktop.logs import Crash, describe_crash
from a3s_desktop.ui.dialogs import show_crash
from a3s_desktop.ui.jobs import Jobs
from a3s_desktop.ui.main_window import MainWindow


class CrashReport(QObject):
    """Shows crashes of jobs, and those that the crash hooks hand over by `report`, from any thread.

    Parameters
    ----------
    window : MainWindow
    jobs : Jobs
    log_file : Path or None
        Named in the dialog.
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

    @Slot(str)
    def _on_choice(self, choice: str) -> None:
        self._shown = False
        if choice == "quit":
            self._window.close()
