"""Corrections on a large project with the heartbeat on: ``python -m tests.ui.window_load --only clusters``.

20,000 images of the sizes and the clustering of the ladybird demo: a few hundred files, each shown under many names,
so that the project is made in a minute. What is measured is the window; the pictures are decoded as ever.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from a3s_desktop.core.types import InitialOptions
from a3s_desktop.session.opening import create_project
from a3s_desktop.storage.spec import ProjectSpec
from a3s_desktop.task import Task
from a3s_desktop.ui.heartbeat import Beats, Heartbeat
from a3s_desktop.ui.merge_preview import MergePreview
from a3s_desktop.ui.program import Program

_FILES = 300


def large_project(folder: Path, items: int) -> Path:
    """Groups of 1 to 60 photos of drawn beetles; features overlap so that the first clusters are partly wrong."""
    rng = np.random.default_rng(5)
    images = folder / "images"
    images.mkdir(parents=True)
    drawn = []
    for k in range(_FILES):
        picture = Image.new("RGB", (320, 240), tuple(int(v) for v in rng.integers(150, 230, 3)))
        pen = ImageDraw.Draw(picture)
        pen.ellipse((70, 40, 250, 200), fill=(190, 40 + k % 60, 30), outline="black", width=4)
        for x, y in rng.integers(60, 230, (2 + k % 6, 2)).tolist():
            pen.ellipse((x, y * 0.7, x + 24, y * 0.7 + 24), fill="black")
        drawn.append(folder / f"{k}.jpg")
        picture.save(drawn[-1])
    sizes: list[int] = []
    while sum(sizes) < items:
        sizes.append(min(int(rng.geometric(0.08)), 60, items - sum(sizes)))
    codes = np.repeat(np.arange(len(sizes)), sizes)
    for k in range(items):
        os.link(drawn[k % _FILES], images / f"beetle {k:06d}.jpg")
    centres = rng.normal(size=(len(sizes), 64))
    features = (centres[codes] + rng.normal(0, 0.55, (items, 64))).astype(np.float32)
    np.save(folder / "features.npy", features)
    project = folder / "project"
    spec = ProjectSpec(project, images, (folder / "features.npy",), initial=InitialOptions())
    create_project(spec, Task()).close()
    return project


def corrections_under_watch(
    program: Program, project: Path, wait: Callable[[Callable[[], bool], float], None]
) -> Iterator[tuple[str, Beats]]:
    """Open the gallery, sort, find, open a cluster, split, merge, look at 5,000 of the map and junk them; undo."""
    program.settings.change(confirm_from=0)
    program.show()
    program.shell.open_project(project)
    wait(lambda: program.label.ready, 120)
    wait(lambda: program.map_panel.map.plot.places is not None and len(program.map_panel.map.plot.places) > 0, 120)
    program.window.activateWindow()
    wait(program.window.isActiveWindow, 10)
    page, bridge, do = program.clusters_page, program.bridge, program.corrections
    gallery = page.gallery

    def quiet() -> bool:
        return bridge.phase != "storing" and not any(fetch.waiting for fetch in page._fetches.values())

    def watched(name: str, act: Callable[[], object], until: Callable[[], bool]) -> tuple[str, Beats]:
        with Heartbeat() as heart:
            act()
            wait(lambda: until() and quiet(), 120)
            pause(wait)
        return name, heart.result()

    def key(widget: QWidget, pressed: Qt.Key) -> None:
        program.window.activateWindow()  # off the screen nobody gives the focus back when a dialog closes
        wait(program.window.isActiveWindow, 10)
        QTest.keyClick(widget, pressed)

    def changed(act: Callable[[], object]) -> tuple[Callable[[], object], Callable[[], bool]]:
        before = bridge.state.revision if bridge.state else 0
        return act, lambda: bridge.state is not None and bridge.state.revision > before

    yield watched("open the gallery", program.clusters_desk.show_clusters, lambda: bool(gallery.ids()))
    for order in range(1, 4):
        name = f"sort {gallery.order.itemText(order)!r}"
        yield watched(name, lambda order=order: gallery.order.setCurrentIndex(order), lambda: True)
    yield watched("scroll", lambda: _scroll(gallery.grid, wait), lambda: True)
    yield watched("find a file", lambda: gallery.search.setText("00123"), lambda: 0 < len(gallery.ids()) < 20)
    gallery.search.clear()
    wait(lambda: len(gallery.ids()) > 100, 20)
    gallery.order.setCurrentIndex(0)
    largest = gallery.ids()[0]
    yield watched("open a cluster", lambda: page.open_cluster(largest), lambda: page.pane.cluster == largest)
    page.pane.grid.choose([0, 1, 2], 0)
    yield watched("split off", *changed(lambda: key(page.pane.grid, Qt.Key.Key_S)))
    page.show_all()
    wait(quiet, 60)
    first, second = gallery.ids()[:2]
    do.merge(first, second)
    preview = next(w for w in program.window.findChildren(MergePreview))
    yield watched("merge", *changed(preview.merge_button.click))
    yield watched("undo", *changed(bridge.undo))
    yield watched("single images", page.show_singles, lambda: bool(page.singles.list.rows))
    yield watched("accept a home", *changed(lambda: key(page.singles.list, Qt.Key.Key_A)))
    items = tuple(range(5000))
    chart = program.map_panel.map
    yield watched("lasso 5,000", lambda: chart.select(items), lambda: len(chart.selection) == len(items))
    yield watched("open 5,000", lambda: page.open_items(items), lambda: len(page.pane.items) == len(items))
    yield watched("select all 5,000", page.pane.grid.selectAll, lambda: True)
    yield watched("junk 5,000", *changed(lambda: do.junk(items)))
    yield watched("undo 5,000", *changed(bridge.undo))


def pause(wait: Callable[[Callable[[], bool], float], None]) -> None:
    """Half a second in which pictures come."""
    end = time.monotonic() + 0.5
    wait(lambda: time.monotonic() > end, 5)


def _scroll(grid: object, wait: Callable[[Callable[[], bool], float], None]) -> None:
    bar = grid.verticalScrollBar()  # type: ignore[attr-defined]
    for step in range(20):
        bar.setValue(bar.maximum() * step // 20)
        end = time.monotonic() + 0.05
        wait(lambda end=end: time.monotonic() > end, 1)
