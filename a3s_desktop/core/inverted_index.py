"""Nearest neighbours of very many samples: cells of similar samples, each compared with the cells nearest to it.

An inverted-file index in matrix products. There are about N / 64 cells, because cells must shrink with the identities:
where one cell mixes many, the neighbours of a sample lie in cells that are not looked at. The centres are those of
K-means on a part of the samples. A single sample is a poor centre and random ones miss a third of the identities, so
centres are added in rounds, half of the new ones among the samples that no mean describes well so far.

The features are never copied as a whole in more than their own precision beyond one float32 table sorted by cell, and
each part of the search can be kept, so that interrupted work goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.neighbors import has_unit_norm
from a3s_desktop.core.types import FloatArray, IntArray
from a3s_desktop.task import Task

PER_CELL = 64
"""Samples in a cell, on average."""

PARTS = 20
"""Parts of the search that are kept one by one."""

EXACT_UP_TO = 20_000
"""Samples up to which exact search is used: there it takes a few seconds at most, and every neighbour is right."""

_CHOICES = 3  # cells that each sample names; the cells that its own cell is compared with come from them
_CELLS = 16  # cells compared with one cell, at most, besides what is needed to find k neighbours
_MOST = 512  # samples in a cell; larger ones are cut
_ROWS = 6_000  # candidates for one cell, at most
_ROUNDS = (0.5, 0.25, 0.25)  # shares of the centres that each round adds
_ITERATIONS = 3  # of K-means in each round
_FIT = 32  # samples for each centre that the centres are learnt from
_BLOCK_CELLS = 8_000_000
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


def _blocks(count: int, width: int) -> Iterator[tuple[int, int]]:
    step = max(64, _BLOCK_CELLS // max(1, width))
    for a in range(0, count, step):
        yield a, min(a + step, count)


def _part(table: _Table, rows: Any, middle: FloatArray) -> FloatArray:
    return np.asarray(table[rows], np.float32) - middle


def _nearest_centres(
    table: _Table, rows: IntArray | None, centres: FloatArray, middle: FloatArray, count: int, task: Task, span: Any
) -> tuple[IntArray, FloatArray]:
    """The ``count`` nearest centres of each sample, nearest first, and the squared distance from the first."""
    n = len(table) if rows is None else len(rows)
    half = _penalty(centres)
    found, far = np.empty((n, count), np.int32), np.empty(n, np.float32)
    for a, b in _blocks(n, max(len(centres), table.shape[1])):
        task.step(span[0] + (span[1] - span[0]) * a / n)
        block = _part(table, slice(a, b) if rows is None else rows[a:b], middle)
        key = block @ centres.T
        key -= half
        line = np.arange(b - a)
        for place in range(count):
            best = key.argmax(axis=1)
            found[a:b, place] = best
            if place == 0:
                far[a:b] = np.einsum("nd,nd->n", block, block) - 2.0 * key[line, best]
            key[line, best] = -np.inf
    return found, far


def _penalty(centres: FloatArray) -> FloatArray:
    return np.asarray(0.5 * np.einsum("nd,nd->n", centres, centres), np.float32)


def _means(table: _Table, rows: IntArray, labels: IntArray, centres: FloatArray, middle: FloatArray) -> FloatArray:
    """Means of the samples of each centre; a centre without samples stays."""
    sums = np.zeros(centres.shape, np.float32)
    for a, b in _blocks(len(rows), table.shape[1]):
        order = np.argsort(labels[a:b], kind="stable")
        sorted_labels = labels[a:b][order]
        first = np.flatnonzero(np.diff(sorted_labels, prepend=-1))
        sums[sorted_labels[first]] += np.add.reduceat(_part(table, rows[a:b][order], middle), first, axis=0)
    sizes = np.bincount(labels, minlength=len(centres))
    return np.asarray(np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centres), np.float32)


def _centres(table: _Table, middle: FloatArray, seed: int, task: Task) -> FloatArray:
    # Samples of unit norm are compared with centres by angle: the mean of many strangers is short, and would be the
    # nearest centre of every sample that has no place yet.
    angular = has_unit_norm(table)
    n = len(table)
    count = max(1, n // PER_CELL)
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(n, min(n, _FIT * count), replace=False)).astype(np.int32)
    centres = np.empty((0, table.shape[1]), np.float32)
    far = np.zeros(len(rows), np.float32)
    for number, share in enumerate(_ROUNDS):
        wanted = max(1, round(share * count))
        if number == 0:
            chosen = rng.choice(len(rows), wanted, replace=False)
        else:
            ranked = np.argsort(-far, kind="stable")[: max(wanted, len(rows) // 4)]
            chosen = np.concatenate(
                (rng.choice(ranked, wanted - wanted // 2, replace=False), rng.choice(len(rows), wanted // 2))
            )
        centres = np.concatenate((centres, _part(table, rows[np.unique(chosen)], middle)))
        for again in range(_ITERATIONS):
            begun = number * _ITERATIONS + again
            at = (0.2 * begun / (3 * _ITERATIONS), 0.2 * (begun + 1) / (3 * _ITERATIONS))
            labels, far = _nearest_centres(table, rows, centres, middle, 1, task, at)
            centres = _means(table, rows, labels[:, 0], centres, middle)
            if angular:
                length = np.sqrt(np.einsum("nd,nd->n", centres, centres))[:, None]
                centres = np.asarray(centres / np.maximum(length, 1e-12), np.float32)
    return centres


def make_cells(table: _Table, seed: int, task: Task) -> Cells:
    """Cells of about `PER_CELL` samples.

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
    for a, b in _blocks(n, dim):
        total += np.asarray(table[a:b], np.float32).sum(axis=0, dtype=np.float64)
    middle = (total / n).astype(np.float32)
    centres = _centres(table, middle, seed, task)
    choices = min(_CHOICES, len(centres))
    named, far = _nearest_centres(table, None, centres, middle, choices, task, (0.2, 0.5))
    own = named[:, 0]
    order = np.lexsort((far, own)).astype(np.int32)
    sizes = np.bincount(own, minlength=len(centres))
    pieces = np.maximum(1, -(-sizes // _MOST))  # thousands of equal images are one cell: cut, or it were quadratic
    first = np.concatenate(([0], np.cumsum(pieces)))
    place = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    cell = first[own[order]] + place // _MOST
    starts = np.searchsorted(cell, np.arange(first[-1] + 1)).astype(np.int64)
    near = _near_cells(named, centres, sizes)
    return Cells(order, starts, _of_pieces(near, first, pieces), middle)


def _near_cells(named: IntArray, centres: FloatArray, sizes: npt.NDArray[np.int64]) -> IntArray:
    """For each cell those its samples name most often after it, then those with the nearest centres."""
    count = len(centres)
    length = min(_CELLS, count)
    half = _penalty(centres)
    near = np.empty((count, length), np.int32)
    votes = np.zeros((0,), np.int64)
    pairs = [named[:, 0].astype(np.int64) * count + named[:, place] for place in range(1, named.shape[1])]
    keys, votes = np.unique(np.concatenate(pairs), return_counts=True) if pairs else (votes, votes)
    bounds = np.searchsorted(keys // count, np.arange(count + 1))
    for a, b in _blocks(count, max(count, centres.shape[1])):
        score = centres[a:b] @ centres.T
        score -= half
        score[:, sizes == 0] = -np.inf
        # Votes come before nearness, in order of their number; the cell itself before all.
        spread = float(np.ptp(score[np.isfinite(score)], axis=None)) + 1.0
        for row in range(a, b):
            listed = slice(bounds[row], bounds[row + 1])
            score[row - a, keys[listed] % count] += spread * votes[listed]
        score[np.arange(b - a), np.arange(a, b)] = np.inf
        top = np.argpartition(-score, length - 1, axis=1)[:, :length]
        value = np.take_along_axis(score, top, 1)
        line = np.argsort(-value, axis=1, kind="stable")
        near[a:b] = np.where(np.isfinite(np.take_along_axis(value, line, 1)), np.take_along_axis(top, line, 1), -1)
        near[a:b, 0] = np.arange(a, b)
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


def sorted_table(table: _Table, cells: Cells) -> FloatArray:
    """The features less their mean, in the order of the cells: float32, shape (N, D)."""
    result = np.empty(table.shape, np.float32)
    for a, b in _blocks(len(table), table.shape[1]):
        np.subtract(np.asarray(table[cells.order[a:b]], np.float32), cells.middle, out=result[a:b])
    return result


def search_part(
    table: FloatArray, cells: Cells, part: tuple[int, int], k: int, task: Task, span: tuple[float, float]
) -> tuple[IntArray, FloatArray]:
    """Neighbours of the samples of a range of cells.

    Parameters
    ----------
    table : float32, shape (N, D)
        Sorted by cell, see `sorted_table`.
    cells : Cells
    part : (int, int)
        First cell, and the one behind the last.
    k : int
        Less than N.
    task : Task
    span : (float, float)
        Which share of the stage this is, for progress.

    Returns
    -------
    indices, distances : int32 and float32, shape (n, k)
        Of the samples ``cells.order[cells.starts[part[0]] : cells.starts[part[1]]]``, nearest first.
    """
    from threadpoolctl import threadpool_limits

    # Products of one cell are too small to share: with two threads they took twenty times the processor time.
    with threadpool_limits(1, user_api="blas"):
        return _search_part(table, cells, part, k, task, span)


def _search_part(
    table: FloatArray, cells: Cells, part: tuple[int, int], k: int, task: Task, span: tuple[float, float]
) -> tuple[IntArray, FloatArray]:
    starts = cells.starts
    offset, end = int(starts[part[0]]), int(starts[part[1]])
    indices, distances = np.empty((end - offset, k), np.int32), np.empty((end - offset, k), np.float32)
    for cell in range(*part):
        a, b = int(starts[cell]), int(starts[cell + 1])
        if a == b:
            continue
        task.step(span[0] + (span[1] - span[0]) * (a - offset) / (end - offset))
        rows = _candidates(cells, cell, k)
        points = table[rows]
        norm2 = np.einsum("nd,nd->n", points, points)
        far = table[a:b] @ points.T
        far *= np.float32(-2.0)
        far += norm2
        far[rows == np.arange(a, b)[:, None]] = np.inf
        top = _smallest(far, k)
        value = np.take_along_axis(far, top, 1)
        sample = cells.order[rows[top]]
        line = np.lexsort((sample, value), axis=1)
        own = np.einsum("nd,nd->n", table[a:b], table[a:b])[:, None]
        at = slice(a - offset, b - offset)
        indices[at] = np.take_along_axis(sample, line, 1)
        distances[at] = np.sqrt(np.maximum(np.take_along_axis(value, line, 1) + own, 0.0))
    return indices, distances


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
    ordered = sorted_table(table, cells)
    indices, distances = np.empty((n, k), np.int32), np.empty((n, k), np.float32)

    def searched(part: tuple[int, int]) -> Arrays:
        span = (0.5 + 0.5 * cells.starts[part[0]] / n, 0.5 + 0.5 * cells.starts[part[1]] / n)
        listed, far = search_part(ordered, cells, part, k, task, span)
        return {"neighbors": listed, "distances": far}

    for number, part in enumerate(cells.parts(PARTS)):
        task.step(0.5 + 0.5 * cells.starts[part[0]] / n)
        kept = keep(f"part-{number:02}", partial(searched, part))
        rows = cells.order[cells.starts[part[0]] : cells.starts[part[1]]]
        indices[rows], distances[rows] = kept["neighbors"], kept["distances"]
    return indices, distances, recall(ordered, cells, indices, seed, task), cells.labels()


def _as_arrays(cells: Cells) -> Arrays:
    return {"order": cells.order, "starts": cells.starts, "near": cells.near, "middle": cells.middle}


def recall(table: FloatArray, cells: Cells, indices: IntArray, seed: int, task: Task) -> float:
    """Which share of the true nearest neighbours was found, measured on a sample against exact search.

    Parameters
    ----------
    table : float32, shape (N, D)
        Sorted by cell.
    cells : Cells
    indices : int32, shape (N, k)
        What was found, by sample.
    seed : int
    task : Task
    """
    n, k = indices.shape
    rows = np.sort(np.random.default_rng(seed).choice(n, min(n, _RECALL_SAMPLE), replace=False))
    best = np.full((len(rows), k), np.inf, np.float32)
    names = np.full((len(rows), k), -1, np.int32)
    queries = table[rows] * np.float32(-2.0)
    for a, b in _blocks(n, max(len(rows), table.shape[1])):
        task.check()
        points = table[a:b]
        far = queries @ points.T
        far += np.einsum("nd,nd->n", points, points)
        inside = np.flatnonzero((rows >= a) & (rows < b))
        far[inside, rows[inside] - a] = np.inf
        far = np.concatenate((best, far), axis=1)
        listed = np.concatenate((names, np.broadcast_to(cells.order[a:b], (len(rows), b - a))), axis=1)
        top = np.argpartition(far, k - 1, axis=1)[:, :k]
        best, names = np.take_along_axis(far, top, 1), np.take_along_axis(listed, top, 1)
    found = indices[cells.order[rows]]
    hits = sum(np.isin(truth, mine).sum() for truth, mine in zip(names, found, strict=True))
    return float(hits) / names.size
