"""Takes the making of projects to the background thread: the check of what the user chose, initialization, demos."""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal, Slot

from a3s_desktop.errors import A3SError, Cancelled, ProjectError
from a3s_desktop.i18n import tr
from a3s_desktop.task import Progress, Task
from a3s_desktop.ui.jobs import Job, Jobs, Worker

if TYPE_CHECKING:
    from a3s_desktop.storage.spec import ProjectSpec, SpecReport

log = logging.getLogger(__name__)


class Creator(QObject):
    """One check and one creation at a time; lives on the GUI thread.

    Signals
    -------
    checked(object, object)
        `ProjectSpec` and its `SpecReport`. Checks that were overtaken by another one tell nothing.
    checkFailed(object, object)
        `ProjectSpec` and the `A3SError` that kept the check, or the measuring after it, from being finished.
    estimated(object, object)
        `ProjectSpec` and its `Outlook`: how long describing its images will take. Follows a good check where images
        are to be described.
    progressed(object)
        `Progress` of the creation.
    created(object)
        Folder of the new project, complete.
    stopped(object)
        The creation ended without a project, nothing is left of it: `A3SError`, or None where the user stopped it.
    """

    checked = Signal(object, object)
    checkFailed = Signal(object, object)  # noqa: N815 - Qt's naming
    estimated = Signal(object, object)
    progressed = Signal(object)
    created = Signal(object)
    stopped = Signal(object)

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._check: Job | None = None
        self._checked_spec: ProjectSpec | None = None
        self._creation: Job | None = None

    @property
    def creating(self) -> bool:
        """Whether a project is being made."""
        return self._creation is not None

    @Slot(object)
    def check(self, spec: ProjectSpec) -> None:
        """Check a description in the background; an earlier check is given up."""
        self.cancel_check()
        self._checked_spec = spec
        self._check = self._jobs.submit(
            Worker.BACKGROUND, _check, spec, done=self._on_checked, failed=self._on_check_failed, with_task=True
        )

    @Slot()
    def cancel_check(self) -> None:
        """Give up the check that is running, if any."""
        if self._check is not None:
            self._check.drop()
            self._check = None

    @Slot(object)
    def create(self, spec: ProjectSpec) -> None:
        """Make the project and initialize it; ends in ``created`` or ``stopped``."""
        self._start(_create, spec)

    @Slot(str, object)
    def create_demo(self, name: str, folder: Path) -> None:
        """Write the demo's data and project below ``folder``, or find them there; ends like `create`."""
        self._start(_create_demo, name, folder)

    @Slot()
    def cancel(self) -> None:
        """Stop the creation; ``stopped`` follows once everything half-made is gone."""
        if self._creation is not None:
            self._creation.cancel()

    def _start(self, work: Callable[..., Path], *args: Any) -> None:
        if self._creation is not None:
            return
        self.cancel_check()
        self._creation = self._jobs.submit(
            Worker.BACKGROUND, work, *args,
            done=self._on_created, failed=self._on_failed, reported=self._on_progress, with_task=True,
        )  # fmt: skip

    @Slot(object)
    def _on_checked(self, report: SpecReport) -> None:
        self._check = None
        spec = self._checked_spec
        if report.ok and report.to_compute:
            self._check = self._jobs.submit(
                Worker.BACKGROUND, _measure, spec, report,
                done=self._on_measured, failed=self._on_check_failed, with_task=True,
            )  # fmt: skip
        self.checked.emit(spec, report)

    @Slot(object)
    def _on_measured(self, outlook: object) -> None:
        self._check = None
        self.estimated.emit(self._checked_spec, outlook)

    @Slot(object)
    def _on_check_failed(self, error: BaseException) -> None:
        self._check = None
        if isinstance(error, Cancelled):
            return
        if not isinstance(error, A3SError):
            log.error("A project could not be checked", exc_info=error)
            error = _unexpected(error)
        self.checkFailed.emit(self._checked_spec, error)

    @Slot(object)
    def _on_progress(self, progress: Progress) -> None:
        self.progressed.emit(progress)

    @Slot(object)
    def _on_created(self, folder: Path) -> None:
        self._creation = None
        self.created.emit(folder)

    @Slot(object)
    def _on_failed(self, error: BaseException) -> None:
        self._creation = None
        if not isinstance(error, (A3SError, Cancelled)):
            log.error("A project could not be made", exc_info=error)
            error = _unexpected(error)
        self.stopped.emit(error if isinstance(error, A3SError) else None)


# On the background thread; the imports are late because they take seconds that the start of the window must not.


def _check(spec: ProjectSpec, task: Task) -> object:
    from a3s_desktop.storage.spec import check_spec

    # Folders above the project's own that are missing will be made with it; whether that is possible is checked at
    # the highest of them, for the check itself writes nothing.
    try:
        os.lstat(spec.folder)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise ProjectError(
                tr("The project folder cannot be made: its path is too long for this system."),
                tr("Choose another place or a shorter name."),
            ) from error
    target = spec.folder
    while not os.path.exists(target.parent) and target.parent != target:
        target = target.parent
    return check_spec(replace(spec, folder=target), task)


def _measure(spec: ProjectSpec, report: SpecReport, task: Task) -> object:
    from a3s_desktop.storage.embedding_outlook import measure

    return measure(spec, report, task)


def _unexpected(error: BaseException) -> ProjectError:
    """An error of the program itself, as a sentence: better than a form that waits for ever."""
    return ProjectError(
        tr("Something unexpected happened ({error}).", error=f"{type(error).__name__}: {error}"[:200]),
        tr("Nothing was lost. The details are in the log file."),
    )


def _create(spec: ProjectSpec, task: Task) -> Path:
    from a3s_desktop.session.opening import create_project
    from a3s_desktop.storage.files import make_folders, remove_empty

    missing = [folder for folder in spec.folder.parents if not os.path.exists(folder)]
    make_folders(spec.folder.parent)
    try:
        create_project(spec, task).close()
    except BaseException:
        for folder in missing:  # innermost first; one that is not empty stays
            remove_empty(folder)
        raise
    return spec.folder


def _create_demo(name: str, folder: Path, task: Task) -> Path:
    from a3s_desktop.demo.project import demo_project

    return demo_project(name, folder, task)
