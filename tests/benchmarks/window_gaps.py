"""How long the window's thread is away in each operation: ``xvfb-run -a python -m tests.benchmarks.window_gaps``.

A project of ``--images`` made-up faces (names without pictures) goes through everything that a person does with the
real window; one given by ``--project`` is worked on where it is, and what is done there is undone. For each step it
prints the longest stretch between two beats: of the thread's own CPU, and by the clock (limits 50 and 250 ms). Of a
step that misses them it prints the stack of the longest stall that the watchdog saw.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from PySide6.QtCore import QEvent, QEventLoop, QPointF, Qt, QTimer
from PySide6.QtGui import QPolygonF
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from a3s_desktop.session.benchmark_data import face_like
from a3s_desktop.session.opening import create_project
from a3s_desktop.session.operations import Merge
from a3s_desktop.settings import SettingsStore
from a3s_desktop.storage.spec import ProjectSpec, check_spec
from a3s_desktop.storage.unseen import named_images
from a3s_desktop.task import Task
from a3s_desktop.ui.app import SWITCH_INTERVAL, make_application
from a3s_desktop.ui.auto_demo import SIZE
from a3s_desktop.ui.cluster_picker import ClusterPicker
from a3s_desktop.ui.export_dialog import ExportDialog
from a3s_desktop.ui.heartbeat import Heartbeat
from a3s_desktop.ui.jobs import Worker
from a3s_desktop.ui.map_colours import ColourBy
from a3s_desktop.ui.map_lasso import items_inside
from a3s_desktop.ui.program import Program
from a3s_desktop.ui.theme import apply_theme
from tests.benchmarks.large_folder import say

CPU, WALL = 50.0, 250.0  # ms
_PATIENCE = 3600.0  # s that anything may take
_AFTER = 0.5  # s that a step is watched after it seems to be done
_HEAD = f"{'step':44}{'seconds':>9}{'CPU ms':>9}{'clock ms':>10}"
_Found = TypeVar("_Found", bound=QWidget)
Act = Callable[[], object]
Until = Callable[[], bool]


class Hands:
    """What a person does, step by step, each under the heartbeat.

    Attributes
    ----------
    missed : list of str
        Steps beyond a limit.
    """

    def __init__(self, app: QApplication, program: Program, project: Path, scratch: Path, only: Sequence[str]) -> None:
        self._app, self._program, self._project, self._scratch = app, program, project, scratch
        self._only = only
        self.missed: list[str] = []

    def all(self) -> None:
        """Everything, in the order in which it depends on each other."""
        say(_HEAD)
        for part in (
            self._open, self._answers, self._looks, self._map, self._selections, self._grids, self._clusters,
            self._corrections, self._large_cluster, self._history, self._pages, self._windows, self._again,
        ):  # fmt: skip
            if part == self._open or not self._only or part.__name__[1:] in self._only:
                part()

    # parts

    def _open(self) -> None:
        program = self._program
        self.step("show the window", program.show, pause=2.0)
        self.step("open, first moment", lambda: program.shell.open_project(self._project), lambda: program.label.ready)
        for name in ("map", "cluster", "history", "progress"):
            self.step(f"show the panel {name}", program.window.dock(name).show)
        self.step("map comes", lambda: None, lambda: len(program.map.plot.places) > 0)
        self.step("better layout of the map", lambda: None, lambda: not program.jobs.busy(Worker.BACKGROUND))

    def _answers(self) -> None:
        bridge = self._program.bridge
        for name in ("same", "different", "skip", "junk_left", "same", "different"):
            self.changed(f"answer {name.replace('_', ' ')}", lambda name=name: self.press(f"answer.{name}"))
        for turn in (1, 2, 3):
            self.changed(f"undo, {turn}", bridge.undo)
        for turn in (1, 2):
            self.changed(f"redo, {turn}", bridge.redo)
        for _ in range(5):
            bridge.undo()
            self.wait(self.quiet)

    def _looks(self) -> None:
        for theme in ("dark", "contrast", "light"):
            self.step(f"theme {theme}", lambda theme=theme: self.press(f"theme.{theme}"))
        for size in ("larger", "smaller"):
            self.step(f"text {size}", lambda size=size: self.press(f"window.text_{size}"))
        for name in ("overlay", "split", "difference", "tones", "facts"):
            for turn in ("on", "off"):
                self.step(f"compare {name} {turn}", lambda name=name: self.press(f"compare.{name}"))
        for name in ("zoom_in", "zoom_out", "fit", "blind", "blind", "legend", "legend"):
            self.step(f"pair: {name.replace('_', ' ')}", lambda name=name: self.press(f"view.{name}"))

    def _map(self) -> None:
        chart = self._program.map
        self.step("zoom to pair", chart.zoom_to_pair)
        self.step("whole map", chart.whole_map)
        self.step("zoom in 8 times", lambda: chart.plot.zoom(8))
        self.step("pan", lambda: self._pan(QPointF(0.02, 0.01)))
        self.step("whole map again", chart.whole_map)
        self.step("outlines off", lambda: chart._frame.outlines.setChecked(False))
        self.step("outlines on", lambda: chart._frame.outlines.setChecked(True))
        self.wait(lambda: chart._data.doubt is not None)
        for by in (ColourBy.CONFIRMED, ColourBy.DOUBT, ColourBy.CLUSTER):
            self.step(f"colour by {by.name.lower()}", lambda by=by: chart.set_colour_by(by))
        search = chart._frame.search
        self.step("search on the map", lambda: search.setText("00012"), lambda: not search._work.isActive(), 2.0)
        self.step("search ends", search.stop)
        largest = int(np.bincount(self.labels).argmax())
        self.step("cluster of the map in the panel", lambda: chart.clusterClicked.emit(largest))

    def _selections(self) -> None:
        chart = self._program.map
        chart.whole_map()
        self.wait(self.quiet)
        for share in (0.01, 0.3, 0.67):
            self.step(f"lasso of {share:.0%}", self._lasso(share), lambda: len(chart._selecting._items) > 0)
            for theme in ("dark", "light"):
                self.step(f"  theme {theme}", lambda theme=theme: self.press(f"theme.{theme}"))
            self.step("  zoom to pair", chart.zoom_to_pair)
            self.step("  whole map", chart.whole_map)
            self.step("  given up", lambda: chart.select(()))
        item = len(self.labels) // 3
        self.step("select a cluster", lambda: chart._selecting.toggle(item, True))
        self.step("copy names", lambda: chart._selecting._act("copy"), lambda: not chart._selecting._copy.busy)
        self.step("given up", lambda: chart.select(()))

    def _grids(self) -> None:
        chart, page = self._program.map, self._program.clusters_page
        pane, grid = page.pane, page.pane.grid
        for share in (0.01, 0.3, 0.67):
            self._lasso(share)()
            self.wait(self.quiet)
            count = len(chart._selecting._items)
            self.step(
                f"open {count:,} as a grid",
                lambda: chart._selecting._act("open"),
                lambda n=count: len(grid.rows) == n,
            )
            bar = grid.verticalScrollBar()
            self.step("  scroll to the end", lambda bar=bar: bar.setValue(bar.maximum()))
            self.step("  by name", pane.next_order, lambda: not pane._turn.isActive())
            self.step("  by doubt", pane.next_order, lambda: not pane._turn.isActive())
            self.step("  select all", grid.selectAll)
            self.step("  narrower", lambda: self._program.window.resize(SIZE[0] - 200, SIZE[1]))
            self.step("  wider", lambda: self._program.window.resize(*SIZE))
            self.step("  enlarge", lambda: grid.enlarge(grid.model().index(5, 0)))
            self._close(grid._enlarged)
            self.step("  back to all clusters", page.show_all)
            self.step("  back to the pair", self._program.clusters_desk.show_pair)
            chart.select(())
        self.wait(self.quiet)

    def _clusters(self) -> None:
        page = self._program.clusters_page
        gallery = page.gallery
        self.step("clusters page", self._program.clusters_desk.show_clusters, lambda: bool(gallery.ids()))
        for order in (1, 2, 3, 0):
            self.step(f"  order {order}", lambda order=order: gallery.order.setCurrentIndex(order))
        bar = gallery.grid.verticalScrollBar()
        self.step("  scroll to the end", lambda: bar.setValue(bar.maximum()))
        self.step("  select all", gallery.grid.selectAll)
        for kind in (1, 5, 0):
            self.step(f"  kind {kind}", lambda kind=kind: gallery.kind.setCurrentIndex(kind))
        self.step("  search", lambda: gallery.search.setText("00012"), lambda: not gallery._step.isActive(), 2.0)
        self.step("  search ends", gallery.search.clear, lambda: not gallery._step.isActive(), 1.0)
        self.step("  open a cluster", lambda: page.open_cluster(gallery.ids()[0]), lambda: page.pane.cluster >= 0)
        self.step("  by name", page.pane.next_order)
        self.step("  by doubt", page.pane.next_order)
        self.step("  single images", page.show_singles, lambda: page.singles.count.text() != "")
        self.step("  junk", page.show_junk)
        self.step("  all clusters", page.show_all)
        self.step("  pair", self._program.clusters_desk.show_pair)

    def _corrections(self) -> None:
        do, bridge, page = self._program.corrections, self._program.bridge, self._program.clusters_page
        sizes = np.bincount(self.labels)
        first, second = (int(cluster) for cluster in np.argsort(sizes)[-2:])
        few = tuple(np.flatnonzero(self.labels == first)[:5].tolist())
        other = int(np.flatnonzero(self.labels == second)[0])
        self._program.clusters_desk.show_clusters()
        page.open_cluster(first)
        self.wait(self.quiet)
        for name, act in (
            ("split off 5", lambda: do.split(few)),
            ("move 5", lambda: do.move(few, other)),
            ("junk 5", lambda: do.junk(few)),
            ("name", lambda: do.rename(first, "Somebody")),
            ("finish", lambda: do.finish(first)),
            ("merge", lambda: bridge.perform(Merge(first, second))),
        ):
            self.changed(name, act)
            self.changed("  undo", bridge.undo)
        self.step("move: choose a cluster", lambda: do.pick_move(np.array(few)))
        picker = self._dialog(ClusterPicker)
        self.step("  find", lambda: picker.search.setText("12"))
        self.step("  cancel", picker.reject)
        page.show_all()
        self._program.clusters_desk.show_pair()
        self.wait(self.quiet)

    def _large_cluster(self) -> None:
        """Three in ten of all images, in whole clusters."""
        do, bridge, page, chart = (
            self._program.corrections, self._program.bridge, self._program.clusters_page, self._program.map,
        )  # fmt: skip
        last = int(np.searchsorted(np.cumsum(np.bincount(self.labels)), 0.3 * len(self.labels)))
        items = tuple(np.flatnonzero(self.labels <= last).tolist())
        many = f"{len(items):,}"
        self.step(f"select {many}", lambda: chart.select(items))
        self.changed(f"junk {many}", lambda: do.junk(items))
        self.step("  the junk as a grid", lambda: (page.show_junk(), self._program.clusters_desk.show_clusters()))
        self.step("  pair", lambda: (page.show_all(), self._program.clusters_desk.show_pair()))
        self.changed("  undo", bridge.undo)
        chart.select(items)
        self.wait(self.quiet)
        self.changed(f"split {many} off", lambda: chart._selecting._act("split"))
        cluster = int(self.labels[items[0]])
        self.step("  in the panel", lambda: self._program.panels.show_cluster(cluster))
        for name in ("same", "different", "skip"):
            self.changed(f"  answer {name}", lambda name=name: self.press(f"answer.{name}"))
        self.changed("  undo", bridge.undo)
        self.step("  zoom to pair", chart.zoom_to_pair)
        self.step("  whole map", chart.whole_map)
        self.step("  clusters page", self._program.clusters_desk.show_clusters, lambda: bool(page.gallery.ids()))
        self.step("  open it", lambda: page.open_cluster(cluster), lambda: page.pane.cluster >= 0)
        self.changed("  name", lambda: do.rename(cluster, "Many"))
        self.changed("  finish", lambda: do.finish(cluster))
        few = page.pane.items[:5]
        self.changed("  junk 5, open", lambda: do.junk(few))
        self.changed("    undo", bridge.undo)
        self.step("  pair", lambda: (page.show_all(), self._program.clusters_desk.show_pair()))
        for what in ("finish", "name", "an answer", "an answer", "the cluster"):
            self.changed(f"  undo {what}", bridge.undo)
        self.changed("  redo the cluster", bridge.redo)
        self.changed("  undo the cluster", bridge.undo)

    def _history(self) -> None:
        panel, dock = self._program.history, self._program.window.dock("history")
        self.step("history in front", dock.raise_)
        bar = panel.list.verticalScrollBar()
        self.step("  to the end", lambda: bar.setValue(bar.maximum()))
        self.step("  filter by kind", lambda: panel.filter.kind.setCurrentIndex(1))
        self.step("  filter by name", lambda: panel.filter.search.setText("IMG"), pause=1.0)
        self.step("  all", panel.filter.reset)
        self.step("doubtful answers", lambda: self.press("history.doubtful"), pause=1.0)
        self._close()

    def _pages(self) -> None:
        program = self._program
        for name in ("progress", "cluster", "map"):
            self.step(f"panel {name} away", lambda name=name: self.press(f"panel.{name}"))
            self.step(f"panel {name} back", lambda name=name: self.press(f"panel.{name}"))
        self.step("sample check", lambda: self.press("audit.open"), lambda: program.audit.ready)
        self.changed("  answer", lambda: self.press("audit.same"))
        self.step("  back", lambda: self.press("audit.back"), lambda: program.label.ready)
        self.changed("  undo", program.bridge.undo)

    def _windows(self) -> None:
        self.step("export dialog", lambda: self.press("project.export"), lambda: bool(self._dialogs()))
        dialog = self._dialog(ExportDialog)
        dialog.path.setText(str(self._scratch / "export.csv"))
        written: list[object] = []
        self._program.export_flow.exported.connect(written.append)
        self.step("  csv", dialog.export_button.click, lambda: bool(written))
        self._close()
        for name in ("settings.keys", "settings.annotator", "settings.clear", "help.contents", "help.about"):
            self.step(name, lambda name=name: self.press(name), lambda: bool(self._dialogs()))
            self.step("  closed", self._close)

    def _again(self) -> None:
        program, bridge = self._program, self._program.bridge
        self.step("close", lambda: self.press("project.close"), lambda: bridge.project is None, 2.0)
        self.step("open again", lambda: program.shell.open_project(self._project), lambda: program.label.ready)
        self.step("map comes again", lambda: None, lambda: len(program.map.plot.places) > 0, 2.0)
        self.step("new project's page", lambda: self.press("project.new"), pause=1.0)

    # small moves

    @property
    def labels(self) -> np.ndarray:
        """Cluster of each image."""
        state = self._program.bridge.state
        assert state is not None
        return state.labels

    def step(self, name: str, act: Act, until: Until = lambda: True, pause: float = _AFTER) -> None:
        """Do something, wait for its end, print how long the window's thread was away meanwhile."""
        began = time.monotonic()
        with Heartbeat() as heart:
            act()
            self.wait(lambda: until() and self.quiet())
            seconds = time.monotonic() - began
            run_loop(pause)
        beats = heart.result()
        holds = beats.cpu_max <= CPU and beats.wall_max <= WALL
        say(f"{name:44}{seconds:9.1f}{beats.cpu_max:9.1f}{beats.wall_max:10.0f}  {'holds' if holds else 'MISSED'}")
        if not holds:
            self.missed.append(name.strip())
            say(str(beats).partition("\n")[2])

    def changed(self, name: str, act: Act) -> None:
        """A step that changes the session."""
        bridge = self._program.bridge
        before = bridge.state.revision if bridge.state is not None else 0
        label = self._program.label

        def done() -> bool:
            changed = bridge.state is not None and bridge.state.revision > before
            return changed and (label.ready or not label.isVisible())

        self.step(name, act, done)

    def quiet(self) -> bool:
        """Whether nothing is under way that the person waits for."""
        program = self._program
        if program.bridge.phase in ("storing", "opening") or program.jobs.busy(Worker.ENGINE):
            return False
        if program.clusters_page.pane._turn.isActive() or program.clusters_page.gallery._step.isActive():
            return False
        if not program.map_panel.made:
            return True
        plot = program.map.plot
        return not plot._work.isActive() and not plot.points.busy

    def wait(self, condition: Until) -> None:
        """Let the event loop run until the condition holds. Raises `TimeoutError`."""
        end = time.monotonic() + _PATIENCE
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError("the window waited in vain")
            run_loop(0.02)

    def press(self, action: str) -> None:
        """Trigger an action, if it can be used."""
        self.wait(self._program.shortcuts.action(action).isEnabled)
        self._program.shortcuts.action(action).trigger()

    def _pan(self, by: QPointF) -> None:
        for _ in range(10):
            self._program.map.plot.getViewBox().translateBy(by)
            run_loop(0.03)

    def _lasso(self, share: float) -> Act:
        """Draw a line around this share of all images with the mouse's tool; closing it is what is measured."""
        chart = self._program.map
        tool, grid = chart._selecting.lasso, chart.plot.points.grid
        middle, turns = np.median(chart.plot.places, axis=0), np.linspace(0, 2 * np.pi, 200)
        low, high = 0.0, 2 * float(np.ptp(chart.plot.places, axis=0).max())
        for _ in range(14):
            radius = (low + high) / 2
            ring = middle + radius * np.stack([np.cos(turns), np.sin(turns)], axis=1)
            line = [QPointF(x, y) for x, y in ring.tolist()]
            inside = len(items_inside(grid, QPolygonF(line)))
            low, high = (radius, high) if inside < share * len(grid) else (low, radius)
        transform = chart.plot.points.view_transform()
        at = [transform.map(point) for point in line]
        tool.armed = True
        tool.press(at[0], Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
        for place in at[1:]:
            tool.move(place)
        tool.armed = False
        return lambda: tool.release(at[-1], Qt.KeyboardModifier.NoModifier)

    def _dialogs(self) -> list[QDialog]:
        return [w for w in self._app.topLevelWidgets() if isinstance(w, QDialog) and w.isVisible()]

    def _dialog(self, kind: type[_Found]) -> _Found:
        return next(w for w in self._app.topLevelWidgets() if isinstance(w, kind) and w.isVisible())

    def _close(self, top: QWidget | None = None) -> None:
        for dialog in self._dialogs() if top is None else [top]:
            QTest.keyClick(dialog, Qt.Key.Key_Escape)
            dialog.close()
        self._program.window.activateWindow()
        run_loop(0.1)


def run_loop(seconds: float) -> None:
    """A real event loop, which sleeps as the program's does."""
    loop = QEventLoop()
    QTimer.singleShot(round(seconds * 1000), loop.quit)
    loop.exec()


def make_project(folder: Path, images: int) -> Path:
    """A project of made-up faces whose images are nowhere; half an hour and 16 GB for a million."""
    folder.mkdir(parents=True, exist_ok=True)
    features, order = folder / "features.npy", folder / "order.txt"
    np.save(features, face_like(images)[0])
    order.write_text("".join(f"{100 + k // 5000:03d}CAMERA/IMG_{k + 1:07d}.jpg\n" for k in range(images)), "utf-8")
    spec = ProjectSpec(folder / "project", folder / "nowhere", (features,), order=order, name="faces")
    create_project(spec, Task(), check_spec(spec, Task(), named_images(spec, Task()))).close()
    return spec.folder


def main() -> int:
    """Command line; 1 where a limit was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=100_000)
    parser.add_argument("--project", type=Path, help="a project to work on, instead of a new one")
    parser.add_argument("--only", nargs="+", default=(), help="some parts, such as 'grids' or 'large_cluster'")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="a3s-gaps-") as name:
        scratch = Path(name)
        project = arguments.project or make_project(scratch / "data", arguments.images)
        sys.setswitchinterval(SWITCH_INTERVAL)
        app = make_application()
        apply_theme(app, "light")
        settings = SettingsStore(None)
        settings.change(theme="light", last_folder=name, confirm_from=0)
        program = Program(settings, scratch / "demos")
        program.window.setWindowState(Qt.WindowState.WindowNoState)
        program.window.resize(*SIZE)
        hands = Hands(app, program, project, scratch, arguments.only)
        try:
            hands.all()
        finally:
            program.shutdown()
            app.processEvents()
            app.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    say(f"missed: {', '.join(hands.missed) or 'none'} (limits {CPU:.0f} ms CPU, {WALL:.0f} ms by the clock)")
    return int(bool(hands.missed))


if __name__ == "__main__":
    sys.exit(main())
