"""What can be cleared goes, also under the hands of windows that use it; what must stay does."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest

from a3s_desktop.cli import main
from a3s_desktop.errors import ProjectError, ProjectLockedError
from a3s_desktop.logs import start_logging
from a3s_desktop.settings import SettingsStore
from a3s_desktop.storage.clearing import Kind, clear_demos, clear_logs, clear_project, clear_thumbnails, look
from a3s_desktop.storage.places import Places, user_places
from a3s_desktop.storage.thumbnails import Thumbnail, ThumbnailStore
from a3s_desktop.storage.workspace import open_workspace
from a3s_desktop.ui.last_run import LastRun
from tests.ui.pair_project import make_project

SMALL = Thumbnail(b"\x89PNG" + bytes(20_000), 10, 10, False)


@pytest.fixture
def places() -> Places:
    return user_places()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_project(tmp_path_factory.mktemp("made"))


def fill(store: ThumbnailStore, count: int, first: int = 0) -> None:
    for number in range(first, first + count):
        store.put(number.to_bytes(16, "big"), SMALL)


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def size_of(places: Places, kind: Kind) -> int:
    return next(hoard.size for hoard in look(places) if hoard.kind is kind)


def test_small_copies_go_under_an_open_store_and_new_ones_come(places: Places) -> None:
    store = ThumbnailStore(places.thumbnails, 10_000_000)
    fill(store, 70)  # some are on the disk, some wait
    assert size_of(places, Kind.THUMBNAILS) > 64 * 20_000
    done = clear_thumbnails(places.thumbnails, store)
    assert done.problem == ""
    assert done.size > 64 * 20_000
    assert store.get((0).to_bytes(16, "big")) is None
    assert store.get((69).to_bytes(16, "big")) is None
    assert size_of(places, Kind.THUMBNAILS) == 0
    assert b"\x89PNG" not in b"".join(content(places.thumbnails.parent).values())
    fill(store, 40)
    store.close()
    again = ThumbnailStore(places.thumbnails, 10_000_000)
    assert again.get((5).to_bytes(16, "big")) == SMALL
    again.close()


def test_small_copies_go_while_other_programs_use_them(places: Places) -> None:
    """Both go on, and neither takes the other's file for damaged."""
    first, second = (ThumbnailStore(places.thumbnails, 10_000_000) for _ in range(2))
    fill(first, 32)
    assert second.get((3).to_bytes(16, "big")) == SMALL
    command = [sys.executable, "-m", "a3s_desktop", "clear", "--thumbnails"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert second.get((3).to_bytes(16, "big")) is None
    fill(second, 32, 100)
    fill(first, 32, 200)
    first.close()
    second.close()
    third = ThumbnailStore(places.thumbnails, 10_000_000)
    assert all(third.get(n.to_bytes(16, "big")) == SMALL for n in (100, 131, 200, 231))
    third.close()


def test_a_file_of_small_copies_that_is_damaged_goes(places: Places) -> None:
    places.thumbnails.parent.mkdir(parents=True)
    places.thumbnails.write_bytes(b"no database" * 10_000)
    assert clear_thumbnails(places.thumbnails).problem == ""
    assert size_of(places, Kind.THUMBNAILS) == 0


def test_a_log_that_is_written_goes_on_from_nothing(places: Places) -> None:
    log = start_logging(places.logs)
    try:
        logging.getLogger("a3s_desktop.x").warning("opened /home/anna/seals")
        (places.logs / "a3s-desktop.log.1").write_text("older: /home/anna")
        (places.logs / "crash.log").write_text("Fatal: /home/anna")
        (places.logs / "mine.txt").write_text("not of the program")
        assert clear_logs(places.logs).problem == ""
        logging.getLogger("a3s_desktop.x").warning("after")
    finally:
        log.close()
    assert not any(b"anna" in data for data in content(places.logs).values())
    assert (places.logs / "a3s-desktop.log").read_text().endswith("after\n")
    assert (places.logs / "mine.txt").exists()


def test_a_crash_after_the_clearing_is_told_at_the_next_start(places: Places) -> None:
    places.logs.mkdir(parents=True)
    (places.logs / "crash.log").write_text("an old one, long told\n" * 9)
    run = LastRun(places.logs)
    run.begin()
    clear_logs(places.logs)
    with (places.logs / "crash.log").open("a") as file:
        file.write("Segmentation fault\n")
    assert run._lock is not None
    run._lock.release()  # as the system does when a process ends
    last = LastRun(places.logs)
    assert last.begin().crash == "Segmentation fault"
    last.end()


def test_a_window_does_not_write_forgotten_projects_back(places: Places) -> None:
    ours = SettingsStore(places.settings)
    ours.replace(ours.value.with_recent("/old"))
    ours.change(last_folder="/secret")
    assert main(["clear", "--recent"]) == 0
    ours.change(theme="dark")
    assert (ours.value.recent, ours.value.last_folder, ours.value.theme) == ((), "", "dark")
    ours.replace(ours.value.with_recent("/new"))
    assert SettingsStore(places.settings).value.recent == ("/new",)
    assert "/old" not in places.settings.read_text()


def test_the_project_that_was_just_opened_is_not_forgotten(places: Places) -> None:
    ours = SettingsStore(places.settings)
    ours.replace(ours.value.with_recent("/old"))
    assert main(["clear", "--recent"]) == 0
    ours.replace(ours.value.with_recent("/new"))
    assert ours.value.recent == ("/new",)


def test_notes_of_file_dialogs_go_with_the_list(places: Places) -> None:
    places.settings.parent.mkdir(parents=True)
    for path in (places.qt_settings, places.settings.with_name("settings.json.broken")):
        path.write_text("/home/anna")
    assert main(["clear", "--recent"]) == 0
    assert not any(b"anna" in data for data in content(places.settings.parent).values())


def test_a_projects_caches_go_and_nothing_else(project: Path) -> None:
    with open_workspace(project) as workspace:
        workspace.save_layout(workspace.views()[0][:, :2])
        workspace.save_stage("step-compared", {}, {})
    (project / ".a3s-new-0123").mkdir()
    before = content(project)
    assert main(["clear", "--project", str(project)]) == 0
    after = content(project)
    gone = before.keys() - after.keys()
    assert gone
    assert {name.split("-")[0] for name in gone} == {"artifacts/layout", "artifacts/step"}
    assert all(after[name] == data for name, data in before.items() if name not in gone and name != "lock")
    assert not (project / ".a3s-new-0123").exists()
    with open_workspace(project) as workspace:
        assert workspace.load_layout() is None


def test_a_project_that_is_open_elsewhere_keeps_its_caches(project: Path) -> None:
    with open_workspace(project) as workspace:
        workspace.save_layout(workspace.views()[0][:, :2])
        with pytest.raises(ProjectLockedError):
            clear_project(project)
        assert clear_project(project, ours=True).problem == ""
        assert workspace.load_layout() is None


def test_a_folder_that_is_no_project_is_refused(tmp_path: Path) -> None:
    (tmp_path / "artifacts" / "layout-1").mkdir(parents=True)
    with pytest.raises(ProjectError):
        clear_project(tmp_path)
    assert (tmp_path / "artifacts" / "layout-1").exists()


def test_demos_go_but_the_one_that_is_open(places: Places, tmp_path: Path) -> None:
    kept = make_project(tmp_path / "x")
    places.demos.mkdir(parents=True)
    (places.demos / "digits").mkdir()
    (places.demos / "digits" / "1.png").write_bytes(b"1")
    (places.demos / "ladybirds").mkdir()
    (places.demos / "ladybirds" / "1.png").write_bytes(b"1")
    kept.rename(places.demos / "ladybirds-project")
    with open_workspace(places.demos / "ladybirds-project"):
        done = clear_demos(places.demos)
        assert "already open" in done.problem
        assert {path.name for path in places.demos.iterdir()} == {"ladybirds", "ladybirds-project"}
    assert clear_demos(places.demos).problem == ""
    assert not places.demos.exists()


def test_a_link_is_removed_and_not_followed(places: Places, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "a.png").write_bytes(b"1")
    places.demos.mkdir(parents=True)
    (places.demos / "link").symlink_to(tmp_path / "precious")
    assert clear_demos(places.demos).size < 1000
    assert (tmp_path / "precious" / "a.png").exists()


def test_a_dry_run_says_where_and_removes_nothing(
    places: Places, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ThumbnailStore(places.thumbnails, 10_000_000)
    fill(store, 64)
    store.close()
    before = content(places.thumbnails.parent)
    assert main(["clear", "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert all(str(path) in said for path in (places.thumbnails, places.logs, places.settings, places.demos))
    assert "1.3 MB" in said
    assert content(places.thumbnails.parent) == before


def test_without_options_demos_and_projects_stay(places: Places, project: Path) -> None:
    places.demos.mkdir(parents=True)
    (places.demos / "digits").write_bytes(b"1")
    before = content(project)
    assert main(["clear"]) == 0
    assert (places.demos / "digits").exists()
    assert content(project) == before


def test_what_cannot_be_removed_is_said(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    (places.logs / "a3s-desktop.log").mkdir(parents=True)
    assert main(["clear", "--logs"]) == 1
    assert "a3s-desktop.log" in capsys.readouterr().err
