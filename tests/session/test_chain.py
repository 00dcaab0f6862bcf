"""The chain of entries in force: the same as a plain list, wherever it branches, and small."""

from __future__ import annotations

import gc
import hashlib
import tracemalloc
from collections.abc import Callable
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from a3s_desktop.core.constraints import ConstraintStore
from a3s_desktop.core.correction import Correction
from a3s_desktop.core.types import Answer, PairGraph, Reason
from a3s_desktop.core.undo import UndoLog
from a3s_desktop.session import chain
from a3s_desktop.session.chain import HistoryNode, Tally, link
from a3s_desktop.session.entries import CorrectionKind, Entry, RecordedAnswer, RecordedAudit, RecordedCorrection
from a3s_desktop.session.history import History
from a3s_desktop.session.listing import HistoryList

ITEMS = st.integers(0, 9) | st.just(2**40)
ANSWERS = st.builds(
    RecordedAnswer,
    ITEMS,
    ITEMS,
    st.sampled_from(Answer),
    st.sampled_from(Reason),
    st.floats(0, 2e9),
    st.booleans(),
    st.sampled_from(["", "Ann", "Bob"]),
    st.none() | st.sampled_from(Answer),
    st.booleans(),
)
CORRECTIONS = st.builds(
    RecordedCorrection,
    st.sampled_from([CorrectionKind.MOVE, CorrectionKind.NAME, CorrectionKind.REQUEUE]),
    st.just(Correction()),
    st.just((1, 2)),
    st.just(2),
    st.floats(0, 2e9),
    name=st.sampled_from(["Anna", "Berta"]),
    anchors=st.just((1,)),
    withdrawn=st.booleans(),
    foreign=st.booleans(),
    held=st.booleans(),
)
AUDITS = st.builds(
    RecordedAudit, st.just(1), st.just(2), st.just(Answer.SAME), st.floats(0, 2e9), withdrawn=st.booleans()
)
Place = tuple[Entry, bool, bool]  # entry, edited, joined
STEPS = st.lists(
    st.tuples(ANSWERS | CORRECTIONS | AUDITS, st.booleans(), st.booleans(), st.integers(0, 12)), max_size=40
)


def check(node: HistoryNode | None, plain: list[Place]) -> None:
    """A node says what a plain list says."""
    nodes = list(node.back())[::-1] if node is not None else []
    assert [(one.entry, one.joined) for one in nodes] == [(entry, joined) for entry, _, joined in plain]
    assert [one.count for one in nodes] == list(range(1, len(plain) + 1))
    if node is None:
        return
    digest, tally = b"", Tally()
    for one, (entry, _, joined) in zip(nodes, plain, strict=True):
        person = b"joined" if joined else b""
        digest = _after(digest, entry, person)
        tally = tally.plus(entry)
        said = isinstance(entry, RecordedAnswer) and entry.answer.is_constraint and not entry.withdrawn
        assert one.said_at == (entry.when if said else None)
        assert (one.digest, one.tally) == (digest, tally)
        assert node.with_digest(digest.hex()) == one
    assert node.edited == any(edited for _, edited, _ in plain)
    assert node.audits == tuple(e for e, *_ in plain if isinstance(e, RecordedAudit) and not e.withdrawn)
    named = [e for e, *_ in plain if isinstance(e, RecordedCorrection) and e.what is CorrectionKind.NAME]
    assert {name for name, _ in node.names.by_key.values()} == {e.name for e in named if not (e.withdrawn or e.held)}
    half = len(plain) // 2 + 1
    assert list(node.since(half)) == nodes[half - 1 :]
    assert list(node.entries_since(half)) == [(one.count, one.entry) for one in nodes[half - 1 :]]
    assert list(node.times_back()) == [one.said_at for one in nodes[::-1]]
    assert node.numbered(range(len(plain), 0, -2)) == nodes[::-2]
    assert node.before == (nodes[-2] if len(nodes) > 1 else None)
    assert [one.entry for one in node.ineffective()] == [
        e for e, *_ in plain[::-1] if e.withdrawn or (isinstance(e, RecordedCorrection) and e.held)
    ]
    for missing in (0, len(plain) + 1):
        with pytest.raises(IndexError):
            node.numbered([missing])


def _after(digest: bytes, entry: Entry, person: bytes) -> bytes:
    one = hashlib.blake2b(digest, digest_size=16, person=person)
    one.update(entry.effect().encode())
    return one.digest()


@given(STEPS)
def test_a_chain_equals_plain_lists_wherever_it_branches(steps: list[tuple[Entry, bool, bool, int]]) -> None:
    places: list[tuple[HistoryNode | None, list[Place], list[int]]] = [(None, [], [])]
    with patch.object(chain, "_BLOCK", 5), patch.object(chain, "_COUNTED", 2):
        for number, (entry, edited, joined, back) in enumerate(steps):
            node, plain, way = places[max(0, len(places) - 1 - back if back > 6 else len(places) - 1)]
            place = (entry, edited, joined)
            places.append((link(node, entry, edited, joined), [*plain, place], [*way, number]))
        for node, plain, _ in places:
            check(node, plain)
        newest, _, way = places[-1]
        for node, _, other in places:
            if node is not None and newest is not None:
                common = next((at for at, (a, b) in enumerate(zip(way, other, strict=False)) if a != b), None)
                common = min(len(way), len(other)) if common is None else common
                shared = newest.shared_with(node)
                assert (shared.count if shared is not None else 0) == common
                assert shared is None or shared == node.numbered([common])[0]


@pytest.mark.parametrize("digest", ["", "no digest", "ab", "00" * 16, "None"])
def test_a_digest_that_is_not_there_is_found_nowhere(digest: str) -> None:
    node = link(None, RecordedAnswer(1, 2, Answer.SAME, Reason.MERGE, 1.0))
    assert node.with_digest(digest) is None


def growth(act: Callable[[], object]) -> int:
    """Bytes that are taken, and not given back, while something is done."""
    gc.collect()
    tracemalloc.start()
    try:
        kept = act()
        gc.collect()
        return tracemalloc.get_traced_memory()[0] if kept is not None else 0
    finally:
        tracemalloc.stop()


def test_an_answer_in_the_history_and_its_list_takes_some_fifty_bytes() -> None:
    graph = PairGraph(np.zeros(101, np.int64), np.zeros(0, np.int32), np.zeros((1, 0), np.float32), np.zeros(0), 0.0)

    def work() -> object:
        history, listing = History(), HistoryList(graph, str)
        for k in range(5000):
            answer = RecordedAnswer(k % 99, 1 + k % 99, Answer.DIFFERENT, Reason.MERGE, 1e9 + k, author="Ann")
            history = history.push(answer)
            if k % 40 == 0:
                history = history.undo().redo()
            listing.follow(history.entries, np.zeros(100, np.int32), ()).times(0.0, newest=2)
        return history, listing

    assert growth(work) < 5000 * 100  # measured: 57


def test_a_change_of_an_old_answer_takes_no_more_for_each_that_is_kept() -> None:
    def work() -> object:
        history = History()
        for k in range(5000):
            history = history.push(RecordedAnswer(k, k + 1, Answer.DIFFERENT, Reason.MERGE, 1e9 + k))
        for number in (1, 2500, 1):
            history.change({number: Answer.SAME})  # not taken over: nothing of it stays
        return history.change({1: Answer.SAME})

    assert growth(work) < 2 * 5000 * 100


def test_an_answer_in_the_store_takes_some_thirty_bytes() -> None:
    def work() -> object:
        log = UndoLog()
        store = ConstraintStore(log)
        for i in range(100):
            for j in range(i):
                store.add(i, j, Answer.DIFFERENT)
            log.forget(log.mark())
        return store

    assert growth(work) < 4950 * 60
