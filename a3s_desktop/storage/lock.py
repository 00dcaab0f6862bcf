"""The single-writer lock of a project: held by the operating system, so that a crash always releases it."""

from __future__ import annotations

import datetime
import errno
import json
import os
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from a3s_desktop.errors import ProjectError, ProjectLockedError
from a3s_desktop.i18n import tr
from a3s_desktop.storage import files

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

# Windows' locks keep others from *reading* the locked bytes: lock one far beyond the content that says who holds it.
_FAR = 1 << 30
_BUSY = (errno.EACCES, errno.EAGAIN, errno.EDEADLK, errno.EWOULDBLOCK)


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lock, as its file says; unknown parts are empty or 0."""

    host: str
    pid: int
    since: float

    def __str__(self) -> str:
        if not self.pid:
            return tr("another window")
        who = f"process {self.pid}" + (f" on {self.host}" if self.host else "")
        if not self.since:
            return who
        when = datetime.datetime.fromtimestamp(self.since, datetime.UTC).astimezone()
        return f"{who} since {when:%Y-%m-%d %H:%M}"


class FileLock:
    """An exclusive lock on a file. The file stays when the lock goes: removing it would let two in at once.

    Parameters
    ----------
    path : Path
        The lock file; made where it is absent.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None

    @property
    def held(self) -> bool:
        """Whether this object holds the lock."""
        return self._handle is not None

    def acquire(self) -> None:
        """Take the lock without waiting.

        Raises
        ------
        ProjectLockedError
            Another window, process or computer holds it.
        ProjectError
            The lock file cannot be made or locked here.
        """
        if self._handle is not None:
            return
        try:
            handle = os.open(files.long_path(self._path), os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        except OSError as error:
            cause, _ = files.cause_of(error)
            raise ProjectError(
                tr(
                    "The project in {parent} cannot be opened for writing: {cause}.",
                    parent=files.show(self._path.parent),
                    cause=cause,
                ),
                tr("Open it read-only, or change the permissions of its folder."),
            ) from error
        try:
            _lock(handle)
        except OSError as error:
            os.close(handle)
            if error.errno in _BUSY:
                raise ProjectLockedError(
                    tr(
                        "The project in {parent} is already open ({holder}).",
                        parent=files.show(self._path.parent),
                        holder=self.holder(),
                    ),
                    tr("Close it there, or open it read-only here."),
                ) from None
            raise ProjectError(
                tr(
                    "The drive of {parent} does not support locks ({strerror}).",
                    parent=files.show(self._path.parent),
                    strerror=error.strerror,
                ),
                tr("Open it read-only, or move the project to another drive."),
            ) from error
        self._handle = handle
        self._describe()

    def release(self) -> None:
        """Let the lock go; harmless where it is not held."""
        if self._handle is None:
            return
        handle, self._handle = self._handle, None
        try:
            os.ftruncate(handle, 0)
            _unlock(handle)
        except OSError:
            pass  # closing releases it in any case
        finally:
            os.close(handle)

    def holder(self) -> Holder:
        """Who holds the lock, as the file says."""
        try:
            with open(files.long_path(self._path), "rb") as file:
                facts = json.loads(file.read(4096))
            return Holder(str(facts["host"])[:100], int(facts["pid"]), float(facts["time"]))
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return Holder("", 0, 0.0)

    def _describe(self) -> None:
        """Write who holds it: only for messages, so a failure (a full disk) does not matter."""
        assert self._handle is not None
        facts = {"host": socket.gethostname(), "pid": os.getpid(), "time": round(time.time(), 3)}
        try:
            os.ftruncate(self._handle, 0)
            os.lseek(self._handle, 0, os.SEEK_SET)
            os.write(self._handle, json.dumps(facts).encode("ascii"))
        except OSError:
            return


if sys.platform == "win32":

    def _lock(handle: int) -> None:
        os.lseek(handle, _FAR, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

    def _unlock(handle: int) -> None:
        os.lseek(handle, _FAR, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)
