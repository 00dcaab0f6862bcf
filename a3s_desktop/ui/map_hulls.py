"""Outlines of clusters: for each the smallest polygon with sides in given directions around its core. Numpy only.

A convex hull would follow a single stray image across the map. So images far from the middle of their cluster (by the
median distance) are left out. All clusters are computed together, one `numpy.maximum.reduceat` per direction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.types import IndexArray, IntArray

SIDES = 18
LEAST = 3  # images of a cluster that gets an outline
_FAR = 3.5  # times the median distance from the middle
_BATCH = 4000  # images in one step of the work, about 5 ms

_ANGLES = np.arange(SIDES) * (2 * np.pi / SIDES)
_COS, _SIN = np.cos(_ANGLES).astype(np.float32), np.sin(_ANGLES).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Hulls:
    """Outlines, the largest cluster first.

    Attributes
    ----------
    clusters : int32, shape (C,)
    sizes : int64, shape (C,)
        Images of each cluster.
    corners : float32, shape (C, SIDES, 2)
        In map coordinates.
    centres : float32, shape (C, 2)
        Medians of the positions: where a label belongs.
    radii : float32, shape (C,)
        Half of the outline's longer extent.
    """

    clusters: IntArray
    sizes: npt.NDArray[np.int64]
    corners: npt.NDArray[np.float32]
    centres: npt.NDArray[np.float32]
    radii: npt.NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.clusters)


def no_hulls() -> Hulls:
    """None at all."""
    return Hulls(
        np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros((0, SIDES, 2), np.float32),
        np.zeros((0, 2), np.float32), np.zeros(0, np.float32),
    )  # fmt: skip


def outlines(x: npt.NDArray[np.float32], y: npt.NDArray[np.float32], labels: IntArray, pad: float) -> Hulls:
    """Outlines of all clusters of at least `LEAST` images.

    Parameters
    ----------
    x, y : float32, shape (n,)
    labels : int32, shape (n,)
    pad : float
        Room between the outermost images and the outline, in map coordinates.
    """
    order = np.argsort(labels, kind="stable")
    starts, sizes = _runs(labels[order])
    large = sizes >= LEAST
    order = order[np.repeat(large, sizes)]
    if not len(order):
        return no_hulls()
    clusters, sizes = labels[order], sizes[large]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    group = np.repeat(np.arange(len(sizes)), sizes)
    px, py = x[order], y[order]
    middle = np.stack([_medians(px, group, starts, sizes), _medians(py, group, starts, sizes)], axis=1)
    away = np.hypot(px - middle[group, 0], py - middle[group, 1])
    reach = _medians(away, group, starts, sizes) * np.float32(_FAR) + np.float32(pad)
    near = away <= reach[group]  # at least half of each cluster
    px, py, kept = px[near], py[near], np.bincount(group[near], minlength=len(sizes))
    begins = np.concatenate([[0], np.cumsum(kept)[:-1]])
    support = np.empty((len(sizes), SIDES), np.float32)
    for side in range(SIDES):
        support[:, side] = np.maximum.reduceat(px * _COS[side] + py * _SIN[side], begins)
    support += np.float32(pad)
    # Each corner is where two neighbouring sides meet.
    after, step = np.roll(support, -1, axis=1), np.float32(np.sin(2 * np.pi / SIDES))
    corners = np.stack(
        [
            (support * np.roll(_SIN, -1) - after * _SIN) / step,
            (after * _COS - support * np.roll(_COS, -1)) / step,
        ],
        axis=2,
    )
    radii = (corners.max(axis=1) - corners.min(axis=1)).max(axis=1) / 2
    return Hulls(clusters[starts].astype(np.int32), sizes, corners, middle.astype(np.float32), radii)


def _runs(ordered: IntArray) -> tuple[IndexArray, IndexArray]:
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    return starts, np.diff(starts, append=len(ordered))


def _medians(
    values: npt.NDArray[np.float32], group: IndexArray, starts: IndexArray, sizes: npt.NDArray[np.int64]
) -> npt.NDArray[np.float32]:
    """Lower median of each group."""
    if len(sizes) == 1:  # one cluster that is larger than a step of the work: putting it in order would be too long
        middle = (len(values) - 1) // 2
        return np.asarray(np.partition(values, middle)[middle : middle + 1], np.float32)
    ordered = values[np.lexsort((values, group))]
    return np.asarray(ordered[starts + (sizes - 1) // 2], np.float32)


class HullStore:
    """Outlines of all clusters, brought up to date in small steps so that the window never waits.

    Parameters
    ----------
    x, y : float32, shape (N,)
        Positions by item.
    """

    def __init__(self, x: npt.NDArray[np.float32], y: npt.NDArray[np.float32]) -> None:
        self.hulls = no_hulls()
        self._x, self._y = x, y
        self._labels = np.zeros(0, np.int32)
        self._shown: npt.NDArray[np.bool_] | None = None
        self._pending = np.zeros(0, np.int64)  # clusters to be computed, the largest first
        self._sizes = np.zeros(0, np.int64)
        extent = float(np.hypot(np.ptp(x), np.ptp(y))) if len(x) else 0.0
        self._pad = 0.25 * extent / max(len(x), 1) ** 0.5

    def set_labels(
        self,
        labels: IntArray,
        sizes: npt.NDArray[np.int64],
        shown: npt.NDArray[np.bool_] | None,
        changed: IndexArray | None,
    ) -> None:
        """Take over new clusters.

        Parameters
        ----------
        labels : int32, shape (N,)
        sizes : int64, by cluster id
            Items of each cluster that count.
        shown : bool, shape (N,), optional
            Items that count; junk does not.
        changed : int, optional
            Ids of the clusters that are not as before; None: all.
        """
        self._labels = labels
        self._shown = shown
        self._sizes = sizes
        if changed is None:
            self.hulls = no_hulls()
            waiting = np.arange(len(self._sizes))
        else:
            kept = ~np.isin(self.hulls.clusters, changed)
            self.hulls = _chosen(self.hulls, np.flatnonzero(kept))
            waiting = np.union1d(self._pending, changed)
            waiting = waiting[waiting < len(self._sizes)]
        waiting = waiting[self._sizes[waiting] >= LEAST]
        self._pending = waiting[np.argsort(-self._sizes[waiting], kind="stable")]

    @property
    def pending(self) -> bool:
        """Whether there is work left."""
        return len(self._pending) > 0

    def step(self) -> None:
        """Do some milliseconds of the work."""
        if not self.pending:
            return
        limit = max(_BATCH, len(self._labels) // 64)  # each step also looks at every item once
        count = max(int(np.searchsorted(np.cumsum(self._sizes[self._pending]), limit, "right")), 1)
        batch, self._pending = self._pending[:count], self._pending[count:]
        wanted = np.zeros(len(self._sizes), np.bool_)
        wanted[batch] = True
        items = np.flatnonzero(wanted[self._labels])
        if self._shown is not None:
            items = items[self._shown[items]]
        fresh = outlines(self._x[items], self._y[items], self._labels[items], self._pad)
        self.hulls = _joined(self.hulls, fresh)


def _chosen(hulls: Hulls, rows: IndexArray) -> Hulls:
    return Hulls(hulls.clusters[rows], hulls.sizes[rows], hulls.corners[rows], hulls.centres[rows], hulls.radii[rows])


def _joined(first: Hulls, second: Hulls) -> Hulls:
    both = Hulls(
        np.concatenate([first.clusters, second.clusters]), np.concatenate([first.sizes, second.sizes]),
        np.concatenate([first.corners, second.corners]), np.concatenate([first.centres, second.centres]),
        np.concatenate([first.radii, second.radii]),
    )  # fmt: skip
    return _chosen(both, np.lexsort((both.clusters, -both.sizes)))
