"""Stage one from end to end: real data, options, degenerate data, determinism, memory, cancellation."""

from __future__ import annotations

import threading
import time
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from a3s_desktop.core import initial_clusterings
from a3s_desktop.core.initial_clusterings import DIRECT_LIMIT, GROUP_LIMIT, number_of_clusters
from a3s_desktop.core.initialization import initialize, stage_count
from a3s_desktop.core.metrics import evaluate
from a3s_desktop.core.types import INITIAL_CLUSTERINGS, InitialOptions, InitialState
from a3s_desktop.errors import Cancelled, InputError
from a3s_desktop.task import Progress, Task


def blobs(n: int, k: int, d: int, spread: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    classes = np.arange(n) % k
    return (rng.normal(size=(k, d))[classes] + spread * rng.normal(size=(n, d))).astype(np.float32), classes


def check_whole(state: InitialState, n: int) -> None:
    """What every result must be, whatever the data."""
    graph = state.graph
    assert state.labels.shape == (n,)
    assert state.labels.dtype == np.int32
    assert np.array_equal(np.unique(state.labels), np.arange(state.labels.max() + 1))
    assert graph.n == n
    assert graph.distances.shape[1] == len(graph.indices) == len(graph.logodds) == graph.indptr[-1]
    assert (graph.indptr.dtype, graph.indices.dtype, graph.logodds.dtype) == (np.int64, np.int32, np.float32)
    assert np.isfinite(graph.logodds).all()
    assert np.isfinite(graph.distances).all()
    assert graph.miss <= -0.5
    rows = np.repeat(np.arange(n), np.diff(graph.indptr))
    assert (rows != graph.indices).all()
    keys = rows * n + graph.indices
    assert (np.diff(keys) > 0).all()
    back = np.searchsorted(keys, graph.indices.astype(np.int64) * n + rows)
    assert np.array_equal(keys[back], graph.indices.astype(np.int64) * n + rows)
    assert np.array_equal(graph.logodds, graph.logodds[back])


def same(left: InitialState, right: InitialState) -> bool:
    ours, theirs = left.arrays(), right.arrays()
    return left.meta() == right.meta() and all(np.array_equal(ours[name], theirs[name]) for name in ours)


@pytest.mark.parametrize(
    ("name", "k0", "nmi", "ari", "purity"),
    [("mk100", 100, 0.80, 0.29, 0.89), ("mk100", None, 0.83, 0.44, 0.83), ("mk20", 20, 0.82, 0.56, 0.96)],
)
def test_real_data(shared_data: Path, name: str, k0: int | None, nmi: float, ari: float, purity: float) -> None:
    """Not below the authors' own start (algorithm.md, table, 0 queries: .810/.293/.905 and .828/.581/.980)."""
    features = np.load(shared_data / name / "features.npy")
    classes = np.load(shared_data / name / "labels.npy")
    measured = []
    for seed in range(3):
        state = initialize([features], InitialOptions(pseudo_labels=k0, seed=seed), Task())
        check_whole(state, len(features))
        found = evaluate(state.labels, classes)
        measured.append((found.nmi, found.ari, found.purity))
    assert (np.mean(measured, axis=0) >= (nmi, ari, purity)).all(), measured


@pytest.mark.parametrize("views", [1, 2])
@pytest.mark.parametrize("initial", INITIAL_CLUSTERINGS)
def test_every_initial_clustering_finds_clear_classes(initial: str, views: int) -> None:
    features, classes = blobs(240, 8, 6, 0.05)
    tables = [features, blobs(240, 8, 4, 0.05, seed=1)[0] * 100][:views]
    state = initialize(tables, InitialOptions(initial=initial, pseudo_labels=8), Task())  # type: ignore[arg-type]
    check_whole(state, 240)
    assert evaluate(state.labels, classes).ari == 1.0
    assert state.graph.distances.shape[0] == views
    assert state.report["note"] == ""
    assert state.report["clusters"] == 8


@pytest.mark.parametrize("initial", ["kmeans", "spectral", "agglomerative"])
def test_number_of_clusters_times_ratio(initial: str) -> None:
    features, _ = blobs(240, 8, 6, 0.05)
    options = InitialOptions(initial=initial, pseudo_labels=8, ratio=1.5)  # type: ignore[arg-type]
    assert len(np.unique(initialize([features], options, Task()).labels)) == 12


def test_fpc_number_does_not_count_singletons() -> None:
    assert number_of_clusters(np.array([0, 0, 1, 2, 2, 3], np.int32), 1.0) == 2
    assert number_of_clusters(np.array([0, 0, 1, 2, 2, 3], np.int32), 100.0) == 6
    assert number_of_clusters(np.arange(4, dtype=np.int32), 1.0) == 4
    assert number_of_clusters(np.zeros(4, np.int32), 0.01) == 1


@pytest.mark.parametrize("initial", ["spectral", "agglomerative"])
def test_micro_clusters_beyond_the_direct_limit(initial: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DIRECT_LIMIT, initial, 150)
    features, classes = blobs(400, 10, 8, 0.25)
    state = initialize([features], InitialOptions(initial=initial, pseudo_labels=20), Task())  # type: ignore[arg-type]
    check_whole(state, 400)
    assert "micro-clusters of 400 samples" in state.report["note"]
    assert evaluate(state.labels, classes).nmi > 0.7


def test_more_groups_than_can_be_compared_all_with_all(monkeypatch: pytest.MonkeyPatch) -> None:
    for initial in ("spectral", "agglomerative"):
        monkeypatch.setitem(DIRECT_LIMIT, initial, 150)
        monkeypatch.setitem(GROUP_LIMIT, initial, 2)
    features, classes = blobs(400, 10, 8, 0.05)
    with pytest.raises(InputError, match="too many"):
        initialize([features], InitialOptions(initial="spectral", pseudo_labels=20), Task())
    state = initialize([features], InitialOptions(initial="agglomerative", pseudo_labels=20, ratio=0.5), Task())
    check_whole(state, 400)
    assert "micro-clusters of 400 samples" in state.report["note"]
    assert 1 < len(np.unique(state.labels)) < 10  # fewer groups than classes: classes are merged, none is cut
    assert all(len(np.unique(state.labels[classes == c])) == 1 for c in range(10))


def test_many_samples_go_through_k_means_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(initial_clusterings, "MINI_BATCH_FROM", 300)
    features, classes = blobs(1200, 24, 6, 0.05)
    options = InitialOptions(initial="kmeans", pseudo_labels=24)
    state = initialize([features], options, Task())
    check_whole(state, 1200)
    assert "in batches" in state.report["note"]
    assert evaluate(state.labels, classes).nmi > 0.95
    assert np.array_equal(initialize([features], options, Task()).labels, state.labels)

    seen: list[float] = []

    def stop_inside(progress: Progress) -> None:
        if progress.stage.endswith("kmeans clustering"):
            seen.append(progress.fraction)
            if progress.fraction > 0.3:
                task.cancel()

    task = Task(stop_inside, min_interval=0.0)
    with pytest.raises(Cancelled):
        initialize([features], options, task)
    assert 0.3 < seen[-1] < 0.7


DEGENERATE = {
    "two samples": np.array([[0.0, 1.0], [1.0, 0.0]]),
    "three samples": np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.1]]),
    "fewer samples than neighbours": np.random.default_rng(0).normal(size=(20, 3)),
    "all equal": np.ones((70, 4)),
    "all zero": np.zeros((70, 4)),
    "each twice": np.repeat(np.random.default_rng(1).normal(size=(60, 5)), 2, axis=0),
    "all equally far": np.eye(64),
    "two points many times": np.repeat(np.eye(2), 80, axis=0),
    "one dimension": np.arange(90.0)[:, None],
    "one far away": np.concatenate((np.random.default_rng(2).normal(size=(80, 3)), np.full((1, 3), 1e9))),
    "huge": np.random.default_rng(3).normal(size=(80, 3)) * 1e30,
    "tiny": np.random.default_rng(4).normal(size=(80, 3)) * 1e-30,
}


@pytest.mark.parametrize("k0", [None, 1, 10**6])
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_data(name: str, k0: int | None) -> None:
    """``k0`` = 1: all pseudo labels equal; ``k0`` = N: all different."""
    features = DEGENERATE[name]
    check_whole(initialize([features], InitialOptions(pseudo_labels=k0), Task()), len(features))


@pytest.mark.parametrize("initial", ["kmeans", "spectral", "agglomerative"])
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_data_with_other_clusterings(name: str, initial: str) -> None:
    features = DEGENERATE[name]
    options = InitialOptions(initial=initial)  # type: ignore[arg-type]
    check_whole(initialize([features], options, Task()), len(features))


def test_the_number_of_threads_does_not_matter() -> None:
    features, _ = blobs(1500, 60, 48, 0.8)
    results = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            results.append(initialize([features, features[:, :10]], InitialOptions(seed=7), Task()))
    assert same(results[0], results[1])
    assert same(results[0], initialize([features, features[:, :10]], InitialOptions(seed=7), Task()))


def test_state_survives_storage() -> None:
    state = initialize([blobs(50, 5, 3, 0.1)[0]], InitialOptions(), Task())
    assert same(state, InitialState.from_arrays(state.arrays(), state.meta()))


@pytest.mark.parametrize(("refine", "regroup"), [(None, True), (True, True), (True, False)])
@pytest.mark.parametrize("initial", ["fpc", "kmeans"])
def test_reports_its_stages(initial: str, refine: bool | None, regroup: bool) -> None:
    seen: list[Progress] = []
    task = Task(seen.append, min_interval=0.0)
    options = InitialOptions(initial=initial, refine=refine, regroup=regroup)  # type: ignore[arg-type]
    views = [blobs(200, 5, 3, 0.1)[0], blobs(200, 5, 4, 0.1)[0]]
    task.plan(stage_count(2, options))
    initialize(views, options, task)
    assert [progress.index for progress in seen] == sorted(progress.index for progress in seen)
    assert seen[-1].index == seen[-1].count - 1
    assert seen[0].stage == "Comparing images (features 1 of 2)"


def test_no_table_of_all_pairs() -> None:
    n = 6000
    features = np.random.default_rng(0).normal(size=(n, 8)).astype(np.float32)
    tracemalloc.start()
    try:
        initialize([features], InitialOptions(neighbors=10), Task())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < n * n * 2


def test_cancelled_soon_at_any_moment() -> None:
    """Ten moments over the run; the bound is loose because tests share the machine."""
    features = np.random.default_rng(0).normal(size=(4000, 64)).astype(np.float32)
    began = time.perf_counter()
    initialize([features], InitialOptions(), Task())
    whole = time.perf_counter() - began
    waits = []
    for moment in np.linspace(0.0, 0.9, 10):
        task = Task()
        cancelled_at: list[float] = []

        def cancel(task: Task = task, at: list[float] = cancelled_at) -> None:
            at.append(time.perf_counter())
            task.cancel()

        timer = threading.Timer(moment * whole, cancel)
        timer.start()
        try:
            initialize([features], InitialOptions(), task)
        except Cancelled:
            waits.append(time.perf_counter() - cancelled_at[0])
        finally:
            timer.join()
    assert len(waits) >= 5
    assert np.median(waits) < 0.2
    assert max(waits) < 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (replace(InitialOptions(), neighbors=0), "neighbours"),
        (replace(InitialOptions(), pseudo_labels=0), "pseudo labels"),
        (replace(InitialOptions(), ratio=0.0), "ratio"),
        (replace(InitialOptions(), ratio=float("nan")), "ratio"),
        (replace(InitialOptions(), initial="dbscan"), "no initial clustering"),  # type: ignore[arg-type]
    ],
)
def test_bad_options(options: InitialOptions, message: str) -> None:
    with pytest.raises(InputError, match=message):
        initialize([np.eye(5)], options, Task())


def test_bad_views() -> None:
    with pytest.raises(InputError, match="No features"):
        initialize([], InitialOptions(), Task())
    with pytest.raises(InputError, match="different numbers of rows: 4, 5"):
        initialize([np.eye(5), np.eye(4)], InitialOptions(), Task())
    with pytest.raises(InputError, match="At least two"):
        initialize([np.ones((1, 3))], InitialOptions(), Task())


def test_a_view_of_little_weight_counts_little() -> None:
    good, classes = blobs(200, 8, 6, 0.2)
    noise = np.random.default_rng(9).normal(size=(200, 6)).astype(np.float32)

    def ari(*weights: float) -> float:
        state = initialize([good, noise], InitialOptions(refine=False, weights=weights), Task())
        return evaluate(state.labels, classes).ari

    assert ari(1.0, 0.05) > ari(1.0, 1.0) > ari(0.05, 1.0)
    even = initialize([good, noise], InitialOptions(refine=True, weights=(1.0, 1.0)), Task())
    plain = initialize([good, noise], InitialOptions(refine=True), Task())
    assert (even.labels == plain.labels).all()
    assert even.graph.logodds == pytest.approx(plain.graph.logodds)


@pytest.mark.parametrize("weights", [(1.0,), (1.0, 0.0), (1.0, float("nan")), (1.0, 2.0, 3.0)])
def test_bad_weights(weights: tuple[float, ...]) -> None:
    views = [blobs(20, 2, 3, 0.1)[0]] * 2
    with pytest.raises(InputError, match="weight"):
        initialize(views, InitialOptions(weights=weights), Task())


def test_weights_survive_json() -> None:
    options = InitialOptions(weights=(1.0, 0.5))
    assert InitialOptions.from_json(options.to_json()) == options
