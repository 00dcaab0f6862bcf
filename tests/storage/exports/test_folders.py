"""Folders of images: complete or absent, nothing replaced, nothing outside of the folder that was chosen."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from a3s_desktop.errors import Cancelled, InputError, StorageFailedError
from a3s_desktop.storage import files
from a3s_desktop.storage.exports.formats import write_export
from a3s_desktop.storage.exports.state import ExportOptions, ExportState, How, TargetExistsError
from a3s_desktop.storage.items import Items
from a3s_desktop.task import Progress, Task

State = Callable[..., ExportState]
EXPECTED = {
    "_CON/x.jpg", "_CON/X (2).JPG", "_CON/_img src=y_.png", "cluster 3/c.png", "cluster 3/d.png",
    "single images/e.png", "_script_alert(1)__script_/g (2, 1, 4 x 5).jpg",
}  # fmt: skip


def tree(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}


def test_copies_stand_in_folders_called_after_the_clusters(state: State, out: Path) -> None:
    told: list[Progress] = []
    written = write_export("folders", state(), out / "new", task=Task(told.append))
    assert tree(out / "new") == EXPECTED
    assert written.count == 7
    assert written.left_out == ()
    source = state().items.file(0)
    copy = out / "new" / "_CON" / "x.jpg"
    assert copy.read_bytes() == source.read_bytes()
    assert copy.stat().st_mtime_ns == source.stat().st_mtime_ns
    with Image.open(out / "new" / "_script_alert(1)__script_" / "g (2, 1, 4 x 5).jpg") as part:
        assert part.size == (4, 5)
    assert {progress.stage for progress in told} == {"Looking for the images", "Copying the images"}
    assert os.listdir(out) == ["new"]


def test_singles_and_junk_come_in_or_stay_out(state: State, out: Path) -> None:
    options = ExportOptions(singles=False, junk=True, by_name=False)
    write_export("folders", state(), out / "new", options=options)
    assert {path.name for path in (out / "new").iterdir()} == {"cluster 0", "cluster 3", "cluster 7", "junk"}


def test_hard_links_are_the_same_files(state: State, out: Path) -> None:
    write_export("folders", state(), out / "new", options=ExportOptions(how=How.HARD_LINK))
    assert (out / "new" / "_CON" / "x.jpg").samefile(state().items.file(0))
    assert (out / "new" / "_script_alert(1)__script_" / "g.png").samefile(state().items.photo(7))


def test_symbolic_links_are_relative_and_lead_to_the_images(state: State, out: Path) -> None:
    write_export("folders", state(), out / "new", options=ExportOptions(how=How.SYMLINK))
    link = out / "new" / "cluster 3" / "c.png"
    assert not os.path.isabs(os.readlink(link))
    assert link.samefile(state().items.file(3))
    moved = out.parent.parent / "moved"  # all of it together
    os.rename(out.parent, moved)
    try:
        assert (moved / "out" / "new" / "cluster 3" / "c.png").samefile(moved / "images" / "c.png")
    finally:
        os.rename(moved, out.parent)


def test_a_folder_that_holds_something_is_never_touched(state: State, out: Path) -> None:
    (out / "mine.txt").write_text("mine")
    with pytest.raises(TargetExistsError):
        write_export("folders", state(), out, overwrite=True)
    empty = out.parent / "empty"
    empty.mkdir()
    (out / "link").symlink_to(empty, target_is_directory=True)
    with pytest.raises(TargetExistsError):
        write_export("folders", state(), out / "link", overwrite=True)
    assert sorted(os.listdir(out)) == ["link", "mine.txt"]
    assert os.listdir(empty) == []


def test_cancelled_leaves_nothing(state: State, out: Path) -> None:
    class Stopping(Task):
        def step(self, fraction: float) -> None:
            if self._stage == "Copying the images" and fraction > 0.5:
                self.cancel()
            super().step(fraction)

    with pytest.raises(Cancelled):
        write_export("folders", state(), out / "new", task=Stopping())
    assert os.listdir(out) == []


def test_a_full_drive_is_found_out_before(state: State, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "free_bytes", lambda folder: 64_000_100)
    with pytest.raises(InputError, match="65 MB") as caught:
        write_export("folders", state(), out / "new")
    assert "link" in caught.value.hint
    write_export("folders", state(), out / "new", options=ExportOptions(how=How.SYMLINK))  # needs no room


@pytest.mark.parametrize("at", [0, 3])
def test_a_drive_that_fails_on_the_way_leaves_nothing(
    state: State, out: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    real, calls = files.write_all, [0]

    def failing(file: object, data: bytes) -> None:
        calls[0] += 1
        if calls[0] > at:
            raise OSError(errno.ENOSPC, "full")
        real(file, data)  # type: ignore[arg-type]

    monkeypatch.setattr(files, "write_all", failing)
    with pytest.raises(StorageFailedError, match="full"):
        write_export("folders", state(), out / "new")
    assert os.listdir(out) == []


def test_links_that_the_drive_refuses_are_explained(state: State, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: object, target: object) -> None:
        raise OSError(errno.EXDEV, "cross-device")

    monkeypatch.setattr(files, "hard_link", refuse)
    with pytest.raises(StorageFailedError, match="cannot be linked") as caught:
        write_export("folders", state(), out / "new", options=ExportOptions(how=How.HARD_LINK))
    assert "copy" in caught.value.hint
    assert os.listdir(out) == []


def test_images_that_are_gone_are_left_out_and_listed(state: State, out: Path) -> None:
    made = state()
    made.items.file(0).unlink()
    written = write_export("folders", made, out / "new")
    assert written.count == 6
    assert len(written.left_out) == 1
    assert written.left_out[0].startswith("a/x.jpg: ")
    gone = state(items=Items(out / "nowhere", made.items.paths))
    with pytest.raises(InputError, match="None of the images"):
        write_export("folders", gone, out / "other")
    assert os.listdir(out) == ["new"]


@pytest.mark.parametrize("path", ["../secret.txt", "/etc/hostname", "a/../../secret.txt", "a//b", "a/./b", "x\0y"])
def test_a_path_that_leads_out_is_never_read(state: State, out: Path, path: str) -> None:
    (out.parent / "secret.txt").write_text("secret")
    made = state(
        items=Items(out.parent / "images", (path,)), labels=np.zeros(1, np.int32), names={0: "x"},
        confirmed=np.zeros(1, np.bool_), is_junk=np.zeros(1, np.bool_),
    )  # fmt: skip
    for name in ("folders", "sidecars"):
        with pytest.raises(InputError, match="leads out"):
            write_export(name, made, out / "new")
    assert os.listdir(out) == []


@pytest.mark.parametrize("name", ["../../up", "/abs", "..", "NUL", "a/b", "a\\b", "x\0y", "."])
def test_a_cluster_name_never_leads_out(state: State, out: Path, name: str) -> None:
    write_export("folders", state(names={0: name}), out / "new")
    assert os.listdir(out) == ["new"]
    assert all(len(Path(path).parts) == 2 for path in tree(out / "new"))
    assert len(tree(out / "new")) == 7
