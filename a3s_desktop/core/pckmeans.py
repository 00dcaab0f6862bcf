"""PCKMeans: K-means that pays for every answer it breaks; and the repair that makes its result agree with all of them.

Source: Basu, Banerjee, Mooney: Active semi-supervision for pairwise constrained clustering (2004).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.constraints import ConstraintStore
from a3s_desktop.core.types import FloatArray, IntArray

Float64Array = npt.NDArray[np.float64]

ROUNDS = 100
"""Most rounds of assignment and new centroids; it converges in 10 to 30."""

_BLOCK = 4096  # rows of the distance matrix made at once
_DECIMALS = 9  # distances are rounded, so that nothing hangs on the order of a sum


@dataclass(frozen=True, slots=True)
class Closure:
    """All that the answers say, closed under transitivity, by must-link component.

    Attributes
    ----------
    component : int32, shape (N,)
        Position of each sample's must-link component; -1 for a sample that no answer is about.
    members : tuple of int32 arrays
        Members of each component, ascending. Components are ordered by size, falling, then by smallest member.
    apart : tuple of int64 arrays
        For each component the positions of those that it is known to differ from.
    """

    component: IntArray
    members: tuple[IntArray, ...]
    apart: tuple[npt.NDArray[np.int64], ...]

    @classmethod
    def of(cls, store: ConstraintStore, n: int) -> Closure:
        """The closure of a store over ``n`` samples."""
        roots = {store.find(i) for i in store.touched()}
        groups = sorted(((store.component(root), root) for root in roots), key=lambda item: (-len(item[0]), item[0]))
        position = {root: at for at, (_, root) in enumerate(groups)}
        component = np.full(n, -1, np.int32)
        members = tuple(np.array(group, np.int32) for group, _ in groups)
        for at, group in enumerate(members):
            component[group] = at
        apart = tuple(
            np.array(sorted(position[other] for other in store.separated_from(root).tolist()), np.int64)
            for _, root in groups
        )
        return cls(component, members, apart)


@dataclass(frozen=True, slots=True)
class Clustering:
    """Labels with what they were made from.

    Attributes
    ----------
    space : float32, shape (N, D)
        The features that were clustered.
    labels : int32, shape (N,)
        Positions in ``centroids``; a centroid may be left without samples.
    centroids : float64, shape (K, D)
    """

    space: FloatArray
    labels: IntArray
    centroids: Float64Array


def pckmeans(
    features: FloatArray, closure: Closure, clusters: int, rng: np.random.Generator, weight: float = 1.0
) -> Clustering:
    """Minimise Σ‖x - μ‖² + weight · (must-links broken + cannot-links broken) over the closed constraints.

    In each round the samples are assigned one after another, in random order, each at least cost given where the
    others are (or, in the first round, those before it); then the centroids are recomputed, until nothing changes.
    A sample that no answer is about does not depend on the others, nor do they on it, so that all of these are
    assigned at once: the result is the same as that of one long sequence. Of the rest each takes one row operation
    over the K clusters: what the components break in each cluster is kept in one table and updated where a sample
    moves.

    The first centroids are the means of the K largest must-link neighbourhoods (components of two or more samples).
    Where there are fewer, single samples follow that are known to differ from all chosen so far (Basu's rule,
    carried on), then the sample farthest from all chosen, again and again. A cluster that loses all its samples keeps
    its centroid.

    Parameters
    ----------
    features : float32, shape (N, D)
        Scaled to a total variance of one (as `Context.rows` does), so that with ``weight`` 1 a broken answer costs as
        much as the mean squared distance of the samples from their mean.
    closure : Closure
    clusters : int
        K, 1 <= K <= N.
    rng : numpy.random.Generator
        For the order, and the first sample where there is no answer at all.
    weight : float

    Returns
    -------
    Clustering
    """
    centroids = _first_centroids(features, closure, clusters, rng)
    bound = np.flatnonzero(closure.component >= 0)
    return _rounds(features, centroids, closure, bound, rng, weight)


def kmeans(features: FloatArray, clusters: int, rng: np.random.Generator, runs: int = 3) -> Clustering:
    """Plain K-means from the best of some k-means++ starts; equal for any number of threads.

    Parameters
    ----------
    features : float32, shape (N, D)
    clusters : int
        1 <= K <= N.
    rng : numpy.random.Generator
    runs : int
        Starts, of which the one with the least Σ‖x - μ‖² counts.
    """
    nothing = Closure(np.full(len(features), -1, np.int32), (), ())
    none = np.zeros(0, np.int64)
    best: tuple[float, Clustering] | None = None
    for _ in range(runs):
        centroids = _spread_centroids(features, clusters, rng)
        found = _rounds(features, centroids, nothing, none, rng, 0.0)
        cost = round(float(((features - found.centroids[found.labels]) ** 2).sum()), 6)
        if best is None or cost < best[0]:
            best = cost, found
    assert best is not None
    return best[1]


def repair(clustering: Clustering, closure: Closure) -> IntArray:
    """Labels that agree with every answer, by moving must-link components as a whole.

    What a person said holds, while PCKMeans may break it. Each component, the largest first, goes to the cluster
    that has most of its members already (ties: the nearest centroid) and no component that is known to differ from
    it; only where all K clusters hold such a one, a further cluster is opened. Samples without answers stay.

    Returns
    -------
    int32, shape (N,)
        Cluster of each sample; numbers above K - 1 are clusters that had to be opened.
    """
    labels = clustering.labels.copy()
    k, count = len(clustering.centroids), len(closure.members)
    if not count:
        return labels
    means = np.stack([clustering.space[group].mean(axis=0, dtype=np.float64) for group in closure.members])
    distance = squared_distances(means, clustering.centroids)
    distance = distance / (1.0 + distance.max())  # below one, so that it only breaks ties between counts
    blocked = np.zeros((count, k + count), np.bool_)
    for at, group in enumerate(closure.members):
        here = np.full(k + count, -1.0)
        here[:k] = np.bincount(labels[group], minlength=k)[:k] - distance[at]
        here[k:] = -2.0
        here[blocked[at]] = -3.0
        home = int(here.argmax())
        labels[group] = home
        blocked[closure.apart[at], home] = True
    return labels


def squared_distances(rows: npt.NDArray[np.floating], centroids: Float64Array) -> Float64Array:
    """‖x - μ‖² of all rows and centroids, float64 (n, K), rounded and never negative."""
    wide = rows.astype(np.float64)
    found = np.einsum("nd,nd->n", wide, wide)[:, None] - 2.0 * (wide @ centroids.T)
    found += np.einsum("kd,kd->k", centroids, centroids)
    return np.asarray(np.maximum(found.round(_DECIMALS), 0.0), np.float64)


def means_of(features: FloatArray, labels: IntArray, before: Float64Array) -> Float64Array:
    """Mean of every cluster, float64 (K, D); of one without samples the row of ``before``."""
    order = np.argsort(labels, kind="stable")
    counts = np.bincount(labels, minlength=len(before))
    held = np.flatnonzero(counts)
    starts = (np.cumsum(counts) - counts)[held]
    means = before.copy()
    means[held] = np.add.reduceat(features[order], starts, axis=0, dtype=np.float64) / counts[held, None]
    return means


def _rounds(
    features: FloatArray,
    centroids: Float64Array,
    closure: Closure,
    bound: npt.NDArray[np.int64],
    rng: np.random.Generator,
    weight: float,
) -> Clustering:
    labels = np.full(len(features), -1, np.int32)
    table = _Table(closure, closure.component[bound].tolist(), len(centroids), weight)
    for _ in range(ROUNDS):
        new = _nearest(features, centroids)
        if len(bound):
            new[bound] = table.assign(squared_distances(features[bound], centroids), rng.permutation(len(bound)))
        if np.array_equal(new, labels):
            break
        labels = new
        centroids = means_of(features, labels, centroids)
    return Clustering(features, labels, centroids)


class _Table:
    """Where the samples with answers are, and what each component would break in each cluster."""

    def __init__(self, closure: Closure, component: list[int], clusters: int, weight: float) -> None:
        self._apart = closure.apart
        self._component = component
        self._weight = weight
        self._labels = [-1] * len(component)
        # weight · (samples known to differ - must-linked samples) of a component that are in a cluster; a must-link
        # kept counts as a gain, which differs from a must-link broken by a constant
        self._pull = np.zeros((len(closure.members), clusters))

    def assign(self, distance: Float64Array, order: npt.NDArray[np.integer]) -> list[int]:
        """One pass over the samples with answers; their clusters."""
        pull, weight = self._pull, self._weight
        for at in order.tolist():
            group, old = self._component[at], self._labels[at]
            cost = distance[at] + pull[group]
            if old >= 0:
                cost[old] += weight  # it is no reason for itself
            new = int(cost.argmin())
            if new == old:
                continue
            apart = self._apart[group]
            if old >= 0:
                pull[group, old] += weight
                pull[apart, old] -= weight
            pull[group, new] -= weight
            pull[apart, new] += weight
            self._labels[at] = new
        return self._labels


def _nearest(features: FloatArray, centroids: Float64Array) -> IntArray:
    parts = [
        squared_distances(features[at : at + _BLOCK], centroids).argmin(axis=1)
        for at in range(0, len(features), _BLOCK)
    ]
    return np.concatenate(parts).astype(np.int32)


def _first_centroids(features: FloatArray, closure: Closure, clusters: int, rng: np.random.Generator) -> Float64Array:
    chosen = [at for at, group in enumerate(closure.members) if len(group) > 1][:clusters]
    single = [at for at, group in enumerate(closure.members) if len(group) == 1]
    if not chosen and single:
        chosen.append(max(single, key=lambda at: (len(closure.apart[at]), -at)))
    for at in single:
        if len(chosen) == clusters:
            break
        if np.isin(chosen, closure.apart[at]).all():
            chosen.append(at)
    centroids = [features[closure.members[at]].mean(axis=0, dtype=np.float64) for at in chosen]
    if not centroids:
        centroids.append(features[int(rng.integers(len(features)))].astype(np.float64))
    nearest = _squared_to(features, centroids[0])
    for centroid in centroids[1:]:
        np.minimum(nearest, _squared_to(features, centroid), out=nearest)
    while len(centroids) < clusters:
        centroids.append(features[int(nearest.argmax())].astype(np.float64))
        np.minimum(nearest, _squared_to(features, centroids[-1]), out=nearest)
    return np.stack(centroids)


def _spread_centroids(features: FloatArray, clusters: int, rng: np.random.Generator) -> Float64Array:
    """k-means++: each further centroid is a sample drawn by its squared distance from those before."""
    chosen = [int(rng.integers(len(features)))]
    nearest = _squared_to(features, features[chosen[0]])
    while len(chosen) < clusters:
        total = np.cumsum(nearest)
        at = int(np.searchsorted(total, rng.random() * total[-1], side="right")) if total[-1] > 0.0 else len(chosen)
        chosen.append(min(at, len(features) - 1))
        np.minimum(nearest, _squared_to(features, features[chosen[-1]]), out=nearest)
    return features[chosen].astype(np.float64)


def _squared_to(features: FloatArray, point: npt.NDArray[np.floating]) -> Float64Array:
    apart = features - point.astype(np.float32)
    return np.asarray(np.einsum("nd,nd->n", apart, apart), np.float64).round(5)
