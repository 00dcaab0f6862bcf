"""The single-writer lock of a project: held by the operating system, so that a crash always releases it."""

from __future__ import annotations

import contextlib
import datetime
import errno
import json
import logging
import math
import os
import platform
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from a3s_desktop.errors import ProjectError, ProjectLockedError
from a3s_desktop.i18n import tr, trn
from a3s_desktop.storage import files

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

# Windows' locks keep others from *reading* the locked bytes: lock one far beyond the content that says who holds it.
_FAR = 1 << 30
BEAT_SECONDS = 20.0
STALE_SECONDS = 300.0
"""Without a sign of life; sync tools and clocks of two computers are rarely minutes late."""
_BUSY = (errno.EACCES, errno.EAGAIN, errno.EDEADLK, errno.EWOULDBLOCK)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lock, as its file says; unknown parts are empty or 0.

    Attributes
    ----------
    host, pid : str, int
    since, beat : float
        When it was taken, and the last sign of life; POSIX seconds.
    token : str
        Tells this holding from every other one.
    """

    host: str
    pid: int
    since: float
    beat: float = 0.0
    token: str = ""

    def __str__(self) -> str:
        if not self.pid:
            return tr("another window")
        try:
            when = datetime.datetime.fromtimestamp(self.since, datetime.UTC).astimezone() if self.since else None
        except (ValueError, OverflowError, OSError):  # no time that there is
            when = None
        facts = {"pid": str(self.pid), "host": self.host, "when": f"{when:%Y-%m-%d %H:%M}" if when else ""}
        if self.host and when:
            return tr("process {pid} on {host} since {when}", **facts)
        if self.host:
            return tr("process {pid} on {host}", **facts)
        return tr("process {pid} since {when}", **facts) if when else tr("process {pid}", **facts)

    @property
    def quiet(self) -> float:
        """Seconds since the last sign of life, by our clock; negative where the other clock is ahead."""
        return time.time() - max(self.beat, self.since)


class FileLock:
    """An exclusive lock on a file. The file stays when the lock goes: removing it would let two in at once.

    The system's lock keeps out other programs of this computer, and where the drive supports it those of others. Where
    it does not (many network drives, and folders that a sync tool copies), the file itself says who works here, and a
    heartbeat that they still do: on this computer, having the system's lock proves that the one before is gone; of
    another computer, only a heartbeat that is old lets somebody else in, and only if a person says so.

    Parameters
    ----------
    path : Path
        The lock file; made where it is absent.
    every : float
        Seconds between two heartbeats; 0: the system's lock alone, for files that are no other computer's business.
    host : str, optional
        Name of this computer.
    """

    def __init__(self, path: Path, every: float = 0.0, host: str | None = None) -> None:
        self._path = path
        self._handle: int | None = None
        self._every = every
        self._host = platform.node() if host is None else host
        self._token = os.urandom(8).hex()
        self._since = 0.0
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def held(self) -> bool:
        """Whether this object holds the lock."""
        return self._handle is not None

    def acquire(self, take_over: bool = False) -> None:
        """Take the lock without waiting.

        Parameters
        ----------
        take_over : bool
            Also from another computer, whose heartbeat may never have stopped: a person has said that it may be.

        Raises
        ------
        ProjectLockedError
            Another window, process or computer holds it; its ``stale`` says that it may be taken over.
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
                    tr("Close it there."),
                ) from None
            raise ProjectError(
                tr(
                    "The drive of {parent} does not support locks ({strerror}).",
                    parent=files.show(self._path.parent),
                    strerror=error.strerror,
                ),
                tr("Open it read-only, or move the project to another drive."),
            ) from error
        before = self.holder()
        try:
            self._refuse_other_computer(before, take_over)
        except ProjectLockedError:
            with contextlib.suppress(OSError):
                _unlock(handle)
            os.close(handle)
            raise
        if before.pid and self._every:
            log.warning("The lock of %s, which did not release it, is taken over.", before)
        self._handle, self._since = handle, time.time()
        self._describe()
        if self._every:
            self._stop.clear()
            self._thread = threading.Thread(target=self._go_on, name="lock heartbeat", daemon=True)
            self._thread.start()

    def check(self) -> None:
        """Make sure that nobody took the lock over, which only the file can tell.

        Raises
        ------
        ProjectLockedError
            Somebody did; nothing may be written any more.
        """
        now = self.holder()
        if self._handle is not None and now.token and now.token != self._token:
            raise ProjectLockedError(
                tr("The project was taken over by {holder}; the change was not kept.", holder=now),
                tr("Close it here; it can be opened read-only."),
            )

    def _refuse_other_computer(self, before: Holder, take_over: bool) -> None:
        if not self._every or not before.pid or before.host == self._host or take_over:
            return
        stale = not -STALE_SECONDS < before.quiet < STALE_SECONDS
        if stale:
            hint = tr("It has given no sign of life for some time. Take it over only if nobody works there.")
        else:
            hint = trn(
                "Close it there. Where nothing runs there any more, it can be taken over in {n} minute.",
                "Close it there. Where nothing runs there any more, it can be taken over in {n} minutes.",
                max(1, math.ceil((STALE_SECONDS - before.quiet) / 60)),
            )
        message = tr(
            "The project in {parent} is already open ({holder}).", parent=files.show(self._path.parent), holder=before
        )
        raise ProjectLockedError(message, hint, stale=stale)

    def _go_on(self) -> None:
        while not self._stop.wait(self._every):
            try:
                self.check()
            except ProjectLockedError:
                return
            self._describe()

    def release(self) -> None:
        """Let the lock go; harmless where it is not held."""
        if self._handle is None:
            return
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        now = self.holder()
        handle, self._handle, self._thread = self._handle, None, None
        try:
            if now.token in ("", self._token):  # else it is another's by now
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
            beat, token = float(facts.get("beat", 0.0)), str(facts.get("token", ""))[:64]
            host = "".join(c for c in str(facts["host"])[:100] if c.isprintable())
            return Holder(host, int(facts["pid"]), float(facts["time"]), beat, token)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            return Holder("", 0, 0.0)

    def _describe(self) -> None:
        """Write who holds it: only for messages, so a failure (a full disk) does not matter."""
        assert self._handle is not None
        facts = {
            "host": self._host,
            "pid": os.getpid(),
            "time": round(self._since, 3),
            "beat": round(time.time(), 3),
            "token": self._token,
        }
        try:
            os.lseek(self._handle, 0, os.SEEK_SET)
            # Over what is there, so that no reader finds it empty; JSON does not mind spaces at the end.
            os.write(self._handle, json.dumps(facts).encode("ascii").ljust(300))
        except OSError:
            return


def project_lock(folder: Path) -> FileLock:
    """The writer's lock of a project folder."""
    return FileLock(folder / "lock", BEAT_SECONDS)


def writer_of(folder: Path) -> Holder | None:
    """Who has a project open for writing, as far as its lock file tells; None where nobody seems to.

    Takes no lock, so that nobody who wants to write is kept out meanwhile.
    """
    holder = project_lock(folder).holder()
    if not holder.pid or not -STALE_SECONDS < holder.quiet < STALE_SECONDS:
        return None
    if sys.platform != "win32" and holder.host == platform.node():
        try:
            os.kill(holder.pid, 0)
        except ProcessLookupError:
            return None  # it was killed, and could not say that it ends
        except OSError:
            return holder  # another user's
    return holder


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
