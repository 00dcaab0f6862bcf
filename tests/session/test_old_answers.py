"""Changing an old answer: the same as if it had been given so from the start, and nothing is dropped in silence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pytest

from a3s_desktop.core.engine import Engine
from a3s_desktop.core.types import Answer
from a3s_desktop.errors import Cancelled, ContradictionError, StorageFailedError
from a3s_desktop.session.listing import HistoryFilter
from a3s_desktop.session.operations import Merge
from a3s_desktop.session.session import Session
from a3s_desktop.session.state import ChangeKind, SessionState
from a3s_desktop.storage.journal_types import MemoryJournal
from a3s_desktop.task import Progress, Task
from tests.session.conftest import Data

Said = tuple[int, int, Answer | None]  # a pair, and what was said of it; None: taken back


def labelled(data: Data, seed: int, wrong: float = 0.15, far: int = 50) -> Session:
    """A session answered to its end by somebody who errs, skips, and throws images away."""
    rng = np.random.default_rng(seed)
    session = data.session(far=far)
    while session.state.question is not None and session.state.answers < 60:
        answer = data.truth(session.state)
        luck = rng.random()
        if luck < wrong:
            answer = Answer.DIFFERENT if answer is Answer.SAME else Answer.SAME
        elif luck < wrong + 0.1:
            answer = list(Answer)[int(rng.integers(len(Answer)))]
        data.answer(session, answer)
    return session


def told(session: Session) -> list[Said]:
    """The answers in the order in which they were given."""
    return [(e.left, e.right, e.answer) for e in reversed(session.history())]


def replayed(data: Data, answers: Iterable[Said]) -> tuple[Engine, tuple[int, ...]]:
    """An engine that is told answer after answer, and the numbers of those that it refuses as contradictions."""
    engine = Engine(data.initial, data.views, data.options)
    refused = []
    for number, (left, right, answer) in enumerate(answers, 1):
        question, mark = engine.question, engine.mark()
        if answer is None:
            continue
        pair = (question.left, question.right) if question is not None else ()
        try:
            if pair == (left, right) or (pair == (right, left) and not answer.junked(left, right)):
                engine.record(answer)
            else:
                engine.impose(left, right, answer)
        except ContradictionError:
            engine.restore(mark)
            refused.append(number)
    return engine, tuple(refused)


def edited(answers: list[Said], number: int, answer: Answer | None) -> list[Said]:
    """The answers with one of them given differently."""
    left, right, _ = answers[number - 1]
    return [*answers[: number - 1], (left, right, answer), *answers[number:]]


@pytest.mark.parametrize("far", [1, 50])
@pytest.mark.parametrize("seed", range(6))
def test_a_change_equals_the_journal_with_that_answer_edited(blobs: Data, seed: int, far: int) -> None:
    session = labelled(blobs, seed, far=far)
    rng = np.random.default_rng(seed)
    answers = told(session)
    for _ in range(4):
        number = int(rng.integers(len(answers))) + 1
        answer = [None, *Answer][int(rng.integers(len(Answer) + 1))]
        session.change(number, answer)
        answers = edited(answers, number, answer)
        engine, refused = replayed(blobs, answers)
        assert session.engine.digest() == engine.digest()
        assert session.state.conflicts == refused
        assert np.array_equal(session.state.labels, engine.labels)


@pytest.mark.parametrize("seed", range(4))
def test_a_change_equals_a_session_opened_on_the_edited_journal(blobs: Data, seed: int) -> None:
    session = labelled(blobs, seed)
    rng = np.random.default_rng(seed)
    wanted = [e for e in session.history() if e.answer in (Answer.SAME, Answer.DIFFERENT)]
    entry = wanted[int(rng.integers(len(wanted)))]
    other = Answer.DIFFERENT if entry.answer is Answer.SAME else Answer.SAME
    journal = MemoryJournal()
    for record in session._journal.records():
        payload: Mapping[str, Any] = record.payload
        if record.seq == entry.number:
            payload = {**payload, "answer": other.value}
        journal.append(record.kind, payload, record.at)
    session.change(entry.number, other)
    fresh = blobs.session(journal)
    assert fresh.engine.digest() == session.engine.digest()
    assert fresh.history() == session.history()
    assert fresh.state.conflicts == session.state.conflicts
    # ... and so does the session's own journal, opened again.
    again = blobs.session(session._journal)
    assert again.engine.digest() == session.engine.digest()
    assert again.history() == session.history()


def lose_one(blobs: Data, far: int) -> tuple[Session, int, Answer, tuple[int, ...]]:
    """A session where a change makes later answers contradict: the session, what was changed, and the losers."""
    for seed in range(40):
        session = labelled(blobs, seed, far=far)
        for entry in reversed(session.history()):
            if entry.answer is not Answer.DIFFERENT:
                continue
            before = session.state.conflicts
            session.change(entry.number, Answer.SAME)
            lost = tuple(number for number in session.state.conflicts if number not in before)
            if lost:
                return session, entry.number, Answer.DIFFERENT, lost
            session.undo()
    raise AssertionError("no change contradicts anything")


@pytest.mark.parametrize("far", [1, 50])
def test_later_answers_that_contradict_are_listed_and_come_back_with_undo(blobs: Data, far: int) -> None:
    session, _number, _answer, lost = lose_one(blobs, far)
    entries = {entry.number: entry for entry in session.history()}
    for loser in lost:
        entry = entries[loser]
        assert entry.conflict
        assert entry.answer is not None, "it is kept, with what was said"
        known = session.engine.store.relation(entry.left, entry.right)
        assert known is not entry.answer
        assert known is not None, "it contradicts what is known"
    shown = session.listing.page(HistoryFilter(without_effect=True)).entries
    assert set(lost) <= {entry.number for entry in shown}
    state, change = session.undo()
    assert change.kind is ChangeKind.UNDO
    assert not set(lost) & set(state.conflicts)
    for loser in lost:
        entry = entries[loser]
        assert session.engine.store.relation(entry.left, entry.right) is entry.answer
    state, _ = session.redo()
    assert set(lost) <= set(state.conflicts)


@pytest.mark.parametrize("far", [1, 50])
def test_they_count_again_when_what_they_contradict_is_taken_back(blobs: Data, far: int) -> None:
    session, number, _answer, lost = lose_one(blobs, far)
    entries = {entry.number: entry for entry in session.history()}
    state, _ = session.change(number, None)
    assert not set(lost) & set(state.conflicts)
    for loser in lost:
        entry = entries[loser]
        assert session.engine.store.relation(entry.left, entry.right) is entry.answer


def test_new_answers_after_a_change_and_a_restart_agree_with_a_replay(blobs: Data) -> None:
    session, *_ = lose_one(blobs, 1)
    for _ in range(5):
        if session.state.question is not None:
            blobs.answer(session)
    again = blobs.session(session._journal)
    assert again.engine.digest() == session.engine.digest()
    assert again.state.conflicts == session.state.conflicts


def pictures(state: SessionState) -> tuple[object, ...]:
    return state.revision, state.labels.tolist(), state.conflicts, state.question, state.undo_text


@pytest.mark.parametrize("at", [0.0, 0.3, 0.9])
def test_a_long_change_tells_its_progress_and_can_be_cancelled(blobs: Data, at: float) -> None:
    session = labelled(blobs, 3, far=5)
    seen: list[Progress] = []

    def look(progress: Progress) -> None:
        seen.append(progress)
        if progress.fraction >= at:
            task.cancel()

    task = Task(look, min_interval=0.0)
    before, digest, records = session.state, session.engine.digest(), len(list(session._journal.records()))
    with pytest.raises(Cancelled):
        session.change(1, None, task)
    assert seen
    assert pictures(session.state) == pictures(before)
    assert session.engine.digest() == digest
    assert len(list(session._journal.records())) == records
    # It works on from there as if nothing had been tried.
    session.change(1, None, Task())
    engine, refused = replayed(blobs, edited(told(session), 1, None))
    assert session.engine.digest() == engine.digest()
    assert session.state.conflicts == refused


def test_a_full_disk_after_a_long_change_leaves_everything_as_it_was(blobs: Data) -> None:
    class Full(MemoryJournal):
        full = False

        def append(self, kind: str, payload: Mapping[str, Any], at: float | None = None) -> int:
            if self.full:
                raise StorageFailedError("The disk is full.")
            return super().append(kind, payload, at)

    journal = Full()
    session = blobs.session(journal, far=3)
    for _ in range(20):
        blobs.answer(session)
    before, digest = session.state, session.engine.digest()
    journal.full = True
    with pytest.raises(StorageFailedError):
        session.change(2, Answer.SKIP)
    assert session.state is before
    assert session.engine.digest() == digest
    journal.full = False
    session.undo()
    assert session.state.answers == 19


def test_a_refused_correction_that_drops_old_answers_changes_nothing(blobs: Data) -> None:
    """Two things forbid a merge; the first is dropped, far back, and the second still refuses it."""
    for seed in range(30):
        session = labelled(blobs, seed, far=2)
        labels = session.state.labels
        for entry in session.history():
            if entry.answer is not Answer.DIFFERENT or labels[entry.left] == labels[entry.right]:
                continue
            merge = Merge(int(labels[entry.left]), int(labels[entry.right]))
            try:
                session.perform(merge)
            except ContradictionError as refused:
                first = session.entries_behind(refused.chain)
            else:
                session.undo()
                continue
            old = next(e.number for e in first if e is not None)
            before, digest = session.state, session.engine.digest()
            try:
                session.perform(merge, dropping=(old,))
            except ContradictionError:
                assert session.state is before
                assert session.engine.digest() == digest
                return
            session.undo()
            assert session.engine.digest() == digest
    raise AssertionError("no merge was forbidden twice")
