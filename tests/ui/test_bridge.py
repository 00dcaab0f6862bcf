"""The bridge: only seen pairs are answered, one operation at a time, late results are dropped, failures change nothing.

The engine room is replaced by one whose session is a counter; the threads and signals are real.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from a3s_desktop.core.types import Answer, Reason
from a3s_desktop.errors import ProjectError, StaleAnswerError, StorageFailedError
from a3s_desktop.session.audit import Precision
from a3s_desktop.session.state import Change, ChangeKind, LookAhead, Phase, QuestionView, SessionState, no_items
from a3s_desktop.ui.bridge import Bridge, BridgePhase
from a3s_desktop.ui.engine_room import Opened, Reading
from a3s_desktop.ui.jobs import Jobs, Worker


def make_state(revision: int, answers: int, **changes: object) -> SessionState:
    question = QuestionView(revision, 0, 1, Reason.MERGE, "Same?", 0, 1, 3, 3, (2,), (3,), 0.5)
    nobody = np.zeros(6, np.bool_)
    state = SessionState(
        revision=revision, phase=Phase.ASKING, question=question, items=6, answers=answers, same=answers, different=0,
        skipped=0, incomparable=0, clusters=2, singletons=0, junk=0, can_undo=answers > 0, can_redo=False,
        undo_text="Same", redo_text="", labels=np.array([0, 1, 0, 1, 0, 1], np.int32), confirmed=nobody,
        is_junk=nobody, names={}, finished=frozenset(), conflicts=(), useful=0, recent=0, audit=Precision(),
    )  # fmt: skip
    return replace(state, **changes)


class FakeRoom:
    def __init__(self) -> None:
        self.id = 0
        self.answers: list[tuple[int, Answer]] = []
        self.error: Exception | None = None
        self.gate = threading.Event()
        self.gate.set()
        self.revision = 0
        self.read_only = False
        self.closed = 0
        self.looked = 0

    def open(self, folder: Path, read_only: bool, take_over: bool, task: object) -> Opened:
        self.gate.wait(10)
        if folder.name == "broken":
            raise ProjectError("The project is broken.")
        self.id += 1
        self.read_only = read_only
        change = Change(ChangeKind.OPENED, "", no_items())
        return Opened(
            self.id, folder, folder.name, SimpleNamespace(), self._state(), change, "", (), self._layout, self._layout
        )

    def _layout(self, task: object) -> tuple[int, np.ndarray]:
        return self.id, np.zeros((6, 2), np.float32)

    def close(self) -> None:
        self.closed += 1

    def answer(self, project: int, question: int, answer: Answer) -> tuple[int, SessionState, Change]:
        self.gate.wait(10)
        if self.error:
            raise self.error
        self.answers.append((question, answer))
        return self._change(project, ChangeKind.ANSWER)

    def undo(self, project: int, task: object) -> tuple[int, SessionState, Change]:
        self.answers.pop()
        return self._change(project, ChangeKind.UNDO)

    def redo(self, project: int, task: object) -> tuple[int, SessionState, Change]:
        return self._change(project, ChangeKind.REDO)

    def look_ahead(self, project: int) -> tuple[int, LookAhead]:
        self.looked += 1
        return project, LookAhead(self.revision, (4, 5))

    def read(self, project: int, reading: Reading, limit: int) -> tuple[int, tuple[object, ...]]:
        assert reading is Reading.HISTORY
        return project, tuple(self.answers[:limit])

    def _change(self, project: int, kind: ChangeKind) -> tuple[int, SessionState, Change]:
        self.revision += 1
        return project, self._state(), Change(kind, "Same", no_items())

    def _state(self) -> SessionState:
        return make_state(self.revision, len(self.answers), read_only=self.read_only)


@pytest.fixture
def room() -> FakeRoom:
    return FakeRoom()


@pytest.fixture
def bridge(qtbot, room) -> Iterator[Bridge]:
    jobs = Jobs()
    bridge = Bridge(jobs, room=room)
    yield bridge
    room.gate.set()
    bridge.close_project()
    jobs.shutdown()


@pytest.fixture
def opened(bridge, qtbot) -> Bridge:
    with qtbot.waitSignal(bridge.stateChanged):
        bridge.open(Path("project"), False)
    return bridge


def paint(bridge: Bridge) -> int:
    question = bridge.state.question.id
    bridge.pair_painted(question)
    return question


def test_opening_publishes_the_state_and_two_layouts(bridge, qtbot):
    layouts, phases = [], []
    bridge.layoutReady.connect(layouts.append)
    bridge.phaseChanged.connect(phases.append)
    with qtbot.waitSignals([bridge.opened, bridge.stateChanged, bridge.entered], order="strict"):
        bridge.open(Path("project"), False)
    assert bridge.phase == "asking"
    assert phases == ["opening", "asking"]
    qtbot.waitUntil(lambda: len(layouts) == 2)


def test_a_pair_that_was_not_painted_cannot_be_answered(opened, room, qtbot):
    question = opened.state.question.id
    opened.answer(question, Answer.SAME)
    assert opened.phase is BridgePhase.ASKING
    paint(opened)
    assert opened.can_answer
    with qtbot.waitSignal(opened.stateChanged):
        opened.answer(question, Answer.SAME)
    assert room.answers == [(0, Answer.SAME)]
    assert not opened.can_answer  # the next pair is not on screen yet


def test_a_double_tap_answers_once(opened, room, qtbot):
    question = paint(opened)
    room.gate.clear()
    opened.answer(question, Answer.SAME)
    assert opened.phase == "storing"
    opened.answer(question, Answer.SAME)
    opened.undo()
    room.gate.set()
    qtbot.waitUntil(lambda: opened.phase == "asking")
    opened.answer(question, Answer.DIFFERENT)  # the old question's id
    paint(opened)
    opened.answer(question, Answer.DIFFERENT)
    assert room.answers == [(0, Answer.SAME)]


def test_a_failed_write_leaves_the_same_pair_to_be_answered_again(opened, room, qtbot):
    question = paint(opened)
    room.error = StorageFailedError("The disk is full.", "Free some space.")
    with qtbot.waitSignal(opened.failed) as caught:
        opened.answer(question, Answer.SAME)
    assert caught.args[0].message == "The disk is full."
    assert opened.can_answer
    room.error = None
    with qtbot.waitSignal(opened.stateChanged):
        opened.answer(question, Answer.SAME)


def test_after_a_bug_the_state_is_taken_anew_from_the_disk(opened, room, qtbot, caplog):
    question = paint(opened)
    room.error = ZeroDivisionError("a bug")
    with qtbot.waitSignals([opened.opened, opened.stateChanged], order="strict"):
        opened.answer(question, Answer.SAME)
    assert opened.project.id == 2
    room.error = None
    question = paint(opened)
    with qtbot.waitSignal(opened.stateChanged):
        opened.answer(question, Answer.SAME)
    assert room.answers == [(question, Answer.SAME)]
    caplog.clear()


def test_a_stale_answer_is_dropped_in_silence(opened, room, qtbot):
    question = paint(opened)
    room.error = StaleAnswerError("Late.")
    with qtbot.assertNotEmitted(opened.failed, wait=100):
        opened.answer(question, Answer.SAME)
    assert opened.phase == "asking"


def test_look_ahead_runs_once_the_pair_is_on_screen(opened, room, qtbot):
    got = []
    opened.foreseen.connect(got.append)
    with qtbot.waitSignal(opened.prefetch) as caught:
        paint(opened)
    assert caught.args[0] == (4, 5)
    assert got == [LookAhead(0, (4, 5))]
    paint(opened)  # a repaint is not a new pair
    qtbot.wait(30)
    assert room.looked == 1


def test_undo_needs_something_to_undo(opened, room, qtbot):
    opened.undo()
    assert opened.phase == "asking"
    question = paint(opened)
    with qtbot.waitSignal(opened.stateChanged):
        opened.answer(question, Answer.SAME)
    with qtbot.waitSignal(opened.stateChanged) as caught:
        opened.undo()
    assert caught.args[1].kind is ChangeKind.UNDO
    assert room.answers == []


def test_read_only_takes_no_answers(bridge, room, qtbot):
    with qtbot.waitSignal(bridge.stateChanged):
        bridge.open(Path("project"), True)
    question = paint(bridge)
    assert not bridge.can_answer
    bridge.answer(question, Answer.SAME)
    bridge.undo()
    assert bridge.phase == "asking"
    assert room.answers == []


def test_results_of_a_project_that_was_closed_meanwhile_are_dropped(opened, room, qtbot):
    question = paint(opened)
    room.gate.clear()
    opened.answer(question, Answer.SAME)
    changes = []
    opened.stateChanged.connect(lambda *change: changes.append(change))
    with qtbot.waitSignal(opened.closed):
        opened.close_project()
    room.gate.set()
    qtbot.waitUntil(lambda: room.closed == 2)
    qtbot.wait(20)
    assert changes == []
    assert room.answers == [(0, Answer.SAME)]  # stored nevertheless
    assert opened.state is None
    assert opened.phase == "closed"


def test_a_project_that_does_not_open_says_why(bridge, qtbot):
    with qtbot.waitSignal(bridge.openFailed) as caught:
        bridge.open(Path("broken"), False)
    error, folder = caught.args
    assert error.message == "The project is broken."
    assert folder == Path("broken")
    assert bridge.phase == "closed"


def test_opening_another_one_first_drops_the_first(bridge, room, qtbot):
    seen = []
    bridge.opened.connect(lambda opened: seen.append(opened.name))
    room.gate.clear()
    bridge.open(Path("one"), False)
    bridge.open(Path("two"), False)
    room.gate.set()
    qtbot.waitUntil(lambda: seen == ["two"])
    assert bridge.project.name == "two"


def test_a_closed_project_leaves_nobody_busy(opened, qtbot):
    qtbot.waitUntil(lambda: not opened._jobs.busy(Worker.ENGINE))
    seen = []
    opened.busyChanged.connect(seen.append)
    opened.close_project()
    qtbot.waitUntil(lambda: not opened._jobs.busy(Worker.ENGINE))
    qtbot.wait(20)
    assert seen == [True, False]


def test_busy_is_told_and_taken_back(opened, room, qtbot):
    seen = []
    opened.busyChanged.connect(seen.append)
    opened.read(Reading.HISTORY, 10, done=list)
    qtbot.waitUntil(lambda: seen == [True, False])
