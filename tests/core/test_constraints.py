"""The constraint store against a closure by brute force."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a3s_desktop.core.constraints import Constraint, ConstraintStore
from a3s_desktop.core.types import Answer
from a3s_desktop.core.undo import UndoLog
from a3s_desktop.errors import ContradictionError

N = 8
SAMPLE = st.integers(0, N - 1)
OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from((Answer.SAME, Answer.DIFFERENT)), SAMPLE, SAMPLE),
        st.tuples(st.sampled_from((Answer.SAME, Answer.DIFFERENT)), SAMPLE, SAMPLE),
        st.tuples(st.sampled_from((Answer.SKIP, Answer.INCOMPARABLE)), SAMPLE, SAMPLE),
        st.tuples(st.just("requeue"), SAMPLE, SAMPLE),
        st.tuples(st.just("mark"), SAMPLE, SAMPLE),
        st.tuples(st.just("rewind"), SAMPLE, SAMPLE),
    ),
    max_size=40,
)


def closure(answers: list[Constraint]) -> dict[tuple[int, int], Answer | None]:
    """Relation of every pair: walk the must-links; one cannot-link between two components separates them."""
    component = list(range(N))
    for _ in range(N):
        for left, right, answer in answers:
            if answer is Answer.SAME:
                component[left] = component[right] = min(component[left], component[right])
    apart = {frozenset((component[i], component[j])) for i, j, answer in answers if answer is Answer.DIFFERENT}
    relations: dict[tuple[int, int], Answer | None] = {}
    for i, j in itertools.product(range(N), repeat=2):
        separated = Answer.DIFFERENT if frozenset((component[i], component[j])) in apart else None
        relations[i, j] = Answer.SAME if component[i] == component[j] else separated
    return relations


def state(store: ConstraintStore) -> tuple:
    """Everything that can be read from a store."""
    samples = range(N)
    return (
        tuple(store.constraints()),
        tuple(store.skipped()),
        store.n_constraints,
        store.n_skipped,
        tuple(store.find(i) for i in samples),
        tuple(store.relation(i, j) for i in samples for j in samples),
        tuple(store.chain(i, j) for i in samples for j in samples),
        tuple(store.component(i) for i in samples),
        tuple(tuple(store.separated_from(i).tolist()) for i in samples),
        tuple((store.is_touched(i), store.is_confirmed(i)) for i in samples),
    )


def check_chain(chain: tuple[Constraint, ...], i: int, j: int, answers: list[Constraint], proves: Answer) -> None:
    """``chain`` is a walk from ``i`` to ``j`` over answers that were given, and it proves the relation."""
    given_answers = {(frozenset((left, right)), answer) for left, right, answer in answers}
    at = i
    for left, right, answer in chain:
        assert left == at
        assert (frozenset((left, right)), answer) in given_answers
        at = right
    assert at == j
    differences = [answer for _, _, answer in chain].count(Answer.DIFFERENT)
    assert differences == (proves is Answer.DIFFERENT)
    assert len({left for left, _, _ in chain}) == len(chain)  # no detours


@given(OPERATIONS)
def test_store_equals_the_closure_by_brute_force(operations: list[tuple]) -> None:
    log = UndoLog()
    store = ConstraintStore(log)
    answers: list[Constraint] = []
    skipped: list[tuple[int, int, bool]] = []
    marks: list[tuple] = [(log.mark(), state(store), [], [])]
    for operation, i, j in operations:
        if operation == "mark":
            marks.append((log.mark(), state(store), list(answers), list(skipped)))
            continue
        if operation == "rewind":
            del marks[1 + i % len(marks) :]
            mark, before, answers, skipped = marks[-1][0], marks[-1][1], list(marks[-1][2]), list(marks[-1][3])
            log.rewind(mark)
            assert state(store) == before
            continue
        if i == j:
            continue
        if operation == "requeue":
            store.requeue()
            skipped = [pair for pair in skipped if pair[2]]
        elif operation in (Answer.SKIP, Answer.INCOMPARABLE):
            for_good = operation is Answer.INCOMPARABLE
            store.skip(i, j, for_good)
            if (min(i, j), max(i, j)) not in [pair[:2] for pair in skipped]:
                skipped.append((min(i, j), max(i, j), for_good))
        else:
            known = closure(answers)[i, j]
            if known is None or known is operation:
                store.add(i, j, operation)
                answers.append((i, j, operation))
            else:
                before, length = state(store), log.mark()
                with pytest.raises(ContradictionError) as caught:
                    store.add(i, j, operation)
                assert (state(store), log.mark()) == (before, length)
                refused = tuple((left, right, Answer(said)) for left, right, said in caught.value.chain)
                check_chain(refused, i, j, answers, known)
                assert str(len(refused)) in caught.value.message
    relations = closure(answers)
    for (i, j), relation in relations.items():
        assert store.relation(i, j) is relation
        chain = store.chain(i, j)
        if relation is None:
            assert chain == ()
        else:
            check_chain(chain, i, j, answers, relation)
    for i in range(N):
        assert store.component(i) == tuple(j for j in range(N) if relations[i, j] is Answer.SAME)
        separated = {j for root in store.separated_from(i).tolist() for j in store.component(root)}
        assert separated == {j for j in range(N) if relations[i, j] is Answer.DIFFERENT}
        assert all(store.find(root) == root for root in store.separated_from(i).tolist())
        assert store.is_touched(i) == any(i in (left, right) for left, right, _ in answers)
        assert store.is_confirmed(i) == (len(store.component(i)) > 1)
        assert store.n_known(i) == len(store.component(i)) - 1 + len(store.separated_from(i).tolist())
    assert list(store.constraints()) == answers
    assert store.n_constraints == len(answers)
    assert list(store.skipped()) == skipped
    assert store.n_skipped == len(skipped)
    for i, j in itertools.product(range(N), repeat=2):
        assert store.is_skipped(i, j) == ((min(i, j), max(i, j)) in [pair[:2] for pair in skipped])
    log.rewind(0)
    assert state(store) == state(ConstraintStore(UndoLog()))


@given(OPERATIONS)
def test_same_answers_after_a_detour_give_the_same_store(operations: list[tuple]) -> None:
    """No trace is left of what was undone: roots and orders are those of a store that never saw it."""
    log = UndoLog()
    store = ConstraintStore(log)
    plain = ConstraintStore(UndoLog())
    for operation, i, j in operations:
        if i == j or operation in ("mark", "rewind", "requeue", Answer.INCOMPARABLE):
            continue
        mark = log.mark()
        other = {Answer.SAME: Answer.DIFFERENT, Answer.DIFFERENT: Answer.SKIP, Answer.SKIP: Answer.SAME}[operation]
        if take(store, i, j, other):
            log.rewind(mark)
        assert take(store, i, j, operation) == take(plain, i, j, operation)
    assert state(store) == state(plain)


def take(store: ConstraintStore, i: int, j: int, answer: Answer) -> bool:
    if answer is Answer.SKIP:
        store.skip(i, j)
        return True
    if store.relation(i, j) not in (None, answer):
        return False
    store.add(i, j, answer)
    return True


def test_the_chain_of_a_refusal_is_shortest_within_a_component() -> None:
    store = ConstraintStore(UndoLog())
    for i, j in ((0, 1), (1, 2), (2, 3), (0, 3), (4, 5)):
        store.add(i, j, Answer.SAME)
    store.add(3, 4, Answer.DIFFERENT)
    assert store.chain(0, 5) == ((0, 3, Answer.SAME), (3, 4, Answer.DIFFERENT), (4, 5, Answer.SAME))
    assert store.chain(5, 0) == ((5, 4, Answer.SAME), (4, 3, Answer.DIFFERENT), (3, 0, Answer.SAME))
    with pytest.raises(ContradictionError, match="3 earlier answers"):
        store.add(0, 5, Answer.SAME)
    with pytest.raises(ContradictionError, match="contradicts 1 earlier answer\\."):
        store.add(0, 1, Answer.DIFFERENT)


@pytest.mark.parametrize(("i", "j", "answer"), [(1, 1, Answer.SAME), (0, 1, Answer.SKIP)])
def test_what_is_no_constraint_is_refused(i: int, j: int, answer: Answer) -> None:
    store = ConstraintStore(UndoLog())
    with pytest.raises(ValueError, match="no constraint"):
        store.add(i, j, answer)
    assert store.n_constraints == 0
    assert not store.is_touched(i)


def test_many_answers_stay_cheap_to_look_up() -> None:
    """Union by size: no sample is further than log2(size) from its root, without path compression."""
    store = ConstraintStore(UndoLog())
    for i in range(1023):
        store.add(i, i + 1, Answer.SAME)
    for sample in range(1024):
        depth = 0
        while (up := store._parent[sample]) != sample:
            sample, depth = up, depth + 1
        assert depth <= 10


def test_known_identities_differ_from_each_other_whatever_joins_them() -> None:
    log = UndoLog()
    store = ConstraintStore(log)
    for sample in (0, 10, 20):
        store.identify(sample)
    start = log.mark()
    assert store.relation(0, 10) is Answer.DIFFERENT
    assert store.separated_from(10).tolist() == [0, 20]
    assert store.n_known(10) == 2
    assert store.chain(0, 20) == ((0, 20, Answer.DIFFERENT),)
    for pair in ((1, 2), (0, 1), (11, 10)):  # a larger component takes an identity over
        store.add(*pair, Answer.SAME)
    assert store.relation(2, 11) is Answer.DIFFERENT
    assert store.chain(2, 11) == ((2, 1, Answer.SAME), (1, 0, Answer.SAME), (0, 10, Answer.DIFFERENT),
                                  (10, 11, Answer.SAME))  # fmt: skip
    with pytest.raises(ContradictionError) as caught:
        store.add(2, 11, Answer.SAME)
    assert len(caught.value.chain) == 4
    assert store.relation(2, 3) is None
    store.disown(11)
    assert store.relation(2, 11) is None
    store.add(2, 11, Answer.SAME)
    assert store.relation(10, 20) is Answer.DIFFERENT
    assert store.identities() == [0, 20]
    log.rewind(start)
    assert store.identities() == [0, 10, 20]
    assert store.relation(2, 0) is None
    assert list(store.touched()) == [0, 10, 20]
    log.rewind(0)
    assert store.identities() == list(store.touched()) == []
