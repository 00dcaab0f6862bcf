"""Candidates by expected gain: of very many only the best are computed, and they are found without a sort."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.runs import sorted_places

Values = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]
Ids = npt.NDArray[np.integer[Any]]
Gains = Callable[[Places], Values]

_BLOCK = 512
_SHORTLIST = 16  # candidates that are computed first; each further list is twice as long


class Ranking:
    """Upper bounds of the logarithms of gains, by place, with the largest of each block of places at hand."""

    def __init__(self) -> None:
        self._bound: Values = np.zeros(0)
        self._largest: Values = np.zeros(0)

    def put(self, places: Places, bound: npt.NDArray[np.floating[Any]], count: int) -> None:
        """Set the bounds of some places, -inf where there is no candidate; ``count``: places that there are."""
        self._make_room(count)
        self._bound[places] = bound
        blocks = self._bound.reshape(-1, _BLOCK)
        if len(places) > len(blocks):
            self._largest = blocks.max(axis=1)
        else:
            touched = sorted_places([places // _BLOCK])
            self._largest[touched] = blocks[touched].max(axis=1)

    def put_from(self, start: int, bound: npt.NDArray[np.floating[Any]], count: int) -> None:
        """Set the bounds of all places from one on."""
        self._make_room(count)
        end = start + len(bound)
        self._bound[start:end] = bound
        blocks = slice(start // _BLOCK, -(-end // _BLOCK))
        self._largest[blocks] = self._bound.reshape(-1, _BLOCK)[blocks].max(axis=1)

    def descending(self, first: Ids, second: Ids, gains: Gains) -> Iterator[tuple[float, int]]:
        """Gains above zero and places, largest gain first (ties: the smaller ``first``, then ``second``), computed
        only as far as they are taken. Nothing may be put meanwhile.

        Parameters
        ----------
        first, second : int64, by place
        gains : callable
            The gains of some places; of each at most the exponential of its bound.
        """
        above, places, gain = np.inf, np.zeros(0, np.int64), np.zeros(0)  # what was computed and not given yet
        count = _SHORTLIST
        level = self._level(above, count)
        while True:
            new = self._between(level, above)
            above = level
            gain = np.concatenate((gain, gains(new)))
            places = np.concatenate((places, new))
            kept = np.flatnonzero(gain > 0.0)
            places, gain = places[kept], gain[kept]
            # What was not computed is below the level.
            ready = gain >= np.exp(level)
            chosen = places[ready]
            order = np.lexsort((second[chosen], first[chosen], -gain[ready]))
            yield from zip(gain[ready][order].tolist(), chosen[order].tolist(), strict=True)
            places, gain = places[~ready], gain[~ready]
            if level == -np.inf:
                return
            # The best of the rest is the next one, unless something that was not computed yet is better.
            count *= 2
            level = min(self._level(above, count), float(np.log(gain.max())) if len(gain) else np.inf, above - 1e-9)

    def _make_room(self, count: int) -> None:
        if count > len(self._bound):
            room = -(-max(count, 3 * len(self._bound) // 2) // _BLOCK) * _BLOCK
            self._bound = np.concatenate((self._bound, np.full(room - len(self._bound), -np.inf)))
            self._largest = np.concatenate((self._largest, np.full(room // _BLOCK - len(self._largest), -np.inf)))

    def _level(self, above: float, count: int) -> float:
        """A bound that at least ``count`` candidates have, of those below another; -inf where there are no more."""
        left = self._largest
        if len(left) <= count or left.max() >= above or np.count_nonzero(left > -np.inf) <= count:
            blocks = self._bound.reshape(-1, _BLOCK)
            blocks = np.where(blocks < above, blocks, -np.inf)
            left = blocks.max(axis=1)
            if np.count_nonzero(left > -np.inf) <= count:
                left = blocks.ravel()
        left = left[left > -np.inf]
        return float(np.partition(left, -count)[-count]) if len(left) > count else -np.inf

    def _between(self, level: float, above: float) -> Places:
        """Places whose bound is at least ``level`` and less than ``above``."""
        blocks = np.flatnonzero((self._largest >= level) & (self._largest > -np.inf))
        bound = self._bound.reshape(-1, _BLOCK)[blocks]
        found = np.flatnonzero((bound >= level) & (bound < above) & (bound > -np.inf))
        return blocks[found // _BLOCK] * _BLOCK + found % _BLOCK
