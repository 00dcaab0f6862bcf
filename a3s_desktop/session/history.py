"""The answers in force: a fold over the journal's records, with unlimited undo and redo.

The journal only ever grows; undo and redo are records like answers are. Folding the records from the first to the last
gives a `History`: the answers in force (``past``) and those that redo would bring back (``future``). Both are linked
lists of immutable entries, so every operation costs O(1) and an operation that fails is rolled back by keeping the old
value.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self

from a3s_desktop.core.types import Answer, Question, Reason
from a3s_desktop.errors import NothingToUndoError, ProjectError, ProjectVersionError

ANSWER = "answer"
UNDO = "undo"
REDO = "redo"

ANSWER_NAMES: Mapping[Answer, str] = {
    Answer.SAME: "Same",
    Answer.DIFFERENT: "Different",
    Answer.SKIP: "Skip",
}


class JournalRecord(Protocol):
    """What the fold reads of a journal record."""

    @property
    def seq(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def payload(self) -> Mapping[str, Any]: ...
    @property
    def at(self) -> float: ...


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """One answer as the journal holds it.

    Attributes
    ----------
    left, right : int
        Item indices, in the order in which they were shown.
    answer : Answer
    reason : Reason
        Why the pair was asked.
    when : float
        POSIX time of the answer in seconds (UTC).
    """

    left: int
    right: int
    answer: Answer
    reason: Reason
    when: float

    @classmethod
    def of(cls, question: Question, answer: Answer, when: float) -> Self:
        """The record of ``answer`` given to ``question``."""
        return cls(question.left, question.right, answer, question.reason, when)

    def payload(self) -> dict[str, Any]:
        """The JSON-able journal payload; the time is the record's own."""
        return {"left": self.left, "right": self.right, "answer": self.answer.value, "reason": self.reason.value}

    @classmethod
    def from_payload(cls, payload: Mapping[str, Any], when: float) -> Self:
        """Inverse of `payload`. Raises `ProjectError` for a record that this program cannot have written."""
        try:
            return cls(
                int(payload["left"]),
                int(payload["right"]),
                Answer(payload["answer"]),
                Reason(payload["reason"]),
                when,
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ProjectError(f"The journal holds an answer that cannot be read ({error}).") from error


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HistoryNode:
    """One answer in force and everything before it.

    Attributes
    ----------
    entry : RecordedAnswer
    before : HistoryNode or None
        The answer in force before this one.
    count, same, different, skipped : int
        Answers in force up to and including this one; ``count`` is the sum of the other three.
    digest : bytes
        Hash of the answers up to and including this one; equal digests mean that the engine's state is equal, which
        is how a snapshot on disk is recognised as fitting.
    """

    entry: RecordedAnswer
    before: HistoryNode | None
    count: int
    same: int
    different: int
    skipped: int
    digest: bytes


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Undone:
    entry: RecordedAnswer
    then: _Undone | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class History:
    """Answers in force and answers undone; immutable, every operation returns a new value in O(1).

    Attributes
    ----------
    past : HistoryNode or None
        The newest answer in force.
    """

    past: HistoryNode | None = None
    _future: _Undone | None = None

    @classmethod
    def fold(cls, records: Iterable[JournalRecord]) -> Self:
        """The history that ``records`` (in order of ``seq``) amount to.

        Raises
        ------
        ProjectVersionError
            A record is of a kind that this version does not know.
        ProjectError
            A record cannot be read, or undoes or redoes nothing.
        """
        history = cls()
        for record in records:
            history = history.apply(record)
        return history

    def apply(self, record: JournalRecord) -> Self:
        """The history after one more journal record; see `fold` for the errors."""
        try:
            if record.kind == ANSWER:
                return self.push(RecordedAnswer.from_payload(record.payload, record.at))
            if record.kind == UNDO:
                return self.undo()
            if record.kind == REDO:
                return self.redo()
        except NothingToUndoError as error:
            raise ProjectError(f"Journal record {record.seq} ({record.kind}) has no answer to act on.") from error
        raise ProjectVersionError(
            f"The journal holds a record of the unknown kind {record.kind!r}.",
            "Open the project with the version of the program that wrote it, or a newer one.",
        )

    def push(self, entry: RecordedAnswer) -> Self:
        """Add an answer; what was undone before it can no longer be redone."""
        return type(self)(self._link(entry), None)

    def undo(self) -> Self:
        """Take the newest answer back. Raises `NothingToUndoError` where there is none."""
        if self.past is None:
            raise NothingToUndoError("There is no answer to undo.")
        return type(self)(self.past.before, _Undone(self.past.entry, self._future))

    def redo(self) -> Self:
        """Bring the answer undone last back. Raises `NothingToUndoError` where there is none."""
        if self._future is None:
            raise NothingToUndoError("There is no answer to redo.")
        return type(self)(self._link(self._future.entry), self._future.then)

    @property
    def last(self) -> RecordedAnswer | None:
        """The answer that undo would take back."""
        return self.past.entry if self.past else None

    @property
    def next(self) -> RecordedAnswer | None:
        """The answer that redo would bring back."""
        return self._future.entry if self._future else None

    @property
    def count(self) -> int:
        """Entries in force, skips included."""
        return self.past.count if self.past else 0

    @property
    def same(self) -> int:
        """Must-links in force."""
        return self.past.same if self.past else 0

    @property
    def different(self) -> int:
        """Cannot-links in force."""
        return self.past.different if self.past else 0

    @property
    def skipped(self) -> int:
        """Skips in force."""
        return self.past.skipped if self.past else 0

    def nodes(self) -> Iterator[HistoryNode]:
        """The answers in force, newest first."""
        node = self.past
        while node is not None:
            yield node
            node = node.before

    def _link(self, entry: RecordedAnswer) -> HistoryNode:
        before = self.past
        digest = hashlib.blake2b(before.digest if before else b"", digest_size=16)
        digest.update(f"{entry.left} {entry.right} {entry.answer.value}".encode())
        return HistoryNode(
            entry,
            before,
            self.count + 1,
            self.same + (entry.answer is Answer.SAME),
            self.different + (entry.answer is Answer.DIFFERENT),
            self.skipped + (entry.answer is Answer.SKIP),
            digest.digest(),
        )
