"""What a journal is: its records, its snapshots, the protocol, and the journal in memory that simulation uses."""

from __future__ import annotations

import hashlib
import json
import struct
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from a3s_desktop.errors import StorageFailedError
from a3s_desktop.i18n import tr

Arrays = dict[str, npt.NDArray[Any]]

CHAIN_START = hashlib.sha256(b"a3s journal 1").hexdigest()


@dataclass(frozen=True, slots=True)
class Record:
    """One entry of the journal; never changed once written.

    Attributes
    ----------
    seq : int
        Position, 1, 2, 3, ... without gaps.
    kind : str
        "answer", "undo", "redo", ...
    payload : mapping
        JSON-able values.
    at : float
        POSIX time in seconds (UTC).
    """

    seq: int
    kind: str
    payload: Mapping[str, Any]
    at: float


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The complete state after record ``seq``, as named arrays and JSON-able ``meta``."""

    seq: int
    arrays: Mapping[str, npt.NDArray[Any]]
    meta: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Recovery:
    """What opening a journal had to repair.

    Attributes
    ----------
    text : str
        For the user: what was damaged, recovered and lost; empty where nothing was wrong.
    recovered : int
        Records that are there now.
    lost : int
        Records that were seen but could not be recovered (at least; a cut-off end may have held more).
    damaged : str
        Name of the damaged file that was kept beside the journal; empty where there is none.
    """

    text: str = ""
    recovered: int = 0
    lost: int = 0
    damaged: str = ""


class JournalProtocol(Protocol):
    """An append-only list of records with snapshots. One writer; calls may come from any one thread at a time."""

    @property
    def last(self) -> int:
        """``seq`` of the newest record; 0 while there is none."""
        ...

    @property
    def read_only(self) -> bool:
        """Whether `append` and `save_snapshot` raise `ReadOnlyError`."""
        ...

    def append(self, kind: str, payload: Mapping[str, Any], at: float | None = None) -> int:
        """Add a record and return its ``seq``. It is durable on return; on `StorageFailedError` nothing was kept."""
        ...

    def records(self, after: int = 0) -> Iterator[Record]:
        """The records with ``seq > after``, oldest first."""
        ...

    def save_snapshot(self, arrays: Mapping[str, npt.NDArray[Any]], meta: Mapping[str, Any]) -> None:
        """Keep the state after the newest record; older snapshots may be thinned out."""
        ...

    def newest_snapshot(self, at_most: int | None = None) -> Snapshot | None:
        """The newest undamaged snapshot with ``seq <= at_most`` (any where None); None where there is none."""
        ...

    def close(self) -> None:
        """Release the journal; harmless when called twice."""
        ...


def encode_payload(payload: Mapping[str, Any]) -> str:
    """``payload`` as JSON text: ASCII (odd file names survive), sorted keys, no NaN; numpy scalars become numbers."""
    return json.dumps(
        dict(payload), ensure_ascii=True, sort_keys=True, separators=(",", ":"), allow_nan=False, default=_plain
    )


def _plain(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be written to a journal")


def link(previous: str, seq: int, kind: str, payload: str, at: float) -> str:
    """Checksum of a record (hex SHA-256) that chains it to the checksum of the record before it."""
    digest = hashlib.sha256(previous.encode("ascii", "replace"))
    for part in (kind, payload):
        raw = part.encode("utf-8", "surrogatepass")
        digest.update(struct.pack(">q", len(raw)))
        digest.update(raw)
    digest.update(struct.pack(">qd", seq, at))
    return digest.hexdigest()


def kept_snapshots(seqs: list[int]) -> set[int]:
    """Which snapshots to keep: the newest four, then ever sparser with age, so that their number grows as log(n)."""
    keep: set[int] = set()
    newest_first = sorted(seqs, reverse=True)
    keep.update(newest_first[:4])
    if not newest_first:
        return keep
    newest = newest_first[0]
    ages: set[int] = set()
    for seq in sorted(newest_first[4:]):  # the oldest of each age class, so that a class never loses its member to age
        age = (newest - seq).bit_length()
        if age not in ages:
            ages.add(age)
            keep.add(seq)
    return keep


class MemoryJournal:
    """A journal without a disk, for simulation and tests; the same behaviour as the one on disk."""

    def __init__(self) -> None:
        self._records: list[Record] = []
        self._snapshots: dict[int, Snapshot] = {}
        self._closed = False

    @property
    def last(self) -> int:
        """``seq`` of the newest record; 0 while there is none."""
        return len(self._records)

    @property
    def read_only(self) -> bool:
        """Always False."""
        return False

    def append(self, kind: str, payload: Mapping[str, Any], at: float | None = None) -> int:
        """Add a record; see `JournalProtocol.append`."""
        if self._closed:
            raise StorageFailedError(tr("The journal is closed."), tr("Open the project again."))
        plain = json.loads(encode_payload(payload))
        record = Record(len(self._records) + 1, kind, plain, time.time() if at is None else float(at))
        self._records.append(record)
        return record.seq

    def records(self, after: int = 0) -> Iterator[Record]:
        """The records with ``seq > after``, oldest first."""
        yield from self._records[max(after, 0) :]

    def save_snapshot(self, arrays: Mapping[str, npt.NDArray[Any]], meta: Mapping[str, Any]) -> None:
        """Keep a copy of the state after the newest record."""
        copies = {name: np.array(values) for name, values in arrays.items()}
        self._snapshots[self.last] = Snapshot(self.last, copies, json.loads(encode_payload(meta)))
        keep = kept_snapshots(list(self._snapshots))
        self._snapshots = {seq: shot for seq, shot in self._snapshots.items() if seq in keep}

    def newest_snapshot(self, at_most: int | None = None) -> Snapshot | None:
        """The newest snapshot with ``seq <= at_most``."""
        usable = [seq for seq in self._snapshots if at_most is None or seq <= at_most]
        return self._snapshots[max(usable)] if usable else None

    def close(self) -> None:
        """Refuse further records."""
        self._closed = True
