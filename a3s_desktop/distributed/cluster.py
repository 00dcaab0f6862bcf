"""A Dask cluster that works on the jobs of a task; its own failures become sentences."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from a3s_desktop.distributed import worker
from a3s_desktop.distributed.shared import pack
from a3s_desktop.errors import DaskError, InputError
from a3s_desktop.i18n import number, tr
from a3s_desktop.storage import files
from a3s_desktop.task import Task

log = logging.getLogger(__name__)

Job = TypeVar("Job")
Done = TypeVar("Done")

_ANSWER = 20.0  # seconds within which a scheduler has to answer
_WAIT = 0.25  # seconds between two looks at the task while a result is awaited
_LOOK = 10.0  # seconds between two looks at the workers
_ALONE = 60.0  # seconds without any worker after which the work ends
_AHEAD = 3  # results for each thread of the workers that are asked for before they are needed
_SHARES = 8  # parts for each thread that the jobs are put together to; more would be more messages than work
_TOGETHER = 16  # jobs in one message, at most


@dataclass(slots=True)
class Traffic:
    """What one kind of job took in all.

    Attributes
    ----------
    jobs : int
    seconds, clock : float
        Processor seconds of the workers; seconds by the clock until all results were there.
    written, returned : int
        Bytes written to files for the workers; bytes of the results.
    """

    jobs: int = 0
    seconds: float = 0.0
    clock: float = 0.0
    written: int = 0
    returned: int = 0


@dataclass(slots=True)
class Runner:
    """Has Dask's workers do what can be done at once; a `task.Runner`.

    Parameters
    ----------
    client : distributed.Client
    folder : Path
        For files that the workers map into memory; they see it by the same path.

    Attributes
    ----------
    traffic : dict
        By the name of the jobs' function.
    """

    client: Any
    folder: Path
    traffic: dict[str, Traffic] = field(default_factory=dict)
    _used: Path = field(default=Path(), init=False)
    _looked: float = field(default=0.0, init=False)
    _alone: float = field(default=0.0, init=False)

    def __call__(
        self, work: Callable[[Job], Done], jobs: Sequence[Job], task: Task, span: tuple[float, float]
    ) -> Iterator[Done]:
        """The results of the jobs, in their order; see `task.at_once`."""
        from dask.sizeof import sizeof

        counts = self.traffic.setdefault(getattr(work, "func", work).__name__, Traffic())
        begun = time.monotonic()
        with shared_folder(self.folder) as folder:
            packed, written = pack(work, folder)
            counts.written += written
            self._used = folder
            for done, (results, seconds) in self._results(packed, jobs, task):
                task.step(span[0] + (span[1] - span[0]) * done / len(jobs))
                counts.jobs += len(results)
                counts.seconds += seconds
                counts.returned += sum(sizeof(result) for result in results)
                yield from results
        counts.clock += time.monotonic() - begun

    def _results(self, packed: bytes, jobs: Sequence[Any], task: Task) -> Iterator[tuple[int, tuple[list[Any], float]]]:
        """Results of some jobs together, and how many were done before them."""
        with _failures():
            threads = max(1, sum(self.client.nthreads().values()))
            size = max(1, min(_TOGETHER, len(jobs) // (_SHARES * threads)))
            starts = range(0, len(jobs), size)
            program = worker.this_process()
            waiting: deque[Any] = deque()
            try:
                for at, start in enumerate(starts):
                    while len(waiting) < _AHEAD * threads and at + len(waiting) < len(starts):
                        first = starts[at + len(waiting)]
                        part = list(jobs[first : first + size])
                        waiting.append(self.client.submit(worker.run_jobs, packed, part, program, pure=False))
                    yield start, self._result(waiting[0], task)
                    waiting.popleft()
            finally:
                if waiting:
                    self.client.cancel(list(waiting), force=True)

    def _result(self, future: Any, task: Task) -> Any:
        from distributed import wait

        self._alone = time.monotonic()
        while True:
            task.check()
            self._look()
            with contextlib.suppress(TimeoutError), self.client.as_current():
                wait([future], timeout=_WAIT)
                break
        if future.status == "error":
            raise _of_worker(future.exception())
        return future.result()

    def _look(self) -> None:
        """From time to time: keep the files from being swept, and see whether there are workers."""
        now = time.monotonic()
        if now - self._looked < _LOOK:
            return
        self._looked = now
        with contextlib.suppress(OSError):
            files.keep_fresh(self._used)
        if self.client.nthreads():
            self._alone = now
        elif now - self._alone >= _ALONE:
            raise DaskError(tr("The Dask cluster has no worker any more."), _again())


@contextlib.contextmanager
def shared_folder(parent: Path) -> Iterator[Path]:
    """A new folder, removed at the end as far as the system lets us: what is left is swept later."""
    folder = files.temporary_name(parent)
    try:
        files.make_folder(folder)
    except OSError as error:
        raise files.write_failed(folder, error) from error
    try:
        yield folder
    finally:
        with contextlib.suppress(OSError):  # Windows keeps what a worker has mapped
            files.remove_tree(folder)


@contextlib.contextmanager
def at_work(address: str, folder: Path, task: Task) -> Iterator[Runner]:
    """Let the workers of a Dask cluster do what the task does at once, for the length of the block.

    Parameters
    ----------
    address : str
        Of the scheduler: ``tcp://HOST:PORT``.
    folder : Path
        A folder that this computer can write to and all workers see by the same path.
    task : Task

    Raises
    ------
    InputError
        The address is none, or Dask is not installed.
    DaskError
        There is no scheduler or worker, a worker does not see the folder or has other versions, or the cluster failed.
    """
    check_address(address)
    with _client(address) as client:
        _check_workers(client, folder)
        runner = Runner(client, folder)
        task.runner = runner
        try:
            yield runner
        finally:
            task.runner = None
            with contextlib.suppress(Exception):  # a cluster that is gone has nothing left to forget
                client.run(worker.forget)
            for name, counts in runner.traffic.items():
                log.info(
                    "%s: %s jobs, %.1f s of workers, %.1f MB written, %.1f MB returned",
                    *(name, counts.jobs, counts.seconds, counts.written / 1e6, counts.returned / 1e6),
                )


def check_address(address: str) -> None:
    """Raise `InputError` where an address cannot be that of a scheduler, or Dask is missing."""
    try:
        parts = urlsplit(address)
        fits = parts.scheme in ("tcp", "tls") and bool(parts.hostname) and parts.port is not None
    except ValueError:
        fits = False
    if not fits:
        raise InputError(
            tr("“{address}” is no address of a Dask scheduler.", address=address),
            tr("It looks like tcp://HOST:8786; the scheduler says it when it starts."),
        )
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise InputError(
            tr("Work on a cluster needs Dask, which is not installed."),
            tr("Install the program from its source: pip install '{what}'", what="a3s-desktop[distributed]"),
        ) from error


@contextlib.contextmanager
def _client(address: str) -> Iterator[Any]:
    from distributed import Client

    _quiet()
    parts = urlsplit(address)
    try:  # where nothing listens this is said at once; Dask would try again and again
        socket.create_connection((str(parts.hostname), parts.port or 0), _ANSWER).close()
        client = Client(address, timeout=_ANSWER, set_as_default=False)
    except (OSError, TimeoutError, ValueError, ImportError) as error:
        log.info("No scheduler at %s: %s", address, error)
        raise DaskError(
            tr("There is no Dask scheduler at {address}.", address=address),
            tr("Start one with “dask scheduler”, and workers with “dask worker {address}”.", address=address),
        ) from error
    try:
        yield client
    finally:
        with contextlib.suppress(Exception):  # it may be gone
            client.close(timeout=_ANSWER)


def _quiet() -> None:
    """Dask's own lines on stderr are kept from people; what went wrong is said in a sentence."""
    import distributed  # noqa: F401  # it sets its loggers up when it is imported

    for name in ("distributed", "distributed.client", "tornado.application"):
        logger = logging.getLogger(name)
        logger.setLevel(logging.CRITICAL if not log.isEnabledFor(logging.INFO) else logging.INFO)


def _check_workers(client: Any, folder: Path) -> None:
    """Whether there are workers, see the folder and have the same versions."""
    probe, content = files.temporary_name(folder), os.urandom(16)
    try:
        files.write_scratch(probe, content)
        mine = dict(worker.facts(str(probe), content).versions)
        with _failures():
            found = _facts_of_workers(client, probe, content)
    except OSError as error:
        raise files.write_failed(probe, error) from error
    finally:
        with contextlib.suppress(OSError):
            files.remove_file(probe)
    if not found:
        raise DaskError(
            tr("The Dask scheduler has no workers yet."),
            tr("Start some with “dask worker {address}”.", address=client.scheduler.address),
        )
    blind = [address for address, facts in found.items() if not facts.sees]
    if blind:
        raise DaskError(
            tr(
                "{count} of {all} workers do not see the folder {folder} (the first is {worker}).",
                count=number(len(blind)),
                all=number(len(found)),
                folder=files.show(folder),
                worker=blind[0],
            ),
            tr("Make the project on a drive that all computers of the cluster reach by the same path."),
        )
    for address, facts in found.items():
        for name, version in facts.versions:
            if version != mine[name]:
                raise DaskError(
                    tr(
                        "The worker {worker} has {name} {version}, this computer {mine}.",
                        worker=address,
                        name=name,
                        version=version,
                        mine=mine[name],
                    ),
                    tr("Install the same versions on all computers of the cluster."),
                )


def _facts_of_workers(client: Any, probe: Path, content: bytes) -> dict[str, worker.Facts]:
    try:
        found: dict[str, worker.Facts] = client.run(worker.facts, str(probe), content)
    except ImportError as error:
        raise DaskError(
            tr("A worker of the cluster does not have A3S Desktop: {error}.", error=str(error)),
            tr("Install the same version on all computers of the cluster."),
        ) from error
    return found


@contextlib.contextmanager
def _failures() -> Iterator[None]:
    """Failures of Dask itself as sentences."""
    from concurrent.futures import CancelledError

    from distributed.comm import CommClosedError

    try:
        yield
    except (CommClosedError, CancelledError, TimeoutError) as error:
        log.info("The cluster failed", exc_info=error)
        raise DaskError(tr("The connection to the Dask scheduler was lost."), _again()) from error


def _of_worker(error: BaseException) -> BaseException:
    """What a worker's failure is for people; a fault of the program stays what it is."""
    from distributed import KilledWorker

    if isinstance(error, KilledWorker):
        return DaskError(
            tr("Workers of the cluster ended again and again while they did the same part of the work."),
            tr("They may have too little memory: start fewer threads on each computer. Then run the command again."),
        )
    if isinstance(error, MemoryError):
        return DaskError(tr("A worker of the cluster has too little memory."), _again())
    if isinstance(error, OSError):
        cause = error.strerror or str(error)
        return DaskError(tr("A worker of the cluster could not read the project: {cause}.", cause=cause), _again())
    return error


def _again() -> str:
    return tr("Run the command again when the cluster is well: it goes on after the last step that was finished.")
