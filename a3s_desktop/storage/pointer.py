"""The file that a file manager opens: ``<name>.a3s`` inside a project folder.

A project is a folder, and systems tie programs to files, not to folders. So every project folder holds a small file
with the suffix that the installers register. It says nothing but that it belongs to the folder that it lies in: the
folder can be moved, renamed and copied as before.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

SUFFIX = ".a3s"
FORMAT = "a3s-pointer"
_PROJECT_FILE = "project.json"
_NOT_IN_NAMES = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]+')
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)  # devices of Windows
_LONGEST = 60  # characters; in UTF-8 at most 240 bytes, which every file system takes


def pointer_name(name: str) -> str:
    """File name for a project's name, of characters that every system allows."""
    stem = _NOT_IN_NAMES.sub(" ", name).strip(" .")[:_LONGEST].strip(" .")
    if not stem or _RESERVED.fullmatch(stem):
        stem = "project"
    return stem + SUFFIX


def pointer_text() -> str:
    """The content of the file."""
    note = "Open this file with A3S Desktop. It belongs to the project folder it lies in."
    return json.dumps({"format": FORMAT, "version": 1, "note": note}, indent=1) + "\n"


def is_pointer(path: Path) -> bool:
    """Whether a path names a project by a file in it; by the name alone."""
    return path.suffix.lower() == SUFFIX or path.name == _PROJECT_FILE


def project_folder(path: Path) -> Path:
    """The folder that is meant by a path: itself, or where the file lies; a link to the file is followed.

    Returns
    -------
    Path
        Absolute. Nothing says that it is a project: that is for opening it to find out.
    """
    path = Path(os.path.abspath(path))
    if not is_pointer(path) or path.is_dir():
        return path
    return (path.resolve() if path.is_symlink() else path).parent
