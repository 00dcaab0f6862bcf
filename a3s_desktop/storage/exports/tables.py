"""Tables: the clusters as Parquet, the constraints as CSV (`storage.export` writes the clusters as CSV and JSON)."""

from __future__ import annotations

import datetime
import io
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from a3s_desktop.errors import InputError
from a3s_desktop.i18n import tr
from a3s_desktop.storage import export, files
from a3s_desktop.storage.exports.state import ExportOptions, ExportState, Written
from a3s_desktop.storage.names import export_form
from a3s_desktop.task import Task

_CHUNK = 4096


def write_csv(state: ExportState, out: Path, overwrite: bool, options: ExportOptions, _task: Task) -> Written:
    """One row for each image."""
    return _write(partial(export.export_csv, excel=options.excel), state, out, overwrite)


def write_json(state: ExportState, out: Path, overwrite: bool, _options: ExportOptions, _task: Task) -> Written:
    """The same for programs."""
    return _write(export.export_json, state, out, overwrite)


def _write(writer: Callable[..., None], state: ExportState, out: Path, overwrite: bool) -> Written:
    junk = frozenset(state.junk().tolist())
    writer(out, state.items, state.labels, state.names, state.confirmed, overwrite, junk, state.confidence)
    return Written(out, len(state.items))


def write_parquet(state: ExportState, out: Path, overwrite: bool, _options: ExportOptions, _task: Task) -> Written:
    """The same as a Parquet table: path, cluster, name, status, confidence.

    Raises
    ------
    InputError
        pyarrow is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InputError(
            tr("Parquet can be written only with the package pyarrow."),
            tr("Install it with: pip install a3s-desktop[parquet], or choose CSV or JSON."),
        ) from None
    labels = state.labels.tolist()
    status = np.where(state.is_junk, export.JUNK, np.where(state.confirmed, export.CONFIRMED, export.AUTOMATIC))
    table = pyarrow.table(
        {
            "path": pyarrow.array([export_form(path) for path in state.items.paths], pyarrow.string()),
            "cluster": pyarrow.array(state.labels, pyarrow.int32()),
            "name": pyarrow.array([state.names.get(label, "") for label in labels], pyarrow.string()),
            "status": pyarrow.array(status.tolist(), pyarrow.string()),
            "confidence": pyarrow.array(state.confidence, pyarrow.float32())
            if state.confidence is not None
            else pyarrow.nulls(len(labels), pyarrow.float32()),
        }
    )
    memory = io.BytesIO()
    pyarrow.parquet.write_table(table, memory)
    with files.atomic_file(out, overwrite) as file:
        files.write_all(file, memory.getbuffer())
    return Written(out, len(labels))


def write_constraints(state: ExportState, out: Path, overwrite: bool, options: ExportOptions, task: Task) -> Written:
    """Everything that was said of two images: left, right, answer, when (UTC), author, how.

    Paths and authors are kept from being taken for formulas as in `storage.export`. Relations that only follow from
    these rows are not written, they would be more than anyone can read.
    """
    paths = state.items.paths
    with files.atomic_file(out, overwrite) as file:
        files.write_all(file, export.BYTE_ORDER_MARK if options.excel else b"")
        files.write_all(file, b"left,right,answer,when,author,how\n")
        for start in range(0, len(state.links), _CHUNK):
            task.step(start / len(state.links))
            rows = [
                ",".join(
                    (
                        export.field(export.safe_path(paths[link.left])),
                        export.field(export.safe_path(paths[link.right])),
                        "same" if link.same else "different",
                        _utc(link.when),
                        export.field(export.safe_name(link.author)),
                        link.how,
                    )
                )
                for link in state.links[start : start + _CHUNK]
            ]
            files.write_all(file, ("\n".join(rows) + "\n").encode("utf-8", "backslashreplace"))
    return Written(out, len(state.links))


def _utc(seconds: float) -> str:
    try:
        return datetime.datetime.fromtimestamp(seconds, datetime.UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):  # a clock that was set to nonsense
        return ""
