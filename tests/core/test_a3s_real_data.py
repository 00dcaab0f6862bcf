"""The default strategy on real data: what it has to reach, and that nothing but the seed decides what it asks."""

from __future__ import annotations

import csv
import time
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from a3s_desktop.core.engine import Engine
from a3s_desktop.core.initialization import initialize
from a3s_desktop.core.metrics import evaluate
from a3s_desktop.core.types import Answer, InitialOptions, StrategyOptions
from a3s_desktop.task import Task
from tests.core.a3s_cases import A3S, check_facts, facts_anew, facts_of
from tests.core.cases import Case, check_at_rest

FEATURES = {"mk20": "features.npy", "mk100": "features.npy", "people200": "lite0.npy"}
# Answers, NMI and ARI to be reached at least, mean over the seeds.
MUST = {
    "mk20": [(40, 0.92, 0.90), (83, 0.956, 0.952)],
    "people200": [(60, 0.84, 0.74), (120, 0.90, 0.87)],
    "mk100": [(150, 0.89, 0.74), (300, 0.924, 0.86), (337, 0.924, 0.801), (525, 0.933, 0.89)],
}
SEEDS = {"mk20": range(5), "people200": range(5), "mk100": range(2)}


def load(folder: Path, seed: int, refine: bool | None = True) -> Case:
    features = np.load(folder / FEATURES[folder.name])
    if folder.name == "people200":
        with (folder / "labels.csv").open(encoding="utf-8", newline="") as file:
            names = [row["label"] for row in csv.DictReader(file)]
        labels = np.unique(names, return_inverse=True)[1]
    else:
        labels = np.load(folder / "labels.npy")
    state = initialize([features], InitialOptions(seed=seed, refine=refine).for_strategy("a3s"), Task())
    return Case(state, (features,), labels)


def asked(case: Case, seed: int, count: int) -> list[tuple[int, int]]:
    engine = case.engine(StrategyOptions(strategy="a3s", seed=seed))
    pairs = []
    while engine.question is not None and len(pairs) < count:
        pairs.append((engine.question.left, engine.question.right))
        engine.record(case.truth(*pairs[-1]))
    return pairs


@cache
def figures(folder: Path) -> dict[int, list[float]]:
    """NMI and ARI after the numbers of true answers, mean over the seeds."""
    at = [answers for answers, *_ in MUST[folder.name]]
    points: dict[int, list[list[float]]] = {answers: [] for answers in at}
    for seed in SEEDS[folder.name]:
        case = load(folder, seed)
        engine = case.engine(StrategyOptions(strategy="a3s", seed=seed))
        for count in range(max(at) + 1):
            if count in at:
                metrics = evaluate(engine.labels, case.classes)
                points[count].append([metrics.nmi, metrics.ari])
            if engine.question is not None:
                engine.record(case.truth(engine.question.left, engine.question.right))
        check_at_rest(engine)
        check_facts(facts_of(engine), facts_anew(engine))
    return {count: np.mean(values, axis=0).tolist() for count, values in points.items()}


@pytest.mark.parametrize(("name", "answers", "nmi", "ari"), [(name, *row) for name, of in MUST.items() for row in of])
def test_figures(shared_data: Path, name: str, answers: int, nmi: float, ari: float) -> None:
    reached = figures(shared_data / name)[answers]
    assert (reached[0] >= nmi, reached[1] >= ari) == (True, True), f"NMI {reached[0]:.4f}, ARI {reached[1]:.4f}"


@pytest.mark.parametrize("name", ["mk20", "people200"])
def test_only_the_seed_decides(shared_data: Path, name: str) -> None:
    """From the features on, twice, and with one thread for the linear algebra and with two."""
    runs = []
    for threads in (1, 2, None):
        with threadpool_limits(threads):
            case = load(shared_data / name, 0)
            runs.append((asked(case, 0, 120), case.initial.labels.tolist(), case.initial.graph.logodds.tolist()))
    assert runs[0] == runs[1] == runs[2]
    assert len(runs[0][0]) == 120


def test_undo_comes_back_on_real_data(shared_data: Path) -> None:
    """Random answers, undone in random amounts; what is derived stays what it would be if derived anew."""
    case = load(shared_data / "mk20", 1)
    rng = np.random.default_rng(0)
    engine = case.engine(A3S)
    stack = [(engine.mark(), engine.digest())]
    for _ in range(25):
        for _ in range(int(rng.integers(1, 12))):
            question = engine.question
            assert question is not None
            truth = case.truth(question.left, question.right)
            engine.record(Answer(rng.choice([truth, truth, truth, *Answer])))
            stack.append((engine.mark(), ""))
        check_at_rest(engine)
        stack[-1] = (stack[-1][0], engine.digest())
        del stack[len(stack) - int(rng.integers(0, min(len(stack), 15))) :]
        mark, digest = stack[-1]
        engine.restore(mark)
        assert engine.mark() == mark
        assert digest in ("", engine.digest())
        check_facts(facts_of(engine), facts_anew(engine))
    assert case.reload(engine, A3S).digest() == engine.digest()
    engine.restore(stack[0][0])
    assert engine.digest() == stack[0][1] == case.engine(A3S).digest()


def test_a_reopened_project_goes_on_with_the_same_questions(shared_data: Path) -> None:
    """Stored and loaded every ten answers, with questions looked ahead to: as if it had never been closed."""
    case = load(shared_data / "people200", 0)
    straight = asked(case, 0, 100)
    engine: Engine = case.engine(A3S)
    for count, pair in enumerate(straight):
        if count % 10 == 9:
            engine = case.reload(engine, A3S)
            engine.look_ahead()
        assert engine.question is not None
        assert (engine.question.left, engine.question.right) == pair
        engine.record(case.truth(*pair))


def test_five_in_a_hundred_wrong_and_ten_skipped_do_little_harm(shared_data: Path) -> None:
    case = load(shared_data / "mk100", 0)

    def reached(wrong: float, skipped: float, seed: int = 0) -> float:
        rng = np.random.default_rng(seed)
        engine = case.engine(A3S)
        for _ in range(525):
            if engine.question is None:
                break
            answer = case.truth(engine.question.left, engine.question.right)
            if rng.random() < wrong:
                answer = Answer.DIFFERENT if answer is Answer.SAME else Answer.SAME
            engine.record(Answer.SKIP if rng.random() < skipped else answer)
        check_at_rest(engine)
        return evaluate(engine.labels, case.classes).ari

    right = reached(0.0, 0.0)
    assert right - np.mean([reached(0.05, 0.0, seed) for seed in range(3)]) < 0.10
    assert right - np.mean([reached(0.0, 0.10, seed) for seed in range(3)]) < 0.03


def test_the_next_question_is_there_at_once(shared_data: Path) -> None:
    """CPU time of this thread: other programs may hold the machine busy."""
    case = load(shared_data / "mk100", 0)
    engine = case.engine(A3S)
    seconds = []
    while engine.question is not None and len(seconds) < 400:
        answer = case.truth(engine.question.left, engine.question.right)
        begin = time.thread_time()
        engine.record(answer)
        seconds.append(time.thread_time() - begin)
    assert np.median(seconds) <= 0.012
    assert np.quantile(seconds, 0.99) <= 0.150
