"""Parquet and Feather tables, and what is refused with how to convert it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from a3s_desktop.errors import InputError
from a3s_desktop.storage.features import FeatureFile, examine, load_features

pyarrow = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.feather")
pytest.importorskip("pyarrow.parquet")

VALUES = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
NAMES = ["a.jpg", "b ä.jpg", "sub/c.jpg", "🐞.jpg", "e.jpg"]


def write(path: Path, table: Any) -> FeatureFile:
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(table, path, row_group_size=2)
    else:
        pyarrow.feather.write_feather(table, path)
    return load_features(path)


def columns(kind: str = "float32") -> dict[str, Any]:
    return {f"f{number}": VALUES[:, number].astype(kind) for number in range(3)}


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".arrow"])
@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
def test_a_column_for_each_number(tmp_path: Path, suffix: str, kind: str) -> None:
    table = pyarrow.table({"path": NAMES, **columns(kind), "label": [1, 1, 2, 2, 3], "__index_level_0__": range(5)})
    found = write(tmp_path / f"f{suffix}", table)
    assert found.names == tuple(NAMES)
    assert found.values == pytest.approx(VALUES, abs=2e-3)
    assert any("'label'" in remark for remark in found.remarks)


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_a_column_of_lists(tmp_path: Path, suffix: str) -> None:
    lists = pyarrow.array(VALUES.tolist(), pyarrow.list_(pyarrow.float32()))
    fixed = pyarrow.array(VALUES.tolist(), pyarrow.list_(pyarrow.float64(), 3))
    for number, column in enumerate((lists, fixed)):
        found = write(tmp_path / f"{number}{suffix}", pyarrow.table({"embedding": column, "filename": NAMES}))
        assert found.values == pytest.approx(VALUES)
        assert found.names == tuple(NAMES)


def test_whole_numbers_and_holes(tmp_path: Path) -> None:
    found = write(tmp_path / "f.parquet", pyarrow.table({"x": [1, 2, 3, 4], "y": [5, 6, None, 8]}))
    assert found.names is None
    assert "row 2, column 1 is not a number" in str(examine(found).problems[0])


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"path": NAMES}, "no column of numbers"),
        ({"v": [[1.0, 2.0], [1.0, 2.0], [3.0], [4.0, 5.0]]}, "row 2 has not 2 numbers"),
        ({"v": [[1.0], None, [3.0], [4.0]]}, "row 1 has not 1 numbers"),
        ({"v": [["a"], ["b"], ["c"]]}, "no numbers"),
        ({"v": [[1.0], [2.0], [3.0]], "w": [[1.0], [2.0], [3.0]]}, "several columns of lists"),
        ({"file": ["a", None, "c"], "x": [1.0, 2.0, 3.0]}, "no file name"),
        ({"x": [1.0, 2.0]}, "only 2 rows"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, table: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        write(tmp_path / "f.parquet", pyarrow.table(table))
    assert words in caught.value.message


@pytest.mark.parametrize("name", ["f.parquet", "f.feather"])
@pytest.mark.parametrize("fault", ["empty", "text", "half"])
def test_damaged_tables_are_refused(tmp_path: Path, name: str, fault: str) -> None:
    path = tmp_path / name
    write(path, pyarrow.table(columns()))
    data = path.read_bytes()
    path.write_bytes({"empty": b"", "text": b"hello " * 99, "half": data[: len(data) // 2]}[fault])
    with pytest.raises(InputError, match="damaged"):
        load_features(path)


def test_without_the_package_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "f.parquet", pyarrow.table(columns()))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError) as caught:
        load_features(tmp_path / "f.parquet")
    assert "pyarrow" in caught.value.message
    assert "a3s-desktop[parquet]" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "hint"), [("f.pt", "torch.load('f.pt'"), ("f.pth", "torch.load"), ("f.pkl", "pickle.load(open('f.pkl'")]
)
def test_pickles_are_refused_with_how_to_convert_them(tmp_path: Path, name: str, hint: str) -> None:
    (tmp_path / name).write_bytes(b"\x80\x04.")
    with pytest.raises(InputError) as caught:
        load_features(tmp_path / name)
    assert "pickle" in caught.value.message
    assert hint in caught.value.hint
    assert "numpy.save('features.npy'" in caught.value.hint


@pytest.mark.parametrize("kind", ["float16", "float32", "float64", "int8", "uint16", "int64"])
def test_all_kinds_of_numbers(tmp_path: Path, kind: str) -> None:
    values = (np.random.default_rng(0).normal(size=(6, 4)) * 20).astype(kind)
    np.save(tmp_path / "f.npy", values)
    found = load_features(tmp_path / "f.npy")
    assert isinstance(found.values, np.memmap)
    assert examine(found).problems == ()
    assert (found.values == values).all()


def test_unit_length_and_constant_columns_are_seen(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).normal(size=(50, 8)).astype(np.float32)
    rows[:, 3] = 0
    check = examine(FeatureFile(rows, None, Path("f")))
    assert (check.unit_norm, check.constant) == (False, 1)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    for kind in (np.float32, np.float16):
        assert examine(FeatureFile(rows.astype(kind), None, Path("f"))).unit_norm
    rows[17] *= 1.1
    assert not examine(FeatureFile(rows, None, Path("f"))).unit_norm


def test_labels_in_a_text_table_are_no_features(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text("file,identity,p,q\na.jpg,7,1,2\nb.jpg,7,3,4\nc.jpg,8,5,6\n")
    found = load_features(path)
    assert found.values.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert "'identity'" in found.remarks[0]
