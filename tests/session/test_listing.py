"""The history in filtered pages: the same as filtering all entries by hand, whatever happened in between."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from a3s_desktop.core.types import Answer
from a3s_desktop.session.chain import HistoryNode
from a3s_desktop.session.listing import EntryGroup, HistoryFilter
from a3s_desktop.session.operations import Finish, Junk, Rename
from a3s_desktop.session.session import Session
from a3s_desktop.session.state import EntryKind, HistoryEntry
from tests.session.conftest import Data


@pytest.fixture
def session(blobs: Data) -> Session:
    """Answers of all kinds, corrections, a name, a sample check, one withdrawn entry."""
    session = blobs.session()
    said = (None, None, Answer.SKIP, None, Answer.INCOMPARABLE, None, Answer.JUNK_LEFT, None, None, Answer.SAME)
    for answer in said:
        blobs.answer(session, answer)
    cluster = int(session.state.labels[int(np.flatnonzero(~session.state.is_junk)[0])])
    session.perform(Rename(cluster, "Anna"))
    session.perform(Finish(cluster))
    session.perform(Junk((int(np.flatnonzero(~session.state.is_junk)[5]),)))
    pair = session.audit_pair()
    assert pair is not None
    session.audit(*pair, Answer.SAME)
    session.change(2, None)
    return session


def listed(session: Session, wanted: HistoryFilter) -> list[HistoryEntry]:
    """A whole list, fetched three rows at a time."""
    page = session.listing.page(wanted, 0, 3)
    found = list(page.entries)
    while len(found) < page.total:
        found += session.listing.page(wanted, len(found), 3).entries
    assert len(found) == page.total
    assert page.everything == len(session.history())
    return found


KINDS: dict[EntryGroup, Callable[[HistoryEntry], bool]] = {
    EntryGroup.SAME: lambda e: e.kind is EntryKind.ANSWER and e.answer is Answer.SAME,
    EntryGroup.DIFFERENT: lambda e: e.kind is EntryKind.ANSWER and e.answer is Answer.DIFFERENT,
    EntryGroup.SKIP: lambda e: e.kind is EntryKind.ANSWER and e.answer is Answer.SKIP,
    EntryGroup.INCOMPARABLE: lambda e: e.kind is EntryKind.ANSWER and e.answer is Answer.INCOMPARABLE,
    EntryGroup.JUNK: lambda e: e.kind is EntryKind.ANSWER and e.answer is Answer.JUNK_LEFT,
    EntryGroup.CORRECTION: lambda e: e.kind is EntryKind.CORRECTION and e.what != "name",
    EntryGroup.NAME: lambda e: e.what == "name",
    EntryGroup.AUDIT: lambda e: e.kind is EntryKind.AUDIT,
}


def test_without_a_filter_all_entries_are_listed_newest_first(session: Session) -> None:
    assert tuple(listed(session, HistoryFilter())) == session.history()


@pytest.mark.parametrize("group", list(EntryGroup))
def test_each_kind_of_entry_can_be_listed_alone(session: Session, group: EntryGroup) -> None:
    found = listed(session, HistoryFilter(groups=frozenset({group})))
    assert found == [entry for entry in session.history() if KINDS[group](entry)]
    assert found


def test_entries_of_a_cluster_are_those_about_its_images_as_they_are_now(session: Session, blobs: Data) -> None:
    for _ in range(3):
        entry = next(entry for entry in session.history() if entry.answer is Answer.SAME)
        cluster = int(session.state.labels[entry.left])
        members = set(session.members(cluster))
        found = listed(session, HistoryFilter(clusters=frozenset({cluster}), groups=frozenset({EntryGroup.SAME})))
        assert found == [e for e in session.history() if KINDS[EntryGroup.SAME](e) and members & set(e.items)]
        blobs.answer(session)


def test_without_effect_lists_what_was_taken_back_and_what_contradicts(session: Session) -> None:
    found = listed(session, HistoryFilter(without_effect=True))
    assert [entry.number for entry in found] == sorted({2, *session.state.conflicts}, reverse=True)
    session.undo()
    assert listed(session, HistoryFilter(without_effect=True)) == []


def test_a_date_leaves_older_entries_out(session: Session) -> None:
    assert listed(session, HistoryFilter(since=time.time() + 60)) == []
    middle = session.history()[5].when
    assert listed(session, HistoryFilter(since=middle)) == [e for e in session.history() if e.when >= middle]


def test_text_is_found_in_names_of_images(session: Session) -> None:
    # Without a project folder images are called by their numbers.
    entry = session.history()[-1]
    found = listed(session, HistoryFilter(text=f" {entry.left} "))
    assert entry in found
    assert all(any(str(entry.left) in str(item) for item in e.items) or e.kind is EntryKind.CORRECTION for e in found)
    assert listed(session, HistoryFilter(text="no such file")) == []


def test_the_most_doubtful_answers_come_first_out_of_all(session: Session, blobs: Data) -> None:
    while session.state.question is not None:
        question = session.state.question
        session.answer(question.id, Answer.SAME if question.probability < 0.5 else Answer.DIFFERENT)
    wanted = HistoryFilter(doubtful=True, by_doubt=True)
    found = listed(session, wanted)
    doubts = [entry.doubt for entry in session.history() if entry.doubt >= 0.5]
    assert [entry.doubt for entry in found] == sorted(doubts, reverse=True)
    assert len(found) > 3
    kept = frozenset((e.left, e.right, e.answer) for e in found[:2] if e.answer is not None)
    assert listed(session, HistoryFilter(doubtful=True, by_doubt=True, looked_at=kept)) == found[2:]
    # Answered the other way, it agrees with the images and leaves the list.
    worst = found[0]
    session.change(worst.number, Answer.DIFFERENT if worst.answer is Answer.SAME else Answer.SAME)
    assert worst.number not in [entry.number for entry in listed(session, wanted)]


def test_a_list_follows_undo_redo_changes_and_answers(session: Session, blobs: Data) -> None:
    wanted = HistoryFilter(groups=frozenset({EntryGroup.SAME, EntryGroup.DIFFERENT}))
    rng = np.random.default_rng(1)
    for step in range(60):
        what = int(rng.integers(5))
        if what == 0 and session.state.can_undo:
            session.undo()
        elif what == 1 and session.state.can_redo:
            session.redo()
        elif what == 2 and session.history():
            number = int(rng.integers(len(session.history()))) + 1
            old = next(e for e in session.history() if e.number == number)
            session.change(number, None if old.answer is None else Answer.DIFFERENT)
        elif session.state.question is not None:
            blobs.answer(session, Answer.SKIP if step % 7 == 0 else None)
        groups = [e for e in session.history() if e.kind is EntryKind.ANSWER]
        assert listed(session, wanted) == [e for e in groups if e.answer in (Answer.SAME, Answer.DIFFERENT)]


def test_the_page_comes_with_the_entry_that_is_asked_for(session: Session) -> None:
    page = session.listing.page(HistoryFilter(), 0, 4, anchor=2)
    assert page.total == 14
    assert page.row == 12
    assert page.entries[page.row - page.offset].number == 2
    # Of one that is not listed, the next older one takes the place.
    corrections = HistoryFilter(groups=frozenset({EntryGroup.CORRECTION, EntryGroup.NAME}))
    page = session.listing.page(corrections, 0, 10, anchor=14)
    assert page.entries[page.row].number == 13
    page = session.listing.page(corrections, 0, 10, anchor=1)
    assert page.row == 2


def test_what_depends_on_an_entry_is_counted(session: Session) -> None:
    later, same = session.listing.touching(1)
    first = session.history()[-1]
    clusters = {int(session.state.labels[item]) for item in first.items}
    assert later == 13
    assert same == sum(
        any(int(session.state.labels[item]) in clusters for item in entry.items) for entry in session.history()[:-1]
    )
    assert session.listing.touching(14) == (0, 0)
    assert session.listing.touching(99) == (0, 0)


def test_answers_of_a_day_are_counted_whatever_the_clock_showed_before(
    blobs: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Set back and forth, asleep for a night: an answer counts for the day that the clock showed then."""
    session, day = blobs.session(), 86_400.0
    shown = [10 * day + 5, 375 * day, 10 * day + 7, 9 * day, 10 * day + 9, 11 * day - 1, 11 * day]
    for when in shown:
        monkeypatch.setattr(time, "time", lambda when=when: when)
        blobs.answer(session)
    wanted = (10 * day + 5, 10 * day + 7, 10 * day + 9, 11 * day - 1)

    def check(expected: tuple[float, ...]) -> None:
        times = session.listing.times(10 * day, 11 * day)
        assert (times.count, times.newest) == (len(expected), expected[::-1])

    check(wanted)
    assert session.listing.times(11 * day, 12 * day).newest == (11 * day,)
    session.undo()
    session.undo()
    check(wanted[:-1])
    session.redo()
    check(wanted)
    session.change(1, None)
    check(wanted[1:])
    assert [entry.number for entry in session.history()] == [6, 5, 4, 3, 2, 1], "by number, not by time"
    assert session.listing.times(10 * day, 11 * day, newest=1).newest == wanted[-1:]


def test_counting_a_long_day_looks_only_at_what_is_new(blobs: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    session = blobs.session()
    for _ in range(8):
        blobs.answer(session)
    assert session.listing.times(0.0).count == 8
    looked: list[int] = []
    since = HistoryNode.since

    def watched(node: HistoryNode, number: int) -> Iterator[HistoryNode]:
        for one in since(node, number):
            looked.append(one.count)
            yield one

    monkeypatch.setattr(HistoryNode, "since", watched)
    blobs.answer(session)
    assert session.listing.times(0.0).count == 9
    assert looked == [9]
