"""Small data sets, a plain way to make their graph, and what must hold whenever an engine is at rest."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from a3s_desktop.core.correction import Correction
from a3s_desktop.core.engine import Engine
from a3s_desktop.core.types import Answer, InitialState, PairGraph, StrategyOptions
from a3s_desktop.errors import ContradictionError

Pair = tuple[int, int]


def graph_of(n: int, probability: Mapping[Pair, float], miss: float = -4.0) -> PairGraph:
    """The graph with these edges and no others."""
    both = {**probability, **{(j, i): p for (i, j), p in probability.items()}}
    rows = [sorted((j, p) for (k, j), p in both.items() if k == i) for i in range(n)]
    p = np.array([p for row in rows for _, p in row], np.float64)
    return PairGraph(
        indptr=np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64),
        indices=np.array([j for row in rows for j, _ in row], np.int32),
        distances=(1.0 - p)[None].astype(np.float32),
        logodds=np.log(p / (1.0 - p)).astype(np.float32),
        miss=miss,
    )


@dataclass(frozen=True)
class Case:
    """Everything an engine needs, and the truth."""

    initial: InitialState
    views: tuple[np.ndarray, ...]
    classes: np.ndarray

    @property
    def n(self) -> int:
        return len(self.classes)

    def engine(self, options: StrategyOptions | None = None) -> Engine:
        return Engine(self.initial, self.views, options or StrategyOptions("a3s-paper"))

    def reload(self, engine: Engine, options: StrategyOptions | None = None, facts: bool = False) -> Engine:
        return Engine.load(self.initial, self.views, options or StrategyOptions("a3s-paper"), *engine.dump(facts))

    def truth(self, left: int, right: int) -> Answer:
        return Answer.SAME if self.classes[left] == self.classes[right] else Answer.DIFFERENT


def case_of(
    labels: Sequence[int], classes: Sequence[int], probability: Mapping[Pair, float], features: np.ndarray
) -> Case:
    graph = graph_of(len(labels), probability)
    initial = InitialState(np.array(labels, np.int32), graph, {})
    return Case(initial, (np.asarray(features, np.float32),), np.array(classes))


def random_case(seed: int, n: int, classes: int, mixed: float = 0.2) -> Case:
    """Points around class centres, a noisy graph between near ones, and an initial clustering with mistakes in it."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, n)
    features = rng.normal(size=(classes, 3))[truth] * 2.0 + rng.normal(size=(n, 3))
    distance = np.linalg.norm(features[:, None] - features[None], axis=2)
    near = np.argsort(distance + np.eye(n) * 1e9, axis=1)[:, : min(6, n - 1)]
    pairs = {(min(i, int(j)), max(i, int(j))) for i in range(n) for j in near[i]}
    probability = {pair: float(1.0 / (1.0 + np.exp(2.0 * distance[pair] - 3.0 + rng.normal()))) for pair in pairs}
    labels = truth * 2 + rng.integers(0, 2, n)  # two clusters for each class, some samples astray
    astray = rng.random(n) < mixed
    labels[astray] = rng.integers(0, 2 * classes + 3, int(astray.sum()))
    return case_of(np.unique(labels, return_inverse=True)[1].tolist(), truth.tolist(), probability, features)


def check_at_rest(engine: Engine) -> None:
    """What holds whenever a question is open, or none is left."""
    labels, junk = engine.labels, engine.junk
    for left, right, answer in engine.store.constraints():
        if not (junk[left] or junk[right]):
            assert (labels[left] == labels[right]) == (answer is Answer.SAME), (left, right, answer)
    for sample in range(len(labels)):
        if junk[sample]:
            assert np.count_nonzero(labels == labels[sample]) == 1
        else:
            mates = [i for i in engine.store.component(sample) if not junk[i]]
            assert (labels[mates] == labels[sample]).all()
    partition = engine.partition
    ids, sizes = np.unique(labels, return_counts=True)
    assert partition.cluster_ids().tolist() == ids.tolist()
    assert partition.n_clusters == np.count_nonzero(sizes > 1)
    assert partition.n_singletons == np.count_nonzero(sizes == 1)
    for cluster in ids.tolist():
        assert partition.members(cluster).tolist() == np.flatnonzero(labels == cluster).tolist()
    assert partition.next_id > ids.max()
    question = engine.question
    if question is not None:
        assert question.left != question.right
        assert engine.store.relation(question.left, question.right) is None
        assert not engine.store.is_skipped(question.left, question.right)
        for sample in (question.left, question.right):
            assert not junk[sample]
            assert not engine.finished.values[labels == labels[sample]].all()
        assert (question.left_cluster, question.right_cluster) == (labels[question.left], labels[question.right])
        assert 0.0 <= question.probability <= 1.0


CORRECTIONS = st.tuples(
    st.just("correct"),
    st.sampled_from(("merge", "take out", "move", "cut", "junk", "restore", "finish", "reopen", "requeue")),
    st.integers(0, 39),
    st.integers(0, 39),
    st.integers(1, 4),
)
"""To be given to `correction_of`."""


def correction_of(engine: Engine, kind: str, first: int, second: int, count: int) -> Correction | None:
    """A correction as the window could make it, or one that contradicts; None where there is nothing to correct."""
    n = len(engine.labels)
    first, second = first % n, second % n
    members = engine.partition.members(int(engine.labels[first])).tolist()
    some = tuple(members[:count])
    chain = tuple(itertools.pairwise(some))
    if kind in ("junk", "restore", "finish", "reopen"):
        return Correction(**{kind: tuple(members) if kind in ("finish", "reopen") else some})
    if kind == "requeue":
        return Correction(requeue=True)
    if first == second:
        return None
    if kind == "merge":
        return Correction(together=((first, second),))
    if kind == "cut":
        return Correction(apart=((first, second),))
    rest = [i for i in members if i not in some]
    apart = ((some[0], rest[0]),) if rest else ()
    if kind == "take out":
        return Correction(leave=(some,), together=chain, apart=apart)
    target = [(some[0], second)] if second not in members else []
    return Correction(leave=(some,), together=(*chain, *target), apart=apart)


def correct(engine: Engine, correction: Correction) -> bool:
    """Carry a correction out; False where earlier answers say otherwise, and then nothing was changed."""
    before, question, mark = engine.digest(), engine.question, engine.mark()
    try:
        engine.correct(correction)
    except ContradictionError as error:
        refused = error
    else:
        return True
    assert refused.chain
    assert (engine.digest(), engine.question, engine.mark()) == (before, question, mark)
    return False
