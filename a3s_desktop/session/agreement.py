"""How far two annotators agree, beyond what chance alone would give.

Source: Cohen, A coefficient of agreement for nominal scales (1960).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.constraints import ConstraintStore
from a3s_desktop.core.types import Answer
from a3s_desktop.core.undo import UndoLog
from a3s_desktop.errors import ContradictionError
from a3s_desktop.session.audit import wilson
from a3s_desktop.session.entries import Entry, RecordedAnswer, RecordedAudit, RecordedCorrection
from a3s_desktop.session.known_labels import spanning

ENOUGH = 30
"""Pairs that both were asked, from which on what only follows from answers is left aside."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Cohen's kappa over pairs of images of which both annotators know, each by himself, whether they are the same.

    Attributes
    ----------
    pairs, agreed : int
    kappa : float or None
        1: they always agree; 0: no more than by chance. None where there is no pair, or nothing to tell chance by.
    low, high : float
        95 % interval: Wilson's of the share of agreement, with the chance agreement taken as it was found. Pairs that
        follow from answers hang together: they count as no more than the answers that the less busy one gave.
    explicit : bool
        The pairs were answered by both; otherwise they follow from what each said.
    """

    pairs: int = 0
    agreed: int = 0
    kappa: float | None = None
    low: float = -1.0
    high: float = 1.0
    explicit: bool = True


class Sayings:
    """What a list of entries says of pairs of images; entries that contradict those before them do not count."""

    def __init__(self) -> None:
        self._log = UndoLog()
        self.store = ConstraintStore(self._log)
        self.links = 0

    def add(self, entry: Entry) -> bool:
        """Take one more entry. False: it contradicts and has no effect."""
        if entry.withdrawn or isinstance(entry, RecordedAudit):
            return True
        mark = self._log.mark()
        try:
            self.links += self._say(entry)
        except ContradictionError:
            self._log.rewind(mark)
            return False
        return True

    def _say(self, entry: RecordedAnswer | RecordedCorrection) -> int:
        store = self.store
        if isinstance(entry, RecordedAnswer):
            if entry.answer.is_constraint:
                store.add(entry.left, entry.right, entry.answer)
            return int(entry.answer.is_constraint)
        correction = entry.correction
        for _, sample in correction.unified:
            store.disown(sample)
        same = (*correction.together, *spanning(correction.identities))
        for left, right in same:
            store.add(left, right, Answer.SAME)
        for left, right in correction.apart:
            store.add(left, right, Answer.DIFFERENT)
        seen: dict[int, int] = {}
        for group in correction.identities:
            if seen.setdefault(store.find(group[0]), group[0]) != group[0]:
                raise ContradictionError("", ())
            store.identify(group[0])
        return len(same) + len(correction.apart)


def agreement(ours: Sequence[Entry], theirs: Sequence[Entry]) -> Agreement:
    """Compare two lists of entries, none of which is in both."""
    first, second = _answered(ours), _answered(theirs)
    both = first.keys() & second.keys()
    table = np.zeros((2, 2), np.int64)
    for pair in both:
        table[int(first[pair]), int(second[pair])] += 1
    if len(both) >= ENOUGH:
        return kappa(table, int(table.sum()), explicit=True)
    sayings = (Sayings(), Sayings())
    for said, entries in zip(sayings, (ours, theirs), strict=True):
        for entry in entries:
            said.add(entry)
    closed = _closure(sayings[0].store, sayings[1].store)
    if closed.sum() <= len(both):
        return kappa(table, int(table.sum()), explicit=True)
    return kappa(closed, min(int(closed.sum()), *(said.links for said in sayings)), explicit=False)


def kappa(table: npt.NDArray[np.int64], independent: int, explicit: bool) -> Agreement:
    """Cohen's kappa of a 2 x 2 table of counts.

    Parameters
    ----------
    table : int64, shape (2, 2)
        ``table[a, b]``: pairs of which the one says ``a`` (0 different, 1 same), the other ``b``.
    independent : int
        As how many independent pairs they count for the interval.
    explicit : bool
    """
    pairs, agreed = int(table.sum()), int(np.trace(table))
    if not pairs:
        return Agreement(explicit=explicit)
    share, chance = agreed / pairs, float(table.sum(0) @ table.sum(1)) / pairs**2
    if chance >= 1.0:
        return Agreement(pairs, agreed, explicit=explicit)
    low, high = ((bound - chance) / (1 - chance) for bound in wilson(share * independent, independent))
    return Agreement(pairs, agreed, (share - chance) / (1 - chance), max(low, -1.0), min(high, 1.0), explicit)


def _answered(entries: Iterable[Entry]) -> dict[tuple[int, int], bool]:
    """Pair, the smaller item first -> whether it was said to be the same; the last answer counts."""
    return {
        (min(entry.left, entry.right), max(entry.left, entry.right)): entry.answer is Answer.SAME
        for entry in entries
        if isinstance(entry, RecordedAnswer) and entry.answer.is_constraint and not entry.withdrawn
    }


def _closure(ours: ConstraintStore, theirs: ConstraintStore) -> npt.NDArray[np.int64]:
    """Table of all pairs of which both stores know something.

    Images that are one component in both are a cell, and cells are compared instead of images.
    """
    table = np.zeros((2, 2), np.int64)
    items = sorted(set(ours.touched()) & set(theirs.touched()))
    if not items:
        return table
    sides = [_components(store, items) for store in (ours, theirs)]
    cells, sizes = np.unique(np.stack([at for at, _ in sides], axis=1), axis=0, return_counts=True)
    table[1, 1] += int((sizes * (sizes - 1) // 2).sum())
    for k in range(len(cells) - 1):
        later, known = cells[k + 1 :], []
        for side, (_, apart) in enumerate(sides):
            said = np.full(len(later), -1, np.int8)
            said[np.isin(later[:, side], apart[cells[k, side]])] = 0
            said[later[:, side] == cells[k, side]] = 1
            known.append(said)
        pairs = sizes[k] * sizes[k + 1 :]
        for a in (0, 1):
            for b in (0, 1):
                table[a, b] += int(pairs[(known[0] == a) & (known[1] == b)].sum())
    return table


def _components(store: ConstraintStore, items: Sequence[int]) -> tuple[npt.NDArray[np.int64], list[list[int]]]:
    """Number of the component of each item, and for each component those that are known to differ from it."""
    roots = [store.find(item) for item in items]
    number = {root: at for at, root in enumerate(sorted(set(roots)))}
    apart = [[number[other] for other in store.separated_from(root).tolist() if other in number] for root in number]
    return np.array([number[root] for root in roots], np.int64), apart
