"""A whole run of the program in one process: ``python -m tests.e2e.whole_run FOLDER [--window]``.

Makes a project from images, exports it in every format, backs it up, adds images; with ``--window``, the real window
(off the screen) is opened on it, answers, shows every page, meets a bug, and is closed. `test_whole_run` looks at what
is on the disk then.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from a3s_desktop.cli import main

PATIENCE = 150.0  # seconds, on a busy machine


def make_images(folder: Path, first: int, count: int) -> None:
    """Photos that are large enough for small copies to be kept of them."""
    folder.mkdir()
    for number in range(first, first + count):
        rng = np.random.default_rng(number)
        base = np.random.default_rng(number % 4).integers(0, 160, (6, 6, 3))
        pixels = np.kron(base, np.ones((40, 40, 1))) + rng.integers(0, 90, (240, 240, 3))
        Image.fromarray(pixels.astype(np.uint8)).save(folder / f"photo-{number:02}.png")


def run(*words: object) -> None:
    """One command, which must do."""
    code = main([str(word) for word in words])
    if code:
        raise SystemExit(f"{words} ended with {code}")


def commands(folder: Path) -> Path:
    """Everything that needs no window."""
    project, out = folder / "project", folder / "out"
    make_images(folder / "photos", 0, 16)
    make_images(folder / "more", 16, 4)
    run("new", project, "--images", folder / "photos", "--no-embeddings")
    out.mkdir()
    run("backup", project)
    run("add", project, "--images", folder / "more")
    for form, name in (("csv", "a.csv"), ("json", "a.json"), ("folders", "f"), ("report", "r.html")):
        run("export", project, "--format", form, "--out", out / name)
    run("embed", "--images", folder / "more", "--out", out / "features.npz")
    run("check", project)
    return project


def window(project: Path) -> None:
    """The real window, until it is closed."""
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication

    from a3s_desktop.ui.app import main as gui
    from a3s_desktop.ui.app import make_application

    steps = work()
    end = time.monotonic() + PATIENCE
    waiting: list[Callable[[], object]] = [lambda: True]

    def step() -> None:
        if time.monotonic() > end:
            sys.stderr.write("The window did not come to its end.\n")
            QApplication.exit(3)
        elif waiting[0]():
            waiting[0] = next(steps, lambda: False)

    app = make_application()
    timer = QTimer(app, interval=20)
    timer.timeout.connect(step)
    timer.start()
    code = gui(project)
    timer.stop()
    if code:
        raise SystemExit(code)


def work() -> Iterator[Callable[[], object]]:
    """What is done in the window; each step gives what has to be waited for."""
    from PySide6.QtWidgets import QApplication, QFileDialog

    from a3s_desktop.ui.dialogs import CrashDialog
    from a3s_desktop.ui.label_page import LabelPage
    from a3s_desktop.ui.main_window import MainWindow

    def shown(kind: type) -> list:
        return [w for w in QApplication.topLevelWidgets() if isinstance(w, kind) and w.isVisible()]

    yield lambda: shown(MainWindow) and shown(MainWindow)[0].working
    main_window = shown(MainWindow)[0]
    action = main_window._shortcuts.action
    page = main_window.findChild(LabelPage)
    for name in ("answer.same", "answer.different", "edit.undo"):
        yield lambda: page.ready
        action(name).trigger()
    yield lambda: page.ready
    for name in ("panel.history", "panel.progress", "panel.cluster", "page.clusters"):
        action(name).trigger()
        begun = time.monotonic()
        yield lambda begun=begun: time.monotonic() > begun + 0.1
    action("theme.dark").trigger()
    action("project.open").trigger()
    yield lambda: shown(QFileDialog)
    shown(QFileDialog)[0].reject()
    yield lambda: not shown(QFileDialog)
    sys.excepthook(ValueError, ValueError("made by the test"), None)  # as a slot that breaks does
    yield lambda: shown(CrashDialog)
    shown(CrashDialog)[0].reject()
    yield lambda: not shown(CrashDialog)
    main_window.close()


if __name__ == "__main__":
    place = Path(sys.argv[1])
    made = commands(place)
    if "--window" in sys.argv:
        window(made)
