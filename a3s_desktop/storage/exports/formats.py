"""The table of all export formats, and the one function that writes any of them."""

from __future__ import annotations

import enum
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from a3s_desktop.errors import InputError
from a3s_desktop.i18n import mark, tr
from a3s_desktop.storage import files
from a3s_desktop.storage.exports import folders, report, sidecars, tables
from a3s_desktop.storage.exports.state import ExportOptions, ExportState, TargetExistsError, Written
from a3s_desktop.task import Task

Writer = Callable[[ExportState, Path, bool, ExportOptions, Task], Written]


class Target(enum.Enum):
    """What an export makes."""

    FILE = "file"
    NEW_FOLDER = "new folder"
    FILES_IN_FOLDER = "files in a folder"  # which may be there, with anything in it


@dataclass(frozen=True, slots=True)
class Format:
    """One export format.

    Attributes
    ----------
    id : str
        As the command line names it.
    title, text : str
        Marked for translation: a few words, and one line that explains.
    target : Target
    suffix : str
        Of files.
    write : callable
    options : frozenset of str
        Fields of `ExportOptions` that it heeds.
    """

    id: str
    title: str
    text: str
    target: Target
    suffix: str
    write: Writer
    options: frozenset[str] = frozenset()


FORMATS: tuple[Format, ...] = (
    Format(
        "csv",
        mark("Table (CSV)"),
        mark("One line for each image: path, cluster, name, status, confidence. Opens in any spreadsheet."),
        Target.FILE,
        ".csv",
        tables.write_csv,
        frozenset({"excel"}),
    ),
    Format(
        "json",
        mark("JSON"),
        mark("The same as a structured text file, for programs."),
        Target.FILE,
        ".json",
        tables.write_json,
    ),
    Format(
        "parquet",
        mark("Parquet"),
        mark("The same as a compact table, for data analysis."),
        Target.FILE,
        ".parquet",
        tables.write_parquet,
    ),
    Format(
        "folders",
        mark("Folders of images"),
        mark("A folder for each cluster, with its images copied or linked. Your own images stay where they are."),
        Target.NEW_FOLDER,
        "",
        folders.write_folders,
        frozenset({"how", "by_name", "singles", "junk"}),
    ),
    Format(
        "sidecars",
        mark("Side-cars (XMP)"),
        mark("A small file beside each named image that photo programs read. The images are not changed."),
        Target.FILES_IN_FOLDER,
        "",
        sidecars.write_sidecars,
        frozenset({"merge"}),
    ),
    Format(
        "constraints",
        mark("Answers (CSV)"),
        mark("What was said of two images, asked or corrected: same or different, when, by whom."),
        Target.FILE,
        ".csv",
        tables.write_constraints,
        frozenset({"excel"}),
    ),
    Format(
        "report",
        mark("Report (HTML)"),
        mark("One page with pictures of each cluster, counts, curves and settings. Opens in any browser, offline."),
        Target.FILE,
        ".html",
        report.write_report,
    ),
)


def format_of(name: str) -> Format:
    """A format by its id. Raises `InputError` for an unknown one."""
    found = next((one for one in FORMATS if one.id == name), None)
    if found is None:
        raise InputError(
            tr("There is no export format {format}.", format=repr(name)),
            tr("Choose one of: {value}.", value=", ".join(one.id for one in FORMATS)),
        )
    return found


def write_export(
    name: str,
    state: ExportState,
    out: Path,
    overwrite: bool = False,
    options: ExportOptions | None = None,
    task: Task | None = None,
) -> Written:
    """Write ``state`` in a format: complete, or not at all.

    Parameters
    ----------
    name : str
        `Format.id`.
    state : ExportState
    out : Path
    overwrite : bool
        Whether an existing *file* may be replaced; folders never are.
    options : ExportOptions, optional
    task : Task, optional

    Raises
    ------
    TargetExistsError
        Something is there already.
    InputError, StorageFailedError, Cancelled
    """
    chosen = format_of(name)
    if chosen.target is Target.FILE:
        path = files.long_path(out)
        if path.is_dir():
            raise TargetExistsError(out, tr("{path} is a folder, not a file.", path=files.show(out)))
        if os.path.lexists(path) and not (path.is_file() or path.is_symlink()):  # a device, a pipe
            raise TargetExistsError(out, tr("{path} is no ordinary file.", path=files.show(out)))
        if not overwrite and os.path.lexists(path):
            raise TargetExistsError(out)
    return chosen.write(state, out, overwrite, options or ExportOptions(), task or Task())
