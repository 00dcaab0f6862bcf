"""Features in Parquet and Feather tables, read by the optional package pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.errors import InputError
from a3s_desktop.i18n import tr
from a3s_desktop.storage import files, tables

ArrowFeatures = tuple[npt.NDArray[Any], tuple[str, ...] | None, tuple[str, ...]]

SUFFIXES = (".parquet", ".pq", ".feather", ".arrow")
_MOST_VALUES = 1 << 31
_DAMAGE = (ValueError, KeyError, TypeError, IndexError, NotImplementedError, OverflowError, MemoryError, RuntimeError)


def read(path: Path) -> ArrowFeatures:
    """Values (N, D), names (of a column of text) and remarks on columns that were left out.

    One column of lists of equal length, or one column for each number. Columns of labels are left out, and pandas' own
    row numbers.

    Raises
    ------
    InputError
        pyarrow is not installed, or the file is damaged or holds no numbers.
    """
    try:
        import pyarrow
    except ImportError:
        raise InputError(
            tr("{path} can be read only with the package pyarrow.", path=files.show(path)),
            tr("Install it with: pip install a3s-desktop[parquet], or save the features as .npy."),
        ) from None
    try:
        table = _table(path)
        # What is not valid must not be looked at, or the program ends (arrow.apache.org/docs/format/Security.html).
        table.validate(full=True)
        return _split(path, table)
    except (pyarrow.ArrowException, OSError, *_DAMAGE) as error:
        if getattr(error, "errno", None) is not None:
            raise  # the drive's, not the file's
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:120]
        raise InputError(
            tr("{path} is damaged, or no such table ({reason}).", path=files.show(path), reason=reason),
            tr("Save it again."),
        ) from error


def _table(path: Path) -> Any:
    if path.suffix.lower() in (".parquet", ".pq"):
        import pyarrow.parquet

        with open(files.long_path(path), "rb") as source:
            file = pyarrow.parquet.ParquetFile(source)
            if file.metadata.num_rows * file.metadata.num_columns > _MOST_VALUES:
                raise ValueError("it announces too many values")
            return file.read()
    import pyarrow.feather

    with open(files.long_path(path), "rb") as source:
        return pyarrow.feather.read_table(source)


def _split(path: Path, table: Any) -> ArrowFeatures:
    import pyarrow

    names: tuple[str, ...] | None = None
    numbers: list[str] = []
    lists: list[str] = []
    texts: list[str] = []
    remarks: list[str] = []
    for field in table.schema:
        kind, title = field.type, field.name.strip().lower()
        if pyarrow.types.is_dictionary(kind):
            kind = kind.value_type
        if pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind):
            texts.append(field.name)
        elif pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind) or pyarrow.types.is_fixed_size_list(kind):
            lists.append(field.name)
        elif title in tables.LABEL_COLUMNS:
            remarks.append(
                tr(
                    "{path}: the column {name} was not taken for a feature.",
                    path=files.show(path),
                    name=files.show(field.name),
                )
            )
        elif title.startswith("__index_level_"):
            continue
        elif pyarrow.types.is_floating(kind) or pyarrow.types.is_integer(kind):
            numbers.append(field.name)
    named = next((name for name in texts if name.strip().lower() in tables.FILE_COLUMNS), None)
    if named is None:
        named = next((name for name in texts if name.strip().lower() not in tables.LABEL_COLUMNS), None)
    if named is not None:
        values = table.column(named).to_pylist()
        empty = next((row for row, value in enumerate(values) if not value), None)
        if empty is not None:
            raise InputError(
                tr("{path}, row {empty}: there is no file name.", path=files.show(path), empty=empty), tr("Fill it in.")
            )
        names = tuple(values)
    if lists:
        return _from_lists(path, table, lists), names, tuple(remarks)
    if not numbers:
        raise InputError(
            tr("{path} has no column of numbers.", path=files.show(path)),
            tr("It must have one row of numbers per image."),
        )
    kinds = [np.dtype(table.schema.field(name).type.to_pandas_dtype()) for name in numbers]
    dtype = np.float64 if any(kind.kind != "f" or kind.itemsize > 4 for kind in kinds) else np.float32
    array = np.empty((table.num_rows, len(numbers)), dtype)
    for column, name in enumerate(numbers):
        array[:, column] = table.column(name).to_numpy()
    return array, names, tuple(remarks)


def _from_lists(path: Path, table: Any, lists: list[str]) -> npt.NDArray[Any]:
    if len(lists) > 1:
        raise InputError(
            tr(
                "{path} has several columns of lists ({value}).",
                path=files.show(path),
                value=", ".join(map(repr, lists[:5])),
            ),
            tr("Save each of them in a file of its own, and choose these as several views."),
        )
    rows: list[npt.NDArray[Any]] = []
    width = -1
    for chunk in table.column(lists[0]).chunks:
        lengths = chunk.value_lengths().to_numpy(zero_copy_only=False)
        start = sum(len(row) for row in rows)
        if width < 0 and len(lengths):
            width = int(lengths[0]) if np.isfinite(lengths[0]) else 0
        wrong = np.flatnonzero(~(lengths == width))
        if len(wrong):
            raise InputError(
                tr(
                    "{path}, row {number} has not {width} numbers as the first row has.",
                    path=files.show(path),
                    number=start + int(wrong[0]),
                    width=width,
                ),
                tr("Every image must have as many numbers."),
            )
        values = chunk.flatten().to_numpy(zero_copy_only=False)
        if values.dtype.kind not in "fiu":
            raise InputError(
                tr("{path}: the column {lists} holds no numbers.", path=files.show(path), lists=repr(lists[0]))
            )
        rows.append(values.reshape(len(lengths), width))
    return np.concatenate(rows) if rows else np.empty((0, 0), np.float32)
