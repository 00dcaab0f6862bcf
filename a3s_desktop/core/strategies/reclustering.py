"""What the strategies share that cluster anew as answers come in: when, and how the partition follows each answer."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from a3s_desktop.core.context import Context, Step
from a3s_desktop.core.pckmeans import Closure, Clustering, pckmeans, repair
from a3s_desktop.core.types import Answer, FloatArray, IntArray, Reason
from a3s_desktop.errors import InputError
from a3s_desktop.i18n import tr

EVERY = 10
"""Answers between two clusterings."""


def number_wanted(context: Context) -> int:
    """K as the user gave it. Raises `InputError` where it is missing or does not fit the data."""
    context.options.check()
    clusters, n = context.options.clusters or 0, context.graph.n
    if not 1 <= clusters <= n:
        raise InputError(
            tr(
                "The number of clusters must be between 1 and {count}, the number of images, not {clusters}.",
                count=n,
                clusters=clusters,
            )
        )
    return clusters


class Reclustering(ABC):
    """A strategy that chooses pairs one by one, and clusters anew after every 10 answers and at the end.

    The engine is pulled and does not know of checkpoints: whoever looks at the partition at a multiple of `EVERY`
    answers, or when nothing is left to ask, sees a new clustering; in between, that of the last time. Answers are
    carried out at once: the one must-link component that an answer forbids to stay where it is moves, to the nearest
    cluster without anything it is known to differ from. So the partition never contradicts an answer, although
    PCKMeans itself may (see `repair`).

    Each step asks one question, so that to undo an answer, or to look ahead, costs one choice and no clustering.

    State in the context: value ``clustered_at`` (number of constraints at the last clustering), and what subclasses
    add. What is kept on the object is read from the data alone.
    """

    def __init__(self) -> None:
        self._features: FloatArray | None = None

    # --- what a strategy adds

    @abstractmethod
    def _pair(self, context: Context) -> tuple[int, int] | None:
        """The pair to ask, of unknown relation and not skipped; None where nothing is left."""

    def _cluster(self, context: Context, closure: Closure) -> Clustering:
        """A clustering from all answers so far: PCKMeans."""
        return pckmeans(self.features(context), closure, number_wanted(context), self._rng(context))

    # --- protocol

    def begin(self, context: Context) -> None:
        """Cluster without answers."""
        number_wanted(context)
        self._recluster(context)

    def next_step(self, context: Context) -> Step | None:
        """A new clustering where it is due, else one question."""
        fresh = context.store.n_constraints - context.values["clustered_at"]
        if abs(fresh) >= EVERY:
            return self._clustering_step(context)
        pair = self._pair(context)
        if pair is not None:
            return self._question_step(context, *pair)
        return self._clustering_step(context) if fresh else None

    def reconsider(self, context: Context) -> None:  # noqa: B027 - no strategy needs more
        """Nothing to do: pairs are chosen from what is open now."""

    # --- for subclasses

    def features(self, context: Context) -> FloatArray:
        """All features side by side, each view with a total variance of one, float32 (N, ΣD)."""
        if self._features is None:
            self._features = context.rows(np.arange(context.graph.n, dtype=np.int32))
        return self._features

    def _rng(self, context: Context) -> np.random.Generator:
        """Chance that hangs on the seed and on how far the answers are: equal when a step is run again."""
        store = context.store
        return np.random.default_rng((context.options.seed, store.n_constraints, store.n_skipped))

    # --- steps

    def _question_step(self, context: Context, left: int, right: int) -> Step:
        answer = yield from context.ask(left, right, Reason.PAIR)
        if answer is not Answer.SKIP:
            self._carry_out(context, left, right)
        return answer

    def _clustering_step(self, context: Context) -> Step:
        yield from ()  # a step is a generator, also where it asks nothing
        self._recluster(context)
        return None

    def _recluster(self, context: Context) -> None:
        closure = Closure.of(context.store, context.graph.n)
        context.relabel(repair(self._cluster(context, closure), closure))
        context.values["clustered_at"] = context.store.n_constraints

    # --- carrying an answer out

    def _carry_out(self, context: Context, left: int, right: int) -> None:
        """Move one must-link component, if the partition disagrees with what is now known of a pair."""
        store, labels = context.store, context.partition.labels
        together = store.relation(left, right) is Answer.SAME
        if together == (labels[left] == labels[right]):
            return
        own = store.component(left)
        if not together:
            own = min(own, store.component(right), key=lambda part: (len(part), part))
        members = np.array([i for i in own if not context.junk[i]], np.int32)
        self._move(context, members, self._home(context, members))

    def _home(self, context: Context, own: IntArray) -> int | None:
        """The cluster for a component: where most of it is, else the nearest; None where all hold what differs."""
        partition, store = context.partition, context.store
        apart = [context.home(root) for root in store.separated_from(int(own[0])).tolist()] + context.barred().tolist()
        here, counts = np.unique(partition.labels[own], return_counts=True)
        allowed = ~np.isin(here, apart)
        if allowed.any():
            return int(here[allowed][counts[allowed].argmax()])
        free = np.setdiff1d(partition.cluster_ids(), apart)
        if not len(free):
            return None
        features = self.features(context)
        means = np.stack([features[partition.members(int(c))].mean(axis=0, dtype=np.float64) for c in free])
        distance = ((means - features[own].mean(axis=0, dtype=np.float64)) ** 2).sum(axis=1).round(9)
        return int(free[distance.argmin()])

    def _move(self, context: Context, own: IntArray, home: int | None) -> None:
        partition = context.partition
        for sample in own[np.unique(partition.labels[own], return_index=True)[1]].tolist():
            cluster = partition.cluster_of(sample)  # not known before: a merge may have kept the other id
            if cluster == home:
                continue
            members = partition.members(cluster)
            mine = np.intersect1d(members, own, assume_unique=True)
            if len(mine) < len(members):
                partition.split(cluster, (np.setdiff1d(members, mine, assume_unique=True), mine))
            moved = partition.cluster_of(sample)
            home = moved if home is None else partition.merge(moved, home)
