"""Old answers in the real window: what loses its effect, contradictions as pictures, a second look, long changes."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from a3s_desktop.core.types import Answer
from a3s_desktop.errors import ContradictionError
from a3s_desktop.session.opening import open_session
from a3s_desktop.session.operations import Merge
from a3s_desktop.session.state import HistoryEntry
from a3s_desktop.task import Progress
from a3s_desktop.ui.contradiction_dialog import ContradictionDialog
from a3s_desktop.ui.dialogs import MessageDialog
from a3s_desktop.ui.doubtful_dialog import SecondLook
from tests.ui.history_project import Window, answered, closed
from tests.ui.pair_project import make_project


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = make_project(tmp_path_factory.mktemp("old"))
    answered(project, 60, wrong=(6, 15, 22))
    return project


@pytest.fixture
def project(original: Path, tmp_path: Path) -> Path:
    return shutil.copytree(original, tmp_path / "project")


@pytest.fixture
def open_window(qtbot: QtBot, project: Path, tmp_path: Path) -> Iterator[Callable[[], Window]]:
    made: list[Window] = []

    def make() -> Window:
        made.append(Window(qtbot, tmp_path, project))
        return made[-1]

    yield make
    for window in made:
        window.close()


@pytest.fixture
def window(open_window: Callable[[], Window]) -> Window:
    return open_window()


def changing_loses(project: Path) -> tuple[int, Answer]:
    """An answer whose change makes later ones contradict."""
    session, _ = open_session(project)
    entries = [e for e in reversed(session.history()) if e.answer in (Answer.SAME, Answer.DIFFERENT)]
    for entry in entries:
        other = Answer.DIFFERENT if entry.answer is Answer.SAME else Answer.SAME
        session.change(entry.number, other)
        lost = session.state.conflicts
        session.undo()
        if lost:
            closed(session)
            return entry.number, other
    raise AssertionError("no change contradicts anything")


def test_what_loses_its_effect_is_told_shown_and_brought_back(project: Path, open_window: Callable[[], Window]) -> None:
    number, answer = changing_loses(project)
    window = open_window()
    window.program.window.dock("cluster").raise_()
    window.panel.change(number, answer)
    window.until(lambda: bool(window.panel.notice.text))
    state = window.bridge.state
    assert state is not None
    assert state.conflicts
    window.until(window.panel.isVisible)
    notice = window.panel.notice
    assert str(len(state.conflicts)) in notice.text
    assert "without effect" in notice.text
    assert notice.show_button.isVisible()
    notice.show_button.click()
    window.until(lambda: window.panel.model.rowCount() == len(state.conflicts))
    assert tuple(sorted(e.number for e in window.listed())) == state.conflicts
    assert all(entry.conflict for entry in window.listed())
    notice.undo_button.click()
    window.until(lambda: window.bridge.state is not None and not window.bridge.state.conflicts)
    window.until(lambda: window.panel.model.rowCount() == 0)


def test_a_long_change_tells_progress_and_cancel_leaves_all_as_it_was(
    project: Path, open_window: Callable[[], Window]
) -> None:
    session, _ = open_session(project)
    while (pair := session.audit_pair()) is not None and len(session.history()) < 110:
        session.audit(*pair, Answer.SAME)
    closed(session)
    window = open_window()
    bridge, busy = window.bridge, window.program.old_answers.busy
    seen: list[Progress] = []
    bridge.operationProgress.connect(seen.append)
    busy._wait.setInterval(0)  # the test's project is too small for anything to take long
    before = bridge.state
    bridge.change(1, None)
    bridge.cancel_operation()
    window.until(window.idle)
    assert bridge.state is before, "cancelled in time: nothing was published"
    assert not busy.isVisible()
    assert window.errors == []
    bridge.change(1, None)
    window.until(lambda: bridge.state is not before)
    assert seen
    assert 0.0 <= seen[0].fraction <= 1.0
    window.until(lambda: not busy.isVisible())
    bridge.undo()
    window.until(lambda: bridge.state is not None and "Undo" in window.program.window.statusBar().currentMessage())


def contradicting(window: Window) -> Merge:
    """A merge of two clusters that answers hold apart."""
    state = window.bridge.state
    assert state is not None
    for entry in window.listed():
        if entry.answer is Answer.DIFFERENT and state.labels[entry.left] != state.labels[entry.right]:
            return Merge(int(state.labels[entry.left]), int(state.labels[entry.right]))
    raise AssertionError("no two clusters are held apart")


def refused(window: Window) -> ContradictionDialog:
    """The dialog after a contradicting merge."""
    window.bridge.perform(contradicting(window))
    window.until(lambda: window.program.old_answers.contradictions.dialog is not None)
    dialog = window.program.old_answers.contradictions.dialog
    assert dialog is not None
    window.until(dialog.isVisible)
    return dialog


def test_a_contradiction_is_shown_as_a_chain_and_everything_can_be_kept(window: Window) -> None:
    before = window.bridge.state
    dialog = refused(window)
    error = window.errors[0]
    assert isinstance(error, ContradictionError)
    links = dialog.model.links
    assert [(link.left, link.right, link.same) for link in links] == [
        (left, right, said == "same") for left, right, said in error.chain
    ]
    assert sum(not link.same for link in links) == 1, "a chain of same, and one different"
    assert all(first.right == then.left for first, then in itertools.pairwise(links))
    new = dialog.refused.link
    assert new is not None
    assert (new.left, new.right, new.same) == (links[0].left, links[-1].right, True)
    said = [link.entry for link in links]
    assert all(entry is not None for entry in said)
    for link, entry in zip(links, said, strict=True):
        assert isinstance(entry, HistoryEntry)
        assert set(entry.items) == {link.left, link.right}
        assert str(entry.number) in dialog.model.index(links.index(link)).data()
    assert dialog.keep_button.isDefault()
    assert not [w for w in window.program.window.findChildren(MessageDialog) if w.isVisible()], "one dialog, not two"
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    window.until(lambda: window.program.old_answers.contradictions.dialog is None)
    assert window.bridge.state is before
    window.until(window.idle)


def test_links_are_dropped_until_nothing_contradicts_and_undo_brings_all_back(window: Window) -> None:
    before = window.bridge.state
    assert before is not None
    dialog = refused(window)
    flow = window.program.old_answers.contradictions
    dropped: list[int] = []
    while flow.dialog is not None:
        row = next(i for i, link in enumerate(dialog.model.links) if not link.same)
        dialog.list.setCurrentIndex(dialog.model.index(row))
        entry = dialog.current.entry if dialog.current is not None else None
        assert entry is not None
        assert entry.number not in dropped
        dropped.append(entry.number)
        shown = dialog.model.links
        QTest.keyClick(dialog.list, Qt.Key.Key_Delete)
        window.until(lambda shown=shown: flow.dialog is None or dialog.model.links is not shown)
        assert len(dropped) < 40
    state = window.bridge.state
    assert state is not None
    assert state.undo_text == "Merge clusters"
    window.fresh()
    taken_back = [entry.number for entry in window.listed() if entry.withdrawn]
    assert sorted(taken_back) == sorted(dropped)
    window.bridge.undo()
    window.until(lambda: window.bridge.state is not state)
    assert window.bridge.state is not None
    assert np.array_equal(window.bridge.state.labels, before.labels)
    window.fresh()
    assert not [entry for entry in window.listed() if entry.withdrawn]


def test_a_chain_of_hundreds_scrolls_and_is_walked_by_keyboard(window: Window) -> None:
    from a3s_desktop.ui.contradiction_chain import ChainLink

    items = window.bridge.items
    assert items is not None
    entry = window.listed()[0]
    count = len(items)
    chain = [ChainLink(k % count, (k + 1) % count, k != 150, entry) for k in range(300)]
    dialog = ContradictionDialog(window.program.loader, items, window.program.window)
    dialog.show_chain(ChainLink(0, 1, True, None, new=True), chain, 2)
    dialog.open()
    window.until(dialog.isVisible)
    assert dialog.height() <= window.program.window.height()
    assert dialog.list.verticalScrollBar().maximum() > 0
    dialog.list.setCurrentIndex(dialog.model.index(0))
    QTest.keyClick(dialog.list, Qt.Key.Key_End)
    assert dialog.current == chain[-1]
    QTest.keyClick(dialog.list, Qt.Key.Key_Home)
    with window.qtbot.waitSignal(dialog.dropWanted) as got:
        QTest.keyClick(dialog.list, Qt.Key.Key_Return)
    assert got.args[0] == chain[0]
    known = [ChainLink(0, 1, False, None)]
    dialog.show_chain(ChainLink(0, 1, True, None, new=True), known, 3)
    assert not dialog.drop_button.isEnabled(), "what comes from no entry cannot be dropped"
    dialog.reject()


def second_look(window: Window) -> SecondLook:
    window.program.shortcuts.action("history.doubtful").trigger()
    look = window.program.old_answers.second_look
    window.until(lambda: look.view.seen)
    return look


def test_doubtful_answers_come_most_doubtful_first_and_leave_when_kept(window: Window) -> None:
    look = second_look(window)
    everything = [entry for entry in window.listed() if entry.doubt >= 0.5]
    total = look.model.rowCount()
    assert total == len(everything) > 1
    doubts = [entry.doubt for row in range(total) if (entry := look.model.entry(row)) is not None]
    assert doubts == sorted(doubts, reverse=True)
    assert doubts[0] == max(entry.doubt for entry in everything)
    first = look.view.entry
    assert first is not None
    assert first.doubt == doubts[0]
    # Enter keeps it: it goes, and the next one is shown.
    QTest.keyClick(look.list, Qt.Key.Key_Return)
    window.until(lambda: look.model.rowCount() == total - 1 and look.view.seen)
    second = look.view.entry
    assert second is not None
    assert (second.left, second.right) != (first.left, first.right)
    # The same answer again keeps it, too.
    key = Qt.Key.Key_F if second.answer is Answer.SAME else Qt.Key.Key_J
    state = window.bridge.state
    QTest.keyClick(look.list, key)
    window.until(lambda: look.model.rowCount() == total - 2)
    assert window.bridge.state is state, "nothing was changed"
    look.close()
    look = second_look(window) if total > 2 else look
    assert look.model.rowCount() == total - 2, "what was kept stays away for this sitting"


def test_a_doubtful_answer_is_changed_by_its_key_and_undone(window: Window) -> None:
    look = second_look(window)
    entry = look.view.entry
    assert entry is not None
    state = window.bridge.state
    key = Qt.Key.Key_J if entry.answer is Answer.SAME else Qt.Key.Key_F
    QTest.keyClick(look.list, key)
    window.until(lambda: window.bridge.state is not state)
    window.until(lambda: look.model.row_of(entry.number) < 0)
    window.fresh()
    changed = next(e for e in window.listed() if e.number == entry.number)
    assert changed.answer is (Answer.DIFFERENT if entry.answer is Answer.SAME else Answer.SAME)
    assert look.notice.isVisible() or look.model.rowCount() == 0
    QTest.keyClick(look.list, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    window.until(lambda: look.model.row_of(entry.number) >= 0)


def test_any_entry_of_the_history_can_be_looked_at_large(window: Window) -> None:
    entry = window.choose(12)
    QTest.keyClick(window.panel.list, Qt.Key.Key_Return)
    look = window.program.old_answers.second_look
    window.until(lambda: look.view.seen)
    assert look.view.entry == entry
    assert look.model.rowCount() == len(window.listed())
    items = window.bridge.items
    assert items is not None
    assert look.view.left.caption == items.name(entry.left)
    QTest.keyClick(look.list, Qt.Key.Key_PageDown)
    window.until(lambda: look.view.entry is not None and look.view.entry.number == 11)
    window.bridge.close_project()
    window.until(lambda: not look.isVisible())


def test_without_doubt_it_says_so(window: Window) -> None:
    look = second_look(window)
    while look.model.rowCount():
        entry = look.view.entry
        count = look.model.rowCount()
        window.until(lambda: look.view.seen)
        QTest.keyClick(look.list, Qt.Key.Key_Return)
        window.until(lambda count=count: look.model.rowCount() < count)
        assert entry is not None
    assert look._stack.currentIndex() == 0
    assert look.again_button.isVisible()
    look.again_button.click()
    window.until(lambda: look.model.rowCount() > 0)
