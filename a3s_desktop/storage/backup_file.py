"""One backup: a zip file with the journal, the list of images and the project's description, and what they hold.

The features and the computed results are not in it: they are large, never change within an epoch of the project, and
the results can be computed again.
"""

from __future__ import annotations

import calendar
import contextlib
import errno
import io
import json
import sqlite3
import time
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from a3s_desktop.errors import ProjectError
from a3s_desktop.i18n import tr
from a3s_desktop.storage import drives, files, salvage, sqlite
from a3s_desktop.storage.journal_files import look_at
from a3s_desktop.storage.journal_types import CHAIN_START
from a3s_desktop.storage.salvage import RawRecord
from a3s_desktop.storage.zip_limits import check_archive

FOLDER, SUFFIX = "backups", ".a3s-backup"
JOURNAL, FACTS = "journal.sqlite", "backup.json"
_FORMAT = 1
_TRIES = 4
_LARGEST = 1 << 30  # bytes of a backup; that of 50,000 answers has 2 million
_END_OF_TIME = 253_402_300_800.0  # the year 10000, which no calendar here shows


@dataclass(frozen=True, slots=True)
class Contents:
    """What a project holds, for people.

    Attributes
    ----------
    answers, clusters, named, junk, images : int
        Answers in force, clusters of two or more images, clusters with a name, images that left the clustering, all
        images.
    """

    answers: int = 0
    clusters: int = 0
    named: int = 0
    junk: int = 0
    images: int = 0


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup as the list shows it.

    Attributes
    ----------
    path : Path
    made : float
        POSIX seconds.
    reason : str
        "time", "close", "merge", "add images"...
    epoch : int
        Of the project; its features are those of this epoch.
    records : int
        Entries of the journal.
    chain : str
        Checksum of the newest of them, which is one of all of them.
    contents : Contents or None
        None where nothing was known of it when the backup was made.
    size : int
        Bytes.
    """

    path: Path
    made: float
    reason: str
    epoch: int
    records: int
    chain: str
    contents: Contents | None = None
    size: int = field(default=0, compare=False)


def pack(target: Path, members: Mapping[str, bytes | Path], backup: Backup) -> None:
    """Write a backup atomically. Raises `StorageFailedError`, `OSError`."""
    facts = {
        "format": _FORMAT,
        "made": backup.made,
        "reason": backup.reason,
        "epoch": backup.epoch,
        "records": backup.records,
        "chain": backup.chain,
        "contents": None if backup.contents is None else asdict(backup.contents),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=4) as archive:
        archive.writestr(FACTS, json.dumps(facts))
        for name, content in members.items():
            if isinstance(content, Path):
                archive.write(content, name)
            else:
                archive.writestr(name, content)
    files.atomic_write(target, buffer.getvalue(), overwrite=False)


def read_facts(path: Path) -> Backup:
    """What a backup holds, without unpacking it.

    Raises
    ------
    ProjectError
        It is damaged, or not a backup.
    """
    try:
        with _opened(path) as archive:
            facts = json.loads(_member(archive, FACTS))
        if facts["format"] != _FORMAT:
            raise ProjectError(
                tr("The backup {path} was made by a newer version of the program.", path=files.show(path.name)),
                tr("Update the program."),
            )
        found = facts["contents"]
        contents = None if found is None else Contents(**{name: int(value) for name, value in found.items()})
        size = files.long_path(path).stat().st_size
        if not 0 <= facts["made"] < _END_OF_TIME or min(facts["epoch"], facts["records"]) < 0:
            raise ValueError("numbers that cannot be")
        values = float(facts["made"]), str(facts["reason"]), int(facts["epoch"]), int(facts["records"])
        return Backup(path, *values, str(facts["chain"]), contents, size)
    except OSError as error:
        raise files.read_failed(path, error) from error
    except _DAMAGE as error:
        raise damaged(path) from error


def unpack(path: Path) -> dict[str, bytes]:
    """All files of a backup, by name; their checksums are verified.

    Raises
    ------
    ProjectError
        It is damaged.
    """
    try:
        with _opened(path) as archive:
            return {name: _member(archive, name) for name in archive.namelist() if "/" not in name and "\\" not in name}
    except OSError as error:
        raise files.read_failed(path, error) from error
    except _DAMAGE as error:
        raise damaged(path) from error


def verified(backup: Backup) -> tuple[dict[str, bytes], list[RawRecord]]:
    """The members of a backup and its records, which are those that it says it has. Raises `ProjectError`."""
    members = unpack(backup.path)
    records = salvage.salvage(members.get(JOURNAL, b""), b"").records
    whole = JOURNAL in members and len(records) == backup.records
    if not whole or (records and records[-1].checksum != backup.chain):
        raise damaged(backup.path)
    return members, records


def records_of(path: Path) -> list[RawRecord]:
    """The records of a backup's journal, as far as their chain is whole. Raises `ProjectError`."""
    data = unpack(path).get(JOURNAL, b"")
    return salvage.salvage(data, b"").records


def paths_in(project: Path) -> list[Path]:
    """The backups of a project, oldest first: their names are the times when they were made."""
    folder = project / FOLDER
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == SUFFIX)
    except OSError:
        return []


def continued(project: Path, records: list[RawRecord]) -> tuple[list[RawRecord], str]:
    """Entries that backups have and a damaged journal has lost: those that continue its chain, and where they were.

    The newest backup that continues the chain is taken: after a restoration older ones may hold what was given up.
    Those of the future are from before a clock was set back, and count as that old.
    """
    last, chain = (records[-1].seq, records[-1].checksum) if records else (0, CHAIN_START)
    now, newest_first = time.time(), paths_in(project)[::-1]
    for path in sorted(newest_first, key=lambda path: abs(now - time_of(path))):
        with contextlib.suppress(ProjectError):
            more = salvage.continue_chain(records_of(path), last, chain)
            if more:
                return more, path.name
    return [], ""


def journal_copy(source: Path, target: Path) -> tuple[int, str]:
    """Copy a journal that may be in use, by SQLite's own backup; of its snapshots only the newest comes along.

    On a connection of its own and in one step: a reader of the write-ahead log sees one moment and holds no writer up
    (https://www.sqlite.org/isolation.html), while a copy in steps would begin anew at each answer. The time is spent in
    SQLite, which lets other threads run. On a network drive, where a reader would hold the writer up, a copy of the
    files is read instead, if they stand still for so long.

    Returns
    -------
    records : int
    chain : str
        Checksum of the newest.

    Raises
    ------
    sqlite3.Error, OSError
    """
    if not source.is_file():  # SQLite would make an empty one
        raise FileNotFoundError(errno.ENOENT, "No such file", str(source))
    if drives.is_network(source):
        source = _still_copy(source, target.parent) or source
    with contextlib.closing(sqlite.connect(source)) as old, contextlib.closing(sqlite.connect(target)) as new:
        old.execute("PRAGMA query_only = ON")
        old.backup(new, pages=-1)
        new.execute("PRAGMA journal_mode = DELETE").fetchall()
        new.execute("PRAGMA synchronous = OFF")  # a scratch copy
        new.execute("DELETE FROM snapshots WHERE seq < (SELECT max(seq) FROM snapshots)")
        new.execute("VACUUM")
        row = new.execute("SELECT seq, checksum FROM records ORDER BY seq DESC LIMIT 1").fetchone()
    return (int(row[0]), str(row[1])) if row else (0, CHAIN_START)


def _still_copy(source: Path, scratch: Path) -> Path | None:
    for attempt in range(_TRIES):
        found = look_at(source)
        if found.steady:
            return found.place(scratch / "copy")
        time.sleep(0.05 * (attempt + 1))  # a record is being written
    return None


def file_name(made: float, taken: set[str]) -> str:
    """A name that sorts by time."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(made))
    number = 0
    while (name := f"{stamp}{f'-{number:02d}' if number else ''}{SUFFIX}") in taken:
        number += 1
    return name


def time_of(path: Path) -> float:
    """When a backup was made, by its name: POSIX seconds; 0 where somebody renamed it."""
    try:
        return float(calendar.timegm(time.strptime(path.name[:15], "%Y%m%d-%H%M%S")))
    except ValueError:
        return 0.0


_DAMAGE: tuple[type[Exception], ...] = (
    *(zipfile.BadZipFile, ValueError, KeyError, TypeError, AttributeError, EOFError, OverflowError, RecursionError),
    *(NotImplementedError, RuntimeError, sqlite3.Error),
)


def _opened(path: Path) -> zipfile.ZipFile:
    """The archive, read as a whole: a drive that fails would be taken for damage by the reader of archives."""
    if files.long_path(path).stat().st_size > _LARGEST:
        raise zipfile.BadZipFile
    return zipfile.ZipFile(io.BytesIO(files.long_path(path).read_bytes()))


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    check_archive(archive)
    try:
        return archive.read(archive.getinfo(name))
    except Exception as error:  # what unpacks raises anything
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the drive's, not the file's
        raise ValueError(str(error)) from error


def damaged(path: Path) -> ProjectError:
    """The error that says so."""
    return ProjectError(tr("The backup {path} is damaged.", path=files.show(path.name)), tr("Choose another one."))
