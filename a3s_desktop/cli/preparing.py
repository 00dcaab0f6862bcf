"""The command `prepare`: a project made on a cluster of computers."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from a3s_desktop.cli.commands import initial_options, say_checked, say_ready, say_started, strategy_options
from a3s_desktop.cli.terminal import Console
from a3s_desktop.errors import A3SError, Cancelled

PLACE = "images"
"""Where the images are looked for, beside the project, until `locate` says where they are."""


def prepare_arguments(parser: argparse.ArgumentParser) -> None:
    """What `prepare` needs beside the features and the options of the method."""
    parser.add_argument(
        "project",
        type=Path,
        metavar="PROJECT",
        help="the folder to be made, on a drive that all computers of the cluster reach by the same path",
    )
    parser.add_argument(
        "--scheduler",
        required=True,
        metavar="ADDRESS",
        help="of the Dask scheduler, tcp://HOST:PORT; without a cluster, 'new' does the same on this computer",
    )
    parser.add_argument(
        "--images",
        type=Path,
        metavar="DIR",
        help="the image folder; without it, the names in the order file or the feature file stand for the images, and "
        "'locate' tells the project later where they are",
    )
    parser.add_argument(
        "--order", type=Path, metavar="FILE", help="lists the image files in the order of the feature rows"
    )
    parser.add_argument("--name", default="", help="the project's name (default: that of its folder)")


def prepare(arguments: argparse.Namespace, console: Console) -> int:
    """Make a project whose stage one runs on a Dask cluster."""
    from a3s_desktop.distributed.cluster import check_address
    from a3s_desktop.session.preparing import prepare_project, unfinished
    from a3s_desktop.storage.spec import check_spec
    from a3s_desktop.storage.unseen import named_images
    from a3s_desktop.storage.workspace import ProjectSpec

    check_address(arguments.scheduler)
    spec = ProjectSpec(
        folder=arguments.project,
        images=arguments.images or Path(os.path.abspath(arguments.project)).parent / PLACE,
        features=tuple(arguments.features),
        order=arguments.order,
        initial=initial_options(arguments),
        strategy=strategy_options(arguments, console),
        name=arguments.name,
    )
    report = None
    if unfinished(spec):
        console.say("The project is there, but unfinished; the work goes on after the last step that was kept.")
    else:
        console.task.stage("Checking the files")
        named = named_images(spec, console.task) if arguments.images is None else None
        report = check_spec(spec, console.task, named)
        say_checked(report, console)
    try:
        workspace = prepare_project(spec, report, arguments.scheduler, console.task)
    except (A3SError, Cancelled):
        if (spec.folder / "project.json").exists():
            console.note(f"What was finished is kept in {spec.folder}; the same command goes on from there.")
        raise
    with workspace:
        say_started(workspace, console)
    say_ready(workspace, console)
    if arguments.images is None:
        console.say(f"Where the images are, it is told by: a3s-desktop locate {arguments.project} FOLDER")
    return 0
