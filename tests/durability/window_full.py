"""The disk fills up under the real window; run by `test_durability.py` in a process that has the library of `shim`."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from a3s_desktop.session.opening import open_session
from a3s_desktop.ui.label_parts import Banner
from tests.durability.shim import FAULTS, Fault, Shim
from tests.ui.pair_project import Desk, make_desk, make_project


@pytest.fixture
def desk(qtbot: QtBot) -> Iterator[Desk]:
    desk = make_desk(qtbot)
    yield desk
    desk.close()


@pytest.mark.parametrize("fault", [f for f in FAULTS if f.name in ("disk full", "I/O error", "failed fsync")], ids=str)
def test_one_sentence_the_same_pair_and_on_it_goes(desk: Desk, tmp_path: Path, fault: Fault) -> None:
    made = make_project(tmp_path / "made")
    project = tmp_path / "work" / "project"
    shutil.copytree(made, project)
    shim = Shim()
    shim.watch(tmp_path / "work")
    desk.open(project)
    QTest.keyClick(desk.page, Qt.Key.Key_F)
    desk.until(lambda: state(desk)[0] == 1)
    desk.until(desk.waits)
    question, banner = desk.page.question, desk.page.findChild(Banner)
    for _ in range(2):
        errors = len(desk.errors)
        shim.arm(fault, 0)
        QTest.keyClick(desk.page, Qt.Key.Key_F)
        desk.until(lambda errors=errors: len(desk.errors) > errors)
        assert shim.disarm() > 0
        assert fault.says[0] in banner.text
        assert "the change was not kept" in banner.text
        assert desk.page.question == question
        assert state(desk) == (1, 0)
        desk.until(desk.waits)
    QTest.keyClick(desk.page, Qt.Key.Key_J)  # another answer than the one that failed
    desk.until(lambda: state(desk) == (1, 1))
    desk.until(desk.waits)
    assert banner.text == ""
    copy = shutil.copytree(project, tmp_path / "killed")
    session, report = open_session(copy)
    assert report.recovered == ""
    assert (session.state.same, session.state.different) == (1, 1)
    session.close()


def state(desk: Desk) -> tuple[int, int]:
    found = desk.bridge.state
    assert found is not None
    return found.same, found.different
