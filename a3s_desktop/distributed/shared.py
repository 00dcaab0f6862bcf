"""Data for other processes: large arrays as files that they map into memory, all else as one pickle."""

from __future__ import annotations

import io
import mmap
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.storage import array_files, files

LARGE = 1 << 15
"""Bytes from which an array is put into a file."""


def pack(value: object, folder: Path) -> tuple[bytes, int]:
    """A pickle of ``value`` whose large arrays are not in it but in files, and how many bytes were written.

    An array that is a part of a memory-mapped file stays in that file. The pickle is read by `pickle.loads`, in any
    process that finds the files at the same paths; the arrays are read-only there.

    Parameters
    ----------
    value : object
        Of functions and classes of modules, and arrays.
    folder : Path
        Where new files are put.

    Raises
    ------
    StorageFailedError
        The files could not be written.
    """
    buffer = io.BytesIO()
    pickler = _Pickler(buffer, folder)
    pickler.dump(value)
    return buffer.getvalue(), pickler.written


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO, folder: Path) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._folder = folder
        self.written = 0

    def reducer_override(self, value: Any) -> Any:
        if not isinstance(value, np.ndarray) or value.nbytes < LARGE or value.dtype.hasobject:
            return NotImplemented
        place = _place(value)
        if place is None:
            place = (files.temporary_name(self._folder), 0)
            self._write(place[0], np.ascontiguousarray(value))
        return array_files.map_part, (str(place[0]), place[1], value.dtype.str, value.shape)

    def _write(self, path: Path, array: npt.NDArray[Any]) -> None:
        try:
            with files.open_new(path) as file:
                files.write_all(file, array.reshape(-1).view(np.uint8).data)
        except OSError as error:
            raise files.write_failed(path, error) from error
        self.written += array.nbytes


def _place(array: npt.NDArray[Any]) -> tuple[Path, int] | None:
    """File and offset of an array that is a part of a mapped file; None where it is not, or may have been changed."""
    if not array.flags.c_contiguous:
        return None
    base: Any = array
    while isinstance(base, np.ndarray):
        owner: Any = base.base
        if isinstance(base, np.memmap) and isinstance(owner, mmap.mmap):  # the map itself, not a view of it
            if base.mode != "r":
                return None
            return Path(str(base.filename)).absolute(), int(base.offset + array.ctypes.data - base.ctypes.data)
        base = owner
    return None
