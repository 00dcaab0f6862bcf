"""Distances of clusters in a metric learnt without answers: that in which near pairs differ alike in all directions.

Source: relevant component analysis (Shental et al. 2002), with the pairs that share most of their neighbourhoods in
place of known must-links: whitening by the spread of their differences makes little of the directions in which
samples of one class differ.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.edge_values import Similarities
from a3s_desktop.core.types import IntArray, PairGraph

Matrix = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
Values = npt.NDArray[np.floating]
Edges = Similarities | npt.NDArray[np.floating]
Rows = Callable[[IntArray], Matrix]
RIDGE = 0.2
"""Share of the sphere in the spread within classes: it keeps directions in which near pairs hardly differ from
counting without bound, where there are more dimensions than samples."""

PAIRS = 20_000
"""Most pairs that the spread within classes is taken from, and most edges that the scale is taken from."""


def evenly(count: int, most: int = PAIRS) -> Index:
    """At most so many of ``count`` places, evenly spaced and ascending, int64."""
    return np.arange(count) if count <= most else np.linspace(0, count - 1, most).astype(np.int64)


def differences(graph: PairGraph, edges: Index, rows: Rows) -> Matrix:
    """Differences of the features along some edges, float64 (m, ΣD)."""
    left = (np.searchsorted(graph.indptr, edges, side="right") - 1).astype(np.int32)
    return rows(left) - rows(graph.indices[edges])


class LearntMetric:
    """Root mean squared distances in the learnt metric, in units of the edges' spread around their mean.

    Parameters
    ----------
    graph : PairGraph
    similarity : Similarities, or float, shape (E,)
        How much of their neighbourhoods the two ends of each edge of the graph share.
    rows : callable
        Features of some samples, float64 (m, ΣD).
    saved : (float64 (ΣD, ΣD), float, float), optional
        What was learnt before, as the attributes.

    Attributes
    ----------
    whiten : float64, shape (ΣD, ΣD)
        What features are multiplied with.
    middle, spread : float
        Mean and standard deviation of the length of edges.
    """

    def __init__(
        self, graph: PairGraph, similarity: Edges, rows: Rows, saved: tuple[Matrix, float, float] | None = None
    ) -> None:
        if saved is not None:
            self.whiten, self.middle, self.spread = saved
            return
        self.whiten, self.middle, self.spread = np.eye(rows(np.zeros(1, np.int32)).shape[1]), 0.0, 1.0
        if not len(graph.indices):
            return
        nearest = _largest(np.asarray(similarity), min(PAIRS, 4 * graph.n))
        self.whiten = _whitening(differences(graph, nearest, rows))
        length = np.sqrt(((differences(graph, evenly(len(graph.indices)), rows) @ self.whiten) ** 2).sum(axis=1))
        self.middle, self.spread = float(length.mean()), float(length.std()) or 1.0

    def distance(self, gap: Values) -> Matrix:
        """Distances from mean squared ones, float64, rounded to 1e-9: the last bits of a product depend on what is
        computed beside it and on the number of threads."""
        result: Matrix = ((np.sqrt(gap.round(12)) - self.middle) / self.spread).round(9)
        return result


def _largest(values: Values, count: int) -> Index:
    """Places of the ``count`` largest values, ascending; of equal ones the first."""
    if count >= len(values):
        return np.arange(len(values))
    bound = np.partition(values, len(values) - count)[len(values) - count]
    above = np.flatnonzero(values > bound)
    return np.sort(np.concatenate((above, np.flatnonzero(values == bound)[: count - len(above)])))


def _whitening(gap: Matrix) -> Matrix:
    """What to multiply features with so that the differences ``gap`` come to the unit sphere, but for the ridge."""
    width = gap.shape[1]
    within = gap.T @ gap / len(gap)
    size = float(np.trace(within)) / width
    if not size > 0.0:  # all near pairs are equal: nothing to learn
        return np.eye(width)
    within = (1 - RIDGE) * within + RIDGE * size * np.eye(width)
    whiten: Matrix = np.linalg.inv(np.linalg.cholesky(within)).T
    return whiten
