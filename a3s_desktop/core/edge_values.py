"""Values of the graph's edges that are worked out where they are asked for: of all edges they would fill the memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.types import PairGraph

Values = npt.NDArray[np.float64]
Places = Any
"""Positions of edges, a slice, or one position."""

GRAIN = 2.0**20
"""Similarities are multiples of 1 / GRAIN: their sums are exact, in whatever order they are made."""


def exact(similarity: npt.NDArray[np.floating[Any]]) -> Values:
    """Similarities rounded to multiples of 2^-20, float64: their sums do not depend on the order they are made in."""
    rounded: Values = np.rint(np.asarray(similarity, np.float64) * GRAIN) / GRAIN
    return rounded


class Similarities:
    """`exact` similarities of edges, by position.

    Parameters
    ----------
    values : float, shape (E,)
    logistic : bool
        The values are log-odds; the similarity is the probability.
    """

    def __init__(self, values: npt.NDArray[np.floating[Any]], logistic: bool = False) -> None:
        self._values, self._logistic = values, logistic

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, edges: Places) -> Values:
        values = self._values[edges]
        return exact(1.0 / (1.0 + np.exp(-values)) if self._logistic else values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.asarray(self[:], dtype)


class Lengths:
    """Mean distance of edges over the views, each in units of its spread around its mean, by position.

    Parameters
    ----------
    graph : PairGraph
    scale : float64, shape (V, 2), optional
        Mean and spread of each view; default: from all edges.
    """

    def __init__(self, graph: PairGraph, scale: Values | None = None) -> None:
        self._distances = graph.distances
        self.scale = np.asarray(scale, np.float64) if scale is not None else _scale(graph)

    def __len__(self) -> int:
        return int(self._distances.shape[1])

    def __getitem__(self, edges: Places) -> Values:
        total: Any = 0.0
        for view, (middle, spread) in zip(self._distances, self.scale, strict=True):
            total = total + (view[edges].astype(np.float64) - middle) / spread
        result: Values = np.asarray(total / max(1, len(self.scale)), np.float64).round(6)
        return result

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.asarray(self[:], dtype)


def _scale(graph: PairGraph) -> Values:
    found = []
    for view in graph.distances if len(graph.indices) else ():
        length = view.astype(np.float64)  # squares of far distances are beyond float32
        middle, spread = float(length.mean()), float(length.std())
        found.append((middle, spread if spread > 1e-9 * middle else 1.0))
    return np.array(found or [(0.0, 1.0)] * len(graph.distances)).reshape(-1, 2)
