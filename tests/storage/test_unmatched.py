"""Rows without image and images without row: listed, in the way, left out or computed, as the user chose."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from a3s_desktop.storage.embedding_options import EmbeddingOptions
from a3s_desktop.storage.features import FeatureFile
from a3s_desktop.storage.matching import Unmatched, UnmatchedError, match_rows
from a3s_desktop.storage.spec import ProjectSpec, check_spec
from a3s_desktop.storage.workspace import create_workspace

Make = Callable[..., ProjectSpec]
PATHS = ("a.jpg", "b.jpg", "sub/c.jpg", "sub/d.jpg", "e.jpg")
OUT = Unmatched("leave out", "leave out")


def view(names: tuple[str, ...] | None, rows: int = 0) -> FeatureFile:
    count = len(names) if names is not None else rows
    return FeatureFile(np.arange(count * 2, dtype=np.float32).reshape(count, 2) + 1, names, Path("f.csv"))


def test_all_of_them_are_listed_where_they_are_in_the_way() -> None:
    with pytest.raises(UnmatchedError) as caught:
        match_rows(PATHS, [view(("b.jpg", "x.jpg", "a.jpg", "y.jpg"))])
    assert "2 such names" in caught.value.message
    assert caught.value.rows == ("row 1: x.jpg", "row 3: y.jpg")
    assert caught.value.images == ("sub/c.jpg", "sub/d.jpg", "e.jpg")


def test_they_are_left_out() -> None:
    match = match_rows(PATHS, [view(("e.jpg", "x.jpg", "b.jpg", "a.jpg"))], unmatched=OUT)
    assert match.paths == ("e.jpg", "b.jpg", "a.jpg")
    assert match.rows[0] is not None
    assert match.rows[0].tolist() == [0, 2, 3]
    assert match.rows_without_image == ("row 1: x.jpg",)
    assert match.images_without_row == ("sub/c.jpg", "sub/d.jpg")
    assert not match.missing


def test_each_choice_is_of_its_own() -> None:
    with pytest.raises(UnmatchedError, match=r"first image without a row is 'sub/c\.jpg'"):
        match_rows(PATHS, [view(("e.jpg", "x.jpg", "b.jpg", "a.jpg"))], unmatched=Unmatched(rows="leave out"))
    with pytest.raises(UnmatchedError, match=r"'x\.jpg' fits no image"):
        match_rows(PATHS, [view(("e.jpg", "x.jpg", "b.jpg", "a.jpg"))], unmatched=Unmatched(images="leave out"))


def test_an_order_file_says_which_they_are(tmp_path: Path) -> None:
    order = tmp_path / "order.txt"
    order.write_text("gone.jpg\ne.jpg\na.jpg\nb.jpg\n")
    match = match_rows(PATHS, [view(None, 4), view(None, 4)], order, unmatched=OUT)
    assert match.how == "order file"
    assert match.paths == ("e.jpg", "a.jpg", "b.jpg")
    assert [rows.tolist() for rows in match.rows if rows is not None] == [[1, 2, 3]] * 2
    assert match.rows_without_image == ("entry 0: gone.jpg",)


def test_an_image_that_lacks_a_row_in_one_view_is_left_out() -> None:
    views = [view(("a.jpg", "b.jpg", "c.jpg", "d.jpg", "e.jpg")), view(("e.jpg", "a.jpg", "d.jpg"))]
    match = match_rows(PATHS, views, unmatched=OUT)
    assert match.paths == ("a.jpg", "sub/d.jpg", "e.jpg")
    assert [rows.tolist() for rows in match.rows if rows is not None] == [[0, 3, 4], [1, 2, 0]]


def test_images_to_be_computed_come_last() -> None:
    match = match_rows(PATHS, [view(("e.jpg", "b.jpg"))], unmatched=Unmatched(images="compute"))
    assert match.paths == ("e.jpg", "b.jpg", "a.jpg", "sub/c.jpg", "sub/d.jpg")
    assert match.rows[0] is not None
    assert match.rows[0].tolist() == [0, 1, -1, -1, -1]
    assert match.missing


def test_sorted_order_never_guesses_which_they_are() -> None:
    with pytest.raises(Exception, match="5 images"):
        match_rows(PATHS, [view(None, 4)], unmatched=OUT)


def write_named(path: Path, names: tuple[str, ...]) -> Path:
    rng = np.random.default_rng(0)
    lines = [f"{name},{','.join(f'{x:.4f}' for x in rng.normal(size=3))}" for name in names]
    path.write_text("file,p,q,r\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_the_report_lists_them_and_the_project_leaves_them_out(make_spec: Make, tmp_path: Path) -> None:
    table = write_named(tmp_path / "f.csv", ("e.jpg", "zz.jpg", "a.jpg", "b.png"))
    report = check_spec(make_spec(features=(table,)))
    assert not report.ok
    assert report.rows_without_image == ("row 1 (line 3): zz.jpg",)
    assert report.images_without_row == ("sub/c.jpg", "sub/d.jpg")
    spec = make_spec(features=(table,), unmatched=OUT)
    report = check_spec(spec)
    assert report.ok, report.errors
    assert report.images_without_row == ("sub/c.jpg", "sub/d.jpg")
    assert any("2 images have no row and are left out" in warning for warning in report.warnings)
    with create_workspace(spec, report) as workspace:
        assert workspace.items.paths == ("e.jpg", "a.jpg", "b.png")
        (values,) = workspace.views()
        rows = np.loadtxt(table, delimiter=",", skiprows=1, usecols=(1, 2, 3)).astype(np.float32)
        assert values == pytest.approx(rows[[0, 2, 3]])
        assert workspace.choices["rows_without_image"] == ["row 1 (line 3): zz.jpg"]


def test_too_few_that_are_left_are_refused(make_spec: Make, tmp_path: Path) -> None:
    table = write_named(tmp_path / "f.csv", ("e.jpg", "x.jpg", "y.jpg", "b.png"))
    report = check_spec(make_spec(features=(table,), unmatched=OUT))
    assert any("Only 2 images are left" in str(error) for error in report.errors)


def test_computed_rows_resemble_those_of_like_images(make_spec: Make, tmp_path: Path) -> None:
    from tests.core.test_descriptor import pictures

    folder = tmp_path / "photos"
    folder.mkdir()
    from PIL import Image

    kinds = pictures(3)
    rng = np.random.default_rng(4)
    names, rows = [], []
    for kind in range(3):
        for number in range(4):
            noisy = np.clip(kinds[kind] + rng.normal(0, 9, kinds[kind].shape), 0, 255).astype(np.uint8)
            Image.fromarray(noisy).save(folder / f"{kind}-{number}.png")
            if number:
                names.append(f"{kind}-{number}.png")
                rows.append(np.eye(3)[kind] * 5 + rng.normal(0, 0.1, 3))
    np.savez(tmp_path / "f.npz", features=np.array(rows, np.float32), names=np.array(names))
    spec = make_spec(
        ("unused.jpg",),
        images=folder,
        features=(tmp_path / "f.npz",),
        unmatched=Unmatched(images="compute"),
        embedding=EmbeddingOptions(),
    )
    report = check_spec(spec)
    assert report.ok, report.errors
    assert report.to_compute
    assert report.images_without_row == ("0-0.png", "1-0.png", "2-0.png")
    with create_workspace(spec, report) as workspace:
        (values,) = workspace.views()
        assert workspace.items.paths[9:] == ("0-0.png", "1-0.png", "2-0.png")
        assert values[:9] == pytest.approx(np.array(rows, np.float32))
        assert values[9:].argmax(axis=1).tolist() == [0, 1, 2]
        assert workspace.items.problems == {}


def test_how_to_compute_must_be_said(make_spec: Make, tmp_path: Path) -> None:
    table = write_named(tmp_path / "f.csv", ("e.jpg", "a.jpg", "b.png"))
    report = check_spec(make_spec(features=(table,), unmatched=Unmatched(images="compute")))
    assert any("not said how" in str(error) for error in report.errors)
