"""The result as one page that opens anywhere: pictures of each cluster, the curve, counts, settings.

Everything is inside the file: no scripts, nothing from outside, which its Content-Security-Policy also forbids. Every
text that comes from the project is escaped; pictures are small JPEGs made here, never bytes of the user's files.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import html
import io
import os
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from a3s_desktop import __version__
from a3s_desktop.core.types import IntArray
from a3s_desktop.i18n import language, number, percent, tr, trn
from a3s_desktop.storage import files
from a3s_desktop.storage.exports import report_curves
from a3s_desktop.storage.exports.report_style import STYLE
from a3s_desktop.storage.exports.state import ExportOptions, ExportState, TargetExistsError, Written
from a3s_desktop.storage.picture import PictureError, read_picture
from a3s_desktop.task import Task

BOX = 128
"""Largest side of a picture, in pixels."""

MOST_PICTURES = 3000
MOST_BYTES = 24_000_000
"""Of all pictures together; beyond, clusters are listed without."""

EACH = 12
"""Most pictures of a cluster."""

MOST_LISTED = 5000
"""Clusters that are listed; the CSV has all."""

_QUALITY = 72


def write_report(state: ExportState, out: Path, overwrite: bool, _options: ExportOptions, task: Task) -> Written:
    """Write the report as one HTML file.

    Raises
    ------
    TargetExistsError, StorageFailedError, Cancelled
    """
    if not overwrite and os.path.lexists(files.long_path(out)):
        raise TargetExistsError(out)
    task.plan(1)
    task.stage(tr("Writing the report"))
    left_out: list[str] = []
    with files.atomic_file(out, overwrite) as file:
        _say(file, _head(state))
        _say(file, _summary(state))
        _say(file, report_curves.curves(state))
        for part in _clusters(state, task, left_out):
            _say(file, part)
        _say(file, "</main></body></html>\n")
    return Written(out, len(state.items), tuple(left_out))


def escaped(text: str) -> str:
    """Text that stays text in HTML, whatever is in it; what turns the direction of writing becomes visible."""
    shown = "".join(
        c if c == " " or c.isprintable() else "\ufffd" if unicodedata.category(c) == "Cs" else f"\\u{ord(c):04x}"
        for c in text
    )
    return html.escape(shown, quote=True)


def _say(file: BinaryIO, text: str) -> None:
    files.write_all(file, text.encode("utf-8", "replace"))


def _head(state: ExportState) -> str:
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    when = datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M")
    made = tr("Made by A3S Desktop {version} on {when}", version=__version__, when=when)
    title = escaped(state.name)
    return (
        f'<!DOCTYPE html>\n<html lang="{escaped(language())}"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{html.escape(policy, quote=True)}">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{title}</title><style>{STYLE}</style></head><body><main>\n"
        f'<h1>{title}</h1><p class="soft">{escaped(made)}</p>\n'
    )


def _summary(state: ExportState) -> str:
    clusters = [members for _, members in state.clusters() if len(members) > 1]
    singles = len(state.items) - len(state.junk()) - sum(len(members) for members in clusters)
    confirmed = int((state.confirmed & ~state.is_junk).sum())
    figures = (
        (number(len(state.items)), tr("images")),
        (number(len(clusters)), tr("clusters")),
        (number(singles), tr("single images")),
        (number(len(state.junk())), tr("junk")),
        (number(len(state.names)), tr("named clusters")),
        (number(len(state.times)), tr("answers")),
        (percent(confirmed / max(1, len(state.items))), tr("images confirmed")),
    )
    cards = "".join(f"<div><b>{escaped(value)}</b>{escaped(label)}</div>" for value, label in figures)
    rows = "".join(f"<tr><th>{escaped(name)}</th><td>{escaped(value)}</td></tr>" for name, value in state.facts)
    settings = f"<h2>{escaped(tr('Settings'))}</h2><table>{rows}</table>" if rows else ""
    return f'<div class="facts">{cards}</div>\n{settings}\n'


@dataclass(slots=True)
class _Budget:
    pictures: int = 0
    bytes: int = 0

    def is_spent(self) -> bool:
        return self.pictures >= MOST_PICTURES or self.bytes >= MOST_BYTES


def _clusters(state: ExportState, task: Task, left_out: list[str]) -> Iterator[str]:
    clusters = state.clusters()
    each = int(np.clip(MOST_PICTURES // max(1, len(clusters)), 1, EACH))
    budget = _Budget()
    yield f"<h2>{escaped(tr('Clusters'))}</h2>\n"
    for at, (cluster, members) in enumerate(clusters[:MOST_LISTED]):
        task.step(at / len(clusters))
        yield _cluster(state, cluster, members, each, budget, task, left_out)
    if len(clusters) > MOST_LISTED:
        more = trn("{n} more cluster is not shown.", "{n} more clusters are not shown.", len(clusters) - MOST_LISTED)
        yield f'<p class="soft">{escaped(more)}</p>\n'


def _cluster(
    state: ExportState, cluster: int, members: IntArray, each: int, budget: _Budget, task: Task, left_out: list[str]
) -> str:
    name = state.names.get(cluster, "")
    title = name or tr("Cluster {cluster}", cluster=cluster)
    notes = [trn("{n} image", "{n} images", len(members))]
    if name:
        notes.append(tr("cluster {number}", number=cluster))
    sure = int(state.confirmed[members].sum())
    notes.append(trn("{n} confirmed", "{n} confirmed", sure))
    if cluster in state.finished:
        notes.append(tr("finished"))
    pictures = "" if budget.is_spent() else "".join(_pictures(state, members, each, budget, task, left_out))
    return (
        f'<section class="cluster"><h3>{escaped(title)}</h3><p class="soft">{escaped(" · ".join(notes))}</p>'
        f'<div class="row">{pictures}</div></section>\n'
    )


def _pictures(
    state: ExportState, members: IntArray, each: int, budget: _Budget, task: Task, left_out: list[str]
) -> Iterator[str]:
    # Spread over the members: neighbours in a folder are often frames of one moment.
    chosen = members[np.linspace(0, len(members) - 1, min(each, len(members))).round().astype(int)]
    for item in chosen.tolist():
        if budget.is_spent():
            return
        task.check()
        path = state.items.paths[item]
        budget.pictures += 1
        try:
            data = thumbnail(state.items.file(item))
        except PictureError as error:
            left_out.append(f"{path}: {error}")
            inner = f'<div class="none">{escaped(str(error))}</div>'
        else:
            budget.bytes += len(data)
            inner = f'<img alt="{escaped(path)}" src="data:image/jpeg;base64,{data.decode("ascii")}">'
        caption = f'<figcaption title="{escaped(path)}">{escaped(path)}</figcaption>'
        yield f'<figure><div class="pic">{inner}</div>{caption}</figure>'


def thumbnail(path: Path) -> bytes:
    """A small JPEG of an image, without any of its metadata, in base64. Raises `PictureError`."""
    from PIL import Image

    memory = io.BytesIO()
    picture = read_picture(path, (BOX, BOX))
    Image.fromarray(np.ascontiguousarray(picture.opaque())).save(memory, "JPEG", quality=_QUALITY)
    return base64.b64encode(memory.getvalue())
