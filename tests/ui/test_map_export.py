"""The map as a picture in a file."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from a3s_desktop.errors import StorageFailedError
from a3s_desktop.settings import SettingsStore
from a3s_desktop.storage import files
from a3s_desktop.ui import map_svg
from a3s_desktop.ui.cluster_map import ClusterMap
from a3s_desktop.ui.dialogs import MessageDialog
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.jobs import Jobs
from a3s_desktop.ui.main_window import MainWindow
from a3s_desktop.ui.map_colours import ColourBy
from a3s_desktop.ui.map_export import MapExport, write_picture
from a3s_desktop.ui.map_panel import MapPanel
from a3s_desktop.ui.map_picture import MapPicture
from a3s_desktop.ui.map_png import png_bytes
from a3s_desktop.ui.map_sheet import sheet_of
from a3s_desktop.ui.map_svg import svg_text
from a3s_desktop.ui.shortcuts import Shortcuts
from tests.ui.map_load import clustered
from tests.ui.map_tools import GRID, LABELS, Names

SVG = "{http://www.w3.org/2000/svg}"


def fill(chart: ClusterMap, qtbot: QtBot) -> None:
    chart.set_items(Names([f"{i}.png" for i in range(20)]))
    chart.set_points(GRID)
    chart.set_labels(LABELS)
    chart.set_names({3: "Tom & <Jerry>\x00 \N{BEETLE}"})
    qtbot.waitUntil(lambda: not chart.plot._work.isActive())


@pytest.fixture
def chart(qtbot: QtBot, qapp: QApplication) -> ClusterMap:
    made = ClusterMap()
    qtbot.addWidget(made)
    fill(made, qtbot)
    return made


def tree(picture: MapPicture) -> ElementTree.Element:
    return ElementTree.fromstring(svg_text(picture).encode())


def test_svg_holds_every_image_as_a_circle_in_its_clusters_group(chart: ClusterMap) -> None:
    picture = chart.picture()
    root, sheet = tree(picture), sheet_of(picture)
    groups = {g.get("id"): g for g in root.iter(f"{SVG}g") if (g.get("id") or "").startswith("cluster-")}
    assert set(groups) == {"cluster-3", "cluster-8", "cluster-9", "cluster-11"}
    circles = groups["cluster-8"].findall(f"{SVG}circle")
    assert len(circles) == 5
    first = circles[0]
    assert float(first.get("cx")) == pytest.approx(float(sheet.x(GRID[5:6, 0])[0]), abs=0.06)
    assert float(first.get("cy")) == pytest.approx(float(sheet.y(GRID[5:6, 1])[0]), abs=0.06)
    assert first.get("fill") == picture.palette[int(picture.slots[5])]
    assert float(circles[0].get("cy")) > float(groups["cluster-9"].find(f"{SVG}circle").get("cy"))  # y is up
    outlines = next(g for g in root.iter(f"{SVG}g") if g.get("id") == "outlines")
    assert len(outlines.findall(f"{SVG}path")) == 4
    texts = [t.text or "" for t in root.iter(f"{SVG}text")]
    assert any(t.startswith("Tom & <Jerry>") for t in texts)
    assert "20 images · 4 clusters · 0 single" in texts


def test_svg_shows_junk_and_what_is_confirmed_by_shape(chart: ClusterMap) -> None:
    chart.set_confirmed(np.arange(20) < 10)
    chart.set_junk(np.arange(20) == 19)
    chart.set_colour_by(ColourBy.CONFIRMED)
    points = next(g for g in tree(chart.picture()).iter(f"{SVG}g") if g.get("id") == "points")
    rings = [c for c in points.iter(f"{SVG}circle") if c.get("fill") == "none"]
    assert len(rings) == 9
    assert len(list(points.iter(f"{SVG}path"))) == 1


def test_svg_of_many_images_is_bounded(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(map_svg, "SINGLE_CIRCLES", 100)
    monkeypatch.setattr(map_svg, "MOST_POINTS", 2000)
    points, labels = clustered(30_000)
    chart = ClusterMap()
    qtbot.addWidget(chart)
    chart.set_points(points)
    chart.set_labels(labels)
    group = next(g for g in tree(chart.picture()).iter(f"{SVG}g") if g.get("id") == "points")
    drawn = sum(path.get("d").count("M") for path in group.iter(f"{SVG}path"))
    assert 500 < drawn <= 2000
    assert len(list(group)) <= 18


def test_png_shows_the_points_where_the_sheet_has_them(chart: ClusterMap) -> None:
    picture = chart.picture()
    image = Image.open(io.BytesIO(png_bytes(picture, 1200)))
    assert image.format == "PNG"
    assert max(image.size) == 1200
    sheet = sheet_of(picture)
    scale = image.width / sheet.width
    for item in (5, 14):  # not below a name
        at = (int(sheet.x(GRID[item : item + 1, 0])[0] * scale), int(sheet.y(GRID[item : item + 1, 1])[0] * scale))
        wanted = QColor(picture.palette[int(picture.slots[item])]).getRgb()[:3]
        assert all(abs(a - b) < 30 for a, b in zip(image.getpixel(at), wanted, strict=True))
    assert image.getpixel((2, 2)) == QColor(picture.theme.surface).getRgb()[:3]
    assert max(Image.open(io.BytesIO(png_bytes(picture, 100_000))).size) == 4000


@pytest.mark.parametrize("points", [np.zeros((1, 2)), np.full((3, 2), 7.0), np.array([[0, 0], [1, 0], [2, 0]])])
def test_odd_maps_can_be_saved(qtbot: QtBot, points: np.ndarray) -> None:
    chart = ClusterMap()
    qtbot.addWidget(chart)
    chart.set_points(points)
    assert len(png_bytes(chart.picture(), 600)) > 500  # without labels
    chart.set_labels(np.zeros(len(points), np.int32))
    circles = list(
        next(g for g in tree(chart.picture()).iter(f"{SVG}g") if g.get("id") == "points").iter(f"{SVG}circle")
    )
    assert len(circles) == len(points)


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_writing_replaces_only_when_told_and_is_all_or_nothing(
    chart: ClusterMap, tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"map \N{BEETLE}.{suffix}"
    assert write_picture(chart.picture(), path, False).written
    first = path.read_bytes()
    assert first.startswith(b"\x89PNG" if suffix == "png" else b"<?xml")
    path.write_bytes(b"mine")
    assert not write_picture(chart.picture(), path, False).written
    assert path.read_bytes() == b"mine"

    def full(*_args: object) -> None:
        raise OSError(28, "no space")

    monkeypatch.setattr(files, "write_all", full)
    with pytest.raises(StorageFailedError, match="disk is full"):
        write_picture(chart.picture(), path, True)
    monkeypatch.undo()
    assert path.read_bytes() == b"mine"
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    assert write_picture(chart.picture(), path, True).written
    assert path.read_bytes() == first


@pytest.fixture
def flow(qtbot: QtBot, qapp: QApplication) -> Iterator[tuple[MainWindow, MapPanel, MapExport]]:
    settings = SettingsStore(None)
    window = MainWindow(Shortcuts(settings), settings)
    loader, jobs = ImageLoader(threads=1), Jobs()
    panel = MapPanel(loader)
    window.add_page(panel)
    qtbot.addWidget(window)
    fill(panel.map, qtbot)
    window.show()
    yield window, panel, MapExport(window, panel, jobs, settings)
    jobs.shutdown(wait=True)
    loader.shutdown()


def test_the_menu_asks_where_to_and_before_it_replaces(
    flow: tuple[MainWindow, MapPanel, MapExport], qtbot: QtBot, tmp_path: Path
) -> None:
    window, panel, export = flow
    path = tmp_path / "map.svg"
    panel.map._frame.save.trigger()
    dialog = window.findChild(QFileDialog)
    assert dialog.acceptMode() == QFileDialog.AcceptMode.AcceptSave
    dialog.reject()
    export.save(str(path))
    qtbot.waitUntil(path.exists)
    qtbot.waitUntil(lambda: str(path) in window.statusBar().currentMessage())
    path.write_bytes(b"mine")
    panel.map._frame.save.trigger()
    for choice, replaced in (("close", False), ("replace", True)):
        export.save(str(path))
        qtbot.waitUntil(lambda: any(d.isVisible() for d in window.findChildren(MessageDialog)))
        question = next(d for d in window.findChildren(MessageDialog) if d.isVisible())
        question.chosen.emit(choice)
        question.close()
        if replaced:
            qtbot.waitUntil(lambda: path.read_bytes() != b"mine")
        else:
            assert path.read_bytes() == b"mine"


def test_a_folder_that_is_gone_is_said_in_words(
    flow: tuple[MainWindow, MapPanel, MapExport], qtbot: QtBot, tmp_path: Path
) -> None:
    window, panel, export = flow
    panel.map._frame.save.trigger()
    export.save(str(tmp_path / "gone" / "map.png"))
    qtbot.waitUntil(lambda: any(d.isVisible() for d in window.findChildren(MessageDialog)))
    question = next(d for d in window.findChildren(MessageDialog) if d.isVisible())
    assert question.windowTitle() == "Map not saved"
    question.close()
