"""The work of another annotator: from the choice of a copy over what it would do to the last decision."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QFileDialog

from a3s_desktop.i18n import tr
from a3s_desktop.session.disagreements import About, Disagreement
from a3s_desktop.session.merging import MergePlan
from a3s_desktop.session.operations import Merge, Rename
from a3s_desktop.session.state import Change, ChangeKind, SessionState
from a3s_desktop.settings import SettingsStore
from a3s_desktop.ui.bridge import Bridge
from a3s_desktop.ui.contradiction_chain import ChainLink
from a3s_desktop.ui.disagreement_dialog import DisagreementDialog
from a3s_desktop.ui.engine_room import Reading
from a3s_desktop.ui.fetch import Fetch
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.main_window import MainWindow
from a3s_desktop.ui.merge_dialog import AnnotatorDialog, MergeDialog
from a3s_desktop.ui.shortcuts import Shortcuts


class MergeFlow(QObject):
    """See the module.

    Parameters
    ----------
    window, bridge, loader, shortcuts, settings
        Of the program.

    Attributes
    ----------
    plan_dialog : MergeDialog or None
    dialog : DisagreementDialog or None
        Those that are open.
    """

    def __init__(
        self, window: MainWindow, bridge: Bridge, loader: ImageLoader, shortcuts: Shortcuts, settings: SettingsStore
    ) -> None:
        super().__init__(window)
        self._window, self._bridge, self._loader, self._settings = window, bridge, loader, settings
        self.plan_dialog: MergeDialog | None = None
        self.dialog: DisagreementDialog | None = None
        self._foretold: tuple[int, ...] = ()
        self._merge, self._decide = shortcuts.action("project.merge"), shortcuts.action("project.disagreements")
        self._merge.triggered.connect(self.choose)
        self._decide.triggered.connect(self.show_disagreements)
        shortcuts.action("settings.annotator").triggered.connect(self.ask_name)
        self._moved = Fetch(bridge, Reading.MOVED_BY, self)
        self._moved.came.connect(self._on_moved)
        bridge.set_author(settings.value.annotator)
        bridge.stateChanged.connect(self._on_state)
        bridge.phaseChanged.connect(self._update_actions)
        bridge.failed.connect(self._on_failed)
        bridge.closed.connect(self._on_closed)
        self._update_actions()

    # The annotator's name

    @Slot()
    def ask_name(self) -> None:
        """Who gives the answers?"""
        dialog = AnnotatorDialog(self._settings.value.annotator, self._window)
        dialog.named.connect(self._on_named)
        dialog.open()

    @Slot(str)
    def _on_named(self, name: str) -> None:
        self._bridge.set_author(self._settings.change(annotator=name).annotator)

    # Merging

    @Slot()
    def choose(self) -> None:
        """Which project is to be merged?"""
        dialog = QFileDialog(self._window, tr("Project to be merged"), self._settings.value.last_folder)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.fileSelected.connect(self.look_at)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    @Slot(str)
    def look_at(self, folder: str) -> None:
        """Find out what merging a project would do; ends in the dialog that says so."""
        self._settings.change(last_folder=str(Path(folder).parent))
        self._bridge.read(Reading.MERGE_PLAN, Path(folder), done=self._on_plan)

    @Slot(object)
    def _on_plan(self, plan: MergePlan) -> None:
        dialog = MergeDialog(plan, self._window)
        dialog.accepted.connect(self._on_accepted)
        dialog.finished.connect(self._on_plan_closed)
        self.plan_dialog = dialog
        dialog.open()

    @Slot()
    def _on_accepted(self) -> None:
        if self.plan_dialog is not None:
            self._bridge.merge(self.plan_dialog.plan)

    @Slot(int)
    def _on_plan_closed(self, _result: int) -> None:
        self.plan_dialog = None

    # Deciding

    @Slot()
    def show_disagreements(self) -> None:
        """What is undecided, to be decided on."""
        items = self._bridge.items
        if items is None:
            return
        if self.dialog is None:
            self.dialog = DisagreementDialog(self._loader, items, self._window)
            self.dialog.oursChosen.connect(self._on_ours)
            self.dialog.theirsChosen.connect(self._on_theirs)
            self.dialog.foreseeWanted.connect(self._on_foresee)
            self.dialog.finished.connect(self._on_dialog_closed)
        self.dialog.show()
        self.dialog.raise_()
        self._refresh()

    def _refresh(self) -> None:
        self._bridge.read(Reading.DISAGREEMENTS, done=self._on_found)

    @Slot(object)
    def _on_found(self, found: tuple[Disagreement, ...]) -> None:
        state = self._bridge.state
        if self.dialog is not None and state is not None:
            sizes = np.bincount(state.labels)
            ids = np.flatnonzero(sizes)
            known = dict(zip(ids.tolist(), sizes[ids].tolist(), strict=True))
            self.dialog.show_all(found, known, not state.read_only)

    @Slot(object)
    def _on_ours(self, one: Disagreement) -> None:
        self._bridge.change(one.entry.number, None)

    @Slot(object, object)
    def _on_theirs(self, one: Disagreement, link: ChainLink | None) -> None:
        number = one.entry.number
        if one.about is About.PAIR and link is not None and link.entry is not None:
            self._bridge.change(link.entry.number, None)
        elif one.about is About.TAKEN_BACK:
            self._bridge.change(next(entry.number for entry in one.behind if entry is not None), None, (number,))
        elif one.about is About.NAME:
            self._bridge.perform(Rename(one.cluster, one.theirs), (number,))
        elif one.about is About.SAME_NAME:
            self._bridge.perform(Merge(one.cluster, one.other), (number,))

    @Slot(object)
    def _on_foresee(self, numbers: tuple[int, ...]) -> None:
        self._foretold = numbers
        self._moved.ask(numbers)

    @Slot(object)
    def _on_moved(self, moved: int) -> None:
        if self.dialog is not None:
            self.dialog.foreseen(self._foretold, moved)

    @Slot(int)
    def _on_dialog_closed(self, _result: int) -> None:
        dialog, self.dialog = self.dialog, None
        if dialog is not None:
            dialog.deleteLater()

    # The program

    @Slot(object, object)
    def _on_state(self, state: SessionState, change: Change) -> None:
        self._update_actions()
        if self.dialog is not None:
            self._refresh()
        elif change.kind is ChangeKind.MERGE and state.unsettled:
            self.show_disagreements()

    @Slot(object)
    def _on_failed(self, _error: object) -> None:
        if self.dialog is not None:
            self._refresh()  # nothing was decided

    @Slot()
    def _on_closed(self) -> None:
        self._update_actions()
        for dialog in (self.dialog, self.plan_dialog):
            if dialog is not None:
                dialog.close()

    @Slot()
    def _update_actions(self) -> None:
        state = self._bridge.state
        self._merge.setEnabled(self._bridge.can_correct)
        self._decide.setEnabled(state is not None and bool(state.unsettled))
