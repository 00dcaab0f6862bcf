"""A project that somebody made may hold links: nothing is written through one to where the user did not point."""

from __future__ import annotations

import os
from pathlib import Path

from a3s_desktop.errors import ProjectError
from a3s_desktop.i18n import tr
from a3s_desktop.storage import files

_WRITTEN = ("journal", "lock", "artifacts", "embedding", "backups", "project.json", "items", "drafts")


def check_links(folder: Path) -> None:
    """Raise `ProjectError` where a file or folder that the program writes to is a link that leads out of ``folder``."""
    root = os.path.realpath(folder)
    try:
        links = [entry for entry in os.scandir(files.long_path(folder)) if entry.is_symlink()]
    except OSError:
        return  # reading the project says so
    for link in links:
        target = os.path.realpath(link.path)
        if link.name.startswith(_WRITTEN) and not target.startswith(root + os.sep):
            raise ProjectError(
                tr("{path} is a link that leads out of the project.", path=files.show(link.path)),
                tr("Put what it leads to in its place, or open the project read-only."),
            )
