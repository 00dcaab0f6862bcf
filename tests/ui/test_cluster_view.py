"""The images of one cluster."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from a3s_desktop.ui.cluster_view import ClusterView
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.thumbnails import ITEM_ROLE


class Pictures:
    """Many items, few files; counts what is asked."""

    def __init__(self, folder: Path, count: int = 6) -> None:
        self.paths = [folder / f"a rather long file name {i}.png" for i in range(count)]
        self.asked: set[int] = set()
        for path in self.paths:
            image = QImage(60, 40, QImage.Format.Format_RGB32)
            image.fill(QColor("#d02020"))
            assert image.save(str(path))

    def file(self, item: int) -> Path:
        self.asked.add(item)
        return self.paths[item % len(self.paths)]

    def name(self, item: int) -> str:
        return f"<i>{item}.png" if item == 3 else self.paths[item % len(self.paths)].name


@pytest.fixture
def loader(qapp: QApplication) -> Iterator[ImageLoader]:
    made = ImageLoader(threads=1)
    yield made
    made.shutdown()


@pytest.fixture
def items(tmp_path: Path) -> Pictures:
    return Pictures(tmp_path)


@pytest.fixture
def view(qtbot: QtBot, loader: ImageLoader, items: Pictures) -> ClusterView:
    made = ClusterView(loader)
    qtbot.addWidget(made)
    made.set_items(items)
    made.resize(360, 360)
    made.show()
    return made


def middle_of(view: ClusterView, row: int) -> QColor:
    """Colour on the screen in the middle of a row's thumbnail."""
    grid = view.list_view
    cell = grid.visualRect(grid.model().index(row))
    return grid.viewport().grab().toImage().pixelColor(cell.center().x(), cell.top() + 40)


def test_images_appear_with_their_captions(view: ClusterView, qtbot: QtBot) -> None:
    view.show_cluster(12, [5, 2, 4])
    qtbot.waitUntil(lambda: middle_of(view, 2).red() > 180 and middle_of(view, 2).green() < 60)
    assert (view.cluster, view.members) == (12, (5, 2, 4))
    assert (view._title.text(), view._count.text()) == ("Cluster 12", "3 images")
    model = view.list_view.model()
    assert model.index(1).data(ITEM_ROLE) == 2
    assert model.index(1).data() == "a rather long file name 2.png"
    assert view.list_view.accessibleName() == "Images of cluster 12"


def test_only_what_is_in_view_is_loaded(view: ClusterView, items: Pictures, qtbot: QtBot, qapp: QApplication) -> None:
    view.show_cluster(1, range(20_000))
    qtbot.waitUntil(lambda: middle_of(view, 0).red() > 180)
    assert len(items.asked) < 60
    items.asked.clear()

    def at_the_end() -> bool:
        view.list_view.scrollToBottom()  # the grid is laid out in portions
        qapp.processEvents()
        return 19_999 in items.asked

    qtbot.waitUntil(at_the_end)
    assert len(items.asked) < 500


def test_the_same_cluster_grown_keeps_its_place(view: ClusterView, qapp: QApplication) -> None:
    view.show_cluster(1, range(300))
    qapp.processEvents()
    view.list_view.setCurrentIndex(view.list_view.model().index(150))
    bar = view.list_view.verticalScrollBar()
    bar.setValue(900)
    view.show_cluster(1, range(320))
    qapp.processEvents()
    assert bar.value() == 900
    assert view.list_view.currentIndex().data(ITEM_ROLE) == 150
    view.show_cluster(2, range(320, 700))
    qapp.processEvents()
    assert bar.value() == 0


def test_double_click_enlarges_and_keys_step_through(view: ClusterView, qtbot: QtBot) -> None:
    opened: list[int] = []
    view.itemEnlarged.connect(opened.append)
    view.show_cluster(1, [4, 1, 0])
    grid = view.list_view
    place = grid.visualRect(grid.model().index(1)).center()
    qtbot.mouseClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.mouseDClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert opened == [1]
    large = view._enlarged
    assert large is not None
    assert large.isVisible()
    qtbot.waitUntil(lambda: large.image is not None)
    assert large.item == 1
    assert large._caption.text().endswith("2 of 3")
    qtbot.keyClick(large, Qt.Key.Key_Right)
    qtbot.keyClick(large, Qt.Key.Key_Right)  # stops at the end
    assert large.item == 0
    qtbot.keyClick(large, Qt.Key.Key_Left)
    assert large.item == 1
    qtbot.keyClick(large, Qt.Key.Key_Escape)
    assert not large.isVisible()
    qtbot.keyClick(grid, Qt.Key.Key_Return)
    assert opened == [1, 1]
    assert large.isVisible()


def test_unreadable_images_are_shown_as_such(view: ClusterView, items: Pictures, qtbot: QtBot) -> None:
    items.paths[1].write_bytes(b"no image")
    items.paths[2].unlink()
    view.show_cluster(1, [0, 1, 2])
    qtbot.waitUntil(lambda: middle_of(view, 0).red() > 180)
    box = view._delegate.box(view.devicePixelRatioF())
    for item in (1, 2):
        qtbot.waitUntil(lambda item=item: view._loader.failure(items.paths[item], box) is not None)
    view.enlarge(view.list_view.model().index(1))
    qtbot.waitUntil(lambda: bool(view._enlarged._canvas.sentence))
    assert view._enlarged.image is None
    view._enlarged.close()


def test_names_are_never_markup(view: ClusterView) -> None:
    view.show_cluster(1, [3])
    assert "&lt;i&gt;3.png" in view.list_view.model().index(0).data(Qt.ItemDataRole.ToolTipRole)
    assert view._count.text() == "1 image"


def test_pair_badges_and_clearing(view: ClusterView, qapp: QApplication, loader: ImageLoader) -> None:
    view.show_cluster(1, [0, 1, 2])
    view.set_pair(0, 5)
    assert view._delegate.badges == {0: "L", 5: "R"}
    qapp.processEvents()
    view.set_pair(None)
    assert view._delegate.badges == {}
    view.set_items(None)
    assert (view.cluster, view.members) == (None, ())
    assert view._hint.isVisible()
    view.show_cluster(1, [0])  # without items: nothing to draw, no failure
    view.enlarge(view.list_view.model().index(0))
    qapp.processEvents()
    assert view._enlarged is None
    assert loader.get(Path("nowhere"), QSize(8, 8)) is None


def test_the_grid_fills_its_width(view: ClusterView, qapp: QApplication) -> None:
    view.show_cluster(1, range(40))
    grid = view.list_view
    for width in (200, 360, 1000):
        view.resize(width, 400)
        qapp.processEvents()
        room = grid.viewport().width()
        rights = [grid.visualRect(grid.model().index(row)).right() for row in range(12)]
        assert 0 <= room - max(rights) < 40
