"""A real small project for tests of the pair page: drawn images, features, and the program's own bridge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw
from PySide6.QtWidgets import QMainWindow
from pytestqt.qtbot import QtBot

from a3s_desktop.core.types import Answer
from a3s_desktop.session.opening import create_project
from a3s_desktop.settings import SettingsStore
from a3s_desktop.storage.spec import ProjectSpec
from a3s_desktop.task import Task
from a3s_desktop.ui.bridge import Bridge
from a3s_desktop.ui.history_panel import HistoryPanel
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.jobs import Jobs
from a3s_desktop.ui.label_page import LabelPage
from a3s_desktop.ui.shortcuts import Shortcuts

INDIVIDUALS, PHOTOS = 6, 6


def make_project(folder: Path, *, motley: bool = False, parts: bool = False) -> Path:
    """Six individuals in six photos each; features overlap enough that a few dozen answers are needed.

    ``motley``: names and sizes of all kinds, folders, and some files that cannot be shown. ``parts``: the items are
    rectangles of the photos.
    """
    rng = np.random.default_rng(3)
    images = folder / "images"
    images.mkdir(parents=True)
    centres = rng.normal(size=(INDIVIDUALS, 8))
    rows = []
    for individual in range(INDIVIDUALS):
        for photo in range(PHOTOS):
            size = (320, 240) if photo % 2 else (240, 321)
            name = f"{individual}-{photo}"
            if motley:
                size = (40 * (photo + 1) ** 2, 30 + 200 * (individual % 3))
                name += ("", " long" * 35, "é" * 20, " \u202eabc", " 🐞 <b>bold", " x")[photo]
                (images / str(individual)).mkdir(exist_ok=True)
                name = f"{individual}/{name}"
            picture = Image.new("RGB", size, (40 + 30 * individual, 90, 200 - 30 * individual))
            ImageDraw.Draw(picture).text((20, 20), f"{individual}-{photo}", fill="white", font_size=60)
            picture.save(images / f"{name}.jpg")
            if motley and photo == 5:
                (images / f"{name}.jpg").write_bytes(b"\xff\xd8\xff no more than a beginning")
            rows.append(centres[individual] + rng.normal(0, 0.75, 8))
    features = folder / "features.npy"
    np.save(features, np.array(rows, np.float32))
    project = folder / "project"
    table = folder / "parts.csv"
    if parts:
        names = sorted(path.name for path in images.iterdir())
        table.write_text("\n".join(["file,x,y,width,height", *(f"{name},40,30,160,120" for name in names)]), "utf-8")
    create_project(ProjectSpec(project, images, (features,), parts=table if parts else None), Task()).close()
    return project


@dataclass
class Desk:
    """The pair page in a window of its own, on the real bridge."""

    qtbot: QtBot
    window: QMainWindow
    page: LabelPage
    history: HistoryPanel
    bridge: Bridge
    jobs: Jobs
    loader: ImageLoader
    shortcuts: Shortcuts
    settings: SettingsStore
    errors: list[object] = field(default_factory=list)

    def open(self, project: Path, read_only: bool = False) -> None:
        """Open and wait for the first pair (or the end)."""
        self.bridge.open(project, read_only)
        self.until(lambda: self.bridge.state is not None)
        if not read_only:
            self.until(self.waits)

    def waits(self) -> bool:
        """Whether the page waits for the person."""
        return self.page.ready or self.bridge.phase == "finished"

    def until(self, condition: Callable[[], bool]) -> None:
        """Run the event loop until something holds."""
        self.qtbot.waitUntil(condition, timeout=10_000)

    def truth(self) -> Answer:
        """The right answer to the pair on screen."""
        question, items = self.page.question, self.bridge.items
        assert question is not None
        assert items is not None
        same = items.name(question.left)[0] == items.name(question.right)[0]
        return Answer.SAME if same else Answer.DIFFERENT

    def close(self) -> None:
        """In the order of the program: project, workers, window."""
        self.bridge.close_project()
        self.jobs.shutdown()
        self.loader.shutdown()
        self.window.close()


def make_desk(qtbot: QtBot, settings: SettingsStore | None = None) -> Desk:
    """Build what ``ui/app.py`` builds, without the other pages."""
    store = settings or SettingsStore()
    window, shortcuts, loader, jobs = QMainWindow(), Shortcuts(store), ImageLoader(), Jobs()
    bridge = Bridge(jobs)
    page, history = LabelPage(bridge, loader, shortcuts, store), HistoryPanel(bridge, loader)
    shortcuts.setParent(window)
    window.setCentralWidget(page)
    shortcuts.attach(window)
    window.resize(1000, 700)
    desk = Desk(qtbot, window, page, history, bridge, jobs, loader, shortcuts, store)
    shortcuts.action("edit.undo").triggered.connect(bridge.undo)
    shortcuts.action("edit.redo").triggered.connect(bridge.redo)
    bridge.failed.connect(desk.errors.append)
    qtbot.addWidget(window)
    qtbot.addWidget(history)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    page.setFocus()
    return desk
