"""The whole program without a mouse: from the start page over a new project, answers, panels and export to the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QLineEdit
from pytestqt.qtbot import QtBot

from a3s_desktop.settings import SettingsStore
from a3s_desktop.ui.export_dialog import ExportDialog
from a3s_desktop.ui.help_window import HelpWindow
from a3s_desktop.ui.program import Program
from a3s_desktop.ui.shortcut_editor import ShortcutEditor
from tests.ui.pair_project import make_project

Key, CTRL, ALT, SHIFT = (
    Qt.Key,
    *(getattr(Qt.KeyboardModifier, f"{name}Modifier") for name in ("Control", "Alt", "Shift")),
)
NONE = Qt.KeyboardModifier.NoModifier


class Hands:
    """Keys go to whatever has the focus, as they do for a person."""

    def __init__(self, qtbot: QtBot, program: Program) -> None:
        self.qtbot = qtbot
        self.program = program

    def press(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = NONE) -> None:
        if QApplication.activeWindow() is None:
            self.back_to_window()
        QTest.keyClick(QApplication.focusWidget() or QApplication.activeWindow(), key, modifiers)

    def type(self, text: str) -> None:
        QTest.keyClicks(QApplication.focusWidget(), text)

    def until(self, condition: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(condition, timeout=15_000)

    def tab_to(self, wanted: Callable[[], bool], most: int = 60) -> None:
        for _ in range(most):
            if wanted():
                return
            self.press(Key.Key_Tab)
        raise AssertionError(f"Tab does not lead there; it ends at {QApplication.focusWidget()}")

    def dialog(self, kind: type[QDialog]) -> QDialog:
        def active() -> bool:
            if QApplication.activeWindow() is None:  # off the screen no window manager gives the focus to a new window
                for window in QApplication.topLevelWidgets():
                    if isinstance(window, kind) and window.isVisible():
                        window.activateWindow()
            return isinstance(QApplication.activeWindow(), kind)

        self.until(active)
        found = QApplication.activeWindow()
        assert isinstance(found, QDialog)
        return found

    def back_to_window(self) -> None:
        """Off the screen no window manager gives the focus back when a dialog closes, or is deleted later."""
        window = self.program.window
        self.until(lambda: not any(isinstance(w, QDialog) and w.isVisible() for w in QApplication.topLevelWidgets()))

        def active() -> bool:
            window.activateWindow()  # again, where a dialog that is going takes it once more
            return window.isActiveWindow()

        self.until(active)


@pytest.fixture
def hands(qtbot: QtBot, tmp_path: Path) -> Iterator[Hands]:
    program = Program(SettingsStore(None), tmp_path / "demos")
    with qtbot.waitActive(program.window):
        program.show()
        program.window.activateWindow()
    yield Hands(qtbot, program)
    program.shutdown()


def test_the_whole_way_without_a_mouse(hands: Hands, tmp_path: Path) -> None:
    make_project(tmp_path / "data")
    _new_project(hands, tmp_path)
    _answer(hands)
    _panels(hands)
    _keys_and_help(hands)
    _export(hands, tmp_path)
    _close(hands)


def _new_project(hands: Hands, folder: Path) -> None:
    page = hands.program.pages.new
    hands.press(Key.Key_N, CTRL)
    hands.until(page.images.edit.hasFocus)
    hands.type(str(folder / "data" / "images"))
    hands.tab_to(page.features.add_button.hasFocus)
    hands.press(Key.Key_Space)
    chooser = hands.dialog(QFileDialog)
    name = chooser.findChild(QLineEdit, "fileNameEdit")
    assert name is not None
    name.setFocus()
    hands.type(str(folder / "data" / "features.npy"))
    hands.until(lambda: chooser.selectedFiles()[0].endswith("features.npy"))
    hands.press(Key.Key_Return)
    hands.back_to_window()
    assert page.features.paths() == (folder / "data" / "features.npy",)
    hands.tab_to(page.name.hasFocus)
    hands.press(Key.Key_A, CTRL)
    hands.type("fj keys are letters here")
    hands.tab_to(page.location.edit.hasFocus)
    hands.press(Key.Key_A, CTRL)
    hands.type(str(folder))
    hands.until(page.panel.confirm.isVisible)
    hands.tab_to(page.panel.confirm.hasFocus)
    hands.press(Key.Key_Space)
    hands.until(page.create_button.isEnabled)
    hands.tab_to(page.create_button.hasFocus)
    hands.press(Key.Key_Space)
    hands.until(lambda: hands.program.label.ready)
    assert hands.program.label.hasFocus(), "the keys go to the pair at once"


def _answer(hands: Hands) -> None:
    bridge, label = hands.program.bridge, hands.program.label

    def answers() -> int:
        return bridge.state.answers if bridge.state is not None else -1

    for count, key in enumerate((Key.Key_J, Key.Key_F, Key.Key_Right), 1):
        hands.press(key)
        hands.until(lambda count=count: answers() == count and label.ready)
    hands.press(Key.Key_Z, CTRL)
    hands.until(lambda: answers() == 2 and label.ready)
    hands.press(Key.Key_U)
    hands.until(lambda: answers() == 1 and label.ready)
    hands.press(Key.Key_Y, CTRL)
    hands.until(lambda: answers() == 2 and label.ready)


def _panels(hands: Hands) -> None:
    window = hands.program.window
    for key, name in ((Key.Key_M, "map"), (Key.Key_H, "history"), (Key.Key_G, "cluster")):
        dock = window.dock(name)
        shown = not dock.visibleRegion().isEmpty()
        hands.press(key, CTRL)
        hands.until(lambda dock=dock, shown=shown: dock.visibleRegion().isEmpty() == shown)
        hands.press(key, CTRL)
        hands.until(lambda dock=dock, shown=shown: dock.visibleRegion().isEmpty() != shown)
    for key in (Key.Key_M, Key.Key_H):
        if window.dock({Key.Key_M: "map", Key.Key_H: "history"}[key]).visibleRegion().isEmpty():
            hands.press(key, CTRL)
    parts = hands.program.parts.parts()
    assert len(parts) > 1
    seen = set()
    for _ in parts:
        hands.press(Key.Key_F6)
        focus = QApplication.focusWidget()
        seen |= {part for part in parts if part is focus or part.isAncestorOf(focus)}
    assert seen == set(parts)
    assert window.pages.isAncestorOf(QApplication.focusWidget()), "back at the pair"
    hands.press(Key.Key_F6, SHIFT)
    assert not window.pages.isAncestorOf(QApplication.focusWidget())
    hands.press(Key.Key_F6)


def _keys_and_help(hands: Hands) -> None:
    hands.press(Key.Key_K, CTRL)
    editor = hands.dialog(ShortcutEditor)
    hands.press(Key.Key_Return)  # the first row is "Same"
    hands.press(Key.Key_G)
    hands.press(Key.Key_S, ALT)
    assert not editor.isVisible() or editor.clashes()
    if editor.isVisible():  # G may be another tool's by default: this row keeps it
        hands.tab_to(editor.settle_button.hasFocus)
        hands.press(Key.Key_Space)
        hands.press(Key.Key_S, ALT)
    hands.back_to_window()
    assert "G" in hands.program.shortcuts.keys("answer.same")
    hands.press(Key.Key_F1)
    helper = hands.dialog(HelpWindow)
    hands.press(Key.Key_Down)
    assert helper.page != "answers"
    hands.press(Key.Key_Escape)
    hands.back_to_window()


def _export(hands: Hands, folder: Path) -> None:
    target = folder / "out.csv"
    hands.press(Key.Key_E, CTRL)
    dialog = hands.dialog(ExportDialog)
    assert isinstance(dialog, ExportDialog)
    hands.tab_to(dialog.path.hasFocus)
    hands.press(Key.Key_A, CTRL)
    hands.type(str(target))
    hands.press(Key.Key_Return)
    hands.until(target.is_file)
    hands.back_to_window()


def _close(hands: Hands) -> None:
    start = hands.program.pages.start
    hands.press(Key.Key_W, CTRL)
    hands.until(start.isVisible)
    hands.tab_to(start.list.hasFocus)
    hands.press(Key.Key_Return)
    hands.until(lambda: hands.program.label.ready)
    assert hands.program.bridge.state is not None
    assert hands.program.bridge.state.answers == 2
    hands.press(Key.Key_Q, CTRL)
    hands.until(lambda: not hands.program.window.isVisible())
