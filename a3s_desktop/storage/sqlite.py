"""How the journal uses SQLite: schema, durability, transactions, and its errors in plain words."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from a3s_desktop.errors import ProjectVersionError, StorageFailedError
from a3s_desktop.storage import files

VERSION = 1
APPLICATION_ID = 0x61337364
SCHEMA = """
CREATE TABLE records (
    seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, payload TEXT NOT NULL, at REAL NOT NULL, checksum TEXT NOT NULL
);
CREATE TABLE snapshots (
    seq INTEGER PRIMARY KEY, chain TEXT NOT NULL, meta TEXT NOT NULL, checksum TEXT NOT NULL, arrays BLOB NOT NULL
);
CREATE TRIGGER records_stay BEFORE DELETE ON records BEGIN SELECT RAISE(ABORT, 'records are never deleted'); END;
CREATE TRIGGER records_keep BEFORE UPDATE ON records BEGIN SELECT RAISE(ABORT, 'records are never changed'); END;
"""
INSERT_RECORD = "INSERT INTO records VALUES (?, ?, ?, ?, ?)"
INSERT_SNAPSHOT = "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?)"
_DAMAGE = ("no such table", "no such column", "has no column", "malformed", "syntax", "unsupported file format")


def beside(path: Path, suffix: str) -> Path:
    """SQLite's companion of a database: ``-wal`` or ``-shm``."""
    return path.with_name(path.name + suffix)


def connect(path: Path) -> sqlite3.Connection:
    """A connection without implicit transactions, for use from any thread, one at a time."""
    return sqlite3.connect(files.long_path(path), isolation_level=None, check_same_thread=False, timeout=2.0)


def make_durable(connection: sqlite3.Connection) -> None:
    """Write-ahead log, and a synchronised commit for every transaction."""
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")  # macOS: past the drive's own cache
    connection.execute("PRAGMA checkpoint_fullfsync = ON")


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit at the end of the block; roll back on any error, a failed commit included."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
        raise


def check_version(connection: sqlite3.Connection, path: Path) -> None:
    """Raise `ProjectVersionError` where a newer version of the program wrote the journal."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application == APPLICATION_ID and version > VERSION:
        raise ProjectVersionError(
            f"The journal {files.show(path)} has format {version}; this program knows {VERSION}.", "Update the program."
        )


def is_damage(error: sqlite3.Error) -> bool:
    """Whether an error means that the file's content is bad, rather than the disk, its rights or another program."""
    if not isinstance(error, sqlite3.OperationalError):
        return True
    text = str(error)
    return any(word in text for word in _DAMAGE)


def failed(path: Path, error: Exception) -> StorageFailedError:
    """What went wrong while writing, in plain words."""
    if isinstance(error, OSError):
        return files.write_failed(path, error)
    text = str(error)
    cause, hint = text, "Check the drive, then try again."
    if "full" in text:
        cause, hint = "the disk is full", "Free some space and try again."
    elif "readonly" in text or "unable to open" in text:
        cause, hint = "there is no permission to write there, or the drive is gone", "Check the folder, then try again."
    elif "disk I/O" in text:
        cause, hint = "the drive reported an error", "Check the drive and its cable, then try again."
    elif "locked" in text or "busy" in text:
        cause, hint = "another program holds the file", "Close the other program, then try again."
    return StorageFailedError(f"Writing {files.show(path)} failed: {cause}; the change was not kept.", hint)
