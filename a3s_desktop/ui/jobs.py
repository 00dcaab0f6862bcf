"""Work off the GUI thread: one thread owns the session, others do what is long; results come back by queued signal."""

from __future__ import annotations

import enum
import logging
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import shiboken6
from PySide6.QtCore import QObject, Qt, Signal, Slot
from threadpoolctl import threadpool_limits

from a3s_desktop.errors import A3SError, Cancelled
from a3s_desktop.task import Progress, Task

log = logging.getLogger(__name__)

Done = Callable[[Any], None]
Failed = Callable[[BaseException], None]
Reported = Callable[[Progress], None]


class Worker(enum.Enum):
    """The threads; each runs its jobs one after the other, in the order of submission."""

    ENGINE = "engine"  # owns the session and its SQLite connection, so that the core needs no locks
    BACKGROUND = "background"  # checks, initialization, layout: may take minutes, so it must not block an answer
    ASIDE = "aside"  # reads what a dialog shows of the disk while it waits: not behind a layout that takes minutes


@dataclass(slots=True, eq=False)
class Job:
    """A handle on submitted work."""

    name: str
    task: Task
    done: Done | None
    failed: Failed | None
    reported: Reported | None
    dropped: bool = False

    def cancel(self) -> None:
        """Ask the work to stop. It still delivers: `Cancelled` to ``failed``, or its result if it was too late."""
        self.task.cancel()

    def drop(self) -> None:
        """Ask the work to stop and deliver nothing of it."""
        self.dropped = True
        self.task.cancel()


@dataclass(frozen=True, slots=True)
class _Outcome:
    job: Job
    value: Any = None
    error: BaseException | None = None


@dataclass(frozen=True, slots=True)
class _Report:
    job: Job
    progress: Progress


@dataclass(slots=True)
class _Lane:
    executor: ThreadPoolExecutor
    jobs: list[Job] = field(default_factory=list)


class Jobs(QObject):
    """Submits work and delivers its result on the thread this object lives in (the GUI thread).

    It outlives every job: `shutdown` waits for them. The callbacks given to `submit` must be bound methods of a
    QObject (or plain functions); those of a QObject that was destroyed meanwhile are not called.

    Signals
    -------
    crashed(object)
        An exception that is neither an `A3SError` nor a `Cancelled`: a bug. Emitted after the job's ``failed``.
    """

    crashed = Signal(object)
    _arrived = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lanes = {
            worker: _Lane(
                ThreadPoolExecutor(1, thread_name_prefix=f"a3s-{worker.value}", initializer=_leave_a_core_to_the_gui)
            )
            for worker in Worker
        }
        self._closed = False
        # Queued, because it is emitted on the worker threads; the receiver is a slot of this very object.
        self._arrived.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def submit(
        self,
        worker: Worker,
        work: Callable[..., Any],
        *args: Any,
        done: Done | None = None,
        failed: Failed | None = None,
        reported: Reported | None = None,
        with_task: bool = False,
    ) -> Job:
        """Run ``work(*args)`` on a worker thread.

        Parameters
        ----------
        worker : Worker
        work : callable
            Must not touch any Qt object.
        done, failed, reported : callable, optional
            Called on the GUI thread with the result; with the exception; with each `Progress`.
        with_task : bool
            Also pass ``task=job.task`` to ``work``, so that it can report and be cancelled.

        Raises
        ------
        RuntimeError
            After `shutdown`.
        """
        if self._closed:
            raise RuntimeError("the workers were shut down")
        name = getattr(work, "__qualname__", repr(work))
        job = Job(name, Task(), done, failed, reported)
        if with_task:
            job.task = Task(lambda progress: self._arrived.emit(_Report(job, progress)))
        lane = self._lanes[worker]
        lane.jobs.append(job)  # kept until delivered, so that a worker never holds the last reference to a callback
        keywords = {"task": job.task} if with_task else {}
        lane.executor.submit(self._run, worker, job, work, args, keywords)
        return job

    def busy(self, worker: Worker) -> bool:
        """Whether a job of this worker has not been delivered yet."""
        return bool(self._lanes[worker].jobs)

    def shutdown(self, wait: bool = True) -> None:
        """Cancel all work but the engine's, which is finished (answers are stored), and end the threads.

        Nothing is delivered any more. Called once, when the windows are gone; calling it again is harmless.
        """
        self._closed = True
        for lane in self._lanes.values():
            for job in lane.jobs:
                job.drop()
        for worker in (Worker.BACKGROUND, Worker.ASIDE):
            self._lanes[worker].executor.shutdown(wait=wait, cancel_futures=True)
        self._lanes[Worker.ENGINE].executor.shutdown(wait=wait)

    def _run(
        self, worker: Worker, job: Job, work: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> None:
        # On a worker thread. Every outcome is sent, whatever happened, since the caller waits for it.
        try:
            if worker is Worker.BACKGROUND:
                # Again for each long job: libraries that were loaded meanwhile bring their own thread pools.
                with threadpool_limits(limits=_spare_cores()):
                    outcome = _Outcome(job, value=work(*args, **keywords))
            else:
                outcome = _Outcome(job, value=work(*args, **keywords))
        except BaseException as error:  # noqa: BLE001 - handed over to the GUI thread, which tells the kinds apart
            if isinstance(error, A3SError | Cancelled):
                # Told, not looked into: whoever shows it would hold all frames, and the window's thread would have to
                # free what they hold.
                error.with_traceback(None)
            outcome = _Outcome(job, error=error)
        self._arrived.emit(outcome)
        del outcome  # its error knows this frame: the cycle would keep all that the work had in its hands

    @Slot(object)
    def _deliver(self, message: _Outcome | _Report) -> None:
        job = message.job
        if isinstance(message, _Report):
            self._call(job, job.reported, message.progress)
            return
        for lane in self._lanes.values():
            if job in lane.jobs:
                lane.jobs.remove(job)
        error = message.error
        if error is None:
            self._call(job, job.done, message.value)
            return
        bug = not isinstance(error, A3SError | Cancelled)
        if bug:
            log.error("A job failed: %s", job.name, exc_info=error)
        self._call(job, job.failed, error)
        if bug and not self._closed:
            self.crashed.emit(error)

    def _call(self, job: Job, callback: Callable[[Any], None] | None, value: Any) -> None:
        if callback is None or job.dropped or self._closed:
            return
        owner = getattr(callback, "__self__", None)
        if isinstance(owner, QObject) and not shiboken6.isValid(owner):
            return  # the view that asked is gone
        callback(value)


def _spare_cores() -> int:
    return max(1, (os.cpu_count() or 2) - 1)


def _leave_a_core_to_the_gui() -> None:
    log.debug("Thread %s computes on %d cores", threading.current_thread().name, _spare_cores())
    threadpool_limits(limits=_spare_cores())
