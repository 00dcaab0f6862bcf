"""The clusters as files for other programs.

CSV: UTF-8, columns ``path,cluster,name,status,confidence``, one row per image, in item order. Two rules keep
spreadsheet programs from taking text for a formula, and both can be undone when the file is read back
(`names.NameIndex`, `plain_name`):

* a *path* that begins like a formula (``=``, ``+``, ``-``, ``@``, a tab or line break) gets ``./`` in front: it still
  leads to the same file;
* a *name* that begins like one, after any number of apostrophes, gets one apostrophe in front, and another behind
  each semicolon and tab in it that such a thing follows. Reading takes these off, so every name survives.

File names that are no valid Unicode (raw bytes on Linux) are written with ``\\udcxx`` for each such byte; so is a sign
that begins a formula where it follows a semicolon or tab within a path.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence, Set
from pathlib import Path
from typing import Any

import numpy.typing as npt

from a3s_desktop.core.types import FloatArray, IntArray
from a3s_desktop.storage import files
from a3s_desktop.storage.items import Items
from a3s_desktop.storage.names import as_bytes, export_form

CONFIRMED, AUTOMATIC, JUNK = "confirmed", "automatic", "junk"
_FORMULA = (
    "=+\\-@\t\r\n\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}"
)
_LIKE_FORMULA = re.compile(f"'*[{_FORMULA}]")
# Also behind a separator of other countries: a spreadsheet that splits there does not see the quotation marks.
_FORMULA_IN_NAME = re.compile(f"(^|[;\t][\\s\"]*)('*[{_FORMULA}])")
_FORMULA_IN_PATH = re.compile(f"([;\\t][\\s\"']*)([{_FORMULA}])")
_SAFE_IN_NAME = re.compile(f"(^|[;\t][\\s\"]*)'('*[{_FORMULA}])")
_QUOTED = re.compile(r"[\",;\t\r\n']|^\s|\s$")
_CHUNK = 4096


BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""What Excel knows UTF-8 by when a file is opened with a double click; many other programs take it for a letter."""


def plain_name(text: str) -> str:
    """A cluster's name from a CSV export, as it was before."""
    return _SAFE_IN_NAME.sub(r"\1\2", text)


def safe_name(text: str) -> str:
    """A cluster's name for a CSV export; inverse of `plain_name`."""
    return _FORMULA_IN_NAME.sub(r"\1'\2", text)


def safe_path(path: str) -> str:
    """A relative path for a CSV export."""
    text = _FORMULA_IN_PATH.sub(lambda found: found[1] + as_bytes(found[2]), export_form(path))
    return f"./{text}" if _LIKE_FORMULA.match(text) else text


def export_csv(
    out: Path,
    items: Items,
    labels: IntArray,
    names: Mapping[int, str],
    confirmed: Sequence[bool] | npt.NDArray[Any],
    overwrite: bool = False,
    junk: Collection[int] = (),
    confidence: FloatArray | None = None,
    excel: bool = False,
) -> None:
    """Write the clusters as CSV, atomically; see the module's description for the rules.

    Parameters
    ----------
    labels : int32, shape (N,)
        Cluster of each item.
    names : mapping
        Name of each cluster that has one.
    confirmed : bool, shape (N,)
        Items that an answer ties to their cluster; the others are "automatic".
    overwrite : bool
        Whether an existing file may be replaced.
    junk : collection of int
        Items that left the clustering: their status is "junk", whatever else is known of them.
    confidence : float32, shape (N,), optional
        1 (sure) to 0; empty in the file where it is not known.
    excel : bool
        Begin with `BYTE_ORDER_MARK`.

    Raises
    ------
    StorageFailedError
        A file is there already, or the disk refused; nothing was changed.
    """
    with files.atomic_file(out, overwrite) as file:
        files.write_all(file, (BYTE_ORDER_MARK if excel else b"") + b"path,cluster,name,status,confidence\n")
        for start in range(0, len(items), _CHUNK):
            rows = [
                ",".join((field(safe_path(path)), str(cluster), field(safe_name(name)), status, _decimal(sure)))
                for path, cluster, name, status, sure in _rows(items, labels, names, confirmed, start, junk, confidence)
            ]
            files.write_all(file, ("\n".join(rows) + "\n").encode("utf-8", "backslashreplace"))


def export_json(
    out: Path,
    items: Items,
    labels: IntArray,
    names: Mapping[int, str],
    confirmed: Sequence[bool] | npt.NDArray[Any],
    overwrite: bool = False,
    junk: Collection[int] = (),
    confidence: FloatArray | None = None,
) -> None:
    """Write the clusters as JSON (ASCII; every path and name survives as it is), atomically; see `export_csv`.

    ``{"format": "a3s-clusters", "version": 1, "items": [{"path", "cluster", "name", "status",
    "confidence"}, ...]}``
    """
    with files.atomic_file(out, overwrite) as file:
        files.write_all(file, b'{"format": "a3s-clusters", "version": 1, "items": [\n')
        for start in range(0, len(items), _CHUNK):
            rows = [
                json.dumps({"path": path, "cluster": cluster, "name": name, "status": status, "confidence": sure})
                for path, cluster, name, status, sure in _rows(items, labels, names, confirmed, start, junk, confidence)
            ]
            comma = ",\n" if start + _CHUNK < len(items) else "\n"
            files.write_all(file, (",\n".join(rows) + comma).encode("ascii"))
        files.write_all(file, b"]}\n")


def _rows(
    items: Items,
    labels: IntArray,
    names: Mapping[int, str],
    confirmed: Sequence[bool] | npt.NDArray[Any],
    start: int,
    junk: Collection[int],
    confidence: FloatArray | None,
) -> list[tuple[str, int, str, str, float | None]]:
    stop = min(start + _CHUNK, len(items))
    away = junk if isinstance(junk, Set) else set(junk)
    return [
        (
            items.paths[i],
            int(labels[i]),
            names.get(int(labels[i]), ""),
            JUNK if i in away else CONFIRMED if confirmed[i] else AUTOMATIC,
            None if confidence is None else round(float(confidence[i]), 3),
        )
        for i in range(start, stop)
    ]


def _decimal(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def field(text: str) -> str:
    """A field, quoted where any usual separator, a quotation mark, a line break or a blank at an end is in it."""
    return '"' + text.replace('"', '""') + '"' if _QUOTED.search(text) else text
