"""One undo log under everything that an answer may change, so that a snapshot is a number and restoring it is cheap."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

K = TypeVar("K")
V = TypeVar("V")

_MISSING: Any = object()


class UndoLog:
    """A stack of inverse operations shared by the constraint store, the partition and the strategy's tables."""

    def __init__(self) -> None:
        self._entries: list[tuple[Callable[..., None], tuple[Any, ...]]] = []
        self._forgotten = 0

    def mark(self) -> int:
        """A token for the present state: how many changes there have been."""
        return self._forgotten + len(self._entries)

    def forget(self, mark: int) -> None:
        """Let go of the ways back to before ``mark``: a day's changes would fill the memory."""
        del self._entries[: max(mark - self._forgotten, 0)]
        self._forgotten = max(self._forgotten, mark)

    def push(self, undo: Callable[..., None], *args: Any) -> None:
        """Say how the change that was just made is taken back; ``undo`` must not log anything itself."""
        self._entries.append((undo, args))

    def rewind(self, mark: int) -> None:
        """Take back every change since ``mark``, newest first."""
        if mark > self.mark():
            raise ValueError("this mark lies in the future of the log")
        if mark < self._forgotten:
            raise ValueError("the way back to this mark was forgotten")
        while self._forgotten + len(self._entries) > mark:
            undo, args = self._entries.pop()
            undo(*args)


class LoggedDict(Generic[K, V]):
    """A dictionary whose changes are logged. Values must be treated as immutable.

    There is no iteration in insertion order on purpose: undoing changes that order, and the engine's walks must not
    depend on it. `sorted_items` is the one way to walk.
    """

    def __init__(self, log: UndoLog, values: Mapping[K, V] | None = None) -> None:
        self._log = log
        self._values: dict[K, V] = dict(values or {})

    def __getitem__(self, key: K) -> V:
        return self._values[key]

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: K, default: V) -> V:
        """The value of ``key``, or ``default``."""
        return self._values.get(key, default)

    def __setitem__(self, key: K, value: V) -> None:
        self._log.push(self._put_back, key, self._values.get(key, _MISSING))
        self._values[key] = value

    def discard(self, key: K) -> None:
        """Remove ``key`` where it is present."""
        if key in self._values:
            self._log.push(self._put_back, key, self._values.pop(key))

    def sorted_items(self) -> Iterator[tuple[K, V]]:
        """All items in ascending order of their keys."""
        return iter(sorted(self._values.items(), key=itemgetter(0)))

    def adopt(self, values: Mapping[K, V]) -> None:
        """Take over what was there before any mark: not logged."""
        self._values.update(values)

    def _put_back(self, key: K, old: V) -> None:
        if old is _MISSING:
            del self._values[key]
        else:
            self._values[key] = old


class LoggedRows:
    """A growing list of equally long rows of numbers, whose growth is logged.

    Parameters
    ----------
    log : UndoLog
    width : int
        Numbers in a row.
    whole : bool
        They are whole numbers, of at most 31 bits.
    """

    def __init__(self, log: UndoLog, width: int, whole: bool = False) -> None:
        self._log = log
        self._width = width
        self._numbers: array[Any] = array("i" if whole else "d")  # row by row

    def __len__(self) -> int:
        return len(self._numbers) // self._width

    def __getitem__(self, number: int) -> Sequence[Any]:
        """The row that was added as the so many-th, from 0."""
        if not 0 <= number < len(self):
            raise IndexError(f"row {number} of {len(self)}")
        return self._numbers[number * self._width : (number + 1) * self._width]

    def append(self, row: Sequence[float]) -> None:
        """Add a row at the end."""
        if len(row) != self._width:
            raise ValueError(f"a row of {len(row)} numbers where {self._width} belong")
        self._numbers.extend(row)
        self._log.push(self._drop)

    def adopt(self, rows: npt.NDArray[Any]) -> None:
        """Take over rows, shape (n, width), that were there before any mark: not logged."""
        kind = np.int32 if self._numbers.typecode == "i" else np.float64
        self._numbers.frombytes(np.ascontiguousarray(rows, kind).tobytes())

    def array(self, newest: int | None = None) -> npt.NDArray[Any]:
        """The rows, or the newest so many, in the order they were added: float64 or int32 (n, width)."""
        first = 0 if newest is None else max(0, len(self) - newest)
        return np.array(self._numbers[first * self._width :]).reshape(-1, self._width)

    def _drop(self) -> None:
        del self._numbers[-self._width :]


class LoggedFlags:
    """Yes or no for each of N samples; changes are logged.

    Parameters
    ----------
    log : UndoLog
    n : int
        Number of samples.
    """

    def __init__(self, log: UndoLog, n: int) -> None:
        self._log = log
        self._values = np.zeros(n, np.bool_)
        self._count = self._stamp = self._changes = 0

    def __getitem__(self, sample: int) -> bool:
        return bool(self._values[sample])

    @property
    def count(self) -> int:
        """How many samples are flagged."""
        return self._count

    @property
    def stamp(self) -> int:
        """Where it is the same the flags are, too: after an undo it is as before."""
        return self._stamp

    @property
    def values(self) -> npt.NDArray[np.bool_]:
        """All flags, bool (N,), a read-only view of the live array."""
        view = self._values.view()
        view.flags.writeable = False
        return view

    def samples(self) -> npt.NDArray[np.int64]:
        """The flagged samples, ascending."""
        return np.flatnonzero(self._values) if self._count else np.zeros(0, np.int64)

    def put(self, samples: Sequence[int], value: bool) -> None:
        """Set the flags of some samples."""
        chosen = np.unique(np.array(samples, np.int64))
        changed = chosen[self._values[chosen] != value]
        if len(changed):
            self._changes += 1
            self._log.push(self._flip, changed, self._stamp)
            self._flip(changed, self._changes)

    def _flip(self, samples: npt.NDArray[np.int64], stamp: int) -> None:
        self._stamp = stamp
        self._values[samples] ^= True
        self._count = self._count + (len(samples) if self._values[samples[0]] else -len(samples))
