"""Mean and total variance of the features of each cluster, followed through merges and divisions.

In the features themselves, and in a linear transform of them: sums of what came and went are added and taken away, so
that a cluster that changed costs a sum of two vectors, however large it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.partition import Partition
from a3s_desktop.core.products import product
from a3s_desktop.core.types import IntArray

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]

LARGE = 20_000
"""Samples from which on a cluster that changed is renewed from those that came and went: with one rounding more, but
without a look at all of its members."""

BLOCK = 4_096
"""Samples whose features are held at once: memory stays small beside that of the features themselves."""


class Moment(NamedTuple):
    """Of some samples: sums of their features and of their squared lengths, as they are and transformed, and what
    follows from them: mean and total variance."""

    members: IntArray
    total: Vector
    squares: float
    turned_total: Vector
    turned_squares: float
    mean: Vector
    variance: float
    turned_mean: Vector
    turned_variance: float


class Moments:
    """Moments of the clusters of a partition, kept until a cluster changes.

    Parameters
    ----------
    partition : Partition
    rows : callable
        Features of some samples, float64 (m, ΣD).
    turn : float64, shape (ΣD, ΣD)
        The transform.
    saved : mapping, optional
        What `arrays` gave for this state of the partition.
    """

    def __init__(
        self,
        partition: Partition,
        rows: Callable[[IntArray], Matrix],
        turn: Matrix,
        saved: Mapping[str, npt.NDArray[Any]] | None = None,
    ) -> None:
        self._rows, self._turn = rows, turn
        self._members = partition.members
        self._is_large = len(partition.labels) > LARGE
        self._squares = np.full(len(partition.labels), np.nan)  # of samples: squared lengths, transformed, where known
        self._known: dict[int, Moment] = {}
        self._by_first: dict[int, Moment] = {}  # the same by the first sample: what a merge adds was a cluster before
        if saved is not None:
            self._squares[:] = saved["squares"]
            rows_ = zip(saved["measured"].tolist(), saved["sums"], saved["turned_sums"], strict=True)
            for cluster, sums, turned in rows_:
                moment = _moment(self._members(cluster), sums[:-1], float(sums[-1]), turned[:-1], float(turned[-1]))
                self._keep(cluster, moment)

    def of(self, cluster: int) -> Moment:
        """Moments of a cluster that was renewed since it changed."""
        return self._known[cluster]

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """What is known of the clusters as they are, as arrays; single samples are soon looked at again."""
        known = [
            (cluster, moment)
            for cluster, moment in sorted(self._known.items())
            if len(moment.members) > 1 and self._members(cluster) is moment.members
        ]
        sums = np.empty((2, len(known), len(self._turn) + 1))
        for place, (_, one) in enumerate(known):  # row by row: making arrays of numbers holds up all other threads
            sums[0, place, :-1], sums[0, place, -1] = one.total, one.squares
            sums[1, place, :-1], sums[1, place, -1] = one.turned_total, one.turned_squares
        return {
            "measured": np.array([cluster for cluster, _ in known], np.int32),
            "sums": sums[0],
            "turned_sums": sums[1],
            "squares": self._squares,
        }

    def renew(self, clusters: Iterable[int]) -> None:
        """Look at those of some clusters that changed."""
        unknown: list[int] = []
        samples: list[IntArray] = []
        held = 0
        for cluster in clusters:
            members, known = self._members(cluster), self._known.get(cluster)
            if known is not None:
                if known.members is members or np.array_equal(known.members, members):
                    continue
                followed = self._followed(known, members) if self._is_large else None
                if followed is not None:
                    self._keep(cluster, followed)
                    continue
            unknown.append(cluster)
            samples.append(members)
            held += len(members)
            if held >= BLOCK:
                self._keep_all(unknown, samples)
                unknown, samples, held = [], [], 0
        self._keep_all(unknown, samples)

    def _keep_all(self, clusters: list[int], samples: list[IntArray]) -> None:
        for cluster, moment in zip(clusters, self._measured(samples), strict=True):
            self._keep(cluster, moment)

    def _keep(self, cluster: int, moment: Moment) -> None:
        self._known[cluster] = self._by_first[int(moment.members[0])] = moment

    def _measured(self, groups: list[IntArray]) -> list[Moment]:
        if not groups:
            return []
        rows = self._rows(np.concatenate(groups))
        sizes = np.array([len(samples) for samples in groups])
        starts = np.cumsum(sizes) - sizes
        squares = np.add.reduceat((rows**2).sum(axis=1), starts)
        totals = np.add.reduceat(rows, starts, axis=0)
        samples = np.concatenate(groups)
        unknown = np.flatnonzero(np.isnan(self._squares[samples]))
        if len(unknown):
            turned = rows[unknown] @ self._turn
            self._squares[samples[unknown]] = (turned**2).sum(axis=1)
        turned_squares = np.add.reduceat(self._squares[samples], starts)
        turned_totals = product(totals, self._turn)
        return [
            _moment(samples, total, float(square), turned_total, float(turned_square))
            for samples, total, square, turned_total, turned_square in zip(
                groups, totals, squares, turned_totals, turned_squares, strict=True
            )
        ]

    def _followed(self, known: Moment, members: IntArray) -> Moment | None:
        """A cluster renewed from the samples that came and went, where they are few; None where they are many."""
        before = known.members
        came, went = (np.setdiff1d(*pair, assume_unique=True) for pair in ((members, before), (before, members)))
        if 2 * (len(came) + len(went)) >= len(members):
            return None
        total, squares, turned_total, turned_squares = known[1:5]
        for samples, sign in ((came, 1.0), (went, -1.0)):
            if len(samples):
                more = self._by_first.get(int(samples[0]))
                if more is None or not np.array_equal(more.members, samples):  # not a cluster that was known before
                    (more,) = self._measured([samples])
                total, squares = total + sign * more.total, squares + sign * more.squares
                turned_total = turned_total + sign * more.turned_total
                turned_squares += sign * more.turned_squares
        return _moment(members, total, squares, turned_total, turned_squares)


def _moment(members: IntArray, total: Vector, squares: float, turned_total: Vector, turned_squares: float) -> Moment:
    count = len(members)
    mean, turned_mean = total / count, turned_total / count
    variances = (
        max(0.0, square / count - float((middle**2).sum())) if count > 1 else 0.0
        for square, middle in ((squares, mean), (turned_squares, turned_mean))
    )
    variance, turned_variance = variances
    return Moment(members, total, squares, turned_total, turned_squares, mean, variance, turned_mean, turned_variance)
