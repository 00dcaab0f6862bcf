"""Images with their doubts as columns: hundreds of thousands of them take a moment, not a second."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.types import IndexArray


class MemberRows(Sequence[tuple[int, float]]):
    """Pairs of an item and the doubt about it (below 0: not to be shown); immutable.

    Parameters
    ----------
    items : int, shape (m,)
    doubts : float, shape (m,)

    Attributes
    ----------
    items : int64, shape (m,)
    doubts : float64, shape (m,)
    """

    __slots__ = ("doubts", "items")

    def __init__(self, items: npt.NDArray[Any], doubts: npt.NDArray[Any]) -> None:
        self.items: IndexArray = np.asarray(items, np.int64)
        self.doubts: npt.NDArray[np.float64] = np.asarray(doubts, np.float64)

    @classmethod
    def of(cls, rows: Iterable[tuple[int, float]]) -> MemberRows:
        """The same rows as columns."""
        if isinstance(rows, MemberRows):
            return rows
        items, doubts = zip(*rows, strict=True) if (rows := tuple(rows)) else ((), ())
        return cls(np.array(items, np.int64), np.array(doubts, np.float64))

    def __len__(self) -> int:
        return len(self.items)

    @overload
    def __getitem__(self, place: int) -> tuple[int, float]: ...

    @overload
    def __getitem__(self, place: slice) -> MemberRows: ...

    def __getitem__(self, place: int | slice) -> tuple[int, float] | MemberRows:
        if isinstance(place, slice):
            return MemberRows(self.items[place], self.doubts[place])
        return int(self.items[place]), float(self.doubts[place])

    def __iter__(self) -> Iterator[tuple[int, float]]:
        return zip(self.items.tolist(), self.doubts.tolist(), strict=True)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MemberRows):
            return NotImplemented
        return np.array_equal(self.items, other.items) and np.array_equal(self.doubts, other.doubts)

    __hash__ = None  # type: ignore[assignment]

    def at(self, places: IndexArray) -> MemberRows:
        """These rows, in this order."""
        return MemberRows(self.items[places], self.doubts[places])

    def shares(self, other: MemberRows) -> bool:
        """Whether an item is in both."""
        return bool(len(self) and (other.places(self.items) >= 0).any())

    def places(self, items: IndexArray) -> IndexArray:
        """Row of each of some items; -1 where it has none."""
        if not len(self) or not len(items):
            return np.full(len(items), -1, np.int64)
        table = np.full(max(int(self.items.max()), int(items.max())) + 1, -1, np.int64)
        table[self.items] = np.arange(len(self))
        return np.asarray(table[items])
