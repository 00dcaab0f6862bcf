"""Copies that sync tools leave are found by their names, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from a3s_desktop.storage.conflicts import conflict_copies
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
    "name", ["journal.damaged-20261128-101112.sqlite", "journal.sqlite-wal", "journal.repaired.sqlite", "items.json"]
)
def test_what_the_program_makes_itself_is_no_copy(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"x")
    assert conflict_copies(tmp_path) == ()
