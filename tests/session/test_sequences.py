"""1,000 random sequences of answer, skip, undo, redo and restart: the state equals that of a fresh replay."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from a3s_desktop.core.types import Answer
from a3s_desktop.session.session import Session
from a3s_desktop.storage.journal_opening import create_journal, open_journal
from a3s_desktop.storage.journal_types import JournalProtocol, MemoryJournal
from tests.session.conftest import Data, start

# Long runs of truthful answers reach the later stages; wrong ones and skips reach what no truthful run does.
OPERATIONS = (*4 * ("truth",), "same", "different", "skip", *2 * ("undo",), "redo", "idle", "restart")
IN_MEMORY, ON_DISK = 960, 40
REAL = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "mk20"


def run(
    data: Data,
    operations: list[str],
    journal: JournalProtocol,
    reopen: Callable[[JournalProtocol], JournalProtocol],
    snapshot_every: int,
) -> Session:
    """Carry ``operations`` out; those that do not apply are left out."""
    session = data.session(journal, snapshot_every=snapshot_every)
    for operation in operations:
        state = session.state
        if operation == "restart":
            before = session.engine.digest()
            journal = reopen(journal)
            session = data.session(journal, snapshot_every=snapshot_every)
            assert session.engine.digest() == before
        elif operation == "undo":
            if state.can_undo:
                session.undo()
        elif operation == "redo":
            if state.can_redo:
                session.redo()
        elif operation == "idle":
            session.look_ahead()
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
    assert fresh.warnings == session.warnings == ()
    assert np.array_equal(fresh.state.labels, session.state.labels)
    assert fresh.history() == session.history()
    assert (fresh.state.can_undo, fresh.state.can_redo) == (session.state.can_undo, session.state.can_redo)
    given = {(entry.left, entry.right): entry.answer for entry in session.history()}
    for (left, right), answer in given.items():
        if answer is not Answer.SKIP:
            assert session.engine.store.relation(left, right) is answer


def sequence(rng: np.random.Generator, longest: int) -> list[str]:
    return [OPERATIONS[k] for k in rng.integers(0, len(OPERATIONS), rng.integers(1, longest))]


@pytest.fixture(scope="module")
def whole(request: pytest.FixtureRequest) -> Data:
    """Real features: of people where they are at hand, else of digits."""
    data: Data = request.getfixturevalue("mk20" if REAL.is_dir() else "digits")
    return data


@pytest.fixture(scope="module")
def part(whole: Data) -> Data:
    """The first third of them, for many short runs."""
    size = len(whole.classes) // 3
    features = whole.views[0][:size]
    return Data((features,), whole.classes[:size], start(features))


@pytest.mark.parametrize("seed", range(4))
def test_random_sequences_in_memory(whole: Data, part: Data, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for number in range(IN_MEMORY // 4):
        data = part if number % 10 else whole
        journal = MemoryJournal()
        session = run(data, sequence(rng, 36), journal, lambda same: same, int(rng.integers(1, 12)))
        check_against_replay(data, session, journal)


def test_random_sequences_on_disk(part: Data, tmp_path: Path) -> None:
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

        session = run(part, sequence(rng, 36), journals[0], reopen, int(rng.integers(1, 12)))
        check_against_replay(part, session, journals[-1])
        journals[-1].close()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(sorted(set(OPERATIONS))), max_size=40), st.integers(1, 8))
def test_shortest_sequences_that_fail(blobs: Data, operations: list[str], snapshot_every: int) -> None:
    journal = MemoryJournal()
    session = run(blobs, operations, journal, lambda same: same, snapshot_every)
    check_against_replay(blobs, session, journal)
