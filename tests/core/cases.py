"""Small data sets, a plain way to make their graph, and what must hold whenever an engine is at rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from a3s_desktop.core.engine import Engine
from a3s_desktop.core.types import Answer, InitialState, PairGraph, StrategyOptions

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

    def reload(self, engine: Engine, options: StrategyOptions | None = None) -> Engine:
        return Engine.load(self.initial, self.views, options or StrategyOptions("a3s-paper"), *engine.dump())

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
    labels = engine.labels
    for left, right, answer in engine.store.constraints():
        assert (labels[left] == labels[right]) == (answer is Answer.SAME), (left, right, answer)
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
        assert (question.left_cluster, question.right_cluster) == (labels[question.left], labels[question.right])
        assert 0.0 <= question.probability <= 1.0
