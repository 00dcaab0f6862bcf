"""The file that a file manager opens: named after the project, found from wherever it is opened, never in the way."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from a3s_desktop.errors import ProjectError
from a3s_desktop.storage.pointer import is_pointer, pointer_name, project_folder
from a3s_desktop.storage.workspace import open_workspace
from tests.ui.pair_project import make_project


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("Whales", "Whales.a3s"),
        ("Grau­wal Østersøen 2026 🐋", "Grau­wal Østersøen 2026 🐋.a3s"),
        ("a/b\\c:d*e?", "a b c d e.a3s"),
        ("../..", "project.a3s"),
        ("  ", "project.a3s"),
        ("CON", "project.a3s"),
        ("nul.old", "project.a3s"),
        ("x" * 300, "x" * 60 + ".a3s"),
    ],
)
def test_names_that_every_system_takes(name: str, file: str) -> None:
    assert pointer_name(name) == file


def test_a_new_project_has_one_and_is_opened_by_it(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    (file,) = project.glob("*.a3s")
    moved = project.rename(tmp_path / "elsewhere")
    workspace = open_workspace(moved / file.name)
    try:
        assert workspace.folder == moved
    finally:
        workspace.close()


def test_links_lead_to_the_folder_and_copies_do_not(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    (file,) = project.glob("*.a3s")
    link, copy = tmp_path / "desktop.a3s", tmp_path / "copy.a3s"
    try:
        link.symlink_to(file)
    except OSError:
        pytest.skip("this system gives no rights to make links")
    copy.write_bytes(file.read_bytes())
    assert project_folder(link) == project.resolve()
    with pytest.raises(ProjectError, match=r"is not a project"):
        open_workspace(copy)


def test_only_names_count(tmp_path: Path) -> None:
    assert is_pointer(Path("Whales.A3S"))
    assert is_pointer(Path("x/project.json"))
    assert not is_pointer(Path("a3s"))
    folder = tmp_path / "named.a3s"
    folder.mkdir()
    assert project_folder(folder) == folder
    assert project_folder(Path("whales")) == Path(os.path.abspath("whales"))
