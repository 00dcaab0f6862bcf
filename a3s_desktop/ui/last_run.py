"""How the program ended the last time: as it should, with a crash, or before it was there at all.

Each run has a note in the log folder and holds a lock on it, so a note that nobody holds is of a run that never came to
its end. Nothing of this is needed: where the folder cannot be written, nothing is known.
"""

from __future__ import annotations

import json
import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from a3s_desktop.errors import A3SError
from a3s_desktop.storage import files
from a3s_desktop.storage.lock import FileLock

_MOST = 20_000  # characters of a crash that are kept
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FormerEnd:
    """What is known of the runs before.

    Attributes
    ----------
    crash : str
        What the machine said when the last run broke down in native code; empty where it did not.
    failed_starts : int
        How many runs in a row ended before the program was there.
    """

    crash: str = ""
    failed_starts: int = 0


class LastRun:
    """The notes; one object for each run.

    Parameters
    ----------
    folder : Path or None
        The log folder; None: nothing is known, nothing is noted.
    """

    def __init__(self, folder: Path | None) -> None:
        self._crash_log = None if folder is None else folder / "crash.log"
        self._folder = None if folder is None else folder / "running"
        self._note: Path | None = None
        self._lock: FileLock | None = None
        self._facts: dict[str, Any] = {}

    def begin(self) -> FormerEnd:
        """Look at the notes of former runs, remove those that are over, and leave one for this run."""
        if self._folder is None or self._crash_log is None:
            return FormerEnd()
        try:
            files.make_folders(self._folder)
            former = [facts for note in sorted(self._folder.glob("*.json")) if (facts := self._take(note)) is not None]
            failed = max((_count(facts, "failed") for facts in former if not facts.get("complete")), default=0)
            seen = max((_count(facts, "crash") for facts in former), default=-1)
            crash = "" if seen < 0 else self._crash_after(seen)
            self._facts = {"complete": False, "failed": failed + 1, "crash": _size(self._crash_log)}
            self._note = self._folder / f"{os.urandom(6).hex()}.json"
            self._lock = FileLock(self._note.with_suffix(".lock"))
            self._lock.acquire()
            self._write()
        except (OSError, A3SError) as error:
            _log.info("nothing is known of former runs: %s", error)
            return FormerEnd()
        return FormerEnd(crash, failed)

    def complete(self) -> None:
        """The program is there: its start did not fail."""
        self._facts["complete"] = True
        try:
            self._write()
        except (OSError, A3SError) as error:
            _log.info("the run could not be noted: %s", error)

    def end(self) -> None:
        """The run ends as it should."""
        if self._lock is not None and self._note is not None:
            self._lock.release()
            self._remove(self._note)
            self._lock = self._note = None

    def _take(self, note: Path) -> dict[str, Any] | None:
        """What a note says of a run that is over; its files are removed. None: that run goes on, or says nothing."""
        lock = FileLock(note.with_suffix(".lock"))
        try:
            lock.acquire()
        except A3SError:
            return None
        lock.release()
        try:
            facts = json.loads(files.read_bytes(note))
        except (OSError, ValueError, RecursionError):
            facts = None
        self._remove(note)
        return facts if isinstance(facts, dict) else None

    @staticmethod
    def _remove(note: Path) -> None:
        for path in (note, note.with_suffix(".lock")):
            try:
                files.remove_file(path)
            except OSError as error:
                _log.info("%s stays: %s", path.name, error)

    def _crash_after(self, size: int) -> str:
        assert self._crash_log is not None
        content = files.read_bytes(self._crash_log)
        size = size if size <= len(content) else 0  # it was cleared meanwhile
        return content[size:][-_MOST:].decode("utf-8", "replace").strip() if len(content) > size else ""

    def _write(self) -> None:
        if self._note is not None:
            files.atomic_write_text(self._note, json.dumps(self._facts))


def _count(facts: dict[str, Any], name: str) -> int:
    value = facts.get(name)
    return value if isinstance(value, int) and 0 <= value < 1 << 53 else 0


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
