"""The images of a project by number."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path, PureWindowsPath
from typing import Any

from a3s_desktop.errors import ProjectError
from a3s_desktop.i18n import tr
from a3s_desktop.storage import files
from a3s_desktop.storage.keys import Part, locate_part, split_key
from a3s_desktop.storage.names import can_be_path
from a3s_desktop.strict_json import parse_json

# How `Items.to_json` begins, what comes between two paths, and after the last. Within a name a line never ends: JSON
# writes \n for it. So no name, whatever is in it, can be taken for one of the latter two.
_START, _BETWEEN, _END = b'{"paths": [', b",\n", b'],\n"problems": {'
_PIECE = 1 << 20  # bytes of paths that are parsed in one go, about


class Items:
    """Item i is row i of every feature matrix.

    Attributes
    ----------
    root : Path
        The image folder; may be missing (an unplugged drive), then every image is a placeholder.
    paths : tuple of str
        The key of each item: relative to the root, ``/`` between parts; a rectangle of a photo has it behind the path
        (see `storage.keys`).
    problems : dict
        Reason for each item that cannot be shown.
    """

    def __init__(self, root: Path, paths: tuple[str, ...], problems: Mapping[int, str] | None = None) -> None:
        self.root = root
        self.paths = paths
        self.problems = dict(problems or {})

    def __len__(self) -> int:
        return len(self.paths)

    def file(self, index: int) -> Path:
        """Absolute path of an item's image, fit for decoding (long paths on Windows included).

        It names the rectangle, too, where the item is a part of a photo; see `photo` for the file itself.
        """
        path = self.paths[index]
        if not can_be_path(path):  # from another system, or made up: it is missing, not a failure wherever it is opened
            path = path.encode("utf-8", "replace").decode("utf-8")
        return files.long_path(self.root.joinpath(*path.split("/")))

    def photo(self, index: int) -> Path:
        """Absolute path of the file in which an item is."""
        return locate_part(self.file(index))[0]

    def part(self, index: int) -> Part | None:
        """The rectangle of the photo that an item is; None where it is the whole."""
        return locate_part(self.file(index))[1]

    def name(self, index: int) -> str:
        """The file name without folders, for showing; unprintable characters are escaped."""
        photo, part = split_key(self.paths[index])
        name = photo.rpartition("/")[2]
        if part is not None:
            name += f" ({part.x}, {part.y}, {part.width} × {part.height})"
        return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in name)

    @property
    def available(self) -> bool:
        """Whether the image folder is there now."""
        return self.root.is_dir()

    def to_json(self) -> str:
        """ASCII JSON, in which names that are no UTF-8 survive; a line for each path and problem."""
        values = {"paths": list(self.paths), "problems": {str(i): text for i, text in self.problems.items()}}
        return json.dumps(values, ensure_ascii=True, separators=(_BETWEEN.decode(), ": "))

    @classmethod
    def from_json(cls, text: bytes, root: Path, where: Path) -> Items:
        """Inverse of `to_json`.

        Raises
        ------
        ProjectError
            The text is damaged, or a path would lead out of the image folder.
        """
        try:
            values: Any = _read(text)
            if not isinstance(values["paths"], list):
                raise TypeError(tr("it is no list"))
            paths = tuple(values["paths"])
            problems = {int(key): str(reason) for key, reason in values["problems"].items()}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ProjectError(
                tr("The list of images {where} is damaged.", where=files.show(where)),
                tr("Restore the project from a backup."),
            ) from error
        for index, path in enumerate(paths):
            if not isinstance(path, str) or not is_inside(path):
                raise ProjectError(
                    tr(
                        "The list of images {where}, entry {index}, leads out of the image folder.",
                        where=files.show(where),
                        index=index,
                    ),
                    tr("Restore the project from a backup."),
                )
        return cls(root, paths, {i: reason for i, reason in problems.items() if 0 <= i < len(paths)})


def _read(text: bytes) -> Any:
    """As `parse_json`, but a long list of paths piece by piece: one call would hold up the window for as long."""
    stop = text.rfind(_END)
    if len(text) < _PIECE or not text.startswith(_START) or stop < len(_START):
        return parse_json(text)
    values = parse_json(_START + text[stop:])
    at = len(_START)
    while at <= stop:
        cut = text.find(_BETWEEN, at + _PIECE, stop)
        end = cut if cut >= 0 else stop
        piece = parse_json(b"[" + text[at:end] + b"]")
        if not piece:  # no paths at all, or a comma without one
            return parse_json(text)
        values["paths"] += piece
        at = end + len(_BETWEEN)
    return values


def is_inside(path: str) -> bool:
    """Whether a relative path with ``/`` between parts stays below its root, on this system."""
    if not path or "\0" in path or any(part in ("", ".", "..") for part in path.split("/")):
        return False
    if os.name != "nt":
        return True
    windows = PureWindowsPath(path)
    return not windows.drive and not windows.is_absolute() and ".." not in windows.parts and ":" not in path


def locate(absolute: str, relative: str | None, folder: Path) -> Path:
    """The image folder of a project that may have been moved: beside it as before, else where it was."""
    if relative:
        beside = Path(os.path.normpath(folder / relative))
        if beside.is_dir():
            return beside
    # A path of another system is no absolute one here: it must not be looked for in the folder the program runs in.
    return Path(absolute) if Path(absolute).is_absolute() else folder / absolute
