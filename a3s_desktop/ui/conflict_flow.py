"""Copies that a sync tool left of the project: offered to be merged when it is opened, one after the other."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from a3s_desktop.errors import A3SError
from a3s_desktop.i18n import tr
from a3s_desktop.session.state import Change, ChangeKind, SessionState
from a3s_desktop.ui.bridge import Bridge
from a3s_desktop.ui.dialogs import MessageDialog, show_error
from a3s_desktop.ui.engine_room import Opened, Reading
from a3s_desktop.ui.jobs import Jobs, Worker
from a3s_desktop.ui.main_window import MainWindow

if TYPE_CHECKING:
    from a3s_desktop.session.conflict_copies import ConflictCopy


class ConflictFlow(QObject):
    """See the module.

    Parameters
    ----------
    window, bridge, jobs
        Of the program.

    Attributes
    ----------
    dialog : MessageDialog or None
        The question that is open.
    """

    def __init__(self, window: MainWindow, bridge: Bridge, jobs: Jobs) -> None:
        super().__init__(window)
        self._window, self._bridge, self._jobs = window, bridge, jobs
        self.dialog: MessageDialog | None = None
        self._later: list[Path] = []
        self._merging: ConflictCopy | None = None
        bridge.opened.connect(self._on_opened)
        bridge.stateChanged.connect(self._on_state)
        bridge.failed.connect(self._on_failed)
        bridge.closed.connect(self._on_closed)

    @Slot(object)
    def _on_opened(self, opened: Opened) -> None:
        self._later = []
        if not opened.state.read_only:
            self._look()

    def _look(self) -> None:
        self._bridge.read(Reading.CONFLICT_COPY, tuple(self._later), done=self._on_found)

    @Slot(object)
    def _on_found(self, copy: ConflictCopy | None) -> None:
        merging, self._merging = self._merging, None
        if copy is None or self.dialog is not None:
            return
        if merging is not None and merging.path == copy.path and copy.plan is not None and copy.plan.empty:
            self._set_aside(copy)
            return
        from a3s_desktop.session.merge_words import plan_texts

        buttons = [("close", tr("Later"))]
        if copy.plan is None:
            buttons.append(("apart", tr("Keep apart")))
            hint = copy.problem
        elif copy.plan.empty:
            buttons.append(("aside", tr("Move it aside")))
            hint = tr("It is renamed, not deleted, and not asked about again.")
        else:
            buttons += [("apart", tr("Keep apart")), ("merge", tr("Merge them"))]
            hint = " ".join(plan_texts(copy.plan)) + "\n\n"
            hint += tr(
                "A backup is made first, undo takes the merge back in one step, and the copy is renamed, not deleted. "
                "Kept apart, it stays as it is and is not asked about again."
            )
        self.dialog = MessageDialog(
            self._window, tr("Changes made on two computers"), copy.text(), hint,
            symbol="info" if copy.plan is not None else "warning", buttons=tuple(buttons), primary=buttons[-1][0],
            details=f"{copy.path}\n{copy.text()}\n{hint}",
        )  # fmt: skip
        self.dialog.chosen.connect(partial(self._on_choice, copy))
        self.dialog.open()

    def _on_choice(self, copy: ConflictCopy, choice: str) -> None:
        self.dialog = None
        if choice == "merge" and copy.plan is not None and self._bridge.can_correct:
            self._merging = copy
            self._bridge.merge(copy.plan)
        elif choice == "aside":
            self._set_aside(copy)
        elif choice == "apart":
            self._keep_apart(copy)
        else:
            self._put_off(copy)

    @Slot(object, object)
    def _on_state(self, _state: SessionState, change: Change) -> None:
        if self._merging is not None and change.kind is ChangeKind.MERGE:
            self._look()  # all of it is here now, or it stays where it is

    def _set_aside(self, copy: ConflictCopy) -> None:
        from a3s_desktop.storage.conflicts import set_aside

        self._later.append(copy.path)  # whatever comes of it, it is not asked about twice
        self._jobs.submit(
            Worker.BACKGROUND, set_aside, copy.project, copy.path, done=self._on_aside, failed=self._on_not_aside
        )

    def _keep_apart(self, copy: ConflictCopy) -> None:
        from a3s_desktop.storage.conflicts import keep_apart

        self._later.append(copy.path)
        self._jobs.submit(
            Worker.BACKGROUND, keep_apart, copy.project, copy.path, done=self._on_apart, failed=self._on_not_aside
        )

    def _put_off(self, copy: ConflictCopy) -> None:
        self._later.append(copy.path)
        self._look()

    @Slot(object)
    def _on_aside(self, place: Path) -> None:
        self._window.say(tr("The copy is called {name} now.", name=place.name), 15000)
        self._look()

    @Slot(object)
    def _on_apart(self, _nothing: object) -> None:
        self._look()

    @Slot(object)
    def _on_not_aside(self, error: BaseException) -> None:
        if isinstance(error, A3SError):
            show_error(self._window, error)

    @Slot(object)
    def _on_failed(self, _error: object) -> None:
        self._merging = None  # nothing was merged, and the copy stays what it is

    @Slot()
    def _on_closed(self) -> None:
        self._merging = None
        if self.dialog is not None:
            dialog, self.dialog = self.dialog, None
            dialog.chosen.disconnect()
            dialog.close()
