"""Faults of a drive below Python and below SQLite: a small library between them and the system's own (Linux).

It is built from ``shim.c`` when a C compiler is there, and must be loaded before the program starts: `command` gives
the environment for that. In the process itself `Shim` puts one fault at one call.
"""

from __future__ import annotations

import ctypes
import enum
import errno
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).with_name("shim.c")


class Call(enum.IntFlag):
    """Kinds of calls; the values are those of ``shim.c``."""

    CREATE = 1
    OPEN = 2
    WRITE = 4
    SYNC = 8
    RENAME = 16
    REMOVE = 32
    FOLDER = 64
    SIZE = 128
    READ = 256


CHANGES = Call(255)
FAIL, HALF, LOSE, KILL = range(4)


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong.

    Attributes
    ----------
    name : str
    calls : Call
        Where it can happen.
    code : int
        The system's error number.
    action : int
        `FAIL`; `HALF`: a part is written first; `LOSE`: what was not synchronised is gone; `KILL`: the process ends.
    lasts : bool
        Every later call fails, too, until the fault is taken away.
    says : tuple of str
        One of them is in the message.
    """

    name: str
    calls: Call
    code: int
    action: int = FAIL
    lasts: bool = True
    says: tuple[str, ...] = ()


_IO = ("the drive reported an error",)
FAULTS = (
    Fault("disk full", Call.CREATE | Call.WRITE | Call.FOLDER | Call.SIZE, errno.ENOSPC, says=("the disk is full",)),
    Fault("I/O error", CHANGES, errno.EIO, says=_IO),
    Fault("dead drive", CHANGES | Call.READ, errno.EIO, says=(*_IO, "what the drive gave back is damaged")),
    # When the cause is looked for, it is gone: what SQLite says is all there is.
    Fault("I/O error once", CHANGES, errno.EIO, lasts=False, says=(*_IO, "or the drive is gone")),
    Fault(
        "no permission",
        Call.CREATE | Call.OPEN | Call.RENAME | Call.REMOVE | Call.FOLDER,
        errno.EACCES,
        says=("there is no permission",),
    ),
    Fault("read-only", CHANGES & ~Call.SYNC, errno.EROFS, says=("the drive is read-only",)),
    Fault("short write", Call.WRITE, errno.ENOSPC, HALF, says=("the disk is full",)),
    Fault("failed fsync", Call.SYNC, errno.EIO, LOSE, lasts=False, says=_IO),
    Fault("failed rename", Call.RENAME, errno.EIO, lasts=False, says=_IO),
    Fault("unreadable", Call.READ, errno.EIO, says=(*_IO, "what the drive gave back is damaged")),
)


def build(folder: Path) -> Path | None:
    """Build the library in ``folder``; None where that is not possible here."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if sys.platform != "linux" or compiler is None:
        return None
    target = folder / "shim.so"
    done = subprocess.run(
        [compiler, "-O2", "-shared", "-fPIC", "-o", str(target), str(SOURCE), "-ldl", "-lpthread"],
        capture_output=True,
        check=False,
    )
    return target if done.returncode == 0 else None


def environment(library: Path) -> dict[str, str]:
    """The environment in which a process has the library."""
    return {**os.environ, "LD_PRELOAD": str(library)}


class Shim:
    """The library that this process was started with. Raises `OSError` where it was not."""

    def __init__(self) -> None:
        try:
            self._library = ctypes.CDLL(None)
            self._library.a3s_arm.argtypes = [ctypes.c_long, *[ctypes.c_int] * 4]
            self._library.a3s_taped.restype = self._library.a3s_disarm.restype = ctypes.c_long
        except AttributeError as error:
            raise OSError("the process was not started with the library") from error

    def watch(self, folder: Path) -> None:
        """Count only what concerns this folder, from now on."""
        self._library.a3s_watch(os.fsencode(os.path.realpath(folder)))

    def record(self) -> None:
        """Note all calls from now on."""
        self._library.a3s_record(1)

    def recorded(self) -> list[Call]:
        """The calls that were noted."""
        self._library.a3s_record(0)
        return [Call(self._library.a3s_tape(at)) for at in range(self._library.a3s_taped())]

    def arm(self, fault: Fault, number: int) -> None:
        """Let call ``number`` (from 0) of the fault's kinds fail."""
        self._library.a3s_arm(number, int(fault.calls), fault.code, fault.action, int(fault.lasts))

    def disarm(self) -> int:
        """Take the fault away; returns how many calls failed."""
        return int(self._library.a3s_disarm())
