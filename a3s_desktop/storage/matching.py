"""Which row of the features belongs to which image (`row_match`), and true labels for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.types import IntArray
from a3s_desktop.errors import InputError
from a3s_desktop.i18n import number, tr
from a3s_desktop.storage import array_files, features, files, tables
from a3s_desktop.storage.names import NameIndex
from a3s_desktop.storage.row_match import How, RowMatch, Unmatched, UnmatchedError, match_rows

__all__ = ["How", "Labels", "RowMatch", "Unmatched", "UnmatchedError", "load_labels", "match_rows"]


@dataclass(frozen=True, slots=True)
class Labels:
    """True classes.

    Attributes
    ----------
    codes : int32, shape (N,)
        Class of each row, 0 .. K-1.
    names : tuple of str
        Name of each class.
    """

    codes: IntArray
    names: tuple[str, ...]


def load_labels(path: Path, count: int, paths: Sequence[str] | None = None, root: str = "") -> Labels:
    """True labels in row order.

    ``.npy`` (numbers or text, shape (N,)) in row order; ``.csv``/``.tsv`` with columns ``file,label``, matched by file
    name where ``paths`` (the images in row order) are known, else in row order.

    Raises
    ------
    InputError
        The file cannot be read, its length differs, a label or an image is missing.
    """
    if path.suffix.lower() == ".npy":
        return _codes(_npy_labels(path, count))
    table = tables.read_table(path, (*tables.FILE_COLUMNS, *tables.LABEL_COLUMNS))
    label_at = tables.column(table.header, tables.LABEL_COLUMNS)
    file_at = tables.column(table.header, tables.FILE_COLUMNS)
    if not table.rows:
        raise InputError(
            tr("The labels file {path} is empty.", path=files.show(path)), tr("It must have one label per image.")
        )
    if not table.header:
        width = len(table.rows[0])
        file_at, label_at = (0, 1) if width >= 2 else (None, 0)
    if label_at is None:
        raise InputError(
            tr(
                "The labels file {path} has no column 'label' (it has {value}).",
                path=files.show(path),
                value=", ".join(table.header)[:200],
            ),
            tr("Give it the columns file,label."),
        )
    values: list[str] = []
    for at, row in enumerate(table.rows):
        if len(row) <= label_at or not row[label_at].strip():
            raise InputError(
                tr(
                    "The labels file {path}, row {at} (line {lines}), has no label.",
                    path=files.show(path),
                    at=at,
                    lines=table.lines[at],
                ),
                tr("Fill it in: labels are needed for every image, or leave the labels file out."),
            )
        values.append(row[label_at].strip())
    if paths is None or file_at is None:
        _label_count(path, len(values), count)
        return _codes(np.array(values))
    return _codes(np.array(_by_file(path, table, values, file_at, paths, root)))


def _by_file(
    path: Path, table: tables.Table, values: list[str], file_at: int, paths: Sequence[str], root: str
) -> list[str]:
    """Labels of ``paths`` by file name; rows of other files are left out."""
    index = NameIndex(paths, root)
    found: dict[int, int] = {}
    for at, row in enumerate(table.rows):
        image = index.find(row[file_at])
        if image is None:
            continue
        if image in found and values[found[image]] != values[at]:
            raise InputError(
                tr(
                    "The labels file {path}: rows {found} and {at} (lines {lines} and {lines2}) give {paths} "
                    "two labels.",
                    path=files.show(path),
                    found=found[image],
                    at=at,
                    lines=table.lines[found[image]],
                    lines2=table.lines[at],
                    paths=files.show(paths[image]),
                ),
                tr("Remove one of them."),
            )
        found[image] = at
    missing = next((i for i in range(len(paths)) if i not in found), None)
    if missing is not None:
        raise InputError(
            tr(
                "The labels file {path} has no label for {paths} ({number} images without one).",
                path=files.show(path),
                paths=files.show(paths[missing]),
                number=number(len(paths) - len(found)),
            ),
            tr("Add the missing lines, or leave the labels file out."),
        )
    return [values[found[i]] for i in range(len(paths))]


def _npy_labels(path: Path, count: int) -> npt.NDArray[Any]:
    shape, dtype = features.read_npy_header(path)
    if dtype.hasobject or dtype.names is not None or dtype.kind not in "iuUSbf":
        raise InputError(
            tr(
                "The labels file {path} holds values of type {name}, not numbers or text.",
                path=files.show(path),
                name=dtype.name,
            ),
            tr("Save it with numpy.save('labels.npy', numpy.array(list_of_labels))."),
        )
    if len(shape) != 1:
        raise InputError(
            tr("The labels file {path} has {count} dimensions, not one.", path=files.show(path), count=len(shape)),
            tr("Save one label per row."),
        )
    _label_count(path, shape[0], count)
    try:
        values = array_files.load_array(path, mapped=False)
        if values.dtype.kind in "US":
            values = np.array(array_files.texts_of(values))
    except (ValueError, OSError, MemoryError) as error:
        raise InputError(
            tr("The labels file {path} is damaged or cut off.", path=files.show(path)), tr("Save it again.")
        ) from error
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        at = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InputError(
            tr("The labels file {path}, row {at}, has no label.", path=files.show(path), at=at), tr("Fill it in.")
        )
    return np.asarray(values)


def _label_count(path: Path, labels: int, rows: int) -> None:
    if labels != rows:
        first = min(labels, rows)
        which = tr("label without a row") if labels > rows else tr("row without a label")
        raise InputError(
            tr(
                "The labels file {path} has {labels} labels, but the features have {rows} rows; the "
                "first {which} is row {first}.",
                path=files.show(path),
                labels=number(labels),
                rows=number(rows),
                which=which,
                first=first,
            ),
            tr("Give one label per row, in the order of the rows."),
        )


def _codes(values: npt.NDArray[Any]) -> Labels:
    if values.dtype.kind == "f" and (values == np.round(values)).all():
        values = values.astype(np.int64)
    classes, codes = np.unique(values, return_inverse=True)
    return Labels(codes.reshape(-1).astype(np.int32), tuple(str(name) for name in classes.tolist()))
