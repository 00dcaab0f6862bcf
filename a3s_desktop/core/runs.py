"""Runs of equal values, and sets of places, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Ints = TypeVar("Ints", bound=npt.NDArray[np.integer[Any]])


def run_starts(values: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.int64]:
    """Where the runs of equal values begin, ascending; of few values this is much faster than `numpy.diff`."""
    other = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=other[1:])
    return other.nonzero()[0]


def missing(values: Ints, others: npt.NDArray[np.integer[Any]]) -> Ints:
    """Those of some values that are not among others, both ascending and without doubles."""
    if not len(others):
        return values
    others = others[np.minimum(others.searchsorted(values), len(others) - 1)]
    found: Ints = values[others != values]
    return found


def sorted_places(some: Sequence[npt.NDArray[np.integer[Any]]]) -> npt.NDArray[np.int64]:
    """Each of some places once, ascending; fast where they come in long runs that are in order."""
    places = np.sort(np.concatenate([*some, np.zeros(0, np.int64)]), kind="stable")
    return places[run_starts(places)]
