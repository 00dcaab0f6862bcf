"""The benchmark's report: ``results.json``, ``results.md``, pictures, and ``index.html``, which opens offline."""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from a3s_desktop.session import benchmark_plots, benchmark_tables
from a3s_desktop.session.benchmark_summary import summarise
from a3s_desktop.session.benchmark_tables import Section, Table
from a3s_desktop.storage import files

RESULTS, TEXT, PAGE = "results.json", "results.md", "index.html"
_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 78rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #8886; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: .5rem 0 1rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid #8884; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
p.note { color: #777; margin: .2rem 0; }
img { max-width: 100%; height: auto; background: white; }
"""


@dataclass(frozen=True, slots=True)
class Picture:
    """A PNG of the report."""

    case: str
    name: str
    caption: str
    data: bytes


def save_results(out: Path, results: Mapping[str, Any]) -> None:
    """Write ``results.json`` alone. Raises `StorageFailedError`."""
    files.atomic_write_text(out / RESULTS, json.dumps(results, indent=1, allow_nan=False) + "\n")


def write_report(out: Path, results: Mapping[str, Any]) -> None:
    """Write the whole report into a folder, in place of one that is there.

    Parameters
    ----------
    out : Path
        An existing folder.
    results : mapping
        See `run_benchmark`; the summary is added to it in ``results.json``.

    Raises
    ------
    StorageFailedError
    """
    summary = summarise(results)
    save_results(out, {**results, "summary": summary})
    pictures = draw(results)
    for picture in pictures:
        files.atomic_write(out / picture.name, picture.data)
    sections = benchmark_tables.sections(results, summary)
    notes = [*results["notes"], *([] if benchmark_plots.available() else [benchmark_plots.MISSING])]
    files.atomic_write_text(out / TEXT, as_markdown(sections, notes, pictures))
    files.atomic_write_text(out / PAGE, as_html(sections, notes, pictures))


def draw(results: Mapping[str, Any]) -> list[Picture]:
    """All pictures; none where matplotlib is absent."""
    if not benchmark_plots.available():
        return []
    found = []
    for number, case in enumerate(results["cases"], 1):
        title = case["case"]
        stem = f"{number:02d}-" + (re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or "case")
        caption = "NMI and ARI against answers; line: mean over seeds, band: least to most."
        found.append(Picture(title, f"{stem}.png", caption, benchmark_plots.plot_case(results, title)))
        by_k = benchmark_plots.plot_cobra(results, title)
        if by_k is not None:
            caption = "COBRA by its number of super-instances k."
            found.append(Picture(title, f"{stem}-cobra-k.png", caption, by_k))
    return found


# ------------------------------------------------------------------------------------------------ Markdown


def as_markdown(sections: Sequence[Section], notes: Sequence[str], pictures: Sequence[Picture]) -> str:
    """The report as Markdown; pictures are beside it."""
    lines = ["# Benchmark", "", *(f"- {_mark(note)}" for note in notes), ""]
    for section in sections:
        lines += [f"## {_mark(section.title)}", ""]
        for text in section.text:
            lines += [_mark(text), ""]
        for picture in pictures:
            if picture.case == section.case:
                lines += [f"![{_mark(picture.caption)}]({picture.name})", ""]
        for table in section.tables:
            lines += _markdown_table(table)
    return "\n".join(lines)


def _markdown_table(table: Table) -> list[str]:
    lines = [f"**{_mark(table.title)}**", ""]
    lines += [
        "| " + " | ".join(map(_mark, table.header)) + " |",
        "|" + "|".join(["---", *["---:"] * (len(table.header) - 1)]) + "|",
    ]
    lines += ["| " + " | ".join(map(_mark, row)) + " |" for row in table.rows]
    return [*lines, "", *([_mark(table.note), ""] if table.note else [])]


def _mark(text: str) -> str:
    """Text that is neither markup nor the end of a cell."""
    plain = html.escape(" ".join(text.split()), quote=False)
    return re.sub(r"([\\`*_\[\]|])", r"\\\1", plain)


# ------------------------------------------------------------------------------------------------ HTML


def as_html(sections: Sequence[Section], notes: Sequence[str], pictures: Sequence[Picture]) -> str:
    """The report as one file: pictures are inside, nothing is fetched."""
    body = ["<h1>Benchmark</h1>", "<ul>", *(f"<li>{html.escape(note)}</li>" for note in notes), "</ul>"]
    for section in sections:
        body.append(f"<h2>{html.escape(section.title)}</h2>")
        body += [f"<p>{html.escape(text)}</p>" for text in section.text]
        for picture in pictures:
            if picture.case == section.case:
                caption = html.escape(picture.caption)
                data = base64.b64encode(picture.data).decode()
                alt = html.escape(f"{picture.case}: {picture.caption}")
                body.append(f'<figure><img alt="{alt}" src="data:image/png;base64,{data}">')
                body.append(f"<figcaption>{caption}</figcaption></figure>")
        body += [_html_table(table) for table in section.tables]
    head = (
        f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Benchmark</title>{_style()}'
    )
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n' + "\n".join(body) + "\n</body></html>\n"


def _style() -> str:
    return f"<style>{_STYLE}</style>"


def _html_table(table: Table) -> str:
    header = "".join(f'<th scope="col">{html.escape(cell)}</th>' for cell in table.header)
    rows = "\n".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    note = f'<p class="note">{html.escape(table.note)}</p>' if table.note else ""
    return (
        f'<div class="wide"><table><caption>{html.escape(table.title)}</caption><thead><tr>{header}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody></table></div>{note}"
    )
