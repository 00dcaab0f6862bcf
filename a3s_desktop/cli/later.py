"""Commands for what comes to a project later: images, better features, a moved folder."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from a3s_desktop.cli.terminal import Console

if TYPE_CHECKING:
    from a3s_desktop.session.replacing import Replacing

# The imports inside the functions keep `--help` and the window's start free of what only one command needs.


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Of ``add``."""
    parser.add_argument("project", type=Path, metavar="PROJECT")
    parser.add_argument(
        "--images", type=Path, required=True, metavar="DIR", help="a folder with new images; known ones are left alone"
    )
    _feature_arguments(parser, "feature file with rows of the new images; rows of others are passed over")
    parser.add_argument("--parts", type=Path, metavar="FILE", help="the rectangles of the new photos")
    parser.add_argument("--leave-out", action="store_true", help="leave new images without a row out")


def replace_arguments(parser: argparse.ArgumentParser) -> None:
    """Of ``replace-features``."""
    parser.add_argument("project", type=Path, metavar="PROJECT")
    _feature_arguments(parser, "feature file with rows of all images of the project")
    parser.add_argument("--yes", action="store_true", help="replace them; without it only the report is written")
    parser.add_argument(
        "--doubted", type=int, default=10, metavar="N", help="name the N pairs most spoken against (default: 10)"
    )


def locate_arguments(parser: argparse.ArgumentParser) -> None:
    """Of ``locate``."""
    parser.add_argument("project", type=Path, metavar="PROJECT")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where the images are now")


def add(arguments: argparse.Namespace, console: Console) -> int:
    """Add images to a project."""
    from a3s_desktop.session.adding import add_images
    from a3s_desktop.storage.files import show
    from a3s_desktop.storage.later_images import AddSpec

    spec = AddSpec(arguments.images, tuple(arguments.features), arguments.order, arguments.parts, arguments.leave_out)
    added = add_images(arguments.project, spec, console.task)
    for problem in added.problems:
        console.note(f"{show(problem.path)} cannot be shown ({problem.reason}); a placeholder takes its place.")
    console.say(added.text())
    return 0


def replace_features(arguments: argparse.Namespace, console: Console) -> int:
    """Say what other features would change, and replace them on request."""
    from a3s_desktop.session.replacing import ReplaceSpec, Replacing

    spec = ReplaceSpec(tuple(arguments.features), arguments.order)
    with Replacing(arguments.project, spec, console.task) as replacing:
        console.say(replacing.report.text())
        for line in _doubted(replacing, arguments.doubted):
            console.say(line)
        if arguments.yes:
            replacing.commit()
            console.say("The features were replaced.")
        else:
            console.say("Nothing was changed. Give --yes to replace the features.")
    return 0


def _doubted(replacing: Replacing, count: int) -> Iterator[str]:
    """A line for each of the answers that the new features speak against most."""
    from a3s_desktop.storage.files import show

    for entry in replacing.report.doubted[: max(count, 0)]:
        left, right = (show(replacing.items.paths[item]) for item in entry.items[:2])
        yield f"  {left} and {right}: {entry.answer}, wrong with P = {entry.doubt:.2f} by the new features"


def locate(arguments: argparse.Namespace, console: Console) -> int:
    """Tell a project where its images are."""
    from a3s_desktop.session.opening import locate_images

    console.say(locate_images(arguments.project, arguments.folder, console.task).text())
    return 0


def _feature_arguments(parser: argparse.ArgumentParser, text: str) -> None:
    parser.add_argument(
        "--features", type=Path, action="append", default=[], metavar="F", help=f"{text}; once for each view"
    )
    parser.add_argument("--order", type=Path, metavar="FILE", help="a file that lists the images in row order")
