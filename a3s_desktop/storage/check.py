"""What can be verified of a project folder without its engine: descriptions, features, journal, results, backups."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from a3s_desktop.errors import A3SError, NoProjectError, ProjectError, ProjectVersionError
from a3s_desktop.i18n import mark, tr, trn
from a3s_desktop.storage import array_files, files
from a3s_desktop.storage.artifacts import load_arrays
from a3s_desktop.storage.backup import list_backups
from a3s_desktop.storage.backup_file import JOURNAL, verified
from a3s_desktop.storage.conflicts import holds_answers, undecided
from a3s_desktop.storage.items import Items, locate
from a3s_desktop.storage.journal_opening import read_journal
from a3s_desktop.storage.project_file import epoch_of, feature_name, items_name, read_project_file
from a3s_desktop.task import Task


class Level(enum.Enum):
    """How a finding is to be taken."""

    FINE = mark("fine")
    NOTE = mark("note")
    DAMAGED = mark("damaged")
    REPAIRED = mark("repaired")


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the result.

    Attributes
    ----------
    level : Level
    text : str
        One sentence.
    part : str
        What it is about: "description", "features", "journal", "snapshots", "results", "backups", "copies", "clusters",
        "names".
    place : Path or None
        The file or folder at fault.
    """

    level: Level
    text: str
    part: str
    place: Path | None = None

    def line(self) -> str:
        """For people."""
        return f"{tr(self.level.value)}: {self.text}"


def check_files(project: Path, task: Task) -> Iterator[Finding]:
    """All that can be said of the files; only reads, also beside a writer.

    Raises
    ------
    NoProjectError, ProjectVersionError, Cancelled
    """
    task.stage(tr("Checking the files"))
    try:
        facts = read_project_file(project)
    except (NoProjectError, ProjectVersionError):
        raise  # nothing that could be checked, or repaired
    except A3SError as error:
        yield Finding(Level.DAMAGED, error.message, "description", project)
        yield from _journal(project)
        yield from _backups(project, task)
        yield from _copies(project)
        return
    yield from _description(project, facts)
    yield from _features(project, facts, task)
    yield from _journal(project)
    yield from _results(project, task)
    yield from _backups(project, task)
    yield from _copies(project)


def _description(project: Path, facts: dict[str, Any]) -> Iterator[Finding]:
    where = project / items_name(epoch_of(facts))
    try:
        root = locate(facts["images"]["absolute"], facts["images"]["relative"], project)
        items = Items.from_json(files.read_bytes(where), root, where)
    except A3SError as error:
        yield Finding(Level.DAMAGED, error.message, "description", where)
        return
    except OSError as error:
        yield Finding(Level.DAMAGED, files.read_failed(where, error).message, "description", where)
        return
    yield Finding(
        Level.FINE,
        trn("The list of {n} image is whole.", "The list of {n} images is whole.", len(items)),
        "description",
    )
    if not items.available:
        text = tr("The image folder {root} is not there; nothing is lost by that.", root=files.show(items.root))
        yield Finding(Level.NOTE, text, "description")


def _features(project: Path, facts: dict[str, Any], task: Task) -> Iterator[Finding]:
    for index, one in enumerate(facts["features"]):
        task.step(0.5 * index / len(facts["features"]))
        path = project / feature_name(index, epoch_of(facts))
        try:
            values = array_files.load_array(path)
            whole = (
                values.shape == (one.get("rows"), one["columns"]) and array_files.hash_array(values) == one["sha256"]
            )
        except (OSError, ValueError):
            whole = False
        if whole:
            text = tr("The features {path} are whole.", path=path.name)
            yield Finding(Level.FINE, text, "features")
        else:
            text = tr(
                "The features {path} are missing or not what they were; they came from {source}.",
                path=path.name,
                source=files.show(str(one.get("source", ""))),
            )
            yield Finding(Level.DAMAGED, text, "features", path)


def _journal(project: Path) -> Iterator[Finding]:
    path = project / JOURNAL
    try:
        journal = read_journal(path)
    except ProjectVersionError:
        raise
    except A3SError as error:
        yield Finding(Level.DAMAGED, error.message, "journal", path)
        return
    try:
        if journal.recovery.text:
            yield Finding(Level.DAMAGED, journal.recovery.text, "journal", path)
            return
        count = trn("The journal is whole: {n} entry.", "The journal is whole: {n} entries.", journal.last)
        yield Finding(Level.FINE, count, "journal")
        damaged = journal.damaged_snapshots()
        if damaged:
            text = trn("{n} snapshot is damaged.", "{n} snapshots are damaged.", len(damaged))
            yield Finding(Level.DAMAGED, text, "snapshots", path)
    finally:
        journal.close()


def _results(project: Path, task: Task) -> Iterator[Finding]:
    folder = project / "artifacts"
    good = 0
    for place in sorted(folder.iterdir()) if folder.is_dir() else []:
        task.check()
        if not place.is_dir() or place.name.startswith(files.TEMPORARY):
            continue
        try:
            load_arrays(place, mmap=True, verify=True)
            good += 1
        except A3SError as error:
            yield Finding(Level.DAMAGED, error.message, "results", place)
    yield Finding(Level.FINE, trn("{n} computed result is whole.", "{n} computed results are whole.", good), "results")


def _backups(project: Path, task: Task) -> Iterator[Finding]:
    good, bad = list_backups(project)
    whole = 0
    for index, one in enumerate(good):
        task.step(0.5 + 0.5 * index / len(good))
        try:
            verified(one)
            whole += 1
        except ProjectError:
            bad.append(one.path)
    yield Finding(Level.FINE, trn("{n} backup is whole.", "{n} backups are whole.", whole), "backups")
    for path in bad:
        text = tr("The backup {path} is damaged.", path=files.show(path.name))
        yield Finding(Level.DAMAGED, text, "backups", path)


def _copies(project: Path) -> Iterator[Finding]:
    for copy in undecided(project):
        if holds_answers(copy):
            text = tr(
                "A sync tool left a second copy, {name}. Open the project in the window, or use the command “merge”, "
                "to take over what it holds.",
                name=files.show(copy.name),
            )
        else:
            text = tr(
                "A sync tool left a second copy of the description, {name}. Delete it when you have looked at it.",
                name=files.show(copy.name),
            )
        yield Finding(Level.NOTE, text, "copies", copy)
