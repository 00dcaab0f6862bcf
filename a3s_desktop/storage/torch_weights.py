"""Read the weights of a network from a file that PyTorch saved, without PyTorch and without running anything in it.

Such a file is a pickle, which may name any function to be called. The reader here knows five names, all of them its own
harmless stand-ins, and refuses every other; no opcode can reach anything else.
"""

from __future__ import annotations

import collections
import io
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from a3s_desktop.errors import InputError
from a3s_desktop.i18n import tr
from a3s_desktop.storage import files, tables
from a3s_desktop.storage.pickle_limits import BoundedReader, check_pickle
from a3s_desktop.storage.zip_limits import check_archive, open_archive

Weights = dict[str, npt.NDArray[Any]]

MAX_BYTES = 1 << 30
_MOST_SHARED = 4  # tensors that are cut from the same numbers, on average
_LEGACY = 119547037146038801333356  # what the older kind of file begins with
_STORAGES = {"FloatStorage": "<f4", "HalfStorage": "<f2", "LongStorage": "<i8", "IntStorage": "<i4"}


class _Storage(NamedTuple):
    """Numbers that tensors are cut from, by key."""

    dtype: np.dtype[Any]
    key: str
    size: int


class _Tensor(NamedTuple):
    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


def _tensor(storage: object, offset: object, shape: object, strides: object, *_rest: object) -> _Tensor:
    sides = (shape, strides)
    if (
        not isinstance(storage, _Storage)
        or type(offset) is not int
        or not all(isinstance(side, tuple) and all(type(n) is int and n >= 0 for n in side) for side in sides)
        or len(shape) != len(strides)  # type: ignore[arg-type]
        or offset < 0
    ):
        raise pickle.UnpicklingError(tr("a damaged tensor"))
    return _Tensor(storage, offset, shape, strides)  # type: ignore[arg-type]


class _Maker:
    """Stands for a function or class in a pickle, which may call it, but has no way to give it other attributes."""

    __slots__ = ("_make",)
    _make: Callable[..., Any]

    def __init__(self, make: Callable[..., Any]) -> None:
        object.__setattr__(self, "_make", make)

    def __call__(self, *values: Any) -> Any:
        return self._make(*values)

    def __setattr__(self, name: str, value: object) -> None:
        raise pickle.UnpicklingError(tr("it would change the program"))


class _Unpickler(pickle.Unpickler):
    """Knows ordered dictionaries, tensors and the kinds of numbers; nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return _Maker(collections.OrderedDict)
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _Maker(_tensor)
        if module == "torch" and name in _STORAGES:
            return np.dtype(_STORAGES[name])
        raise pickle.UnpicklingError(tr("it asks for {module}.{name}", module=module, name=name))

    def persistent_load(self, pid: Any) -> _Storage:
        if not isinstance(pid, tuple) or len(pid) < 5 or pid[0] != "storage":
            raise pickle.UnpicklingError(tr("an unknown reference"))
        dtype, key, count = pid[1], pid[2], pid[4]
        if not isinstance(dtype, np.dtype) or not isinstance(key, str) or type(count) is not int or count < 0:
            raise pickle.UnpicklingError(tr("a damaged reference"))
        return _Storage(dtype, key, count)


def read_weights(path: Path) -> Weights:
    """Name and values of each tensor.

    Raises
    ------
    InputError
        The file cannot be read, is damaged, or asks for anything but tensors.
    """
    try:
        if files.long_path(path).stat().st_size > MAX_BYTES:
            raise InputError(tr("{path} is too large for a file of weights.", path=files.show(path)))
        with open(files.long_path(path), "rb") as file:
            return _from_zip(file) if file.read(2) == b"PK" else _from_stream(file)
    except OSError as error:
        raise tables.unreadable(path, error) from error
    except InputError:
        raise
    except Exception as error:  # a damaged pickle raises anything
        raise InputError(
            tr(
                "{path} is no file of weights that can be read ({value}).",
                path=files.show(path),
                value=str(error)[:120] or type(error).__name__,
            ),
            tr("Use the file of the package, or a model saved as .onnx."),
        ) from error


def _load(file: IO[bytes], length: int) -> Any:
    """One pickle of a file, of which nothing is built before all of it was looked at."""
    check_pickle(file, length)
    return _Unpickler(BoundedReader(file, length)).load()


def _table(value: object) -> dict[Any, Any]:
    if not isinstance(value, dict):
        raise pickle.UnpicklingError(tr("it holds no table of tensors"))
    return dict(value)  # whatever attributes the pickle gave to it


def _from_stream(file: IO[bytes]) -> Weights:
    length = file.seek(0, io.SEEK_END)
    file.seek(0)
    if _load(file, length) != _LEGACY:
        raise pickle.UnpicklingError(tr("an unknown beginning"))
    _load(file, length)  # the version
    if not _table(_load(file, length)).get("little_endian", True):
        raise pickle.UnpicklingError(tr("its numbers are of another kind of machine"))
    named = _table(_load(file, length))
    keys = _load(file, length)
    kinds = {tensor.storage.key: tensor.storage for tensor in named.values() if isinstance(tensor, _Tensor)}
    data: dict[str, npt.NDArray[Any]] = {}
    for key in keys:
        count = int.from_bytes(file.read(8), "little")
        storage = kinds[key]
        if count != storage.size or count * storage.dtype.itemsize > length - file.tell():
            raise pickle.UnpicklingError(tr("a damaged length"))
        data[key] = np.frombuffer(file.read(count * storage.dtype.itemsize), storage.dtype)
    return _cut(named, data)


def _from_zip(file: IO[bytes]) -> Weights:
    with open_archive(file) as archive:
        check_archive(archive)
        if sum(info.file_size for info in archive.infolist()) > MAX_BYTES:
            raise pickle.UnpicklingError(tr("it is too large"))
        table = next(name for name in archive.namelist() if name.endswith("/data.pkl"))
        folder = table.removesuffix("data.pkl")
        described = archive.read(table)
        named = _table(_load(io.BytesIO(described), len(described)))
        kinds = {tensor.storage.key: tensor.storage for tensor in named.values() if isinstance(tensor, _Tensor)}
        data = {
            key: np.frombuffer(archive.read(f"{folder}data/{key}"), storage.dtype) for key, storage in kinds.items()
        }
    return _cut(named, data)


def _cut(named: dict[str, Any], data: dict[str, npt.NDArray[Any]]) -> Weights:
    weights: Weights = {}
    room = _MOST_SHARED * sum(numbers.nbytes for numbers in data.values())
    for name, tensor in named.items():
        if not isinstance(tensor, _Tensor):
            continue
        flat = data[tensor.storage.key]
        last = tensor.offset + sum((side - 1) * step for side, step in zip(tensor.shape, tensor.strides, strict=True))
        count = int(np.prod(tensor.shape, dtype=object))
        if count > len(flat) or (count and last >= len(flat)):
            raise pickle.UnpicklingError(tr("a tensor beyond its numbers"))
        room -= count * flat.itemsize
        if room < 0:
            raise pickle.UnpicklingError(tr("it is too large"))
        strides = tuple(step * flat.itemsize for step in tensor.strides)
        view = np.lib.stride_tricks.as_strided(flat[tensor.offset :], tensor.shape, strides, writeable=False)
        weights[str(name)] = np.ascontiguousarray(view)
    return weights
