"""The history: follows the session, is filtered and searched, holds any number of entries, and changes any of them."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from a3s_desktop.core.types import Answer
from a3s_desktop.session.listing import HistoryFilter, HistoryPage
from a3s_desktop.session.operations import Finish, Junk, Merge, Rename
from a3s_desktop.session.state import EntryKind, HistoryEntry
from a3s_desktop.ui.history_menu import EntryMenu
from a3s_desktop.ui.history_model import PAGE, HistoryModel
from a3s_desktop.ui.history_panel import when_text
from a3s_desktop.ui.theme import apply_theme
from tests.ui.history_project import Window, answered
from tests.ui.pair_project import Desk, make_desk, make_project


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = make_project(tmp_path_factory.mktemp("history"))
    answered(project, 40, wrong=(6, 15))
    return project


@pytest.fixture
def open_window(qtbot: QtBot, original: Path, tmp_path: Path) -> Iterator[Callable[[], Window]]:
    made: list[Window] = []

    def make() -> Window:
        made.append(Window(qtbot, tmp_path, shutil.copytree(original, tmp_path / "project")))
        return made[-1]

    yield make
    for window in made:
        window.close()


@pytest.fixture
def window(open_window: Callable[[], Window]) -> Window:
    return open_window()


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
    entries = [model.entry(row) for row in range(3)]
    assert [(e.left, e.right) for e in entries if e is not None] == pairs[::-1]
    assert "Skip" in model.index(0).data()
    with desk.qtbot.waitSignal(desk.history.lookWanted) as got:
        desk.history.list.go_to(0)
        QTest.keyClick(desk.history.list, Qt.Key.Key_Return)
    assert got.args[0] == entries[0]
    desk.bridge.undo()
    desk.until(lambda: model.rowCount() == 2)
    desk.bridge.close_project()
    assert model.rowCount() == 0


def test_filters_narrow_the_list_and_show_all_ends_them(window: Window) -> None:
    panel, bar = window.panel, window.panel.filter
    everything = window.listed()
    assert len(everything) == 40
    assert bar.clear.isHidden()
    bar.kind.setCurrentIndex(1)
    window.until(lambda: panel.model.rowCount() < 40)
    assert {entry.answer for entry in window.listed()} == {Answer.SAME}
    assert not bar.clear.isHidden()
    bar.date.setCurrentIndex(1)
    window.fresh()
    assert {entry.answer for entry in window.listed()} == {Answer.SAME}, "all were given today"
    bar.clear.click()
    window.until(lambda: panel.model.rowCount() == 40)
    assert window.listed() == everything


def test_entries_of_the_pair_of_a_cluster_and_of_a_file(window: Window) -> None:
    panel, bar, bridge = window.panel, window.panel.filter, window.bridge
    state, items = bridge.state, bridge.items
    assert state is not None
    assert items is not None
    everything = window.listed()
    entry = everything[5]
    clusters = {int(state.labels[entry.left]), int(state.labels[entry.right])}
    panel.list.go_to(5)
    panel._narrow(entry)
    window.fresh()
    expected = [e for e in everything if clusters & {int(state.labels[i]) for i in e.items}]
    assert window.listed() == expected
    bar.cluster.setText("no such cluster")
    window.until(lambda: panel.model.rowCount() == 0)
    bar.reset()
    name = items.name(entry.left)
    bar.search.setText(name.upper())
    window.until(lambda: 0 < panel.model.rowCount() < 40)
    assert window.listed() == [e for e in everything if name in {items.name(i) for i in e.items}]


def test_corrections_names_and_checks_are_listed_and_drawn(window: Window) -> None:
    bridge = window.bridge

    def state_of() -> np.ndarray:
        assert bridge.state is not None
        return bridge.state.labels

    big = int(np.argmax(np.bincount(state_of())))
    for operation in (Rename(big, "Anna"), Finish(big), Junk((int(np.flatnonzero(state_of() != big)[0]),))):
        bridge.perform(operation)
        window.until(window.idle)
    members = np.flatnonzero(state_of() == big)
    bridge.audit(int(members[0]), int(members[1]), Answer.SAME)
    window.until(window.idle)
    window.fresh()
    texts = [entry.text for entry in window.listed()[:4]]
    assert texts[0].startswith("Sample check")
    assert texts[1] == "Junk 1 image"
    assert texts[2].startswith("Finish cluster")
    assert texts[3] == "Name: Anna"
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    for theme in ("dark", "contrast", "light"):
        apply_theme(app, theme)
        assert not window.panel.grab().toImage().isNull()
    bar = window.panel.filter
    bar.kind.setCurrentIndex(7)
    window.until(lambda: window.panel.model.rowCount() == 1)
    assert window.listed()[0].what == "name"


def menu_of(window: Window, entry: HistoryEntry) -> QMenu:
    window.panel._on_menu(entry, QPoint(10, 10))
    menus = [w for w in window.panel.findChildren(EntryMenu) if w.isVisible()]
    assert len(menus) == 1
    return menus[0]


def test_the_menu_changes_an_answer_and_undo_takes_it_back(window: Window) -> None:
    entry = window.choose(6)
    menu = menu_of(window, entry)
    window.until(lambda: "later" in menu.preview.text())
    assert "34 later entries" in menu.preview.text() or "all about other clusters" in menu.preview.text()
    texts = [action.text() for action in menu.actions()]
    assert texts[2:6] == ["Same", "Different", "Skip", "Not comparable"]
    chosen = next(action for action in menu.actions() if action.isChecked())
    assert chosen.text() == entry.text
    assert not chosen.isEnabled()
    other = "Same" if entry.answer is Answer.DIFFERENT else "Different"
    next(action for action in menu.actions() if action.text() == other).trigger()
    menu.close()
    window.until(lambda: bool(window.panel.notice.text))
    window.until(window.idle)
    window.fresh()
    assert window.choose(6).text == other
    assert window.panel.notice.undo_button.isVisible()
    window.panel.notice.undo_button.click()
    window.until(lambda: not window.panel.notice.text)
    window.fresh()
    assert window.choose(6) == entry


def test_delete_takes_an_entry_back_and_the_list_stays_where_it_is(window: Window) -> None:
    entry = window.choose(20)
    QTest.keyClick(window.panel.list, Qt.Key.Key_Delete)
    window.until(lambda: bool(window.panel.notice.text))
    window.fresh()
    current = window.panel.list.current
    assert current is not None
    assert current.number == 20
    assert current.withdrawn
    assert current.text == entry.text
    assert "Taken back" in window.panel.list.currentIndex().data()
    window.panel.filter.show_without_effect()
    window.until(lambda: window.panel.model.rowCount() == 1)
    assert window.listed() == [current]


def test_a_correction_can_only_be_taken_back(window: Window) -> None:
    assert window.bridge.state is not None
    labels = window.bridge.state.labels
    single = np.flatnonzero(np.bincount(labels) > 0)
    window.bridge.perform(Merge(int(single[0]), int(single[1])))
    window.until(window.idle)
    if window.errors:
        pytest.skip("these two are known to differ")
    window.fresh()
    entry = window.listed()[0]
    assert entry.kind is EntryKind.CORRECTION
    menu = menu_of(window, entry)
    texts = [action.text() for action in menu.actions() if action.text()]
    menu.close()
    assert "Take back" in texts
    assert "Same" not in texts


def test_letters_typed_in_the_list_neither_answer_nor_move(window: Window) -> None:
    window.choose(10)
    window.panel.list.setFocus()
    for text in ("s", "d"):
        window.panel.list.keyboardSearch(text)
    current = window.panel.list.current
    assert current is not None
    assert current.number == 10


def entry_at(number: int) -> HistoryEntry:
    return HistoryEntry(number, EntryKind.ANSWER, "Same", (0, 1), Answer.SAME, None, 0.0)


def test_only_pages_that_are_looked_at_are_asked_for(qtbot: QtBot) -> None:
    model = HistoryModel()
    missing: list[int] = []
    model.missing.connect(missing.append)
    first = tuple(entry_at(50_000 - row) for row in range(PAGE))
    model.set_page(HistoryPage(HistoryFilter(), 50_000, 50_000, 0, first))
    assert model.rowCount() == 50_000
    assert model.entry(0) == first[0]
    assert missing == []
    assert model.entry(30_000) is None
    assert missing == [30_000]
    model.add_page(HistoryPage(HistoryFilter(), 50_000, 50_000, 30_000, (entry_at(20_000),)))
    assert model.entry(30_000) == entry_at(20_000)
    assert model.entry(50_000) is None
    assert missing == [30_000], "a row that does not exist is not asked for"


def test_times_of_other_days_carry_their_date() -> None:
    assert len(when_text(time.time())) == 5
    assert when_text(86_400.0 * 365).startswith("19")
