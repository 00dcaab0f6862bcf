"""Mean and total variance of the features of each cluster, followed through merges and divisions.

In the features themselves, and in a linear transform of them: sums of what came and went are added and taken away, so
that a cluster that changed costs a sum of two vectors, however large it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.partition import Partition
from a3s_desktop.core.products import product
from a3s_desktop.core.room import enlarged
from a3s_desktop.core.runs import missing
from a3s_desktop.core.types import IntArray

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
Clusters = npt.NDArray[np.integer[Any]]

LARGE = 20_000
"""Samples from which on a cluster that changed is renewed from those that came and went: with one rounding more, but
without a look at all of its members."""

BLOCK = 4_096
"""Samples whose features are held at once: memory stays small beside that of the features themselves."""

_ROWS = 1_024  # clusters that are kept or copied in one go
_PAIRS = 64  # pairs whose sums are compared at once: they stay in the processor's own memory
_NOBODY = np.zeros(0, np.int32)


class Gaps(NamedTuple):
    """Of m pairs of clusters: mean squared distances of the features as they are, and transformed, and the number of
    pairs of their samples; all float64 (m,)."""

    plain: Vector
    turned: Vector
    pairs: Vector


class Moments:
    """Moments of the clusters of a partition, kept until a cluster changes.

    Each set of members that was looked at has a place in two tables of sums; a merge finds there what it adds, for it
    was a cluster before. A place is free again when neither a cluster nor a first sample leads to it.

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
        self._members_of, self._changed_at = partition.members, partition.changed_at
        self._is_large = len(partition.labels) > LARGE
        self._squares = np.full(len(partition.labels), np.nan)  # of samples: squared lengths, transformed, where known
        count = partition.n_clusters + partition.n_singletons
        room = count + count // 8 + 256
        # Of each place: sums of the features and of their squared lengths, as they are and transformed.
        self._sums, self._turned = np.empty((room, len(turn) + 1)), np.empty((room, len(turn) + 1))
        self._variances = np.zeros((room, 2))
        self._members: list[IntArray] = [_NOBODY] * room
        self._sizes = np.zeros(room)
        self._uses = np.zeros(room, np.int8)
        self._free = list(range(room - 1, -1, -1))
        # Places by cluster and by first sample, -1 where there is none.
        self._place = np.full(partition.next_id, -1, np.int32)
        self._looked_at = np.zeros(partition.next_id, np.int64)  # the partition's version then
        self._by_first = np.full(len(partition.labels), -1, np.int32)
        if saved is not None:
            self._squares[:] = saved["squares"]
            members = [self._members_of(cluster) for cluster in saved["measured"].tolist()]
            self._keep(saved["measured"].tolist(), members, saved["sums"], saved["turned_sums"])

    def gaps(self, first: Clusters, second: Clusters) -> Gaps:
        """How far some pairs of clusters are apart, which were renewed since they changed.

        Parameters
        ----------
        first, second : int, shape (m,)
        """
        one, other = self._place[first], self._place[second]
        sizes, others = self._sizes[one], self._sizes[other]
        plain, turned = np.empty(len(one)), np.empty(len(one))
        for at in range(0, len(one), _PAIRS):
            part = slice(at, at + _PAIRS)
            for table, gap in ((self._sums, plain), (self._turned, turned)):
                apart, means = table[one[part]], table[other[part]]
                apart /= sizes[part, None]
                means /= others[part, None]
                apart -= means
                np.einsum("nd,nd->n", apart[:, :-1], apart[:, :-1], out=gap[part])
        variances = self._variances[one] + self._variances[other]
        return Gaps(plain + variances[:, 0], turned + variances[:, 1], sizes * others)

    def renew(self, clusters: npt.NDArray[np.int64]) -> None:
        """Look at those of some clusters, int64 (m,), that changed."""
        ids = int(clusters.max(initial=0)) + 1
        if ids > len(self._place):
            self._place, self._looked_at = enlarged(self._place, ids + 256, -1), enlarged(self._looked_at, ids + 256)
        changed_at = self._changed_at(clusters)
        changed = (self._place[clusters] < 0) | (changed_at != self._looked_at[clusters])
        clusters, changed_at = clusters[changed], changed_at[changed]
        unknown: list[int] = []
        samples: list[IntArray] = []
        held = 0
        for cluster, place in zip(clusters.tolist(), self._place[clusters].tolist(), strict=True):
            members = self._members_of(cluster)
            if place >= 0:
                known = self._members[place]
                if known is members or np.array_equal(known, members):
                    continue
                followed = self._followed(place, members) if self._is_large else None
                if followed is not None:
                    self._keep([cluster], [members], *followed)
                    continue
            unknown.append(cluster)
            samples.append(members)
            held += len(members)
            if held >= BLOCK:
                self._keep(unknown, samples, *self._measured(samples))
                unknown, samples, held = [], [], 0
        if unknown:
            self._keep(unknown, samples, *self._measured(samples))
        self._looked_at[clusters] = changed_at

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """What is known of the clusters as they are, as arrays; single samples are soon looked at again."""
        known = [
            (cluster, place)
            for cluster, place in enumerate(self._place.tolist())
            if place >= 0 and len(self._members[place]) > 1 and self._members_of(cluster) is self._members[place]
        ]
        places = np.array([place for _, place in known], np.int64)
        sums = np.empty((2, len(known), len(self._turn) + 1))
        for at in range(0, len(known), _ROWS):  # in parts: one long copy would hold up all other threads
            part = places[at : at + _ROWS]
            sums[0, at : at + _ROWS], sums[1, at : at + _ROWS] = self._sums[part], self._turned[part]
        return {
            "measured": np.array([cluster for cluster, _ in known], np.int32),
            "sums": sums[0],
            "turned_sums": sums[1],
            "squares": self._squares,
        }

    # --- inner workings

    def _keep(self, clusters: Sequence[int], members: Sequence[IntArray], sums: Matrix, turned: Matrix) -> None:
        """Give each of some clusters a place."""
        for at in range(0, len(clusters), _ROWS):
            places = self._take(min(_ROWS, len(clusters) - at))
            sizes = np.fromiter(map(len, members[at : at + _ROWS]), np.float64, len(places))
            for kind, table, some in ((0, self._sums, sums), (1, self._turned, turned)):
                table[places] = some[at : at + _ROWS]
                self._variances[places, kind] = _variances(some[at : at + _ROWS], sizes)
            self._sizes[places] = sizes
            for place, cluster, own in zip(places, clusters[at:], members[at:], strict=False):
                self._members[place] = own
                self._lead(self._place, cluster, place)
                self._lead(self._by_first, int(own[0]), place)

    def _lead(self, places: IntArray, key: int, place: int) -> None:
        old = int(places[key])
        places[key] = place
        self._uses[place] += 1
        if old >= 0:
            self._uses[old] -= 1
            if not self._uses[old]:
                self._members[old] = _NOBODY
                self._free.append(old)

    def _take(self, count: int) -> list[int]:
        if len(self._free) < count:
            old = len(self._members)
            more = max(count, old // 8)
            room = old + more
            self._sums, self._turned = enlarged(self._sums, room), enlarged(self._turned, room)
            self._variances, self._sizes = enlarged(self._variances, room), enlarged(self._sizes, room)
            self._uses = enlarged(self._uses, room)
            self._members += [_NOBODY] * more
            self._free += range(old + more - 1, old - 1, -1)
        taken = self._free[: -count - 1 : -1]
        del self._free[-count:]
        return taken

    def _measured(self, groups: Sequence[IntArray]) -> tuple[Matrix, Matrix]:
        """Sums over the members of some groups."""
        samples = np.concatenate(groups)
        rows = self._rows(samples)
        sizes = np.fromiter(map(len, groups), np.int64, len(groups))
        starts = np.cumsum(sizes) - sizes
        width = rows.shape[1]
        sums, turned_sums = np.empty((len(groups), width + 1)), np.empty((len(groups), width + 1))
        sums[:, -1] = np.add.reduceat((rows**2).sum(axis=1), starts)
        totals = np.add.reduceat(rows, starts, axis=0)
        unknown = np.flatnonzero(np.isnan(self._squares[samples]))
        if len(unknown):
            turned = rows[unknown] @ self._turn
            self._squares[samples[unknown]] = (turned**2).sum(axis=1)
        turned_sums[:, -1] = np.add.reduceat(self._squares[samples], starts)
        sums[:, :-1], turned_sums[:, :-1] = totals, product(totals, self._turn)
        return sums, turned_sums

    def _followed(self, place: int, members: IntArray) -> tuple[Matrix, Matrix] | None:
        """A cluster renewed from the samples that came and went, where they are few; None where they are many."""
        before = self._members[place]
        came, went = missing(members, before), missing(before, members)
        if 2 * (len(came) + len(went)) >= len(members):
            return None
        sums, turned = self._sums[[place]], self._turned[[place]]
        for samples, sign in ((came, 1.0), (went, -1.0)):
            if len(samples):
                more = int(self._by_first[samples[0]])
                if more >= 0 and np.array_equal(self._members[more], samples):
                    sums, turned = sums + sign * self._sums[more], turned + sign * self._turned[more]
                else:  # not a cluster that was known before
                    measured = self._measured([samples])
                    sums, turned = sums + sign * measured[0], turned + sign * measured[1]
        return sums, turned


def _variances(sums: Matrix, sizes: Vector) -> Vector:
    """Total variances from sums of values and of squares; 0 for single samples."""
    middles = sums[:, :-1] / sizes[:, None]
    found: Vector = np.maximum(0.0, sums[:, -1] / sizes - (middles**2).sum(axis=1))
    found[sizes == 1.0] = 0.0
    return found
