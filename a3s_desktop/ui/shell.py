"""What happens when: which page is shown, which actions are live, which dialog answers which failure."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtWidgets import QFileDialog, QWidget

from a3s_desktop.errors import A3SError, ContradictionError, KnownApartError, NameTakenError, ProjectLockedError
from a3s_desktop.i18n import mark, tr, trn
from a3s_desktop.session.state import Change, ChangeKind, SessionState
from a3s_desktop.settings import SettingsStore
from a3s_desktop.storage.spec import ProjectSpec
from a3s_desktop.ui.bridge import Bridge, BridgePhase
from a3s_desktop.ui.creator import Creator
from a3s_desktop.ui.dialogs import AboutDialog, MessageDialog, ask, show_error
from a3s_desktop.ui.engine_room import Opened
from a3s_desktop.ui.jobs import Jobs, Worker
from a3s_desktop.ui.locked_flow import LockedFlow
from a3s_desktop.ui.main_window import MainWindow
from a3s_desktop.ui.new_project import NewProjectPage
from a3s_desktop.ui.plain import no_key
from a3s_desktop.ui.progress_page import ProgressPage
from a3s_desktop.ui.recent import ProjectCard, blank_card, probe_project
from a3s_desktop.ui.repair_flow import RepairFlow
from a3s_desktop.ui.shortcuts import Shortcuts
from a3s_desktop.ui.start_page import StartPage

log = logging.getLogger(__name__)

_PATIENCE = 400  # ms that opening may take before the progress page is shown
_BUSY_AFTER = 300  # ms of work before the status line says so
DEMO_NAMES = {"ladybirds": mark("Ladybirds"), "digits": mark("Handwritten digits")}


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of the window's stack."""

    start: StartPage
    new: NewProjectPage
    progress: ProgressPage
    label: QWidget


class Shell(QObject):
    """Ties window, pages and bridge together; lives on the GUI thread and never touches the disk itself.

    Parameters
    ----------
    window, pages, bridge, creator, jobs, shortcuts, settings
        Built by ``app.py``.
    demo_folder : Path
        Where the demos' images and projects are kept.
    """

    def __init__(
        self,
        window: MainWindow,
        pages: Pages,
        bridge: Bridge,
        creator: Creator,
        jobs: Jobs,
        shortcuts: Shortcuts,
        settings: SettingsStore,
        demo_folder: Path,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._pages = pages
        self._bridge = bridge
        self._creator = creator
        self._jobs = jobs
        self._shortcuts = shortcuts
        self._settings = settings
        self._demo_folder = demo_folder
        self._return_to: QWidget = pages.start  # where a creation that is stopped goes back to
        self._leaving = False
        self._locked = LockedFlow(window, self.open_project)
        self.repairs = RepairFlow(window, bridge, jobs, shortcuts, self.open_project, self._forget)
        self._patience = self._timer(_PATIENCE, self._show_opening)
        self._busy_timer = self._timer(_BUSY_AFTER, self._show_busy)
        window.may_close = self._may_close
        self._connect_actions()
        self._connect_objects()
        self.show_start()

    # Pages

    @Slot()
    def show_start(self) -> None:
        """The start page, with what is known of the recent projects; the rest is found out in the background."""
        recent = [Path(folder) for folder in self._settings.value.recent]
        self._pages.start.set_cards([blank_card(folder) for folder in recent])
        for folder in recent:
            self._jobs.submit(
                Worker.BACKGROUND, probe_project, folder, done=self._on_card, failed=self._ignore, with_task=True
            )
        self._window.show_project("")
        self._window.show_page(self._pages.start)
        self._update_actions()

    @Slot()
    def refresh_start(self) -> None:
        """The start page anew, if it is shown."""
        if self._window.pages.currentWidget() is self._pages.start:
            self.show_start()

    @Slot()
    def show_new(self) -> None:
        """An empty form for a new project."""
        if self._creator.creating:
            return
        self._bridge.close_project()
        self._pages.new.reset()
        self._window.show_project("")
        self._window.show_page(self._pages.new)
        self._update_actions()

    @Slot(object, bool)
    def open_project(self, folder: Path, read_only: bool = False, take_over: bool = False) -> None:
        """Open a project; a page with progress appears if that takes long."""
        if self._creator.creating:
            return
        self._pages.progress.begin(tr("Opening {name}", name=folder.name))
        self._patience.start()
        self._bridge.open(folder, read_only, take_over)
        self._update_actions()

    @Slot(str)
    def open_demo(self, name: str = "ladybirds") -> None:
        """Make a demo, if it is not there yet, and open it."""
        if self._creator.creating:
            return
        self._bridge.close_project()
        self._begin(
            tr("Demo: {name}", name=tr(DEMO_NAMES.get(name, name))),
            tr("The pictures and their embeddings are made once, then the first clusters are computed."),
            self._pages.start,
        )
        self._creator.create_demo(name, self._demo_folder)

    def _begin(self, title: str, explanation: str, return_to: QWidget) -> None:
        self._return_to = return_to
        self._pages.progress.begin(title, explanation)
        self._window.show_page(self._pages.progress)
        self._update_actions()

    # Actions

    def _connect_actions(self) -> None:
        slots: dict[str, Callable[..., None]] = {
            "project.new": self.show_new,
            "project.open": self._choose_project,
            "project.demo": self._open_default_demo,
            "project.close": self._close_project,
            "app.quit": self._quit,
            "edit.undo": self._bridge.undo,
            "edit.redo": self._bridge.redo,
            "window.fullscreen": self._set_fullscreen,
            "help.about": self._about,
        }
        for name, slot in slots.items():
            self._shortcuts.action(name).triggered.connect(slot)

    def _connect_objects(self) -> None:
        bridge, creator, pages = self._bridge, self._creator, self._pages
        bridge.opened.connect(self._on_opened)
        bridge.entered.connect(self._on_entered)
        bridge.openFailed.connect(self._on_open_failed)
        bridge.stateChanged.connect(self._on_state_changed)
        bridge.phaseChanged.connect(self._on_phase_changed)
        bridge.busyChanged.connect(self._on_busy_changed)
        bridge.progress.connect(pages.progress.show_progress)
        bridge.failed.connect(self._on_failed)
        bridge.problem.connect(self._on_failed)
        bridge.closed.connect(self._on_closed)
        creator.progressed.connect(pages.progress.show_progress)
        creator.created.connect(self._on_created)
        creator.stopped.connect(self._on_stopped)
        pages.progress.cancelRequested.connect(self._on_cancel)
        pages.start.projectChosen.connect(self.open_project)
        pages.start.forgetRequested.connect(self._forget)
        pages.start.backupsRequested.connect(self.repairs.backups.show_of)
        pages.start.demoRequested.connect(self.open_demo)
        pages.new.backRequested.connect(self.show_start)
        pages.new.createRequested.connect(self._on_create)

    @Slot()
    def _update_actions(self) -> None:
        # Answers and what concerns the images are the pair page's.
        state = self._bridge.state
        working = self._window.working
        action = self._shortcuts.action
        quiet = self._bridge.phase in (BridgePhase.ASKING, BridgePhase.FINISHED)
        idle = working and quiet and state is not None and not state.read_only
        action("edit.undo").setEnabled(idle and state is not None and state.can_undo)
        action("edit.redo").setEnabled(idle and state is not None and state.can_redo)
        action("edit.undo").setText(
            tr("Undo {action}", action=no_key(state.undo_text)).rstrip() if state is not None else tr("Undo")
        )
        action("edit.redo").setText(
            tr("Redo {action}", action=no_key(state.redo_text)).rstrip() if state is not None else tr("Redo")
        )
        for name in ("project.export", "project.close"):
            action(name).setEnabled(working)
        action("project.labels").setEnabled(idle)
        making = self._creator.creating
        for name in ("project.new", "project.open", "project.demo"):
            action(name).setEnabled(not making)
        action("view.legend").setEnabled(working)

    @Slot()
    def _choose_project(self) -> None:
        dialog = QFileDialog(self._window, tr("Open project"), self._settings.value.last_folder)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.fileSelected.connect(self._on_project_chosen)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    @Slot(str)
    def _on_project_chosen(self, folder: str) -> None:
        self._settings.change(last_folder=str(Path(folder).parent))
        self.open_project(Path(folder))

    @Slot()
    def _open_default_demo(self) -> None:
        self.open_demo("ladybirds")

    @Slot()
    def _close_project(self) -> None:
        self._bridge.close_project()

    @Slot()
    def _quit(self) -> None:
        self._window.close()

    @Slot(bool)
    def _set_fullscreen(self, on: bool) -> None:
        if on:
            self._window.showFullScreen()
        else:
            self._window.showNormal()

    @Slot()
    def _about(self) -> None:
        AboutDialog(self._window).open()

    # Making a project

    @Slot(object)
    def _on_create(self, spec: ProjectSpec) -> None:
        self._begin(
            tr("Making {name}", name=spec.name),
            tr(
                "This is done once. You can cancel at any time: images that were described already are not described "
                "again when you start anew."
            )
            if spec.embedding is not None
            else tr("This is done once. You can cancel at any time; nothing half-made is left behind."),
            self._pages.new,
        )
        self._creator.create(spec)
        self._update_actions()

    @Slot(object)
    def _on_created(self, folder: Path) -> None:
        if self._leaving:
            self._window.close()
            return
        self._bridge.open(folder, False)
        self._pages.progress.cancel_button.setEnabled(False)

    @Slot(object)
    def _on_stopped(self, error: A3SError | None) -> None:
        if self._leaving:
            self._window.close()
            return
        self._window.show_page(self._return_to)
        self._update_actions()
        if self._return_to is self._pages.new:
            self._pages.new.check_again()
        if error is not None:
            show_error(self._window, error)

    @Slot()
    def _on_cancel(self) -> None:
        if self._creator.creating:
            self._creator.cancel()
        else:
            self._bridge.cancel_open()

    # The open project

    @Slot(object)
    def _on_opened(self, opened: Opened) -> None:
        self._patience.stop()
        self._settings.replace(self._settings.value.with_recent(opened.folder))
        self._window.show_project(opened.name, opened.state.read_only)
        for warning in opened.warnings:
            log.warning("%s: %s", opened.name, warning)

    @Slot(object)
    def _on_entered(self, opened: Opened) -> None:
        self._window.show_page(self._pages.label, working=True)
        self._update_actions()
        if opened.recovered:
            dialog = MessageDialog(
                self._window, "A3S Desktop", tr("The project was damaged and has been repaired."), opened.recovered,
                details=opened.recovered,
            )  # fmt: skip
            dialog.open()
        elif opened.warnings:
            self._window.say(opened.warnings[0], 15000)

    @Slot(object, object)
    def _on_open_failed(self, error: A3SError, folder: Path | None) -> None:
        self._patience.stop()
        self.show_start()
        if folder is None:
            return
        if isinstance(error, ProjectLockedError):
            self._locked.offer(folder, error)
        else:
            self.repairs.offer_for_broken(folder, error, str(folder) in self._settings.value.recent)

    @Slot(object)
    def _forget(self, folder: Path) -> None:
        self._settings.replace(self._settings.value.without_recent(folder))
        self.show_start()

    @Slot(object, object)
    def _on_state_changed(self, _state: SessionState, change: Change) -> None:
        self._update_actions()
        if change.kind is not ChangeKind.OPENED:
            moved = len(change.moved)
            effect = trn("{n} image moved", "{n} images moved", moved) if moved else ""
            self._window.say(" – ".join(part for part in (change.text, effect) if part))

    @Slot(str)
    def _on_phase_changed(self, phase: str) -> None:
        self._update_actions()
        self._window.show_saved(tr("Saving…") if phase == BridgePhase.STORING else tr("All answers saved"))

    @Slot(bool)
    def _on_busy_changed(self, busy: bool) -> None:
        if busy:
            self._busy_timer.start()
        else:
            self._busy_timer.stop()
            self._window.busy_label.hide()

    @Slot(object)
    def _on_failed(self, error: A3SError) -> None:
        # Shown as pictures (``contradiction_flow``), as a proposal (``corrections``), as a question (``labels_flow``).
        if not isinstance(error, ContradictionError | NameTakenError | KnownApartError):
            show_error(self._window, error)

    @Slot()
    def _on_closed(self) -> None:
        if self._bridge.phase is BridgePhase.CLOSED and self._window.working:
            self.show_start()

    @Slot(object)
    def _on_card(self, card: ProjectCard) -> None:
        self._pages.start.update_card(card)

    @Slot(object)
    def _ignore(self, _error: BaseException) -> None:
        """A card that stays blank."""

    # Leaving, waiting, failing

    def _may_close(self) -> bool:
        if not self._creator.creating or self._leaving:
            # While a creation is being stopped the window is closed for good by `_on_stopped`.
            return not self._creator.creating
        dialog = ask(
            self._window, tr("Quit"), tr("The project is still being made."),
            tr("If you quit now, nothing of it is kept and nothing half-made is left."),
            (("close", tr("Go on")), ("quit", tr("Stop and quit"))), "close", symbol="warning",
        )  # fmt: skip
        dialog.chosen.connect(self._on_quit_choice)
        return False

    @Slot(str)
    def _on_quit_choice(self, choice: str) -> None:
        if choice != "quit":
            return
        if self._creator.creating:
            self._leaving = True
            self._pages.progress.cancel()
        else:
            self._window.close()

    @Slot()
    def _show_opening(self) -> None:
        if self._bridge.phase is BridgePhase.OPENING:
            self._window.show_page(self._pages.progress)

    @Slot()
    def _show_busy(self) -> None:
        self._window.busy_label.show()

    def _timer(self, milliseconds: int, slot: Callable[[], None]) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(milliseconds)
        timer.timeout.connect(slot)
        return timer
