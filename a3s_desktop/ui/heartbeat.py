"""Measures how long the GUI thread was not there for the user: gaps between beats, by wall clock and by its own CPU."""

from __future__ import annotations

import faulthandler
import re
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import IO

import numpy as np
from PySide6.QtCore import QObject, Qt, QTimer, Slot

from a3s_desktop.storage import files

_DEEPEST = 8  # calls of a stack that are told
_THREAD = re.compile(r"(?:Current thread|Thread) 0x([0-9a-f]+)")
_WAITING = re.compile(r"[/\\](?:threading|thread|queue)\.py\"")


@dataclass(frozen=True, slots=True)
class Stall:
    """A beat that was late while the watchdog looked: how late, and what the threads were doing.

    Where the GUI thread was only waiting, a worker may have held the interpreter; then its stack tells.
    """

    seconds: float
    stack: str
    workers: str = ""


@dataclass(frozen=True, slots=True)
class Beats:
    """Result of a measurement; all in milliseconds.

    ``cpu`` gaps are time that the GUI thread itself computed between two beats: a property of the program.
    ``wall`` gaps also hold what other programs took: a property of the machine, to be read loosely.
    """

    count: int
    wall_max: float
    wall_p99: float
    cpu_max: float
    cpu_p99: float
    stalls: tuple[Stall, ...]

    def __str__(self) -> str:
        worst = max(self.stalls, key=lambda stall: stall.seconds, default=None)
        text = (
            f"{self.count} beats; wall max {self.wall_max:.0f} ms, p99 {self.wall_p99:.0f} ms; "
            f"own CPU max {self.cpu_max:.0f} ms, p99 {self.cpu_p99:.0f} ms"
        )
        if worst is None:
            return text
        return f"{text}\nlongest seen stall {worst.seconds * 1000:.0f} ms in\n{worst.stack}{worst.workers}"


class Heartbeat(QObject):
    """A precise 5 ms timer on the GUI thread and a watchdog that names the function which holds it.

    Used as a context manager on the GUI thread, with a running event loop inside.

    Parameters
    ----------
    interval : int
        Milliseconds between beats.
    patience : float
        Seconds without a beat after which the watchdog takes the GUI thread's stack.
    """

    def __init__(self, interval: int = 5, patience: float = 0.05, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(interval)
        self._timer.timeout.connect(self._beat)
        self._patience = patience
        self._wall: list[float] = []
        self._cpu: list[float] = []
        self._last = 0.0
        self._last_cpu = 0.0
        self._stop = threading.Event()
        self._stalls: list[Stall] = []
        self._watched = threading.get_ident()
        self._watchdog: threading.Thread | None = None

    def __enter__(self) -> Heartbeat:
        self._last, self._last_cpu = time.perf_counter(), time.thread_time()
        self._timer.start()
        self._watchdog = threading.Thread(target=self._watch, name="a3s-watchdog", daemon=True)
        self._watchdog.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self._beat()
        self._timer.stop()
        self._stop.set()
        if self._watchdog is not None:
            self._watchdog.join()

    def result(self) -> Beats:
        """What was measured so far."""
        wall = np.asarray(self._wall or [0.0]) * 1000.0
        cpu = np.asarray(self._cpu or [0.0]) * 1000.0
        return Beats(
            count=len(self._wall),
            wall_max=float(wall.max()),
            wall_p99=float(np.percentile(wall, 99)),
            cpu_max=float(cpu.max()),
            cpu_p99=float(np.percentile(cpu, 99)),
            stalls=tuple(self._stalls),
        )

    @Slot()
    def _beat(self) -> None:
        now, cpu = time.perf_counter(), time.thread_time()
        self._wall.append(now - self._last)
        self._cpu.append(cpu - self._last_cpu)
        self._last, self._last_cpu = now, cpu

    def _watch(self) -> None:
        with files.scratch_file() as room:
            self._watch_with(room)

    def _watch_with(self, room: IO[bytes]) -> None:
        seen = 0.0
        while not self._stop.wait(self._patience / 4):
            last = self._last
            late = time.perf_counter() - last
            if late <= self._patience:
                continue
            if last == seen:  # the same stall, still going on
                self._stalls[-1] = replace(self._stalls[-1], seconds=late)
                continue
            stall = self._stall(late, room)
            if stall is not None:
                seen = last
                self._stalls.append(stall)

    def _stall(self, late: float, room: IO[bytes]) -> Stall | None:
        """What the threads are doing now."""
        calls = _calls(room)
        if self._watched not in calls:
            return None
        workers = "".join(
            f"{thread.name}:\n{_stack(calls[thread.ident])}"
            for thread in threading.enumerate()
            if thread is not self._watchdog
            and thread.name.startswith("a3s-")
            and thread.ident in calls
            and not _waits(calls[thread.ident])
        )
        return Stall(late, _stack(calls[self._watched]), workers)


def _calls(room: IO[bytes]) -> dict[int, list[str]]:
    """The calls that each thread is in, by its number, innermost first.

    Python's frames are not touched: to take those of running threads now and then ends the interpreter (3.11), and a
    frame that is held keeps all that its function has.
    """
    room.seek(0)
    room.truncate()
    faulthandler.dump_traceback(room, all_threads=True)
    room.seek(0)
    found: dict[int, list[str]] = {}
    own: list[str] = []
    for line in room.read().decode("utf-8", "replace").splitlines():
        if head := _THREAD.match(line):
            own = found.setdefault(int(head[1], 16), [])
        elif line.startswith("  File "):
            own.append(line)
    return found


def _stack(calls: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in reversed(calls[:_DEEPEST]))


def _waits(calls: Sequence[str]) -> bool:
    """Whether a thread only waits for work."""
    return not calls or _WAITING.search(calls[0]) is not None
