"""What a whole run of the program leaves on the disk: where it is, and who may read and write it."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from a3s_desktop.storage.places import NAME
from tests.e2e.watched import in_front
from tests.e2e.whole_run import make_images

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="rights of files are of another kind there")
FOLDERS = {"CONFIG": "config", "CACHE": "cache", "DATA": "data", "STATE": "state"}


def whole_run(folder: Path, umask: int, *options: str) -> subprocess.CompletedProcess[str]:
    """Run it with a home, temporary files and user folders of its own, all empty at first."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    environment |= {"HOME": str(folder / "home"), "TMPDIR": str(folder / "tmp"), "QT_QPA_PLATFORM": "offscreen"}
    for name in ("home", "tmp", "work", "here"):
        (folder / name).mkdir()
    return subprocess.run(
        [*in_front(), sys.executable, "-m", "tests.e2e.whole_run", str(folder / "work"), *options],
        cwd=folder / "here", env=environment, umask=umask, capture_output=True, text=True, check=False, timeout=170,
    )  # fmt: skip


def everything(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


def kinds(folder: Path) -> set[str]:
    return {path.name for path in everything(folder)} | {path.suffix for path in everything(folder)}


@pytest.mark.parametrize("umask", [0o000, 0o077], ids=oct)
def test_files_of_the_window_are_where_they_belong_and_follow_the_umask(tmp_path: Path, umask: int) -> None:
    """The window's run: the project, the exports, and the folders of the user; nothing is left anywhere else."""
    done = whole_run(tmp_path, umask, "--window")
    assert done.returncode == 0, done.stderr
    home = tmp_path / "home"
    # Each of the program's own folders; the library that draws letters keeps a list of fonts where it must.
    places = [home / ".config" / NAME, home / ".cache" / NAME, home / ".local" / "state" / NAME]
    places.append(home / ".cache" / "fontconfig")
    stray = [path for path in everything(home) if path.is_file() and not any(p in path.parents for p in places)]
    assert stray == []
    assert everything(tmp_path / "tmp") == []
    assert everything(tmp_path / "here") == []
    assert {path.name for path in (tmp_path / "work").iterdir()} == {"photos", "more", "project", "out"}
    make_images(tmp_path / "as they were", 0, 16)  # nothing was added to the images, and nothing changed
    photos, before = everything(tmp_path / "work" / "photos"), everything(tmp_path / "as they were")
    assert [(path.name, path.read_bytes()) for path in photos] == [(path.name, path.read_bytes()) for path in before]
    found = kinds(home) | kinds(tmp_path / "work")
    assert {"settings.json", "QtProject.conf", "a3s-desktop.log", "crash.log", "thumbnails.sqlite"} <= found
    assert "made by the test" in (home / ".local/state" / NAME / "log" / "a3s-desktop.log").read_text()
    rights(tmp_path, umask)


@pytest.mark.parametrize("umask", [0o002, 0o022], ids=oct)
def test_files_of_the_commands_follow_the_umask(tmp_path: Path, umask: int) -> None:
    done = whole_run(tmp_path, umask)
    assert done.returncode == 0, done.stderr
    rights(tmp_path, umask)


def rights(folder: Path, umask: int) -> None:
    """Every file and folder has exactly the rights that the umask gives, but is never writable by everybody."""
    found = kinds(folder / "work")
    assert {"journal.sqlite", "lock", "earlier", "items-2.json", ".npy", ".a3s", ".csv", ".html", ".npz"} <= found
    assert ".a3s-backup" in found
    wrong = {}
    for path in [*everything(folder / "work"), *everything(folder / "home")]:
        if {"photos", "more", "fontconfig"} & set(path.relative_to(folder).parts):
            continue  # not made by the program
        whole = 0o777 if path.is_dir() else 0o666
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode != whole & ~(umask | 0o002) or mode & 0o002:
            wrong[str(path.relative_to(folder))] = oct(mode)
    assert wrong == {}
