"""What the program keeps besides answers, images and backups: how much it is, and how it goes.

All of it may go while windows are open, also those of other processes: the file of small copies is emptied, not
removed; a log that is being written is cut to nothing; what a window has open is left, and said.
"""

from __future__ import annotations

import contextlib
import enum
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from a3s_desktop.errors import A3SError, ProjectError
from a3s_desktop.i18n import mark, tr
from a3s_desktop.storage import files, sqlite
from a3s_desktop.storage.lock import project_lock
from a3s_desktop.storage.places import Places
from a3s_desktop.storage.project_file import PROJECT_FILE
from a3s_desktop.storage.thumbnails import ThumbnailStore

_LOG = "a3s-desktop.log"
_CRASHES = "crash.log"
_CACHES = ("artifacts/layout-*", "artifacts/state-*", "artifacts/step-*", "embedding/blocks", f"{files.TEMPORARY}*")


class Kind(enum.Enum):
    """What can be cleared by itself."""

    THUMBNAILS = "thumbnails"
    LOGS = "logs"
    RECENT = "recent"
    PROJECT = "project"
    DEMOS = "demos"


TITLES = {
    Kind.THUMBNAILS: mark("Small copies of images"),
    Kind.LOGS: mark("Log files"),
    Kind.RECENT: mark("Recent projects and folders"),
    Kind.PROJECT: mark("Caches of the project"),
    Kind.DEMOS: mark("Demos, with your answers in them"),
}


@dataclass(frozen=True, slots=True)
class Hoard:
    """What there is of one kind.

    Attributes
    ----------
    kind : Kind
    place : Path
        Where it is kept.
    size : int
        Bytes.
    """

    kind: Kind
    place: Path
    size: int


@dataclass(frozen=True, slots=True)
class Cleared:
    """What came of it.

    Attributes
    ----------
    kind : Kind
    size : int
        Bytes that are gone.
    problem : str
        One sentence about what is still there; empty where nothing is.
    """

    kind: Kind
    size: int
    problem: str = ""


def look(places: Places, project: Path | None = None) -> tuple[Hoard, ...]:
    """How much there is of each kind, of a project's caches too where one is given."""
    found = [
        Hoard(Kind.THUMBNAILS, places.thumbnails, _size_of_copies(places.thumbnails)),
        Hoard(Kind.LOGS, places.logs, sum(map(_size, _logs(places.logs)))),
        Hoard(Kind.RECENT, places.settings, sum(map(_size, _notes(places)))),
    ]
    if project is not None:
        found.append(Hoard(Kind.PROJECT, project, sum(map(_size, _caches(project)))))
    found.append(Hoard(Kind.DEMOS, places.demos, _size(places.demos)))
    return tuple(found)


def clear_thumbnails(path: Path, store: ThumbnailStore | None = None) -> Cleared:
    """Drop all small copies of images; ``store`` is the one that this program has open."""
    before = _size_of_copies(path)
    if store is not None:
        gone = store.clear()
    else:
        other = ThumbnailStore(path, 1)
        gone = other.clear()
        other.close()
    after = _size_of_copies(path)
    problem = "" if gone and not after else tr("Some small copies are still there: another program uses them.")
    return Cleared(Kind.THUMBNAILS, max(0, before - after), problem)


def clear_logs(folder: Path) -> Cleared:
    """Remove old logs, and cut those that are being written to nothing."""
    before, problem = sum(map(_size, _logs(folder))), ""
    for path in _logs(folder):
        try:
            if path.name in (_LOG, _CRASHES):
                files.cut(path)
            else:
                files.remove_file(path)
        except OSError as error:
            problem = files.write_failed(path, error).message
    return Cleared(Kind.LOGS, max(0, before - sum(map(_size, _logs(folder)))), problem)


def clear_notes(places: Places) -> Cleared:
    """Remove what Qt noted of folders that its file dialogs showed, and settings that were set aside as damaged.

    The list of recent projects itself is in the settings; see `Settings.without_places`.
    """
    return _clear_paths(Kind.RECENT, [path for path in _notes(places) if path.exists()])


def clear_project(project: Path, ours: bool = False) -> Cleared:
    """Remove what a project can do without: the map's layout, work that was interrupted, leavings.

    Parameters
    ----------
    project : Path
    ours : bool
        Whether this program has it open for writing.

    Raises
    ------
    ProjectError
        It is no project, or another program has it open.
    """
    if not (project / PROJECT_FILE).is_file():
        raise ProjectError(
            tr("There is no project in {folder}.", folder=files.show(project)), tr("Choose another folder.")
        )
    lock = project_lock(project)
    if not ours:
        lock.acquire()
    try:
        return _clear_paths(Kind.PROJECT, _caches(project))
    finally:
        lock.release()


def clear_demos(folder: Path) -> Cleared:
    """Remove the demos; one that a window has open stays."""
    open_now: dict[Path, str] = {}
    for path in files.children(folder):
        reason = _in_use(path)
        if reason:
            # Its images are beside it, in the folder of the demo's name.
            open_now |= {path: reason, path.with_name(path.name.removesuffix("-project")): reason}
    done = _clear_paths(Kind.DEMOS, [path for path in files.children(folder) if path not in open_now])
    files.remove_empty(folder)
    return replace(done, problem=next(iter(open_now.values()), done.problem))


def _in_use(project: Path) -> str:
    """Why a project must not go now; empty where nobody has it open for writing, or it is none."""
    lock = project_lock(project)
    try:
        if (project / PROJECT_FILE).is_file():
            lock.acquire()
    except A3SError as error:
        return error.message
    finally:
        lock.release()
    return ""


def _clear_paths(kind: Kind, paths: list[Path]) -> Cleared:
    gone, problem = 0, ""
    for path in paths:
        before = _size(path)
        try:
            if path.is_dir() and not path.is_symlink():
                aside = files.temporary_name(path.parent)
                files.rename(path, aside)  # at once: what is half removed must not look like something whole
                files.remove_tree(aside)
            else:
                files.remove_file(path)
        except OSError as error:
            problem = files.write_failed(path, error).message
        gone += before - _size(path)
    return Cleared(kind, gone, problem)


def _logs(folder: Path) -> list[Path]:
    return [path for path in files.children(folder) if path.name == _CRASHES or path.name.startswith(_LOG)]


def _notes(places: Places) -> list[Path]:
    return [places.qt_settings, places.settings.with_name(places.settings.name + ".broken")]


def _caches(project: Path) -> list[Path]:
    return sorted(path for pattern in _CACHES for path in project.glob(pattern))


def _size_of_copies(path: Path) -> int:
    """Bytes of the file of small copies; 0 where it is empty."""
    store = ThumbnailStore(path, 1)
    try:
        if store.is_empty():
            return 0
    finally:
        store.close()
    return sum(_size(each) for each in (path, sqlite.beside(path, sqlite.LOG)))


def _size(path: Path) -> int:
    """Bytes of a file, or of all files in a folder; links count by themselves."""
    return sum(one.st_size for one in _stats(path))


def _stats(path: Path) -> Iterator[os.stat_result]:
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            for child in os.scandir(path):
                yield from _stats(Path(child.path))
        else:
            yield path.lstat()
