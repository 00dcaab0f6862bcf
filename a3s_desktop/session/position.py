"""An engine on its way through a history: from one list of entries to another, and back."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from a3s_desktop.core.engine import Engine, Mark
from a3s_desktop.errors import ContradictionError, ProjectError
from a3s_desktop.i18n import tr
from a3s_desktop.session.chain import HistoryNode
from a3s_desktop.session.entries import RecordedAnswer, RecordedAudit, RecordedCorrection
from a3s_desktop.task import Task

log = logging.getLogger(__name__)

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
        newest_first = (one for one in reversed(self._useful) if one is not None)
        told = tuple(itertools.islice(newest_first, newest))[::-1]  # never a walk through tens of thousands
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
        begun: float = 0.0,
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
        begun : float
            Share of the task's stage that lies behind.

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
        self._back_to(kept, None if task is None or path else task.tell)
        try:
            for done, node in enumerate(path):
                if task is not None:
                    task.step(begun + (1.0 - begun) * done / len(path))
                self._give(node, refuse=refuse_last and node == target, task=task if len(path) == 1 else None)
            self.engine.settle()
        except BaseException:
            if not come_back:
                raise
            kept, path = self._way(before) or (0, [])
            self._back_to(kept)
            for node in path:
                self._give(node, refuse=False)
            self.engine.settle()
            raise

    def forget(self, kept: int) -> None:
        """Keep the ways back to the newest entries only; `steps_to` tells of others that they must be built anew."""
        gone = len(self._nodes) - kept
        if gone <= 0:
            return
        last = self._nodes[gone - 1]
        told = [one for one in self._useful[:gone] if one is not None]
        conflicts = [number for number in self._conflicts if number <= last.count]
        self._start = Start(
            last.count,
            last.digest,
            (*self._start.conflicts, *conflicts),
            (*self._start.useful, *told)[-RECENT:],
        )
        for number in conflicts:
            del self._conflicts[number]
        del self._nodes[:gone], self._marks[:gone], self._useful[:gone]
        if self._carried is not None and self._carried.count <= last.count:
            self._carried = None
        if self._marks:
            self.engine.forget(self._marks[0])

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
            if at <= len(self._nodes) and self._nodes[at - 1] == node:
                return at, path[::-1]
            if self._carried is not None and self._carried.is_at(node):
                return None
            path.append(node)
            node = node.before
        if (node.count, node.digest) != (self._start.count, self._start.digest) if node else self._start.count:
            return None
        return 0, path[::-1]

    def _back_to(self, kept: int, tell: Callable[[float], None] | None = None) -> None:
        if kept < len(self._nodes):
            self.engine.restore(self._marks[kept], tell)
            for node in self._nodes[kept:]:
                self._conflicts.pop(node.count, None)
            del self._nodes[kept:], self._marks[kept:], self._useful[kept:]

    def _give(self, node: HistoryNode, refuse: bool, task: Task | None = None) -> None:
        """Give one entry. Raises `ContradictionError` only with ``refuse``; the engine then stands where it stood."""
        engine, entry = self.engine, node.entry
        if not node.joined:
            engine.settle()
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
                self._apply(entry, not node.joined, task)
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

    def _apply(
        self, entry: RecordedAnswer | RecordedCorrection | RecordedAudit, settle: bool, task: Task | None
    ) -> None:
        """Carry an entry out; ``settle`` and ``task`` as in `Engine.correct`."""
        engine = self.engine
        if isinstance(entry, RecordedAudit):
            return
        if isinstance(entry, RecordedCorrection):
            if entry.correction.to_json():
                engine.correct(entry.correction, settle, task)
            return
        question = engine.question
        asked = (question.left, question.right) if question is not None else ()
        pair = (entry.left, entry.right)
        # Which side is junk hangs on the order; all other answers do not.
        if asked == pair or (asked == pair[::-1] and not entry.answer.junked(*pair)):
            engine.record(entry.answer)
        else:
            engine.impose(entry.left, entry.right, entry.answer, settle)
            self.imposed += 1
