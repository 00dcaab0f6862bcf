"""A demo as a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from a3s_desktop.demo import ladybirds, project
from a3s_desktop.demo.data import DemoData
from a3s_desktop.errors import InputError, ProjectError
from a3s_desktop.session.opening import open_session
from a3s_desktop.task import Task


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Small pictures instead of the demo's, and a list of the folders written."""
    written = []

    def write(folder: Path, task: Task) -> DemoData:
        written.append(folder)
        return ladybirds.write_demo(folder, individuals_count=6, photos=4, size=(48, 36), task=task)

    monkeypatch.setattr(project, "_WRITERS", {"ladybirds": write})
    return written


def test_a_demo_opens_at_its_first_question_and_is_made_once(quick: list[Path], tmp_path: Path) -> None:
    folder = project.demo_project("ladybirds", tmp_path / "new" / "demos", Task())
    session, report = open_session(folder)
    try:
        assert report.warnings == ()
        assert session.state.question is not None
    finally:
        session.close()
    assert project.demo_project("ladybirds", tmp_path / "new" / "demos", Task()) == folder
    assert len(quick) == 1


def test_an_unknown_demo_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="dinosaurs"):
        project.demo_project("dinosaurs", tmp_path, Task())


def test_something_else_in_the_way_is_left_alone(quick: list[Path], tmp_path: Path) -> None:
    (tmp_path / "ladybirds").mkdir()
    (tmp_path / "ladybirds" / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(ProjectError, match="ladybirds"):
        project.demo_project("ladybirds", tmp_path, Task())
    assert quick == []
