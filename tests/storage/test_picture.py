"""Every file of the zoo is shown right, or refused with a reason; nothing crashes."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from a3s_desktop.storage import images, picture
from a3s_desktop.storage.picture import CUT, Part, PictureError, read_picture
from tests.storage.zoo import Specimen, base, encoded, exif, oriented, zoo

ZOO = zoo()


def difference(left: np.ndarray, right: np.ndarray) -> float:
    return float(np.abs(left.astype(int) - right).mean())


def reason(path: Path) -> str:
    """Why a file cannot be shown, or what is wrong though it can; empty where nothing is."""
    try:
        return read_picture(path).note
    except PictureError as error:
        return str(error)


def test_the_zoo_is_large_and_its_names_are_unique() -> None:
    assert len(ZOO) >= 120
    assert len({specimen.name for specimen in ZOO}) == len(ZOO)
    assert sum(specimen.pixels is None for specimen in ZOO) >= 60


@pytest.mark.parametrize("specimen", ZOO, ids=lambda specimen: specimen.name)
def test_a_file_of_the_zoo_is_shown_right_or_has_a_reason(tmp_path: Path, specimen: Specimen) -> None:
    path = tmp_path / specimen.name
    path.write_bytes(specimen.data)
    if specimen.pixels is None:
        assert reason(path)
        assert str(tmp_path) not in reason(path)
        return
    found = read_picture(path)
    assert found.note == ""
    assert found.pixels.dtype == np.uint8
    assert found.opaque().shape == specimen.pixels.shape
    assert found.size == (specimen.pixels.shape[1], specimen.pixels.shape[0])
    assert difference(found.opaque(), specimen.pixels) <= specimen.tolerance


@pytest.mark.parametrize("specimen", [s for s in ZOO if s.pixels is not None][::4], ids=lambda specimen: specimen.name)
def test_damaged_bytes_never_crash(tmp_path: Path, specimen: Specimen) -> None:
    rng = np.random.default_rng(len(specimen.data))
    path = tmp_path / specimen.name
    for _ in range(6):
        data = bytearray(specimen.data)
        for at in rng.integers(0, len(data), 8):
            data[at] = rng.integers(0, 256)
        path.write_bytes(data[: rng.integers(len(data) // 2, len(data) + 1)])
        try:
            found = read_picture(path, (64, 64))
        except PictureError as error:
            assert len(str(error)) < 200  # noqa: PT017 - either way is right
        else:
            assert max(found.pixels.shape[:2]) <= 64


def test_the_scan_lists_what_cannot_be_shown_and_keeps_its_place(tmp_path: Path) -> None:
    for specimen in ZOO:
        (tmp_path / specimen.name).write_bytes(specimen.data)
    scan = images.scan_images(tmp_path)
    assert scan.paths == tuple(sorted(specimen.name for specimen in ZOO))
    listed = {problem.path: problem.reason for problem in images.probe_images(tmp_path, scan.paths)}
    # A flipped bit in the middle is found when the whole file is read.
    assert set(listed) == {specimen.name for specimen in ZOO if specimen.pixels is None} - {"flipped-bit.png"}
    assert listed["plain-empty.jpg"] == "the file is empty"
    assert listed["plain-half.jpg"] == CUT


@pytest.mark.parametrize("turn", range(1, 9))
@pytest.mark.parametrize("form", ["JPEG", "PNG"])
def test_a_box_shrinks_the_upright_image(tmp_path: Path, turn: int, form: str) -> None:
    large = np.kron(base(), np.ones((20, 20, 1), np.uint8))
    path = tmp_path / "a"
    path.write_bytes(encoded(oriented(large, turn), form, exif=exif(turn)))
    found = read_picture(path, (100, 100))
    assert found.pixels.shape == (67, 100, 3)
    assert found.size == (960, 640)
    near = np.asarray(Image.fromarray(large).resize((100, 67), Image.Resampling.BOX))
    assert difference(found.pixels, near) < 4


@pytest.mark.parametrize("turn", [1, 6])
@pytest.mark.parametrize("form", ["JPEG", "PNG"])
def test_a_part_is_a_rectangle_of_the_upright_photo(tmp_path: Path, turn: int, form: str) -> None:
    large = np.kron(base(), np.ones((20, 20, 1), np.uint8))
    path = tmp_path / "a"
    path.write_bytes(
        encoded(oriented(large, turn), form, exif=exif(turn), **({"quality": 97} if form == "JPEG" else {}))
    )
    whole = read_picture(path, None, Part(40, 20, 400, 300))
    assert whole.size == (400, 300)
    assert difference(whole.pixels, large[20:320, 40:440]) < 3
    small = read_picture(path, (40, 40), Part(40, 20, 400, 300))
    assert small.pixels.shape == (30, 40, 3)
    near = np.asarray(Image.fromarray(large[20:320, 40:440]).resize((40, 30), Image.Resampling.BOX))
    assert difference(small.pixels, near) < 6


def test_a_part_that_sticks_out_is_cut_off_and_one_outside_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(encoded(base(), "PNG"))
    found = read_picture(path, None, Part(-5, 20, 30, 100))
    assert (found.pixels == base()[20:, :25]).all()
    with pytest.raises(PictureError, match="outside"):
        read_picture(path, None, Part(48, 0, 5, 5))


def test_large_images_are_given_scaled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture, "MAX_RESULT_PIXELS", 500)
    path = tmp_path / "a.png"
    path.write_bytes(encoded(base(), "PNG"))
    found = read_picture(path)
    assert found.pixels.shape[0] * found.pixels.shape[1] <= 520
    assert found.size == (48, 32)


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(PictureError, match="missing"):
        read_picture(tmp_path / "none.jpg")
    with pytest.raises(PictureError, match="folder"):
        read_picture(tmp_path)


def test_without_the_package_for_heic_only_heic_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pi_heif", None)
    monkeypatch.delitem(Image.OPEN, "HEIF", raising=False)
    for specimen in ZOO:
        if specimen.name in ("plain.jpg", "plain.webp", "plain.avif", "turn-1.heic"):
            (tmp_path / specimen.name).write_bytes(specimen.data)
    for name in ("plain.jpg", "plain.webp", "plain.avif"):
        assert read_picture(tmp_path / name).pixels.shape == (32, 48, 3)
    with pytest.raises(PictureError, match="pi-heif"):
        read_picture(tmp_path / "turn-1.heic")
