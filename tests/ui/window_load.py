"""Loads on the real window, with the heartbeat on: a large initialization, answers at ten a second, corrections.

``python -m tests.ui.window_load`` measures them off the screen and prints the figures; the tests use the same code.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np
from PIL import Image
from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, QObject, Qt, QTimer, Slot
from PySide6.QtTest import QTest

from a3s_desktop.core.types import InitialOptions
from a3s_desktop.demo.project import demo_project
from a3s_desktop.settings import SettingsStore
from a3s_desktop.storage.spec import ProjectSpec
from a3s_desktop.task import Task
from a3s_desktop.ui.app import make_application
from a3s_desktop.ui.heartbeat import Beats, Heartbeat
from a3s_desktop.ui.program import Program
from a3s_desktop.ui.theme import apply_theme
from tests.ui.cluster_load import corrections_under_watch, large_project


def random_data(folder: Path, items: int, columns: int) -> ProjectSpec:
    """Random features, and a tiny image for each row."""
    images = folder / "images"
    images.mkdir(parents=True)
    first = images / "0000000.png"
    Image.new("RGB", (8, 8), (200, 60, 40)).save(first)
    data = first.read_bytes()
    for number in range(1, items):
        (images / f"{number:07d}.png").write_bytes(data)
    features = folder / "features.npy"
    np.save(features, np.random.default_rng(0).normal(size=(items, columns)).astype(np.float32))
    return ProjectSpec(folder / "project", images, (features,), initial=InitialOptions())


def wait(condition: Callable[[], bool], seconds: float) -> None:
    """Run a real event loop, which sleeps as the program's does, until the condition holds."""
    loop, poll, end = QEventLoop(), QTimer(), time.monotonic() + seconds

    def look() -> None:
        if condition() or time.monotonic() > end:
            loop.quit()

    poll.setInterval(10)
    poll.timeout.connect(look)
    poll.start()
    loop.exec()
    poll.stop()
    if not condition():
        raise TimeoutError("the window waited in vain")


def initialize_under_watch(program: Program, spec: ProjectSpec, seconds: float = 300.0) -> Beats:
    """Make a project through the window's own road and wait for its first pair; the heartbeat of that time."""
    program.show()
    program.shortcuts.action("project.new").trigger()
    wait(lambda: program.map_panel.made, 20)  # long before anyone has filled in the form
    with Heartbeat() as heart:
        program.pages.new.createRequested.emit(spec)
        wait(lambda: program.label.ready, seconds)
    return heart.result()


class Typist(QObject):
    """Presses the answer keys in turn, at a steady pace, as long as answers are wanted."""

    def __init__(self, program: Program, pace: int, answers: int) -> None:
        super().__init__()
        self._program = program
        self._wanted = answers
        self.late = 0  # beats at which the next pair was not ready yet
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(pace)
        self._timer.timeout.connect(self._press)
        self._timer.start()

    def done(self) -> bool:
        """Whether all answers were given, or nothing is left to ask."""
        return self._wanted <= 0 or self._program.bridge.phase == "finished"

    @Slot()
    def _press(self) -> None:
        if self.done():
            self._timer.stop()
            return
        if not self._program.label.ready:
            self.late += 1
            return
        question = self._program.label.question
        assert question is not None
        key = Qt.Key.Key_F if (question.left * 31 + question.right) % 3 == 0 else Qt.Key.Key_J
        QTest.keyClick(self._program.window, key)
        self._wanted -= 1


def answer_under_watch(program: Program, project: Path, answers: int = 200, pace: int = 100) -> tuple[Beats, int]:
    """Answer at a steady pace with map and history shown; the heartbeat, and how often the next pair was late."""
    program.show()
    program.shell.open_project(project)
    wait(lambda: program.label.ready, 60)
    history = program.window.dock("history")
    history.show()
    history.raise_()
    program.window.activateWindow()
    wait(program.window.isActiveWindow, 10)
    typist = Typist(program, pace, answers)
    with Heartbeat() as heart:
        wait(typist.done, answers * pace / 1000 * 5 + 30)
    return heart.result(), typist.late


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=256)
    parser.add_argument("--answers", type=int, default=200)
    parser.add_argument("--only", choices=("answers", "initialization", "clusters"), help="one of the loads")
    parser.add_argument("--json", action="store_true", help="one JSON object a load")
    arguments = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    app = make_application()
    apply_theme(app, "light")
    folder = Path(tempfile.mkdtemp(prefix="a3s-load-"))
    try:
        if arguments.only in (None, "answers"):
            project = demo_project("digits", folder, Task())
            program = Program(SettingsStore(None), folder)
            beats, late = answer_under_watch(program, project, arguments.answers)
            done = program.bridge.state.answers if program.bridge.state is not None else 0
            report(f"{arguments.answers} answers at 10 a second, {late} times late", beats, done, arguments.json)
            end(program)
        if arguments.only in (None, "initialization"):
            spec = random_data(folder / "random", arguments.items, arguments.columns)
            program = Program(SettingsStore(None), folder)
            started = time.monotonic()
            beats = initialize_under_watch(program, spec)
            took = time.monotonic() - started
            done = len(program.bridge.items or ())
            report(
                f"{arguments.items:,} × {arguments.columns} initialized in {took:.1f} s", beats, done, arguments.json
            )
            end(program)
        if arguments.only in (None, "clusters"):
            project = large_project(folder / "large", arguments.items)
            program = Program(SettingsStore(None), folder)
            for name, beats in corrections_under_watch(program, project, wait):
                report(f"{arguments.items:,} images, {name}", beats, beats.count, arguments.json)
            end(program)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


def end(program: Program) -> None:
    """Take a program down as its own end does: nothing of it may be left for the end of the interpreter."""
    program.shutdown()
    QCoreApplication.processEvents()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    gc.collect()


def report(what: str, beats: Beats, done: int, as_json: bool) -> None:
    """Print one load's figures."""
    facts = {"what": what, "done": done, "text": str(beats), **asdict(beats)}
    line = json.dumps(facts, default=str) if as_json else f"{what}: {beats}"
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
