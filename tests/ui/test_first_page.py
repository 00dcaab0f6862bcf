"""The start page that is there before the program: what is asked of it is done later, and one may leave at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QTimer, Signal

from a3s_desktop.settings import SettingsStore
from a3s_desktop.ui.first_page import FirstPage, Loading
from a3s_desktop.ui.program import Program


@pytest.fixture
def first(qtbot):
    page = FirstPage(SettingsStore(None))
    page.show()
    qtbot.waitUntil(page.window.isVisible)
    yield page
    page.window.close()
    page.window.deleteLater()


def complete(first: FirstPage, tmp_path: Path) -> Program:
    program = Program(first.settings, tmp_path / "demos", first=first)
    for _ in program.build():
        pass
    return program


def test_a_click_before_the_program_is_there_counts_afterwards(first, tmp_path):
    first.start.new_button.click()
    assert first.window.pages.currentWidget() is first.start
    program = complete(first, tmp_path)
    try:
        assert first.window.pages.currentWidget() is program.pages.new
    finally:
        program.shutdown()


def test_the_last_wish_counts_once(first, tmp_path, monkeypatch):
    from a3s_desktop.ui.shell import Shell

    asked = []
    monkeypatch.setattr(Shell, "open_project", lambda _self, folder, read_only=False: asked.append((folder, read_only)))
    first.start.new_button.click()
    first.start.projectChosen.emit(tmp_path / "whales", True)
    program = complete(first, tmp_path)
    try:
        assert asked == [(tmp_path / "whales", True)]
        assert first.window.pages.currentWidget() is first.start
    finally:
        program.shutdown()


def test_the_rest_is_built_in_steps_while_the_window_lives(first, qtbot):
    steps, beats, done = [], [], []

    def build():
        for number in range(5):
            steps.append(number)
            yield

    timer = QTimer()
    timer.timeout.connect(lambda: beats.append(len(steps)))
    timer.start(0)
    loading = Loading(build, lambda: done.append(True))
    loading.start()
    qtbot.waitUntil(lambda: bool(done))
    timer.stop()
    loading.finish()
    assert steps == [0, 1, 2, 3, 4]
    assert done == [True]
    assert len(set(beats)) > 2  # other events had their turn between the steps


def test_who_leaves_at_once_waits_for_nothing(qtbot):
    built = []
    loading = Loading(lambda: built.append(True) or iter(()), lambda: built.append(True))
    loading.start()
    loading.finish()
    qtbot.wait(60)
    assert not built
    assert not loading._thread.is_alive()


def test_who_leaves_in_the_middle_gets_what_was_begun_finished(qtbot):
    class Told(QObject):
        step = Signal()

    steps, done, told = [], [], Told()

    def build():
        for number in range(3):
            steps.append(number)
            told.step.emit()
            yield

    loading = Loading(build, lambda: done.append(True))
    with qtbot.waitSignal(told.step):
        loading.start()
    loading.finish()
    assert steps == [0, 1, 2]
    assert done == [True]
