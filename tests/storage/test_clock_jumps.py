"""The clock is set while a project is open: a year forth, a year back, an hour, and right again."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from a3s_desktop.errors import ProjectLockedError
from a3s_desktop.storage import files
from a3s_desktop.storage.backup import make_backup
from a3s_desktop.storage.lock import STALE_SECONDS, FileLock
from a3s_desktop.storage.spec import ProjectSpec
from a3s_desktop.storage.workspace import create_workspace, open_workspace

YEAR = 365 * 86_400.0
JUMPS = (YEAR, -YEAR, 3600.0, -3600.0, 0.0)


class Clock:
    """The wall clock, with something added."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ahead = 0.0
        true = time.time
        monkeypatch.setattr(time, "time", lambda: true() + self.ahead)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def beats(lock: FileLock) -> Callable[[], bool]:
    """Whether the lock has given a sign of life since now."""
    written, last = threading.Event(), lock.holder().beat

    def seen() -> bool:
        if lock.holder().beat != last:
            written.set()
        return written.is_set()

    return seen


def wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def test_a_lock_outlives_any_jump_of_the_clock(tmp_path: Path, clock: Clock) -> None:
    lock = FileLock(tmp_path / "lock", every=0.005)
    lock.acquire()
    since = lock.holder().since
    for jump in JUMPS:
        clock.ahead = jump
        wait(beats(lock))  # no sooner and no later for it
        lock.check()
        holder = lock.holder()
        assert (holder.since, holder.token) == (since, lock._token)
        with pytest.raises(ProjectLockedError):
            FileLock(tmp_path / "lock", every=0.005).acquire()
    lock.release()
    assert lock.holder().pid == 0


@pytest.mark.parametrize("jump", [YEAR, -YEAR])
def test_another_computer_never_takes_over_by_itself_because_a_clock_is_wrong(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch, jump: float
) -> None:
    """Where the drive knows no locks, the sign of life is all there is: a wrong one is asked about, never acted on."""
    monkeypatch.setattr("a3s_desktop.storage.lock._lock", lambda _handle: None)
    monkeypatch.setattr("a3s_desktop.storage.lock._unlock", lambda _handle: None)
    clock.ahead = jump
    mine = FileLock(tmp_path / "lock", every=1000.0, host="mine")
    mine.acquire()
    clock.ahead = 0.0
    other = FileLock(tmp_path / "lock", every=1000.0, host="other")
    with pytest.raises(ProjectLockedError) as caught:
        other.acquire()
    assert caught.value.stale, "a person may say so"
    mine.check()
    other.acquire(take_over=True)
    with pytest.raises(ProjectLockedError):
        mine.check()
    mine.release()
    other.check()
    other.release()


def test_a_machine_that_slept_longer_than_a_lock_lasts_still_has_it(tmp_path: Path, clock: Clock) -> None:
    """No sign of life was given meanwhile; the next one is as good as ever unless somebody took over."""
    lock = FileLock(tmp_path / "lock", every=1000.0)
    lock.acquire()
    clock.ahead = 10 * STALE_SECONDS
    lock.check()
    lock.release()


def test_what_a_killed_program_left_is_swept_also_with_a_date_of_the_future(tmp_path: Path, clock: Clock) -> None:
    left = tmp_path / f"{files.TEMPORARY}left"
    left.write_text("x")
    assert files.sweep(tmp_path) == 0, "somebody may be writing it"
    clock.ahead = -60.0
    assert files.sweep(tmp_path) == 0, "the clock of a drive in the network may be a little ahead"
    clock.ahead = -YEAR
    assert files.sweep(tmp_path) == 1
    assert not left.exists()


def test_a_repair_takes_the_newest_backup_though_an_older_one_is_of_the_future(
    make_spec: Callable[..., ProjectSpec],
) -> None:
    now = time.time()
    with create_workspace(make_spec()) as workspace:
        workspace.journal.append("answer", {"number": 1})
        make_backup(workspace.folder, "time", now=now + YEAR)
        workspace.journal.append("answer", {"number": 2})
        make_backup(workspace.folder, "time", now=now)  # the clock was put right
    (workspace.folder / "journal.sqlite").write_bytes(b"")
    with open_workspace(workspace.folder) as again:
        assert [record.payload["number"] for record in again.journal.records()] == [1, 2]
