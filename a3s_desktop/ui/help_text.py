"""Help pages: small marked-up text files of each language, made into HTML with the user's own keys in them.

A page knows ``# heading``, ``## heading``, ``- list``, ``1. list``, paragraphs (each one line), ``**strong**``,
``*emphasis*``, ``[text](page)``, and what the program fills in: ``{key:action}`` (its main key), ``{answers}``,
``{group:prefix}`` (a table of actions) and ``{keytable}`` (all of them).
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from a3s_desktop.actions import ACTIONS, ActionSpec, by_id, grouped
from a3s_desktop.i18n import language, tr
from a3s_desktop.resources import resource
from a3s_desktop.ui.theme import SPACE_2, SPACE_4, TYPE_SCALE, Tokens

PAGES = ("first-steps", "answers", "keys", "compare", "clusters", "map", "export", "trouble")
KeysOf = Callable[[str], Sequence[str]]
_INLINE = (
    (re.compile(r"\*\*(.+?)\*\*"), r"<b>\1</b>"),
    (re.compile(r"\*(.+?)\*"), r"<i>\1</i>"),
    (re.compile(r"\[(.+?)\]\(([\w-]+)\)"), r'<a href="\2">\1</a>'),
)
_KEY = re.compile(r"\{key:([\w.]+)\}")
_BLOCK = re.compile(r"\{(answers|keytable|group:[\w.]+)\}")
_NUMBERED = re.compile(r"\d+\. ")


@dataclass(frozen=True, slots=True)
class Page:
    """One help page in the language in force: its name, title, and text without mark-up (for the search)."""

    name: str
    title: str
    source: str


def pages() -> tuple[Page, ...]:
    """All pages, in reading order; English where the language has none."""
    found = []
    for name in PAGES:
        path = resource("help", language(), f"{name}.md")
        if not path.is_file():
            path = resource("help", "en", f"{name}.md")
        source = path.read_text(encoding="utf-8")
        found.append(Page(name, source.partition("\n")[0].removeprefix("# ").strip(), source))
    return tuple(found)


def as_html(page: Page, keys: KeysOf, theme: Tokens, size: float) -> str:
    """A page as HTML for a text browser.

    Parameters
    ----------
    page : Page
    keys : callable
        Keys of an action id, as the user reads them.
    theme : Tokens
    size : float
        Size of running text in points.
    """
    parts: list[str] = []
    open_list = ""
    for line in page.source.splitlines():
        kind = "ul" if line.startswith("- ") else "ol" if _NUMBERED.match(line) else ""
        if open_list and kind != open_list:
            parts.append(f"</{open_list}>")
            open_list = ""
        if kind:
            if kind != open_list:
                parts.append(f"<{kind}>")
                open_list = kind
            text = line[2:] if kind == "ul" else _NUMBERED.sub("", line, count=1)
            parts.append(f"<li>{_inline(text, keys)}</li>")
        elif line.startswith("## "):
            parts.append(f"<h2>{_inline(line[3:], keys)}</h2>")
        elif line.startswith("# "):
            parts.append(f"<h1>{_inline(line[2:], keys)}</h1>")
        elif block := _BLOCK.fullmatch(line.strip()):
            parts.append(_block(block.group(1), keys))
        elif line.strip():
            parts.append(f"<p>{_inline(line, keys)}</p>")
    if open_list:
        parts.append(f"</{open_list}>")
    return f"<html><head><style>{_style(theme, size)}</style></head><body>{''.join(parts)}</body></html>"


def plain(page: Page, keys: KeysOf) -> str:
    """The words of a page, for the search."""
    text = re.sub(r"<style>.*?</style>|<[^>]+>", " ", as_html(page, keys, _NO_THEME, 10.0))
    return html.unescape(re.sub(r"\s+", " ", text))


def _inline(text: str, keys: KeysOf) -> str:
    result = html.escape(text, quote=False)
    for pattern, replacement in _INLINE:
        result = pattern.sub(replacement, result)
    return _KEY.sub(lambda found: _caps(keys(found.group(1))[:1]), result)


def _caps(keys: Sequence[str]) -> str:
    if not keys:
        return f"<i>{html.escape(tr('no key'))}</i>"
    return " ".join(f'<span class="key">&nbsp;{html.escape(key)}&nbsp;</span>' for key in keys)


def _block(name: str, keys: KeysOf) -> str:
    if name == "answers":
        return _table([spec for spec in ACTIONS if spec.id.startswith("answer.")], keys)
    if name.startswith("group:"):
        prefix = name.removeprefix("group:") + "."
        chosen = [spec for spec in ACTIONS if spec.id.startswith(prefix)]
        return _table(chosen, keys) if chosen else ""
    parts = []
    for title, specs in grouped():
        with_keys = [spec for spec in specs if keys(spec.id)]
        if with_keys:
            parts.append(f"<h3>{html.escape(tr(title))}</h3>{_table(with_keys, keys)}")
    return "".join(parts)


def _table(specs: Sequence[ActionSpec], keys: KeysOf) -> str:
    rows = []
    for spec in specs:
        tip = f'<br><span class="tip">{html.escape(tr(spec.tip))}</span>' if spec.tip else ""
        name = html.escape(tr(spec.text).rstrip("…"))
        rows.append(f'<tr><td class="keys">{_caps(keys(spec.id))}</td><td>{name}{tip}</td></tr>')
    return f'<table cellspacing="0" cellpadding="{SPACE_2 - 2}" width="100%">{"".join(rows)}</table>'


def _style(theme: Tokens, size: float) -> str:
    return (
        f"body {{ font-size: {size:.1f}pt; color: {theme.text}; }}"
        f"h1 {{ font-size: {size * TYPE_SCALE['title']:.1f}pt; font-weight: 600; margin-bottom: {SPACE_2}px; }}"
        f"h2 {{ font-size: {size * TYPE_SCALE['heading']:.1f}pt; font-weight: 600;"
        f" margin-top: {SPACE_4 + 4}px; margin-bottom: {SPACE_2 - 4}px; }}"
        f"h3 {{ font-size: {size:.1f}pt; color: {theme.muted}; margin-top: {SPACE_4}px; margin-bottom: 2px; }}"
        f"p {{ margin-top: 2px; margin-bottom: {SPACE_2}px; line-height: 140%; }}"
        f"li {{ margin-bottom: {SPACE_2 - 2}px; line-height: 140%; }}"
        f"a {{ color: {theme.accent}; }}"
        f".key {{ background-color: {theme.pressed}; color: {theme.text}; font-weight: 600; }}"
        f".tip {{ color: {theme.muted}; }}"
        "td.keys { white-space: nowrap; width: 170px; }"
    )


def known_actions(page: Page) -> tuple[set[str], set[str]]:
    """Actions that a page names, and those among them that the table does not know (for tests)."""
    named = set(_KEY.findall(page.source))
    return named, named - set(by_id())


_NO_THEME = Tokens(**dict.fromkeys((field for field in Tokens.__dataclass_fields__), ""))
