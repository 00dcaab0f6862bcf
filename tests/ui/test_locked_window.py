"""A project that somebody else has open, in the real window: another process, one that crashed, another computer."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from a3s_desktop.settings import SettingsStore
from a3s_desktop.ui.dialogs import MessageDialog
from a3s_desktop.ui.jobs import Worker
from a3s_desktop.ui.label_parts import Banner
from a3s_desktop.ui.program import Program
from tests.ui.pair_project import make_project

HOLD = """
import sys, pathlib
from a3s_desktop.session.opening import open_session
session, _ = open_session(pathlib.Path(sys.argv[1])); print("open", flush=True); sys.stdin.read(); session.close()
"""


class Desk:
    """The program, asked to open a project."""

    def __init__(self, qtbot: QtBot, folder: Path) -> None:
        self.qtbot = qtbot
        self.program = Program(SettingsStore(None), folder / "demos", with_map=False)
        self.program.help.offers_tour = False
        self.bridge, self.window = self.program.bridge, self.program.window
        with qtbot.waitActive(self.window):
            self.program.show()

    def until(self, condition: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(condition, timeout=20_000)

    def dialogs(self) -> list[MessageDialog]:
        return [one for one in self.window.findChildren(MessageDialog) if one.isVisible()]

    def dialog(self, title: str) -> MessageDialog:
        """The one dialog that is to be seen."""
        self.until(lambda: [one.windowTitle() for one in self.dialogs()] == [title])
        return self.dialogs()[0]

    def open(self, project: Path) -> None:
        self.program.shell.open_project(project)

    def opened(self) -> bool:
        """Until a pair can be answered, or looked at; whether it can be answered."""
        self.until(lambda: self.bridge.state is not None and self.bridge.phase in ("asking", "finished"))
        assert self.bridge.state is not None
        if not self.bridge.state.read_only:
            self.until(lambda: self.program.label.ready)
        return not self.bridge.state.read_only

    def banner(self) -> str:
        found = self.program.label.findChild(Banner)
        assert isinstance(found, Banner)
        return found.text

    def answers(self) -> int:
        assert self.bridge.state is not None
        return self.bridge.state.answers

    def close(self) -> None:
        self.program.shutdown()
        self.qtbot.wait(1)


@pytest.fixture
def desk(qtbot: QtBot, tmp_path: Path) -> Iterator[Desk]:
    made = Desk(qtbot, tmp_path)
    yield made
    made.close()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_project(tmp_path_factory.mktemp("locked"))


@pytest.fixture
def other(project: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that has the project open."""
    with subprocess.Popen([sys.executable, "-c", HOLD, project], stdin=-1, stdout=-1) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"open\n"
        yield process
        process.kill()


def describe(project: Path, silent: float, token: str = "other") -> bytes:
    """Another computer took the lock, and was heard last so many seconds ago."""
    beat = time.time() - silent
    facts = {"host": "lab-laptop", "pid": 77, "time": beat - 3600, "beat": beat, "token": token}
    (project / "lock").write_text(json.dumps(facts))
    return (project / "lock").read_bytes()


def test_the_second_opener_reads_and_is_told_who_and_since_when(
    desk: Desk, project: Path, other: subprocess.Popen[bytes]
) -> None:
    desk.open(project)
    dialog = desk.dialog("Project in use")
    since = time.strftime("%Y-%m-%d")
    assert f"process {other.pid} on " in dialog.message.text()
    assert f" since {since} " in dialog.message.text()
    assert set(dialog.buttons) == {"close", "read"}
    dialog.buttons["read"].click()
    assert not desk.opened()
    assert f"process {other.pid} on " in desk.banner()
    assert f" since {since} " in desk.banner()
    assert desk.window.read_only_label.isVisible()
    before = desk.answers()
    QTest.keyClick(desk.program.label, Qt.Key.Key_F)
    desk.qtbot.wait(50)
    assert desk.answers() == before


def test_a_lock_that_a_crash_left_holds_nobody_up(desk: Desk, project: Path, other: subprocess.Popen[bytes]) -> None:
    other.kill()
    other.wait()
    assert (project / "lock").read_bytes().strip(), "it could not take its name away"
    desk.open(project)
    assert desk.opened()
    assert not desk.dialogs()


def test_reading_what_a_crash_left_names_nobody(desk: Desk, project: Path, other: subprocess.Popen[bytes]) -> None:
    other.kill()
    other.wait()
    desk.program.shell.open_project(project, read_only=True)
    assert not desk.opened()
    assert desk.banner() == "Read-only: you can look and export; answers are not taken."


def test_another_computer_that_works_there_cannot_be_taken_over(desk: Desk, project: Path) -> None:
    describe(project, 30.0)
    desk.open(project)
    dialog = desk.dialog("Project in use")
    assert "process 77 on lab-laptop since" in dialog.message.text()
    assert "it can be taken over in 5 minutes" in dialog.hint.text()
    assert set(dialog.buttons) == {"close", "read"}
    dialog.buttons["read"].click()
    assert not desk.opened()
    assert "process 77 on lab-laptop since" in desk.banner()


def test_a_silent_one_is_taken_over_after_a_second_question(desk: Desk, project: Path) -> None:
    theirs = describe(project, 3600.0)
    for answer in ("close", "take"):
        desk.open(project)
        dialog = desk.dialog("Project in use")
        assert "no sign of life" in dialog.hint.text()
        dialog.buttons["take"].click()
        sure = desk.dialog("Take over the project")
        assert "Is it sure" in sure.message.text()
        assert (project / "lock").read_bytes() == theirs
        sure.buttons[answer].click()
    assert desk.opened()
    desk.window.activateWindow()
    desk.until(desk.window.isActiveWindow)
    QTest.keyClick(desk.program.label, Qt.Key.Key_F)
    desk.until(lambda: desk.answers() > 0 and desk.program.label.ready)
    assert b"lab-laptop" not in (project / "lock").read_bytes()


def test_one_who_was_taken_over_is_told_at_the_next_answer(desk: Desk, project: Path) -> None:
    desk.open(project)
    assert desk.opened()
    before, question = desk.answers(), desk.program.label.question
    theirs = describe(project, 0.0)
    QTest.keyClick(desk.program.label, Qt.Key.Key_F)
    desk.until(lambda: bool(desk.banner() or desk.dialogs()))
    said = desk.banner() + "".join(one.message.text() for one in desk.dialogs())
    assert "taken over by process 77 on lab-laptop" in said
    assert "not kept" in said
    assert (desk.answers(), desk.program.label.question) == (before, question)
    for one in desk.dialogs():
        one.reject()
    desk.bridge.close_project()
    desk.until(lambda: desk.bridge.phase == "closed")
    desk.until(lambda: not desk.program.jobs.busy(Worker.ENGINE))
    assert (project / "lock").read_bytes() == theirs
    (project / "lock").write_bytes(b"")
