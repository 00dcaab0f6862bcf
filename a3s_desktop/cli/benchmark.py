"""The command ``benchmark`` and its arguments."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from a3s_desktop.cli.terminal import Console
from a3s_desktop.core.types import NEED_CLUSTERS, STRATEGIES

FACE_KINDS = ("easy", "hard")
_MOST_SEEDS = 1000
_SCALE = (10_000, 30_000, 100_000, 300_000)
_MILLION = 1_000_000
_LEAST_FACES = 2_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="run every folder in DIR (or DIR itself) that has a dataset.json"
    )
    parser.add_argument(
        "--datasets",
        type=_names,
        default=(),
        metavar="NAMES",
        help="only these of them, separated by commas: mk100, or handwritten/fou for one case (default: all)",
    )
    parser.add_argument(
        "--face-like",
        type=_faces,
        action="append",
        default=[],
        metavar="N[,KIND]",
        help="also run made-up face-like features of N samples, easy or hard (default easy); may be given again",
    )
    parser.add_argument(
        "--strategies",
        type=_strategies,
        default=tuple(STRATEGIES),
        metavar="A,B",
        help=f"which strategies, separated by commas (default: all: {','.join(STRATEGIES)})",
    )
    parser.add_argument("--seeds", type=_seeds, default=range(5), metavar="S", help="such as 0-4 (default) or 0,2,7")
    parser.add_argument("--budget", type=_budget, metavar="N", help="most answers (default: each data set's own)")
    parser.add_argument(
        "--ablations", action="store_true", help="also vary initial clustering, ratio, threshold, and the answers"
    )
    parser.add_argument(
        "--jobs", type=_jobs, default=None, metavar="N", help="simulations at a time (default: one for each core)"
    )
    parser.add_argument(
        "--scale",
        nargs="?",
        const=_SCALE,
        type=_sizes,
        metavar="SIZES",
        help="instead: whole runs on made-up faces of these sizes (default 10000,30000,100000,300000)",
    )
    parser.add_argument("--million", action="store_true", help="with --scale: also a million easy faces")
    parser.add_argument("--out", type=Path, required=True, metavar="REPORT", help="the folder of the report")


def benchmark(arguments: argparse.Namespace, console: Console) -> int:
    """Run strategies on data sets, and write a report."""
    from a3s_desktop.errors import Cancelled, InputError
    from a3s_desktop.session import benchmark_plots
    from a3s_desktop.session.benchmark import run_benchmark
    from a3s_desktop.session.benchmark_data import face_case, read_cases
    from a3s_desktop.session.benchmark_plan import BenchmarkOptions
    from a3s_desktop.session.benchmark_report import PAGE
    from a3s_desktop.storage.files import scratch_folder

    if arguments.scale is not None:
        from a3s_desktop.session.scale import run_scale

        sizes = {*arguments.scale, *((_MILLION,) if arguments.million else ())}
        run_scale(sorted(sizes), FACE_KINDS, arguments.out, console.say)
        return 0
    if arguments.data is None and not arguments.face_like:
        raise InputError("There is nothing to run on.", "Give a folder of data sets (--data DIR) or --face-like N.")
    options = BenchmarkOptions(
        strategies=arguments.strategies,
        seeds=tuple(arguments.seeds),
        budget=arguments.budget,
        ablations=arguments.ablations,
        jobs=arguments.jobs or cores(),
        told_clusters=NEED_CLUSTERS,
    )
    cases = read_cases(arguments.data, arguments.datasets) if arguments.data is not None else []
    with scratch_folder() as folder:
        cases += [face_case(samples, kind, Path(folder)) for samples, kind in arguments.face_like]
        console.task.check()
        try:
            results = run_benchmark(cases, options, arguments.out, console.tell, console.task)
        except Cancelled:
            console.complain(f"Stopped. The report about what was finished is {arguments.out / PAGE}")
            raise
    if not benchmark_plots.available():
        console.note(benchmark_plots.MISSING)
    failed = sum(run["failed"] is not None for run in results["runs"])
    if failed:
        console.note(f"{failed} of {len(results['runs'])} simulations failed; the report says why.")
    console.say(f"The report is {arguments.out / PAGE}")
    return 0


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _names(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise argparse.ArgumentTypeError("no name was given")
    return names


def _strategies(text: str) -> tuple[str, ...]:
    names = _names(text)
    for name in names:
        if name not in STRATEGIES:
            raise argparse.ArgumentTypeError(f"there is no strategy {name!r} (choose from {', '.join(STRATEGIES)})")
    return names


def _seeds(text: str) -> tuple[int, ...]:
    seeds: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        try:
            low, high = int(first), int(last if dash else first)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{part!r} is no seed, and no range such as 0-4") from None
        if high < low or high - low >= _MOST_SEEDS:
            raise argparse.ArgumentTypeError(f"{part!r} is no range of seeds such as 0-4")
        seeds += range(low, high + 1)
    return tuple(dict.fromkeys(seeds))


def _faces(text: str) -> tuple[int, str]:
    number, comma, kind = text.partition(",")
    try:
        samples = int(number.replace("_", ""))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{number!r} is not a number of samples") from None
    chosen = kind.strip() if comma else FACE_KINDS[0]
    if chosen not in FACE_KINDS:
        raise argparse.ArgumentTypeError(f"{chosen!r} is neither {' nor '.join(FACE_KINDS)}")
    return samples, chosen


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(_at_least(size.strip().replace("_", ""), _LEAST_FACES) for size in text.split(","))


def _jobs(text: str) -> int:
    return _at_least(text, 1)


def _budget(text: str) -> int:
    return _at_least(text, 0)


def _at_least(text: str, least: int) -> int:
    try:
        value = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
    if value < least:
        raise argparse.ArgumentTypeError(f"{text} is not at least {least}")
    return value
