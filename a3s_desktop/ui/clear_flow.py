"""Clears what is kept about the user's work, off the GUI thread, while the program goes on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from a3s_desktop.errors import A3SError
from a3s_desktop.settings import SettingsStore
from a3s_desktop.storage import clearing
from a3s_desktop.storage.clearing import Cleared, Hoard, Kind
from a3s_desktop.storage.places import Places
from a3s_desktop.storage.thumbnails import ThumbnailStore
from a3s_desktop.ui.bridge import Bridge
from a3s_desktop.ui.clear_dialog import ClearDialog
from a3s_desktop.ui.dialogs import show_error
from a3s_desktop.ui.jobs import Jobs, Worker
from a3s_desktop.ui.main_window import MainWindow
from a3s_desktop.ui.shortcuts import Shortcuts


@dataclass(frozen=True, slots=True)
class _Work:
    """What the background thread is told; it must not look at anything of the window."""

    kinds: tuple[Kind, ...]
    places: Places
    copies: ThumbnailStore | None
    project: Path | None  # open for writing here

    def clear(self) -> tuple[Cleared, ...]:
        return tuple(self._one(kind) for kind in self.kinds)

    def _one(self, kind: Kind) -> Cleared:
        try:
            if kind is Kind.THUMBNAILS:
                return clearing.clear_thumbnails(self.places.thumbnails, self.copies)
            if kind is Kind.LOGS:
                return clearing.clear_logs(self.places.logs)
            if kind is Kind.DEMOS:
                return clearing.clear_demos(self.places.demos)
            if kind is Kind.PROJECT and self.project is not None:
                return clearing.clear_project(self.project, ours=True)
            return clearing.clear_notes(self.places)
        except A3SError as error:
            return Cleared(kind, 0, error.message)

    def look(self) -> tuple[Hoard, ...]:
        return clearing.look(self.places, self.project)


class ClearFlow(QObject):
    """Opens on its action.

    Parameters
    ----------
    window, bridge, jobs, shortcuts, settings
        Built by ``program.py``.
    places : Places
    copies : ThumbnailStore or None
        The one that the window's images use.

    Signals
    -------
    recentForgotten()
        The list of recent projects is empty now.
    """

    recentForgotten = Signal()  # noqa: N815 - Qt's naming

    def __init__(
        self,
        window: MainWindow,
        bridge: Bridge,
        jobs: Jobs,
        shortcuts: Shortcuts,
        settings: SettingsStore,
        places: Places,
        copies: ThumbnailStore | None,
    ) -> None:
        super().__init__(window)
        self._window, self._bridge, self._jobs, self._settings = window, bridge, jobs, settings
        self._places, self._copies = places, copies
        self._dialog: ClearDialog | None = None
        shortcuts.action("settings.clear").triggered.connect(self.begin)

    @Slot()
    def begin(self) -> None:
        """Show what there is."""
        if self._dialog is not None:
            return
        self._dialog = ClearDialog(self._window)
        self._dialog.wanted.connect(self._on_wanted)
        self._dialog.destroyed.connect(self._on_gone)
        self._dialog.open()
        self._look()

    def _look(self) -> None:
        self._jobs.submit(Worker.BACKGROUND, self._work().look, done=self._on_look, failed=self._on_failed)

    def _work(self, kinds: tuple[Kind, ...] = ()) -> _Work:
        project, state = self._bridge.project, self._bridge.state
        writing = project is not None and state is not None and not state.read_only
        return _Work(kinds, self._places, self._copies, project.folder if writing and project is not None else None)

    @Slot(object)
    def _on_look(self, hoards: tuple[Hoard, ...]) -> None:
        if self._dialog is not None:
            self._dialog.show_hoards(hoards, len(self._settings.value.recent))

    @Slot(object)
    def _on_wanted(self, kinds: tuple[Kind, ...]) -> None:
        if self._dialog is not None:
            self._dialog.show_busy()
        if Kind.RECENT in kinds:
            self._settings.replace(self._settings.value.without_places())
            self.recentForgotten.emit()
        self._jobs.submit(Worker.BACKGROUND, self._work(kinds).clear, done=self._on_done, failed=self._on_failed)

    @Slot(object)
    def _on_done(self, done: tuple[Cleared, ...]) -> None:
        if self._dialog is not None:
            self._dialog.show_done(done)
            self._look()

    @Slot(object)
    def _on_failed(self, error: BaseException) -> None:
        if self._dialog is not None:
            self._dialog.close()
        if isinstance(error, A3SError):
            show_error(self._window, error)

    @Slot()
    def _on_gone(self) -> None:
        self._dialog = None
