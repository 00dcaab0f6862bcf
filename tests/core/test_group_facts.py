"""Facts kept up to date against facts derived anew, at any moment of any session; and a few of them by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from a3s_desktop.core import chances as chances_module
from a3s_desktop.core import group_facts as group_facts_module
from a3s_desktop.core import node_facts as node_facts_module
from a3s_desktop.core import pair_table as pair_table_module
from a3s_desktop.core.engine import Engine
from a3s_desktop.core.link_model import inner_prior, merge_prior, probability
from a3s_desktop.core.strategies import a3s as a3s_module
from a3s_desktop.core.types import Answer
from tests.core.a3s_cases import A3S, OPERATIONS, Session, check_derived, facts_of
from tests.core.cases import Case, case_of, check_at_rest, random_case
from tests.examples import examples

# Data that a session goes on with for long enough to see the model join and be wrong.
CASES = st.builds(
    random_case, st.integers(0, 10_000), st.integers(3, 40), st.integers(1, 9), st.sampled_from((0.0, 0.2, 0.6))
)


@examples(40)
@given(CASES, OPERATIONS, st.booleans())
def test_what_is_kept_equals_what_is_derived_anew(case: Case, operations: list[tuple], quick: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if quick:  # let the model join from the start, and put parts together often
            patch.setattr(a3s_module, "ANSWERS_BEFORE_JOINING", 0)
            patch.setattr(a3s_module, "SURE", 0.6)
            patch.setattr(chances_module, "WANTED", 2)
        session = Session(case)
        check_derived(case, session.engine, reload=True)
        for operation in operations:
            session.apply(*operation)
            check_at_rest(session.engine)
            check_derived(case, session.engine, reload=operation[0] != "reload")


_SAMPLE = st.integers(0, 11)
ABOUT_JUNK = st.lists(
    st.one_of(
        *2 * [st.tuples(st.just("impose"), _SAMPLE, _SAMPLE, st.sampled_from((Answer.SAME, Answer.DIFFERENT)))],
        st.tuples(st.just("correct"), st.sampled_from(("junk", "restore")), _SAMPLE, _SAMPLE, st.integers(1, 2)),
        st.tuples(st.just("undo"), st.integers(1, 3)),
    ),
    max_size=30,
)


@examples(40)
@given(st.builds(random_case, st.integers(0, 10_000), st.integers(4, 12), st.integers(1, 5)), ABOUT_JUNK)
@example(
    random_case(0, 4, 2),
    [("impose", 0, 3, Answer.DIFFERENT), ("correct", "junk", 3, 0, 1), ("impose", 1, 3, Answer.SAME)],
)
def test_what_is_kept_holds_where_junk_links_samples(case: Case, operations: list[tuple]) -> None:
    """A junk sample that differed from others, and is then said to be one with a sample of a cluster, and the like."""
    session = Session(case)
    for operation in operations:
        session.apply(*operation)
        check_derived(case, session.engine)


@examples(30)
@given(CASES, OPERATIONS, st.integers(0, 25))
def test_a_loaded_engine_goes_on_as_the_one_it_was_taken_from(case: Case, operations: list[tuple], at: int) -> None:
    """Both go through the same operations after the load: what the one keeps for long is no other's."""
    session = Session(case)
    for operation in operations[:at]:
        session.apply(*operation)
    twin = Session(case, case.reload(session.engine, A3S))
    session.forget()
    for operation in operations[at:]:
        for one in (session, twin):
            one.apply(*operation)
        assert twin.engine.question == session.engine.question
        assert twin.engine.digest() == session.engine.digest()
    check_derived(case, twin.engine)


# --- by hand


def pair_facts(engine: Engine) -> dict[tuple[int, int], np.ndarray]:
    pairs = facts_of(engine).merges()
    return {(int(a), int(b)): row for a, b, row in zip(pairs.first, pairs.second, pairs.rows, strict=True)}


def test_facts_of_pairs_by_definition() -> None:
    """Every fact of every pair, from the graph and the features."""
    case = random_case(11, 40, 6)
    engine = case.engine(A3S)
    for _ in range(12):
        if engine.question is not None:
            engine.record(case.truth(engine.question.left, engine.question.right))
    facts, context = facts_of(engine), engine._context
    links, size = facts.links, context.partition.size
    members = {c: context.partition.members(c) for c in context.partition.cluster_ids().tolist()}
    rows = {c: context.rows(of).astype(np.float64) for c, of in members.items()}
    graph = context.graph
    ends = np.repeat(np.arange(graph.n), np.diff(graph.indptr)).astype(np.int32)
    length = np.linalg.norm(context.rows(ends).astype(np.float64) - context.rows(graph.indices), axis=1)
    mean = {(a, b): links.links(a)[b].total / (size(a) * size(b)) for a in members for b in links.links(a)}
    apart = {a: sum(link.apart for link in links.links(a).values()) for a in members}
    found = pair_facts(engine)
    assert len(found) > 10
    for (a, b), row in found.items():
        assert a < b
        link = links.links(a)[b]
        margins = []
        for one, other in ((a, b), (b, a)):
            rival = max((mean[one, c] for c in links.links(one) if c != other), default=0.0)
            margins.append(np.log((mean[a, b] + 0.003) / (rival + 0.003)))
        gap = ((rows[a][:, None] - rows[b][None]) ** 2).sum(axis=2).mean()
        small = min((size(a), apart[a]), (size(b), apart[b]))
        expected = [
            1.0,
            np.log(link.largest + 0.01),
            np.log(mean[a, b] + 0.01),
            min(margins),
            (np.sqrt(gap) - length.mean()) / length.std(),
            np.log(min(size(a), size(b))),
            np.log(max(size(a), size(b))),
            np.log1p(small[1]),
        ]
        np.testing.assert_allclose(row[: len(expected)], expected, atol=1e-5)


def test_pairs_known_to_differ_are_no_candidates() -> None:
    case = random_case(3, 30, 4)
    engine = case.engine(A3S)
    while engine.question is not None:
        question = engine.question
        answer = case.truth(question.left, question.right)
        engine.record(answer)
        a, b = (engine.partition.cluster_of(i) for i in (question.left, question.right))
        if answer is Answer.DIFFERENT:
            assert engine.store.relation(question.left, question.right) is Answer.DIFFERENT
            faces = {c: facts_of(engine).faces(c)[0] for c in (a, b)}
            if engine.store.relation(faces[a], faces[b]) is Answer.DIFFERENT:
                assert (min(a, b), max(a, b)) not in pair_facts(engine)


@pytest.mark.parametrize("block", [3, 1000])
def test_chances_of_pairs_are_those_of_their_facts(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    """Of all pairs that can be asked, those above a logit; whatever the size of the blocks that are looked at."""
    monkeypatch.setattr(pair_table_module, "_BLOCK", block)
    session = Session(random_case(3, 40, 9, 0.4))
    for _ in range(4):
        session.apply("truth", 2)
    table = facts_of(session.engine).pairs
    own, other = merge_prior().mean, inner_prior().mean
    facts = table.facts()
    middle = len(facts.rows) // 2
    logit = float(np.sort(facts.rows @ own)[middle - 1 : middle + 1].mean())  # between two of them
    expected = {
        (a, b): float(same)
        for a, b, row, same in zip(
            facts.first.tolist(), facts.second.tolist(), facts.rows, probability(facts.rows, other), strict=True
        )
        if row @ own >= logit
    }
    assert 0 < len(expected) < len(facts.rows)
    first, second, same = table.chances(own, logit, other)
    assert dict(zip(zip(first.tolist(), second.tolist(), strict=True), same.tolist(), strict=True)) == expected


def test_facts_of_nodes_by_hand() -> None:
    """Pairs {0, 1} and {2, 3} in one cluster, 4 outside."""
    p = {(0, 1): 0.9, (2, 3): 0.9, (0, 2): 0.3, (1, 4): 0.2}
    features = np.array([[0.0], [0.2], [1.0], [1.2], [3.0]])
    case = case_of([0, 0, 0, 0, 1], [0, 0, 1, 1, 2], p, features)
    engine = case.engine(A3S)
    facts = facts_of(engine)
    inner = facts.inner()
    assert len(inner.node) == 3
    assert (inner.cluster == 0).all()
    assert not inner.guess.any()
    root = facts.forest.root(0)
    (at,) = np.flatnonzero(inner.node == root)
    row = inner.rows[at]
    np.testing.assert_allclose(inner.entropy[at], 4 * np.log(4) - 2 * 2 * np.log(2))
    np.testing.assert_allclose(row[1], np.log(0.3 + 0.01), atol=1e-5)
    np.testing.assert_allclose(row[2], np.log(0.3 / 4 + 0.01), atol=1e-5)
    np.testing.assert_allclose(row[5:7], np.log([2, 2]), atol=1e-9)
    assert row[7] == 0.0
    scaled = engine._context.rows(np.arange(5, dtype=np.int32)).astype(np.float64)
    gap = ((scaled[:2, None] - scaled[None, 2:4]) ** 2).sum(axis=2).mean()
    np.testing.assert_allclose(row[4], facts.distance(np.array([gap]))[0], atol=1e-5)


def test_how_much_a_part_belongs_to_its_cluster_by_definition() -> None:
    """The last fact of every place inside clusters, from the graph."""
    case = random_case(11, 40, 6)
    engine = case.engine(A3S)
    for _ in range(12):
        if engine.question is not None:
            engine.record(case.truth(engine.question.left, engine.question.right))
    facts, graph = facts_of(engine), engine._context.graph
    inner = facts.inner()
    assert len(inner.node) > 5
    likeness = np.zeros((graph.n, graph.n))
    linked = np.zeros((graph.n, graph.n), np.bool_)
    rows = np.repeat(np.arange(graph.n), np.diff(graph.indptr))
    likeness[rows, graph.indices], linked[rows, graph.indices] = facts.links.similarity, True
    for cluster, node, row in zip(inner.cluster, inner.node, inner.rows, strict=True):
        small, large = sorted((facts.forest.leaves(child) for child in facts.forest.children(int(node))), key=len)
        rest = np.setdiff1d(engine.partition.members(int(cluster)), small)
        outside = np.flatnonzero(engine.labels != cluster)
        assert set(large.tolist()) <= set(rest.tolist())
        room = min(1.0, len(rest) / linked[small].sum(axis=1).mean())
        own = likeness[np.ix_(small, rest)].sum() / len(small) / room
        others = likeness[np.ix_(small, outside)].sum() / len(small)
        expected = np.clip(np.log((own + 0.2) / (others + 0.2)), -3.0, 3.0)
        np.testing.assert_allclose(row[12], expected, atol=1e-6)
    assert len(np.unique(inner.rows[:, 12])) > 3
    assert (facts.merges().rows[:, 12] == 0.0).all()


def test_a_sample_between_clusters_is_doubted_by_all_its_neighbours_not_the_nearest_alone() -> None:
    """8 and 9 are as near to their own cluster as to the other by the nearest few; 9 has many more in the other."""
    p = dict.fromkeys(itertools.combinations(range(8), 2), 0.9)
    p |= dict.fromkeys(itertools.combinations(range(10, 22), 2), 0.9)
    for sample, others in ((8, 5), (9, 12)):
        p |= {(k, sample): 0.5 for k in range(5)} | {(sample, 10 + k): 0.5 for k in range(others)}
    labels = [0] * 10 + [1] * 12
    engine = case_of(labels, labels, p, np.zeros((22, 1))).engine(A3S)
    facts = facts_of(engine)
    inner = facts.inner()
    same = dict(zip(inner.node.tolist(), probability(inner.rows, inner_prior().mean).tolist(), strict=True))
    alone = {
        int(leaf[0]): chance
        for node, chance in same.items()
        for leaf in map(facts.forest.leaves, facts.forest.children(node))
        if len(leaf) == 1
    }
    assert alone[9] < alone[8] - 0.03


def test_faces_are_members_best_first() -> None:
    case = random_case(5, 30, 3)
    engine = case.engine(A3S)
    facts = facts_of(engine)
    for cluster in engine.partition.cluster_ids().tolist():
        faces = facts.faces(cluster)
        members = engine.partition.members(cluster).tolist()
        assert faces[0] == facts.forest.face(facts.forest.root(cluster))
        assert set(faces) <= set(members)
        assert len(set(faces)) == len(faces) == min(len(members), group_facts_module.FACES)


@pytest.mark.parametrize("most", [1, 3])
def test_of_a_large_cluster_the_nodes_that_matter_most_are_looked_at(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    case = random_case(6, 40, 1, mixed=0.0)
    engine = case.engine(A3S)
    every = facts_of(engine).inner()
    monkeypatch.setattr(node_facts_module, "MOST_NODES", most)
    other = case.engine(A3S)
    some = facts_of(other).inner()
    for cluster in np.unique(every.cluster):
        entropy = np.sort(every.entropy[every.cluster == cluster])[::-1]
        kept = np.sort(some.entropy[some.cluster == cluster])[::-1]
        np.testing.assert_array_equal(kept, entropy[:most])


def test_data_without_edges_or_spread() -> None:
    for features in (np.zeros((6, 2)), np.eye(6, 2)):
        case = case_of([0, 0, 1, 1, 2, 3], [0] * 6, {}, features)
        engine = case.engine(A3S)
        assert len(facts_of(engine).merges().first) == 0
        assert np.isfinite(facts_of(engine).inner().rows).all()
        edges = dict.fromkeys(itertools.combinations(range(6), 2), 0.5)
        engine = case_of([0, 0, 1, 1, 2, 3], [0] * 6, edges, features).engine(A3S)
        assert np.isfinite(facts_of(engine).merges().rows).all()
