"""From a history to a running engine: replay of answers, from the newest snapshot that fits."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from a3s_desktop.core.engine import Engine, Mark
from a3s_desktop.core.types import InitialState, StrategyOptions
from a3s_desktop.errors import A3SError, ContradictionError
from a3s_desktop.session.history import HistoryNode, RecordedAnswer
from a3s_desktop.storage.journal_types import JournalProtocol, Snapshot
from a3s_desktop.task import Task

log = logging.getLogger(__name__)

SNAPSHOT_FORMAT = 1


class Position:
    """An engine and the way back: its mark before every answer that this process gave it.

    Parameters
    ----------
    engine : Engine
    answered : int
        Answers that are already in the engine, for which there is no mark (it came from a snapshot).
    """

    def __init__(self, engine: Engine, answered: int = 0) -> None:
        self.engine = engine
        self._marks: list[Mark] = []
        self._answered = answered

    @property
    def count(self) -> int:
        """Answers in the engine, skips included."""
        return self._answered + len(self._marks)

    @property
    def replayed_from(self) -> int:
        """Answers that came from a snapshot."""
        return self._answered

    @property
    def can_take_back(self) -> bool:
        """Whether `take_back` works; else the position before must be rebuilt."""
        return bool(self._marks)

    def give(self, entry: RecordedAnswer) -> bool:
        """Answer the pair of ``entry``; the engine then stands at the next question.

        Returns
        -------
        bool
            False where the engine asks another pair (other numerics than when it was recorded): the answer was then
            imposed as a constraint.

        Raises
        ------
        ContradictionError
            Earlier answers imply the opposite. As after any other error, the engine stands where it stood.
        """
        mark = self.engine.mark()
        question = self.engine.question
        asked = question is not None and {question.left, question.right} == {entry.left, entry.right}
        try:
            if asked:
                self.engine.record(entry.answer)
            else:
                self.engine.impose(entry.left, entry.right, entry.answer)
        except BaseException:
            self.engine.restore(mark)
            raise
        self._marks.append(mark)
        return asked

    def pass_over(self) -> None:
        """Count an answer that could not be given, so that undo takes back the right ones."""
        self._marks.append(self.engine.mark())

    def take_back(self) -> None:
        """Return to the state before the last answer: the very question it was given to."""
        self.engine.restore(self._marks[-1])
        self._marks.pop()


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
    """

    initial: InitialState
    views: Sequence[npt.NDArray[Any]]
    options: StrategyOptions
    journal: JournalProtocol

    def position(self, history: HistoryNode | None, task: Task | None = None) -> tuple[Position, tuple[str, ...]]:
        """The engine after all answers up to ``history``, and warnings in plain words.

        The newest snapshot whose answers are a beginning of these answers is loaded, the rest replayed. A question
        that differs from the recorded one, or a snapshot that cannot be read, is a warning, never a failure.

        Raises
        ------
        Cancelled
        """
        warnings: list[str] = []
        position, rest = self._from_snapshot(history, warnings)
        if position is None:
            position = Position(Engine(self.initial, self.views, self.options))
        imposed = refused = 0
        for done, entry in enumerate(rest):
            if task is not None:
                task.step(done / len(rest))
            try:
                imposed += not position.give(entry)
            except ContradictionError as error:
                refused += 1
                position.pass_over()
                log.warning("Replay refused the answer to items %d and %d: %s", entry.left, entry.right, error)
        if imposed:
            warnings.append(
                f"{imposed} of {len(rest)} stored answers met another question than when they were given; "
                "they were kept as they are."
            )
        if refused:
            warnings.append(f"{refused} stored answers contradict earlier ones and have no effect.")
        for warning in warnings:
            log.warning(warning)
        return position, tuple(warnings)

    def save_snapshot(self, history: HistoryNode, engine: Engine) -> None:
        """Keep the engine's whole state with the journal; it must be that after ``history``, the newest record.

        Raises
        ------
        StorageFailedError
        """
        arrays, meta = engine.dump()
        described = {
            "format": SNAPSHOT_FORMAT,
            "digest": history.digest.hex(),
            "options": self.options.to_json(),
            "engine": meta,
        }
        self.journal.save_snapshot(arrays, described)

    def _from_snapshot(
        self, history: HistoryNode | None, warnings: list[str]
    ) -> tuple[Position | None, list[RecordedAnswer]]:
        """The newest snapshot that lies on the way to ``history``, and the answers after it, oldest first."""
        path: list[HistoryNode] = []
        node = history
        while node is not None:
            path.append(node)
            node = node.before
        path.reverse()
        count_of = {node.digest.hex(): node.count for node in path}
        shot = self.journal.newest_snapshot() if path else None
        while shot is not None:
            # After an undo, the newest snapshots hold answers that are no longer in force.
            count = count_of.get(str(shot.meta.get("digest")))
            engine = self._load(shot, warnings) if count else None
            if count and engine is not None:
                return Position(engine, count), [node.entry for node in path[count:]]
            shot = self.journal.newest_snapshot(shot.seq - 1)
        return None, [node.entry for node in path]

    def _load(self, shot: Snapshot, warnings: list[str]) -> Engine | None:
        if shot.meta.get("format") != SNAPSHOT_FORMAT or shot.meta.get("options") != self.options.to_json():
            return None  # of another version of the program: the answers themselves are in the journal
        try:
            return Engine.load(self.initial, self.views, self.options, shot.arrays, shot.meta["engine"])
        except (A3SError, KeyError, TypeError, ValueError, IndexError) as error:
            log.warning("The snapshot at record %d cannot be used: %s", shot.seq, error)
            warnings.append("A stored snapshot could not be read; the answers were replayed instead.")
            return None
