"""A working day at the window, at speed: ``python -m tests.benchmarks.long_work --answers 50000``.

The real program, off the screen, with a project on disk, panels shown, log, backups and small copies of images as for
a user. The answer keys are pressed by the true labels as soon as a pair takes them. Every ``--every`` answers it prints
memory, the part of it that are decoded images (kept up to a bound in the settings, which is far off here), open
handles, threads, timers, Qt objects, the files' sizes and the time from a key to the next painted pair (median of
1,000; wall clock, and CPU of the whole process).

The images are tiny, and the features hardly tell the identities apart, so that the questions do not run out. Besides
answers there is what a day is made of: undo and redo, skips, corrections taken back, visits to the clusters and their
images and to the history. The last line compares end and beginning.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import gc
import os
import shutil
import sys
import tempfile
import time
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL import Image
from PySide6.QtCore import QElapsedTimer, QEvent, QEventLoop, QObject, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from a3s_desktop.core.types import USE_CLUSTERS, InitialOptions, StrategyOptions
from a3s_desktop.logs import start_logging
from a3s_desktop.session.opening import create_project
from a3s_desktop.session.operations import Junk
from a3s_desktop.settings import SettingsStore
from a3s_desktop.storage.spec import ProjectSpec
from a3s_desktop.task import Task
from a3s_desktop.ui.app import SWITCH_INTERVAL, make_application
from a3s_desktop.ui.program import Program
from a3s_desktop.ui.theme import apply_theme

_WARM = 1000  # answers after which the beginning is measured; images that are kept become more behind them
_PHOTOS = 3  # of each identity
_PATIENCE = 60_000  # ms


def make_project(folder: Path, items: int, strategy: str) -> tuple[Path, np.ndarray]:
    """A project of many uncertain pairs; its folder and the true identities."""
    rng = np.random.default_rng(7)
    images = folder / "images"
    images.mkdir(parents=True)
    for k in range(items):
        colour = tuple(int(v) for v in rng.integers(0, 255, 3))
        Image.new("RGB", (96, 72), colour).save(images / f"beetle {k:06d}.png")
    truth = np.arange(items) // _PHOTOS
    centres = rng.normal(size=(items, 8))
    np.save(folder / "features.npy", (centres[truth] + rng.normal(0, 1.5, (items, 8))).astype(np.float32))
    clusters = items // _PHOTOS if strategy in USE_CLUSTERS else None
    spec = ProjectSpec(
        folder / "project",
        images,
        (folder / "features.npy",),
        initial=InitialOptions().for_strategy(strategy),
        strategy=StrategyOptions(strategy=strategy, clusters=clusters),
    )
    create_project(spec, Task()).close()
    return folder / "project", truth


@dataclass(frozen=True, slots=True)
class Figures:
    """What is looked at every so many answers."""

    answers: int
    memory: int  # bytes that are resident
    images: int  # bytes of them that are decoded images, kept up to the bound in the settings
    handles: int
    threads: int
    timers: int  # that run
    objects: int  # Qt's, that hang on a window or the application
    python: int  # objects that Python's collector knows, thousands
    journal: int  # bytes, with what SQLite keeps beside it
    project: int  # bytes, all of it
    logs: int
    wall: float  # ms from a key to the next painted pair, median
    cpu: float

    def __str__(self) -> str:
        return (
            f"{self.answers:7d}  {self.memory / 1e6:9.1f}  {self.images / 1e6:9.1f}  {self.handles:7d}  "
            f"{self.threads:7d}  {self.timers:6d}  {self.objects:10d}  {self.python:8d}  {self.journal / 1e6:10.1f}  "
            f"{self.project / 1e6:10.1f}  {self.logs / 1000:6.0f}  {self.wall:7.1f}  {self.cpu:6.1f}"
        )


HEAD = (
    "answers  memory MB  images MB  handles  threads  timers  Qt objects  Python k  journal MB  project MB  log kB"
    "  wall ms  CPU ms"
)


def _recent() -> collections.deque[float]:
    return collections.deque(maxlen=1000)


@dataclass
class Day:
    """One long session; `work` goes on until the answers are given."""

    program: Program
    truth: np.ndarray
    folder: Path
    wall: collections.deque[float] = field(default_factory=_recent)
    cpu: collections.deque[float] = field(default_factory=_recent)
    all: array[float] = field(default_factory=lambda: array("d"))  # wall and CPU of each answer, in turn
    given: int = 0
    other: collections.Counter[str] = field(default_factory=collections.Counter)

    def __post_init__(self) -> None:
        self._loop = QEventLoop()
        for signal in (self.program.label.readyChanged, self.program.bridge.phaseChanged):
            signal.connect(self._loop.quit)
        self._beat = QTimer()  # for what has no signal
        self._beat.timeout.connect(self._loop.quit)
        self._beat.start(20)

    def stop(self) -> None:
        """Nothing is waited for any more."""
        self._beat.stop()

    def quarters(self) -> str:
        """Time of an answer in each quarter of the day: median and 99th percentile."""
        lines = []
        for number, part in enumerate(np.array_split(np.array(self.all).reshape(-1, 2)[_WARM:], 4), start=1):
            (wall, cpu), (wall_99, cpu_99) = np.median(part, axis=0), np.percentile(part, 99, axis=0)
            lines.append(
                f"quarter {number}, {len(part)} answers: CPU {cpu:.1f} ms, 99 % {cpu_99:.1f}; "
                f"wall {wall:.1f} ms, 99 % {wall_99:.1f}"
            )
        return "\n".join(lines)

    def until(self, condition: Callable[[], bool], what: str) -> None:
        """Run the event loop until something holds."""
        clock = QElapsedTimer()
        clock.start()
        while not condition():
            if clock.elapsed() > _PATIENCE:
                raise TimeoutError(f"{what} after {self.given} answers; {self.program.bridge.phase}")
            self._loop.exec()

    def work(self, answers: int) -> bool:
        """So many further answers; False where nothing is left to ask."""
        label, target = self.program.label, self.given + answers
        while self.given < target:
            question = label.question
            if self._finished() or question is None:
                return False
            same = self.truth[question.left] == self.truth[question.right]
            key = Qt.Key.Key_Space if self.given % 97 == 96 else Qt.Key.Key_F if same else Qt.Key.Key_J
            began, cpu = time.perf_counter(), time.process_time()
            QTest.keyClick(self.program.window, key)
            self.until(lambda old=question.id: self._asked_since(old), "the next pair")  # type: ignore[misc]
            self.wall.append(1000 * (time.perf_counter() - began))
            self.cpu.append(1000 * (time.process_time() - cpu))
            self.all.extend((self.wall[-1], self.cpu[-1]))
            self.given += 1
            self._besides()
        return True

    def _finished(self) -> bool:
        return bool(self.program.bridge.phase == "finished")

    def _asked_since(self, old: int) -> bool:
        label = self.program.label
        return (label.ready and label.question is not None and label.question.id != old) or self._finished()

    # What a day has besides answers

    def _besides(self) -> None:
        if self.given % 40 == 0:
            for name in ("undo", "redo"):
                self._changed(self.program.shortcuts.action(f"edit.{name}").trigger, name)
        if self.given % 500 == 0:
            item = self.given * 31 % len(self.truth)
            self._changed(lambda: self.program.bridge.perform(Junk((item,))), "correction")
            self._changed(self.program.bridge.undo, "correction taken back")
        if self.given % 1000 == 0:
            self.look_around()

    def _changed(self, act: Callable[[], object], what: str) -> None:
        bridge = self.program.bridge
        revision = bridge.state.revision if bridge.state is not None else -1
        act()
        self.until(lambda: bridge.state is not None and bridge.state.revision > revision, what)
        self.until(lambda: self.program.label.ready or self._finished(), f"a pair after {what}")
        self.other[what] += 1

    def look_around(self) -> None:
        """The panels in turn, the clusters, and back to the pair."""
        program = self.program
        for dock in ("cluster", "history"):
            program.window.dock(dock).raise_()
            self._rest()
        program.clusters_desk.show_clusters()
        self._rest()
        program.clusters_desk.show_pair()
        self.until(lambda: program.label.ready or self._finished(), "the pair after the clusters")
        program.label.setFocus()
        self.other["visits to the clusters"] += 1

    def _rest(self) -> None:
        until = time.monotonic() + 0.2
        self.until(lambda: time.monotonic() > until, "a moment")

    # Looking

    def figures(self) -> Figures:
        """As it is now, after what is garbage was collected and what is to be deleted is gone."""
        self._rest()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        gc.collect()
        found = list(objects())
        project = self.folder / "project"
        return Figures(
            answers=self.given,
            memory=int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"),
            images=self.program.loader.cached_bytes,
            handles=len(os.listdir("/proc/self/fd")),
            threads=len(os.listdir("/proc/self/task")),
            timers=sum(isinstance(one, QTimer) and one.isActive() for one in found),
            objects=len(found),
            python=(len(gc.get_objects()) + gc.get_freeze_count()) // 1000,
            journal=sum(path.stat().st_size for path in project.glob("journal.sqlite*")),
            project=size(project),
            logs=size(self.folder / "logs"),
            wall=float(np.median(self.wall)),
            cpu=float(np.median(self.cpu)),
        )


def objects() -> Iterator[QObject]:
    """All QObjects under the application and the windows."""
    app = QApplication.instance()
    assert app is not None
    for root in (app, *QApplication.topLevelWidgets()):
        yield root
        yield from root.findChildren(QObject)


def size(folder: Path) -> int:
    """Bytes of a folder's files."""
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # renamed by a backup meanwhile
            total += path.stat().st_size if path.is_file() else 0
    return total


def start(folder: Path, project: Path, truth: np.ndarray) -> Day:
    """The program with all panels, at its first pair."""
    program = Program(
        SettingsStore(folder / "settings.json"),
        folder / "demos",
        folder / "logs" / "a3s-desktop.log",
        thumbnail_file=folder / "thumbnails.sqlite",
    )
    program.help.offers_tour = False
    program.window.resize(1280, 800)
    program.show()
    program.shell.open_project(project)
    day = Day(program, truth, folder)
    day.until(lambda: program.label.ready, "the first pair")
    for name in ("map", "cluster", "history", "progress"):
        program.window.dock(name).show()
    program.window.activateWindow()
    day.until(program.window.isActiveWindow, "the window to be active")
    day.look_around()  # all that is made on first use is there, and the panels are as they stay
    return day


def compare(first: Figures, last: Figures) -> str:
    """The end against the beginning."""
    memory, cpu, wall = last.memory / first.memory - 1, last.cpu / first.cpu, last.wall / first.wall
    images = last.images - first.images
    each = (last.memory - first.memory - images) / max(1, last.answers - first.answers)
    return (
        f"from {first.answers} to {last.answers} answers: memory {memory:+.1%} (aim < 20 %): "
        f"images that are kept {images / 1e6:+.1f} MB, all else {each:.0f} bytes an answer; "
        f"handles {last.handles - first.handles:+d}, threads {last.threads - first.threads:+d}, "
        f"timers {last.timers - first.timers:+d}, Qt objects {last.objects - first.objects:+d}, "
        f"CPU of an answer × {cpu:.2f}, wall × {wall:.2f} (aim ≤ 1.2)"
    )


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=50_000)
    parser.add_argument("--every", type=int, default=5_000)
    parser.add_argument("--minutes", type=float, default=0.0, help="stop after so long, whatever was reached")
    parser.add_argument("--items", type=int, default=1_500)
    parser.add_argument("--strategy", default="cobra", help="cobra asks about every two groups, so it does not run out")
    arguments = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    folder = Path(tempfile.mkdtemp(prefix="a3s-day-"))
    log = start_logging(folder / "logs")
    sys.setswitchinterval(SWITCH_INTERVAL)
    app = make_application()
    apply_theme(app, "light")
    try:
        day = start(folder, *make_project(folder, arguments.items, arguments.strategy))
        say(HEAD)
        day.work(_WARM)
        first = last = day.figures()
        say(str(first))
        end = time.monotonic() + 60 * (arguments.minutes or float("inf"))
        while day.given < arguments.answers and time.monotonic() < end:
            more = day.work(min(arguments.every - day.given % arguments.every, arguments.answers - day.given))
            last = day.figures()
            say(str(last))
            if not more:
                say("nothing is left to ask")
                break
        say(f"besides: {dict(day.other)}")
        say(day.quarters())
        say(compare(first, last))
        day.stop()
        day.program.shutdown()
        app.processEvents()
        app.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    finally:
        log.close()
        shutil.rmtree(folder, ignore_errors=True)
    return 0


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
