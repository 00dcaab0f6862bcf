"""Keys: from the table, by position where there are no Latin letters, never while text is typed or a list is walked."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

import pytest
from PySide6.QtCore import QEvent, QStringListModel, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QListView, QMainWindow, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from a3s_desktop.actions import Scope
from a3s_desktop.settings import SettingsStore
from a3s_desktop.ui.shortcuts import Shortcuts, letter_positions, native_text, position_sequence
from a3s_desktop.ui.theme import apply_theme

NONE = Qt.KeyboardModifier.NoModifier
CYRILLIC_A = 0x0410  # where F is on a US keyboard
F_CODE = {"linux": 41, "win32": 0x21, "darwin": 3}


@dataclass
class Desk:
    window: QMainWindow
    page: QWidget
    edit: QLineEdit
    list: QListView
    shortcuts: Shortcuts
    settings: SettingsStore
    fired: list[str] = field(default_factory=list)


@pytest.fixture
def desk(qtbot: QtBot) -> Desk:
    settings = SettingsStore()
    window, page, edit, listing = QMainWindow(), QWidget(), QLineEdit(), QListView()
    listing.setModel(QStringListModel(["one", "two", "three"], listing))
    shortcuts = Shortcuts(settings, window)
    layout = QVBoxLayout(page)
    layout.addWidget(edit)
    layout.addWidget(listing)
    page.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    page.addActions(shortcuts.actions(Scope.PAIR))
    window.setCentralWidget(page)
    shortcuts.attach(window)
    desk = Desk(window, page, edit, listing, shortcuts, settings)
    for name in ("answer.same", "answer.different", "answer.skip", "edit.undo", "edit.redo", "view.zoom_in"):
        shortcuts.action(name).triggered.connect(lambda _checked=False, name=name: desk.fired.append(name))
    qtbot.addWidget(window)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    page.setFocus()
    return desk


def press(widget: QWidget, key: int, code: int, modifiers: Qt.KeyboardModifier = NONE, repeat: bool = False) -> bool:
    """What Qt sends first for each key: may a widget take it instead of a shortcut?"""
    event = QKeyEvent(QEvent.Type.ShortcutOverride, key, modifiers, code, code, 0, "а", repeat)
    event.ignore()
    QApplication.sendEvent(widget, event)
    return event.isAccepted()


@pytest.mark.parametrize(
    ("key", "modifiers", "name"),
    [
        (Qt.Key.Key_F, NONE, "answer.same"),
        (Qt.Key.Key_Left, NONE, "answer.same"),
        (Qt.Key.Key_J, NONE, "answer.different"),
        (Qt.Key.Key_Right, NONE, "answer.different"),
        (Qt.Key.Key_Space, NONE, "answer.skip"),
        (Qt.Key.Key_U, NONE, "edit.undo"),
        (Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier, "edit.undo"),
        (Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier, "edit.redo"),
    ],
)
def test_keys_reach_their_action(desk: Desk, key: Qt.Key, modifiers: Qt.KeyboardModifier, name: str) -> None:
    QTest.keyClick(desk.page, key, modifiers)
    assert desk.fired == [name]


def test_typing_is_typing(desk: Desk) -> None:
    desk.edit.setFocus()
    QTest.keyClicks(desk.edit, "fj u")
    QTest.keyClick(desk.edit, Qt.Key.Key_Left)
    QTest.keyClick(desk.edit, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert press(desk.edit, CYRILLIC_A, F_CODE["linux"]), "the field takes the letter"
    assert desk.fired == []


def test_arrows_walk_a_list_that_has_the_focus_but_letters_answer(desk: Desk) -> None:
    desk.list.setFocus()
    QTest.keyClick(desk.list, Qt.Key.Key_Left)
    assert desk.fired == []
    QTest.keyClick(desk.list, Qt.Key.Key_F)
    QTest.keyClick(desk.list, Qt.Key.Key_Space)
    assert desk.fired == ["answer.same", "answer.skip"]


@pytest.mark.parametrize("platform", ["linux", "win32", "darwin"])
def test_positions_of_the_three_systems(platform: str) -> None:
    positions = letter_positions(platform)
    assert sorted(positions.values()) == [chr(c) for c in range(ord("A"), ord("Z") + 1)]
    code = F_CODE[platform]
    event = QKeyEvent(QEvent.Type.KeyPress, CYRILLIC_A, NONE, code, code, 0, "а")
    assert position_sequence(event, positions, platform) == "F"
    latin = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_U, NONE, code, code, 0, "u")
    assert position_sequence(latin, positions, platform) == "", "on Dvorak the letter decides"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="uses the codes of X11 and Wayland")
class TestPositions:
    def test_a_cyrillic_letter_answers_by_its_place(self, desk: Desk) -> None:
        assert press(desk.page, CYRILLIC_A, 41)
        assert press(desk.page, 0x041E, 44)  # О on the place of J
        assert press(desk.page, 0x042F, 52, Qt.KeyboardModifier.ControlModifier)  # Я on the place of Z
        assert desk.fired == ["answer.same", "answer.different", "edit.undo"]

    def test_a_held_key_counts_once(self, desk: Desk) -> None:
        press(desk.page, CYRILLIC_A, 41)
        for _ in range(5):
            press(desk.page, CYRILLIC_A, 41, repeat=True)
        assert desk.fired == ["answer.same"]

    def test_a_disabled_action_does_not_answer(self, desk: Desk) -> None:
        desk.shortcuts.action("answer.same").setEnabled(False)
        assert press(desk.page, CYRILLIC_A, 41), "and the key reaches nothing else"
        assert desk.fired == []

    def test_nothing_answers_while_the_pair_page_is_hidden(self, desk: Desk) -> None:
        desk.window.setCentralWidget(QWidget())
        press(desk.window, CYRILLIC_A, 41)
        assert desk.fired == []


def test_a_held_key_does_not_repeat(desk: Desk) -> None:
    QTest.keyPress(desk.page, Qt.Key.Key_F)
    for _ in range(5):
        event = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_F, NONE, "f", True)
        QApplication.sendEvent(desk.page, event)
    assert desk.fired == ["answer.same"]
    assert desk.shortcuts.action("view.zoom_in").autoRepeat()
    assert not desk.shortcuts.action("answer.same").autoRepeat()


def test_new_keys_are_taken_over_and_clashes_named(desk: Desk) -> None:
    desk.settings.change(keys={"answer.same": ("Y",)})
    desk.shortcuts.rebind()
    QTest.keyClick(desk.page, Qt.Key.Key_F)
    QTest.keyClick(desk.page, Qt.Key.Key_Y)
    assert desk.fired == ["answer.same"]
    assert "(Y)" in desk.shortcuts.action("answer.same").toolTip()
    desk.settings.change(keys={"answer.same": ("J",)})
    assert desk.shortcuts.clashes() == {"j": ("answer.same", "answer.different")}


def test_icons_follow_a_change_of_theme(desk: Desk, qapp: QApplication, qtbot: QtBot) -> None:
    def lightest() -> int:
        image = desk.shortcuts.action("panel.map").icon().pixmap(18, 18).toImage()
        points = [image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height())]
        return max(colour.lightness() for colour in points if colour.alpha() > 200)

    apply_theme(qapp, "light")
    qtbot.waitUntil(lambda: lightest() < 100)  # the icons come in turns
    apply_theme(qapp, "dark")
    qtbot.waitUntil(lambda: lightest() > 180)
    apply_theme(qapp, "light")


def test_keys_as_people_read_them() -> None:
    assert native_text("Left") == "←"
    assert native_text("Space") == "Space"
