"""One writer: in this process, another process, another computer whose system locks do not reach here."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from a3s_desktop.errors import ProjectLockedError
from a3s_desktop.storage.lock import FileLock, Holder, project_lock, writer_of
from a3s_desktop.storage.spec import ProjectSpec
from a3s_desktop.storage.workspace import create_workspace, open_workspace

HOLD = """
import sys, pathlib
from a3s_desktop.storage.lock import project_lock
lock = project_lock(pathlib.Path(sys.argv[1]).parent); lock.acquire(); print("held", flush=True); sys.stdin.read()
"""


def describe(path: Path, host: str, age: float, token: str = "other") -> None:
    when = time.time() - age
    path.write_text(json.dumps({"host": host, "pid": 77, "time": when - 9, "beat": when, "token": token}))


def test_another_process_is_kept_out_until_it_is_killed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "lock"
    other = subprocess.Popen([sys.executable, "-c", HOLD, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert other.stdout is not None
    assert other.stdout.readline() == b"held\n"
    lock = project_lock(tmp_path)
    with pytest.raises(ProjectLockedError, match=str(other.pid)) as caught:
        lock.acquire()
    assert not caught.value.stale
    other.kill()
    other.communicate()
    with caplog.at_level(logging.WARNING):
        lock.acquire()
    assert "taken over" in caplog.text
    lock.release()
    lock.acquire()
    lock.release()


@pytest.mark.parametrize(("age", "stale"), [(10, False), (3600, True)])
def test_another_computer_is_believed_while_it_gives_signs_of_life(tmp_path: Path, age: float, stale: bool) -> None:
    describe(tmp_path / "lock", "elsewhere", age)
    lock = project_lock(tmp_path)
    with pytest.raises(ProjectLockedError, match="elsewhere") as caught:
        lock.acquire()
    assert caught.value.stale is stale
    lock.acquire(take_over=True)
    assert lock.holder().pid != 77
    lock.release()
    assert not (tmp_path / "lock").read_bytes()


def test_the_heartbeat_goes_on_and_ends_with_the_lock(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "lock", every=0.01)
    lock.acquire()
    first = lock.holder().beat
    deadline = time.monotonic() + 10
    while lock.holder().beat == first:
        assert time.monotonic() < deadline
        time.sleep(0.005)
    lock.release()
    assert lock.holder().pid == 0


def test_a_writer_that_was_taken_over_writes_nothing_more(make_spec: Callable[..., ProjectSpec]) -> None:
    with create_workspace(make_spec()) as workspace:
        workspace.journal.append("answer", {"number": 1})
        path = workspace.folder / "lock"
        describe(path, "elsewhere", 0.0)
        with pytest.raises(ProjectLockedError, match="taken over"):
            workspace.journal.append("answer", {"number": 2})
        with pytest.raises(ProjectLockedError):
            workspace.journal.save_snapshot({}, {})
        assert workspace.journal.last == 1
        taken = path.read_bytes()
    assert path.read_bytes() == taken, "the other's lock stays"
    with pytest.raises(ProjectLockedError):
        open_workspace(workspace.folder)
    with open_workspace(workspace.folder, take_over=True) as again:
        assert [record.payload for record in again.journal.records()] == [{"number": 1}]


def test_who_writes_is_told_without_taking_the_lock(tmp_path: Path) -> None:
    assert writer_of(tmp_path) is None
    assert not (tmp_path / "lock").exists()
    lock = project_lock(tmp_path)
    lock.acquire()
    assert writer_of(tmp_path) == lock.holder()
    lock.release()
    assert writer_of(tmp_path) is None
    describe(tmp_path / "lock", "elsewhere", 10.0)
    assert str(writer_of(tmp_path)).startswith("process 77 on elsewhere since ")
    describe(tmp_path / "lock", "elsewhere", 3600.0)
    assert writer_of(tmp_path) is None
    describe(tmp_path / "lock", "elsewhere", -3600.0)  # a clock that is an hour ahead tells nothing
    assert writer_of(tmp_path) is None


@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot be asked for there")
def test_one_who_was_killed_writes_no_more(tmp_path: Path) -> None:
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path / "lock"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert other.stdout is not None
    assert other.stdout.readline() == b"held\n"
    found = writer_of(tmp_path)
    assert found is not None
    assert found.pid == other.pid
    other.kill()
    other.communicate()
    assert writer_of(tmp_path) is None


@pytest.mark.parametrize(
    ("holder", "text"),
    [
        (Holder("", 0, 0.0), "another window"),
        (Holder("", 7, 0.0), "process 7"),
        (Holder("nas", 7, 0.0), "process 7 on nas"),
        (Holder("nas", 7, 1e300), "process 7 on nas"),
    ],
)
def test_a_holder_in_words(holder: Holder, text: str) -> None:
    assert str(holder) == text


def test_how_long_another_computer_is_waited_for_is_said(tmp_path: Path) -> None:
    describe(tmp_path / "lock", "elsewhere", 130.0)
    with pytest.raises(ProjectLockedError) as caught:
        project_lock(tmp_path).acquire()
    assert "it can be taken over in 3 minutes" in caught.value.hint
