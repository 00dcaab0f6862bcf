"""Arrays that grow."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

Array = TypeVar("Array", bound=np.ndarray[Any, Any])


def enlarged(values: Array, count: int, fill: float = 0) -> Array:
    """A copy with room for so many at least, ``fill`` behind what was there.

    Zeros take no memory, and no time, before something is written to them; `numpy.concatenate` would do so at once.
    """
    found = np.zeros((max(count, len(values)), *values.shape[1:]), values.dtype)
    found[: len(values)] = values
    if fill:
        found[len(values) :] = fill
    return found  # type: ignore[return-value]
