"""Read feature files, and check them so that the first offending row is named before anything runs."""

from __future__ import annotations

import math
import os
import zipfile
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from a3s_desktop.errors import InputError
from a3s_desktop.i18n import mark, number, tr, trn
from a3s_desktop.storage import array_files, feature_arrow, feature_text, files, tables
from a3s_desktop.storage.feature_checks import FeatureCheck, check_features, examine, feature_problems, joined
from a3s_desktop.storage.feature_file import FeatureFile
from a3s_desktop.storage.zip_limits import check_archive, open_archive
from a3s_desktop.task import Task

__all__ = [
    "MIN_ROWS",
    "FeatureCheck",
    "FeatureFile",
    "check_features",
    "examine",
    "feature_problems",
    "joined",
    "load_features",
    "read_npy_header",
]

MIN_ROWS = 3
_NAME_KEYS = ("names", "paths", "files", "filenames", "file")
_CONVERT = mark("Save the numbers with numpy.save('features.npy', array), one row per image.")
_TORCH = mark("In Python: numpy.save('features.npy', torch.load({name!r}, map_location='cpu').float().numpy())")
_PICKLE = mark(
    "In Python: numpy.save('features.npy', numpy.asarray(pickle.load(open({name!r}, 'rb')), dtype='float32'))"
)
_PICKLES = {".pt": _TORCH, ".pth": _TORCH, ".pkl": _PICKLE, ".pickle": _PICKLE, ".joblib": _CONVERT}


def load_features(path: Path, task: Task | None = None, least: int = MIN_ROWS) -> FeatureFile:
    """Open a feature file: ``.npy``, ``.npz``, ``.csv``, ``.tsv``, ``.parquet``, ``.feather``.

    A ``.npz`` holds the features under ``features`` or as its only table of numbers, and optionally ``names``.

    Nothing is ever unpickled. The shape and type are checked, the values are not; see `check_features`. There must be
    ``least`` rows.

    Raises
    ------
    InputError
        The file cannot be read, is of another kind, or does not hold a table of numbers.
    """
    suffix = path.suffix.lower()
    if suffix in _PICKLES:
        raise InputError(
            tr(
                "{path} is a pickle file, which could run a program when opened; it is not read.", path=files.show(path)
            ),
            tr(_PICKLES[suffix], name=path.name) + ".",
        )
    file = _read(path, suffix, task or Task())
    if len(file.values) < least:
        raise InputError(
            trn(
                "{where} has only {n} row; at least {min_rows} images are needed.",
                "{where} has only {n} rows; at least {min_rows} images are needed.",
                len(file.values),
                where=files.show(path),
                min_rows=least,
            ),
            tr("Choose the features of all images."),
        )
    return file


def _read(path: Path, suffix: str, task: Task) -> FeatureFile:
    try:
        if suffix in (".csv", ".tsv", ".tab", ".txt"):
            values, names, lines, remarks = feature_text.read(path, task)
            _check_kind(path, values.dtype, values.shape)
            return FeatureFile(values, names, path, lines, remarks)
        if suffix in feature_arrow.SUFFIXES:
            array, names, remarks = feature_arrow.read(path)
            _check_kind(path, array.dtype, array.shape)
            return FeatureFile(array, names, path, None, remarks)
        with open(files.long_path(path), "rb") as file:
            magic = file.read(6)
            if magic.startswith(b"PK"):
                return _load_npz(path, file)
            if magic == array_files.MAGIC:
                file.seek(0)
                return FeatureFile(_load_npy(path, file), None, path)
    except OSError as error:
        raise tables.unreadable(path, error) from error
    except (MemoryError, OverflowError) as error:
        raise InputError(
            tr("{path} does not fit into memory.", path=files.show(path)),
            tr("Save it as .npy, which is read in parts."),
        ) from error
    if not magic:
        raise InputError(tr("{path} is empty (0 bytes).", path=files.show(path)), tr("Save the features again."))
    raise InputError(tr("{path} is not a .npy, .npz, .csv or .parquet file.", path=files.show(path)), tr(_CONVERT))


def _load_npy(path: Path, file: BinaryIO) -> npt.NDArray[Any]:
    """Memory-map an array after its header was checked."""
    shape, fortran, dtype = _header(path, file)
    _check_kind(path, dtype, shape)
    offset = file.tell()
    needed = offset + _size(shape, dtype)
    size = os.fstat(file.fileno()).st_size
    if size < needed:
        raise InputError(
            tr(
                "{path} is cut off: it has {size} bytes where its header announces {needed}.",
                path=files.show(path),
                size=number(size),
                needed=number(needed),
            ),
            tr("Copy or save the file again."),
        )
    return np.memmap(file, dtype=dtype, mode="r", offset=offset, shape=shape, order="F" if fortran else "C")


def _header(path: Path, file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, order and type of an array; the file is left at its first value. Raises `InputError`."""
    try:
        return array_files.read_header(file)
    except ValueError as error:
        raise InputError(
            tr("{path} has a damaged header ({short}).", path=files.show(path), short=_short(error)),
            tr("Save it again."),
        ) from error


def read_npy_header(path: Path) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and type of a ``.npy`` file, without its values. Raises `InputError` where it is none."""
    try:
        with open(files.long_path(path), "rb") as file:
            shape, _, dtype = _header(path, file)
    except OSError as error:
        raise tables.unreadable(path, error) from error
    return shape, dtype


def _short(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:120]


def _check_kind(path: Path, dtype: np.dtype[Any], shape: tuple[int, ...], inside: str = "") -> None:
    """Type and shape of a feature array."""
    where = f"{files.show(path)}{inside}"
    if dtype.hasobject:
        raise InputError(
            tr("{where} holds Python objects, not numbers; such files are not opened.", where=where), tr(_CONVERT)
        )
    if dtype.names is not None or dtype.kind not in "fiu":
        raise InputError(
            tr("{where} holds values of type {name}, not real numbers.", where=where, name=dtype.name), tr(_CONVERT)
        )
    if len(shape) != 2:
        raise InputError(
            trn(
                "{where} has {n} dimension (shape {shape}), not two.",
                "{where} has {n} dimensions (shape {shape}), not two.",
                len(shape),
                where=where,
                shape=_shape(shape),
            ),
            tr("It must be a table: one row per image, one column per feature."),
        )
    if 0 in shape:
        raise InputError(
            tr("{where} is empty (shape {shape}).", where=where, shape=_shape(shape)),
            tr("It must have one row per image."),
        )


def _shape(shape: tuple[int, ...]) -> str:
    return " x ".join(str(side) for side in shape) if shape else tr("none: a single value")


def _load_npz(path: Path, file: BinaryIO) -> FeatureFile:
    try:
        with open_archive(file) as archive:
            check_archive(archive)
            headers = {}
            for info in archive.infolist():
                if info.filename.endswith(".npy"):
                    headers[info.filename[:-4]] = _member_header(path, archive, info)
            key = _feature_key(path, headers)
            values = _member(path, archive, key)
            name_key = next((name for name in _NAME_KEYS if name in headers and name != key), None)
            names = None
            if name_key is not None:
                names = _names(path, name_key, headers[name_key], archive, len(values))
    except (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError, RuntimeError, KeyError) as error:
        raise InputError(
            tr("{path} is a damaged .npz file ({short}).", path=files.show(path), short=_short(error)),
            tr("Save it again."),
        ) from error
    except Exception as error:
        if isinstance(error, (InputError, OSError, MemoryError, OverflowError)):
            raise
        raise InputError(
            tr("{path} is a damaged .npz file ({short}).", path=files.show(path), short=_short(error)),
            tr("Save it again."),
        ) from error
    return FeatureFile(values, names, path)


def _member_header(
    path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo
) -> tuple[tuple[int, ...], np.dtype[Any]]:
    with archive.open(info) as member:
        shape, _, dtype = _header(path, member)
    announced = _size(shape, dtype)
    if not dtype.hasobject and announced > info.file_size:
        raise InputError(
            tr(
                "{path}, array {filename} announces {announced} bytes but holds less.",
                path=files.show(path),
                filename=repr(info.filename[:-4]),
                announced=number(announced),
            ),
            tr("Save it again."),
        )
    return shape, dtype


def _feature_key(path: Path, headers: dict[str, tuple[tuple[int, ...], np.dtype[Any]]]) -> str:
    if "features" in headers:
        key = "features"
    else:
        tables_in = [name for name, (shape, dtype) in headers.items() if len(shape) == 2 and dtype.kind in "fiu"]
        if len(tables_in) != 1:
            listed = ", ".join(repr(name) for name in list(headers)[:8]) or tr("nothing")
            if tables_in:
                text = mark("{path} has more than one two-dimensional array of numbers (it holds {listed}).")
            else:
                text = mark("{path} has no two-dimensional array of numbers (it holds {listed}).")
            raise InputError(
                tr(text, path=files.show(path), listed=listed),
                tr("Save the features under the name 'features'."),
            )
        key = tables_in[0]
    shape, dtype = headers[key]
    _check_kind(path, dtype, shape, f", array {key!r},")
    return key


def _member(path: Path, archive: zipfile.ZipFile, key: str) -> npt.NDArray[Any]:
    """One array of a ``.npz``, whose header was checked before."""
    with archive.open(f"{key}.npy") as member:
        shape, fortran, dtype = _header(path, member)
        data = member.read(_size(shape, dtype))
    return np.ndarray(shape, dtype, data, order="F" if fortran else "C")


def _size(shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
    """Bytes of an array, as a Python number that cannot overflow."""
    return math.prod(shape, start=dtype.itemsize)


def _names(
    path: Path, key: str, header: tuple[tuple[int, ...], np.dtype[Any]], archive: zipfile.ZipFile, rows: int
) -> tuple[str, ...]:
    shape, dtype = header
    if dtype.hasobject or dtype.kind not in "US" or len(shape) != 1:
        raise InputError(
            tr(
                "{path}, array {key} is not a plain list of texts (type {name}).",
                path=files.show(path),
                key=repr(key),
                name=dtype.name,
            ),
            tr("Save the names with numpy.array(list_of_names), or leave {key} out.", key=repr(key)),
        )
    if shape[0] != rows:
        raise InputError(
            tr("{path} has {rows} rows but {shape} names.", path=files.show(path), rows=rows, shape=shape[0]),
            tr("Save one name for each row of the features."),
        )
    return tuple(array_files.texts_of(_member(path, archive, key)))
