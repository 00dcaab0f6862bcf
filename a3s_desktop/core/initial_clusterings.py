"""Other initial clusterings than FPC's own, with FPC's number of clusters times a ratio (paper: initial algorithms).

All three come from scikit-learn, imported when asked for. Time and memory of spectral and agglomerative clustering grow
with at least the square of what they cluster, neither can be cancelled, and the latter keeps the interpreter to itself
meanwhile (0.2 s at 2,000). Beyond `DIRECT_LIMIT` samples they therefore work on micro-clusters (FPC on lowered
log-odds); where these are more than `GROUP_LIMIT`, agglomerative clustering merges only neighbours among them, and
spectral clustering, which needs as many eigenvectors as there are groups, is refused. Beyond `MINI_BATCH_FROM` samples
K-means looks at some of them at a time. The note that comes with the labels says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.fpc import compact, fpc
from a3s_desktop.core.neighbors import scaled
from a3s_desktop.core.types import FloatArray, InitialOptions, IntArray, PairGraph
from a3s_desktop.errors import InputError
from a3s_desktop.i18n import tr
from a3s_desktop.task import Task

DIRECT_LIMIT = {"spectral": 5_000, "agglomerative": 2_000}  # samples; beyond, micro-clusters up to this number
GROUP_LIMIT = {"spectral": 5_000, "agglomerative": 10_000}  # FPC's own groups, where they are more: 400 MB at most
MINI_BATCH_FROM = 20_000
_PASSES = 3  # of mini-batch K-means through all samples
_NEAREST = 16  # micro-clusters that one may be merged with, where they are too many to compare all
_SLICE = 5  # iterations of K-means between two looks at the task
_SLICES = 30
_LOWER = (0.5, 1.0, 2.0, 4.0, 8.0)  # by how much log-odds are lowered for micro-clusters
_WEAK_LINK = 1e-6  # affinity that joins the parts of a disconnected graph


def number_of_clusters(fpc_labels: IntArray, ratio: float) -> int:
    """k of the other clusterings: FPC's clusters of two or more members (all, if there are none) times ``ratio``."""
    sizes = np.bincount(fpc_labels)
    found = int(np.count_nonzero(sizes > 1)) or len(sizes)
    return max(1, min(round(ratio * found), len(fpc_labels)))


def initial_clustering(
    views: Sequence[FloatArray], graph: PairGraph, fpc_labels: IntArray, options: InitialOptions, task: Task
) -> tuple[IntArray, str]:
    """The initial clustering that ``options.initial`` names.

    Parameters
    ----------
    views : sequence of float32 arrays, each of shape (N, D_v)
        Several are joined, each with the same mean squared distance from its mean.
    graph : PairGraph
    fpc_labels : int32, shape (N,)
    options : InitialOptions
    task : Task

    Returns
    -------
    labels : int32, shape (N,)
        Ids 0 .. k-1 without gaps.
    note : str
        A sentence for the user where the clustering worked on something else than all samples; else empty.

    Raises
    ------
    InputError
        There are too many micro-clusters for the clustering asked for.
    Cancelled
        The user cancelled the task.
    """
    k = number_of_clusters(fpc_labels, options.ratio)
    n = graph.n
    if k == 1 or k == n or options.initial == "fpc":
        simple = fpc_labels if options.initial == "fpc" else np.arange(n) * (k == n)
        return compact(simple), ""
    if options.initial == "kmeans":
        if n <= MINI_BATCH_FROM:
            return compact(_kmeans(_joined(views), k, options.seed, task)), ""
        labels = _mini_batch(_joined(views), k, options.seed, task)
        return compact(labels), tr("K-means went through the {count} samples in batches.", count=n)
    if n <= DIRECT_LIMIT[options.initial]:
        micro, note = np.arange(n, dtype=np.int32), ""
    else:
        micro, note = _micro_clusters(graph, fpc_labels, k, options, task)
    if micro.max() + 1 <= k:
        return compact(micro), note
    if options.initial == "spectral":
        coarse = _spectral(graph, micro, k, options.seed)
    else:
        coarse = _agglomerative(_centroids(_joined(views), micro), k)
    task.check()
    return compact(coarse[micro]), note


def _joined(views: Sequence[FloatArray]) -> FloatArray:
    tables = [scaled(view.astype(np.float32, copy=False))[0] for view in views]
    if len(tables) == 1:
        return tables[0]
    parts = []
    for view in tables:
        centred = view - view.mean(axis=0, dtype=np.float64)
        spread = float(np.sqrt(np.mean(np.einsum("nd,nd->n", centred, centred))))
        parts.append((centred / (spread or 1.0)).astype(np.float32))
    return np.concatenate(parts, axis=1)


def _kmeans(features: FloatArray, k: int, seed: int, task: Task) -> npt.NDArray[np.integer[Any]]:
    from sklearn.cluster import KMeans, kmeans_plusplus

    rows = np.ascontiguousarray(features).view(np.dtype((np.void, features.strides[0]))).ravel()
    k = min(k, len(np.unique(rows)))  # scikit-learn warns about more clusters than distinct samples
    centres, _ = kmeans_plusplus(features, k, random_state=seed)
    labels = np.zeros(0, np.int32)
    for part in range(_SLICES):  # in slices, to be cancellable
        task.step(part / _SLICES)
        model = KMeans(k, init=centres, n_init=1, max_iter=_SLICE, tol=0.0).fit(features)
        centres, before, labels = model.cluster_centers_, labels, model.labels_
        if np.array_equal(labels, before):
            break
    return labels


def _mini_batch(features: FloatArray, k: int, seed: int, task: Task) -> npt.NDArray[np.integer[Any]]:
    """K-means by batches in random order (Sculley 2010), which can be cancelled between two of them."""
    from sklearn.cluster import MiniBatchKMeans

    n, size = len(features), max(4096, 4 * k)
    rng = np.random.default_rng(seed)
    model = MiniBatchKMeans(k, n_init=1, batch_size=size, random_state=seed)
    batches = [np.sort(part) for _ in range(_PASSES) for part in np.array_split(rng.permutation(n), -(-n // size))]
    for done, rows in enumerate(batches):
        task.step(done / (len(batches) + len(batches) // _PASSES))
        model.partial_fit(features[rows])
    labels = np.empty(n, np.int32)
    for begin in range(0, n, size):
        task.step((_PASSES + begin / n) / (_PASSES + 1))
        labels[begin : begin + size] = model.predict(features[begin : begin + size])
    return labels


def _micro_clusters(
    graph: PairGraph, fpc_labels: IntArray, k: int, options: InitialOptions, task: Task
) -> tuple[IntArray, str]:
    """FPC with lowered log-odds: as fine as `DIRECT_LIMIT` allows, or twice as fine as asked for."""
    best = fpc_labels
    if best.max() + 1 > GROUP_LIMIT[options.initial] and options.initial == "spectral":
        raise InputError(
            tr(
                "{number} groups are too many for the {initial} initial clustering.",
                number=best.max() + 1,
                initial=options.initial,
            ),
            tr("Choose fpc or kmeans instead."),
        )
    for lower in _LOWER:
        finer = fpc(replace(graph, logodds=graph.logodds - np.float32(lower)), options.seed, task)
        if finer.max() + 1 > DIRECT_LIMIT[options.initial]:
            break
        best = finer
        if best.max() + 1 >= 2 * k:
            break
    count = int(best.max()) + 1
    return best, tr(
        "The {initial} clustering worked on {count} micro-clusters of {count2} samples.",
        initial=options.initial,
        count=count,
        count2=graph.n,
    )


def _centroids(features: FloatArray, micro: IntArray) -> FloatArray:
    if len(features) == micro.max() + 1:
        return features
    order = np.argsort(micro, kind="stable")
    sizes = np.bincount(micro)
    sums = np.add.reduceat(features[order], np.concatenate(([0], np.cumsum(sizes)[:-1])), axis=0)
    return np.asarray(sums / sizes[:, None].astype(np.float32), np.float32)


def _agglomerative(points: FloatArray, k: int) -> npt.NDArray[np.integer[Any]]:
    from sklearn.cluster import AgglomerativeClustering

    links = None if len(points) <= GROUP_LIMIT["agglomerative"] else _neighbor_links(points)
    model = AgglomerativeClustering(k, linkage="average", connectivity=links)
    labels: npt.NDArray[np.integer[Any]] = model.fit(points).labels_
    return labels


def _neighbor_links(points: FloatArray) -> Any:
    """Which points may be merged: each with its nearest, in one connected graph."""
    from sklearn.neighbors import kneighbors_graph

    near = kneighbors_graph(points, min(_NEAREST, len(points) - 1))
    return _connected(near.maximum(near.T), 1.0)


def _connected(links: Any, weight: float) -> Any:
    """A symmetric sparse matrix with a link of ``weight`` between the first members of parts that are not linked."""
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    parts, of = connected_components(links, directed=False)
    if parts == 1:
        return links
    first = np.unique(of, return_index=True)[1]
    chain = sparse.coo_array((np.full(parts - 1, weight), (first[:-1], first[1:])), shape=links.shape)
    return links + chain + chain.T


def _spectral(graph: PairGraph, micro: IntArray, k: int, seed: int) -> npt.NDArray[np.integer[Any]]:
    """Normalised cut on p; between micro-clusters the affinities add up, which keeps every cut what it was."""
    from scipy import sparse
    from sklearn.cluster import SpectralClustering

    count = int(micro.max()) + 1
    rows = micro[np.repeat(np.arange(graph.n), np.diff(graph.indptr))]
    columns = micro[graph.indices]
    p = 1.0 / (1.0 + np.exp(-graph.logodds.astype(np.float64)))
    between = rows != columns
    affinity = sparse.coo_array((p[between], (rows[between], columns[between])), shape=(count, count)).tocsr()
    affinity = _connected(affinity, _WEAK_LINK)
    affinity.indices, affinity.indptr = affinity.indices.astype(np.int32), affinity.indptr.astype(np.int32)
    model = SpectralClustering(k, affinity="precomputed", assign_labels="cluster_qr", random_state=seed)
    labels: npt.NDArray[np.integer[Any]] = model.fit(affinity).labels_
    return labels
