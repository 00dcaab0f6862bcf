"""What limits a run: ``python -m tests.benchmarks.limits FOLDER --only fou --answers 600``.

Runs the default strategy with true answers on the cases of the data sets in FOLDER (as for the benchmark) and prints
how many samples are not in a cluster of their class, and between which two classes most of them are. For each of these
pairs of classes it then asks whether the features tell them apart at all: classifiers that are told the class of so
many samples of each of the two (far more than the annotator says) label all others of the two. Where they fail as well,
the answers are not badly chosen; nothing that looks at these features could do better.
"""

from __future__ import annotations

import argparse
import itertools
from collections import Counter
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from a3s_desktop.core.engine import Engine
from a3s_desktop.core.types import Answer, StrategyOptions
from a3s_desktop.session.benchmark_data import read_cases
from tests.benchmarks.outlook import say, stage_one

Labels = npt.NDArray[np.integer]
DRAWS = 5


def ended(views: list[np.ndarray], labels: Labels, answers: int, seed: int) -> Labels:
    """The clusters after so many true answers."""
    engine = Engine(stage_one(views, seed, None), views, StrategyOptions(seed=seed))
    for _ in range(answers):
        question = engine.question
        if question is None:
            break
        engine.record(Answer.SAME if labels[question.left] == labels[question.right] else Answer.DIFFERENT)
    return engine.labels.copy()


def confused(clusters: Labels, labels: Labels) -> Counter[tuple[int, int]]:
    """Samples that are in a cluster whose commonest class is another, by the two classes."""
    found: Counter[tuple[int, int]] = Counter()
    for cluster in np.unique(clusters):
        classes = Counter(labels[clusters == cluster].tolist())
        (main, _), *others = classes.most_common()
        for other, count in others:
            found[min(main, other), max(main, other)] += count
    return found


def told_apart(rows: np.ndarray, labels: Labels, pair: tuple[int, int], told: int) -> str:
    """Share of the samples of two classes that classifiers name rightly, told so many of each, as a text."""
    mine = np.flatnonzero(np.isin(labels, pair))
    least = min(np.count_nonzero(labels == one) for one in pair)
    told = min(told, least // 2)
    kinds: dict[str, ClassifierMixin] = {
        "logistic": LogisticRegression(max_iter=1000),
        "kernel": SVC(),
        "neighbours": KNeighborsClassifier(min(5, told)),
    }
    shares: dict[str, list[float]] = {name: [] for name in kinds}
    for draw in range(DRAWS):
        rng = np.random.default_rng(draw)
        known = np.concatenate([rng.choice(np.flatnonzero(labels == one), told, replace=False) for one in pair])
        rest = np.setdiff1d(mine, known)
        for name, kind in kinds.items():
            model = make_pipeline(StandardScaler(), kind).fit(rows[known], labels[known])
            shares[name].append(float(model.score(rows[rest], labels[rest])))
    return ", ".join(f"{name} {np.mean(some):.0%}" for name, some in shares.items())


def main() -> None:
    """Run all and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--answers", type=int, default=600)
    parser.add_argument("--told", type=int, default=60, help="samples of each class that the classifiers are told")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    for case in read_cases(options.folder):
        if options.only and not any(part in case.title for part in options.only):
            continue
        views, labels = case.load()
        total: Counter[tuple[int, int]] = Counter()
        for seed in range(options.seeds):
            total += confused(ended(views, labels, options.answers, seed), labels)
        wrong = sum(total.values()) / options.seeds
        say(f"{case.title}: {wrong:.0f} of {len(labels)} samples are astray after {options.answers} answers")
        rows = np.concatenate([np.asarray(view, np.float64) for view in views], axis=1)
        for pair, count in total.most_common(3):
            text = told_apart(rows, labels, pair, options.told)
            say(f"  classes {pair[0]} and {pair[1]}: {count / options.seeds:.0f}; told apart by {text}")
        pairs = [pair for pair in itertools.combinations(np.unique(labels).tolist(), 2) if pair not in total]
        if pairs:
            middle = pairs[len(pairs) // 2]
            text = told_apart(rows, labels, middle, options.told)
            say(f"  for comparison, {middle[0]} and {middle[1]}, never confused: {text}")


if __name__ == "__main__":
    main()
