"""Which row of the features belongs to which image, and true labels for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.types import IndexArray, IntArray
from a3s_desktop.errors import InputError
from a3s_desktop.i18n import mark, number, tr
from a3s_desktop.storage import features, files, tables
from a3s_desktop.storage.features import FeatureFile
from a3s_desktop.storage.names import NameIndex

How = Literal["order file", "names", "sorted", "described"]
_CHOOSE = mark("Choose the image folder that the features were computed from, or give an order file.")


@dataclass(frozen=True, slots=True)
class Unmatched:
    """What to do with rows that fit no image and images that have no row."""

    rows: Literal["stop", "leave out"] = "stop"
    images: Literal["stop", "leave out", "compute"] = "stop"


class UnmatchedError(InputError):
    """Some rows fit no image, or some images have no row, and it was not said what to do with them.

    Attributes
    ----------
    rows, images : tuple of str
        All of them: rows as messages name them, with the name that the file gives them; relative paths.
    """

    def __init__(self, message: str, hint: str, rows: tuple[str, ...] = (), images: tuple[str, ...] = ()) -> None:
        super().__init__(message, hint)
        self.rows = rows
        self.images = images


@dataclass(frozen=True, slots=True)
class RowMatch:
    """Images in row order.

    Attributes
    ----------
    paths : tuple of str
        Image of each row; images whose rows are to be computed come last.
    how : "order file", "names", "sorted" or "described"
        What decided; a "sorted" match is to be confirmed by the user.
    rows : tuple of (int64, shape (N,)) or None
        For each feature file the row that belongs to each image, -1 where it is to be computed; None where the rows are
        in the order of the images, all of them.
    warnings : tuple of str
    rows_without_image, images_without_row : tuple of str
        What was left out (or is to be computed).
    """

    paths: tuple[str, ...]
    how: How
    rows: tuple[IndexArray | None, ...]
    warnings: tuple[str, ...]
    rows_without_image: tuple[str, ...] = ()
    images_without_row: tuple[str, ...] = ()

    @property
    def missing(self) -> bool:
        """Whether rows are to be computed."""
        return any(rows is not None and bool((rows < 0).any()) for rows in self.rows)


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
    unmatched: Unmatched | None = None,
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
    unmatched : Unmatched, optional
        What to do with rows and images that are without the other; by default they are in the way. Where neither names
        nor an order file say which they are, they always are.

    Raises
    ------
    UnmatchedError
        A name fits no image, an image has no row.
    InputError
        Counts differ, two rows are of one image. The first mismatch is named.
    """
    unmatched = unmatched or Unmatched()
    first = views[0]
    for view in views[1:]:
        both = view.names is not None and first.names is not None and order_file is None
        if len(view.values) != len(first.values) and not (both and unmatched.images != "stop"):
            raise InputError(
                tr(
                    "{path} has {count} rows, but {path2} has {count2}.",
                    path=files.show(view.path),
                    count=number(len(view.values)),
                    path2=files.show(first.path),
                    count2=number(len(first.values)),
                ),
                tr("All feature files must be of the same images."),
            )
    if order_file is not None:
        return _by_order(paths, views, order_file, root, unmatched)
    named = next((view for view in views if view.names is not None), None)
    if named is not None and named.names is not None:
        return _by_names(paths, views, named, root, unmatched)
    _same_count(paths, first)
    return RowMatch(tuple(paths), "sorted", (None,) * len(views), ())


def _by_order(
    paths: Sequence[str], views: Sequence[FeatureFile], order_file: Path, root: str, unmatched: Unmatched
) -> RowMatch:
    names = tables.load_order(order_file)
    first = views[0]
    rows = len(first.values)
    if len(names) != rows:
        what = (
            tr("its first file without a row is {names}", names=files.show(names[rows]))
            if len(names) > rows
            else tr("the first row without a file is {row}", row=first.row(len(names)))
        )
        raise InputError(
            tr(
                "The order file {order_file} lists {count} files, but {path} has {rows} rows; {what}.",
                order_file=files.show(order_file),
                count=number(len(names)),
                path=files.show(first.path),
                rows=number(rows),
                what=what,
            ),
            tr("Give the order file that belongs to these features."),
        )
    index = NameIndex(paths, root)
    found = _resolve(
        names, index, paths, tr("The order file {order_file}", order_file=files.show(order_file)), "entry {}".format
    )
    warnings = [
        tr(
            "{path} names {names} at {row}, where the order file has {names2}; the order file was followed.",
            path=files.show(view.path),
            names=files.show(view.names[at]),
            row=view.row(at),
            names2=files.show(names[at]),
        )
        for view in views
        if view.names is not None
        for at in [_first_difference([index.find(name) for name in view.names], found.images)]
        if at is not None
    ]
    return _joined(paths, "order file", [found] * len(views), unmatched, warnings)


def _by_names(
    paths: Sequence[str], views: Sequence[FeatureFile], named: FeatureFile, root: str, unmatched: Unmatched
) -> RowMatch:
    index = NameIndex(paths, root)
    assert named.names is not None
    first = _resolve(named.names, index, paths, files.show(named.path), named.row)
    resolved = [
        first
        if view is named or view.names is None
        else _resolve(view.names, index, paths, files.show(view.path), view.row)
        for view in views
    ]
    return _joined(paths, "names", resolved, unmatched, [])


@dataclass(frozen=True, slots=True)
class _Resolved:
    """The image that each row of a file names, None where none fits; ``where`` and ``place`` name file and row."""

    images: list[int | None]
    names: Sequence[str]
    where: str
    place: Callable[[int], str]


def _resolve(
    names: Sequence[str], index: NameIndex, paths: Sequence[str], where: str, place: Callable[[int], str]
) -> _Resolved:
    """The image of each name; no image twice."""
    images: list[int | None] = []
    taken: dict[int, int] = {}
    for row, name in enumerate(names):
        image = index.find(name)
        if image is not None:
            if image in taken:
                raise InputError(
                    tr(
                        "{where}: {place} and {place2} are both of {paths}.",
                        where=where,
                        place=place(taken[image]),
                        place2=place(row),
                        paths=files.show(paths[image]),
                    ),
                    tr("Each image must have exactly one row."),
                )
            taken[image] = row
        images.append(image)
    return _Resolved(images, names, where, place)


def _joined(
    paths: Sequence[str], how: How, resolved: Sequence[_Resolved], unmatched: Unmatched, warnings: list[str]
) -> RowMatch:
    """One order for all files, with what is without an image or row left out or marked."""
    spare: list[str] = []
    without = _without_row(paths, resolved)
    for at, file in enumerate(resolved):
        if any(file is earlier for earlier in resolved[:at]):
            continue  # several files in one order
        rows = [row for row, image in enumerate(file.images) if image is None]
        spare += [f"{file.place(row)}: {file.names[row]}" for row in rows]
        if rows and unmatched.rows == "stop":
            more = tr(" ({count} such names in all)", count=number(len(rows))) if len(rows) > 1 else ""
            raise UnmatchedError(
                tr(
                    "{where}, {place}: {names} fits no image of the folder, or more than one{more}.",
                    where=file.where,
                    place=file.place(rows[0]),
                    names=files.show(file.names[rows[0]]),
                    more=more,
                ),
                tr(_CHOOSE),
                tuple(spare),
                without,
            )
    if without and unmatched.images == "stop":
        poorest = min(resolved, key=lambda file: len(file.images))
        raise UnmatchedError(
            tr(
                "{where} has {count} rows, but the folder has {count2} images; the first image without a "
                "row is {without}.",
                where=poorest.where,
                count=number(len(poorest.images)),
                count2=number(len(paths)),
                without=files.show(without[0]),
            ),
            tr("Compute the features of the missing images, or move these images out of the folder."),
            tuple(spare),
            without,
        )
    lacking = set(without)
    order = [image for image in resolved[0].images if image is not None and paths[image] not in lacking]
    if unmatched.images == "compute":
        order += [image for image, path in enumerate(paths) if path in lacking]
    of_files = tuple(_rows_of(file, order) for file in resolved)
    return RowMatch(tuple(paths[i] for i in order), how, of_files, tuple(warnings), tuple(spare), without)


def _without_row(paths: Sequence[str], resolved: Sequence[_Resolved]) -> tuple[str, ...]:
    """Images that have no row in some file."""
    known = set.intersection(*({image for image in file.images if image is not None} for file in resolved))
    return tuple(path for image, path in enumerate(paths) if image not in known)


def _rows_of(file: _Resolved, order: list[int]) -> IndexArray | None:
    row_of = {image: row for row, image in enumerate(file.images) if image is not None}
    rows = np.array([row_of.get(image, -1) for image in order], np.int64)
    whole = len(rows) == len(file.images) and bool((rows == np.arange(len(rows))).all())
    return None if whole else rows


def _same_count(paths: Sequence[str], view: FeatureFile) -> None:
    rows = len(view.values)
    if rows == len(paths):
        return
    if rows > len(paths):
        last = tr(" (the last image is {paths})", paths=files.show(paths[-1])) if paths else ""
        what = tr("the first row without an image is {row}{last}", row=view.row(len(paths)), last=last)
    else:
        what = tr("in sorted order the first image without a row is {paths}", paths=files.show(paths[rows]))
    raise InputError(
        tr(
            "{path} has {rows} rows, but the image folder has {count} images; {what}.",
            path=files.show(view.path),
            rows=number(rows),
            count=number(len(paths)),
            what=what,
        ),
        tr(_CHOOSE),
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
        values = np.load(files.long_path(path), allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
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
    if values.dtype.kind == "S":
        values = np.array([value.decode("utf-8", "surrogateescape") for value in values.tolist()])
    elif values.dtype.kind == "f" and (values == np.round(values)).all():
        values = values.astype(np.int64)
    classes, codes = np.unique(values, return_inverse=True)
    return Labels(codes.reshape(-1).astype(np.int32), tuple(str(name) for name in classes.tolist()))
