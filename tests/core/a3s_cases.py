"""Parts of the strategy a3s at hand for tests, and its derived parts computed anew to compare with."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
from numpy.testing import assert_array_equal

from a3s_desktop.core.cluster_graph import ClusterGraph, Link
from a3s_desktop.core.context import Context
from a3s_desktop.core.engine import Engine
from a3s_desktop.core.forest import Forest
from a3s_desktop.core.group_facts import GroupFacts
from a3s_desktop.core.types import Answer, StrategyOptions
from a3s_desktop.core.undo import UndoLog
from tests.core.cases import Case

A3S = StrategyOptions(strategy="a3s")


def facts_of(engine: Engine) -> GroupFacts:
    """The derived parts that a running engine keeps up to date."""
    (facts,) = (watcher for watcher in engine._context.watchers if isinstance(watcher, GroupFacts))
    return facts


def facts_anew(engine: Engine) -> GroupFacts:
    """The same derived from the engine's state, without touching it."""
    context, known = engine._context, facts_of(engine)
    links = ClusterGraph(
        context.graph, known.links.similarity.astype(np.float32), context.partition, context.store, UndoLog()
    )
    return GroupFacts(context, links, Forest(context, links.similarity))


def links_by_definition(context: Context, similarity: np.ndarray) -> dict[tuple[int, int], Link]:
    """Links between clusters, smaller id first, from edges and the relation of every pair of samples."""
    labels, graph, store = context.partition.labels.tolist(), context.graph, context.store
    totals: dict[tuple[int, int], list[float]] = {}
    for i in range(graph.n):
        for edge in range(graph.indptr[i], graph.indptr[i + 1]):
            a, b = labels[i], labels[graph.indices[edge]]
            if a < b and similarity[edge] > 0.0:
                totals.setdefault((a, b), []).append(float(similarity[edge]))
    apart = {
        (min(labels[i], labels[j]), max(labels[i], labels[j]))
        for i, j in itertools.combinations(range(graph.n), 2)
        if store.relation(i, j) is Answer.DIFFERENT
    }
    return {pair: Link(sum(values), max(values), pair in apart) for pair, values in totals.items()}


def check_links(context: Context, links: ClusterGraph) -> None:
    """The links equal those of the definition, from both sides."""
    expected = links_by_definition(context, links.similarity)
    ids = context.partition.cluster_ids().tolist()
    found = {(a, b): link for a in range(max(ids) + 1) for b, link in links.links(a).items()}
    assert found == {**expected, **{(b, a): link for (a, b), link in expected.items()}}


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
    check_links(engine._context, facts.links)
    check_facts(facts, facts_anew(engine))
    check_forest(engine._context, facts.forest)
    if reload:
        check_facts(facts, facts_of(case.reload(engine, engine._context.options)))


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
