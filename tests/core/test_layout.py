"""The map's positions: PCA, the particle-mesh embedding, alignment."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from a3s_desktop.core import layout
from a3s_desktop.core.layout import _Mesh, _strongest_edges, align, graph_layout, pca_layout
from a3s_desktop.core.types import PairGraph
from a3s_desktop.errors import Cancelled
from a3s_desktop.task import Progress, Task


def knn_graph(features: np.ndarray, k: int) -> PairGraph:
    """Exact symmetric neighbour graph; log-odds fall with the distance."""
    n = len(features)
    k = min(k, n - 1)
    squares = (features**2).sum(axis=1)
    distances = np.sqrt(np.maximum(squares[:, None] + squares[None] - 2 * features @ features.T, 0))
    np.fill_diagonal(distances, np.inf)
    near = np.argsort(distances, axis=1, kind="stable")[:, :k]
    keys = np.repeat(np.arange(n), k) * n + near.ravel()
    keys = np.unique(np.concatenate([keys, keys % n * n + keys // n]))
    rows, columns = keys // n, keys % n
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))]).astype(np.int64)
    lengths = distances[rows, columns].astype(np.float32)
    logodds = np.clip(2 - 4 * lengths / (lengths.mean() or 1), -9, 9).astype(np.float32)
    return PairGraph(indptr, columns.astype(np.int32), lengths[None], logodds, -9.0)


def no_edges(n: int) -> PairGraph:
    nothing = np.zeros(0, np.float32)
    return PairGraph(np.zeros(n + 1, np.int64), np.zeros(0, np.int32), nothing[None], nothing, -9.0)


def blobs(n: int, classes: int, seed: int = 0, width: int = 16) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(classes, size=n)
    features = rng.normal(size=(classes, width))[labels] * 3 + rng.normal(size=(n, width))
    return features.astype(np.float32), labels


def neighbour_purity(points: np.ndarray, labels: np.ndarray, k: int = 5) -> float:
    gaps = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    np.fill_diagonal(gaps, np.inf)
    return float((labels[np.argpartition(gaps, k, axis=1)[:, :k]] == labels[:, None]).mean())


def test_pca_agrees_with_the_singular_value_decomposition() -> None:
    features, _ = blobs(300, 5)
    points = pca_layout(features)
    centred = features.astype(np.float64) - features.mean(axis=0)
    u, s, _ = np.linalg.svd(centred, full_matrices=False)
    expected = u[:, :2] * s[:2]
    expected /= np.sqrt((expected**2).sum(axis=1).mean())
    assert points.shape == (300, 2)
    assert points.dtype == np.float32
    np.testing.assert_allclose(np.abs(points), np.abs(expected), atol=1e-4)


def test_pca_of_wide_features_shows_the_same_directions() -> None:
    features, _ = blobs(60, 3, width=2100)
    points = pca_layout(features)
    u, s, _ = np.linalg.svd(features.astype(np.float64) - features.mean(axis=0), full_matrices=False)
    expected = u[:, :2] * s[:2]
    expected /= np.sqrt((expected**2).sum(axis=1).mean())
    np.testing.assert_allclose(np.abs(points), np.abs(expected), atol=2e-3)


@pytest.mark.parametrize("features", [np.zeros((1, 4)), np.full((5, 3), 0.1), np.zeros((0, 4)), np.zeros((4, 0))])
def test_pca_of_nothing_to_show_is_zero(features: np.ndarray) -> None:
    points = pca_layout(features.astype(np.float32))
    assert points.shape == (len(features), 2)
    assert not points.any()


def test_pca_of_one_dimension_lies_on_a_line() -> None:
    points = pca_layout(np.array([[1.0], [2.0], [6.0]]))
    assert points[:, 0].tolist() == sorted(points[:, 0].tolist())
    assert not points[:, 1].any()


def test_mesh_repulsion_equals_the_sum_over_all_pairs() -> None:
    rng = np.random.default_rng(1)
    points = (rng.normal(size=(2, 400)) * 12).astype(np.float32)
    force, partition = _Mesh().repulsion(points)
    gap = points[:, :, None].astype(np.float64) - points[:, None, :]
    q = 1 / (1 + (gap**2).sum(axis=0))
    exact = (gap * q**2).sum(axis=2)
    assert partition == pytest.approx(q.sum() - 400, rel=0.005)
    assert np.abs(force - exact).max() < 0.15 * np.abs(exact).max()
    assert np.corrcoef(force.ravel(), exact.ravel())[0, 1] > 0.995


def test_strongest_edges_are_the_most_probable_then_the_nearest() -> None:
    # image 0 has three neighbours: two equally probable, of which 3 is nearer
    indptr = np.array([0, 3, 4, 5, 6], np.int64)
    indices = np.array([1, 2, 3, 0, 0, 0], np.int32)
    distances = np.array([[0.1, 0.9, 0.5, 0.1, 0.9, 0.5]], np.float32)
    logodds = np.array([-5, 2, 2, -5, 2, 2], np.float32)
    edges = _strongest_edges(PairGraph(indptr, indices, distances, logodds, -9.0), 1, Task())
    mine = edges.columns[edges.rows == 0].tolist()
    weights = edges.weights[edges.rows == 0]
    assert mine == [1, 2, 3]  # 1 and 2 have no other neighbour than 0
    assert int(np.argmax(weights)) == 2
    assert edges.weights.sum() == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("direct", [2000, 300])  # without and with landmarks
def test_graph_layout_keeps_classes_together_and_repeats_itself(direct: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "DIRECT", direct)
    n, classes = 700, 20
    features, labels = blobs(n, classes)
    graph, start = knn_graph(features, 12), pca_layout(features)
    first = graph_layout(graph, start, 0, Task())
    assert first.shape == (n, 2)
    assert first.dtype == np.float32
    assert np.isfinite(first).all()
    assert neighbour_purity(first, labels) > 0.95 > neighbour_purity(start, labels)
    np.testing.assert_array_equal(first, graph_layout(graph, start, 0, Task()))


def test_graph_layout_lies_where_the_picture_before_lay() -> None:
    features, labels = blobs(500, 6)
    start = pca_layout(features) * 7 + np.float32(3)
    points = graph_layout(knn_graph(features, 12), start, 0, Task())
    np.testing.assert_allclose(points.mean(axis=0), start.mean(axis=0), atol=1e-3)
    radius = [np.sqrt(((p - p.mean(axis=0)) ** 2).sum(axis=1).mean()) for p in (points, start)]
    assert radius[0] == pytest.approx(radius[1], rel=1e-3)
    means = [np.stack([p[labels == c].mean(axis=0) for c in range(6)]) for p in (points, start)]
    turned = means[0] - means[0].mean(axis=0)
    assert (turned * (means[1] - means[1].mean(axis=0))).sum() > 0


def test_align_undoes_a_turn_a_mirror_and_a_scale() -> None:
    rng = np.random.default_rng(2)
    fixed = rng.normal(size=(50, 2)) * (3, 1)
    turn = np.array([[0.0, 1.0], [-1.0, 0.0]]) @ np.diag([1.0, -1.0])
    np.testing.assert_allclose(align(fixed @ turn * 40 + 9, fixed), fixed, atol=1e-5)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
def test_graph_layout_of_few_images(n: int) -> None:
    features = np.eye(n, dtype=np.float32)
    graph = knn_graph(features, 3) if n > 1 else no_edges(1)
    points = graph_layout(graph, pca_layout(features), 0, Task())
    assert points.shape == (n, 2)
    assert np.isfinite(points).all()


@pytest.mark.parametrize("n", [5, 2100])
def test_graph_layout_without_edges_or_with_equal_features(n: int) -> None:
    start = np.zeros((n, 2), np.float32)
    points = graph_layout(no_edges(n), start, 0, Task())
    assert np.isfinite(points).all()
    if n == 5:
        equal = knn_graph(np.ones((n, 3), np.float32), 3)
        assert np.isfinite(graph_layout(equal, start, 0, Task())).all()


def test_graph_layout_of_separate_parts_with_landmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    # 800 pairs: many parts hold no landmark at first
    monkeypatch.setattr(layout, "DIRECT", 300)
    n = 1600
    indptr = np.arange(n + 1, dtype=np.int64)
    partner = (np.arange(n) ^ 1).astype(np.int32)
    graph = PairGraph(indptr, partner, np.ones((1, n), np.float32), np.zeros(n, np.float32), -9.0)
    points = graph_layout(graph, np.random.default_rng(0).normal(size=(n, 2)), 0, Task())
    gap = np.linalg.norm(points[::2] - points[1::2], axis=1)
    assert np.isfinite(points).all()
    assert np.median(gap) < 0.1  # of a radius of 1.4


def test_graph_layout_reports_and_can_be_cancelled() -> None:
    features, _ = blobs(300, 5)
    graph, start = knn_graph(features, 10), pca_layout(features)
    seen: list[Progress] = []
    task = Task(lambda progress: (seen.append(progress), task.cancel() if len(seen) == 3 else None)[0], 0.0)
    with pytest.raises(Cancelled):
        graph_layout(graph, start, 0, task)
    assert [p.stage for p in seen] == ["Drawing the map"] * 3
    assert 0 < seen[-1].fraction < 0.1


def test_graph_layout_of_real_features_shows_the_classes(shared_data: Path) -> None:
    features = np.load(shared_data / "mk100" / "features.npy")
    labels = np.load(shared_data / "mk100" / "labels.npy")
    start = pca_layout(features)
    began = time.process_time()
    points = graph_layout(knn_graph(features, 50), start, 0, Task())
    assert time.process_time() - began < 15  # about 1 s on a quiet machine
    assert neighbour_purity(points, labels) > 0.75 > 0.3 > neighbour_purity(start, labels)
