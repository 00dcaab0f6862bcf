"""The append-only journal of a project on disk: SQLite in WAL mode, each record synchronised before it is acknowledged.

Records carry a checksum that chains each to the one before it, so that damage anywhere is found at the next opening;
`salvage` then recovers the longest whole prefix. Readers never open the writer's files with SQLite: they work on a
private copy, need no write permission, and cannot hold the writer up.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import sqlite3
import tempfile
import threading
import time
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.errors import ProjectVersionError, ReadOnlyError, StorageFailedError
from a3s_desktop.storage import files, salvage
from a3s_desktop.storage.journal_types import (
    CHAIN_START,
    Arrays,
    JournalProtocol,
    MemoryJournal,
    Record,
    Recovery,
    Snapshot,
    encode_payload,
    kept_snapshots,
    link,
)
from a3s_desktop.storage.salvage import RawRecord

__all__ = ["Journal", "JournalProtocol", "MemoryJournal", "Record", "Recovery", "Snapshot"]

VERSION = 1
_APPLICATION_ID = 0x61337364
_SCHEMA = """
CREATE TABLE records (
    seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, payload TEXT NOT NULL, at REAL NOT NULL, checksum TEXT NOT NULL
);
CREATE TABLE snapshots (
    seq INTEGER PRIMARY KEY, chain TEXT NOT NULL, meta TEXT NOT NULL, checksum TEXT NOT NULL, arrays BLOB NOT NULL
);
CREATE TRIGGER records_stay BEFORE DELETE ON records BEGIN SELECT RAISE(ABORT, 'records are never deleted'); END;
CREATE TRIGGER records_keep BEFORE UPDATE ON records BEGIN SELECT RAISE(ABORT, 'records are never changed'); END;
"""
_PAGE = 500  # records fetched at a time
_COPY_TRIES = 4


class Journal:
    """A journal on disk. Calls may come from any thread, one at a time is served.

    Make one with `Journal.create`, `Journal.open` (after taking the project's lock) or `Journal.read`.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path, read_only: bool) -> None:
        self._connection: sqlite3.Connection | None = connection
        self._path = path
        self._read_only = read_only
        self._guard = threading.Lock()
        self._last = 0
        self._chain = CHAIN_START
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self.recovery = Recovery()

    # ---------------------------------------------------------------------------------------- making and opening

    @classmethod
    def create(cls, path: Path, records: list[RawRecord] | None = None) -> Journal:
        """Make a new journal, with already chained ``records`` where a damaged one is rebuilt.

        Raises
        ------
        StorageFailedError
            Something is at ``path``, or the system refused to write.
        """
        if path.exists():
            raise StorageFailedError(f"A journal is already there: {files.show(path)}.", "Choose another folder.")
        journal: Journal | None = None
        try:
            journal = cls(_connect(path), path, read_only=False)
            connection = journal._open_connection()
            connection.execute("PRAGMA page_size = 4096")
            _prepare(connection)
            connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.executescript("BEGIN IMMEDIATE;" + _SCHEMA + "COMMIT;")
            if records:
                with _transaction(connection):
                    connection.executemany("INSERT INTO records VALUES (?, ?, ?, ?, ?)", records)
                journal._last, journal._chain = records[-1].seq, records[-1].checksum
            files.sync_folder(path.parent)
        except (sqlite3.Error, OSError) as error:
            if journal is not None:
                journal.close()
            raise _failed(path, error) from error
        return journal

    @classmethod
    def open(cls, path: Path) -> Journal:
        """Open for writing (the caller holds the project's lock); a damaged journal is repaired, see ``recovery``.

        Raises
        ------
        ProjectVersionError
            A newer version of the program wrote it.
        StorageFailedError
            It cannot be read or written at all.
        """
        finish_repair(path)
        log = files.read_bytes(_beside(path, "-wal"))
        if path.is_file() and path.stat().st_size:
            journal = cls._try(path, log)
            if journal is not None:
                return journal
        return _rebuild(cls, path)

    @classmethod
    def _try(cls, path: Path, log: bytes) -> Journal | None:
        """Open a journal that seems whole; None where it is damaged."""
        journal = cls(_connect(path), path, read_only=False)
        try:
            connection = journal._open_connection()
            _check_version(connection, path)
            _prepare(connection)
            if not journal._verify():
                journal._drop()
                return None
            # A flipped bit in the write-ahead log makes SQLite forget, silently, all commits from there on.
            late = salvage.continue_chain(salvage.scan_log(log), journal._last, journal._chain) if log else []
            if late:
                with _transaction(connection):
                    connection.executemany("INSERT INTO records VALUES (?, ?, ?, ?, ?)", late)
                journal._last, journal._chain = late[-1].seq, late[-1].checksum
            journal.recovery = Recovery(recovered=journal._last)
        except sqlite3.OperationalError as error:
            journal._drop()
            if _is_damage(error):
                return None
            raise _failed(path, error) from error
        except sqlite3.Error:
            journal._drop()
            return None
        except BaseException:
            journal._drop()
            raise
        return journal

    @classmethod
    def read(cls, path: Path) -> Journal:
        """Open for reading, beside a writer if there is one: a private copy of what is committed now.

        Damage is never repaired in place; what can be read is there, and ``recovery`` says what is missing.
        """
        copy = tempfile.TemporaryDirectory(prefix="a3s-", ignore_cleanup_errors=True)
        try:
            data, log = b"", b""
            for attempt in range(_COPY_TRIES):
                data, log = _read_pair(path)
                inside = Path(copy.name) / f"{attempt}.sqlite"
                inside.write_bytes(data)
                if log:
                    _beside(inside, "-wal").write_bytes(log)
                journal = cls._try(inside, log) if data else None
                if journal is not None:
                    journal._read_only, journal._copy = True, copy
                    return journal
                time.sleep(0.02 * attempt)  # a checkpoint may have been under way
            found = salvage.salvage(data, log)
            journal = cls.create(Path(copy.name) / "salvaged.sqlite", found.records)
            journal._read_only, journal._copy = True, copy
            journal.recovery = salvage.report(found, "")
        except OSError as error:
            copy.cleanup()
            raise StorageFailedError(f"Reading {files.show(path)} failed: {files.cause_of(error)[0]}.") from error
        except BaseException:
            copy.cleanup()
            raise
        return journal

    # ---------------------------------------------------------------------------------------- records

    @property
    def last(self) -> int:
        """``seq`` of the newest record; 0 while there is none."""
        return self._last

    @property
    def read_only(self) -> bool:
        """Whether `append` and `save_snapshot` raise `ReadOnlyError`."""
        return self._read_only

    def append(self, kind: str, payload: Mapping[str, Any], at: float | None = None) -> int:
        """Add a record and return its ``seq``. It is on the disk on return.

        Raises
        ------
        StorageFailedError
            The disk refused; nothing was kept, and the next attempt may succeed.
        ReadOnlyError
            The project is open read-only.
        """
        text = encode_payload(payload)
        when = time.time() if at is None else float(at)
        with self._guard:
            connection = self._writable()
            seq = self._last + 1
            checksum = link(self._chain, seq, kind, text, when)
            try:
                with _transaction(connection):
                    connection.execute("INSERT INTO records VALUES (?, ?, ?, ?, ?)", (seq, kind, text, when, checksum))
            except sqlite3.IntegrityError as error:
                raise StorageFailedError(
                    f"The journal {files.show(self._path)} was changed by another program; the answer was not kept.",
                    "Close the project in the other program, then open it again.",
                ) from error
            except sqlite3.Error as error:
                raise _failed(self._path, error) from error
            self._last, self._chain = seq, checksum
        return seq

    def records(self, after: int = 0) -> Iterator[Record]:
        """The records with ``seq > after``, oldest first; those appended meanwhile are included."""
        while True:
            rows = self._fetch("SELECT * FROM records WHERE seq > ? ORDER BY seq LIMIT ?", (after, _PAGE))
            for seq, kind, text, at, _ in rows:
                yield Record(int(seq), str(kind), salvage.decode_payload(text), float(at))
                after = int(seq)
            if len(rows) < _PAGE:
                return

    def _verify(self) -> bool:
        """Walk the chain of all records; False where it breaks."""
        connection = self._open_connection()
        seq, chain = 0, CHAIN_START
        for row in connection.execute("SELECT seq, kind, payload, at, checksum FROM records ORDER BY seq"):
            record = salvage.checked(row)
            if record is None or record.seq != seq + 1 or not salvage.follows(record, chain):
                return False
            seq, chain = record.seq, record.checksum
        for (verdict,) in connection.execute("PRAGMA quick_check(1)"):
            if verdict != "ok":
                return False
        self._last, self._chain = seq, chain
        return True

    # ---------------------------------------------------------------------------------------- snapshots

    def save_snapshot(self, arrays: Mapping[str, npt.NDArray[Any]], meta: Mapping[str, Any]) -> None:
        """Keep the state after the newest record; older snapshots are thinned out (never records)."""
        blob = pack_arrays(arrays)
        text = encode_payload(meta)
        with self._guard:
            connection = self._writable()
            row = (self._last, self._chain, text, _digest(text, blob), blob)
            try:
                with _transaction(connection):
                    connection.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?)", row)
                    seqs = [int(seq) for (seq,) in connection.execute("SELECT seq FROM snapshots")]
                    gone = sorted(set(seqs) - kept_snapshots(seqs))
                    connection.executemany("DELETE FROM snapshots WHERE seq = ?", [(seq,) for seq in gone])
            except sqlite3.Error as error:
                raise _failed(self._path, error) from error

    def newest_snapshot(self, at_most: int | None = None) -> Snapshot | None:
        """The newest undamaged snapshot with ``seq <= at_most``; None where there is none."""
        bound = self._last if at_most is None else min(at_most, self._last)
        for (seq,) in self._fetch("SELECT seq FROM snapshots WHERE seq <= ? ORDER BY seq DESC", (bound,)):
            rows = self._fetch("SELECT chain, meta, checksum, arrays FROM snapshots WHERE seq = ?", (seq,))
            shot = self._unpack(int(seq), rows[0]) if rows else None
            if shot is not None:
                return shot
        return None

    def _unpack(self, seq: int, row: tuple[Any, ...]) -> Snapshot | None:
        chain, text, checksum, blob = row
        if not isinstance(text, str) or not isinstance(blob, bytes) or _digest(text, blob) != checksum:
            return None
        here = self._fetch("SELECT checksum FROM records WHERE seq = ?", (seq,)) if seq else [(CHAIN_START,)]
        if not here or here[0][0] != chain:
            return None
        try:
            return Snapshot(seq, unpack_arrays(blob), salvage.decode_payload(text))
        except (ValueError, KeyError, OSError, zipfile.BadZipFile, MemoryError):
            return None

    # ---------------------------------------------------------------------------------------- the connection

    def close(self) -> None:
        """Release the journal; harmless when called twice."""
        with self._guard:
            self._drop()

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(sqlite3.Error):
                connection.close()
        if self._copy is not None:
            self._copy.cleanup()
            self._copy = None

    def _open_connection(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StorageFailedError("The journal is closed.", "Open the project again.")
        return self._connection

    def _writable(self) -> sqlite3.Connection:
        if self._read_only:
            raise ReadOnlyError(
                "The project is open read-only; nothing was changed.", "Open it for writing to answer pairs."
            )
        return self._open_connection()

    def _fetch(self, query: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        with self._guard:
            try:
                return self._open_connection().execute(query, values).fetchall()
            except sqlite3.Error as error:
                raise StorageFailedError(
                    f"Reading the journal {files.show(self._path)} failed: {error}.", "Open the project again."
                ) from error


# -------------------------------------------------------------------------------------------- helpers


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _connect(path: Path) -> sqlite3.Connection:
    """A connection in autocommit mode; transactions are explicit."""
    return sqlite3.connect(files.long_path(path), isolation_level=None, check_same_thread=False, timeout=2.0)


def _prepare(connection: sqlite3.Connection) -> None:
    """WAL, and a synchronised commit for every transaction."""
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")  # macOS: past the drive's own cache
    connection.execute("PRAGMA checkpoint_fullfsync = ON")


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit at the end of the block, roll back on any error, a failed commit included."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
        raise


def _check_version(connection: sqlite3.Connection, path: Path) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application == _APPLICATION_ID and version > VERSION:
        raise ProjectVersionError(
            f"The journal {files.show(path)} has format {version}; this program reads format {VERSION}.",
            "Update the program.",
        )


def _is_damage(error: sqlite3.OperationalError) -> bool:
    """Whether an operational error means that the file's content is bad, rather than the disk or its rights."""
    text = str(error)
    return any(word in text for word in ("no such table", "no such column", "malformed", "has no column", "syntax"))


def _failed(path: Path, error: Exception) -> StorageFailedError:
    """What went wrong with SQLite or the system, in plain words."""
    if isinstance(error, OSError):
        return files.write_failed(path, error)
    text = str(error)
    cause, hint = text, "Check the drive, then try again."
    if "full" in text:
        cause, hint = "the disk is full", "Free some space and answer again."
    elif "readonly" in text or "unable to open" in text:
        cause, hint = "there is no permission to write there, or the drive is gone", "Check the folder, then try again."
    elif "disk I/O" in text:
        cause, hint = "the drive reported an error", "Check the drive and its cable, then try again."
    elif "locked" in text or "busy" in text:
        cause, hint = "another program holds the file", "Close the other program, then try again."
    return StorageFailedError(f"Writing {files.show(path)} failed: {cause}; the change was not kept.", hint)


def _digest(text: str, blob: bytes) -> str:
    digest = hashlib.sha256(text.encode("utf-8"))
    digest.update(blob)
    return digest.hexdigest()


def pack_arrays(arrays: Mapping[str, npt.NDArray[Any]]) -> bytes:
    """Arrays as the bytes of an ``.npz`` (lightly compressed; object arrays are refused)."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, values in arrays.items():
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, np.asanyarray(values), allow_pickle=False)
    return buffer.getvalue()


def unpack_arrays(blob: bytes) -> Arrays:
    """Inverse of `pack_arrays`; nothing is ever unpickled."""
    with np.load(io.BytesIO(blob), allow_pickle=False) as archive:
        return {name: archive[name] for name in archive.files}


def _read_pair(path: Path) -> tuple[bytes, bytes]:
    """Database and write-ahead log as they are now, the log first: what a checkpoint moves meanwhile is in both."""
    log = files.read_bytes(_beside(path, "-wal"))
    data = files.read_bytes(path)
    return data, log


def _rebuild(cls: type[Journal], path: Path) -> Journal:
    """Put a journal with all that can be recovered in a damaged one's place, and keep that one beside it."""
    log = _beside(path, "-wal")
    found = salvage.salvage(files.read_bytes(path), files.read_bytes(log))
    kept = ""
    try:
        if path.exists() or log.exists():
            kept = _keep_aside(path)
        building = files.temporary_name(path.parent)
        fresh = cls.create(building, found.records)
        try:
            _copy_snapshots(path, fresh)
        finally:
            fresh.close()
        files.rename(building, _repaired(path))
        files.sync_folder(path.parent)
        finish_repair(path)
    except OSError as error:
        raise files.write_failed(path, error) from error
    journal = cls._try(path, b"")
    if journal is None:
        raise StorageFailedError(f"The journal {files.show(path)} could not be repaired.", f"It was kept as {kept}.")
    journal.recovery = salvage.report(found, kept)
    return journal


def _repaired(path: Path) -> Path:
    return path.with_name(path.stem + ".repaired" + path.suffix)


def finish_repair(path: Path) -> None:
    """Put a repaired journal that waits beside ``path`` in its place; done again after a crash in the middle.

    The old log must go first: SQLite would apply it to the new file.
    """
    waiting = _repaired(path)
    if not waiting.is_file():
        return
    try:
        for suffix in ("-wal", "-shm"):
            files.remove_file(_beside(path, suffix))
            files.remove_file(_beside(waiting, suffix))
        files.sync_folder(path.parent)
        files.rename(waiting, path)
        files.sync_folder(path.parent)
    except OSError as error:
        raise files.write_failed(path, error) from error


def _keep_aside(path: Path) -> str:
    """Copy the damaged journal and its log to a new name; returns the name."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    for number in range(1000):
        name = f"{path.stem}.damaged-{stamp}{f'-{number}' if number else ''}{path.suffix}"
        target = path.with_name(name)
        if not target.exists() and not _beside(target, "-wal").exists():
            break
    for suffix in ("", "-wal"):
        if _beside(path, suffix).exists():
            files.copy_file(_beside(path, suffix), _beside(target, suffix))
    return name


def _copy_snapshots(damaged: Path, fresh: Journal) -> None:
    """Carry over the snapshots that can still be read, newest first; those that cannot are only a loss of speed."""
    connection = fresh._open_connection()
    try:
        with tempfile.TemporaryDirectory(prefix="a3s-", ignore_cleanup_errors=True) as folder:
            inside = Path(folder) / "damaged.sqlite"
            inside.write_bytes(files.read_bytes(damaged))
            log = files.read_bytes(_beside(damaged, "-wal"))
            if log:
                _beside(inside, "-wal").write_bytes(log)
            with contextlib.closing(_connect(inside)) as old:
                old.execute("PRAGMA writable_schema = ON")  # lets SQLite read a file that was cut off
                rows = old.execute("SELECT * FROM snapshots WHERE seq <= ? ORDER BY seq DESC", (fresh.last,))
                for seq, chain, text, checksum, blob in rows:
                    if fresh._unpack(int(seq), (chain, text, checksum, blob)) is not None:
                        with _transaction(connection):
                            row = (seq, chain, text, checksum, blob)
                            connection.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?)", row)
    except (sqlite3.Error, OSError, ValueError, TypeError, OverflowError):
        return
