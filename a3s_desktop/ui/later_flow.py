"""Adding images, replacing features and locating a moved folder as conversations.

The project is closed meanwhile: the work needs it for itself. Afterwards it is opened again, changed or as it was.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Slot

from a3s_desktop.errors import A3SError, Cancelled
from a3s_desktop.i18n import tr, trn
from a3s_desktop.task import Task
from a3s_desktop.ui.bridge import Bridge, BridgePhase
from a3s_desktop.ui.dialogs import MessageDialog, show_error
from a3s_desktop.ui.engine_room import Opened
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.jobs import Job, Jobs, Worker
from a3s_desktop.ui.later_dialog import TITLES, Later, LaterDialog
from a3s_desktop.ui.main_window import MainWindow
from a3s_desktop.ui.replace_dialog import ReplaceDialog
from a3s_desktop.ui.shortcuts import Shortcuts
from a3s_desktop.ui.work_progress import ShownWork

if TYPE_CHECKING:
    from a3s_desktop.session.replacing import Replacing

log = logging.getLogger(__name__)

_ACTIONS = {"project.add": Later.ADD, "project.replace": Later.REPLACE, "project.locate": Later.LOCATE}


class LaterFlow(QObject):
    """Opens the dialogs on their actions and sees the work through; lives on the GUI thread.

    Parameters
    ----------
    window, bridge, jobs, loader, shortcuts
        Built by ``program.py``.
    """

    def __init__(
        self, window: MainWindow, bridge: Bridge, jobs: Jobs, loader: ImageLoader, shortcuts: Shortcuts
    ) -> None:
        super().__init__(window)
        self._window, self._bridge, self._jobs, self._shortcuts = window, bridge, jobs, shortcuts
        self._loader = loader
        self._folder = Path()
        self._check: Job | None = None
        self.work = ShownWork(window, jobs)
        self._outcome: tuple[Later, str] | None = None  # told once the project is open again
        self._replacing: Replacing | None = None
        self.dialog: LaterDialog | None = None
        shortcuts.action("project.add").triggered.connect(self.begin_add)
        shortcuts.action("project.replace").triggered.connect(self.begin_replace)
        shortcuts.action("project.locate").triggered.connect(self.begin_locate)
        bridge.phaseChanged.connect(self._update_actions)
        bridge.entered.connect(self._on_entered)
        self._update_actions()

    @Slot()
    def begin_add(self) -> None:
        """Ask which images."""
        self._begin(Later.ADD)

    @Slot()
    def begin_replace(self) -> None:
        """Ask which features."""
        self._begin(Later.REPLACE)

    @Slot()
    def begin_locate(self) -> None:
        """Ask where the images are."""
        self._begin(Later.LOCATE)

    # The form

    def _begin(self, what: Later) -> None:
        project = self._bridge.project
        if project is None or self.work.busy:
            return
        self._folder = project.folder
        parts = any("#xywh=" in path for path in project.items.paths[:1])
        self.dialog = LaterDialog(self._window, what, project.items.root, parts)
        self.dialog.changed.connect(self._on_changed)
        self.dialog.requested.connect(self._on_requested)
        self.dialog.finished.connect(self._on_dialog_closed)
        self.dialog.open()

    @Slot()
    def _on_changed(self) -> None:
        dialog = self.dialog
        if dialog is None:
            return
        self._drop_check()
        if dialog.what is Later.REPLACE:
            ready = bool(dialog.features.paths())
            dialog.show_check("" if ready else tr("Choose the features of all images of the project."), ready)
            return
        if dialog.folder.path() is None:
            dialog.show_check(tr("Choose a folder."), False)
            return
        self._check = self._jobs.submit(
            Worker.BACKGROUND, _check, self._folder, *self._given(dialog),
            done=self._on_checked, failed=self._on_check_failed, with_task=True,
        )  # fmt: skip

    @Slot(object)
    def _on_checked(self, result: tuple[str, bool]) -> None:
        self._check = None
        if self.dialog is not None:
            self.dialog.show_check(*result)

    @Slot(object)
    def _on_check_failed(self, error: BaseException) -> None:
        self._check = None
        if self.dialog is not None and isinstance(error, A3SError):
            self.dialog.show_check(f"{error.message} {error.hint}", False)

    @Slot(int)
    def _on_dialog_closed(self, _result: int) -> None:
        self._drop_check()
        self.dialog = None

    def _drop_check(self) -> None:
        if self._check is not None:
            self._check.drop()
            self._check = None

    def _given(self, dialog: LaterDialog) -> tuple[Later, Any]:
        from a3s_desktop.session.replacing import ReplaceSpec
        from a3s_desktop.storage.later_images import AddSpec

        folder = dialog.folder.path() or Path()
        if dialog.what is Later.LOCATE:
            return dialog.what, folder
        files, order = dialog.features.paths(), dialog.order.path()
        if dialog.what is Later.REPLACE:
            return dialog.what, ReplaceSpec(files, order)
        return dialog.what, AddSpec(folder, files, order, dialog.parts.path(), dialog.leave_out.isChecked())

    # The work

    @Slot()
    def _on_requested(self) -> None:
        if self.dialog is not None:
            what, given = self._given(self.dialog)
            works: dict[Later, Callable[..., Any]] = {Later.ADD: _add, Later.LOCATE: _locate, Later.REPLACE: _prepare}
            self._drop_check()
            self._bridge.close_project()
            self._run(what, works[what], self._folder, given)

    def _run(self, what: Later, work: Callable[..., Any], *args: Any) -> None:
        done: Any = {
            Later.ADD: self._on_added,
            Later.LOCATE: self._on_located,
            Later.REPLACE: self._on_prepared,
        }[what]
        self.work.begin(
            tr(TITLES[what]), tr("You can cancel at any time; the project then stays as it was."),
            Worker.ENGINE, work, *args,  # behind the closing of the project
            done=done, failed=self._on_failed,
        )  # fmt: skip

    @Slot(object)
    def _on_added(self, text: str) -> None:
        self._end((Later.ADD, text))

    @Slot(object)
    def _on_located(self, text: str) -> None:
        self._end((Later.LOCATE, text))

    @Slot(object)
    def _on_prepared(self, replacing: Replacing) -> None:
        self.work.end()
        self._replacing = replacing
        dialog = ReplaceDialog(replacing.report, replacing.items, self._loader, self._window)
        dialog.decided.connect(self._on_decided)
        dialog.open()

    @Slot(bool)
    def _on_decided(self, replace: bool) -> None:
        replacing, self._replacing = self._replacing, None
        if replacing is not None:
            self._jobs.submit(
                Worker.ENGINE, _decide, replacing, replace,
                done=self._on_replaced, failed=self._on_failed,
            )  # fmt: skip

    @Slot(object)
    def _on_replaced(self, text: str) -> None:
        self._end((Later.REPLACE, text) if text else None)

    @Slot(object)
    def _on_failed(self, error: BaseException) -> None:
        self._end(None)
        if isinstance(error, A3SError):
            show_error(self._window, error)
        elif not isinstance(error, Cancelled):
            log.error("The project could not be changed", exc_info=error)

    def _end(self, outcome: tuple[Later, str] | None) -> None:
        self.work.end()
        self._outcome = outcome
        self._bridge.open(self._folder)

    @Slot(object)
    def _on_entered(self, opened: Opened) -> None:
        outcome, self._outcome = self._outcome, None
        if outcome is not None and opened.folder == self._folder:
            titles = {
                Later.ADD: tr("Images added"), Later.REPLACE: tr("Features replaced"), Later.LOCATE: tr("Images found")
            }  # fmt: skip
            MessageDialog(self._window, titles[outcome[0]], outcome[1], symbol="info").open()

    @Slot()
    def _update_actions(self) -> None:
        state = self._bridge.state
        quiet = self._bridge.phase in (BridgePhase.ASKING, BridgePhase.FINISHED)
        for name in _ACTIONS:
            self._shortcuts.action(name).setEnabled(quiet and state is not None and not state.read_only)


# On the workers; the imports are late because they take time that the start of the window must not.


def _check(folder: Path, what: Later, given: Any, task: Task) -> tuple[str, bool]:
    """What a check found, in plain words, and whether one can go on."""
    if what is Later.LOCATE:
        from a3s_desktop.storage.relink import find_images
        from a3s_desktop.storage.workspace import open_workspace

        with open_workspace(folder, read_only=True) as workspace:
            return find_images(workspace, given, task).text(), True
    from a3s_desktop.session.adding import check_images

    report = check_images(folder, given, task)
    if report.errors:
        return " ".join(f"{error.message} {error.hint}" for error in report.errors), False
    parts = [trn("{n} new image was found.", "{n} new images were found.", len(report.paths))]
    if report.how == "sorted":
        row, path = report.pairs[0]
        last_row, last = report.pairs[-1]
        parts.append(
            tr(
                "Rows belong to images in the order of their names: row {row} to {path}, row {last_row} to {last}.",
                row=row,
                path=path,
                last_row=last_row,
                last=last,
            )
        )
    return " ".join((*parts, *report.warnings)), True


def _add(folder: Path, spec: Any, task: Task) -> str:
    from a3s_desktop.session.adding import add_images

    return add_images(folder, spec, task).text()


def _locate(folder: Path, images: Path, task: Task) -> str:
    from a3s_desktop.session.opening import locate_images

    return locate_images(folder, images, task).text()


def _prepare(folder: Path, spec: Any, task: Task) -> Replacing:
    from a3s_desktop.session.replacing import Replacing

    return Replacing(folder, spec, task)


def _decide(replacing: Replacing, replace: bool) -> str:
    with replacing:
        if not replace:
            return ""
        replacing.commit()
    return tr("The features were replaced. All answers stay in force.")
