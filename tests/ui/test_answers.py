"""All answers of the pair page by key, what they would do before the key, and what cannot go wrong with them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QEvent, QRect, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from a3s_desktop.core.types import Answer, Reason
from a3s_desktop.session.opening import create_project
from a3s_desktop.session.operations import Junk
from a3s_desktop.session.state import Consequence, QuestionView
from a3s_desktop.settings import SettingsStore
from a3s_desktop.storage.spec import ProjectSpec
from a3s_desktop.task import Task
from a3s_desktop.ui.finished_panel import FinishedPanel
from a3s_desktop.ui.label_consequence import READ_MS, ConsequenceLine, effect_text, guessed
from a3s_desktop.ui.label_parts import AnswerButton
from a3s_desktop.ui.pair_area import PairArea
from tests.ui.pair_project import Desk, make_desk, make_project

ACTIONS = {
    "answer.same": (Answer.SAME, Qt.Key.Key_F, 41),
    "answer.different": (Answer.DIFFERENT, Qt.Key.Key_J, 44),
    "answer.skip": (Answer.SKIP, Qt.Key.Key_Space, 65),
    "answer.incomparable": (Answer.INCOMPARABLE, Qt.Key.Key_N, 57),
    "answer.junk_left": (Answer.JUNK_LEFT, Qt.Key.Key_Z, 52),
    "answer.junk_right": (Answer.JUNK_RIGHT, Qt.Key.Key_X, 53),
    "answer.junk_both": (Answer.JUNK_BOTH, Qt.Key.Key_C, 54),
}
CYRILLIC = {41: "а", 44: "о", 57: "т", 52: "я", 53: "ч", 54: "с"}  # what a Russian layout types there


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_project(tmp_path_factory.mktemp("answers"))


@pytest.fixture
def project(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "project")


@pytest.fixture
def desk(qtbot: QtBot) -> Iterator[Desk]:
    desk = make_desk(qtbot)
    yield desk
    desk.close()


def given(desk: Desk) -> tuple[int, ...]:
    state = desk.bridge.state
    assert state is not None
    return state.same, state.different, state.skipped, state.incomparable, state.junk


def line(desk: Desk) -> ConsequenceLine:
    found = desk.page.findChild(ConsequenceLine)
    assert found is not None
    return found


def foreseen(desk: Desk) -> ConsequenceLine:
    """Once the answers to the pair on screen have been tried out."""
    found = line(desk)
    question = desk.page.question
    assert question is not None
    guess = {one.answer: one for one in guessed(question)}
    desk.until(lambda: any(found._found.get(answer) != guess[answer] for answer in guess))
    return found


def to_a_merge(desk: Desk) -> QuestionView:
    """Skip until two clusters are compared."""
    for _ in range(60):
        question = desk.page.question
        assert question is not None
        if question.left_cluster != question.right_cluster:
            return question
        QTest.keyClick(desk.page, Qt.Key.Key_Space)
        desk.until(lambda: not desk.page.ready)
        desk.until(desk.waits)
    raise AssertionError("no merge was asked")


# --- keys


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="uses the codes of X11 and Wayland")
@pytest.mark.parametrize("name", [name for name, (*_, code) in ACTIONS.items() if code in CYRILLIC])
def test_each_answer_by_its_place_on_a_cyrillic_keyboard(desk: Desk, project: Path, name: str) -> None:
    desk.open(project)
    before, (_, _, code) = given(desk), ACTIONS[name]
    letter = CYRILLIC[code]
    for repeat in (False, True, True):
        event = QKeyEvent(
            QEvent.Type.ShortcutOverride, ord(letter.upper()), Qt.KeyboardModifier.NoModifier, code, code, 0, letter,
            repeat,
        )  # fmt: skip
        QApplication.sendEvent(desk.page, event)
    desk.until(lambda: given(desk) != before)
    desk.until(desk.waits)
    after = given(desk)
    junk = 2 if name == "answer.junk_both" else 1
    assert sum(after) - sum(before) == (junk if name.startswith("answer.junk") else 1), "a held key counts once"


@pytest.mark.parametrize("name", list(ACTIONS))
def test_a_held_key_counts_once_and_typing_not_at_all(desk: Desk, project: Path, name: str) -> None:
    answer, key, _ = ACTIONS[name]
    desk.open(project)
    field = QLineEdit(desk.page)
    field.show()
    field.setFocus()
    QTest.keyClick(field, key)
    desk.qtbot.wait(20)
    assert given(desk) == (0, 0, 0, 0, 0)
    assert field.text()
    field.hide()
    desk.page.setFocus()
    question = desk.page.question
    assert question is not None
    QTest.keyPress(desk.page, key)
    desk.until(lambda: not desk.page.ready)
    for _ in range(10):
        QApplication.sendEvent(
            desk.page, QKeyEvent(QEvent.Type.KeyPress, key, Qt.KeyboardModifier.NoModifier, "", True)
        )
        desk.qtbot.wait(10)
    desk.until(desk.waits)
    assert sum(given(desk)) == max(1, len(answer.junked(question.left, question.right)))


def test_every_answer_has_a_button_with_icon_tip_and_key(desk: Desk, project: Path) -> None:
    desk.open(project)
    buttons = {button.accessibleName(): button for button in desk.page.findChildren(AnswerButton)}
    for name in ACTIONS:
        action = desk.shortcuts.action(name)
        button = buttons[action.text()]
        assert not button.icon().isNull()
        assert not action.icon().isNull()
        assert desk.shortcuts.keys(name)[0] in button.toolTip()
        assert desk.shortcuts.spec(name).tip in button.toolTip()


def test_a_pair_behind_another_page_is_not_answered(desk: Desk, project: Path) -> None:
    desk.open(project)
    desk.page.hide()
    assert not desk.page.ready
    for name in ACTIONS:
        desk.shortcuts.action(name).trigger()
    desk.qtbot.wait(20)
    assert given(desk) == (0, 0, 0, 0, 0)
    desk.page.show()
    desk.until(lambda: desk.page.ready)


# --- consequences


def consequence(before: tuple[int, ...], after: tuple[int, ...], saves: int | None = None, **more: int) -> Consequence:
    return Consequence(Answer.SAME, before, after, more.get("moved", 0), more.get("elsewhere", 0), saves)


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (consequence((40, 12), (52,), 9), "40 + 12 images become one; saves about 9 questions"),
        (consequence((40, 12), (40, 12), 1), "stays two"),
        (consequence((1, 1), (2,)), "the two single images become one cluster"),
        (consequence((52,), (52,), -4), "the 52 images stay together; brings up about 4 questions"),
        (consequence((52,), (40, 12)), "52 images become 40 + 12"),
        (consequence((52,), ()), "the 52 images become two clusters"),
        (consequence((40, 12), (50, 2)), "40 + 12 images become 50 + 2"),
        (consequence((3, 2), (5,), 33, elsewhere=7), "3 + 2 images become one; 7 other images move too; "
         "saves about 35 questions"),
        (consequence((1200, 40), (1240,), 1), "1,200 + 40 images become one"),
    ],
)  # fmt: skip
def test_consequences_in_words(found: Consequence, text: str) -> None:
    assert effect_text(found) == text


def test_both_consequences_stand_there_before_the_key_and_come_true(desk: Desk, project: Path) -> None:
    desk.open(project)
    question = to_a_merge(desk)
    left, right = question.left_size, question.right_size
    found = foreseen(desk)
    assert found.isVisible()
    assert found.text(Answer.DIFFERENT).startswith("Different: stays two")
    expected = "the two single images become one" if (left, right) == (1, 1) else f"{max(left, right)} + "
    assert found.text(Answer.SAME).startswith(f"Same: {expected}")
    tried = found._found[Answer.SAME]
    moved: list[int] = []
    desk.bridge.stateChanged.connect(lambda _state, change: moved.append(len(change.moved)))
    QTest.keyClick(desk.page, Qt.Key.Key_F)
    desk.until(lambda: bool(moved))
    desk.until(desk.waits)
    assert moved == [tried.moved]


def test_nothing_moves_when_consequences_arrive_or_pairs_change(desk: Desk, project: Path) -> None:
    desk.open(project)
    area = desk.page.findChild(PairArea)

    def places() -> list[QRect]:
        widgets = [line(desk), area.left.pane, area.right.pane, *desk.page.findChildren(AnswerButton)]
        return [QRect(w.mapTo(desk.page, w.rect().topLeft()), w.size()) for w in widgets]

    start = places()
    for _ in range(5):
        foreseen(desk)
        assert places() == start
        QTest.keyClick(desk.page, Qt.Key.Key_F if desk.truth() is Answer.SAME else Qt.Key.Key_J)
        desk.until(lambda: not desk.page.ready)
        desk.until(desk.waits)
        assert places() == start


# --- confirming what is large


@pytest.fixture
def careful(qtbot: QtBot, project: Path) -> Iterator[Desk]:
    store = SettingsStore()
    store.change(confirm_from=1)
    desk = make_desk(qtbot, store)
    desk.open(project)
    to_a_merge(desk)
    yield desk
    desk.close()


def test_a_large_step_is_asked_for_once_more(careful: Desk) -> None:
    before, geometry = given(careful), line(careful).geometry()
    QTest.keyClick(careful.page, Qt.Key.Key_F)
    found = line(careful)
    assert found.armed is Answer.SAME
    assert found.demand.startswith("F once more confirms: ")
    assert found.demand.endswith("Esc goes back.")
    assert found.geometry() == geometry
    QTest.keyClick(careful.page, Qt.Key.Key_F)
    careful.qtbot.wait(20)
    assert given(careful) == before, "a double tap has not read it"
    careful.qtbot.wait(READ_MS)
    event = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_F, Qt.KeyboardModifier.NoModifier, "f", True)
    QApplication.sendEvent(careful.page, event)
    careful.qtbot.wait(20)
    assert given(careful) == before, "a held key does not confirm"
    QTest.keyClick(careful.page, Qt.Key.Key_F)
    careful.until(lambda: given(careful)[0] == before[0] + 1)
    careful.until(careful.waits)
    assert line(careful).demand == ""


def test_escape_goes_back_and_another_answer_counts_at_once(careful: Desk) -> None:
    before = given(careful)
    QTest.keyClick(careful.page, Qt.Key.Key_F)
    QTest.keyClick(careful.page, Qt.Key.Key_Escape)
    assert line(careful).armed is None
    assert careful.page.ready
    QTest.keyClick(careful.page, Qt.Key.Key_F)
    assert line(careful).armed is Answer.SAME, "after Esc it is asked anew"
    QTest.keyClick(careful.page, Qt.Key.Key_N)
    careful.until(lambda: given(careful)[3] == before[3] + 1)
    careful.until(careful.waits)
    assert given(careful)[0] == before[0]


def test_zero_switches_the_question_off(careful: Desk) -> None:
    before = given(careful)
    careful.settings.change(confirm_from=0)
    QTest.keyClick(careful.page, Qt.Key.Key_F)
    careful.until(lambda: given(careful)[0] == before[0] + 1)
    careful.until(careful.waits)


def test_a_large_division_is_asked_for_before_it_was_tried_out() -> None:
    question = QuestionView(1, 0, 1, Reason.PURITY, "?", 5, 5, 600, 600, (), (), 0.5)
    guess = {one.answer: one for one in guessed(question)}
    assert guess[Answer.DIFFERENT].moved == 300, "at most half of a cluster leaves it"
    assert guess[Answer.SAME].moved == 0


# --- junk, undo, small projects


def test_junk_comes_back_by_undo(desk: Desk, project: Path) -> None:
    desk.open(project)
    question = desk.page.question
    assert question is not None
    QTest.keyClick(desk.page, Qt.Key.Key_C)
    desk.until(lambda: given(desk)[4] == 2)
    desk.until(desk.waits)
    desk.bridge.undo()
    desk.until(lambda: given(desk)[4] == 0)
    desk.until(desk.waits)
    again = desk.page.question
    assert again is not None
    assert (again.left, again.right) == (question.left, question.right)


def test_undo_at_the_very_start_does_nothing(desk: Desk, project: Path) -> None:
    desk.open(project)
    question = desk.page.question
    desk.shortcuts.action("edit.undo").setEnabled(True)
    QTest.keyClick(desk.page, Qt.Key.Key_U)
    desk.bridge.undo()
    desk.qtbot.wait(30)
    assert desk.page.question == question
    assert desk.page.ready
    assert desk.errors == []


def test_all_images_junk_is_an_end_that_says_so(desk: Desk, project: Path) -> None:
    desk.open(project)
    desk.bridge.perform(Junk(tuple(range(36))))
    desk.until(lambda: desk.bridge.phase == "finished")
    panel = desk.page.findChild(FinishedPanel)
    assert panel is not None
    assert "All images are junk" in panel.text
    assert not panel.audit_button.isVisible()
    assert not panel.clusters_button.isVisible()
    assert panel.undo_button.isVisible()
    QTest.mouseClick(panel.undo_button, Qt.MouseButton.LeftButton)
    desk.until(lambda: desk.page.ready)
    assert given(desk)[4] == 0


@pytest.mark.parametrize("answer", ["truth", "answer.same", "answer.different", "answer.skip", "answer.junk_left"])
def test_three_images_answered_to_the_end(desk: Desk, tmp_path: Path, answer: str) -> None:
    images = tmp_path / "images"
    images.mkdir()
    for number, name in enumerate(("0-a", "0-b", "1-a")):
        Image.new("RGB", (60, 40), (80 * number, 90, 120)).save(images / f"{name}.png")
    np.save(tmp_path / "features.npy", np.array([[1.0, 0.0, 0.1], [0.9, 0.2, 0.0], [-1.0, 0.3, 0.5]], np.float32))
    create_project(ProjectSpec(tmp_path / "three", images, (tmp_path / "features.npy",)), Task()).close()
    desk.open(tmp_path / "three")
    for _ in range(10):
        if desk.bridge.phase == "finished":
            break
        name = answer if answer != "truth" else f"answer.{desk.truth().value}"
        QTest.keyClick(desk.page, ACTIONS[name][1])
        desk.until(lambda: not desk.page.ready)
        desk.until(desk.waits)
    assert desk.bridge.phase == "finished"
    panel = desk.page.findChild(FinishedPanel)
    assert panel is not None
    assert panel.isVisible()
    assert "Nothing left to ask" in panel.text
    assert "0 answers" not in panel.text
    if answer == "answer.junk_left":
        assert "All images but one are junk" in panel.text
    if answer == "answer.skip":
        assert "No two of 3 images are known to be the same." in panel.text
    assert desk.errors == []
