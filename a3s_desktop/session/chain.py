"""The entries in force as a chain that branches: some forty bytes for each entry, and a day has tens of thousands.

A node stands for one entry and everything before it. Nodes are made when they are asked for; what they say is kept in
blocks of packed rows, which only ever grow: a node that follows the newest row of a block is written behind it, any
other begins a block of its own. So an old node never changes, and what is no longer reached is let go of.
"""

from __future__ import annotations

import hashlib
import struct
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from a3s_desktop.core.types import Answer, Reason
from a3s_desktop.session.entries import CorrectionKind, Entry, RecordedAnswer, RecordedAudit, RecordedCorrection
from a3s_desktop.session.names import Names

_ROW = struct.Struct("<iidBBBBB16s")  # left, right, when, answer, reason, given, author, flags, digest
_SIZE = _ROW.size
_WHEN, _ANSWER, _FLAGS, _DIGEST = 8, 16, 20, 21  # where they begin in a row
_TIME = struct.Struct("<d")
_WITHDRAWN, _FOREIGN, _JOINED, _EDITED, _OBJECT = 1, 2, 4, 8, 16
_LARGEST = 2**31 - 1

_BLOCK = 256  # rows of a block at most
_COUNTED = 32  # after every so many rows of a block the tally is kept

_ANSWERS = tuple(Answer)
_REASONS = tuple(Reason)
_CODES = {answer: code for code, answer in enumerate(_ANSWERS)}
_REASON_CODES = {reason: code for code, reason in enumerate(_REASONS)}
_FIELDS = {Answer.SAME: 0, Answer.DIFFERENT: 1, Answer.SKIP: 2, Answer.INCOMPARABLE: 3}
_FIELD_OF = tuple(_FIELDS.get(answer, 4) for answer in _ANSWERS)  # of `Tally`, by the answer's code


@dataclass(frozen=True, slots=True)
class Tally:
    """How many entries of each kind are in force, withdrawn ones left out."""

    same: int = 0
    different: int = 0
    skipped: int = 0
    incomparable: int = 0
    junk: int = 0
    corrections: int = 0
    audited: int = 0
    merged: int = 0

    def plus(self, entry: Entry) -> Tally:
        """One more entry; asking skipped pairs again sets their number back."""
        if entry.withdrawn:
            return self
        if isinstance(entry, RecordedAudit):
            return replace(self, audited=self.audited + 1)
        if isinstance(entry, RecordedAnswer):
            counts = [0] * 5
            counts[_FIELD_OF[_CODES[entry.answer]]] = 1
            return self.plus_answers(counts, int(entry.foreign))
        skipped = 0 if entry.what is CorrectionKind.REQUEUE else self.skipped
        corrections = self.corrections + (not entry.held)
        return replace(self, corrections=corrections, skipped=skipped, merged=self.merged + entry.foreign)

    def plus_answers(self, counts: list[int], merged: int) -> Tally:
        """Several more answers: same, different, skipped, incomparable, junk; and how many of them came by a merge."""
        same, different, skipped, incomparable, junk = counts
        return Tally(
            self.same + same,
            self.different + different,
            self.skipped + skipped,
            self.incomparable + incomparable,
            self.junk + junk,
            self.corrections,
            self.audited,
            self.merged + merged,
        )


class _Block:
    """Consecutive entries, packed. What is not the same in nearly all of them is kept beside the rows."""

    __slots__ = (
        "audited",
        "audits",
        "authors",
        "before",
        "counted",
        "first",
        "ineffective",
        "names",
        "objects",
        "rows",
    )

    def __init__(self, before: HistoryNode | None) -> None:
        self.before = before
        self.first = before.count + 1 if before else 1
        self.rows = bytearray()
        self.objects: dict[int, Entry] = {}  # what does not fit into a row
        self.authors: list[str] = []
        self.counted = [before.tally if before else Tally()]
        self.ineffective: list[int] = []  # rows that are withdrawn or held
        self.names = [(-1, before.names if before else Names())]  # since which row
        self.audited = before.audits if before else ()
        self.audits: list[tuple[int, RecordedAudit]] = []  # in this block

    def __len__(self) -> int:
        return len(self.rows) // _SIZE

    def add(self, entry: Entry, digest: bytes, edited: bool, joined: bool) -> int:
        """Write an entry behind the last; returns its row."""
        at, names = len(self), self._names_after(entry)
        flags = _JOINED * joined | _EDITED * edited
        if isinstance(entry, RecordedAnswer) and self._fits(entry):
            self.rows += _ROW.pack(
                entry.left,
                entry.right,
                entry.when,
                _CODES[entry.answer],
                _REASON_CODES[entry.reason],
                0 if entry.given is None else 1 + _CODES[entry.given],
                self.authors.index(entry.author),
                flags | _WITHDRAWN * entry.withdrawn | _FOREIGN * entry.foreign,
                digest,
            )
        else:
            self.rows += _ROW.pack(0, 0, 0.0, 0, 0, 0, 0, flags | _OBJECT, digest)
            self.objects[at] = entry
        if names is not None:
            self.names.append((at, names))
        if isinstance(entry, RecordedAudit) and not entry.withdrawn:
            self.audits.append((at, entry))
        if entry.withdrawn or (isinstance(entry, RecordedCorrection) and entry.held):
            self.ineffective.append(at)
        return at

    def entry(self, at: int) -> Entry:
        if self.objects and at in self.objects:
            return self.objects[at]
        left, right, when, answer, reason, given, author, flags, _ = _ROW.unpack_from(self.rows, at * _SIZE)
        return RecordedAnswer(
            left,
            right,
            _ANSWERS[answer],
            _REASONS[reason],
            when,
            bool(flags & _WITHDRAWN),
            self.authors[author],
            _ANSWERS[given - 1] if given else None,
            bool(flags & _FOREIGN),
        )

    def flags(self, at: int) -> int:
        return self.rows[at * _SIZE + _FLAGS]

    def digest(self, at: int) -> bytes:
        return bytes(self.rows[at * _SIZE + _DIGEST : (at + 1) * _SIZE])

    def said_at(self, at: int) -> float | None:
        place = at * _SIZE
        flags = self.rows[place + _FLAGS]
        if flags & _OBJECT:
            entry = self.objects[at]
            said = isinstance(entry, RecordedAnswer) and entry.answer.is_constraint and not entry.withdrawn
            return entry.when if said else None
        if flags & _WITHDRAWN or not _ANSWERS[self.rows[place + _ANSWER]].is_constraint:
            return None
        when: float = _TIME.unpack_from(self.rows, place + _WHEN)[0]
        return when

    def row_of(self, digest: bytes) -> int:
        """The row that has a digest; -1 where none has."""
        place = self.rows.find(digest) if len(digest) == _SIZE - _DIGEST else -1
        while place >= 0 and place % _SIZE != _DIGEST:
            place = self.rows.find(digest, place + 1)
        return place // _SIZE

    def tally(self, at: int) -> Tally:
        kept, counted = (at + 1) // _COUNTED, self.counted
        while len(counted) <= kept:
            end = len(counted) * _COUNTED
            counted.append(self._tally(counted[-1], end - _COUNTED, end))
        return self._tally(counted[kept], kept * _COUNTED, at + 1)

    def _tally(self, tally: Tally, start: int, end: int) -> Tally:
        counts, merged, rows = [0] * 5, 0, self.rows
        for at in range(start, end):
            flags = rows[at * _SIZE + _FLAGS]
            if flags & _OBJECT:
                tally = tally.plus_answers(counts, merged).plus(self.objects[at])
                counts, merged = [0] * 5, 0
            elif not flags & _WITHDRAWN:
                counts[_FIELD_OF[rows[at * _SIZE + _ANSWER]]] += 1
                merged += bool(flags & _FOREIGN)
        return tally.plus_answers(counts, merged)

    def _fits(self, entry: RecordedAnswer) -> bool:
        if entry.author not in self.authors:
            self.authors.append(entry.author)  # no more than there are rows: their places fit into a byte
        return 0 <= entry.left <= _LARGEST and 0 <= entry.right <= _LARGEST

    def _names_after(self, entry: Entry) -> Names | None:
        """The names after one more entry; None where it changes none."""
        if not isinstance(entry, RecordedCorrection) or entry.withdrawn or entry.held:
            return None
        names = self.names[-1][1]
        if entry.what is CorrectionKind.NAME:
            return names.given(entry.name, entry.anchors, entry.replaces)
        return names.given_all([(one.name, one.anchors) for one in entry.known]) if entry.known else None


@dataclass(frozen=True, slots=True, repr=False)
class HistoryNode:
    """One entry in force and everything before it. Two are equal where they are the same place of the same chain.

    Attributes
    ----------
    block, at
        Where it is kept.
    """

    block: _Block
    at: int

    @property
    def entry(self) -> Entry:
        """The entry itself; made anew where it is asked for."""
        return self.block.entry(self.at)

    @property
    def before(self) -> HistoryNode | None:
        """The entry before it."""
        return HistoryNode(self.block, self.at - 1) if self.at else self.block.before

    @property
    def count(self) -> int:
        """Number of the entry, from 1; it stays the same when an older entry is changed."""
        return self.block.first + self.at

    @property
    def digest(self) -> bytes:
        """Hash of the entries up to and including this one.

        Equal digests mean that the engine's state is equal, which is how a snapshot on disk is recognised as fitting.
        """
        return self.block.digest(self.at)

    @property
    def edited(self) -> bool:
        """Whether an entry up to this one was changed, or came by a merge.

        Later answers may have met other questions.
        """
        return bool(self.block.flags(self.at) & _EDITED)

    @property
    def joined(self) -> bool:
        """Whether it came in one go with the entry before it: nothing was asked in between."""
        return bool(self.block.flags(self.at) & _JOINED)

    @property
    def said_at(self) -> float | None:
        """When it was said that two images are the same or different; None for an entry that says neither."""
        return self.block.said_at(self.at)

    @property
    def names(self) -> Names:
        """The names in force after this entry."""
        return next(names for at, names in reversed(self.block.names) if at <= self.at)

    @property
    def audits(self) -> tuple[RecordedAudit, ...]:
        """The sample checks in force up to and including this entry, oldest first."""
        block = self.block
        return (*block.audited, *(audit for at, audit in block.audits if at <= self.at))

    @property
    def tally(self) -> Tally:
        """How many entries there are of each kind, this one included."""
        return self.block.tally(self.at)

    def back(self) -> Iterator[HistoryNode]:
        """This node and those before it, newest first."""
        for block, end in self._spans():
            for at in range(end, -1, -1):
                yield HistoryNode(block, at)

    def times_back(self) -> Iterator[float | None]:
        """`said_at` of this node and those before it, newest first."""
        for block, end in self._spans():
            yield from map(block.said_at, range(end, -1, -1))

    def since(self, number: int) -> Iterator[HistoryNode]:
        """The nodes up to this one whose number is ``number`` or larger, oldest first."""
        for block, rows in self._spans_since(number):
            for at in rows:
                yield HistoryNode(block, at)

    def entries_since(self, number: int) -> Iterator[tuple[int, Entry]]:
        """The numbers and entries of these nodes."""
        for block, rows in self._spans_since(number):
            for at in rows:
                yield block.first + at, block.entry(at)

    def numbered(self, numbers: Iterable[int]) -> list[HistoryNode]:
        """The nodes of these numbers, in their order. Raises `IndexError` for one that is not there."""
        blocks = [block for block, _ in self._spans()][::-1]
        firsts = [block.first for block in blocks]
        found = []
        for number in numbers:
            if not 1 <= number <= self.count:
                raise IndexError(number)
            block = blocks[bisect_right(firsts, number) - 1]
            found.append(HistoryNode(block, number - block.first))
        return found

    def with_digest(self, digest: str) -> HistoryNode | None:
        """The node up to this one that has a digest, hexadecimal; None where there is none, whatever the text is."""
        try:
            wanted = bytes.fromhex(digest)
        except ValueError:
            return None
        for block, end in self._spans():
            at = block.row_of(wanted)
            if 0 <= at <= end:
                return HistoryNode(block, at)
        return None

    def ineffective(self) -> Iterator[HistoryNode]:
        """The nodes up to this one whose entries are withdrawn or held, newest first; no other is looked at."""
        for block, end in self._spans():
            for at in reversed(block.ineffective):
                if at <= end:
                    yield HistoryNode(block, at)

    def shared_with(self, other: HistoryNode) -> HistoryNode | None:
        """The newest node that is on the way to both; None where they have nothing in common."""
        mine: HistoryNode | None = self
        theirs: HistoryNode | None = other
        while mine is not None and theirs is not None and mine.block is not theirs.block:
            # Of two blocks the one that begins later cannot be before the other.
            if mine.block.first >= theirs.block.first:
                mine = mine.block.before
            else:
                theirs = theirs.block.before
        if mine is None or theirs is None:
            return None
        return mine if mine.at <= theirs.at else theirs

    def _spans(self) -> Iterator[tuple[_Block, int]]:
        """The blocks on the way to this node, each with its last row that is; newest first."""
        node: HistoryNode | None = self
        while node is not None:
            yield node.block, node.at
            node = node.block.before

    def _spans_since(self, number: int) -> Iterator[tuple[_Block, range]]:
        """The blocks from a number on, each with its rows that are on the way to this node; oldest first."""
        spans: list[tuple[_Block, int]] = []
        for block, end in self._spans():
            if block.first + end < number:
                break
            spans.append((block, end))
        for block, end in reversed(spans):
            yield block, range(max(0, number - block.first), end + 1)


def link(before: HistoryNode | None, entry: Entry, edited: bool = False, joined: bool = False) -> HistoryNode:
    """The node of an entry that comes after ``before``, or first of all."""
    digest = hashlib.blake2b(before.digest if before else b"", digest_size=16, person=b"joined" if joined else b"")
    digest.update(entry.effect().encode())
    if before is None:
        block = _Block(None)
    else:
        newest = before.block
        block = newest if before.at + 1 == len(newest) < _BLOCK else _Block(before)
        edited = edited or before.edited
    return HistoryNode(block, block.add(entry, digest.digest(), edited, joined))
