"""Thousands of answers in one sitting: nothing that Qt or Python keeps grows with them, and no answer gets slower.

``python -m tests.benchmarks.long_work`` is the long version of this, with memory and times.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from a3s_desktop.core.types import Answer
from a3s_desktop.session.listing import HistoryFilter
from a3s_desktop.session.opening import open_session
from a3s_desktop.session.session import Session
from a3s_desktop.task import Task
from tests.benchmarks.long_work import Day, make_project, objects, start


@pytest.fixture
def day(tmp_path: Path, qtbot: QtBot) -> Iterator[Day]:
    project, truth = make_project(tmp_path, 60, "cobra")
    day = start(tmp_path, project, truth)
    yield day
    day.stop()
    closed: list[int] = []
    day.program.window.destroyed.connect(lambda: closed.append(1))
    day.program.shutdown()
    qtbot.waitUntil(lambda: bool(closed), timeout=20_000)


def test_after_twice_the_answers_there_is_no_more_of_anything(day: Day) -> None:
    day.work(45)  # all that is made on first use is there
    day.look_around()
    first = day.figures()
    kinds = kinds_of_objects()
    day.work(45)
    day.look_around()
    last = day.figures()
    assert last.answers == 2 * first.answers
    assert last.timers <= first.timers + 1, "one may be on its way"
    assert last.threads <= first.threads
    assert last.handles <= first.handles + 1, "a backup may be under way"
    assert {kind: count for kind, count in kinds_of_objects().items() if count > kinds.get(kind, 0)} == {}
    assert last.python - first.python <= 3, "thousands: what Python's collector knows"
    # Qt makes a connection more at each change of a button's default action; those in line edits do not change.
    buttons = day.program.window.findChildren(QToolButton)
    own = [button for button in buttons if button.metaObject().className() != "QLineEditIconButton"]
    assert [button for button in own if button.defaultAction() is not None] == []


def kinds_of_objects() -> dict[str, int]:
    kinds: dict[str, int] = {}
    for one in objects():
        name = one.metaObject().className()
        kinds[name] = kinds.get(name, 0) + 1
    return kinds


def calls_for(session: Session, truth: Any, answers: int) -> int:
    """Python functions called for so many answers, with all that the window asks for after each."""
    calls = 0

    def count(_frame: Any, event: str, _arg: Any) -> None:
        nonlocal calls
        calls += event == "call"

    for number in range(answers):
        question = session.state.question
        assert question is not None
        same = truth[question.left] == truth[question.right]
        sys.setprofile(count)
        try:
            session.answer(question.id, Answer.SAME if same else Answer.DIFFERENT)
            session.look_ahead()
            session.listing.page(HistoryFilter(), 0, 50)
            session.listing.times(0.0)
            if number % 20 == 0:
                session.undo()
                session.redo()
        finally:
            sys.setprofile(None)
    return calls


def test_the_work_of_an_answer_does_not_grow_with_their_number(tmp_path: Path) -> None:
    project, truth = make_project(tmp_path, 150, "cobra")
    session, _ = open_session(project, task=Task())
    try:
        calls_for(session, truth, 150)  # the close pairs, which are often the same
        first = calls_for(session, truth, 40)
        calls_for(session, truth, 250)
        last = calls_for(session, truth, 40)
    finally:
        session.close()
    assert last <= 1.2 * first
