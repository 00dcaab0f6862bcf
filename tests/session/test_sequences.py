"""2,000 random sequences of everything that a user can do: the state equals that of a fresh replay."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from a3s_desktop.core.types import Answer
from a3s_desktop.errors import ContradictionError, InputError
from a3s_desktop.session.entries import RecordedAnswer, RecordedAudit, RecordedCorrection
from a3s_desktop.session.known_labels import KnownLabels, spanning
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
from a3s_desktop.session.position import Position
from a3s_desktop.session.session import Session
from a3s_desktop.session.state import SessionState
from a3s_desktop.storage.journal_opening import create_journal, open_journal
from a3s_desktop.storage.journal_types import JournalProtocol, MemoryJournal
from tests.session.conftest import Data, start

# Long runs of truthful answers reach the later stages; wrong ones and skips reach what no truthful run does.
ANSWERS = ("same", "different", "skip", "not comparable", "junk left", "junk right", "junk both")
CORRECTIONS = (
    "merge",
    "split",
    "split each",
    "move",
    "junk",
    "restore",
    "name",
    "unname",
    "finish",
    "reopen",
    "requeue",
    "labels",
    "unify",
)
LATER = ("change", "withdraw", "drop and merge", "audit")
OPERATIONS = (
    *10 * ("truth",),
    *ANSWERS,
    *CORRECTIONS,
    *LATER,
    *8 * ("undo",),
    *4 * ("redo",),
    "idle",
    *2 * ("restart",),
)
IN_MEMORY, ON_DISK = 1920, 80
PARTS = 24  # tests of their own, so that each ends in good time on a busy machine
REAL = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "mk20"

Step = tuple[str, int]  # an operation, and a number that decides what it is done to


def correction(session: Session, kind: str, number: int) -> Operation | None:
    """What a user might do to some cluster, which ``number`` chooses."""
    labels, engine = session.state.labels, session.engine
    item, other = number % len(labels), (number // 7) % len(labels)
    cluster = int(labels[item])
    some = session.members(cluster)[: 1 + number % 3]
    junk = tuple(np.flatnonzero(session.state.is_junk).tolist())
    made: dict[str, Operation] = {
        "merge": Merge(cluster, int(labels[other])),
        "split": SplitOff(some),
        "split each": SplitOff((*some, other), each=True),
        "move": Move((*some, *junk[:1]), int(labels[other])),
        "junk": Junk(some),
        "restore": Restore(junk[: 1 + number % 2]),
        "name": Rename(cluster, f"Name {number % 5}"),
        "unname": Rename(cluster, ""),
        "finish": Finish(cluster),
        "reopen": Reopen(cluster),
        "requeue": Requeue(),
        "labels": known_labels(session, number),
        "unify": Merge(cluster, int(labels[other]), sure=True),
    }
    if kind == "labels":
        return made[kind]
    return made[kind] if not (engine.junk[item] or engine.junk[other]) or kind in ("restore", "requeue") else None


def known_labels(session: Session, number: int) -> KnownLabels:
    """A list of names of some images, in part against what was said before."""
    rng = np.random.default_rng(number)
    items = rng.permutation(len(session.state.labels))[: 2 + number % 12].tolist()
    groups = [(f"Name {at}" if at else "", tuple(sorted(items[at::3]))) for at in range(3)]
    return KnownLabels(tuple(group for group in groups if group[1]), tuple(items[:1]) if number % 9 == 0 else ())


def correct(session: Session, kind: str, number: int) -> None:
    """Perform a correction; what cannot be done, or contradicts, changes nothing."""
    wanted = correction(session, "merge" if kind == "drop and merge" else kind, number)
    if wanted is None:
        return
    state = session.state
    before = session.engine.digest() if number % 8 == 0 else ""  # it costs as much as the operation
    try:
        session.perform(wanted)
    except InputError:
        assert session.state is state
        assert before in ("", session.engine.digest())
    except ContradictionError:
        assert session.state is state
        assert before in ("", session.engine.digest())
        if kind == "drop and merge":
            drop(session, wanted)


def drop(session: Session, wanted: Operation) -> None:
    """Perform a correction and take back what contradicts it, until nothing does."""
    numbers: set[int] = set()
    while True:
        try:
            session.perform(wanted, dropping=numbers)
        except ContradictionError as refused:
            chain = refused.chain
        else:
            return
        behind = session.entries_behind(chain)
        assert len(behind) == len(chain)
        assert None not in behind
        more = {entry.number for entry in behind} - numbers
        assert more
        numbers |= more


def change(session: Session, kind: str, number: int) -> None:
    """Answer an old question differently, or take an old entry back."""
    entries = session.history()
    if entries:
        entry = entries[number % len(entries)]
        answers = list(Answer)
        new = None if kind == "withdraw" or entry.answer is None else answers[number % len(answers)]
        session.change(entry.number, new)


def run(
    data: Data,
    steps: list[Step],
    journal: JournalProtocol,
    reopen: Callable[[JournalProtocol], JournalProtocol],
    snapshot_every: int,
    far: int = 50,
) -> Session:
    """Carry ``steps`` out; those that do not apply are left out."""
    session = data.session(journal, snapshot_every=snapshot_every, far=far)
    for operation, number in steps:
        state = session.state
        if operation == "restart":
            before = session.engine.digest()
            journal = reopen(journal)
            session = data.session(journal, snapshot_every=snapshot_every, far=far)
            assert session.engine.digest() == before
        elif operation == "undo":
            if state.can_undo:
                session.undo()
        elif operation == "redo":
            if state.can_redo:
                session.redo()
        elif operation == "idle":
            session.look_ahead()
        elif operation == "audit":
            if (pair := session.audit_pair()) is not None:
                session.audit(*pair, list(Answer)[number % 3])
        elif operation in ("change", "withdraw"):
            change(session, operation, number)
        elif operation == "drop and merge" or operation in CORRECTIONS:
            correct(session, operation, number)
        elif state.question is not None:
            answer = data.truth(state) if operation == "truth" else Answer(operation)
            session.answer(state.question.id, answer)
    return session


def check_against_replay(data: Data, session: Session, journal: JournalProtocol) -> None:
    """The live engine is equal, in all it holds, to one that got the answers in force and nothing else."""
    plain = MemoryJournal()  # no snapshots, so that every answer is replayed
    for record in journal.records():
        plain.append(record.kind, record.payload, record.at)
    fresh = data.session(plain, snapshot_every=0)
    assert fresh.engine.digest() == session.engine.digest()
    edited = any(record.kind == "change" or "amend" in record.payload for record in journal.records())
    assert edited or fresh.warnings == session.warnings == ()
    check_state(fresh.state, session.state)
    assert fresh.history() == session.history()
    check_answers(session)


def check_state(a: SessionState, b: SessionState) -> None:
    """Equal in all but what depends on how they came about."""
    for name in SessionState.__slots__:
        if name in ("labels", "confirmed", "is_junk"):
            assert np.array_equal(getattr(a, name), getattr(b, name)), name
        elif name not in ("revision", "question"):
            assert getattr(a, name) == getattr(b, name), name
    assert (a.question is None) == (b.question is None)
    if a.question is not None and b.question is not None:
        assert (a.question.left, a.question.right) == (b.question.left, b.question.right)


def check_answers(session: Session) -> None:
    """The clusters agree with every answer and correction that is in force."""
    state, store = session.state, session.engine.store
    # Names that the annotator said are one after all are the exception to what the list said.
    unified = any(
        isinstance(n.entry, RecordedCorrection) and n.entry.correction.unified for n in session._history.nodes()
    )
    for node in session._history.nodes():
        entry = node.entry
        if entry.withdrawn or node.count in state.conflicts or isinstance(entry, RecordedAudit):
            continue
        links = (
            [(entry.left, entry.right, entry.answer)]
            if isinstance(entry, RecordedAnswer)
            else [(*pair, Answer.SAME) for pair in (*entry.correction.together, *spanning(entry.correction.identities))]
            + [(*pair, Answer.DIFFERENT) for pair in entry.correction.apart]
        )
        if not isinstance(entry, RecordedAnswer):
            firsts = [group[0] for group in entry.correction.identities]
            links += [(*pair, Answer.DIFFERENT) for pair in itertools.combinations(firsts, 2) if not unified]
        for left, right, answer in links:
            if answer.is_constraint:
                assert store.relation(left, right) is answer
                if not (state.is_junk[left] or state.is_junk[right]):
                    assert (state.labels[left] == state.labels[right]) == (answer is Answer.SAME)


def sequence(rng: np.random.Generator, longest: int) -> list[Step]:
    chosen = rng.integers(0, (len(OPERATIONS), 1_000_000), (rng.integers(1, longest), 2))
    return [(OPERATIONS[k], number) for k, number in chosen.tolist()]


@pytest.fixture(scope="module")
def whole(request: pytest.FixtureRequest) -> Data:
    """Real features: of people where they are at hand, else of digits."""
    data: Data = request.getfixturevalue("mk20" if REAL.is_dir() else "digits")
    return data


def beginning(whole: Data, size: int) -> Data:
    """The first rows of the data, for many short runs."""
    features = whole.views[0][:size]
    return Data((features,), whole.classes[:size], start(features))


@pytest.fixture(scope="module")
def part(whole: Data) -> Data:
    """The first third."""
    return beginning(whole, len(whole.classes) // 3)


@pytest.fixture(scope="module")
def small(whole: Data) -> Data:
    """The first 40 rows: operations meet the same images often."""
    return beginning(whole, 40)


@pytest.mark.parametrize("seed", range(PARTS))
def test_random_sequences_in_memory(whole: Data, part: Data, small: Data, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for number in range(IN_MEMORY // PARTS):
        data = whole if number == 0 else part if number % 6 == 0 else small
        journal = MemoryJournal()
        often, far = rng.integers(1, 12, 2).tolist()
        session = run(data, sequence(rng, 36), journal, lambda same: same, often, far)
        check_against_replay(data, session, journal)


def test_random_sequences_of_which_little_is_kept_in_memory(small: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(11)
    forgotten = 0
    forget = Position.forget

    def watched(position: Position, kept: int) -> None:
        nonlocal forgotten
        before = position.replayed_from
        forget(position, kept)
        forgotten += position.replayed_from - before

    monkeypatch.setattr(Position, "forget", watched)
    for _ in range(30):
        often, far, kept = rng.integers(1, 8, 3).tolist()
        monkeypatch.setattr("a3s_desktop.session.transactions._KEPT", kept)
        journal = MemoryJournal()
        steps = [step for one in sequence(rng, 36) for step in (one, ("idle", 0))]
        session = run(small, steps, journal, lambda same: same, often, far)
        check_against_replay(small, session, journal)
    assert forgotten > 100


def test_random_sequences_on_disk(small: Data, tmp_path: Path) -> None:
    rng = np.random.default_rng(2000)
    for number in range(ON_DISK):
        path = tmp_path / f"{number}.sqlite"
        create_journal(path)
        journals: list[JournalProtocol] = [open_journal(path)]

        def reopen(
            journal: JournalProtocol, path: Path = path, journals: list[JournalProtocol] = journals
        ) -> JournalProtocol:
            journal.close()
            journals.append(open_journal(path))
            return journals[-1]

        often, far = rng.integers(1, 12, 2).tolist()
        session = run(small, sequence(rng, 36), journals[0], reopen, often, far)
        check_against_replay(small, session, journals[-1])
        journals[-1].close()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.sampled_from(sorted(set(OPERATIONS))), st.integers(0, 10_000)), max_size=40),
    st.integers(1, 8),
    st.integers(1, 8),
)
def test_shortest_sequences_that_fail(blobs: Data, steps: list[Step], snapshot_every: int, far: int) -> None:
    journal = MemoryJournal()
    session = run(blobs, steps, journal, lambda same: same, snapshot_every, far)
    check_against_replay(blobs, session, journal)
