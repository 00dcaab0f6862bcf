"""Two annotators in the real window: a copy is merged, and every kind of disagreement is decided on."""

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
from a3s_desktop.session.disagreements import About
from a3s_desktop.session.opening import open_session
from a3s_desktop.session.operations import Rename
from a3s_desktop.session.session import Session
from a3s_desktop.ui.disagreement_dialog import DisagreementDialog
from a3s_desktop.ui.merge_dialog import AnnotatorDialog
from tests.ui.history_project import Window, answered
from tests.ui.pair_project import make_project


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = make_project(tmp_path_factory.mktemp("two"))
    answered(project, 12)
    return project


@pytest.fixture
def copies(original: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Ours, and Bob's copy, after different work on both."""
    ours, theirs = (Path(shutil.copytree(original, tmp_path / name)) for name in ("ours", "theirs"))
    a, b = (open_session(folder)[0] for folder in (ours, theirs))
    a.author, b.author = "Ann", "Bob"
    disagree(a, b)
    a.close()
    b.close()
    return ours, theirs


def disagree(a: Session, b: Session) -> None:
    """A contradiction, an answer taken back, two names of one cluster, one name of two clusters; and agreement."""
    question = b.state.question
    assert question is not None
    assert a.state.question is not None
    a.answer(a.state.question.id, Answer.DIFFERENT)
    b.answer(question.id, Answer.SAME)
    b.change(b.history()[-1].number, None)
    labels = a.state.labels
    ids, sizes = np.unique(labels, return_counts=True)
    held = {int(labels[question.left]), int(labels[question.right])}
    clusters = [cluster for cluster in ids[np.argsort(-sizes)].tolist() if cluster not in held]
    second, third = next(pair for pair in itertools.combinations(clusters, 2) if not apart(a, pair))
    first = next(cluster for cluster in clusters if cluster not in (second, third))
    a.perform(Rename(first, "Anna"))
    b.perform(Rename(first, "Berta"))
    a.perform(Rename(second, "Carl"))
    b.perform(Rename(third, "Carl"))
    for _ in range(3):
        assert b.state.question is not None
        b.answer(b.state.question.id, Answer.SKIP)


def apart(session: Session, pair: tuple[int, int]) -> bool:
    """Whether anything says that two clusters differ."""
    links = itertools.product(*(session.members(cluster) for cluster in pair))
    return any(session.engine.store.relation(left, right) is not None for left, right in links)


@pytest.fixture
def window(qtbot: QtBot, copies: tuple[Path, Path], tmp_path: Path) -> Iterator[Window]:
    made = Window(qtbot, tmp_path, copies[0])
    made.bridge.set_author("Ann")
    yield made
    made.close()


def merged(window: Window, theirs: Path) -> DisagreementDialog:
    """The dialog that comes after the merge."""
    flow = window.program.merge_flow
    flow.look_at(str(theirs))
    window.until(lambda: flow.plan_dialog is not None)
    assert flow.plan_dialog is not None
    flow.plan_dialog.merge_button.click()
    window.until(lambda: flow.dialog is not None and flow.dialog.list.count() > 0)
    assert flow.dialog is not None
    return flow.dialog


def choose(dialog: DisagreementDialog, about: About) -> None:
    for row in range(dialog.list.count()):
        dialog.list.setCurrentRow(row)
        if dialog.current is not None and dialog.current.about is about:
            return
    raise AssertionError(f"no disagreement about {about}")


def settled(window: Window, act: Callable[[], None]) -> None:
    """Decide, and wait until the dialog shows what is left."""
    dialog = window.program.merge_flow.dialog
    assert dialog is not None
    before = dialog.list.count()
    act()
    window.until(lambda: window.idle() and dialog.list.count() == before - 1)


def test_the_plan_is_told_before_anything_is_done(window: Window, copies: tuple[Path, Path]) -> None:
    flow, before = window.program.merge_flow, window.bridge.state
    flow.look_at(str(copies[1]))
    window.until(lambda: flow.plan_dialog is not None)
    dialog = flow.plan_dialog
    assert dialog is not None
    assert dialog.texts[0].startswith("3 entries are new")
    assert "4 entries disagree" in dialog.texts[2]
    dialog.cancel_button.click()
    window.until(lambda: flow.plan_dialog is None)
    assert window.bridge.state is before


def test_what_cannot_be_merged_is_said(window: Window, tmp_path: Path) -> None:
    said: list[object] = []
    window.bridge.problem.connect(said.append)
    window.program.merge_flow.look_at(str(tmp_path))
    window.until(lambda: bool(said))
    assert "cannot be merged" in str(said[0])
    assert window.program.merge_flow.plan_dialog is None
    for dialog in window.program.window.findChildren(object):
        if hasattr(dialog, "reject") and getattr(dialog, "isVisible", bool)():
            dialog.reject()


def test_each_disagreement_is_decided_and_undone(window: Window, copies: tuple[Path, Path]) -> None:
    dialog = merged(window, copies[1])
    state = window.bridge.state
    assert state is not None
    assert dialog.list.count() == 4 == len(state.unsettled)
    assert "4 disagreements" in dialog.count.text()
    # Ours stays: nothing moves.
    choose(dialog, About.PAIR)
    assert "Bob" in dialog.theirs_title.text()
    assert dialog.model.links[0].entry is not None
    window.until(lambda: "moves" in dialog.hint.text() or "move." in dialog.hint.text())
    settled(window, lambda: QTest.keyClick(dialog.list, Qt.Key.Key_1))
    # Theirs counts: what was taken back there is taken back here.
    choose(dialog, About.TAKEN_BACK)
    (number,) = [entry.number for entry in dialog.current.behind if entry is not None]
    settled(window, lambda: QTest.keyClick(dialog.list, Qt.Key.Key_2))
    window.fresh()
    assert next(e for e in window.listed() if e.number == number).withdrawn
    choose(dialog, About.NAME)
    cluster = dialog.current.cluster
    settled(window, dialog.theirs_button.click)
    state = window.bridge.state
    assert state is not None
    assert state.names[cluster] == "Berta"
    choose(dialog, About.SAME_NAME)
    one, other = dialog.current.cluster, dialog.current.other
    members = np.flatnonzero(np.isin(state.labels, (one, other)))
    assert str(len(members)) in dialog.hint.text()
    settled(window, dialog.theirs_button.click)
    state = window.bridge.state
    assert state is not None
    assert len(np.unique(state.labels[members])) == 1
    assert dialog.nothing.isVisible()
    assert not window.program.shortcuts.action("project.disagreements").isEnabled()
    for left in range(1, 5):
        window.bridge.undo()
        window.until(lambda left=left: window.idle() and dialog.list.count() == left)
    window.bridge.undo()
    window.until(lambda: window.bridge.state is not None and not window.bridge.state.unsettled and window.idle())
    assert window.bridge.state.undo_text != ""
    assert window.errors == []


def test_theirs_of_a_contradiction_counts_and_later_leaves_it(window: Window, copies: tuple[Path, Path]) -> None:
    dialog = merged(window, copies[1])
    choose(dialog, About.PAIR)
    one = dialog.current
    assert one is not None
    row = dialog.list.currentRow()
    QTest.keyClick(dialog.list, Qt.Key.Key_3)
    assert dialog.list.currentRow() == (row + 1) % 4
    assert len(window.bridge.state.unsettled) == 4
    choose(dialog, About.PAIR)
    window.until(lambda: "move" in dialog.hint.text())
    promised = int("".join(c for c in dialog.hint.text() if c.isdigit()))
    before = window.bridge.state.labels
    settled(window, dialog.theirs_button.click)
    after = window.bridge.state.labels
    assert int((before != after).sum()) == promised
    assert after[one.left] == after[one.right]


def test_authors_are_in_the_history_and_the_name_can_be_changed(window: Window, copies: tuple[Path, Path]) -> None:
    merged(window, copies[1]).close()
    window.fresh()
    assert {entry.author for entry in window.listed()} == {"", "Bob"}
    window.program.shortcuts.action("settings.annotator").trigger()
    window.until(lambda: bool(window.program.window.findChildren(AnnotatorDialog)))
    dialog = window.program.window.findChildren(AnnotatorDialog)[0]
    dialog.edit.setText("  Cid   Doe ")
    QTest.keyClick(dialog.edit, Qt.Key.Key_Return)
    assert window.program.settings.value.annotator == "Cid Doe"
    window.fresh()
    assert {entry.author for entry in window.listed()} >= {"Ann", "Bob"}
