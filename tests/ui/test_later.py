"""Adding images, replacing features and locating a folder through the window."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import Qt

from a3s_desktop.core.types import Answer
from a3s_desktop.settings import SettingsStore
from a3s_desktop.ui.dialogs import MessageDialog
from a3s_desktop.ui.later_dialog import LaterDialog
from a3s_desktop.ui.program import Program
from a3s_desktop.ui.replace_dialog import ReplaceDialog
from tests.ui.pair_project import make_project


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_project(tmp_path / "seals").parent


@pytest.fixture
def program(qtbot, folder, tmp_path) -> Iterator[Program]:
    program = Program(SettingsStore(None), tmp_path / "demos")
    with qtbot.waitActive(program.window):
        program.show()
    program.shell.open_project(folder / "project", False)
    qtbot.waitUntil(lambda: program.label.ready, timeout=20_000)
    yield program
    program.shutdown()
    qtbot.wait(1)


def arrive(folder: Path) -> Path:
    """Two new images, and their features."""
    for name in ("new-0.jpg", "new-1.jpg"):
        Image.new("RGB", (60, 60), (200, 90, 40)).save(folder / "images" / name)
    values = np.load(folder / "features.npy")[:2] + np.float32(0.01)
    np.savez(folder / "new.npz", features=values, names=np.array(["new-0.jpg", "new-1.jpg"]))
    return folder / "new.npz"


def answer(qtbot, program: Program, count: int) -> None:
    for _ in range(count):
        before = program.bridge.state.answers
        qtbot.waitUntil(program.shortcuts.action("answer.different").isEnabled, timeout=20_000)
        program.shortcuts.action("answer.different").trigger()
        qtbot.waitUntil(lambda before=before: program.bridge.state.answers > before, timeout=20_000)
    qtbot.waitUntil(lambda: program.bridge.can_answer, timeout=20_000)


def test_images_are_added_and_the_project_goes_on(qtbot, program, folder, dialog):
    answer(qtbot, program, 2)
    program.shortcuts.action("project.add").trigger()
    form = dialog(LaterDialog)
    qtbot.waitUntil(lambda: "no new image" in form.found.text(), timeout=20_000)
    assert not form.ok_button.isEnabled()
    features = arrive(folder)
    form.features.add(str(features))
    qtbot.waitUntil(lambda: "2 new images were found" in form.found.text(), timeout=20_000)
    qtbot.mouseClick(form.ok_button, Qt.MouseButton.LeftButton)
    told = dialog(MessageDialog)
    assert told.windowTitle() == "Images added"
    assert program.bridge.state.items == 38
    assert program.bridge.state.answers == 2
    told.close()
    answer(qtbot, program, 1)


def test_features_are_replaced_after_the_report_was_confirmed(qtbot, program, folder, dialog, tmp_path):
    answer(qtbot, program, 2)
    values = np.load(folder / "features.npy")
    np.save(tmp_path / "better.npy", values[:, :5])
    labels = program.bridge.state.labels.copy()
    for choice in ("close", "replace"):
        program.shortcuts.action("project.replace").trigger()
        form = dialog(LaterDialog)
        assert not form.ok_button.isEnabled()
        form.features.add(str(tmp_path / "better.npy"))
        qtbot.waitUntil(form.ok_button.isEnabled, timeout=20_000)
        qtbot.mouseClick(form.ok_button, Qt.MouseButton.LeftButton)
        asked = dialog(ReplaceDialog)
        assert asked.list is None, "nothing is spoken against"
        assert "stays in force" in asked.text.text() or "stay in force" in asked.text.text()
        qtbot.mouseClick(asked.replace_button if choice == "replace" else asked.keep_button, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: program.bridge.can_answer, timeout=20_000)
        assert program.bridge.state.answers == 2
        if choice == "close":
            assert program.bridge.state.labels.tolist() == labels.tolist()
    told = dialog(MessageDialog)
    assert told.windowTitle() == "Features replaced"
    told.close()


def test_the_answers_that_new_features_speak_against_are_shown(qtbot, program, folder, dialog, tmp_path):
    """Features that put every second photo with another individual speak against what was said of them."""
    items = program.bridge.items
    for _ in range(6):
        question = program.bridge.state.question
        same = items.name(question.left)[0] == items.name(question.right)[0]
        qtbot.waitUntil(lambda: program.label.ready, timeout=20_000)
        program.bridge.answer(question.id, Answer.SAME if same else Answer.DIFFERENT)
        qtbot.waitUntil(lambda question=question: program.label.question is not question, timeout=20_000)
    values = np.load(folder / "features.npy")
    values[::2] = np.roll(values[::2], 3, axis=0)
    np.save(tmp_path / "other.npy", values)
    program.shortcuts.action("project.replace").trigger()
    form = dialog(LaterDialog)
    form.features.add(str(tmp_path / "other.npy"))
    qtbot.waitUntil(form.ok_button.isEnabled, timeout=20_000)
    qtbot.mouseClick(form.ok_button, Qt.MouseButton.LeftButton)
    asked = dialog(ReplaceDialog)
    doubts = [asked.list.model().entry(row).doubt for row in range(asked.list.model().rowCount())]
    assert doubts
    assert doubts == sorted(doubts, reverse=True)
    assert min(doubts) >= 0.8
    qtbot.waitUntil(lambda: asked.view.seen, timeout=20_000)
    first = asked.view.entry
    assert first == asked.list.current
    if len(doubts) > 1:
        qtbot.keyClick(asked.list, Qt.Key.Key_Down)
        assert asked.view.entry != first
    qtbot.keyClick(asked, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: program.bridge.can_answer, timeout=20_000)
    assert program.bridge.state.answers == 6


def test_a_moved_folder_is_located(qtbot, program, folder, dialog, tmp_path):
    shutil.move(folder / "images", tmp_path / "elsewhere")
    program.shortcuts.action("project.locate").trigger()
    form = dialog(LaterDialog)
    assert not form.ok_button.isEnabled()
    form.folder.set_path(tmp_path / "demos")
    qtbot.waitUntil(lambda: "cannot be read" in form.found.text(), timeout=20_000)
    form.folder.set_path(tmp_path / "elsewhere")
    qtbot.waitUntil(lambda: "36 images were found" in form.found.text(), timeout=20_000)
    qtbot.mouseClick(form.ok_button, Qt.MouseButton.LeftButton)
    told = dialog(MessageDialog)
    told.close()
    assert program.bridge.items.root == tmp_path / "elsewhere"
    qtbot.waitUntil(lambda: program.bridge.can_answer, timeout=20_000)


def test_cancelled_it_is_the_project_of_before(qtbot, program, folder, dialog):
    features = arrive(folder)
    program.shortcuts.action("project.add").trigger()
    form = dialog(LaterDialog)
    form.features.add(str(features))
    qtbot.waitUntil(form.ok_button.isEnabled, timeout=20_000)
    qtbot.mouseClick(form.ok_button, Qt.MouseButton.LeftButton)
    program.later_flow.work.progress.reject()
    qtbot.waitUntil(lambda: program.bridge.can_answer, timeout=20_000)
    assert program.bridge.state.items == 36
