"""Arrays on disk: written in pieces through the file layer, known by a hash. A module of its own: it needs NumPy."""

from __future__ import annotations

import hashlib
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from a3s_desktop.storage import files

_BYTES = 1 << 20  # of one piece


def write_header(file: BinaryIO, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Write the header of a ``.npy`` file in C order; the values follow by `write_all`."""
    header = _Collector()
    description = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, description)
    files.write_all(file, bytes(header.data))


def write_array(file: BinaryIO, array: npt.NDArray[Any]) -> None:
    """Write an array as ``.npy`` in pieces, without a second copy of it in memory."""
    array = np.asarray(array, order="C")
    write_header(file, array.shape, array.dtype)
    if array.size == 0:
        return
    flat = array.reshape(-1)
    step = max(1, (_BYTES * 8) // max(1, array.itemsize))
    for start in range(0, len(flat), step):
        files.write_all(file, np.ascontiguousarray(flat[start : start + step]).data)


class _Collector:
    """The little of a file that NumPy's header writer needs."""

    def __init__(self) -> None:
        self.data = bytearray()

    def write(self, data: bytes) -> int:
        self.data += data
        return len(data)


def hash_array(array: npt.NDArray[Any]) -> str:
    """Hex SHA-256 of an array's dtype, shape and values (C order), read in pieces."""
    digest = hashlib.sha256(f"{array.dtype.str}{array.shape}".encode())
    if array.ndim == 0:
        digest.update(array.tobytes())
        return digest.hexdigest()
    row = max(1, array.itemsize * int(np.prod(array.shape[1:], dtype=np.int64)))
    step = max(1, _BYTES // row)
    for start in range(0, len(array), step):
        digest.update(np.ascontiguousarray(array[start : start + step]).data)
    return digest.hexdigest()
