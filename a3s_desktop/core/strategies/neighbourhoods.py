"""What FFQS, NPU and URASC share: one sample at a time is asked against the identities known so far."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.context import Context
from a3s_desktop.core.strategies.reclustering import Reclustering
from a3s_desktop.core.types import Answer, IntArray

ATTEMPTS = 2
"""Members of one neighbourhood that a sample is asked against where the first pair is skipped."""


@dataclass(frozen=True, slots=True)
class Neighbourhoods:
    """Must-link components that stand for identities: all known (or asked) to differ from each other.

    Attributes
    ----------
    founders : tuple of int
        One sample of each, in the order they were founded.
    members : tuple of int32 arrays
    group : int32, shape (N,)
        Position of each sample's neighbourhood, -1 outside.
    """

    founders: tuple[int, ...]
    members: tuple[IntArray, ...]
    group: IntArray

    @classmethod
    def of(cls, context: Context) -> Neighbourhoods:
        """The neighbourhoods of the founders in the context; founders that turned out to be one count once."""
        store = context.store
        first: dict[int, int] = {}
        for founder in context.values["founders"].tolist():
            first.setdefault(store.find(founder), founder)
        founders = tuple(first.values())
        members = tuple(np.array(store.component(founder), np.int32) for founder in founders)
        group = np.full(context.graph.n, -1, np.int32)
        for at, own in enumerate(members):
            group[own] = at
        return cls(founders, members, group)


class NeighbourhoodStrategy(Reclustering):
    """Chooses a sample, asks it against neighbourhoods until *same*, and goes on to the next.

    Where a pair is skipped, another member of that neighbourhood may stand in (`ATTEMPTS`); a sample about which
    nothing can be asked any more is left out. Only a sample that differs from all neighbourhoods founds a new one.

    State in the context: values ``founders`` (int64 array, see `Neighbourhoods`) and ``current`` (the sample that is
    being asked about, or -1).
    """

    # --- what a strategy adds

    def _first(self, context: Context) -> int:
        """The founder of the first neighbourhood: any sample."""
        return int(self._rng(context).integers(context.graph.n))

    @abstractmethod
    def _choose(self, context: Context, known: Neighbourhoods, candidates: npt.NDArray[np.int64]) -> int:
        """The next sample to ask about, one of the ascending ``candidates``."""

    @abstractmethod
    def _distances(self, context: Context, known: Neighbourhoods, sample: int) -> npt.NDArray[np.float64]:
        """What puts the neighbourhoods in order for a sample, the least first, float64 (number of them,)."""

    def _may_found(self, context: Context, known: Neighbourhoods) -> bool:  # noqa: ARG002 - some need it
        """Whether a sample that differs from all neighbourhoods becomes one."""
        return True

    # --- the common part

    def begin(self, context: Context) -> None:
        """Cluster without answers, and found the first neighbourhood, which takes no answer."""
        super().begin(context)
        context.values["founders"] = np.array([self._first(context)], np.int64)
        context.values["current"] = -1

    def _pair(self, context: Context) -> tuple[int, int] | None:
        while True:
            known = Neighbourhoods.of(context)
            sample = int(context.values["current"])
            if sample < 0 or not (partners := self._partners(context, known, sample)):
                if sample >= 0 and self._is_foreign(context, known, sample) and self._may_found(context, known):
                    context.values["founders"] = np.append(context.values["founders"], sample)
                    context.values["current"] = -1
                    continue
                candidates = self._candidates(context, known)
                if not len(candidates):
                    return None
                context.values["current"] = self._choose(context, known, candidates)
                continue
            distances = self._distances(context, known, sample).round(9)
            nearest = min(partners, key=lambda at: (distances[at], at))
            return partners[nearest], sample

    def _candidates(self, context: Context, known: Neighbourhoods) -> npt.NDArray[np.int64]:
        """Samples outside all neighbourhoods that something can be learnt about, ascending."""
        if not (self._open(context, known) or self._may_found(context, known)):
            return np.zeros(0, np.int64)
        store = context.store
        candidates = (known.group < 0) & ~np.isin(context.partition.labels, context.barred())
        touched = set(store.touched())
        touched.update(i for left, right, _ in store.skipped() for i in (left, right))
        for sample in sorted(touched):
            if candidates[sample] and not self._partners(context, known, sample):
                foreign = self._is_foreign(context, known, sample)
                candidates[sample] = foreign and self._may_found(context, known)
        return np.flatnonzero(candidates)

    def _is_foreign(self, context: Context, known: Neighbourhoods, sample: int) -> bool:
        relation = context.store.relation
        return all(relation(sample, founder) is Answer.DIFFERENT for founder in self._open(context, known))

    def _open(self, context: Context, known: Neighbourhoods) -> list[int]:
        """The founders of neighbourhoods that something may be asked about."""
        return [founder for founder in known.founders if not context.is_barred(context.home(founder))]

    def _partners(self, context: Context, known: Neighbourhoods, sample: int) -> dict[int, int]:
        """The neighbourhoods that a sample can be asked against, and the member of each to ask: the nearest one."""
        store = context.store
        if known.group[sample] >= 0 or context.is_barred(context.partition.cluster_of(sample)):
            return {}
        partners: dict[int, int] = {}
        features: npt.NDArray[np.float32] | None = None
        for at, founder in enumerate(known.founders):
            if store.relation(sample, founder) is not None:
                continue
            if context.is_barred(context.home(founder)):
                continue
            members = known.members[at][~context.junk.values[known.members[at]]]
            if store.n_skipped:
                skipped = np.array([store.is_skipped(sample, i) for i in members.tolist()])
                if skipped.sum() >= ATTEMPTS or skipped.all():
                    continue
                members = members[~skipped]
            if len(members) > 1:
                features = self.features(context) if features is None else features
                apart = ((features[members] - features[sample]) ** 2).sum(axis=1).round(6)
                partners[at] = int(members[apart.argmin()])
            else:
                partners[at] = int(members[0])
        return partners

    def _affinities(self, context: Context, known: Neighbourhoods) -> npt.NDArray[np.float64]:
        """Mean P(same class) of every sample with the members of each neighbourhood, float64 (N, neighbourhoods).

        Pairs that are no edge of the neighbour graph have the graph's probability of a miss.
        """
        graph, count = context.graph, len(known.founders)
        miss = 1.0 / (1.0 + np.exp(-graph.miss))
        target = known.group[graph.indices]
        edges = np.flatnonzero(target >= 0)
        rows = np.repeat(np.arange(graph.n), np.diff(graph.indptr))[edges]
        p = 1.0 / (1.0 + np.exp(-graph.logodds[edges].astype(np.float64)))
        total = np.bincount(rows * count + target[edges], p - miss, minlength=graph.n * count)
        sizes = np.array([len(own) for own in known.members], np.float64)
        return np.asarray((total.reshape(graph.n, count) / sizes + miss).round(9), np.float64)

    def _open_shares(
        self, context: Context, known: Neighbourhoods, candidates: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64]:
        """P(candidate is of each neighbourhood), in proportion to affinity, 0 where it is known to differ."""
        shares = self._affinities(context, known)[candidates]
        store, founder_roots = context.store, [context.store.find(founder) for founder in known.founders]
        for at, sample in enumerate(candidates.tolist()):
            if store.is_touched(sample):
                apart = set(store.separated_from(sample).tolist())
                shares[at, [root in apart for root in founder_roots]] = 0.0
        total = shares.sum(axis=1, keepdims=True)
        return np.asarray(shares / np.where(total > 0.0, total, 1.0), np.float64)
