"""The demo without a person: the real window off the screen, real key events, answers by the true labels.

It makes a project through the form, answers, undoes and redoes, exports, and leaves a picture of every screen and a
table of results. What it does is what a person would do; nothing is called behind the window's back.
"""

from __future__ import annotations

import csv
import io
import logging
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PySide6.QtCore import (
    QBuffer,
    QEvent,
    QEventLoop,
    QIODevice,
    QMessageLogContext,
    Qt,
    QtMsgType,
    qInstallMessageHandler,
)
from PySide6.QtGui import QColor, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from a3s_desktop.core.metrics import ari, nmi
from a3s_desktop.demo.data import DemoData
from a3s_desktop.demo.project import demo_data
from a3s_desktop.errors import A3SError
from a3s_desktop.logs import qt_level
from a3s_desktop.session.state import QuestionView, SessionState
from a3s_desktop.settings import SettingsStore
from a3s_desktop.storage import files
from a3s_desktop.storage.matching import Labels, load_labels
from a3s_desktop.ui.dialogs import MessageDialog
from a3s_desktop.ui.export_dialog import ExportDialog
from a3s_desktop.ui.heartbeat import Heartbeat
from a3s_desktop.ui.jobs import Worker
from a3s_desktop.ui.pair_area import PairArea
from a3s_desktop.ui.program import Program
from a3s_desktop.ui.theme import apply_theme, icon

log = logging.getLogger("qt")

SIZE = (1440, 900)
EVERY = 10  # answers between two lines of the table
TO_THE_END = 400  # further answers that are given to reach the end, for its picture


@dataclass(slots=True)
class Results:
    """What the run measured."""

    data: str
    items: int = 0
    classes: int = 0
    init_seconds: float = 0.0
    curve: list[tuple[int, int, int, float, float]] = field(default_factory=list)
    latency_ms: list[float] = field(default_factory=list)
    beats: str = ""
    pictures: list[str] = field(default_factory=list)
    finished_after: int | None = None


def auto_demo(out: Path, answers: int = 60, data: str = "ladybirds") -> Path:
    """Run the demo by itself.

    Parameters
    ----------
    out : Path
        Folder of the pictures and tables; made where it is not there. Files of earlier runs are replaced.
    answers : int
        Pairs to be answered before the results are written.
    data : str
        "ladybirds" or "digits".

    Returns
    -------
    Path
        ``out``.

    Raises
    ------
    A3SError
        A step did not come to its end; the message says which.
    """
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    files.make_folders(out)
    log.addHandler(logging.NullHandler())  # what the platform without a screen cannot do is no news to anybody
    former = qInstallMessageHandler(log_qt)
    try:
        return _run(out, answers, data)
    finally:
        qInstallMessageHandler(former)


def _run(out: Path, answers: int, data: str) -> Path:
    existing = QApplication.instance()
    app = existing if isinstance(existing, QApplication) else QApplication(["a3s-desktop"])
    app.setWindowIcon(icon("app", size=256))
    apply_theme(app, "light")
    with files.scratch_folder() as scratch:
        settings = SettingsStore(None)
        settings.change(theme="light", last_folder=scratch)
        program = Program(settings, Path(scratch) / "demos")
        driver = Driver(app, program, Path(scratch), out, Results(data))
        try:
            driver.run(data, answers)
        finally:
            program.shutdown()
            app.processEvents()
            app.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # the window goes before the application
    return out


class Driver:
    """The hands on the keyboard.

    Attributes
    ----------
    patience : float
        Seconds after which something that was waited for counts as failed.
    """

    patience = 120.0

    def __init__(self, app: QApplication, program: Program, scratch: Path, out: Path, results: Results) -> None:
        self._app = app
        self._program = program
        self._scratch = scratch
        self._out = out
        self._results = results
        self._labels: Labels | None = None
        self._error: BaseException | None = None

    def run(self, data: str, answers: int) -> None:
        """All steps, one after the other."""
        window = self._program.window
        window.setWindowState(Qt.WindowState.WindowNoState)  # the screen that is not there counts as a small one
        window.resize(*SIZE)
        self._program.show()
        self.wait(window.isActiveWindow, "the window to become active", 10)
        self.picture("1-start")
        self._make_project(self._write_data(data), data)
        for name in ("map", "cluster", "history", "progress"):
            self._program.window.dock(name).show()  # on a small screen they are hidden at first
        self._program.window.dock("cluster").raise_()
        self._look_at_the_pair()
        with Heartbeat() as heart:
            self._answer(answers)
        self._results.beats = str(heart.result()).splitlines()[0]
        self._look_at_the_panels()
        self._export()
        self._to_the_end()
        self._write_results()

    # Steps

    def _write_data(self, name: str) -> DemoData:
        written: list[DemoData] = []
        self._program.jobs.submit(
            Worker.BACKGROUND, demo_data, name, self._scratch / "demos", done=written.append,
            failed=self._note_error, with_task=True,
        )  # fmt: skip
        self.wait(lambda: bool(written), "the demo's pictures")
        return written[0]

    def _make_project(self, data: DemoData, name: str) -> None:
        program, page = self._program, self._program.pages.new
        program.shortcuts.action("project.new").trigger()
        page.images.set_path(data.images)
        page.features.add(str(data.features))
        page.order.set_path(data.order)
        page.location.set_path(self._scratch)
        page.name.setText(f"{name.capitalize()} demo")
        self.wait(page.create_button.isEnabled, "the check of the new project")
        self.picture("2-new-project")
        reports: list[object] = []
        program.creator.progressed.connect(reports.append)
        started = time.monotonic()
        QTest.mouseClick(page.create_button, Qt.MouseButton.LeftButton)
        self.wait(lambda: len(reports) >= 4 or program.label.ready, "the first stages")
        self.picture("3-progress")
        self.wait(lambda: program.label.ready, "the first pair")
        self._results.init_seconds = time.monotonic() - started
        items = program.bridge.items
        assert items is not None
        with ThreadPoolExecutor(1) as pool:  # of very many images it takes a while
            loading = pool.submit(load_labels, data.labels, len(items), items.paths, str(data.images))
            self.wait(loading.done, "the true names")
        self._labels = loading.result()
        self._results.items, self._results.classes = len(items), len(self._labels.names)
        self._note()

    def _look_at_the_pair(self) -> None:
        self._settle()
        self.picture("4-pair-light")
        self._program.shortcuts.action("theme.dark").trigger()
        self._settle()
        self.picture("5-pair-dark")

    def _answer(self, answers: int) -> None:
        for number in range(1, answers + 1):
            question = self._current()
            if question is None:
                break
            self._give(question)
            if number == max(answers // 2, 1):
                self._undo_and_redo()
            if number % EVERY == 0 or number == answers:
                self._note()

    def _undo_and_redo(self) -> None:
        bridge = self._program.bridge
        before = _pair(bridge.state)
        for keys, name in (("edit.undo", "undo"), ("edit.redo", "redo")):
            revision = bridge.state.revision if bridge.state else 0
            self.press(keys)
            self.wait(lambda old=revision: bridge.state is not None and bridge.state.revision > old, name)  # type: ignore[misc]
            self._ready()
        if _pair(bridge.state) != before:
            raise A3SError("Undo and redo did not come back to the same pair.")

    def _look_at_the_panels(self) -> None:
        program, window = self._program, self._program.window
        state = program.bridge.state
        assert state is not None
        sizes = np.bincount(state.labels)
        program.panels.show_cluster(int(sizes.argmax()))
        self._settle(0.4)
        self.picture("7-cluster")
        history = window.dock("history")
        history.show()
        history.raise_()
        self._settle(0.4)
        self.picture("8-history")
        panels = [window.dock(name) for name in ("map", "cluster", "history")]
        former = panels[0].width()
        window.resizeDocks(panels, [SIZE[0] * 3 // 5] * 3, Qt.Orientation.Horizontal)
        window.resizeDocks(panels[:2], [5, 2], Qt.Orientation.Vertical)
        self._settle(0.6)
        self.picture("6-map")
        window.resizeDocks(panels, [former] * 3, Qt.Orientation.Horizontal)
        window.resizeDocks(panels[:2], [3, 2], Qt.Orientation.Vertical)
        self._settle()

    def _export(self) -> None:
        exported: list[Path] = []
        self._program.export_flow.exported.connect(exported.append)
        self.press("project.export")
        self.wait(lambda: self._dialog(ExportDialog) is not None, "the export dialog")
        dialog = self._dialog(ExportDialog)
        assert isinstance(dialog, ExportDialog)
        target = self._scratch / "export.csv"
        dialog.path.setText(str(target))
        self._settle(0.1)
        self.picture("9-export")
        QTest.mouseClick(dialog.export_button, Qt.MouseButton.LeftButton)
        self.wait(lambda: bool(exported), "the export")
        files.copy_file(target, self._out / "clusters.csv")
        # Off the screen there is no window manager that would give the focus back when the dialog closes.
        window = self._program.window
        self.wait(lambda: self._dialog(ExportDialog) is None, "the dialog to close")
        window.activateWindow()
        self.wait(window.isActiveWindow, "the window to become active")

    def _to_the_end(self) -> None:
        for _ in range(TO_THE_END):
            question = self._current()
            if question is None:
                break
            self._give(question, timed=False)
        state = self._program.bridge.state
        if state is not None and state.question is None:
            self._results.finished_after = state.answers
            self._note()
            self._settle()
            self.picture("10-finished")

    # Small moves

    def press(self, action: str) -> None:
        """Press the first key of an action, where the focus is."""
        if self._app.activeWindow() is None:  # a dialog was the active window, and went; nobody clicks here
            self.wait(self._comes_forward, "the window to come forward")
        key = self._program.shortcuts.action(action).shortcuts()[0][0]  # type: ignore[index]  # not in Qt's stubs
        target = self._app.focusWidget() or self._program.window
        QTest.keyClick(target, key.key(), key.keyboardModifiers())

    def _comes_forward(self) -> bool:
        self._program.window.activateWindow()
        return self._app.activeWindow() is not None

    def _give(self, question: QuestionView, timed: bool = True) -> None:
        bridge, labels = self._program.bridge, self._labels
        assert labels is not None
        same = labels.codes[question.left] == labels.codes[question.right]
        started = time.perf_counter()
        painted: list[float] = []

        def note(_question: object) -> None:
            painted.append(time.perf_counter())

        connection = bridge.pairPainted.connect(note)
        try:
            self.press("answer.same" if same else "answer.different")
            self.wait(lambda: bridge.state is not None and _id(bridge.state) != question.id, "an answer to be stored")
            self._ready()
        finally:
            bridge.pairPainted.disconnect(connection)
        if timed and painted:
            self._results.latency_ms.append((painted[0] - started) * 1000)

    def _current(self) -> QuestionView | None:
        self._ready()
        state = self._program.bridge.state
        return state.question if state is not None else None

    def _ready(self) -> None:
        label, bridge = self._program.label, self._program.bridge
        self.wait(lambda: label.ready or bridge.phase == "finished", "the next pair")

    def _note(self) -> None:
        state, labels = self._program.bridge.state, self._labels
        assert state is not None
        assert labels is not None
        line = (
            state.answers, state.clusters, state.singletons,
            nmi(state.labels, labels.codes), ari(state.labels, labels.codes),
        )  # fmt: skip
        if not self._results.curve or self._results.curve[-1][0] != state.answers:
            self._results.curve.append(line)

    def _dialog(self, kind: type) -> object | None:
        return next((w for w in self._app.topLevelWidgets() if isinstance(w, kind) and w.isVisible()), None)

    def _settle(self, seconds: float = 0.25) -> None:
        area = self._program.label.findChild(PairArea)
        if area is not None:
            area.stop_flash()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._app.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)
            time.sleep(0.002)

    def wait(self, condition: Callable[[], bool], what: str, seconds: float | None = None) -> None:
        """Let the window live until the condition holds. Raises `A3SError` after the time, or where a message is up."""
        end = time.monotonic() + (self.patience if seconds is None else seconds)
        while not condition():
            self._app.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)
            message = self._dialog(MessageDialog)
            if isinstance(message, MessageDialog):
                raise A3SError(f"The demo met a problem: {message.message.text()}", message.hint.text())
            if self._error is not None:
                raise self._error
            if time.monotonic() > end:
                raise A3SError(f"The demo waited in vain for {what}.")
            time.sleep(0.001)

    def picture(self, name: str) -> None:
        """A picture of the window, with an open dialog on it."""
        window = self._program.window
        self._settle(0.1)
        image = window.grab()
        dialog = self._dialog(ExportDialog)
        if isinstance(dialog, ExportDialog):
            painter = QPainter(image)
            shown = dialog.grab()
            painter.fillRect(window.rect(), QColor(0, 0, 0, 110))
            painter.drawPixmap((window.width() - dialog.width()) // 2, (window.height() - dialog.height()) // 2, shown)
            painter.end()
        path = self._out / f"{name}.png"
        data = QBuffer()
        data.open(QIODevice.OpenModeFlag.WriteOnly)
        image.save(data, "PNG")
        files.atomic_write(path, bytes(data.data().data()))
        self._results.pictures.append(path.name)

    def _note_error(self, error: BaseException) -> None:
        self._error = error  # raised by `wait`: an exception in a slot would only be printed

    # Results

    def _write_results(self) -> None:
        results = self._results
        header = ("answers", "clusters", "singletons", "nmi", "ari")
        table = io.StringIO()
        writer = csv.writer(table, lineterminator="\n")
        writer.writerow(header)
        writer.writerows((*line[:3], f"{line[3]:.4f}", f"{line[4]:.4f}") for line in results.curve)
        files.atomic_write_text(self._out / "results.csv", table.getvalue())
        files.atomic_write_text(self._out / "results.md", _markdown(results, header))


def _markdown(results: Results, header: tuple[str, ...]) -> str:
    kind = "individuals" if results.data == "ladybirds" else "classes"
    lines = [
        f"# Demo: {results.data}",
        "",
        f"{results.items:,} images of {results.classes:,} {kind}. Project made in {results.init_seconds:.1f} s. "
        "Answers by the true labels, given as key events to the window.",
        "",
        "| " + " | ".join(header) + " |",
        "|" + "---:|" * len(header),
    ]
    lines += [f"| {a} | {c} | {s} | {n:.3f} | {r:.3f} |" for a, c, s, n, r in results.curve]
    latency = np.asarray(results.latency_ms or [0.0])
    lines += [
        "",
        f"From key to next pair painted: median {np.median(latency):.0f} ms, p99 {np.percentile(latency, 99):.0f} ms "
        f"({len(latency)} answers). Window: {results.beats}.",
    ]
    if results.finished_after is not None:
        lines.append(f"Nothing was left to ask after {results.finished_after} answers.")
    lines += [
        "",
        "Pictures: " + ", ".join(f"[{name}]({name})" for name in sorted(results.pictures, key=_number)) + ".",
        "",
    ]
    return "\n".join(lines)


def log_qt(kind: QtMsgType, _context: QMessageLogContext, message: str) -> None:
    """Qt remarks go to the log: what the platform without a screen cannot do is no news to anybody."""
    log.log(qt_level(kind.name), "%s", message)


def _number(picture: str) -> int:
    return int(picture.partition("-")[0])


def _id(state: SessionState) -> int:
    return state.question.id if state.question is not None else -1


def _pair(state: SessionState | None) -> tuple[int, int] | None:
    return (state.question.left, state.question.right) if state is not None and state.question is not None else None
