"""Single images beside their likely homes, as columns: of tens of thousands, rows are made of those in sight."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import overload

import numpy as np

from a3s_desktop.core.types import IndexArray
from a3s_desktop.session.overview import Home
from a3s_desktop.session.state import SessionState
from a3s_desktop.ui.cluster_rows import Row
from a3s_desktop.ui.member_rows import MemberRows


class HomeRows(Sequence[Row]):
    """A row for each single image; immutable.

    Parameters
    ----------
    images : MemberRows
        The single images, each with its likeness to its home.
    covers, clusters, sizes : int, shape (m,)
        An image of the home, its cluster and the size of that; -1, -1 and 0 where nothing is near.
    names : mapping of int to str
        Of the clusters that have one; may hold others.

    Attributes
    ----------
    images : MemberRows
    """

    def __init__(
        self, images: MemberRows, covers: IndexArray, clusters: IndexArray, sizes: IndexArray, names: Mapping[int, str]
    ) -> None:
        self.images = images
        self._columns = covers, clusters, sizes
        self._names = names

    @classmethod
    def none(cls) -> HomeRows:
        """No rows."""
        nothing = np.zeros(0, np.int64)
        return cls(MemberRows.of(()), nothing, nothing, nothing, {})

    @classmethod
    def of(cls, homes: Iterable[Home], state: SessionState) -> HomeRows:
        """The likeliest first; without images that are not alone any more, junk, or said to stay alone."""
        homes = tuple(homes)
        items = np.fromiter((home.item for home in homes), np.int64, len(homes))
        covers = np.fromiter((home.cover for home in homes), np.int64, len(homes))
        likeness = np.fromiter((home.likeness for home in homes), np.float64, len(homes))
        sizes = np.bincount(state.labels)
        own = state.labels[items]
        shown = (sizes[own] == 1) & ~state.is_junk[items] & ~np.isin(own, list(state.finished))
        order = np.lexsort((items, -likeness))
        order = order[shown[order]]
        covers = covers[order]
        near = covers >= 0
        clusters = np.where(near, state.labels[covers], -1)
        return cls(
            MemberRows(items[order], likeness[order]), covers, clusters, np.where(near, sizes[clusters], 0), state.names
        )

    def __len__(self) -> int:
        return len(self.images)

    @overload
    def __getitem__(self, place: int) -> Row: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Row]: ...

    def __getitem__(self, place: int | slice) -> Row | Sequence[Row]:
        if isinstance(place, slice):
            return [self[k] for k in range(len(self))[place]]
        item, likeness = self.images[place]
        cover, cluster, size = (int(column[place]) for column in self._columns)
        return Row(cluster, size, self._names.get(cluster, "") if cluster >= 0 else "", cover, likeness, item)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HomeRows):
            return NotImplemented
        return (
            self.images == other.images
            and all(np.array_equal(a, b) for a, b in zip(self._columns, other._columns, strict=True))
            and self._names == other._names
        )

    __hash__ = None  # type: ignore[assignment]
