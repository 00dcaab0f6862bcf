"""Takes the making of projects to the background thread: the check of what the user chose, initialization, demos."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal, Slot

from a3s_desktop.errors import A3SError, Cancelled
from a3s_desktop.task import Progress, Task
from a3s_desktop.ui.jobs import Job, Jobs, Worker

if TYPE_CHECKING:
    from a3s_desktop.storage.spec import ProjectSpec

log = logging.getLogger(__name__)


class Creator(QObject):
    """One check and one creation at a time; lives on the GUI thread.

    Signals
    -------
    checked(object, object)
        `ProjectSpec` and its `SpecReport`. Checks that were overtaken by another one tell nothing.
    checkFailed(object, object)
        `ProjectSpec` and the `A3SError` that kept the check from being finished.
    progressed(object)
        `Progress` of the creation.
    created(object)
        Folder of the new project, complete.
    stopped(object)
        The creation ended without a project, nothing is left of it: `A3SError`, or None where the user stopped it.
    """

    checked = Signal(object, object)
    checkFailed = Signal(object, object)  # noqa: N815 - Qt's naming
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
    def _on_checked(self, report: object) -> None:
        self._check = None
        self.checked.emit(self._checked_spec, report)

    @Slot(object)
    def _on_check_failed(self, error: BaseException) -> None:
        self._check = None
        if isinstance(error, A3SError):
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
        known = isinstance(error, A3SError)
        if not known and not isinstance(error, Cancelled):
            log.error("A project could not be made", exc_info=error)
        self.stopped.emit(error if known else None)


# On the background thread; the imports are late because they take seconds that the start of the window must not.


def _check(spec: ProjectSpec, task: Task) -> object:
    from a3s_desktop.storage.spec import check_spec

    # Folders above the project's own that are missing will be made with it; whether that is possible is checked at
    # the highest of them, for the check itself writes nothing.
    target = spec.folder
    while not target.parent.exists() and target.parent != target:
        target = target.parent
    return check_spec(replace(spec, folder=target), task)


def _create(spec: ProjectSpec, task: Task) -> Path:
    from a3s_desktop.session.opening import create_project
    from a3s_desktop.storage.files import write_failed

    try:
        spec.folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise write_failed(spec.folder.parent, error) from error
    create_project(spec, task).close()
    return spec.folder


def _create_demo(name: str, folder: Path, task: Task) -> Path:
    from a3s_desktop.demo.project import demo_project

    return demo_project(name, folder, task)
