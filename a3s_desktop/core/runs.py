"""Runs of equal values, and sets of places, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


def run_starts(values: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.int64]:
    """Where the runs of equal values begin, ascending; of few values this is much faster than `numpy.diff`."""
    other = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=other[1:])
    return other.nonzero()[0]


def sorted_places(some: Sequence[npt.NDArray[np.integer[Any]]]) -> npt.NDArray[np.int64]:
    """Each of some places once, ascending."""
    places = np.sort(np.concatenate([*some, np.zeros(0, np.int64)]))
    return places[run_starts(places)]
