"""How long describing will take: told by what it takes for some images, and nothing of that is kept."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from a3s_desktop.errors import Cancelled
from a3s_desktop.storage import embedding_outlook, spec_checks
from a3s_desktop.storage.embedding import prepare
from a3s_desktop.storage.embedding_options import EmbeddingOptions
from a3s_desktop.storage.embedding_outlook import measure
from a3s_desktop.storage.keys import Part, part_key
from a3s_desktop.storage.picture import upright_size
from a3s_desktop.storage.spec import ProjectSpec, check_spec
from a3s_desktop.storage.spec_types import SpecReport
from a3s_desktop.task import Task

COUNT = 30


@pytest.fixture
def spec(tmp_path: Path) -> ProjectSpec:
    images = tmp_path / "images"
    images.mkdir()
    rng = np.random.default_rng(0)
    for number in range(COUNT):
        small = rng.integers(0, 256, (5, 5, 3)).astype(np.uint8)
        Image.fromarray(small).resize((40, 30)).save(images / f"{number:02}.png")
    return ProjectSpec(folder=tmp_path / "project", images=images, features=(), embedding=EmbeddingOptions())


def test_the_time_is_that_of_the_sample_for_all(spec: ProjectSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 1000, 7))  # each round of images takes seven seconds
    monkeypatch.setattr(embedding_outlook, "monotonic", lambda: float(next(clock)))
    found = measure(spec, check_spec(spec))
    assert (found.images, found.ready, found.measured) == (COUNT, 0, 4)  # slow: one round is enough
    assert found.seconds == pytest.approx(7 / 4 * COUNT)
    assert not spec.folder.exists()
    assert sorted(os.listdir(spec.folder.parent)) == ["images"]


def test_what_is_described_already_is_not_counted(spec: ProjectSpec) -> None:
    report = check_spec(spec)
    prepare(spec, report)
    found = measure(spec, report)
    assert (found.images, found.ready, found.seconds, found.measured) == (COUNT, COUNT, 0.0, 0)
    changed = spec.images / "03.png"
    Image.new("RGB", (50, 60), "red").save(changed)
    found = measure(spec, report)
    assert (found.ready, found.measured) == (COUNT - 1, 0)
    assert found.seconds is None  # one image: it only warms up


def test_unreadable_images_are_left_out_and_it_can_be_stopped(spec: ProjectSpec) -> None:
    (spec.images / "05.png").write_bytes(b"")
    report = check_spec(spec)
    assert measure(spec, report).images == COUNT - 1
    task = Task()
    task.cancel()
    with pytest.raises(Cancelled):
        measure(spec, report, task)


def test_parts_outside_of_their_photos_are_listed_before(spec: ProjectSpec, tmp_path: Path) -> None:
    rows = [f"{n:02}.png,{100 if n == 2 else 0},0,20,20" for n in range(COUNT)]
    (tmp_path / "parts.csv").write_text("\n".join(["file,x,y,width,height", *rows]))
    report: SpecReport = check_spec(
        ProjectSpec(spec.folder, spec.images, (), parts=tmp_path / "parts.csv", embedding=EmbeddingOptions())
    )
    assert report.ok
    (problem,) = report.problems
    assert problem.path == part_key("02.png", Part(100, 0, 20, 20))
    assert "outside of the photo (40 × 30 pixels)" in problem.reason
    assert spec_checks.placeholders([problem]) in report.warnings


def test_the_size_is_that_of_the_upright_image(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (40, 30)).save(tmp_path / "turned.jpg", exif=exif)
    Image.new("RGB", (40, 30)).save(tmp_path / "plain.tif", tiffinfo={0x0112: 6})
    (tmp_path / "no.jpg").write_bytes(b"no")
    assert upright_size(tmp_path / "turned.jpg") == (30, 40)
    assert upright_size(tmp_path / "plain.tif") == (30, 40)
    assert upright_size(tmp_path / "no.jpg") is None
    assert upright_size(tmp_path / "missing.jpg") is None
