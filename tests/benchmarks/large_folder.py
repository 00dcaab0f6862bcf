"""A folder of 200,000 photos at the real window: ``xvfb-run -a python -m tests.benchmarks.large_folder``.

Ladybirds of 64 x 48 pixels (eight thousand animals, 25 photos each; a quarter of an hour to draw, kept with ``--data``)
go through the form: scan and check, initialization, answers by key, clusters, map, history, export. After each step it
prints the time it took, the process's greatest resident memory during it (with and without the pages of mapped files)
and the longest time that the GUI thread was away, by the clock and by its own CPU.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from PySide6.QtCore import QEvent, QPointF
from PySide6.QtWidgets import QScrollBar

from a3s_desktop.demo.data import DemoData
from a3s_desktop.demo.ladybirds import write_demo
from a3s_desktop.settings import SettingsStore
from a3s_desktop.task import Progress, Task
from a3s_desktop.ui.app import SWITCH_INTERVAL, make_application
from a3s_desktop.ui.auto_demo import Driver, Results
from a3s_desktop.ui.heartbeat import Heartbeat
from a3s_desktop.ui.program import Program
from a3s_desktop.ui.theme import apply_theme

_PHOTOS = 25  # of each animal
_SIZE = (64, 48)
_LIMIT = 4.0  # GiB
_HEAD = f"{'step':28}{'seconds':>9}{'peak GiB':>10}{'anonymous':>11}{'away ms':>9}{'CPU ms':>8}"


class Visitor(Driver):
    """The demo's hands in a folder that takes its time."""

    patience = 3600.0
    pictures = False

    def picture(self, name: str) -> None:
        """Only where they are wanted: taking one holds the window's thread."""
        if self.pictures:
            super().picture(name)

    def visit(self, data: DemoData, answers: int) -> float:
        """All steps; the greatest memory of any, GiB."""
        window = self._program.window
        window.resize(1440, 900)
        self._program.show()
        say(_HEAD)
        peaks = []
        self._tell_stages()
        with self._step("scan to first pair", peaks):
            self._make_project(data, "ladybirds")
        for name in ("map", "cluster", "history", "progress"):
            window.dock(name).show()
        with self._step("map, panels", peaks):
            self._settle(20.0)
        with self._step(f"{answers} answers", peaks):
            self._answer(answers)
        with self._step("clusters", peaks):
            self._program.clusters_desk.show_clusters()
            self._scroll()
            self._program.clusters_desk.show_pair()
            self._ready()
        with self._step("pan and zoom of the map", peaks):
            self._pan()
        with self._step("panels", peaks):
            self._look_at_the_panels()
        with self._step("export", peaks):
            self._export()
        with self._step("close and open again", peaks):
            self._again()
        latency = np.asarray(self._results.latency_ms or [0.0])
        say(
            f"key to next pair: median {np.median(latency):.0f} ms, p99 {np.percentile(latency, 99):.0f} ms; "
            f"NMI and ARI {self._results.curve[0][3:]} at first, {self._results.curve[-1][3:]} at the end"
        )
        return max(peaks)

    def _tell_stages(self) -> None:
        stages: list[str] = []

        def tell(progress: Progress) -> None:
            if progress.stage not in stages[-1:]:
                stages.append(progress.stage)
                say(f"    {time.strftime('%H:%M:%S')} {progress.stage}")

        self._program.creator.progressed.connect(tell)

    @contextmanager
    def _step(self, name: str, peaks: list[float]) -> Iterator[None]:
        Path("/proc/self/clear_refs").write_text("5")
        began = time.monotonic()
        with Heartbeat() as heart:
            yield
        seconds, beats = time.monotonic() - began, heart.result()
        peak, mapped = status("VmHWM"), status("RssFile")
        peaks.append(peak)
        say(
            f"{name:28}{seconds:9.1f}{peak:10.2f}{peak - mapped:11.2f}{beats.wall_max:9.0f}{beats.cpu_max:8.0f}",
        )
        if beats.cpu_max > 50 or beats.wall_max > 250:
            say(str(beats))

    def _scroll(self) -> None:
        self._settle(3.0)
        for bar in self._program.window.findChildren(QScrollBar):
            if bar.isVisible() and bar.maximum() > 10_000:
                for part in range(1, 41):
                    bar.setValue(bar.maximum() * part // 40)
                    self._settle(0.1)

    def _pan(self) -> None:
        box = self._program.map.plot.getViewBox()
        for k in range(60):
            box.translateBy(QPointF(0.01 if k % 2 else -0.012, 0.005))
            if k % 10 == 9:
                box.scaleBy((0.8, 0.8))
            self._settle(0.05)

    def _again(self) -> None:
        bridge = self._program.bridge
        folder = bridge.project.folder if bridge.project is not None else None
        assert folder is not None
        self.press("project.close")
        self.wait(lambda: bridge.project is None, "the project to close")
        began = time.monotonic()
        self._program.shell.open_project(folder)
        self._ready_again()
        say(f"    open to first pair: {time.monotonic() - began:.1f} s")

    def _ready_again(self) -> None:
        self.wait(lambda: self._program.bridge.project is not None and self._program.label.ready, "the pair")


def status(name: str) -> float:
    """A figure of this process's memory, GiB."""
    for line in Path("/proc/self/status").read_text("ascii").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) / 2**20
    raise KeyError(name)


def main() -> int:
    """Command line; 1 where the memory was more than 4 GiB."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=200_000)
    parser.add_argument("--answers", type=int, default=300)
    parser.add_argument("--data", type=Path, help="folder of the photos; drawn where it is not there")
    parser.add_argument("--out", type=Path, help="folder for pictures of the window; taking them counts as being away")
    arguments = parser.parse_args()
    sys.setswitchinterval(SWITCH_INTERVAL)
    app = make_application()
    apply_theme(app, "light")
    with tempfile.TemporaryDirectory(prefix="a3s-large-") as scratch:
        folder = arguments.data or Path(scratch) / "data"
        data = DemoData.at(folder)
        if not data.complete:
            say(f"drawing {arguments.images:,} photos")
            data = write_demo(
                folder, individuals_count=arguments.images // _PHOTOS, photos=_PHOTOS, size=_SIZE, task=Task()
            )
        out = arguments.out or Path(scratch) / "out"
        out.mkdir(exist_ok=True)
        settings = SettingsStore(None)
        settings.change(theme="light", last_folder=scratch)
        program = Program(settings, Path(scratch) / "demos", thumbnail_file=Path(scratch) / "thumbnails.sqlite")
        program.help.offers_tour = False
        try:
            visitor = Visitor(app, program, Path(scratch), out, Results("ladybirds"))
            visitor.pictures = arguments.out is not None
            peak = visitor.visit(data, arguments.answers)
        finally:
            program.shutdown()
            app.processEvents()
            app.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    say(f"greatest memory {peak:.2f} GiB: {'holds' if peak <= _LIMIT else 'MISSED'} (limit {_LIMIT:.0f})")
    return int(peak > _LIMIT)


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
