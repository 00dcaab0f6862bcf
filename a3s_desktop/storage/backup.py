"""Backups in the project folder: made while the project is in use, thinned by age, restored as one step."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from a3s_desktop.errors import A3SError, ProjectError, ProjectVersionError
from a3s_desktop.i18n import tr, trn
from a3s_desktop.storage import files, salvage, sqlite
from a3s_desktop.storage.backup_file import (
    FOLDER,
    JOURNAL,
    Backup,
    Contents,
    file_name,
    journal_copy,
    pack,
    paths_in,
    read_facts,
    unpack,
    verified,
)
from a3s_desktop.storage.items import Items
from a3s_desktop.storage.journal_files import look_at
from a3s_desktop.storage.journal_opening import create_journal, keep_aside, put_in_place
from a3s_desktop.storage.lock import project_lock
from a3s_desktop.storage.project_file import PROJECT_FILE, epoch_of, items_name, read_project_file
from a3s_desktop.task import Task

log = logging.getLogger(__name__)

KEPT = 10


@dataclass(frozen=True, slots=True)
class Loss:
    """What going back to a backup would take away.

    Attributes
    ----------
    entries : int
        Entries of the journal that were made after the backup.
    known : bool
        False where the journal of now cannot be read, or the backup is of another line of work.
    """

    entries: int
    known: bool = True

    def text(self) -> str:
        """One sentence."""
        if not self.known:
            return tr("What was done since cannot be compared with it.")
        if not self.entries:
            return tr("Nothing was done since.")
        return trn(
            "{n} entry made since would be taken back.", "{n} entries made since would be taken back.", self.entries
        )


def make_backup(project: Path, reason: str, contents: Contents | None = None, now: float | None = None) -> Backup:
    """Make a backup, beside a writer if there is one, and thin the older ones.

    Parameters
    ----------
    project : Path
        The project folder.
    reason : str
        Why: "time", "close", "merge"...
    contents : Contents, optional
        What the project holds, where that is known.
    now : float, optional
        POSIX seconds.

    Raises
    ------
    StorageFailedError
        The drive refused; no half-made backup stays.
    ProjectError
        The project's own file is damaged.
    """
    now = time.time() if now is None else now
    folder = project / FOLDER
    facts = read_project_file(project)
    epoch = epoch_of(facts)
    try:
        if not folder.is_dir():
            files.make_folder(folder)
        files.sweep(folder)
        with files.scratch_folder() as scratch:
            copy = Path(scratch) / JOURNAL
            records, chain = journal_copy(project / JOURNAL, copy)
            names = (PROJECT_FILE, items_name(epoch), "labels.json")
            members: dict[str, bytes | Path] = {name: files.read_bytes(project / name) for name in names}
            members = {name: content for name, content in members.items() if content} | {JOURNAL: copy}
            path = folder / file_name(now, {one.name for one in paths_in(project)})
            made = Backup(path, now, reason, epoch, records, chain, contents)
            pack(path, members, made)
        _thin(project, now)
    except (sqlite3.Error, OSError) as error:
        raise sqlite.failed(folder, error) from error
    return read_facts(path)


def backup_before(project: Path, reason: str) -> Backup | None:
    """A backup before something risky; what goes wrong is logged and does not keep the user from it."""
    try:
        return make_backup(project, reason)
    except A3SError as error:
        log.warning("No backup was made: %s", error)
        return None


def drop_snapshots(project: Path, seqs: Sequence[int] | None = None) -> None:
    """Drop snapshots of a project that is not open, all where ``seqs`` is None; records are never touched.

    Raises
    ------
    StorageFailedError
    """
    path = project / JOURNAL
    try:
        with contextlib.closing(sqlite.connect(path)) as connection:
            sqlite.make_durable(connection)
            with sqlite.transaction(connection):
                if seqs is None:
                    connection.execute("DELETE FROM snapshots")
                else:
                    connection.executemany("DELETE FROM snapshots WHERE seq = ?", [(seq,) for seq in seqs])
    except sqlite3.Error as error:
        raise sqlite.failed(path, error) from error


def list_backups(project: Path) -> tuple[list[Backup], list[Path]]:
    """The backups that can be read, newest first, and those that cannot."""
    good: list[Backup] = []
    bad: list[Path] = []
    for path in reversed(paths_in(project)):
        try:
            good.append(read_facts(path))
        except A3SError:
            bad.append(path)
    return sorted(good, key=lambda one: (one.made, one.path.name), reverse=True), bad


def kept_backups(times: Sequence[float], now: float, most: int = KEPT) -> set[int]:
    """Which backups to keep, by index: the newest three and the oldest, the others ever further apart with age.

    A clock that was set back leaves backups of the future. They count as that old, or they would stay for ever, and
    those that are made from now on would be the ones to go.
    """
    ages = [abs(now - made) for made in times]
    left = sorted(range(len(times)), key=lambda index: (-ages[index], index))
    while len(left) > most:
        inner = range(1, len(left) - 3)

        def worth(place: int) -> float:
            gap = ages[left[place - 1]] - ages[left[place + 1]]
            return gap / max(ages[left[place]], 1.0)

        left.pop(min(inner, key=worth))
    return set(left)


def loss_of(project: Path, backup: Backup) -> Loss:
    """What restoring would take back, as the journal is now. Only reads."""
    try:
        now = look_at(project / JOURNAL)
        current = now.records()
    except OSError:
        return Loss(0, known=False)
    return _loss(current.records, backup)


def _loss(records: list[salvage.RawRecord], backup: Backup) -> Loss:
    if backup.records == 0:
        return Loss(len(records))
    if len(records) < backup.records:
        return Loss(0, known=False)
    same = records[backup.records - 1].checksum == backup.chain
    return Loss(len(records) - backup.records, known=same)


def restore_backup(project: Path, backup: Backup, task: Task | None = None) -> str:
    """Bring a project that is not open back to a backup; what is there now is kept as a backup first.

    One step: a crash leaves either the state of now, or the restored one, at the next opening. The description of the
    project and its list of images are only replaced where those of now cannot be read.

    Parameters
    ----------
    project : Path
    backup : Backup
    task : Task, optional
        Cancelling it leaves everything as it was, but for a backup more.

    Returns
    -------
    str
        What was done, in words.

    Raises
    ------
    ProjectLockedError
        The project is open.
    ProjectError
        The backup is damaged, or from before images were added or features replaced.
    StorageFailedError, Cancelled
    """
    task = task or Task()
    task.plan(3)
    task.stage(tr("Reading the backup"))
    members, records = verified(backup)
    task.check()
    lock = project_lock(project)
    lock.acquire()
    try:
        said = [tr("Put back from a backup: {name}.", name=name) for name in mend_description(project)]
        facts = read_project_file(project)
        if epoch_of(facts) != backup.epoch:
            raise ProjectError(
                tr("This backup is from before images were added or features were replaced; they do not fit it."),
                tr("Choose a later one."),
            )
        task.stage(tr("Keeping what is there now"))
        said.append(_keep_now(project))
        task.stage(tr("Putting the backup in place"))
        _place_journal(project, members[JOURNAL], records)
    except OSError as error:
        raise files.write_failed(project, error) from error
    finally:
        lock.release()
    said.append(trn("Restored the backup, with {n} entry.", "Restored the backup, with {n} entries.", len(records)))
    return " ".join(said)


def _keep_now(project: Path) -> str:
    """A backup of what is there now; the damaged journal as it is, where SQLite cannot read it."""
    try:
        made = make_backup(project, "restore")
        return tr("What was there is kept as the backup {name}.", name=made.path.name)
    except A3SError as error:
        log.warning("The journal cannot be backed up before it is replaced: %s", error)
    name = keep_aside(project / JOURNAL) if (project / JOURNAL).exists() else ""
    return tr("The damaged file was kept as '{kept}' in the project folder.", kept=name) if name else ""


def _is_described(project: Path) -> bool:
    try:
        name = items_name(epoch_of(read_project_file(project)))
        Items.from_json(files.read_bytes(project / name), project, project / name)
    except ProjectVersionError:
        raise  # whole, and of a newer version of the program: an older one from a backup would be no repair
    except (A3SError, OSError):
        return False
    return True


def _mend_description(project: Path, members: dict[str, bytes]) -> list[str]:
    """Replace the project's description and list of images where they cannot be read; names of what was replaced."""
    mended: list[str] = []
    try:
        facts: dict[str, Any] = read_project_file(project)
    except ProjectError:
        _replace(project / PROJECT_FILE, members[PROJECT_FILE])
        mended.append(PROJECT_FILE)
        facts = read_project_file(project)
    name = items_name(epoch_of(facts))
    try:
        Items.from_json(files.read_bytes(project / name), project, project / name)
    except ProjectError:
        if name in members:
            _replace(project / name, members[name])
            mended.append(name)
    return mended


def mend_description(project: Path) -> list[str]:
    """Put back a description of the project or a list of images that cannot be read, from the newest that has them.

    Raises
    ------
    ProjectVersionError
        A newer version of the program wrote the project.
    """
    mended: list[str] = []
    for backup in list_backups(project)[0]:
        if _is_described(project):
            break
        with contextlib.suppress(A3SError, KeyError):
            mended += [f"{name} ({backup.path.name})" for name in _mend_description(project, unpack(backup.path))]
    return mended


def _replace(path: Path, data: bytes) -> None:
    if path.exists():
        stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
        files.copy_file(path, path.with_name(f"{path.stem}.damaged-{stamp}{path.suffix}"))
    files.atomic_write(path, data)


def _place_journal(project: Path, data: bytes, records: list[salvage.RawRecord]) -> None:
    with files.scratch_folder() as scratch:
        inside = Path(scratch) / JOURNAL
        files.write_scratch(inside, data)
        building = files.temporary_name(project)
        try:
            create_journal(building, records, inside)
            put_in_place(building, project / JOURNAL)
        except BaseException:
            with contextlib.suppress(OSError):
                files.remove_file(building)
            raise


def _thin(project: Path, now: float) -> None:
    backups, _ = list_backups(project)
    keep = kept_backups([one.made for one in backups], now)
    for index, one in enumerate(backups):
        if index not in keep:
            with contextlib.suppress(OSError):  # it goes the next time
                files.remove_file(one.path)
