"""What people choose by mistake, and what damaged files hold: clear sentences, nothing lost, never a traceback."""

from __future__ import annotations

import logging
import os
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from a3s_desktop.ui.description_form import MODEL_ONLY
from a3s_desktop.ui.fields import PathField, path_of
from a3s_desktop.ui.new_project import folder_name
from tests.ui.new_project_kit import COUNT, creator, data, page, settled

__all__ = ["creator", "data", "page"]  # fixtures

NO_SENTENCE = re.compile(r"Traceback|Error\b|Exception|errno|0x[0-9a-f]{6}|object at|None\b")


@pytest.fixture(autouse=True)
def sentences(qtbot, page, caplog):
    """Whatever was said at the end reads like a sentence, the project is not made, and nothing crashed."""
    caplog.set_level(logging.ERROR)
    yield
    for message in page.panel.messages:
        assert not NO_SENTENCE.search(message), message
        assert message.rstrip()[-1] in ".…)?", message
    assert not caplog.records, caplog.text


def refused(qtbot, page, *words: str) -> None:
    text = settled(qtbot, page)
    assert not page.create_button.isEnabled()
    for word in words:
        assert word in text, text


# ------------------------------------------------------------------------------------------------ image folders


def test_an_empty_folder_one_image_and_two(qtbot, page, data):
    page.source.describe.setChecked(True)
    (data / "few").mkdir()
    page.images.set_path(data / "few")
    refused(qtbot, page, "no image", "few")
    for number, said in enumerate(["only 1 image", "only 2 images"]):
        Image.new("RGB", (9, 9)).save(data / "few" / f"{number}.png")
        page.check_again()
        refused(qtbot, page, said)


@pytest.mark.parametrize(
    "text",
    [
        "{data}/nowhere",
        "{data}/features.npy",
        "~nobody-of-that-name/photos",
        "/" + "long/" * 1200,
        "/" + "x" * 300,
        "relative/folder",
        "http://example.org/photos",
        "\u202ephotos",
    ],
)
def test_folders_that_are_none(qtbot, page, data, text):
    page.features.add(str(data / "features.npy"))
    page.images.set_path(text.format(data=data))
    refused(qtbot, page, "image folder")


def test_images_that_are_all_broken(qtbot, page, creator, data):
    for path in (data / "seals").iterdir():
        path.write_bytes(b"no picture")
    page.source.describe.setChecked(True)
    settled(qtbot, page)
    with qtbot.waitSignal(creator.stopped, timeout=30_000) as caught:
        creator.create(page.spec())
    assert "Fewer than three of the images can be read" in str(caught.args[0])
    assert not (data / "A project" / "project.json").exists()


def test_some_images_are_broken(qtbot, page, data):
    (data / "seals" / "03.png").write_bytes(b"")
    (data / "seals" / "04.png").write_bytes((data / "seals" / "04.png").read_bytes()[:50])
    page.source.describe.setChecked(True)
    text = settled(qtbot, page)
    assert "2 files or folders cannot be shown" in text
    assert "'03.png'" in text
    assert page.create_button.isEnabled()


def test_patterns_that_leave_nothing_or_make_no_sense(qtbot, page, data):
    page.source.describe.setChecked(True)
    page.advanced.include.setText("*.jpg")
    refused(qtbot, page, "patterns", "12")
    page.advanced.include.setText("[")
    refused(qtbot, page, "patterns")


# ------------------------------------------------------------------------------------------------ feature files


def rows(change) -> np.ndarray:
    values = np.random.default_rng(0).normal(size=(COUNT, 4)).astype(np.float32)
    change(values)
    return values


def nan(values):
    values[5, 2] = np.nan
    values[7, 0] = np.inf


def zeros(values):
    values[4] = 0


def equal(values):
    values[:] = 1


FILES = {
    "other.npy": (np.zeros((COUNT - 3, 4)) + np.arange(4), ["9", "12"]),
    "nan.npy": (rows(nan), ["nan.npy", "row 5", "column 2", "NaN", "2 rows"]),
    "zeros.npy": (rows(zeros), ["row 4", "zeros"]),
    "equal.npy": (rows(equal), ["equal"]),
    "flat.npy": (np.arange(12.0), ["1 dimension"]),
    "deep.npy": (np.zeros((12, 2, 2)), ["3 dimensions"]),
    "two.npy": (np.eye(2), ["only 2 rows"]),
    "none.npy": (np.zeros((0, 4)), ["empty"]),
    "text.npy": (np.array([["a", "b"]] * 12), ["not real numbers"]),
    "renamed.npy": (b"file,a,b\n00.png,1,2\n", ["renamed.npy", "not a .npy"]),
    "letter.npz": (b"Dear reader,", ["letter.npz", "not a .npy"]),
    "cut.npz": (b"PK\x03\x04 and no more", ["damaged .npz"]),
    "nothing.npy": (b"", ["0 bytes"]),
    "header.npy": (b"\x93NUMPY\x01\x00\x10\x00{'shape': (1,", ["damaged header"]),
    "weights.pt": (b"PK", ["pickle file", "torch.load"]),
    "rows.pkl": (pickle.dumps([1.0]), ["pickle file", "pickle.load"]),
    "words.csv": (b"file,a,b\n00.png,1,2\n01.png,one,2\n", ["words.csv", "line 3"]),
    "ragged.csv": (b"1,2\n3\n4,5\n", ["ragged.csv"]),
    "empty.csv": (b"", ["empty.csv"]),
    "bytes.csv": (bytes(range(256)) * 9, ["bytes.csv"]),
    "table.parquet": (b"PAR1 no table PAR1", ["table.parquet"]),
    "table.feather": (b"no table", ["table.feather"]),
    "photo.npy": (b"\xff\xd8\xff\xe0 JFIF", ["photo.npy"]),
}


@pytest.mark.parametrize("name", FILES)
def test_feature_files_that_cannot_be_used(qtbot, page, data, name):
    content, words = FILES[name]
    if isinstance(content, bytes):
        (data / name).write_bytes(content)
    else:
        np.save(data / name, content)
    page.features.add(str(data / name))
    refused(qtbot, page, *words)
    page.features.set_paths((data / "features.npy",))  # nothing is lost: the right file is all that it takes
    assert "Everything fits" in settled(qtbot, page)


def test_a_file_of_python_objects_is_not_opened(qtbot, page, data):
    class Trap:
        def __reduce__(self):
            return (os.mkdir, (str(data / "sprung"),))

    np.save(data / "objects.npy", np.array([[Trap()]], dtype=object), allow_pickle=True)
    page.features.add(str(data / "objects.npy"))
    refused(qtbot, page, "Python objects")
    assert not (data / "sprung").exists()


def test_a_folder_a_missing_file_and_a_file_that_goes(qtbot, page, creator, data):
    page.features.add(str(data / "seals"))
    refused(qtbot, page, "seals")
    page.features.set_paths((data / "missing.npy",))
    refused(qtbot, page, "missing.npy")
    page.features.set_paths((data / "features.npy",))
    settled(qtbot, page)
    spec = page.spec()
    (data / "features.npy").unlink()
    with qtbot.waitSignal(creator.stopped, timeout=20_000) as caught:
        creator.create(spec)
    assert "features.npy" in str(caught.args[0])
    assert not (data / "A project").exists()


def test_several_files_of_different_length(qtbot, page, data):
    np.save(data / "short.npy", np.load(data / "features.npy")[:9])
    page.features.add(str(data / "features.npy"), str(data / "short.npy"))
    refused(qtbot, page, "has 9 rows", "has 12")


def test_an_order_file_of_something_else(qtbot, page, data):
    page.features.add(str(data / "features.npy"))
    for name, text, words in (
        ("short.txt", "00.png\n01.png\n", ["lists 2 files", "12 rows"]),
        ("other.txt", "".join(f"x{n}.png\n" for n in range(12)), ["x0.png", "fits no image"]),
        ("twice.txt", "00.png\n" * 12, ["both", "00.png"]),
        ("empty.txt", "", ["empty"]),
    ):
        (data / name).write_text(text)
        page.order.set_path(data / name)
        refused(qtbot, page, *words)


# ------------------------------------------------------------------------------------------------ parts of photos


PARTS = {
    "outside": (
        "file,x,y,width,height\n00.png,500,500,20,20\n01.png,0,0,9,9\n02.png,0,0,9,9\n",
        ["00.png", "outside of the photo (48 × 40 pixels)"],
    ),
    "shares": ("file,x,y,width,height\n00.png,0.1,0.2,0.5,0.5\n01.png,0,0,1,1\n", ["from 0 to 1", "pixels"]),
    "inverted": ("file,xmin,ymin,xmax,ymax\n00.png,20,20,10,10\n", ["row 0", "no area"]),
    "words": ("file,x,y,width,height\n00.png,a,b,c,d\n", ["row 0", "not four numbers"]),
    "infinite": ("file,x,y,width,height\n00.png,0,0,inf,9\n", ["not four numbers"]),
    "columns": ("photo;x;y\n00.png;1;2\n", ["columns"]),
    "unknown": ("file,x,y,width,height\nnobody.png,0,0,9,9\n", ["nobody.png"]),
    "above": ("file,x,y,width,height\n../features.npy,0,0,9,9\n", ["features.npy"]),
    "twice": ("file,x,y,width,height\n00.png,0,0,9,9\n00.png,0,0,9,9\n", ["the same as row 0"]),
    "nothing": ("", ["parts.csv"]),
}


@pytest.mark.parametrize("name", PARTS)
def test_tables_of_parts_that_cannot_be_used(qtbot, page, data, name):
    text, words = PARTS[name]
    (data / "parts.csv").write_text(text)
    page.source.describe.setChecked(True)
    page.advanced.parts.set_path(data / "parts.csv")
    said = settled(qtbot, page)
    for word in words:
        assert word in said, said
    if name != "outside":  # these are carried as placeholders
        assert not page.create_button.isEnabled()


# ------------------------------------------------------------------------------------------------ models


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        ("model.onnx", b"This is a letter.", "no ONNX model"),
        ("model.onnx", b"", "no ONNX model"),
        ("model.onnx", b"\x08\x07" + bytes(2000), "no ONNX model"),
        ("model.onnx", None, "no file"),
        ("weights.pth", pickle.dumps({"a": 1}), "no ONNX model"),
    ],
)
def test_models_that_are_none(qtbot, page, data, name, content, word):
    pytest.importorskip("onnxruntime", reason="there is no onnxruntime for this system")
    if content is not None:
        (data / name).write_bytes(content)
    page.source.describe.setChecked(True)
    form = page.advanced.description
    form.way.setCurrentIndex(form.way.findData(MODEL_ONLY))
    form.model.set_path(data / name)
    refused(qtbot, page, word, name)
    form.model.set_path(data)
    refused(qtbot, page, data.name)
    form.way.setCurrentIndex(0)
    assert "Everything fits" in settled(qtbot, page)


# ------------------------------------------------------------------------------------------------ names and places


def test_names_of_any_kind_become_folders_that_can_be_made(data):
    for name in ("😀" * 60, "ä" * 120, "a" * 120, "con.txt", "x\u202ey", "  .hidden.  ", "\ud800x", "a\nb", "..", "/"):
        folder = folder_name(name)
        assert len(folder.encode("utf-8")) <= 200
        if folder:
            (data / folder).mkdir()
            assert (data / folder).parent == data


def test_places_that_cannot_hold_a_project(qtbot, page, data):
    page.features.add(str(data / "features.npy"))
    page.location.set_path(data / "features.npy")
    refused(qtbot, page, "cannot be made", "features.npy")
    page.location.set_path("/" + "deep/" * 1200)
    refused(qtbot, page, "cannot be made")
    page.location.set_path("/proc/1")
    refused(qtbot, page)


def test_the_forms_way_with_paths(qtbot, tmp_path):
    odd = tmp_path / " spaces at the ends "
    field = PathField("Image folder", folder=True)
    qtbot.addWidget(field)
    field.choose(str(odd))
    assert field.path() == odd
    field.edit.setText(f"  {tmp_path}  ")
    assert field.path() == tmp_path
    assert path_of('"/a b"') == Path("/a b")
    assert path_of("file:///a%20b") == Path("/a b")
    assert path_of("~") == Path.home()
    assert path_of("~nobody-of-that-name/x") == Path("~nobody-of-that-name/x")
    assert path_of('"') == Path('"')
    assert path_of("   ") is None


def test_an_error_of_the_program_itself_is_said_too(qtbot, page, creator, data, monkeypatch, caplog):
    from a3s_desktop.storage import spec as module

    def broken(*_):
        raise RuntimeError("the dog ate it")

    page.features.add(str(data / "features.npy"))
    settled(qtbot, page)
    spec = page.spec()
    monkeypatch.setattr(module, "check_spec", broken)
    page.check_again()
    text = settled(qtbot, page)
    assert "unexpected" in text
    assert "the dog ate it" in text
    assert not page.create_button.isEnabled()
    monkeypatch.setattr("a3s_desktop.session.opening.create_project", broken)
    with qtbot.waitSignal(creator.stopped, timeout=10_000) as caught:
        creator.create(spec)
    assert "the dog ate it" in str(caught.args[0])
    page.panel.messages = []
    caplog.clear()
