"""The files of a journal at one moment: the database, its write-ahead log and its rollback journal.

Readers never open the writer's files with SQLite: they work on a copy of these bytes, so they need no permission to
write, and cannot hold the writer up. What a program that was killed left half done is undone in the copy.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from a3s_desktop.storage import files, salvage
from a3s_desktop.storage.sqlite import LOG, UNDO, beside

_HEAD = 100  # bytes of a database that count its changes, among other things


@dataclass(frozen=True, slots=True)
class JournalFiles:
    """What is in the files; empty where one is absent.

    Attributes
    ----------
    data, log, undo : bytes
        The database, its write-ahead log, and its rollback journal.
    steady : bool
        False where the database was changed while it was read, which only a log makes harmless.
    """

    data: bytes = b""
    log: bytes = b""
    undo: bytes = b""
    steady: bool = True

    def records(self) -> salvage.Salvaged:
        """All records that can be recovered, in the order of their chain."""
        return salvage.salvage(self.data, self.log, self.undo)

    def place(self, folder: Path) -> Path:
        """Write them into a new folder, under a name that is returned. Raises `OSError`."""
        files.make_folder(folder)
        inside = folder / "copy.sqlite"
        for suffix, content in (("", self.data), (LOG, self.log), (UNDO, self.undo)):
            if content or not suffix:
                files.write_scratch(beside(inside, suffix), content)
        return inside


def look_at(path: Path) -> JournalFiles:
    """Read a journal's files, beside a writer if there is one. Raises `OSError`.

    The log before the database: what a checkpoint moves meanwhile is then in both. Without a log the database itself
    is changed, and each change counts itself in its head, before which the rollback journal appears and after which it
    goes: where none of them differs before and after, the three belong together.
    """
    head = _head(path)
    log, undo = files.read_bytes(beside(path, LOG)), files.read_bytes(beside(path, UNDO))
    data = files.read_bytes(path)
    logged = data[18:20] == b"\2\2" and not undo
    steady = logged or (
        undo == files.read_bytes(beside(path, UNDO)) and head == data[:_HEAD] and data[:_HEAD] == _head(path)
    )
    return JournalFiles(data, log, undo, steady)


def before_opening(path: Path) -> JournalFiles:
    """What SQLite is going to change at the opening, as far as it is there. Raises `OSError`."""
    if files.read_bytes(beside(path, UNDO)):
        return look_at(path)
    return JournalFiles(log=files.read_bytes(beside(path, LOG)))


def _head(path: Path) -> bytes:
    try:
        with open(files.long_path(path), "rb") as file:
            return file.read(_HEAD)
    except FileNotFoundError:
        return b""
