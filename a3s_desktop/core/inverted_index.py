"""Nearest neighbours of very many samples: cells of similar samples, each compared with the cells nearest to it.

An inverted-file index in matrix products. There are about N / 64 cells, because cells must shrink with the identities:
where one cell mixes many, the neighbours of a sample lie in cells that are not looked at. Which cell a sample belongs
to, and which cells are near, is found without comparing it with all of them; see `centres`.

The features are never copied as a whole, in no precision: blocks of rows are read, and made float32, where they are
compared. Each part of the search can be kept, so that interrupted work goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.centres import PER_CENTRE, blocks, learn_centres, nearest_centres, part
from a3s_desktop.core.neighbors import has_unit_norm
from a3s_desktop.core.types import FloatArray, IntArray
from a3s_desktop.task import Task, at_once

PARTS = 20
"""Parts of the search that are kept one by one."""

EXACT_UP_TO = 20_000
"""Samples up to which exact search is used: there it takes a few seconds at most, and every neighbour is right."""

_CHOICES = 3  # cells that each sample names; the cells that its own cell is compared with come from them
_CELLS = 16  # cells compared with one cell, at most, besides what is needed to find k neighbours
_MOST = 8 * PER_CENTRE  # samples in a cell; larger ones are cut
_ROWS = 6_000  # candidates for one cell, at most
_TOGETHER = 1_024  # samples whose cells are searched in one go
_RECALL_SAMPLE = 256

_Table = npt.NDArray[Any]
Arrays = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Cells:
    """A partition of the samples into cells, and which cells are near which.

    Attributes
    ----------
    order : int32, shape (N,)
        The samples, sorted by cell.
    starts : int64, shape (C + 1,)
        Where each cell begins in ``order``.
    near : int32, shape (C, L)
        Cells to compare each cell with, itself first; -1 where there are fewer.
    middle : float32, shape (D,)
        Subtracted from the features before products: it keeps their rounding small.
    """

    order: IntArray
    starts: npt.NDArray[np.int64]
    near: IntArray
    middle: FloatArray

    def labels(self) -> IntArray:
        """The cell of each sample, int32, shape (N,)."""
        result = np.empty(len(self.order), np.int32)
        result[self.order] = np.repeat(np.arange(len(self.starts) - 1, dtype=np.int32), np.diff(self.starts))
        return result

    def parts(self, count: int) -> list[tuple[int, int]]:
        """The cells as ``count`` ranges of about as many samples each, in order."""
        wanted = np.linspace(0, self.starts[-1], count + 1)
        cuts = np.unique(np.searchsorted(self.starts, wanted))
        return list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))


def make_cells(table: _Table, seed: int, task: Task) -> Cells:
    """Cells of about 64 samples.

    Parameters
    ----------
    table : float16 or float32, shape (N, D)
        Near 1 in scale; may be memory-mapped. It is read in blocks.
    seed : int
    task : Task
        Stepped up to 0.5.
    """
    n, dim = table.shape
    total = np.zeros(dim)
    for a, b in blocks(n, dim):
        total += table[a:b].sum(axis=0, dtype=np.float64)
    middle = (total / n).astype(np.float32)
    centres = learn_centres(table, middle, has_unit_norm(table), seed, task, 0.3)
    choices = min(_CHOICES, len(centres))
    named, far = nearest_centres(table, None, centres, middle, choices, task, (0.3, 0.5))
    own = named[:, 0]
    order = np.lexsort((far, own)).astype(np.int32)
    sizes = np.bincount(own, minlength=len(centres))
    pieces = np.maximum(1, -(-sizes // _MOST))  # thousands of equal images are one cell: cut, or it were quadratic
    first = np.concatenate(([0], np.cumsum(pieces)))
    place = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    cell = first[own[order]] + place // _MOST
    starts = np.searchsorted(cell, np.arange(first[-1] + 1)).astype(np.int64)
    near = _near_cells(named, centres, sizes, task)
    return Cells(order, starts, _of_pieces(near, first, pieces), middle)


def _near_cells(named: IntArray, centres: FloatArray, sizes: npt.NDArray[np.int64], task: Task) -> IntArray:
    """For each cell those its samples name most often after it, then those with the nearest centres."""
    count = len(centres)
    length = min(_CELLS, count)
    votes = np.zeros((0,), np.int64)
    pairs = [named[:, 0].astype(np.int64) * count + named[:, place] for place in range(1, named.shape[1])]
    keys, votes = np.unique(np.concatenate(pairs), return_counts=True) if pairs else (votes, votes)
    origin = np.zeros(centres.shape[1], np.float32)
    close, _ = nearest_centres(centres, None, centres, origin, length, task, (0.5, 0.5))
    # One list of (cell, other, rank): itself, the others by votes, then by nearness; the first of equal ones stays.
    cells = np.arange(count)
    rows = np.concatenate((cells, keys // count, np.repeat(cells, length)))
    others = np.concatenate((cells, keys % count, close.ravel()))
    most = int(votes.max(initial=0)) + 1
    ranks = np.concatenate((np.full(count, -1), most - votes, most + np.tile(np.arange(length), count)))
    used = (sizes[others] > 0) | (rows == others)
    rows, others, ranks = rows[used], others[used], ranks[used]
    order = np.lexsort((others, ranks, rows))
    rows, others = rows[order], others[order]
    _, first = np.unique(rows * count + others, return_index=True)
    first.sort()
    rows, others = rows[first], others[first]
    place = np.arange(len(rows)) - np.searchsorted(rows, rows)
    kept = place < length
    near = np.full((count, length), -1, np.int32)
    near[rows[kept], place[kept]] = others[kept]
    return near


def _of_pieces(near: IntArray, first: npt.NDArray[np.int64], pieces: npt.NDArray[np.int64]) -> IntArray:
    """The lists with cut cells in the place of whole ones."""
    if int(pieces.max()) == 1:
        return near
    lists = np.full((int(first[-1]), near.shape[1]), -1, np.int32)
    for cell, row in enumerate(near):
        pool = np.concatenate([np.arange(first[c], first[c + 1]) for c in row if c >= 0])[: near.shape[1] + 1]
        for piece in range(first[cell], first[cell + 1]):
            line = np.concatenate(([piece], pool[pool != piece]))[: near.shape[1]]
            lists[piece, : len(line)] = line
    return lists


def search_part(
    table: _Table, cells: Cells, cell_range: tuple[int, int], k: int, task: Task, span: tuple[float, float]
) -> tuple[IntArray, FloatArray]:
    """Neighbours of the samples of a range of cells.

    Parameters
    ----------
    table : float, shape (N, D)
        May be memory-mapped.
    cells : Cells
    cell_range : (int, int)
        First cell, and the one behind the last.
    k : int
        Less than N.
    task : Task
    span : (float, float)
        Which share of the stage this is, for progress.

    Returns
    -------
    indices, distances : int32 and float32, shape (n, k)
        Of the samples ``cells.order[cells.starts[first] : cells.starts[last]]``, nearest first.
    """
    starts = cells.starts
    offset, end = int(starts[cell_range[0]]), int(starts[cell_range[1]])
    indices, distances = np.empty((end - offset, k), np.int32), np.empty((end - offset, k), np.float32)
    jobs: list[tuple[int, int]] = []
    first = cell_range[0]
    for cell in range(*cell_range):
        if starts[cell + 1] - starts[first] >= _TOGETHER or cell + 1 == cell_range[1]:
            jobs.append((first, cell + 1))
            first = cell + 1

    search = partial(_search_cells, table, cells, k)
    for job, (listed, far) in zip(jobs, at_once(search, jobs, task, span), strict=True):
        at = slice(int(starts[job[0]]) - offset, int(starts[job[1]]) - offset)
        indices[at], distances[at] = listed, far
    return indices, distances


def _search_cells(table: _Table, cells: Cells, k: int, cell_range: tuple[int, int]) -> tuple[IntArray, FloatArray]:
    """Neighbours of the samples of some cells, in their order."""
    first, end = (int(cells.starts[cell]) for cell in cell_range)
    indices, distances = np.empty((end - first, k), np.int32), np.empty((end - first, k), np.float32)
    for cell in range(*cell_range):
        a, b = int(cells.starts[cell]) - first, int(cells.starts[cell + 1]) - first
        if a < b:
            indices[a:b], distances[a:b] = _search_cell(table, cells, cell, k)
    return indices, distances


def _search_cell(table: _Table, cells: Cells, cell: int, k: int) -> tuple[IntArray, FloatArray]:
    """Neighbours of the samples of one cell among those of its near cells."""
    a, b = int(cells.starts[cell]), int(cells.starts[cell + 1])
    places = _candidates(cells, cell, k)
    samples = cells.order[places]
    points = part(table, samples, cells.middle)
    norm2 = np.einsum("nd,nd->n", points, points)
    own = slice(0, b - a)  # the cell itself comes first among its candidates
    far = points[own] @ points.T
    far *= np.float32(-2.0)
    far += norm2
    line = np.arange(b - a)
    far[line, line] = np.inf
    top = _smallest(far, k)
    value = np.take_along_axis(far, top, 1)
    named = samples[top]
    line = np.lexsort((named, value), axis=1)
    distances = np.sqrt(np.maximum(np.take_along_axis(value, line, 1) + norm2[own, None], 0.0))
    return np.take_along_axis(named, line, 1), distances


def _smallest(values: FloatArray, k: int) -> npt.NDArray[np.int64]:
    """Columns of the ``k`` smallest values of each row; `numpy.partition` is seven times faster than argpartition."""
    limit = np.partition(values, k - 1, axis=1)[:, k - 1 : k]
    columns = np.flatnonzero(values <= limit) % values.shape[1]
    if len(columns) != k * len(values):  # equal values
        return np.asarray(np.argpartition(values, k - 1, axis=1)[:, :k])
    return np.asarray(columns.reshape(len(values), k))


def _candidates(cells: Cells, cell: int, k: int) -> npt.NDArray[np.int64]:
    """Rows of the sorted table to compare a cell with: its near cells', and more where they are too few."""
    starts = cells.starts
    ranges, total = [], 0
    for other in cells.near[cell]:
        size = int(starts[other + 1] - starts[other]) if other >= 0 else 0
        if size and (total <= k or total + size <= max(_ROWS, 4 * k)):
            ranges.append(np.arange(starts[other], starts[other + 1]))
            total += size
    rows = np.concatenate(ranges)
    if total <= k:
        more = np.setdiff1d(np.arange(min(int(starts[-1]), 2 * (k + 1 + total))), rows)
        rows = np.concatenate((rows, more))
    return rows


def approximate_neighbors(
    table: _Table, k: int, seed: int, task: Task, keep: Callable[[str, Callable[[], Arrays]], Arrays]
) -> tuple[IntArray, FloatArray, float, IntArray]:
    """Neighbours that are the nearest with few exceptions, and how few: for data too large for exact search.

    Unlike exact search, the last digits of the distances depend on how BLAS orders its sums.

    Parameters
    ----------
    table : float16 or float32, shape (N, D)
        May be memory-mapped; not changed.
    k : int
    seed : int
    task : Task
    keep : callable
        Keeps the cells and each of `PARTS` parts under a name of its own, so that interrupted work resumes.

    Returns
    -------
    indices, distances : int32 and float32, shape (N, k)
    recall : float
        Share of the true neighbours that was found, measured on a sample.
    cells : int32, shape (N,)
        The cell of each sample.
    """
    n = len(table)
    k = min(k, n - 1)
    found = keep("cells", lambda: _as_arrays(make_cells(table, seed, task)))
    cells = Cells(found["order"], found["starts"], found["near"], found["middle"])
    indices, distances = np.empty((n, k), np.int32), np.empty((n, k), np.float32)

    def searched(cell_range: tuple[int, int]) -> Arrays:
        a, b = (0.5 + 0.5 * cells.starts[cell] / n for cell in cell_range)
        listed, far = search_part(table, cells, cell_range, k, task, (a, b))
        return {"neighbors": listed, "distances": far}

    for number, cell_range in enumerate(cells.parts(PARTS)):
        task.step(0.5 + 0.5 * cells.starts[cell_range[0]] / n)
        kept = keep(f"part-{number:02}", partial(searched, cell_range))
        rows = cells.order[cells.starts[cell_range[0]] : cells.starts[cell_range[1]]]
        indices[rows], distances[rows] = kept["neighbors"], kept["distances"]
    return indices, distances, recall(table, cells.middle, indices, seed, task), cells.labels()


def _as_arrays(cells: Cells) -> Arrays:
    return {"order": cells.order, "starts": cells.starts, "near": cells.near, "middle": cells.middle}


def recall(table: _Table, middle: FloatArray, indices: IntArray, seed: int, task: Task) -> float:
    """Which share of the true nearest neighbours was found, measured on a sample against exact search.

    Parameters
    ----------
    table : float, shape (N, D)
    middle : float32, shape (D,)
    indices : int32, shape (N, k)
        What was found.
    seed : int
    task : Task
    """
    n, k = indices.shape
    rows = np.sort(np.random.default_rng(seed).choice(n, min(n, _RECALL_SAMPLE), replace=False))
    best = np.full((len(rows), k), np.inf, np.float32)
    names = np.full((len(rows), k), -1, np.int32)
    queries = part(table, rows, middle) * np.float32(-2.0)
    for a, b in blocks(n, max(len(rows), table.shape[1])):
        task.check()
        points = part(table, slice(a, b), middle)
        far = np.asarray(queries @ points.T, np.float32)
        far += np.einsum("nd,nd->n", points, points)
        inside = np.flatnonzero((rows >= a) & (rows < b))
        far[inside, rows[inside] - a] = np.inf
        top = np.argpartition(far, min(k, b - a) - 1, axis=1)[:, :k]
        listed = np.concatenate((names, (top + a).astype(np.int32)), axis=1)
        both: FloatArray = np.concatenate((best, np.take_along_axis(far, top, 1)), axis=1)
        top = np.argpartition(both, k - 1, axis=1)[:, :k]
        best, names = np.take_along_axis(both, top, 1), np.take_along_axis(listed, top, 1)
    hits = sum(np.isin(truth, mine).sum() for truth, mine in zip(names, indices[rows], strict=True))
    return float(hits) / names.size
