"""The pair page: two images, why they are asked, what was reached; keys in, answers out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QFocusEvent, QHideEvent, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QStackedWidget, QVBoxLayout, QWidget

from a3s_desktop.actions import Scope
from a3s_desktop.core.types import Answer, Reason
from a3s_desktop.errors import A3SError, ContradictionError
from a3s_desktop.i18n import mark, percent, tr, trn
from a3s_desktop.session.state import Change, ChangeKind, LookAhead, Phase, QuestionView, SessionState
from a3s_desktop.settings import SettingsStore
from a3s_desktop.ui.bridge import Bridge
from a3s_desktop.ui.compare import Compare
from a3s_desktop.ui.finished_panel import FinishedPanel
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.label_bars import AnswerBar, QuestionBar
from a3s_desktop.ui.label_parts import Banner
from a3s_desktop.ui.linked_panes import LinkedPanes
from a3s_desktop.ui.member_strip import Member
from a3s_desktop.ui.pair_area import PairArea
from a3s_desktop.ui.shortcuts import Shortcuts
from a3s_desktop.ui.theme import set_role, tokens

if TYPE_CHECKING:
    from a3s_desktop.storage.items import Items

_REASONS = {
    Reason.MERGE: mark("Merge"),
    Reason.PURITY: mark("Purity check"),
    Reason.SPLIT: mark("Sorting a mixed cluster"),
    Reason.OUTLIER: mark("Single image"),
    Reason.MEMBER: mark("Doubtful member"),
    Reason.PAIR: mark("Pair"),
}
_ANSWERS = {
    "answer.same": Answer.SAME,
    "answer.different": Answer.DIFFERENT,
    "answer.skip": Answer.SKIP,
    "answer.incomparable": Answer.INCOMPARABLE,
    "answer.junk_left": Answer.JUNK_LEFT,
    "answer.junk_right": Answer.JUNK_RIGHT,
    "answer.junk_both": Answer.JUNK_BOTH,
}
_LOW = 720  # pixels of the page's height, below which the images are short of room
_READ_ONLY = mark("Read-only: you can look and export; answers are not taken.")
_IN_USE = mark("Read-only: {writer} has this project open. You can look and export; answers are not taken.")


class LabelPage(QWidget):
    """Shows the current question of the bridge and sends answers to it.

    An answer is possible only after both images have been painted and a short moment has passed (`ready`); until then
    the answer actions are disabled and their keys do nothing.

    Parameters
    ----------
    bridge : Bridge
    loader : ImageLoader
    shortcuts : Shortcuts
    settings : SettingsStore

    Signals
    -------
    readyChanged(bool)
        Whether an answer would be taken now.
    exportWanted(), clustersWanted(), auditWanted(), singlesWanted()
        The person chose a next step on the finished panel.
    """

    readyChanged = Signal(bool)  # noqa: N815 - Qt's naming
    exportWanted = Signal()  # noqa: N815
    clustersWanted = Signal()  # noqa: N815
    auditWanted = Signal()  # noqa: N815
    singlesWanted = Signal()  # noqa: N815

    def __init__(
        self,
        bridge: Bridge,
        loader: ImageLoader,
        shortcuts: Shortcuts,
        settings: SettingsStore,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._loader = loader
        self._shortcuts = shortcuts
        self._settings = settings
        self._question: QuestionView | None = None
        self._ready = False
        self._settled = False
        self._moment = QTimer(self, singleShot=True, timerType=Qt.TimerType.PreciseTimer)
        self._moment.timeout.connect(self._on_settled)
        self._first = QTimer(self, singleShot=True, interval=0)  # the window has its panels before the first pair comes
        self._first.timeout.connect(self._show_first)
        self._build()
        self._connect()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Pair"))
        self._update_actions()

    # For the window and tests

    @property
    def ready(self) -> bool:
        """Whether an answer would be taken now."""
        return self._ready

    @property
    def question(self) -> QuestionView | None:
        """The question on screen."""
        return self._question

    # Building

    def _build(self) -> None:
        self._banner = Banner()
        self._area = PairArea(self._loader, self._shortcuts)
        left, right = self._area.columns
        self._panes = LinkedPanes(left.pane, right.pane, self._settings.value.linked, self)
        self._compare = Compare(self._area, self._panes, self._loader, self._shortcuts, self)
        self._finished = FinishedPanel()
        self._blank = QWidget()
        self._stack = QStackedWidget()
        for page in (self._blank, self._area, self._finished):
            self._stack.addWidget(page)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        self._head = QuestionBar()
        self._foot = AnswerBar(self._shortcuts)
        layout.addWidget(self._head)
        layout.addWidget(self._banner)
        layout.addWidget(self._stack, 1)
        layout.addWidget(self._foot)

    def _connect(self) -> None:
        bridge, action = self._bridge, self._shortcuts.action
        bridge.stateChanged.connect(self._on_state)
        bridge.phaseChanged.connect(self._on_phase)
        bridge.closed.connect(self._on_closed)
        bridge.failed.connect(self._on_failed)
        bridge.prefetch.connect(self._on_prefetch)
        self._panes.painted.connect(self._on_painted)
        left, right = self._area.columns
        left.memberChosen.connect(self._swap_left)
        right.memberChosen.connect(self._swap_right)
        self.addActions(self._shortcuts.actions(Scope.PAIR))
        for name in _ANSWERS:
            action(name).triggered.connect(partial(self._answer, name))
        bridge.foreseen.connect(self._on_foreseen)
        action("view.link").setChecked(self._settings.value.linked)
        action("view.link").toggled.connect(self._on_linked)
        action("view.legend").setChecked(self._settings.value.legend)
        action("view.legend").toggled.connect(self._on_legend)
        action("view.blind").setChecked(self._settings.value.blind)
        action("view.blind").toggled.connect(self._on_blind)
        self._finished.exportWanted.connect(self.exportWanted)
        self._finished.clustersWanted.connect(self.clustersWanted)
        self._finished.undoWanted.connect(bridge.undo)
        self._finished.auditWanted.connect(self.auditWanted)
        self._finished.singlesWanted.connect(self.singlesWanted)
        self._finished.requeueWanted.connect(action("edit.requeue").trigger)

    # From the bridge

    @Slot(object, object)
    def _on_state(self, state: SessionState, change: Change) -> None:
        project = self._bridge.project
        writer = project.writer if project is not None else ""
        text = tr(_IN_USE, writer=writer) if writer else tr(_READ_ONLY)
        self._banner.say(text if state.read_only else "", "banner-warning")
        self._head.set_counts(state.answers, state.outlook, state.clusters, state.singletons)
        if change.kind is ChangeKind.OPENED:
            self._foot.set_last()
            self._question = None
        else:
            self._show_last(change)
        if state.phase is Phase.FINISHED or state.question is None:
            self._show_finished(state)
        elif change.kind is ChangeKind.OPENED:
            self._first.start()
        elif self._question is None or state.question.id != self._question.id:
            self._show_question(state.question)
        self._update_actions()

    @Slot(str)
    def _on_phase(self, _phase: str) -> None:
        self._update_actions()

    @Slot()
    def _on_closed(self) -> None:
        self._question = None
        self._settled = False
        self._moment.stop()
        self._first.stop()
        self._compare.clear()
        for column in self._area.columns:
            column.strip.set_members(())
        self._stack.setCurrentWidget(self._blank)
        self._head.set_question("", "")
        self._banner.say("")
        self._loader.clear()  # the next project, or this one with its drive plugged in again, is read anew
        self._update_actions()

    @Slot(object)
    def _on_failed(self, error: A3SError) -> None:
        if not isinstance(error, ContradictionError):  # shown as pictures, see ``contradiction_flow``
            self._banner.say(str(error), "banner-danger")
        self._update_actions()

    @Slot(object)
    def _on_foreseen(self, found: LookAhead) -> None:
        if self._question is not None and self._question.id == found.question:
            self._foot.effects.set_found(found.consequences)

    @Slot(object)
    def _on_prefetch(self, numbers: Sequence[int]) -> None:
        items = self._bridge.items
        if items is not None:
            paths = [items.file(i) for i in numbers if i not in items.problems]
            self._loader.prefetch(paths, self._area.left.pane.fit_box())

    # Showing

    @Slot()
    def _show_first(self) -> None:
        state = self._bridge.state
        if state is not None and state.question is not None and self._question is None:
            self._show_question(state.question)
            self._update_actions()

    def _show_question(self, question: QuestionView) -> None:
        items = self._bridge.items
        if items is None:
            return
        self._question = question
        self._settled = False
        self._moment.stop()
        focus = QApplication.focusWidget()
        if focus is not None and self._finished.isAncestorOf(focus):
            self.setFocus()  # else hiding that button would hand the focus, and Space, to any other one
        self._stack.setCurrentWidget(self._area)
        self._foot.show_tools(True, self._settings.value.legend)
        self._show_reason(question)
        self._foot.effects.set_question(question)
        self._panes.forget_painted()
        self._compare.new_pair()
        self._panes.reset()
        left, right = self._area.columns
        names = self._bridge.state.names if self._bridge.state is not None else {}
        for side, column, item, cluster, size, strip in (
            (0, left, question.left, question.left_cluster, question.left_size, question.left_strip),
            (1, right, question.right, question.right_cluster, question.right_size, question.right_strip),
        ):
            column.title.set_cluster(cluster, size, names.get(cluster, ""))
            self._compare.show(side, items, item, question.id)
            column.strip.set_members(_members(items, strip), tr("No other images.") if size > 1 else "")
        self._area.paint_now()

    def _show_reason(self, question: QuestionView) -> None:
        kind = tr(_REASONS[question.reason])
        if not self._settings.value.blind:
            kind = tr("{kind}  ·  same with {share} by the model", kind=kind, share=percent(question.probability))
        self._head.set_question(kind, question.text)

    def _show_finished(self, state: SessionState) -> None:
        self._question = None
        self._settled = False
        self._foot.effects.set_question(None)
        self._head.set_question(tr("Finished"), tr("No further pair is expected to change a cluster."))
        self._finished.set_state(state)
        self._stack.setCurrentWidget(self._finished)
        self._foot.show_tools(False, self._settings.value.legend)

    def _show_last(self, change: Change) -> None:
        t = tokens()
        words = {tr("Same"): "same", tr("Different"): "different", tr("Skip"): "skip"}
        name = next((name for word, name in words.items() if word in change.text), "")
        colours = {"same": t.same, "different": t.different}
        colour = colours.get(name, t.skip)
        symbol = {ChangeKind.UNDO: "undo", ChangeKind.REDO: "redo"}.get(change.kind, name)
        moved = trn("{n} image moved", "{n} images moved", len(change.moved)) if len(change.moved) else ""
        self._foot.set_last("  ·  ".join(part for part in (change.text, moved) if part), symbol, colour)
        if self.isVisible():
            self._area.flash(t.accent if change.kind is ChangeKind.UNDO else colour)

    @Slot(int)
    def _on_painted(self, number: int) -> None:
        if self._question is None or number != self._question.id or self._settled:
            return
        self._bridge.pair_painted(number)
        self._moment.start(self._settings.value.settle_ms)

    @Slot()
    def _on_settled(self) -> None:
        self._settled = True
        self._update_actions()

    def _update_actions(self) -> None:
        # A menu could answer a pair that is behind another page.
        ready = self._settled and self._question is not None and self._bridge.can_answer and self.isVisible()
        action = self._shortcuts.action
        for name in _ANSWERS:
            action(name).setEnabled(ready)
        self._compare.set_live(self._question is not None)
        if ready != self._ready:
            self._ready = ready
            self.readyChanged.emit(ready)

    # What the person does

    def _answer(self, name: str, _checked: bool = False) -> None:
        if not self._ready or self._question is None:
            return
        keys = self._shortcuts.keys(name)
        least = self._settings.value.confirm_from
        if self._foot.effects.needs_confirmation(_ANSWERS[name], least, keys[0] if keys else ""):
            return
        # Not ready any more from here on, by the bridge's phase; where storing fails the same pair is ready again.
        self._bridge.answer(self._question.id, _ANSWERS[name])
        self._update_actions()

    @Slot(int)
    def _swap_left(self, item: int) -> None:
        self._swap(0, item)

    @Slot(int)
    def _swap_right(self, item: int) -> None:
        self._swap(1, item)

    def _swap(self, side: int, item: int) -> None:
        """Show another member of the cluster in place of the asked image, until it is clicked again or Esc."""
        question, items = self._question, self._bridge.items
        if question is None or items is None or not (self._settled or item < 0):
            return  # the pair itself must have been seen first
        column = self._area.columns[side]
        own = question.left if side == 0 else question.right
        self._compare.show(side, items, own if item < 0 else item, question.id)
        column.pane.set_badge("" if item < 0 else tr("Another image of this cluster  ·  Esc: back to the pair"))
        column.strip.set_current(item)

    @Slot(bool)
    def _on_linked(self, linked: bool) -> None:
        self._panes.set_linked(linked)
        self._settings.change(linked=linked)

    @Slot(bool)
    def _on_blind(self, blind: bool) -> None:
        self._settings.change(blind=blind)
        if self._question is not None:
            self._show_reason(self._question)

    @Slot(bool)
    def _on_legend(self, shown: bool) -> None:
        self._settings.change(legend=shown)
        self._foot.show_tools(self._question is not None, shown)

    def showEvent(self, event: QShowEvent) -> None:
        """The pair can be answered again."""
        super().showEvent(event)
        self._update_actions()

    def hideEvent(self, event: QHideEvent) -> None:
        """No pair can be answered that is not in sight."""
        super().hideEvent(event)
        self._foot.effects.disarm()
        self._update_actions()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """A line under the question says that the keys go to the pair."""
        super().focusInEvent(event)
        set_role(self._head, focused="yes")

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """The keys go elsewhere."""
        super().focusOutEvent(event)
        set_role(self._head, focused="no")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc ends a comparison; keys of disabled answers end here instead of reaching something else."""
        if event.key() == Qt.Key.Key_Escape:
            if self._foot.effects.disarm() or self._compare.leave():
                return
            for side, column in enumerate(self._area.columns):
                if column.pane.path is not None and self._question is not None:
                    self._swap(side, -1)
                    column.strip.set_current(-1)
            return
        if event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_F, Qt.Key.Key_J):
            event.accept()
            return
        super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        """Icons and colours follow the theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_foot"):
            self._banner.recolour()
            self._foot.recolour()
            self._area.tools.recolour()
            for column in self._area.columns:
                column.title.recolour()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """On a small screen the images need the height more than the list of keys does."""
        super().resizeEvent(event)
        self._foot.save_height(self.height() < _LOW)

    def sizeHint(self) -> QSize:
        """Large."""
        return QSize(1100, 760)


def _members(items: Items, numbers: Sequence[int]) -> list[Member]:
    return [Member(i, Path(items.file(i)), items.name(i), items.problems.get(i, "")) for i in numbers]
