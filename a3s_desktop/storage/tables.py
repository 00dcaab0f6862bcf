"""Small text tables: order files, label files, and how they and CSV features are read."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from a3s_desktop.errors import InputError
from a3s_desktop.i18n import number, tr
from a3s_desktop.storage import files
from a3s_desktop.strict_json import parse_json

FILE_COLUMNS = ("file", "path", "filename", "file_name", "filepath", "image", "name")
LABEL_COLUMNS = ("label", "class", "identity", "person", "individual", "cluster", "id")
_FIELD_LIMIT = 1 << 20
_MOST_FIELDS = 1_000_000  # of a row; features have thousands


@dataclass(frozen=True, slots=True)
class Table:
    """A table of text.

    Attributes
    ----------
    header : tuple of str
        Lower-cased; empty where the file has none.
    rows : tuple of tuple of str
    lines : tuple of int
        The 1-based line of the file at which each row ends.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]


def read_text(path: Path) -> str:
    """A text file: UTF-8 (other bytes kept as surrogates, as in file names) or UTF-16 with a mark, without the mark."""
    try:
        raw = files.long_path(path).read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16", "replace")
    return raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")


def unreadable(path: Path, error: OSError) -> InputError:
    """The `InputError` for a file that cannot be opened."""
    if isinstance(error, FileNotFoundError):
        return InputError(tr("There is no file {path}.", path=files.show(path)), tr("Check the path."))
    if isinstance(error, IsADirectoryError):
        return InputError(tr("{path} is a folder, not a file.", path=files.show(path)), tr("Choose the file itself."))
    if isinstance(error, PermissionError):
        return InputError(
            tr("There is no permission to read {path}.", path=files.show(path)), tr("Change the file's permissions.")
        )
    reason = error.strerror or type(error).__name__
    return InputError(
        tr("{path} cannot be read: {reason}.", path=files.show(path), reason=reason),
        tr("Check the file and its drive."),
    )


def delimiter_of(path: Path, text: str) -> str:
    """The separator of a table: tab for ``.tsv``, else the most frequent of ``, ; tab`` in the first line."""
    if path.suffix.lower() in (".tsv", ".tab"):
        return "\t"
    first = text[:65536].lstrip("\r\n").partition("\n")[0]
    counts = {mark: first.count(mark) for mark in ",;\t"}
    best = max(counts, key=lambda mark: counts[mark])
    return best if counts[best] else ","


def read_rows(path: Path, text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Line number (1-based, of the row's end) and fields of each row that is not blank."""
    old = csv.field_size_limit(_FIELD_LIMIT)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        while True:
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise InputError(
                    tr(
                        "{path}, line {line_num}: it is not a readable table ({error}).",
                        path=files.show(path),
                        line_num=reader.line_num,
                        error=error,
                    ),
                    tr("Check the quotation marks of that line."),
                ) from error
            if len(row) > _MOST_FIELDS:
                raise InputError(
                    tr(
                        "{path}, line {line_num}: it has more than {most} fields.",
                        path=files.show(path),
                        line_num=reader.line_num,
                        most=number(_MOST_FIELDS),
                    ),
                    tr("It must have one row of numbers per image."),
                )
            if row and not (len(row) == 1 and not row[0].strip()):
                yield reader.line_num, row
    finally:
        csv.field_size_limit(old)


def read_table(path: Path, known: tuple[str, ...]) -> Table:
    """A whole table; its first row is the header where it holds one of the ``known`` column names."""
    text = read_text(path)
    header: tuple[str, ...] = ()
    rows: list[tuple[str, ...]] = []
    lines: list[int] = []
    for line, row in read_rows(path, text, delimiter_of(path, text)):
        if not rows and not header and any(field.strip().lower() in known for field in row):
            header = tuple(field.strip().lower() for field in row)
            continue
        if header and len(row) != len(header):
            raise InputError(
                tr(
                    "{path}, row {count} (line {line}) has {count2} fields where the header has {count3}.",
                    path=files.show(path),
                    count=len(rows),
                    line=line,
                    count2=len(row),
                    count3=len(header),
                ),
                tr("Correct that line."),
            )
        rows.append(tuple(row))
        lines.append(line)
    return Table(header, tuple(rows), tuple(lines))


def column(header: tuple[str, ...], names: tuple[str, ...]) -> int | None:
    """Index of the first of ``names`` that the header has."""
    return next((header.index(name) for name in names if name in header), None)


def load_order(path: Path) -> tuple[str, ...]:
    """The images in the order of the feature rows, as an order file names them.

    ``.csv``/``.tsv`` with a column ``file`` (or the only or first column), ``.json`` (a list of strings; for names with
    line breaks), any other file: one path per line.

    Raises
    ------
    InputError
        The file cannot be read, is empty, or has an empty entry.
    """
    suffix = path.suffix.lower()
    if suffix == ".json":
        names = _json_list(path)
        places = [tr("entry {entry}", entry=index) for index in range(len(names))]
    elif suffix in (".csv", ".tsv", ".tab"):
        table = read_table(path, FILE_COLUMNS)
        at = column(table.header, FILE_COLUMNS) or 0
        names = [row[at] for row in table.rows]
        places = [tr("row {index} (line {line})", index=index, line=line) for index, line in enumerate(table.lines)]
    else:
        lines = [line.removesuffix("\r") for line in read_text(path).split("\n")]
        while lines and not lines[-1].strip():
            lines.pop()
        names, places = lines, [tr("line {line}", line=index + 1) for index in range(len(lines))]
    if not names:
        raise InputError(
            tr("The order file {path} is empty.", path=files.show(path)), tr("List one image per line, in row order.")
        )
    for name, place in zip(names, places, strict=True):
        if not name.strip():
            raise InputError(
                tr("The order file {path}, {place}: there is no file name.", path=files.show(path), place=place),
                tr("Fill in or remove that line."),
            )
    return tuple(names)


def _json_list(path: Path) -> list[str]:
    try:
        values = parse_json(read_text(path))
    except ValueError as error:
        raise InputError(
            tr("{path} is not valid JSON ({error}).", path=files.show(path), error=error),
            tr("Write a list of file names."),
        ) from error
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise InputError(
            tr("{path} is not a JSON list of file names.", path=files.show(path)), 'Write ["a.jpg", "b.jpg"].'
        )
    return values
