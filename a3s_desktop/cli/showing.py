"""Showing the window; needs no argument parser, so that a start from a menu need not wait for one."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

from a3s_desktop.errors import ProjectError


def show(project: Path | None = None, read_only: bool = False, safe_mode: bool = False, demo: str | None = None) -> int:
    """The window, on its start page, a project or a demo; returns the exit code."""
    need_display()
    collected = gc.isenabled()
    gc.disable()  # nothing that is loaded at the start is garbage; later the window collects when it has time
    try:
        from a3s_desktop.ui.app import main

        return main(project=project, read_only=read_only, demo=demo, safe_mode=safe_mode)
    finally:
        if collected:
            gc.enable()


def has_display() -> bool:
    """Whether a window can be shown; only X11 and Wayland systems may have none."""
    if os.environ.get("QT_QPA_PLATFORM") or sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY"))


def need_display() -> None:
    """Raise `ProjectError` where no window can be shown."""
    # Qt would abort the process with a message about plugins.
    if not has_display():
        raise ProjectError(
            "There is no display to open a window on (neither DISPLAY nor WAYLAND_DISPLAY is set).",
            "`a3s-desktop demo --auto FOLDER` runs without one.",
        )
