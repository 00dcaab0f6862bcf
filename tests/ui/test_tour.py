"""The tour on the real pair page: four steps, by keyboard, no key is an answer meanwhile, once for each user."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from a3s_desktop.settings import SettingsStore
from a3s_desktop.ui.program import Program
from a3s_desktop.ui.tour import STEPS, Tour, card_place
from tests.ui.pair_project import make_project


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_project(tmp_path_factory.mktemp("tour"))


@pytest.fixture
def program(qtbot: QtBot, tmp_path: Path, project: Path) -> Iterator[Program]:
    program = Program(SettingsStore(None), tmp_path)
    with qtbot.waitActive(program.window):
        program.show()
    program.shell.open_project(project)
    qtbot.waitUntil(lambda: program.label.ready, timeout=10_000)
    program.window.activateWindow()
    qtbot.waitUntil(program.window.isActiveWindow)
    yield program
    program.shutdown()


def begin(program: Program) -> Tour:
    program.shortcuts.action("help.tour").trigger()
    tour = program.help.tour
    assert tour is not None
    return tour


def press(key: Qt.Key) -> None:
    QTest.keyClick(QApplication.focusWidget() or QApplication.activeWindow(), key)


def test_four_steps_by_keyboard_to_the_end(program: Program, qtbot: QtBot) -> None:
    tour = begin(program)
    titles = []
    for number in range(len(STEPS)):
        assert tour.step == number
        assert str(number + 1) in tour.count.text()
        assert "{" not in tour.text.text()
        titles.append(tour.title.text())
        if number == 1:
            press(Qt.Key.Key_Backspace)
            assert tour.step == 0
            press(Qt.Key.Key_Return)
        with (
            qtbot.waitSignal(tour.ended, timeout=1000, raising=False)
            if number == 3
            else qtbot.assertNotEmitted(tour.ended)
        ):
            press(Qt.Key.Key_Return)
    assert len(set(titles)) == 4
    assert program.help.tour is None
    assert program.settings.value.tour_done


def test_no_key_is_an_answer_while_it_is_shown(program: Program) -> None:
    tour = begin(program)
    question = program.label.question
    for key in (Qt.Key.Key_F, Qt.Key.Key_J, Qt.Key.Key_U, Qt.Key.Key_Tab, Qt.Key.Key_F):
        press(key)
    assert program.label.question == question
    assert program.bridge.state is not None
    assert program.bridge.state.answers == 0
    press(Qt.Key.Key_Escape)
    assert program.help.tour is None
    assert not tour.isVisible()
    press(Qt.Key.Key_F)
    assert not program.label.ready, "answers again"


def test_it_names_the_user_s_own_keys(program: Program) -> None:
    program.settings.change(keys={"answer.same": ("F12",)})
    program.shortcuts.rebind()
    tour = begin(program)
    tour.forward()
    assert "F12" in tour.text.text()
    tour.skip()


def test_it_comes_by_itself_once(program: Program, qtbot: QtBot) -> None:
    program.help.offers_tour = True
    program.help._on_ready(True)
    qtbot.waitUntil(lambda: program.help.tour is not None)
    assert program.help.tour is not None
    program.help.tour.skip()
    assert program.settings.value.tour_done
    program.help.offers_tour = True
    program.help._on_ready(True)
    assert not program.help._soon.isActive()


def test_the_card_stays_on_the_window_and_off_what_it_shows() -> None:
    room = QRect(0, 0, 1280, 720)
    for hole in (QRect(0, 60, 900, 500), QRect(300, 650, 400, 60), QRect(900, 0, 380, 720), QRect(0, 0, 60, 40)):
        card = card_place(hole, room, 400, 190)
        assert room.contains(card), hole
        assert not card.intersects(hole) or (hole.width() > 480 and hole.height() > 330), hole
    assert card_place(QRect(), room, 400, 190).center() == room.center()
