"""Aggregation of clusters: which pairs of clusters are likely one class, and what asking about them is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.types import IntArray, PairGraph

NEIGHBOURS_PER_SAMPLE = 4
"""Pairs looked at for each sample of the smaller cluster (kNN variant of Eq. 2, the paper's appendix)."""


@dataclass(frozen=True, slots=True)
class ClusterPairs:
    """Pairs of clusters joined by at least one edge of the graph.

    Attributes
    ----------
    first, second : int32, shape (m,)
        Cluster ids; ``first`` is the smaller cluster (ties: the smaller id). Sorted by (first, second).
    probability : float64, shape (m,)
        Aggregation probability (Eq. 2).
    gain : float64, shape (m,)
        Aggregation probability x Δh (Eq. 3-4): expected gain in NMI, up to a common factor.
    """

    first: IntArray
    second: IntArray
    probability: npt.NDArray[np.float64]
    gain: npt.NDArray[np.float64]


def merge_entropy(p: npt.ArrayLike, q: npt.ArrayLike, n: int) -> npt.NDArray[np.float64]:
    """Δh = ((p+q) log(p+q) - p log p - q log q) / N for clusters of sizes p and q, in nats (Eq. 3-4)."""
    a, b = np.asarray(p, np.float64), np.asarray(q, np.float64)
    gain: npt.NDArray[np.float64] = ((a + b) * np.log(a + b) - a * np.log(a) - b * np.log(b)) / n
    return gain


def cluster_pairs(graph: PairGraph, labels: IntArray, how: Literal["mean", "product"]) -> ClusterPairs:
    """Aggregation probability and expected gain of all pairs of clusters that the graph joins.

    Of each sample of the smaller cluster, the 4 most probable members of the larger one count; a pair that is no edge
    of the graph has the graph's ``miss`` log-odds. With ``mean`` the probability is (1 + Σp) / (2 + n) over those n
    pairs, with ``product`` it is Πp / (Πp + Π(1-p)) (Eq. 2).

    Parameters
    ----------
    graph : PairGraph
    labels : int32, shape (N,)
    how : "mean" | "product"
    """
    own = np.repeat(labels, np.diff(graph.indptr))
    other = labels[graph.indices]
    sizes = np.bincount(labels, minlength=int(labels.max(initial=0)) + 1)
    inward = (sizes[own] < sizes[other]) | ((sizes[own] == sizes[other]) & (own < other))
    edges = np.flatnonzero(inward)
    a, b, logodds = own[edges], other[edges], graph.logodds[edges].astype(np.float64)
    rows = np.repeat(np.arange(graph.n), np.diff(graph.indptr))[edges]
    order = np.lexsort((-logodds, rows, b, a))
    a, b, rows, logodds = a[order], b[order], rows[order], logodds[order]
    if not len(a):
        none = np.zeros(0)
        return ClusterPairs(a, b, none, none)
    new_pair = np.concatenate(([True], (a[1:] != a[:-1]) | (b[1:] != b[:-1])))
    new_row = new_pair | np.concatenate(([True], rows[1:] != rows[:-1]))
    start_of_row = np.flatnonzero(new_row)
    rank = np.arange(len(a)) - np.repeat(start_of_row, np.diff(np.append(start_of_row, len(a))))
    kept = rank < NEIGHBOURS_PER_SAMPLE
    starts = np.flatnonzero(new_pair)
    first, second = a[starts], b[starts]
    known = np.add.reduceat(kept.astype(np.int64), starts)
    p, q = sizes[first], sizes[second]
    total = p * np.minimum(NEIGHBOURS_PER_SAMPLE, q)
    if how == "mean":
        chance = 1.0 / (1.0 + np.exp(-logodds))
        absent = 1.0 / (1.0 + np.exp(-graph.miss))
        summed = np.add.reduceat(np.where(kept, chance, 0.0), starts) + (total - known) * absent
        probability = (1.0 + summed) / (2.0 + total)
    else:
        summed = np.add.reduceat(np.where(kept, logodds, 0.0), starts) + (total - known) * graph.miss
        probability = 1.0 / (1.0 + np.exp(-np.clip(summed, -700.0, 700.0)))
    return ClusterPairs(first, second, probability, probability * merge_entropy(p, q, graph.n))
