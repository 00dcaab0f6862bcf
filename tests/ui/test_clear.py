"""Clearing private data in the window, while a project is open in it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from a3s_desktop.settings import SettingsStore
from a3s_desktop.storage.clearing import Kind
from a3s_desktop.storage.places import Places, user_places
from a3s_desktop.storage.thumbnails import Thumbnail
from a3s_desktop.ui.clear_dialog import ClearDialog
from a3s_desktop.ui.program import Program
from tests.ui.pair_project import make_project


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    return make_project(tmp_path_factory.mktemp("made"))


@pytest.fixture
def places() -> Places:
    return user_places()


@pytest.fixture
def program(qtbot, made, tmp_path, places):
    project = shutil.copytree(made, tmp_path / "project")
    settings = SettingsStore(places.settings)
    settings.replace(settings.value.with_recent("/former"))
    one = Program(settings, places.demos, thumbnail_file=places.thumbnails)
    one.show()
    one.shell.open_project(project)
    qtbot.waitUntil(lambda: one.label.ready, timeout=20_000)
    qtbot.waitUntil(lambda: any(project.glob("artifacts/layout-*")), timeout=20_000)
    store = one.loader._copies
    for number in range(64):
        store.put(number.to_bytes(16, "big"), Thumbnail(bytes(9000), 1, 1, False))
    places.logs.mkdir(parents=True)
    (places.logs / "a3s-desktop.log").write_text("opened /home/anna\n")
    yield one
    one.shutdown()
    qtbot.wait(1)  # what is to be deleted later goes


def opened(program, qtbot, dialog) -> ClearDialog:
    program.shortcuts.action("settings.clear").trigger()
    shown = dialog(ClearDialog)
    qtbot.waitUntil(lambda: bool(shown.boxes) and shown.clear_button.isEnabled(), timeout=20_000)
    return shown


def done(shown: ClearDialog, qtbot) -> None:
    qtbot.mouseClick(shown.clear_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(
        lambda: shown.outcome.text().startswith("Removed") and not shown.clear_button.isEnabled(), timeout=20_000
    )


def test_what_is_ticked_goes_and_the_work_goes_on(program, qtbot, dialog, places):
    project = program.bridge.project.folder
    shown = opened(program, qtbot, dialog)
    ticked = {kind for kind, box in shown.boxes.items() if box.isChecked()}
    assert ticked == {Kind.THUMBNAILS, Kind.LOGS, Kind.RECENT}
    shown.boxes[Kind.PROJECT].click()
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file() and path.name != "lock"}
    done(shown, qtbot)
    assert not shown.problem.isVisible()
    assert program.settings.value.recent == ()
    assert "/former" not in places.settings.read_text()
    assert (places.logs / "a3s-desktop.log").read_bytes() == b""
    assert program.loader._copies.is_empty()
    gone = {path for path in before if not path.exists()}
    assert {path.parent.name.split("-")[0] for path in gone} == {"layout"}
    assert all(path.read_bytes() == data for path, data in before.items() if path not in gone)
    assert not any(box.isEnabled() for kind, box in shown.boxes.items() if kind is not Kind.RECENT)
    shown.close()
    program.shortcuts.action("answer.same").trigger()
    qtbot.waitUntil(lambda: program.bridge.state.answers == 1, timeout=20_000)
    program.loader._copies.put(b"0" * 16, Thumbnail(bytes(9000), 1, 1, False))
    assert program.loader._copies.get(b"0" * 16) is not None


def test_a_second_window_goes_on(program, qtbot, dialog, places):
    """It has the same file of small copies open, and the same list."""
    other = Program(SettingsStore(places.settings), places.demos, thumbnail_file=places.thumbnails)
    other.show()
    assert other.loader._copies.get((3).to_bytes(16, "big")) is not None
    shown = opened(program, qtbot, dialog)
    done(shown, qtbot)
    shown.close()
    assert other.loader._copies.get((3).to_bytes(16, "big")) is None
    for number in range(40):
        other.loader._copies.put(number.to_bytes(16, "big"), Thumbnail(bytes(9000), 1, 1, False))
    other.settings.change(theme="dark")
    assert SettingsStore(places.settings).value.recent == ()
    other.shutdown()
    assert program.loader._copies.get((3).to_bytes(16, "big")) is not None


def test_the_start_page_forgets_at_once(program, qtbot, dialog):
    program.bridge.close_project()
    qtbot.waitUntil(lambda: not program.window.working, timeout=20_000)
    assert program.pages.start.model.rowCount() == 2
    shown = opened(program, qtbot, dialog)
    assert Kind.PROJECT not in shown.boxes
    done(shown, qtbot)
    assert program.pages.start.model.rowCount() == 0


def test_nothing_is_removed_before_it_is_asked_for(program, qtbot, dialog, places):
    shown = opened(program, qtbot, dialog)
    for box in shown.boxes.values():
        box.setChecked(False)
    assert not shown.clear_button.isEnabled()
    shown.close()
    assert (places.logs / "a3s-desktop.log").read_bytes()
    assert not program.loader._copies.is_empty()


def test_what_stays_is_said(program, qtbot, dialog, places):
    (places.logs / "a3s-desktop.log").unlink()
    (places.logs / "a3s-desktop.log").mkdir()
    (places.logs / "a3s-desktop.log" / "x").write_text("x")
    shown = opened(program, qtbot, dialog)
    done(shown, qtbot)
    assert shown.problem.isVisible()
    assert "a3s-desktop.log" in shown.problem.text()
