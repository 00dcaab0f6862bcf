"""Where the facts of each pair of linked clusters stand, found from either cluster."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

Places = npt.NDArray[np.int64]


class PairIndex:
    """For each cluster, the others that it is paired with and the slot of each pair.

    The pairs that it starts with are three sorted arrays: 16 bytes a pair, for there may be many millions. Clusters
    whose pairs change get a dictionary of their own.

    Parameters
    ----------
    pairs : int, shape (m, 2)
        Ids of clusters, the smaller one first, in ascending order; pair k has slot k.
    """

    def __init__(self, pairs: npt.NDArray[np.integer[Any]]) -> None:
        # Smaller ids of a cluster's pairs come before larger ones, and both ascend: so do its whole pairs.
        own = np.concatenate((pairs[:, 1], pairs[:, 0])).astype(np.int32)
        order = np.argsort(own, kind="stable")
        self._starts = np.concatenate(([0], np.cumsum(np.bincount(own)))) if len(own) else np.zeros(1, np.int64)
        del own
        self._others = np.concatenate((pairs[:, 0], pairs[:, 1])).astype(np.int32)[order]
        order[order >= len(pairs)] -= len(pairs)
        self._slots = order.astype(np.int32)
        self._rows: dict[int, dict[int, int]] = {}

    def slot(self, a: int, b: int) -> int:
        """The slot of a pair, -1 where there is none."""
        for one, other in ((a, b), (b, a)):
            row = self._rows.get(one)
            if row is not None:
                return row.get(other, -1)
        begin, end = self._span(a)
        at = begin + int(np.searchsorted(self._others[begin:end], b))
        return int(self._slots[at]) if at < end and self._others[at] == b else -1

    def row(self, cluster: int) -> tuple[Places, Places]:
        """The other clusters of all pairs of a cluster, and the pairs' slots, in no order that has a meaning."""
        row = self._rows.get(cluster)
        if row is not None:
            return np.fromiter(row, np.int64, len(row)), np.fromiter(row.values(), np.int64, len(row))
        begin, end = self._span(cluster)
        return self._others[begin:end].astype(np.int64), self._slots[begin:end].astype(np.int64)

    def slots(self, clusters: Iterable[int]) -> tuple[Places, Places]:
        """How many pairs each of some clusters has, and the slots of all of them, cluster by cluster."""
        found = [self._slots_of(cluster) for cluster in clusters]
        counts = np.fromiter(map(len, found), np.int64, len(found))
        return counts, np.concatenate([*found, np.zeros(0, np.int32)]).astype(np.int64)

    def find(self, cluster: int, others: Places) -> Places:
        """The slots of the pairs of a cluster with some others, -1 where there is none."""
        row = self._own(cluster)
        return np.fromiter((row.get(other, -1) for other in others.tolist()), np.int64, len(others))

    def put(self, cluster: int, others: Places, slots: Places) -> None:
        """Add pairs of a cluster."""
        row = self._own(cluster)
        for other, slot in zip(others.tolist(), slots.tolist(), strict=True):
            row[other] = slot
            self._own(other)[cluster] = slot

    def drop(self, cluster: int, others: Places) -> None:
        """Remove pairs of a cluster, all of which there are."""
        row = self._own(cluster)
        for other in others.tolist():
            del row[other], self._own(other)[cluster]

    # --- inner workings

    def _span(self, cluster: int) -> tuple[int, int]:
        if cluster + 1 >= len(self._starts):
            return 0, 0
        return int(self._starts[cluster]), int(self._starts[cluster + 1])

    def _slots_of(self, cluster: int) -> npt.NDArray[np.int32]:
        row = self._rows.get(cluster)
        if row is not None:
            return np.fromiter(row.values(), np.int32, len(row))
        begin, end = self._span(cluster)
        return self._slots[begin:end]

    def _own(self, cluster: int) -> dict[int, int]:
        row = self._rows.get(cluster)
        if row is None:
            begin, end = self._span(cluster)
            pairs = zip(self._others[begin:end].tolist(), self._slots[begin:end].tolist(), strict=True)
            row = self._rows[cluster] = dict(pairs)
        return row
