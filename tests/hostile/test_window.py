"""Names that look like markup, turn the direction of writing, break lines or never end, in the real window."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QAbstractListModel, QModelIndex
from PySide6.QtGui import QAction, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QDockWidget,
    QGroupBox,
    QLabel,
    QStatusBar,
    QTabBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from a3s_desktop.errors import InputError
from a3s_desktop.session.opening import create_project, open_session
from a3s_desktop.session.operations import Rename
from a3s_desktop.storage.project_file import PROJECT_FILE
from a3s_desktop.storage.spec import ProjectSpec
from a3s_desktop.task import Task
from a3s_desktop.ui.dialogs import show_error
from tests.ui.walk import described, running, screens

MARKUP = "<img src=x><b>Q&Q<h1>"
ACTING = "\u202egpj.\u2066\x1b[31m\nnext\r\u2028"
NASTY = f"{MARKUP}{ACTING}"
LONG = "W" * 10_000
RAW = re.compile("[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f\x7f-\x9f]|\nnext")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="such names cannot be there")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six individuals in six photos, all of whose names are nasty; named clusters; a name and a place like that."""
    folder = tmp_path_factory.mktemp("names")
    rng = np.random.default_rng(3)
    images = folder / f"pictures {NASTY}"
    images.mkdir()
    centres, names = rng.normal(size=(6, 8)), []
    for individual in range(6):
        for photo in range(6):
            more = (NASTY, MARKUP, ACTING, " &amp;&lt;b&gt;", "x" * 200, " {} %s {name}")[photo]
            names.append(f"{individual}{more}{photo}.png")
            Image.new("RGB", (64, 48), (40 + 30 * individual, 90, 200 - 30 * photo)).save(images / names[-1], "PNG")
    rows = [centres[int(name[0])] + rng.normal(0, 0.75, 8) for name in sorted(names)]
    np.save(folder / "features.npy", np.array(rows, np.float32))
    project = folder / "project"
    create_project(ProjectSpec(project, images, (folder / "features.npy",)), Task()).close()
    facts = json.loads((project / PROJECT_FILE).read_text())
    (project / PROJECT_FILE).write_text(json.dumps({**facts, "name": NASTY + LONG}))
    session, _ = open_session(project)
    for at, cluster in enumerate(np.unique(session.state.labels).tolist()[:12]):
        for name in (f"{at} {NASTY}", f"{at} {MARKUP}", f"{at} x"):
            try:
                session.perform(Rename(cluster, name))
                break
            except InputError:
                continue
    session.close()
    return project


def texts(top: QWidget) -> Iterator[tuple[str, str, str]]:
    """Every text of a window that is in sight: kind, where, what."""
    for widget in (top, *top.findChildren(QWidget)):
        if not widget.isVisible():
            continue
        where = described(widget)
        yield "tip", where, widget.toolTip()
        yield "accessible", where, widget.accessibleName()
        yield "accessible", where, widget.accessibleDescription()
        yield "plain", where, widget.windowTitle() if widget.isWindow() else ""
        if isinstance(widget, QLabel):
            plain = widget.textFormat() == Qt.TextFormat.PlainText
            yield "plain" if plain else "markup", where, widget.text()
        elif isinstance(widget, QAbstractButton):
            yield "mnemonic", where, widget.text()
        elif isinstance(widget, QGroupBox):
            yield "mnemonic", where, widget.title()
        elif isinstance(widget, QDockWidget):
            yield "mnemonic", where, widget.windowTitle()
        elif isinstance(widget, QTabBar):
            for at in range(widget.count()):
                yield "mnemonic", where, widget.tabText(at)
        elif isinstance(widget, QStatusBar):
            yield "plain", where, widget.currentMessage()
        elif isinstance(widget, QComboBox):
            for at in range(widget.count()):
                yield "plain", where, widget.itemText(at)
        elif isinstance(widget, QAbstractItemView) and widget.model() is not None:
            yield from _cells(widget, where)
    for action in top.findChildren(QAction):
        yield "mnemonic", action.objectName(), action.text()


def _cells(view: QAbstractItemView, where: str) -> Iterator[tuple[str, str, str]]:
    model = view.model()
    for row in range(min(40, model.rowCount(QModelIndex()))):
        for column in range(1 if isinstance(model, QAbstractListModel) else model.columnCount(QModelIndex())):
            index = model.index(row, column, QModelIndex())
            for kind, role in (
                ("plain", Qt.ItemDataRole.DisplayRole),
                ("tip", Qt.ItemDataRole.ToolTipRole),
                ("accessible", Qt.ItemDataRole.AccessibleTextRole),
            ):
                value = index.data(role)
                if isinstance(value, str):
                    yield kind, where, value


def problem(kind: str, text: str) -> str:
    """What is wrong with a text; empty where nothing is."""
    if RAW.search(text):
        return "acts"
    if kind in ("tip", "markup") and Qt.mightBeRichText(text) and re.search("<img|<h1>|<b>Q", text):
        return "is taken for markup"
    if kind == "mnemonic" and re.search("Q&Q|(?<!&)&amp;|(?<!&)&lt;", text):
        return "loses its &"
    if len(text) > 3000:
        return "never ends"
    return ""


def test_names_are_read_and_do_nothing(qtbot: QtBot, qapp: QApplication, tmp_path: Path, project: Path) -> None:
    """All pages, panels and dialogs of the window."""
    found: dict[str, str] = {}
    seen = 0
    with running(qtbot, tmp_path, project) as program:
        recent = tmp_path / f"recent {NASTY}"
        shutil.copytree(project, recent)
        program.shell._settings.change(annotator=NASTY, recent=[str(recent), f"/gone {NASTY}"])
        for name, _ in screens(program, qtbot):
            if name == "error":
                continue
            for window in [w for w in QApplication.topLevelWidgets() if w.isVisible()]:
                for kind, where, text in texts(window):
                    seen += "Q&" in text or "Q&amp;" in text
                    wrong = problem(kind, text)
                    if wrong:
                        found.setdefault(f"{wrong}: {kind} of {where}", f"{name}: {text[:120]!r}")
        show_error(program.window, InputError(NASTY, NASTY))
        for window in [w for w in QApplication.topLevelWidgets() if w.isVisible()]:
            for kind, where, text in texts(window):
                if problem(kind, text):
                    found.setdefault(f"{problem(kind, text)}: {kind} of {where}", f"message: {text[:120]!r}")
            if window is not program.window:
                window.close()
    shutil.rmtree(tmp_path, ignore_errors=True)
    assert not found, "\n".join(f"{key}\n    {value}" for key, value in sorted(found.items()))
    assert seen > 50  # the names were there to be seen
