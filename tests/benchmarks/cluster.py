"""Stage one on Dask clusters of this computer: ``python -m tests.benchmarks.cluster --samples 50000 --workers 1,2``.

The same face-like data go through stage one in this process, then on clusters of so many workers, each a process of one
thread. Of each run are told: seconds by the clock and of the processor, of this process and of the workers' jobs; which
share of the edges that one computer finds is in the graph; the ARI of the first groups. Of each kind of job: how many
there were, processor seconds, bytes that were written for the workers and that came back. From these
``docs/distributed.md`` reckons larger sizes; ``--blocks`` measures single blocks with the tables of larger sizes.

The clock says little where other programs run. Seconds of the processor depend less on them: with so many workers on an
idle computer the work takes at least *own + jobs / workers*, which is told, too.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from a3s_desktop.core import centres
from a3s_desktop.core.initialization import initialize
from a3s_desktop.core.metrics import ari
from a3s_desktop.core.types import FloatArray, InitialOptions, InitialState, IntArray
from a3s_desktop.distributed.cluster import Traffic, at_work
from a3s_desktop.session.benchmark_data import FACE_WIDTH, face_like
from a3s_desktop.session.scale import _peak
from a3s_desktop.task import Progress, Task


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


@dataclass
class Run:
    """What one run took and found."""

    state: InitialState
    wall: float
    own: float
    stages: list[tuple[str, float, float]]
    traffic: dict[str, Traffic]


@contextlib.contextmanager
def cluster_of(workers: int) -> Iterator[str]:
    """The address of a cluster of so many processes of one thread."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
    ) as cluster:
        yield str(cluster.scheduler_address)


def measured(features: FloatArray, task: Task, marks: list[tuple[str, float, float]]) -> Run:
    """Stage one, with its costs."""
    marks.clear()
    wall, own = time.monotonic(), time.process_time()
    state = initialize([features], InitialOptions().for_strategy("a3s"), task)
    ends = [*marks[1:], ("", time.monotonic(), time.process_time())]
    stages = [(name, b - a, d - c) for (name, a, c), (_, b, d) in zip(marks, ends, strict=True)]
    return Run(state, time.monotonic() - wall, time.process_time() - own, stages, {})


def edges(state: InitialState) -> np.ndarray:
    rows = np.repeat(np.arange(state.graph.n), np.diff(state.graph.indptr))
    return rows * state.graph.n + state.graph.indices


def runs(features: FloatArray, labels: IntArray, counts: list[int], folder: Path) -> None:
    """One computer alone, then each cluster."""
    marks: list[tuple[str, float, float]] = []

    def note(progress: Progress) -> None:
        if not marks or marks[-1][0] != progress.stage:
            marks.append((progress.stage, time.monotonic(), time.process_time()))

    before = _peak(reset=True)
    alone = measured(features, Task(note), marks)
    say(f"peak memory of one computer alone: {(_peak() - before) * 2**30 / len(features):,.0f} bytes a sample")
    tell("alone", alone, alone, labels, 0)
    for count in counts:
        task = Task(note)
        before = _peak(reset=True)
        with cluster_of(count) as address, at_work(address, folder, task) as runner:
            found = measured(features, task, marks)
            found.traffic.update(runner.traffic)
        tell(f"{count} workers", found, alone, labels, count)
        say(f"  peak memory of this process: {(_peak() - before) * 2**30 / len(features):,.0f} bytes a sample")


def tell(name: str, run: Run, alone: Run, labels: IntArray, workers: int) -> None:
    jobs = sum(counts.seconds for counts in run.traffic.values())
    recall = np.isin(edges(alone.state), edges(run.state)).mean()
    say(
        f"{name}: clock {run.wall:.1f} s, processor: own {run.own:.1f} s, jobs {jobs:.1f} s",
    )
    if workers:
        say(f"  at least {run.own + jobs / workers:.1f} s; the jobs by the clock {clock(run):.1f} s")
    same = all(np.array_equal(mine, run.state.arrays()[key]) for key, mine in alone.state.arrays().items())
    say(f"  edges found {recall:.4f}, identical: {same}; ARI {ari(run.state.labels, labels):.4f}")
    for stage, wall, own in run.stages:
        say(f"  {stage:<45} clock {wall:7.2f} s, own processor {own:7.2f} s")
    n = len(labels)
    for kind, one in run.traffic.items():
        say(
            f"  {kind:<16} {one.jobs:6,} jobs, {one.seconds:7.2f} s, {one.seconds / one.jobs * 1e3:7.1f} ms each, "
            f"written {one.written / n:7.1f}, returned {one.returned / n:7.1f} bytes a sample"
        )


def clock(run: Run) -> float:
    return sum(counts.clock for counts in run.traffic.values())


def blocks() -> None:
    """What a block of rows costs where the tables have the sizes of very many samples, with one thread."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((8192, FACE_WIDTH), np.float32)
    with threadpool_limits(1, user_api="blas"):
        for samples in (100_000, 1_000_000, 10_000_000):
            table = rng.standard_normal((samples // centres.PER_CENTRE, FACE_WIDTH), np.float32)
            begun = time.process_time()
            finder = centres.CentreFinder(table, Task(), 0.0)
            made = time.process_time()
            finder.nearest(rows, 3)
            took = time.process_time() - made
            say(f"{samples:11,} samples: grouping the centres {made - begun:7.2f} s; `_look` {took:6.2f} s a block")
    for samples in (1_000_000, 10_000_000, 100_000_000):
        some = sparse.csr_matrix((np.ones(4096, np.float32), np.arange(4096), np.arange(4097)), (4096, samples))
        starts = np.minimum(np.arange(samples + 1), 4096).astype(np.int32)
        all_rows = sparse.csr_matrix((np.ones(4096, np.float32), np.arange(4096), starts), (samples, samples))
        begun = time.process_time()
        some @ all_rows
        took = time.process_time() - begun
        say(f"{samples:11,} samples: a sparse product of `_weighed`, without its entries {took * 1e3:7.1f} ms a block")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=50_000)
    parser.add_argument("--kind", choices=("easy", "hard"), default="easy")
    parser.add_argument("--workers", default="1,2", help="sizes of the clusters, separated by commas")
    parser.add_argument("--blocks", action="store_true", help="measure single blocks at larger sizes instead")
    given = parser.parse_args()
    if given.blocks:
        blocks()
        return
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "faces.npy"
        table = np.lib.format.open_memmap(path, "w+", np.float32, (given.samples, FACE_WIDTH))
        _, labels = face_like(given.samples, given.kind, out=table)
        table.flush()
        del table
        features = np.load(path, mmap_mode="r", allow_pickle=False)
        runs(features, labels, [int(count) for count in given.workers.split(",")], Path(place))


if __name__ == "__main__":
    main()
