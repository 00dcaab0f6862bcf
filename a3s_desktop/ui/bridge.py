"""The one object that views observe: it takes the user's actions to the engine thread and tells what changed."""

from __future__ import annotations

import enum
import logging
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal, Slot

from a3s_desktop.core.types import Answer
from a3s_desktop.errors import A3SError, Cancelled, StaleAnswerError
from a3s_desktop.session.state import Change, LookAhead, Phase, SessionState
from a3s_desktop.task import Progress
from a3s_desktop.ui.delivery import Delivery
from a3s_desktop.ui.engine_room import EngineRoom, Opened, Reading
from a3s_desktop.ui.jobs import Job, Jobs, Worker
from a3s_desktop.ui.turns import Turns

if TYPE_CHECKING:
    from a3s_desktop.session.merging import MergePlan
    from a3s_desktop.session.operations import Operation
    from a3s_desktop.storage.items import Items

log = logging.getLogger(__name__)


class BridgePhase(enum.StrEnum):
    """What the window may do now."""

    CLOSED = "closed"  # no project
    OPENING = "opening"  # a project is being opened
    ASKING = "asking"  # a pair waits for its answer
    STORING = "storing"  # an operation is on its way to the disk; further ones are ignored
    FINISHED = "finished"  # nothing left to ask; undo, redo and export remain


class Bridge(QObject):
    """Holds the last published state of the open project; lives on the GUI thread and never waits.

    An operation is ignored (not queued) while another is being stored, so a double tap cannot answer a pair that
    was never seen. Results are recognised by the project's and the question's id, stale ones are dropped.

    Signals
    -------
    opened(object)
        An `Opened`: the project is there. ``stateChanged`` and ``entered`` follow, each in a turn of its own.
    entered(object)
        The same `Opened`: all views know of the project, and the window may show them.
    closed()
        No project any more.
    stateChanged(object, object)
        `SessionState`, `Change`.
    phaseChanged(str)
    busyChanged(bool)
        Whether the engine is at work; views show it only after a moment.
    progress(object)
        `Progress` of opening.
    operationProgress(object)
        `Progress` of an operation for which many later entries have to be gone through again; `cancel_operation`
        stops it and leaves everything as it was.
    failed(object)
        An `A3SError` met by an answer, undo or redo; nothing was changed.
    problem(object)
        An `A3SError` met by anything else (history, export, closing).
    openFailed(object, object)
        `A3SError`, folder: the project could not be opened.
    prefetch(object)
        Items (tuple of int) whose images the next pairs may need.
    foreseen(object)
        `LookAhead` of the current question: what its answers would do. Comes while the pair is on screen.
    layoutReady(object)
        `PointGrid` of the map's positions; comes again when a better one is known.
    pairPainted(object)
        The `QuestionView` whose two images have just been painted.
    """

    opened = Signal(object)
    entered = Signal(object)
    closed = Signal()
    stateChanged = Signal(object, object)  # noqa: N815 - Qt's naming
    phaseChanged = Signal(str)  # noqa: N815
    busyChanged = Signal(bool)  # noqa: N815
    progress = Signal(object)
    operationProgress = Signal(object)  # noqa: N815
    failed = Signal(object)
    problem = Signal(object)
    openFailed = Signal(object, object)  # noqa: N815
    prefetch = Signal(object)
    foreseen = Signal(object)
    layoutReady = Signal(object)  # noqa: N815
    pairPainted = Signal(object)  # noqa: N815

    def __init__(
        self, jobs: Jobs, parent: QObject | None = None, room: EngineRoom | None = None, layout: bool = True
    ) -> None:
        super().__init__(parent)
        self._with_layout = layout
        self._jobs = jobs
        self._room = room or EngineRoom()
        self._project: Opened | None = None
        self._read_only = False  # how it was opened
        self._state: SessionState | None = None
        self._phase = BridgePhase.CLOSED
        self._painted = -1  # id of the question whose pair has been painted
        self._looked_ahead = -1
        self._opening: tuple[Job, Path] | None = None
        self._turns = Turns(self)  # of showing the project
        self._layout: Job | None = None
        self._better_layout: Any = None
        self._operation: Job | None = None
        self._performed: tuple[Operation, tuple[int, ...]] | None = None
        self._busy = False

    # What views may read

    @property
    def phase(self) -> BridgePhase:
        """What the window may do now."""
        return self._phase

    @property
    def state(self) -> SessionState | None:
        """The last published state; None while no project is open."""
        return self._state

    @property
    def project(self) -> Opened | None:
        """Folder, name, items and warnings of the open project."""
        return self._project

    @property
    def items(self) -> Items | None:
        """The open project's images."""
        return self._project.items if self._project else None

    @property
    def can_answer(self) -> bool:
        """Whether an answer would be taken: a pair is asked and both its images have been painted."""
        state = self._state
        return (
            self._phase is BridgePhase.ASKING
            and state is not None
            and state.question is not None
            and not state.read_only
            and state.question.id == self._painted
        )

    @property
    def can_correct(self) -> bool:
        """Whether a correction would be taken now."""
        return self._may_operate()

    # Opening and closing

    @Slot(object, bool)
    def open(self, folder: Path, read_only: bool = False, take_over: bool = False) -> None:
        """Open a project instead of the current one; see `open_session`.

        Ends in ``opened`` or ``openFailed``; `cancel_open` stops it.
        """
        self.close_project()
        self._read_only = read_only
        self._set_phase(BridgePhase.OPENING)
        job = self._jobs.submit(
            Worker.ENGINE, self._room.open, Path(folder), read_only, take_over,
            done=self._on_opened, failed=self._on_open_failed, reported=self._on_progress, with_task=True,
        )  # fmt: skip
        self._opening = (job, Path(folder))
        self._update_busy()

    @Slot()
    def reopen(self) -> None:
        """Take the state anew from what is on the disk."""
        if self._project is not None:
            self.open(self._project.folder, self._read_only)

    @Slot()
    def cancel_open(self) -> None:
        """Stop opening; the window is then without a project."""
        if self._opening is not None:
            self._opening[0].cancel()

    @Slot()
    def close_project(self) -> None:
        """Close the project; answers on their way are stored first."""
        if self._opening is not None:
            self._opening[0].drop()
            self._opening = None
        if self._layout is not None:
            self._layout.drop()
            self._layout = None
        self._jobs.submit(Worker.ENGINE, self._room.close, done=self._on_room_closed, failed=self._on_failed)
        if self._project is None:
            self._set_phase(BridgePhase.CLOSED)
            return
        self._turns.drop()
        gone: list[object] = [self._project, self._state]  # perhaps a million names: for the worker to let go
        self._project = self._state = None
        self._painted = self._looked_ahead = -1
        self._set_phase(BridgePhase.CLOSED)
        self.closed.emit()
        self._jobs.submit(Worker.ENGINE, gone.clear, done=self._on_room_closed)

    # Operations

    @Slot(int, object)
    def answer(self, question_id: int, answer: Answer) -> None:
        """Answer the current pair. Ignored unless `can_answer` and the id is the current question's."""
        if self.can_answer and question_id == self._painted:
            self._operate(self._room.answer, question_id, Answer(answer))

    @Slot()
    def undo(self) -> None:
        """Take the last answer back. Ignored while there is nothing to undo or another operation is stored."""
        if self._may_operate() and self._state is not None and self._state.can_undo:
            self._operate(self._room.undo, long=True)

    @Slot()
    def redo(self) -> None:
        """Answer again what was undone last."""
        if self._may_operate() and self._state is not None and self._state.can_redo:
            self._operate(self._room.redo, long=True)

    @Slot(object, object)
    def perform(self, operation: Operation, dropping: Collection[int] = ()) -> None:
        """Set something right by hand; one of `session.operations`.

        Ends in ``stateChanged``, or in ``failed`` with what is wrong: a `ContradictionError` carries the chain of
        answers that it contradicts, `NameTakenError` the cluster that has the name. ``dropping``: numbers of history
        entries to be taken back in the same step. Ignored while another operation is stored.
        """
        if self._may_operate():
            self._operate(self._room.perform, operation, tuple(dropping), long=True)
            self._performed = (operation, tuple(dropping))

    @Slot(int, object)
    def change(self, number: int, answer: Answer | None, also: Collection[int] = ()) -> None:
        """Answer an old question differently, or take an old entry back (None); ``number`` is the entry's.

        ``also``: numbers of entries to be taken back in the same step.
        """
        if self._may_operate():
            self._operate(self._room.change, number, answer, tuple(also), long=True)

    def merge(self, plan: MergePlan) -> None:
        """Take over what another annotator did; the plan comes from `Reading.MERGE_PLAN`."""
        if self._may_operate():
            self._operate(self._room.merge, plan, long=True)

    def set_author(self, name: str) -> None:
        """Whose name is kept with what is entered from now on."""
        self._room.author = name

    @Slot()
    def cancel_operation(self) -> None:
        """Stop an operation that tells its progress; everything is then as it was before."""
        if self._operation is not None:
            self._operation.cancel()

    @property
    def performed(self) -> tuple[Operation, tuple[int, ...]] | None:
        """The last correction and the entries to be dropped for it, where it was the last operation."""
        return self._performed

    @Slot(int, int, object)
    def audit(self, left: int, right: int, answer: Answer) -> None:
        """Note what a pair of the random sample is; it changes no cluster."""
        if self._may_operate():
            self._operate(self._room.audit, left, right, answer)

    def read(self, reading: Reading, *args: Any, done: Callable[[Any], None]) -> None:
        """Ask the engine thread for something to show.

        Parameters
        ----------
        reading : Reading
        *args
            As it says there.
        done : callable
            A bound method of a QObject; called on the GUI thread with the result, never for a project that was closed
            meanwhile. Errors end in ``problem``.
        """
        if self._project is not None:
            self._submit(
                self._room.read, reading, *args, done=Delivery(self, self._update_busy, self._project.id, done).deliver
            )

    @Slot(int)
    def pair_painted(self, question_id: int) -> None:
        """Told by the pair page when both images of a question are on screen; only then answers are taken."""
        state = self._state
        if state is None or state.question is None or state.question.id != question_id:
            return
        first = self._painted != question_id
        self._painted = question_id
        if first:
            self.pairPainted.emit(state.question)
        if first and self._looked_ahead != question_id:
            # Now, because the person looks at the pair and the engine is idle.
            self._looked_ahead = question_id
            self._submit(self._room.look_ahead, done=self._on_looked_ahead)

    # Deliveries, all on the GUI thread

    def _may_operate(self) -> bool:
        return (
            self._phase in (BridgePhase.ASKING, BridgePhase.FINISHED)
            and self._state is not None
            and not self._state.read_only
        )

    def _operate(self, operation: Any, *args: Any, long: bool = False) -> None:
        self._set_phase(BridgePhase.STORING)
        self._performed = None
        self._operation = self._submit(
            operation, *args, done=self._on_changed, failed=self._on_operation_failed, with_task=long
        )

    def _submit(self, work: Any, *args: Any, done: Any, failed: Any = None, with_task: bool = False) -> Job | None:
        if self._project is None:
            return None
        job = self._jobs.submit(
            Worker.ENGINE, work, self._project.id, *args, done=done, failed=failed or self._on_failed,
            reported=self._on_operation_progress, with_task=with_task,
        )  # fmt: skip
        self._update_busy()
        return job

    @Slot(object)
    def _on_opened(self, opened: Opened) -> None:
        self._opening = None
        self._project = opened
        self.opened.emit(opened)
        self._turns.take(partial(self._begin, opened), partial(self.entered.emit, opened))

    def _begin(self, opened: Opened) -> None:
        self._publish(opened.state, opened.change)
        self._better_layout = opened.better_layout
        self._start_layout(opened.first_layout)

    @Slot(object)
    def _on_room_closed(self, _nothing: object) -> None:
        self._update_busy()

    @Slot(object)
    def _on_open_failed(self, error: BaseException) -> None:
        folder = self._opening[1] if self._opening is not None else None
        self._opening = None
        self._set_phase(BridgePhase.CLOSED)
        self._update_busy()
        self.closed.emit()
        if isinstance(error, A3SError):
            self.openFailed.emit(error, folder)
        elif not isinstance(error, Cancelled):
            log.error("Opening failed", exc_info=error)

    @Slot(object)
    def _on_changed(self, result: tuple[int, SessionState, Change]) -> None:
        project, state, change = result
        if self._project is not None and project == self._project.id:
            self._publish(state, change)

    @Slot(object)
    def _on_operation_failed(self, error: BaseException) -> None:
        # The session has put everything back: the same pair is asked again, and its images are still on screen.
        self._set_phase(_phase_of(self._state))
        self._update_busy()
        if isinstance(error, A3SError):
            if not isinstance(error, StaleAnswerError):
                self.failed.emit(error)
        elif not isinstance(error, Cancelled):
            self.reopen()  # a bug: what the memory holds may be half of a change, the journal is whole

    @Slot(object)
    def _on_failed(self, error: BaseException) -> None:
        self._update_busy()
        if isinstance(error, A3SError) and not isinstance(error, StaleAnswerError):
            self.problem.emit(error)

    @Slot(object)
    def _on_looked_ahead(self, result: tuple[int, LookAhead]) -> None:
        project, found = result
        self._update_busy()
        question = self._state.question if self._state else None
        if self._project and project == self._project.id and question and question.id == found.question:
            self.foreseen.emit(found)
            if found.items:
                self.prefetch.emit(found.items)

    @Slot(object)
    def _on_operation_progress(self, progress: Progress) -> None:
        if self._phase is BridgePhase.STORING:
            self.operationProgress.emit(progress)

    @Slot(object)
    def _on_progress(self, progress: Progress) -> None:
        self.progress.emit(progress)

    def _publish(self, state: SessionState, change: Change) -> None:
        self._state = state
        # Only a question that is asked unchanged keeps its "painted" mark; after undo it has a new id.
        self._set_phase(_phase_of(state))
        self._update_busy()
        self.stateChanged.emit(state, change)

    def _set_phase(self, phase: BridgePhase) -> None:
        if phase is not self._phase:
            self._phase = phase
            self.phaseChanged.emit(phase.value)

    def _update_busy(self) -> None:
        busy = self._jobs.busy(Worker.ENGINE)
        if busy != self._busy:
            self._busy = busy
            self.busyChanged.emit(busy)

    # The map's positions

    def _start_layout(self, work: Any) -> None:
        if work is not None and self._with_layout:
            self._layout = self._jobs.submit(
                Worker.BACKGROUND, work, done=self._on_layout, failed=self._on_layout_failed, with_task=True
            )

    @Slot(object)
    def _on_layout(self, result: tuple[int, Any]) -> None:
        self._layout = None
        project, better = self._project, self._better_layout
        self._better_layout = None
        if project is None or result[0] != project.id:
            return
        self.layoutReady.emit(result[1])
        self._start_layout(better)

    @Slot(object)
    def _on_layout_failed(self, error: BaseException) -> None:
        self._layout = None
        if isinstance(error, A3SError):
            # The map is a convenience; labelling goes on without it.
            log.warning("No map: %s", error)


def _phase_of(state: SessionState | None) -> BridgePhase:
    if state is None:
        return BridgePhase.CLOSED
    return BridgePhase.ASKING if state.phase is Phase.ASKING else BridgePhase.FINISHED
