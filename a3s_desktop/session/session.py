"""`Session`: the one door to a project. Everything a user can do to the data is one of its methods."""

from __future__ import annotations

import itertools
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy.typing as npt

from a3s_desktop.core.engine import Engine
from a3s_desktop.core.types import Answer, InitialState, StrategyOptions
from a3s_desktop.errors import InputError, NothingToUndoError, ProjectError, StaleAnswerError
from a3s_desktop.i18n import tr
from a3s_desktop.session.audit import draw_pair
from a3s_desktop.session.backing_up import Backups
from a3s_desktop.session.entries import RecordedAnswer, RecordedAudit
from a3s_desktop.session.exporting import export_state
from a3s_desktop.session.history import (
    ANSWER,
    AUDIT,
    CHANGE,
    CORRECT,
    MERGE,
    REDO,
    UNDO,
    amendments_to_json,
    merge_to_json,
)
from a3s_desktop.session.joint import Joint
from a3s_desktop.session.kept_state import KeptState
from a3s_desktop.session.listing import HistoryList, nodes_behind
from a3s_desktop.session.merging import MergePlan
from a3s_desktop.session.operations import Operation
from a3s_desktop.session.overview import Overview
from a3s_desktop.session.position import RECENT, Start
from a3s_desktop.session.replay import Base, EngineSource
from a3s_desktop.session.state import Change, ChangeKind, HistoryEntry, LookAhead, no_items
from a3s_desktop.session.transactions import Outcome, Transactions
from a3s_desktop.session.view import history_entry, look_ahead
from a3s_desktop.session.wording import CHANGED, entry_text, operation_text
from a3s_desktop.storage.exports.formats import format_of, write_export
from a3s_desktop.storage.exports.state import ExportOptions, ExportState, Written
from a3s_desktop.storage.journal_types import JournalProtocol
from a3s_desktop.storage.workspace import Workspace
from a3s_desktop.task import Task

SNAPSHOT_EVERY = 200
FAR = 50


class Session(Transactions):
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
    author : str
        Who gives the answers; kept with each of them, unless it is empty.
    kept : KeptState, optional
        Where the state of a large project is kept; default: in the workspace.
    task : Task, optional
        Progress and cancellation of the replay.

    Attributes
    ----------
    author : str
        May be changed at any time.
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
        author: str = "",
        kept: KeptState | None = None,
        task: Task | None = None,
    ) -> None:
        epoch = workspace.epoch if workspace is not None else 1
        kept = KeptState(workspace, len(initial.labels)) if workspace is not None else kept
        super().__init__(initial, EngineSource(initial, views, options, journal, base, epoch, kept), far, task)
        if not read_only:
            self._source.keep(self._history.entries, self._position)
        self._workspace = workspace
        self._read_only = read_only
        self._snapshot_every = snapshot_every
        self.author = author
        self._closed = False
        self._backups = Backups(workspace, journal)
        self._listing = HistoryList(initial.graph, partial(_path, workspace))  # not a method: see `Context.release`
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
        state = self.state
        return self._listing.follow(self._history.entries, state.labels, state.conflicts, self.author)

    def history(self, limit: int | None = None) -> tuple[HistoryEntry, ...]:
        """The entries in force, newest first; at most ``limit``."""
        return tuple(itertools.islice(self._entries(), limit))

    @property
    def joint(self) -> Joint:
        """The work of other annotators: what merging would do, and what has to be decided on."""
        conflicts = self._position.conflicts
        describe = partial(history_entry, self._initial.graph, conflicts=conflicts, own=self.author)
        return Joint(self._workspace, self.engine, self._history, conflicts, describe, self.entries_behind)

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
        conflicts = self._position.conflicts
        found = nodes_behind(self._history.nodes(), chain, {*conflicts, *dropped})
        graph = self._initial.graph
        return tuple(node if node is None else history_entry(graph, node, conflicts, self.author) for node in found)

    def audit_pair(self) -> tuple[int, int] | None:
        """The next pair of the random sample; None where nothing is left to draw. See `audit`."""
        shown = {(min(one.left, one.right), max(one.left, one.right)) for one in self._history.audits}
        return draw_pair(self.engine, shown, self._source.options.seed)

    def look_ahead(self) -> LookAhead:
        """The next question, whichever answer is given, for decoding its images early; and what the answers would do.

        Called when nothing else is to be done, it also takes the snapshot that is due, begins
        the backup that is, and makes the outlook anew.
        """
        self._snapshot_if_due()
        self._backups.note(self.state)
        question = self.state.question
        found = LookAhead() if question is None else look_ahead(self.engine, question.id)
        self.engine.renew_outlook()
        return found

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
        entry = RecordedAnswer.of(question, Answer(answer), time.time(), self.author)
        record = (ANSWER, entry.payload(), entry.when)
        return self._transact(ChangeKind.ANSWER, entry_text(entry), record, self._history.push(entry))

    def perform(self, operation: Operation, dropping: Collection[int] = (), task: Task | None = None) -> Outcome:
        """Set something right by hand: merge, split off, move, junk, name, finish...

        Parameters
        ----------
        operation : Operation
            One of `session.operations`.
        dropping : collection of int
            Numbers of entries that are taken back in the same step, because they contradict it; of a list of known
            labels only what it says of the operation's own images.
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
        entry = replace(operation.record(self.engine, self._history.names, time.time()), author=self.author)
        amendments = self._history.dropping(dropping, getattr(operation, "items", ()))
        payload = entry.payload() | (amendments_to_json(amendments) if amendments else {})
        history = self._history.push(entry, amendments, self.author)
        record = (CORRECT, payload, entry.when)
        return self._transact(ChangeKind.CORRECTION, entry_text(entry), record, history, task=task)

    def change(
        self, number: int, answer: Answer | None, task: Task | None = None, also: Collection[int] = ()
    ) -> Outcome:
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
        also : collection of int
            Numbers of entries that are taken back in the same step.

        Raises
        ------
        InputError
            There is no such entry, or it is a correction and ``answer`` is not None.
        ReadOnlyError, StorageFailedError
        """
        self._check_writable()
        amendments = dict.fromkeys(also) | {number: answer}
        record = (CHANGE, amendments_to_json(amendments), time.time())
        history = self._history.change(amendments, self.author)
        return self._transact(ChangeKind.CHANGE, tr(CHANGED), record, history, refuse=False, task=task)

    def merge(self, plan: MergePlan, task: Task | None = None) -> Outcome:
        """Take over what another annotator did; see `joint`. One step: undo takes all of it back.

        Raises
        ------
        InputError
            There is nothing new, or the project was changed since the plan was made.
        ReadOnlyError, StorageFailedError, Cancelled
        """
        self._check_writable()
        if plan.empty:
            raise InputError(tr("There is nothing new in {name}.", name=plan.source.name))
        if plan.base is not self._history:
            raise InputError(tr("The project was changed meanwhile; nothing was merged."), tr("Merge again."))
        self._backups.before("merge", self.state)
        history = self._history.merge(plan.source, plan.entries, plan.amendments)
        assert history.past is not None
        record = (MERGE, merge_to_json(plan.source, plan.entries, plan.amendments), time.time())
        return self._transact(ChangeKind.MERGE, operation_text(history.past), record, history, refuse=False, task=task)

    def moved_by(self, withdrawn: Collection[int]) -> int:
        """How many images would move if these entries (their numbers) were taken back. Changes nothing."""
        history = self._history.change(dict.fromkeys(withdrawn))
        put_back = self._move_to(history, refuse=False, task=None)
        try:
            return int((self.engine.labels != self.state.labels).sum())
        finally:
            put_back()

    def audit(self, left: int, right: int, answer: Answer) -> Outcome:
        """Note what a pair of the random sample is. It measures and changes nothing; see ``state.audit``.

        Raises
        ------
        ReadOnlyError, StorageFailedError
        """
        self._check_writable()
        entry = RecordedAudit(left, right, Answer(answer), time.time(), author=self.author)
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
        """Take the snapshot and the backup that are due and release the project. May be called twice."""
        if self._closed:
            return
        self._closed = True
        try:
            self._snapshot_if_due()
            if not self._read_only:
                self._source.keep(self._history.entries, self._position)
            self._backups.close(self.state)
        finally:
            if self._workspace is not None:
                self._workspace.close()
            else:
                self._journal.close()

    # --- inner workings

    def _entries(self) -> Iterator[HistoryEntry]:
        for node in self._history.nodes():
            yield history_entry(self._initial.graph, node, self._position.conflicts, self.author)


def _path(workspace: Workspace | None, item: int) -> str:
    return workspace.items.paths[item] if workspace is not None else str(item)
