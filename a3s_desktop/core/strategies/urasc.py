"""URASC: uncertainty-reducing active spectral clustering.

Source: Xiong, Johnson, Corso: Active clustering with model-based uncertainty reduction (2016).
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.context import Context
from a3s_desktop.core.pckmeans import Closure, Clustering, Float64Array, pckmeans, squared_distances
from a3s_desktop.core.strategies.neighbourhoods import Neighbourhoods, NeighbourhoodStrategy
from a3s_desktop.core.strategies.reclustering import number_wanted
from a3s_desktop.errors import InputError
from a3s_desktop.i18n import number, tr

if TYPE_CHECKING:  # scipy takes its time, and is loaded where it is needed
    from scipy.sparse import csr_array

LARGEST = 5_000
"""Most samples: the eigenvectors, and the effect of every certain sample on every other, are dense."""

_EXTRA = 8  # eigenvectors after the K that span the embedding; the rest of the spectrum counts as its mean
_DENSE = 200  # samples up to which all eigenvectors are computed directly
_FLOOR = 0.02  # affinity spread over all pairs, as a share of that of the edges: it keeps the graph in one piece
_LOOP = 1e-3  # affinity of a sample to itself, so that none is without any
_LEAST_GAP = 1e-3  # between eigenvalues: below, the first-order change has no meaning


@dataclass(frozen=True, slots=True)
class Spectrum:
    """The largest eigenvalues of D^-½ A D^-½, falling.

    Attributes
    ----------
    values : float64, shape (m,)
    vectors : float64, shape (N, m)
    rest : float
        Mean of the other eigenvalues.
    scale : float64, shape (N,)
        The diagonal of D^-½.
    """

    values: Float64Array
    vectors: Float64Array
    rest: float
    scale: Float64Array


class URASC(NeighbourhoodStrategy):
    """Spectral clustering; the sample is asked whose answer lowers the total assignment entropy most. Needs K.

    The affinity is the calibrated P(same class) of the neighbour graph, 1 for must-links and 0 for cannot-links, and a
    little of it between all pairs alike: a sample cut off from its neighbours would else take an eigenvector. The
    rows of the first K eigenvectors, scaled to unit length, are clustered by K-means that starts from the
    certain-sample sets (the neighbourhoods), and assigned softly to its centroids. If a sample were put into one of
    the sets, its row of the affinity would change; what that does to the eigenvectors, and so to the total entropy, is
    taken to first order, with the degrees held. The sample with the largest expected fall, itself included, is asked
    against the sets in falling affinity until *same*, else it founds a set.

    Eigenvectors and expected falls are made anew with every clustering (10 answers); of the samples ranked then, the
    best that are still open are taken in between.

    State in the context: that of `NeighbourhoodStrategy`, and value ``worth`` (float64 (N,), the expected fall).
    """

    def begin(self, context: Context) -> None:
        """Cluster without answers. Raises `InputError` for more than 5,000 samples."""
        if context.graph.n > LARGEST:
            raise InputError(
                tr(
                    "The strategy 'urasc' works on a matrix of all pairs and takes at most {largest} images; "
                    "there are {count}.",
                    largest=number(LARGEST),
                    count=number(context.graph.n),
                ),
                tr("Choose another strategy."),
            )
        context.values["founders"] = np.zeros(0, np.int64)
        super().begin(context)

    def _first(self, context: Context) -> int:
        return int(context.values["worth"].argmax())

    def _choose(self, context: Context, known: Neighbourhoods, candidates: npt.NDArray[np.int64]) -> int:  # noqa: ARG002
        return int(candidates[context.values["worth"][candidates].argmax()])

    def _distances(self, context: Context, known: Neighbourhoods, sample: int) -> Float64Array:
        return np.asarray(-self._affinities(context, known)[sample], np.float64)

    def _cluster(self, context: Context, closure: Closure) -> Clustering:
        spectrum = _spectrum(context, closure, number_wanted(context))
        embedding, length = _embedding(spectrum, number_wanted(context))
        # Weight 0: the answers are in the affinity already, and give the first centroids.
        found = pckmeans(embedding.astype(np.float32), closure, number_wanted(context), self._rng(context), 0.0)
        known = Neighbourhoods.of(context)
        context.values["worth"] = self._worth(context, spectrum, embedding, length, found.centroids, known)
        return found

    def _worth(
        self,
        context: Context,
        spectrum: Spectrum,
        embedding: Float64Array,
        length: Float64Array,
        centroids: Float64Array,
        known: Neighbourhoods,
    ) -> Float64Array:
        """Expected fall of the total entropy for every sample, float64 (N,)."""
        entropy, gradient = _entropy(embedding, length, centroids)
        if not known.founders:
            return entropy.round(6)
        response = _response(spectrum, gradient)
        certain = np.concatenate(known.members)
        basis = spectrum.vectors[:, : gradient.shape[1]]
        # Effect of each unit of normalised affinity between a sample and a certain one on the total entropy.
        effect = response @ basis[certain].T + basis @ response[certain].T
        effect *= spectrum.scale[:, None] * spectrum.scale[certain]
        present = self._affinity_to(context, certain)
        of_set = np.equal(known.group[certain][:, None], np.arange(len(known.founders))).astype(np.float64)
        cut = -(effect * present).sum(axis=1, keepdims=True)  # all affinities to the sets fall to 0 ...
        change = cut + effect @ of_set  # ... but those to one set rise to 1
        shares = self._open_shares(context, known, np.arange(context.graph.n))
        return np.asarray((entropy - (shares * change).sum(axis=1)).round(6), np.float64)

    def _affinity_to(self, context: Context, certain: npt.NDArray[np.int32]) -> Float64Array:
        graph = context.graph
        position = np.full(graph.n, -1, np.int64)
        position[certain] = np.arange(len(certain))
        target = position[graph.indices]
        edges = np.flatnonzero(target >= 0)
        rows = np.repeat(np.arange(graph.n), np.diff(graph.indptr))[edges]
        found = np.zeros((graph.n, len(certain)))
        found[rows, target[edges]] = 1.0 / (1.0 + np.exp(-graph.logodds[edges].astype(np.float64)))
        return found


def _spectrum(context: Context, closure: Closure, clusters: int) -> Spectrum:
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

    affinity = constrained_affinity(context, closure)
    n = context.graph.n
    count = min(clusters + _EXTRA, n)
    degree = np.asarray(affinity.sum(axis=1), np.float64).ravel()
    floor = _FLOOR * float(degree.mean()) / n
    scale = 1.0 / np.sqrt(degree + floor * n)
    rows = np.repeat(np.arange(n), np.diff(affinity.indptr))
    affinity.data *= scale[rows] * scale[affinity.indices]
    total = float(affinity.diagonal().sum() + floor * (scale @ scale))
    values: Float64Array | None = None
    if n > _DENSE and 2 * count < n:

        def product(vector: Float64Array) -> Float64Array:
            flat = vector.ravel()
            return np.asarray(affinity @ flat + scale * (floor * float(scale @ flat)), np.float64)

        operator = LinearOperator((n, n), matvec=product, dtype=np.float64)
        start = np.cos(np.arange(n, dtype=np.float64))  # any vector will do, as long as it is the same each time
        with contextlib.suppress(ArpackError):  # it gives up where many eigenvalues are equal
            values, vectors = eigsh(operator, k=count, which="LA", v0=start, ncv=min(n, 3 * count), tol=1e-6)
    if values is None:
        values, vectors = np.linalg.eigh(affinity.toarray() + floor * np.outer(scale, scale))
    order = np.argsort(-values, kind="stable")[:count]
    rest = (total - float(values[order].sum())) / max(n - count, 1)
    return Spectrum(values[order], vectors[:, order], rest, scale)


def constrained_affinity(context: Context, closure: Closure) -> csr_array:
    """P(same class) of the graph's edges, 1 for all must-links and 0 for all cannot-links, as a sparse N × N matrix."""
    from scipy.sparse import coo_array

    graph, component = context.graph, closure.component
    rows = np.repeat(np.arange(graph.n), np.diff(graph.indptr))
    columns = graph.indices.astype(np.int64)
    value = 1.0 / (1.0 + np.exp(-graph.logodds.astype(np.float64)))
    known = np.zeros((len(closure.members) + 1,) * 2, np.bool_)  # the last row and column: no answer about it
    for at, apart in enumerate(closure.apart):
        known[at, at] = True
        known[at, apart] = True
    free = ~known[component[rows], component[columns]]
    cliques = [group for group in closure.members if len(group) > 1]
    own = np.arange(graph.n)
    all_rows = np.concatenate([rows[free], own, *(np.repeat(group, len(group)) for group in cliques)])
    all_columns = np.concatenate([columns[free], own, *(np.tile(group, len(group)) for group in cliques)])
    ones = np.ones(sum(len(group) ** 2 for group in cliques))
    values = np.concatenate([value[free], np.full(graph.n, _LOOP), ones])
    return coo_array((values, (all_rows, all_columns)), shape=(graph.n, graph.n)).tocsr()


def _embedding(spectrum: Spectrum, clusters: int) -> tuple[Float64Array, Float64Array]:
    """Rows of the first K eigenvectors at unit length, and their lengths before."""
    rows = spectrum.vectors[:, :clusters]
    length = np.maximum(np.sqrt(np.einsum("nk,nk->n", rows, rows)), 1e-9)
    return rows / length[:, None], length


def _entropy(
    embedding: Float64Array, length: Float64Array, centroids: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Entropy of the soft assignment of each row, float64 (N,), and the gradient of their sum by the eigenvectors.

    The assignment is exp(-‖y - μ‖² / 2σ²), normalised; σ² is the mean squared distance from the nearest centroid.
    """
    distance = squared_distances(embedding, centroids)
    spread = max(float(distance.min(axis=1).mean()), 1e-3)
    weight = np.exp(-(distance - distance.min(axis=1, keepdims=True)) / (2.0 * spread))
    share = weight / weight.sum(axis=1, keepdims=True)
    surprise = -np.log(np.maximum(share, 1e-300))
    entropy = np.einsum("nk,nk->n", share, surprise)
    # With logits z: dH/dz_c = share_c (surprise_c - H); of z_c = -‖y - μ_c‖² / 2σ² only μ_c / σ² is left, because
    # the weights of the y sum to zero.
    pull = share * (surprise - entropy[:, None])
    by_row = (pull @ centroids) / spread
    along = np.einsum("nk,nk->n", by_row, embedding)
    return entropy, (by_row - along[:, None] * embedding) / length[:, None]


def _response(spectrum: Spectrum, gradient: Float64Array) -> Float64Array:
    """R with <gradient, dV> = Σ_k r_kᵀ dA v_k for a small change dA of the matrix, float64 (N, K).

    dv_k = Σ_p v_p (v_pᵀ dA v_k) / (λ_k - λ_p), over the p outside the embedding: turns inside it change no distance.
    """
    k = gradient.shape[1]
    values, extra = spectrum.values[:k], spectrum.vectors[:, k:]
    outside = gradient - spectrum.vectors @ (spectrum.vectors.T @ gradient)
    response = outside / np.maximum(values - spectrum.rest, _LEAST_GAP)
    if extra.shape[1]:
        gaps = np.maximum(values[None, :] - spectrum.values[k:, None], _LEAST_GAP)
        response += extra @ ((extra.T @ gradient) / gaps)
    return response
