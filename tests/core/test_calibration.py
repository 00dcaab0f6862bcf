"""Pseudo labels and the curve from distance to probability, cross-checked with scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from a3s_desktop.core.calibration import CLIP, calibrate, default_pseudo_labels, isotonic, pseudo_labels
from a3s_desktop.errors import Cancelled
from a3s_desktop.task import Task


def blobs(n: int, k: int, d: int, spread: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    classes = np.arange(n) % k
    return (rng.normal(size=(k, d))[classes] + spread * rng.normal(size=(n, d))).astype(np.float32), classes


def inertia(features: np.ndarray, labels: np.ndarray) -> float:
    return sum(float(((features[labels == c] - features[labels == c].mean(0)) ** 2).sum()) for c in np.unique(labels))


@given(st.lists(st.tuples(st.integers(0, 30), st.booleans()), min_size=1, max_size=200))
def test_isotonic_equals_scikit_learn(pairs: list[tuple[int, bool]]) -> None:
    from sklearn.isotonic import IsotonicRegression

    x, y = (np.array(column, np.float64) for column in zip(*pairs, strict=True))
    reference = IsotonicRegression(increasing=False, y_min=CLIP, y_max=1 - CLIP, out_of_bounds="clip").fit(x, y)
    grid = np.linspace(-1.0, 31.0, 200)
    np.testing.assert_allclose(isotonic(x, y).probability(grid), reference.predict(grid), atol=1e-12)


def test_isotonic_on_many_pairs_equals_scikit_learn() -> None:
    from sklearn.isotonic import IsotonicRegression

    rng = np.random.default_rng(0)
    x = rng.random(50_000)
    y = rng.random(50_000) < np.where(x < 0.7, 1 - x, x - 0.3)  # rises again: a long run of violators
    reference = IsotonicRegression(increasing=False, y_min=CLIP, y_max=1 - CLIP, out_of_bounds="clip").fit(x, y)
    np.testing.assert_allclose(isotonic(x, y).probability(x), reference.predict(x), atol=1e-12)


@pytest.mark.parametrize(("same", "expected"), [(True, 1 - CLIP), (False, CLIP)])
def test_all_pairs_agree_or_none(same: bool, expected: float) -> None:
    curve = isotonic(np.linspace(0.0, 1.0, 20), np.full(20, same))
    np.testing.assert_allclose(curve.probability(np.array([-1.0, 0.5, 2.0])), expected)
    assert np.isfinite(curve.logodds(np.array([0.5]))).all()


def test_all_distances_equal() -> None:
    curve = isotonic(np.zeros(8), np.array([1, 1, 1, 0, 0, 0, 0, 0]))
    np.testing.assert_allclose(curve.probability(np.array([0.0, 5.0])), 3 / 8)


def test_calibrate_counts_agreeing_labels() -> None:
    indices = np.array([[1, 2], [0, 2], [1, 0]], np.int32)
    distances = np.array([[0.1, 0.9], [0.1, 0.8], [0.8, 0.9]], np.float32)
    curve = calibrate(distances, indices, np.array([0, 0, 1], np.int32))
    np.testing.assert_allclose(curve.probability(np.array([0.1, 0.9])), [1 - CLIP, CLIP])


@pytest.mark.parametrize(("n", "k", "d", "spread"), [(600, 20, 8, 0.3), (1500, 60, 32, 1.0), (3000, 30, 16, 0.8)])
def test_kmeans_is_as_good_as_scikit_learn(n: int, k: int, d: int, spread: float) -> None:
    from sklearn.cluster import KMeans

    features, _ = blobs(n, k, d, spread)
    own = np.mean([inertia(features, pseudo_labels(features, k, seed, Task())) for seed in range(4)])
    theirs = np.mean([KMeans(k, n_init=1, random_state=seed).fit(features).inertia_ for seed in range(4)])
    assert own <= 1.05 * theirs


def test_kmeans_labels_are_nearest_centres_of_a_part_when_samples_are_many() -> None:
    features, classes = blobs(5000, 10, 8, 0.02)
    labels = pseudo_labels(features, 10, 0, Task())  # 64 per centre are fitted
    assert len(np.unique(labels)) == 10
    assert len(np.unique(labels.astype(np.int64) * 10 + classes)) == 10


def test_kmeans_does_not_depend_on_threads() -> None:
    features, _ = blobs(4000, 50, 64, 1.0)
    results = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            results.append(pseudo_labels(features, 60, 3, Task()))
    assert np.array_equal(results[0], results[1])
    assert not np.array_equal(results[0], pseudo_labels(features, 60, 4, Task()))


def test_kmeans_of_degenerate_data() -> None:
    same = np.ones((30, 3), np.float32)
    assert len(np.unique(pseudo_labels(same, 5, 0, Task()))) == 1
    two = np.repeat(np.array([[0.0], [1.0]], np.float32), 20, axis=0)
    labels = pseudo_labels(two, 7, 0, Task())
    assert len(np.unique(labels)) == 2
    assert labels[0] != labels[-1]
    assert np.array_equal(pseudo_labels(two[:3], 3, 0, Task()), [0, 1, 2])
    assert not pseudo_labels(two, 1, 0, Task()).any()


def test_default_number_of_pseudo_labels() -> None:
    assert default_pseudo_labels(1650) == 61
    assert default_pseudo_labels(351) == 28
    assert [default_pseudo_labels(n) for n in (1, 2, 3, 10)] == [1, 2, 2, 5]


def test_kmeans_can_be_cancelled() -> None:
    task = Task()
    task.cancel()
    with pytest.raises(Cancelled):
        pseudo_labels(blobs(100, 5, 2, 0.1)[0], 5, 0, task)
