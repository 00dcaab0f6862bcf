"""What is in force: a fold over the journal's records, with unlimited undo and redo, and with changes of old answers.

The journal only ever grows; undo, redo and changes are records like answers are. Folding the records from the first
to the last gives a `History`. It has two sides: the *operations* in the order in which they were made, which undo walks
back, and the *entries* in force, which the engine is a function of. An answer adds an entry; a change of an old answer
puts another list of entries in the place of the present one; undoing either brings the former list back. All are
linked lists whose values never change (see `chain`), so an operation that fails is rolled back by keeping the old one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

from a3s_desktop.core.correction import samples_of
from a3s_desktop.core.types import Answer
from a3s_desktop.errors import InputError, NothingToUndoError, ProjectError, ProjectVersionError
from a3s_desktop.i18n import tr
from a3s_desktop.session.chain import HistoryNode, Tally, link
from a3s_desktop.session.entries import (
    Amendment,
    CorrectionKind,
    Entry,
    RecordedAnswer,
    RecordedAudit,
    RecordedCorrection,
    Without,
    author_of,
)
from a3s_desktop.session.names import Names

ANSWER = "answer"
CORRECT = "correct"
CHANGE = "change"
AUDIT = "audit"
MERGE = "merge"
UNDO = "undo"
REDO = "redo"

_READERS: Mapping[str, type[Entry]] = {ANSWER: RecordedAnswer, CORRECT: RecordedCorrection, AUDIT: RecordedAudit}

Amendments = Mapping[int, Amendment]
"""Number of an entry -> its new answer; None: it is withdrawn."""


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
class MergeSource:
    """Where merged entries are from.

    Attributes
    ----------
    name, project : str
        Of the other project, and its id.
    author : str
        Whoever said most of what came; empty where that is not known.
    count : int
        How many entries came.
    """

    name: str
    project: str
    author: str
    count: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Operation:
    """Something that undo takes back in one step.

    One that did no more than add an entry is not kept: it is made from the entry when it is asked for.

    Attributes
    ----------
    entries : HistoryNode or None
        The entries in force after it.
    earlier : Operation or None
        The one before it; before a plain one, the newest that is not plain.
    plain : bool
        It only added an entry.
    merge : MergeSource or None
        It added the entries of another project.
    """

    entries: HistoryNode | None
    earlier: Operation | None
    plain: bool = False
    _entry: Entry | None = None
    merge: MergeSource | None = None

    @classmethod
    def adding(cls, entries: HistoryNode, past: Operation | None) -> Self:
        """The operation that did no more than add the newest of the entries, after ``past``."""
        return cls(entries, past.earlier if past is not None and past.plain else past, True)

    @property
    def entry(self) -> Entry | None:
        """The entry that it added; None for a change of old ones alone, and for a merge."""
        return self.entries.entry if self.plain and self.entries is not None else self._entry

    @property
    def before(self) -> Operation | None:
        """The operation before it."""
        earlier, previous = self.earlier, self.entries.before if self.entries is not None else None
        if not self.plain or previous == (earlier.entries if earlier is not None else None):
            return earlier
        return Operation(previous, earlier, True)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Undone:
    operation: Operation
    then: _Undone | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class History:
    """Operations in force and operations undone; immutable, every method returns a new value.

    Attributes
    ----------
    past : Operation or None
        The newest operation in force.
    """

    past: Operation | None = None
    _future: _Undone | None = None

    @classmethod
    def fold(cls, records: Iterable[JournalRecord]) -> Self:
        """The history that ``records`` (in order of ``seq``) amount to.

        Raises
        ------
        ProjectVersionError
            A record is of a kind that this version does not know.
        ProjectError
            A record cannot be read, or undoes, redoes or changes what is not there.
        """
        history = cls()
        for record in records:
            history = history.apply(record)
        return history

    def apply(self, record: JournalRecord) -> Self:
        """The history after one more journal record; see `fold` for the errors."""
        kind, payload = record.kind, record.payload
        try:
            if kind in _READERS:
                entry = _READERS[kind].from_payload(payload, record.at)
                return self.push(entry, amendments_of(payload), author_of(payload))
            if kind == CHANGE:
                return self.change(amendments_of(payload), author_of(payload))
            if kind == MERGE:
                return self.merge(*merge_of(payload))
            if kind == UNDO:
                return self.undo()
            if kind == REDO:
                return self.redo()
        except TypeError as error:
            raise ProjectError(tr("The journal holds a change that cannot be read ({error}).", error=error)) from error
        except (NothingToUndoError, InputError) as error:
            raise ProjectError(
                tr("Journal record {seq} ({kind}) has nothing to act on.", seq=record.seq, kind=kind)
            ) from error
        raise ProjectVersionError(
            tr("The journal holds a record of the unknown kind {kind}.", kind=repr(kind)),
            tr("Open the project with the version of the program that wrote it, or a newer one."),
        )

    def push(self, entry: Entry, amendments: Amendments | None = None, author: str = "") -> Self:
        """Add an entry, after changes of old ones where it needs them; what was undone can no longer be redone."""
        if not amendments:
            return type(self)(Operation.adding(link(self.entries, entry), self.past), None)
        entries = link(self._amended(amendments, author), entry)
        return type(self)(Operation(entries, self.past, _entry=entry), None)

    def change(self, amendments: Amendments, author: str = "") -> Self:
        """Change old entries, whose ``author`` is then who changes them.

        Raises `InputError` where one of them is not there or cannot be changed so.
        """
        return type(self)(Operation(self._amended(amendments, author), self.past), None)

    def merge(self, source: MergeSource, entries: Sequence[Entry], amendments: Amendments | None = None) -> Self:
        """Add the entries of another project in one step, after changes of old ones."""
        newest = self._amended(amendments) if amendments else self.entries
        for at, entry in enumerate(entries):
            newest = link(newest, entry, edited=True, joined=at > 0)
        return type(self)(Operation(newest, self.past, merge=source), None)

    def undo(self) -> Self:
        """Take the newest operation back. Raises `NothingToUndoError` where there is none."""
        if self.past is None:
            raise NothingToUndoError(tr("There is nothing to undo."))
        return type(self)(self.past.before, _Undone(self.past, self._future))

    def redo(self) -> Self:
        """Bring the operation undone last back. Raises `NothingToUndoError` where there is none."""
        if self._future is None:
            raise NothingToUndoError(tr("There is nothing to redo."))
        return type(self)(self._future.operation, self._future.then)

    @property
    def next(self) -> Operation | None:
        """The operation that redo would bring back."""
        return self._future.operation if self._future else None

    @property
    def entries(self) -> HistoryNode | None:
        """The newest entry in force."""
        return self.past.entries if self.past else None

    @property
    def count(self) -> int:
        """Entries in force, withdrawn ones included."""
        return self.entries.count if self.entries else 0

    @property
    def tally(self) -> Tally:
        """Entries in force by kind."""
        return self.entries.tally if self.entries else Tally()

    @property
    def audits(self) -> tuple[RecordedAudit, ...]:
        """Sample checks in force, oldest first; kept with the entries, so that no answer walks the whole history."""
        return self.entries.audits if self.entries else ()

    @property
    def names(self) -> Names:
        """Names in force."""
        return self.entries.names if self.entries else Names()

    def entry(self, number: int) -> Entry:
        """The entry of that number. Raises `InputError` where there is none."""
        newest = self.entries
        if newest is None or not 1 <= number <= newest.count:
            raise InputError(tr("There is no such entry in the history."))
        return newest.numbered([number])[0].entry

    def dropping(self, numbers: Iterable[int], items: Collection[int]) -> dict[int, Amendment]:
        """How entries are dropped for a correction of ``items``: a list of known labels goes on without these."""
        found: dict[int, Amendment] = {}
        for number in numbers:
            entry = self.entry(number)
            listed = isinstance(entry, RecordedCorrection) and entry.what is CorrectionKind.LABELS
            found[number] = Without(tuple(items)) if listed and items else None
        return found

    def nodes(self) -> Iterator[HistoryNode]:
        """The entries in force, newest first."""
        return self.entries.back() if self.entries is not None else iter(())

    def _amended(self, amendments: Amendments, author: str = "") -> HistoryNode | None:
        least, newest = min(amendments, default=0), self.entries
        if newest is None or least < 1 or max(amendments) > self.count:
            raise InputError(tr("There is no such entry in the history."))
        node = newest.numbered([least])[0].before
        for old in newest.since(least):
            entry, number = old.entry, old.count
            if number in amendments:
                entry = entry.changed(amendments[number])
                entry = replace(entry, author=author) if author else entry
            node = link(node, entry, edited=True, joined=old.joined)
        return node


def amendments_to_json(amendments: Amendments) -> dict[str, Any]:
    """Changes of old entries as part of a journal payload; inverse of `amendments_of`."""
    said = {n: list(one.items) if isinstance(one, Without) else one and one.value for n, one in amendments.items()}
    return {"amend": [list(pair) for pair in sorted(said.items())]}


def merge_to_json(source: MergeSource, entries: Sequence[Entry], amendments: Amendments) -> dict[str, Any]:
    """A merge as a journal payload; inverse of `merge_of`."""
    kinds = {RecordedAnswer: ANSWER, RecordedCorrection: CORRECT, RecordedAudit: AUDIT}
    return {
        "source": {"name": source.name, "project": source.project, "author": source.author},
        "entries": [{"kind": kinds[type(entry)], "at": entry.when} | entry.payload() for entry in entries],
    } | (amendments_to_json(amendments) if amendments else {})


def merge_of(payload: Mapping[str, Any]) -> tuple[MergeSource, tuple[Entry, ...], dict[int, Amendment]]:
    """Inverse of `merge_to_json`. Raises `ProjectError` for what this program cannot have written."""
    try:
        found = tuple(_READERS[one["kind"]].from_payload(one, float(one["at"])) for one in payload["entries"])
        entries = tuple(entry if isinstance(entry, RecordedAudit) else replace(entry, foreign=True) for entry in found)
        named = payload["source"]
        source = MergeSource(str(named["name"]), str(named["project"]), str(named["author"]), len(entries))
    except (KeyError, TypeError, ValueError) as error:
        raise ProjectError(tr("The journal holds a merge that cannot be read ({error}).", error=error)) from error
    return source, entries, amendments_of(payload)


def amendments_of(payload: Mapping[str, Any]) -> dict[int, Amendment]:
    """Inverse of `amendments_to_json`. Raises `ProjectError` for what this program cannot have written."""
    try:
        return {samples_of((number,))[0]: _amendment(said) for number, said in payload.get("amend", ())}
    except (TypeError, ValueError) as error:
        raise ProjectError(tr("The journal holds a change that cannot be read ({error}).", error=error)) from error


def _amendment(said: Any) -> Amendment:
    if isinstance(said, list):
        return Without(samples_of(said))
    return Answer(said) if said else None
