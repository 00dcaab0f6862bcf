"""Small pictures come from their copies on disk, and look as those from the file."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QSize
from PySide6.QtGui import QImage

from a3s_desktop.storage.thumbnails import ThumbnailStore
from a3s_desktop.ui.image_decode import DecodeError, decode, image_note, source_size
from a3s_desktop.ui.small_copies import EDGE, small_or_whole

BOX = QSize(100, 100)


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    """A smooth picture with some noise, so that its file is large."""
    y, x = np.mgrid[0:900, 0:1200]
    noise = np.random.default_rng(0).normal(0, 12, (900, 1200, 3))
    pixels = np.stack([x / 1200, y / 900, (x + y) / 2100], axis=2) * 255
    path = tmp_path / "photo.jpg"
    Image.fromarray(np.clip(pixels + noise, 0, 255).astype(np.uint8)).save(path, quality=92)
    return path


@pytest.fixture
def store(tmp_path: Path) -> ThumbnailStore:
    return ThumbnailStore(tmp_path / "thumbnails.sqlite", 10**8)


def _array(image: QImage) -> np.ndarray:
    assert image.depth() == 32
    data = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return data[:, : image.width() * 4].reshape(image.height(), image.width(), 4)[:, :, :3].astype(int)


def test_the_copy_shows_the_same_and_the_file_is_not_read_again(photo: Path, store: ThumbnailStore) -> None:
    plain = decode(photo, BOX)
    first = small_or_whole(photo, BOX, store)
    found = photo.stat()
    photo.write_bytes(bytes(found.st_size))  # the content is gone, but path, size and time are as before
    os.utime(photo, ns=(found.st_atime_ns, found.st_mtime_ns))
    second = small_or_whole(photo, BOX, store)
    for image in (first, second):
        assert image.size() == plain.size() == QSize(100, 75)
        assert source_size(image) == QSize(1200, 900)
        assert np.abs(_array(image) - _array(plain)).mean() < 6
    store.close()


def test_a_changed_file_shows_its_new_content(photo: Path, store: ThumbnailStore) -> None:
    small_or_whole(photo, BOX, store)
    noise = np.random.default_rng(1).integers(0, 60, (700, 700, 3)).astype(np.uint8)
    Image.fromarray(noise).save(photo, quality=92)
    image = small_or_whole(photo, BOX, store)
    assert source_size(image) == QSize(700, 700)
    assert _array(image).mean() < 60
    store.close()


@pytest.mark.qt_log_ignore("Corrupt JPEG data")
def test_what_is_transparent_stays_so_and_a_missing_end_is_still_told(
    tmp_path: Path, photo: Path, store: ThumbnailStore
) -> None:
    pixels = np.random.default_rng(2).integers(0, 256, (400, 400, 4)).astype(np.uint8)
    pixels[:, :200, 3] = 0
    Image.fromarray(pixels).save(tmp_path / "clear.png")
    cut = tmp_path / "cut.jpg"
    cut.write_bytes(photo.read_bytes()[:-150_000])
    for _ in range(2):  # from the file, from the copy
        clear = small_or_whole(tmp_path / "clear.png", BOX, store)
        assert clear.hasAlphaChannel()
        assert clear.pixelColor(20, 50).alpha() == 0
        assert image_note(small_or_whole(cut, BOX, store))
    assert not image_note(small_or_whole(photo, BOX, store))
    store.close()


def test_parts_of_one_photo_have_copies_of_their_own(photo: Path, store: ThumbnailStore) -> None:
    parts = [photo.with_name(f"{photo.name}#xywh={x},0,300,300") for x in (0, 900)]
    for _ in range(2):
        left, right = (small_or_whole(part, BOX, store) for part in parts)
        assert source_size(left) == source_size(right) == QSize(300, 300)
        assert _array(left)[:, :, 2].mean() + 100 < _array(right)[:, :, 2].mean()  # red grows to the right
    store.close()


@pytest.mark.qt_log_ignore("Corrupt JPEG data", "JPEG datastream contains no image")
def test_large_boxes_small_files_and_broken_files_go_past_the_store(
    tmp_path: Path, photo: Path, store: ThumbnailStore
) -> None:
    assert small_or_whole(photo, QSize(EDGE + 1, 10_000), store).width() == EDGE + 1
    Image.new("RGB", (300, 300), "red").save(tmp_path / "small.png")
    small_or_whole(tmp_path / "small.png", BOX, store)
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(b"\xff\xd8\xff" + bytes(200_000))
    for path in (broken, tmp_path / "missing.jpg"):
        with pytest.raises(DecodeError):
            small_or_whole(path, BOX, store)
    store.close()
    assert not (tmp_path / "thumbnails.sqlite").exists()  # nothing was worth a copy
