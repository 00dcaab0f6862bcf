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
from a3s_desktop.storage.journal import Journal
from a3s_desktop.storage.journal_types import JournalProtocol, MemoryJournal
from tests.session.conftest import Data

# Long runs of truthful answers reach the later stages; wrong ones and skips reach what no truthful run does.
OPERATIONS = ("truth", "truth", "truth", "truth", "same", "different", "skip", "undo", "undo", "redo", "idle", "restart")
IN_MEMORY, ON_DISK = 950, 50


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
def real_data(request: pytest.FixtureRequest) -> Data:
    """Real features where they are at hand, else the small made ones."""
    folder = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "mk20"
    data: Data = request.getfixturevalue("mk20" if folder.is_dir() else "blobs")
    return data


@pytest.mark.parametrize("part", range(5))
def test_random_sequences_in_memory(real_data: Data, part: int) -> None:
    rng = np.random.default_rng(1000 + part)
    for _ in range(IN_MEMORY // 5):
        journal = MemoryJournal()
        session = run(real_data, sequence(rng, 60), journal, lambda same: same, int(rng.integers(1, 12)))
        check_against_replay(real_data, session, journal)


def test_random_sequences_on_disk(real_data: Data, tmp_path: Path) -> None:
    rng = np.random.default_rng(2000)
    for number in range(ON_DISK):
        path = tmp_path / f"{number}.sqlite"
        open_ones: list[Journal] = [Journal(path)]

        def reopen(_: JournalProtocol, path: Path = path, open_ones: list[Journal] = open_ones) -> Journal:
            open_ones[-1].close()
            open_ones.append(Journal(path))
            return open_ones[-1]

        session = run(real_data, sequence(rng, 40), open_ones[0], reopen, int(rng.integers(1, 12)))
        check_against_replay(real_data, session, open_ones[-1])
        open_ones[-1].close()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(sorted(set(OPERATIONS))), max_size=40), st.integers(1, 8))
def test_shortest_sequences_that_fail(blobs: Data, operations: list[str], snapshot_every: int) -> None:
    journal = MemoryJournal()
    session = run(blobs, operations, journal, lambda same: same, snapshot_every)
    check_against_replay(blobs, session, journal)
