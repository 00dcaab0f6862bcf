"""What the start page knows of a recent project. Found out on the background thread; nothing here can fail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from a3s_desktop.errors import A3SError, ProjectVersionError
from a3s_desktop.i18n import tr
from a3s_desktop.printable import escaped
from a3s_desktop.task import Task

_LONGEST = 200  # characters of a name
_GLANCE = 4 << 20  # bytes: larger files are not read only to fill a card


@dataclass(frozen=True, slots=True)
class ProjectCard:
    """One recent project.

    Attributes
    ----------
    folder : Path
    name : str
    images : int
        0 where not known.
    answers : int or None
        In force; None where not known.
    used : float
        POSIX time of the last answer or opening; 0 where not known.
    picture : Path or None
        An image of the project, for the thumbnail.
    problem : str
        Why it cannot be opened, in a few words; empty where it can.
    """

    folder: Path
    name: str
    images: int = 0
    answers: int | None = None
    used: float = 0.0
    picture: Path | None = None
    problem: str = ""


def blank_card(folder: Path) -> ProjectCard:
    """A card with nothing but the name, before the disk has been asked."""
    return ProjectCard(folder, escaped(folder.name))


def probe_project(folder: Path, task: Task) -> ProjectCard:
    """Look at a project folder without opening it: no lock, no replay, a few files read.

    Parameters
    ----------
    folder : Path
    task : Task

    Returns
    -------
    ProjectCard
        Also where the folder is missing, broken, or from another version of the program.
    """
    from a3s_desktop.storage.project_file import read_project_file

    task.check()
    name = escaped(folder.name)
    try:
        if not folder.is_dir():
            return ProjectCard(folder, name, problem=tr("Folder not found – moved, or its drive is not connected?"))
        facts = read_project_file(folder)
    except ProjectVersionError:
        return ProjectCard(folder, name, problem=tr("Made by another version of the program"))
    except (A3SError, OSError, ValueError):
        return ProjectCard(folder, name, problem=tr("Cannot be read – open it to see why"))
    images, picture = _pictures(folder, facts["images"])
    used, answers = _answers(folder / "journal.sqlite")
    return ProjectCard(
        folder,
        escaped(str(facts["name"]))[:_LONGEST] or name,
        images=images,
        answers=answers,
        used=used,
        picture=picture,
    )


def _pictures(folder: Path, where: Mapping[str, Any]) -> tuple[int, Path | None]:
    """Number of images, and the first one that can be shown; (0, None) where the list is too long for a glance."""
    from a3s_desktop.storage.items import Items, locate

    path = folder / "items.json"
    try:
        if path.stat().st_size > _GLANCE:
            return 0, None
        items = Items.from_json(path.read_bytes(), locate(where["absolute"], where["relative"], folder), path)
        shown = next((i for i in range(len(items)) if i not in items.problems), None)
        picture = items.file(shown) if shown is not None else None
        return len(items), picture if picture is not None and picture.is_file() else None
    except (A3SError, OSError):
        return 0, None


def _answers(path: Path) -> tuple[float, int | None]:
    """When the last answer was given, and how many are in force; (0, None) where not known at a glance."""
    from a3s_desktop.session.history import History
    from a3s_desktop.storage.journal_opening import read_journal

    try:
        parts = [p.stat() for p in (path, path.with_name(path.name + "-wal")) if p.exists()]
        used = max((part.st_mtime for part in parts), default=0.0)
        if sum(part.st_size for part in parts) > _GLANCE:
            return used, None
        journal = read_journal(path)
    except (A3SError, OSError):
        return 0.0, None
    try:
        history = History()
        for record in journal.records():
            history = history.apply(record)
        return used, history.count
    except A3SError:
        return used, None
    finally:
        journal.close()
