"""Export as a conversation: what and where to, the writing in the background, and where it went."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QObject, QStandardPaths, QTimer, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QPushButton

from a3s_desktop.errors import A3SError, Cancelled
from a3s_desktop.i18n import tr, trn
from a3s_desktop.settings import SettingsStore
from a3s_desktop.storage.exports.folders import left_out_text
from a3s_desktop.storage.exports.formats import write_export
from a3s_desktop.storage.exports.state import ExportState, TargetExistsError, Written
from a3s_desktop.task import Task
from a3s_desktop.ui.bridge import Bridge
from a3s_desktop.ui.dialogs import ask, show_error
from a3s_desktop.ui.engine_room import Reading
from a3s_desktop.ui.export_dialog import ExportDialog, ExportProgress, ExportRequest
from a3s_desktop.ui.jobs import Job, Jobs, Worker
from a3s_desktop.ui.main_window import MainWindow
from a3s_desktop.ui.shortcuts import Shortcuts
from a3s_desktop.ui.theme import set_role

_PATIENCE_MS = 600  # an export that is done by then needs no progress
_REMARK_MS = 15_000


class ExportFlow(QObject):
    """Opens the export dialog on its action and sees the export through.

    The engine thread only takes the picture of what is exported; the background worker writes it.

    Parameters
    ----------
    window, bridge, jobs, shortcuts, settings
        Built by ``program.py``.

    Signals
    -------
    exported(object)
        Path of what was written.
    """

    exported = Signal(object)

    def __init__(
        self, window: MainWindow, bridge: Bridge, jobs: Jobs, shortcuts: Shortcuts, settings: SettingsStore
    ) -> None:
        super().__init__(window)
        self._window, self._bridge, self._jobs, self._settings = window, bridge, jobs, settings
        self._request: ExportRequest | None = None  # being written, or waits for "replace?"
        self._job: Job | None = None
        self._written: Path | None = None
        self._open_folder = QDesktopServices.openUrl
        self.progress = ExportProgress(window)
        self.progress.cancelled.connect(self._cancel)
        self.progress.showWanted.connect(self.show_in_folder)
        self._patience = QTimer(self, singleShot=True, interval=_PATIENCE_MS)
        self._patience.timeout.connect(self._show_progress)
        self._remark = QTimer(self, singleShot=True, interval=_REMARK_MS)
        self.show_button = QPushButton(tr("Show in folder"))
        set_role(self.show_button, kind="quiet")
        self.show_button.clicked.connect(self.show_in_folder)
        self.show_button.hide()
        self._remark.timeout.connect(self.show_button.hide)
        window.statusBar().addPermanentWidget(self.show_button)
        self._action = shortcuts.action("project.export")
        self._action.triggered.connect(self.begin)
        self._show_action = shortcuts.action("project.show_export")
        self._show_action.triggered.connect(self.show_in_folder)
        self._show_action.setEnabled(False)
        bridge.closed.connect(self._on_closed)

    @Slot()
    def begin(self) -> None:
        """Ask what and where to."""
        project, state = self._bridge.project, self._bridge.state
        if project is None or state is None:
            return
        if self._job is not None:
            self._show_progress()
            return
        documents = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
        places = (self._settings.value.last_folder, documents)
        folder = next((Path(place) for place in places if place and Path(place).is_dir()), Path.home())
        summary = tr(
            "{images} in {clusters} and {singles}, after {answers}.",
            images=trn("{n} image", "{n} images", state.items),
            clusters=trn("{n} cluster", "{n} clusters", state.clusters),
            singles=trn("{n} single image", "{n} single images", state.singletons),
            answers=trn("{n} answer", "{n} answers", state.answers),
        )
        dialog = ExportDialog(self._window, project.name, folder, summary, project.items.root)
        dialog.requested.connect(self.start)
        dialog.open()

    @Slot(object)
    def start(self, request: ExportRequest) -> None:
        """Write what was chosen."""
        if self._job is None and self._bridge.project is not None:
            self._request = request
            self.progress.begin(tr("Writing {name}…", name=request.out.name))
            self._patience.start()
            self._bridge.read(Reading.EXPORT, done=self._on_state)

    @Slot()
    def show_in_folder(self) -> None:
        """Open the folder that holds what was written last."""
        if self._written is not None:
            folder = self._written if self._written.is_dir() else self._written.parent
            self._open_folder(QUrl.fromLocalFile(str(folder)))

    # Inner workings

    @Slot(object)
    def _on_state(self, state: ExportState) -> None:
        request = self._request
        if request is None or self._job is not None:
            return
        self._job = self._jobs.submit(
            Worker.BACKGROUND, _write, request, state,
            done=self._on_written, failed=self._on_failed, reported=self.progress.show_progress, with_task=True,
        )  # fmt: skip

    @Slot()
    def _show_progress(self) -> None:
        self.progress.show()
        self.progress.raise_()

    @Slot()
    def _cancel(self) -> None:
        if self._job is not None:
            self._job.cancel()
        else:
            self._end()

    def _end(self) -> None:
        self._job = self._request = None
        self._patience.stop()

    @Slot(object)
    def _on_written(self, written: Written) -> None:
        self._end()
        self._settings.change(last_folder=str(written.path.parent))
        self._written = written.path
        self._show_action.setEnabled(True)
        message = tr("Exported to {path}", path=written.path)
        if self.progress.isVisible() or written.left_out:
            self.progress.finish(tr("Exported"), left_out_text(written) or str(written.path), written.left_out)
            self.progress.show()
        else:
            self.progress.stop()
        self._window.say(message, _REMARK_MS)
        self.show_button.show()
        self._remark.start()
        self.exported.emit(written.path)

    @Slot(object)
    def _on_failed(self, error: BaseException) -> None:
        request = self._request
        self._end()
        self.progress.stop()
        if isinstance(error, TargetExistsError) and request is not None:
            self._ask(request, error)
        elif isinstance(error, A3SError):
            show_error(self._window, error, tr("Export"))
        elif isinstance(error, Cancelled):
            self._window.say(tr("Export stopped; nothing of it was kept."))

    def _ask(self, request: ExportRequest, error: TargetExistsError) -> None:
        if error.names:  # side-cars
            names = ", ".join(error.names[:3]) + ("…" if len(error.names) > 3 else "")
            question, yes = error.message, tr("Add the names")
            hint = tr("{names}. Add the names to them? All else in them stays.", names=names)
        elif os.path.isdir(request.out) or request.format == "folders":
            show_error(self._window, error, tr("Export"))
            return
        else:
            question, yes = tr("{name} exists already.", name=request.out.name), tr("Replace")
            hint = tr("It is in {folder}. Replace it?", folder=request.out.parent)
        self._request = request
        dialog = ask(
            self._window, tr("Export"), question, hint,
            (("close", tr("Keep it") if not error.names else tr("Leave them")), ("replace", yes)), "close",
            symbol="warning",
        )  # fmt: skip
        dialog.chosen.connect(self._on_choice)

    @Slot(str)
    def _on_choice(self, choice: str) -> None:
        request, self._request = self._request, None
        if choice == "replace" and request is not None:
            self.start(request.agreed())

    @Slot()
    def _on_closed(self) -> None:
        # An export that runs has all that it needs; one whose picture was not taken yet has lost its project.
        if self._job is None:
            self._end()
            self.progress.stop()


def _write(request: ExportRequest, state: ExportState, task: Task) -> Written:
    return write_export(request.format, state, request.out, request.overwrite, request.options, task)
