"""The history as lists show it: filtered, sorted, a page at a time, quick also with tens of thousands of entries."""

from __future__ import annotations

import enum
import itertools
import math
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from a3s_desktop.core.types import Answer, IntArray, PairGraph
from a3s_desktop.session.chain import HistoryNode
from a3s_desktop.session.entries import (
    CorrectionKind,
    Entry,
    RecordedAudit,
    RecordedCorrection,
    links_among,
)
from a3s_desktop.session.state import HistoryEntry
from a3s_desktop.session.view import doubt_of, history_entry

DOUBTFUL = 0.5
"""From this on an answer is doubtful: by the images alone it is more likely wrong than right."""


class EntryGroup(enum.StrEnum):
    """What kinds of entries a list can be narrowed to."""

    SAME = "same"
    DIFFERENT = "different"
    SKIP = "skip"
    INCOMPARABLE = "incomparable"
    JUNK = "junk"
    CORRECTION = "correction"
    NAME = "name"
    AUDIT = "audit"


_GROUPS = {
    Answer.SAME: EntryGroup.SAME,
    Answer.DIFFERENT: EntryGroup.DIFFERENT,
    Answer.SKIP: EntryGroup.SKIP,
    Answer.INCOMPARABLE: EntryGroup.INCOMPARABLE,
}


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """Which entries a list shows. All conditions must hold; the default shows all, newest first.

    Attributes
    ----------
    groups : frozenset of EntryGroup
        Empty: all.
    clusters : frozenset of int
        Entries about an image that is in one of these clusters now; empty: all.
    since : float
        POSIX time of the oldest entry.
    text : str
        Part of a file name (of a path, where it has a slash), whatever the case.
    doubtful : bool
        Only answers that are more likely wrong than right by the images alone.
    without_effect : bool
        Only entries that were taken back or contradict earlier ones.
    by_doubt : bool
        The most doubtful first.
    looked_at : frozenset of (left, right, answer)
        Answers that are left out: they were looked at again and kept.
    """

    groups: frozenset[EntryGroup] = frozenset()
    clusters: frozenset[int] = frozenset()
    since: float = 0.0
    text: str = ""
    doubtful: bool = False
    without_effect: bool = False
    by_doubt: bool = False
    looked_at: frozenset[tuple[int, int, Answer]] = frozenset()

    @property
    def narrow(self) -> bool:
        """Whether it leaves anything out."""
        return replace(self, by_doubt=False) != HistoryFilter()


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """Some consecutive entries of a list.

    Attributes
    ----------
    wanted : HistoryFilter
    total : int
        Entries in the whole list.
    everything : int
        Entries in force, whatever the filter.
    offset : int
        Row of the first of ``entries``.
    entries : tuple of HistoryEntry
    row : int
        Of the entry that was asked for, or of the one that took its place; -1 where none was.
    """

    wanted: HistoryFilter
    total: int
    everything: int
    offset: int
    entries: tuple[HistoryEntry, ...]
    row: int = -1


@dataclass(frozen=True, slots=True)
class Times:
    """The answers *same* and *different* in force that were given between two moments.

    Attributes
    ----------
    count : int
        How many, wherever they stand: the clock may have been set wrong for a while.
    newest : tuple of float
        When the newest of them were given, in the order of the history, newest first; POSIX seconds.
    """

    count: int
    newest: tuple[float, ...]


@dataclass(slots=True)
class _Found:
    """What a filter let through, for the next page of it, and for the next answer."""

    wanted: HistoryFilter
    labels: IntArray | None  # the clusters that it was tested against, where it depends on them
    conflicts: tuple[int, ...]  # likewise
    numbers: array[int] = field(default_factory=lambda: array("q"))  # ascending
    seen: int = 0  # entries that were tested


class HistoryList:
    """Follows the entries in force; what was computed for one page serves the next, and the next answer.

    Parameters
    ----------
    graph : PairGraph
    path : callable
        The path of an item, for the search by name.
    """

    def __init__(self, graph: PairGraph, path: Callable[[int], str]) -> None:
        self._graph = graph
        self._path = path
        self._newest: HistoryNode | None = None
        self._doubts = array("d")  # of the first entries; the rest when they are asked for
        self._found = _Found(HistoryFilter(), None, ())
        self._span = (0.0, 0.0)
        self._given = array("q")  # how many of the first entries are answers of that span
        self._labels: IntArray = np.zeros(0, np.int32)
        self._conflicts: tuple[int, ...] = ()
        self._author = ""

    def follow(
        self, newest: HistoryNode | None, labels: IntArray, conflicts: tuple[int, ...], author: str = ""
    ) -> HistoryList:
        """Take over the present entries, clusters, conflicts and annotator; returns itself."""
        before = self._newest
        shared = before.shared_with(newest) if before is not None and newest is not None else None
        kept = shared.count if shared is not None else 0
        del self._doubts[kept:], self._given[kept:]
        del self._found.numbers[bisect_right(self._found.numbers, kept) :]
        self._found.seen = min(self._found.seen, kept)
        self._newest = newest
        self._labels, self._conflicts, self._author = labels, conflicts, author
        return self

    def page(
        self, wanted: HistoryFilter | None = None, offset: int = 0, count: int = 200, anchor: int | None = None
    ) -> HistoryPage:
        """Some rows of the list that a filter gives.

        Parameters
        ----------
        wanted : HistoryFilter, optional
            Default: all entries.
        offset, count : int
            First row and number of rows.
        anchor : int, optional
            Number of an entry whose row is wanted, too; the page is then moved so that it holds that row.
        """
        wanted = wanted or HistoryFilter()
        numbers = self._ordered(wanted)
        row = -1
        if anchor is not None and numbers:
            row = _row_of(anchor, numbers, wanted.by_doubt)
            if not offset <= row < offset + count:
                offset = max(0, row - count // 2)
        chosen = numbers[offset : offset + count]
        nodes = self._newest.numbered(chosen) if self._newest is not None else ()
        entries = tuple(history_entry(self._graph, node, self._conflicts, self._author) for node in nodes)
        return HistoryPage(wanted, len(numbers), self._count, offset, entries, row)

    def times(self, since: float, until: float = math.inf, newest: int = 100) -> Times:
        """How many answers were given from ``since`` to before ``until`` (POSIX seconds), and when the newest were.

        Asked for after every answer of a day: only what is new since the last time is looked at.
        """
        if self._span != (since, until):
            self._span, self._given = (since, until), array("q")
        count = self._given[-1] if self._given else 0
        for node in self._newest.since(len(self._given) + 1) if self._newest is not None else ():
            when = node.said_at
            count += when is not None and since <= when < until
            self._given.append(count)
        latest = itertools.islice(self._newest.times_back() if self._newest is not None else (), 10 * newest)
        given = (when for when in latest if when is not None and since <= when < until)
        return Times(count, tuple(itertools.islice(given, newest)))

    def touching(self, number: int) -> tuple[int, int]:
        """How many entries are later than one, and how many of these are about the same clusters."""
        if self._newest is None or not 1 <= number <= self._count:
            return 0, 0
        labels = self._labels.tolist()
        clusters = {labels[item] for item in items_of(self._newest.numbered([number])[0].entry)}
        same = sum(any(labels[item] in clusters for item in items_of(entry)) for _, entry in self._since(number))
        return self._count - number, same

    # --- inner workings

    @property
    def _count(self) -> int:
        return self._newest.count if self._newest is not None else 0

    def _since(self, seen: int) -> Iterator[tuple[int, Entry]]:
        """All but the first entries with their numbers, oldest first."""
        return self._newest.entries_since(seen + 1) if self._newest is not None else iter(())

    def _ordered(self, wanted: HistoryFilter) -> Sequence[int]:
        if not wanted.narrow and not wanted.by_doubt:
            return range(self._count, 0, -1)
        numbers = self._matching(wanted)
        if not wanted.by_doubt:
            return numbers[::-1]
        doubts = self._all_doubts()
        return sorted(numbers, key=lambda n: (-doubts[n - 1], -n))

    def _matching(self, wanted: HistoryFilter) -> array[int]:
        """Numbers of the entries that a filter lets through, ascending."""
        labels = self._labels if wanted.clusters else None
        conflicts = self._conflicts if wanted.without_effect else ()
        found = self._found
        if found.wanted != wanted or found.labels is not labels or found.conflicts != conflicts:
            found = self._found = _Found(wanted, labels, conflicts)
        test = self._test(wanted)
        found.numbers.extend(number for number, entry in self._since(found.seen) if test(number, entry))
        found.seen = self._count
        return found.numbers

    def _test(self, wanted: HistoryFilter) -> Callable[[int, Entry], bool]:
        """Whether one entry is let through: only what the filter asks about is looked at."""
        tests: list[Callable[[int, Entry], bool]] = []
        if wanted.groups:
            tests.append(lambda _, entry: group_of(entry) in wanted.groups)
        if wanted.since > 0.0:
            tests.append(lambda _, entry: entry.when >= wanted.since)
        if wanted.without_effect:
            conflicts = frozenset(self._conflicts)
            tests.append(lambda number, entry: _is_without_effect(entry) or number in conflicts)
        if wanted.clusters:
            inside = np.isin(self._labels, list(wanted.clusters))
            tests.append(lambda _, entry: any(inside[item] for item in items_of(entry)))
        if wanted.text.strip():
            named = self._named(wanted.text.strip().casefold())
            tests.append(lambda _, entry: any(named(item) for item in items_of(entry)))
        if wanted.doubtful:
            doubts = self._all_doubts()
            tests.append(lambda number, _: doubts[number - 1] >= DOUBTFUL)
        if wanted.looked_at:
            tests.append(lambda _, entry: _said(entry) not in wanted.looked_at)
        return lambda number, entry: all(test(number, entry) for test in tests)

    def _named(self, text: str) -> Callable[[int], bool]:
        known: dict[int, bool] = {}
        whole = "/" in text

        def named(item: int) -> bool:
            if item not in known:
                path = self._path(item).casefold()
                known[item] = text in (path if whole else path.rpartition("/")[2])
            return known[item]

        return named

    def _all_doubts(self) -> array[float]:
        for _, entry in self._since(len(self._doubts)):
            self._doubts.append(doubt_of(self._graph, entry))
        return self._doubts


def nodes_behind(
    nodes: Iterable[HistoryNode], chain: Sequence[tuple[int, int, str]], without: Collection[int]
) -> tuple[HistoryNode | None, ...]:
    """The entry that each link of a contradiction's chain comes from; ``without``: numbers that do not count."""
    wanted = {(min(left, right), max(left, right), said): None for left, right, said in chain}
    found: dict[tuple[int, int, str], HistoryNode] = {}
    for node in nodes:
        if not node.entry.withdrawn and node.count not in without:
            found.update(dict.fromkeys(links_among(node.entry, wanted), node))
    return tuple(found.get(key) for key in wanted)


def group_of(entry: Entry) -> EntryGroup:
    """The group that an entry is listed under."""
    if isinstance(entry, RecordedAudit):
        return EntryGroup.AUDIT
    if isinstance(entry, RecordedCorrection):
        return EntryGroup.NAME if entry.what is CorrectionKind.NAME else EntryGroup.CORRECTION
    return _GROUPS.get(entry.answer, EntryGroup.JUNK)


def items_of(entry: Entry) -> Collection[int]:
    """All images that an entry is about."""
    if isinstance(entry, RecordedCorrection):
        return {*entry.shown, *entry.anchors, *entry.correction.samples()}
    return entry.shown


def _is_without_effect(entry: Entry) -> bool:
    return entry.withdrawn or (isinstance(entry, RecordedCorrection) and entry.held)


def _said(entry: Entry) -> tuple[int, int, Answer] | None:
    return None if isinstance(entry, RecordedCorrection) else (entry.left, entry.right, entry.answer)


def _row_of(anchor: int, numbers: Sequence[int], by_doubt: bool) -> int:
    """Row of an entry; where it is not listed, of the next older one (newest first) or the first (by doubt)."""
    if by_doubt:
        return numbers.index(anchor) if anchor in numbers else 0
    return min(bisect_left(numbers, -anchor, key=lambda n: -n), len(numbers) - 1)
