"""How the journal uses SQLite: schema, durability, transactions, and its errors in plain words."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from a3s_desktop.errors import ProjectVersionError, StorageFailedError
from a3s_desktop.i18n import tr
from a3s_desktop.storage import drives, files, salvage
from a3s_desktop.storage.journal_types import CHAIN_START

VERSION = 1
APPLICATION_ID = 0x61337364
_STAY = (
    "CREATE TRIGGER records_stay BEFORE DELETE ON records BEGIN SELECT RAISE(ABORT, 'records are never deleted'); END"
)
SCHEMA = f"""
CREATE TABLE records (
    seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, payload TEXT NOT NULL, at REAL NOT NULL, checksum TEXT NOT NULL
);
CREATE TABLE snapshots (
    seq INTEGER PRIMARY KEY, chain TEXT NOT NULL, meta TEXT NOT NULL, checksum TEXT NOT NULL, arrays BLOB NOT NULL
);
{_STAY};
CREATE TRIGGER records_keep BEFORE UPDATE ON records BEGIN SELECT RAISE(ABORT, 'records are never changed'); END;
"""
INSERT_RECORD = "INSERT INTO records VALUES (?, ?, ?, ?, ?)"
INSERT_SNAPSHOT = "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?)"
PAGE_SIZE = 4096
LOG, INDEX, UNDO = "-wal", "-shm", "-journal"
"""What SQLite keeps beside a database: write-ahead log, its index in shared memory, rollback journal."""

_PATIENCE = 10_000  # ms: without a log a backup that is being made keeps a record waiting
# Primary result codes that speak of the world outside the file: https://www.sqlite.org/rescode.html
_OUTSIDE = frozenset(
    {
        *(sqlite3.SQLITE_PERM, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM),
        *(sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN),
        *(sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_NOLFS, sqlite3.SQLITE_AUTH),
    }
)
_SHORT_READ = 522  # SQLITE_IOERR_SHORT_READ: the file ends too early


def beside(path: Path, suffix: str) -> Path:
    """SQLite's companion of a database: `LOG`, `INDEX` or `UNDO`."""
    return path.with_name(path.name + suffix)


def connect(path: Path) -> sqlite3.Connection:
    """A connection without implicit transactions, for use from any thread, one at a time.

    SQLite makes a new file with rights of its own and gives its companions those of the file: so that all of them
    follow the user's umask (a folder of several people), a file that is absent is made here.
    """
    with contextlib.suppress(OSError), files.open_new(files.long_path(path)):
        pass  # there already, or it cannot be made, which SQLite will say in its turn
    connection = sqlite3.connect(files.long_path(path), isolation_level=None, check_same_thread=False, timeout=2.0)
    if drives.is_network(path):
        # A log from another drive is then read without memory that is shared: https://www.sqlite.org/wal.html#noshm
        connection.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
    return connection


def make_durable(connection: sqlite3.Connection) -> None:
    """A synchronised commit for every transaction: by a write-ahead log, on network drives by a rollback journal.

    A database that came from a drive of the other kind is changed.

    Raises
    ------
    sqlite3.Error
        The drive refused, or another program has the file.
    """
    connection.execute("PRAGMA trusted_schema = OFF")
    if not use_log(connection):
        # The end of a transaction is that its journal goes: that must be on the disk as well.
        extra = _folder_counts(_path_of(connection).parent)
        connection.execute(f"PRAGMA synchronous = {'EXTRA' if extra else 'FULL'}")
        connection.execute(f"PRAGMA busy_timeout = {_PATIENCE}")
    else:
        connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")  # macOS: past the drive's own cache
    connection.execute("PRAGMA checkpoint_fullfsync = ON")


def use_log(connection: sqlite3.Connection) -> bool:
    """Use a write-ahead log where the drive has what it needs, else a rollback journal; returns which. As above."""
    logged = not drives.is_network(_path_of(connection)) and _set_mode(connection, "wal") == "wal"
    if not logged and _set_mode(connection, "delete") != "delete":
        raise sqlite3.OperationalError("database is locked")
    connection.execute("PRAGMA locking_mode = NORMAL").fetchall()
    connection.execute("SELECT count(*) FROM sqlite_master").fetchall()  # lets go what `connect` held
    return logged


def _set_mode(connection: sqlite3.Connection, mode: str) -> str:
    return str(connection.execute(f"PRAGMA journal_mode = {mode}").fetchone()[0])


def _folder_counts(folder: Path) -> bool:
    """Whether folders can be synchronised there; a drive that fails at it will fail at the commit, in plain words."""
    try:
        return files.sync_folder(folder)
    except OSError:
        return True


def _path_of(connection: sqlite3.Connection) -> Path:
    return Path(str(connection.execute("PRAGMA database_list").fetchone()[2]))


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
            tr(
                "The journal {path} has format {version}; this program knows {version2}.",
                path=files.show(path),
                version=version,
                version2=VERSION,
            ),
            tr("Update the program."),
        )


def is_damage(error: sqlite3.Error) -> bool:
    """Whether an error means that the file's content is bad, rather than the disk, its rights or another program."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is None or code == _SHORT_READ or code & 0xFF not in _OUTSIDE


def is_busy(error: sqlite3.Error) -> bool:
    """Whether an error only means that another program, or thread, has the file at the moment."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def header_is_whole(head: bytes) -> bool:
    """Whether the fixed fields of a file's first 100 bytes are those that a journal has.

    A flipped bit there can make SQLite take the file for one that must not be written, which is no matter of rights.
    """
    return (
        len(head) >= 100
        and head[:18] == b"SQLite format 3\0" + PAGE_SIZE.to_bytes(2, "big")
        and head[18] == head[19]
        and head[18] in (1, 2)
        and head[20:24] == b"\x00\x40\x20\x20"
        and head[44:48] == b"\0\0\0\4"
        and head[56:60] == b"\0\0\0\1"
    )


def synchronise(connection: sqlite3.Connection) -> None:
    """Write what counts into the database once more, synchronise it, and empty the write-ahead log.

    Without a log all that was not finished was undone, and synchronised, when the connection first read; here the
    drive shows that it takes a change.

    Raises
    ------
    sqlite3.Error
        The drive refused, or somebody else is reading.
    """
    if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        connection.execute(f"PRAGMA user_version = {version}")
        return
    busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise sqlite3.OperationalError("database is locked")


def holds_only(connection: sqlite3.Connection, schema: str) -> bool:
    """Whether a database has the tables of a schema, and nothing that is not in it.

    A view can have no end, and a trigger can do anything with what is written: neither is touched before this is sure.
    """
    with contextlib.closing(sqlite3.connect(":memory:")) as model:
        model.executescript(schema)
        known, found = _objects(model), _objects(connection)
    return found <= known and {one for one in known if one[0] == "table"} <= found


def _objects(connection: sqlite3.Connection) -> set[tuple[str, str, str]]:
    """Type, name and text of all that a database has, but for what SQLite makes by itself."""
    rows = connection.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    return {(str(kind), str(name), " ".join(str(text).split())) for kind, name, text in rows}


def verified_end(connection: sqlite3.Connection, thorough: bool = True) -> tuple[int, str] | None:
    """``seq`` and checksum of the newest record after walking the whole chain; None where anything is damaged.

    ``thorough``: also look at the tables' columns and at the pages of the file.
    """
    if thorough and not holds_only(connection, SCHEMA):
        return None
    seq, chain = 0, CHAIN_START
    for row in connection.execute("SELECT seq, kind, payload, at, checksum FROM records ORDER BY seq"):
        record = salvage.checked(row)
        if record is None or record.seq != seq + 1 or not salvage.follows(record, chain):
            return None
        seq, chain = record.seq, record.checksum
    if not thorough:
        return seq, chain
    columns = [
        [name for _, name, *_ in connection.execute(f"PRAGMA table_info({t})")] for t in ("records", "snapshots")
    ]
    if columns != [["seq", "kind", "payload", "at", "checksum"], ["seq", "chain", "meta", "checksum", "arrays"]]:
        return None
    if any(verdict != "ok" for (verdict,) in connection.execute("PRAGMA quick_check(1)")):
        return None
    return seq, chain


def renewed(
    old: sqlite3.Connection, path: Path, last: int, chain: str, tried: tuple[int, str] | None = None
) -> sqlite3.Connection:
    """A new connection in the place of one whose write failed, once all records up to ``last`` are surely on the disk.

    After a failed synchronisation the system may have dropped what it was to write, and says so only once
    (https://wiki.postgresql.org/wiki/Fsync_Errors). So nothing in memory is trusted: the chain is read anew, and what
    counts is written into the database and synchronised again before anything follows. This also wipes the failed
    record out of the log, where the next start might have found it. The old connection is closed last: as long as
    it is open, SQLite does not read the log anew, and the failed record stays out.

    Without a log a commit can fail at its very end, when all is written and only the folder could not be synchronised:
    the record that was ``tried`` (its ``seq`` and checksum) is then there, and is taken out.

    Raises
    ------
    StorageFailedError
        The drive still refuses, or the file holds something else now; ``old`` is still open then.
    sqlite3.Error
    """
    fresh = connect(path)
    try:
        make_durable(fresh)
        end = verified_end(fresh, thorough=False)
        if tried is not None and end == tried:
            _take_out(fresh, tried[0])
        elif end != (last, chain):
            raise StorageFailedError(
                tr(
                    "The journal {path} was changed by another program; the change was not kept.",
                    path=files.show(path),
                ),
                tr("Close the project in the other program, then open it again."),
            )
        synchronise(fresh)
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            fresh.close()
        raise
    with contextlib.suppress(sqlite3.Error):
        old.close()
    return fresh


def _take_out(connection: sqlite3.Connection, seq: int) -> None:
    """Remove a record that was said not to be kept."""
    with transaction(connection):
        connection.execute("DROP TRIGGER records_stay")
        connection.execute("DELETE FROM records WHERE seq = ?", (seq,))
        connection.execute(_STAY)


def failed(path: Path, error: Exception) -> StorageFailedError:
    """What went wrong while writing, in plain words."""
    if isinstance(error, OSError):
        return files.write_failed(path, error)
    cause, hint = _cause(path, error)
    return StorageFailedError(
        tr("Writing {path} failed: {cause}; the change was not kept.", path=files.show(path), cause=cause), hint
    )


def read_failed(path: Path, error: sqlite3.Error) -> StorageFailedError:
    """What went wrong while reading, in plain words."""
    cause, _ = _cause(path, error, look=False)
    return StorageFailedError(
        tr("Reading the journal {path} failed: {cause}.", path=files.show(path), cause=cause),
        tr("Open the project again."),
    )


def open_failed(path: Path, error: sqlite3.Error) -> StorageFailedError:
    """What went wrong while opening for writing, in plain words."""
    cause, hint = _cause(path, error)
    return StorageFailedError(
        tr("The journal {path} cannot be opened: {cause}.", path=files.show(path), cause=cause), hint
    )


def _cause(path: Path, error: Exception, look: bool = True) -> tuple[str, str]:
    """Cause and hint of an error of SQLite.

    It tells little of the cause: with ``look``, a small file beside the database, written and removed, tells more.
    """
    text = str(error)
    if look and not (isinstance(error, sqlite3.Error) and is_damage(error)):
        trouble = files.trouble_in(path.parent)
        if trouble is not None:
            return files.cause_of(trouble)
    if "full" in text:
        return tr("the disk is full"), tr("Free some space and try again.")
    if "readonly" in text or "unable to open" in text:
        return tr("there is no permission to write there, or the drive is gone"), tr(
            "Check the folder, then try again."
        )
    if "disk I/O" in text:
        return tr("the drive reported an error"), tr("Check the drive and its cable, then try again.")
    if "locked" in text or "busy" in text:
        return tr("another program holds the file"), tr("Close the other program, then try again.")
    if "malformed" in text or "not a database" in text:
        return tr("what the drive gave back is damaged"), tr("Check the drive and its cable, then try again.")
    return text, tr("Check the drive, then try again.")
