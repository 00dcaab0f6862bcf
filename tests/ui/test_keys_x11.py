"""Real key presses on a virtual X display: held keys, and a layout without Latin letters."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

TOOLS = ("Xvfb", "xdotool", "setxkbmap")
F, J, SPACE, U, Z, V = "41", "44", "65", "30", "52", "55"  # key codes of X11
ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import sys
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget
from a3s_desktop.actions import ACTIONS, Scope
from a3s_desktop.settings import SettingsStore
from a3s_desktop.ui.shortcuts import Shortcuts

app = QApplication([])
window, page = QMainWindow(), QWidget()
shortcuts = Shortcuts(SettingsStore(), window)
page.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
page.addActions(shortcuts.actions(Scope.PAIR))
window.setCentralWidget(page)
shortcuts.attach(window)
for spec in ACTIONS:
    shortcuts.action(spec.id).triggered.connect(lambda _=False, name=spec.id: print(name, flush=True))
shortcuts.held.connect(lambda name, held: print(name, "begins" if held else "ends", flush=True))
window.show()
page.setFocus()
QTimer.singleShot(300, lambda: print("window", int(window.winId()), flush=True))
app.exec()
"""

pytestmark = [
    pytest.mark.xcb,
    pytest.mark.skipif(
        not sys.platform.startswith("linux") or not all(map(shutil.which, TOOLS)), reason=f"needs {', '.join(TOOLS)}"
    ),
]


class Keyboard:
    """Presses keys by their place and reads what the program did."""

    def __init__(self, display: str, program: subprocess.Popen[str], out: Path) -> None:
        self.env = {**os.environ, "DISPLAY": display}
        self.program = program
        self._out = out

    def fired(self) -> list[str]:
        return [line for line in self._out.read_text().splitlines() if not line.startswith("window")]

    def xdotool(self, *words: str) -> None:
        subprocess.run(["xdotool", *words], env=self.env, check=True, timeout=20)

    def tap(self, code: str) -> None:
        self.xdotool("key", code)
        time.sleep(0.25)

    def hold(self, code: str, seconds: float) -> None:
        self.xdotool("keydown", code)
        time.sleep(seconds)
        self.xdotool("keyup", code)
        time.sleep(0.25)

    def layout(self, name: str) -> None:
        subprocess.run(["setxkbmap", name], env=self.env, check=True, timeout=20)
        time.sleep(0.5)


def wait_for(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "nothing happened in time"
        time.sleep(0.05)


@pytest.fixture
def keyboard(tmp_path: Path) -> Iterator[Keyboard]:
    read, write = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", "640x480x24", "-nolisten", "tcp"],
        pass_fds=(write,), stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(write)
    with os.fdopen(read) as pipe:
        display = f":{pipe.readline().strip()}"
    out = tmp_path / "out.txt"
    env = {**os.environ, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb", "PYTHONPATH": str(ROOT)}
    with out.open("w") as sink:
        program = subprocess.Popen([sys.executable, "-c", PROGRAM], env=env, stdout=sink, text=True)
        try:
            keyboard = Keyboard(display, program, out)
            wait_for(lambda: "window" in out.read_text() or program.poll() is not None)
            assert program.poll() is None
            keyboard.xdotool("windowfocus", "--sync", out.read_text().split()[1])
            time.sleep(0.3)
            yield keyboard
        finally:
            program.terminate()
            program.wait(10)
            server.terminate()
            server.wait(10)


@pytest.mark.parametrize("layout", ["us", "ru", "gr"])
def test_keys_by_place_and_held_keys(keyboard: Keyboard, layout: str) -> None:
    keyboard.layout(layout)
    for code in (F, J, SPACE, U):
        keyboard.tap(code)
    keyboard.xdotool("key", f"ctrl+{Z}")
    time.sleep(0.25)
    expected = ["answer.same", "answer.different", "answer.skip", "edit.undo", "edit.undo"]
    assert keyboard.fired() == expected
    keyboard.hold(F, 1.5)
    assert keyboard.fired() == [*expected, "answer.same"], "a held key counts once"
    keyboard.tap(F)
    assert keyboard.fired() == [*expected, "answer.same", "answer.same"]


def test_zoom_repeats_while_held(keyboard: Keyboard) -> None:
    keyboard.layout("us")
    keyboard.hold("21", 1.5)  # "="
    assert keyboard.fired().count("view.zoom_in") > 5


@pytest.mark.parametrize("layout", ["us", "ru"])
def test_flip_lasts_as_long_as_its_key_is_held(keyboard: Keyboard, layout: str) -> None:
    """The X server sends a release with every repeat of the key; none of them ends it."""
    keyboard.layout(layout)
    keyboard.xdotool("keydown", V)
    time.sleep(1.5)
    assert keyboard.fired() == ["compare.flip begins", "compare.flip"]
    keyboard.xdotool("keyup", V)
    time.sleep(0.25)
    assert keyboard.fired() == ["compare.flip begins", "compare.flip", "compare.flip ends"]
    keyboard.hold(V, 0.1)
    assert keyboard.fired()[3:] == ["compare.flip begins", "compare.flip", "compare.flip ends"]
