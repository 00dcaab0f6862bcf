"""From key press to the next pair painted: the real program on a virtual display, real keys, 12-megapixel JPEGs.

``python -m tests.ui.pair_latency --presses 500 --rate 1`` makes its own photos, answers by their names, and prints a
table; ``--rate 1 3`` measures both; ``--no-prefetch`` measures once more with decoding ahead switched off.

The clock starts when the key is given to the X server, and stops when the program has painted both images of the next
pair and its window system has them. In between lie the answer's transaction, which is on disk by then, and the next
question.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from a3s_desktop.cli import main as program_main
from a3s_desktop.session.opening import create_project
from a3s_desktop.storage.spec import ProjectSpec
from a3s_desktop.task import Task
from tests.e2e import machine

PHOTOS = 4  # of one individual
SIZE = (4000, 3000)
_BASE = 16  # different files; the others are links to them
_KEYS = {True: "f", False: "j"}
_LONGEST = 30.0  # seconds for one answer


def make_photos(folder: Path, individuals: int) -> ProjectSpec:
    """Photos of 12 megapixels with structure of all sizes, and embeddings that leave much to ask."""
    images, base = folder / "images", folder / "base"
    images.mkdir(parents=True)
    base.mkdir()
    rng = np.random.default_rng(7)
    sources = []
    for number in range(_BASE):
        coarse = Image.fromarray(rng.integers(0, 256, (24, 32, 3), dtype=np.uint8)).resize(
            SIZE, Image.Resampling.BICUBIC
        )
        fine = Image.fromarray(rng.integers(96, 160, (SIZE[1] // 2, SIZE[0] // 2), dtype=np.uint8)).resize(SIZE)
        path = base / f"{number}.jpg"
        Image.blend(coarse, fine.convert("RGB"), 0.35).save(path, quality=88)
        sources.append(path)
    rows = []
    centres = rng.normal(size=(individuals, 24))
    for individual in range(individuals):
        for photo in range(PHOTOS):
            name = images / f"{individual:04d}-{photo}.jpg"
            source = sources[int(rng.integers(_BASE))]
            try:
                os.link(source, name)
            except OSError:
                name.write_bytes(source.read_bytes())
            rows.append(centres[individual] + rng.normal(0, 0.62, 24))
    features = folder / "features.npy"
    np.save(features, np.array(rows, np.float32))
    return ProjectSpec(folder / "project", images, (features,))


class Keyboard:
    """Presses keys through the X server's test extension: no process is started for a key."""

    def __init__(self, screen: str) -> None:
        self._x = ctypes.CDLL("libX11.so.6")
        self._test = ctypes.CDLL("libXtst.so.6")
        self._x.XOpenDisplay.restype = ctypes.c_void_p
        self._x.XStringToKeysym.restype = ctypes.c_ulong
        self._display = ctypes.c_void_p(self._x.XOpenDisplay(screen.encode()))
        if not self._display:
            raise RuntimeError(f"no display {screen}")

    def tap(self, key: str) -> float:
        """Press and let go; returns the time of the press."""
        symbol = ctypes.c_ulong(self._x.XStringToKeysym(key.encode()))
        code = self._x.XKeysymToKeycode(self._display, symbol)
        moment = time.time()
        for down in (1, 0):
            self._test.XTestFakeKeyEvent(self._display, code, down, ctypes.c_ulong(0))
            self._x.XFlush(self._display)
        return moment

    def close(self) -> None:
        """Leave the server."""
        self._x.XCloseDisplay(self._display)


@dataclass(frozen=True, slots=True)
class Figures:
    """Latencies of one run, in milliseconds."""

    what: str
    values: tuple[float, ...]
    late: int  # presses that had to wait for the pair before: it was not ready when the person would have pressed

    def row(self) -> str:
        """One line of the table."""
        if not self.values:
            return f"{self.what:32s}  no answers"
        middle, high, top = (float(np.percentile(self.values, share)) for share in (50, 90, 99))
        return (
            f"{self.what:32s}{len(self.values):8d}{middle:9.1f}{high:9.1f}{top:9.1f}{max(self.values):9.1f}"
            f"{self.late:7d}"
        )


HEAD = f"{'':32s}{'presses':>8s}{'median':>9s}{'p90':>9s}{'p99':>9s}{'max':>9s}{'late':>7s}   (ms)"


def measure(screen: str, spec: ProjectSpec, folder: Path, rate: float, presses: int, prefetch: bool) -> Figures:
    """Answer a fresh copy of the project at a steady pace."""
    names = sorted(path.name for path in spec.images.iterdir())
    number = len(list(folder.glob("project-*")))
    project = folder / f"project-{number}"
    create_project(ProjectSpec(project, spec.images, spec.features), Task()).close()
    trace = folder / f"trace-{number}.jsonl"
    arguments = ("--serve", *(() if prefetch else ("--no-prefetch",)), "--", "open", project)
    program = machine.Running(screen, trace, *arguments, module="tests.ui.pair_latency")
    values, late = [], 0
    keyboard = Keyboard(screen)
    try:
        program.first_pair()
        time.sleep(2.0)  # map and thumbnails of the beginning
        due = time.time() + 1.0 / rate
        for count in range(1, presses + 1):
            late += not program.ready() and time.time() > due
            while time.time() < due or not program.ready():
                if program.process.poll() is not None:
                    raise RuntimeError(f"the program ended\n{program.output()}")
                time.sleep(0.002)
            pair = program.last("painted")
            pressed = keyboard.tap(_KEYS[names[pair["left"]][:4] == names[pair["right"]][:4]])
            due = max(due + 1.0 / rate, time.time())
            if not _next_pair(program, pair["question"], count):
                break  # nothing left to ask
            values.append(1000.0 * (program.last("painted")["at"] - pressed))
        program.quit()
    finally:
        keyboard.close()
        program.close()
    what = f"{rate:g} per second{'' if prefetch else ', nothing ahead'}"
    return Figures(what, tuple(values), late)


def _next_pair(program: machine.Running, question: int, answers: int) -> bool:
    end = time.monotonic() + _LONGEST
    while time.monotonic() < end:
        events = program.read()
        if program.last("painted")["question"] != question:
            return True
        done = any(e["event"] == "changed" and e["kind"] == "answer" and e["answers"] == answers for e in events[-6:])
        if done and time.monotonic() > end - _LONGEST + 5.0:
            return False
        time.sleep(0.001)
    raise TimeoutError(f"no pair after answer {answers}\n{program.output()}")


@contextmanager
def nothing_ahead(wanted: bool) -> Iterator[None]:
    """Switch decoding ahead off in this process."""
    from a3s_desktop.ui.image_loader import ImageLoader

    kept = ImageLoader.prefetch
    if wanted:
        ImageLoader.prefetch = lambda *_: None  # type: ignore[assignment, method-assign]
    try:
        yield
    finally:
        ImageLoader.prefetch = kept  # type: ignore[method-assign]


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--presses", type=int, default=500)
    parser.add_argument("--rate", type=float, nargs="+", default=[1.0], help="presses per second")
    parser.add_argument("--no-prefetch", action="store_true", help="also without decoding ahead")
    parser.add_argument("--individuals", type=int, default=250, help=f"of {PHOTOS} photos each")
    parser.add_argument("--screen", default="1920x1080")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("arguments", nargs="*", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.serve:
        with nothing_ahead(chosen.no_prefetch):
            return program_main(chosen.arguments)
    with tempfile.TemporaryDirectory(prefix="a3s-latency-") as name, machine.display(chosen.screen) as screen:
        folder = Path(name)
        spec = make_photos(folder, chosen.individuals)
        runs = [(rate, True) for rate in chosen.rate] + ([(chosen.rate[0], False)] if chosen.no_prefetch else [])
        sys.stdout.write(f"screen {chosen.screen}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n{HEAD}\n")
        for rate, prefetch in runs:
            sys.stdout.write(measure(screen, spec, folder, rate, chosen.presses, prefetch).row() + "\n")
            sys.stdout.flush()
        sys.stdout.write(f"load at the end {os.getloadavg()[0]:.1f}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
