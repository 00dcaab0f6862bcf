"""Parts of photos as items: the table of rectangles, and which of them show two individuals."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from a3s_desktop.errors import InputError
from a3s_desktop.i18n import number, tr
from a3s_desktop.storage import files, tables
from a3s_desktop.storage.keys import Part, part_key, split_key
from a3s_desktop.storage.names import NameIndex

_CORNERS = (("xmin", "left", "x1", "x_min"), ("ymin", "top", "y1", "y_min"))
_ENDS = (("xmax", "right", "x2", "x_max"), ("ymax", "bottom", "y2", "y_max"))
_STARTS, _SIDES = (("x",), ("y",)), (("width", "w"), ("height", "h"))
MOST_PAIRS = 1_000_000
"""Pairs of parts that can be kept apart: they are one entry of the history."""


@dataclass(frozen=True, slots=True)
class PartTable:
    """The rectangles of a table, in its order.

    Attributes
    ----------
    keys : tuple of str
        One for each rectangle, all different.
    unknown : tuple of str
        Names of the table that fit no photo.
    """

    keys: tuple[str, ...]
    unknown: tuple[str, ...]


def same_photo_pairs(keys: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of items that are parts of one photo and do not cover each other: two of them are two individuals.

    Parts that overlap by more than half of the smaller are left out: they may well be two rectangles of one individual.

    Returns
    -------
    list of (int, int)
        Item numbers, the smaller first, in ascending order.
    """
    by_photo: dict[str, list[tuple[int, Part]]] = defaultdict(list)
    for index, key in enumerate(keys):
        photo, part = split_key(key)
        if part is not None:
            by_photo[photo].append((index, part))
    return sorted(
        (a, b)
        for members in by_photo.values()
        for (a, left), (b, right) in combinations(members, 2)
        if not _overlap(left, right)
    )


def check_pair_count(keys: Sequence[str]) -> None:
    """Whether "two parts of one photo are different" can be said of these items in a reasonable number of pairs.

    Raises
    ------
    InputError
        There would be more than `MOST_PAIRS`.
    """
    counts = Counter(photo for photo, part in map(split_key, keys) if part is not None)
    pairs = sum(count * (count - 1) // 2 for count in counts.values())
    if pairs > MOST_PAIRS:
        photo, count = counts.most_common(1)[0]
        raise InputError(
            tr(
                "“Two parts of one photo are different” would mean {pairs} pairs; at most {most} can be kept. The "
                "photo with the most parts is {photo} ({count}).",
                pairs=number(pairs),
                most=number(MOST_PAIRS),
                photo=files.show(photo),
                count=number(count),
            ),
            tr("Leave this choice out, or give fewer parts for each photo."),
        )


def _overlap(a: Part, b: Part) -> bool:
    across = min(a.x + a.width, b.x + b.width) - max(a.x, b.x)
    down = min(a.y + a.height, b.y + b.height) - max(a.y, b.y)
    return across > 0 and down > 0 and 2 * across * down > min(a.width * a.height, b.width * b.height)


def load_parts(path: Path, photos: Sequence[str], root: str = "") -> PartTable:
    """Read a table of rectangles: the columns ``file, x, y, width, height`` or ``file, xmin, ymin, xmax, ymax``.

    Rectangles are in pixels of the upright photo; fractions are rounded outwards. Further columns are ignored.

    Parameters
    ----------
    path : Path
    photos : sequence of str
        Relative paths of the images that were found.
    root : str
        The image folder, so that absolute names are understood.

    Raises
    ------
    InputError
        The table cannot be read, lacks a column, has a rectangle without an area, or the same one twice.
    """
    table = tables.read_table(path, tables.FILE_COLUMNS)
    file_at = tables.column(table.header, tables.FILE_COLUMNS)
    found = rectangle_columns(table.header)
    where = tr("The table of rectangles {path}", path=files.show(path))
    if file_at is None or found is None:
        raise InputError(
            tr(
                "{where} lacks the columns it needs (it has {value}).",
                where=where,
                value=", ".join(table.header)[:200] or tr("no header"),
            ),
            tr("Give it the columns file,x,y,width,height or file,xmin,ymin,xmax,ymax."),
        )
    columns, by_size = found
    index = NameIndex(photos, root)
    keys: dict[str, int] = {}
    unknown: list[str] = []
    _check_unit(table, columns, where)
    for row, (fields, line) in enumerate(zip(table.rows, table.lines, strict=True)):
        place = tr("{where}, row {index} (line {line})", where=where, index=row, line=line)
        part = rectangle([fields[at] for at in columns], by_size, place)
        photo = index.find(fields[file_at])
        if photo is None:
            unknown.append(fields[file_at])
            continue
        key = part_key(photos[photo], part)
        if key in keys:
            raise InputError(
                tr("{place} is the same as row {keys}.", place=place, keys=keys[key]), tr("Remove one of them.")
            )
        keys[key] = row
    if not table.rows:
        raise InputError(tr("{where} is empty.", where=where), tr("It must have one row for each rectangle."))
    return PartTable(tuple(keys), tuple(unknown))


def rectangle_columns(header: tuple[str, ...]) -> tuple[list[int], bool] | None:
    """Where a table has its rectangles, and whether by width and height; None where it has none."""
    for kinds, by_size in (((*_STARTS, *_SIDES), True), ((*_CORNERS, *_ENDS), False)):
        columns = [at for at in (tables.column(header, names) for names in kinds) if at is not None]
        if len(columns) == 4:
            return columns, by_size
    return None


def _check_unit(table: tables.Table, columns: list[int], where: str) -> None:
    """Raise `InputError` where all rectangles are given as shares of the photo."""
    try:
        values = [float(row[at]) for row in table.rows for at in columns]
    except ValueError:
        return  # the row is named later
    if values and max(values) <= 1.0 and not all(value.is_integer() for value in values):
        raise InputError(
            tr("{where} holds numbers from 0 to 1, shares of the photo.", where=where),
            tr("Give the rectangles in pixels: multiply by the width and height of each photo."),
        )


def rectangle(texts: list[str], by_size: bool, place: str) -> Part:
    """The part that four fields of a table mean; raises `InputError`, which begins with ``place``."""
    try:
        a, b, c, d = (float(text) for text in texts)
        if not all(abs(number) < 1e8 for number in (a, b, c, d)):
            raise ValueError
    except ValueError:
        raise InputError(
            tr("{place}: {value} are not four numbers.", place=place, value=repr(", ".join(texts)[:60])),
            tr("Correct that line."),
        ) from None
    right, bottom = (a + c, b + d) if by_size else (c, d)
    x, y = max(0, math.floor(a)), max(0, math.floor(b))
    part = Part(x, y, math.ceil(right) - x, math.ceil(bottom) - y)
    if part.width < 1 or part.height < 1:
        raise InputError(tr("{place}: the rectangle has no area.", place=place), tr("Correct that line."))
    return part
