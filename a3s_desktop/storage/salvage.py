"""Recovery of records from a damaged journal, without SQLite: every page that still is in the files is looked at.

The checksums of the records chain them, so a record found anywhere (a live page, a freed one, the write-ahead log, the
rollback journal) either continues the chain or is ignored. File format: https://www.sqlite.org/fileformat2.html,
sections 1.6, 2.1, 3, 4.1.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from a3s_desktop.i18n import tr, trn
from a3s_desktop.storage.journal_types import CHAIN_START, Recovery, link

_PAGE_SIZES = frozenset(1 << power for power in range(9, 17))
_LEAF = 0x0D  # leaf page of a table
_MAX_PAYLOAD = 64 << 20
_UNDO_MAGIC = bytes.fromhex("d9d505f920a163d7")


class RawRecord(NamedTuple):
    """A record as it is stored."""

    seq: int
    kind: str
    payload: str
    at: float
    checksum: str


@dataclass(frozen=True, slots=True)
class Salvaged:
    """The longest whole chain that was found, and the highest ``seq`` seen anywhere."""

    records: list[RawRecord]
    seen: int


def checked(row: tuple[Any, ...]) -> RawRecord | None:
    """A row of the table as a record; None where a column is not of its type."""
    seq, kind, payload, at, checksum = row
    if not (isinstance(seq, int) and isinstance(kind, str) and isinstance(payload, str) and isinstance(checksum, str)):
        return None
    if not isinstance(at, float):
        return None
    return RawRecord(seq, kind, payload, at, checksum)


def follows(record: RawRecord, chain: str) -> bool:
    """Whether a record's checksum continues ``chain``."""
    return link(chain, record.seq, record.kind, record.payload, record.at) == record.checksum


def decode_payload(text: str) -> dict[str, Any]:
    """Inverse of `encode_payload`. Raises `ValueError` for what that cannot have written."""
    try:
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} in JSON")


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)  # 1e999 is as much NaN's kin as Infinity


def continue_chain(candidates: Iterable[RawRecord], last: int, chain: str) -> list[RawRecord]:
    """The longest run of candidates that continues a chain after record ``last``."""
    by_seq: dict[int, list[RawRecord]] = {}
    for record in candidates:
        if record.seq > last and record not in by_seq.setdefault(record.seq, []):
            by_seq[record.seq].append(record)
    found: list[RawRecord] = []
    while True:
        following = [record for record in by_seq.get(last + 1, ()) if follows(record, chain)]
        if not following:
            return found
        best = following[0]
        if len(following) > 1:  # a change that failed and was made again: the one that others build on
            best = next((r for r in following if any(follows(n, r.checksum) for n in by_seq.get(last + 2, ()))), best)
        found.append(best)
        last, chain = best.seq, best.checksum


def salvage(data: bytes, log: bytes, undo: bytes = b"") -> Salvaged:
    """All that can be recovered from a database, its write-ahead log and its rollback journal."""
    pages = _Pages(data, log, undo)
    candidates = list(pages.records())
    seen = max((record.seq for record in candidates if record.seq < 1 << 40), default=0)
    return Salvaged(continue_chain(candidates, 0, CHAIN_START), seen)


def scan(data: bytes, log: bytes, undo: bytes) -> list[RawRecord]:
    """The records on the pages of these files, valid by SQLite's reckoning or not."""
    return list(_Pages(data, log, undo).records())


def report(found: Salvaged, kept: str, there: bool) -> Recovery:
    """What is there and what is lost, in words; ``there``: the damaged file holds anything at all."""
    count = len(found.records)
    if not count and not found.seen and not there:
        return Recovery(tr("The journal was missing or empty; all answers in it, if there were any, are lost."))
    lost = max(found.seen - count, 0)
    parts = [tr("The journal was damaged.")]
    parts.append(
        trn("Its first entry was recovered.", "Its first {n} entries were recovered.", count)
        if count
        else tr("No entry could be recovered.")
    )
    if lost:
        parts.append(trn("At least {n} later entry is lost.", "At least {n} later entries are lost.", lost))
    elif count:
        parts.append(tr("Entries after these, if there were any, are lost."))
    if kept:
        parts.append(tr("The damaged file was kept as '{kept}' in the project folder.", kept=kept))
    return Recovery(" ".join(parts), count, lost, kept)


class _Pages:
    """The pages of a database and its companions, each looked at as if it were a leaf of the table of records."""

    def __init__(self, data: bytes, log: bytes, undo: bytes) -> None:
        size = int.from_bytes(data[16:18], "big") if len(data) >= 18 else 0
        size = 65536 if size == 1 else size
        log_size = int.from_bytes(log[8:12], "big") if len(log) >= 32 else 0
        undo_size = int.from_bytes(undo[24:28], "big") if undo.startswith(_UNDO_MAGIC) else 0
        self._size = next((each for each in (size, log_size, undo_size) if each in _PAGE_SIZES), 4096)
        reserved = data[20] if len(data) > 20 and data[20] <= 32 else 0
        self._usable = self._size - reserved
        self._data = data
        self._logged: dict[int, bytes] = {}
        self._frames: list[bytes] = []
        step = self._size + 24
        for start in range(32, len(log) - 24, step):
            number = int.from_bytes(log[start : start + 4], "big")
            page = log[start + 24 : start + step]
            self._frames.append(page)
            if len(page) == self._size:
                self._logged[number] = page
        self._frames += _undo_pages(undo, self._size)

    def records(self) -> Iterator[RawRecord]:
        """Every record on every page; the same one may come several times."""
        seen: set[bytes] = set()
        for start in range(0, len(self._data), self._size):
            yield from self._leaf(self._data[start : start + self._size], 100 if start == 0 else 0, seen)
        for page in self._frames:
            yield from self._leaf(page, 0, seen)

    def _leaf(self, page: bytes, header: int, seen: set[bytes]) -> Iterator[RawRecord]:
        """The records of one page; a page cut short or damaged gives what is still readable."""
        if len(page) < header + 8 or page[header] != _LEAF:
            return
        count = int.from_bytes(page[header + 3 : header + 5], "big")
        for index in range(min(count, self._size // 4)):
            at = header + 8 + 2 * index
            cell = int.from_bytes(page[at : at + 2], "big")
            key = page[cell : cell + 128]
            if cell < header + 8 or cell >= len(page) or (len(key) == 128 and key in seen):
                continue
            try:
                record = self._cell(page, cell)
            except (IndexError, ValueError, struct.error, OverflowError):
                continue
            if record is not None:
                seen.add(key)
                yield record

    def _cell(self, page: bytes, at: int) -> RawRecord | None:
        length, at = _varint(page, at)
        seq, at = _varint(page, at)
        if not 0 < length <= _MAX_PAYLOAD or seq >= 1 << 62:
            return None
        most = self._usable - 35
        if length <= most:
            payload = page[at : at + length]
        else:
            least = (self._usable - 12) * 32 // 255 - 23
            local = least + (length - least) % (self._usable - 4)
            local = local if local <= most else least
            payload = page[at : at + local] + self._overflow(page[at + local : at + local + 4], length - local)
        return _parse(payload, seq) if len(payload) == length else None

    def _overflow(self, pointer: bytes, length: int) -> bytes:
        parts: list[bytes] = []
        number = int.from_bytes(pointer, "big")
        visited: set[int] = set()
        while length > 0 and number and number not in visited:
            visited.add(number)
            page = self._logged.get(number) or self._data[(number - 1) * self._size : number * self._size]
            part = page[4 : min(self._usable, 4 + length)]
            parts.append(part)
            length -= len(part)
            number = int.from_bytes(page[:4], "big")
        return b"".join(parts)


def _undo_pages(undo: bytes, size: int) -> Iterator[bytes]:
    """The pages of a rollback journal, as they were before its transaction."""
    at, step = 0, size + 8
    while undo[at : at + 8] == _UNDO_MAGIC:
        count, sector = (int.from_bytes(undo[at + k : at + k + 4], "big") for k in (8, 20))
        sector = sector if sector in _PAGE_SIZES else 512
        at += sector
        for _ in range(min(count or len(undo), (len(undo) - at + step - 1) // step)):
            yield undo[at + 4 : at + 4 + size]
            at += step
        at += -at % sector


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for index in range(9):
        byte = data[at + index]
        if index == 8:
            return (value << 8) | byte, at + 9
        value = (value << 7) | (byte & 0x7F)
        if not byte & 0x80:
            return value, at + index + 1
    raise ValueError("varint")


def _parse(payload: bytes, seq: int) -> RawRecord | None:
    """A row of the table of records from SQLite's record format; None where it is something else."""
    size, at = _varint(payload, 0)
    types: list[int] = []
    while at < size:
        kind, at = _varint(payload, at)
        types.append(kind)
    if at != size or len(types) != 5 or types[0] != 0:
        return None
    values: list[Any] = [seq]
    for kind in types[1:]:
        length = _length(kind)
        raw = payload[at : at + length]
        at += length
        if len(raw) != length:
            return None
        values.append(_value(kind, raw))
    return checked(tuple(values)) if at == len(payload) else None


def _length(kind: int) -> int:
    if kind >= 12:
        return (kind - 12) // 2
    return (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)[kind]


def _value(kind: int, raw: bytes) -> Any:
    if kind >= 13 and kind % 2:
        return raw.decode("utf-8")
    if kind == 7:
        return struct.unpack(">d", raw)[0]
    if 1 <= kind <= 6:
        return float(int.from_bytes(raw, "big", signed=True))  # SQLite keeps whole REAL values as integers
    return float(kind - 8) if kind in (8, 9) else None
