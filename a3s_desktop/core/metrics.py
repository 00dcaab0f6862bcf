"""How good a clustering is against known classes: NMI, ARI, purity, fission rate, entropy ratio. For evaluation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Labels = npt.NDArray[np.integer[Any]]
_Float64 = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Metrics:
    """All measures of one clustering.

    Attributes
    ----------
    nmi : float
        Normalised mutual information, arithmetic mean, in [0, 1].
    ari : float
        Adjusted Rand index, at most 1.
    purity : float
        Mean over samples: share of the dominant class in the sample's cluster, in (0, 1].
    fission_rate : float
        k / K, clusters with one sample not counted.
    entropy_ratio : float
        H(clusters) / H(classes); 1 where both are zero, infinite where only the classes' entropy is.
    clusters, singletons : int
        Clusters of two or more samples; clusters of one.
    """

    nmi: float
    ari: float
    purity: float
    fission_rate: float
    entropy_ratio: float
    clusters: int
    singletons: int


def _contingency(labels: Labels, classes: Labels) -> tuple[_Float64, _Float64, _Float64, Labels]:
    """Counts of the non-empty cells, cluster sizes, class sizes, and the cluster of each cell."""
    _, cluster = np.unique(labels, return_inverse=True)
    values, cls = np.unique(classes, return_inverse=True)
    cells, counts = np.unique(cluster.astype(np.int64) * len(values) + cls, return_counts=True)
    sizes = np.bincount(cluster).astype(np.float64)
    return counts.astype(np.float64), sizes, np.bincount(cls).astype(np.float64), cells // len(values)


def _entropy(counts: _Float64) -> float:
    p = counts / counts.sum()
    return abs(float(-np.sum(p * np.log(p))))


def _pairs(counts: _Float64) -> float:
    return float(np.sum(counts * (counts - 1.0))) / 2.0


def nmi(labels: Labels, classes: Labels) -> float:
    """Normalised mutual information (arithmetic mean) of two labellings of shape (N,); 1 if both are constant."""
    cells, sizes, class_sizes, _ = _contingency(labels, classes)
    return _nmi(cells, sizes, class_sizes)


def _nmi(cells: _Float64, sizes: _Float64, class_sizes: _Float64) -> float:
    left, right = _entropy(sizes), _entropy(class_sizes)
    if left + right == 0.0:
        return 1.0
    return float(np.clip(2.0 * (left + right - _entropy(cells)) / (left + right), 0.0, 1.0))


def ari(labels: Labels, classes: Labels) -> float:
    """Adjusted Rand index of two labellings of shape (N,)."""
    cells, sizes, class_sizes, _ = _contingency(labels, classes)
    return _ari(cells, sizes, class_sizes)


def _ari(cells: _Float64, sizes: _Float64, class_sizes: _Float64) -> float:
    both, left, right = _pairs(cells), _pairs(sizes), _pairs(class_sizes)
    every = _pairs(sizes.sum(keepdims=True))
    expected = left * right / every if every else 0.0
    most = (left + right) / 2.0
    return 1.0 if most == expected else (both - expected) / (most - expected)


def purity(labels: Labels, classes: Labels) -> float:
    """Share of samples that belong to the dominant class of their cluster."""
    cells, sizes, _, cluster = _contingency(labels, classes)
    return _purity(cells, sizes, cluster)


def _purity(cells: _Float64, sizes: _Float64, cluster: Labels) -> float:
    dominant = np.zeros(len(sizes))
    np.maximum.at(dominant, cluster, cells)
    return float(dominant.sum() / sizes.sum())


def fission_rate(labels: Labels, classes: Labels) -> float:
    """k / K: clusters (those with one sample not counted) over classes."""
    _, sizes = np.unique(labels, return_counts=True)
    return int(np.count_nonzero(sizes > 1)) / len(np.unique(classes))


def entropy_ratio(labels: Labels, classes: Labels) -> float:
    """H(clusters) / H(classes); 1 where both are zero, infinite where only the classes' entropy is."""
    _, sizes = np.unique(labels, return_counts=True)
    _, class_sizes = np.unique(classes, return_counts=True)
    return _entropy_ratio(sizes.astype(np.float64), class_sizes.astype(np.float64))


def _entropy_ratio(sizes: _Float64, class_sizes: _Float64) -> float:
    left, right = _entropy(sizes), _entropy(class_sizes)
    if right == 0.0:
        return 1.0 if left == 0.0 else float("inf")
    return left / right


def evaluate(labels: Labels, classes: Labels) -> Metrics:
    """All measures at once, from one contingency table.

    Parameters
    ----------
    labels : int, shape (N,), N >= 1
        Cluster of each sample.
    classes : int, shape (N,)
        True class of each sample.
    """
    cells, sizes, class_sizes, cluster = _contingency(labels, classes)
    clusters = int(np.count_nonzero(sizes > 1))
    return Metrics(
        nmi=_nmi(cells, sizes, class_sizes),
        ari=_ari(cells, sizes, class_sizes),
        purity=_purity(cells, sizes, cluster),
        fission_rate=clusters / len(class_sizes),
        entropy_ratio=_entropy_ratio(sizes, class_sizes),
        clusters=clusters,
        singletons=len(sizes) - clusters,
    )
