"""The pages for people: Markdown of ``docs`` as HTML with pictures of the program, and the card of the keys as PDF."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from html import escape
from pathlib import Path

from bundle.versions import ROOT, version

PAGES = ("guide", "it", "upgrade")
PICTURE_WIDTH = 1100
COLUMNS = 4

STYLE = """
body { font: 16px/1.55 system-ui, sans-serif; max-width: 46em; margin: 2em auto; padding: 0 1.2em; color: #1d2330; }
h1, h2, h3 { line-height: 1.25; } h2 { margin-top: 2.2em; } a { color: #2f47c8; }
img { max-width: 100%; border: 1px solid #cdd3e0; border-radius: 8px; }
table { border-collapse: collapse; width: 100%; } td, th { border: 1px solid #cdd3e0; padding: .35em .6em; }
th { text-align: left; background: #f1f3f9; } code { background: #f1f3f9; padding: .1em .3em; border-radius: 4px; }
pre { background: #f1f3f9; padding: .8em; border-radius: 8px; overflow-x: auto; } pre code { padding: 0; }
"""


def write_pages(folder: Path, shots: Path) -> None:
    """Write all pages.

    Parameters
    ----------
    folder : Path
        Of the pages; made where it is not there.
    shots : Path
        Where `a3s-desktop --self-test` left its pictures.
    """
    from markdown_it import MarkdownIt

    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    markdown = MarkdownIt("commonmark").enable("table")
    for name in PAGES:
        text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8").replace("{version}", version())
        title = text.partition("\n")[0].lstrip("# ")
        body = markdown.render(text).replace('.md"', '.html"')
        page = f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        page += f"<style>{STYLE}</style></head><body>\n{body}</body></html>\n"
        (folder / f"{name}.html").write_text(page, encoding="utf-8", newline="\n")
    _pictures(folder / "pictures", shots)
    for language in ("en", "de"):
        write_card(folder / f"keys-{language}.pdf", language)


def _pictures(folder: Path, shots: Path) -> None:
    from PIL import Image

    for path in sorted(shots.glob("*.png")):
        picture = Image.open(path).convert("RGB")
        picture.thumbnail((PICTURE_WIDTH, PICTURE_WIDTH))
        picture.save(folder / f"{path.stem}.webp", quality=80, method=6)


def write_card(path: Path, language: str = "en") -> None:
    """The keys on one page A4, from the table of actions."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtCore import QMarginsF, QSizeF, QUuid
    from PySide6.QtGui import QFont, QGuiApplication, QPageLayout, QPageSize, QPainter, QPdfWriter, QTextDocument

    from a3s_desktop import i18n
    from a3s_desktop.resources import resource

    app = QGuiApplication.instance() or QGuiApplication([])
    i18n.use(language, resource("locale"))
    writer = QPdfWriter(str(path))
    writer.setTitle("A3S Desktop")
    writer.setCreator("A3S Desktop")
    writer.setDocumentId(QUuid.createUuidV5(QUuid(), f"a3s-desktop keys {version()} {language}".encode()))
    writer.setPageLayout(
        QPageLayout(QPageSize(QPageSize.PageSizeId.A4), QPageLayout.Orientation.Landscape, QMarginsF(10, 9, 10, 9))
    )
    writer.setResolution(1200)
    document = QTextDocument()
    document.documentLayout().setPaintDevice(writer)
    size = writer.pageLayout().paintRectPixels(writer.resolution()).size()
    document.setDocumentMargin(0)
    for points in (15.0, 14.0, 13.0, 12.0, 11.0, 10.0, 9.0, 8.0, 7.0):  # the largest letters that fit on one page
        font = QFont("DejaVu Sans")
        font.setPointSizeF(points)
        document.setDefaultFont(font)
        document.setHtml(_card_html())
        document.setPageSize(QSizeF(size.width(), 10 * size.height()))
        if document.size().height() <= size.height():
            break
    else:
        raise ValueError("The keys do not fit on one page.")
    painter = QPainter(writer)
    document.drawContents(painter)
    painter.end()
    i18n.use("en", resource("locale"))
    _without_time(path)
    del app


def _without_time(path: Path) -> None:
    """Put the build's time in the place of the clock's, so that the same source gives the same file."""
    when = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), UTC)
    data = path.read_bytes()
    data = re.sub(rb"D:\d{14}[+-]\d\d'\d\d'", when.strftime("D:%Y%m%d%H%M%S+00'00'").encode(), data)
    data = re.sub(rb"D:\d{14}Z", when.strftime("D:%Y%m%d%H%M%SZ").encode(), data)
    iso = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"
    path.write_bytes(re.sub(iso, when.strftime("%Y-%m-%dT%H:%M:%S").encode(), data))


def _card_html() -> str:
    from a3s_desktop.actions import ActionSpec, Scope, grouped
    from a3s_desktop.i18n import tr
    from a3s_desktop.ui.shortcuts import native_text

    rows: list[tuple[bool, str]] = []  # whether it is a heading, HTML
    groups: list[tuple[str, list[ActionSpec]]] = []
    for title, specs in grouped():
        # The same keys mean something else while a sample is checked.
        groups.append((tr(title), [spec for spec in specs if spec.scope is not Scope.AUDIT]))
        sample = [spec for spec in specs if spec.scope is Scope.AUDIT]
        if sample:
            groups.append((tr("Sample check"), sample))
    for title, specs in groups:
        bound = [spec for spec in specs if spec.keys]
        if bound:
            rows.append((True, f'<tr><td colspan="2" bgcolor="#e4e8f6"><b>{escape(title)}</b></td></tr>'))
        for spec in bound:
            keys = "&nbsp; ".join(f"<b>{escape(native_text(key))}</b>" for key in spec.keys[:2])
            rows.append((False, f"<tr><td>{keys}&nbsp;&nbsp;</td><td>{escape(tr(spec.text).rstrip('…'))}</td></tr>"))
    height = -(-len(rows) // COLUMNS)
    columns: list[list[str]] = [[]]
    for heading, row in rows:
        if len(columns[-1]) >= height - heading and len(columns) < COLUMNS:  # no heading at the foot of a column
            columns.append([])
        columns[-1].append(row)
    table = '<table cellspacing="0" cellpadding="2" width="100%">{}</table>'
    cells = "".join(f'<td width="{100 // COLUMNS}%">{table.format("".join(column))}</td>' for column in columns)
    return (
        f'<h3>A3S Desktop {version()}</h3><table width="100%" cellspacing="0" cellpadding="6"><tr>{cells}</tr></table>'
    )
