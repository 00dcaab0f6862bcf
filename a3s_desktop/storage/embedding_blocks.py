"""Descriptions of images that were computed already, kept in a folder in blocks, so that work goes on where it stopped.

A block is two files: ``<source>-<random>.npy`` (float16 rows of unit length) and ``.json`` (the image of each row, its
size and time, and the length the row had). A row counts only while its image has the same size and time.
"""

from __future__ import annotations

import json
import logging
import os
import re
import secrets
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.descriptor import unit
from a3s_desktop.core.types import FloatArray
from a3s_desktop.storage import array_files, files

Stamp = tuple[int, int]  # bytes and nanoseconds of the file

_SOURCE = re.compile(r"[a-z0-9]{1,40}")
_OPEN_BLOCKS = 4
_log = logging.getLogger(__name__)


def stamp_of(file: Path) -> Stamp | None:
    """Size and time of a file; None where it cannot be read."""
    try:
        facts = os.stat(files.long_path(file))
    except (OSError, ValueError):  # the latter: a name that no file here can have
        return None
    return facts.st_size, facts.st_mtime_ns


class BlockStore:
    """The rows of one source of descriptions.

    Parameters
    ----------
    folder : Path
        Made when the first block is saved.
    source : str
        Lower-case letters and digits: changes whenever the numbers would.
    """

    def __init__(self, folder: Path, source: str) -> None:
        if not _SOURCE.fullmatch(source):
            raise ValueError(f"not a name for a source: {source!r}")
        self._folder = folder
        self._source = source
        self._places: dict[str, tuple[str, int, Stamp, float]] = {}  # key -> block, row, stamp, length
        self._recent: OrderedDict[str, npt.NDArray[np.float16]] = OrderedDict()
        self.columns = 0
        for path in sorted(folder.glob(f"{source}-*.json")) if folder.is_dir() else ():
            self._take(path)

    def _take(self, path: Path) -> None:
        name = path.stem
        try:
            facts = json.loads(path.read_bytes())
            rows = array_files.load_array(path.with_suffix(".npy"))
            keys = [str(key) for key in facts["keys"]]
            stamps = [(int(size), int(time)) for size, time in facts["stamps"]]
            lengths = [float(length) for length in facts["lengths"]]
            whole = (
                rows.dtype == np.float16 and rows.ndim == 2 and len(rows) == len(keys) == len(stamps) == len(lengths)
            )
            if not whole or (self.columns and rows.shape[1] != self.columns):
                raise ValueError("another shape")
        except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
            _log.warning("The block %s is damaged (%s); its images are described again.", name, error)
            return
        self.columns = rows.shape[1]
        for row, key in enumerate(keys):
            self._places[key] = (name, row, stamps[row], lengths[row])

    def has(self, key: str, stamp: Stamp) -> bool:
        """Whether the description of an image is there and still holds."""
        place = self._places.get(key)
        return place is not None and place[2] == stamp

    def save(self, keys: Sequence[str], stamps: Sequence[Stamp], rows: FloatArray) -> None:
        """Keep a block. Raises `StorageFailedError`."""
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows)).tolist()
        halves = unit(rows).astype(np.float16)
        files.make_folders(self._folder)
        name = f"{self._source}-{secrets.token_hex(6)}"
        with files.atomic_file(self._folder / f"{name}.npy") as file:
            array_files.write_array(file, halves)
        facts = {"keys": list(keys), "stamps": [list(stamp) for stamp in stamps], "lengths": lengths}
        files.atomic_write_text(self._folder / f"{name}.json", json.dumps(facts, ensure_ascii=True))
        self.columns = rows.shape[1]
        for row, key in enumerate(keys):
            self._places[key] = (name, row, stamps[row], lengths[row])

    def rows(self, keys: Sequence[str]) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Rows of unit length, shape (B, D), and which of them are known; those that are not hold zeros."""
        result = np.zeros((len(keys), self.columns), np.float32)
        known = np.zeros(len(keys), bool)
        for at, key in enumerate(keys):
            place = self._places.get(key)
            if place is not None:
                result[at] = self._block(place[0])[place[1]]
                known[at] = True
        return result, known

    def lengths(self, keys: Sequence[str]) -> npt.NDArray[np.float64]:
        """The lengths that the rows had; 0 for those that are not known."""
        return np.array([self._places[key][3] if key in self._places else 0.0 for key in keys])

    def forget(self, keys: Iterator[str]) -> None:
        """Leave images out whose description does not hold any more."""
        for key in keys:
            self._places.pop(key, None)

    def _block(self, name: str) -> npt.NDArray[np.float16]:
        if name in self._recent:
            self._recent.move_to_end(name)
            return self._recent[name]
        block: npt.NDArray[np.float16] = array_files.load_array(self._folder / f"{name}.npy", mapped=False)
        self._recent[name] = block
        if len(self._recent) > _OPEN_BLOCKS:
            self._recent.popitem(last=False)
        return block
