"""Dialogs never block, always tell an outcome, and hand over details worth reporting."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from a3s_desktop.errors import ContradictionError, InputError
from a3s_desktop.logs import describe_crash
from a3s_desktop.ui.dialogs import AboutDialog, MessageDialog, ask, error_details, show_crash, show_error


@pytest.fixture
def parent(qtbot) -> QWidget:
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.show()
    return widget


def test_an_error_shows_message_and_hint_and_copies_details(parent, qtbot):
    dialog = show_error(parent, InputError("Row 3 of a.npy holds NaN.", "Compute it again."))
    assert dialog.message.text() == "Row 3 of a.npy holds NaN."
    assert dialog.hint.text() == "Compute it again."
    qtbot.mouseClick(dialog._copy_button, Qt.MouseButton.LeftButton)
    copied = QGuiApplication.clipboard().text()
    assert "Row 3 of a.npy holds NaN." in copied
    assert "PySide6" in copied
    assert "Traceback" not in copied
    dialog.close()


def test_file_names_are_never_taken_for_markup(parent):
    dialog = show_error(parent, InputError("<b>x</b>.jpg cannot be read."))
    assert dialog.message.textFormat() == Qt.TextFormat.PlainText
    assert not dialog.hint.isVisible()
    dialog.close()


def test_a_contradiction_carries_its_chain():
    error = ContradictionError("1 and 3 are the same.", ((1, 2, "same"), (2, 3, "same")))
    assert "1 same 2; 2 same 3" in error_details(error)


def test_a_bug_shows_its_traceback_and_offers_to_go_on(parent, qtbot, tmp_path):
    try:
        raise ZeroDivisionError("a bug")
    except ZeroDivisionError as error:
        crash = describe_crash(type(error), error, error.__traceback__)
    log = tmp_path / "a.log"
    log.write_text("INFO opened /home/anna/whales\nWARNING The crash could not be shown: fin.jpg\n", encoding="utf-8")
    dialog = show_crash(parent, crash, log)
    assert "saved" in dialog.hint.text()
    qtbot.mouseClick(dialog._copy_button, Qt.MouseButton.LeftButton)
    copied = QGuiApplication.clipboard().text()
    assert "ZeroDivisionError: a bug" in copied
    assert "The crash could not be shown" in copied
    for name in ("anna", "whales", "fin.jpg"):
        assert name not in copied
        assert name not in dialog.view.toPlainText()
    dialog.with_names.click()
    qtbot.mouseClick(dialog._copy_button, Qt.MouseButton.LeftButton)
    assert "fin.jpg" in QGuiApplication.clipboard().text()
    with qtbot.waitSignal(dialog.chosen) as caught:
        qtbot.mouseClick(dialog.buttons["close"], Qt.MouseButton.LeftButton)
    assert caught.args == ["close"]


@pytest.mark.parametrize(("way", "outcome"), [("button", "yes"), ("escape", "close"), ("window", "close")])
def test_however_a_question_ends_it_is_answered_once(parent, qtbot, way, outcome):
    dialog = ask(parent, "Title", "Message", "Hint", (("close", "No"), ("yes", "Yes")), "yes")
    said = []
    dialog.chosen.connect(said.append)
    if way == "button":
        qtbot.mouseClick(dialog.buttons["yes"], Qt.MouseButton.LeftButton)
    elif way == "escape":
        qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    else:
        dialog.close()
    assert said == [outcome]
    assert not dialog.isVisible()


def test_return_presses_the_main_button(parent, qtbot):
    dialog = ask(parent, "Title", "Message", "", (("close", "Keep it"), ("replace", "Replace")), "close")
    with qtbot.waitSignal(dialog.chosen) as caught:
        qtbot.keyClick(dialog, Qt.Key.Key_Return)
    assert caught.args == ["close"]


def test_about_names_versions(parent):
    dialog = AboutDialog(parent)
    dialog.open()
    assert isinstance(dialog, MessageDialog)
    assert "Python" in dialog.hint.text()
    dialog.close()
