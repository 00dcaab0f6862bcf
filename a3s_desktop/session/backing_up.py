"""When backups are made: after a number of entries, after a while, before what is risky, at the end. Beside the work.

The copying runs on a thread of its own, with a connection of its own: an answer never waits for it.
"""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path

from a3s_desktop.errors import A3SError
from a3s_desktop.session.state import SessionState
from a3s_desktop.storage.backup import make_backup
from a3s_desktop.storage.backup_file import Contents
from a3s_desktop.storage.journal_types import JournalProtocol
from a3s_desktop.storage.workspace import Workspace

log = logging.getLogger(__name__)

EVERY_ENTRIES = 500
EVERY_SECONDS = 600.0


class Backups:
    """Makes the backups of one open project. All calls come from the engine thread.

    Parameters
    ----------
    workspace : Workspace or None
        None, like one that is read-only: no backups are made.
    journal : JournalProtocol
    every : int
        Entries between two backups.
    seconds : float
        At least so often, while there are new entries.
    """

    def __init__(
        self,
        workspace: Workspace | None,
        journal: JournalProtocol,
        every: int = EVERY_ENTRIES,
        seconds: float = EVERY_SECONDS,
    ) -> None:
        writable = workspace is not None and not workspace.read_only
        self._folder: Path | None = workspace.folder if workspace is not None and writable else None
        self._journal = journal
        self._every = every
        self._seconds = seconds
        self._at = journal.last
        self._when = time.monotonic()
        self._thread: threading.Thread | None = None

    def note(self, state: SessionState) -> None:
        """Begin the backup that is due; one at a time."""
        if self._folder is None or self._journal.last == self._at or self._running():
            return
        due = self._journal.last - self._at >= self._every or time.monotonic() - self._when >= self._seconds
        if due:
            self._begin()
            self._thread = threading.Thread(
                target=_make, args=(self._folder, "time", contents_of(state)), name="backup"
            )
            self._thread.start()

    def before(self, reason: str, state: SessionState) -> None:
        """A backup now, on this thread, before something risky."""
        self.wait()
        if self._folder is not None:
            self._begin()
            _make(self._folder, reason, contents_of(state))

    def close(self, state: SessionState) -> None:
        """Wait for the backup under way; make the last one, where anything is new."""
        self.wait()
        if self._folder is not None and self._journal.last != self._at:
            self._begin()
            _make(self._folder, "close", contents_of(state))

    def wait(self) -> None:
        """Until no backup is under way."""
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()

    def _running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _begin(self) -> None:
        self._at, self._when = self._journal.last, time.monotonic()


def contents_of(state: SessionState) -> Contents:
    """What a project holds, from its published state."""
    return Contents(state.answers, state.clusters, len(state.names), state.junk, state.items)


def _make(folder: Path, reason: str, contents: Contents) -> None:
    started = time.monotonic()
    try:
        made = make_backup(folder, reason, contents)
    except A3SError as error:  # the answers themselves are on disk; the next backup is due soon
        log.warning("No backup was made: %s", error)
        return
    except OSError as error:
        log.warning("No backup was made: %s", error)
        return
    log.info("Backup %s of %d bytes made in %.2f s", made.path.name, made.size, time.monotonic() - started)
