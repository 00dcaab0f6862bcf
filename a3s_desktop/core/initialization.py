"""Stage one of A3S: neighbour graph, pairwise probability, initial clustering (paper: adaptive initialization)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.calibration import Calibration, calibrate, default_pseudo_labels, isotonic, pseudo_labels
from a3s_desktop.core.fpc import fpc
from a3s_desktop.core.initial_clusterings import initial_clustering
from a3s_desktop.core.inverted_index import EXACT_UP_TO, approximate_neighbors
from a3s_desktop.core.neighbors import has_unit_norm, nearest_neighbors, normalise, scaled, unscaled
from a3s_desktop.core.refinement import jaccard_similarity
from a3s_desktop.core.regrouping import KEPT, KEPT_OF_A_NUMBER, regroup
from a3s_desktop.core.types import INITIAL_CLUSTERINGS, FloatArray, InitialOptions, InitialState, IntArray, PairGraph
from a3s_desktop.core.views import Edges, fuse, union_edges
from a3s_desktop.errors import InputError
from a3s_desktop.i18n import tr
from a3s_desktop.memory import give_back
from a3s_desktop.task import Task

Arrays = dict[str, npt.NDArray[Any]]
Keep = Callable[[str, Callable[[], Arrays]], Arrays]
"""Gives the arrays of a step by its name: those that were kept, or else what the work returns, which it may keep."""

CAUTION = 0.15
"""Taken off the log-odds of the refined graph; see `refined_graph`."""

_NEAREST = 10  # neighbours by which pseudo labels are judged
_AGREEING = 0.7  # share of them with the same label that is enough


def stage_count(views: int, options: InitialOptions) -> int:
    """How many stages `initialize` will report, for `Task.plan`."""
    return (
        2 * views
        + 2
        + (views if options.refine else 0)
        + bool(options.refine and options.regroup)
        + (options.initial != "fpc")
    )


def initialize(
    views: Sequence[npt.NDArray[Any]], options: InitialOptions, task: Task, keep: Keep | None = None
) -> InitialState:
    """Stage one: from features to an initial clustering and the graph of pairwise probabilities.

    The result depends on features, options and seed alone, not on the number of threads (see `nearest_neighbors` and
    `pseudo_labels`; sums that decide are made in a fixed order).

    Parameters
    ----------
    views : sequence of arrays, each of shape (N, D_v)
        One or more feature sets of the same samples, rows aligned; may be memory-mapped.
    options : InitialOptions
    task : Task
        Gets `stage_count` stages.
    keep : callable, optional
        Keeps the result of each step, so that interrupted work resumes after the last one that was finished; see
        `Keep`. It must know the steps of these views and options from others.

    Returns
    -------
    InitialState

    Raises
    ------
    InputError
        No view, views of different length, fewer than two samples, or options out of range.
    Cancelled
        The user cancelled the task.
    """
    _check(views, options)
    n = len(views[0])
    k0 = min(options.pseudo_labels or default_pseudo_labels(n), n)
    tables = [normalise(view, options.normalisation, half=n > EXACT_UP_TO) for view in views]
    keep = keep or _forget
    graph, ranges, recalls = _pair_graph(tables, options, k0, task, keep)
    give_back()
    task.stage(tr("Grouping images"))
    labels = keep("grouped", lambda: {"labels": fpc(graph, options.seed, task)})["labels"]
    note = ""
    if options.initial != "fpc":
        task.stage(tr("Grouping images by {initial} clustering", initial=options.initial))
        before = labels
        found = keep("begun", lambda: _begun(*initial_clustering(tables, graph, before, options, task)))
        labels, note = found["labels"], str(found["note"])
    if options.refine and options.regroup:
        give_back()
        task.stage(tr("Grouping images once more"))
        labels = regroup(graph, labels, task, KEPT if options.initial == "fpc" else KEPT_OF_A_NUMBER)
    sizes = np.bincount(labels)
    report = {
        "samples": n,
        "dimensions": [table.shape[1] for table in tables],
        "unit_norm": [has_unit_norm(table) for table in tables],
        "neighbors": min(options.neighbors, n - 1),
        "recall": recalls,  # of the neighbours, measured on a sample; 1 where the search was exact
        "pseudo_labels": k0,
        "edges": len(graph.indices) // 2,
        "miss": graph.miss,
        "probability_range": ranges,
        "initial": options.initial,
        "note": note,
        "clusters": int(np.count_nonzero(sizes > 1)),
        "singletons": int(np.count_nonzero(sizes == 1)),
    }
    return InitialState(labels, graph, report)


def _forget(_name: str, work: Callable[[], Arrays]) -> Arrays:
    return work()


def _begun(labels: IntArray, note: str) -> Arrays:
    return {"labels": labels, "note": np.array(note)}


def _check(views: Sequence[npt.NDArray[Any]], options: InitialOptions) -> None:
    if not views:
        raise InputError(tr("No features were given."))
    lengths = {len(view) for view in views}
    if len(lengths) > 1:
        raise InputError(
            tr("The feature sets have different numbers of rows: {value}.", value=", ".join(map(str, sorted(lengths))))
        )
    if len(views[0]) < 2:
        raise InputError(tr("At least two images are needed to compare them."))
    if options.initial not in INITIAL_CLUSTERINGS:
        raise InputError(
            tr(
                "{initial} is no initial clustering; choose one of {value}.",
                initial=repr(options.initial),
                value=", ".join(INITIAL_CLUSTERINGS),
            )
        )
    if options.weights and len(options.weights) != len(views):
        raise InputError(
            tr(
                "There are {count} weights for {count2} feature files; give one for each.",
                count=len(options.weights),
                count2=len(views),
            )
        )
    if not all(0.0 < weight < float("inf") for weight in options.weights):
        raise InputError(tr("The weight of a feature file must be a number above 0."))
    if options.neighbors < 1:
        raise InputError(
            tr("The number of neighbours must be at least 1, not {neighbors}.", neighbors=options.neighbors)
        )
    if options.pseudo_labels is not None and options.pseudo_labels < 1:
        raise InputError(
            tr(
                "The number of pseudo labels must be at least 1, not {pseudo_labels}.",
                pseudo_labels=options.pseudo_labels,
            )
        )
    if not options.ratio > 0.0:
        raise InputError(tr("The ratio of clusters must be above 0, not {ratio}.", ratio=options.ratio))


def _pair_graph(
    tables: list[FloatArray], options: InitialOptions, k0: int, task: Task, keep: Keep
) -> tuple[PairGraph, list[list[float]], list[float]]:
    """The graph, least and greatest probability in each view, and each view's share of true neighbours found."""
    neighbors: list[IntArray] = []
    distances: list[FloatArray] = []
    pseudo: list[IntArray] = []
    recalls: list[float] = []
    for view, table in enumerate(tables):
        which = f" (features {view + 1} of {len(tables)})" if len(tables) > 1 else ""
        task.stage(tr("Comparing images{which}", which=which))
        name = f"compared-{view}"
        found = keep(name, partial(_compared, table, options, task, partial(_kept_below, keep, name)))
        recalls.append(float(found["recall"]) if "recall" in found else 1.0)
        neighbors.append(found["neighbors"])
        distances.append(found["distances"])
        task.stage(tr("Learning which distances mean the same{which}", which=which))
        cells = found.get("cells") if options.pseudo_labels is None else None
        found = keep(f"learnt-{view}", partial(_learnt, table, k0, options.seed, task, neighbors[-1], cells))
        pseudo.append(found["pseudo"])
    task.stage(tr("Linking images"))
    edges = Edges(**keep("linked", lambda: union_edges(neighbors, distances, tables, task)._asdict()))
    task.step(0.95)

    def weighed() -> Arrays:
        if options.refine:
            graph, curves = refined_graph(edges, neighbors, distances, tables, pseudo, options.weights, task)
        else:
            curves = [calibrate(*listing) for listing in zip(distances, neighbors, pseudo, strict=True)]
            graph = fuse(edges, curves, [far[:, -1] for far in distances], options.weights)
        ranges = [[curve.probabilities[-1], curve.probabilities[0]] for curve in curves]
        more = {} if graph.similarity is None else {"similarity": graph.similarity}
        return {"logodds": graph.logodds, "miss": np.array(graph.miss), "ranges": np.array(ranges, np.float64), **more}

    # The edges' distances are those of the features, refined or not.
    found = keep("weighed", weighed)
    graph = PairGraph(*edges, found["logodds"], float(found["miss"]), found.get("similarity"))
    return graph, found["ranges"].tolist(), recalls


def _kept_below(keep: Keep, name: str, part: str, work: Callable[[], Arrays]) -> Arrays:
    return keep(f"{name}-{part}", work)


def _compared(table: FloatArray, options: InitialOptions, task: Task, keep: Keep) -> Arrays:
    if len(table) <= EXACT_UP_TO:
        listed, far = nearest_neighbors(table, options.neighbors, task)
        return {"neighbors": listed, "distances": far}
    points, factor = scaled(table)
    listed, far, recall, cells = approximate_neighbors(points, options.neighbors, options.seed, task, keep)
    return {"neighbors": listed, "distances": unscaled(far, factor), "recall": np.array(recall), "cells": cells}


def _learnt(
    table: FloatArray, count: int, seed: int, task: Task, neighbors: IntArray, cells: IntArray | None
) -> Arrays:
    """Pseudo labels: those of K-means, or the cells of the search where they fit the identities better.

    With many identities 1.5 sqrt(N) centres mix them, and half of the nearest neighbours have other labels though they
    are the same; cells are finer. With few, cells take identities apart. The labels with which more of the nearest
    neighbours agree are taken, without K-means where most agree already.
    """
    if cells is None:
        return {"pseudo": pseudo_labels(table, count, seed, task)}
    agreeing = _agreement(neighbors, cells)
    if agreeing >= _AGREEING:
        return {"pseudo": cells}
    labels = pseudo_labels(table, count, seed, task)
    return {"pseudo": labels if _agreement(neighbors, labels) > agreeing else cells}


def _agreement(neighbors: IntArray, labels: IntArray) -> float:
    return float(np.mean(labels[neighbors[:, :_NEAREST]] == labels[:, None]))


def _position(edges: Edges, columns: IntArray) -> npt.NDArray[np.int64]:
    """Where the edge from each sample to one other stands, int64 (N,); columns ascend within each row."""
    n = len(columns)
    keys = np.repeat(np.arange(n, dtype=np.int64) * n, np.diff(edges.indptr))
    keys += edges.indices
    return np.searchsorted(keys, np.arange(n, dtype=np.int64) * n + columns)


def refined_graph(
    edges: Edges,
    neighbors: list[IntArray],
    distances: list[FloatArray],
    tables: list[FloatArray],
    pseudo: list[IntArray],
    weights: Sequence[float],
    task: Task,
) -> tuple[PairGraph, list[Calibration]]:
    """The graph with the neighbourhoods' Jaccard index in the place of the distance.

    The log-odds are lowered by `CAUTION`: a group that is too small costs one answer to join, a group that mixes two
    identities costs several to take apart.
    """
    last = [_position(edges, neighbors[view][:, -1]) for view in range(len(tables))]
    apart = np.empty_like(edges.distances)
    calibrations, farthest = [], []
    for view, table in enumerate(tables):
        task.stage(tr("Comparing neighbourhoods"))
        apart[view] = 1.0 - jaccard_similarity(
            neighbors[view], distances[view], table, edges.indptr, edges.indices, task
        )
        left = np.repeat(pseudo[view], np.diff(edges.indptr))
        right = pseudo[view][edges.indices]
        known = (left >= 0) & (right >= 0)
        calibrations.append(isotonic(apart[view][known], (left == right)[known]))
        farthest.append(apart[view][last[view]])
    graph = fuse(edges._replace(distances=apart), calibrations, farthest, weights)
    distance = np.average(apart, axis=0, weights=weights).astype(np.float32) if weights else apart.mean(axis=0)
    graph = replace(
        graph,
        distances=edges.distances,
        logodds=graph.logodds - np.float32(CAUTION),
        miss=graph.miss - CAUTION,
        similarity=1.0 - distance,
    )
    return graph, calibrations
