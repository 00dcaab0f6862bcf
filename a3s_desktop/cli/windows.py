"""Commands that open the window. Nothing else in this package may load Qt, and these load it only when they run."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from a3s_desktop.cli.terminal import Console
from a3s_desktop.errors import ProjectError

AUTO_FOLDER = Path("a3s-demo-results")


def gui(arguments: argparse.Namespace, console: Console) -> int:
    """The window on its start page."""
    del arguments, console
    _need_display()
    from a3s_desktop.ui.app import main

    return main()


def open_project(arguments: argparse.Namespace, console: Console) -> int:
    """The window on a project."""
    del console
    _need_display()
    from a3s_desktop.ui.app import main

    return main(project=arguments.project, read_only=arguments.read_only)


def demo(arguments: argparse.Namespace, console: Console) -> int:
    """The window on a demo project; by itself where there is no display."""
    out: Path | None = arguments.auto
    if out is None and not has_display():
        out = AUTO_FOLDER
        console.complain(
            f"There is no display here, so the demo runs by itself, off the screen; its results go to {out.resolve()}."
        )
    if out is None:
        from a3s_desktop.ui.app import main

        return main(demo=arguments.data)
    os.environ["QT_QPA_PLATFORM"] = "offscreen"  # read by Qt when it is loaded
    from a3s_desktop.ui.app import auto_demo

    auto_demo(out, answers=arguments.answers, data=arguments.data)
    console.say(f"The demo's pictures and its table of results are in {out.resolve()}")
    return 0


def has_display() -> bool:
    """Whether a window can be shown; only X11 and Wayland systems may have none."""
    if os.environ.get("QT_QPA_PLATFORM") or sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY"))


def _need_display() -> None:
    # Qt would abort the process with a message about plugins.
    if not has_display():
        raise ProjectError(
            "There is no display to open a window on (neither DISPLAY nor WAYLAND_DISPLAY is set).",
            "`a3s-desktop demo --auto FOLDER` runs without one.",
        )
