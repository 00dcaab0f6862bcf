"""What the backups of a project hold, beside what it holds now; and going back to one. Reads without opening it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from a3s_desktop.errors import A3SError, ProjectError
from a3s_desktop.i18n import mark, tr, trn
from a3s_desktop.session.entries import Entry, RecordedAnswer
from a3s_desktop.session.history import History, Operation
from a3s_desktop.session.wording import entry_text, operation_text
from a3s_desktop.storage import files, salvage
from a3s_desktop.storage.backup import restore_backup
from a3s_desktop.storage.backup_file import JOURNAL, Backup, paths_in, read_facts, time_of, verified
from a3s_desktop.storage.items import Items
from a3s_desktop.storage.journal_files import look_at
from a3s_desktop.storage.journal_types import Record
from a3s_desktop.storage.pointer import project_folder
from a3s_desktop.storage.project_file import epoch_of, items_name, read_project_file
from a3s_desktop.task import Task

LAST = 6
"""Newest entries that a preview tells."""

_REASONS = {
    "time": mark("While working"),
    "close": mark("When closing"),
    "merge": mark("Before a merge"),
    "add": mark("Before adding images"),
    "features": mark("Before replacing features"),
    "restore": mark("Before restoring another"),
    "repair": mark("Before a repair"),
    "request": mark("On request"),
}
_EVERY = 500  # records between two looks at the task


def reason_text(reason: str) -> str:
    """Why a backup was made, in the user's language; ``reason`` is what is stored."""
    return tr(_REASONS.get(reason, mark("For another reason")))


@dataclass(frozen=True, slots=True)
class Row:
    """A backup in the list.

    Attributes
    ----------
    path : Path
    made : float
        POSIX seconds; 0 where that is not known.
    size : int
        Bytes.
    backup : Backup or None
        None where it cannot be read.
    problem : str
        Why it cannot be read; empty where it can, as far as its own description says.
    """

    path: Path
    made: float
    size: int
    backup: Backup | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """All backups of a project, newest first.

    Attributes
    ----------
    folder : Path
    name : str
        Of the project; of its folder where its description cannot be read.
    epoch : int or None
        That backups must be of; None where the project's description cannot be read.
    rows : tuple of Row
    """

    folder: Path
    name: str
    epoch: int | None
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Present:
    """What the project holds now, for comparison.

    Attributes
    ----------
    chain : tuple of str
        Checksum of each entry of the journal.
    answers : int
        *Same* and *different* in force.
    whole : bool
        Whether all of it could be read.
    """

    chain: tuple[str, ...] = ()
    answers: int = 0
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """One of the newest entries of a backup.

    Attributes
    ----------
    text : str
        What was said or done.
    images : tuple of str
        File names of a pair; empty where it is not about one.
    when : float
        POSIX seconds.
    """

    text: str
    images: tuple[str, ...]
    when: float


@dataclass(frozen=True, slots=True)
class Preview:
    """What going back to a backup would lead to.

    Attributes
    ----------
    answers, same, different, others : int
        In force: *same* and *different* together and each; all other entries.
    images : int
        In the project's list; 0 where the backup has none.
    names : tuple of str
        Names in force, newest first.
    last : tuple of Told
        The newest entries in force, newest first.
    difference : str
        How many answers fewer or more than now, in a few words; empty where that is not known.
    lost : str
        One sentence: what restoring would take back.
    refused : str
        Why it cannot be restored; empty where it can.
    same_as_now : bool
        It holds the very entries that are there now.
    """

    answers: int
    same: int
    different: int
    others: int
    images: int
    names: tuple[str, ...]
    last: tuple[Told, ...]
    difference: str
    lost: str
    refused: str
    same_as_now: bool


def list_rows(project: Path, task: Task) -> Listing:
    """The backups of a project, by their own descriptions; quick, also where they are large.

    Raises
    ------
    Cancelled
    """
    project = project_folder(project)
    name, epoch = project.name, None
    with contextlib.suppress(A3SError, OSError):
        facts = read_project_file(project)
        name, epoch = str(facts["name"]) or name, epoch_of(facts)
    rows = []
    for path in paths_in(project):
        task.check()
        rows.append(_row(path))
    rows.sort(key=lambda row: (row.made, row.path.name), reverse=True)
    return Listing(project, name, epoch, tuple(_with_contents(rows)))


def look_at_now(project: Path, task: Task) -> Present:
    """What the project holds now, also beside a writer; nothing is repaired.

    Raises
    ------
    Cancelled
    """
    path = project_folder(project) / JOURNAL
    try:
        seen = look_at(path)
        found = seen.records()
        history = _history(found.records, task)
    except (A3SError, OSError):
        return Present()
    whole = bool(seen.data) and found.seen <= len(found.records)
    return Present(tuple(one.checksum for one in found.records), _answers(history), whole)


def look_into(backup: Backup, listing: Listing, present: Present, task: Task) -> Preview:
    """What a backup holds; all of it is read and verified.

    Raises
    ------
    ProjectError
        It is damaged, or of another version of the program.
    Cancelled
    """
    task.check()
    members, records = verified(backup)
    task.check()
    history = _history(records, task)
    items = _items(members, backup, listing.folder)
    tally = history.tally
    answers = _answers(history)
    chain = tuple(one.checksum for one in records)
    return Preview(
        answers,
        tally.same,
        tally.different,
        history.count - answers,
        0 if items is None else len(items),
        tuple(name for name, _ in history.names.by_key.values())[::-1],
        tuple(_told(one, items) for one in _newest(history)),
        _difference(answers, present),
        _lost(chain, present),
        _refused(backup, listing),
        present.whole and chain == present.chain,
    )


def restore(project: Path, backup: Backup, task: Task) -> str:
    """Go back to a backup, in a project that is open nowhere. What was done, in words.

    Raises
    ------
    ProjectLockedError, ProjectError, StorageFailedError, Cancelled
    """
    return restore_backup(project_folder(project), backup, task)


# ------------------------------------------------------------------------------------------------ reading


def _row(path: Path) -> Row:
    try:
        backup = read_facts(path)
        return Row(path, backup.made, backup.size, backup)
    except A3SError as error:
        size = 0
        with contextlib.suppress(OSError):
            size = files.long_path(path).stat().st_size
        return Row(path, time_of(path), size, None, error.message)


def _with_contents(rows: Sequence[Row]) -> Iterable[Row]:
    """Backups of the same entries hold the same: where one was made without looking, another one may know."""
    known = {
        (row.backup.epoch, row.backup.chain): row.backup.contents
        for row in rows
        if row.backup is not None and row.backup.contents is not None
    }
    for row in rows:
        if row.backup is not None and row.backup.contents is None:
            found = known.get((row.backup.epoch, row.backup.chain))
            yield replace(row, backup=replace(row.backup, contents=found))
        else:
            yield row


def _history(records: Sequence[salvage.RawRecord], task: Task) -> History:
    history = History()
    for at, raw in enumerate(records):
        if at % _EVERY == 0:
            task.step(at / len(records))
        try:
            payload = salvage.decode_payload(raw.payload)
        except (ValueError, RecursionError) as error:
            raise ProjectError(tr("Entry {seq} cannot be read.", seq=raw.seq)) from error
        history = history.apply(Record(raw.seq, raw.kind, payload, raw.at))
    return history


def _answers(history: History) -> int:
    return history.tally.same + history.tally.different


def _items(members: dict[str, bytes], backup: Backup, folder: Path) -> Items | None:
    name = items_name(backup.epoch)
    try:
        return Items.from_json(members[name], folder, folder / name) if name in members else None
    except ProjectError:
        return None


def _newest(history: History) -> list[Operation]:
    found: list[Operation] = []
    operation = history.past
    while operation is not None and len(found) < LAST:
        found.append(operation)
        operation = operation.before
    return found


def _told(operation: Operation, items: Items | None) -> Told:
    entry: Entry | None = operation.entry
    if entry is None:
        newest = operation.entries.entry.when if operation.entries is not None else 0.0
        return Told(operation_text(operation), (), newest)
    shown: tuple[str, ...] = ()
    if isinstance(entry, RecordedAnswer) and items is not None and max(entry.left, entry.right) < len(items):
        shown = items.name(entry.left), items.name(entry.right)
    return Told(entry_text(entry), shown, entry.when)


# ------------------------------------------------------------------------------------------------ comparing


def _difference(answers: int, present: Present) -> str:
    if not present.whole:
        return ""
    fewer = present.answers - answers
    if not fewer:
        return tr("as many as now")
    if fewer > 0:
        return trn("{n} fewer than now", "{n} fewer than now", fewer)
    return trn("{n} more than now", "{n} more than now", -fewer)


def _lost(chain: tuple[str, ...], present: Present) -> str:
    if not present.whole:
        return tr("What is there now cannot be read completely, so that the two cannot be compared.")
    if chain == present.chain:
        return tr("It holds exactly what is there now.")
    common = next((at for at, (a, b) in enumerate(zip(chain, present.chain, strict=False)) if a != b), None)
    common = min(len(chain), len(present.chain)) if common is None else common
    undone, back = len(present.chain) - common, len(chain) - common
    gone = trn("{n} step made since is taken back.", "{n} steps made since are taken back.", undone)
    if not back:
        return gone
    came = trn("{n} step that is not there now comes back.", "{n} steps that are not there now come back.", back)
    return f"{gone} {came}" if undone else came  # two whole sentences


def _refused(backup: Backup, listing: Listing) -> str:
    if listing.epoch is None or listing.epoch == backup.epoch:
        return ""
    return tr("It is from before images were added or features were replaced, and does not fit them.")
