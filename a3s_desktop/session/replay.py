"""From entries to a running engine, and from one list of entries to another."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from a3s_desktop.core.carrying import without_answers
from a3s_desktop.core.engine import Engine, Mark
from a3s_desktop.core.types import InitialState, StrategyOptions
from a3s_desktop.errors import A3SError, ContradictionError, ProjectError
from a3s_desktop.i18n import tr, trn
from a3s_desktop.session.entries import RecordedAnswer, RecordedAudit, RecordedCorrection
from a3s_desktop.session.history import HistoryNode
from a3s_desktop.storage.journal_types import JournalProtocol, Snapshot
from a3s_desktop.task import Task

log = logging.getLogger(__name__)

SNAPSHOT_FORMAT = 2

_PARKED = 4
"""States kept in memory before long ways: back from a change, and forth again."""

RECENT = 50
"""Entries whose use is remembered with a snapshot: as many as the window tells of."""


@dataclass(frozen=True, slots=True)
class Start:
    """What a snapshot holds besides the engine.

    Attributes
    ----------
    count : int
        Entries that are in the engine.
    digest : bytes
        Of the last of them.
    conflicts : tuple of int
        Numbers of those that contradicted earlier ones and have no effect.
    useful : tuple of bool
        For the last of them, at most `RECENT`: whether it moved an item.
    """

    count: int = 0
    digest: bytes = b""
    conflicts: tuple[int, ...] = ()
    useful: tuple[bool, ...] = ()

    def is_at(self, node: HistoryNode) -> bool:
        """Whether a node is the last of these entries."""
        return (node.count, node.digest) == (self.count, self.digest)


class Position:
    """An engine at some point of a history, and the way back: its mark before every entry that it was given here.

    Parameters
    ----------
    engine : Engine
    start : Start
        The entries that are in the engine already, for which there is no mark.
    carried : Start, optional
        Entries that are not to be given one by one up to the last: an engine that has them all is made otherwise.
    """

    def __init__(self, engine: Engine, start: Start, carried: Start | None = None) -> None:
        self.engine = engine
        self._start = start
        self._carried = carried if carried is not None and carried.count > start.count else None
        self._nodes: list[HistoryNode] = []
        self._marks: list[Mark] = []
        self._useful: list[bool | None] = []  # None: an entry that only measures
        self._conflicts: dict[int, None] = {}
        self.imposed = 0  # answers that met another question than when they were given

    @property
    def replayed_from(self) -> int:
        """Entries that came from a snapshot."""
        return self._start.count

    @property
    def conflicts(self) -> tuple[int, ...]:
        """Numbers of the entries that contradict earlier ones and have no effect, ascending."""
        return (*self._start.conflicts, *self._conflicts)

    def useful(self, newest: int) -> tuple[bool, ...]:
        """Whether each of the newest entries moved an item, oldest first; the sample check's do not count."""
        told = [one for one in self._useful if one is not None]
        return (*self._start.useful, *told)[-newest:] if newest else ()

    def steps_to(self, target: HistoryNode | None) -> int | None:
        """How many entries `go` would have to give; None where it does not work: the position must be built anew."""
        way = self._way(target)
        return None if way is None else len(way[1])

    def shared_with(self, target: HistoryNode | None) -> int:
        """How many of the present entries are on the way to a target; 0 where it cannot be reached."""
        way = self._way(target)
        return 0 if way is None else self._start.count + way[0]

    def go(
        self,
        target: HistoryNode | None,
        task: Task | None = None,
        refuse_last: bool = False,
        come_back: bool = True,
    ) -> None:
        """Bring the engine from the present entries to those up to ``target``.

        What the two have in common stays; the rest is taken back, and the new entries are given one by one. One that
        contradicts those before it has no effect and counts as a conflict.

        Parameters
        ----------
        target : HistoryNode or None
        task : Task, optional
        refuse_last : bool
            The last entry is new: where it contradicts, that is an error.
        come_back : bool
            After an error the engine stands where it stood, which may take as long as the way did. Otherwise the
            position is of no use any more.

        Raises
        ------
        ContradictionError
            The last entry contradicts.
        Cancelled
        """
        way = self._way(target)
        if way is None:
            raise ValueError("this position cannot be reached from here")
        kept, path = way
        before = self._nodes[-1] if self._nodes else None
        self._back_to(kept)
        try:
            for done, node in enumerate(path):
                if task is not None:
                    task.step(done / len(path))
                self._give(node, refuse=refuse_last and node is target)
        except BaseException:
            if not come_back:
                raise
            kept, path = self._way(before) or (0, [])
            self._back_to(kept)
            for node in path:
                self._give(node, refuse=False)
            raise

    def summary(self) -> Mapping[str, Any]:
        """What a snapshot must hold besides the engine; read by `start_of`."""
        return {"conflicts": list(self.conflicts), "useful": [int(one) for one in self.useful(RECENT)]}

    # --- inner workings

    def _way(self, target: HistoryNode | None) -> tuple[int, list[HistoryNode]] | None:
        """How many of the present nodes are on the way to a target, and the nodes after them, oldest first."""
        path: list[HistoryNode] = []
        node = target
        while node is not None and node.count > self._start.count:
            at = node.count - self._start.count
            if at <= len(self._nodes) and self._nodes[at - 1] is node:
                return at, path[::-1]
            if self._carried is not None and self._carried.is_at(node):
                return None
            path.append(node)
            node = node.before
        if (node.count, node.digest) != (self._start.count, self._start.digest) if node else self._start.count:
            return None
        return 0, path[::-1]

    def _back_to(self, kept: int) -> None:
        if kept < len(self._nodes):
            self.engine.restore(self._marks[kept])
            for node in self._nodes[kept:]:
                self._conflicts.pop(node.count, None)
            del self._nodes[kept:], self._marks[kept:], self._useful[kept:]

    def _give(self, node: HistoryNode, refuse: bool) -> None:
        """Give one entry. Raises `ContradictionError` only with ``refuse``; the engine then stands where it stood."""
        engine, entry = self.engine, node.entry
        if entry.largest_item() >= len(engine.labels):
            raise ProjectError(
                tr(
                    "The journal names image {number}, but the project has {count}.",
                    number=entry.largest_item() + 1,
                    count=len(engine.labels),
                ),
                tr("Its files do not belong together; restore the project from a backup."),
            )
        mark, version = engine.mark(), engine.partition.version
        try:
            if not entry.withdrawn:
                self._apply(entry)
        except ContradictionError as error:
            engine.restore(mark)
            if refuse:
                raise
            version = engine.partition.version
            self._conflicts[node.count] = None
            log.warning("Entry %d contradicts earlier ones and has no effect: %s", node.count, error)
        except BaseException:
            engine.restore(mark)
            raise
        self._nodes.append(node)
        self._marks.append(mark)
        self._useful.append(None if isinstance(entry, RecordedAudit) else engine.partition.version != version)

    def _apply(self, entry: RecordedAnswer | RecordedCorrection | RecordedAudit) -> None:
        engine = self.engine
        if isinstance(entry, RecordedAudit):
            return
        if isinstance(entry, RecordedCorrection):
            if entry.correction.to_json():
                engine.correct(entry.correction)
            return
        question = engine.question
        asked = (question.left, question.right) if question is not None else ()
        pair = (entry.left, entry.right)
        # Which side is junk hangs on the order; all other answers do not.
        if asked == pair or (asked == pair[::-1] and not entry.answer.junked(*pair)):
            engine.record(entry.answer)
        else:
            engine.impose(entry.left, entry.right, entry.answer)
            self.imposed += 1


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
    """

    initial: InitialState
    views: Sequence[npt.NDArray[Any]]
    options: StrategyOptions
    journal: JournalProtocol
    base: Base | None = None
    epoch: int = 1
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
        position = self._from_snapshot(entries, warnings) or self._from_base(entries, warnings)
        if position is None:
            position = Position(Engine(self.initial, self.views, self.options), Start(), self._carried)
        position.go(entries, task, refuse_last, come_back=False)
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

    # --- inner workings

    def _dump(self, entries: HistoryNode, position: Position) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        arrays, engine = position.engine.dump()
        return arrays, {
            "format": SNAPSHOT_FORMAT,
            "options": self.options.to_json(),
            "epoch": self.epoch,
            "digest": entries.digest.hex(),
            "engine": engine,
            **position.summary(),
        }

    def _parked_on(self, entries: HistoryNode | None) -> HistoryNode | None:
        node = entries if self._parked else None
        while node is not None and node.digest.hex() not in self._parked:
            node = node.before
        return node

    def _from_snapshot(self, entries: HistoryNode | None, warnings: list[str]) -> Position | None:
        """The newest snapshot that lies on the way to ``entries``: parked, or of the journal."""
        least = self._carried.count if self._carried is not None and self._has_all(entries) else 0
        parked = self._parked_on(entries)
        if parked is not None and parked.count >= least:
            position = self._load(self._parked[parked.digest.hex()], parked, warnings)
            if position is not None:
                return position
        on_the_way: dict[str, HistoryNode] = {}
        node = entries
        while node is not None and node.count >= least:
            on_the_way[node.digest.hex()] = node
            node = node.before
        shot = self.journal.newest_snapshot() if entries is not None else None
        while shot is not None:
            # After an undo, the newest snapshots hold entries that are no longer in force.
            found = on_the_way.get(str(shot.meta.get("digest")))
            position = self._load(shot, found, warnings) if found is not None else None
            if position is not None:
                return position
            shot = self.journal.newest_snapshot(shot.seq - 1)
        return None

    def _from_base(self, entries: HistoryNode | None, warnings: list[str]) -> Position | None:
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
            engine = Engine.load(self.initial, self.views, self.options, arrays, base.meta)
        except (A3SError, KeyError, TypeError, ValueError, IndexError) as error:
            log.warning("The carried state cannot be used: %s", error)
            warnings.append(tr("What was kept when images were added could not be read; the answers were replayed."))
            return None
        return Position(engine, base.start if whole else Start(), base.start)

    @property
    def _carried(self) -> Start | None:
        return self.base.start if self.base is not None else None

    def _has_all(self, entries: HistoryNode | None) -> bool:
        """Whether the entries that the engine was carried over with are all in force."""
        carried, node = self._carried, entries
        if carried is None or not carried.count:
            return carried is not None
        while node is not None and node.count > carried.count:
            node = node.before
        return node is not None and carried.is_at(node)

    def _load(self, shot: Snapshot, node: HistoryNode, warnings: list[str]) -> Position | None:
        if shot.meta.get("epoch", 1) != self.epoch:
            return None
        if shot.meta.get("format") != SNAPSHOT_FORMAT or shot.meta.get("options") != self.options.to_json():
            return None  # of another version of the program: the answers themselves are in the journal
        try:
            start = Start(
                node.count,
                node.digest,
                tuple(int(number) for number in shot.meta["conflicts"]),
                tuple(bool(one) for one in shot.meta["useful"]),
            )
            engine = Engine.load(self.initial, self.views, self.options, shot.arrays, shot.meta["engine"])
        except (A3SError, KeyError, TypeError, ValueError, IndexError) as error:
            log.warning("The snapshot at record %d cannot be used: %s", shot.seq, error)
            warnings.append(tr("A stored snapshot could not be read; the answers were replayed instead."))
            return None
        return Position(engine, start, self._carried)
