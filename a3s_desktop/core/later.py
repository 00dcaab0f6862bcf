"""Samples that come later: neighbour lists and graph are brought up to date, nothing old is searched again.

The lists of the old samples are in the old graph: each sample's own list are the nearest of its edges. A new sample
searches all others; an old one looks at the new ones only. The lists are those that a search from the beginning would
give; the cost is the number of new samples times the number of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.calibration import calibrate
from a3s_desktop.core.initialization import refined_graph
from a3s_desktop.core.neighbors import (
    NearestFinder,
    block_rows,
    nearest_neighbors,
    normalise,
    pair_distances,
    scaled,
    unscaled,
)
from a3s_desktop.core.types import FloatArray, InitialOptions, IntArray, PairGraph
from a3s_desktop.core.views import fuse, union_edges
from a3s_desktop.i18n import tr
from a3s_desktop.task import Task


def listed_neighbors(graph: PairGraph, k: int) -> list[tuple[IntArray, FloatArray]]:
    """The neighbour lists that a graph was made from, for each view: indices and distances, both (N, k)."""
    rows = np.repeat(np.arange(graph.n), np.diff(graph.indptr))
    found = []
    for distances in graph.distances:
        order = np.lexsort((graph.indices, distances, rows))
        chosen = order[graph.indptr[:-1, None] + np.arange(k)]
        found.append((graph.indices[chosen].astype(np.int32), np.asarray(distances[chosen], np.float32)))
    return found


def extended_neighbors(
    known: tuple[IntArray, FloatArray], features: FloatArray, k: int, task: Task
) -> tuple[IntArray, FloatArray]:
    """Neighbour lists of all samples, of which the first were listed before.

    Parameters
    ----------
    known : (int32, float32), both of shape (N_old, k_old)
        Lists and distances of the old samples among themselves, as `nearest_neighbors` gives them.
    features : float32, shape (N, D)
        Of all samples, the old ones first.
    k : int
        Neighbours wanted; lowered to ``N - 1``. ``k_old`` may only be less where there were no more samples.
    task : Task

    Returns
    -------
    indices, distances : int32 and float32, both of shape (N, k)
        What `nearest_neighbors` gives for ``features``.
    """
    old, n = len(known[0]), len(features)
    k = min(k, n - 1)
    if old == n:
        return known
    new = nearest_neighbors(features, k, task, start=old)
    points, factor = scaled(features)
    finder = NearestFinder(points[old:], points[old:].mean(axis=0, dtype=np.float64).astype(np.float32))
    indices, distances = np.empty((old, k), np.int32), np.empty((old, k), np.float32)
    step = block_rows(n - old, features.shape[1])
    for a in range(0, old, step):
        task.step(a / old)
        b = min(a + step, old)
        rows, columns = finder.candidates(points[a:b], min(k, n - old))
        far = unscaled(pair_distances(points, rows + a, points, columns + old), factor)
        if known[0].shape[1] == k:  # most new samples are too far away
            near = far <= known[1][a:b, -1][rows]
            rows, columns, far = rows[near], columns[near], far[near]
        rows = np.concatenate((np.repeat(np.arange(b - a), known[0].shape[1]), rows))
        columns = np.concatenate((known[0][a:b].ravel(), columns + old))
        far = np.concatenate((known[1][a:b].ravel(), far))
        order = np.lexsort((columns, far, rows))
        chosen = order[np.searchsorted(rows[order], np.arange(b - a))[:, None] + np.arange(k)]
        indices[a:b], distances[a:b] = columns[chosen], far[chosen]
    return np.concatenate((indices, new[0])), np.concatenate((distances, new[1]))


def stage_count(views: int, refined: bool) -> int:
    """How many stages `extended_graph` will report, for `Task.plan`."""
    return views + 1 + (views if refined else 0)


def extended_graph(
    graph: PairGraph,
    views: Sequence[npt.NDArray[Any]],
    labels: IntArray,
    options: InitialOptions,
    task: Task,
) -> PairGraph:
    """The graph with more samples.

    The curve from distance to probability is learnt anew, from the clusters as they are now: they know more than the
    pseudo labels of the beginning.

    Parameters
    ----------
    graph : PairGraph
        Of the old samples.
    views : sequence of arrays, each of shape (N, D_v)
        Features of all samples, the old ones first and as they were.
    labels : int32, shape (N_old,)
        Clusters of the old samples, ids >= 0.
    options : InitialOptions
        Those that the graph was made with.
    task : Task
        Gets `stage_count` stages.

    Raises
    ------
    Cancelled
        The user cancelled the task.
    """
    old, n = graph.n, len(views[0])
    tables = [normalise(view, options.normalisation) for view in views]
    neighbors: list[IntArray] = []
    distances: list[FloatArray] = []
    for known, table in zip(listed_neighbors(graph, min(options.neighbors, old - 1)), tables, strict=True):
        task.stage(tr("Comparing the new images"))
        found, far = extended_neighbors(known, table, options.neighbors, task)
        neighbors.append(found)
        distances.append(far)
    task.stage(tr("Linking images"))
    edges = union_edges(neighbors, distances, tables, task)
    classes = np.full(n, -1, np.int32)
    classes[:old] = labels
    if graph.similarity is not None:
        return refined_graph(edges, neighbors, distances, tables, [classes] * len(views), options.weights, task)[0]
    calibrations = [calibrate(*listing, classes) for listing in zip(distances, neighbors, strict=True)]
    return fuse(edges, calibrations, [far[:, -1] for far in distances], options.weights)
