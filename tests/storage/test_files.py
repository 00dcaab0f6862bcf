"""Atomic writing under injected faults; the writer's lock."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from a3s_desktop.errors import Cancelled, ProjectError, ProjectLockedError, StorageFailedError
from a3s_desktop.storage import array_files, files
from a3s_desktop.storage.artifacts import ArtifactStore, load_arrays, save_arrays
from a3s_desktop.storage.lock import FileLock
from a3s_desktop.task import Task

PRIMITIVES = ("open_new", "write_all", "sync_file", "sync_folder", "rename", "rename_new", "make_folder")
ERRORS = {
    errno.ENOSPC: "the disk is full",
    errno.EIO: "the drive reported an error",
    errno.EACCES: "there is no permission",
    errno.EROFS: "the drive is read-only",
}


def listing(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize("primitive", PRIMITIVES)
@pytest.mark.parametrize("code", ERRORS)
def test_fault_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, primitive: str, code: int
) -> None:
    old = tmp_path / "old.txt"
    old.write_text("old")

    def fail(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(files, primitive, fail)
    for work in (
        lambda: files.atomic_write_text(old, "new"),
        lambda: files.atomic_write_text(tmp_path / "fresh.txt", "new", overwrite=False),
        lambda: save_arrays(tmp_path / "arrays", {"a": np.arange(4)}, {}),
    ):
        try:
            work()
        except StorageFailedError as error:
            if ERRORS[code] not in error.message or not error.hint:
                raise
    if primitive == "sync_folder":  # the last step: the change may be there, but it is whole
        assert old.read_text() in ("old", "new")
    else:
        assert [name for name in listing(tmp_path) if name.startswith(files.TEMPORARY)] == []
        if primitive not in ("rename_new", "make_folder"):
            assert old.read_text() == "old"
    if (tmp_path / "arrays").exists():
        load_arrays(tmp_path / "arrays")
    monkeypatch.undo()
    files.atomic_write_text(old, "new")
    assert old.read_text() == "new"


def test_short_writes_are_completed() -> None:
    class Slow:
        def __init__(self) -> None:
            self.data = b""

        def write(self, data: memoryview) -> int:
            self.data += bytes(data[:3])
            return min(3, len(data))

    slow = Slow()
    files.write_all(slow, b"0123456789")  # type: ignore[arg-type]
    assert slow.data == b"0123456789"


def test_existing_file_is_not_replaced_unasked(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(StorageFailedError, match="there already"):
        files.atomic_write_text(path, "new", overwrite=False)
    assert path.read_text() == "old"
    assert listing(tmp_path) == ["a.txt"]


def test_cancelled_folder_leaves_nothing(tmp_path: Path) -> None:
    task = Task()
    with pytest.raises(Cancelled), files.atomic_folder(tmp_path / "f") as inside:  # noqa: PT012 - one thing in two steps
        files.atomic_write_text(inside / "x", "1")
        task.cancel()
        task.check()
    assert listing(tmp_path) == []


def test_folder_replaces_only_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with files.atomic_folder(tmp_path / "empty") as inside:
        files.atomic_write_text(inside / "x", "1")
    with pytest.raises(StorageFailedError, match="there already"), files.atomic_folder(tmp_path / "empty") as inside:
        files.atomic_write_text(inside / "y", "1")
    assert listing(tmp_path) == ["empty", "empty/x"]


def test_sweep_takes_old_leavings_only(tmp_path: Path) -> None:
    old, young = files.temporary_name(tmp_path), files.temporary_name(tmp_path)
    old.mkdir()
    (old / "x").write_text("x")
    young.write_text("x")
    (tmp_path / "mine").mkdir()
    assert files.sweep(tmp_path) == 0
    assert files.sweep(tmp_path, now=time.time() + 100) == 2
    assert listing(tmp_path) == ["mine"]


def test_messages_show_any_path_on_one_line() -> None:
    assert files.show("a\nb\udcff") == "'a\\nb\\udcff'"
    assert len(files.show("x" * 5000)) < 220


# ------------------------------------------------------------------------------------------------ artifacts


def test_artifacts_round_trip(tmp_path: Path) -> None:
    arrays = {
        "labels": np.arange(5, dtype=np.int32),
        "empty": np.zeros((0, 2), np.float32),
        "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "scalar": np.array(3.5),
    }
    save_arrays(tmp_path / "a", arrays, {"miss": -2.5, "report": {"k": [1, 2]}})
    for mmap in (True, False):
        found, meta = load_arrays(tmp_path / "a", mmap)
        assert meta == {"miss": -2.5, "report": {"k": [1, 2]}}
        for name, values in arrays.items():
            assert found[name].dtype == values.dtype
            assert found[name].shape == values.shape
            assert (found[name] == values).all()


def test_stale_and_damaged_artifacts_are_computed_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = ArtifactStore(tmp_path / "artifacts")
    assert store.load("initial", "k" * 64) is None
    store.save("initial", "k" * 64, {"a": np.arange(4)}, {"x": 1})
    store.save("initial", "k" * 64, {"a": np.arange(5)}, {"x": 2})
    found = store.load("initial", "k" * 64)
    assert found is not None
    assert found[1] == {"x": 2}
    assert store.load("initial", "k" * 16 + "z" * 48) is None
    assert store.load("initial", "z" * 64) is None
    store.save("initial", "z" * 64, {"a": np.arange(4)}, {})
    assert len(list((tmp_path / "artifacts").iterdir())) == 1
    (path,) = (tmp_path / "artifacts").glob("*/a.npy")
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(bytes(data))
    assert store.load("initial", "z" * 64) is None
    assert "damaged" in caplog.text


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"format": 1}', '{"format": 1, "arrays": {"../x": {}}, "meta": {}}', "[" * 100_000]
)
def test_any_meta_is_survived(tmp_path: Path, text: str) -> None:
    save_arrays(tmp_path / "a", {"a": np.arange(4)}, {})
    (tmp_path / "a" / "meta.json").write_text(text)
    with pytest.raises(ProjectError, match="damaged"):
        load_arrays(tmp_path / "a")


# ------------------------------------------------------------------------------------------------ the lock


def test_lock_lets_one_in_and_says_who(tmp_path: Path) -> None:
    first, second = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    first.acquire()
    first.acquire()
    with pytest.raises(ProjectLockedError, match=f"process {os.getpid()} on") as caught:
        second.acquire()
    assert "Close it there" in caught.value.hint
    assert first.held
    assert not second.held
    first.release()
    first.release()
    second.acquire()
    second.release()


def test_lock_of_a_killed_program_is_free(tmp_path: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path; from a3s_desktop.storage.lock import FileLock\n"
        "FileLock(Path(sys.argv[1])).acquire(); print('held', flush=True); time.sleep(60)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path / "lock")], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    lock = FileLock(tmp_path / "lock")
    with pytest.raises(ProjectLockedError, match=f"process {process.pid} on"):
        lock.acquire()
    process.kill()
    process.wait()
    process.stdout.close()
    lock.acquire()
    lock.release()


@pytest.mark.parametrize(
    "content", [b"", b"nonsense", b'{"pid": 1e999}', b'{"host": 1, "pid": "x", "time": 0}', b"\xff" * 5000]
)
def test_any_lock_file_is_survived(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "lock").write_bytes(content)
    lock = FileLock(tmp_path / "lock")
    assert str(lock.holder()) == "another window"
    lock.acquire()
    lock.release()


def test_lock_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ProjectError, match="cannot be opened for writing") as caught:
        FileLock(tmp_path / "file" / "lock").acquire()
    assert "read-only" in caught.value.hint


@pytest.mark.parametrize("damage", ["gone", "cut", "other"])
def test_what_the_drive_does_not_give_back_is_told_as_its_failure(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "features-0.npy"
    with files.atomic_file(path) as file:
        array_files.write_array(file, np.arange(12.0))
    assert array_files.load_written(path).tolist() == list(range(12))
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-1] if damage == "cut" else bytes(500))
    with pytest.raises(StorageFailedError, match=r"Reading .*features-0\.npy' failed"):
        array_files.load_written(path)
