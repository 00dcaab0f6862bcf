"""The command that removes what the program keeps besides answers, images and backups."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from a3s_desktop.cli.terminal import Console

if TYPE_CHECKING:
    from a3s_desktop.settings import SettingsStore
    from a3s_desktop.storage.clearing import Cleared, Kind
    from a3s_desktop.storage.places import Places

_KINDS = {
    "thumbnails": "small copies of images, of all projects",
    "logs": "the log, of this run and former ones",
    "recent": "the list of recent projects, and the folders that file dialogs showed last",
    "demos": "the demos, with the answers that you gave in them; only where asked for",
}


def clear_arguments(parser: argparse.ArgumentParser) -> None:
    """Of ``clear``."""
    for name, text in _KINDS.items():
        parser.add_argument(f"--{name}", dest="kinds", action="append_const", const=name, help=text)
    parser.add_argument(
        "--project",
        type=Path,
        metavar="PROJECT",
        help="a project's caches: the layout of its map, work that was interrupted; answers, names and backups stay",
    )
    parser.add_argument("--dry-run", action="store_true", help="say what there is, and where; remove nothing")


def clear(arguments: argparse.Namespace, console: Console) -> int:
    """Say what there is, or remove it; one line for each kind."""
    from a3s_desktop.settings import SettingsStore
    from a3s_desktop.storage.clearing import TITLES, Kind, look
    from a3s_desktop.storage.places import user_places
    from a3s_desktop.storage.pointer import project_folder

    places = user_places()
    project = None if arguments.project is None else project_folder(arguments.project)
    wanted = {Kind(name) for name in arguments.kinds or ()} | ({Kind.PROJECT} if project is not None else set())
    if not wanted:
        wanted = {Kind.THUMBNAILS, Kind.LOGS, Kind.RECENT} | ({Kind.DEMOS} if arguments.dry_run else set())
    settings, whole = SettingsStore(places.settings), True
    for hoard in look(places, project):
        if hoard.kind not in wanted:
            continue
        if arguments.dry_run:
            recent = f"{len(settings.value.recent)} projects" if hoard.kind is Kind.RECENT else _amount(hoard.size)
            console.say(f"{TITLES[hoard.kind]}: {recent} in {hoard.place}")
            continue
        done = _clear(hoard.kind, places, project, settings)
        console.say(
            f"{TITLES[hoard.kind]}: {'forgotten' if done.kind is Kind.RECENT else _amount(done.size) + ' removed'}."
        )
        if done.problem:
            console.complain(done.problem)
            whole = False
    return 0 if whole else 1


def _clear(kind: Kind, places: Places, project: Path | None, settings: SettingsStore) -> Cleared:
    from a3s_desktop.storage import clearing

    if kind is clearing.Kind.THUMBNAILS:
        return clearing.clear_thumbnails(places.thumbnails)
    if kind is clearing.Kind.LOGS:
        return clearing.clear_logs(places.logs)
    if kind is clearing.Kind.DEMOS:
        return clearing.clear_demos(places.demos)
    if kind is clearing.Kind.PROJECT and project is not None:
        return clearing.clear_project(project)
    settings.replace(settings.value.without_places())
    return clearing.clear_notes(places)


def _amount(size: int) -> str:
    return f"{size / 1e6:,.1f} MB" if size >= 100_000 else f"{size:,} bytes"
