"""The history list follows the answers, newest first, and costs nothing while it is hidden."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QListView
from pytestqt.qtbot import QtBot

from a3s_desktop.ui.history_panel import when_text
from tests.ui.pair_project import Desk, make_desk, make_project


@pytest.fixture
def desk(qtbot: QtBot) -> Iterator[Desk]:
    desk = make_desk(qtbot)
    yield desk
    desk.close()


def test_the_history_follows_the_answers(desk: Desk, tmp_path: Path) -> None:
    desk.open(make_project(tmp_path / "data"))
    pairs = []
    for key in (Qt.Key.Key_F, Qt.Key.Key_J, Qt.Key.Key_Space):
        question = desk.page.question
        assert question is not None
        pairs.append((question.left, question.right))
        QTest.keyClick(desk.page, key)
        desk.until(lambda: not desk.page.ready)
        desk.until(desk.waits)
    model = desk.history.model
    assert model.rowCount() == 0, "hidden: nothing is fetched"
    desk.history.resize(300, 400)
    desk.history.show()
    desk.until(lambda: model.rowCount() == 3)
    entries = [model.index(i).data(Qt.ItemDataRole.UserRole) for i in range(3)]
    assert [(e.left, e.right) for e in entries] == pairs[::-1]
    assert "Skip" in model.index(0).data()
    desk.until(lambda: desk.history.thumbnail(pairs[0][0]) is not None)
    assert not desk.history.grab().toImage().isNull()
    with desk.qtbot.waitSignal(desk.history.pairChosen) as got:
        desk.history.findChild(QListView).activated.emit(model.index(0))
    assert tuple(got.args) == pairs[2]
    desk.bridge.undo()
    desk.until(lambda: model.rowCount() == 2)
    desk.bridge.close_project()
    assert model.rowCount() == 0


def test_times_of_other_days_carry_their_date() -> None:
    assert len(when_text(time.time())) == 5
    assert when_text(86_400.0 * 365).startswith("19")
