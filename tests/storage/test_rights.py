"""Who may read and write what is being worked on: SQLite's companions too, which are gone when a project is closed."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from a3s_desktop.cli import main
from a3s_desktop.settings import SettingsStore
from a3s_desktop.storage.thumbnails import Thumbnail, ThumbnailStore
from a3s_desktop.storage.workspace import open_workspace
from tests.ui.pair_project import make_project

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="rights of files are of another kind there")


@pytest.fixture
def umask() -> Iterator[Callable[[int], int]]:
    former = os.umask(0o022)
    yield os.umask
    os.umask(former)


def modes(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize(("mask", "wanted"), [(0o022, 0o644), (0o002, 0o664), (0o077, 0o600)])
def test_a_journal_and_its_log_follow_the_umask(
    tmp_path: Path, umask: Callable[[int], int], mask: int, wanted: int
) -> None:
    umask(mask)
    project = make_project(tmp_path)
    with open_workspace(project) as workspace:
        workspace.journal.append("answer", {"left": 0, "right": 1, "answer": "same"})
        found = modes(project)
        assert {"journal.sqlite", "journal.sqlite-wal", "journal.sqlite-shm", "lock"} <= found.keys()
        assert {name: mode for name, mode in found.items() if mode != wanted} == {}


@pytest.mark.parametrize("mask", [0o022, 0o002, 0o077])
def test_settings_and_small_copies_follow_the_umask(tmp_path: Path, umask: Callable[[int], int], mask: int) -> None:
    umask(mask)
    for _ in range(2):  # the second time in the place of the first
        settings = SettingsStore(tmp_path / "settings.json")
        settings.change(settle_ms=settings.value.settle_ms + 1)
    store = ThumbnailStore(tmp_path / "thumbnails.sqlite", 1_000_000)
    for number in range(32):
        store.put(bytes([number]) * 16, Thumbnail(b"x", 1, 1, False))
    found = modes(tmp_path)
    store.close()
    assert found.keys() == {"settings.json", "thumbnails.sqlite", "thumbnails.sqlite-wal", "thumbnails.sqlite-shm"}
    assert set(found.values()) == {0o666 & ~mask}


def test_nothing_is_writable_by_everybody_even_if_the_user_allows_it(
    tmp_path: Path, umask: Callable[[int], int], capsys: pytest.CaptureFixture[str]
) -> None:
    umask(0)
    assert main(["clear", "--dry-run"]) == 0
    assert umask(0o022) == 0o002
