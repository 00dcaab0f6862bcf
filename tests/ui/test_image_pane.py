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

from a3s_desktop.ui.adjustments import Adjustments, Orientation
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


def test_an_image_whose_file_vanishes_while_it_is_shown_stays_and_says_so(
    qtbot: QtBot, panes: tuple[ImagePane, ImagePane], tmp_path: Path
) -> None:
    left, right = panes
    linked = LinkedPanes(left, right)
    path = photo(tmp_path / "a.jpg", (4000, 3000))
    left.set_image(path, "a.jpg", 1)
    qtbot.waitUntil(lambda: left.has_image)
    path.unlink()
    left.wheelZoomed.emit(6.0, QPointF(10, 10))  # wants a sharper version
    qtbot.waitUntil(lambda: left.source.gone)
    assert left.has_image
    assert left.toolTip() == "<span>The file is missing.</span>"
    linked.reset()
    left.set_image(path, "a.jpg", 2)
    assert left.has_image, "what is in memory can still be judged"
    other = photo(tmp_path / "b.jpg", (400, 300))
    left.set_image(other, "b.jpg", 3)
    qtbot.waitUntil(lambda: left.has_image)
    assert not left.source.gone


def test_keys_zoom_and_move_both_and_unlinked_the_right_image_alone(
    qtbot: QtBot, panes: tuple[ImagePane, ImagePane], tmp_path: Path
) -> None:
    left, right = panes
    linked = LinkedPanes(left, right)
    left.set_image(photo(tmp_path / "a.png", (4000, 3000)), "a", 1)
    right.set_image(photo(tmp_path / "b.png", (3001, 2002)), "b", 1)
    qtbot.waitUntil(lambda: left.has_image and right.has_image)
    linked.zoom(4.0)
    linked.pan(0.5, -0.25)
    views = [linked.link.shown(side, pane.frame()) for side, pane in enumerate(panes)]
    assert views[0].zoom == views[1].zoom == 4.0
    assert all(view.x > 0.5 > view.y for view in views)
    linked.set_linked(False)
    linked.pan(-0.5, 0.0)
    linked.zoom(1.5)
    after = [linked.link.shown(side, pane.frame()) for side, pane in enumerate(panes)]
    assert after[0] == views[0]
    assert after[1].zoom == 6.0
    assert after[1].x < views[1].x
    linked.actual_size()
    for side, pane in enumerate(panes):
        _, _, width, _ = pane.frame().target(linked.link.shown(side, pane.frame()))
        assert round(width) == pane.source.size.width()


def test_tones_come_before_the_image_counts_as_seen(
    qtbot: QtBot, panes: tuple[ImagePane, ImagePane], tmp_path: Path
) -> None:
    left, _ = panes
    left.source.set_adjustments(Adjustments(brightness=50))
    seen: list[int] = []
    left.painted.connect(seen.append)
    left.set_image(photo(tmp_path / "a.png", (60, 40), "#404040"), "a", 4)
    qtbot.waitUntil(lambda: seen == [4])
    middle = left.grab().toImage().pixelColor(left.width() // 2, left.stage_height() // 2)
    assert middle.red() == 0x40 + 64


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("turns", [1, 2, 3])
def test_a_turned_image_is_decoded_as_sharp_as_an_upright_one(
    qtbot: QtBot, panes: tuple[ImagePane, ImagePane], tmp_path: Path, turns: int, mirrored: bool
) -> None:
    left, _ = panes
    left.set_image(photo(tmp_path / "a.jpg", (4000, 2000)), "a", 1)
    qtbot.waitUntil(lambda: left.has_image)
    left.set_orientation(Orientation(turns, mirrored))
    upright = turns % 2 == 0
    size = QSize(4000, 2000) if upright else QSize(2000, 4000)
    assert left.source.size == size
    expected = size.scaled(left.fit_box(), Qt.AspectRatioMode.KeepAspectRatio)
    qtbot.waitUntil(lambda: left.source.pixmap.size() == (expected if upright else expected.transposed()))
