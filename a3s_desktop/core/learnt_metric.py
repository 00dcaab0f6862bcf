"""Distances of clusters in a metric learnt without answers: that in which near pairs differ alike in all directions.

Source: relevant component analysis (Shental et al. 2002), with the pairs that share most of their neighbourhoods in
place of known must-links: whitening by the spread of their differences makes little of the directions in which
samples of one class differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.partition import Partition
from a3s_desktop.core.types import IntArray, PairGraph

Matrix = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]
Values = npt.NDArray[np.floating]
Rows = Callable[[IntArray], Matrix]
Moment = tuple[IntArray, Matrix, float]
"""Samples, their mean and their total variance in the learnt metric."""

RIDGE = 0.2
"""Share of the sphere in the spread within classes: it keeps directions in which near pairs hardly differ from
counting without bound, where there are more dimensions than samples."""

PAIRS = 20_000
"""Most pairs that the spread within classes is taken from, and most edges that the scale is taken from."""

LARGE = 20_000
"""Samples from which on a cluster that changed is renewed from those that came and went: with one rounding more, but
without a look at all of its members."""

BLOCK = 4_096
"""Samples whose features are held at once: memory stays small beside that of the features themselves."""


def evenly(count: int, most: int = PAIRS) -> Index:
    """At most so many of ``count`` places, evenly spaced and ascending, int64."""
    return np.arange(count) if count <= most else np.linspace(0, count - 1, most).astype(np.int64)


def differences(graph: PairGraph, edges: Index, rows: Rows) -> Matrix:
    """Differences of the features along some edges, float64 (m, ΣD)."""
    left = (np.searchsorted(graph.indptr, edges, side="right") - 1).astype(np.int32)
    return rows(left) - rows(graph.indices[edges])


class LearntMetric:
    """Root mean squared distances of clusters in the learnt metric, in units of the edges' spread around their mean.

    Parameters
    ----------
    partition : Partition
    graph : PairGraph
    similarity : float, shape (E,)
        How much of their neighbourhoods the two ends of each edge of the graph share.
    rows : callable
        Features of some samples, float64 (m, ΣD).
    """

    def __init__(self, partition: Partition, graph: PairGraph, similarity: Values, rows: Rows) -> None:
        self._partition, self._rows = partition, rows
        self._is_large = graph.n > LARGE
        self._moments: dict[int, Moment] = {}
        self._by_first: dict[int, Moment] = {}  # the same by the first sample: what a merge adds was a cluster before
        self._whiten, self._middle, self._spread = np.eye(rows(np.zeros(1, np.int32)).shape[1]), 0.0, 1.0
        if not len(graph.indices):
            return
        nearest = _largest(similarity, min(PAIRS, 4 * graph.n))
        self._whiten = _whitening(differences(graph, nearest, rows))
        length = np.sqrt(((differences(graph, evenly(len(graph.indices)), rows) @ self._whiten) ** 2).sum(axis=1))
        self._middle, self._spread = float(length.mean()), float(length.std()) or 1.0

    def distances(self, pairs: Sequence[tuple[int, int]]) -> Matrix:
        """Distances of some pairs of clusters, float64 (m,), rounded to 1e-9: the last bits of a product depend on
        what is computed beside it and on the number of threads."""
        clusters = list({cluster: None for pair in pairs for cluster in pair})
        self._renew(clusters)
        place = {cluster: k for k, cluster in enumerate(clusters)}
        at = np.array([(place[a], place[b]) for a, b in pairs], np.int64).reshape(-1, 2)
        known = [self._moments[cluster] for cluster in clusters]
        middles, variances = np.array([one[1] for one in known]), np.array([one[2] for one in known])
        gap = ((middles[at[:, 0]] - middles[at[:, 1]]) ** 2).sum(axis=1) + variances[at].sum(axis=1)
        result: Matrix = ((np.sqrt(gap) - self._middle) / self._spread).round(9)
        return result

    def _renew(self, clusters: Sequence[int]) -> None:
        """Mean and total variance of those of the clusters that changed, many in one product."""
        changed: list[tuple[int, IntArray]] = []
        held = 0
        for cluster in clusters:
            members, known = self._partition.members(cluster), self._moments.get(cluster)
            if known is None or (known[0] is not members and not np.array_equal(known[0], members)):
                if known is not None and self._is_large and self._follow(cluster, known, members):
                    continue
                changed.append((cluster, members))
                held += len(members)
                if held >= BLOCK:
                    self._measure(changed)
                    changed, held = [], 0
        if changed:
            self._measure(changed)

    def _follow(self, cluster: int, known: Moment, members: IntArray) -> bool:
        """Renew a cluster from the samples that came and went, where they are few; False where they are many."""
        before, middle, variance = known
        came, went = (np.setdiff1d(*pair, assume_unique=True) for pair in ((members, before), (before, members)))
        if 2 * (len(came) + len(went)) >= len(members):
            return False
        total, squares = _sums(len(before), middle, variance)
        for samples, sign in ((came, 1.0), (went, -1.0)):
            if len(samples):
                more = self._by_first.get(int(samples[0]))
                if more is None or not np.array_equal(more[0], samples):  # not a cluster that was known before
                    more = _moment(samples, self._rows(samples) @ self._whiten)
                change = _sums(len(samples), *more[1:])
                total, squares = total + sign * change[0], squares + sign * change[1]
        middle = total / len(members)
        variance = max(0.0, squares / len(members) - float((middle**2).sum()))
        self._keep(cluster, (members, middle, variance))
        return True

    def _keep(self, cluster: int, moment: Moment) -> None:
        self._moments[cluster] = self._by_first[int(moment[0][0])] = moment

    def _measure(self, changed: Sequence[tuple[int, IntArray]]) -> None:
        white = self._rows(np.concatenate([members for _, members in changed])) @ self._whiten
        end = 0
        for cluster, members in changed:
            start, end = end, end + len(members)
            self._keep(cluster, _moment(members, white[start:end]))


def _moment(members: IntArray, white: Matrix) -> Moment:
    middle = white.mean(axis=0)
    return members, middle, float(((white - middle) ** 2).sum() / len(members))


def _sums(count: int, middle: Matrix, variance: float) -> tuple[Matrix, float]:
    """The sum of some samples, and that of their squared lengths."""
    return count * middle, count * (variance + float((middle**2).sum()))


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
