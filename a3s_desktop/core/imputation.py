"""Rows for samples that have none, from samples that resemble them by other features."""

from __future__ import annotations

import numpy as np

from a3s_desktop.core.types import FloatArray, IndexArray

_NEIGHBOURS = 5
_CHUNK = 1024


def from_alike(other: FloatArray, values: FloatArray, known: IndexArray, lacking: IndexArray) -> FloatArray:
    """Estimate rows: the mean over the most similar samples that have one, at their typical length.

    Parameters
    ----------
    other : float32, shape (N, d)
        Rows of unit length that all samples have.
    values : float32, shape (N, D)
        Rows that the samples of ``known`` have.
    known, lacking : int64
        Sample numbers.

    Returns
    -------
    float32, shape (len(lacking), D)
        Weighted by similarity; a sample is never given the very row of another.
    """
    count = min(_NEIGHBOURS, len(known))
    result = np.empty((len(lacking), values.shape[1]), np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", values[known], values[known]))
    typical = float(np.median(lengths))
    for start in range(0, len(lacking), _CHUNK):
        some = lacking[start : start + _CHUNK]
        alike = other[some] @ other[known].T
        nearest = np.argpartition(-alike, count - 1, axis=1)[:, :count]
        weights = np.maximum(np.take_along_axis(alike, nearest, 1), 0.01) ** 2
        mean = np.einsum("ij,ijk->ik", weights, values[known[nearest]])
        norms = np.sqrt(np.einsum("ij,ij->i", mean, mean))[:, None]
        result[start : start + _CHUNK] = mean * (typical / np.maximum(norms, 1e-12))
    return result
