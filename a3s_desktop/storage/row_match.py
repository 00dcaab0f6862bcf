"""Which row of the features belongs to which image."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from a3s_desktop.core.types import IndexArray
from a3s_desktop.errors import InputError
from a3s_desktop.i18n import mark, number, tr
from a3s_desktop.storage import files, tables
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
    found = _resolve(names, index, paths, tr("The order file {order_file}", order_file=files.show(order_file)), _entry)
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


def _entry(index: int) -> str:
    return tr("entry {entry}", entry=index)


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
