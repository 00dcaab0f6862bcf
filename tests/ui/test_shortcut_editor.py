"""The shortcut editor, by keyboard alone: record, clash, settle, reset, presets, files; nothing counts before Save."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot

from a3s_desktop.actions import ACTIONS, effective_keys
from a3s_desktop.ui.dialogs import MessageDialog
from a3s_desktop.ui.key_maps import preset_keys
from a3s_desktop.ui.key_recorder import sequence_of
from a3s_desktop.ui.shortcut_editor import ShortcutEditor

Modifier = Qt.KeyboardModifier
NONE, SHIFT, CTRL = Modifier.NoModifier, Modifier.ShiftModifier, Modifier.ControlModifier


@pytest.fixture
def editor(qtbot: QtBot, tmp_path: Path) -> Iterator[ShortcutEditor]:
    parent = QWidget()
    qtbot.addWidget(parent)
    editor = ShortcutEditor(parent, effective_keys({}), tmp_path)
    with qtbot.waitActive(editor):
        editor.show()
        editor.activateWindow()
    yield editor
    parent.close()


def choose(editor: ShortcutEditor, action: str) -> None:
    editor.table.setCurrentItem(editor._rows[action])
    editor.table.setFocus()


def record(editor: ShortcutEditor, key: Qt.Key, modifiers: Qt.KeyboardModifier = NONE) -> None:
    QTest.keyClick(editor.table, Qt.Key.Key_Return)
    assert editor.recorder.recording
    QTest.keyClick(editor.recorder, key, modifiers)
    assert not editor.recorder.recording


def remark(editor: ShortcutEditor, action: str) -> str:
    return editor._rows[action].text(2)


def test_every_action_has_a_row_with_its_keys(editor: ShortcutEditor) -> None:
    assert set(editor._rows) == {spec.id for spec in ACTIONS}
    assert editor._rows["answer.same"].text(1).split() == ["F", "←"]
    assert "F" in editor._rows["answer.same"].data(0, Qt.ItemDataRole.AccessibleTextRole)


def test_a_key_is_recorded_and_saved(editor: ShortcutEditor, qtbot: QtBot) -> None:
    choose(editor, "answer.same")
    record(editor, Qt.Key.Key_G, CTRL | SHIFT)
    assert editor.keys["answer.same"] == ("F", "Left", "Ctrl+Shift+G")
    assert remark(editor, "answer.same")
    with qtbot.waitSignal(editor.saved) as caught:
        QTest.keyClick(editor, Qt.Key.Key_S, Qt.KeyboardModifier.AltModifier)
    assert caught.args == [{"answer.same": ("F", "Left", "Ctrl+Shift+G")}]


def test_a_clash_marks_both_rows_and_cannot_be_saved(editor: ShortcutEditor, qtbot: QtBot) -> None:
    choose(editor, "answer.skip")
    record(editor, Qt.Key.Key_F)
    assert "Same" in remark(editor, "answer.skip")
    assert "Skip" in remark(editor, "answer.same")
    assert not editor._rows["answer.same"].icon(2).isNull()
    assert "“Same”" in editor.sentence.text()
    assert "“Skip”" in editor.sentence.text()
    assert not editor.save_button.isEnabled()
    with qtbot.assertNotEmitted(editor.saved):
        editor._save()
    assert editor.settle_button.isVisible()
    QTest.mouseClick(editor.settle_button, Qt.MouseButton.LeftButton)
    assert editor.keys["answer.same"] == ("Left",)
    assert "F" in editor.keys["answer.skip"]
    assert editor.clashes() == {}
    assert editor.save_button.isEnabled()
    assert editor.sentence.text() == ""


def test_escape_ends_recording_but_not_the_dialog(editor: ShortcutEditor) -> None:
    choose(editor, "answer.same")
    QTest.keyClick(editor.table, Qt.Key.Key_Return)
    QTest.keyClick(editor.recorder, Qt.Key.Key_Shift, SHIFT)
    assert editor.recorder.recording, "a modifier alone is no key"
    QTest.keyClick(editor.recorder, Qt.Key.Key_Escape)
    assert not editor.recorder.recording
    assert editor.isVisible()
    assert editor.keys == effective_keys({})


def test_space_can_be_recorded_and_does_not_press_the_button(editor: ShortcutEditor) -> None:
    choose(editor, "view.fit")
    record(editor, Qt.Key.Key_Space, CTRL)
    assert editor.keys["view.fit"][-1] == "Ctrl+Space"


def test_keys_are_taken_away_by_delete(editor: ShortcutEditor) -> None:
    choose(editor, "answer.skip")
    QTest.keyClick(editor.table, Qt.Key.Key_Delete)
    assert editor.keys["answer.skip"] == ()
    choose(editor, "answer.same")
    QTest.keyClick(editor.table, Qt.Key.Key_Delete)
    menu = editor.findChild(QMenu)
    assert menu is not None
    assert len(menu.actions()) == 2
    menu.actions()[1].trigger()
    menu.close()
    assert editor.keys["answer.same"] == ("F",)


def test_one_and_all_are_reset(editor: ShortcutEditor) -> None:
    editor.keys["answer.same"], editor.keys["answer.skip"] = ("A",), ("B",)
    choose(editor, "answer.same")
    editor._refresh()
    QTest.mouseClick(editor.reset_button, Qt.MouseButton.LeftButton)
    assert editor.keys["answer.same"] == ("F", "Left")
    assert editor.keys["answer.skip"] == ("B",)
    QTest.mouseClick(editor.reset_all_button, Qt.MouseButton.LeftButton)
    assert editor.keys == effective_keys({})
    assert not editor.reset_all_button.isEnabled()


def test_a_preset_for_one_hand(editor: ShortcutEditor) -> None:
    editor.presets.setFocus()
    QTest.keyClick(editor.presets, Qt.Key.Key_Down)
    editor._take_preset()
    assert editor.keys == preset_keys("left")
    assert editor.presets.currentData() == "left"
    choose(editor, "answer.same")
    record(editor, Qt.Key.Key_F12)
    assert editor.presets.currentData() == "", "one's own from here on"


def test_rows_are_found_by_name_and_by_key(editor: ShortcutEditor) -> None:
    QTest.keyClicks(editor.search, "undo")
    visible = [action for action, item in editor._rows.items() if not item.isHidden()]
    assert visible == ["edit.undo"]
    editor.search.setText("f11")
    visible = [action for action, item in editor._rows.items() if not item.isHidden()]
    assert visible == ["window.fullscreen"]
    editor.search.clear()
    assert not any(item.isHidden() for item in editor._rows.values())


def test_files_go_out_and_come_in(editor: ShortcutEditor, tmp_path: Path) -> None:
    choose(editor, "answer.same")
    record(editor, Qt.Key.Key_F12)
    editor.export_to(str(tmp_path / "mine.json"))
    editor._reset_all()
    editor.import_from(str(tmp_path / "mine.json"))
    assert editor.keys["answer.same"] == ("F", "Left", "F12")
    assert "mine.json" in editor.sentence.text()


def test_an_imported_clash_is_marked(editor: ShortcutEditor, tmp_path: Path) -> None:
    path = tmp_path / "clash.json"
    keys = {"answer.same": ["F"], "answer.different": ["f"]}
    path.write_text(json.dumps({"format": "a3s-desktop-keys", "version": 1, "keys": keys}))
    editor.import_from(str(path))
    assert remark(editor, "answer.same")
    assert remark(editor, "answer.different")
    assert not editor.save_button.isEnabled()


def test_a_bad_file_changes_nothing_and_says_why(editor: ShortcutEditor, tmp_path: Path) -> None:
    path = tmp_path / "holiday.json"
    path.write_text("not json")
    editor.import_from(str(path))
    message = editor.findChild(MessageDialog)
    assert message is not None
    assert "holiday.json" in message.message.text()
    message.reject()
    assert editor.keys == effective_keys({})


@pytest.mark.parametrize(
    ("key", "modifiers", "text", "code", "sequence"),
    [
        (Qt.Key.Key_F, NONE, "f", 41, "F"),
        (Qt.Key.Key_F, SHIFT, "F", 41, "Shift+F"),
        (Qt.Key.Key_Question, SHIFT, "?", 61, "?"),
        (Qt.Key.Key_Plus, Qt.KeyboardModifier.KeypadModifier, "+", 86, "+"),
        (0x0410, NONE, "а", 41, "F"),
        (0x042F, CTRL, "я", 52, "Ctrl+Z"),
        (Qt.Key.Key_Control, CTRL, "", 37, ""),
        (Qt.Key.Key_Space, SHIFT, " ", 65, "Shift+Space"),
    ],
)
def test_presses_as_sequences(
    qapp: QApplication, key: int, modifiers: Qt.KeyboardModifier, text: str, code: int, sequence: str
) -> None:
    event = QKeyEvent(QEvent.Type.KeyPress, key, modifiers, code, code, 0, text)
    assert sequence_of(event) == sequence
