"""Candidates by expected gain: of very many an answer changes a few, and the best are found without a sort."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]

_BLOCK = 512
_SHORTLIST = 64  # candidates looked at one by one before the next longer list is made


class Ranking:
    """Gains by place, with the largest of each block of places at hand."""

    def __init__(self) -> None:
        self._gain: Values = np.zeros(0)
        self._largest: Values = np.zeros(0)

    def put(self, places: Places, gain: Values, count: int) -> None:
        """Set the gains of some places; ``count``: places that there are."""
        if count > len(self._gain):
            room = -(-max(count, 3 * len(self._gain) // 2) // _BLOCK) * _BLOCK
            self._gain = np.concatenate((self._gain, np.zeros(room - len(self._gain))))
            self._largest = np.concatenate((self._largest, np.zeros(room // _BLOCK - len(self._largest))))
        self._gain[places] = gain
        blocks = self._gain.reshape(-1, _BLOCK)
        if len(places) > len(blocks):
            self._largest = blocks.max(axis=1)
        else:
            touched = np.unique(places // _BLOCK)
            self._largest[touched] = blocks[touched].max(axis=1)

    def descending(self, first: Places, second: Places) -> Iterator[tuple[float, int]]:
        """Gains and places, largest gain first (ties: the smaller ``first``, then ``second``); sorted only as far as
        they are taken. Nothing may be put meanwhile."""
        bound = np.inf
        while True:
            left = self._largest[(self._largest > 0.0)] if bound == np.inf else self._below(bound)
            if not len(left):
                return
            least = float(np.partition(left, -_SHORTLIST)[-_SHORTLIST]) if len(left) > _SHORTLIST else 0.0
            blocks = np.flatnonzero(self._largest >= least) if least > 0.0 else np.flatnonzero(self._largest > 0.0)
            places = (blocks[:, None] * _BLOCK + np.arange(_BLOCK)).ravel()
            gain = self._gain[places]
            chosen = places[(gain >= least) & (gain > 0.0) & (gain < bound)]
            if len(chosen) > _SHORTLIST:
                gain = self._gain[chosen]
                least = float(np.partition(gain, -_SHORTLIST)[-_SHORTLIST])
                chosen = chosen[gain >= least]
            order = np.lexsort((second[chosen], first[chosen], -self._gain[chosen]))
            chosen = chosen[order]
            yield from zip(self._gain[chosen].tolist(), chosen.tolist(), strict=True)
            if least == 0.0:
                return
            bound = least

    def _below(self, bound: float) -> Values:
        """The largest gain below ``bound`` of each block."""
        rest: Values = np.where(self._gain < bound, self._gain, 0.0).reshape(-1, _BLOCK).max(axis=1)
        positive: Values = rest[rest > 0.0]
        return positive
