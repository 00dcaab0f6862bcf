"""The report: one file that needs nothing else, in which nothing of the project becomes markup."""

from __future__ import annotations

import base64
import hashlib
import html
import io
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from a3s_desktop.errors import Cancelled
from a3s_desktop.storage.exports import report
from a3s_desktop.storage.exports.formats import write_export
from a3s_desktop.storage.exports.report import escaped
from a3s_desktop.storage.exports.state import ExportState
from a3s_desktop.task import Task

State = Callable[..., ExportState]
TAGS = {
    "html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h3", "p", "div", "b", "table", "tr", "th",
    "td", "section", "figure", "figcaption", "img", "svg", "path", "polyline", "text",
}  # fmt: skip


class Reader(HTMLParser):
    """Collects what a browser would see."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_it_needs_nothing_from_outside_and_says_so(state: State, out: Path) -> None:
    write_export("report", state(), out / "r.html")
    text = (out / "r.html").read_text(encoding="utf-8")
    page = Reader(text)
    assert {tag for tag, _ in page.tags} <= TAGS
    attributes = [(name, value or "") for _, found in page.tags for name, value in found.items()]
    assert not [name for name, _ in attributes if name.startswith("on") or name in ("style", "href", "action")]
    assert all(value.startswith("data:image/jpeg;base64,") for name, value in attributes if name == "src")
    assert not re.search(r"https?:|//[a-z]|url\(|@import", text.split("</style>")[0])
    policy = next(found["content"] for _, found in page.tags if found.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; img-src data:;")
    style = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    assert style is not None
    assert base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode() in policy


def test_names_stay_text(state: State, out: Path) -> None:
    write_export("report", state(), out / "r.html")
    page = Reader((out / "r.html").read_text(encoding="utf-8"))
    seen = "".join(page.text)
    for text in ("Seals & <b>co</b>", "<script>alert(1)</script>", "b/<img src=y>.png"):
        assert text in seen
    assert "b/<img src=y>.png" in [found.get("alt") for tag, found in page.tags if tag == "img"]


@given(st.text(max_size=40))
def test_any_text_stays_text(text: str) -> None:
    page = Reader(f'<p title="{escaped(text)}">{escaped(text)}</p>')
    assert [tag for tag, _ in page.tags] == ["p"]
    assert page.tags[0][1].keys() == {"title"}
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", html.unescape(escaped(text)))


def test_pictures_are_small_jpegs_of_the_images(state: State, out: Path) -> None:
    write_export("report", state(), out / "r.html")
    page = Reader((out / "r.html").read_text(encoding="utf-8"))
    pictures = {found["alt"]: found["src"] or "" for tag, found in page.tags if tag == "img"}
    assert len(pictures) == 6  # five of clusters, one of a cluster of one that has a name
    with Image.open(io.BytesIO(base64.b64decode(pictures["c.png"].partition(",")[2]))) as picture:
        assert picture.format == "JPEG"
        assert picture.size == (16, 12)
        assert abs(np.asarray(picture).mean(axis=(0, 1)) - (60, 90, 160)).max() < 4


def test_images_that_cannot_be_read_say_why(state: State, out: Path) -> None:
    made = state()
    made.items.file(3).write_bytes(b"")
    written = write_export("report", made, out / "r.html")
    assert written.left_out == ("c.png: the file is empty",)
    assert "the file is empty" in (out / "r.html").read_text(encoding="utf-8")


def test_its_size_is_bounded(state: State, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "MOST_PICTURES", 3)
    monkeypatch.setattr(report, "MOST_LISTED", 2)
    write_export("report", state(), out / "few.html")
    text = (out / "few.html").read_text(encoding="utf-8")
    assert text.count("<img ") == 2  # one of each that is listed
    assert "1 more cluster is not shown." in text
    monkeypatch.setattr(report, "MOST_LISTED", 5)
    monkeypatch.setattr(report, "MOST_BYTES", 1)
    write_export("report", state(), out / "least.html")
    assert (out / "least.html").read_text(encoding="utf-8").count("<img ") == 1


def test_cancelled_leaves_nothing(state: State, out: Path) -> None:
    class Stopping(Task):
        def step(self, fraction: float) -> None:
            self.cancel()
            super().step(fraction)

    with pytest.raises(Cancelled):
        write_export("report", state(), out / "r.html", task=Stopping())
    assert list(out.iterdir()) == []


def test_nothing_to_draw_is_no_drawing(state: State, out: Path) -> None:
    write_export("report", state(curve=(), times=(), facts=()), out / "r.html")
    assert "<svg" not in (out / "r.html").read_text(encoding="utf-8")
