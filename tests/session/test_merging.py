"""Two annotators: copies of a project that went different ways come together; only disagreements are asked about."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest

from a3s_desktop.core.strategies.a3s import A3S
from a3s_desktop.core.types import Answer, Reason
from a3s_desktop.errors import ContradictionError, InputError, ReadOnlyError
from a3s_desktop.session.agreement import Sayings, agreement, kappa
from a3s_desktop.session.disagreements import About
from a3s_desktop.session.entries import RecordedAnswer
from a3s_desktop.session.history import History
from a3s_desktop.session.merging import MergePlan, Other
from a3s_desktop.session.operations import Finish, Junk, Merge, Rename, SplitOff
from a3s_desktop.session.session import Session
from a3s_desktop.session.state import ChangeKind
from a3s_desktop.storage.journal_types import JournalProtocol, MemoryJournal
from tests.session import test_sequences as sequences
from tests.session.conftest import Data, start


def copy_of(journal: JournalProtocol) -> MemoryJournal:
    """What copying the project's folder does to its journal."""
    made = MemoryJournal()
    for record in journal.records():
        made.append(record.kind, record.payload, record.at)
    return made


class Side:
    """An annotator with a project."""

    def __init__(self, data: Data, journal: MemoryJournal | None = None, author: str = "") -> None:
        self.data, self.journal = data, journal or MemoryJournal()
        self.session = data.session(self.journal, author=author)

    def copy(self, author: str = "") -> Side:
        """Another annotator's copy of it."""
        return Side(self.data, copy_of(self.journal), author)

    @property
    def other(self) -> Other:
        return Other("Copy", "id", self.paths, History.fold(self.journal.records()))

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(f"{item}.png" for item in range(len(self.data.classes)))

    def plan(self, other: Side | Other) -> MergePlan:
        found = other.other if isinstance(other, Side) else other
        return self.session.joint.plan_of(found, self.paths, "id")

    def merge(self, other: Side) -> MergePlan:
        plan = self.plan(other)
        if not plan.empty:
            self.session.merge(plan)
        return plan

    def say(self, left: int, right: int, answer: Answer) -> None:
        """Answer a pair, whichever is asked now, through the journal."""
        entry = RecordedAnswer(left, right, answer, Reason.MERGE, 0.0, author=self.session.author)
        self.journal.append("answer", entry.payload(), next(_CLOCK))
        self.session = self.data.session(self.journal, author=self.session.author)

    def answers(self, count: int) -> None:
        for _ in range(count):
            if self.session.state.question is not None:
                self.data.answer(self.session)


_CLOCK = itertools.count(1_000_000.0)


def check(side: Side) -> None:
    """The live state equals a replay of the journal."""
    fresh = side.data.session(copy_of(side.journal), snapshot_every=0, author=side.session.author)
    assert fresh.engine.digest() == side.session.engine.digest()
    assert fresh.warnings == ()
    sequences.check_state(*(replace(one.state, outlook=None) for one in (fresh, side.session)))
    assert fresh.history() == side.session.history()
    sequences.check_answers(side.session)


def known_pairs(session: Session) -> dict[tuple[int, int], Answer]:
    store = session.engine.store
    items = range(len(session.state.labels))
    found = {pair: store.relation(*pair) for pair in itertools.combinations(items, 2)}
    return {pair: said for pair, said in found.items() if said is not None}


def partition(labels: Iterable[int]) -> set[frozenset[int]]:
    groups: dict[int, set[int]] = {}
    for item, label in enumerate(labels):
        groups.setdefault(int(label), set()).add(item)
    return {frozenset(group) for group in groups.values()}


@pytest.fixture
def a(blobs: Data) -> Side:
    """One of two, after a common beginning of five answers."""
    side = Side(blobs, author="Ann")
    side.answers(5)
    return side


# --- what is taken over


def test_what_only_one_side_said_is_taken_over_with_author_and_time(a: Side) -> None:
    b = a.copy("Bob")
    b.answers(6)
    said = b.session.history()[:6]
    plan = a.plan(b)
    assert (plan.taken, plan.known, plan.disagreements) == (6, 5, 0)
    before = a.session.state
    state, change = a.session.merge(plan)
    assert change.kind is ChangeKind.MERGE
    assert change.text == "Merge of Copy"
    assert state.answers == before.answers + 6
    taken = a.session.history()[:6]
    assert [(e.left, e.right, e.answer, e.when) for e in taken] == [(e.left, e.right, e.answer, e.when) for e in said]
    assert {entry.author for entry in taken} == {"Bob"}
    assert {entry.author for entry in a.session.history()[6:]} == {""}, "one's own name need not be told"
    assert state.undo_text == "Merge of Copy"
    check(a)


def test_undo_takes_the_whole_merge_back_and_redo_brings_it(a: Side) -> None:
    b = a.copy("Bob")
    b.answers(6)
    a.answers(3)
    digest, history, before = a.session.engine.digest(), a.session.history(), a.session.state
    a.merge(b)
    merged = a.session.engine.digest()
    a.session.undo()
    assert a.session.engine.digest() == digest
    assert a.session.history() == history
    sequences.check_state(before, replace(a.session.state, can_redo=False, redo_text=""))
    a.session.redo()
    assert a.session.engine.digest() == merged
    check(a)


def test_what_comes_in_one_go_is_asked_about_once_at_its_end(a: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    b = a.copy("Bob")
    a.answers(8)
    b.answers(30)
    plan = a.plan(b)
    assert len(plan.entries) >= 20
    chosen = []
    best = A3S._best
    monkeypatch.setattr(A3S, "_best", lambda *args: (chosen.append(1), best(*args))[1])
    a.session.merge(plan)
    assert len(chosen) <= 3, "the first of them may answer the present question"
    assert a.session.state.question is not None
    check(a)


def test_two_merges_in_a_row_and_a_change_amid_one_equal_their_replay(a: Side) -> None:
    b, c = a.copy("Bob"), a.copy("Cid")
    b.answers(12)
    c.say(3, 40, Answer.DIFFERENT)
    c.say(0, 47, Answer.DIFFERENT)
    c.answers(8)
    a.answers(2)
    a.merge(b)
    a.merge(c)
    check(a)
    merged = a.session.engine.digest()
    history = a.session.history()
    amid = [entry for entry in history if entry.author == "Bob"][5]
    turned = Answer.DIFFERENT if amid.answer is Answer.SAME else Answer.SAME
    a.session.change(amid.number, turned)
    check(a)
    a.session.undo()
    assert a.session.engine.digest() == merged
    a.session.undo()
    a.session.undo()
    a.session.redo()
    a.session.redo()
    assert a.session.engine.digest() == merged
    a.answers(3)
    check(a)


def test_merging_twice_is_merging_once(a: Side) -> None:
    b = a.copy("Bob")
    b.answers(6)
    a.merge(b)
    plan = a.plan(b)
    assert plan.empty
    assert plan.known == 11
    with pytest.raises(InputError, match="nothing new"):
        a.session.merge(plan)
    b.answers(2)
    assert a.plan(b).taken == 2
    back = b.plan(a)
    assert back.empty, "what came from there is known there"


def test_a_plan_of_yesterday_is_refused(a: Side) -> None:
    b = a.copy("Bob")
    b.answers(2)
    plan = a.plan(b)
    a.answers(1)
    with pytest.raises(InputError, match="changed meanwhile"):
        a.session.merge(plan)
    reader = a.data.session(a.journal, read_only=True)
    with pytest.raises(ReadOnlyError):
        reader.merge(reader.joint.plan_of(b.other, a.paths, "id"))


def test_items_are_known_by_their_path(a: Side) -> None:
    b = a.copy("Bob")
    b.answers(3)
    shown = [(e.left, e.right) for e in b.session.history()[:3]]
    n = len(a.paths)
    turned = Other("Turned", "another", b.paths, b.other.history)
    plan = a.session.joint.plan_of(turned, tuple(reversed(a.paths)), "id")
    pairs = [entry.shown for entry in plan.entries][::-1]
    assert pairs[:3] == [(n - 1 - left, n - 1 - right) for left, right in shown]


def test_an_image_that_is_not_here_is_named_and_further_images_of_ours_are_fine(a: Side) -> None:
    b = a.copy("Bob")
    b.answers(3)
    entry = b.session.history()[-1]
    paths = tuple("other/" + path if at == entry.left else path for at, path in enumerate(b.paths))
    stranger = Other("Stranger", "another", paths, b.other.history)
    with pytest.raises(InputError, match=rf"other/{entry.left}\.png"):
        a.plan(stranger)
    more = a.session.joint.plan_of(b.other, (*a.paths, "later.png"), "id")
    assert more.taken == 3
    # Where images were added from a folder further up, a copy's keys are longer; its items keep their numbers.
    deeper = a.session.joint.plan_of(b.other, tuple(f"up/{path}" for path in a.paths), "id")
    assert deeper.taken == 3


# --- disagreements


def test_a_contradiction_has_no_effect_until_theirs_is_chosen(a: Side) -> None:
    b = a.copy("Bob")
    a.session.author = "Ann"
    a.say(0, 47, Answer.DIFFERENT)
    b.say(0, 47, Answer.SAME)
    b.say(1, 2, Answer.SAME)
    plan = a.merge(b)
    assert (plan.taken, plan.disagreements) == (1, 1)
    state = a.session.state
    assert state.unsettled == state.conflicts
    assert len(state.unsettled) == 1
    (one,) = a.session.joint.disagreements()
    assert one.about is About.PAIR
    assert (one.left, one.right, one.same) == (0, 47, True)
    assert one.entry.author == "Bob"
    assert one.chain == ((0, 47, "different"),)
    (ours,) = one.behind
    assert ours is not None
    moved = a.session.moved_by((ours.number,))
    assert a.session.state is state
    assert moved > 0
    after, _ = a.session.change(ours.number, None)
    assert after.unsettled == ()
    assert after.labels[0] == after.labels[47]
    assert int((after.labels != state.labels).sum()) == moved
    check(a)
    a.session.undo()
    assert a.session.state.unsettled == state.unsettled


def test_ours_stays_and_is_not_asked_about_again(a: Side) -> None:
    b = a.copy("Bob")
    a.say(0, 47, Answer.DIFFERENT)
    b.say(0, 47, Answer.SAME)
    a.merge(b)
    (number,) = a.session.state.unsettled
    a.session.change(number, None)
    assert a.session.state.unsettled == ()
    assert a.session.joint.disagreements() == ()
    assert a.plan(b).empty, "it was decided on"
    check(a)


def test_a_contradiction_that_only_follows_shows_the_chain(a: Side) -> None:
    b = a.copy("Bob")
    a.say(40, 41, Answer.SAME)
    a.say(41, 42, Answer.DIFFERENT)
    b.say(40, 42, Answer.SAME)
    a.merge(b)
    (one,) = a.session.joint.disagreements()
    assert one.chain == ((40, 41, "same"), (41, 42, "different"))
    assert all(entry is not None for entry in one.behind)


def test_what_the_other_changed_or_took_back_of_the_common_beginning_is_a_new_statement(a: Side) -> None:
    b = a.copy("Bob")
    first, second = b.session.history()[-1], b.session.history()[-2]
    turned = Answer.DIFFERENT if first.answer is Answer.SAME else Answer.SAME
    b.session.change(first.number, turned)
    b.session.change(second.number, None)
    plan = a.merge(b)
    assert plan.disagreements == 2
    found = {one.about: one for one in a.session.joint.disagreements()}
    assert found[About.PAIR].chain == ((first.left, first.right, first.answer.value),)
    taken_back = found[About.TAKEN_BACK]
    assert {one.entry.author for one in found.values()} == {"Bob"}, "who changed it, not who said it first"
    assert [entry.number for entry in taken_back.behind if entry is not None] == [second.number]
    assert (taken_back.left, taken_back.right) == (second.left, second.right)
    assert a.plan(b).empty
    # Theirs: what was taken back there is taken back here, in one step.
    a.session.change(second.number, None, also=(taken_back.entry.number,))
    assert len(a.session.state.unsettled) == 1
    check(a)
    # What we changed of the common beginning is no statement of theirs.
    c = b.copy("Cid")
    c.session.change(c.session.history()[-3].number, None)
    assert c.plan(b).empty


def test_the_other_may_change_his_own_mind(a: Side) -> None:
    b = a.copy("Bob")
    b.answers(3)
    a.merge(b)
    last = b.session.history()[0]
    b.session.change(last.number, None)
    plan = a.merge(b)
    assert (plan.taken, plan.disagreements) == (1, 0)
    assert a.session.history()[0].withdrawn
    check(a)


def test_names_junk_and_finished_marks(a: Side) -> None:
    b = a.copy("Bob")
    labels = a.session.state.labels
    clusters = [cluster for cluster in np.unique(labels).tolist() if (labels == cluster).sum() > 1]
    first, second, third, fourth = clusters[:4]
    a.session.perform(Rename(first, "Anna"))
    b.session.perform(Rename(first, "Berta"))
    a.session.perform(Rename(second, "Carl"))
    b.session.perform(Rename(third, "Carl"))
    b.session.perform(Rename(fourth, "Dora"))
    b.session.perform(Finish(fourth))
    lost = int(np.flatnonzero(labels == third)[-1])
    b.session.perform(Junk((lost,)))
    plan = a.merge(b)
    assert plan.disagreements == 2
    state = a.session.state
    assert state.names == {first: "Anna", second: "Carl", fourth: "Dora"}
    assert state.is_junk[lost]
    assert fourth in state.finished
    found = {one.about: one for one in a.session.joint.disagreements()}
    named = found[About.NAME]
    assert (named.cluster, named.ours, named.theirs) == (first, "Anna", "Berta")
    same = found[About.SAME_NAME]
    assert (same.cluster, same.other, same.theirs) == (third, second, "Carl")
    assert a.plan(b).empty
    a.session.perform(Rename(first, "Berta"), dropping=(named.entry.number,))
    a.session.perform(Merge(third, second), dropping=(same.entry.number,))
    assert a.session.state.unsettled == ()
    assert set(a.session.state.names.values()) == {"Berta", "Carl", "Dora"}
    check(a)


def test_a_disagreement_of_names_goes_where_the_name_becomes_the_same(a: Side) -> None:
    b = a.copy("Bob")
    cluster = int(a.session.state.labels[0])
    a.session.perform(Rename(cluster, "Anna"))
    b.session.perform(Rename(cluster, "Berta"))
    a.merge(b)
    assert len(a.session.state.unsettled) == 1
    a.session.perform(Rename(cluster, "berta"))
    assert a.session.state.unsettled == ()


# --- agreement


def test_kappa_of_the_textbook() -> None:
    found = kappa(np.array([[20, 5], [10, 15]]), 50, explicit=True)
    assert found.kappa == pytest.approx(0.4)
    assert found.low < 0.4 < found.high
    assert (found.pairs, found.agreed) == (50, 35)
    assert kappa(np.array([[9, 0], [0, 0]]), 9, explicit=True).kappa is None, "nothing to tell chance by"
    perfect = kappa(np.array([[5, 0], [0, 5]]), 10, explicit=True)
    assert perfect.kappa == 1.0
    assert perfect.low < 0.9, "ten pairs do not prove it"


def test_pairs_that_follow_are_compared_where_few_were_answered_by_both() -> None:
    def said(*links: tuple[int, int, Answer]) -> list[RecordedAnswer]:
        return [RecordedAnswer(a, b, answer, Reason.MERGE, 0.0) for a, b, answer in links]

    same, different = Answer.SAME, Answer.DIFFERENT
    ours = said((0, 1, same), (1, 2, same), (3, 4, same), (0, 3, different))
    theirs = said((0, 2, same), (2, 1, same), (2, 4, different), (3, 4, different))
    found = agreement(ours, theirs)
    # Known to both by brute force: 01 02 12 04 14 24 the same way; 34 not.
    assert not found.explicit
    assert (found.pairs, found.agreed) == (7, 6)
    many = [(k, k + 1, same if k % 3 else different) for k in range(0, 90, 2)]
    assert agreement(said(*many), said(*many)).explicit


def test_closure_equals_brute_force() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        sides = []
        for _ in range(2):
            entries = []
            for _ in range(12):
                i, j = rng.permutation(14)[:2].tolist()
                said = Answer.SAME if rng.random() < 0.4 else Answer.DIFFERENT
                entries.append(RecordedAnswer(i, j, said, Reason.MERGE, 0.0))
            sides.append(entries)
        known = []
        for entries in sides:
            sayings = Sayings()
            for entry in entries:
                sayings.add(entry)
            known.append(sayings.store)
        both = [
            (known[0].relation(i, j), known[1].relation(i, j))
            for i, j in itertools.combinations(range(14), 2)
            if known[0].relation(i, j) and known[1].relation(i, j)
        ]
        found = agreement(*sides)
        if not found.explicit:
            assert found.pairs == len(both)
            assert found.agreed == sum(x is y for x, y in both)


def test_only_what_each_said_alone_is_compared(a: Side) -> None:
    b = a.copy("Bob")
    assert a.plan(b).agreement.pairs == 0, "the common beginning is no agreement"
    a.say(1, 2, Answer.SAME)
    b.say(2, 1, Answer.SAME)
    a.say(1, 30, Answer.DIFFERENT)
    b.say(2, 30, Answer.DIFFERENT)
    found = a.plan(b).agreement
    assert (found.pairs, found.agreed, found.kappa) == (3, 3, 1.0)
    a.merge(b)
    assert a.plan(b).agreement.pairs == 0, "what was taken over is known to both by one"


# --- random work of two


def work(side: Side, rng: np.random.Generator, longest: int, truthful: bool) -> None:
    for operation, number in sequences.sequence(rng, longest):
        session = side.session
        state = session.state
        if truthful:
            side.answers(1)
            if number % 5 == 0 and operation in ("merge", "split", "junk", "finish"):
                true_correction(side, number)
        elif operation == "undo" and state.can_undo:
            session.undo()
        elif operation == "redo" and state.can_redo:
            session.redo()
        elif operation in ("change", "withdraw"):
            sequences.change(session, operation, number)
        elif operation == "drop and merge" or operation in sequences.CORRECTIONS:
            sequences.correct(session, operation, number)
        elif operation not in ("restart", "idle", "audit", "undo", "redo") and state.question is not None:
            answer = side.data.truth(state) if operation == "truth" else Answer(operation)
            session.answer(state.question.id, answer)


def true_correction(side: Side, number: int) -> None:
    """Split a truly foreign image off its cluster, or finish a pure one."""
    labels, classes = side.session.state.labels, side.data.classes
    item = number % len(labels)
    members = np.flatnonzero(labels == labels[item])
    foreign = members[classes[members] != classes[item]]
    try:
        if len(foreign):
            side.session.perform(SplitOff((int(foreign[0]),)))
    except (InputError, ContradictionError):
        return


@pytest.fixture(scope="module")
def small(digits: Data) -> Data:
    features = digits.views[0][:40]
    return Data((features,), digits.classes[:40], start(features))


@pytest.mark.parametrize("seed", range(4))
def test_random_copies_that_diverge(small: Data, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(20):
        a = Side(small, author="Ann")
        work(a, rng, 16, truthful=False)
        b = a.copy("Bob")
        work(a, rng, 20, truthful=False)
        work(b, rng, 20, truthful=False)
        digest, history = a.session.engine.digest(), a.session.history()
        plan = a.merge(b)
        if not plan.empty:
            state = a.session.state
            assert len(state.conflicts) >= plan.contradicting
            check(a)
            again = a.plan(b)
            assert again.empty
            for one in a.session.joint.disagreements():
                assert one.about is not About.PAIR or one.chain
                # A link that theirs makes itself, before the pair that contradicts, has no other entry behind it.
                own = [{left, right} <= set(one.entry.items) for left, right, _ in one.chain] or [False]
                assert all(entry is not None or itself for entry, itself in zip(one.behind, own, strict=False))
                assert not one.behind or any(entry is not None for entry in one.behind)
            assert len(a.session.joint.disagreements()) == len(state.unsettled)
            for number in state.unsettled:
                if number in a.session.state.unsettled:
                    a.session.change(number, None)
            assert a.session.state.unsettled == ()
            assert a.plan(b).empty
            while a.session.history() != history:
                a.session.undo()
        assert a.session.engine.digest() == digest
        check(a)


def test_without_disagreement_it_does_not_matter_who_merges(small: Data) -> None:
    rng = np.random.default_rng(77)
    both = 0
    for _ in range(20):
        a = Side(small, author="Ann")
        work(a, rng, 12, truthful=True)
        b = a.copy("Bob")
        work(a, rng, 20, truthful=True)
        work(b, rng, 20, truthful=True)
        mine, theirs = a.copy(), b.copy()
        assert a.merge(theirs).disagreements == 0
        assert b.merge(mine).disagreements == 0
        assert known_pairs(a.session) == known_pairs(b.session)
        sure = [item for item in range(40) if a.session.engine.confirmed.values[item]]
        assert {g & set(sure) for g in partition(a.session.state.labels)} == {
            g & set(sure) for g in partition(b.session.state.labels)
        }
        both += partition(a.session.state.labels) == partition(b.session.state.labels)
    assert both == 20, "the same clusters, whoever merges"
