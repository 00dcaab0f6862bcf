"""What the start page knows of a recent project. Found out on the background thread; nothing here can fail."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from a3s_desktop.errors import A3SError, ProjectVersionError
from a3s_desktop.task import Task


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
    return ProjectCard(folder, folder.name)


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
    from a3s_desktop.storage.workspace import peek_workspace

    task.check()
    name = folder.name
    try:
        if not folder.is_dir():
            return ProjectCard(folder, name, problem="Folder not found – moved, or its drive is not connected?")
        glance = peek_workspace(folder)
    except ProjectVersionError:
        return ProjectCard(folder, name, problem="Made by a newer version of the program")
    except (A3SError, OSError, ValueError):
        return ProjectCard(folder, name, problem="Cannot be read – open it to see why")
    picture = glance.first_image if glance.first_image is not None and glance.first_image.is_file() else None
    return ProjectCard(
        folder, glance.name or name, images=glance.images, answers=glance.answers, used=glance.used, picture=picture
    )
