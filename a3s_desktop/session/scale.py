"""The benchmark of size: stage one on face-like data of growing size, against exact neighbours by BLAS in the same run.

Each size and kind is run in a process of its own, so that its peak memory can be told; the data lie in a file that is
memory-mapped. Exact search is measured on some blocks of rows right before stage one, and reckoned for all rows.
"""

from __future__ import annotations

import json
import math
import multiprocessing
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from a3s_desktop.core.initialization import initialize
from a3s_desktop.core.metrics import ari, nmi
from a3s_desktop.core.neighbors import block_rows
from a3s_desktop.core.types import FloatArray, InitialOptions
from a3s_desktop.session.benchmark_data import FACE_WIDTH, face_like
from a3s_desktop.storage import files
from a3s_desktop.task import Progress, Task

REPORT = "scale.json"
_BLOCKS = 12  # of exact search, measured
_NEIGHBOURS = 50


@dataclass(frozen=True, slots=True)
class ScaleRow:
    """What one run of stage one took. Times are wall seconds, ``cpu`` processor seconds, memory GiB.

    ``exact`` is what exact neighbours by BLAS would take; ``memory`` is the peak above that before stage one, without
    the pages of the features file.
    """

    samples: int
    kind: str
    classes: int
    exact: float
    wall: float
    cpu: float
    memory: float
    nmi: float
    ari: float
    recall: float
    clusters: int
    singletons: int
    stages: tuple[tuple[str, float], ...]


def run_scale(sizes: Sequence[int], kinds: Sequence[str], out: Path, tell: Callable[[str], None]) -> list[ScaleRow]:
    """Run stage one for every size and kind, tell each row of the table, and write all to ``out``.

    Raises
    ------
    InputError, StorageFailedError
    """
    files.make_folders(out)
    context = multiprocessing.get_context("spawn")
    rows: list[ScaleRow] = []
    tell(_HEAD)
    with files.scratch_folder() as folder:
        for kind in kinds:
            for samples in sorted(sizes):
                with context.Pool(1) as pool:
                    row: ScaleRow = pool.apply(measure, (samples, kind, Path(folder)))
                rows.append(row)
                tell(row_text(rows[-1]))
                files.atomic_write_text(out / REPORT, json.dumps([asdict(row) for row in rows], indent=1))
            if (slope := growth([row for row in rows if row.kind == kind])) is not None:
                tell(f"{kind}: stage one grows as N^{slope[0]:.2f}, memory as N^{slope[1]:.2f}")
    return rows


def growth(rows: Sequence[ScaleRow]) -> tuple[float, float] | None:
    """Exponents of wall time and memory from the smallest to the largest size; None with one size."""
    low, high = min(rows, key=lambda row: row.samples), max(rows, key=lambda row: row.samples)
    if low.samples == high.samples:
        return None
    span = math.log(high.samples / low.samples)
    return math.log(high.wall / low.wall) / span, math.log(max(high.memory, 1e-3) / max(low.memory, 1e-3)) / span


def measure(samples: int, kind: str, folder: Path) -> ScaleRow:
    """Make the data, measure exact search on some blocks, then run stage one of ``a3s``."""
    place = folder / f"scale-{kind}-{samples}.npy"
    table = np.lib.format.open_memmap(place, "w+", np.float32, (samples, FACE_WIDTH))
    _, labels = face_like(samples, kind, out=table)
    table.flush()
    del table
    features = np.load(place, mmap_mode="r", allow_pickle=False)
    exact = _exact_seconds(features)
    marks: list[tuple[str, float]] = []

    def note(progress: Progress) -> None:
        if not marks or marks[-1][0] != progress.stage:
            marks.append((progress.stage, time.monotonic()))

    before = _peak(reset=True)
    wall, cpu = time.monotonic(), time.process_time()
    state = initialize([features], InitialOptions().for_strategy("a3s"), Task(note))
    end = time.monotonic()
    peak = _peak() - before
    ends = [at for _, at in marks[1:]] + [end]
    row = ScaleRow(
        samples,
        kind,
        int(labels.max()) + 1,
        exact,
        end - wall,
        time.process_time() - cpu,
        max(peak, 0.0),
        nmi(state.labels, labels),
        ari(state.labels, labels),
        float(state.report["recall"][0]),
        int(state.report["clusters"]),
        int(state.report["singletons"]),
        tuple((name, stop - at) for (name, at), stop in zip(marks, ends, strict=True)),
    )
    del features
    files.remove_file(place)
    return row


def _exact_seconds(features: FloatArray) -> float:
    """Seconds of exact search over all rows: products of BLAS and selection of the nearest, from some blocks."""
    n, dim = features.shape
    points = np.asarray(features)
    step = min(n, max(256, block_rows(n, dim)))
    blocks = min(_BLOCKS, max(1, n // step))
    begun = time.monotonic()
    for a in range(0, blocks * step, step):
        keys = points[a : a + step] @ points.T
        np.negative(keys, out=keys)
        limit = np.partition(keys, _NEIGHBOURS, axis=1)[:, _NEIGHBOURS, None]
        np.flatnonzero(keys <= limit)
    return float((time.monotonic() - begun) * n / (blocks * step))


def _peak(reset: bool = False) -> float:
    """Peak memory of this process in GiB; on Linux without pages of files, and from now on where asked."""
    platform: str = sys.platform  # as text: each branch is checked on every system
    if platform == "linux":
        status = Path("/proc/self/status")
        if reset:
            files.tell_system(Path("/proc/self/clear_refs"), b"5")
            return _status(status, "RssAnon")
        return _status(status, "VmHWM") - _status(status, "RssFile")
    if platform == "win32":
        return 0.0
    import resource

    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) / 2**30


def _status(status: Path, name: str) -> float:
    fields: dict[str, Any] = dict(line.split(":", 1) for line in status.read_text("ascii").splitlines() if ":" in line)
    return float(fields[name].split()[0]) / 2**20


_HEAD = (
    f"{'samples':>9} {'kind':4} {'stage one':>9} {'exact':>8} {'ratio':>5} {'cpu':>7} {'GiB':>5} "
    f"{'NMI':>6} {'ARI':>6} {'recall':>6} {'clusters':>8} {'single':>7}"
)


def row_text(row: ScaleRow) -> str:
    """A row of the table."""
    return (
        f"{row.samples:9,} {row.kind:4} {row.wall:8.1f}s {row.exact:7.1f}s {row.wall / row.exact:5.2f} {row.cpu:6.1f}s "
        f"{row.memory:5.2f} {row.nmi:6.4f} {row.ari:6.4f} {row.recall:6.3f} {row.clusters:8,} {row.singletons:7,}"
    )
