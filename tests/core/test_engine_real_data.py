"""The published figures on real data, and how long a person waits for the next question."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from a3s_desktop.core.initialization import initialize
from a3s_desktop.core.metrics import evaluate
from a3s_desktop.core.types import Answer, InitialOptions, StrategyOptions
from a3s_desktop.task import Task
from tests.core.cases import Case, check_at_rest


@cache
def load(folder: Path, pseudo_labels: int, seed: int) -> Case:
    features = np.load(folder / "features.npy", mmap_mode="r")
    options = InitialOptions(pseudo_labels=pseudo_labels, seed=seed)
    return Case(initialize([features], options, Task()), (features,), np.load(folder / "labels.npy"))


def curve(case: Case, seed: int, at: Sequence[int]) -> list[list[float]]:
    """NMI, ARI and purity after the numbers of true answers ``at``."""
    engine = case.engine(StrategyOptions("a3s-paper", seed=seed))
    points = []
    for count in range(max(at) + 1):
        if count in at:
            metrics = evaluate(engine.labels, case.classes)
            points.append([metrics.nmi, metrics.ari, metrics.purity])
        if engine.question is not None:
            engine.record(case.truth(engine.question.left, engine.question.right))
    check_at_rest(engine)
    return points


def test_figures_of_mk100(shared_data: Path) -> None:
    runs = [curve(load(shared_data / "mk100", 100, seed), seed, (291, 525)) for seed in range(3)]
    (nmi, ari, _), (later_nmi, later_ari, purity) = np.mean(runs, axis=0).tolist()
    assert nmi >= 0.86
    assert ari >= 0.61
    assert later_nmi >= 0.90
    assert later_ari >= 0.75
    assert purity >= 0.95


def test_figures_of_mk20(shared_data: Path) -> None:
    runs = [curve(load(shared_data / "mk20", 20, seed), seed, (83,)) for seed in range(3)]
    nmi, ari, _ = np.mean(runs, axis=0)[0].tolist()
    assert nmi >= 0.95
    assert ari >= 0.95


@pytest.fixture(scope="module")
def mk100(shared_data: Path) -> Case:
    return load(shared_data / "mk100", 100, 0)


def test_the_next_question_is_there_at_once(mk100: Case) -> None:
    """CPU time of this thread, which is what the engine can help: other programs may hold the machine busy."""
    engine = mk100.engine()
    seconds = []
    while engine.question is not None:
        answer = mk100.truth(engine.question.left, engine.question.right)
        begin = time.thread_time()
        engine.record(answer)
        seconds.append(time.thread_time() - begin)
    assert len(seconds) > 600
    assert np.median(seconds) <= 0.010
    assert np.quantile(seconds, 0.99) <= 0.050


def test_undo_comes_back_on_real_data(mk100: Case) -> None:
    """Random answers, undone in random amounts; digests tell that the whole state came back."""
    rng = np.random.default_rng(0)
    engine = mk100.engine()
    stack = [(engine.mark(), engine.digest())]
    for _ in range(60):
        for _ in range(int(rng.integers(1, 12))):
            question = engine.question
            assert question is not None
            truth = mk100.truth(question.left, question.right)
            engine.record(Answer(rng.choice([truth, truth, truth, *Answer])))
            stack.append((engine.mark(), ""))
        check_at_rest(engine)
        stack[-1] = (stack[-1][0], engine.digest())
        back = int(rng.integers(0, min(len(stack), 15)))
        del stack[len(stack) - back :]
        mark, digest = stack[-1]
        engine.restore(mark)
        assert engine.mark() == mark
        assert digest in ("", engine.digest())
    assert mk100.reload(engine).digest() == engine.digest()
    engine.restore(stack[0][0])
    assert engine.digest() == stack[0][1] == mk100.engine().digest()
