"""Feature files: read without unpickling, checked in plain words with the first offending row."""

from __future__ import annotations

import errno
import io
import pickle
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from a3s_desktop.errors import A3SError, Cancelled, InputError
from a3s_desktop.storage.features import check_features, feature_problems, load_features
from a3s_desktop.storage.zip_limits import open_archive
from a3s_desktop.task import Task

GOOD = np.random.default_rng(1).normal(size=(6, 3))


class Bomb:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (pytest.fail, ("a pickle was loaded",))


def saved(path: Path, array: np.ndarray, **options: bool) -> Path:
    np.save(path, array, **options)
    return path


def refused(path: Path) -> InputError:
    with pytest.raises(InputError) as caught:
        check_features(load_features(path))
    assert path.name in caught.value.message
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f4", "i1", "u2", "i8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_of_any_number_type_is_mapped(tmp_path: Path, dtype: str, order: str) -> None:
    array = np.asarray(np.arange(12).reshape(6, 2) + 1, dtype=dtype, order=order)  # type: ignore[call-overload]
    found = load_features(saved(tmp_path / "f.npy", array))
    assert isinstance(found.values, np.memmap)
    assert (found.values == array).all()
    assert found.names is None
    check_features(found)


def test_npz_with_names(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "f.npz", features=GOOD, other=np.ones((2, 2)), names=np.array(list("abcdef")))
    found = load_features(tmp_path / "f.npz")
    assert (found.values == GOOD).all()
    assert found.names == tuple("abcdef")
    np.savez(tmp_path / "g.npz", vectors=GOOD, ids=np.arange(6))
    assert (load_features(tmp_path / "g.npz").values == GOOD).all()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("1,2\n3,4\n5,6\n", None),
        ("x,y\n1,2\n3,4\n5,6\n", None),
        ("\ufefffile,f0,f1\na.jpg,1,2\nb.jpg,3,4\nc.jpg,5,6\n", "abc"),
        ("a.jpg,1,2\r\nb.jpg,3,4\r\nc.jpg,5,6\r\n", "abc"),
        ("1,2,a.jpg\n3,4,b.jpg\n5,6,c.jpg", "abc"),
        ("0,1\n1,2\n3,4\n5,6\n", None),  # pandas, no index
        (",0,1\n0,1,2\n1,3,4\n2,5,6\n", None),  # pandas, with its row numbers
        ("file,0,1\na.jpg,1,2\nb.jpg,3,4\nc.jpg,5,6\n", "abc"),
        ("file;a;b\na.jpg;1,0;2\nb.jpg;3;4\nc.jpg;5;6,0\n", "abc"),
        ("name\tx\ty\na.jpg\t1\t2\nb.jpg\t3\t4\n\nc.jpg\t5\t6\n", "abc"),
    ],
)
def test_csv_in_its_many_forms(tmp_path: Path, text: str, names: str | None) -> None:
    (tmp_path / "f.csv").write_bytes(text.encode())
    found = load_features(tmp_path / "f.csv")
    assert found.values.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert found.names == (tuple(f"{letter}.jpg" for letter in names) if names else None)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("1,2\n3,x\n5,6\n", ["row 1 (line 2)", "column 1", "'x' is not a number"]),
        ("f,a,b\np,1,2\nq,3,\nr,5,6\n", ["row 1 (line 3)", "column 2 ('b')"]),
        ("1,2\n3\n5,6\n", ["row 1 (line 2)", "1 fields", "2"]),
        ("1,2\n3,nan\n5,6\n", ["row 1 (line 2)", "NaN"]),
        ("1,2\n3,4\n5,-inf\n", ["row 2 (line 3)", "infinite"]),
        ("1,2\n3,4\n5,1e300\n", ["row 2 (line 3)"]),
        ("1,2\n0,0\n0,0\n", ["row 1 (line 2)", "only zeros", "2 rows in all"]),
        ('1,2\n3,"4\n5,6\n', ["not a readable table"]),
        ("", ["empty"]),
        ("a,b\n", ["empty"]),
        ("a\nb\nc\n", ["no column of numbers"]),
    ],
)
def test_bad_text_names_row_and_line(tmp_path: Path, content: str, words: list[str]) -> None:
    (tmp_path / "f.csv").write_text(content)
    message = refused(tmp_path / "f.csv").message
    assert all(word in message for word in words), message


def spoiled(row: int, column: int, value: float) -> np.ndarray:
    array = GOOD.copy()
    array[row, column] = value
    return array


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (spoiled(4, 1, np.nan), ["row 4", "column 1", "NaN"]),
        (spoiled(2, 0, np.inf), ["row 2", "column 0", "infinite"]),
        (spoiled(3, 2, 1e30), ["row 3", "column 2", "too large"]),
        (np.vstack([GOOD, np.zeros((2, 3))]), ["row 6", "only zeros", "2 rows"]),
        (np.vstack([GOOD, np.full((1, 3), 1e-40)]), ["row 6", "only zeros"]),
        (np.ones((5, 3)), ["all 5 rows are equal"]),
        (np.zeros((5, 3)), ["row 0", "only zeros"]),
        (np.ones(5), ["1 dimension ", "shape 5"]),
        (np.ones((3, 3, 3)), ["3 dimensions", "3 x 3 x 3"]),
        (np.float64(3), ["0 dimensions"]),
        (np.ones((0, 5)), ["empty", "0 x 5"]),
        (np.ones((5, 0)), ["empty"]),
        (np.ones((2, 5)), ["only 2 rows", "at least 3"]),
        (np.ones((5, 2), complex), ["complex128", "not real numbers"]),
        (np.array([["a", "b"]] * 4), ["not real numbers"]),
        (np.ones((5, 2), bool), ["bool"]),
        (np.zeros(4, [("a", "f4")]), ["not real numbers"]),
    ],
)
@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_bad_arrays_are_named(tmp_path: Path, array: np.ndarray, words: list[str], suffix: str) -> None:
    path = tmp_path / f"f{suffix}"
    if suffix == ".npy":
        np.save(path, array)
    else:
        np.savez(path, features=array)
    message = refused(path).message
    assert all(word in message for word in words), message


def test_all_problems_are_collected() -> None:
    array = spoiled(4, 1, np.nan)
    array[1] = 0
    array[5] = 0
    from a3s_desktop.storage.features import FeatureFile

    problems = feature_problems(FeatureFile(array, None, Path("f.npy")))
    assert [problem.message for problem in problems] == [
        "'f.npy', row 4, column 1 is not a number (NaN).",
        "'f.npy', row 1 holds only zeros (2 rows in all).",
    ]


def test_pickles_are_never_loaded(tmp_path: Path) -> None:
    objects = np.empty((4, 2), object)
    objects[:] = Bomb()
    assert "Python objects" in refused(saved(tmp_path / "o.npy", objects, allow_pickle=True)).message
    np.savez(tmp_path / "o.npz", features=objects)
    assert "Python objects" in refused(tmp_path / "o.npz").message
    np.savez(tmp_path / "n.npz", features=GOOD, names=objects[:, 0])
    assert "plain list of texts" in refused(tmp_path / "n.npz").message
    for name in ("x.pkl", "x.pt", "x.npy", "x.npz"):
        (tmp_path / name).write_bytes(pickle.dumps(Bomb()))
        refused(tmp_path / name)


def test_damaged_files(tmp_path: Path) -> None:
    np.save(tmp_path / "f.npy", GOOD)
    whole = (tmp_path / "f.npy").read_bytes()
    (tmp_path / "cut.npy").write_bytes(whole[:-5])
    assert "cut off" in refused(tmp_path / "cut.npy").message
    (tmp_path / "head.npy").write_bytes(whole[:20])
    assert "damaged header" in refused(tmp_path / "head.npy").message
    (tmp_path / "zero.npy").write_bytes(b"")
    assert "0 bytes" in refused(tmp_path / "zero.npy").message
    (tmp_path / "huge.npy").write_bytes(whole.replace(b"(6, 3)", b"(6" + b"0" * 3 + b",3)")[:400])
    refused(tmp_path / "huge.npy")
    (tmp_path / "text.npy").write_text("hello")
    assert "not a .npy" in refused(tmp_path / "text.npy").message
    np.savez(tmp_path / "two.npz", a=GOOD, b=GOOD)
    assert "more than one" in refused(tmp_path / "two.npz").message
    np.savez(tmp_path / "none.npz", a=np.ones(3))
    assert "no two-dimensional" in refused(tmp_path / "none.npz").message
    np.savez(tmp_path / "names.npz", features=GOOD, names=np.array(["a"]))
    assert "6 rows but 1 names" in refused(tmp_path / "names.npz").message
    assert "There is no file" in refused(tmp_path / "absent.npy").message
    (tmp_path / "folder.npy").mkdir()
    assert "is a folder" in refused(tmp_path / "folder.npy").message


def test_announced_size_is_checked_before_memory_is_taken(tmp_path: Path) -> None:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**6)})
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w") as archive:
        archive.writestr("features.npy", header.getvalue() + b"\0" * 100)
    assert "announces" in refused(tmp_path / "bomb.npz").message
    (tmp_path / "bomb.npy").write_bytes(header.getvalue() + b"\0" * 100)
    assert "cut off" in refused(tmp_path / "bomb.npy").message


@given(at=st.integers(0, 10_000), value=st.integers(0, 255), length=st.integers(1, 4))
def test_any_change_of_a_file_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, at: int, value: int, length: int
) -> None:
    folder = tmp_path_factory.mktemp("change")
    np.savez_compressed(folder / "f.npz", features=GOOD, names=np.array(list("abcdef")))
    np.save(folder / "f.npy", GOOD)
    (folder / "f.csv").write_text("file,a,b\n" + "".join(f"p{i},{i + 1}.5,2\n" for i in range(6)))
    for path in folder.iterdir():
        data = bytearray(path.read_bytes())
        for offset in range(length):
            data[(at + offset) % len(data)] = value
        path.write_bytes(bytes(data))
        try:
            feature_problems(load_features(path))
        except A3SError as error:
            if path.name not in error.message:
                raise


def test_ten_thousand_rows_are_checked_within_a_second(tmp_path: Path) -> None:
    np.save(tmp_path / "f.npy", np.random.default_rng(0).normal(size=(10_000, 512)).astype(np.float32))
    started = time.perf_counter()
    check_features(load_features(tmp_path / "f.npy"))
    assert time.perf_counter() - started <= 1.0


def test_cancelled_check_stops() -> None:
    task = Task()
    task.cancel()
    from a3s_desktop.storage.features import FeatureFile

    with pytest.raises(Cancelled):
        feature_problems(FeatureFile(GOOD, None, Path("f.npy")), task)


def test_an_archive_on_a_drive_that_fails_is_not_called_damaged(tmp_path: Path) -> None:
    class Failing(io.BytesIO):
        """Can be opened, but not read."""

        def read(self, _size: int | None = -1) -> bytes:
            raise OSError(errno.EIO, "Input/output error")

    np.savez(tmp_path / "features.npz", features=np.eye(4))
    whole = (tmp_path / "features.npz").read_bytes()
    assert open_archive(io.BytesIO(whole)).namelist() == ["features.npy"]
    with pytest.raises(OSError, match="Input/output"):
        open_archive(Failing(whole))
