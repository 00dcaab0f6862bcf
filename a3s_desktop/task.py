"""Progress and cancellation of long work, passed as one argument from the caller down to the loops."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from a3s_desktop.errors import Cancelled

Job = TypeVar("Job")
Done = TypeVar("Done")

_WORKERS = 8  # at most; each holds what it works on


class Runner(Protocol):
    """Works on jobs elsewhere than in the threads of this process; see `at_once`, whose arguments it gets."""

    def __call__(
        self, work: Callable[[Job], Done], jobs: Sequence[Job], task: Task, span: tuple[float, float]
    ) -> Iterator[Done]:
        """The results of the jobs, in their order."""


@dataclass(frozen=True, slots=True)
class Progress:
    """What a task is doing now.

    Attributes
    ----------
    stage : str
        Name of the stage, in plain words ("Comparing images").
    index, count : int
        The stage's position (0-based) and the number of stages; ``count`` is 0 where it is not known.
    fraction : float
        Share of the stage that is done, in [0, 1].
    seconds_left : float or None
        Estimate for the stage, once there is one.
    """

    stage: str
    index: int
    count: int
    fraction: float
    seconds_left: float | None


class Task:
    """Throttled progress out, cancellation in. Safe to cancel from any thread.

    Parameters
    ----------
    on_progress : callable, optional
        Receives a `Progress`, at most once in ``min_interval`` seconds and at each new stage, on the working thread.
    min_interval : float
        Seconds between two reports of one stage.

    Attributes
    ----------
    runner : Runner or None
        Who works on what can be done at once (`at_once`); None: threads of this process.
    """

    def __init__(self, on_progress: Callable[[Progress], None] | None = None, min_interval: float = 0.1) -> None:
        self._on_progress = on_progress
        self._min_interval = min_interval
        self._cancelled = threading.Event()
        self._stage = ""
        self._index = -1
        self._count = 0
        self._started = 0.0
        self._reported = 0.0
        self.runner: Runner | None = None

    def plan(self, count: int, done: int = 0) -> None:
        """Say how many stages there are, so that reports can carry "2 of 5"; ``done`` of them lie behind."""
        self._count = count
        self._index = done - 1

    def stage(self, name: str) -> None:
        """Begin a stage. Raises `Cancelled` where the user asked for it."""
        self.check()
        self._stage = name
        self._index += 1
        self._started = time.monotonic()
        self._report(0.0)

    def step(self, fraction: float) -> None:
        """Report the share of the stage that is done. Raises `Cancelled` where the user asked for it."""
        self.check()
        self.tell(fraction)

    def tell(self, fraction: float) -> None:
        """Report the share of the stage that is done, where nobody may stop."""
        if time.monotonic() - self._reported >= self._min_interval:
            self._report(min(max(fraction, 0.0), 1.0))

    def check(self) -> None:
        """Raise `Cancelled` where the user asked for it."""
        if self._cancelled.is_set():
            raise Cancelled

    def cancel(self) -> None:
        """Ask the work to stop at its next check."""
        self._cancelled.set()

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._cancelled.is_set()

    def _report(self, fraction: float) -> None:
        now = time.monotonic()
        self._reported = now
        if self._on_progress is None:
            return
        elapsed = now - self._started
        left = elapsed * (1.0 - fraction) / fraction if fraction >= 0.05 and elapsed > 0.5 else None
        self._on_progress(Progress(self._stage, max(self._index, 0), self._count, fraction, left))


def at_once(work: Callable[[Job], Done], jobs: Sequence[Job], task: Task, span: tuple[float, float]) -> Iterator[Done]:
    """The results of jobs, in order, worked on by as many threads as BLAS would use, or by the task's runner.

    ``span``: from which to which share of the task's stage this is, for progress. The jobs must not depend on each
    other. Each thread calls BLAS for itself: products too small to share took twenty times the processor time when
    shared.

    ``work`` is a pure function of a module, or a `functools.partial` of one with the data that all jobs share: a runner
    may call it on another computer, so what it finds is what it returns.
    """
    if task.runner is not None:
        yield from task.runner(work, jobs, task, span)
        return
    from concurrent.futures import ThreadPoolExecutor  # here: neither is needed when the program starts

    from threadpoolctl import threadpool_info, threadpool_limits

    cores = max((int(pool["num_threads"]) for pool in threadpool_info()), default=1)
    workers = min(_WORKERS, cores)
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(workers, "a3s-compare") as pool:
        waiting = [pool.submit(work, job) for job in jobs[: 2 * workers]]
        try:
            for number in range(len(jobs)):
                task.step(span[0] + (span[1] - span[0]) * number / len(jobs))
                result = waiting.pop(0).result()
                if number + 2 * workers < len(jobs):
                    waiting.append(pool.submit(work, jobs[number + 2 * workers]))
                yield result
        finally:
            for future in waiting:
                future.cancel()
