"""Exact neighbours: against brute force, under ties, offsets, extreme scales, and any number of threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from a3s_desktop.core.neighbors import has_unit_norm, nearest_neighbors, normalise, pair_distances
from a3s_desktop.errors import Cancelled, InputError
from a3s_desktop.task import Task


def brute_force(features: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Neighbours by float64 differences of every pair, equal distances by index."""
    x = features.astype(np.float64)
    squared = ((x[:, None] - x[None]) ** 2).sum(axis=2)
    np.fill_diagonal(squared, np.inf)
    order = np.argsort(squared, axis=1, kind="stable")[:, :k]
    return order, np.sqrt(np.take_along_axis(squared, order, axis=1))


@pytest.mark.parametrize(("n", "d", "k"), [(300, 16, 10), (777, 33, 50), (40, 3, 39), (17, 1, 5), (129, 64, 128)])
def test_equals_brute_force(n: int, d: int, k: int) -> None:
    features = np.random.default_rng(n).normal(size=(n, d)).astype(np.float32)
    indices, distances = nearest_neighbors(features, k, Task())
    expected, far = brute_force(features, k)
    assert indices.dtype == np.int32
    assert distances.dtype == np.float32
    np.testing.assert_allclose(distances, far, rtol=2e-6)
    # Two distances that differ only beyond float32 may stand in either order.
    gap = np.diff(far, axis=1)
    clear = np.pad(gap > 2e-6 * far[:, 1:], ((0, 0), (1, 1)), constant_values=True)
    clear = clear[:, :-1] & clear[:, 1:]
    assert np.array_equal(indices[clear], expected[clear])
    assert clear[:, :-1].mean() > 0.99
    assert all(len(set(row)) == k for row in indices.tolist())


def test_far_from_the_origin() -> None:
    """Squared distances by products alone would cancel to noise here."""
    features = (np.random.default_rng(1).normal(size=(200, 8)) + 3000.0).astype(np.float32)
    indices, distances = nearest_neighbors(features, 12, Task())
    expected, far = brute_force(features, 12)
    assert np.array_equal(indices, expected)
    np.testing.assert_allclose(distances, far, rtol=2e-6)


def test_one_sample_far_from_all_others() -> None:
    features = np.random.default_rng(2).normal(size=(300, 8)).astype(np.float32)
    features[7] = 1e5
    assert np.array_equal(nearest_neighbors(features, 9, Task())[0], brute_force(features, 9)[0])


@pytest.mark.parametrize("scale", [1e-30, 1e-6, 1e12, 1e30])
def test_extreme_scales(scale: float) -> None:
    features = np.random.default_rng(3).normal(size=(150, 6))
    indices, distances = nearest_neighbors((features * scale).astype(np.float32), 7, Task())
    expected, far = brute_force(features, 7)
    assert np.array_equal(indices, expected)
    np.testing.assert_allclose(distances, far * scale, rtol=1e-5)


@given(st.integers(2, 60), st.integers(1, 3), st.integers(1, 70), st.integers(0, 10**6))
def test_ties_are_ordered_by_index(n: int, d: int, k: int, seed: int) -> None:
    """On a small integer grid nearly every distance occurs many times."""
    features = np.random.default_rng(seed).integers(0, 3, (n, d)).astype(np.float32)
    indices, distances = nearest_neighbors(features, k, Task())
    expected, far = brute_force(features, min(k, n - 1))
    assert np.array_equal(indices, expected)
    assert np.array_equal(distances, far.astype(np.float32))


def test_all_samples_equal() -> None:
    indices, distances = nearest_neighbors(np.ones((50, 4), np.float32), 5, Task())
    assert np.array_equal(indices[10], [0, 1, 2, 3, 4])
    assert np.array_equal(indices[0], [1, 2, 3, 4, 5])
    assert not distances.any()


def test_the_number_of_threads_does_not_matter() -> None:
    features = np.random.default_rng(4).normal(size=(3000, 96)).astype(np.float32)
    results = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            results.append(nearest_neighbors(features, 30, Task()))
    assert np.array_equal(results[0][0], results[1][0])
    assert np.array_equal(results[0][1], results[1][1])


def test_distances_are_symmetric_to_the_last_bit() -> None:
    features = np.random.default_rng(5).normal(size=(50, 19)).astype(np.float32)
    left, right = np.triu_indices(50)
    forth = pair_distances(features, left, features, right)
    assert np.array_equal(forth, pair_distances(features, right, features, left))
    assert not forth[left == right].any()


def test_a_cancelled_task_stops_it() -> None:
    task = Task()
    task.cancel()
    with pytest.raises(Cancelled):
        nearest_neighbors(np.ones((20, 2), np.float32), 3, task)


def test_one_sample_has_no_neighbours() -> None:
    with pytest.raises(InputError, match="At least two"):
        nearest_neighbors(np.ones((1, 2), np.float32), 3, Task())


def test_normalise() -> None:
    features = np.array([[3.0, 4.0], [0.0, 0.0], [1e-20, 0.0]])
    unit = normalise(features, "l2")
    assert unit.dtype == np.float32
    np.testing.assert_allclose(unit, [[0.6, 0.8], [0.0, 0.0], [1.0, 0.0]], rtol=1e-6)
    assert not has_unit_norm(features)
    assert has_unit_norm(unit[:1])
    for how in ("auto", "none"):
        assert np.array_equal(normalise(features, how), features.astype(np.float32))
    given_as_float32 = np.ones((4, 2), np.float32)
    assert normalise(given_as_float32, "auto") is given_as_float32
    with pytest.raises(InputError, match="two dimensions"):
        normalise(np.ones(3))
