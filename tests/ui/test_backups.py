"""Backups in the window: list, preview, going back; from the start page, the menu, and a project that does not open."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu

from a3s_desktop.core.types import Answer
from a3s_desktop.session import checking, restoring
from a3s_desktop.session.backing_up import contents_of
from a3s_desktop.session.opening import open_session
from a3s_desktop.session.operations import Rename
from a3s_desktop.settings import SettingsStore
from a3s_desktop.storage.backup import make_backup
from a3s_desktop.storage.workspace import open_workspace
from a3s_desktop.ui.backups_dialog import BackupsDialog
from a3s_desktop.ui.dialogs import MessageDialog
from a3s_desktop.ui.findings_dialog import FindingsDialog
from a3s_desktop.ui.program import Program
from a3s_desktop.ui.work_progress import WorkProgress
from tests.ui.pair_project import make_project

NAME = "<b>Ann</b>"


@pytest.fixture(scope="module")
def original(tmp_path_factory) -> Path:
    """Backups at three and six answers, the later one with a name; nine answers now, and the backup of the closing."""
    folder = make_project(tmp_path_factory.mktemp("backups"), motley=True)
    session, _ = open_session(folder)
    for step in range(3):
        for _ in range(3):
            session.answer(session.state.question.id, Answer.DIFFERENT)
        if step == 1:
            session.perform(Rename(int(session.state.labels[0]), NAME))
        if step < 2:
            make_backup(folder, "time", contents_of(session.state), now=1000.0 * (step + 1))
    session.close()
    return folder


@pytest.fixture
def project(original, tmp_path) -> Path:
    return shutil.copytree(original, tmp_path / "seals")


@pytest.fixture
def program(qtbot, project, tmp_path) -> Iterator[Program]:
    settings = SettingsStore(None)
    settings.replace(settings.value.with_recent(project))
    program = Program(settings, tmp_path / "demos")
    with qtbot.waitActive(program.window):
        program.show()
    yield program
    program.shutdown()
    qtbot.wait(1)


def filled(qtbot, program: Program, rows: int) -> BackupsDialog:
    """The dialog, once all is known that can be."""
    flow = program.shell.repairs.backups
    qtbot.waitUntil(lambda: flow.dialog is not None and flow.dialog.table.topLevelItemCount() == rows, timeout=20_000)
    qtbot.waitUntil(lambda: flow.dialog.wanted() is None, timeout=20_000)
    return flow.dialog


def opened(qtbot, program: Program) -> None:
    qtbot.waitUntil(lambda: program.label.ready, timeout=20_000)


def texts(dialog: BackupsDialog, row: int) -> list[str]:
    item = dialog.table.topLevelItem(row)
    return [item.text(column) for column in range(dialog.table.columnCount())]


def reachable(dialog) -> set[object]:
    """What Tab comes to."""
    found, widget = set(), dialog
    for _ in range(50):
        widget = widget.nextInFocusChain()
        if widget.isVisible() and widget.isEnabled() and widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
            found.add(widget)
    return found


def test_a_recent_project_goes_back_from_the_start_page_by_keys_alone(qtbot, program, project, dialog):
    recent = program.pages.start.list
    recent.setCurrentIndex(recent.model().index(0, 0))
    place = recent.visualRect(recent.currentIndex()).center()
    menu_key = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, place, recent.viewport().mapToGlobal(place))
    QApplication.sendEvent(recent.viewport(), menu_key)
    menu = next(one for one in recent.findChildren(QMenu) if one.isVisible())
    next(action for action in menu.actions() if action.text() == "Backups…").trigger()
    menu.close()
    found = filled(qtbot, program, 3)
    assert [texts(found, 2)[column] for column in (3, 4, 6)] == ["3", "36", "0"]
    assert texts(found, 0)[2] == "When closing"
    assert "9 answers, as many as now" in found.preview.headline.text()
    assert not found.restore_button.isEnabled(), "it is what is there now"
    assert {found.table, found.close_button} <= reachable(found)
    qtbot.keyClick(found.table, Qt.Key.Key_Down)
    assert found.preview.headline.text() == "6 answers, 3 fewer than now"
    assert NAME in found.preview.names.text()
    assert found.preview.names.textFormat() is Qt.TextFormat.PlainText
    assert found.preview.last[0].text().endswith(f"Name: {NAME}")
    assert "Different" in found.preview.last[1].text()
    qtbot.keyClick(found, Qt.Key.Key_Return)
    told = dialog(MessageDialog)
    assert told.windowTitle() == "Backup restored"
    assert "kept as the backup" in told.hint.text()
    told.close()
    opened(qtbot, program)
    assert program.bridge.state.answers == 6
    assert program.bridge.state.names[int(program.bridge.state.labels[0])] == NAME


def test_an_open_project_goes_back_and_is_open_again(qtbot, program, project, dialog):
    assert not program.shortcuts.action("project.backups").isEnabled()
    program.shell.open_project(project)
    opened(qtbot, program)
    program.shortcuts.action("project.backups").trigger()
    qtbot.keyClick(filled(qtbot, program, 3), Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: program.shell.repairs.backups.dialog is None)
    assert program.bridge.can_correct, "it was only looked at"
    program.shortcuts.action("project.backups").trigger()
    found = filled(qtbot, program, 3)
    found.table.setCurrentItem(found.table.topLevelItem(2))
    qtbot.mouseClick(found.restore_button, Qt.MouseButton.LeftButton)
    dialog(MessageDialog).close()
    opened(qtbot, program)
    assert program.bridge.state.answers == 3
    qtbot.waitUntil(lambda: not program.window.busy_label.isVisible(), timeout=20_000)


def test_a_damaged_backup_says_so_and_cannot_be_restored(qtbot, program, project):
    newest, middle, _ = sorted((project / "backups").iterdir(), reverse=True)
    middle.write_bytes(b"")
    data = bytearray(newest.read_bytes())
    data[600:720] = bytes(120)
    newest.write_bytes(data)
    program.shell.repairs.backups.show_of(project)
    found = filled(qtbot, program, 3)
    assert [texts(found, row)[2] for row in range(3)] == ["Damaged", "Damaged", "While working"]
    for row, usable in ((0, False), (1, False), (2, True)):
        found.table.setCurrentItem(found.table.topLevelItem(row))
        assert found.restore_button.isEnabled() is usable
        assert ("cannot be restored" in found.preview.headline.text()) is not usable
    spoken = found.table.topLevelItem(0).data(0, Qt.ItemDataRole.AccessibleTextRole)
    assert "Damaged" in spoken
    found.close()


def test_without_a_backup_a_sentence_says_when_there_will_be_one(qtbot, program, project):
    shutil.rmtree(project / "backups")
    flow = program.shell.repairs.backups
    flow.show_of(project)
    qtbot.waitUntil(lambda: flow.dialog.nothing.isVisible(), timeout=20_000)
    assert flow.dialog.nothing.text() == "There is no backup of this project yet."
    assert not flow.dialog.restore_button.isVisible()
    assert flow.dialog.close_button.hasFocus()
    flow.dialog.close()


def test_a_project_in_use_elsewhere_is_not_restored(qtbot, program, project, dialog):
    holder = open_workspace(project)
    try:
        program.shell.repairs.backups.show_of(project)
        found = filled(qtbot, program, 3)
        found.table.setCurrentItem(found.table.topLevelItem(2))
        found.restore_button.click()
        told = dialog(MessageDialog)
        assert told.windowTitle() == "Backup not restored"
        told.close()
        assert program.window.pages.currentWidget() is program.pages.start
        assert sum(1 for _ in holder.journal.records()) == 10
    finally:
        holder.close()


def test_a_restoration_can_be_cancelled_and_the_project_is_open_as_it_was(qtbot, program, project, monkeypatch, dialog):
    begun, go_on = threading.Event(), threading.Event()

    def slow(folder, backup, task):
        begun.set()
        go_on.wait(20)
        task.check()
        raise AssertionError("it was not cancelled")

    monkeypatch.setattr(restoring, "restore", slow)
    program.shell.open_project(project)
    opened(qtbot, program)
    program.shortcuts.action("project.backups").trigger()
    found = filled(qtbot, program, 3)
    found.table.setCurrentItem(found.table.topLevelItem(2))
    found.restore_button.click()
    qtbot.waitUntil(begun.is_set, timeout=20_000)
    qtbot.keyClick(dialog(WorkProgress), Qt.Key.Key_Escape)
    go_on.set()
    opened(qtbot, program)
    assert program.bridge.state.answers == 9


# ------------------------------------------------------------------------------------------------ check and repair


def lines(found: FindingsDialog) -> list[str]:
    return [found.list.item(row).text() for row in range(found.list.count())]


def test_a_whole_project_is_checked_while_it_is_open(qtbot, program, project, dialog):
    program.shell.open_project(project)
    opened(qtbot, program)
    program.shortcuts.action("project.check").trigger()
    found = dialog(FindingsDialog)
    assert found.message.text() == "Everything is in order."
    assert "No two answers contradict each other." in lines(found)
    assert set(found.buttons) == {"close"}
    assert found.list in reachable(found)
    found.close()
    assert program.bridge.can_correct


def test_what_is_damaged_is_repaired_from_the_window_with_a_backup_first(qtbot, program, project, dialog):
    program.shell.open_project(project)
    opened(qtbot, program)
    newest = max((project / "backups").iterdir())
    newest.write_bytes(b"")
    program.shortcuts.action("project.check").trigger()
    found = dialog(FindingsDialog)
    assert found.message.text() == "Something is damaged."
    assert newest.name in lines(found)[0]
    qtbot.mouseClick(found.buttons["repair"], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog(FindingsDialog) is not found, timeout=20_000)
    done = dialog(FindingsDialog)
    assert done.message.text().startswith("The project was repaired")
    assert lines(done)[0] == "A backup of the present state was made."
    done.close()
    opened(qtbot, program)
    assert program.bridge.state.answers == 9


@pytest.mark.parametrize("known", [True, False])
def test_a_project_that_does_not_open_is_repaired_and_opened(qtbot, program, project, dialog, known):
    if not known:
        program.settings.replace(program.settings.value.without_recent(project))
    (project / "project.json").unlink()
    program.shell.open_project(project)
    broken = dialog(MessageDialog)
    assert ("forget" in broken.buttons) is known
    qtbot.mouseClick(broken.buttons["repair"], Qt.MouseButton.LeftButton)
    done = dialog(FindingsDialog)
    assert any("project.json" in line for line in lines(done))
    qtbot.mouseClick(done.buttons["open"], Qt.MouseButton.LeftButton)
    opened(qtbot, program)
    assert program.bridge.state.answers == 9


def test_a_project_that_does_not_open_shows_its_backups(qtbot, program, project, dialog):
    (project / "project.json").write_bytes(b"{")
    program.shell.open_project(project)
    qtbot.mouseClick(dialog(MessageDialog).buttons["backups"], Qt.MouseButton.LeftButton)
    found = filled(qtbot, program, 3)
    found.table.setCurrentItem(found.table.topLevelItem(1))
    found.restore_button.click()
    told = dialog(MessageDialog)
    assert "project.json" in told.hint.text()
    told.close()
    opened(qtbot, program)
    assert program.bridge.state.answers == 6


def test_a_folder_without_a_project_is_offered_no_repair(qtbot, program, tmp_path, dialog):
    program.shell.open_project(tmp_path)
    told = dialog(MessageDialog)
    assert set(told.buttons) == {"close"}
    told.close()


def test_a_check_can_be_cancelled(qtbot, program, project, monkeypatch, dialog):
    begun, go_on = threading.Event(), threading.Event()

    def slow(folder, task):
        task.stage("Checking the files")
        begun.set()
        go_on.wait(20)
        task.check()
        raise AssertionError("it was not cancelled")

    monkeypatch.setattr(checking, "check_project", slow)
    program.shell.open_project(project)
    opened(qtbot, program)
    program.shortcuts.action("project.check").trigger()
    progress = dialog(WorkProgress)
    qtbot.waitUntil(lambda: progress.detail.text() == "Checking the files", timeout=20_000)
    qtbot.mouseClick(progress.cancel_button, Qt.MouseButton.LeftButton)
    go_on.set()
    qtbot.waitUntil(lambda: program.shell.repairs.work.progress is None, timeout=20_000)
    assert program.bridge.can_correct
