"""Small copies of images on disk: one SQLite file, bounded in bytes. Nothing in it is precious.

A large photo takes a tenth of a second to decode, its small copy a millisecond. A copy is known by the path, size and
time of its file, so a changed file has no copy until it is read again, and the old one ages out. Failures never reach
the caller: a damaged file is begun anew, and where it cannot be written the program works without it.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import sqlite3
import threading
from dataclasses import dataclass
from pathlib import Path

from a3s_desktop.errors import StorageFailedError
from a3s_desktop.storage import files, sqlite
from a3s_desktop.storage.keys import Part

_SCHEMA = """
CREATE TABLE copies (
    key BLOB NOT NULL UNIQUE, used INTEGER NOT NULL, bytes INTEGER NOT NULL,
    width INTEGER NOT NULL, height INTEGER NOT NULL, cut INTEGER NOT NULL, data BLOB NOT NULL
);
CREATE INDEX copies_by_age ON copies (used, bytes);
"""
_VERSION = 1
_APPLICATION = 0x61337374
_BATCH = 32  # copies written in one transaction: one write of the disk instead of many
_WAITING = 16 * _BATCH  # copies that wait while another program writes; more are made again when they are needed
_PATIENCE = (200, 5000)  # ms that a write waits for another program's: while working, at the end
_ROOM = 0.9  # what is left of the bound after old copies were dropped, so that it is not done at every write
_OVERHEAD = 120  # bytes of a row besides its data
# What a damaged file leads to: SQLite's own errors, names that are no text, sums of what are no numbers.
_ERRORS = (sqlite3.Error, ValueError, TypeError, OverflowError)
_COLUMNS = "rowid, used, width, height, cut, data"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """A small copy of an image.

    Attributes
    ----------
    data : bytes
        A JPEG or PNG file.
    width, height : int
        Of the original, upright, in pixels.
    cut : bool
        Whether the end of the original file is missing.
    """

    data: bytes
    width: int
    height: int
    cut: bool


def thumbnail_key(path: Path, part: Part | None, edge: int) -> bytes | None:
    """What the copy of an image of at most ``edge`` pixels is known by; None where the file cannot be looked at."""
    try:
        found = os.stat(files.long_path(path))
    except (OSError, ValueError):
        return None
    facts = (os.path.abspath(path), part, edge, found.st_size, found.st_mtime_ns)
    return hashlib.blake2b(repr(facts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


class ThumbnailStore:
    """See the module. Calls may come from any thread; none waits for the disk longer than a write takes.

    Parameters
    ----------
    path : Path
        The file; made, with its folder, when the first copy is kept.
    max_bytes : int
        Bound of all copies together.
    """

    def __init__(self, path: Path, max_bytes: int) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._guard = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._usable = True
        self._anew = False
        self._pending: dict[bytes, Thumbnail] = {}
        self._touched: set[int] = set()  # rows used since the last write
        self._generation = 1
        self._total = 0

    def get(self, key: bytes) -> Thumbnail | None:
        """The copy of that key, if there is one."""
        with self._guard:
            waiting = self._pending.get(key)
            if waiting is not None:
                return waiting
            connection = self._open(make=False)
            if connection is None:
                return None
            try:
                row = connection.execute(f"SELECT {_COLUMNS} FROM copies WHERE key = ?", (key,)).fetchone()
            except _ERRORS as error:
                self._failed(error)
                return None
            if row is None:
                return None
            number, used, width, height, cut, data = row
            if not (isinstance(data, bytes) and all(isinstance(value, int) for value in row[:5])):
                return None  # not of ours
            if used != self._generation:
                self._touched.add(number)
            return Thumbnail(data, width, height, bool(cut))

    def put(self, key: bytes, copy: Thumbnail) -> None:
        """Keep a copy; it is on the disk after some more of them, or at the end."""
        with self._guard:
            if not self._usable or len(copy.data) > self._max_bytes // 16:
                return
            self._pending[key] = copy
            if len(self._pending) % _BATCH == 0:
                self._write()

    def is_empty(self) -> bool:
        """Whether there is no copy, as far as the file can be read."""
        with self._guard:
            connection = self._open(make=False)
            if connection is None:
                return not self._pending
            try:
                return not self._pending and not connection.execute("SELECT 1 FROM copies LIMIT 1").fetchall()
            except _ERRORS as error:
                self._failed(error)
                return True

    def clear(self) -> bool:
        """Drop all copies, here and in the file; returns whether none is left on the disk.

        Other programs may go on using the file: it is emptied, not removed, for SQLite would still write to a file
        that is gone, and take away the companions of the one that came in its place.
        """
        with self._guard:
            self._pending, self._touched = {}, set()
            connection = self._open(make=False)
            if connection is None:  # absent, or of no use
                return (self._usable or remove_thumbnails(self._path)) and not os.path.exists(self._path)
            try:
                connection.execute(f"PRAGMA busy_timeout = {_PATIENCE[1]}")
                with sqlite.transaction(connection):
                    connection.execute("DELETE FROM copies")
                connection.execute("VACUUM")
                busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                self._total = 0
            except _ERRORS as error:
                self._failed(error)
                return not os.path.exists(self._path)
            return not busy

    def close(self) -> None:
        """Write what waits, and release the file; harmless when called twice."""
        with self._guard:
            if self._pending or self._touched:
                self._write(_PATIENCE[1])
            self._usable = False
            self._release()

    # ---------------------------------------------------------------------------------------- with the guard held

    def _open(self, make: bool) -> sqlite3.Connection | None:
        if self._connection is not None or not self._usable:
            return self._connection
        try:
            if not make and not os.path.exists(files.long_path(self._path)):
                return None
            files.make_folders(self._path.parent)
            self._connection = self._begin()
        except (OSError, StorageFailedError, *_ERRORS) as error:
            self._failed(error)
        return self._connection

    def _begin(self) -> sqlite3.Connection:
        connection = sqlite.connect(self._path)
        try:
            connection.execute(f"PRAGMA busy_timeout = {_PATIENCE[0]}")
            connection.execute("PRAGMA trusted_schema = OFF")
            sqlite.use_log(connection)
            connection.execute("PRAGMA synchronous = OFF")  # a copy that is lost is made again
            if not _is_ours(connection):
                with sqlite.transaction(connection):
                    if not _is_ours(connection):  # another program may have made it just now
                        _make_tables(connection)
            newest, total = connection.execute("SELECT max(used), total(bytes) FROM copies").fetchone()
            self._generation, self._total = (newest or 0) + 1, int(total)
        except BaseException:
            connection.close()
            raise
        return connection

    def _write(self, patience: int = _PATIENCE[0]) -> None:
        copies, self._pending = self._pending, {}
        touched, self._touched = self._touched, set()
        connection = self._open(make=True)
        if connection is None:
            self._keep_waiting(copies, touched)
            return
        try:
            connection.execute(f"PRAGMA busy_timeout = {patience}")
            with sqlite.transaction(connection):
                connection.executemany(
                    "UPDATE copies SET used = ? WHERE rowid = ?", [(self._generation, row) for row in touched]
                )
                connection.executemany(
                    "INSERT OR REPLACE INTO copies VALUES (?, ?, ?, ?, ?, ?, ?)",
                    [
                        (key, self._generation, len(c.data) + _OVERHEAD, c.width, c.height, c.cut, c.data)
                        for key, c in copies.items()
                    ],
                )
                self._total += sum(len(c.data) + _OVERHEAD for c in copies.values())
                if self._total > self._max_bytes:
                    self._total = self._drop_old(connection)
        except _ERRORS as error:
            self._failed(error)
            self._keep_waiting(copies, touched)

    def _keep_waiting(self, copies: dict[bytes, Thumbnail], touched: set[int]) -> None:
        """Try what was not written again with the next copies, where the file can still be used."""
        if self._usable and len(copies) < _WAITING:
            self._pending, self._touched = copies, touched

    def _drop_old(self, connection: sqlite3.Connection) -> int:
        """Drop the copies that were not used for longest; returns the bytes that are left."""
        total = int(connection.execute("SELECT total(bytes) FROM copies").fetchone()[0])
        gone = []
        for row, size in connection.execute("SELECT rowid, bytes FROM copies ORDER BY used, bytes, rowid"):
            if total <= self._max_bytes * _ROOM:
                break
            gone.append((row,))
            total -= size
        connection.executemany("DELETE FROM copies WHERE rowid = ?", gone)
        return total

    def _failed(self, error: Exception) -> None:
        """Begin anew where the file is damaged; else do without it until the program starts again.

        A file that another program is writing is as good as any: it is tried again.
        """
        if isinstance(error, sqlite3.Error) and sqlite.is_busy(error):
            return
        self._release()
        outside = isinstance(error, OSError | StorageFailedError)
        damaged = not outside and (not isinstance(error, sqlite3.Error) or sqlite.is_damage(error)) and not self._anew
        _log.warning("the small copies of images are %s: %s", "begun anew" if damaged else "not kept", error)
        self._anew = True
        self._usable = damaged and remove_thumbnails(self._path)

    def _release(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(sqlite3.Error):
                connection.close()


def _is_ours(connection: sqlite3.Connection) -> bool:
    known = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
    return known == [_APPLICATION, _VERSION] and sqlite.holds_only(connection, _SCHEMA)


def _make_tables(connection: sqlite3.Connection) -> None:
    """Make the tables in place of whatever the file holds; within a transaction."""
    foreign = "SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
    for kind, name in connection.execute(foreign).fetchall():
        connection.execute(f'DROP {kind} "{name.replace(chr(34), chr(34) * 2)}"')
    for statement in _SCHEMA.split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
    connection.execute(f"PRAGMA user_version = {_VERSION}")


def remove_thumbnails(path: Path) -> bool:
    """Remove the file with its companions; returns whether it is gone."""
    try:
        for suffix in ("", sqlite.LOG, sqlite.INDEX, sqlite.UNDO):
            files.remove_file(files.long_path(sqlite.beside(path, suffix)))
    except OSError:
        return False
    return True
