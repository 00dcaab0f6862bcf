"""`Session`: the one door to a project. Everything a user can do to the data is one of its methods."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.engine import Engine
from a3s_desktop.core.types import Answer, InitialState, StrategyOptions
from a3s_desktop.errors import A3SError, InputError, NothingToUndoError, ProjectError, ReadOnlyError, StaleAnswerError
from a3s_desktop.session.history import ANSWER, ANSWER_NAMES, REDO, UNDO, History, RecordedAnswer
from a3s_desktop.session.replay import EngineSource, Position
from a3s_desktop.session.state import Change, ChangeKind, HistoryEntry, SessionState, no_items
from a3s_desktop.session.view import moved_items, session_state
from a3s_desktop.storage.export import export_csv, export_json
from a3s_desktop.storage.journal_types import JournalProtocol
from a3s_desktop.storage.workspace import Workspace
from a3s_desktop.task import Task

log = logging.getLogger(__name__)

SNAPSHOT_EVERY = 200
EXPORT_FORMATS = ("csv", "json")

Operation = tuple[SessionState, Change]


class Session:
    """A project being labelled. All calls come from one thread, the engine's; what it returns is immutable.

    Each change is a transaction: apply to the engine, build the new state, commit to the journal, publish. An error
    anywhere before the commit puts everything back, and neither the disk nor the screen has seen anything.

    Parameters
    ----------
    initial : InitialState
    views : sequence of float32 (N, D_v)
    options : StrategyOptions
    journal : JournalProtocol
        Holds the answers so far; they are replayed here.
    workspace : Workspace, optional
        The project folder, for `export` and `close`; none in simulations.
    read_only : bool
        Changes then raise `ReadOnlyError`.
    snapshot_every : int
        Answers between two snapshots of the engine in the journal; 0: none.
    task : Task, optional
        Progress and cancellation of the replay.

    Attributes
    ----------
    state : SessionState
        The last published state.
    last_change : Change
        What the operation that led to ``state`` changed.
    warnings : tuple of str
        What was remarkable about the replay, in plain words.
    """

    def __init__(
        self,
        initial: InitialState,
        views: Sequence[npt.NDArray[Any]],
        options: StrategyOptions,
        journal: JournalProtocol,
        *,
        workspace: Workspace | None = None,
        read_only: bool = False,
        snapshot_every: int = SNAPSHOT_EVERY,
        task: Task | None = None,
    ) -> None:
        self._initial = initial
        self._journal = journal
        self._workspace = workspace
        self._read_only = read_only
        self._snapshot_every = snapshot_every
        self._source = EngineSource(initial, views, options, journal)
        self._history = History.fold(journal.records())
        self._position, self.warnings = self._source.position(self._history.past, task)
        self._snapshot_at = self._position.replayed_from
        self._closed = False
        self.state = self._picture(self._history, journal.last)
        self.last_change = Change(ChangeKind.OPENED, "", no_items())

    # --- reading

    @property
    def workspace(self) -> Workspace | None:
        """The project folder; None in simulations."""
        return self._workspace

    @property
    def initial(self) -> InitialState:
        """Result of stage one, for the map's layout."""
        return self._initial

    @property
    def engine(self) -> Engine:
        """The engine, for tests and measurements; nothing but the session may change it."""
        return self._position.engine

    def members(self, cluster: int) -> tuple[int, ...]:
        """Items of a cluster, ascending; empty for an id that no item has."""
        return tuple(self.engine.partition.members(cluster).tolist())

    def history(self, limit: int | None = None) -> tuple[HistoryEntry, ...]:
        """The answers in force, newest first; at most ``limit``."""
        entries: list[HistoryEntry] = []
        for node in self._history.nodes():
            if limit is not None and len(entries) >= limit:
                break
            entry = node.entry
            entries.append(HistoryEntry(node.count, entry.left, entry.right, entry.answer, entry.reason, entry.when))
        return tuple(entries)

    def look_ahead(self) -> tuple[int, ...]:
        """Items that the next question would show, whichever answer is given; for decoding their images early.

        Called when nothing else is to be done, it also takes the snapshot that is due.
        """
        self._snapshot_if_due()
        question = self.engine.question
        if question is None:
            return ()
        mark = self.engine.mark()
        try:
            after = self.engine.look_ahead()
        except BaseException:
            # An answer that was only tried must not stay.
            self.engine.restore(mark)
            raise
        coming = dict.fromkeys(item for pair in after for item in (pair.left, pair.right))
        return tuple(item for item in coming if item not in (question.left, question.right))

    # --- changing

    def answer(self, question_id: int, answer: Answer) -> Operation:
        """Answer the current question.

        Parameters
        ----------
        question_id : int
            ``state.question.id`` of the pair that was answered.
        answer : Answer

        Raises
        ------
        StaleAnswerError
            Another question, or none, is current by now.
        ContradictionError
            Earlier answers imply the opposite; the error carries the chain.
        ReadOnlyError, StorageFailedError
        """
        self._check_writable()
        question = self.engine.question
        if question is None or self.state.question is None or self.state.question.id != question_id:
            raise StaleAnswerError("This answer belongs to a pair that is no longer asked.", "It was not counted.")
        entry = RecordedAnswer.of(question, Answer(answer), time.time())
        return self._transact(
            ChangeKind.ANSWER, ANSWER_NAMES[entry.answer], (ANSWER, entry.payload(), entry.when),
            self._history.push(entry), lambda: self._give(entry),
        )  # fmt: skip

    def undo(self) -> Operation:
        """Take back the newest answer and everything that it caused, also one from before a restart.

        Raises
        ------
        NothingToUndoError, ReadOnlyError, StorageFailedError
        """
        self._check_writable()
        entry = self._history.last
        if entry is None:
            raise NothingToUndoError("There is no answer to undo.")
        history = self._history.undo()
        return self._transact(
            ChangeKind.UNDO, f"Undo {ANSWER_NAMES[entry.answer]}", (UNDO, {}, time.time()), history,
            lambda: self._take_back(entry, history),
        )  # fmt: skip

    def redo(self) -> Operation:
        """Give the answer again that was undone last.

        Raises
        ------
        NothingToUndoError, ReadOnlyError, StorageFailedError
        """
        self._check_writable()
        entry = self._history.next
        if entry is None:
            raise NothingToUndoError("There is no answer to redo.")
        return self._transact(
            ChangeKind.REDO, f"Redo {ANSWER_NAMES[entry.answer]}", (REDO, {}, time.time()), self._history.redo(),
            lambda: self._give(entry),
        )  # fmt: skip

    # --- leaving

    def export(self, format: str, out: Path, overwrite: bool = False) -> Path:
        """Write the clusters as they are on the screen to a file.

        Parameters
        ----------
        format : str
            "csv" or "json".
        out : Path
        overwrite : bool
            Whether an existing file may be replaced.

        Raises
        ------
        InputError, StorageFailedError
        """
        if self._workspace is None:
            raise ProjectError("This session has no project folder whose images could be named.")
        writers: dict[str, Callable[..., Any]] = {"csv": export_csv, "json": export_json}
        if format not in writers:
            raise InputError(f"There is no export format {format!r}.", f"Choose one of: {', '.join(writers)}.")
        confirmed = np.zeros(self.state.items, bool)
        for node in self._history.nodes():
            if node.entry.answer is Answer.SAME:
                confirmed[[node.entry.left, node.entry.right]] = True
        writers[format](out, self._workspace.items, self.state.labels, {}, confirmed, overwrite=overwrite)
        return out

    def close(self) -> None:
        """Take the snapshot that is due and release the project. May be called twice."""
        if self._closed:
            return
        self._closed = True
        try:
            self._snapshot_if_due()
        finally:
            if self._workspace is not None:
                self._workspace.close()
            else:
                self._journal.close()

    # --- inner workings

    def _transact(
        self,
        kind: ChangeKind,
        text: str,
        record: tuple[str, dict[str, Any], float],
        history: History,
        apply: Callable[[], Callable[[], None]],
    ) -> Operation:
        # apply changes the engine and returns how to change it back; where it fails it has changed nothing.
        put_back = apply()
        try:
            state = self._picture(history, self.state.revision + 1)
            change = Change(kind, text, moved_items(self.state, state))
            self._journal.append(*record)
        except BaseException:
            put_back()
            raise
        self._history = history
        self.state, self.last_change = state, change
        self._snapshot_at = min(self._snapshot_at, history.count)
        return state, change

    def _give(self, entry: RecordedAnswer) -> Callable[[], None]:
        if not self._position.give(entry):
            log.warning("The answer to items %d and %d met another question and was imposed.", entry.left, entry.right)
        return self._position.take_back

    def _take_back(self, entry: RecordedAnswer, history: History) -> Callable[[], None]:
        position = self._position
        if position.can_take_back:
            position.take_back()
            return lambda: self._restore_given(position, entry)
        # Beyond what this process has seen: start again from the newest snapshot before it.
        self._position, _ = self._source.position(history.past)
        return lambda: setattr(self, "_position", position)

    def _restore_given(self, position: Position, entry: RecordedAnswer) -> None:
        position.give(entry)

    def _picture(self, history: History, revision: int) -> SessionState:
        return session_state(self.engine, self._initial.graph, history, revision, self._read_only)

    def _check_writable(self) -> None:
        if self._read_only:
            raise ReadOnlyError("This project is open read-only.", "Close it in the other window, then open it again.")

    def _snapshot_if_due(self) -> None:
        # Outside of the operations, so that no answer waits for it and none can fail by it.
        past = self._history.past
        if self._read_only or not self._snapshot_every or past is None:
            return
        if past.count - self._snapshot_at < self._snapshot_every:
            return
        try:
            self._source.save_snapshot(past, self.engine)
        except A3SError as error:
            # It only saves time at the next start; the answers are on disk already.
            log.warning("No snapshot was stored: %s", error)
        self._snapshot_at = past.count
