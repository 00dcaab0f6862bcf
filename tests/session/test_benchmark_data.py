"""Data sets by their descriptions, and the face-like generator."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from a3s_desktop.errors import InputError
from a3s_desktop.session.benchmark_data import face_case, face_like, read_cases


def dataset(folder: Path, name: str = "small", **changes: Any) -> Path:
    """A data set of 30 rows in two views."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(1)
    np.save(folder / "a.npy", rng.normal(size=(30, 4)).astype(np.float32))
    np.save(folder / "b.npy", rng.normal(size=(30, 3)).astype(np.float32))
    rows = "".join(f"{number}.png,p{number % 5}\n" for number in range(30))
    (folder / "labels.csv").write_text("file,person\n" + rows, encoding="utf-8")
    cases = [{"name": "one", "features": ["a.npy"]}, {"name": "both", "features": ["a.npy", "b.npy"]}]
    described = {"name": name, "labels": "labels.csv", "cases": cases, **changes}
    (folder / "dataset.json").write_text(json.dumps(described), encoding="utf-8")
    return folder


def test_every_folder_with_a_description_is_read(tmp_path: Path) -> None:
    dataset(tmp_path / "y", "second")
    dataset(tmp_path / "x", "first")
    (tmp_path / "other").mkdir()
    cases = read_cases(tmp_path)
    assert [case.title for case in cases] == ["first · one", "first · both", "second · one", "second · both"]
    assert [len(case.features) for case in cases] == [1, 2, 1, 2]
    assert (cases[0].samples, cases[0].classes) == (30, 5)
    views, labels = cases[1].load()
    assert [view.shape for view in views] == [(30, 4), (30, 3)]
    assert labels.tolist() == [number % 5 for number in range(30)]
    assert [case.title for case in read_cases(tmp_path / "x")] == ["first · one", "first · both"]


def test_data_sets_and_cases_can_be_chosen(tmp_path: Path) -> None:
    dataset(tmp_path / "x", "first")
    dataset(tmp_path / "y", "second")
    assert [case.title for case in read_cases(tmp_path, ["second", "first/both"])] == [
        *("first · both", "second · one", "second · both"),
    ]
    with pytest.raises(InputError, match=r"'third'.*first/both"):
        read_cases(tmp_path, ["third"])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"labels": None}, "no text"),
        ({"labels": "absent.npy"}, "absent.npy"),
        ({"cases": []}, "no case"),
        ({"cases": [{"name": "a", "features": []}]}, "no case"),
        ({"cases": [{"features": ["a.npy"]}]}, "'name' is missing"),
        ({"cases": [{"name": "a", "features": ["absent.npy"]}]}, "absent.npy"),
        ({"cases": 3}, "does not describe"),
        ({"cases": [{"name": "one", "features": ["a.npy"]}] * 2}, "Two data sets"),
    ],
)
def test_a_bad_description_is_refused_in_words(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    dataset(tmp_path / "x", **changes)
    with pytest.raises(InputError, match=said):
        read_cases(tmp_path)


def test_files_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    folder = dataset(tmp_path / "x")
    np.save(folder / "b.npy", np.ones((29, 3), np.float32) * np.arange(29)[:, None])
    with pytest.raises(InputError):
        read_cases(tmp_path)
    (folder / "dataset.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"dataset\.json"):
        read_cases(tmp_path)
    (folder / "dataset.json").unlink()
    with pytest.raises(InputError, match="No folder"):
        read_cases(tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        read_cases(tmp_path / "nowhere")


def test_budgets(tmp_path: Path, shared_data: Path) -> None:
    budgets = {case.title: case.budget for case in read_cases(shared_data)}
    assert budgets["mk20"] == 120
    assert budgets["people200 · lite0"] == 200
    assert budgets["mk100"] == budgets["handwritten · 4 views"] == 1200
    assert read_cases(dataset(tmp_path / "x"))[0].budget == 30


def test_faces_have_the_classes_of_the_paper() -> None:
    for samples, classes in ((10_000, 146), (20_000, 293)):
        features, labels = face_like(samples)
        assert labels.max() + 1 == classes
        assert np.bincount(labels).min() >= 1
        assert features.dtype == np.float32
        assert np.allclose(np.linalg.norm(features[:50], axis=1), 1.0, atol=1e-5)


def test_faces_are_the_same_each_time_and_hard_ones_are_harder(tmp_path: Path) -> None:
    easy, labels = face_like(500)
    again, _ = face_like(500, out=np.empty((500, 512), np.float32))
    assert np.array_equal(easy, again)
    hard, same = face_like(500, "hard")
    assert np.array_equal(labels, same)

    def nearness(features: np.ndarray) -> float:
        mates = (labels[:, None] == labels) & ~np.eye(len(labels), dtype=bool)
        return float((features @ features.T)[mates].mean())

    # cos = 1 / ((1 + s²) (1 + 0.04² · 512)), s about 1.0 and 1.3
    assert 0.24 < nearness(easy) < 0.31
    assert 0.17 < nearness(hard) < 0.23
    sizes = np.bincount(labels)
    assert sizes.min() < sizes.max()
    assert not np.array_equal(labels, np.sort(labels))


def test_a_face_like_case_is_a_case(tmp_path: Path) -> None:
    case = face_case(300, "hard", tmp_path)
    views, labels = case.load()
    assert views[0].shape == (300, 512)
    assert case.classes == labels.max() + 1 == 4
    assert case.title == "face-like hard 300"
    assert "1.0 to 1.6" in case.note
    with pytest.raises(InputError, match="at least 137"):
        face_case(136, "easy", tmp_path)
    with pytest.raises(InputError, match="easy or hard"):
        face_like(300, "odd")


def test_a_large_set_gets_answers_in_proportion(tmp_path: Path) -> None:
    case = face_case(300, "easy", tmp_path)
    large = type(case)(case.dataset, case.name, case.features, case.labels, 100_000, 1469)
    assert large.budget == 3100
