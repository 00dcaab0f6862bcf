"""Names that are known already, from a CSV or JSON file: which image is whom. Files are named, never opened."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from a3s_desktop.errors import InputError
from a3s_desktop.i18n import tr
from a3s_desktop.storage import files, tables
from a3s_desktop.storage.export import JUNK, plain_name
from a3s_desktop.storage.keys import part_key
from a3s_desktop.storage.names import NameIndex
from a3s_desktop.storage.parts import rectangle, rectangle_columns
from a3s_desktop.strict_json import parse_json

LARGEST = 400_000_000
_NAME_COLUMNS = ("label", "name", "identity", "individual", "person", "class", "cluster", "id")


@dataclass(frozen=True, slots=True)
class KnownLabel:
    """One row.

    Attributes
    ----------
    item : int
        The image; -1 where the file names none, or not one for certain.
    file : str
        As it stands in the file.
    name : str
        May be empty in an export of this program.
    group : str
        What rows without a name have in common; empty for none.
    junk : bool
    where : str
        "row 3 (line 4)", for messages.
    """

    item: int
    file: str
    name: str
    group: str
    junk: bool
    where: str


def load_known_labels(path: Path, paths: Sequence[str], root: str = "") -> tuple[KnownLabel, ...]:
    """The rows of a file, matched to images by relative path, else by base name or stem where only one fits.

    CSV/TSV: a column of files and one of names (``file,label``; without a header the first two); with the columns of a
    table of rectangles, the part of the photo is meant. An export of this
    program: rows without a name count by their cluster, junk is junk. JSON: such an export, an object ``{"file":
    "name"}``, or a list of objects with a file and a name. Rows without name, cluster and junk say nothing.

    Raises
    ------
    InputError
        The file cannot be read, or it has no such columns.
    """
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):  # a device may never end
            raise InputError(tr("{path} is no ordinary file.", path=files.show(path)))
        if found.st_size > LARGEST:
            raise InputError(tr("{path} is too large for a list of names.", path=files.show(path)))
    except OSError as error:
        raise tables.unreadable(path, error) from error
    rows = _json_rows(path) if path.suffix.lower() == ".json" else _table_rows(path)
    index = NameIndex(paths, root)
    labels = []
    for file, name, group, junk, where in rows:
        if name or group or junk:
            item = index.find(file)
            labels.append(KnownLabel(-1 if item is None else item, file, name, group, junk, where))
    if not labels:
        raise InputError(
            tr("{path} gives no image a name.", path=files.show(path)), tr("Give it the columns file,label.")
        )
    return tuple(labels)


_Row = tuple[str, str, str, bool, str]


def _table_rows(path: Path) -> Iterator[_Row]:
    table = tables.read_table(path, (*tables.FILE_COLUMNS, *_NAME_COLUMNS))
    header = table.header
    status_at = group_at = None
    if header:
        file_at = tables.column(header, tables.FILE_COLUMNS)
        name_at = tables.column(header, tuple(c for c in _NAME_COLUMNS if file_at is None or c != header[file_at]))
        if {"path", "cluster", "name", "status"} <= set(header):  # an export of this program
            name_at, group_at, status_at = header.index("name"), header.index("cluster"), header.index("status")
    else:
        file_at, name_at = (0, 1) if table.rows and len(table.rows[0]) >= 2 else (None, None)
    if file_at is None or name_at is None:
        raise InputError(
            tr("{path} has no columns of files and names.", path=files.show(path)),
            tr("Give it the columns file,label."),
        )
    boxes, by_size = rectangle_columns(header) or ([], False)
    least = max(file_at, name_at, *boxes)
    for at, row in enumerate(table.rows):
        where = tr("row {row} (line {line})", row=at + 1, line=table.lines[at])
        if len(row) <= least:
            raise InputError(tr("{path}, {where}: a field is missing.", path=files.show(path), where=where))
        file = row[file_at]
        if boxes and any(row[at].strip() for at in boxes):
            place = tr("{path}, {where}", path=files.show(path), where=where)
            file = part_key(plain_name(file), rectangle([row[at] for at in boxes], by_size, place))
        junk = status_at is not None and row[status_at] == JUNK
        group = row[group_at].strip() if group_at is not None else ""
        yield file, "" if junk else plain_name(row[name_at]).strip(), "" if junk else group, junk, where


def _json_rows(path: Path) -> Iterator[_Row]:
    try:
        values: Any = parse_json(tables.read_text(path))
    except ValueError as error:
        raise InputError(tr("{path} is not valid JSON ({error}).", path=files.show(path), error=error)) from error
    own = isinstance(values, dict) and values.get("format") == "a3s-clusters"
    if own:
        values = values.get("items")
    elif isinstance(values, dict):
        values = [{"file": file, "label": name} for file, name in values.items()]
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise InputError(tr("{path} is no list of files and names.", path=files.show(path)), 'Write {"a.jpg": "Anna"}.')
    for at, value in enumerate(values):
        where = tr("entry {entry}", entry=at + 1)
        file = next((value[key] for key in tables.FILE_COLUMNS if key in value), None)
        name = next((value[key] for key in (("name",) if own else _NAME_COLUMNS) if key in value), None)
        if name is not None and not isinstance(name, str | int):
            name = None
        if not isinstance(file, str) or name is None:
            raise InputError(tr("{path}, {where}: it has no file and name.", path=files.show(path), where=where))
        junk = own and value.get("status") == JUNK
        group = str(value.get("cluster", "")) if own and not junk else ""
        yield file, "" if junk else str(name).strip(), group, junk, where
