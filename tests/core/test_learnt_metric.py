"""The metric learnt from near pairs, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from a3s_desktop.core import moments as moments_module
from a3s_desktop.core.learnt_metric import LearntMetric
from a3s_desktop.core.moments import Moments
from a3s_desktop.core.neighbors import nearest_neighbors
from a3s_desktop.core.partition import Partition
from a3s_desktop.core.types import PairGraph
from a3s_desktop.core.undo import UndoLog
from a3s_desktop.task import Task
from tests.core.cases import graph_of

Found = tuple[np.ndarray, PairGraph, np.ndarray]


class Distances:
    """Distances of pairs of clusters in the learnt metric, as a table of pairs comes to them."""

    def __init__(self, partition: Partition, features: np.ndarray, graph: PairGraph, similarity: np.ndarray) -> None:
        self.metric = LearntMetric(graph, similarity, lambda samples: features[samples])
        self._moments = Moments(partition, lambda samples: features[samples], self.metric.whiten)

    def distances(self, pairs: list[tuple[int, int]]) -> np.ndarray:
        self._moments.renew(np.unique(pairs))
        return self.metric.distance(self._moments.gaps(*np.array(pairs).T).turned)


def metric_of(found: Found, labels: np.ndarray) -> Distances:
    return Distances(Partition(labels, UndoLog()), *found)


@pytest.fixture
def streaks() -> Found:
    """Two classes of 60, one above the other, long in the direction that tells nothing."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(120, 2)) * (10.0, 0.5)
    features[:, 1] += np.repeat((0.0, 6.0), 60)
    neighbors, _ = nearest_neighbors(features.astype(np.float32), 6, Task())
    graph = graph_of(120, {(min(i, j), max(i, j)): 0.5 for i, row in enumerate(neighbors.tolist()) for j in row})
    left = np.repeat(np.arange(120), np.diff(graph.indptr))
    return features, graph, (left // 60 == graph.indices // 60).astype(np.float64)


def test_directions_in_which_near_pairs_differ_count_less(streaks: Found) -> None:
    features = streaks[0]
    labels = np.arange(120, dtype=np.int32)
    length = np.linalg.norm(features[1:60] - features[0], axis=1)
    inside = 1 + int(np.argmin(np.abs(length - 10.0)))  # of the class of the first sample, 10 away
    above = 60 + int(np.argmin(np.abs(features[60:, 0] - features[0, 0])))  # of the other, 6 away
    plain = [float(np.linalg.norm(features[0] - features[k])) for k in (inside, above)]
    learnt = metric_of(streaks, labels).distances([(0, inside), (0, above)])
    assert plain[0] > plain[1]
    assert learnt[0] < learnt[1]


def test_distances_are_those_of_the_members(streaks: Found) -> None:
    """The root mean square over all pairs of members; and a cluster that changed is measured anew."""
    single = metric_of(streaks, np.arange(120, dtype=np.int32))
    labels = (np.arange(120) % 5).astype(np.int32)
    partition = Partition(labels, UndoLog())
    metric = Distances(partition, *streaks)
    first, second = np.flatnonzero(labels == 1), np.flatnonzero(labels == 3)
    scaled = (
        single.distances([(int(a), int(b)) for a in first for b in second]) * metric.metric.spread
        + metric.metric.middle
    )
    expected = (np.sqrt((scaled**2).mean()) - metric.metric.middle) / metric.metric.spread
    assert metric.distances([(1, 3)]) == pytest.approx([expected], abs=1e-6)
    before = metric.distances([(1, 2), (0, 4)])
    partition.merge(1, 3)
    after = metric.distances([(1, 2), (0, 4)])
    assert after[0] != before[0]
    assert after[1] == before[1]


def test_neither_blocks_nor_threads_change_a_distance(streaks: Found, monkeypatch: pytest.MonkeyPatch) -> None:
    labels = (np.arange(120) // 4).astype(np.int32)
    pairs = [(a, b) for a in range(30) for b in range(a)]
    expected = metric_of(streaks, labels).distances(pairs)
    monkeypatch.setattr(moments_module, "BLOCK", 5)
    for threads in (1, 2):
        with threadpool_limits(threads):
            metric = metric_of(streaks, labels)
            np.testing.assert_array_equal([metric.distances([pair])[0] for pair in pairs], expected)


@pytest.mark.parametrize("features", [np.zeros((4, 3)), np.ones((4, 1))])
def test_equal_samples_and_graphs_without_edges_have_distances(features: np.ndarray) -> None:
    labels = np.arange(4, dtype=np.int32)
    for edges in ({}, {(0, 1): 0.5, (2, 3): 0.5}):
        graph = graph_of(4, edges)
        metric = metric_of((features, graph, np.ones(len(graph.indices))), labels)
        assert np.isfinite(metric.distances([(0, 1), (1, 3)])).all()


def test_in_large_data_clusters_are_followed_by_what_came_and_went(monkeypatch: pytest.MonkeyPatch) -> None:
    """A merge, a division and a single sample that moves: as if all members were looked at again."""
    monkeypatch.setattr(moments_module, "LARGE", 0)
    rng = np.random.default_rng(5)
    features = rng.standard_normal((60, 6))
    indptr, indices = np.arange(61), np.roll(np.arange(60, dtype=np.int32), -1)
    graph = PairGraph(indptr, indices, np.ones((1, 60), np.float32), np.zeros(60, np.float32), -1.0)
    partition = Partition(np.repeat(np.arange(4), (30, 10, 15, 5)).astype(np.int32), UndoLog())

    def metric() -> Distances:
        return Distances(partition, features, graph, np.ones(60))

    followed = metric()

    def check(pairs: list[tuple[int, int]]) -> None:
        np.testing.assert_allclose(followed.distances(pairs), metric().distances(pairs), atol=2e-9)

    check([(0, 1), (1, 2), (2, 3)])
    kept = partition.merge(0, 1)
    check([(kept, 2), (kept, 3)])
    members = partition.members(kept)
    ids = partition.split(kept, (members[4:], members[:4]))
    check([(ids[0], ids[1]), (ids[0], 3)])
    kept = partition.merge(ids[0], 3)
    check([(kept, 2), (ids[1], kept)])
