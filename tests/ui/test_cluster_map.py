"""The map as its user meets it."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from a3s_desktop.ui.cluster_map import ClusterMap
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.map_colours import GREY, colour_slots
from a3s_desktop.ui.map_raster import PointGrid
from a3s_desktop.ui.map_scene import ViewMode
from a3s_desktop.ui.theme import apply_theme, cluster_colour, tokens

CORNERS = np.array([[0, 0], [10, 0], [10, 10], [0, 10], [5, 5]], np.float32)
LABELS = np.array([3, 3, 8, 8, 9], np.int32)


class Pictures:
    """Items whose files are small pictures."""

    def __init__(self, folder: Path, count: int) -> None:
        self.paths = [folder / f"image {i} <b>.png" for i in range(count)]
        for i, path in enumerate(self.paths):
            image = QImage(24, 16, QImage.Format.Format_RGB32)
            image.fill(QColor.fromHsv(i * 40 % 360, 200, 220))
            assert image.save(str(path))

    def file(self, item: int) -> Path:
        return self.paths[item]

    def name(self, item: int) -> str:
        return self.paths[item].name

    def __len__(self) -> int:
        return len(self.paths)


@pytest.fixture
def loader(qapp: QApplication) -> Iterator[ImageLoader]:
    made = ImageLoader(threads=1)
    yield made
    made.shutdown()


@pytest.fixture
def make_map(qtbot: QtBot, qapp: QApplication, loader: ImageLoader) -> Iterator[Callable[..., ClusterMap]]:
    def make(points: np.ndarray | None = CORNERS, labels: np.ndarray | None = LABELS) -> ClusterMap:
        chart = ClusterMap(loader)
        qtbot.addWidget(chart)
        chart.resize(400, 440)
        chart.set_points(points)
        if labels is not None:
            chart.set_labels(labels)
        chart.show()
        qapp.processEvents()
        return chart

    apply_theme(qapp, "dark")
    yield make
    apply_theme(qapp, "light")


def colour_at(chart: ClusterMap, item: int) -> QColor:
    """Colour on the screen where an item's point is."""
    image = chart.plot.grab().toImage()
    return image.pixelColor(chart.plot.position_of(item).toPoint())


def near(first: QColor, second: QColor, by: int = 40) -> bool:
    return all(abs(a - b) < by for a, b in zip(first.getRgb()[:3], second.getRgb()[:3], strict=True))


def test_colours_follow_the_id_alone_and_single_images_are_grey() -> None:
    slots = colour_slots(np.array([0, 0, 1, 1, 2], np.int32))
    assert slots[4] == GREY
    assert slots[0] != slots[2]
    merged = colour_slots(np.array([0, 0, 1, 1, 1], np.int32))
    assert merged[:4].tolist() == slots[:4].tolist()
    assert merged[4] == slots[2]
    assert colour_slots(np.zeros(0, np.int32)).shape == (0,)


@pytest.mark.parametrize("mode", ["dark", "light"])
def test_points_are_drawn_in_their_clusters_colours(
    make_map: Callable[..., ClusterMap], qapp: QApplication, mode: str
) -> None:
    chart = make_map()
    apply_theme(qapp, mode)
    qapp.processEvents()
    assert near(colour_at(chart, 0), cluster_colour(3))
    assert near(colour_at(chart, 2), cluster_colour(8))
    assert near(colour_at(chart, 4), QColor(tokens().outline))
    assert near(chart.plot.grab().toImage().pixelColor(3, 3), QColor(tokens().surface), 3)


def test_new_labels_recolour_and_nothing_moves(make_map: Callable[..., ClusterMap]) -> None:
    chart = make_map()
    before = [chart.plot.position_of(i) for i in range(5)]
    merged = np.array([3, 3, 3, 3, 9], np.int32)
    chart.set_labels(merged, np.array([2, 3]))
    assert near(colour_at(chart, 2), cluster_colour(3))
    assert [chart.plot.position_of(i) for i in range(5)] == before
    assert "1 cluster ·" in chart.status
    chart.set_labels(LABELS, np.zeros(0, np.int64))  # "nothing moved" is believed
    assert near(colour_at(chart, 2), cluster_colour(3))


def test_click_names_the_cluster_and_the_item(make_map: Callable[..., ClusterMap], qtbot: QtBot) -> None:
    chart = make_map()
    clusters: list[int] = []
    items: list[int] = []
    chart.clusterClicked.connect(clusters.append)
    chart.itemClicked.connect(items.append)
    viewport = chart.plot.viewport()
    qtbot.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=chart.plot.position_of(2).toPoint() + QPoint(2, 1))
    assert (clusters, items) == ([8], [2])
    qtbot.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=chart.plot.position_of(2).toPoint() - QPoint(60, -60))
    qtbot.mouseClick(viewport, Qt.MouseButton.RightButton, pos=chart.plot.position_of(1).toPoint())
    assert (clusters, items) == ([8], [2])


def test_hover_shows_picture_name_and_cluster(
    make_map: Callable[..., ClusterMap], qtbot: QtBot, tmp_path: Path
) -> None:
    chart = make_map()
    chart.set_items(Pictures(tmp_path, 5))
    hovered: list[int] = []
    chart.itemHovered.connect(hovered.append)
    qtbot.mouseMove(chart.plot.viewport(), chart.plot.position_of(2).toPoint())
    card = chart._hover.card
    qtbot.waitUntil(lambda: card.isVisible() and not card._picture.pixmap().isNull())
    assert card._name.text().startswith("image 2")
    assert card._cluster.text() == "Cluster 8 · 2 images"
    assert chart.rect().contains(card.geometry())
    qtbot.mouseMove(chart.plot.viewport(), QPoint(5, 5))
    qtbot.waitUntil(lambda: not card.isVisible())
    assert hovered == [2, -1]


def test_a_picture_that_cannot_be_read_leaves_the_texts(
    make_map: Callable[..., ClusterMap], qtbot: QtBot, tmp_path: Path
) -> None:
    chart = make_map()
    items = Pictures(tmp_path, 5)
    items.paths[0].write_bytes(b"")
    chart.set_items(items)
    chart._hover.hover(0, chart.plot.position_of(0).toPoint())
    qtbot.waitUntil(lambda: not chart._hover.card._picture.pixmap().isNull())
    assert chart._hover.card._cluster.text() == "Cluster 3 · 2 images"


def test_pair_is_marked_and_can_be_zoomed_to(make_map: Callable[..., ClusterMap], qtbot: QtBot) -> None:
    chart = make_map()
    assert not chart._frame.near.isEnabled()
    chart.zoom_to_pair()  # nothing to do yet
    chart.set_pair(0, 4)
    assert chart._frame.near.isEnabled()
    assert chart.plot.marks._pair is not None
    assert (chart.plot.marks._pair.left_text, chart.plot.marks._pair.right_text) == ("L 3", "R 9")
    assert chart.status.endswith("pair in clusters 3 and 9")
    view = chart.plot.getViewBox()
    before = view.viewRect().width()
    qtbot.mouseClick(chart._frame.near, Qt.MouseButton.LeftButton)
    assert view.viewRect().width() < before
    for item in (0, 4):
        assert view.viewRect().contains(chart.plot.point(item))
    chart.set_pair(1, 2)  # the view follows
    assert view.viewRect().contains(chart.plot.point(1))
    qtbot.mouseClick(chart._frame.whole, Qt.MouseButton.LeftButton)
    assert view.viewRect().width() == pytest.approx(before)
    chart.set_pair(None)
    assert chart.plot.marks._pair is None


def test_keys_move_the_view_and_leave_the_others_alone(make_map: Callable[..., ClusterMap], qtbot: QtBot) -> None:
    chart = make_map()
    chart.set_pair(0, 1)
    view = chart.plot.getViewBox()
    whole = view.viewRect().width()
    qtbot.keyClick(chart.plot, Qt.Key.Key_Plus)
    assert view.viewRect().width() < whole
    qtbot.keyClick(chart.plot, Qt.Key.Key_Minus)
    qtbot.keyClick(chart.plot, Qt.Key.Key_P)
    assert chart.plot.mode is ViewMode.PAIR
    qtbot.keyClick(chart.plot, Qt.Key.Key_F)
    qtbot.keyClick(chart.plot, Qt.Key.Key_Home)
    assert view.viewRect().width() == pytest.approx(whole)


def test_a_better_layout_replaces_the_first_without_a_jump(make_map: Callable[..., ClusterMap]) -> None:
    chart = make_map()
    chart.plot.zoom(3)
    held = chart.plot.position_of(4)
    better = CORNERS * np.float32(0.8) + np.float32(1.5)
    better[4] = (2, 7)
    chart.set_points(PointGrid(better))
    assert abs(chart.plot.position_of(4).x() - held.x()) < 1
    assert abs(chart.plot.position_of(4).y() - held.y()) < 1
    chart.whole_map()
    chart.set_points(CORNERS)
    margin = chart.plot.viewport().rect()
    assert all(margin.contains(chart.plot.position_of(i).toPoint()) for i in range(5))


def test_a_resize_keeps_the_whole_map_in_view(make_map: Callable[..., ClusterMap], qapp: QApplication) -> None:
    chart = make_map()
    chart.resize(700, 300)
    qapp.processEvents()
    assert all(chart.plot.viewport().rect().contains(chart.plot.position_of(i).toPoint()) for i in range(5))


@pytest.mark.parametrize("points", [None, np.zeros((0, 2), np.float32)])
def test_before_there_is_a_layout_a_sentence_says_so(
    make_map: Callable[..., ClusterMap], points: np.ndarray | None
) -> None:
    chart = make_map(points)
    assert chart._frame.empty.isVisible()
    assert not chart.plot.isVisible()
    chart.set_pair(0, 1)
    chart.zoom_to_pair()
    chart.whole_map()
    assert chart.plot.item_at(QPointF(50, 50)) == -1
    chart.set_points(CORNERS)
    assert chart.plot.isVisible()
    chart.set_points(None)
    assert chart._frame.empty.isVisible()


@pytest.mark.parametrize(
    "points",
    [
        np.zeros((1, 2)),
        np.full((3, 2), 7.0),
        np.full((40, 2), 1e9),
        np.array([[0, 0], [1, 0], [2, 0]]),
        np.array([[0, 0], [1e-20, 0], [1e-20, 1e-20]]),
    ],
)
def test_odd_layouts_are_shown(make_map: Callable[..., ClusterMap], qapp: QApplication, points: np.ndarray) -> None:
    chart = make_map(points, np.zeros(len(points), np.int32))
    chart.set_pair(0, len(points) - 1)
    chart.zoom_to_pair()
    qapp.processEvents()
    chart.whole_map()
    qapp.processEvents()
    chart.grab()
    assert chart.plot.item_at(chart.plot.position_of(0)) >= 0


def test_labels_may_come_first_and_may_not_fit(make_map: Callable[..., ClusterMap], qtbot: QtBot) -> None:
    chart = make_map(None, LABELS)
    chart.set_pair(0, 4)
    chart.set_points(CORNERS)
    assert near(colour_at(chart, 1), cluster_colour(3))
    chart.set_points(CORNERS[:3])  # another project's layout: no colours, no pair, no clusters
    clicked: list[int] = []
    chart.itemClicked.connect(clicked.append)
    assert chart.status == "3 images"
    qtbot.mouseClick(chart.plot.viewport(), Qt.MouseButton.LeftButton, pos=chart.plot.position_of(2).toPoint())
    assert clicked == [2]


def test_a_screen_reader_hears_what_the_map_shows(make_map: Callable[..., ClusterMap]) -> None:
    chart = make_map(None)
    assert chart.accessibleName() == "Map of the images"
    assert "as soon as" in chart.accessibleDescription()
    chart.set_points(CORNERS)
    chart.set_pair(0, 1)
    assert chart.accessibleDescription() == "5 images · 2 clusters · 1 single · pair in cluster 3"
    assert chart.plot.accessibleDescription() == chart.accessibleDescription()
    for button in (chart._frame.whole, chart._frame.near):
        assert button.accessibleName()
        assert button.focusPolicy() == Qt.FocusPolicy.NoFocus


def test_a_click_does_not_take_the_focus(make_map: Callable[..., ClusterMap]) -> None:
    assert not make_map().plot.focusPolicy() & Qt.FocusPolicy.ClickFocus


def test_a_click_on_a_number_opens_its_cluster(make_map: Callable[..., ClusterMap], qtbot: QtBot) -> None:
    angle = np.tile(np.linspace(0, 6, 20), 3)  # rings: below the numbers there is no image
    ring = 6 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    chart = make_map(
        ring + np.repeat([[0, 0], [20, 0], [0, 20]], 20, axis=0), np.repeat([4, 5, 6], 20).astype(np.int32)
    )
    qtbot.waitUntil(lambda: len(chart.plot.names._placed) == 3)
    clusters: list[int] = []
    items: list[int] = []
    chart.clusterClicked.connect(clusters.append)
    chart.itemClicked.connect(items.append)
    for box, text, cluster in chart.plot.names._placed:
        assert text == str(cluster)
        qtbot.mouseClick(chart.plot.viewport(), Qt.MouseButton.LeftButton, pos=box.center().toPoint())
    assert clusters == [cluster for _, _, cluster in chart.plot.names._placed]
    assert items == []
    chart.set_names({5: "Molly"})
    chart._frame.outlines.trigger()
    chart.grab()
    assert chart.plot.names.cluster_at(box.center()) == -1
    chart._frame.outlines.trigger()
    chart.plot.show_items(np.arange(20, 40))
    chart.grab()
    assert "Molly" in [text for _, text, _ in chart.plot.names._placed]


def test_outlines_follow_the_clusters_and_never_vanish_between(
    make_map: Callable[..., ClusterMap], qtbot: QtBot
) -> None:
    labels = np.repeat([4, 5, 6], 20).astype(np.int32)
    chart = make_map(np.random.default_rng(0).normal(size=(60, 2)), labels)
    qtbot.waitUntil(lambda: len(chart.plot.hulls.hulls) == 3)
    merged = np.where(labels == 6, 4, labels).astype(np.int32)
    chart.set_labels(merged, np.flatnonzero(labels == 6))
    assert len(chart.plot.hulls.hulls) == 3
    qtbot.waitUntil(lambda: chart.plot.hulls.hulls.clusters.tolist() == [4, 5])
    assert chart.plot.hulls.hulls.sizes.tolist() == [40, 20]


def test_the_list_of_keys_is_complete(make_map: Callable[..., ClusterMap]) -> None:
    chart = make_map()
    chart._frame._keys.aboutToShow.emit()
    chart._frame._keys.aboutToShow.emit()
    assert len(chart._frame._keys.actions()) == 1


def test_a_map_that_nobody_holds_goes_at_once(qapp: QApplication, loader: ImageLoader) -> None:
    """A cycle of references would leave it to the collector, which may come in the middle of its own painting."""
    gc.disable()
    try:
        chart = ClusterMap(loader)
        chart.set_points(CORNERS)
        chart.set_labels(LABELS)
        chart.select([1, 2])
        gone = weakref.ref(chart)
        del chart
        assert gone() is None
    finally:
        gc.enable()


def test_answer_after_answer_looks_as_if_drawn_anew(qtbot: QtBot) -> None:
    """Only what changed is recoloured; nothing else may be needed."""
    rng = np.random.default_rng(5)
    points = rng.normal(size=(400, 2)).astype(np.float32)
    labels = rng.integers(0, 60, 400).astype(np.int32)
    junk = rng.random(400) < 0.1
    charts = [ClusterMap() for _ in range(2)]
    for chart in charts:
        qtbot.addWidget(chart)
        chart.set_points(points)
        chart.set_junk(junk)
    charts[0].set_labels(labels)
    for step in range(80):
        moved = rng.choice(400, rng.integers(1, 40), replace=False)
        if step % 3 == 0:
            moved = np.flatnonzero(labels == labels[moved[0]])  # a whole cluster
        labels = labels.copy()
        labels[moved] = rng.integers(0, 70) if step % 2 else labels.max() + 1 + np.arange(len(moved))
        charts[0].set_labels(labels, moved)
        charts[1].set_labels(labels)
        first, second = (chart.plot.points for chart in charts)
        np.testing.assert_array_equal(first._slots, second._slots)
        np.testing.assert_array_equal(first._shapes, second._shapes)
        assert charts[0].status == charts[1].status
        sizes = [np.trim_zeros(chart._data.sizes, "b").tolist() for chart in charts]
        assert sizes[0] == sizes[1]
