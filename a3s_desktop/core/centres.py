"""Which of very many centres is nearest, without looking at all of them; and such centres, learnt by K-means.

The centres are in groups, about `PER_ROOT` times the square root of the number of samples of them, each with a mean. A
sample is compared with all means, then with the centres of the `PROBES` groups whose means are nearest. The work of all
samples grows with their number times its square root instead of with its square. There are so many groups because
strangers have nothing in common: the mean of g of them keeps only 1 / sqrt(g) of what a sample has in common with one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.runs import run_starts
from a3s_desktop.core.types import FloatArray, IntArray
from a3s_desktop.task import Task, at_once

PER_CENTRE = 64
"""Samples of one centre, on average."""

PER_ROOT = 16
"""Groups of centres for the square root of the number of centres."""

PROBES = 16
"""Groups whose centres a sample is compared with."""

_ALL_UP_TO = 2048  # centres that are all compared: below, groups save nothing
_ROWS = 8_192  # samples that are assigned in one go
_ROUNDS = (0.5, 0.25, 0.25)  # shares of the centres that each round adds
_ITERATIONS = 3  # of K-means in each round
_GROUPING = 2  # iterations of K-means by which centres are put into groups
_FIT = 32  # samples for each centre that the centres are learnt from
_BLOCK_CELLS = 8_000_000

Table = npt.NDArray[Any]


def blocks(count: int, width: int) -> Iterator[tuple[int, int]]:
    """Ranges of rows of about 32 MB of float32."""
    step = max(64, _BLOCK_CELLS // max(1, width))
    for a in range(0, count, step):
        yield a, min(a + step, count)


def part(table: Table, rows: Any, middle: FloatArray) -> FloatArray:
    """Some rows less the mean of all, float32."""
    found = table[rows] if isinstance(rows, slice) else np.take(table, rows, axis=0)
    return np.asarray(np.subtract(found, middle, dtype=np.float32))


class CentreFinder:
    """Finds the nearest of many centres.

    Parameters
    ----------
    centres : float32, shape (C, D)
    task : Task
    fraction : float
        Where its stage is.
    """

    def __init__(self, centres: FloatArray, task: Task, fraction: float) -> None:
        self._centres = centres
        self._half = half_squares(centres)
        self._grouped = len(centres) > _ALL_UP_TO
        if self._grouped:
            self._means, self._half_means, members = _groups(centres, self._half, task, fraction)
            self._order = np.concatenate(members)
            self._starts = np.concatenate(([0], np.cumsum([len(some) for some in members])))
            # The tables of the groups, (D, g), one behind the other: few large arrays are easy to share.
            self._tables = np.concatenate([centres[some].T.ravel() for some in members])

    def nearest(self, rows: FloatArray, count: int) -> tuple[IntArray, FloatArray]:
        """The ``count`` nearest centres of each row, nearest first, and the squared distance from the first.

        Parameters
        ----------
        rows : float32, shape (B, D)
        count : int
            At most the number of centres. Where the groups looked at have fewer, the last one is repeated.
        """
        if self._grouped:
            found, value = self._by_groups(rows, count)
        else:
            key = rows @ self._centres.T
            key -= self._half
            found = _largest(key, count)
            value = np.take_along_axis(key, found, 1)
        return found.astype(np.int32), np.einsum("nd,nd->n", rows, rows) - 2.0 * value[:, 0]

    def _by_groups(self, rows: FloatArray, count: int) -> tuple[npt.NDArray[np.int64], FloatArray]:
        dim = rows.shape[1]
        key = rows @ self._means.T
        key -= self._half_means
        probes = min(PROBES, key.shape[1])
        probed = np.argpartition(key, key.shape[1] - probes, axis=1)[:, key.shape[1] - probes :]
        order = np.argsort(probed.ravel(), kind="stable")
        bounds = np.searchsorted(probed.ravel()[order], np.arange(len(self._starts)))
        names = np.full((len(rows) * probes, count), -1, np.int64)
        values = np.full((len(rows) * probes, count), -np.inf, np.float32)
        for group in np.flatnonzero(np.diff(bounds)).tolist():
            places = order[bounds[group] : bounds[group + 1]]
            first, end = self._starts[group : group + 2]
            members = self._order[first:end]
            key = np.take(rows, places // probes, axis=0) @ self._tables[first * dim : end * dim].reshape(dim, -1)
            key -= self._half[members]
            kept = min(count, len(members))
            top = _largest(key, kept)
            names[places, :kept] = members[top]
            values[places, :kept] = np.take_along_axis(key, top, 1)
        names, values = names.reshape(len(rows), -1), values.reshape(len(rows), -1)
        top = _largest(values, count)
        found, value = np.take_along_axis(names, top, 1), np.take_along_axis(values, top, 1)
        for place in range(1, count):
            found[:, place] = np.where(found[:, place] < 0, found[:, place - 1], found[:, place])
        return found, value


def half_squares(centres: FloatArray) -> FloatArray:
    """Half the squared length of each centre: what its product with a sample is lowered by."""
    return np.asarray(0.5 * np.einsum("nd,nd->n", centres, centres), np.float32)


def _largest(key: FloatArray, count: int) -> npt.NDArray[np.int64]:
    """Columns of the largest values of each row, largest first (ties: the first)."""
    if count == 1:
        return np.asarray(key.argmax(axis=1)[:, None])
    if count >= key.shape[1]:
        return np.asarray(np.argsort(-key, axis=1, kind="stable"))
    top = np.sort(np.argpartition(-key, count - 1, axis=1)[:, :count], axis=1)
    line = np.argsort(-np.take_along_axis(key, top, 1), axis=1, kind="stable")
    return np.take_along_axis(top, line, 1)


def _groups(
    centres: FloatArray, half: FloatArray, task: Task, fraction: float
) -> tuple[FloatArray, FloatArray, list[npt.NDArray[np.int64]]]:
    """Centres in groups of near ones, by a few iterations of K-means.

    Returns
    -------
    means, half : float32, shapes (G, D) and (G,)
        The product of a sample with a mean, less ``half``, says by how many times its spread over strangers the mean
        of the centres' own such products stands out: a group counts neither for being small nor for being large.
    members : list of int64 arrays
        The centres of each group.
    """
    count = len(centres)
    wanted = min(count, round(PER_ROOT * float(np.sqrt(count))))
    means = centres[np.linspace(0, count - 1, wanted).astype(np.int64)]
    level = float(half.mean())
    lowered = np.zeros(wanted, np.float32)
    most = 4 * -(-count // wanted)  # no group is much larger than the others: samples look into all of a group
    members: list[npt.NDArray[np.int64]] = []
    for _ in range(_GROUPING):
        own_of = partial(_own_group, centres, means, lowered)
        own = np.concatenate(list(at_once(own_of, list(blocks(count, len(means))), task, (fraction, fraction))))
        order = np.argsort(own, kind="stable")
        first = run_starts(own[order])
        place = np.arange(count) - np.repeat(first, np.diff(first, append=count))
        starts = np.flatnonzero(place % most == 0)
        sizes = np.diff(starts, append=count).astype(np.float32)
        means = np.asarray(np.add.reduceat(centres[order], starts, axis=0) / sizes[:, None], np.float32)
        length = np.maximum(np.sqrt(np.einsum("nd,nd->n", means, means)), np.float32(1e-12))
        means = np.asarray(means / length[:, None], np.float32)
        lowered = np.asarray(np.add.reduceat(half[order] - np.float32(level), starts) / (sizes * length), np.float32)
        members = np.split(order, starts[1:])
    return means, lowered, members


def _own_group(centres: FloatArray, means: FloatArray, lowered: FloatArray, block: tuple[int, int]) -> Any:
    """Which group each centre of a block belongs to; int64, shape (n,)."""
    return (centres[slice(*block)] @ means.T - lowered).argmax(axis=1)


def nearest_centres(
    table: Table,
    rows: IntArray | None,
    centres: FloatArray,
    middle: FloatArray,
    count: int,
    task: Task,
    span: tuple[float, float],
) -> tuple[IntArray, FloatArray]:
    """The ``count`` nearest centres of each sample, nearest first, and the squared distance from the first.

    Parameters
    ----------
    table : float, shape (N, D)
        Read in blocks.
    rows : int32, shape (n,), or None
        Which of its rows; None: all.
    centres : float32, shape (C, D)
    middle : float32, shape (D,)
        Subtracted from the rows.
    count : int
    task : Task
    span : (float, float)
    """
    n = len(table) if rows is None else len(rows)
    look = partial(_look, CentreFinder(centres, task, span[0]), table, rows, middle, count)
    found, far = np.empty((n, count), np.int32), np.empty(n, np.float32)
    starts = range(0, n, _ROWS)
    for start, (listed, first) in zip(starts, at_once(look, starts, task, span), strict=True):
        found[start : start + _ROWS], far[start : start + _ROWS] = listed, first
    return found, far


def _look(
    finder: CentreFinder, table: Table, rows: IntArray | None, middle: FloatArray, count: int, start: int
) -> tuple[IntArray, FloatArray]:
    """`nearest_centres` for a block of rows."""
    chosen = slice(start, start + _ROWS) if rows is None else rows[start : start + _ROWS]
    return finder.nearest(part(table, chosen, middle), count)


def learn_centres(table: Table, middle: FloatArray, angular: bool, seed: int, task: Task, end: float) -> FloatArray:
    """Centres of about `PER_CENTRE` samples each, by K-means on a part of the samples.

    A single sample is a poor centre and random ones miss a third of the identities, so centres are added in rounds,
    half of the new ones among the samples that no mean describes well so far.

    Parameters
    ----------
    table : float, shape (N, D)
    middle : float32, shape (D,)
    angular : bool
        Samples of unit norm are compared with centres by angle: the mean of many strangers is short, and would be the
        nearest centre of every sample that has no place yet.
    seed : int
    task : Task
        Stepped up to ``end``.
    """
    n = len(table)
    count = max(1, n // PER_CENTRE)
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
        centres = np.concatenate((centres, part(table, rows[np.unique(chosen)], middle)))
        for again in range(_ITERATIONS):
            begun = number * _ITERATIONS + again
            at = (end * begun / (3 * _ITERATIONS), end * (begun + 1) / (3 * _ITERATIONS))
            labels, far = nearest_centres(table, rows, centres, middle, 1, task, at)
            centres = _moved(table, rows, labels[:, 0], centres, middle)
            if angular:
                length = np.sqrt(np.einsum("nd,nd->n", centres, centres))[:, None]
                centres = np.asarray(centres / np.maximum(length, 1e-12), np.float32)
    return centres


def _moved(table: Table, rows: IntArray, labels: IntArray, centres: FloatArray, middle: FloatArray) -> FloatArray:
    """Means of the samples of each centre; a centre without samples stays."""
    sums = np.zeros(centres.shape, np.float32)
    for a, b in blocks(len(rows), table.shape[1]):
        order = np.argsort(labels[a:b], kind="stable")
        sorted_labels = labels[a:b][order]
        first = run_starts(sorted_labels)
        sums[sorted_labels[first]] += np.add.reduceat(part(table, rows[a:b][order], middle), first, axis=0)
    sizes = np.bincount(labels, minlength=len(centres))
    return np.asarray(np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], centres), np.float32)
