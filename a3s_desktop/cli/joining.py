"""The command that brings the work of two annotators together."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from a3s_desktop.cli.terminal import Console
from a3s_desktop.settings import system_user

if TYPE_CHECKING:
    from a3s_desktop.session.session import Session

_LISTED = 20  # disagreements that are said one by one


def merge_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of ``merge``."""
    parser.add_argument("project", type=Path, metavar="PROJECT", help="the project folder that takes the other's work")
    parser.add_argument(
        "other",
        type=Path,
        metavar="OTHER",
        help="a copy of it, or a project of the same images, which is only read; or a copy of its journal that a sync "
        "tool left in its folder, which is renamed afterwards",
    )
    parser.add_argument(
        "--author",
        default=system_user(),
        metavar="NAME",
        help="who merges, kept in the journal (default: the user's name of the system)",
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and change nothing")


def merge(arguments: argparse.Namespace, console: Console) -> int:
    """Take over what another annotator did, in one step that undo takes back."""
    from a3s_desktop.session.merge_words import merged_texts, plan_texts
    from a3s_desktop.session.opening import open_session

    session, report = open_session(arguments.project, read_only=arguments.dry_run, task=console.task)
    try:
        session.author = arguments.author
        for sentence in (report.recovered, *report.warnings):
            if sentence:
                console.note(sentence)
        plan = session.joint.plan(arguments.other)
        for text in plan_texts(plan):
            console.say(text)
        if arguments.dry_run:
            return 0
        if not plan.empty:
            _, change = session.merge(plan, console.task)
            for text in merged_texts(plan, len(change.moved)):
                console.say(text)
            _list(session, console)
        if not plan.warning:  # what is damaged may hold more than could be read
            _set_aside(session, arguments.other, console)
    finally:
        session.close()
    return 0


def _set_aside(session: Session, other: Path, console: Console) -> None:
    """Rename a copy that a sync tool left, now that all it holds is in the project."""
    from a3s_desktop.storage.conflicts import conflict_copies, set_aside
    from a3s_desktop.storage.files import show

    assert session.workspace is not None
    folder = session.workspace.folder
    for copy in conflict_copies(folder):
        if copy.resolve() == other.resolve():
            console.say(f"The copy is called {show(set_aside(folder, copy).name)} now.")


def _list(session: Session, console: Console) -> None:
    from a3s_desktop.session.merge_words import disagreement_text
    from a3s_desktop.storage.files import show

    assert session.workspace is not None
    paths = session.workspace.items.paths
    found = session.joint.disagreements()
    for one in found[:_LISTED]:
        console.say(f"  {disagreement_text(one, lambda item: show(paths[item]))}")
    if len(found) > _LISTED:
        console.say(f"  … and {len(found) - _LISTED:,} more.")
    if found:
        console.say("Open the project in the window to decide: Project, Disagreements.")
