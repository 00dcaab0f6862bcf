"""The strategy a3s: what holds in any session, and small cases whose answers are known."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from a3s_desktop.core.engine import Engine
from a3s_desktop.core.initialization import initialize
from a3s_desktop.core.strategies import a3s as a3s_module
from a3s_desktop.core.types import Answer, InitialOptions, Question, Reason
from a3s_desktop.errors import ContradictionError
from a3s_desktop.task import Task
from tests.core.a3s_cases import A3S, OPERATIONS, Session, check_derived, facts_of
from tests.core.cases import Case, Pair, case_of, check_at_rest, random_case
from tests.examples import examples

CASES = st.builds(
    random_case, st.integers(0, 10_000), st.integers(3, 40), st.integers(1, 9), st.sampled_from((0.0, 0.2, 0.6))
)


def answer_all(case: Case, engine: Engine, most: int = 10_000) -> list[tuple[Question, Answer]]:
    """Answer truthfully to the end, or for some time."""
    given_answers: list[tuple[Question, Answer]] = []
    while engine.question is not None and len(given_answers) < most:
        answer = case.truth(engine.question.left, engine.question.right)
        given_answers.append((engine.question, answer))
        engine.record(answer)
        check_at_rest(engine)
    return given_answers


def carried_out_and_replayed(case: Case, operations: list[tuple]) -> None:
    """Undo after an answer is identity, look-ahead changes nothing, contradictions are refused: see `Session`."""
    session = Session(case)
    for operation in operations:
        session.apply(*operation)
        check_at_rest(session.engine)
    again = session.replayed()
    assert (again.question, again.digest()) == (session.engine.question, session.engine.digest())
    check_derived(case, session.engine)
    session.apply("undo", len(session.done))
    check_at_rest(session.engine)


def is_truth(engine: Engine, case: Case) -> bool:
    pairs = set(zip(engine.labels.tolist(), case.classes.tolist(), strict=True))
    return len(pairs) == len(set(engine.labels.tolist())) == len(set(case.classes.tolist()))


# --- any session


# A pair of which one is junk, but must-linked with a sample of the other's cluster, says something of that cluster.
BY_WAY_OF_JUNK = [(Answer.JUNK_LEFT,), ("truth", 2), (Answer.JUNK_RIGHT,)]


@examples(40)
@given(CASES, OPERATIONS)
@example(random_case(3188, 8, 1, 0.0), [*BY_WAY_OF_JUNK, ("impose", 0, 1, Answer.SAME)])
@example(random_case(3188, 8, 1, 0.0), [*BY_WAY_OF_JUNK, ("correct", "merge", 1, 3, 1), ("truth", 1)])
def test_every_sequence_equals_a_replay_of_what_is_in_force(case: Case, operations: list[tuple]) -> None:
    carried_out_and_replayed(case, operations)


@examples(25)
@given(CASES, st.lists(st.sampled_from(Answer), min_size=1, max_size=8), st.integers(0, 60))
def test_any_answers_end_and_each_undo_is_the_inverse(case: Case, pattern: list[Answer], honest: int) -> None:
    engine = case.engine(A3S)
    marks = [(engine.mark(), engine.digest())]
    asked: set[frozenset[int]] = set()
    while engine.question is not None:
        pair = frozenset((engine.question.left, engine.question.right))
        assert pair not in asked
        asked.add(pair)
        at = len(asked)
        engine.record(case.truth(*sorted(pair)) if at < honest else pattern[at % len(pattern)])
        check_at_rest(engine)
        marks.append((engine.mark(), engine.digest()))
    assert len(asked) <= case.n * (case.n - 1) // 2
    assert engine.look_ahead() == []
    last = case.reload(engine, A3S)
    assert (last.question, last.digest()) == (None, engine.digest())
    for mark, digest in reversed(marks):
        engine.restore(mark)
        assert engine.digest() == digest
    assert engine.digest() == case.engine(A3S).digest()


@examples(15)
@given(st.integers(0, 10_000), st.integers(20, 60), st.integers(2, 12), st.sampled_from((0.05, 0.5)))
def test_wrong_answers_and_skips_never_crash_or_loop(seed: int, n: int, classes: int, wrong: float) -> None:
    case = random_case(seed, n, classes, mixed=0.4)
    rng = np.random.default_rng(seed)
    engine = case.engine(A3S)
    count = 0
    while engine.question is not None:
        answer = case.truth(engine.question.left, engine.question.right)
        if rng.random() < wrong:
            answer = Answer.DIFFERENT if answer is Answer.SAME else Answer.SAME
        engine.record(Answer.SKIP if rng.random() < 0.1 else answer)
        check_at_rest(engine)
        count += 1
        assert count <= n * (n - 1) // 2
    check_derived(case, engine)


@examples(15)
@given(CASES, st.integers(0, 30))
def test_a_loaded_engine_asks_the_next_twenty_questions(case: Case, answered: int) -> None:
    engine = case.engine(A3S)
    answer_all(case, engine, answered)
    loaded = case.reload(engine, A3S)
    assert loaded.digest() == engine.digest()
    assert answer_all(case, loaded, 20) == answer_all(case, engine, 20)
    assert loaded.digest() == engine.digest()


@examples(25)
@given(CASES, st.integers(0, 30), st.lists(st.tuples(st.integers(0, 39), st.integers(0, 39)), min_size=1, max_size=6))
def test_true_constraints_may_be_imposed_at_any_time(case: Case, answered: int, pairs: list[Pair]) -> None:
    engine = case.engine(A3S)
    answer_all(case, engine, answered)
    for i, j in pairs:
        i, j = i % case.n, j % case.n
        if i != j:
            engine.impose(i, j, case.truth(i, j))
            check_at_rest(engine)
            check_derived(case, engine, reload=True)
            answer_all(case, engine, 3)
    answer_all(case, engine)
    for i, j in pairs:
        i, j = i % case.n, j % case.n
        if i != j:
            assert (engine.labels[i] == engine.labels[j]) == (case.classes[i] == case.classes[j])


@pytest.mark.parametrize("seed", range(4))
def test_skipping_everything_ends_and_moves_nothing(seed: int) -> None:
    case = random_case(seed, 14, 3)
    engine = case.engine(A3S)
    before = engine.labels.tolist()
    while engine.question is not None:
        engine.record(Answer.SKIP)
    assert engine.store.n_skipped > 0
    assert engine.labels.tolist() == before


def test_a_skipped_merge_is_asked_by_another_pair() -> None:
    case = cliques_of([4, 4], classes=[0, 0], between={(0, 1): 0.5})
    engine = case.engine(A3S)
    seen = []
    while engine.question is not None and engine.question.left_cluster != engine.question.right_cluster:
        seen.append((engine.question.left, engine.question.right))
        engine.record(Answer.SKIP)
    assert len(seen) > 1
    assert len(set(seen)) == len(seen)


# --- small cases with known answers


def cliques_of(sizes: list[int], classes: list[int], between: dict[Pair, float] | None = None, p: float = 0.95) -> Case:
    """One initial cluster for each clique; ``between`` joins all pairs of two of them."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    edges: dict[Pair, float] = {}
    for i, j in itertools.combinations(range(len(labels)), 2):
        a, b = int(labels[i]), int(labels[j])
        if a == b:
            edges[i, j] = p
        elif between and (a, b) in between:
            edges[i, j] = between[a, b]
    of = np.array(classes)[labels]
    rng = np.random.default_rng(0)
    features = rng.normal(size=(len(labels), 2)) * 0.2 + np.stack((4.0 * of, 1.0 * labels), axis=1)
    return case_of(labels.tolist(), of.tolist(), edges, features)


def moons(cliques: int = 8, each: int = 4) -> Case:
    """Two moons, each a row of cliques of which neighbours resemble each other a little."""
    angle = np.repeat(np.linspace(0.0, np.pi, cliques), each) + np.tile(np.linspace(-0.08, 0.08, each), cliques)
    first = np.stack((np.cos(angle), np.sin(angle)), axis=1)
    second = np.stack((1.0 - np.cos(angle), 0.4 - np.sin(angle)), axis=1)
    features = np.concatenate((first, second))
    classes = np.repeat((0, 1), cliques * each)
    clique = np.repeat(np.arange(2 * cliques), each)
    edges: dict[Pair, float] = {}
    for i, j in itertools.combinations(range(len(classes)), 2):
        gap = float(np.linalg.norm(features[i] - features[j]))
        if clique[i] == clique[j]:
            edges[i, j] = 0.95
        elif gap < 0.6:
            edges[i, j] = float(np.clip((0.75 if classes[i] == classes[j] else 0.45) - gap, 0.02, 0.7))
    return case_of(clique.tolist(), classes.tolist(), edges, features)


def test_two_moons_of_cliques_grow_together() -> None:
    """Fourteen merges of sixteen cliques are needed; hardly more is asked before all is right."""
    case = moons()
    engine = case.engine(A3S)
    count = 0
    while not is_truth(engine, case):
        assert engine.question is not None
        engine.record(case.truth(engine.question.left, engine.question.right))
        count += 1
    assert count <= 21
    answer_all(case, engine)
    assert is_truth(engine, case)


def test_a_planted_outlier_is_found_and_moved() -> None:
    """Sample 7 is among the first clique's, and resembles the second."""
    n, classes = 16, [0] * 7 + [1] * 9
    edges = {(i, j): 0.9 for i, j in itertools.combinations(range(n), 2) if classes[i] == classes[j]}
    edges |= {(i, 7): 0.15 for i in range(7)}
    rng = np.random.default_rng(1)
    features = rng.normal(size=(n, 2)) * 0.3 + np.array(classes)[:, None] * 4.0
    case = case_of([0] * 8 + [1] * 8, classes, edges, features)
    engine = case.engine(A3S)
    asked = answer_all(case, engine, 4)
    assert is_truth(engine, case)
    reasons = [(question.reason, answer) for question, answer in asked if 7 in (question.left, question.right)]
    assert reasons[:2] == [(Reason.MEMBER, Answer.DIFFERENT), (Reason.OUTLIER, Answer.SAME)]


def test_a_planted_impure_cluster_is_split_by_one_different() -> None:
    case = cliques_of([6, 5, 6], classes=[0, 1, 2])
    labels = [0] * 11 + [1] * 6  # the first two cliques in one cluster
    graph = case.initial.graph
    pairs = itertools.combinations(range(case.n), 2)
    known = {pair: graph.probability(*pair) for pair in pairs if graph.probability(*pair) > 0.5}
    case = case_of(labels, case.classes.tolist(), {**known, (0, 6): 0.3}, case.views[0])
    engine = case.engine(A3S)
    (question, answer), *_ = answer_all(case, engine, 1)
    assert (question.reason, answer) == (Reason.PURITY, Answer.DIFFERENT)
    assert is_truth(engine, case)
    answer_all(case, engine)
    assert is_truth(engine, case)


def test_a_pure_cluster_is_confirmed_and_left_alone() -> None:
    case = cliques_of([8], classes=[0])
    engine = case.engine(A3S)
    asked = answer_all(case, engine)
    assert len(asked) <= 7
    assert is_truth(engine, case)


def test_of_two_pairs_worth_as_much_the_likelier_one_is_asked() -> None:
    """As long as both are likely it does not matter which; of unlikely ones the model is too sure of the large one."""
    chance, entropy = np.array([0.8, 0.4, 0.08, 0.04]), np.array([1.0, 2.0, 10.0, 20.0])
    gain = a3s_module._JOINING(chance, entropy)
    assert gain[0] == pytest.approx(gain[1])
    assert gain[1] > gain[2] > gain[3] > 0.0


def test_a_contradiction_is_refused_and_told_by_its_chain() -> None:
    case = cliques_of([3, 3, 3], classes=[0, 0, 1])
    engine = case.engine(A3S)
    engine.impose(0, 3, Answer.SAME)
    engine.impose(3, 6, Answer.DIFFERENT)
    before, question, mark = engine.digest(), engine.question, engine.mark()
    with pytest.raises(ContradictionError) as caught:
        engine.impose(0, 6, Answer.SAME)
    assert caught.value.chain == ((0, 3, "same"), (3, 6, "different"))
    with pytest.raises(ContradictionError):
        engine.impose(0, 3, Answer.DIFFERENT)
    assert (engine.digest(), engine.question, engine.mark()) == (before, question, mark)
    check_derived(case, engine, reload=True)


def test_what_the_model_joined_unasked_is_taken_apart_at_the_same_place() -> None:
    """With a model that joins at once, two cliques are one by mistake; one answer mends it."""
    case = cliques_of([5, 4], classes=[0, 1], between={(0, 1): 0.5})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(a3s_module, "ANSWERS_BEFORE_JOINING", 0)
        patch.setattr(a3s_module, "SURE", 0.0)
        engine = case.engine(A3S)
        assert engine.partition.n_clusters == 1
        forest = facts_of(engine).forest
        (root,) = (forest.root(c) for c in engine.partition.cluster_ids().tolist())
        assert forest.is_guess(root)
        patch.setattr(a3s_module, "SURE", 2.0)
        answered = 0
        while engine.question is not None and not is_truth(engine, case):
            question = engine.question
            engine.record(case.truth(question.left, question.right))
            answered += 1
        assert is_truth(engine, case)
        assert answered == 1


def test_no_merge_is_made_unasked_before_enough_was_answered() -> None:
    """Cliques that surely are one: they are joined at once when the model has seen enough, and not before."""
    case = cliques_of([3] * 40, classes=[k // 2 for k in range(40)], between={(k, k + 1): 0.9 for k in range(0, 40, 2)})
    engine = case.engine(A3S)
    for count in range(1, 30):
        if engine.question is None:
            break
        before = engine.partition.n_clusters
        engine.record(case.truth(engine.question.left, engine.question.right))
        if count < a3s_module.ANSWERS_BEFORE_JOINING:
            assert before - engine.partition.n_clusters <= 1
        check_at_rest(engine)
    assert is_truth(engine, case)
    assert engine.store.n_constraints < 30


def test_of_many_samples_a_few_are_joined_unasked_after_each_answer() -> None:
    case = cliques_of([3] * 40, classes=[k // 2 for k in range(40)], between={(k, k + 1): 0.9 for k in range(0, 40, 2)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(a3s_module, "LARGE", 100)
        engine = case.engine(A3S)
        counts, marks = [engine.partition.n_clusters], [(engine.mark(), engine.digest())]
        while engine.question is not None:
            engine.record(case.truth(engine.question.left, engine.question.right))
            check_at_rest(engine)
            counts.append(engine.partition.n_clusters)
            marks.append((engine.mark(), engine.digest()))
        assert is_truth(engine, case)
        at_once = [before - after for before, after in itertools.pairwise(counts[:-1])]
        assert max(at_once) == 3  # the pair that was answered, and two more
        assert engine.store.n_constraints < 30, "they are joined, not asked for"
        for mark, digest in reversed(marks):
            engine.restore(mark)
            assert engine.digest() == digest


@examples(25)
@given(CASES, OPERATIONS)
def test_joins_that_are_left_for_the_next_answers_are_undone_and_replayed_as_all_else(
    case: Case, operations: list[tuple]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(a3s_module, "LARGE", 0)
        patch.setattr(a3s_module, "JOINS_AT_ONCE", 1)
        patch.setattr(a3s_module, "ANSWERS_BEFORE_JOINING", 0)
        patch.setattr(a3s_module, "SURE", 0.5)
        carried_out_and_replayed(case, operations)


# --- the smallest and plainest data


@pytest.mark.parametrize("classes", [(0, 0, 0), (0, 0, 1), (0, 1, 2)])
@pytest.mark.parametrize("features", [np.eye(3), np.ones((3, 2)), np.array([[0.0], [0.1], [5.0]])])
def test_three_samples(classes: tuple[int, ...], features: np.ndarray) -> None:
    view = np.asarray(features, np.float32)
    case = Case(initialize([view], InitialOptions(refine=True), Task()), (view,), np.array(classes))
    engine = case.engine(A3S)
    assert len(answer_all(case, engine)) <= 3
    check_derived(case, engine, reload=True)


@pytest.mark.parametrize("value", [0.5, 1e-4, 1.0 - 1e-4])
@pytest.mark.parametrize("singletons", [True, False])
def test_all_similarities_equal(value: float, singletons: bool) -> None:
    n = 9
    edges = dict.fromkeys(itertools.combinations(range(n), 2), value)
    labels = list(range(n)) if singletons else [0] * n
    case = case_of(labels, [i % 3 for i in range(n)], edges, np.ones((n, 2)))
    engine = case.engine(A3S)
    answer_all(case, engine)
    check_derived(case, engine, reload=True)


def test_samples_without_edges_are_left_alone() -> None:
    case = case_of([0, 0, 1, 1, 2, 3], [0, 0, 0, 0, 1, 2], {(0, 1): 0.9, (2, 3): 0.9, (1, 2): 0.6}, np.eye(6))
    engine = case.engine(A3S)
    asked = answer_all(case, engine)
    assert not {4, 5} & {i for question, _ in asked for i in (question.left, question.right)}
    assert is_truth(engine, case)
    engine.impose(4, 0, Answer.SAME)  # the annotator knows more than the graph
    assert engine.labels[4] == engine.labels[0]
    check_derived(case, engine, reload=True)
    answer_all(case, engine)
    check_at_rest(engine)


def test_no_edges_at_all() -> None:
    case = case_of([0, 1, 2], [0, 0, 0], {}, np.eye(3))
    engine = case.engine(A3S)
    assert engine.question is None
    assert engine.look_ahead() == []


def test_questions_say_why_they_are_asked() -> None:
    case = random_case(2, 60, 8, mixed=0.3)
    engine = case.engine(A3S)
    reasons = set()
    for question, _ in answer_all(case, engine, 300):
        inside = question.left_cluster == question.right_cluster
        assert (question.reason in (Reason.PURITY, Reason.MEMBER)) == inside
        reasons.add(question.reason)
    assert reasons == {Reason.MERGE, Reason.OUTLIER, Reason.PURITY, Reason.MEMBER}


def test_the_dump_needs_no_pickle_and_its_values_are_json() -> None:
    import json

    case = random_case(5, 40, 5)
    engine = case.engine(A3S)
    answer_all(case, engine, 25)
    arrays, meta = engine.dump()
    assert all(array.dtype.kind in "iufb" for array in arrays.values())
    loaded = Engine.load(case.initial, case.views, A3S, arrays, json.loads(json.dumps(meta, allow_nan=False)))
    assert loaded.digest() == engine.digest()
