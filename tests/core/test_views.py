"""The pair graph of one and of several views."""

from __future__ import annotations

import numpy as np
import pytest

from a3s_desktop.core.calibration import CLIP, Calibration
from a3s_desktop.core.neighbors import nearest_neighbors
from a3s_desktop.core.types import PairGraph
from a3s_desktop.core.views import MISS_AT_MOST, Edges, fuse, union_edges
from a3s_desktop.task import Task


def make_edges(views: list[np.ndarray], k: int) -> Edges:
    found = [nearest_neighbors(view, k, Task()) for view in views]
    return union_edges([indices for indices, _ in found], [distances for _, distances in found], views, Task())


def random_views(count: int, n: int = 80) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.normal(size=(n, 3 + view)).astype(np.float32) for view in range(count)]


@pytest.mark.parametrize("count", [1, 3])
def test_an_edge_if_either_lists_the_other_in_any_view(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("a3s_desktop.core.views._CHUNK_EDGES", 200)  # several chunks
    views = random_views(count)
    edges = make_edges(views, 5)
    n = len(views[0])
    expected = np.zeros((n, n), bool)
    for view in views:
        expected[np.arange(n)[:, None], nearest_neighbors(view, 5, Task())[0]] = True
    expected |= expected.T
    rows, columns = np.nonzero(expected)  # row by row, by column
    assert np.array_equal(np.repeat(np.arange(n), np.diff(edges.indptr)), rows)
    assert np.array_equal(edges.indices, columns)
    assert edges.indices.dtype == np.int32
    for view, distances in zip(views, edges.distances, strict=True):
        np.testing.assert_allclose(distances, np.linalg.norm(view[rows] - view[columns], axis=1), rtol=1e-5)
        table = np.zeros((n, n), np.float32)
        table[rows, columns] = distances
        assert np.array_equal(table, table.T)


def test_distances_of_one_view_are_those_of_the_search() -> None:
    (view,) = random_views(1)
    edges = make_edges([view], 4)
    indices, distances = nearest_neighbors(view, 4, Task())
    graph = PairGraph(edges.indptr, edges.indices, edges.distances, edges.distances[0], -0.5)
    columns, values = graph.row(3)
    assert np.array_equal(values[np.searchsorted(columns, indices[3])], distances[3])


def test_probabilities_multiply() -> None:
    edges = Edges(
        np.array([0, 1, 2], np.int64), np.array([1, 0], np.int32), np.array([[0.3, 0.3], [0.6, 0.6]], np.float32)
    )
    curve = Calibration(np.array([0.0, 1.0]), np.array([0.9, 0.1]))
    graph = fuse(edges, [curve, curve], [np.ones(2, np.float32), np.ones(2, np.float32)])
    p, q = curve.probability(np.array([0.3, 0.6]))
    assert graph.probability(0, 1) == pytest.approx(p * q / (p * q + (1 - p) * (1 - q)), rel=1e-5)
    assert graph.miss == pytest.approx(2 * np.log(0.1 / 0.9))  # outside the graph: beyond the last neighbour in both


def test_sure_views_stay_within_the_clip_and_misses_below_their_limit() -> None:
    edges = Edges(np.array([0, 1, 2], np.int64), np.array([1, 0], np.int32), np.zeros((3, 2), np.float32))
    sure = Calibration(np.array([0.0]), np.array([1 - CLIP]))
    graph = fuse(edges, [sure] * 3, [np.zeros(2, np.float32)] * 3)
    assert graph.logodds == pytest.approx(np.log((1 - CLIP) / CLIP))
    assert graph.miss == MISS_AT_MOST
