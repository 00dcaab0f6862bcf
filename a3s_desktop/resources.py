"""Where the files that ship with the program are: icons, style, help, demo data."""

from __future__ import annotations

import sys
from pathlib import Path

from a3s_desktop.errors import A3SError
from a3s_desktop.i18n import tr


def candidates() -> tuple[Path, ...]:
    """Folders that may hold the resources, the likeliest first.

    A PyInstaller bundle unpacks them beside its modules (``sys._MEIPASS``), a wheel carries them inside the package as
    ``_resources``, and a source checkout has them beside the package.
    """
    package = Path(__file__).resolve().parent
    bundle = getattr(sys, "_MEIPASS", None)
    frozen = (Path(bundle) / "resources", Path(bundle) / "a3s_desktop" / "_resources") if bundle else ()
    return (*frozen, package / "_resources", package.parent / "resources")


def resource_folder() -> Path:
    """The folder with the program's own files. Raises `A3SError` where the installation lacks it."""
    for folder in candidates():
        if (folder / "icons").is_dir():
            return folder
    raise A3SError(tr("The program's own resource files are missing."), tr("Install the program again."))


def resource(*parts: str) -> Path:
    """Path of one resource, e.g. ``resource("icons", "undo.svg")``; it need not exist."""
    return resource_folder().joinpath(*parts)
