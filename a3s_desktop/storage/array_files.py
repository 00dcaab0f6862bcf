"""Arrays on disk: written in pieces through the file layer, known by a hash. A module of its own: it needs NumPy."""

from __future__ import annotations

import ast
import errno
import hashlib
import io
import math
import os
import sys
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal

import numpy as np
import numpy.typing as npt

from a3s_desktop.storage import files

MAGIC = b"\x93NUMPY"
_BYTES = 1 << 20  # of one piece
_MAX_HEADER = 10_000  # as NumPy itself has it: a header is read as an expression of Python
_LONGEST = 1 << 48  # of any side, where another is 0


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


def read_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, order and type of a ``.npy`` file; it is left at its first value.

    Read here, not by NumPy, whose reader tries to mend what it cannot parse and warns or fails in many ways.

    Raises
    ------
    ValueError
        It is no such file, or damaged.
    """
    magic = file.read(8)
    if magic[:6] != MAGIC or len(magic) < 8:
        raise ValueError("it is no array")
    if magic[6] not in (1, 2, 3):
        raise ValueError(f"version {magic[6]}.{magic[7]} is not known")
    length = int.from_bytes(file.read(2 if magic[6] == 1 else 4), "little")
    text = file.read(min(length, _MAX_HEADER + 1))
    if len(text) != length:
        raise ValueError("it is too long or cut off")
    try:
        facts = ast.literal_eval(text.decode("utf-8" if magic[6] == 3 else "latin-1").strip())
        shape, fortran = facts["shape"], facts["fortran_order"]
        dtype = np.lib.format.descr_to_dtype(facts["descr"])
        if not isinstance(shape, tuple) or not all(type(side) is int and side >= 0 for side in shape):
            raise ValueError("the shape is wrong")
        return shape, bool(fortran), np.dtype(dtype)
    except Exception as error:  # Python's own reader and NumPy's of types raise anything
        raise ValueError((str(error).strip().splitlines() or [type(error).__name__])[0][:120]) from error


def load_array(path: Path, mapped: bool = True) -> npt.NDArray[Any]:
    """An array of numbers or text from a ``.npy`` file, of which nothing is believed.

    Parameters
    ----------
    path : Path
    mapped : bool
        Map it (read-only) instead of reading it; not where there is nothing to map.

    Raises
    ------
    ValueError
        It is no such file, damaged, cut off, or holds Python objects.
    OSError
    """
    with open(files.long_path(path), "rb") as file:
        shape, fortran, dtype = _checked(file, os.fstat(file.fileno()).st_size)
        size = math.prod(shape, start=dtype.itemsize)
        order: Literal["C", "F"] = "F" if fortran else "C"
        if mapped and size and shape:
            return np.memmap(file, dtype, "r", file.tell(), shape, order)
        whole = np.empty(size, np.uint8)  # read into in one go: copying it would hold up all other threads
        if file.readinto(whole.data) != size:
            raise ValueError("it is cut off")
        return np.ndarray(shape, dtype, whole.data, order=order)


def load_written(path: Path) -> npt.NDArray[Any]:
    """What this program wrote to a ``.npy`` file a moment ago, mapped.

    Raises
    ------
    StorageFailedError
        The drive does not give it back, or gives back something else.
    """
    try:
        return load_array(path)
    except OSError as error:
        raise files.read_failed(path, error) from error
    except ValueError as error:
        raise files.read_failed(path, OSError(errno.EIO, str(error))) from error


def map_part(path: str, offset: int, dtype: str, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """An array of numbers that lies somewhere in a file of this program, mapped read-only. Raises `OSError`."""
    with open(path, "rb") as file:
        return np.asarray(np.memmap(file, np.dtype(dtype), "r", offset, shape))


def read_array(data: bytes) -> npt.NDArray[Any]:
    """An array of numbers or text from the bytes of a ``.npy`` file; see `load_array`. Raises `ValueError`."""
    file = io.BytesIO(data)
    shape, fortran, dtype = _checked(file, len(data))
    return np.ndarray(shape, dtype, bytearray(file.read()), order="F" if fortran else "C")


def _checked(file: IO[bytes], length: int) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """The header of a file of so many bytes, in which what it announces is."""
    shape, fortran, dtype = read_header(file)
    if dtype.hasobject:
        raise ValueError("it holds objects")
    if math.prod(shape, start=dtype.itemsize) > length - file.tell() or max((len(shape), *shape)) > _LONGEST:
        raise ValueError("it is cut off")
    return shape, fortran, dtype


def texts_of(array: npt.NDArray[Any]) -> list[str]:
    """The elements of a flat array of text, or of bytes, which are read as UTF-8.

    Raises
    ------
    ValueError
        An element is no text: NumPy believes a file, and would make strings of it that break what touches them.
    """
    if array.dtype.kind == "S":
        return [value.decode("utf-8", "surrogateescape") for value in array.tolist()]
    if array.size and array.dtype.itemsize:
        characters = np.ascontiguousarray(array).view(np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
        if int(characters.max()) > sys.maxunicode:
            raise ValueError("what should be text is none")
    return [str(value) for value in array.tolist()]


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
