"""The keyboard goes elsewhere while keys are held, and comes back: another window, a lock over the screen."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ui.test_keys_x11 import F, J, Keyboard, U, keyboard, pytestmark, wait_for

__all__ = ["keyboard", "pytestmark"]

LOCK = """
import sys
from PySide6.QtCore import QTimer, Qt
from PySide6.QtWidgets import QApplication, QWidget

class Lock(QWidget):
    def keyPressEvent(self, event):
        print("key", event.text(), flush=True)

app = QApplication([])
lock = Lock(None, Qt.WindowType.X11BypassWindowManagerHint)
lock.resize(640, 480)
lock.show()
lock.grabKeyboard()
QTimer.singleShot(200, lambda: print("locked", int(lock.winId()), flush=True))
app.exec()
"""


class Locker:
    """A program that takes the keyboard for itself, as one that locks the screen does."""

    def __init__(self, keyboard: Keyboard, out: Path) -> None:
        self._out, self._keyboard = out, keyboard
        with out.open("w") as sink:
            self._program = subprocess.Popen(
                [sys.executable, "-c", LOCK], env={**keyboard.env, "QT_QPA_PLATFORM": "xcb"}, stdout=sink, text=True
            )

    def lines(self) -> list[str]:
        return self._out.read_text().splitlines()

    def wait(self, line: str) -> None:
        wait_for(lambda: any(one.startswith(line) for one in self.lines()))

    def end(self) -> None:
        self._program.kill()
        self._program.wait()


@pytest.fixture
def locker(keyboard: Keyboard, tmp_path: Path) -> Iterator[Locker]:
    locker = Locker(keyboard, tmp_path / "lock.txt")
    try:
        yield locker
    finally:
        locker.end()


def window(keyboard: Keyboard) -> str:
    return next(line.split()[1] for line in keyboard._out.read_text().splitlines() if line.startswith("window"))


def after_undo(keyboard: Keyboard) -> list[str]:
    """What was fired up to an undo that is given now."""
    before = keyboard.fired().count("edit.undo")
    keyboard.xdotool("key", U)
    wait_for(lambda: keyboard.fired().count("edit.undo") > before)
    return [name for name in keyboard.fired() if name != "edit.undo"]


def repeats(keyboard: Keyboard) -> None:
    """Wait until a held key would have been repeated several times."""
    keyboard.xdotool("sleep", "1")


@pytest.mark.parametrize("layout", ["us", "ru"])
def test_a_key_that_is_held_while_the_window_loses_the_keyboard_answers_once(keyboard: Keyboard, layout: str) -> None:
    keyboard.layout(layout)
    keyboard.xdotool("keydown", F)
    wait_for(lambda: keyboard.fired() == ["answer.same"])
    keyboard.xdotool("windowfocus", "0")
    repeats(keyboard)
    keyboard.xdotool("windowfocus", "--sync", window(keyboard))
    repeats(keyboard)
    keyboard.xdotool("keyup", F)
    assert after_undo(keyboard) == ["answer.same"]
    keyboard.xdotool("key", F)
    assert after_undo(keyboard) == ["answer.same", "answer.same"]


@pytest.mark.parametrize("layout", ["us", "ru"])
def test_a_key_that_was_pressed_in_another_window_is_no_answer_here(keyboard: Keyboard, layout: str) -> None:
    keyboard.layout(layout)
    keyboard.xdotool("windowfocus", "0")
    keyboard.xdotool("keydown", J)
    repeats(keyboard)
    keyboard.xdotool("windowfocus", "--sync", window(keyboard))
    repeats(keyboard)
    keyboard.xdotool("keyup", J)
    assert after_undo(keyboard) == []
    keyboard.xdotool("key", J)
    assert after_undo(keyboard) == ["answer.different"]


def test_keys_that_unlock_the_screen_are_no_answers(keyboard: Keyboard, locker: Locker) -> None:
    locker.wait("locked")
    for code in (F, J, F):
        keyboard.xdotool("key", code)
    locker.wait("key j")
    keyboard.xdotool("keydown", F)  # the last letter of the password, still down when the lock is gone
    repeats(keyboard)
    locker.end()
    keyboard.xdotool("windowfocus", "--sync", window(keyboard))
    repeats(keyboard)
    keyboard.xdotool("keyup", F)
    assert after_undo(keyboard) == []
    assert [line for line in locker.lines() if line.startswith("key")][:3] == ["key f", "key j", "key f"]


def test_a_lock_over_the_screen_while_a_key_is_held(keyboard: Keyboard, tmp_path: Path) -> None:
    keyboard.xdotool("keydown", F)
    wait_for(lambda: keyboard.fired() == ["answer.same"])
    locker = Locker(keyboard, tmp_path / "lock.txt")
    try:
        locker.wait("locked")
        repeats(keyboard)
    finally:
        locker.end()
    keyboard.xdotool("windowfocus", "--sync", window(keyboard))
    repeats(keyboard)
    keyboard.xdotool("keyup", F)
    assert after_undo(keyboard) == ["answer.same"]
