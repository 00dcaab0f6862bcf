"""Work that keeps the window: a dialog with how far it is, and a button that stops it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QDialog, QHBoxLayout, QProgressBar, QPushButton, QVBoxLayout, QWidget

from a3s_desktop.i18n import tr
from a3s_desktop.task import Progress
from a3s_desktop.ui.dialogs import wrapped
from a3s_desktop.ui.jobs import Job, Jobs, Worker
from a3s_desktop.ui.progress_page import overall, time_left
from a3s_desktop.ui.theme import SPACE_3, SPACE_4, SPACE_5

_STEPS = 1000


class WorkProgress(QDialog):
    """Stays until whoever opened it closes it by ``done``: work that was asked to stop still needs a moment.

    Parameters
    ----------
    parent : QWidget or None
    title : str
    promise : str
        What cancelling leaves behind; shown until there is something to report.
    cancel : callable
        Asks the work to stop.
    """

    def __init__(self, parent: QWidget | None, title: str, promise: str, cancel: Callable[[], None]) -> None:
        super().__init__(parent)
        self._cancel = cancel
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setWindowTitle(title)
        self.setMinimumWidth(460)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(SPACE_5, SPACE_5, SPACE_5, SPACE_4)
        layout.setSpacing(SPACE_3)
        layout.addWidget(wrapped(title, "heading"))
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setRange(0, 0)
        self.bar.setAccessibleName(tr("Progress"))
        layout.addWidget(self.bar)
        self.detail = wrapped(promise, "muted")
        layout.addWidget(self.detail)
        row = QHBoxLayout()
        row.addStretch(1)
        self.cancel_button = QPushButton(tr("Cancel"))
        self.cancel_button.clicked.connect(self.reject)
        row.addWidget(self.cancel_button)
        layout.addLayout(row)

    @Slot(object)
    def show_progress(self, progress: Progress) -> None:
        """How far it is."""
        if self.cancel_button.isEnabled():
            self.bar.setRange(0, _STEPS)
            self.bar.setValue(round(overall(progress) * _STEPS))
            left = time_left(progress.seconds_left)
            self.detail.setText(f"{progress.stage} – {left}" if left else progress.stage)

    def reject(self) -> None:
        """Escape and the button: ask the work to stop."""
        if self.cancel_button.isEnabled():
            self.cancel_button.setEnabled(False)
            self.detail.setText(tr("Stopping…"))
            self._cancel()


class ShownWork(QObject):
    """One piece of work off the GUI thread at a time, with its progress; lives on the GUI thread.

    Parameters
    ----------
    window : QWidget
    jobs : Jobs

    Attributes
    ----------
    progress : WorkProgress or None
        The dialog, while it is open.
    """

    def __init__(self, window: QWidget, jobs: Jobs) -> None:
        super().__init__(window)
        self._window, self._jobs = window, jobs
        self._job: Job | None = None
        self.progress: WorkProgress | None = None

    @property
    def busy(self) -> bool:
        """Whether work was begun and is not ended."""
        return self._job is not None

    def begin(
        self,
        title: str,
        promise: str,
        worker: Worker,
        work: Callable[..., object],
        *args: object,
        done: Callable[..., None],
        failed: Callable[..., None],
    ) -> None:
        """Open the dialog (see `WorkProgress`) and submit the work; ``done`` and ``failed`` call `end`."""
        self.progress = WorkProgress(self._window, title, promise, self._cancel)
        self.progress.open()
        self._job = self._jobs.submit(
            worker, work, *args, done=done, failed=failed, reported=self._on_progress, with_task=True
        )

    def end(self) -> None:
        """Close the dialog."""
        self._job = None
        if self.progress is not None:
            self.progress.done(0)
            self.progress = None

    def _cancel(self) -> None:
        if self._job is not None:
            self._job.cancel()

    @Slot(object)
    def _on_progress(self, progress: Progress) -> None:
        if self.progress is not None:
            self.progress.show_progress(progress)
