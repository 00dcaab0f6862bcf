"""Where the parts of a cluster that is divided belong: the edges from each to two sides that grow part by part."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.context import Context
from a3s_desktop.core.edge_values import Similarities
from a3s_desktop.core.trees import Part
from a3s_desktop.core.types import IntArray

_SAMPLES = 16_384  # whose edges are looked at in one go, but for a larger part: it bounds memory


class SideLinks:
    """Sums of the similarities of edges to two sides; the first two parts are one each, the others come to them by
    and by.

    Parameters
    ----------
    context : Context
    similarity : Similarities, or float64, shape (E,)
        Of the graph's edges.
    leaves : int32, shape (n,)
        Samples of the cluster's tree.
    parts : sequence of Part
        Of the tree, covering it.
    faces : sequence of int
        The sample that represents each part.
    """

    def __init__(
        self,
        context: Context,
        similarity: Similarities | npt.NDArray[np.float64],
        leaves: IntArray,
        parts: Sequence[Part],
        faces: Sequence[int],
    ) -> None:
        self._context, self._similarity = context, similarity
        self._leaves, self._parts, self._faces = leaves, parts, faces
        self._side = np.full(len(parts) + 1, 2)  # of each part, and of all samples outside; 2: neither
        self._side[:2] = 0, 1
        self._part = np.full(len(leaves) + 1, len(parts))  # of each leaf, and of all samples outside
        for number, part in enumerate(parts):
            self._part[part.start : part.end] = number
        self._known = range(0)  # parts whose edges are at hand
        self._edges = _Edges(np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0))

    def put(self, part: int, side: int) -> None:
        """Give a part to side 0 or 1."""
        self._side[part] = side

    def of_part(self, part: int) -> npt.NDArray[np.float64]:
        """Sums over all edges from the samples of a part to each side, to all others last, float64 (3,). In ascending
        order of the parts this is fast."""
        if part not in self._known:
            self._known = self._block_from(part)
            spans = [self._leaves[one.start : one.end] for one in self._parts[part : self._known.stop]]
            self._edges = self._listed(np.concatenate(spans), np.cumsum([0, *map(len, spans)]))
        return self._sums(self._edges, part - self._known.start)

    def of_face(self, part: int) -> npt.NDArray[np.float64]:
        """The same of a part's face alone."""
        return self._sums(self._face_edges, part)

    # --- inner workings

    def _block_from(self, first: int) -> range:
        """A part, and as many after it as are looked at in one go."""
        last, samples = first, 0
        while last < len(self._parts) and (last == first or samples < _SAMPLES):
            samples += self._parts[last].end - self._parts[last].start
            last += 1
        return range(first, last)

    @cached_property
    def _face_edges(self) -> _Edges:
        return self._listed(np.array(self._faces, np.int32), np.arange(len(self._faces) + 1))

    def _listed(self, samples: IntArray, bounds: npt.NDArray[np.int64]) -> _Edges:
        graph = self._context.graph
        edges = graph.edges_of(samples)
        ends = np.concatenate(([0], np.cumsum(graph.degrees(samples))))
        part = self._part[self._context.places(graph.indices[edges], self._leaves)]
        return _Edges(ends[bounds], part, self._similarity[edges])

    def _sums(self, edges: _Edges, number: int) -> npt.NDArray[np.float64]:
        own = slice(edges.bounds[number], edges.bounds[number + 1])
        return np.bincount(self._side[edges.part[own]], edges.values[own], 3).astype(np.float64)


class _Edges(NamedTuple):
    """Edges from some groups of samples: where each group's begin, and end; to which part each leads; similarities."""

    bounds: npt.NDArray[np.int64]
    part: npt.NDArray[np.int64]
    values: npt.NDArray[np.float64]
