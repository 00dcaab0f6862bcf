"""Measures of a clustering, cross-checked with scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from a3s_desktop.core.metrics import ari, entropy_ratio, evaluate, fission_rate, nmi, purity

labellings = st.lists(st.tuples(st.integers(-2, 5), st.integers(0, 5)), min_size=1, max_size=80)


@given(labellings)
def test_equal_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
    from sklearn.metrics.cluster import contingency_matrix

    labels, classes = (np.array(column) for column in zip(*pairs, strict=True))
    table = contingency_matrix(classes, labels)
    assert nmi(labels, classes) == pytest.approx(normalized_mutual_info_score(classes, labels), abs=1e-9)
    assert ari(labels, classes) == pytest.approx(adjusted_rand_score(classes, labels), abs=1e-9)
    assert purity(labels, classes) == pytest.approx(table.max(axis=0).sum() / len(labels))
    every = evaluate(labels, classes)
    assert (every.nmi, every.ari, every.purity) == (
        nmi(labels, classes),
        ari(labels, classes),
        purity(labels, classes),
    )
    assert every.fission_rate == fission_rate(labels, classes)
    assert every.entropy_ratio == entropy_ratio(labels, classes)
    assert every.clusters + every.singletons == len(np.unique(labels))


def test_by_hand() -> None:
    classes = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    labels = np.array([0, 0, 1, 1, 2, 2, 2, 3])
    every = evaluate(labels, classes)
    assert every.purity == 1.0
    assert every.fission_rate == 1.5  # the single sample is no cluster
    assert (every.clusters, every.singletons) == (3, 1)
    sizes = np.array([2, 2, 3, 1]) / 8
    assert every.entropy_ratio == pytest.approx(-(sizes * np.log(sizes)).sum() / np.log(2))


def test_perfect_and_constant() -> None:
    classes = np.array([3, 3, 8, 8, 8])
    assert (nmi(classes, classes), ari(classes, classes), purity(classes, classes)) == (1.0, 1.0, 1.0)
    one = np.zeros(5, np.int64)
    assert (nmi(one, one), ari(one, one), entropy_ratio(one, one)) == (1.0, 1.0, 1.0)
    assert nmi(one, classes) == 0.0
    assert entropy_ratio(classes, one) == float("inf")
