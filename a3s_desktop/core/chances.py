"""P(same) of very many rows of facts, by a model that the answers keep changing, and the best of them by gain.

Of all rows a copy of single precision is kept column by column, so that the logits of a million rows by other weights
are one product that takes milliseconds. Which logit a row needs for its gain to be worth a look does not depend on the
weights: it is kept as well, for a floor that some thousand rows are above. So a change of the weights costs a product
and a comparison, and only the rows above the floor, the *hot* ones, are computed in double precision; any other answer
costs the rows that it changed. When too few or too many are hot, the floor is set again. Nothing else than speed
depends on the copy and on the floor: rounding is allowed for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.link_model import FACTS, probability
from a3s_desktop.core.products import product
from a3s_desktop.core.room import enlarged
from a3s_desktop.core.runs import sorted_places

Values = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Places = npt.NDArray[np.int64]
Ids = npt.NDArray[np.integer[Any]]
Flags = npt.NDArray[np.bool_]

WANTED = 2_048
"""Rows that are hot after the floor was set, about; it is set again when they are 1/32 or 16 times as many."""

_BLOCK = 4_096  # rows whose copy stands side by side, and that are computed in one go
_GROUP = 8  # rows of which the largest gain is looked at where a floor is sought
_FIRST = 64  # candidates that are put in order first; four times as many with each further lot
_ROUNDING = 2e-6  # share of |x| |w|, summed up over the facts, that logits of single precision are off by at most
_MARGIN = 1e-5  # of logits that are needed, and share of gains: more than rounding does to them


@dataclass(frozen=True, slots=True)
class Worth:
    """What asking about a candidate gains, by the chance of the answer.

    Attributes
    ----------
    factor : float
        Gain of a sure answer for each unit of Δh times N.
    least : float
        Below this chance nothing is gained.
    unlikely : float
        Below this one the gain is less than the chance, by the square of the proportion; 0: it never is.
    steepest : float
        Logits above 0 may count for as many times as much in the chances that gains are worked out from.
    """

    factor: float
    least: float
    unlikely: float = 0.0
    steepest: float = 1.0

    def __call__(self, chance: Values, entropy: Values, counted: Values | None = None) -> Values:
        """The gains to be expected of some candidates, from the chances and Δh times N.

        ``counted`` are the chances that gains are worked out from where these are others than those that ``least`` is
        about: nearer to 0 below one half, nearer to 1 above, by no more than ``steepest`` says.
        """
        gain: Values = (self.paid(chance if counted is None else counted) * entropy * self.factor).round(9)
        gain[chance < self.least] = 0.0
        return gain

    def paid(self, chance: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The share of a sure answer's gain, but for chances below the least."""
        return chance * np.minimum(1.0, chance / self.unlikely) ** 2 if self.unlikely else chance

    def needed(self, share: Values) -> Values:
        """The logits of the chances from which on such shares of a sure answer's gain are paid."""
        rare = share < self.unlikely
        chance = np.where(rare, np.cbrt(np.minimum(share, self.unlikely) * self.unlikely**2), share)
        chance = chance.clip(self.least, 1.0)
        with np.errstate(divide="ignore"):
            logit: Values = np.log(chance / (1.0 - chance))
        logit[logit > 0.0] /= self.steepest
        logit[share > 1.0] = np.inf
        return logit


class Chances:
    """Logits of a table's rows, and its candidates by gain.

    Parameters
    ----------
    same : bool
        Whether the chance is that of *same*; else of *different*.
    """

    def __init__(self, same: bool) -> None:
        self._sign = 1.0 if same else -1.0
        # By block, in its columns the rows' facts; by place, in whole blocks.
        self._copy: Singles = np.zeros((0, FACTS, _BLOCK), np.float32)
        self._logit: Singles = np.zeros(0, np.float32)  # of the chance, rounded up
        self._needed: Singles = np.zeros(0, np.float32)  # logit for a gain above the floor; inf: it cannot be
        self._most: Singles = np.zeros(0, np.float32)  # gain of a sure answer, rounded up; 0: no candidate
        self._largest = 0.0  # fact, by its absolute value
        self._weights: Values = np.zeros((0, FACTS))  # by kind
        self._worth = Worth(1.0, 0.0)
        self._floor = np.inf
        # Places above the floor, perhaps, and their gains; nan where they were not computed yet.
        self._hot: Places = np.zeros(0, np.int64)
        self._gain: Values = np.zeros(0)

    def forget(self) -> None:
        """All rows stand elsewhere now."""
        self._weights = np.zeros((0, FACTS))

    def update(
        self,
        rows: Values,
        most: Callable[[Places], Values],
        weights: tuple[Values, ...],
        changed: Sequence[Places],
        worth: Worth,
        kind: Flags | None = None,
    ) -> None:
        """Follow a change of rows and weights.

        Parameters
        ----------
        rows : float64, shape (m, FACTS)
        most : callable
            The gain that would be expected at some places if the answer were sure; 0 where there is no candidate.
        weights : tuple of float64 (FACTS,)
        changed : sequence of int64 arrays
            Places whose row, or anything else, is another than before.
        worth : Worth
            The same every time.
        kind : bool, shape (m,), optional
            Where the second of ``weights`` holds.
        """
        now, count = np.stack(weights), len(rows)
        anew, other = not len(self._weights), not np.array_equal(now, self._weights)
        self._worth, self._weights = worth, now
        if anew:
            self._floor = np.inf  # until it is set
        self._make_room(count, anew)
        places = np.arange(count) if anew else sorted_places(changed)
        steepest = _ROUNDING * float(np.abs(now).sum(axis=1).max())
        for at in range(0, len(places), _BLOCK):
            part = places[at : at + _BLOCK]
            some = self._take(part, rows, most)
            if not other:
                found = logits(some, now, None if kind is None else kind[part])
                self._logit[part] = self._sign * found + (steepest * self._largest + _MARGIN)
        if other:
            self._score_all(kind, steepest * self._largest + _MARGIN)
            self._hot = np.flatnonzero(self._logit >= self._needed)
            self._gain = np.full(len(self._hot), np.nan)
        elif len(places):
            hot = places[self._logit[places] >= self._needed[places]]
            kept = places[np.minimum(np.searchsorted(places, self._hot), len(places) - 1)] != self._hot
            self._hot = np.concatenate((self._hot[kept], hot))
            self._gain = np.concatenate((self._gain[kept], np.full(len(hot), np.nan)))
        few = len(self._hot) < WANTED // 32 and self._floor > 0.0
        if anew or (other and (few or len(self._hot) > 16 * WANTED)):
            self._set_floor(WANTED)

    def likely(self, least: float) -> Places:
        """Places of the candidates whose chance may be at least so much, ascending."""
        limit = np.log(least / (1.0 - least)) if least > 0.0 else -np.inf
        return np.flatnonzero((self._logit >= limit) & (self._most > 0.0))

    def best(self, first: Ids, second: Ids, gains: Callable[[Places], Values]) -> Iterator[tuple[float, int]]:
        """Gains above zero and places, largest gain first (ties: the smaller ``first``, then ``second``), computed
        only as far as they are taken. No update may come between.

        Parameters
        ----------
        first, second : int, by place
        gains : callable
            The gains of some places by the present weights.
        """
        above, wanted = np.inf, WANTED
        while True:
            unknown = np.flatnonzero(np.isnan(self._gain))
            if len(unknown):
                self._gain[unknown] = gains(self._hot[unknown])
            least = self._floor * (1.0 + _MARGIN) + 1e-8 if self._floor > 0.0 else 0.0  # gains are rounded
            count = _FIRST
            while above > least:
                left = np.flatnonzero((self._gain < above) & (self._gain > least))
                level = least
                if len(left) > count:
                    level = np.partition(self._gain[left], -count)[-count]
                    left = left[self._gain[left] >= level]
                places, gain = self._hot[left], self._gain[left]
                order = np.lexsort((second[places], first[places], -gain))
                yield from zip(gain[order].tolist(), places[order].tolist(), strict=True)
                above, count = level, 4 * count
            if self._floor <= 0.0:
                return
            wanted *= 4
            self._set_floor(wanted)

    # --- inner workings

    def _take(self, places: Places, rows: Values, most: Callable[[Places], Values]) -> Values:
        """All that is known of some rows without the weights; returns these rows."""
        some = rows.take(places, axis=0)
        begin, end = int(places[0]), int(places[-1]) + 1
        if end - begin == len(places) and begin % _BLOCK == 0:
            self._copy[begin // _BLOCK, :, : len(places)] = some.T
        else:
            self._copy[places // _BLOCK, :, places % _BLOCK] = some
        self._largest = max(self._largest, float(np.abs(some).max()))
        self._most[places] = most(places) * (1.0 + _MARGIN)
        if self._floor < np.inf:
            self._needed[places] = self._needed_for(self._most[places])
        return some

    def _needed_for(self, most: Singles) -> Singles:
        """The logits from which on gains are above the floor."""
        with np.errstate(divide="ignore", invalid="ignore"):
            share = self._floor / most.astype(np.float64)
        share[most == 0.0] = np.inf
        return np.asarray(self._worth.needed(share) - _MARGIN, np.float32)

    def _score_all(self, kind: Flags | None, slack: float) -> None:
        """The logits of all rows, rounded up by so much."""
        weights = (self._sign * self._weights).astype(np.float32)
        np.matmul(weights[0], self._copy, out=self._logit.reshape(-1, _BLOCK))
        if kind is not None:
            other = np.flatnonzero(kind)
            self._logit[other] = self._copy[other // _BLOCK, :, other % _BLOCK] @ weights[1]
        self._logit += np.float32(slack)

    def _set_floor(self, wanted: int) -> None:
        """Set the floor so that about so many rows are above it, and find them."""
        gain = np.empty_like(self._logit)
        for at in range(0, len(gain), _BLOCK):
            part = slice(at, at + _BLOCK)
            chance = 1.0 / (1.0 + np.exp(-self._logit[part].clip(-80.0, 80.0)))
            gain[part] = self._worth.paid(chance) * self._most[part] * (chance >= self._worth.least)
        tops = gain.reshape(-1, _GROUP).max(axis=1)
        if np.count_nonzero(tops) <= wanted:
            tops = gain
        tops = tops[tops > 0.0]
        self._floor = float(np.partition(tops, -wanted)[-wanted]) if len(tops) > wanted else 0.0
        for at in range(0, len(gain), _BLOCK):
            self._needed[at : at + _BLOCK] = self._needed_for(self._most[at : at + _BLOCK])
        self._hot = np.flatnonzero(self._logit >= self._needed)
        self._gain = np.full(len(self._hot), np.nan)

    def _make_room(self, count: int, anew: bool) -> None:
        """Room for so many rows, and a little more; where all is made anew, for nothing else."""
        have = 0 if anew else len(self._copy)
        blocks = -(-count // _BLOCK)
        if not anew and blocks <= have:
            return
        blocks += have // 8
        self._copy = enlarged(self._copy[:have], blocks)
        rows, had = blocks * _BLOCK, have * _BLOCK
        self._logit, self._most = enlarged(self._logit[:had], rows), enlarged(self._most[:had], rows)
        self._needed = enlarged(self._needed[:had], rows, np.inf)


def exactly(rows: Values, weights: Sequence[Values], kind: Flags | None = None) -> Values:
    """P(same) of some rows, those of the second ``kind`` by the second of the weights."""
    found = probability(rows, weights[0])
    if kind is not None:
        other = np.flatnonzero(kind)
        found[other] = probability(rows.take(other, axis=0), weights[1])
    return found


def logits(rows: Values, weights: Sequence[Values] | Values, kind: Flags | None = None) -> Values:
    """Logits of P(same) of very many rows but for the last bits, in one product; the rest as in `exactly`."""
    found = product(rows, weights[0])
    if kind is not None:
        other = np.flatnonzero(kind)
        found[other] = product(rows.take(other, axis=0), weights[1])
    return found
