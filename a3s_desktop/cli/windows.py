"""Commands that open the window. Nothing else in this package may load Qt, and these load it only when they run."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from a3s_desktop.cli.showing import has_display, show
from a3s_desktop.cli.terminal import Console

AUTO_FOLDER = Path("a3s-demo-results")


def gui(arguments: argparse.Namespace, console: Console) -> int:
    """The window on its start page."""
    del console
    return show(safe_mode=arguments.safe_mode)


def open_project(arguments: argparse.Namespace, console: Console) -> int:
    """The window on a project."""
    del console
    return show(arguments.project, arguments.read_only, arguments.safe_mode)


def demo(arguments: argparse.Namespace, console: Console) -> int:
    """The window on a demo project; by itself where there is no display."""
    out: Path | None = arguments.auto
    if out is None and not has_display():
        out = AUTO_FOLDER
        console.complain(
            f"There is no display here, so the demo runs by itself, off the screen; its results go to {out.resolve()}."
        )
    if out is None:
        return show(demo=arguments.data)
    os.environ["QT_QPA_PLATFORM"] = "offscreen"  # read by Qt when it is loaded
    from a3s_desktop.ui.auto_demo import auto_demo

    auto_demo(out, answers=arguments.answers, data=arguments.data)
    console.say(f"The demo's pictures and its table of results are in {out.resolve()}")
    return 0


def self_test(arguments: argparse.Namespace, console: Console) -> int:
    """Go through the whole program off the screen, and say what works."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"  # read by Qt when it is loaded
    from a3s_desktop.ui.self_test import self_test as run

    folder = Path(arguments.self_test) if arguments.self_test else None
    return 0 if run(folder, console.say) else 1
