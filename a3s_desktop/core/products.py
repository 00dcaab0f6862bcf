"""Products of a few rows by the thread that asks: BLAS would wake its threads, which on a busy machine takes longer."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]

_MANY = 1 << 25  # multiplications from which on threads pay
_ALONE = 1 << 18  # multiplications in one call that BLAS (OpenBLAS) does without its threads
_ROWS = 16  # rows at a time by a large factor
_FEW = 4  # rows for which it is not worth it to take the factor apart


def product(rows: Values, factor: Values) -> Values:
    """``rows @ factor`` for two-dimensional ``rows``; the last bits may differ from BLAS's."""
    if factor.ndim == 1:
        found: npt.NDArray[Any] = np.einsum("nd,d->n", rows, factor)
        return np.asarray(found, np.float64)
    count, (depth, width) = len(rows), factor.shape
    if count * depth * width >= _MANY:
        return np.asarray(rows @ factor, np.float64)
    if count <= _FEW:
        found = np.einsum("nd,de->ne", rows, factor)
        return np.asarray(found, np.float64)
    found = np.empty((count, width))
    high = max(_ROWS, _ALONE // (depth * width))
    wide = max(1, _ALONE // (high * depth))
    for row in range(0, count, high):
        for column in range(0, width, wide):
            at = slice(row, row + high), slice(column, column + wide)
            found[at] = rows[at[0]] @ factor[:, at[1]]
    return np.asarray(found, np.float64)
