"""The start page: what is known of recent projects, and that no broken one stops the start."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from a3s_desktop.settings import SettingsStore
from a3s_desktop.task import Task
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.recent import ProjectCard, probe_project
from a3s_desktop.ui.recent_list import ago, facts
from a3s_desktop.ui.shortcuts import Shortcuts
from a3s_desktop.ui.start_page import StartPage
from tests.ui.pair_project import make_project


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    return make_project(tmp_path_factory.mktemp("start"))


@pytest.fixture
def page(qtbot) -> Iterator[StartPage]:
    loader = ImageLoader()
    page = StartPage(Shortcuts(SettingsStore(None)), loader)
    qtbot.addWidget(page)
    page.resize(1200, 700)
    page.show()
    yield page
    loader.shutdown()


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-5, "just now"), (30, "just now"), (60, "1 minute ago"), (7300, "2 hours ago"), (90000, "1 day ago"),
     (86400 * 65, "2 months ago"), (86400 * 800, "2 years ago")],
)  # fmt: skip
def test_how_long_ago(seconds, text):
    assert ago(1_000_000_000 - seconds, 1_000_000_000) == text


def test_facts_of_a_card():
    assert facts(ProjectCard(Path("p"), "p", 1200, 1, 999_999_000), 1e9) == "1,200 images · 1 answer · 16 minutes ago"
    assert facts(ProjectCard(Path("p"), "p", problem="Folder not found"), 1e9) == "Folder not found"
    assert facts(ProjectCard(Path("p"), "p"), 1e9) == ""


def test_a_whole_project_is_read_without_opening_it(project):
    card = probe_project(project, Task())
    assert (card.images, card.answers, card.problem) == (36, 0, "")
    assert card.picture is not None
    assert card.used > 0


@pytest.mark.parametrize(
    ("damage", "word"),
    [
        (lambda folder: shutil.rmtree(folder), "not found"),
        (lambda folder: (folder / "project.json").write_text("{"), "Cannot be read"),
        (lambda folder: (folder / "project.json").unlink(), "Cannot be read"),
        (lambda folder: (folder / "project.json").write_text('{"format": "a3s-project", "version": 99}'), "version"),
    ],
)
def test_a_broken_project_is_said_on_its_card(project, tmp_path, damage, word):
    copy = shutil.copytree(project, tmp_path / "copy")
    damage(copy)
    assert word in probe_project(copy, Task()).problem


def test_missing_parts_only_leave_gaps_on_the_card(project, tmp_path):
    copy = shutil.copytree(project, tmp_path / "copy")
    (copy / "items.json").write_bytes(b"\xff")
    (copy / "journal.sqlite").write_bytes(b"no database")
    card = probe_project(copy, Task())
    assert card.images == 0
    assert card.problem == ""


def test_enter_click_and_delete_on_the_list(page, qtbot, project):
    cards = [probe_project(project, Task()), ProjectCard(Path("/gone"), "gone", problem="Folder not found")]
    page.set_cards(cards)
    page.list.setFocus()
    page.list.setCurrentIndex(page.model.index(0))
    with qtbot.waitSignal(page.projectChosen) as caught:
        qtbot.keyClick(page.list, Qt.Key.Key_Return)
    assert caught.args == [project, False]
    with qtbot.waitSignal(page.projectChosen) as caught:
        where = page.list.visualRect(page.model.index(1)).center()
        qtbot.mouseClick(page.list.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert caught.args == [Path("/gone"), False]
    with qtbot.waitSignal(page.forgetRequested) as caught:
        qtbot.keyClick(page.list, Qt.Key.Key_Delete)
    assert caught.args == [Path("/gone")]


def test_the_list_paints_with_pictures_and_without(page, qtbot, project):
    page.set_cards([probe_project(project, Task()), ProjectCard(Path("/gone"), "gone", problem="Folder not found")])
    page.grab()
    qtbot.wait(200)  # the thumbnail arrives
    page.grab()
    page.update_card(ProjectCard(project, "Renamed", 5))
    assert page.model.index(0).data() == "Renamed"


def test_demos_are_asked_for_by_name(page, qtbot):
    with qtbot.waitSignal(page.demoRequested) as caught:
        page.demo_buttons["digits"].click()
    assert caught.args == ["digits"]
