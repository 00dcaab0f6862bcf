"""The fold of journal records into answers in force, and the way back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a3s_desktop.core.types import Answer, Question, Reason
from a3s_desktop.errors import NothingToUndoError, ProjectError, ProjectVersionError
from a3s_desktop.session.entries import RecordedAnswer
from a3s_desktop.session.history import History
from a3s_desktop.storage.journal_types import Record


def entry(left: int, answer: Answer = Answer.SAME) -> RecordedAnswer:
    return RecordedAnswer(left, left + 1, answer, Reason.MERGE, 100.0 + left)


def lefts(history: History) -> list[int]:
    return [node.entry.left for node in history.nodes()][::-1]


def test_a_record_survives_the_journal() -> None:
    question = Question(3, 9, Reason.PURITY, 1, 1, 0.5)
    said = RecordedAnswer.of(question, Answer.SKIP, 12.5)
    assert RecordedAnswer.from_payload(said.payload(), 12.5) == said


def test_undo_and_redo_walk_through_all_answers() -> None:
    history = History()
    for k in range(5):
        history = history.push(entry(k))
    for _ in range(5):
        history = history.undo()
    assert history.count == 0
    assert history.past is None
    for k in range(5):
        assert history.next is not None
        assert history.next.entry == entry(k)
        history = history.redo()
    assert lefts(history) == [0, 1, 2, 3, 4]
    assert history.next is None


def test_an_answer_after_undo_drops_what_could_be_redone() -> None:
    history = History().push(entry(0)).push(entry(1)).undo().push(entry(2))
    assert lefts(history) == [0, 2]
    with pytest.raises(NothingToUndoError):
        history.redo()


def test_nothing_to_undo_is_said() -> None:
    with pytest.raises(NothingToUndoError):
        History().undo()


def test_counts_follow_the_answers_in_force() -> None:
    history = History().push(entry(0)).push(entry(1, Answer.DIFFERENT)).push(entry(2, Answer.SKIP))
    assert (history.count, history.tally.same, history.tally.different, history.tally.skipped) == (3, 1, 1, 1)
    history = history.undo().undo()
    assert (history.count, history.tally.same, history.tally.different, history.tally.skipped) == (1, 1, 0, 0)


def test_the_digest_tells_answers_apart_and_not_the_road_to_them() -> None:
    direct = History().push(entry(0)).push(entry(1))
    detour = History().push(entry(0)).push(entry(5)).undo().push(entry(1)).undo().redo()
    other = History().push(entry(0)).push(entry(1, Answer.DIFFERENT))
    assert direct.entries is not None
    assert detour.entries is not None
    assert other.entries is not None
    assert direct.entries.digest == detour.entries.digest != other.entries.digest


def test_a_record_of_a_newer_version_is_refused_by_name() -> None:
    with pytest.raises(ProjectVersionError, match="'rename'"):
        History.fold([Record(1, "rename", {}, 0.0)])


@pytest.mark.parametrize(
    "payload", [{}, {"left": 1, "right": 2, "answer": "perhaps", "reason": "merge"}, {"left": "x", "right": 2}]
)
def test_an_answer_that_cannot_be_read_is_a_project_error(payload: dict[str, object]) -> None:
    with pytest.raises(ProjectError):
        History.fold([Record(1, "answer", payload, 0.0)])


def test_an_undo_of_nothing_is_a_project_error() -> None:
    with pytest.raises(ProjectError, match="record 1"):
        History.fold([Record(1, "undo", {}, 0.0)])


@given(st.lists(st.sampled_from(["answer", "undo", "redo"]), max_size=60))
def test_the_fold_equals_two_plain_lists(kinds: list[str]) -> None:
    past: list[int] = []
    future: list[int] = []
    records = []
    history = History()
    for number, kind in enumerate(kinds):
        payload: dict[str, object] = {}
        if kind == "answer":
            past, future = [*past, number], []
            payload = entry(number).payload()
        elif kind == "undo":
            if not past:
                continue
            future.append(past.pop())
        else:
            if not future:
                continue
            past.append(future.pop())
        records.append(Record(len(records) + 1, kind, payload, 100.0 + number))
        history = history.apply(records[-1])
        assert lefts(history) == past
        assert (history.next and history.next.entry) == (entry(future[-1]) if future else None)
    assert lefts(History.fold(records)) == past


def test_a_very_long_history_is_released_without_recursion() -> None:
    history = History()
    for k in range(60_000):
        history = history.push(entry(k))
    assert history.count == 60_000
    del history
