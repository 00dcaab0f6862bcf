"""Make, open, read and repair journals.

Readers work on a private copy (`journal_files`). A repair keeps the damaged file beside the new one, and is completed
after a crash.
"""

from __future__ import annotations

import contextlib
import sqlite3
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from a3s_desktop.errors import StorageFailedError
from a3s_desktop.i18n import tr, trn
from a3s_desktop.storage import backup_file, files, salvage, sqlite
from a3s_desktop.storage.journal import Journal, snapshot_is_whole
from a3s_desktop.storage.journal_files import JournalFiles, before_opening, look_at
from a3s_desktop.storage.journal_types import CHAIN_START, Recovery
from a3s_desktop.storage.salvage import RawRecord
from a3s_desktop.storage.sqlite import INDEX, LOG, UNDO, beside

_COPY_TRIES = 4


def create_journal(
    path: Path, records: list[RawRecord] | None = None, snapshots_of: Path | None = None, durable: bool = True
) -> None:
    """Make a journal file, complete and synchronised, without companions.

    Parameters
    ----------
    records : list of RawRecord, optional
        Already chained records, where a damaged journal is rebuilt.
    snapshots_of : Path, optional
        The damaged journal, whose readable snapshots are carried over.
    durable : bool
        Whether to synchronise; a private copy need not be.

    Raises
    ------
    StorageFailedError
        Something is at ``path``, or the system refused to write.
    """
    if path.exists():
        raise StorageFailedError(
            tr("A journal is already there: {path}.", path=files.show(path)), tr("Choose another folder.")
        )
    try:
        with contextlib.closing(sqlite.connect(path)) as connection:
            connection.execute(f"PRAGMA page_size = {sqlite.PAGE_SIZE}")
            connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'OFF'}")
            connection.execute(f"PRAGMA fullfsync = {'ON' if durable else 'OFF'}")
            connection.execute(f"PRAGMA application_id = {sqlite.APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {sqlite.VERSION}")
            connection.executescript("BEGIN IMMEDIATE;" + sqlite.SCHEMA + "COMMIT;")
            with sqlite.transaction(connection):
                connection.executemany(sqlite.INSERT_RECORD, records or [])
            if snapshots_of is not None and records:
                _carry_snapshots(snapshots_of, connection, records)
        if durable:
            files.sync_folder(path.parent)
    except (sqlite3.Error, OSError) as error:
        raise sqlite.failed(path, error) from error


def open_journal(path: Path) -> Journal:
    """Open for writing (the caller holds the project's lock); a damaged or missing journal is repaired.

    What was repaired is in the journal's ``recovery``.

    Raises
    ------
    ProjectVersionError
        A newer version of the program wrote it.
    StorageFailedError
        It cannot be read or written at all.
    """
    try:
        _finish_repair(path)
        before = before_opening(path)
        if path.is_file() and path.stat().st_size:
            journal = _open_whole(path, before)
            if journal is not None:
                return journal
        recovery = _rebuild(path, before)
    except OSError as error:
        raise files.write_failed(path, error) from error
    journal = _open_whole(path, JournalFiles(), recovery=recovery)
    if journal is None:
        raise StorageFailedError(
            tr("The journal {path} could not be repaired.", path=files.show(path)), tr("Check the drive.")
        )
    return journal


def read_journal(path: Path) -> Journal:
    """Open for reading, beside a writer if there is one: a private copy of what is committed now.

    Damage is not repaired in place; what can be read is there, and ``recovery`` says what is missing.

    Raises
    ------
    ProjectVersionError
        A newer version of the program wrote it.
    StorageFailedError
        It cannot be read, or there is no room for the copy.
    """
    copy = files.scratch_folder()
    try:
        seen = JournalFiles()
        for attempt in range(_COPY_TRIES):
            before, seen = seen, look_at(path)
            if attempt and seen == before:
                break  # nobody is writing: it is damaged
            if seen.data and seen.steady:
                inside = seen.place(Path(copy.name) / str(attempt))
                journal = _open_whole(inside, seen, copy)
                if journal is not None:
                    return journal
            time.sleep(0.02 * attempt)  # a checkpoint, or a record, may have been under way
        found = seen.records()
        inside = Path(copy.name) / "salvaged.sqlite"
        create_journal(inside, found.records, durable=False)
        there = bool(seen.data or seen.log or seen.undo)
        journal = _open_whole(inside, JournalFiles(), copy, salvage.report(found, "", there))
        if journal is None:
            raise StorageFailedError(
                tr("The journal {path} could not be read.", path=files.show(path)), tr("Check the drive.")
            )
    except OSError as error:
        copy.cleanup()
        cause, hint = files.cause_of(error)
        raise StorageFailedError(
            tr("Reading the journal {path} failed: {cause}.", path=files.show(path), cause=cause), hint
        ) from error
    except BaseException:
        copy.cleanup()
        raise
    return journal


def _open_whole(
    path: Path,
    before: JournalFiles,
    copy: tempfile.TemporaryDirectory[str] | None = None,
    recovery: Recovery | None = None,
) -> Journal | None:
    """Open a journal that seems whole; None where it is damaged. ``before``: what SQLite changes at the opening."""
    connection: sqlite3.Connection | None = None
    kept = False
    with open(files.long_path(path), "rb") as file:
        if not sqlite.header_is_whole(file.read(100)):
            return None
    try:
        connection = sqlite.connect(path)
        sqlite.check_version(connection, path)
        sqlite.make_durable(connection)
        end = sqlite.verified_end(connection)
        if end is None:
            return None
        # A flipped bit in the log makes SQLite forget, silently, all commits from there on, and a rollback journal
        # that a sync tool left beside a newer file undoes what was committed: look for them.
        data = before.data if before.undo else b""
        late = salvage.continue_chain(salvage.scan(data, before.log, before.undo), *end)
        if late:
            with sqlite.transaction(connection):
                connection.executemany(sqlite.INSERT_RECORD, late)
            end = late[-1].seq, late[-1].checksum
        journal = Journal(connection, path, *end, recovery or Recovery(recovered=end[0]), copy)
        kept = True
    except sqlite3.Error as error:
        if sqlite.is_damage(error):
            return None
        raise sqlite.open_failed(path, error) from error
    except (UnicodeError, OverflowError):
        return None  # Python could not make text of a damaged schema, or of SQLite's message about it
    finally:
        if connection is not None and not kept:
            with contextlib.suppress(sqlite3.Error):
                connection.close()
    return journal


# ------------------------------------------------------------------------------------------------ repair


def _rebuild(path: Path, before: JournalFiles) -> Recovery:
    """Put a journal with all that can be recovered in a damaged one's place, and keep that one beside it.

    What the files held before SQLite undid a transaction may be more.
    """
    now = look_at(path)
    chains = [each.records() for each in (now, before)]
    found = max(chains, key=lambda each: len(each.records))
    more, source = backup_file.continued(path.parent, found.records)
    found = salvage.Salvaged(found.records + more, found.seen)
    there = any(beside(path, suffix).exists() for suffix in ("", LOG, UNDO))
    kept = keep_aside(path) if there else ""
    building = files.temporary_name(path.parent)
    try:
        create_journal(building, found.records, path)
        put_in_place(building, path)
    except BaseException:
        with contextlib.suppress(OSError):
            files.remove_file(building)
        raise
    recovery = salvage.report(found, kept, bool(kept))
    if not more:
        return recovery
    told = trn(
        "{n} of them came from the backup {name}.", "{n} of them came from the backup {name}.", len(more), name=source
    )
    return replace(recovery, text=f"{recovery.text} {told}")


def put_in_place(building: Path, path: Path) -> None:
    """Put a complete new journal in the place of the one at ``path``; from the first rename on it is sure to come."""
    files.rename(building, _repaired(path))
    files.sync_folder(path.parent)
    _finish_repair(path)


def _repaired(path: Path) -> Path:
    return path.with_name(path.stem + ".repaired" + path.suffix)


def _finish_repair(path: Path) -> None:
    """Put a repaired journal that waits beside ``path`` in its place; done again after a crash in the middle.

    The companions of the old one must go first: SQLite would apply them to the new file.
    """
    waiting = _repaired(path)
    if not waiting.is_file():
        return
    for suffix in (LOG, INDEX, UNDO):
        files.remove_file(beside(path, suffix))
    files.sync_folder(path.parent)
    files.rename(waiting, path)
    files.sync_folder(path.parent)


def keep_aside(path: Path) -> str:
    """Copy the damaged journal and its companions to a new name; returns the name."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    number = 0
    while True:
        name = f"{path.stem}.damaged-{stamp}{f'-{number}' if number else ''}{path.suffix}"
        target = path.with_name(name)
        if not any(beside(target, suffix).exists() for suffix in ("", LOG, UNDO)):
            break
        number += 1
    for suffix in ("", LOG, UNDO):
        if beside(path, suffix).exists():
            files.copy_file(beside(path, suffix), beside(target, suffix))
    return name


def _carry_snapshots(damaged: Path, fresh: sqlite3.Connection, records: list[RawRecord]) -> None:
    """Carry over the snapshots that can still be read, newest first; those that cannot only cost time to replay."""
    with (
        contextlib.suppress(sqlite3.Error, OSError, TypeError, OverflowError, UnicodeError),
        files.scratch_folder() as folder,
    ):
        inside = look_at(damaged).place(Path(folder) / "damaged")
        with contextlib.closing(sqlite.connect(inside)) as old:
            old.execute("PRAGMA writable_schema = ON")  # lets SQLite read a file that was cut off
            if not sqlite.holds_only(old, sqlite.SCHEMA):
                return
            query = "SELECT seq, chain, meta, checksum, arrays FROM snapshots WHERE seq <= ? ORDER BY seq DESC"
            for row in old.execute(query, (len(records),)):
                seq, chain, text, checksum, blob = row
                here = records[seq - 1].checksum if seq > 0 else CHAIN_START
                if chain == here and snapshot_is_whole(text, checksum, blob):
                    with sqlite.transaction(fresh):
                        fresh.execute(sqlite.INSERT_SNAPSHOT, row)
