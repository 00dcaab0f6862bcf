"""Graph-context refinement against the definition, computed with dense sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from a3s_desktop.core import refinement
from a3s_desktop.core.initialization import initialize
from a3s_desktop.core.neighbors import nearest_neighbors
from a3s_desktop.core.refinement import EXPANSION, RECIPROCAL, jaccard_similarity
from a3s_desktop.core.types import InitialOptions
from a3s_desktop.core.views import Edges, union_edges
from a3s_desktop.errors import Cancelled
from a3s_desktop.task import Task
from tests.examples import examples


def similarity_of(features: np.ndarray, neighbors: int) -> tuple[Edges, np.ndarray]:
    table = np.asarray(features, np.float32)
    listed, far = nearest_neighbors(table, neighbors, Task())
    edges = union_edges([listed], [far], [table], Task())
    return edges, jaccard_similarity(listed, far, table, edges.indptr, edges.indices, Task())


def dense(edges: Edges, values: np.ndarray) -> np.ndarray:
    n = len(edges.indptr) - 1
    matrix = np.full((n, n), np.nan)
    matrix[np.repeat(np.arange(n), np.diff(edges.indptr)), edges.indices] = values
    return matrix


def reference(features: np.ndarray, neighbors: int) -> np.ndarray:
    """The definition with sets and all pairs, float64 (N, N)."""
    x = np.asarray(features, np.float32)
    n = len(x)
    listed, far = nearest_neighbors(x, neighbors, Task())
    m = listed.shape[1]
    distance = np.sqrt(((x[:, None].astype(np.float64) - x[None]) ** 2).sum(axis=2))

    def reciprocal(k: int) -> list[set[int]]:
        near = [{i, *listed[i, :k].tolist()} for i in range(n)]
        return [{j for j in near[i] if i in near[j]} for i in range(n)]

    mutual, close = reciprocal(min(RECIPROCAL, m)), reciprocal(min(RECIPROCAL // 2, m))
    whole = [set(members) for members in mutual]
    for i in range(n):
        for q in mutual[i]:
            if len(mutual[i] & close[q]) > len(close[q]) * 2 / 3:
                whole[i] |= close[q]
    scale = float(np.median(far[:, min(9, m - 1)])) or 1.0
    rows = np.zeros((n, n))
    for i in range(n):
        members = sorted(whole[i])
        rows[i, members] = np.exp(-((distance[i, members] / scale) ** 2))
    rows /= rows.sum(axis=1, keepdims=True)
    averaged = np.array([rows[[i, *listed[i, : min(EXPANSION, m + 1) - 1]]].mean(axis=0) for i in range(n)])
    both = np.minimum(averaged[:, None], averaged[None]).sum(axis=2)
    either = np.maximum(averaged[:, None], averaged[None]).sum(axis=2)
    return both / either


def groups(seed: int, n: int, spread: float = 0.5) -> np.ndarray:
    """Points of some classes, each with a density of its own."""
    rng = np.random.default_rng(seed)
    of = rng.integers(0, max(1, n // 12), n)
    return rng.normal(size=(n, 4))[of] * 3.0 + rng.normal(size=(n, 4)) * spread * (1 + of[:, None] % 3)


@examples(25)
@given(st.integers(0, 10_000), st.integers(3, 70), st.integers(1, 50), st.sampled_from((0.05, 0.5, 2.0)))
def test_equals_the_definition(seed: int, n: int, neighbors: int, spread: float) -> None:
    features = groups(seed, n, spread)
    edges, values = similarity_of(features, neighbors)
    found = dense(edges, values)
    known = ~np.isnan(found)
    np.testing.assert_allclose(found[known], reference(features, neighbors)[known], atol=2e-5)


@pytest.mark.parametrize(("n", "neighbors"), [(2, 1), (3, 2), (3, 1), (40, 50), (40, 5)])
@pytest.mark.parametrize("kind", ["spread", "equal", "pairs of equals", "many equals", "one far"])
def test_symmetric_and_in_range_on_degenerate_data(n: int, neighbors: int, kind: str) -> None:
    features = groups(1, n)
    if kind == "equal":
        features[:] = features[0]
    elif kind == "pairs of equals":
        features[1::2] = features[: n // 2 * 2 : 2]
    elif kind == "many equals":
        features[: n // 2 + 1] = 0.0
    elif kind == "one far":
        features[0] = 1e6
    edges, values = similarity_of(features, neighbors)
    assert values.dtype == np.float32
    assert np.isfinite(values).all()
    assert values.min() >= 0.0
    assert values.max() <= 1.0
    matrix = dense(edges, values)
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_allclose(matrix[~np.isnan(matrix)], reference(features, neighbors)[~np.isnan(matrix)], atol=2e-5)


@pytest.mark.parametrize("seed", range(8))
def test_no_similarity_exceeds_one_by_rounding(seed: int) -> None:
    """Equal samples in groups of many sizes share their neighbourhoods whole."""
    rng = np.random.default_rng(seed)
    features = np.repeat(rng.normal(size=(12, 5)), rng.integers(1, 30, 12), axis=0)
    _, values = similarity_of(features, 30)
    assert values.min() >= 0.0
    assert values.max() <= 1.0


@pytest.mark.parametrize("power", [-90, -30, 12, 30, 60])
def test_the_unit_of_the_features_does_not_matter(power: int) -> None:
    """A power of two changes no digit, so that not even the last bit may differ."""
    features = groups(3, 60).astype(np.float32)
    _, expected = similarity_of(features, 20)
    _, found = similarity_of(features * np.float32(2.0**power), 20)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_chunks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    features = groups(4, 80)
    _, expected = similarity_of(features, 20)
    monkeypatch.setattr(refinement, "_CHUNK_EDGES", 7)
    np.testing.assert_array_equal(similarity_of(features, 20)[1], expected)


def test_tells_more_than_distance_where_classes_differ_in_density() -> None:
    """Two classes side by side: the gap between them is no wider than the sparse one's own gaps."""
    rng = np.random.default_rng(0)
    tight = rng.normal(size=(40, 2)) * 0.05
    loose = rng.normal(size=(40, 2)) * 1.0 + (2.2, 0.0)
    edges, values = similarity_of(np.concatenate((tight, loose)), 30)
    rows = np.repeat(np.arange(80), np.diff(edges.indptr))
    same = (rows < 40) == (edges.indices < 40)

    def area(score: np.ndarray) -> float:
        return float((score[same][:, None] > score[~same][None]).mean())

    assert area(values) > area(-edges.distances[0]) + 0.02


def test_cancelling_stops_it() -> None:
    features = groups(2, 60).astype(np.float32)
    listed, far = nearest_neighbors(features, 20, Task())
    edges = union_edges([listed], [far], [features], Task())
    task = Task()
    task.cancel()
    with pytest.raises(Cancelled):
        jaccard_similarity(listed, far, features, edges.indptr, edges.indices, task)


def test_initialize_keeps_the_similarity_of_each_edge_and_the_mean_over_views() -> None:
    views = [groups(5, 50), groups(6, 50)]
    options = InitialOptions(neighbors=12, refine=True, normalisation="none")
    state = initialize(views, options, Task())
    graph = state.graph
    assert graph.similarity is not None
    expected = np.mean([reference(view, 12) for view in views], axis=0)
    rows = np.repeat(np.arange(50), np.diff(graph.indptr))
    np.testing.assert_allclose(graph.similarity, expected[rows, graph.indices], atol=2e-5)
    assert graph.similarity.min() >= 0.0
    assert graph.similarity.max() <= 1.0
    assert initialize(views, InitialOptions(neighbors=12), Task()).graph.similarity is None


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("equal", [True, False])
def test_initialize_refines_the_smallest_data(n: int, equal: bool) -> None:
    features = np.ones((n, 3)) if equal else np.eye(n, 3)
    state = initialize([features], InitialOptions(refine=True), Task())
    assert len(state.labels) == n
    assert np.isfinite(state.graph.logodds).all()
