"""Paths that lead out, links, devices, formulas and markup: in what is read and in all that is written."""

from __future__ import annotations

import csv
import io
import json
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QSize

from a3s_desktop.errors import A3SError, InputError, ProjectError
from a3s_desktop.session.benchmark_report import as_html
from a3s_desktop.session.opening import create_project
from a3s_desktop.storage.export import plain_name, safe_name, safe_path
from a3s_desktop.storage.exports.formats import FORMATS, Target, write_export
from a3s_desktop.storage.exports.safe_names import LONGEST, UniqueNames, safe_file_name
from a3s_desktop.storage.exports.state import ExportOptions, ExportState, Link
from a3s_desktop.storage.items import Items
from a3s_desktop.storage.names import NameIndex
from a3s_desktop.storage.picture import PictureError, read_picture
from a3s_desktop.storage.spec import ProjectSpec
from a3s_desktop.storage.workspace import open_workspace
from a3s_desktop.task import Task
from a3s_desktop.ui.image_decode import DecodeError, decode

LINKS = pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
FORMULAS = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1+1",
    "＋1",
    "－1",
    "＠x",
    "'=1",
    "''=1",
    '"=1',
    "=1,2;3",
]
SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
OUTSIDE = ["../x.jpg", "a/../../x.jpg", "/etc/passwd", "//host/x", "a//b", "./x", "", "a/", "..", "a\0b", ".", "a/./b"]


def state_of(root: Path, paths: list[str], names: dict[int, str], **more: Any) -> ExportState:
    count = len(paths)
    flags = np.zeros(count, np.bool_)
    return ExportState("x", Items(root, tuple(paths)), np.arange(count, dtype=np.int32), names, flags, flags, **more)


@pytest.fixture
def images(tmp_path: Path) -> Path:
    root = tmp_path / "images"
    root.mkdir()
    for name in ("a.png", "b.png", "c.png"):
        Image.new("RGB", (16, 12), (90, 20, 160)).save(root / name)
    return root


# ------------------------------------------------------------------------------------------------ what is read


@pytest.mark.parametrize("path", OUTSIDE)
def test_no_key_of_an_image_leads_out(tmp_path: Path, images: Path, path: str) -> None:
    text = json.dumps({"paths": ["a.png", path], "problems": {}}).encode()
    with pytest.raises(ProjectError, match="entry 1, leads out of the image folder"):
        Items.from_json(text, images, tmp_path / "items.json")
    for each in FORMATS:  # nor one that came by another way
        if each.id in ("folders", "sidecars"):
            with pytest.raises(A3SError):
                write_export(
                    each.id, state_of(images, [path], {0: "x"}), tmp_path / "new", options=ExportOptions(singles=True)
                )
    assert {entry.name for entry in tmp_path.iterdir()} == {"images"}


@LINKS
@pytest.mark.parametrize("name", ["journal.sqlite", "journal.sqlite-wal", "artifacts", "embedding", "backups", "lock"])
def test_nothing_is_written_through_a_link_in_a_project(tmp_path: Path, images: Path, name: str) -> None:
    features = tmp_path / "f.npy"
    np.save(features, np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32))
    project = tmp_path / "project"
    create_project(ProjectSpec(project, images, (features,)), Task()).close()
    outside = tmp_path / "elsewhere"
    if (project / name).exists():
        (project / name).rename(outside)
    (project / name).symlink_to(outside)
    before = {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()}
    with pytest.raises(ProjectError, match=rf"{name}' is a link that leads out of the project"):
        open_workspace(project)
    assert {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()} == before
    inside = project / f"moved {name}"
    (project / name).unlink()
    if outside.exists():
        outside.rename(inside)
        (project / name).symlink_to(inside.name)  # a link within the project is the user's own matter
        open_workspace(project).close()


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".webp", ".tif", ".gif", ".bmp", ".heic"])
@pytest.mark.parametrize(
    "data",
    [
        b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script>'
        b'<image href="file:///etc/passwd" width="9" height="9"/></svg>',
        b'<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
        b'<svg xmlns="http://www.w3.org/2000/svg"><text>&x;</text></svg>',
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n(x) run\nshowpage\n",
        b"%PDF-1.4\n1 0 obj<<>>endobj\n",
        b"8BPS\0\1" + bytes(6) + b"\0\3\0\0\0\1\0\0\0\1\0\10\0\3" + bytes(40),
        b"\0\0\1\0\1\0\1\1\0\0\1\0\x20\0\x30\0\0\0\x16\0\0\0" + bytes(48),
        b'/* XPM */ static char *x[] = {"1 1 1 1", "a c red", "a"};',
        b"<html><img src=x></html>",
        b"\xd7\xcd\xc6\x9a" + bytes(40),
    ],
    ids=["svg", "entity", "eps", "pdf", "psd", "ico", "xpm", "html", "wmf"],
)
def test_a_renamed_file_of_another_kind_is_no_image(tmp_path: Path, data: bytes, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes(data)
    with pytest.raises(PictureError, match="no image of a known format"):
        read_picture(path)
    with pytest.raises(DecodeError, match="no image of a known format"):
        decode(path, QSize(50, 50))


# ------------------------------------------------------------------------------------------------ what is written


@pytest.mark.parametrize(
    "name",
    [*OUTSIDE, "CON", "con.txt", "NUL .x", "COM1", "com¹", "LPT9.jpg", "CONIN$", "a:b", "C:", "a\\..\\b", "..\\x",
     "x. ", "...", ".hidden", "\u202egpj.exe", "a\nb", "\ud800", "é" * 200, "a" * 10_000, " ", "*?<>|\"", "~", "-rf"],
)  # fmt: skip
def test_a_name_of_a_cluster_is_one_folder(name: str) -> None:
    safe = safe_file_name(name)
    assert safe
    assert len(safe.encode()) <= LONGEST
    assert safe.isprintable()
    assert not set(safe) & set('<>:"/\\|?*')
    assert not safe.startswith(".")
    assert not safe.endswith((".", " "))
    assert safe.split(".")[0].rstrip().upper() not in {"CON", "NUL", "COM1", "COM¹", "LPT9", "CONIN$"}
    names = UniqueNames()
    assert names.take(name).casefold() != names.take(name.upper()).casefold()


@LINKS
@pytest.mark.parametrize("chosen", [one for one in FORMATS if one.target is Target.FILE], ids=lambda one: one.id)
def test_a_link_is_replaced_not_followed(tmp_path: Path, images: Path, chosen: Any) -> None:
    victim, out = tmp_path / "victim", tmp_path / f"out{chosen.suffix}"
    victim.write_text("precious")
    out.symlink_to(victim)
    state = state_of(images, ["a.png", "b.png", "c.png"], {0: "x"}, links=(Link(0, 1, True, 0.0, "asked"),))
    with pytest.raises(A3SError):
        write_export(chosen.id, state, out)
    write_export(chosen.id, state, out, overwrite=True)
    assert victim.read_text() == "precious"
    assert not out.is_symlink()


@LINKS
def test_folders_and_sidecars_stay_where_they_were_sent(tmp_path: Path, images: Path) -> None:
    elsewhere, out = tmp_path / "elsewhere", tmp_path / "out"
    elsewhere.mkdir()
    out.symlink_to(elsewhere)
    state = state_of(images, ["a.png", "b.png", "c.png"], {0: "x", 1: "../../y", 2: "/z"})
    with pytest.raises(A3SError):
        write_export("folders", state, out)
    written = write_export("folders", state, tmp_path / "new")
    assert written.count == 3
    assert all(path.resolve().is_relative_to(tmp_path / "new") for path in (tmp_path / "new").rglob("*"))
    assert all(len(path.relative_to(tmp_path / "new").parts) == 2 for path in (tmp_path / "new").rglob("*.png"))
    side = tmp_path / "side"
    (side / "deep").mkdir(parents=True)
    (side / "a.png.xmp").symlink_to(elsewhere / "a.xmp")
    with pytest.raises(InputError, match="through a link that leads elsewhere"):
        write_export("sidecars", state, side, options=ExportOptions(merge=True))
    assert not list(elsewhere.iterdir())
    assert sorted(entry.name for entry in side.iterdir()) == ["a.png.xmp", "deep"]


@pytest.mark.parametrize("excel", [False, True])
@pytest.mark.parametrize("kind", ["csv", "constraints"])
def test_no_cell_of_a_table_is_a_formula(tmp_path: Path, kind: str, excel: bool) -> None:
    paths = [f"{text}.png".replace("/", "") for text in FORMULAS]
    links = tuple(Link(at, at - 1, True, 0.0, "asked", text) for at, text in enumerate(FORMULAS) if at)
    state = state_of(tmp_path, paths, dict(enumerate(FORMULAS)), links=links)
    write_export(kind, state, tmp_path / "out.csv", options=ExportOptions(excel=excel))
    text = (tmp_path / "out.csv").read_bytes().decode("utf-8-sig" if excel else "utf-8")
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert len(rows) >= len(FORMULAS)
    assert not [cell for row in rows[1:] for cell in row if cell.startswith(SIGNS)]
    if kind == "csv":
        from a3s_desktop.storage.label_file import load_known_labels

        back = load_known_labels(tmp_path / "out.csv", paths)
        assert [(one.item, one.name) for one in back] == [(at, text.strip()) for at, text in enumerate(FORMULAS)]


@pytest.mark.parametrize("text", [f"x{mark}{formula}" for mark in (";", "\t", "; ", ';"') for formula in FORMULAS])
def test_nor_where_a_table_is_split_at_another_mark(tmp_path: Path, text: str) -> None:
    """As a spreadsheet does in countries where the semicolon separates."""
    links = (Link(0, 1, True, 0.0, "asked", text),)
    paths = [f"{text}.png".replace("/", ""), "b.png"]
    state = state_of(tmp_path, paths, {0: text}, links=links)
    for kind in ("csv", "constraints"):
        write_export(kind, state, tmp_path / f"{kind}.csv")
        for line in (tmp_path / f"{kind}.csv").read_bytes().decode().split("\n"):
            cells = line.replace("\t", ";").split(";")
            assert not [cell for cell in cells if cell.strip(' "\r').startswith(SIGNS)], line
    assert plain_name(safe_name(text)) == text
    assert NameIndex(paths).find(safe_path(paths[0])) == 0


class Page(HTMLParser):
    """Collects tags with their attributes, and the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def check(self) -> None:
        for tag, attributes in self.tags:
            assert tag not in ("script", "iframe", "object", "embed", "link", "form", "base", "foreignobject")
            assert not [name for name in attributes if name.startswith("on")]
            for name in ("src", "href", "xlink:href", "action", "srcset", "data"):
                assert (attributes.get(name) or "data:").startswith("data:image/") or name not in attributes


MARKUP = ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", '"><svg onload=alert(1)>', "' onclick='x",
          "&lt;b&gt;", "</style><b>", "-->", "]]>", "\u202egpj", "\ud800", "a\0b"]  # fmt: skip


def test_the_report_is_made_of_text(tmp_path: Path, images: Path) -> None:
    paths = [f"{at}{text}.png" for at, text in enumerate(MARKUP)]
    state = state_of(images, paths, dict(enumerate(MARKUP)), facts=tuple((text, text) for text in MARKUP))
    object.__setattr__(state, "name", "".join(MARKUP))
    write_export("report", state, tmp_path / "out.html")
    text = (tmp_path / "out.html").read_text(encoding="utf-8")
    Page(text).check()
    assert text.count("<script") == 0
    assert "\u202e" not in text
    assert "Content-Security-Policy" in text


def test_the_report_of_a_benchmark_is_made_of_text() -> None:
    from a3s_desktop.session.benchmark_report import Picture, Section, Table

    nasty = "".join(one for one in MARKUP if one.isprintable())
    section = Section(nasty, (nasty,), (Table(nasty, (nasty,), ((nasty,),), nasty),), nasty)
    Page(as_html([section], [nasty], [Picture(nasty, nasty, "x.png", b"x")])).check()
