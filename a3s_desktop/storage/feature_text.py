"""Features in text files: an optional header, an optional column of names, numbers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from a3s_desktop.errors import InputError
from a3s_desktop.i18n import tr
from a3s_desktop.storage import files, tables
from a3s_desktop.task import Task

TextFeatures = tuple[npt.NDArray[np.float32], tuple[str, ...] | None, npt.NDArray[np.int64], tuple[str, ...]]


def read(path: Path, task: Task) -> TextFeatures:
    """Values (N, D), names (where a column is no number), lines and remarks of a ``.csv`` or ``.tsv``.

    The lines are those of the file at which each row ends, from 1; the remarks say which columns were left out.

    Raises
    ------
    InputError
        The file cannot be read, is empty, or has a field that is no number.
    """
    text = tables.read_text(path)
    delimiter = tables.delimiter_of(path, text)
    rows: list[npt.NDArray[np.float32]] = []
    names: list[str] = []
    lines: list[int] = []
    header: list[str] | None = None
    layout: _Layout | None = None
    for line, fields in tables.read_rows(path, text, delimiter):
        if len(lines) % 256 == 0:
            task.check()
        if layout is None:
            if header is None and _is_header(fields):
                header = fields
                continue
            layout = _Layout.guess(path, header, fields, delimiter == ";")
        row, name = layout.parse(fields, len(lines), line)
        rows.append(row)
        lines.append(line)
        if name is not None:
            names.append(name)
    if layout is None:
        raise InputError(
            tr("{path} is empty.", path=files.show(path)), tr("It must have one row of numbers per image.")
        )
    return np.stack(rows), tuple(names) if names else None, np.array(lines, np.int64), layout.remarks()


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _is_header(fields: list[str]) -> bool:
    """Whether a first row holds titles rather than values.

    It does where two or more fields are neither numbers nor blank, or all are so, or the first has a title that is used
    for file names, or the fields count 0, 1, 2, ... (titles that pandas makes; the first may be blank or a word).
    """
    words = sum(not _is_number(field.replace(",", ".")) for field in fields if field.strip())
    if words >= 2 or words == len(fields) or fields[0].strip().lower() in tables.FILE_COLUMNS:
        return True
    for start in (0, 1):
        rest = fields[start:]
        if len(rest) > 1 and [field.strip() for field in rest] == [str(at) for at in range(len(rest))]:
            return True
    return False


@dataclass(frozen=True, slots=True)
class _Layout:
    """Which columns hold what, and how numbers are written."""

    path: Path
    width: int
    name_at: int | None
    left_out: tuple[int, ...]  # pandas' own row numbers, labels
    comma: bool
    header: tuple[str, ...]

    @classmethod
    def guess(cls, path: Path, header: list[str] | None, fields: list[str], comma: bool) -> _Layout:
        """The layout by the header and the first row of values."""
        texts = [field.replace(",", ".") if comma else field for field in fields]
        name_at: int | None = None
        left_out: list[int] = []
        if header is not None and len(header) == len(fields):
            name_at = tables.column(tuple(field.strip().lower() for field in header), tables.FILE_COLUMNS)
            if not header[0].strip() and name_at != 0 and _is_number(texts[0]):
                left_out.append(0)
            left_out += [
                at
                for at, field in enumerate(header)
                if field.strip().lower() in tables.LABEL_COLUMNS and at != name_at and at not in left_out
            ]
        if name_at is None:
            name_at = next(
                (at for at, text in enumerate(texts) if text.strip() and not _is_number(text) and at not in left_out),
                None,
            )
        if len(fields) - (name_at is not None) - len(left_out) < 1:
            raise InputError(
                tr("{path} has no column of numbers.", path=files.show(path)),
                tr("It must have one row of numbers per image."),
            )
        return cls(path, len(fields), name_at, tuple(left_out), comma, tuple(header or ()))

    def remarks(self) -> tuple[str, ...]:
        """What was left out that looks like numbers of the user's."""
        titles = [self.header[at] for at in self.left_out if self.header[at].strip()]
        return tuple(
            tr(
                "{path}: the column {title} was not taken for a feature.",
                path=files.show(self.path),
                title=files.show(title),
            )
            for title in titles
        )

    def parse(self, fields: list[str], index: int, line: int) -> tuple[npt.NDArray[np.float32], str | None]:
        """The numbers and the name of one row."""
        where = f"{files.show(self.path)}, row {index} (line {line})"
        if len(fields) != self.width:
            raise InputError(
                tr(
                    "{where} has {count} fields where the first row has {width}.",
                    where=where,
                    count=len(fields),
                    width=self.width,
                ),
                tr("Correct that line."),
            )
        columns = [at for at in range(self.width) if at != self.name_at and at not in self.left_out]
        numbers = [fields[at] for at in columns] if len(columns) < self.width else fields
        if self.comma:
            numbers = [number.replace(",", ".") for number in numbers]
        try:
            with np.errstate(over="ignore"):
                values = np.array([float(number) for number in numbers], np.float64).astype(np.float32)
        except ValueError:
            at = columns[next(at for at, number in enumerate(numbers) if not _is_number(number))]
            title = f" ({self.header[at][:40]!r})" if at < len(self.header) else ""
            raise InputError(
                tr(
                    "{where}, column {at}{title}: {fields} is not a number.",
                    where=where,
                    at=at,
                    title=title,
                    fields=repr(fields[at][:40]),
                ),
                tr("Correct that field."),
            ) from None
        return values, None if self.name_at is None else fields[self.name_at]
