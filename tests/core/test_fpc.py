"""FPC: known graphs, local optimality, and an objective as good as that of a sequential greedy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from a3s_desktop.core.fpc import compact, fpc, objective
from a3s_desktop.core.types import PairGraph
from a3s_desktop.errors import Cancelled
from a3s_desktop.task import Task


def graph_of(n: int, pairs: np.ndarray, logodds: np.ndarray, miss: float = -0.5) -> PairGraph:
    """Graph from pairs (P, 2) with left < right."""
    rows = np.concatenate((pairs[:, 0], pairs[:, 1])).astype(np.int64)
    columns = np.concatenate((pairs[:, 1], pairs[:, 0])).astype(np.int32)
    values = np.concatenate((logodds, logodds)).astype(np.float32)
    order = np.lexsort((columns, rows))
    indptr = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=n)))).astype(np.int64)
    return PairGraph(indptr, columns[order], np.zeros((1, len(order)), np.float32), values[order], miss)


def random_graph(n: int, degree: int, seed: int, classes: int = 0, miss: float = -0.5) -> PairGraph:
    rng = np.random.default_rng(seed)
    left, right = np.triu_indices(n, 1)
    kept = rng.random(len(left)) < min(1.0, degree / max(1, n - 1))
    pairs = np.stack((left[kept], right[kept]), axis=1)
    logodds = 2.0 * rng.normal(size=len(pairs)) - 0.5
    if classes:
        logodds += np.where(pairs[:, 0] % classes == pairs[:, 1] % classes, 2.0, -1.0)
    return graph_of(n, pairs, np.clip(logodds, -9.0, 9.0), miss)


def sequential(graph: PairGraph, seed: int) -> np.ndarray:
    """The reference: one sample at a time, in random order, to the best cluster, until none moves."""
    n = graph.n
    labels = np.arange(n)
    sizes = np.concatenate((np.ones(n, np.int64), np.zeros(n, np.int64)))
    empty = list(range(2 * n - 1, n - 1, -1))
    rng = np.random.default_rng(seed)
    moved = True
    while moved:
        moved = False
        for i in rng.permutation(n):
            columns, logodds = graph.row(i)
            own = labels[i]
            clusters, of = np.unique(np.append(labels[columns], own), return_inverse=True)
            sums = np.bincount(of, np.append(logodds.astype(np.float64) - graph.miss, 0.0))
            sums += graph.miss * (sizes[clusters] - (clusters == own))
            best = int(np.argmax(sums))
            target, value = (clusters[best], sums[best]) if sums[best] > 0.0 else (-1, 0.0)
            if value > sums[clusters == own][0] + 1e-6 and target != own:
                sizes[own] -= 1
                if not sizes[own]:
                    empty.append(int(own))
                labels[i] = empty.pop() if target < 0 else target
                sizes[labels[i]] += 1
                moved = True
    return labels


def dense(graph: PairGraph) -> np.ndarray:
    matrix = np.full((graph.n, graph.n), graph.miss)
    matrix[np.repeat(np.arange(graph.n), np.diff(graph.indptr)), graph.indices] = graph.logodds
    np.fill_diagonal(matrix, 0.0)
    return matrix


def test_compact_numbers_by_first_appearance() -> None:
    assert np.array_equal(compact(np.array([7, 3, 7, -1, 3])), [0, 1, 0, 2, 1])
    assert compact(np.zeros(0, np.int64)).shape == (0,)


@given(st.integers(1, 14), st.integers(0, 10**6), st.sampled_from([-0.5, -3.0]))
def test_objective_is_the_sum_inside_clusters(n: int, seed: int, miss: float) -> None:
    graph = random_graph(n, 6, seed, miss=miss)
    labels = np.random.default_rng(seed).integers(0, 4, n)
    expected = dense(graph)[labels[:, None] == labels[None]].sum() / 2.0
    assert objective(graph, labels) == pytest.approx(expected, abs=1e-4)


@given(st.integers(2, 25), st.integers(0, 10**6), st.sampled_from([-0.5, -2.0]))
def test_no_single_move_and_no_join_is_left(n: int, seed: int, miss: float) -> None:
    graph = random_graph(n, 8, seed, miss=miss)
    labels = fpc(graph, seed, Task())
    k = int(labels.max()) + 1
    assert np.array_equal(np.unique(labels), np.arange(k))
    one_hot = np.eye(k)[labels]
    to_cluster = dense(graph) @ one_hot
    own = to_cluster[np.arange(n), labels]
    assert (own >= np.maximum(to_cluster.max(axis=1), 0.0) - 1e-4).all()
    between = one_hot.T @ to_cluster
    assert between[~np.eye(k, dtype=bool)].max(initial=-1.0) <= 1e-4


def test_cliques_are_found_and_weak_links_cut() -> None:
    n, size = 60, 6
    left, right = np.triu_indices(n, 1)
    same = left // size == right // size
    bridge = right == left + 1
    kept = same | bridge
    pairs = np.stack((left[kept], right[kept]), axis=1)
    graph = graph_of(n, pairs, np.where(same[kept], 3.0, 1.0))
    assert np.array_equal(fpc(graph, 0, Task()), np.arange(n) // size)


def test_missing_pairs_hold_a_chain_apart() -> None:
    """On a chain every edge says "same", but the pairs that are no edges say "different"."""
    pairs = np.stack((np.arange(99), np.arange(1, 100)), axis=1)
    labels = fpc(graph_of(100, pairs, np.full(99, 1.0), miss=-5.0), 0, Task())
    assert np.bincount(labels).max() == 2


def test_two_halves_that_hold_each_other_are_joined() -> None:
    """No single sample gains by leaving its half, both halves gain by becoming one."""
    left, right = np.triu_indices(8, 1)
    same = left // 4 == right // 4
    graph = graph_of(8, np.stack((left, right), axis=1), np.where(same, 5.0, 0.2))
    assert not fpc(graph, 0, Task()).any()


def test_degenerate_graphs() -> None:
    none = np.zeros((0, 2), np.int64)
    assert np.array_equal(fpc(graph_of(1, none, np.zeros(0)), 0, Task()), [0])
    assert np.array_equal(fpc(graph_of(4, none, np.zeros(0)), 0, Task()), [0, 1, 2, 3])
    pair = np.array([[0, 1]])
    assert np.array_equal(fpc(graph_of(2, pair, np.array([1.0])), 0, Task()), [0, 0])
    assert np.array_equal(fpc(graph_of(2, pair, np.array([-1.0])), 0, Task()), [0, 1])
    triangle = np.array([[0, 1], [0, 2], [1, 2]])
    assert np.array_equal(fpc(graph_of(3, triangle, np.array([9.0, 9.0, 9.0])), 0, Task()), [0, 0, 0])


@pytest.mark.parametrize(
    ("n", "degree", "classes", "miss"), [(400, 20, 20, -0.5), (400, 40, 10, -1.0), (800, 30, 0, -2)]
)
def test_objective_is_within_a_thousandth_of_sequential_greedy(n: int, degree: int, classes: int, miss: float) -> None:
    graph = random_graph(n, degree, n + degree, classes, miss)
    ours = np.mean([objective(graph, fpc(graph, seed, Task())) for seed in range(3)])
    greedy = np.mean([objective(graph, sequential(graph, seed)) for seed in range(3)])
    assert ours >= 0.999 * greedy


def test_same_seed_same_labels() -> None:
    graph = random_graph(300, 30, 1, 15)
    assert np.array_equal(fpc(graph, 5, Task()), fpc(graph, 5, Task()))


def test_cancelled() -> None:
    task = Task()
    task.cancel()
    with pytest.raises(Cancelled):
        fpc(random_graph(30, 5, 0), 0, task)
