"""Eq. 2-4 by hand on a graph of seven samples, and against plain loops on random ones."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from a3s_desktop.core.aggregation import cluster_pairs, merge_entropy
from tests.core.cases import graph_of

MISS = math.log(0.1 / 0.9)  # a pair that is no edge: p = 0.1
# Clusters A = {0, 1}, B = {2, 3, 4}, C = {5, 6}; edges between them, and inside them (which must not count).
LABELS = np.array([0, 0, 1, 1, 1, 2, 2], np.int32)
EDGES = {(0, 2): 0.8, (0, 3): 0.6, (1, 2): 0.9, (1, 5): 0.5, (0, 1): 0.99, (2, 3): 0.99, (4, 6): 0.3}


def pairs_by_hand(how: str) -> dict[tuple[int, int], tuple[float, float]]:
    found = cluster_pairs(graph_of(7, EDGES, MISS), LABELS, how)  # type: ignore[arg-type]
    columns = (found.first.tolist(), found.second.tolist(), found.probability.tolist(), found.gain.tolist())
    return {(a, b): (p, gain) for a, b, p, gain in zip(*columns, strict=True)}


def test_mean_by_hand() -> None:
    found = pairs_by_hand("mean")
    assert sorted(found) == [(0, 1), (0, 2), (2, 1)]  # the smaller cluster first, ties by id
    # A-B: 2 x 3 pairs: .8 + .6 + .9 + three that are no edge
    assert found[0, 1][0] == pytest.approx((1 + 2.3 + 0.3) / (2 + 6))
    # A-C: 2 x 2 pairs: .5 + three that are no edge
    assert found[0, 2][0] == pytest.approx((1 + 0.5 + 0.3) / (2 + 4))
    # C-B: 2 x 3 pairs: .3 + five that are no edge
    assert found[2, 1][0] == pytest.approx((1 + 0.3 + 0.5) / (2 + 6))


def test_product_by_hand() -> None:
    found = pairs_by_hand("product")
    same = 0.8 * 0.6 * 0.9 * 0.1**3
    different = 0.2 * 0.4 * 0.1 * 0.9**3
    assert found[0, 1][0] == pytest.approx(same / (same + different), rel=1e-5)
    same, different = 0.5 * 0.1**3, 0.5 * 0.9**3
    assert found[0, 2][0] == pytest.approx(same / (same + different), rel=1e-5)
    same, different = 0.3 * 0.1**5, 0.7 * 0.9**5
    assert found[2, 1][0] == pytest.approx(same / (same + different), rel=1e-5)


@pytest.mark.parametrize("how", ["mean", "product"])
def test_gain_is_probability_times_change_of_entropy(how: str) -> None:
    found = pairs_by_hand(how)
    two_three = (5 * math.log(5) - 2 * math.log(2) - 3 * math.log(3)) / 7
    two_two = (4 * math.log(4) - 2 * 2 * math.log(2)) / 7
    assert found[0, 1][1] == pytest.approx(found[0, 1][0] * two_three)
    assert found[0, 2][1] == pytest.approx(found[0, 2][0] * two_two)
    assert found[2, 1][1] == pytest.approx(found[2, 1][0] * two_three)


def test_only_the_four_most_probable_members_of_the_larger_cluster_count() -> None:
    edges = {(0, j): p for j, p in zip(range(1, 7), (0.2, 0.9, 0.8, 0.3, 0.7, 0.6), strict=True)}
    found = cluster_pairs(graph_of(7, edges, MISS), np.array([0, 1, 1, 1, 1, 1, 1], np.int32), "mean")
    assert found.probability.tolist() == pytest.approx([(1 + 0.9 + 0.8 + 0.7 + 0.6) / (2 + 4)])


def test_change_of_entropy_is_that_of_the_clustering() -> None:
    """Δh is the entropy of the clustering before a merge less the entropy after it."""

    def entropy(sizes: list[int]) -> float:
        total = sum(sizes)
        return -sum(size / total * math.log(size / total) for size in sizes)

    for p, q, rest in itertools.product((1, 2, 9), (1, 3, 30), (0, 50)):
        n = p + q + rest
        others = [rest] if rest else []
        expected = entropy([p, q, *others]) - entropy([p + q, *others])
        assert float(merge_entropy(p, q, n)) == pytest.approx(expected, abs=1e-12)
    assert float(merge_entropy(1, 1, 2)) == pytest.approx(math.log(2))
    assert merge_entropy([1, 2], [2, 1], 10).tolist() == pytest.approx(
        [3 * math.log(3) / 10 - 2 * math.log(2) / 10] * 2
    )


@given(st.integers(0, 10_000), st.integers(2, 16), st.sampled_from(("mean", "product")))
def test_random_graphs_equal_plain_loops(seed: int, n: int, how: str) -> None:
    rng = np.random.default_rng(seed)
    edges = {pair: float(rng.uniform(0.02, 0.98)) for pair in itertools.combinations(range(n), 2) if rng.random() < 0.5}
    labels = rng.integers(0, 4, n).astype(np.int32)
    found = cluster_pairs(graph_of(n, edges, MISS), labels, how)  # type: ignore[arg-type]
    members = {c: np.flatnonzero(labels == c).tolist() for c in set(labels.tolist())}
    expected = {}
    for a, b in itertools.permutations(members, 2):
        if (len(members[a]), a) > (len(members[b]), b):
            continue
        if not any((min(i, j), max(i, j)) in edges for i in members[a] for j in members[b]):
            continue
        counted: list[float] = []
        for i in members[a]:  # edges first: an absent pair stands in where there are fewer than four
            known = sorted((edges[k] for j in members[b] if (k := (min(i, j), max(i, j))) in edges), reverse=True)[:4]
            counted += known + [0.1] * (min(4, len(members[b])) - len(known))
        p = np.array(counted)
        if how == "mean":
            expected[a, b] = (1 + p.sum()) / (2 + len(p))
        else:
            expected[a, b] = 1 / (1 + math.exp(-float(np.log(p / (1 - p)).sum())))
    keys = list(zip(found.first.tolist(), found.second.tolist(), strict=True))
    assert keys == sorted(expected)
    assert found.probability.tolist() == pytest.approx([expected[key] for key in keys], rel=1e-4, abs=1e-12)
    gains = [expected[a, b] * float(merge_entropy(len(members[a]), len(members[b]), n)) for a, b in keys]
    assert found.gain.tolist() == pytest.approx(gains, rel=1e-4, abs=1e-12)


def test_clusters_that_no_edge_joins_make_no_pairs() -> None:
    for labels in ([0, 0, 1, 1], [0, 0, 0, 0], [0, 1, 2, 3]):
        found = cluster_pairs(graph_of(4, {}), np.array(labels, np.int32), "mean")
        assert len(found.first) == len(found.second) == len(found.probability) == len(found.gain) == 0
