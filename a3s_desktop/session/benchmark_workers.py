"""A few processes that do jobs one after another. A job that fails, or takes its process with it, fails alone."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, Self

from a3s_desktop.errors import A3SError


@dataclass(frozen=True, slots=True)
class Failure:
    """A job that came to nothing, and why, in one sentence."""

    reason: str


def attempt(do: Callable[[Any], Any], job: Any) -> Any:
    """The result of ``do(job)``, or a `Failure`."""
    try:
        return do(job)
    except A3SError as error:
        return Failure(str(error))
    except MemoryError:
        return Failure("There was not enough memory.")
    except Exception as error:
        # A fault of the program: the report names its place, and the other runs go on.
        frame = traceback.extract_tb(error.__traceback__)[-1]
        text = str(error).partition("\n")[0][:300]
        return Failure(f"{type(error).__name__} in {os.path.basename(frame.filename)}:{frame.lineno}: {text}")


def serve(connection: Connection, do: Callable[[Any], Any]) -> None:
    """What a process does until its parent closes the connection: receive a job, send ``(result,)``."""
    # Ctrl+C reaches the whole group of processes; the parent decides what becomes of this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _one_thread()
    with contextlib.suppress(EOFError, OSError):
        while True:
            connection.send((attempt(do, connection.recv()),))


def _one_thread() -> None:
    # Only libraries that are loaded by now can be limited.
    import scipy.sparse.linalg  # noqa: F401
    import sklearn.cluster  # noqa: F401
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)


class _Lane:
    """A process, and the job that it is at."""

    def __init__(self, do: Callable[[Any], Any]) -> None:
        context = multiprocessing.get_context("spawn")  # alike on every system, and safe beside threads
        self.connection, theirs = context.Pipe()
        self.process: SpawnProcess = context.Process(target=serve, args=(theirs, do), daemon=True)
        self.process.start()
        theirs.close()
        self.job: Hashable | None = None

    def stop(self) -> None:
        if self.job is None:
            self.connection.close()  # which ends its loop
            self.process.join(5.0)
        if self.process.is_alive():
            self.process.kill()
        self.process.join()
        self.connection.close()
        self.process.close()


class Crew:
    """Processes that do jobs. A context manager: leaving it ends them, at once where they are at work.

    Parameters
    ----------
    size : int
        Number of processes; each starts when it is first needed.
    do : callable
        Does a job; a function of a module, as are its arguments and results, which are pickled.
    """

    def __init__(self, size: int, do: Callable[[Any], Any]) -> None:
        self._size = max(1, size)
        self._do = do
        self._lanes: list[_Lane] = []

    @property
    def has_room(self) -> bool:
        """Whether a job would be begun at once."""
        return self._busy < self._size

    @property
    def _busy(self) -> int:
        return sum(lane.job is not None for lane in self._lanes)

    def begin(self, job: Hashable) -> None:
        """Begin a job; only where there is room."""
        lane = next((lane for lane in self._lanes if lane.job is None), None)
        if lane is None:
            if not self.has_room:
                raise ValueError("every process is at work")
            lane = _Lane(self._do)
            self._lanes.append(lane)
        lane.job = job
        with contextlib.suppress(OSError):  # a process that died meanwhile is noticed in `finished`
            lane.connection.send(job)

    def finished(self, timeout: float) -> list[tuple[Any, Any]]:
        """Jobs that came to their end, each with its result or `Failure`; waits up to ``timeout`` seconds for one."""
        busy = {lane.connection: lane for lane in self._lanes if lane.job is not None}
        found: list[tuple[Any, Any]] = []
        for connection in wait(list(busy), timeout):
            lane = busy[connection]  # type: ignore[index]
            job, lane.job = lane.job, None
            try:
                (result,) = lane.connection.recv()
            except (EOFError, OSError):
                lane.process.join(5.0)
                result = Failure(_death(lane.process.exitcode))
                self._lanes.remove(lane)
                lane.stop()
            found.append((job, result))
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        while self._lanes:
            self._lanes.pop().stop()


def _death(code: int | None) -> str:
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return f"Its process was ended by the system ({signal.Signals(-code).name}), perhaps for lack of memory."
    return f"Its process ended by itself (exit code {code})."
