"""The engine under random sequences: every state equals a fresh replay of what is in force."""

from __future__ import annotations

import gc
import json
import weakref
from collections.abc import Generator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from a3s_desktop.core.correction import Correction
from a3s_desktop.core.engine import Engine, Mark
from a3s_desktop.core.node_table import NodeTable
from a3s_desktop.core.pair_table import PairTable
from a3s_desktop.core.strategies.a3s_paper import A3SPaper
from a3s_desktop.core.types import Answer, Question, Reason, StrategyOptions
from a3s_desktop.errors import Cancelled, ContradictionError, InputError
from a3s_desktop.task import Task
from tests.core.cases import CORRECTIONS, Case, check_at_rest, correct, correction_of, random_case

CASES = st.builds(random_case, seed=st.integers(0, 10_000), n=st.integers(4, 22), classes=st.integers(1, 4))
OPTIONS = st.builds(
    StrategyOptions,
    aggregation=st.sampled_from(("mean", "product")),
    iterations=st.integers(1, 3),
    purity_test=st.booleans(),
    tau_offset=st.sampled_from((-0.1, 0.0, 0.3)),  # the last sends most clusters to the annotator
)
OPERATIONS = st.lists(
    st.one_of(
        *3 * [st.tuples(st.just("truth"))],
        st.tuples(st.sampled_from(Answer)),
        *2 * [st.tuples(st.just("undo"))],
        st.tuples(st.just("redo")),
        st.tuples(st.just("look ahead")),
        st.tuples(st.just("reload")),
        st.tuples(st.just("impose"), st.integers(0, 21), st.integers(0, 21), st.sampled_from(Answer)),
        *2 * [CORRECTIONS],
    ),
    max_size=50,
)
Done = tuple[int, int, Answer, bool] | Correction  # left, right, answer, whether it was asked


def carry_out(engine: Engine, done: Done) -> None:
    if isinstance(done, Correction):
        engine.correct(done)
        return
    left, right, answer, asked = done
    if asked:
        assert engine.question is not None
        assert (engine.question.left, engine.question.right) == (left, right)
        engine.record(answer)
    else:
        engine.impose(left, right, answer)


@given(CASES, OPTIONS, OPERATIONS)
def test_every_sequence_equals_a_replay_of_what_is_in_force(
    case: Case, options: StrategyOptions, operations: list[tuple]
) -> None:
    engine = case.engine(options)
    done: list[Done] = []
    undone: list[Done] = []
    marks: list[tuple[Mark, str]] = []  # of the last len(marks) entries of `done`: a reload makes older ones invalid

    def change(step: Done) -> None:
        marks.append((engine.mark(), engine.digest()))
        carry_out(engine, step)
        done.append(step)

    for operation, *arguments in operations:
        question = engine.question
        if operation == "undo":
            if marks:
                mark, digest = marks.pop()
                engine.restore(mark)
                undone.append(done.pop())
                assert engine.digest() == digest
        elif operation == "redo":
            if undone:
                change(undone.pop())
        elif operation == "look ahead":
            check_look_ahead(case, options, engine)
        elif operation == "reload":
            before = engine.digest()
            engine = case.reload(engine, options)
            assert engine.digest() == before
            assert engine.question == question
            marks.clear()
        elif operation == "correct":
            before = (engine.mark(), engine.digest())
            correction = correction_of(engine, *arguments)
            if correction is not None and correct(engine, correction):
                marks.append(before)
                done.append(correction)
                undone.clear()
        elif operation == "impose":
            left, right, answer = arguments[0] % case.n, arguments[1] % case.n, arguments[2]
            if left == right:
                continue
            if engine.store.relation(left, right) in (None, answer) or not answer.is_constraint:
                change((left, right, answer, False))
                undone.clear()
            else:
                before, mark = engine.digest(), engine.mark()
                with pytest.raises(ContradictionError):
                    engine.impose(left, right, answer)
                assert (engine.digest(), engine.mark()) == (before, mark)
        elif question is not None:
            answer = case.truth(question.left, question.right) if operation == "truth" else operation
            change((question.left, question.right, answer, True))
            undone.clear()
        check_at_rest(engine)
    fresh = case.engine(options)
    for step in done:
        carry_out(fresh, step)
    assert fresh.question == engine.question
    assert fresh.digest() == engine.digest()
    while marks:  # all the way back
        mark, digest = marks.pop()
        engine.restore(mark)
        assert engine.digest() == digest


def check_look_ahead(case: Case, options: StrategyOptions, engine: Engine) -> None:
    before, mark, question = engine.digest(), engine.mark(), engine.question
    found = engine.look_ahead()
    assert (engine.digest(), engine.mark(), engine.question) == (before, mark, question)
    expected: list[Question] = []
    if question is not None:
        for answer in (Answer.SAME, Answer.DIFFERENT):
            other = case.reload(engine, options)
            other.record(answer)
            if other.question is not None and other.question not in expected:
                expected.append(other.question)
    assert found == expected


@given(CASES, OPTIONS, st.lists(st.sampled_from(Answer), min_size=1, max_size=8), st.integers(0, 60))
def test_answers_end_and_each_undo_is_the_inverse(
    case: Case, options: StrategyOptions, pattern: list[Answer], honest: int
) -> None:
    """Any answers at all, to the end: at most one question for each pair, then back to the start."""
    engine = case.engine(options)
    marks: list[tuple[Mark, str]] = []
    asked: set[frozenset[int]] = set()
    while engine.question is not None:
        question = engine.question
        pair = frozenset((question.left, question.right))
        assert pair not in asked
        asked.add(pair)
        marks.append((engine.mark(), engine.digest()))
        at = len(marks)
        engine.record(case.truth(question.left, question.right) if at < honest else pattern[at % len(pattern)])
        check_at_rest(engine)
    assert len(asked) <= case.n * (case.n - 1) // 2
    assert engine.look_ahead() == []
    with pytest.raises(ValueError, match="no question"):
        engine.record(Answer.SAME)
    last = case.reload(engine, options)
    assert last.question is None
    assert last.digest() == engine.digest()
    for mark, digest in reversed(marks):
        engine.restore(mark)
        assert engine.digest() == digest
    assert engine.digest() == case.engine(options).digest()


class Fault(Exception):
    """A fault that is put into a strategy."""


class Failing(A3SPaper):
    """Fails in the middle of its work, once it is told to: after it has changed things."""

    armed = False

    def next_step(self, context: Any) -> Generator[Question, Answer, Answer | None] | None:
        step = super().next_step(context)
        return step if step is None else self._guard(context, step)

    def _guard(self, context: Any, step: Any) -> Generator[Question, Answer, Answer | None]:
        answer = None
        while True:
            try:
                question = next(step) if answer is None else step.send(answer)
            except StopIteration:
                question = None
            if self.armed:
                context.values["tau"] = -5.0
                raise Fault
            if question is None:
                return None
            answer = yield question


@given(CASES, st.integers(0, 30), st.sampled_from(Answer), st.booleans())
def test_a_strategy_that_fails_leaves_nothing(case: Case, truths: int, answer: Answer, ahead: bool) -> None:
    strategy = Failing()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("a3s_desktop.core.engine.make_strategy", lambda options: strategy)
        engine = case.engine()
    for _ in range(truths):
        if engine.question is not None:
            engine.record(case.truth(engine.question.left, engine.question.right))
    if engine.question is None:
        return
    before, mark, question = engine.digest(), engine.mark(), engine.question
    strategy.armed = True
    with pytest.raises(Fault):
        engine.record(answer)
    strategy.armed = False
    engine.restore(mark)
    assert (engine.digest(), engine.mark(), engine.question) == (before, mark, question)
    check_at_rest(engine)
    engine.record(answer)
    check_at_rest(engine)


def test_a_look_ahead_that_fails_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = random_case(3, 20, 3).engine()
    before, question = engine.digest(), engine.question
    record, failures = engine.record, [True]

    def fail_once(answer: Answer) -> None:
        record(answer)
        if failures and failures.pop():
            raise Fault

    monkeypatch.setattr(engine, "record", fail_once)
    with pytest.raises(Fault):
        engine.look_ahead()
    assert (engine.digest(), engine.question) == (before, question)


def test_a_dump_that_fails_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    case = random_case(3, 20, 3)
    engine = case.engine(StrategyOptions("a3s-paper", tau_offset=0.3))
    while engine.question is not None and engine.mark().answers == ():
        engine.record(case.truth(engine.question.left, engine.question.right))
    assert engine.question is not None
    before, question = engine.digest(), engine.question
    with monkeypatch.context() as patch:
        patch.setattr("a3s_desktop.core.saved._pairs", lambda items: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            engine.dump()
    assert (engine.question, engine.digest()) == (question, before)


def test_a_dump_survives_storage(tmp_path: Any) -> None:
    """Arrays without objects, values that JSON keeps: what the journal's snapshots need."""
    case = random_case(5, 22, 3)
    engine = case.engine()
    for _ in range(6):
        if engine.question is not None:
            engine.record(case.truth(engine.question.left, engine.question.right))
    arrays, meta = engine.dump()
    np.savez(tmp_path / "snapshot.npz", **arrays)
    with np.load(tmp_path / "snapshot.npz", allow_pickle=False) as stored:
        loaded = Engine.load(
            case.initial,
            case.views,
            StrategyOptions("a3s-paper"),
            dict(stored),
            json.loads(json.dumps(meta, allow_nan=False)),
        )
    assert loaded.digest() == engine.digest()
    assert loaded.question == engine.question


def test_the_digest_sees_every_part_of_the_state() -> None:
    case = random_case(1, 20, 3)
    engine = case.engine()
    assert engine.question is not None
    start, mark = engine.digest(), engine.mark()
    seen = {start}
    for answer in Answer:
        engine.record(answer)
        seen.add(engine.digest())
        engine.restore(mark)
    assert len(seen) == 1 + len(Answer)
    engine.impose(engine.question.left, engine.question.right, Answer.SKIP)
    assert engine.digest() != start


def test_an_imposed_difference_divides_a_cluster_and_keeps_must_links_together() -> None:
    case = random_case(2, 20, 2, mixed=0.0)
    engine = case.engine()
    cluster = max(engine.partition.cluster_ids().tolist(), key=engine.partition.size)
    first, second, third, fourth = engine.partition.members(cluster)[:4].tolist()
    engine.impose(first, third, Answer.SAME)
    engine.impose(second, fourth, Answer.SAME)
    engine.impose(third, fourth, Answer.DIFFERENT)
    check_at_rest(engine)
    assert engine.partition.cluster_of(first) == engine.partition.cluster_of(third)
    assert engine.partition.cluster_of(first) != engine.partition.cluster_of(second)
    engine.impose(first, second, Answer.DIFFERENT)  # implied already: accepted, and recorded as an answer
    assert engine.store.n_constraints == 4
    check_at_rest(engine)
    with pytest.raises(ContradictionError) as caught:
        engine.impose(second, first, Answer.SAME)
    assert caught.value.chain == ((second, fourth, "same"), (fourth, third, "different"), (third, first, "same"))


def test_representatives_show_confirmed_members_first() -> None:
    case = random_case(4, 22, 2, mixed=0.0)
    engine = case.engine()
    cluster = max(engine.partition.cluster_ids().tolist(), key=engine.partition.size)
    members = engine.partition.members(cluster).tolist()
    before = engine.digest()
    assert sorted(engine.representatives(cluster, (), 100)) == members
    engine.impose(members[-1], members[-2], Answer.SAME)
    assert set(engine.representatives(cluster, (), 2)) == set(members[-2:])
    assert engine.representatives(cluster, members[-2:], 3) == engine.representatives(cluster, (), 5)[2:]
    assert engine.representatives(cluster, members, 3) == []
    assert engine.representatives(10_000, (), 3) == []
    assert engine.digest() != before  # by the answer alone
    at_rest = engine.digest()
    engine.representatives(cluster, (), 3)
    assert engine.digest() == at_rest


def test_an_unknown_strategy_is_refused() -> None:
    with pytest.raises(InputError, match="no strategy"):
        random_case(0, 6, 2).engine(StrategyOptions(strategy="guess"))


def test_questions_name_a_reason_and_known_pairs_are_not_asked() -> None:
    case = random_case(7, 22, 3)
    engine = case.engine(StrategyOptions("a3s-paper", tau_offset=0.3))
    reasons = set()
    while engine.question is not None:
        reasons.add(engine.question.reason)
        engine.record(case.truth(engine.question.left, engine.question.right))
    assert reasons <= {Reason.MERGE, Reason.PURITY, Reason.SPLIT, Reason.OUTLIER}
    assert len(reasons) >= 3


def test_a_mark_of_the_future_is_refused_before_anything_changes() -> None:
    engine = random_case(1, 20, 3).engine()
    start = engine.mark()
    while engine.question is not None:
        engine.record(Answer.SKIP)
    later = engine.mark()
    engine.restore(start)
    before, question = engine.digest(), engine.question
    with pytest.raises(ValueError, match="future"):
        engine.restore(later)
    assert (engine.digest(), engine.question) == (before, question)


def test_making_an_engine_tells_how_far_it_is() -> None:
    """Of a large project much is derived: it is shown, and what comes afterwards is not."""
    case = random_case(0, 40, 5)
    told: list[float] = []
    task = Task(lambda progress: told.append(progress.fraction), min_interval=0.0)
    task.stage("Looking for the first pair")
    engine = Engine(case.initial, case.views, StrategyOptions(), tell=task.step)
    assert len(told) > 3
    assert told == sorted(told)
    assert told[0] >= 0.0
    assert told[-1] <= 1.0
    told.clear()
    task.cancel()
    engine.record(Answer.SKIP)  # a task that is over stops nobody
    assert told == []


@pytest.mark.parametrize("share", [0.0, 0.1, 0.2])
def test_making_an_engine_can_be_cancelled(share: float) -> None:
    case = random_case(0, 40, 5)
    task = Task(lambda progress: task.cancel() if progress.fraction >= share else None, min_interval=0.0)
    task.stage("Looking for the first pair")
    with pytest.raises(Cancelled):
        Engine(case.initial, case.views, StrategyOptions(), tell=task.step)
    assert task.cancelled


@pytest.mark.parametrize("strategy", ["a3s", "a3s-paper", "cobra", "random", "ffqs", "npu", "urasc"])
def test_an_engine_that_is_let_go_leaves_nothing_behind(strategy: str) -> None:
    """Its memory is free at once: a window never collects what is in reference cycles of large data."""
    case = random_case(1, 30, 4)
    gc.disable()
    try:
        engine = Engine(case.initial, case.views, StrategyOptions(strategy, clusters=4))
        for _ in range(10):
            if engine.question is not None:
                engine.record(case.truth(engine.question.left, engine.question.right))
        engine.look_ahead()
        parts = [engine._context, engine.partition, engine.store, engine._context.log, *engine._context.watchers]
        parts += [value for one in parts for value in vars(one).values() if isinstance(value, (PairTable, NodeTable))]
        alive = [weakref.ref(part) for part in parts]
        parts.clear()
        del engine
        assert [one() for one in alive] == [None] * len(alive)
    finally:
        gc.enable()
