"""Work leaves the GUI thread and comes back on it, whatever happens on the way."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject, Slot

from a3s_desktop.errors import Cancelled, InputError
from a3s_desktop.task import Task
from a3s_desktop.ui.jobs import Jobs, Worker


class Receiver(QObject):
    def __init__(self) -> None:
        super().__init__()
        self.values: list[object] = []
        self.errors: list[BaseException] = []
        self.reports: list[object] = []
        self.threads: set[int] = set()

    @Slot(object)
    def done(self, value: object) -> None:
        self.values.append(value)
        self.threads.add(threading.get_ident())

    @Slot(object)
    def failed(self, error: BaseException) -> None:
        self.errors.append(error)
        self.threads.add(threading.get_ident())

    @Slot(object)
    def reported(self, progress: object) -> None:
        self.reports.append(progress)


@pytest.fixture
def jobs(qtbot) -> Iterator[Jobs]:
    jobs = Jobs()
    yield jobs
    jobs.shutdown()


def test_results_arrive_on_the_thread_that_asked_in_order(jobs, qtbot):
    receiver = Receiver()
    for number in range(20):
        jobs.submit(Worker.ENGINE, lambda number=number: (number, threading.get_ident()), done=receiver.done)
    qtbot.waitUntil(lambda: len(receiver.values) == 20)
    assert [number for number, _ in receiver.values] == list(range(20))
    assert receiver.threads == {threading.get_ident()}
    workers = {thread for _, thread in receiver.values}
    assert len(workers) == 1
    assert threading.get_ident() not in workers


def test_a_long_background_job_does_not_hold_up_the_engine(jobs, qtbot):
    receiver, gate = Receiver(), threading.Event()
    jobs.submit(Worker.BACKGROUND, gate.wait, 30.0, done=receiver.done)
    jobs.submit(Worker.ENGINE, lambda: "answer", done=receiver.done)
    qtbot.waitUntil(lambda: receiver.values == ["answer"])
    assert jobs.busy(Worker.BACKGROUND)
    assert not jobs.busy(Worker.ENGINE)
    gate.set()
    qtbot.waitUntil(lambda: receiver.values == ["answer", True])


def test_known_problems_go_to_the_caller_and_bugs_also_to_the_crash_dialog(jobs, qtbot, caplog):
    receiver, crashes = Receiver(), []
    jobs.crashed.connect(crashes.append)

    def known() -> None:
        raise InputError("Row 3 holds NaN.")

    def bug() -> None:
        raise ZeroDivisionError("a bug")

    jobs.submit(Worker.ENGINE, known, failed=receiver.failed)
    jobs.submit(Worker.ENGINE, bug, failed=receiver.failed)
    qtbot.waitUntil(lambda: len(receiver.errors) == 2)
    assert [type(error) for error in receiver.errors] == [InputError, ZeroDivisionError]
    assert [type(error) for error in crashes] == [ZeroDivisionError]
    assert "A job failed" in caplog.text


def test_progress_and_cancel(jobs, qtbot):
    receiver = Receiver()

    def work(task: Task) -> None:
        task.plan(1)
        task.stage("Counting")
        while True:
            task.step(0.5)
            time.sleep(0.001)

    job = jobs.submit(
        Worker.BACKGROUND, work, done=receiver.done, failed=receiver.failed, reported=receiver.reported, with_task=True
    )
    qtbot.waitUntil(lambda: len(receiver.reports) >= 2)
    assert receiver.reports[0].stage == "Counting"
    job.cancel()
    qtbot.waitUntil(lambda: bool(receiver.errors))
    assert isinstance(receiver.errors[0], Cancelled)
    assert receiver.values == []


def test_a_dropped_job_and_a_destroyed_receiver_deliver_nothing(jobs, qtbot):
    receiver, gone, gate = Receiver(), Receiver(), threading.Event()
    jobs.submit(Worker.ENGINE, gate.wait, 30.0).drop()
    dropped = jobs.submit(Worker.ENGINE, lambda: "dropped", done=receiver.done)
    jobs.submit(Worker.ENGINE, lambda: "gone", done=gone.done)
    jobs.submit(Worker.ENGINE, lambda: "kept", done=receiver.done)
    dropped.drop()
    gone.deleteLater()
    qtbot.wait(10)
    gate.set()
    qtbot.waitUntil(lambda: receiver.values == ["kept"])


def test_shutdown_finishes_the_engine_cancels_the_background_and_takes_no_more(qtbot):
    jobs, stored, cancelled = Jobs(), [], []

    def store(number: int) -> None:
        time.sleep(0.02)
        stored.append(number)

    def endless(task: Task) -> None:
        try:
            while True:
                task.check()
                time.sleep(0.001)
        except Cancelled:
            cancelled.append(True)
            raise

    jobs.submit(Worker.BACKGROUND, endless, with_task=True)
    jobs.submit(Worker.BACKGROUND, stored.append, "never started")
    for number in range(5):
        jobs.submit(Worker.ENGINE, store, number)
    time.sleep(0.05)
    jobs.shutdown()
    assert stored == [0, 1, 2, 3, 4]
    assert cancelled == [True]
    jobs.shutdown()
    with pytest.raises(RuntimeError):
        jobs.submit(Worker.ENGINE, stored.append, 5)


@pytest.mark.parametrize(
    "error", [InputError("The question was answered already.", "Answer the next one."), Cancelled()]
)
def test_a_job_that_failed_lets_go_of_what_it_had_in_its_hands(jobs, qtbot, error):
    """Without a collection: an engine that a stale question was put to would stay in memory for good."""

    class Large:
        pass

    seen: list[weakref.ref[Large]] = []
    failed: list[BaseException] = []  # kept, as a dialog keeps what it shows

    def work() -> None:
        large = Large()
        seen.append(weakref.ref(large))
        raise error

    gc.disable()
    try:
        jobs.submit(Worker.ENGINE, work, failed=failed.append)
        qtbot.waitUntil(lambda: bool(failed))
        qtbot.waitUntil(lambda: seen[0]() is None)
    finally:
        gc.enable()
