"""P(same) of very many rows of facts, by a model that the answers keep changing: bounds for all, values for the best.

A logit that was computed with other weights has moved by x·Δw, and |x·Δw| <= |L⁻¹x| |LᵀΔw| for any invertible L
(Cauchy-Schwarz). With LLᵀ the mean of xxᵀ over all rows, |LᵀΔw| is what logits have moved by on average. So each row
keeps one number |L⁻¹x|, and a change of the weights costs one product and one sum a row; only rows whose bound is
above the best value found are computed. Where the bounds of a block of rows have become loose, it is computed again by
the present weights; only so many blocks at a time, so that no answer waits for all, and each block knows its weights.
Nothing else than speed depends on the bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.link_model import FACTS, probability
from a3s_desktop.core.products import product
from a3s_desktop.core.ranking import Ranking
from a3s_desktop.core.runs import sorted_places

Values = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Places = npt.NDArray[np.int64]
Ids = npt.NDArray[np.integer[Any]]
Flags = npt.NDArray[np.bool_]

BLOCK = 4_096
"""Rows that are computed by the same weights."""

AT_ONCE = 8
"""Blocks that are computed again in one update at most."""

LOOSE = 0.07
"""... those whose logits have moved by more than this on average."""

_MARGIN = 2e-5  # of logarithms: more than what rounding to float32 does to values and bounds
_RIDGE = 1e-6  # share of the sphere in the mean of xxᵀ: facts may depend on each other
_LEAST = 0.05  # mean square taken for a fact that is zero in nearly all rows: in some it will not be


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
        Below this one the gain is less than the chance, in proportion; 0: it never is.
    """

    factor: float
    least: float
    unlikely: float = 0.0

    def __call__(self, chance: Values, entropy: Values) -> Values:
        """The gains to be expected of some candidates, from the chances and Δh times N."""
        paid = chance * np.minimum(1.0, chance / self.unlikely) if self.unlikely else chance
        gain: Values = (paid * entropy * self.factor).round(9)
        gain[chance < self.least] = 0.0
        return gain

    def bounds(self, chance: Singles) -> Singles:
        """Bounds of the logarithms of gains over those of sure answers, in the place of bounds of those of chances."""
        nothing = chance < np.float32(np.log(self.least) - _MARGIN) if self.least else None
        if self.unlikely:
            less = chance - np.float32(np.log(self.unlikely) - _MARGIN)
            chance = chance + np.minimum(less, np.float32(0.0), out=less)
        if nothing is not None:
            chance[nothing] = -np.inf
        return chance


class Chances:
    """Bounds of the chances of a table's rows, and its candidates by gain.

    Parameters
    ----------
    same : bool
        Whether the chance is that of *same*; else of *different*.
    """

    def __init__(self, same: bool) -> None:
        self._sign = 1.0 if same else -1.0
        self._ranking = Ranking()
        # By place, in whole blocks.
        self._chance: Singles = np.zeros(0, np.float32)  # logarithm, by the weights that are known of the block
        self._reach: Singles = np.zeros(0, np.float32)
        self._most: Singles = np.zeros(0, np.float32)  # logarithm of the gain of a sure answer; -inf: no candidate
        # By kind and block.
        self._known: Values = np.zeros((0, 0, FACTS))
        self._moved: Values = np.zeros((0, 0))
        self._weights: Values = np.zeros((0, FACTS))  # by kind
        self._factor: Values = np.eye(FACTS)
        self._inverse: Values = np.eye(FACTS)
        self._rearranged = False
        self._worth = Worth(1.0, 0.0)
        self._found: list[tuple[Places, Values]] = []  # places computed since, and their gains: the closest of bounds

    def rearrange(self, places: Places, count: int) -> None:
        """The rows at some places stand at the beginning now, in this order, of so many; the others are gone."""
        room = _blocks(count) * BLOCK - len(places)
        self._reach = np.concatenate((self._reach[places], np.zeros(room, np.float32)))
        self._most = np.concatenate((self._most[places], np.full(room, -np.inf, np.float32)))
        self._chance = np.zeros(len(self._most), np.float32)
        self._known, self._moved = self._known[:, :0], self._moved[:, :0]
        self._ranking = Ranking()
        self._rearranged = True

    def update(
        self,
        rows: Values,
        most: Callable[[Places], Values],
        weights: tuple[Values, ...],
        changed: Sequence[Places],
        worth: Worth,
        kind: Flags | None = None,
    ) -> None:
        """Bring the bounds up to date.

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
        count, now = len(rows), np.stack(weights)
        self._worth = worth
        places = sorted_places(changed)
        if not len(self._weights):
            self._factor = _factor(rows)
            self._inverse = np.asarray(np.linalg.inv(self._factor).T, np.float64)
            self._known, self._moved = np.zeros((len(now), 0, FACTS)), np.zeros((len(now), 0))
            places = np.arange(count)
        self._make_room(count, now)
        other = not np.array_equal(now, self._weights)
        every = other or self._rearranged
        if other:
            self._weights = now
            self._moved = np.sqrt((((now[:, None] - self._known) @ self._factor) ** 2).sum(axis=2))
        if not every:
            for known, gain in self._found:
                with np.errstate(divide="ignore"):
                    self._ranking.put(known, np.log(gain) + _MARGIN, count)
        self._found.clear()
        for at in range(0, len(places), BLOCK):
            self._compute(places[at : at + BLOCK], rows, most, kind)
        renewed = range(_blocks(count)) if self._rearranged else self._loose()
        for block in renewed:
            self._renew(block, rows, kind)
        self._rearranged = False
        if every:
            self._ranking.put_from(0, self._bounds(0, count, kind), count)
            return
        self._ranking.put(places, self._bound(places, kind), count)
        for block in renewed:
            begin = block * BLOCK
            self._ranking.put_from(begin, self._bounds(begin, min(begin + BLOCK, count), kind), count)

    def likely(self, least: float) -> Places:
        """Places of the candidates whose chance may be at least so much, ascending."""
        limit = np.log(least) if least > 0.0 else -np.inf
        bound = self._reach.reshape(-1, BLOCK) * self._moved.max(axis=0).astype(np.float32)[:, None]
        bound += self._chance.reshape(-1, BLOCK)
        return np.flatnonzero((bound.ravel() >= limit) & (self._most > -np.inf))

    def best(self, first: Ids, second: Ids, gains: Callable[[Places], Values]) -> Iterator[tuple[float, int]]:
        """Gains and places, largest gain first; see `Ranking.descending`."""

        def noted(places: Places) -> Values:
            gain = gains(places)
            if len(places):
                self._found.append((places, gain))
            return gain

        return self._ranking.descending(first, second, noted)

    # --- inner workings

    def _compute(self, places: Places, rows: Values, most: Callable[[Places], Values], kind: Flags | None) -> None:
        """All that is known of some rows, whose blocks' weights stay as they are."""
        some, block = rows.take(places, axis=0), places // BLOCK
        known = self._known[0, block] if kind is None else self._known[kind[places].astype(np.int64), block]
        self._chance[places] = self._logarithm(np.einsum("nd,nd->n", some, known))
        turned = product(some, self._inverse)
        self._reach[places] = np.sqrt(np.einsum("nd,nd->n", turned, turned)) * (1.0 + _MARGIN)
        with np.errstate(divide="ignore"):
            self._most[places] = np.log(most(places))

    def _loose(self) -> list[int]:
        """Blocks whose turn it is to be computed by the present weights, those first that are furthest from them."""
        moved = self._moved.max(axis=0)
        loose = np.flatnonzero(moved > LOOSE)
        found: list[int] = loose[np.argsort(-moved[loose], kind="stable")[:AT_ONCE]].tolist()
        return found

    def _renew(self, block: int, rows: Values, kind: Flags | None) -> None:
        """The chances of a block by the present weights."""
        some = rows[block * BLOCK : (block + 1) * BLOCK]
        at = slice(block * BLOCK, block * BLOCK + len(some))
        self._chance[at] = self._logarithm(logits(some, self._weights, None if kind is None else kind[at]))
        self._known[:, block], self._moved[:, block] = self._weights, 0.0

    def _logarithm(self, logit: Values) -> Singles:
        """Logarithms of chances, rounded up."""
        small = (-self._sign * np.clip(logit, -30.0, 30.0)).astype(np.float32)
        return np.float32(_MARGIN) - np.log(np.float32(1.0) + np.exp(small))

    def _bounds(self, begin: int, end: int, kind: Flags | None) -> Singles:
        """Of the logarithms of all gains from the beginning of a block on."""
        at, blocks = slice(begin, end), slice(begin // BLOCK, _blocks(end))
        moved = self._moved[:, blocks].astype(np.float32)
        bound = (self._reach.reshape(-1, BLOCK)[blocks] * moved[0][:, None]).ravel()[: end - begin]
        if kind is not None:
            other = np.flatnonzero(kind[at])
            bound[other] = self._reach[at][other] * moved[1][other // BLOCK]
        bound += self._chance[at]
        np.minimum(bound, np.float32(_MARGIN), out=bound)
        bound = self._worth.bounds(bound)
        bound += self._most[at]
        return np.asarray(bound, np.float32)

    def _bound(self, places: Places, kind: Flags | None) -> Singles:
        """The same of some."""
        block = places // BLOCK
        moved = (self._moved[0, block] if kind is None else self._moved[kind[places].astype(np.int64), block]).astype(
            np.float32
        )
        bound = np.minimum(self._chance[places] + self._reach[places] * moved, np.float32(_MARGIN))
        return np.asarray(self._worth.bounds(bound) + self._most[places], np.float32)

    def _make_room(self, count: int, weights: Values) -> None:
        more = _blocks(count) - self._known.shape[1]
        if more > 0:
            self._known = np.concatenate((self._known, np.repeat(weights[:, None], more, axis=1)), axis=1)
            self._moved = np.concatenate((self._moved, np.zeros((len(weights), more))), axis=1)
        room = _blocks(count) * BLOCK - len(self._chance)
        if room > 0:
            nothing = np.zeros(room, np.float32)
            self._chance = np.concatenate((self._chance, nothing))
            self._reach = np.concatenate((self._reach, nothing))
            self._most = np.concatenate((self._most, np.full(room, -np.inf, np.float32)))


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


def _blocks(count: int) -> int:
    return -(-count // BLOCK)


def _factor(rows: Values) -> Values:
    """L with LLᵀ the mean of xxᵀ, about."""
    mean = rows.T @ rows / max(1, len(rows))
    mean += np.diag(np.maximum(_LEAST - np.diag(mean), 0.0) + _RIDGE * float(np.trace(mean)))
    return np.asarray(np.linalg.cholesky(mean), np.float64)
