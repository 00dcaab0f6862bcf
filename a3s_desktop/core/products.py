"""Products of a few rows by the thread that asks: BLAS would wake its threads, which on a busy machine takes longer."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]

_FEW = 1 << 22  # multiplications from which on threads pay


def product(rows: Values, factor: Values) -> Values:
    """``rows @ factor`` for two-dimensional ``rows``; the last bits may differ from BLAS's."""
    if rows.size * (factor.shape[1] if factor.ndim == 2 else 1) >= _FEW:
        return np.asarray(rows @ factor, np.float64)
    subscripts = "nd,de->ne" if factor.ndim == 2 else "nd,d->n"
    found: npt.NDArray[Any] = np.einsum(subscripts, rows, factor)
    return np.asarray(found, np.float64)
