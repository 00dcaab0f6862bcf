"""A pane: sharp for its size and zoom, never an old image for a new one, seen only when it is sharp."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QHBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.image_pane import ImagePane
from a3s_desktop.ui.linked_panes import LinkedPanes


@pytest.fixture
def loader(qtbot: QtBot) -> Iterator[ImageLoader]:
    loader = ImageLoader()
    yield loader
    loader.shutdown()


@pytest.fixture
def panes(qtbot: QtBot, loader: ImageLoader) -> tuple[ImagePane, ImagePane]:
    holder = QWidget()
    row = QHBoxLayout(holder)
    left, right = ImagePane(loader), ImagePane(loader)
    row.addWidget(left, 1)
    row.addWidget(right, 1)
    holder.resize(820, 420)
    qtbot.addWidget(holder)
    with qtbot.waitExposed(holder):
        holder.show()
    left.holder = holder  # keeps it alive with the pane
    return left, right


def photo(path: Path, size: tuple[int, int], colour: str = "#c03020") -> Path:
    Image.new("RGB", size, colour).save(path)
    return path


def pixmap_width(pane: ImagePane) -> int:
    pixmap = pane.source.pixmap
    assert pixmap is not None
    return pixmap.width()


def test_a_photo_is_decoded_for_its_place_and_sharper_when_zoomed(
    qtbot: QtBot, panes: tuple[ImagePane, ImagePane], tmp_path: Path
) -> None:
    left, right = panes
    linked = LinkedPanes(left, right)
    path = photo(tmp_path / "a.jpg", (4000, 3000))
    left.set_image(path, "a.jpg", 1)
    right.set_image(photo(tmp_path / "b.jpg", (300, 200)), "b.jpg", 1)
    with qtbot.waitSignal(linked.painted) as got:
        pass
    assert got.args == [1]
    box = left.fit_box()
    assert pixmap_width(left) == QSize(4000, 3000).scaled(box, Qt.AspectRatioMode.KeepAspectRatio).width()
    assert pixmap_width(right) == 300, "never enlarged while decoding"
    left.wheelZoomed.emit(4.0, QPointF(10, 10))
    qtbot.waitUntil(lambda: pixmap_width(left) >= 4 * box.width() * 0.9 or pixmap_width(left) == 4000)
    linked.reset()
    qtbot.waitUntil(lambda: pixmap_width(left) <= box.width())


def test_the_last_image_is_gone_at_once(qtbot: QtBot, panes: tuple[ImagePane, ImagePane], tmp_path: Path) -> None:
    left, _ = panes
    left.set_image(photo(tmp_path / "a.png", (100, 100)), "a", 1)
    qtbot.waitUntil(lambda: left.has_image)
    left.set_image(photo(tmp_path / "b.png", (100, 100), "#2030c0"), "b", 2)
    colour = left.grab().toImage().pixelColor(left.width() // 2, left.height() // 2)
    assert colour != QColor("#c03020")
    qtbot.waitUntil(lambda: left.has_image)


def test_a_stretched_thumbnail_does_not_count_as_seen(
    qtbot: QtBot, panes: tuple[ImagePane, ImagePane], loader: ImageLoader, tmp_path: Path
) -> None:
    left, _ = panes
    rng = np.random.default_rng(0)
    path = tmp_path / "a.jpg"
    Image.fromarray(rng.integers(0, 255, (3000, 4000, 3), dtype=np.uint8)).save(path, quality=90)
    with qtbot.waitSignal(loader.loaded):
        loader.request(path, QSize(50, 50))
    seen: list[int] = []
    left.painted.connect(seen.append)
    left.set_image(path, "a", 7)
    assert not left.has_image
    left.grab()  # paints the preview
    assert 7 not in seen
    qtbot.waitUntil(lambda: 7 in seen)
    assert left.has_image


def test_an_image_that_vanishes_is_a_placeholder(
    qtbot: QtBot, panes: tuple[ImagePane, ImagePane], loader: ImageLoader, tmp_path: Path
) -> None:
    left, right = panes
    linked = LinkedPanes(left, right)
    path = photo(tmp_path / "a.png", (500, 300))
    path.unlink()
    left.set_image(path, "a.png", 5)
    right.set_image(Path("b"), "b", 5, reason="The file is a puzzle.")
    with qtbot.waitSignal(linked.painted):
        pass
    assert left.reason == "The file is missing."
    assert right.reason == "The file is a puzzle."
    left.wheelZoomed.emit(2.0, QPointF(5, 5))  # nothing to zoom
    linked.zoom(2.0)
    linked.actual_size(1)


def test_both_must_have_painted_the_same_pair(qtbot: QtBot, panes: tuple[ImagePane, ImagePane], tmp_path: Path) -> None:
    left, right = panes
    linked = LinkedPanes(left, right)
    told: list[int] = []
    linked.painted.connect(told.append)
    path = photo(tmp_path / "a.png", (50, 30))
    left.set_image(path, "a", 1)
    qtbot.waitUntil(lambda: left.has_image)
    qtbot.wait(30)
    assert told == []
    linked.forget_painted()
    left.set_image(path, "a", 2)
    right.set_image(path, "a", 2)
    qtbot.waitUntil(lambda: told == [2])
    left.update()
    qtbot.wait(30)
    assert told == [2]
