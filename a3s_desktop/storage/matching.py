"""Which row of the features belongs to which image, and true labels for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.types import IndexArray, IntArray
from a3s_desktop.errors import InputError
from a3s_desktop.storage import features, files, tables
from a3s_desktop.storage.features import FeatureFile
from a3s_desktop.storage.names import NameIndex

How = Literal["order file", "names", "sorted"]
_CHOOSE = "Choose the image folder that the features were computed from, or give an order file."


@dataclass(frozen=True, slots=True)
class RowMatch:
    """Images in row order.

    Attributes
    ----------
    paths : tuple of str
        Image of each row.
    how : "order file", "names" or "sorted"
        What decided; a "sorted" match is to be confirmed by the user.
    rows : tuple of (int64, shape (N,)) or None
        For each feature file the row that belongs to each image; None where they are in the same order.
    warnings : tuple of str
    """

    paths: tuple[str, ...]
    how: How
    rows: tuple[IndexArray | None, ...]
    warnings: tuple[str, ...]


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


def match_rows(
    paths: Sequence[str],
    views: Sequence[FeatureFile],
    order_file: Path | None = None,
    root: str = "",
) -> RowMatch:
    """Match feature rows to images: by the order file, else by names in a feature file, else by sorted order.

    Parameters
    ----------
    paths : sequence of str
        The images that were found, sorted.
    views : sequence of FeatureFile
        At least one. Files without names are taken to have the rows of the others.
    order_file : Path, optional
        Lists the images in row order; it has precedence over names in the files.
    root : str
        The image folder, so that absolute names are understood.

    Raises
    ------
    InputError
        Counts differ, a name fits no image or two rows one image, an image has no row. The first mismatch is named.
    """
    for view in views[1:]:
        if len(view.values) != len(views[0].values):
            raise InputError(
                f"{files.show(view.path)} has {len(view.values):,} rows, but {files.show(views[0].path)} has "
                f"{len(views[0].values):,}.",
                "All feature files must be of the same images.",
            )
    if order_file is not None:
        return _by_order(paths, views, order_file, root)
    named = next((view for view in views if view.names is not None), None)
    if named is not None and named.names is not None:
        return _by_names(paths, views, named, root)
    _same_count(paths, views[0])
    return RowMatch(tuple(paths), "sorted", (None,) * len(views), ())


def _by_order(paths: Sequence[str], views: Sequence[FeatureFile], order_file: Path, root: str) -> RowMatch:
    names = tables.load_order(order_file)
    first = views[0]
    rows = len(first.values)
    if len(names) != rows:
        what = (
            f"its first file without a row is {files.show(names[rows])}"
            if len(names) > rows
            else f"the first row without a file is {first.row(len(names))}"
        )
        raise InputError(
            f"The order file {files.show(order_file)} lists {len(names):,} files, but {files.show(first.path)} has "
            f"{rows:,} rows; {what}.",
            "Give the order file that belongs to these features.",
        )
    index = NameIndex(paths, root)
    found = _resolve(names, index, paths, f"The order file {files.show(order_file)}", "entry {}")
    warnings = [
        f"{files.show(view.path)} names {files.show(view.names[at])} at {view.row(at)}, where the order file has "
        f"{files.show(names[at])}; the order file was followed."
        for view in views
        if view.names is not None
        for at in [_first_difference([index.find(name) for name in view.names], found)]
        if at is not None
    ]
    return RowMatch(tuple(paths[i] for i in found), "order file", (None,) * len(views), tuple(warnings))


def _by_names(paths: Sequence[str], views: Sequence[FeatureFile], named: FeatureFile, root: str) -> RowMatch:
    index = NameIndex(paths, root)
    assert named.names is not None
    found = _resolve(named.names, index, paths, files.show(named.path), "row {}", named)
    place = {image: position for position, image in enumerate(found)}
    rows: list[IndexArray | None] = []
    for view in views:
        if view is named or view.names is None:
            rows.append(None)
            continue
        own = _resolve(view.names, index, paths, files.show(view.path), "row {}", view)
        order = np.empty(len(own), np.int64)
        order[[place[image] for image in own]] = np.arange(len(own))
        rows.append(None if (order == np.arange(len(own))).all() else order)
    return RowMatch(tuple(paths[i] for i in found), "names", tuple(rows), ())


def _resolve(
    names: Sequence[str],
    index: NameIndex,
    paths: Sequence[str],
    where: str,
    place: str,
    view: FeatureFile | None = None,
) -> list[int]:
    """The image of each name; every image exactly once."""

    def at(row: int) -> str:
        return view.row(row) if view is not None else place.format(row)

    found: list[int] = []
    taken: dict[int, int] = {}
    for row, name in enumerate(names):
        image = index.find(name)
        if image is None:
            unknown = sum(index.find(other) is None for other in names)
            more = f" ({unknown:,} such names in all)" if unknown > 1 else ""
            raise InputError(
                f"{where}, {at(row)}: {files.show(name)} fits no image of the folder, or more than one{more}.", _CHOOSE
            )
        if image in taken:
            raise InputError(
                f"{where}: {at(taken[image])} and {at(row)} are both of {files.show(paths[image])}.",
                "Each image must have exactly one row.",
            )
        taken[image] = row
        found.append(image)
    if len(found) < len(paths):
        without = [path for i, path in enumerate(paths) if i not in taken]
        raise InputError(
            f"{where} has {len(found):,} rows, but the folder has {len(paths):,} images; the first image without a row "
            f"is {files.show(without[0])}.",
            "Compute the features of the missing images, or move these images out of the folder.",
        )
    return found


def _same_count(paths: Sequence[str], view: FeatureFile) -> None:
    rows = len(view.values)
    if rows == len(paths):
        return
    if rows > len(paths):
        last = f" (the last image is {files.show(paths[-1])})" if paths else ""
        what = f"the first row without an image is {view.row(len(paths))}{last}"
    else:
        what = f"in sorted order the first image without a row is {files.show(paths[rows])}"
    raise InputError(
        f"{files.show(view.path)} has {rows:,} rows, but the image folder has {len(paths):,} images; {what}.", _CHOOSE
    )


def _first_difference(left: Sequence[int | None], right: Sequence[int | None]) -> int | None:
    return next((at for at, (a, b) in enumerate(zip(left, right, strict=True)) if a != b), None)


# ------------------------------------------------------------------------------------------------ labels


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
        raise InputError(f"The labels file {files.show(path)} is empty.", "It must have one label per image.")
    if not table.header:
        width = len(table.rows[0])
        file_at, label_at = (0, 1) if width >= 2 else (None, 0)
    if label_at is None:
        raise InputError(
            f"The labels file {files.show(path)} has no column 'label' (it has {', '.join(table.header)[:200]}).",
            "Give it the columns file,label.",
        )
    values: list[str] = []
    for at, row in enumerate(table.rows):
        if len(row) <= label_at or not row[label_at].strip():
            raise InputError(
                f"The labels file {files.show(path)}, row {at} (line {table.lines[at]}), has no label.",
                "Fill it in: labels are needed for every image, or leave the labels file out.",
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
                f"The labels file {files.show(path)}: rows {found[image]} and {at} (lines {table.lines[found[image]]} "
                f"and {table.lines[at]}) give {files.show(paths[image])} two labels.",
                "Remove one of them.",
            )
        found[image] = at
    missing = next((i for i in range(len(paths)) if i not in found), None)
    if missing is not None:
        raise InputError(
            f"The labels file {files.show(path)} has no label for {files.show(paths[missing])} "
            f"({len(paths) - len(found):,} images without one).",
            "Add the missing lines, or leave the labels file out.",
        )
    return [values[found[i]] for i in range(len(paths))]


def _npy_labels(path: Path, count: int) -> npt.NDArray[Any]:
    shape, dtype = features.read_npy_header(path)
    if dtype.hasobject or dtype.names is not None or dtype.kind not in "iuUSbf":
        raise InputError(
            f"The labels file {files.show(path)} holds values of type {dtype.name}, not numbers or text.",
            "Save it with numpy.save('labels.npy', numpy.array(list_of_labels)).",
        )
    if len(shape) != 1:
        raise InputError(
            f"The labels file {files.show(path)} has {len(shape)} dimensions, not one.", "Save one label per row."
        )
    _label_count(path, shape[0], count)
    try:
        values = np.load(files.long_path(path), allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise InputError(f"The labels file {files.show(path)} is damaged or cut off.", "Save it again.") from error
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        at = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InputError(f"The labels file {files.show(path)}, row {at}, has no label.", "Fill it in.")
    return np.asarray(values)


def _label_count(path: Path, labels: int, rows: int) -> None:
    if labels != rows:
        first = min(labels, rows)
        which = "label without a row" if labels > rows else "row without a label"
        raise InputError(
            f"The labels file {files.show(path)} has {labels:,} labels, but the features have {rows:,} rows; the first "
            f"{which} is row {first}.",
            "Give one label per row, in the order of the rows.",
        )


def _codes(values: npt.NDArray[Any]) -> Labels:
    if values.dtype.kind == "S":
        values = np.array([value.decode("utf-8", "surrogateescape") for value in values.tolist()])
    elif values.dtype.kind == "f" and (values == np.round(values)).all():
        values = values.astype(np.int64)
    classes, codes = np.unique(values, return_inverse=True)
    return Labels(codes.reshape(-1).astype(np.int32), tuple(str(name) for name in classes.tolist()))
