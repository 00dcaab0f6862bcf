"""Which clusters the gallery shows, and in which order; no Qt."""

from __future__ import annotations

import enum
import heapq
import itertools
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.types import IndexArray
from a3s_desktop.i18n import mark
from a3s_desktop.session.overview import ClusterSummary

_DIGITS = re.compile(r"(\d+)")
_LONGEST = 1000  # digits of a number; Python takes no text for one that is longer than 4,300
_BLOCK = 1024  # names put in order in one step


class Order(enum.Enum):
    """Of the gallery; the value is the text for the user."""

    SIZE = mark("Largest first")
    DOUBT = mark("Most doubtful first")
    NAME = mark("By name")
    UNFINISHED = mark("Unfinished first")


class Kind(enum.Enum):
    """Which clusters are shown; the value is the text for the user."""

    ALL = mark("All")
    GROUPS = mark("Two or more images")
    UNFINISHED = mark("Not finished")
    NAMED = mark("Named")
    NAMELESS = mark("Without a name")
    SINGLES = mark("Single images")


class MemberOrder(enum.Enum):
    """Of the images of a cluster; the value is the text for the user."""

    DOUBT = mark("Most doubtful first")
    NAME = mark("By file name")


def folded(text: str) -> str:
    """A text as it is compared: composed, without case, on one line."""
    return unicodedata.normalize("NFC", " ".join(text.split())).casefold()


def natural(text: str) -> str:
    """Sort key in which "image 9" stands before "image 10".

    One text, not a tuple of parts: of hundreds of thousands of names, those took half a second to be let go.
    """
    return "".join(_key(part) for part in _DIGITS.split(folded(text)) if part)


def _key(part: str) -> str:
    """A number before any text and behind all that have fewer digits; a text before any that it begins."""
    if not part.isdecimal():
        return f"\x02{part}\x00"
    digits = str(int(part)) if len(part) < _LONGEST else part
    return f"\x01{chr(len(digits))}{digits}"


def by_name(items: IndexArray, name: Callable[[int], str]) -> Iterator[npt.NDArray[np.int64] | None]:
    """Places of some items in the natural order of their names, in steps of about 10 ms: None until all are in order.

    Few are in order at once. A sort of very many texts would hold the interpreter for seconds, in any thread.
    """
    keys: list[str] = []
    blocks = []
    for start in range(0, len(items), _BLOCK):
        keys += (f"{natural(name(item))}\x00{item:020d}" for item in items[start : start + _BLOCK].tolist())
        blocks.append(sorted(range(start, len(keys)), key=keys.__getitem__))
        if len(items) > _BLOCK:
            yield None
    places, count = np.zeros(len(items), np.int64), 0
    merged = heapq.merge(*blocks, key=keys.__getitem__)
    while part := list(itertools.islice(merged, _BLOCK)):
        places[count : count + len(part)] = part
        count += len(part)
        for place in part:
            keys[place] = ""  # let go a few at a time
        if count < len(items):
            yield None
    yield places


class ClusterTable:
    """All clusters as columns, so that thousands of them are sorted and filtered in a moment.

    Parameters
    ----------
    clusters : sequence of ClusterSummary

    Attributes
    ----------
    clusters : tuple of ClusterSummary
    row_of : dict of int to int
        Cluster id -> place in ``clusters``.
    """

    def __init__(self, clusters: Sequence[ClusterSummary] = ()) -> None:
        self.clusters = tuple(clusters)
        n = len(self.clusters)
        self.ids = np.fromiter((c.id for c in self.clusters), np.int64, n)
        self.row_of = dict(zip(self.ids.tolist(), range(n), strict=True))
        self._sizes = np.fromiter((c.size for c in self.clusters), np.int64, n)
        self._doubts = np.fromiter((c.doubt for c in self.clusters), np.float64, n)
        self._finished = np.fromiter((c.finished for c in self.clusters), np.bool_, n)
        self._named = {row: folded(c.name) for row, c in enumerate(self.clusters) if c.name}
        self._ranks: npt.NDArray[np.int64] | None = None  # sorting thousands of names takes a while
        self._has_name = np.zeros(n, np.bool_)
        self._has_name[list(self._named)] = True

    def __len__(self) -> int:
        return len(self.clusters)

    @property
    def singles(self) -> int:
        """How many of them hold one image only."""
        return int(np.count_nonzero(self._sizes == 1))

    def arranged(self, order: Order, kind: Kind, text: str = "", by_file: Collection[int] = ()) -> IndexArray:
        """Places of the clusters to show, in order.

        Parameters
        ----------
        order : Order
        kind : Kind
        text : str
            Part of a name, or a number; folded. Empty: all.
        by_file : collection of int
            Clusters that hold an image whose file name has the text.
        """
        shown = self._of_kind(kind)
        if text:
            found = np.isin(self.ids, np.fromiter(by_file, np.int64, len(by_file)))
            found[[row for row, name in self._named.items() if text in name]] = True
            if text.isdecimal():
                found |= self.ids == int(text[:18])
            shown &= found
        keys: dict[Order, Callable[[], tuple[npt.NDArray[Any], ...]]] = {
            Order.SIZE: lambda: (self.ids, -self._sizes),
            Order.DOUBT: lambda: (self.ids, -self._sizes, -self._doubts),
            Order.NAME: lambda: (self.ids, self._name_ranks()),
            Order.UNFINISHED: lambda: (self.ids, -self._sizes, self._finished),
        }
        rows = np.lexsort(keys[order]())
        places: IndexArray = rows[shown[rows]]
        return places

    def _of_kind(self, kind: Kind) -> npt.NDArray[np.bool_]:
        return {
            Kind.ALL: np.ones(len(self), np.bool_),
            Kind.GROUPS: self._sizes > 1,
            Kind.UNFINISHED: ~self._finished,
            Kind.NAMED: self._has_name,
            Kind.NAMELESS: ~self._has_name,
            Kind.SINGLES: self._sizes == 1,
        }[kind].copy()

    def _name_ranks(self) -> npt.NDArray[np.int64]:
        """Names first, in their order; what has none stands behind, by number."""
        if self._ranks is None:
            self._ranks = np.full(len(self), len(self), np.int64)
            ordered = sorted(self._named, key=lambda row: natural(self._named[row]))
            self._ranks[ordered] = np.arange(len(ordered))
        return self._ranks


def files_with(names: Sequence[str], text: str, start: int, stop: int) -> list[int]:
    """Items of a range whose file name (whole path, where ``text`` names a folder) holds a folded text."""
    whole = "/" in text
    found = []
    for item in range(start, min(stop, len(names))):
        name = names[item] if whole else names[item].rpartition("/")[2]
        if text in (name.casefold() if name.isascii() else folded(name)):
            found.append(item)
    return found
