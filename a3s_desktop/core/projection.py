"""Few columns from many: principal components, centred and half-whitened, at unit length."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.descriptor import unit
from a3s_desktop.core.types import FloatArray

_SPARE = 64  # directions beyond those that are wanted
_ROUNDS = 12
_FEW_ROWS = 2048

Blocks = Callable[[], Iterator[FloatArray]]


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """What was learned from a set of rows; later rows go through the same.

    Attributes
    ----------
    mean : float64, shape (D,)
    axes : float64, shape (D, d)
        Principal axes, each divided by the fourth root of its variance.
    """

    mean: npt.NDArray[np.float64]
    axes: npt.NDArray[np.float64]

    def apply(self, rows: FloatArray) -> FloatArray:
        """Rows of d columns at unit length."""
        return unit((rows - self.mean) @ self.axes)


def _strongest(spread: npt.NDArray[np.float64], wanted: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The largest eigenvalues, falling, and their vectors as columns.

    By subspace iteration where there are many columns, of which few are wanted: a hundred times faster than all.
    """
    width = len(spread)
    if width <= 4 * wanted or width <= 512:
        values, vectors = np.linalg.eigh(spread)
    else:
        basis = _orthonormal(np.random.default_rng(0).normal(size=(width, wanted + _SPARE)))
        for _ in range(_ROUNDS):
            basis = _orthonormal(spread @ basis)
        values, small = np.linalg.eigh(basis.T @ (spread @ basis))
        vectors = basis @ small
    order = np.argsort(values)[::-1][:wanted]
    return values[order], vectors[:, order]


def _orthonormal(basis: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """An orthonormal basis of the same space, by products of matrices: LAPACK's own is slow beside busy threads."""
    for _ in range(2):  # the second time mends what rounding left
        values, vectors = np.linalg.eigh(basis.T @ basis)
        kept = values > values[-1] * 1e-14
        basis = basis @ (vectors[:, kept] / np.sqrt(values[kept]))
    return basis


def _few_rows(blocks: Blocks, centre: FloatArray, wanted: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The same from the products of all pairs of rows: quicker where rows are fewer than columns."""
    rows = np.concatenate([block - centre for block in blocks()]).astype(np.float64)
    values, vectors = np.linalg.eigh(rows @ rows.T)
    order = np.argsort(values)[::-1][:wanted]
    values, vectors = values[order], vectors[:, order]
    axes = rows.T @ (vectors / np.sqrt(np.maximum(values, 1e-12)))
    return values / max(len(rows) - 1, 1), axes


def learn(blocks: Blocks, width: int, dimensions: int) -> Projection:
    """Principal axes of all rows, scaled by the fourth root of their variance ("half-whitened").

    Cosine between rows is then between that of the raw columns, ruled by the few strong ones, and that of whitened
    columns, in which noise weighs as much as anything.

    Parameters
    ----------
    blocks : callable
        Gives the rows in blocks of shape (B, width), each time anew.
    width, dimensions : int
        Columns before and, at most, after.
    """
    count, mean = 0, np.zeros(width)
    for block in blocks():
        count += len(block)
        mean += block.sum(axis=0, dtype=np.float64)
    mean /= max(count, 1)
    centre = mean.astype(np.float32)
    wanted = max(1, min(dimensions, count - 1, width))
    if count <= min(width, _FEW_ROWS):
        variances, axes = _few_rows(blocks, centre, wanted)
    else:
        spread = np.zeros((width, width))
        for block in blocks():
            centred = block - centre
            spread += centred.T @ centred
        variances, axes = _strongest(spread / max(count - 1, 1), wanted)
    kept = variances > max(float(variances[0]) * 1e-6, 1e-12)
    if not kept.any():
        kept[0] = True
    axes = axes[:, kept]
    # The sign of an axis is arbitrary: the largest entry is made positive, so that every machine agrees.
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    return Projection(mean, axes / np.maximum(variances[kept], 1e-12) ** 0.25)
