"""The ladybird demo: files that fit together, no names that tell, the same again from the same seed, a fair task."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from a3s_desktop.core.metrics import ari
from a3s_desktop.core.types import InitialOptions, StrategyOptions
from a3s_desktop.demo import ladybirds
from a3s_desktop.demo.data import DemoData, image_names
from a3s_desktop.errors import Cancelled, InputError, StorageFailedError
from a3s_desktop.session.simulation import simulate
from a3s_desktop.task import Progress, Task


def _labels(data: DemoData) -> dict[str, str]:
    with data.labels.open(encoding="utf-8", newline="") as file:
        return {row["file"]: row["label"] for row in csv.DictReader(file)}


def _small(folder: Path, **options: object) -> DemoData:
    settings = {"individuals_count": 4, "photos": 3, "size": (96, 72)} | options
    return ladybirds.write_demo(folder, **settings)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> DemoData:
    return _small(tmp_path_factory.mktemp("demo") / "ladybirds")


def test_the_parts_fit_together(small: DemoData) -> None:
    order = small.order.read_text(encoding="utf-8").splitlines()
    features = np.load(small.features, allow_pickle=False)
    labels = _labels(small)
    assert small.complete
    assert order == sorted(order) == list(labels)
    assert features.shape == (12, ladybirds.DIMENSIONS)
    assert features.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(features, axis=1), 1.0, atol=1e-5)
    for name in order:
        with Image.open(small.images / name) as image:
            image.load()
            assert image.size == (96, 72)
    assert sorted(list(labels.values()).count(label) for label in set(labels.values())) == [3, 3, 3, 3]


def test_names_do_not_tell_who_it_is(small: DemoData) -> None:
    labels = list(_labels(small).values())
    assert labels != sorted(labels)
    for path in small.images.iterdir():
        assert path.name.startswith("IMG_")
        with Image.open(path) as image:
            assert not image.getexif()


def test_the_same_seed_gives_the_same_demo(small: DemoData, tmp_path: Path) -> None:
    again = _small(tmp_path / "again")
    for name in ("features", "labels", "order"):
        assert getattr(again, name).read_bytes() == getattr(small, name).read_bytes()
    for path in sorted(small.images.iterdir()):
        assert (again.images / path.name).read_bytes() == path.read_bytes()
    other = _small(tmp_path / "other", seed=99)
    assert other.features.read_bytes() != small.features.read_bytes()


def test_the_size_of_the_pictures_does_not_change_the_task(small: DemoData, tmp_path: Path) -> None:
    large = _small(tmp_path / "large", size=(160, 120))
    assert large.features.read_bytes() == small.features.read_bytes()


def test_two_photographs_of_one_animal_differ_and_are_not_empty(small: DemoData) -> None:
    labels = _labels(small)
    first = next(iter(labels.values()))
    pictures = [
        np.asarray(Image.open(small.images / name), dtype=float) for name, who in labels.items() if who == first
    ]
    assert min(picture.std() for picture in pictures) > 15.0
    assert np.abs(pictures[0] - pictures[1]).mean() > 10.0


def test_many_photographs_go_to_several_folders() -> None:
    names = image_names(12_000, ".jpg")
    assert names == sorted(names)
    assert len(set(names)) == 12_000
    assert {name.split("/")[0] for name in names} == {"100CAMERA", "101CAMERA", "102CAMERA"}


def test_cancelling_leaves_nothing(tmp_path: Path) -> None:
    task: Task

    def stop(progress: Progress) -> None:
        if progress.fraction > 0.0:
            task.cancel()

    task = Task(stop, min_interval=0.0)
    with pytest.raises(Cancelled):
        _small(tmp_path / "demo", task=task)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(StorageFailedError):
        _small(tmp_path / "demo")
    assert [path.name for path in tmp_path.rglob("*")] == ["demo", "mine.txt"]


@pytest.mark.parametrize("options", [{"photos": 1}, {"individuals_count": 1}, {"size": (8, 8)}, {"size": (9999, 100)}])
def test_numbers_out_of_range_are_refused(tmp_path: Path, options: dict[str, object]) -> None:
    with pytest.raises(InputError):
        _small(tmp_path / "demo", **options)


def test_the_task_is_fair(tmp_path: Path) -> None:
    """Stage one leaves work to do, K-means that is told the true number does not solve it, and 150 answers do."""
    from sklearn.cluster import KMeans

    data = ladybirds.write_demo(tmp_path / "demo", size=(32, 32))
    features = np.load(data.features, allow_pickle=False)
    truth = np.unique(list(_labels(data).values()), return_inverse=True)[1].astype(np.int32)
    result = simulate([features], truth, InitialOptions(), StrategyOptions(), budget=150, every=150)
    assert 0.4 <= result["init"]["ari"] <= 0.7
    assert ari(KMeans(24, n_init=10, random_state=0).fit_predict(features).astype(np.int32), truth) <= 0.85
    assert result["end"]["ari"] >= 0.97
