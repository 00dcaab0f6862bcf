"""Every strategy on every data set with every seed, in parallel processes, and the report about it.

Stage one depends on the data and its own options alone, so it is computed once for all the runs that share them; each
of these counts its seconds all the same.
"""

from __future__ import annotations

import contextlib
import platform
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from a3s_desktop import __version__
from a3s_desktop.core.initial_clusterings import initial_clustering
from a3s_desktop.core.initialization import initialize
from a3s_desktop.core.metrics import ari
from a3s_desktop.core.neighbors import normalise
from a3s_desktop.core.types import INITIAL_CLUSTERINGS, InitialOptions, InitialState, IntArray
from a3s_desktop.errors import Cancelled
from a3s_desktop.session.benchmark_data import Case
from a3s_desktop.session.benchmark_plan import CHECKPOINTS, Agreement, BenchmarkOptions, Run, make_plan, notes
from a3s_desktop.session.benchmark_report import save_results, write_report
from a3s_desktop.session.benchmark_workers import Crew, Failure
from a3s_desktop.session.simulation import Prepared, simulate
from a3s_desktop.storage import files
from a3s_desktop.storage.artifacts import load_arrays, save_arrays
from a3s_desktop.task import Task

FORMAT = 1
_LOOK = 0.2  # seconds between two looks at Ctrl+C
_SAVE_EVERY = 20.0  # seconds between two savings of what is finished


@dataclass(frozen=True, slots=True)
class Prepare:
    """A job: stage one, its result to be put into the folder ``place``."""

    case: Case
    initial: InitialOptions
    place: Path


@dataclass(frozen=True, slots=True)
class Continue:
    """A job: what is done with a result of stage one."""

    what: Run | Agreement
    place: Path


@dataclass(slots=True)
class _Batch:
    """All that continues one result of stage one."""

    prepare: Prepare
    waiting: list[Run | Agreement] = field(default_factory=list)
    left: int = 0


def run_benchmark(
    cases: Sequence[Case], options: BenchmarkOptions, out: Path, say: Callable[[str], None], task: Task
) -> dict[str, Any]:
    """Run a benchmark and write its report.

    Parameters
    ----------
    cases : sequence of Case
    options : BenchmarkOptions
    out : Path
        Folder of the report; made where it is absent.
    say : callable
        Receives one line for every run that came to its end.
    task : Task
        Where it is cancelled, the report is written about what is finished.

    Returns
    -------
    dict
        What ``results.json`` holds.

    Raises
    ------
    Cancelled
        After the report was written.
    StorageFailedError
    """
    files.make_folders(out)
    runs, agreements = make_plan(cases, options)
    results = _frame(cases, options)
    task.plan(1)
    with contextlib.suppress(Cancelled):  # from here on there will be a report, whatever happens
        task.stage(f"Running {len(runs)} simulations")
    started = saved = time.monotonic()
    with files.scratch_folder() as folder, Crew(options.jobs, do) as crew:
        batches = _batches([*runs, *agreements], Path(folder))
        for done, (what, outcome) in enumerate(_work(crew, batches, task), 1):
            _enter(results, what, outcome)
            results["seconds"] = round(time.monotonic() - started, 1)
            say(f"{done} of {len(runs) + len(agreements)} · {what.title}: {_outcome_text(outcome)}")
            if time.monotonic() - saved > _SAVE_EVERY:
                save_results(out, results)
                saved = time.monotonic()
            with contextlib.suppress(Cancelled):  # the loop ends by itself, and what is finished is written
                task.step(done / (len(runs) + len(agreements)))
    results["finished"] = not task.cancelled
    _sort(results, runs)
    write_report(out, results)
    if task.cancelled:
        raise Cancelled
    return results


def _frame(cases: Sequence[Case], options: BenchmarkOptions) -> dict[str, Any]:
    import scipy
    import sklearn

    return {
        "format": FORMAT,
        "program": __version__,
        "python": platform.python_version(),
        "libraries": {"numpy": np.__version__, "scipy": scipy.__version__, "scikit-learn": sklearn.__version__},
        "machine": {"system": platform.system(), "processor": platform.machine(), "processes": options.jobs},
        "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "options": {**asdict(options), "told_clusters": sorted(options.told_clusters)},
        "notes": notes(options, cases),
        "cases": [
            {**case.to_json(), "budget": case.budget if options.budget is None else options.budget} for case in cases
        ],
        "runs": [],
        "agreements": [],
        "seconds": 0.0,
        "finished": False,
    }


def _batches(work: Iterable[Run | Agreement], folder: Path) -> list[_Batch]:
    found: dict[tuple[str, InitialOptions], _Batch] = {}
    for what in work:
        key = (what.case.title, what.initial)
        if key not in found:
            found[key] = _Batch(Prepare(what.case, what.initial, folder / f"start-{len(found)}"))
        found[key].waiting.append(what)
        found[key].left += 1
    return list(found.values())


def _work(crew: Crew, batches: Sequence[_Batch], task: Task) -> Iterable[tuple[Run | Agreement, Any]]:
    """Everything with its outcome, in the order of finishing; what continues a start goes before a new start."""
    coming = list(reversed(batches))
    ready: list[_Batch] = []
    begun: dict[Prepare, _Batch] = {}
    at_work: dict[Continue, _Batch] = {}
    while not task.cancelled and (coming or ready or begun or at_work):
        while crew.has_room and (ready or coming):
            if ready:
                job = Continue(ready[0].waiting.pop(0), ready[0].prepare.place)
                at_work[job] = ready[0]
                crew.begin(job)
                if not ready[0].waiting:
                    ready.pop(0)
            else:
                batch = coming.pop()
                begun[batch.prepare] = batch
                crew.begin(batch.prepare)
        for job, outcome in crew.finished(_LOOK):
            if isinstance(job, Prepare):
                batch = begun.pop(job)
                if isinstance(outcome, Failure):
                    yield from ((what, outcome) for what in batch.waiting)
                else:
                    ready.append(batch)
                continue
            batch = at_work.pop(job)
            batch.left -= 1
            if not batch.left:
                files.remove_tree(batch.prepare.place)
            yield job.what, outcome


# ------------------------------------------------------------------------------------------------ in the processes


def do(job: Prepare | Continue) -> Any:
    """Do a job, in whatever process: a simulation's JSON, the agreement's matrix, or None."""
    if isinstance(job, Prepare):
        return prepare(job)
    if isinstance(job.what, Run):
        return run_one(job.what, load_start(job.place))
    return agreement(job.what, load_start(job.place))


def prepare(job: Prepare) -> None:
    """Compute stage one, and leave it in its folder."""
    views, _ = job.case.load()
    started = time.perf_counter()
    state = initialize(views, job.initial, Task())
    seconds = time.perf_counter() - started
    save_arrays(job.place, state.arrays(), {**state.meta(), "seconds": seconds})


def load_start(place: Path) -> Prepared:
    """What `prepare` left."""
    arrays, meta = load_arrays(place)
    return Prepared(InitialState.from_arrays(arrays, meta), float(meta["seconds"]))


def run_one(run: Run, start: Prepared) -> dict[str, Any]:
    """One simulation from its start."""
    views, labels = run.case.load()
    return simulate(
        views, labels, run.initial, run.options,
        budget=run.budget, every=run.every, at=CHECKPOINTS, oracle_options=run.oracle, prepared=start,
    )  # fmt: skip


def agreement(what: Agreement, start: Prepared) -> dict[str, Any]:
    """Adjusted Rand index of each two initial clusterings, and of each with the classes."""
    views, classes = what.case.load()
    tables = [normalise(view, what.initial.normalisation) for view in views]
    found: dict[str, IntArray] = {what.initial.initial: start.state.labels}
    for name in INITIAL_CLUSTERINGS:
        if name not in found:
            options = InitialOptions.from_json({**what.initial.to_json(), "initial": name})
            found[name], _ = initial_clustering(tables, start.state.graph, start.state.labels, options, Task())
    names = [*INITIAL_CLUSTERINGS]
    return {
        "names": names,
        "ari": [[round(ari(found[left], found[right]), 4) for right in names] for left in names],
        "classes": [round(ari(found[name], classes), 4) for name in names],
    }


# ------------------------------------------------------------------------------------------------ results


def _enter(results: dict[str, Any], what: Run | Agreement, outcome: Any) -> None:
    failed = outcome.reason if isinstance(outcome, Failure) else None
    if isinstance(what, Run):
        results["runs"].append({**what.to_json(), "failed": failed, "result": None if failed else outcome})
    else:
        entry = {"case": what.case.title, "seed": what.initial.seed, "failed": failed}
        results["agreements"].append(entry if failed else {**entry, **outcome})


def _sort(results: dict[str, Any], runs: Sequence[Run]) -> None:
    """From the order of finishing, which is chance, to that of the plan."""
    place = {tuple(run.to_json().values()): number for number, run in enumerate(runs)}
    names = tuple(runs[0].to_json()) if runs else ()
    results["runs"].sort(key=lambda entry: place[tuple(entry[name] for name in names)])
    cases = [case["case"] for case in results["cases"]]
    results["agreements"].sort(key=lambda entry: cases.index(entry["case"]))


def _outcome_text(outcome: Any) -> str:
    if isinstance(outcome, Failure):
        return f"failed: {outcome.reason}"
    if "end" not in outcome:
        return "compared"
    end = outcome["end"]
    return f"NMI {end['nmi']:.3f}, ARI {end['ari']:.3f} after {end['queries']:,} answers, {end['seconds']:.1f} s"
