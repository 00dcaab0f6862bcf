"""Rectangles of photos are items of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from a3s_desktop.errors import InputError
from a3s_desktop.storage.items import Items
from a3s_desktop.storage.keys import Part, locate_part, part_key, split_key
from a3s_desktop.storage.names import NameIndex
from a3s_desktop.storage.parts import load_parts, same_photo_pairs
from a3s_desktop.storage.picture import read_picture
from a3s_desktop.storage.spec import ProjectSpec, check_spec
from a3s_desktop.storage.workspace import create_workspace, open_workspace

Make = Callable[..., ProjectSpec]
PHOTOS = ("a.jpg", "b.png", "sub/c.jpg")


def table(folder: Path, text: str) -> Path:
    path = folder / "parts.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_key_says_photo_and_rectangle() -> None:
    key = part_key("sub/ä#1.jpg", Part(3, 4, 50, 60))
    assert key == "sub/ä#1.jpg#xywh=3,4,50,60"
    assert split_key(key) == ("sub/ä#1.jpg", Part(3, 4, 50, 60))
    for plain in ("a.jpg", "a#xywh=1,2,3.jpg", "#xywh=1,2,3,4", "a.jpg#xywh=1,2,0,4"):
        assert split_key(plain) == (plain, None)


def test_a_file_of_such_a_name_comes_first(tmp_path: Path) -> None:
    odd = tmp_path / "a.png#xywh=0,0,2,2"
    assert locate_part(odd) == (tmp_path / "a.png", Part(0, 0, 2, 2))
    odd.write_bytes(b"x")
    assert locate_part(odd) == (odd, None)


@pytest.mark.parametrize(
    "text",
    [
        "file,x,y,width,height\na.jpg,1,2,3,4\nc.jpg,0,0,10,10\na.jpg,5,5,5,5\n",
        "image,x,y,w,h,score\na.jpg,1,2,3,4,.9\nsub/c.jpg,0,0,10,10,.8\na.jpg,5,5,5,5,.7\n",
        "Filename;xmin;ymin;xmax;ymax\na;1;2;4;6\nc;0;0;10;10\na;5;5;10;10\n",
        "file,left,top,right,bottom\na.jpg,1.2,2.9,3.4,5.5\nc.jpg,-3,-1,10,9.1\na.jpg,5,5,9.5,9.5\n",
    ],
)
def test_tables_of_common_forms(tmp_path: Path, text: str) -> None:
    found = load_parts(table(tmp_path, text), PHOTOS)
    assert found.keys == ("a.jpg#xywh=1,2,3,4", "sub/c.jpg#xywh=0,0,10,10", "a.jpg#xywh=5,5,5,5")
    assert found.unknown == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("file,label\na.jpg,x\n", "lacks the columns"),
        ("file,x,y,width,height\na.jpg,1,2,three,4\n", "row 0 (line 2)"),
        ("file,x,y,width,height\na.jpg,1,2,nan,4\n", "four numbers"),
        ("file,x,y,width,height\na.jpg,1,2,0,4\n", "no area"),
        ("file,xmin,ymin,xmax,ymax\na.jpg,9,2,4,4\n", "no area"),
        ("file,x,y,width,height\na.jpg,1,2,3,4\na.jpg,1,2,3,4\n", "same as row 0"),
        ("file,x,y,width,height\n", "empty"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        load_parts(table(tmp_path, text), PHOTOS)
    assert words in caught.value.message
    assert caught.value.hint


def test_no_table_leads_out_of_the_folder(tmp_path: Path) -> None:
    text = "file,x,y,width,height\n../secret.jpg,0,0,9,9\n/etc/passwd,0,0,9,9\na.jpg,0,0,9,9\n"
    found = load_parts(table(tmp_path, text), PHOTOS)
    assert found.keys == ("a.jpg#xywh=0,0,9,9",)
    assert found.unknown == ("../secret.jpg", "/etc/passwd")


def test_parts_of_one_photo_differ_unless_they_cover_each_other() -> None:
    keys = [part_key("a", Part(0, 0, 10, 10)), part_key("b", Part(0, 0, 10, 10)), part_key("a", Part(30, 0, 10, 10))]
    keys += [part_key("a", Part(1, 1, 10, 10)), "c"]
    assert same_photo_pairs(keys) == [(0, 2), (2, 3)]


def test_a_photo_with_one_part_may_be_named_for_it() -> None:
    index = NameIndex(("a.jpg#xywh=0,0,1,1", "a.jpg#xywh=1,1,1,1", "sub/b.jpg#xywh=0,0,1,1"))
    assert index.find("a.jpg#xywh=1,1,1,1") == 1
    assert [index.find(name) for name in ("b.jpg", "b", "sub/b.jpg")] == [2, 2, 2]
    assert index.find("a.jpg") is None
    assert index.find("a") is None


def test_a_project_of_parts(make_spec: Make, tmp_path: Path) -> None:
    spec = make_spec(("a.jpg", "b.png", "sub/c.jpg", "empty.jpg"))
    Image.fromarray(np.arange(32 * 48 * 3, dtype=np.uint8).reshape(32, 48, 3)).save(tmp_path / "images" / "b.png")
    parts = table(tmp_path, "file,x,y,width,height\nb.png,4,2,10,8\na.jpg,0,0,4,4\nb.png,30,2,10,8\nc.jpg,0,0,5,5\n")
    report = check_spec(make_spec(("a.jpg",), parts=parts, parts_differ=True, features=spec.features))
    assert report.ok, report.errors
    assert report.how == "order file"
    assert report.paths[0] == "b.png#xywh=4,2,10,8"
    assert any("'empty.jpg'" in warning for warning in report.warnings)
    spec = make_spec(("a.jpg",), parts=parts, parts_differ=True, features=spec.features)
    with create_workspace(spec, report) as workspace:
        items = workspace.items
        assert items.photo(2) == tmp_path / "images" / "b.png"
        assert items.part(2) == Part(30, 2, 10, 8)
        assert items.name(2) == "b.png (30, 2, 10 × 8)"
        whole = read_picture(items.photo(2))
        assert (read_picture(items.file(2)).pixels == whole.pixels[2:10, 30:40]).all()
        assert workspace.choices["parts_differ"] is True
        assert same_photo_pairs(items.paths) == [(0, 2)]
    with open_workspace(spec.folder, read_only=True) as again:
        assert again.items.paths == report.paths


def test_one_photo_with_many_parts_makes_a_project(make_spec: Make, tmp_path: Path) -> None:
    np.save(tmp_path / "four.npy", np.random.default_rng(0).normal(size=(4, 3)))
    rows = [f"a.jpg,{at},0,1,4" for at in range(4)]
    parts = table(tmp_path, "\n".join(["file,x,y,width,height", *rows]))
    (tmp_path / "images").mkdir()
    spec = make_spec(("a.jpg",), parts=parts, features=(tmp_path / "four.npy",))
    report = check_spec(spec)
    assert report.ok, report.errors
    assert len(report.paths) == 4
    table(tmp_path, "\n".join(["file,x,y,width,height", *rows[:2]]))
    np.save(tmp_path / "four.npy", np.eye(3)[:2])
    (error,) = check_spec(spec).errors
    assert "at least 3" in error.message


def test_more_pairs_of_parts_than_can_be_kept_are_refused(make_spec: Make, tmp_path: Path) -> None:
    np.save(tmp_path / "many.npy", np.random.default_rng(0).normal(size=(1500, 3)))
    rows = [f"a.jpg,{at % 60},{at // 60},2,2" for at in range(1500)]
    parts = table(tmp_path, "\n".join(["file,x,y,width,height", *rows]))
    (tmp_path / "images").mkdir()
    features = (tmp_path / "many.npy",)
    (error,) = check_spec(make_spec(("a.jpg",), parts=parts, parts_differ=True, features=features)).errors
    assert "1,124,250 pairs" in error.message
    assert "'a.jpg' (1,500)" in error.message
    report = check_spec(make_spec(("a.jpg",), parts=parts, features=features))
    assert report.ok, report.errors


def test_parts_of_a_photo_that_cannot_be_read_are_all_placeholders(make_spec: Make, tmp_path: Path) -> None:
    spec = make_spec(("a.jpg", "b.png", "c.jpg"))
    (tmp_path / "images" / "b.png").write_bytes(b"")
    parts = table(tmp_path, "file,x,y,width,height\nb.png,4,2,10,8\nb.png,0,0,4,4\na.jpg,1,2,3,4\n")
    report = check_spec(ProjectSpec(spec.folder, spec.images, spec.features, parts=parts))
    assert {problem.path for problem in report.problems} == {"b.png#xywh=4,2,10,8", "b.png#xywh=0,0,4,4"}


def test_items_that_lead_out_are_refused(tmp_path: Path) -> None:
    text = Items(tmp_path, ("a/../../b.jpg#xywh=0,0,1,1",)).to_json().encode()
    with pytest.raises(Exception, match="leads out"):
        Items.from_json(text, tmp_path, tmp_path / "items.json")
