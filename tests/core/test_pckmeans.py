"""PCKMeans and its repair on small cases, against a plain one-after-another version."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from a3s_desktop.core.constraints import ConstraintStore
from a3s_desktop.core.metrics import ari
from a3s_desktop.core.pckmeans import (
    ROUNDS,
    Closure,
    Clustering,
    _first_centroids,
    _Table,
    kmeans,
    means_of,
    pckmeans,
    repair,
    squared_distances,
)
from a3s_desktop.core.types import Answer
from a3s_desktop.core.undo import UndoLog

Said = tuple[int, int, Answer]
SAME, DIFFERENT = Answer.SAME, Answer.DIFFERENT


def closure_of(n: int, *said: Said) -> Closure:
    store = ConstraintStore(UndoLog())
    for left, right, answer in said:
        store.add(left, right, answer)
    return Closure.of(store, n)


def random_closure(rng: np.random.Generator, n: int, count: int) -> Closure:
    """Answers without contradictions, but with no regard for where the samples are."""
    store = ConstraintStore(UndoLog())
    for _ in range(count):
        i, j = rng.integers(n, size=2).tolist()
        if i != j and store.relation(i, j) is None:
            store.add(i, j, SAME if rng.random() < 0.4 else DIFFERENT)
    return Closure.of(store, n)


def broken(labels: np.ndarray, closure: Closure) -> int:
    """How many pairs of the closed constraints a labelling breaks."""
    count = 0
    for i, j in itertools.combinations(np.flatnonzero(closure.component >= 0).tolist(), 2):
        a, b = int(closure.component[i]), int(closure.component[j])
        if a == b:
            count += labels[i] != labels[j]
        elif b in closure.apart[a]:
            count += labels[i] == labels[j]
    return count


def objective(found: Clustering, closure: Closure, weight: float) -> float:
    squares = ((found.space - found.centroids[found.labels]) ** 2).sum()
    return float(squares) + weight * broken(found.labels, closure)


def test_the_closure_by_hand() -> None:
    closure = closure_of(8, (5, 1, SAME), (1, 6, SAME), (2, 3, SAME), (6, 2, DIFFERENT), (7, 3, DIFFERENT))
    assert [group.tolist() for group in closure.members] == [[1, 5, 6], [2, 3], [7]]
    assert [apart.tolist() for apart in closure.apart] == [[1], [0, 2], [1]]
    assert closure.component.tolist() == [-1, 0, 1, 1, -1, 0, 0, 2]


def two_rows() -> np.ndarray:
    """Two rows of five points, one above the other; each row is as long as they are apart."""
    along = np.linspace(-1.0, 1.0, 5)
    return np.array([[x, y] for y in (-0.9, 0.9) for x in along], np.float32)


def test_answers_decide_between_two_ways_to_divide() -> None:
    """Left and right are as good as above and below, until must-links run along the rows."""
    along = [(i, i + 1, SAME) for row in (0, 5) for i in range(row, row + 4)]
    across = [(i, i + 5, SAME) for i in (0, 1, 3, 4)] + [(0, 1, SAME), (3, 4, SAME), (0, 4, DIFFERENT)]
    by_row = pckmeans(two_rows(), closure_of(10, *along), 2, np.random.default_rng(0)).labels
    assert by_row.tolist() in ([0] * 5 + [1] * 5, [1] * 5 + [0] * 5)
    by_side = pckmeans(two_rows(), closure_of(10, *across), 2, np.random.default_rng(0)).labels
    assert by_side[0] == by_side[1] == by_side[5] == by_side[6]
    assert by_side[3] == by_side[4] == by_side[8] == by_side[9] != by_side[0]


def test_weight_is_the_price_of_a_broken_answer() -> None:
    """A sample at 0.2 is must-linked with one at 1: apart it saves .6 in squares, which costs one weight."""
    features = np.array([[0.0]] * 40 + [[0.2]] + [[1.0]] * 40, np.float32)
    closure = closure_of(81, (40, 80, SAME), (0, 79, DIFFERENT))
    for weight, together in ((0.5, False), (1.0, True)):
        labels = pckmeans(features, closure, 2, np.random.default_rng(3), weight).labels
        assert labels[0] != labels[79]
        assert (labels[40] == labels[80]) == together
        assert broken(repair(pckmeans(features, closure, 2, np.random.default_rng(3), weight), closure), closure) == 0


def test_the_first_centroids_are_the_largest_neighbourhoods_then_the_farthest() -> None:
    features = np.array([[0, 0], [0, 2], [5, 0], [5, 2], [5, 4], [9, 9], [30, 0], [12, 0]], np.float32)
    closure = closure_of(8, (0, 1, SAME), (2, 3, SAME), (3, 4, SAME))
    centroids = _first_centroids(features, closure, 4, np.random.default_rng(0))
    assert centroids.tolist() == [[5, 2], [0, 1], [30, 0], [9, 9]]
    largest = _first_centroids(features, closure, 1, np.random.default_rng(0))
    assert largest.tolist() == [[5, 2]]


def test_samples_known_to_differ_from_all_come_before_the_farthest() -> None:
    features = np.array([[0, 0], [1, 0], [2, 0], [3, 0], [50, 0]], np.float32)
    closure = closure_of(5, (0, 1, DIFFERENT), (1, 2, DIFFERENT), (0, 2, DIFFERENT), (2, 3, DIFFERENT))
    centroids = _first_centroids(features, closure, 4, np.random.default_rng(0))
    assert centroids.tolist() == [[2, 0], [0, 0], [1, 0], [50, 0]]


def test_means_by_hand_and_of_an_empty_cluster() -> None:
    features = np.array([[1, 1], [3, 1], [8, 8]], np.float32)
    means = means_of(features, np.array([2, 2, 0], np.int32), np.full((3, 2), 7.0))
    assert means.tolist() == [[8, 8], [7, 7], [2, 1]]


def test_distances_by_hand() -> None:
    rows = np.array([[0, 0], [3, 4]], np.float32)
    assert squared_distances(rows, np.array([[0.0, 0.0], [3.0, 0.0]])).tolist() == [[0, 9], [25, 16]]


@given(st.integers(0, 10_000), st.integers(2, 25), st.integers(1, 5), st.sampled_from((0.0, 0.3, 1.0, 5.0)))
def test_a_pass_is_that_of_one_sample_after_another(seed: int, n: int, k: int, weight: float) -> None:
    rng = np.random.default_rng(seed)
    closure = random_closure(rng, n, n)
    bound = np.flatnonzero(closure.component >= 0)
    table = _Table(closure, closure.component[bound].tolist(), k, weight)
    labels: dict[int, int] = {}
    for _ in range(3):
        distance = rng.random((len(bound), k))
        order = rng.permutation(len(bound))
        for at in order.tolist():
            own = int(closure.component[bound[at]])
            cost = distance[at].copy()
            for other, label in labels.items():
                if other == at:
                    continue
                theirs = int(closure.component[bound[other]])
                if theirs == own:
                    cost += weight
                    cost[label] -= weight
                elif theirs in closure.apart[own]:
                    cost[label] += weight
            labels[at] = int(cost.argmin())
        assert table.assign(distance, order) == [labels[at] for at in range(len(bound))]


@given(st.integers(0, 10_000), st.integers(4, 40), st.integers(1, 4))
def test_the_result_is_a_fixed_point_and_repair_keeps_every_answer(seed: int, n: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, 3)).astype(np.float32)
    closure = random_closure(rng, n, n // 2)
    found = pckmeans(features, closure, k, np.random.default_rng(seed))
    again = pckmeans(features, closure, k, np.random.default_rng(seed))
    assert again.labels.tolist() == found.labels.tolist()
    assert found.labels.dtype == np.int32
    assert 0 <= found.labels.min() <= found.labels.max() < k
    np.testing.assert_allclose(found.centroids, means_of(features, found.labels, found.centroids))
    held = repair(found, closure)
    assert broken(held, closure) == 0
    untouched = closure.component < 0
    assert held[untouched].tolist() == found.labels[untouched].tolist()
    # No single move makes it cheaper.
    before = objective(found, closure, 1.0)
    for i in range(n):
        for label in range(k):
            labels = found.labels.copy()
            labels[i] = label
            assert objective(Clustering(features, labels, found.centroids), closure, 1.0) >= before - 1e-4


def test_without_answers_it_is_kmeans() -> None:
    rng = np.random.default_rng(0)
    features = np.concatenate([rng.normal(size=(20, 2)) + at for at in ((0, 0), (9, 0), (0, 9))]).astype(np.float32)
    truth = np.repeat(np.arange(3), 20).astype(np.int32)
    assert ari(pckmeans(features, closure_of(60), 3, np.random.default_rng(1)).labels, truth) == pytest.approx(1.0)
    assert ari(kmeans(features, 3, np.random.default_rng(1)).labels, truth) == pytest.approx(1.0)


def test_repair_moves_as_little_as_it_can() -> None:
    features = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [9.0]], np.float32)
    centroids = np.array([[0.1], [5.0], [9.0]])
    found = Clustering(features, np.array([0, 0, 0, 1, 1, 2], np.int32), centroids)
    most = closure_of(6, (0, 1, SAME), (1, 3, SAME))
    assert repair(found, most).tolist() == [0, 0, 0, 0, 1, 2]
    apart = closure_of(6, (0, 1, SAME), (1, 2, DIFFERENT))
    assert repair(found, apart).tolist() == [0, 0, 1, 1, 1, 2]  # the smaller part goes, to the next nearest centroid
    free = closure_of(6)
    assert repair(found, free).tolist() == found.labels.tolist()


def test_repair_opens_a_cluster_only_where_none_is_left() -> None:
    features = np.zeros((3, 1), np.float32)
    found = Clustering(features, np.zeros(3, np.int32), np.zeros((2, 1)))
    three = closure_of(3, (0, 1, DIFFERENT), (0, 2, DIFFERENT), (1, 2, DIFFERENT))
    assert sorted(repair(found, three).tolist()) == [0, 1, 2]
    assert set(repair(found, closure_of(3, (0, 1, DIFFERENT))).tolist()) == {0, 1}


def test_equal_samples_and_more_clusters_than_places() -> None:
    features = np.zeros((6, 2), np.float32)
    for k in (1, 3, 6):
        assert len(pckmeans(features, closure_of(6), k, np.random.default_rng(0)).centroids) == k
        assert len(kmeans(features, k, np.random.default_rng(0)).centroids) == k


def test_it_is_fast_enough_to_follow_the_answers() -> None:
    """Rounds, not seconds: a busy machine must not fail this."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(20, 16)) * 2.0
    truth = rng.integers(20, size=800)
    features = (centres[truth] + rng.normal(size=(800, 16))).astype(np.float32)
    calls = 0

    class Counting(np.random.Generator):
        def permutation(self, *args: object, **kwargs: object) -> np.ndarray:
            nonlocal calls
            calls += 1
            return super().permutation(*args, **kwargs)  # type: ignore[call-overload,no-any-return]

    said = [(i, i + 1, SAME if truth[i] == truth[i + 1] else DIFFERENT) for i in range(0, 300, 2)]
    pckmeans(features / 10.0, closure_of(800, *said), 20, Counting(np.random.PCG64(0)))
    assert 1 < calls < ROUNDS // 2
