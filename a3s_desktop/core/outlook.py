"""How many questions are left, honestly: an estimate with a range, from the candidates that a strategy still has.

"Left" means: until the strategy has nothing to ask that is expected to change a label, if every answer is true. That
is not known beforehand, for each answer makes some candidates pointless and brings up others. The estimate counts
candidates by how likely their answer is to change something, each kind with the number of questions that it came to
in simulated runs to their ends (`tests/benchmarks/outlook.py` makes the table and the fit).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.context import Context
from a3s_desktop.core.runs import run_starts

Vector = npt.NDArray[np.float64]
Index = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Outlook:
    """Questions left until nothing is expected to change.

    Attributes
    ----------
    low, middle, high : int
        In four of five simulated runs the true number was from ``low`` to ``high``.
    """

    low: int
    middle: int
    high: int


@runtime_checkable
class Forecaster(Protocol):
    """A strategy that can say how much is left."""

    def outlook(self, context: Context) -> Outlook | None:
        """The estimate for the present state, in which a question is pending; None where nothing can be said.

        Where it takes long it may be that of some answers ago.
        """
        ...

    def renew_outlook(self, context: Context) -> None:
        """Make it anew where it is old: nothing else is to be done now."""
        ...


SPREAD = 1.5
"""From the middle to either end of the range, as a factor, once many answers were given; twice that before the first:
about four of five simulated runs were inside."""

SETTLED = 20.0
"""Answers after which half of what the first ones make uncertain has gone."""

MEMORY = 200.0
"""Answers that the forecast's own model looks back on, by 1/e. The strategy's forgets faster, for it must follow the
present questions; a forecast made with it would jump."""

LEAST_CHANCE = 0.01
"""A question is put only if the chance that its answer changes a label is at least this."""

RAISED = 0.003
"""Candidates that are looked at: some come up again as the model learns. The rest is left out for speed."""

# Questions for each unit of `Load`, by least absolute error of the logarithm over the simulated runs.
_PER_CHAIN, _PER_NODE, _PER_SPLIT, _PER_WIDTH = 0.4, 0.7, 1.2, 1.3


@dataclass(frozen=True, slots=True)
class Load:
    """What a strategy still has before it, in four figures.

    Attributes
    ----------
    chains : float
        Pairs of clusters that may be joined, each counted by the chance that neither cluster was joined by a more
        likely question before.
    nodes : int
        Places inside clusters at which something may have to be divided.
    splits : float
        Divisions to be expected; each leaves a part that has to find its home.
    width : float
        Geometric mean of the number of pairs that may be joined and of the clusters in them.
    """

    chains: float
    nodes: int
    splits: float
    width: float

    def questions(self) -> float:
        """The middle of the estimate."""
        return _PER_CHAIN * self.chains + _PER_NODE * self.nodes + _PER_SPLIT * self.splits + _PER_WIDTH * self.width


def load(first: Index, second: Index, joins: Vector, divides: Vector) -> Load:
    """Count candidates.

    Parameters
    ----------
    first, second : int, shape (m,)
        Clusters of the pairs that may be joined.
    joins : float64, shape (m,)
        P(same) of these.
    divides : float64, shape (k,)
        P(different) of the places inside clusters.
    """
    likely = np.flatnonzero(joins >= LEAST_CHANCE)
    first, second, joins = first[likely].astype(np.int64), second[likely].astype(np.int64), joins[likely]
    # In a fixed order, for candidates come in none: neither sums nor which of two equally likely pairs counts as
    # before the other must depend on it.
    order = np.argsort(first * (int(second.max(initial=0)) + 1) + second)
    order = order[_falling(joins[order])]
    first, second, joins = first[order], second[order], joins[order]
    free, clusters = _untouched(first, second, joins)
    divides = np.sort(divides)
    width = float(np.sqrt(len(joins) * clusters))
    return Load(float(free.sum()), int((divides >= LEAST_CHANCE).sum()), float(divides.sum()), width)


def forecast(work: Load, answered: int) -> Outlook:
    """The estimate for what is left after so many answers; a question is pending, so there is at least one."""
    middle = max(1.0, work.questions())
    spread = SPREAD * (1.0 + SETTLED / (SETTLED + answered))
    return Outlook(max(1, round(middle / spread)), round(middle), max(1, round(middle * spread)))


def _falling(values: Vector) -> Index:
    """The order of falling values, equal ones as they stand; `numpy.argsort` takes much longer where it is stable."""
    order = np.argsort(-values)
    found = values[order]
    rank = np.cumsum(np.concatenate((np.zeros(1, np.int64), found[1:] != found[:-1]))[: len(found)])
    key = rank * len(values) + order
    key.sort()
    return key % max(1, len(values))


def _untouched(first: Index, second: Index, chance: Vector) -> tuple[Vector, int]:
    """For each pair, the chance that none of the more likely pairs of its two clusters is the same, and the number of
    clusters; the pairs come by falling chance."""
    if not len(chance):
        return chance, 0
    bits, count = len(chance).bit_length(), len(chance)
    sides = np.concatenate((first << bits, second << bits))  # of each pair; there may be ten million: few copies
    sides[:count] += np.arange(count)
    sides[count:] += np.arange(count)
    sides.sort()
    starts = run_starts(sides >> bits)
    sides &= (1 << bits) - 1
    none = np.log1p(-np.minimum(chance, 1.0 - 1e-9))[sides]
    before = np.cumsum(none)
    before -= none
    before -= np.repeat(before[starts], np.diff(np.concatenate((starts, [len(sides)]))))
    free: Vector = np.exp(np.bincount(sides, before, count))
    return free, len(starts)
