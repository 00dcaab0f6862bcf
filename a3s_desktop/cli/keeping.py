"""Commands that look after a project: check and repair, backups."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

from a3s_desktop.cli.terminal import Console

if TYPE_CHECKING:
    from a3s_desktop.storage.backup_file import Backup


def check_arguments(parser: argparse.ArgumentParser) -> None:
    """Of ``check``."""
    parser.add_argument("project", type=Path, metavar="PROJECT")
    parser.add_argument(
        "--repair", action="store_true", help="mend it from snapshots, backups and by computing again; nothing is lost"
    )


def backup_arguments(parser: argparse.ArgumentParser) -> None:
    """Of ``backup``."""
    parser.add_argument("project", type=Path, metavar="PROJECT")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--list", action="store_true", help="say what each backup holds")
    what.add_argument("--restore", metavar="NAME", help="go back to a backup of the list; what is there is kept first")


def check(arguments: argparse.Namespace, console: Console) -> int:
    """Say what is whole and what is damaged, one line each."""
    from a3s_desktop.session.checking import check_project, is_whole
    from a3s_desktop.storage.check import Level

    findings = check_project(arguments.project, console.task, arguments.repair)
    for one in findings:
        console.say(one.line())
    whole = is_whole(findings)
    if not whole and not arguments.repair:
        console.note("Run it with --repair to mend what can be mended.")
    elif any(one.level is Level.REPAIRED for one in findings):
        console.say("Repaired." if whole else "Repaired in part.")
    return 0 if whole else 1


def backup(arguments: argparse.Namespace, console: Console) -> int:
    """Make a backup, list them, or go back to one."""
    from a3s_desktop.errors import InputError
    from a3s_desktop.storage.backup import list_backups, make_backup, restore_backup
    from a3s_desktop.storage.pointer import project_folder

    project = project_folder(arguments.project)
    if not arguments.list and arguments.restore is None:
        made = make_backup(project, "request")
        console.say(f"{made.path.name}: {made.records:,} entries, {made.size:,} bytes.")
        return 0
    good, bad = list_backups(project)
    if arguments.restore is not None:
        found = [one for one in good if arguments.restore in (one.path.name, one.path.stem)]
        if not found:
            raise InputError(f"There is no backup {arguments.restore!r}.", "Use --list to see their names.")
        console.say(restore_backup(project, found[0]))
        return 0
    for one in good:
        console.say(_line(project, one))
    for path in bad:
        console.say(f"{path.name}: damaged")
    if not good and not bad:
        console.say("There is no backup yet.")
    return 0


def _line(project: Path, one: Backup) -> str:
    from a3s_desktop.storage.backup import loss_of

    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(one.made))
    held = f"{one.records:,} entries"
    if one.contents is not None:
        c = one.contents
        held += f", {c.answers:,} answers, {c.clusters:,} clusters, {c.named:,} names, {c.junk:,} junk"
    return f"{one.path.stem}  {when}  {one.reason}: {held}. {loss_of(project, one).text()}"
