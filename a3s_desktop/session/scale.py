"""The benchmark of size: whole runs of ``a3s`` on face-like data of growing size, in one table with what is asked.

Each size and kind is run in a process of its own, so that its peak memory can be told; the data lie in a file of half
precision that is memory-mapped. Exact search is measured on some blocks of rows right before stage one, and reckoned
for all rows. Then as many questions are answered by the true classes as the paper gives its largest run (3,100 for
100,000 images), and the last hundred are taken back and given again.
"""

from __future__ import annotations

import gc
import json
import math
import multiprocessing
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.initialization import initialize
from a3s_desktop.core.metrics import ari, nmi
from a3s_desktop.core.neighbors import block_rows
from a3s_desktop.core.types import FloatArray, InitialOptions, InitialState, IntArray, StrategyOptions
from a3s_desktop.session import benchmark_plots
from a3s_desktop.session.benchmark_data import FACE_WIDTH, face_like
from a3s_desktop.session.kept_state import STAGE, KeptState
from a3s_desktop.session.oracle import Oracle, OracleOptions
from a3s_desktop.session.replay import EngineSource
from a3s_desktop.session.session import Session
from a3s_desktop.session.simulation import Stopwatch
from a3s_desktop.storage import array_files, files
from a3s_desktop.storage.artifacts import Arrays, load_arrays, save_arrays
from a3s_desktop.storage.journal import pack_arrays
from a3s_desktop.storage.journal_types import MemoryJournal
from a3s_desktop.task import Progress, Task

REPORT = "scale.json"
PLOT = "scale.png"
_BLOCKS = 12  # of exact search, measured
_NEIGHBOURS = 50
_ANSWERS = 0.031  # for each image ...
_MOST_ANSWERS = 3_100  # ... which the paper's run on 100,000 came to
_LARGEST_HARD = 300_000  # a million is asked of easy faces only, and takes half an hour
_BACK = 100  # answers that are taken back and given again


@dataclass(frozen=True, slots=True)
class Answering:
    """What stage two took: seconds of openings and of all answers, milliseconds (median, p99) of single steps.

    ``opening`` is from the files of a made project to its first pair, ``cold`` without the state that is kept with it,
    ``resumed`` after the answers; ``kept`` the size of that state in MiB, ``snapshot`` milliseconds and MiB of one in
    the journal.
    """

    answers: int
    opening: float
    cold: float
    resumed: float
    kept: float
    snapshot: tuple[float, float]
    seconds: float
    question: tuple[float, float]
    undo: tuple[float, float]
    redo: tuple[float, float]
    nmi: float
    ari: float


@dataclass(frozen=True, slots=True)
class ScaleRow:
    """What one run took. Times are wall seconds, ``cpu`` processor seconds, both of stage one; memory GiB.

    ``exact`` is what exact neighbours by BLAS would take; ``memory`` is the peak of stage one above that before it,
    without the pages of the features file.
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
    answering: Answering

    @property
    def whole(self) -> float:
        """Seconds of the whole run, in units of stage one's."""
        return (self.wall + self.answering.opening + self.answering.seconds) / self.wall


@dataclass(frozen=True, slots=True)
class Wanted:
    """One line of what is asked of a size: a name, the measured figure, and the bound it is to keep."""

    name: str
    figure: float
    bound: float
    at_least: bool = False

    @property
    def holds(self) -> bool:
        """Whether the figure keeps the bound."""
        return self.figure >= self.bound if self.at_least else self.figure <= self.bound


def run_scale(sizes: Sequence[int], kinds: Sequence[str], out: Path, tell: Callable[[str], None]) -> list[ScaleRow]:
    """Run every size and kind, tell each row of the table, and write all to ``out``, with a plot of the growth.

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
                if samples > _LARGEST_HARD and kind == "hard":
                    continue
                with context.Pool(1) as pool:
                    row: ScaleRow = pool.apply(measure, (samples, kind, Path(folder)))
                rows.append(row)
                tell(row_text(row))
                files.atomic_write_text(out / REPORT, json.dumps([asdict(row) for row in rows], indent=1))
                for line in wanted_of(row, rows):
                    tell(f"    {line.name}: {line.figure:.4g}, {_bound(line)}: {'holds' if line.holds else 'MISSED'}")
            if (slope := growth([row for row in rows if row.kind == kind])) is not None:
                tell(f"{kind}: stage one grows as N^{slope[0]:.2f}, memory as N^{slope[1]:.2f}")
    if benchmark_plots.available() and len(set(sizes)) > 1:
        with files.atomic_file(out / PLOT) as file:
            file.write(benchmark_plots.plot_growth(_series(rows)))
    return rows


def _bound(line: Wanted) -> str:
    return f"at {'least' if line.at_least else 'most'} {line.bound:.4g}"


def _series(rows: Sequence[ScaleRow]) -> dict[str, list[tuple[int, float, float]]]:
    """For each kind: samples, seconds and GiB of stage one."""
    kinds = dict.fromkeys(row.kind for row in rows)
    return {kind: [(row.samples, row.wall, row.memory) for row in rows if row.kind == kind] for kind in kinds}


def wanted_of(row: ScaleRow, rows: Sequence[ScaleRow]) -> list[Wanted]:
    """What is asked of a run of this size, with its figures; nothing of sizes that nothing is asked of."""
    one, easy = row.answering, row.kind == "easy"
    if row.samples == 100_000:
        return [
            Wanted("stage one against exact neighbours", row.wall / row.exact, 0.35),
            Wanted("peak memory, GiB", row.memory, 1.0),
            Wanted("first NMI", row.nmi, 0.99 if easy else 0.97, True),
            Wanted("first ARI", row.ari, 0.98 if easy else 0.94, True),
            Wanted(f"ARI at {one.answers:,} answers", one.ari, 0.995 if easy else 0.985, True),
            Wanted("whole run against stage one", row.whole, 2.0),
            Wanted("next question, median ms", one.question[0], 5.0),
            Wanted("next question, p99 ms", one.question[1], 16.0),
            Wanted("undo, p99 ms", one.undo[1], 50.0),
            Wanted("redo, p99 ms", one.redo[1], 50.0),
            Wanted("to the first pair, s", max(one.opening, one.resumed), 2.0),
        ]
    if row.samples != 1_000_000:
        return []
    wanted = [Wanted("peak memory, GiB", row.memory, 6.0)]
    smaller = [other.wall for other in rows if (other.kind, other.samples) == (row.kind, 100_000)]
    if smaller:
        wanted.append(Wanted("stage one against 100,000", row.wall / smaller[0], 30.0))
    if easy:
        wanted += [Wanted("first NMI", row.nmi, 0.95, True), Wanted("first ARI", row.ari, 0.80, True)]
    return [
        *wanted,
        Wanted("next question, median ms", one.question[0], 10.0),
        Wanted("next question, p99 ms", one.question[1], 50.0),
        Wanted("undo, p99 ms", one.undo[1], 100.0),
        Wanted("redo, p99 ms", one.redo[1], 100.0),
        Wanted("to the first pair, s", max(one.opening, one.resumed), 5.0),
    ]


def growth(rows: Sequence[ScaleRow]) -> tuple[float, float] | None:
    """Exponents of wall time and memory over all sizes, by least squares of logarithms; None with one size."""
    if len({row.samples for row in rows}) < 2:
        return None
    size = np.log([row.samples for row in rows])
    return tuple(  # type: ignore[return-value]
        float(np.polyfit(size, np.log([max(value, 1e-3) for value in values]), 1)[0])
        for values in ([row.wall for row in rows], [row.memory for row in rows])
    )


def measure(samples: int, kind: str, folder: Path) -> ScaleRow:
    """Make the data, measure exact search on some blocks, then run stage one of ``a3s``, and answer."""
    place = folder / f"scale-{kind}-{samples}.npy"
    table = np.lib.format.open_memmap(place, "w+", np.float16, (samples, FACE_WIDTH))
    _, labels = face_like(samples, kind, out=table)
    table.flush()
    del table
    features = array_files.load_written(place)
    exact = _exact_seconds(features)
    marks: list[tuple[str, float]] = []

    def note(progress: Progress) -> None:
        if not marks or marks[-1][0] != progress.stage:
            marks.append((progress.stage, time.monotonic()))

    before = _peak(reset=True)
    wall, cpu = time.monotonic(), time.process_time()
    state = initialize([features], InitialOptions().for_strategy("a3s"), Task(note))
    end, cpu_end = time.monotonic(), time.process_time()
    peak = _peak() - before
    ends = [at for _, at in marks[1:]] + [end]
    made = folder / f"made-{kind}-{samples}"
    row = ScaleRow(
        samples,
        kind,
        int(labels.max()) + 1,
        exact,
        end - wall,
        cpu_end - cpu,
        max(peak, 0.0),
        nmi(state.labels, labels),
        ari(state.labels, labels),
        float(state.report["recall"][0]),
        int(state.report["clusters"]),
        int(state.report["singletons"]),
        tuple((name, stop - at) for (name, at), stop in zip(marks, ends, strict=True)),
        _answer(state, features, labels, min(math.ceil(_ANSWERS * samples), _MOST_ANSWERS), made),
    )
    del features
    files.remove_file(place)
    files.remove_tree(made)
    return row


class _Made:
    """The files of a made project, as a `Workspace` keeps them: stage one's result, and the state of the engine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        files.make_folders(folder)

    def load_stage(self, stage: str, mmap: bool = True) -> tuple[Arrays, dict[str, Any]] | None:
        place = self._folder / stage
        return load_arrays(place, mmap) if place.is_dir() else None

    def save_stage(self, stage: str, arrays: Mapping[str, npt.NDArray[Any]], meta: Mapping[str, Any]) -> None:
        if (self._folder / stage).is_dir():
            files.remove_tree(self._folder / stage)
        save_arrays(self._folder / stage, arrays, meta)

    def size(self, stage: str) -> float:
        """MiB of a stage's files."""
        return sum(path.stat().st_size for path in (self._folder / stage).glob("*")) / 2**20

    def initial(self) -> InitialState:
        """The result of stage one, mapped."""
        found = self.load_stage("initial")
        assert found is not None
        return InitialState.from_arrays(*found)

    def open(self, features: FloatArray, journal: MemoryJournal) -> tuple[Session, float]:
        """A session from the files, and the seconds to its first pair."""
        watch = Stopwatch()
        with watch:
            state = self.initial()
            kept = KeptState(self, len(state.labels))
            session = Session(state, [features], StrategyOptions(), journal, snapshot_every=0, kept=kept)
        return session, watch.seconds


def _answer(state: InitialState, features: FloatArray, labels: IntArray, budget: int, folder: Path) -> Answering:
    made, journal, oracle = _Made(folder), MemoryJournal(), Oracle(labels, OracleOptions())
    cold, answering, undoing, redoing, keeping = (Stopwatch() for _ in range(5))
    made.save_stage("initial", state.arrays(), state.meta())
    kept = KeptState(made, len(labels))
    source = EngineSource(made.initial(), [features], StrategyOptions(), journal, kept=kept)
    with cold:
        position, _ = source.position(None)
    source.keep(None, position)
    del position
    session, opening = made.open(features, journal)
    gc.freeze()  # as a window does with what is loaded: no collection walks it
    while (question := session.state.question) is not None and session.state.answers < budget:
        answer = oracle.answer(question.left, question.right)
        with answering:
            session.answer(question.id, answer)
    found = session.state
    for watch, step in ((undoing, session.undo), (redoing, session.redo)):
        for _ in range(min(_BACK, found.answers)):
            with watch:
                step()
    with keeping:
        blob = pack_arrays(session.engine.dump()[0])
    gc.unfreeze()
    session.close()
    del session
    again, resumed = made.open(features, journal)
    assert np.array_equal(again.state.labels, found.labels)
    return Answering(
        found.answers,
        opening,
        cold.seconds,
        resumed,
        made.size(STAGE),
        (keeping.seconds * 1000.0, len(blob) / 2**20),
        answering.seconds,
        _milliseconds(answering),
        _milliseconds(undoing),
        _milliseconds(redoing),
        nmi(found.labels, labels),
        ari(found.labels, labels),
    )


def _milliseconds(watch: Stopwatch) -> tuple[float, float]:
    laps = np.array(watch.laps or [0.0]) * 1000.0
    return float(np.median(laps)), float(np.percentile(laps, 99))


def _exact_seconds(features: FloatArray) -> float:
    """Seconds of exact search over all rows: products of BLAS and selection of the nearest, from some blocks."""
    n, dim = features.shape
    points = np.asarray(features, np.float32)
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
    f"{'NMI':>6} {'ARI':>6} {'recall':>6} {'clusters':>8} {'single':>7} {'answers':>7} {'ARI':>6} {'run':>5} "
    f"{'opening':>8} {'cold':>7} {'resumed':>7} {'kept':>8} {'question ms':>13} {'undo p99':>8} {'redo p99':>8} "
    f"{'snapshot':>16}"
)


def row_text(row: ScaleRow) -> str:
    """A row of the table."""
    one = row.answering
    return (
        f"{row.samples:9,} {row.kind:4} {row.wall:8.1f}s {row.exact:7.1f}s {row.wall / row.exact:5.2f} {row.cpu:6.1f}s "
        f"{row.memory:5.2f} {row.nmi:6.4f} {row.ari:6.4f} {row.recall:6.3f} {row.clusters:8,} {row.singletons:7,} "
        f"{one.answers:7,} {one.ari:6.4f} {row.whole:4.1f}x {one.opening:7.2f}s "
        f"{one.cold:6.1f}s {one.resumed:6.2f}s {one.kept:5.0f}MiB "
        f"{one.question[0]:5.1f} / {one.question[1]:5.1f} {one.undo[1]:8.1f} {one.redo[1]:8.1f} "
        f"{one.snapshot[0]:5.0f}ms {one.snapshot[1]:5.1f}MiB"
    )
