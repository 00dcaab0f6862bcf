"""From entries to a running engine: by the newest snapshot that fits, and the entries after it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy.typing as npt

from a3s_desktop.core.carrying import without_answers
from a3s_desktop.core.engine import Engine
from a3s_desktop.core.types import InitialState, StrategyOptions
from a3s_desktop.errors import Cancelled, StorageFailedError
from a3s_desktop.i18n import tr, trn
from a3s_desktop.session.chain import HistoryNode
from a3s_desktop.session.kept_state import KeptState
from a3s_desktop.session.position import Position, Start
from a3s_desktop.storage.journal_types import JournalProtocol, Snapshot
from a3s_desktop.task import Task

log = logging.getLogger(__name__)

SNAPSHOT_FORMAT = 6

_MADE = 0.5  # share of a stage in which an engine is made and then given the entries

_Tell = Callable[[float], None]

_PARKED = 4
"""States kept in memory before long ways: back from a change, and forth again."""


@dataclass(frozen=True, slots=True, eq=False)
class Base:
    """An engine's state carried over to more images, with all entries of that moment in it.

    Attributes
    ----------
    start : Start
        Those entries.
    arrays, meta : for `Engine.load`
    """

    start: Start
    arrays: Mapping[str, npt.NDArray[Any]]
    meta: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """All but the arrays, as JSON-able values."""
        return {
            "count": self.start.count,
            "digest": self.start.digest.hex(),
            "conflicts": list(self.start.conflicts),
            "useful": [int(one) for one in self.start.useful],
            "engine": dict(self.meta),
        }

    @classmethod
    def from_json(cls, arrays: Mapping[str, npt.NDArray[Any]], values: Mapping[str, Any]) -> Base:
        """Inverse of `to_json`. Raises `KeyError`, `TypeError` or `ValueError` for what it cannot have written."""
        start = Start(
            int(values["count"]),
            bytes.fromhex(values["digest"]),
            tuple(int(number) for number in values["conflicts"]),
            tuple(bool(one) for one in values["useful"]),
        )
        return cls(start, arrays, dict(values["engine"]))


@dataclass(frozen=True, slots=True)
class EngineSource:
    """Everything that an engine is made from.

    Attributes
    ----------
    initial : InitialState
    views : sequence of float32 (N, D_v)
    options : StrategyOptions
    journal : JournalProtocol
        Where snapshots are kept.
    base : Base, optional
        What the engine was carried over from, where images were added.
    epoch : int
        Snapshots of other epochs of the project do not fit.
    kept : KeptState, optional
        What is kept of a large project besides.
    """

    initial: InitialState
    views: Sequence[npt.NDArray[Any]]
    options: StrategyOptions
    journal: JournalProtocol
    base: Base | None = None
    epoch: int = 1
    kept: KeptState | None = None
    _parked: dict[str, Snapshot] = field(default_factory=dict)

    def position(
        self, entries: HistoryNode | None, task: Task | None = None, refuse_last: bool = False
    ) -> tuple[Position, tuple[str, ...]]:
        """The engine after all entries up to ``entries``, and warnings in plain words.

        The newest snapshot whose entries are a beginning of these is loaded, the rest replayed. A snapshot that
        cannot be read is a warning, never a failure.

        Raises
        ------
        ContradictionError
            With ``refuse_last``: the last entry contradicts.
        ProjectError
            The journal names items that the project does not have.
        Cancelled
        """
        warnings: list[str] = []
        made = _MADE if entries is not None else 1.0
        tell = None if task is None else partial(_tell, task, made)
        position = self._from_snapshot(entries, warnings, tell) or self._from_base(entries, warnings, tell)
        if position is None:
            position = Position(Engine(self.initial, self.views, self.options, tell=tell), Start(), self._carried)
        position.go(entries, task, refuse_last, come_back=False, begun=made)
        if entries is not None and not entries.edited and self.epoch == 1:
            if position.imposed:
                warnings.append(
                    trn(
                        "{n} of {count} stored answers met another question than when it was given; "
                        "it was kept as it is.",
                        "{n} of {count} stored answers met another question than when they were given; "
                        "they were kept as they are.",
                        position.imposed,
                        count=entries.count,
                    )
                )
            if position.conflicts:
                warnings.append(
                    trn(
                        "{n} stored answer contradicts earlier ones and has no effect.",
                        "{n} stored answers contradict earlier ones and have no effect.",
                        len(position.conflicts),
                    )
                )
        for warning in warnings:
            log.warning(warning)
        return position, tuple(warnings)

    def park(self, entries: HistoryNode, position: Position) -> None:
        """Keep a state in memory before a long way: coming back is then as quick as loading a snapshot."""
        digest = entries.digest.hex()
        self._parked.pop(digest, None)
        self._parked[digest] = Snapshot(0, *self._dump(entries, position))
        for old in list(self._parked)[:-_PARKED]:
            del self._parked[old]

    def parked_before(self, entries: HistoryNode | None) -> int:
        """Count of the newest entry on the way to ``entries`` whose state is parked; 0 where none is."""
        node = self._parked_on(entries)
        return 0 if node is None else node.count

    def save_snapshot(self, entries: HistoryNode, position: Position) -> None:
        """Keep the engine's whole state with the journal; ``entries`` must be those that it was given.

        Raises
        ------
        StorageFailedError
        """
        self.journal.save_snapshot(*self._dump(entries, position))

    def keep(self, entries: HistoryNode | None, position: Position) -> None:
        """Keep the state with all that is derived from it, unless one is kept that is near; see `save_snapshot`."""
        if self.kept is None or not self.kept.wanted:
            return
        known = self._on_the_way(self.kept.digest, entries)
        since = [] if known is None or entries is None else entries.entries_since(known[1] + 1)
        if known is None or not self.kept.is_near(entry for _, entry in since):
            self.kept.save(*self._dump(entries, position, facts=True))

    # --- inner workings

    def _dump(
        self, entries: HistoryNode | None, position: Position, facts: bool = False
    ) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        arrays, engine = position.engine.dump(facts)
        return arrays, {
            "format": SNAPSHOT_FORMAT,
            "options": self.options.to_json(),
            "epoch": self.epoch,
            "digest": "" if entries is None else entries.digest.hex(),
            "engine": engine,
            **position.summary(),
        }

    def _parked_on(self, entries: HistoryNode | None) -> HistoryNode | None:
        found = [entries.with_digest(digest) for digest in self._parked] if entries is not None else []
        return max((node for node in found if node is not None), key=lambda node: node.count, default=None)

    def _from_snapshot(self, entries: HistoryNode | None, warnings: list[str], tell: _Tell | None) -> Position | None:
        """The newest snapshot that lies on the way to ``entries``: parked, or of the journal."""
        least = self._carried.count if self._carried is not None and self._has_all(entries) else 0
        parked = self._parked_on(entries)
        if parked is not None and parked.count >= least:
            position = self._load(self._parked[parked.digest.hex()], parked, warnings, tell)
            if position is not None:
                return position
        kept, worth = (self.kept.load(), self.kept.worth) if self.kept is not None else (None, 0)
        near = self._on_the_way(self.kept.digest, entries) if self.kept is not None else None
        shot = self._newest(None) if entries is not None else None
        while shot is not None and entries is not None:
            # After an undo, the newest snapshots hold entries that are no longer in force.
            found = entries.with_digest(str(shot.meta.get("digest")))
            if found is not None and near is not None and found.count <= near[1] + worth:
                break
            position = self._load(shot, found, warnings, tell) if found is not None and found.count >= least else None
            if position is not None:
                return position
            shot = self._newest(shot.seq - 1)
        if kept is not None and near is not None and near[1] >= least:
            return self._load(kept, near[0], warnings, tell)
        return None

    def _on_the_way(self, kept: str | None, entries: HistoryNode | None) -> tuple[HistoryNode | None, int] | None:
        """The last entry of a kept state by its digest, and how many it has; None where they are not all in force."""
        if not kept:
            return (None, 0) if kept == "" and self.base is None else None
        found = entries.with_digest(kept) if entries is not None else None
        return None if found is None else (found, found.count)

    def _newest(self, at_most: int | None) -> Snapshot | None:
        try:
            return self.journal.newest_snapshot(at_most)
        except StorageFailedError as error:  # on the way back from a failed write the drive may be gone altogether
            log.warning("%s The answers are replayed.", error.message)
            return None

    def _from_base(self, entries: HistoryNode | None, warnings: list[str], tell: _Tell | None) -> Position | None:
        """The engine as it was carried over.

        Where an entry from before was taken back or changed since, all are given again, to the clusters that they led
        to: what was learnt and guessed stays, only what is no longer said does not bind.
        """
        base = self.base
        if base is None:
            return None
        whole = self._has_all(entries)
        try:
            arrays = base.arrays if whole else without_answers(base.arrays)
            engine = Engine.load(self.initial, self.views, self.options, arrays, base.meta, tell)
        except Cancelled:
            raise
        except Exception as error:  # noqa: BLE001 - what was kept may hold anything; the answers are in the journal
            log.warning("The carried state cannot be used: %s", error)
            warnings.append(tr("What was kept when images were added could not be read; the answers were replayed."))
            return None
        return Position(engine, base.start if whole else Start(), base.start)

    @property
    def _carried(self) -> Start | None:
        return self.base.start if self.base is not None else None

    def _has_all(self, entries: HistoryNode | None) -> bool:
        """Whether the entries that the engine was carried over with are all in force."""
        carried = self._carried
        if carried is None or not carried.count:
            return carried is not None
        if entries is None or entries.count < carried.count:
            return False
        return carried.is_at(entries.numbered([carried.count])[0])

    def _load(
        self, shot: Snapshot, node: HistoryNode | None, warnings: list[str], tell: _Tell | None
    ) -> Position | None:
        if shot.meta.get("epoch", 1) != self.epoch:
            return None
        if shot.meta.get("format") != SNAPSHOT_FORMAT or shot.meta.get("options") != self.options.to_json():
            return None  # of another version of the program: the answers themselves are in the journal
        try:
            start = Start(
                0 if node is None else node.count,
                b"" if node is None else node.digest,
                tuple(int(number) for number in shot.meta["conflicts"]),
                tuple(bool(one) for one in shot.meta["useful"]),
            )
            engine = Engine.load(self.initial, self.views, self.options, shot.arrays, shot.meta["engine"], tell)
        except Cancelled:
            raise
        except Exception as error:  # noqa: BLE001 - what was kept may hold anything; the answers are in the journal
            log.warning("The snapshot at record %d cannot be used: %s", shot.seq, error)
            warnings.append(tr("A stored snapshot could not be read; the answers were replayed instead."))
            return None
        return Position(engine, start, self._carried)


def _tell(task: Task, whole: float, share: float) -> None:
    task.step(whole * share)
