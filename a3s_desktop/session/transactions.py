"""How every change is made: apply to the engine, build the new state, commit to the journal, publish, or nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from a3s_desktop.core.types import InitialState
from a3s_desktop.errors import A3SError, ReadOnlyError
from a3s_desktop.i18n import tr
from a3s_desktop.session.entries import by
from a3s_desktop.session.history import History
from a3s_desktop.session.replay import EngineSource
from a3s_desktop.session.state import Change, ChangeKind, SessionState
from a3s_desktop.session.view import Copies, moved_items, session_state
from a3s_desktop.task import Task

log = logging.getLogger(__name__)

_KEPT = 2000  # newest entries that are taken back from memory
Outcome = tuple[SessionState, Change]


class Transactions:
    """What `Session` is built on: an engine that follows a history, and the one way to change both.

    Parameters
    ----------
    initial : InitialState
    source : EngineSource
    far : int
        Entries to be given again from which on a way is long.
    task : Task, optional
    """

    author: str
    state: SessionState
    last_change: Change
    _read_only: bool
    _snapshot_every: int

    def __init__(self, initial: InitialState, source: EngineSource, far: int, task: Task | None) -> None:
        self._initial = initial
        self._source = source
        self._journal = source.journal
        self._far = far
        self._history = History.fold(self._journal.records())
        self._position, self.warnings = source.position(self._history.entries, task)
        self._snapshot_at = self._position.replayed_from
        self._copies = Copies()

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
            self._journal.append(record[0], record[1] | by(self.author), record[2])
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
            if task is not None:
                task.stage(tr("The clusters are changed"))
            position.go(target, task, refuse_last=refuse)
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
        return session_state(self._position, history, revision, self._read_only, self._copies)

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
        else:
            self._position.forget(_KEPT)  # what is further back is reached from the snapshots
        self._snapshot_at = entries.count
