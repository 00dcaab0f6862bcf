"""Copies that sync tools leave are found by their names, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from a3s_desktop.errors import ProjectLockedError, StorageFailedError
from a3s_desktop.storage import files
from a3s_desktop.storage.conflicts import NOTES, conflict_copies, holds_answers, keep_apart, set_aside, undecided
from a3s_desktop.storage.lock import project_lock
from a3s_desktop.storage.spec import ProjectSpec
from a3s_desktop.storage.workspace import create_workspace, open_workspace

COPIES = [
    "journal (Ann's conflicted copy 2026-11-28).sqlite",
    "journal (conflicted copy 2026-11-28 101112).sqlite",
    "journal.sync-conflict-20261128-101112-ABCDEFG.sqlite",
    "journal-LAPTOP.sqlite",
    "journal (1).sqlite",
    "project (1).json",
]


@pytest.mark.parametrize("name", COPIES)
def test_a_copy_is_found_and_told_at_the_opening(make_spec: Callable[..., ProjectSpec], name: str) -> None:
    create_workspace(make_spec()).close()
    folder = make_spec().folder
    (folder / name).write_bytes(b"x")
    assert [path.name for path in conflict_copies(folder)] == [name]
    with open_workspace(folder) as workspace:
        assert any(name in warning for warning in workspace.warnings)


def test_a_copy_of_the_whole_folder_is_found(tmp_path: Path) -> None:
    for name in ("owls", "owls (conflicted copy 2026-11-28 101112)", "owls (1)", "owls-of-ann", "owls (2)"):
        (tmp_path / name).mkdir()
        if name != "owls (2)":
            (tmp_path / name / "project.json").write_bytes(b"{}")
    names = [path.name for path in conflict_copies(tmp_path / "owls")]
    assert names == ["owls (1)", "owls (conflicted copy 2026-11-28 101112)"]


@pytest.mark.parametrize(
    "name",
    [
        "journal.damaged-20261128-101112.sqlite",
        "journal.merged-20261128-101112.sqlite",
        "journal.sqlite-wal",
        "journal.repaired.sqlite",
        "items.json",
    ],
)
def test_what_the_program_makes_itself_is_no_copy(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"x")
    assert conflict_copies(tmp_path) == ()


def test_what_is_kept_apart_is_asked_about_when_it_changes(tmp_path: Path) -> None:
    first, second = tmp_path / "journal-LAPTOP.sqlite", tmp_path / "journal (1).sqlite"
    for copy in (first, second):
        copy.write_bytes(b"x")
    keep_apart(tmp_path, first)
    assert undecided(tmp_path) == (second,)
    keep_apart(tmp_path, second)
    assert undecided(tmp_path) == ()
    second.write_bytes(b"xx")
    assert undecided(tmp_path) == (second,)
    (tmp_path / NOTES).write_bytes(b'{"apart": [1, NaN')
    assert set(undecided(tmp_path)) == {first, second}


def test_a_description_holds_no_answers(tmp_path: Path) -> None:
    assert not holds_answers(tmp_path / "project (1).json")
    assert holds_answers(tmp_path / "journal (1).sqlite")
    assert holds_answers(tmp_path / "owls (1)")


def test_a_copy_moves_aside_with_its_companions(tmp_path: Path) -> None:
    for turn in range(2):
        copy = tmp_path / "journal (1).sqlite"
        for suffix in ("", "-wal", "-journal"):
            (tmp_path / (copy.name + suffix)).write_bytes(suffix.encode() + bytes([turn]))
        moved = set_aside(tmp_path, copy)
        assert moved.name.startswith("journal.merged-")
        for suffix in ("", "-wal", "-journal"):
            assert (tmp_path / (moved.name + suffix)).read_bytes() == suffix.encode() + bytes([turn])
    assert len(list(tmp_path.iterdir())) == 6
    assert conflict_copies(tmp_path) == ()


def test_a_copy_that_is_open_or_cannot_be_moved_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, copy = tmp_path / "owls", tmp_path / "owls (1)"
    folder.mkdir()
    copy.mkdir()
    (copy / "project.json").write_bytes(b"{}")
    lock = project_lock(copy)
    lock.acquire()
    with pytest.raises(ProjectLockedError, match="already open"):
        set_aside(folder, copy)
    lock.release()

    def refuse(source: Path, target: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(files, "rename_new", refuse)
    with pytest.raises(StorageFailedError, match=r"'owls \(1\)' was not moved aside: there is no permission"):
        set_aside(folder, copy)
    monkeypatch.undo()
    assert set_aside(folder, copy).name.startswith("owls.merged-")
    assert conflict_copies(folder) == ()
