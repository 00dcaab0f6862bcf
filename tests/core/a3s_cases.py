"""Parts of the strategy a3s at hand for tests, and its derived parts computed anew to compare with."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from a3s_desktop.core.cluster_graph import ClusterGraph
from a3s_desktop.core.context import Context
from a3s_desktop.core.correction import Correction
from a3s_desktop.core.engine import Engine, Mark
from a3s_desktop.core.forest import Forest
from a3s_desktop.core.group_facts import GroupFacts
from a3s_desktop.core.trees import Tree
from a3s_desktop.core.types import Answer, StrategyOptions
from a3s_desktop.core.undo import UndoLog
from a3s_desktop.errors import ContradictionError
from tests.core.cases import CORRECTIONS, Case, correct, correction_of

A3S = StrategyOptions(strategy="a3s")


def facts_of(engine: Engine) -> GroupFacts:
    """The derived parts that a running engine keeps up to date."""
    (facts,) = (watcher for watcher in engine._context.watchers if isinstance(watcher, GroupFacts))
    return facts


def facts_anew(engine: Engine) -> GroupFacts:
    """The same derived from the engine's state, without touching it."""
    context, known = engine._context, facts_of(engine)
    links = ClusterGraph(context, np.asarray(known.links.similarity, np.float32), UndoLog())
    return GroupFacts(context, links, Forest(context, links.similarity))


Told = tuple[float, float, bool]


def links_by_definition(context: Context, similarity: np.ndarray) -> dict[tuple[int, int], Told]:
    """What joins two clusters (smaller id first) that are alike at all, from edges and the relation of every pair:
    sum of the similarities, largest of them, whether known to differ."""
    labels, graph, store = context.partition.labels.tolist(), context.graph, context.store
    totals: dict[tuple[int, int], list[float]] = {}
    for i in range(graph.n):
        for edge in range(graph.indptr[i], graph.indptr[i + 1]):
            j = graph.indices[edge]
            a, b = labels[i], labels[j]
            if context.junk[i] or context.junk[j]:
                continue
            if a < b and similarity[edge] > 0.0:
                totals.setdefault((a, b), []).append(float(similarity[edge]))
    homes = [context.home(i) for i in range(graph.n)]
    apart = {
        (min(homes[i], homes[j]), max(homes[i], homes[j]))
        for i, j in itertools.combinations(range(graph.n), 2)
        if store.relation(i, j) is Answer.DIFFERENT
    }
    return {pair: (sum(values), max(values), pair in apart) for pair, values in totals.items()}


def told_by(links: ClusterGraph, cluster: int) -> dict[int, Told]:
    """The links of a cluster to those that it resembles at all, as `links_by_definition` has them."""
    row = links.links(cluster)
    return {other: (link.total, link.largest, link.apart) for other, link in row.items() if link.total > 0.0}


def check_links(context: Context, links: ClusterGraph) -> None:
    """The links equal those of the definition, from both sides."""
    expected = links_by_definition(context, links.similarity)
    ids = range(context.partition.next_id)
    found = {(a, b): told for a in ids for b, told in told_by(links, a).items()}
    assert found == {**expected, **{(b, a): told for (a, b), told in expected.items()}}


def check_facts(facts: GroupFacts, other: GroupFacts) -> None:
    """Two sets of derived parts say the same of every pair of clusters and every node, to the last bit."""
    for what, keys in (("merges", ("second", "first")), ("inner", ("node", "cluster"))):
        said = []
        for one in (facts, other):
            found = getattr(one, what)()
            order = np.lexsort([getattr(found, key) for key in keys])
            said.append({field.name: getattr(found, field.name)[order] for field in dataclasses.fields(found)})
        for name, values in said[0].items():
            assert_array_equal(values, said[1][name], f"{what}: {name}")


def check_derived(case: Case, engine: Engine, reload: bool = False) -> None:
    """What the engine keeps equals what is derived anew; with ``reload``, by an engine loaded from its dump too."""
    facts = facts_of(engine)
    anew = facts_anew(engine)
    check_links(engine._context, facts.links)
    for cluster in range(engine.partition.next_id):
        assert dict(facts.links.links(cluster)) == dict(anew.links.links(cluster))
    check_facts(facts, anew)
    check_forest(engine._context, facts.forest)
    if reload:
        for kept in (False, True):  # derived again, or taken over
            loaded = case.reload(engine, engine._context.options, kept)
            check_facts(facts, facts_of(loaded))
            for cluster in range(engine.partition.next_id):
                assert dict(facts.links.links(cluster)) == dict(facts_of(loaded).links.links(cluster))


def check_forest(context: Context, forest: Forest) -> None:
    """Every cluster has a tree, of its members and no others, and nothing else has."""
    partition = context.partition
    roots = dict(context.table("root").sorted_items())
    assert sorted(roots) == partition.cluster_ids().tolist()
    for cluster, root in roots.items():
        members = partition.members(cluster).tolist()
        leaves = forest.leaves(root).tolist()
        assert sorted(leaves) == members
        nodes = forest.nodes(root)
        assert len(nodes) == len(members) - 1
        for node, start, middle, end in nodes:
            left, right = forest.children(node)
            assert forest.leaves(left).tolist() == leaves[start:middle]
            assert forest.leaves(right).tolist() == leaves[middle:end]
            assert forest.face(node) in (forest.face(left), forest.face(right))
    for node, tree in forest._trees.items():  # none of a node that was taken back and made again otherwise
        walked = Tree.walked(node, forest._n, forest.children)
        assert_array_equal(tree.leaves, walked.leaves)
        assert_array_equal(tree.nodes, walked.nodes)
    assert forest._leaves == sum(len(tree.leaves) for tree in forest._trees.values())


OPERATIONS = st.lists(
    st.one_of(
        *6 * [st.tuples(st.just("truth"), st.integers(1, 6))],
        st.tuples(st.sampled_from(Answer)),
        *2 * [st.tuples(st.just("undo"), st.integers(1, 8))],
        st.tuples(st.just("redo")),
        st.tuples(st.just("look ahead")),
        st.tuples(st.just("reload")),
        st.tuples(st.just("impose"), st.integers(0, 39), st.integers(0, 39), st.sampled_from(Answer)),
        *2 * [CORRECTIONS],
    ),
    max_size=25,
)


@dataclasses.dataclass(frozen=True)
class Done:
    """Something that was done to an engine."""

    left: int = -1
    right: int = -1
    answer: Answer = Answer.SKIP
    asked: bool = False
    correction: Correction | None = None


class Session:
    """Carries out operations on an engine the way a session does, and remembers what is in force."""

    def __init__(self, case: Case, engine: Engine | None = None) -> None:
        self.case = case
        self.engine = engine or case.engine(A3S)
        self.done: list[Done] = []
        self._marks: list[tuple[Mark, str]] = []  # before each of the last so many of `done`
        self._undone: list[Done] = []

    def apply(self, operation: str, *arguments: int | Answer) -> None:
        if operation == "undo":
            self._undo(int(arguments[0]))
        elif operation == "redo":
            if self._undone:
                self._carry_out(self._undone.pop())
        elif operation == "look ahead":
            self._look_ahead()
        elif operation == "reload":
            before, question = self.engine.digest(), self.engine.question
            self.engine = self.case.reload(self.engine, A3S, facts=bool(len(self.done) % 2))
            assert (self.engine.digest(), self.engine.question) == (before, question)
            self.forget()
        elif operation == "impose":
            self._impose(int(arguments[0]) % self.case.n, int(arguments[1]) % self.case.n, Answer(arguments[2]))
        elif operation == "correct":
            self._correct(*arguments)
        else:
            for _ in range(int(arguments[0]) if operation == "truth" else 1):
                question = self.engine.question
                if question is not None:
                    truth = self.case.truth(question.left, question.right)
                    answer = truth if operation == "truth" else Answer(operation)
                    pair = {question.left, question.right}
                    assert pair not in self._closed(), "a pair is asked twice"
                    self._carry_out(Done(question.left, question.right, answer, True))
                    self._undone.clear()

    def forget(self) -> None:
        """Nothing that was done so far can be taken back."""
        self._marks.clear()
        self._undone.clear()

    def replayed(self) -> Engine:
        """A new engine that was told all that is in force."""
        twin = Session(self.case)
        for one in self.done:
            twin._carry_out(one)
        return twin.engine

    def _carry_out(self, one: Done) -> None:
        question = self.engine.question
        self._marks.append((self.engine.mark(), self.engine.digest()))
        if one.correction is not None:
            self.engine.correct(one.correction)
        elif one.asked:
            assert question is not None
            assert (question.left, question.right) == (one.left, one.right)
            self.engine.record(one.answer)
        else:
            self.engine.impose(one.left, one.right, one.answer)
        self.done.append(one)

    def _closed(self) -> list[set[int]]:
        """Pairs that must not come again."""
        found = [{one.left, one.right} for one in self.done]
        anew = [at for at, one in enumerate(self.done) if one.correction and one.correction.requeue]
        last = anew[-1] if anew else 0
        return [pair for at, pair in enumerate(found) if at > last or self.done[at].answer is not Answer.SKIP]

    def _correct(self, *arguments: str | int) -> None:
        correction = correction_of(self.engine, *arguments)
        if correction is None:
            return
        before = (self.engine.mark(), self.engine.digest())
        if correct(self.engine, correction):
            self._marks.append(before)
            self.done.append(Done(correction=correction))
            self._undone.clear()

    def _undo(self, times: int) -> None:
        for _ in range(min(times, len(self._marks))):
            mark, digest = self._marks.pop()
            self.engine.restore(mark)
            self._undone.append(self.done.pop())
            assert self.engine.digest() == digest

    def _look_ahead(self) -> None:
        engine = self.engine
        before, question = engine.digest(), engine.question
        expected = []
        if question is not None:
            for answer in (Answer.SAME, Answer.DIFFERENT):
                other = self.case.reload(engine, A3S)
                other.record(answer)
                if other.question is not None and other.question not in expected:
                    expected.append(other.question)
        assert engine.look_ahead() == expected
        assert (engine.digest(), engine.question) == (before, question)

    def _impose(self, left: int, right: int, answer: Answer) -> None:
        if left == right:
            return
        known = self.engine.store.relation(left, right)
        if not answer.is_constraint or known in (None, answer):
            self._carry_out(Done(left, right, answer, False))
            self._undone.clear()
            return
        before, mark = self.engine.digest(), self.engine.mark()
        with pytest.raises(ContradictionError) as caught:
            self.engine.impose(left, right, answer)
        assert caught.value.chain
        assert (self.engine.digest(), self.engine.mark()) == (before, mark)
