"""The one door: transactions, undo and redo, stale answers, read-only, snapshots, other numerics."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from a3s_desktop.core.engine import Engine
from a3s_desktop.core.types import Answer
from a3s_desktop.errors import (
    ContradictionError,
    NothingToUndoError,
    ProjectError,
    ReadOnlyError,
    StaleAnswerError,
    StorageFailedError,
)
from a3s_desktop.session import replay as replay_module
from a3s_desktop.session.session import Session
from a3s_desktop.session.state import ChangeKind, LookAhead, Phase, SessionState
from a3s_desktop.storage.journal_types import MemoryJournal
from tests.session.conftest import Data


class FailingJournal(MemoryJournal):
    """Fails to append while ``broken`` is set, as a full disk does."""

    broken = False

    def append(self, kind: str, payload: Mapping[str, Any], at: float | None = None) -> int:
        if self.broken:
            raise StorageFailedError("The disk is full.", "Free some space and answer again.")
        return super().append(kind, payload, at)


ARRAYS = ("labels", "confirmed", "is_junk")


def same_state(a: SessionState, b: SessionState) -> bool:
    """Equal in all but the revision and the question's id."""
    if a.question is None or b.question is None:
        questions = a.question is b.question
    else:
        questions = all(
            getattr(a.question, name) == getattr(b.question, name) for name in a.question.__slots__ if name != "id"
        )
    rest = all(
        getattr(a, name) == getattr(b, name)
        for name in SessionState.__slots__
        if name not in ("revision", "question", *ARRAYS)
    )
    return questions and rest and all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ARRAYS)


def test_a_new_session_asks(blobs: Data) -> None:
    session = blobs.session()
    state = session.state
    assert state.phase is Phase.ASKING
    assert state.question is not None
    assert state.items == 48
    assert (state.answers, state.can_undo, state.can_redo, state.undo_text) == (0, False, False, "")
    assert session.last_change.kind is ChangeKind.OPENED
    sizes = np.bincount(state.labels)
    assert (state.clusters, state.singletons) == (int((sizes > 1).sum()), int((sizes == 1).sum()))


def test_an_answer_is_counted_told_and_shown(blobs: Data) -> None:
    session = blobs.session()
    before = session.state
    assert before.question is not None
    state, change = session.answer(before.question.id, Answer.DIFFERENT)
    assert state is session.state
    assert state.revision == before.revision + 1
    assert (state.answers, state.different, state.same, state.skipped) == (1, 1, 0, 0)
    assert (state.can_undo, state.undo_text) == (True, "Different")
    assert (change.kind, change.text) == (ChangeKind.ANSWER, "Different")
    assert change.moved.tolist() == np.flatnonzero(before.labels != state.labels).tolist()
    assert state.question is not None
    assert state.question.id != before.question.id


def test_published_states_do_not_change_afterwards(blobs: Data, finish: Callable[[Session], int]) -> None:
    session = blobs.session()
    first = session.state
    labels = first.labels.copy()
    finish(session)
    assert np.array_equal(first.labels, labels)
    assert not np.array_equal(session.state.labels, labels)
    assert not first.labels.flags.writeable


def test_the_end_is_a_state_and_can_be_undone(blobs: Data, finish: Callable[[Session], int]) -> None:
    session = blobs.session()
    given = finish(session)
    assert session.state.phase is Phase.FINISHED
    assert session.state.answers == given
    assert session.look_ahead() == LookAhead()
    with pytest.raises(StaleAnswerError):
        session.answer(session.state.revision, Answer.SAME)
    state, _ = session.undo()
    assert state.phase is Phase.ASKING


def test_an_answer_to_an_old_question_is_dropped(blobs: Data) -> None:
    session = blobs.session()
    assert session.state.question is not None
    old = session.state.question.id
    blobs.answer(session)
    state, digest = session.state, session.engine.digest()
    with pytest.raises(StaleAnswerError):
        session.answer(old, Answer.SAME)
    assert session.state is state
    assert session.engine.digest() == digest


def test_the_question_after_undo_has_a_new_id(blobs: Data) -> None:
    session = blobs.session()
    first = session.state.question
    blobs.answer(session)
    state, _ = session.undo()
    assert first is not None
    assert state.question is not None
    assert (state.question.left, state.question.right) == (first.left, first.right)
    with pytest.raises(StaleAnswerError):
        session.answer(first.id, Answer.SAME)


def test_undo_and_redo_return_to_the_very_states(blobs: Data, finish: Callable[[Session], int]) -> None:
    session = blobs.session()
    states, digests = [session.state], [session.engine.digest()]
    while session.state.question is not None:
        blobs.answer(session)
        states.append(session.state)
        digests.append(session.engine.digest())
    for k in range(len(states) - 2, -1, -1):
        state, change = session.undo()
        assert (change.kind, change.text) == (ChangeKind.UNDO, f"Undo {states[k + 1].undo_text}")
        assert session.engine.digest() == digests[k]
        assert np.array_equal(state.labels, states[k].labels)
        assert state.redo_text == states[k + 1].undo_text
    with pytest.raises(NothingToUndoError):
        session.undo()
    for k in range(1, len(states)):
        state, change = session.redo()
        assert change.kind is ChangeKind.REDO
        assert session.engine.digest() == digests[k]
    assert same_state(session.state, states[-1])
    with pytest.raises(NothingToUndoError):
        session.redo()


def test_look_ahead_names_the_next_pairs_and_changes_nothing(blobs: Data) -> None:
    session = blobs.session()
    while session.state.question is not None:
        digest = session.engine.digest()
        coming = session.look_ahead().items
        assert session.engine.digest() == digest
        shown = (session.state.question.left, session.state.question.right)
        assert not set(shown) & set(coming)
        blobs.answer(session)
        after = session.state.question
        if after is not None:
            assert {after.left, after.right} <= {*coming, *shown}


def test_an_error_while_looking_ahead_leaves_no_answer_behind(blobs: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    session = blobs.session()
    blobs.answer(session)
    digest = session.engine.digest()
    record = type(session.engine).record

    def fails(engine: Any, answer: Answer) -> None:
        monkeypatch.undo()
        record(engine, answer)
        raise ArithmeticError("a bug")

    monkeypatch.setattr(type(session.engine), "record", fails)
    with pytest.raises(ArithmeticError):
        session.look_ahead()
    assert session.engine.digest() == digest


@pytest.mark.parametrize("operation", ["answer", "undo", "redo"])
def test_where_the_disk_fails_nothing_has_happened(blobs: Data, operation: str) -> None:
    journal = FailingJournal()
    session = blobs.session(journal)
    for _ in range(6):
        blobs.answer(session)
    session.undo()
    state, digest, records = session.state, session.engine.digest(), journal.last
    assert state.question is not None
    calls: dict[str, Callable[[], Any]] = {
        "answer": lambda: blobs.answer(session),
        "undo": session.undo,
        "redo": session.redo,
    }
    journal.broken = True
    for _ in range(2):
        with pytest.raises(StorageFailedError):
            calls[operation]()
        assert session.state is state
        assert session.engine.digest() == digest
        assert journal.last == records
    journal.broken = False
    calls[operation]()  # the same question is still asked, and the answer is taken now
    assert session.state.revision == state.revision + 1
    assert blobs.session(journal).engine.digest() == session.engine.digest()


def test_where_the_disk_fails_in_an_undo_beyond_this_process_nothing_has_happened(blobs: Data) -> None:
    journal = FailingJournal()
    session = blobs.session(journal, snapshot_every=3)
    for _ in range(3):
        blobs.answer(session)
    session.look_ahead()
    again = blobs.session(journal)
    digest = again.engine.digest()
    journal.broken = True
    with pytest.raises(StorageFailedError):
        again.undo()
    assert again.engine.digest() == digest
    journal.broken = False
    again.undo()
    again.redo()
    assert again.engine.digest() == digest


def test_an_error_while_the_answer_is_applied_changes_nothing(blobs: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    session = blobs.session()
    blobs.answer(session)
    state, digest = session.state, session.engine.digest()
    record = type(session.engine).record

    def fails(engine: Any, answer: Answer) -> None:
        monkeypatch.undo()  # the way back uses it too
        record(engine, answer)
        raise ArithmeticError("a bug")

    monkeypatch.setattr(type(session.engine), "record", fails)
    with pytest.raises(ArithmeticError):
        blobs.answer(session)
    assert session.state is state
    assert session.engine.digest() == digest


def test_a_contradiction_is_refused_with_its_chain(blobs: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = MemoryJournal()
    session = blobs.session(journal)
    while session.state.same < 2:
        blobs.answer(session)
    first = next(entry for entry in session.history() if entry.answer is Answer.SAME)
    state, digest, records = session.state, session.engine.digest(), journal.last

    def contradicts(engine: Any, answer: Answer) -> None:
        del answer
        monkeypatch.undo()
        engine.impose(first.left, first.right, Answer.DIFFERENT)

    monkeypatch.setattr(type(session.engine), "record", contradicts)
    with pytest.raises(ContradictionError) as refused:
        session.answer(state.revision, Answer.SAME)
    assert refused.value.chain == ((first.left, first.right, "same"),)
    assert session.state is state
    assert journal.last == records
    assert session.engine.digest() == digest


def test_read_only_sessions_show_everything_and_change_nothing(blobs: Data) -> None:
    journal = MemoryJournal()
    writer = blobs.session(journal)
    for _ in range(3):
        blobs.answer(writer)
    writer.undo()
    reader = blobs.session(journal, read_only=True)
    assert reader.state.read_only
    assert reader.state.question is not None
    assert (reader.state.can_undo, reader.state.can_redo) == (True, True)
    for change in (lambda: blobs.answer(reader), reader.undo, reader.redo):
        with pytest.raises(ReadOnlyError):
            change()
    assert reader.look_ahead().items
    assert reader.engine.digest() == writer.engine.digest()
    assert journal.last == 4


def test_history_is_newest_first_with_times(blobs: Data) -> None:
    session = blobs.session()
    said = [blobs.answer(session) for _ in range(5)]
    entries = session.history()
    assert [entry.answer for entry in entries] == said[::-1]
    assert [entry.number for entry in entries] == [5, 4, 3, 2, 1]
    assert all(a.when >= b.when for a, b in itertools.pairwise(entries))
    assert session.history(2) == entries[:2]
    assert session.history(0) == ()


def test_history_is_the_same_after_a_restart(blobs: Data) -> None:
    journal = MemoryJournal()
    session = blobs.session(journal)
    for _ in range(5):
        blobs.answer(session)
    assert blobs.session(journal).history() == session.history()


def test_members_are_those_of_the_labels(blobs: Data) -> None:
    session = blobs.session()
    for cluster in np.unique(session.state.labels).tolist():
        assert session.members(cluster) == tuple(np.flatnonzero(session.state.labels == cluster).tolist())
    assert session.members(10_000) == ()


def test_strips_show_other_members_of_the_two_clusters(blobs: Data) -> None:
    session = blobs.session()
    while (question := session.state.question) is not None:
        for cluster, strip in (
            (question.left_cluster, question.left_strip),
            (question.right_cluster, question.right_strip),
        ):
            assert set(strip) <= set(session.members(cluster)) - {question.left, question.right}
            assert len(strip) <= 12
        assert not set(question.left_strip) & set(question.right_strip)
        blobs.answer(session)


def test_a_skip_is_no_constraint_and_is_not_asked_again(blobs: Data) -> None:
    session = blobs.session()
    skipped = set()
    while (question := session.state.question) is not None:
        pair = frozenset((question.left, question.right))
        assert pair not in skipped
        if len(skipped) < 10:
            skipped.add(pair)
            session.answer(question.id, Answer.SKIP)
        else:
            blobs.answer(session)
    assert session.state.skipped == 10
    assert session.engine.store.n_constraints == session.state.answers


def test_snapshots_are_taken_at_idle_and_shorten_the_replay(blobs: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = MemoryJournal()
    session = blobs.session(journal, snapshot_every=5)
    for _ in range(12):
        blobs.answer(session)
        session.look_ahead()
    shot = journal.newest_snapshot()
    assert shot is not None
    assert shot.seq == 10
    records: list[Answer] = []
    engine = type(session.engine)
    record = engine.record
    monkeypatch.setattr(engine, "record", lambda self, answer: (records.append(answer), record(self, answer))[1])
    loads: list[int] = []
    load = engine.load.__func__  # type: ignore[attr-defined]
    monkeypatch.setattr(engine, "load", classmethod(lambda cls, *args: (loads.append(1), load(cls, *args))[1]))
    again = blobs.session(journal)
    assert loads == [1]
    monkeypatch.undo()
    assert again.engine.digest() == session.engine.digest()
    while again.state.can_undo:
        again.undo()
        session.undo()
        assert again.engine.digest() == session.engine.digest()


def test_a_snapshot_of_answers_no_longer_in_force_is_not_used(blobs: Data) -> None:
    journal = MemoryJournal()
    session = blobs.session(journal, snapshot_every=4)
    for _ in range(4):
        blobs.answer(session)
    session.look_ahead()
    session.undo()
    session.undo()
    blobs.answer(session, Answer.SKIP)
    assert journal.newest_snapshot() is not None
    assert blobs.session(journal).engine.digest() == session.engine.digest()


def test_a_damaged_snapshot_costs_time_and_nothing_else(
    blobs: Data, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    journal = MemoryJournal()
    session = blobs.session(journal, snapshot_every=4)
    for _ in range(6):
        blobs.answer(session)
        session.look_ahead()

    def broken(*_: Any) -> None:
        raise KeyError("labels")

    monkeypatch.setattr(type(session.engine), "load", broken)
    with caplog.at_level(logging.WARNING):
        again = blobs.session(journal)
    assert again.engine.digest() == session.engine.digest()
    assert any("snapshot" in warning for warning in again.warnings)


def test_a_snapshot_of_an_older_program_is_passed_over(blobs: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows of facts are shorter and it says so by its format: the answers are replayed, and nobody is warned."""
    journal = MemoryJournal()
    monkeypatch.setattr(replay_module, "SNAPSHOT_FORMAT", 2)
    real = Engine.dump

    def narrow(engine: Engine, facts: bool) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        arrays, meta = real(engine, facts)
        short = {name: array[:, 3:] if name.startswith("rows.") else array for name, array in arrays.items()}
        return short, meta

    monkeypatch.setattr(Engine, "dump", narrow)
    session = blobs.session(journal, snapshot_every=4)
    for _ in range(6):
        blobs.answer(session)
        session.look_ahead()
    shot = journal.newest_snapshot()
    assert shot is not None
    assert any(name.startswith("rows.") for name in shot.arrays)
    monkeypatch.undo()
    again = blobs.session(journal)
    assert again.warnings == ()
    assert again.engine.digest() == session.engine.digest()
    blobs.answer(again)


def test_a_snapshot_that_cannot_be_stored_disturbs_no_answer(
    blobs: Data, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    journal = MemoryJournal()

    def full(*_: Any) -> None:
        raise StorageFailedError("The disk is full.")

    monkeypatch.setattr(journal, "save_snapshot", full)
    session = blobs.session(journal, snapshot_every=2)
    with caplog.at_level(logging.WARNING):
        for _ in range(5):
            blobs.answer(session)
            session.look_ahead()
    assert session.state.answers == 5
    assert "The disk is full." in caplog.text


def test_replay_on_other_numerics_keeps_every_answer(blobs: Data, caplog: pytest.LogCaptureFixture) -> None:
    journal = MemoryJournal()
    for left, right, answer in ((0, 1, "same"), (0, 47, "different"), (3, 40, "skip"), (1, 2, "same")):
        journal.append("answer", {"left": left, "right": right, "answer": answer, "reason": "merge"})
    with caplog.at_level(logging.WARNING):
        session = blobs.session(journal)
    assert (session.state.answers, session.state.skipped) == (3, 1)
    assert session.engine.store.relation(2, 47) is Answer.DIFFERENT
    assert session.engine.store.is_skipped(3, 40)
    assert session.state.labels[0] == session.state.labels[2] != session.state.labels[47]
    assert any("another question" in warning for warning in session.warnings)
    assert caplog.text
    digest = session.engine.digest()
    for _ in range(4):
        session.undo()
    assert session.engine.digest() == blobs.session().engine.digest()
    for _ in range(4):
        session.redo()
    assert session.engine.digest() == digest


def test_replay_never_fails_on_answers_that_contradict(blobs: Data, caplog: pytest.LogCaptureFixture) -> None:
    journal = MemoryJournal()
    for answer in ("same", "different"):
        journal.append("answer", {"left": 0, "right": 1, "answer": answer, "reason": "merge"})
    with caplog.at_level(logging.WARNING):
        session = blobs.session(journal)
    assert any("contradict" in warning for warning in session.warnings)
    assert session.engine.store.relation(0, 1) is Answer.SAME
    session.undo()
    assert session.engine.store.relation(0, 1) is Answer.SAME
    session.undo()
    assert session.engine.store.relation(0, 1) is None


def test_a_session_without_a_folder_exports_nothing(blobs: Data, tmp_path: Any) -> None:
    with pytest.raises(ProjectError):
        blobs.session().export("csv", tmp_path / "out.csv")


def test_close_may_be_called_twice(blobs: Data) -> None:
    session = blobs.session()
    session.close()
    session.close()
    with pytest.raises(StorageFailedError):
        blobs.answer(session)
