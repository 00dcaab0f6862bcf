"""Commands that take results out of a project, and known names in."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from a3s_desktop.cli.terminal import Console
from a3s_desktop.errors import InputError, StorageFailedError
from a3s_desktop.settings import system_user

if TYPE_CHECKING:
    from a3s_desktop.session.known_labels import Conflict, LabelsPlan
    from a3s_desktop.session.session import Session

FORMATS = ("csv", "json", "parquet", "folders", "sidecars", "constraints", "report")
"""Ids of `storage.exports.formats.FORMATS`, which is not imported for a mere ``--help``."""

_LINKS = {"copy": "copy", "hard": "hard link", "symbolic": "symlink"}
_LISTED = 20  # conflicts that are said one by one


def export_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``export``."""
    parser.add_argument("project", type=Path, metavar="PROJECT", help="the project folder")
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default="csv",
        help="csv, json, parquet: path, cluster, name, status, confidence of each image; folders: a folder for each "
        "cluster with its images; sidecars: XMP files with the names; constraints: what was said of two images, CSV; "
        "report: one HTML page with pictures (default csv)",
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="PATH", help="the file, or for folders and sidecars the folder"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace a file that exists; folders never are")
    parser.add_argument(
        "--excel", action="store_true", help="csv, constraints: begin with the mark by which Excel knows UTF-8"
    )
    group = parser.add_argument_group("folders")
    group.add_argument("--link", choices=tuple(_LINKS), default="copy", help="copy the images, or link to them")
    group.add_argument("--by-number", action="store_true", help="call folders by cluster number, also named ones")
    group.add_argument("--no-singles", action="store_true", help="leave out images that are alone in their cluster")
    group.add_argument("--junk", action="store_true", help="take junk in, in a folder of its own")
    group = parser.add_argument_group("sidecars")
    group.add_argument("--merge", action="store_true", help="add the names to side-cars that are there already")


def export(arguments: argparse.Namespace, console: Console) -> int:
    """Write the clusters in one of the formats."""
    from a3s_desktop.cli.commands import read_session
    from a3s_desktop.storage.exports.folders import left_out_text
    from a3s_desktop.storage.exports.formats import Target, format_of
    from a3s_desktop.storage.exports.state import ExportOptions, How, TargetExistsError

    is_file = format_of(arguments.format).target is Target.FILE
    if is_file and os.path.lexists(arguments.out) and not arguments.overwrite:
        raise InputError(f"'{arguments.out}' is there already.", "Choose another name, or replace it with --overwrite.")
    options = ExportOptions(
        how=How(_LINKS[arguments.link]),
        by_name=not arguments.by_number,
        singles=not arguments.no_singles,
        junk=arguments.junk,
        merge=arguments.merge,
        excel=arguments.excel,
    )
    session = read_session(arguments.project, console)
    try:
        written = session.export(arguments.format, arguments.out, arguments.overwrite, options, console.task)
        what = {"constraints": "answers", "sidecars": "side-cars"}.get(arguments.format, "images")
        console.say(f"{written.count:,} {what} were written to {arguments.out}")
        if written.left_out:
            console.note(left_out_text(written))
    except TargetExistsError as error:
        for name in error.names[:_LISTED]:
            console.complain(name)
        if error.names:
            raise StorageFailedError(error.message, "Add the names to them with --merge.") from error
        raise
    finally:
        session.close()
    return 0


def labels_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``labels``."""
    parser.add_argument("project", type=Path, metavar="PROJECT", help="the project folder")
    parser.add_argument(
        "file",
        type=Path,
        nargs="?",
        metavar="FILE",
        help=".csv with the columns file,label (and x,y,width,height for parts of photos), .json, or an export of this "
        "program; for all images or some",
    )
    parser.add_argument(
        "--from-photos",
        action="store_true",
        help="instead of a file: the persons that digiKam, Lightroom and the like have noted in the photos or in "
        "side-cars beside them (XMP)",
    )
    parser.add_argument("--skip-conflicts", action="store_true", help="take the rest over, without what is in conflict")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and change nothing")


def labels(arguments: argparse.Namespace, console: Console) -> int:
    """Take known names over as confirmed names and constraints, in one step that undo takes back."""
    from a3s_desktop.session.known_labels import plan_labels
    from a3s_desktop.session.opening import open_session
    from a3s_desktop.storage.label_file import load_known_labels
    from a3s_desktop.storage.person_names import known_people

    if (arguments.file is None) != arguments.from_photos:
        raise InputError(
            "The names come either from FILE or, with --from-photos, from the photos.", "Give one of them."
        )
    session, report = open_session(arguments.project, read_only=arguments.dry_run, task=console.task)
    session.author = system_user()
    try:
        for sentence in (report.recovered, *report.warnings):
            if sentence:
                console.note(sentence)
        assert session.workspace is not None
        items = session.workspace.items
        if arguments.from_photos:
            rows = known_people(items.root, items.paths, console.task)
            if not rows:
                raise InputError("No photo names a person.", "Give the names in a file with the columns file,label.")
        else:
            rows = load_known_labels(arguments.file, items.paths, str(items.root))
        plan = plan_labels(session.engine, rows)
        for line in _conflicts(session, plan.conflicts):
            console.complain(line)
        _carry_out(arguments, console, session, plan)
    finally:
        session.close()
    return 0


def regions(arguments: argparse.Namespace, console: Console) -> int:
    """Write the persons that photos name, with their rectangles, as a table of parts."""
    from a3s_desktop.storage import files
    from a3s_desktop.storage.images import scan_images
    from a3s_desktop.storage.person_names import region_table

    if arguments.out.exists() and not arguments.overwrite:
        raise InputError(f"'{arguments.out}' is there already.", "Choose another name, or replace it with --overwrite.")
    scan = scan_images(arguments.images, console.task)
    table, count = region_table(arguments.images, scan.paths, console.task)
    if not count:
        raise InputError(
            "No photo has a person with a rectangle.", "Mark them in digiKam, Lightroom or the like first."
        )
    files.atomic_write(arguments.out, table)
    console.say(f"{count:,} rectangles with names were written to {arguments.out}")
    return 0


def _carry_out(arguments: argparse.Namespace, console: Console, session: Session, plan: LabelsPlan) -> None:
    what = f"{plan.images:,} images in {plan.names:,} groups"
    if arguments.dry_run:
        console.say(f"{what} would be taken over; {len(plan.conflicts):,} conflicts.")
        return
    if plan.conflicts and not arguments.skip_conflicts:
        raise InputError(
            f"The list has {len(plan.conflicts):,} conflicts; nothing was taken over.",
            "Correct it, or leave these images out with --skip-conflicts.",
        )
    if plan.operation is None:
        raise InputError("No name is left to be taken over.", "Check the file.")
    session.perform(plan.operation, task=console.task)
    console.say(f"{what} were taken over.")


def _conflicts(session: Session, conflicts: Sequence[Conflict]) -> list[str]:
    from a3s_desktop.session.known_labels import conflict_text

    assert session.workspace is not None
    paths = session.workspace.items.paths
    lines = [conflict_text(conflict, paths) for conflict in conflicts[:_LISTED]]
    if len(conflicts) > _LISTED:
        lines.append(f"… and {len(conflicts) - _LISTED:,} more.")
    return lines
