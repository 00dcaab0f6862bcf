"""Read the weights of a network from a file that PyTorch saved, without PyTorch and without running anything in it.

Such a file is a pickle, which may name any function to be called. The reader here knows five names, all of them its own
harmless stand-ins, and refuses every other; no opcode can reach anything else.
"""

from __future__ import annotations

import collections
import io
import pickle
import zipfile
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from a3s_desktop.errors import InputError
from a3s_desktop.i18n import tr
from a3s_desktop.storage import files, tables

Weights = dict[str, npt.NDArray[Any]]

MAX_BYTES = 1 << 30
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


class _Unpickler(pickle.Unpickler):
    """Knows ordered dictionaries, tensors and the kinds of numbers; nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _tensor
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


def _from_stream(file: IO[bytes]) -> Weights:
    file.seek(0)
    if _Unpickler(file).load() != _LEGACY:
        raise pickle.UnpicklingError(tr("an unknown beginning"))
    _Unpickler(file).load()  # the version
    if not _Unpickler(file).load().get("little_endian", True):
        raise pickle.UnpicklingError(tr("its numbers are of another kind of machine"))
    named = _Unpickler(file).load()
    keys = _Unpickler(file).load()
    kinds = {tensor.storage.key: tensor.storage for tensor in named.values() if isinstance(tensor, _Tensor)}
    data: dict[str, npt.NDArray[Any]] = {}
    for key in keys:
        count = int.from_bytes(file.read(8), "little")
        storage = kinds[key]
        if count != storage.size or count * storage.dtype.itemsize > MAX_BYTES:
            raise pickle.UnpicklingError(tr("a damaged length"))
        data[key] = np.frombuffer(file.read(count * storage.dtype.itemsize), storage.dtype)
    return _cut(named, data)


def _from_zip(file: IO[bytes]) -> Weights:
    with zipfile.ZipFile(file) as archive:
        if sum(info.file_size for info in archive.infolist()) > MAX_BYTES:
            raise pickle.UnpicklingError(tr("it is too large"))
        table = next(name for name in archive.namelist() if name.endswith("/data.pkl"))
        folder = table.removesuffix("data.pkl")
        named = _Unpickler(io.BytesIO(archive.read(table))).load()
        data = {
            tensor.storage.key: np.frombuffer(archive.read(f"{folder}data/{tensor.storage.key}"), tensor.storage.dtype)
            for tensor in named.values()
            if isinstance(tensor, _Tensor)
        }
    return _cut(named, data)


def _cut(named: dict[str, Any], data: dict[str, npt.NDArray[Any]]) -> Weights:
    weights: Weights = {}
    for name, tensor in named.items():
        if not isinstance(tensor, _Tensor):
            continue
        flat = data[tensor.storage.key]
        last = tensor.offset + sum((side - 1) * step for side, step in zip(tensor.shape, tensor.strides, strict=True))
        count = int(np.prod(tensor.shape, dtype=object))
        if count > len(flat) or (count and last >= len(flat)):
            raise pickle.UnpicklingError(tr("a tensor beyond its numbers"))
        strides = tuple(step * flat.itemsize for step in tensor.strides)
        view = np.lib.stride_tricks.as_strided(flat[tensor.offset :], tensor.shape, strides, writeable=False)
        weights[str(name)] = np.ascontiguousarray(view)
    return weights
