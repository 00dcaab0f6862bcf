"""`Session`: the one door to a project. Everything a user can do to the data is one of its methods."""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt

from a3s_desktop.core.engine import Engine
from a3s_desktop.core.types import Answer, InitialState, StrategyOptions
from a3s_desktop.errors import A3SError, NothingToUndoError, ProjectError, ReadOnlyError, StaleAnswerError
from a3s_desktop.i18n import tr
from a3s_desktop.session.audit import draw_pair
from a3s_desktop.session.entries import RecordedAnswer, RecordedAudit, links_among
from a3s_desktop.session.exporting import export_state
from a3s_desktop.session.history import ANSWER, AUDIT, CHANGE, CORRECT, REDO, UNDO, History, amendments_to_json
from a3s_desktop.session.listing import HistoryList
from a3s_desktop.session.operations import Operation
from a3s_desktop.session.overview import Overview
from a3s_desktop.session.replay import RECENT, Base, EngineSource, Start
from a3s_desktop.session.state import Change, ChangeKind, HistoryEntry, LookAhead, SessionState, no_items
from a3s_desktop.session.view import history_entry, look_ahead, moved_items, session_state
from a3s_desktop.session.wording import CHANGED, entry_text, operation_text
from a3s_desktop.storage.exports.formats import format_of, write_export
from a3s_desktop.storage.exports.state import ExportOptions, ExportState, Written
from a3s_desktop.storage.journal_types import JournalProtocol
from a3s_desktop.storage.workspace import Workspace
from a3s_desktop.task import Task

log = logging.getLogger(__name__)

SNAPSHOT_EVERY = 200
FAR = 50

Outcome = tuple[SessionState, Change]


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
    far : int
        Entries to be given again from which on a way is long: the way back is kept in memory, progress is told.
    base : Base, optional
        What the engine was carried over from, where images were added.
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
        far: int = FAR,
        base: Base | None = None,
        task: Task | None = None,
    ) -> None:
        self._initial = initial
        self._journal = journal
        self._workspace = workspace
        self._read_only = read_only
        self._snapshot_every = snapshot_every
        self._far = far
        self._source = EngineSource(
            initial, views, options, journal, base, workspace.epoch if workspace is not None else 1
        )
        self._history = History.fold(journal.records())
        self._position, self.warnings = self._source.position(self._history.entries, task)
        self._snapshot_at = self._position.replayed_from
        self._closed = False
        self._listing = HistoryList(initial.graph, self._path)
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
        """The engine, for reading; nothing but the session may change it."""
        return self._position.engine

    @property
    def start(self) -> Start:
        """The entries in force, as a start for an engine that has them all."""
        entries, position = self._history.entries, self._position
        if entries is None:
            return Start()
        return Start(entries.count, entries.digest, position.conflicts, position.useful(RECENT))

    def members(self, cluster: int) -> tuple[int, ...]:
        """Items of a cluster, ascending; empty for an id that no item has."""
        return tuple(self.engine.partition.members(cluster).tolist())

    @property
    def overview(self) -> Overview:
        """Clusters and images by doubt and by nearness, as they are now."""
        return Overview(self.engine, self._initial.graph, self.state.names)

    @property
    def listing(self) -> HistoryList:
        """The entries in force, filtered and in pages."""
        return self._listing.follow(self._history.entries, self.state.labels, self.state.conflicts)

    def history(self, limit: int | None = None) -> tuple[HistoryEntry, ...]:
        """The entries in force, newest first; at most ``limit``."""
        return tuple(itertools.islice(self._entries(), limit))

    def entries_behind(
        self, chain: Sequence[tuple[int, int, str]], dropped: Collection[int] = ()
    ) -> tuple[HistoryEntry | None, ...]:
        """The entry that each link of a contradiction's chain comes from; None where it is a known label.

        Parameters
        ----------
        chain : sequence of (left, right, answer)
            As in `ContradictionError.chain`.
        dropped : collection of int
            Numbers of entries that do not count: they are to be dropped already.
        """
        wanted = {(min(left, right), max(left, right), said): None for left, right, said in chain}
        found: dict[tuple[int, int, str], HistoryEntry] = {}
        for node in self._history.nodes():
            entry, conflicts = node.entry, self._position.conflicts
            if entry.withdrawn or node.count in conflicts or node.count in dropped:
                continue
            for key in links_among(entry, wanted):
                found[key] = history_entry(self._initial.graph, node, conflicts)
        return tuple(found.get(key) for key in wanted)

    def audit_pair(self) -> tuple[int, int] | None:
        """The next pair of the random sample; None where nothing is left to draw. See `audit`."""
        shown = {
            (min(node.entry.left, node.entry.right), max(node.entry.left, node.entry.right))
            for node in self._history.nodes()
            if isinstance(node.entry, RecordedAudit) and not node.entry.withdrawn
        }
        return draw_pair(self.engine, shown, self._source.options.seed)

    def times(self, since: float) -> tuple[float, ...]:
        """When the answers *same* and *different* were given, newest first, from ``since`` (POSIX seconds) on."""
        found = itertools.takewhile(lambda node: node.entry.when >= since, self._history.nodes())
        return tuple(
            node.entry.when
            for node in found
            if isinstance(node.entry, RecordedAnswer) and node.entry.answer.is_constraint and not node.entry.withdrawn
        )

    def look_ahead(self) -> LookAhead:
        """The next question, whichever answer is given, for decoding its images early; and what the answers would do.

        Called when nothing else is to be done, it also takes the snapshot that is due.
        """
        self._snapshot_if_due()
        question = self.state.question
        return LookAhead() if question is None else look_ahead(self.engine, question.id)

    # --- changing

    def answer(self, question_id: int, answer: Answer) -> Outcome:
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
            raise StaleAnswerError(
                tr("This answer belongs to a pair that is no longer asked."), tr("It was not counted.")
            )
        entry = RecordedAnswer.of(question, Answer(answer), time.time())
        record = (ANSWER, entry.payload(), entry.when)
        return self._transact(ChangeKind.ANSWER, entry_text(entry), record, self._history.push(entry))

    def perform(self, operation: Operation, dropping: Collection[int] = (), task: Task | None = None) -> Outcome:
        """Set something right by hand: merge, split off, move, junk, name, finish...

        Parameters
        ----------
        operation : Operation
            One of `session.operations`.
        dropping : collection of int
            Numbers of entries that are taken back in the same step, because they contradict it.
        task : Task, optional
            Progress and cancellation, where many later entries have to be gone through again.

        Raises
        ------
        InputError
            There is nothing to do, or it cannot be done; `NameTakenError` names the cluster that has the name.
        ContradictionError
            Earlier answers imply the opposite; the error carries the chain, `entries_behind` tells where it is from.
        ReadOnlyError, StorageFailedError
        """
        self._check_writable()
        entry = operation.record(self.engine, self._history.names, time.time())
        amendments = dict.fromkeys(dropping)
        payload = entry.payload() | (amendments_to_json(amendments) if amendments else {})
        history = self._history.push(entry, amendments)
        record = (CORRECT, payload, entry.when)
        return self._transact(ChangeKind.CORRECTION, entry_text(entry), record, history, task=task)

    def change(self, number: int, answer: Answer | None, task: Task | None = None) -> Outcome:
        """Answer an old question differently, or take an old answer or correction back.

        Everything that depends on it is done again. Later answers that contradict now are kept without effect, and
        listed in ``state.conflicts``; they count again when the contradiction goes away.

        Parameters
        ----------
        number : int
            `HistoryEntry.number`.
        answer : Answer or None
            None takes it back: the pair may be asked again.
        task : Task, optional
            Progress and cancellation: thousands of later entries take seconds.

        Raises
        ------
        InputError
            There is no such entry, or it is a correction and ``answer`` is not None.
        ReadOnlyError, StorageFailedError
        """
        self._check_writable()
        amendments = {number: answer}
        record = (CHANGE, amendments_to_json(amendments), time.time())
        history = self._history.change(amendments)
        return self._transact(ChangeKind.CHANGE, tr(CHANGED), record, history, refuse=False, task=task)

    def audit(self, left: int, right: int, answer: Answer) -> Outcome:
        """Note what a pair of the random sample is. It measures and changes nothing; see ``state.audit``.

        Raises
        ------
        ReadOnlyError, StorageFailedError
        """
        self._check_writable()
        entry = RecordedAudit(left, right, Answer(answer), time.time())
        record = (AUDIT, entry.payload(), entry.when)
        return self._transact(ChangeKind.AUDIT, entry_text(entry), record, self._history.push(entry))

    def undo(self, task: Task | None = None) -> Outcome:
        """Take back the newest operation and everything that it caused, also one from before a restart.

        Raises
        ------
        NothingToUndoError, ReadOnlyError, StorageFailedError
        """
        self._check_writable()
        last = self._history.past
        if last is None:
            raise NothingToUndoError(tr("There is nothing to undo."))
        text = tr("Undo {operation}", operation=operation_text(last))
        record = (UNDO, dict[str, Any](), time.time())
        return self._transact(ChangeKind.UNDO, text, record, self._history.undo(), refuse=False, task=task)

    def redo(self, task: Task | None = None) -> Outcome:
        """Bring the operation back that was undone last.

        Raises
        ------
        NothingToUndoError, ReadOnlyError, StorageFailedError
        """
        self._check_writable()
        following = self._history.next
        if following is None:
            raise NothingToUndoError(tr("There is nothing to redo."))
        text = tr("Redo {operation}", operation=operation_text(following))
        record = (REDO, dict[str, Any](), time.time())
        return self._transact(ChangeKind.REDO, text, record, self._history.redo(), refuse=False, task=task)

    # --- leaving

    def export_state(self) -> ExportState:
        """All that an export writes, as it is on the screen now; immutable, to be written on any thread.

        Raises
        ------
        ProjectError
            This session has no project folder.
        """
        if self._workspace is None:
            raise ProjectError(tr("This session has no project folder whose images could be named."))
        doubts = self.overview.doubts()
        return export_state(self._workspace, self._initial, self._journal, self._history, self.state, doubts)

    def export(
        self,
        format: str,
        out: Path,
        overwrite: bool = False,
        options: ExportOptions | None = None,
        task: Task | None = None,
    ) -> Written:
        """Write the clusters as they are on the screen.

        Parameters
        ----------
        format : str
            `storage.exports.formats.Format.id`: "csv", "json", "folders"...
        out : Path
        overwrite : bool
            Whether an existing file may be replaced.
        options : ExportOptions, optional
        task : Task, optional

        Raises
        ------
        InputError, ProjectError, StorageFailedError, Cancelled
        """
        format_of(format)
        return write_export(format, self.export_state(), out, overwrite, options, task)

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

    def _path(self, item: int) -> str:
        return self._workspace.items.paths[item] if self._workspace is not None else str(item)

    def _entries(self) -> Iterator[HistoryEntry]:
        for node in self._history.nodes():
            yield history_entry(self._initial.graph, node, self._position.conflicts)

    def _transact(
        self,
        kind: ChangeKind,
        text: str,
        record: tuple[str, dict[str, Any], float],
        history: History,
        refuse: bool = True,
        task: Task | None = None,
    ) -> Outcome:
        shared = self._position.shared_with(history.entries)
        put_back = self._move_to(history, refuse, task)
        try:
            state = self._picture(history, self.state.revision + 1)
            change = Change(kind, text, moved_items(self.state, state))
            self._journal.append(*record)
        except BaseException:
            put_back()
            raise
        self._history = history
        self.state, self.last_change = state, change
        self._snapshot_at = min(self._snapshot_at, max(shared, self._position.replayed_from), history.count)
        return state, change

    def _move_to(self, history: History, refuse: bool, task: Task | None) -> Callable[[], None]:
        """Bring the engine to the entries of ``history``; returns how to come back. An error changes nothing."""
        position, before, target = self._position, self._history.entries, history.entries
        steps = position.steps_to(target)
        if steps is not None and steps <= self._far:
            position.go(target, refuse_last=refuse)
            return lambda: position.go(before)
        if task is not None:
            task.stage(tr("Later answers are gone through again"))
        if before is not None:
            self._source.park(before, position)
        if steps is None or before is None or history.count - self._source.parked_before(target) < steps:
            # Beyond what this process has seen, or back from a long way: start from a kept state before it.
            self._position, _ = self._source.position(target, task, refuse)
            return lambda: setattr(self, "_position", position)

        def put_back() -> None:
            self._position, _ = self._source.position(before)

        try:
            position.go(target, task, refuse, come_back=False)
        except BaseException:
            put_back()
            raise
        return put_back

    def _picture(self, history: History, revision: int) -> SessionState:
        return session_state(self._position, self._initial.graph, history, revision, self._read_only)

    def _check_writable(self) -> None:
        if self._read_only:
            raise ReadOnlyError(
                tr("This project is open read-only."), tr("Close it in the other window, then open it again.")
            )

    def _snapshot_if_due(self) -> None:
        # Outside of the operations, so that no answer waits for it and none can fail by it.
        entries = self._history.entries
        if self._read_only or not self._snapshot_every or entries is None:
            return
        if entries.count - self._snapshot_at < self._snapshot_every:
            return
        try:
            self._source.save_snapshot(entries, self._position)
        except A3SError as error:
            # It only saves time at the next start; the answers are on disk already.
            log.warning("No snapshot was stored: %s", error)
        self._snapshot_at = entries.count
