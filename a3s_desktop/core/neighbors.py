"""Exact nearest neighbours by blocked matrix products, independent of how BLAS orders its sums."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.types import FloatArray, IndexArray, IntArray
from a3s_desktop.errors import InputError
from a3s_desktop.i18n import tr
from a3s_desktop.task import Task

UNIT_NORM_TOLERANCE = 1e-2
_BLOCK_CELLS = 4_000_000  # distances held at once: 16 MB, and short enough a product to cancel within 200 ms
_BLOCK_FLOPS = 4_000_000_000
_PAIR_CELLS = 1_000_000  # feature values gathered at once for exact distances
_GROUPS = 16
_ROUNDOFF = 2.0**-24  # unit roundoff of float32


def has_unit_norm(features: npt.NDArray[Any]) -> bool:
    """Whether every row of ``features`` (N, D) has Euclidean norm 1 within `UNIT_NORM_TOLERANCE`."""
    return all(bool(np.all(np.abs(part - 1.0) <= UNIT_NORM_TOLERANCE)) for part in _norms(features))


def _norms(features: npt.NDArray[Any]) -> list[npt.NDArray[np.float64]]:
    step = max(1, _BLOCK_CELLS // max(1, features.shape[1]))
    norms = []
    for a in range(0, len(features), step):
        block = np.asarray(features[a : a + step], np.float64)
        norms.append(np.sqrt(np.einsum("nd,nd->n", block, block)))
    return norms


def normalise(
    features: npt.NDArray[Any], how: Literal["auto", "l2", "none"] = "auto", half: bool = False
) -> FloatArray:
    """Features as float32, scaled to unit norm where asked.

    Parameters
    ----------
    features : array, shape (N, D)
        Any real dtype; may be memory-mapped.
    how : {"auto", "l2", "none"}
        "l2" divides each row by its norm (a zero row stays zero). "none" and "auto" keep the values: an embedding
        that is compared by angle usually arrives with unit norm already (see `has_unit_norm`), and where it does
        not, its lengths may carry meaning.

    half : bool
        Features of half precision stay so: what compares them makes them float32 block by block.

    Returns
    -------
    float32 (float16 with ``half``), shape (N, D), C-contiguous; the input itself where nothing had to change.

    Raises
    ------
    InputError
        ``features`` is not two-dimensional.
    """
    if features.ndim != 2:
        raise InputError(tr("Features must be a table of two dimensions, not {ndim}.", ndim=features.ndim))
    kept = np.dtype(np.float16 if half and features.dtype == np.float16 else np.float32)
    if how != "l2":
        return np.ascontiguousarray(features, kept)
    norms = np.concatenate([*_norms(features), np.zeros(0)])
    norms[norms == 0.0] = 1.0
    result = np.empty(features.shape, kept)
    step = max(1, _BLOCK_CELLS // max(1, features.shape[1]))
    for a in range(0, len(features), step):
        result[a : a + step] = np.asarray(features[a : a + step], np.float64) / norms[a : a + step, None]
    return result


def pair_distances(
    left: FloatArray, rows: npt.NDArray[np.integer[Any]], right: FloatArray, columns: npt.NDArray[np.integer[Any]]
) -> FloatArray:
    """Euclidean distances ``|left[rows] - right[columns]|``, from differences: no cancellation, no BLAS.

    Symmetric to the last bit, zero for equal rows, and the same for any number of threads.

    Parameters
    ----------
    left, right : float32 or float16, shapes (N, D) and (K, D)
    rows, columns : int, shape (P,)

    Returns
    -------
    float32, shape (P,)
    """
    result = np.empty(len(rows), np.float32)
    step = max(1, _PAIR_CELLS // max(1, left.shape[1]))
    for a in range(0, len(rows), step):
        difference = left[rows[a : a + step]].astype(np.float32, copy=False)
        difference -= right[columns[a : a + step]]
        np.einsum("pd,pd->p", difference, difference, out=result[a : a + step])
    return np.sqrt(result, out=result)


def scaled(features: FloatArray) -> tuple[FloatArray, float]:
    """Features times a power of two (exact) that brings them near 1, and that factor; squares cannot overflow then."""
    step = max(1, _BLOCK_CELLS // max(1, features.shape[1]))
    starts = range(0, len(features), step)  # in blocks: the absolute values of all would be one more table
    largest = max((float(np.max(np.abs(features[a : a + step]), initial=0.0)) for a in starts), default=0.0)
    if largest == 0.0 or 2.0**-16 <= largest <= 2.0**16:
        return features, 1.0
    factor = 2.0 ** min(126, -int(np.floor(np.log2(largest))))
    return features * np.float32(factor), factor


def unscaled(distances: FloatArray, factor: float) -> FloatArray:
    """Distances between points that were multiplied by ``factor``, as they were before; never infinite."""
    if factor == 1.0:
        return distances
    return np.asarray(np.minimum(distances / factor, np.finfo(np.float32).max), np.float32)


class NearestFinder:
    """Finds for rows of one table the rows of another that may be among the nearest ``k``, by matrix products.

    The products give squared distances up to rounding; every candidate within the error bound of the k-th is
    returned, so that exact distances of the candidates decide and BLAS' order of summation has no influence.

    Parameters
    ----------
    points : float32, shape (K, D)
        What is searched, near 1 in scale (see `scaled`).
    centre : float32, shape (D,)
        Subtracted from both tables: it keeps the rounding of products small.
    """

    def __init__(self, points: FloatArray, centre: FloatArray) -> None:
        self._centre = centre
        self._count, dim = points.shape
        self._width = -(-self._count // _GROUPS) * _GROUPS
        # [x - c, |x - c|^2]: one product gives the squared distance up to the searching row's own norm.
        self._table = np.empty((self._count, dim + 1), np.float32)
        np.subtract(points, centre, out=self._table[:, :dim])
        np.einsum("nd,nd->n", self._table[:, :dim], self._table[:, :dim], out=self._table[:, dim])
        self._bound = 4.0 * (dim + 8) * _ROUNDOFF
        self._buffer = np.empty((0, 0), np.float32)

    def candidates(
        self, queries: FloatArray, k: int, exclude: IndexArray | None = None
    ) -> tuple[IndexArray, IndexArray]:
        """Every possible member of the nearest ``k`` of each query.

        Parameters
        ----------
        queries : float32, shape (B, D)
        k : int
            ``1 <= k <= K`` (``K - 1`` with ``exclude``).
        exclude : int64, shape (B,), optional
            One point for each query to be left out (itself).

        Returns
        -------
        rows, columns : int64, shape (P,)
            Query and point of each candidate, ascending by row, then column; at least ``k`` for each row.
        """
        keys = self._keys(queries)
        if exclude is not None:
            keys[np.arange(len(queries)), exclude] = np.inf
        limit = self._kth_smallest(keys, k).astype(np.float64)
        offset = queries.astype(np.float64) - self._centre
        norm2 = np.einsum("nd,nd->n", offset, offset)
        reach = np.sqrt(norm2) + np.sqrt(np.maximum(limit + norm2, 0.0))
        limit += self._bound * (reach * reach + norm2)
        found = np.flatnonzero(keys <= limit.astype(np.float32)[:, None])
        return np.divmod(found, self._width)

    def _kth_smallest(self, keys: FloatArray, k: int) -> FloatArray:
        if k == 1:
            return np.asarray(keys.min(axis=1))
        # The k-th smallest of the groups' minima is at least the k-th smallest of all, and cheaper to find.
        groups = keys.reshape(len(keys), _GROUPS, -1)
        minima = groups.min(axis=1) if k <= groups.shape[2] else keys
        return np.partition(minima, k - 1, axis=1)[:, k - 1]

    def _keys(self, queries: FloatArray) -> FloatArray:
        rows = len(queries)
        if len(self._buffer) < rows:
            self._buffer = np.full((rows, self._width), np.inf, np.float32)
        query = np.ones((rows, self._table.shape[1]), np.float32)
        query[:, :-1] = (queries - self._centre) * np.float32(-2.0)
        keys = self._buffer[:rows]
        np.matmul(query, self._table.T, out=keys[:, : self._count])
        return keys


def block_rows(count: int, dim: int) -> int:
    """How many searching rows to take at once against ``count`` points of dimension ``dim``."""
    return int(max(1, min(2048, _BLOCK_CELLS // max(1, count), _BLOCK_FLOPS // max(1, 2 * count * dim))))


def nearest_neighbors(features: FloatArray, k: int, task: Task, start: int = 0) -> tuple[IntArray, FloatArray]:
    """The ``k`` nearest other samples of each sample; exact, Euclidean (paper: M nearest neighbours).

    Blocks of float32 matrix products select candidates; their distances are then computed from differences, so the
    result does not depend on the number of BLAS threads. Equal distances are ordered by index. Memory beyond the
    result is one more copy of the features and about 50 MB.

    Parameters
    ----------
    features : float32, shape (N, D)
    k : int
        Lowered to ``N - 1`` where it is larger.
    task : Task
        Stepped after each block.
    start : int
        Only for the samples from this one on; they are still compared with all.

    Returns
    -------
    indices : int32, shape (N - start, k)
        Nearest first.
    distances : float32, shape (N - start, k)

    Raises
    ------
    InputError
        Fewer than two samples.
    Cancelled
        The user cancelled the task.
    """
    n, dim = features.shape
    if n < 2:
        raise InputError(tr("At least two images are needed to compare them."))
    k = min(k, n - 1)
    points, factor = scaled(features)
    finder = NearestFinder(points, points.mean(axis=0, dtype=np.float64).astype(np.float32))
    indices = np.empty((n - start, k), np.int32)
    distances = np.empty((n - start, k), np.float32)
    step = block_rows(n, dim)
    for a in range(start, n, step):
        task.step((a - start) / (n - start))
        b = min(a + step, n)
        rows, columns = finder.candidates(points[a:b], k, np.arange(a, b))
        exact = _pair_distances_stepwise(points, rows + a, columns, task, (a - start) / (n - start))
        order = np.lexsort((columns, exact, rows))
        first = np.searchsorted(rows, np.arange(b - a))
        chosen = order[first[:, None] + np.arange(k)]
        indices[a - start : b - start] = columns[chosen]
        distances[a - start : b - start] = unscaled(exact[chosen], factor)
    return indices, distances


def _pair_distances_stepwise(
    points: FloatArray, rows: IndexArray, columns: IndexArray, task: Task, fraction: float
) -> FloatArray:
    # Thousands of equal images make every one of them a candidate: long enough a work to need cancelling.
    step = max(1, 16 * _PAIR_CELLS // max(1, points.shape[1]))
    if len(rows) <= step:
        return pair_distances(points, rows, points, columns)
    parts = []
    for a in range(0, len(rows), step):
        task.step(fraction)
        parts.append(pair_distances(points, rows[a : a + step], points, columns[a : a + step]))
    return np.concatenate(parts)
