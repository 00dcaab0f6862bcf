"""Corrections by hand, as a user makes them: what they do, what undoes them, what refuses them."""

from __future__ import annotations

import contextlib
import json

import numpy as np
import pytest

from a3s_desktop.core.types import Answer, StrategyOptions
from a3s_desktop.errors import Cancelled, ContradictionError, InputError, NameTakenError, ReadOnlyError
from a3s_desktop.session.operations import (
    Finish,
    Junk,
    Merge,
    Move,
    Operation,
    Rename,
    Reopen,
    Requeue,
    Restore,
    SplitOff,
)
from a3s_desktop.session.session import Session
from a3s_desktop.storage.journal_types import MemoryJournal
from a3s_desktop.task import Progress, Task
from tests.session.conftest import Data


def together(session: Session, *items: int) -> bool:
    return len(set(session.state.labels[list(items)].tolist())) == 1


def biggest(session: Session, nth: int = 0) -> int:
    counts = np.bincount(session.state.labels)
    return int(np.argsort(-counts, kind="stable")[nth])


def to_the_end(data: Data, session: Session, answer: Answer | None = None) -> list[tuple[int, int]]:
    """Answer until nothing is left; returns the pairs that were shown."""
    shown = []
    while (question := session.state.question) is not None:
        shown.append((question.left, question.right))
        data.answer(session, answer)
    return shown


@pytest.fixture
def session(blobs: Data) -> Session:
    return blobs.session()


def test_merged_clusters_are_one_and_stay_so(blobs: Data, session: Session) -> None:
    a, b = biggest(session), biggest(session, 1)
    larger, smaller = session.members(a), session.members(b)
    items = (*larger, *smaller)
    _, change = session.perform(Merge(a, b))
    assert together(session, *items)
    assert change.text == "Merge clusters"
    assert set(change.moved.tolist()) in ({*smaller}, {*larger})
    pair = session.history()[0].items
    to_the_end(blobs, session, Answer.DIFFERENT)  # whatever is said later
    assert together(session, *pair)


def test_a_cluster_is_not_merged_with_itself(session: Session) -> None:
    with pytest.raises(InputError, match="with itself"):
        session.perform(Merge(biggest(session), biggest(session)))
    assert not session.state.can_undo


def test_what_is_split_off_never_comes_back_by_itself(blobs: Data, session: Session) -> None:
    cluster = biggest(session)
    members = session.members(cluster)
    off, rest = members[:2], members[2:]
    session.perform(SplitOff(off))
    assert together(session, *off)
    assert not {int(session.state.labels[i]) for i in off} & {int(session.state.labels[i]) for i in rest}
    to_the_end(blobs, session)
    assert together(session, *off)
    assert not {int(session.state.labels[i]) for i in off} & {int(session.state.labels[i]) for i in rest}


def test_a_correction_of_many_images_tells_how_far_it_is_and_can_be_stopped(blobs: Data, session: Session) -> None:
    """Wherever it is stopped, everything is as it was; given again, it is what it would have been."""
    clusters = np.flatnonzero(np.bincount(session.state.labels) > 2)
    items = tuple(int(i) for cluster in clusters for i in session.members(int(cluster))[:2])
    assert len(clusters) > 2
    before, digest, records = session.state, session.engine.digest(), session.history()
    told: list[Progress] = []
    tasks: list[Task] = []

    def report(progress: Progress) -> None:
        told.append(progress)
        if len(told) == len(tasks):  # one later each time
            tasks[-1].cancel()

    while session.state is before:
        told.clear()
        tasks.append(Task(report, min_interval=0.0))
        with contextlib.suppress(Cancelled):
            session.perform(SplitOff(items), task=tasks[-1])
        if session.state is before:
            assert session.engine.digest() == digest
            assert session.history() == records
    assert len(tasks) > 3
    assert {progress.stage for progress in told} == {"The clusters are changed"}
    shares = [progress.fraction for progress in told]
    assert shares == sorted(shares)
    assert together(session, *items)
    other = blobs.session()
    other.perform(SplitOff(items))
    assert session.engine.digest() == other.engine.digest()
    session.undo()
    assert session.engine.digest() == digest


def test_images_taken_out_one_by_one_are_alone(session: Session) -> None:
    members = session.members(biggest(session))
    session.perform(SplitOff(members[:3], each=True))
    for item in members[:3]:
        assert session.members(int(session.state.labels[item])) == (item,)


def test_splitting_all_members_is_refused(session: Session) -> None:
    with pytest.raises(InputError, match="nothing would stay"):
        session.perform(SplitOff(session.members(biggest(session))))


def test_images_move_to_another_cluster_and_stay(blobs: Data, session: Session) -> None:
    source, target = biggest(session), biggest(session, 1)
    moving, staying = session.members(source)[:2], session.members(source)[2:]
    home = session.members(target)[0]
    session.perform(Move(moving, target))
    assert together(session, *moving, *session.members(target))
    to_the_end(blobs, session)
    assert not {int(session.state.labels[i]) for i in moving} & {int(session.state.labels[i]) for i in staying}
    assert together(session, *moving, session.history()[-1].items[0])
    assert home in range(len(blobs.classes))


def test_images_in_their_own_cluster_have_nowhere_to_move(session: Session) -> None:
    cluster = biggest(session)
    with pytest.raises(InputError, match="in that cluster already"):
        session.perform(Move(session.members(cluster)[:2], cluster))


def test_junk_leaves_the_clusters_is_never_asked_and_comes_back(blobs: Data, session: Session) -> None:
    cluster = biggest(session)
    members = session.members(cluster)
    gone = members[:2]
    clusters, singles = session.state.clusters, session.state.singletons
    state, _ = session.perform(Junk(gone))
    assert state.junk == 2
    assert (state.clusters, state.singletons) == (clusters, singles)
    assert np.flatnonzero(state.is_junk).tolist() == list(gone)
    assert not set(gone) & {item for pair in to_the_end(blobs, session) for item in pair}
    session.perform(Restore(gone))
    assert session.state.junk == 0
    asked = {item for pair in to_the_end(blobs, session) for item in pair}
    assert asked & set(gone)


def test_a_restored_image_returns_to_what_it_was_said_to_be_the_same_as(session: Session) -> None:
    a, b = biggest(session), biggest(session, 1)
    session.perform(Merge(a, b))
    left, right = session.history()[0].items
    session.perform(Junk((left,)))
    assert not together(session, left, right)
    session.perform(Restore((left,)))
    assert together(session, left, right)


def test_junk_of_the_shown_pair_is_an_answer(session: Session) -> None:
    question = session.state.question
    assert question is not None
    state, change = session.answer(question.id, Answer.JUNK_RIGHT)
    assert np.flatnonzero(state.is_junk).tolist() == [question.right]
    assert change.text == "Junk right"
    assert state.answers == 0
    session.undo()
    assert session.state.question is not None
    assert (session.state.question.left, session.state.question.right) == (question.left, question.right)


def test_all_images_can_be_junk(session: Session) -> None:
    session.perform(Junk(tuple(range(48))))
    assert session.state.question is None
    assert (session.state.clusters, session.state.singletons, session.state.junk) == (0, 0, 48)
    with pytest.raises(InputError, match="No image is selected"):
        session.perform(Junk((0,)))
    session.undo()
    assert session.state.question is not None


def test_a_pair_that_cannot_be_compared_is_never_asked_again(blobs: Data, session: Session) -> None:
    question = session.state.question
    assert question is not None
    session.answer(question.id, Answer.INCOMPARABLE)
    with pytest.raises(InputError, match="No pair was skipped"):
        session.perform(Requeue())
    shown = to_the_end(blobs, session)
    assert {question.left, question.right} not in [set(pair) for pair in shown]
    assert session.state.incomparable == 1


def test_skipped_pairs_come_again_when_queued_anew(blobs: Data, session: Session) -> None:
    skipped = to_the_end(blobs, session, Answer.SKIP)
    assert skipped
    assert session.state.skipped == len(skipped)
    state, change = session.perform(Requeue())
    assert state.skipped == 0
    assert str(len(skipped)) in change.text
    again = to_the_end(blobs, session)
    assert {frozenset(pair) for pair in again} & {frozenset(pair) for pair in skipped}


@pytest.mark.parametrize("strategy", ["a3s", "a3s-paper", "cobra", "random", "ffqs", "npu", "urasc"])
def test_nothing_is_asked_about_a_finished_cluster_and_nothing_changes_it(blobs: Data, strategy: str) -> None:
    data = Data(blobs.views, blobs.classes, blobs.initial, StrategyOptions(strategy, clusters=6))
    session = data.session()
    cluster = biggest(session)
    members = session.members(cluster)
    state, _ = session.perform(Finish(cluster))
    assert state.finished == {cluster}
    for _ in range(60):
        question = session.state.question
        if question is None:
            break
        assert not {question.left, question.right} & set(members)
        data.answer(session)
    assert session.members(int(session.state.labels[members[0]])) == members
    session.perform(Reopen(int(session.state.labels[members[0]])))
    assert not session.state.finished


def test_what_is_moved_into_a_finished_cluster_is_finished_too(session: Session) -> None:
    target = biggest(session)
    session.perform(Finish(target))
    item = session.members(biggest(session, 1))[0]
    state, _ = session.perform(Move((item,), target))
    assert state.finished == {int(state.labels[item])}


# --- names


def test_a_name_follows_its_images(session: Session) -> None:
    a, b = biggest(session), biggest(session, 1)
    session.perform(Rename(a, "Anna"))
    session.perform(Rename(b, "Bert"))
    assert session.state.names == {a: "Anna", b: "Bert"}
    members = session.members(a)
    session.perform(Merge(a, b))
    (name,) = session.state.names.values()
    assert name == "Bert"  # the newer one shows
    session.undo()
    assert session.state.names == {a: "Anna", b: "Bert"}
    session.perform(SplitOff(members[:1]))
    assert "Anna" in session.state.names.values()


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("  Anna  B ", "Anna B"),
        ("Anna\nB\t", "Anna B"),
        ("\u05e9\u05dc\u05d5\u05dd", "\u05e9\u05dc\u05d5\u05dd"),
        ("\U0001f469\u200d\U0001f467 zwei", "\U0001f469\u200d\U0001f467 zwei"),
        ("a\u202eb", "ab"),
    ],
)
def test_names_are_kept_clean(session: Session, typed: str, kept: str) -> None:
    cluster = biggest(session)
    session.perform(Rename(cluster, typed))
    assert session.state.names[cluster] == kept


@pytest.mark.parametrize("other", ["anna b", "ANNA  B", "  AnnaB ", "Ａnna b"])
def test_a_name_is_unique_whatever_its_case_and_spaces(session: Session, other: str) -> None:
    a, b = biggest(session), biggest(session, 1)
    session.perform(Rename(a, "Anna B"))
    with pytest.raises(NameTakenError) as taken:
        session.perform(Rename(b, other))
    assert taken.value.cluster == a
    assert "Anna B" in taken.value.message  # as it is written there
    session.perform(Rename(a, other))  # its own name in another spelling is allowed


@pytest.mark.parametrize(("name", "words"), [("", "Type a name"), (" \n ", "Type a name"), ("x" * 10_000, "10,000")])
def test_names_that_cannot_be(session: Session, name: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        session.perform(Rename(biggest(session), name))


def test_a_name_can_be_taken_away(session: Session) -> None:
    cluster = biggest(session)
    session.perform(Rename(cluster, "Anna"))
    state, change = session.perform(Rename(cluster, ""))
    assert not state.names
    assert change.text == "Remove name"
    session.undo()
    assert session.state.names == {cluster: "Anna"}


# --- contradictions


def test_a_correction_against_an_answer_is_refused_with_the_chain_and_a_link_can_be_dropped(
    blobs: Data, session: Session
) -> None:
    while session.state.different < 3:
        blobs.answer(session)
    entry = next(one for one in session.history() if one.answer is Answer.DIFFERENT)
    a, b = (int(session.state.labels[item]) for item in entry.items)
    before = session.engine.digest()
    with pytest.raises(ContradictionError) as refused:
        session.perform(Merge(a, b))
    assert session.engine.digest() == before
    behind = session.entries_behind(refused.value.chain)
    assert entry.number in [link.number for link in behind if link is not None]
    numbers: set[int] = set()
    while True:
        try:
            session.perform(Merge(a, b), dropping=numbers)
        except ContradictionError as again:
            chain = again.chain
        else:
            break
        numbers |= {link.number for link in session.entries_behind(chain) if link and link.answer is Answer.DIFFERENT}
    assert together(session, *entry.items)
    dropped = [one.number for one in session.history() if one.withdrawn]
    assert sorted(numbers) == sorted(dropped)
    session.undo()  # one step: the merge and what was dropped for it
    assert session.engine.digest() == before
    assert not any(one.withdrawn for one in session.history())


def test_corrections_survive_a_restart_and_undo_after_it(blobs: Data) -> None:
    journal = MemoryJournal()
    session = blobs.session(journal)
    digests = [session.engine.digest()]
    done: list[Operation] = [
        Merge(biggest(session), biggest(session, 1)),
        Rename(biggest(session), "Anna"),
        Finish(biggest(session)),
        Junk((3, 9)),
        SplitOff(session.members(biggest(session, 3))[:1]),
    ]
    for operation in done:
        session.perform(operation)
        digests.append(session.engine.digest())
    again = blobs.session(journal)
    for digest in reversed(digests):
        assert again.engine.digest() == digest
        if again.state.can_undo:
            again.undo()
    assert not again.state.can_undo


def test_a_project_that_is_open_read_only_refuses(blobs: Data) -> None:
    session = blobs.session(read_only=True)
    with pytest.raises(ReadOnlyError):
        session.perform(Merge(biggest(session), biggest(session, 1)))
    with pytest.raises(ReadOnlyError):
        session.change(1, None)


def test_the_journal_holds_corrections_as_plain_json(blobs: Data) -> None:
    journal = MemoryJournal()
    session = blobs.session(journal)
    session.perform(SplitOff(session.members(biggest(session))[:2]))
    (record,) = journal.records()
    assert record.kind == "correct"
    assert json.loads(json.dumps(record.payload)) == record.payload
