"""Rows to images, labels to rows."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from a3s_desktop.errors import InputError
from a3s_desktop.storage.export import safe_path
from a3s_desktop.storage.features import FeatureFile
from a3s_desktop.storage.matching import load_labels, match_rows
from a3s_desktop.storage.names import NameIndex
from a3s_desktop.storage.tables import load_order

PATHS = ("a.jpg", "b.jpg", "sub/c.jpg")


def view(rows: int = 3, names: tuple[str, ...] | None = None, name: str = "f.npy") -> FeatureFile:
    return FeatureFile(np.arange(rows * 2, dtype=np.float32).reshape(rows, 2) + 1, names, Path(name))


def message_of(*arguments: object, **options: object) -> str:
    with pytest.raises(InputError) as caught:
        match_rows(*arguments, **options)  # type: ignore[arg-type]
    assert caught.value.hint
    return caught.value.message


def test_sorted_order_when_nothing_else_is_known() -> None:
    match = match_rows(PATHS, [view()])
    assert match.paths == PATHS
    assert match.how == "sorted"
    assert match.rows == (None,)


@pytest.mark.parametrize(
    ("rows", "words"),
    [(2, "first image without a row is 'sub/c.jpg'"), (5, "first row without an image is row 3")],
)
def test_counts_that_differ_name_the_first_mismatch(rows: int, words: str) -> None:
    message = message_of(PATHS, [view(rows)])
    assert words in message
    assert f"{rows} rows" in message
    assert "3 images" in message


def test_names_in_the_file_decide() -> None:
    match = match_rows(PATHS, [view(names=("c.jpg", "b", "./a.jpg"))])
    assert match.how == "names"
    assert match.paths == ("sub/c.jpg", "b.jpg", "a.jpg")


def test_views_are_brought_into_one_order() -> None:
    first = view(names=("b.jpg", "a.jpg", "sub/c.jpg"))
    second = view(names=("a.jpg", "sub/c.jpg", "b.jpg"), name="g.npy")
    match = match_rows(PATHS, [first, second, view()])
    assert match.paths == first.names
    assert match.rows[0] is None
    assert match.rows[2] is None
    assert match.rows[1] is not None
    assert [second.names[row] for row in match.rows[1]] == list(match.paths)  # type: ignore[index]


def test_view_of_other_length_is_named() -> None:
    assert "'g.npy' has 4 rows, but 'f.npy' has 3" in message_of(PATHS, [view(), view(4, name="g.npy")])


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (
            ("a.jpg", "x.jpg", "y.jpg"),
            "row 1: 'x.jpg' fits no image of the folder, or more than one (2 such names in all)",
        ),
        (("a.jpg", "b.jpg", "a.jpg"), "row 0 and row 2 are both of 'a.jpg'"),
        (("a.jpg", "b.jpg"), "first image without a row is 'sub/c.jpg'"),
    ],
)
def test_names_that_do_not_fit(names: tuple[str, ...], words: str) -> None:
    assert words in message_of(PATHS, [view(len(names), names)])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("order.txt", "c.jpg\nb.jpg\na.jpg\n\n"),
        ("order.txt", "\ufeffsub/c.jpg\r\nb.jpg\r\na.jpg"),
        ("order.csv", "file,label\nsub/c.jpg,1\nb.jpg,2\na.jpg,3\n"),
        ("order.csv", "label,path\n1,sub\\c.jpg\n2,b.jpg\n3,a.jpg\n"),
        ("order.csv", "c.jpg\nb.jpg\na.jpg\n"),
        ("order.json", '["sub/c.jpg", "b.jpg", "a.jpg"]'),
        ("order.lst", "/photos/sub/c.jpg\n/photos/b.jpg\n/photos/a.jpg\n"),
    ],
)
def test_order_files(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_bytes(content.encode())
    match = match_rows(PATHS, [view()], tmp_path / name, root="/photos")
    assert match.how == "order file"
    assert match.paths == ("sub/c.jpg", "b.jpg", "a.jpg")


def test_order_file_wins_over_names_with_a_warning(tmp_path: Path) -> None:
    (tmp_path / "o.txt").write_text("b.jpg\na.jpg\nsub/c.jpg")
    match = match_rows(PATHS, [view(names=PATHS)], tmp_path / "o.txt")
    assert match.paths == ("b.jpg", "a.jpg", "sub/c.jpg")
    assert "row 0" in match.warnings[0]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("o.txt", "a.jpg\nb.jpg", "lists 2 files, but 'f.npy' has 3 rows; the first row without a file is row 2"),
        ("o.txt", "a.jpg\nb.jpg\nc.jpg\nd.jpg", "the first file without a row is 'd.jpg'"),
        ("o.txt", "a.jpg\n\nb.jpg", "line 2: there is no file name"),
        ("o.txt", "", "is empty"),
        ("o.json", "{", "not valid JSON"),
        ("o.json", "[1]", "not a JSON list"),
        ("o.csv", "file,label\na.jpg\n", "row 0 (line 2) has 1 fields"),
        ("o.txt", "a.jpg\nb.jpg\nz.jpg", "entry 2: 'z.jpg' fits no image"),
    ],
)
def test_bad_order_files(tmp_path: Path, name: str, content: str, words: str) -> None:
    (tmp_path / name).write_text(content)
    assert words in message_of(PATHS, [view()], tmp_path / name).replace("its first", "the first")


def test_names_in_any_unicode_form_and_folder() -> None:
    nfd = unicodedata.normalize("NFD", "fotos/\u00fcber\u00e9.jpg")
    index = NameIndex((nfd, "x/same.jpg", "y/same.jpg", "k.jpg", "k.png", "\udcff.jpg", "a\nb.jpg"), "C:\\data\\img")
    assert index.find(unicodedata.normalize("NFC", nfd)) == 0
    assert index.find("\u00fcber\u00e9") == 0
    assert index.find("fotos\\" + unicodedata.normalize("NFC", nfd)[6:]) == 0
    assert index.find("C:\\data\\img\\x\\same.jpg") == 1
    assert index.find("y/same.jpg") == 2
    assert index.find("same.jpg") is None
    assert index.find("k") is None
    assert index.find("k.png") == 4
    assert index.find("\\udcff.jpg") == 5
    assert index.find("a\nb.jpg") == 6
    assert index.find("") is None


@given(
    st.lists(
        st.text(st.characters(codec=None, exclude_characters="/\0"), min_size=1, max_size=12), min_size=1, unique=True
    )
)
def test_exported_names_find_their_image(names: list[str]) -> None:
    paths = [name for name in names if name not in (".", "..")]
    index = NameIndex(paths)
    escaped = [safe_path(path) for path in paths]
    for at, path in enumerate(paths):
        assert index.find(path) == at
        if escaped.count(escaped[at]) == 1:
            assert index.find(escaped[at]) in (at, None) or escaped[at] in paths


# ------------------------------------------------------------------------------------------------ labels


@pytest.mark.parametrize(
    ("array", "names"),
    [
        (np.array([5, 2, 5]), ("2", "5")),
        (np.array([5.0, 2.0, 5.0]), ("2", "5")),
        (np.array(["x", "a", "x"]), ("a", "x")),
        (np.array([b"x", b"a", b"x"]), ("a", "x")),
    ],
)
def test_npy_labels(tmp_path: Path, array: np.ndarray, names: tuple[str, ...]) -> None:
    np.save(tmp_path / "l.npy", array)
    labels = load_labels(tmp_path / "l.npy", 3)
    assert labels.codes.dtype == np.int32
    assert labels.codes.tolist() == [1, 0, 1]
    assert labels.names == names


def test_csv_labels_are_matched_by_file(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("file,label\nc.jpg,Zoe\na.jpg,Ann\nother.jpg,Eve\nb.jpg,Zoe\n")
    labels = load_labels(tmp_path / "l.csv", 3, PATHS)
    assert [labels.names[code] for code in labels.codes] == ["Ann", "Zoe", "Zoe"]


def test_csv_labels_without_images_are_in_row_order(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("file,label\nc.jpg,Zoe\na.jpg,Ann\nb.jpg,Zoe\n")
    labels = load_labels(tmp_path / "l.csv", 3)
    assert labels.codes.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("file,label\na.jpg,x\nb.jpg,y\n", "no label for 'sub/c.jpg'"),
        ("file,label\na.jpg,x\nb.jpg,\nc.jpg,z", "row 1 (line 3), has no label"),
        ("file,what\na.jpg,x\n", "no column 'label'"),
        ("file,label\na.jpg,x\nb.jpg,y\na.jpg,z\n", "rows 0 and 2 (lines 2 and 4)"),
        ("", "is empty"),
    ],
)
def test_bad_csv_labels(tmp_path: Path, content: str, words: str) -> None:
    (tmp_path / "l.csv").write_text(content)
    with pytest.raises(InputError) as caught:
        load_labels(tmp_path / "l.csv", 3, PATHS)
    assert words in caught.value.message
    assert "l.csv" in caught.value.message


def test_bad_npy_labels(tmp_path: Path) -> None:
    for array, words in [
        (np.arange(4), "4 labels, but the features have 3 rows; the first label without a row is row 3"),
        (np.arange(2), "the first row without a label is row 2"),
        (np.ones((3, 2)), "2 dimensions"),
        (np.array([1, np.nan, 2]), "row 1, has no label"),
        (np.array([None, 1, 2]), "not numbers or text"),
    ]:
        np.save(tmp_path / "l.npy", array)
        with pytest.raises(InputError) as caught:
            load_labels(tmp_path / "l.npy", 3)
        assert words in caught.value.message


def test_people200(shared_data: Path) -> None:
    """The labels' row order is the features' row order there, not the sorted one."""
    folder = shared_data / "people200"
    if not folder.is_dir():
        pytest.skip("people200 is not on this machine")
    facts = json.loads((folder / "dataset.json").read_text())
    assert facts
    order = load_order(folder / "labels.csv")
    assert len(order) == 200
    assert list(order) != sorted(order)
    labels = load_labels(folder / "labels.csv", 200, order)
    assert [labels.names[code] for code in labels.codes] == [name[:4] for name in order]
