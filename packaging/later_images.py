"""What adding images costs in answers: a tenth of a data set held out, added after a number of answers.

    python packaging/later_images.py ../shared/data/mk100 [--before 525] [--after 120] [--seeds 3]

For each seed: the held-out tenth (of every class in proportion) is added to a project with answers from the rest; the
Rand index over all images is set against that of a project with all images, in the same order, from the start.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from a3s_desktop.core.initialization import initialize
from a3s_desktop.core.metrics import evaluate
from a3s_desktop.core.types import Answer, InitialOptions, StrategyOptions
from a3s_desktop.session.adding import extended
from a3s_desktop.session.session import Session
from a3s_desktop.storage.journal_types import MemoryJournal
from a3s_desktop.task import Task


@dataclass(frozen=True)
class Outcome:
    """What one run gave; ARI over all images after 0, 1, ... answers since the addition."""

    images: int
    placed_right: int
    placed: int
    curve: tuple[float, ...]
    lost: int
    asked_again: int


def held_out(classes: npt.NDArray[np.int32], share: float, seed: int) -> npt.NDArray[np.int64]:
    """Items in a new order, the held-out ones last; as many of every class as its share, rounded by lot."""
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(len(classes))
    by_class = shuffled[np.argsort(classes[shuffled], kind="stable")]
    wanted = round(share * len(classes))
    at = np.floor((np.arange(wanted) + rng.random()) * len(classes) / wanted).astype(np.int64)
    held = np.sort(by_class[at])
    return np.concatenate((np.setdiff1d(np.arange(len(classes)), held), held))


def answer(session: Session, classes: npt.NDArray[np.int32], count: int) -> list[tuple[int, int]]:
    """Answer truthfully; returns the pairs."""
    asked = []
    while len(asked) < count and (question := session.state.question) is not None:
        same = classes[question.left] == classes[question.right]
        asked.append((question.left, question.right))
        session.answer(question.id, Answer.SAME if same else Answer.DIFFERENT)
    return asked


def from_the_start(values: npt.NDArray[np.float32], classes: npt.NDArray[np.int32], answers: int) -> float:
    """ARI of a project that has all images from the start."""
    options = InitialOptions().for_strategy("a3s")
    initial = initialize([values], options, Task())
    session = Session(initial, [values], StrategyOptions(), MemoryJournal(), snapshot_every=0)
    answer(session, classes, answers)
    return evaluate(session.state.labels, classes).ari


def added_late(
    values: npt.NDArray[np.float32], classes: npt.NDArray[np.int32], seed: int, before: int, after: int
) -> Outcome:
    """Add the held-out tenth after ``before`` answers, and give ``after`` more."""
    order = held_out(classes, 0.1, seed)
    values, classes = values[order], classes[order]
    old = len(classes) - round(0.1 * len(classes))
    initial_options, strategy_options = InitialOptions().for_strategy("a3s"), StrategyOptions()
    initial = initialize([values[:old]], initial_options, Task())
    journal = MemoryJournal()
    session = Session(initial, [values[:old]], strategy_options, journal, snapshot_every=0)
    first = answer(session, classes, before)
    known = list(session.engine.store.constraints())
    labels = session.state.labels
    grown, base, homes = extended(session, [values], initial_options, strategy_options, Task())
    placed = np.flatnonzero(homes <= labels.max())
    right = sum(
        int(np.argmax(np.bincount(classes[:old][labels == homes[at]])) == classes[old + at]) for at in placed.tolist()
    )
    later = Session(grown, [values], strategy_options, journal, snapshot_every=0, base=base)
    curve, again = [evaluate(later.state.labels, classes).ari], list[tuple[int, int]]()
    for _ in range(after):
        asked = answer(later, classes, 1)
        if not asked:
            break
        again += asked
        curve.append(evaluate(later.state.labels, classes).ari)
    pairs = {frozenset(pair) for pair in first}
    return Outcome(
        len(homes),
        right,
        len(placed),
        tuple(curve),
        sum(later.engine.store.relation(left, right) is not said for left, right, said in known),
        sum(frozenset(pair) in pairs for pair in again),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="What adding images costs in answers.")
    parser.add_argument("data", type=Path, help="a folder with features.npy and labels.npy")
    parser.add_argument("--before", type=int, default=525)
    parser.add_argument("--after", type=int, default=120)
    parser.add_argument("--seeds", type=int, default=3)
    chosen = parser.parse_args(arguments)
    values = np.load(chosen.data / "features.npy", allow_pickle=False).astype(np.float32)
    classes = np.load(chosen.data / "labels.npy", allow_pickle=False).astype(np.int32)
    for seed in range(chosen.seeds):
        order = held_out(classes, 0.1, seed)
        whole = from_the_start(values[order], classes[order], chosen.before)
        found = added_late(values, classes, seed, chosen.before, chosen.after)
        reached = next((at for at, ari in enumerate(found.curve) if ari >= whole), None)
        print(
            f"seed {seed}: all from the start {whole:.4f}; {found.images} added, {found.placed} placed "
            f"({found.placed_right} right), ARI {found.curve[0]:.4f}, after {len(found.curve) - 1} answers "
            f"{found.curve[-1]:.4f} (as good after {reached}); constraints lost {found.lost}, pairs asked again "
            f"{found.asked_again}"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
