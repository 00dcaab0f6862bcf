"""The append-only journal of a project on disk: SQLite, each record synchronised before it is acknowledged.

Records carry a checksum that chains each to the one before it, so that damage anywhere is found at the next opening
(`journal_opening`), which recovers the longest whole prefix (`salvage`).
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
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.errors import ProjectError, ReadOnlyError, StorageFailedError
from a3s_desktop.i18n import tr
from a3s_desktop.storage import array_files, files, salvage, sqlite
from a3s_desktop.storage.journal_types import (
    CHAIN_START,
    Arrays,
    Record,
    Recovery,
    Snapshot,
    encode_payload,
    kept_snapshots,
    link,
)
from a3s_desktop.storage.zip_limits import check_archive

_PAGE = 500  # records fetched at a time
_MOST_UNPACKED = 1 << 29  # bytes of a snapshot's arrays: far beyond any real one


class Journal:
    """A journal on disk; made by `create_journal`, `open_journal` and `read_journal`.

    Calls may come from any thread, one at a time is served.

    Parameters
    ----------
    connection : sqlite3.Connection
        To a journal whose records were verified.
    path : Path
        For messages.
    last, chain : int, str
        ``seq`` and checksum of the newest record.
    recovery : Recovery
        What opening it had to repair.
    copy : TemporaryDirectory, optional
        Where the file is a private copy for reading; removed at the end.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        last: int,
        chain: str,
        recovery: Recovery,
        copy: tempfile.TemporaryDirectory[str] | None = None,
    ) -> None:
        self.recovery = recovery
        self._connection: sqlite3.Connection | None = connection
        self._path = path
        self._last = last
        self._chain = chain
        self._copy = copy
        self._read_only = copy is not None
        self._guard = threading.Lock()
        self._in_doubt = False
        self._tried: tuple[int, str] | None = None
        self._may_write: Callable[[], None] | None = None

    def ask_before_writing(self, may_write: Callable[[], None]) -> None:
        """Have ``may_write`` called before each write; what it raises refuses the write, and nothing is kept."""
        self._may_write = may_write

    @property
    def last(self) -> int:
        """``seq`` of the newest record; 0 while there is none."""
        return self._last

    @property
    def read_only(self) -> bool:
        """Whether `append` and `save_snapshot` raise `ReadOnlyError`."""
        return self._read_only

    # ---------------------------------------------------------------------------------------- records

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
            connection = self._sure()
            seq = self._last + 1
            checksum = link(self._chain, seq, kind, text, when)
            try:
                with sqlite.transaction(connection):
                    connection.execute(sqlite.INSERT_RECORD, (seq, kind, text, when, checksum))
            except sqlite3.IntegrityError as error:
                raise StorageFailedError(
                    tr(
                        "The journal {path} was changed by another program; the change was not kept.",
                        path=files.show(self._path),
                    ),
                    tr("Close the project in the other program, then open it again."),
                ) from error
            except sqlite3.Error as error:
                raise self._doubt(error, (seq, checksum)) from error
            self._last, self._chain = seq, checksum
        return seq

    def records(self, after: int = 0) -> Iterator[Record]:
        """The records with ``seq > after``, oldest first; those appended meanwhile are included."""
        while True:
            rows = self._fetch("SELECT * FROM records WHERE seq > ? ORDER BY seq LIMIT ?", (after, _PAGE))
            for seq, kind, text, at, _ in rows:
                yield Record(int(seq), str(kind), self._payload(seq, text), float(at))
                after = int(seq)
            if len(rows) < _PAGE:
                return

    def _payload(self, seq: int, text: str) -> dict[str, Any]:
        try:
            return salvage.decode_payload(text)
        except ValueError as error:  # its checksum is right: nothing that this program writes
            raise ProjectError(
                tr("Record {seq} of the journal {path} cannot be read.", seq=seq, path=files.show(self._path)),
                tr("Restore the project from a backup."),
            ) from error

    # ---------------------------------------------------------------------------------------- snapshots

    def save_snapshot(self, arrays: Mapping[str, npt.NDArray[Any]], meta: Mapping[str, Any]) -> None:
        """Keep the state after the newest record; older snapshots are thinned out (never records).

        Raises
        ------
        StorageFailedError, ReadOnlyError
            As `append`.
        """
        blob = pack_arrays(arrays)
        text = encode_payload(meta)
        with self._guard:
            connection = self._sure()
            row = (self._last, self._chain, text, snapshot_checksum(text, blob), blob)
            try:
                with sqlite.transaction(connection):
                    connection.execute(sqlite.INSERT_SNAPSHOT, row)
                    seqs = [int(seq) for (seq,) in connection.execute("SELECT seq FROM snapshots")]
                    gone = sorted(set(seqs) - kept_snapshots(seqs))
                    connection.executemany("DELETE FROM snapshots WHERE seq = ?", [(seq,) for seq in gone])
            except sqlite3.Error as error:
                raise self._doubt(error) from error

    def newest_snapshot(self, at_most: int | None = None) -> Snapshot | None:
        """The newest undamaged snapshot with ``seq <= at_most``; None where there is none."""
        bound = self._last if at_most is None else min(at_most, self._last)
        for (seq,) in self._fetch("SELECT seq FROM snapshots WHERE seq <= ? ORDER BY seq DESC", (bound,)):
            rows = self._fetch("SELECT chain, meta, checksum, arrays FROM snapshots WHERE seq = ?", (seq,))
            if rows:
                chain, text, checksum, blob = rows[0]
                here = self._fetch("SELECT checksum FROM records WHERE seq = ?", (seq,)) if seq else [(CHAIN_START,)]
                if here and here[0][0] == chain and snapshot_is_whole(text, checksum, blob):
                    with contextlib.suppress(ValueError):  # whole, but nothing that this program writes
                        return Snapshot(int(seq), unpack_arrays(blob), salvage.decode_payload(text))
        return None

    def damaged_snapshots(self) -> list[int]:
        """``seq`` of the snapshots that are not what was written; those are never loaded."""
        found: list[int] = []
        for (seq,) in self._fetch("SELECT seq FROM snapshots ORDER BY seq", ()):
            shot = self.newest_snapshot(int(seq))
            if shot is None or shot.seq != seq:
                found.append(int(seq))
        return found

    # ---------------------------------------------------------------------------------------- the connection

    def close(self) -> None:
        """Release the journal; harmless when called twice."""
        with self._guard:
            connection, self._connection = self._connection, None
            if connection is not None:
                with contextlib.suppress(sqlite3.Error):
                    connection.close()
            if self._copy is not None:
                self._copy.cleanup()
                self._copy = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StorageFailedError(tr("The journal is closed."), tr("Open the project again."))
        return self._connection

    def _writable(self) -> sqlite3.Connection:
        if self._read_only:
            raise ReadOnlyError(
                tr("The project is open read-only; nothing was changed."), tr("Open it for writing to answer pairs.")
            )
        connection = self._open()
        if self._may_write is not None:
            self._may_write()
        return connection

    def _sure(self) -> sqlite3.Connection:
        """The connection, renewed where the last write failed; see `sqlite.renewed`. Raises `StorageFailedError`."""
        connection = self._writable()
        if self._in_doubt:
            try:
                connection = self._connection = sqlite.renewed(
                    connection, self._path, self._last, self._chain, self._tried
                )
            except sqlite3.Error as error:
                raise sqlite.failed(self._path, error) from error
            self._in_doubt, self._tried = False, None
        return connection

    def _doubt(self, error: sqlite3.Error, tried: tuple[int, str] | None = None) -> StorageFailedError:
        """Note that a write failed, and put things in order at once where the drive lets us: the record is not kept."""
        told = sqlite.failed(self._path, error)
        self._in_doubt, self._tried = True, tried
        with contextlib.suppress(StorageFailedError):  # before the next write, then
            self._sure()
        return told

    def _fetch(self, query: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        with self._guard:
            try:
                return self._open().execute(query, values).fetchall()
            except sqlite3.Error as error:
                raise sqlite.read_failed(self._path, error) from error


def pack_arrays(arrays: Mapping[str, npt.NDArray[Any]]) -> bytes:
    """Arrays as the bytes of an ``.npz`` (lightly compressed; object arrays are refused)."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, values in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(values), allow_pickle=False)
    return buffer.getvalue()


def unpack_arrays(blob: bytes) -> Arrays:
    """Inverse of `pack_arrays`; nothing is ever unpickled. Raises `ValueError` for what that cannot have written."""
    try:
        with zipfile.ZipFile(io.BytesIO(blob)) as archive:
            check_archive(archive)
            members = archive.infolist()
            if sum(info.file_size for info in members) > _MOST_UNPACKED:
                raise ValueError("too large")
            return {info.filename.removesuffix(".npy"): array_files.read_array(archive.read(info)) for info in members}
    except Exception as error:  # zipfile and what it uses raise anything
        raise ValueError(str(error) or type(error).__name__) from error


def snapshot_checksum(text: str, blob: bytes) -> str:
    """Hex SHA-256 of a snapshot's meta and arrays."""
    digest = hashlib.sha256(text.encode("utf-8"))
    digest.update(blob)
    return digest.hexdigest()


def snapshot_is_whole(text: object, checksum: object, blob: object) -> bool:
    """Whether the columns of a snapshot are what `Journal.save_snapshot` wrote."""
    return isinstance(text, str) and isinstance(blob, bytes) and snapshot_checksum(text, blob) == checksum
