"""A change of theme reaches every widget once: what is seen at once, the rest soon or when it is shown."""

from __future__ import annotations

from collections import Counter

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QPushButton, QStackedWidget, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from a3s_desktop.ui.theme import CONTRAST_DARK, DARK, LIGHT, Tokens, apply_theme, set_role


class Desk(QWidget):
    """Two pages, of which one is seen, and a dialog that was open before."""

    def __init__(self) -> None:
        super().__init__()
        self.pages = QStackedWidget()
        self.dialog = QDialog(self)
        QVBoxLayout(self).addWidget(self.pages)
        self.seen, self.hidden = (self._page(QWidget(self.pages)) for _ in range(2))
        self.later = self._page(self.dialog)
        for label in (self.seen, self.hidden):
            self.pages.addWidget(label.parentWidget())

    @staticmethod
    def _page(page: QWidget) -> QLabel:
        inner, label = QWidget(page), QLabel("text", page)
        set_role(label, role="muted")
        column = QVBoxLayout(page)
        column.addWidget(inner)
        column.addWidget(label)
        QVBoxLayout(inner).addWidget(QPushButton("press", inner))
        return label


@pytest.fixture
def desk(qtbot: QtBot, qapp: QApplication):
    apply_theme(qapp, "light", 100)
    desk = Desk()
    qtbot.addWidget(desk)
    desk.show()
    desk.dialog.show()
    for page in (1, 0):  # all of it has been seen once
        desk.pages.setCurrentIndex(page)
        qtbot.wait(20)
    desk.dialog.hide()
    qtbot.wait(200)
    yield desk
    apply_theme(qapp, "light", 100)
    qtbot.wait(200)


def dressed(label: QLabel, theme: Tokens) -> bool:
    """Whether a muted label has a theme's colour."""
    return label.palette().color(QPalette.ColorRole.WindowText).name() == theme.muted.lower()


def test_what_is_seen_changes_at_once_and_the_rest_soon(desk: Desk, qapp: QApplication, qtbot: QtBot) -> None:
    for mode, theme in (("dark", DARK), ("contrast", CONTRAST_DARK), ("light", LIGHT)):
        apply_theme(qapp, mode)
        assert dressed(desk.seen, theme)
        qtbot.waitUntil(lambda theme=theme: dressed(desk.hidden, theme) and dressed(desk.later, theme))


def test_what_is_shown_before_its_turn_is_in_the_new_colours(desk: Desk, qapp: QApplication) -> None:
    apply_theme(qapp, "dark")
    desk.pages.setCurrentIndex(1)
    desk.dialog.show()
    assert dressed(desk.hidden, DARK)
    assert dressed(desk.later, DARK)


def test_a_dialog_made_afterwards_is_in_the_new_colours(desk: Desk, qapp: QApplication) -> None:
    apply_theme(qapp, "dark")
    made = Desk()
    made.show()
    assert dressed(made.seen, DARK)
    made.close()


def test_it_looks_as_if_qt_had_dressed_all(desk: Desk, qapp: QApplication, qtbot: QtBot) -> None:
    for mode in ("dark", "light"):
        apply_theme(qapp, mode)
        qtbot.wait(200)
        pictures = [[], []]
        for place in range(2):
            for page in (1, 0):
                desk.pages.setCurrentIndex(page)
                qtbot.wait(20)
                pictures[place].append(desk.grab().toImage())
            qapp.setStyleSheet(qapp.styleSheet() + "/* anew */")
            qtbot.wait(50)
        assert pictures[0] == pictures[1]


class Told(QObject):
    """Counts what widgets are told."""

    def __init__(self) -> None:
        super().__init__()
        self.times: Counter[QObject] = Counter()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.times[watched] += event.type() == QEvent.Type.StyleChange
        return False


def test_every_widget_is_told_once(desk: Desk, qapp: QApplication, qtbot: QtBot) -> None:
    told, parts = Told(), [desk, *desk.findChildren(QWidget)]
    for part in parts:
        part.installEventFilter(told)
    apply_theme(qapp, "dark")
    desk.dialog.show()
    qtbot.wait(300)
    assert {told.times[part] for part in parts} == {1}


def test_the_last_of_two_changes_counts_and_what_is_gone_is_left_out(desk: Desk, qapp, qtbot: QtBot) -> None:
    apply_theme(qapp, "dark")
    apply_theme(qapp, "light")
    apply_theme(qapp, "dark")
    desk.pages.removeWidget(desk.hidden.parentWidget())
    desk.hidden.parentWidget().deleteLater()
    qtbot.waitUntil(lambda: dressed(desk.later, DARK))
    qtbot.wait(200)
    assert dressed(desk.seen, DARK)
