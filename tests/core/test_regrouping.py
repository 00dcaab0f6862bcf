"""Average linkage on a sparse graph: the same groups as on all pairs, however the joins are made."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from a3s_desktop.core.fpc import compact, fpc
from a3s_desktop.core.initialization import initialize
from a3s_desktop.core.metrics import evaluate
from a3s_desktop.core.regrouping import KEPT_OF_A_NUMBER, average_linkage, regroup
from a3s_desktop.core.types import InitialOptions
from a3s_desktop.errors import Cancelled
from a3s_desktop.task import Task
from tests.core.cases import graph_of


def sparse(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows, columns = np.nonzero(weights)
    indptr = np.searchsorted(rows, np.arange(len(weights) + 1))
    return indptr.astype(np.int64), columns.astype(np.int32), weights[rows, columns]


@given(st.integers(0, 10_000), st.integers(2, 40), st.floats(0.1, 1.0))
def test_the_groups_are_those_of_average_linkage_on_all_pairs(seed: int, n: int, density: float) -> None:
    rng = np.random.default_rng(seed)
    # On so fine a grid sums are exact and no two alike: of equal ones any may be joined first.
    weights = np.triu(rng.integers(1, 1 << 40, (n, n)) / (1 << 40) * (rng.random((n, n)) < density), 1)
    weights += weights.T
    indptr, indices, values = sparse(weights)
    distance = 1.0 - weights
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform(distance, checks=False), "average")
    joins_over_edges = int(np.count_nonzero(tree[:, 2] < 1.0 - 1e-9))
    for count in {1, 2, n // 2, n - 1, n}:
        labels = average_linkage(indptr, indices, values, count, Task())
        reached = max(count, n - joins_over_edges)
        assert labels.tolist() == compact(fcluster(tree, reached, "maxclust")).tolist()


def test_equal_weights_come_to_an_end_with_the_number_of_groups_asked_for() -> None:
    weights = np.ones((12, 12)) - np.eye(12)
    for count in range(1, 13):
        labels = average_linkage(*sparse(weights), count, Task())
        assert len(np.unique(labels)) == count


def test_a_graph_in_parts_is_not_joined_across_them() -> None:
    weights = np.zeros((6, 6))
    weights[:3, :3] = weights[3:, 3:] = 0.5
    np.fill_diagonal(weights, 0.0)
    assert average_linkage(*sparse(weights), 1, Task()).tolist() == [0, 0, 0, 1, 1, 1]


def test_no_edges() -> None:
    nothing = np.zeros(0)
    labels = average_linkage(np.zeros(4, np.int64), nothing.astype(np.int32), nothing, 1, Task())
    assert labels.tolist() == [0, 1, 2]


@pytest.mark.parametrize(("other", "groups"), [(0.5, [0, 0, 1, 2, 2]), (0.35, [0, 1, 1, 2, 2])])
def test_what_was_given_counts_more_than_one_deviation_and_less_than_two(other: float, groups: list[int]) -> None:
    """0 and 1 were given together, 1 and 2 are more alike: by 1.2 standard deviations over the edges, and by 2.4."""
    shared = {(0, 1): 0.3, (1, 2): 0.4, (3, 4): other}
    graph = graph_of(5, shared)
    similarity = np.array([0.3, 0.3, 0.4, 0.4, other, other], np.float32)  # of the edges, row by row
    graph = replace(graph, distances=np.ones((1, 6), np.float32), similarity=similarity)
    together = np.array([0, 0, 1, 2, 2], np.int32)
    assert regroup(graph, together, Task()).tolist() == groups
    assert regroup(graph, together, Task(), KEPT_OF_A_NUMBER).tolist() == [0, 1, 1, 2, 2]


def test_only_a_refined_graph() -> None:
    with pytest.raises(ValueError, match="refined"):
        regroup(graph_of(3, {(0, 1): 0.5}), np.arange(3, dtype=np.int32), Task())


def test_it_can_be_cancelled() -> None:
    task = Task()
    task.cancel()
    weights = np.ones((5, 5)) - np.eye(5)
    with pytest.raises(Cancelled):
        average_linkage(*sparse(weights), 1, task)


def test_all_initial_clusterings_start_alike() -> None:
    """Twelve classes that touch: K-means and FPC differ, what they are regrouped to differs much less."""
    rng = np.random.default_rng(3)
    classes = np.repeat(np.arange(12), 25)
    points = (rng.normal(size=(12, 8)) * 1.6)[classes] + rng.normal(size=(300, 8))
    found = [
        initialize([points.astype(np.float32)], InitialOptions(initial=name, ratio=1.5, refine=refine), Task()).labels
        for refine in (False, True)
        for name in ("kmeans", "agglomerative")
    ]
    before, after = (evaluate(found[k], found[k + 1]).ari for k in (0, 2))
    assert after > before


def test_what_was_given_can_be_left_as_it_is() -> None:
    rng = np.random.default_rng(3)
    points = (rng.normal(size=(12, 8)) * 1.6)[np.repeat(np.arange(12), 25)] + rng.normal(size=(300, 8))
    options = InitialOptions(refine=True, regroup=False)
    state = initialize([points.astype(np.float32)], options, Task())
    assert np.array_equal(state.labels, fpc(state.graph, options.seed, Task()))
    assert InitialOptions.from_json(options.to_json()) == options
