"""How good the estimate of the questions left is: ``python -m tests.benchmarks.outlook FOLDER [--only NAME]``.

Runs the default strategy to its end with true answers on every case of the data sets in FOLDER (as for the benchmark:
folders with a ``dataset.json``) and on the features of the demos, three seeds each, and prints, at 10, 25, 50 and
75 % of each run, the questions that were left, the estimate, and their ratio. The last lines say how often the truth
was within the range, and within a factor of 1.5 of the middle. ``--keep DIR`` keeps stage one between runs.
"""

from __future__ import annotations

import argparse
import pickle
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from a3s_desktop.core.engine import Engine
from a3s_desktop.core.initialization import initialize
from a3s_desktop.core.outlook import Outlook
from a3s_desktop.core.types import Answer, InitialOptions, InitialState, StrategyOptions
from a3s_desktop.demo.project import DEMOS, demo_data
from a3s_desktop.session.benchmark_data import read_cases
from a3s_desktop.storage.features import load_features
from a3s_desktop.storage.matching import load_labels
from a3s_desktop.task import Task

AT = (0.10, 0.25, 0.50, 0.75)
SEEDS = range(3)
FACTOR = 1.5


def outlooks(engine: Engine, labels: np.ndarray) -> list[Outlook]:
    """The estimate before every answer of a run to the end with true answers."""
    found = []
    while (question := engine.question) is not None:
        outlook = engine.outlook()
        assert outlook is not None
        found.append(outlook)
        engine.record(Answer.SAME if labels[question.left] == labels[question.right] else Answer.DIFFERENT)
    return found


def cases(folder: Path, only: list[str], scratch: Path) -> Iterator[tuple[str, list[np.ndarray], np.ndarray]]:
    """Title, views and true classes."""
    for case in read_cases(folder):
        if not only or any(part in case.title for part in only):
            yield case.title, *case.load()
    for name in DEMOS:
        if not only or any(part in name for part in only):
            data = demo_data(name, scratch, Task())
            features = np.asarray(load_features(data.features).values)
            yield f"demo {name}", [features], load_labels(data.labels, len(features)).codes


def stage_one(views: list[np.ndarray], seed: int, kept: Path | None) -> InitialState:
    """Computed, or read from where a former run of this program left it."""
    if kept is not None and kept.is_file():
        state: InitialState = pickle.loads(kept.read_bytes())
        return state
    state = initialize(views, InitialOptions(seed=seed).for_strategy("a3s"), Task())
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(pickle.dumps(state))
    return state


def say(line: str) -> None:
    """One line of the table, at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    """Run all and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    inside, near, total = 0, 0, 0
    heads = "  ".join(f"{f'at {share:.0%}: left, estimate':>26}" for share in AT)
    say(f"{'data':24} seed  answers  {heads}")
    with tempfile.TemporaryDirectory() as scratch:
        for title, views, labels in cases(options.folder, options.only, Path(scratch)):
            for seed in SEEDS:
                name = "".join(c if c.isalnum() else "_" for c in title)
                state = stage_one(views, seed, options.keep / f"{name}-{seed}.pickle" if options.keep else None)
                found = outlooks(Engine(state, views, StrategyOptions(seed=seed)), labels)
                cells = []
                for share in AT:
                    done = round(share * len(found))
                    left, outlook = len(found) - done, found[done]
                    cells.append(f"{left:5d} {outlook.middle:5d} ({outlook.middle / left:4.2f})")
                    inside += outlook.low <= left <= outlook.high
                    near += 1 / FACTOR <= outlook.middle / left <= FACTOR
                    total += 1
                say(f"{title:24} {seed:4d}  {len(found):7d}  " + "  ".join(f"{cell:>26}" for cell in cells))
    say(f"within the range: {inside} of {total}; within a factor of {FACTOR}: {near} of {total}")


if __name__ == "__main__":
    main()
