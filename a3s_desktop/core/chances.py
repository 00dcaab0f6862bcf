"""P(same) of very many rows of facts, by a model that the answers keep changing: bounds for all, values for the best.

A logit that was computed with other weights has moved by x·Δw, and |x·Δw| <= |L⁻¹x| |LᵀΔw| for any invertible L
(Cauchy-Schwarz). With LLᵀ the mean of xxᵀ over all rows, |LᵀΔw| is what logits have moved by on average. So each row
keeps one number |L⁻¹x|, and a change of the weights costs one product and one sum a row; only rows whose bound is
above the best value found are computed. Nothing else than speed depends on the bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.link_model import FACTS, probability
from a3s_desktop.core.products import product
from a3s_desktop.core.ranking import Ranking, sorted_places

Values = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]
Ids = npt.NDArray[np.integer[Any]]
Flags = npt.NDArray[np.bool_]
Worth = Callable[[Values, Values], Values]
"""From the chance of an answer and Δh times N, of some candidates, to the gain to be expected of asking about them."""

_FEW = 2_048  # rows that are all computed with every change of the weights
_SHARE = 8  # ... and more where by the weights before more than this part of all rows had to be computed
_BLOCK = 65_536  # rows computed at once: it bounds memory
_MARGIN = 1e-6  # of logarithms: far more than what rounding does to values and bounds
_RIDGE = 1e-6  # share of the sphere in the mean of xxᵀ: some facts may be zero in all rows


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
        self._chance: Values = np.zeros(0)  # logarithm, by the weights of the last computation of all
        self._reach: Values = np.zeros(0)
        self._most: Values = np.zeros(0)  # logarithm of the gain of a sure answer; -inf where there is no candidate
        self._known: tuple[Values, ...] = ()  # weights of that computation
        self._weights: tuple[Values, ...] = ()
        self._moved: tuple[float, ...] = ()
        self._factor: Values = np.eye(FACTS)
        self._inverse: Values = np.eye(FACTS)
        self._rearranged = False
        self._found: list[tuple[Places, Values]] = []  # places computed since, and their gains: the closest of bounds
        self._computed = 0  # rows computed since the weights changed

    def rearrange(self, places: Places, count: int) -> None:
        """The rows at some places stand at the beginning now, in this order, of so many; the others are gone."""
        spare = count - len(places)
        self._chance = np.concatenate((self._chance[places], np.zeros(spare)))
        self._reach = np.concatenate((self._reach[places], np.zeros(spare)))
        self._most = np.concatenate((self._most[places], np.full(spare, -np.inf)))
        self._ranking = Ranking()
        self._rearranged = True

    def update(
        self,
        rows: Values,
        most: Callable[[Places], Values],
        weights: tuple[Values, ...],
        changed: Sequence[Places],
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
        kind : bool, shape (m,), optional
            Where the second of ``weights`` holds.
        """
        count = len(rows)
        self._make_room(count)
        other = not self._weights or any(map(_differ, weights, self._weights))
        if other:
            if not self._weights or count <= _FEW or self._computed > count // _SHARE:
                self._factor = _factor(rows)
                self._inverse = np.asarray(np.linalg.inv(self._factor).T, np.float64)
                self._known = tuple(some.copy() for some in weights)
                changed = [np.arange(count)]
            self._weights = tuple(some.copy() for some in weights)
            self._moved = tuple(
                float(np.sqrt((((new - old) @ self._factor) ** 2).sum()))
                for new, old in zip(self._weights, self._known, strict=True)
            )
            self._computed = 0
        if not other and not self._rearranged:
            for known, gain in self._found:
                with np.errstate(divide="ignore"):
                    self._ranking.put(known, np.log(gain) + _MARGIN, count)
        self._found.clear()
        places = sorted_places(changed)
        for at in range(0, len(places), _BLOCK):
            self._compute(places[at : at + _BLOCK], rows, most, kind)
        every = other or self._rearranged or len(places) == count
        self._rearranged = False
        at_once: slice | Places = slice(0, count) if every else places
        bound = self._reach[at_once] * (
            self._moved[0] if kind is None else np.where(kind[at_once], self._moved[1], self._moved[0])
        )
        bound += self._chance[at_once]
        np.minimum(bound, 0.0, out=bound)
        bound += self._most[at_once]
        self._ranking.put(np.arange(count) if every else places, bound, count)

    def likely(self, least: float) -> Places:
        """Places of the candidates whose chance may be at least so much, ascending."""
        limit = np.log(least) if least > 0.0 else -np.inf
        return np.flatnonzero((self._chance + self._reach * self._moved[0] >= limit) & (self._most > -np.inf))

    def best(self, first: Ids, second: Ids, gains: Callable[[Places], Values]) -> Iterator[tuple[float, int]]:
        """Gains and places, largest gain first; see `Ranking.descending`."""

        def counted(places: Places) -> Values:
            self._computed += len(places)
            gain = gains(places)
            if len(places):
                self._found.append((places, gain))
            return gain

        return self._ranking.descending(first, second, counted)

    # --- inner workings

    def _compute(self, places: Places, rows: Values, most: Callable[[Places], Values], kind: Flags | None) -> None:
        """Chance by the known weights, reach and greatest gain of some rows."""
        some = rows[places]
        logit = product(some, self._known[0])
        if kind is not None:
            other = np.flatnonzero(kind[places])
            logit[other] = product(some[other], self._known[1])
        self._chance[places] = _MARGIN - np.logaddexp(0.0, -self._sign * np.clip(logit, -30.0, 30.0))
        self._reach[places] = np.sqrt((product(some, self._inverse) ** 2).sum(axis=1)) * (1.0 + _MARGIN)
        with np.errstate(divide="ignore"):
            self._most[places] = np.log(most(places))

    def _make_room(self, count: int) -> None:
        if count > len(self._chance):
            more = count - len(self._chance)
            self._chance = np.concatenate((self._chance, np.zeros(more)))
            self._reach = np.concatenate((self._reach, np.zeros(more)))
            self._most = np.concatenate((self._most, np.full(more, -np.inf)))


def exactly(rows: Values, weights: tuple[Values, ...], kind: Flags | None = None) -> Values:
    """P(same) of some rows, those of the second ``kind`` by the second of the weights."""
    found = probability(rows, weights[0])
    if kind is not None:
        other = np.flatnonzero(kind)
        found[other] = probability(rows[other], weights[1])
    return found


def roughly(rows: Values, weights: Values) -> Values:
    """P(same) of very many rows but for the last bits, in one product."""
    logit = np.clip(product(rows, weights), -30.0, 30.0)
    chance: Values = 1.0 / (1.0 + np.exp(-logit))
    return chance


def _differ(one: Values, other: Values) -> bool:
    return not np.array_equal(one, other)


def _factor(rows: Values) -> Values:
    """L with LLᵀ the mean of xxᵀ."""
    mean = rows.T @ rows / max(1, len(rows))
    mean = mean + np.eye(FACTS) * (_RIDGE * float(np.trace(mean)) / FACTS or 1.0)
    return np.asarray(np.linalg.cholesky(mean), np.float64)
