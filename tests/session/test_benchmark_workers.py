"""Jobs in processes: results, failures of one job, a process that dies, and that nothing is left behind."""

from __future__ import annotations

import multiprocessing
import os
import time
from typing import Any

import pytest

from a3s_desktop.errors import InputError
from a3s_desktop.session.benchmark_workers import Crew, Failure, attempt


def work(job: str) -> Any:
    """What the processes of these tests do."""
    if job == "known":
        raise InputError("Row 3 is empty.", "Fill it in.")
    if job == "fault":
        raise ZeroDivisionError("nothing\nat all")
    if job == "memory":
        raise MemoryError
    if job == "die":
        os._exit(7)
    if job == "kill":
        os.kill(os.getpid(), 9)
    if job == "sleep":
        time.sleep(60.0)
    if job == "threads":
        from threadpoolctl import threadpool_info

        return {library["num_threads"] for library in threadpool_info()}
    return job.upper()


def collect(crew: Crew, count: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    deadline = time.monotonic() + 60.0
    while len(found) < count and time.monotonic() < deadline:
        found.update(crew.finished(0.1))
    return found


def test_failures_are_sentences() -> None:
    assert attempt(work, "a") == "A"
    assert attempt(work, "known") == Failure("Row 3 is empty. Fill it in.")
    assert attempt(work, "memory") == Failure("There was not enough memory.")
    reason = attempt(work, "fault").reason
    assert reason.startswith("ZeroDivisionError in test_benchmark_workers.py:")
    assert reason.endswith(": nothing")


def test_jobs_are_done_and_a_process_that_dies_takes_no_other_with_it() -> None:
    with Crew(2, work) as crew:
        crew.begin("a")
        crew.begin("threads")
        assert not crew.has_room
        with pytest.raises(ValueError, match="at work"):
            crew.begin("b")
        found = collect(crew, 2)
        assert found["a"] == "A"
        assert found["threads"] == {1}
        crew.begin("die")
        crew.begin("b")
        found = collect(crew, 2)
        assert found["b"] == "B"
        assert "exit code 7" in found["die"].reason
        crew.begin("c")
        assert collect(crew, 1) == {"c": "C"}
    assert multiprocessing.active_children() == []


@pytest.mark.skipif(os.name == "nt", reason="there are no signals that end a process")
def test_a_process_that_the_system_ends_is_said_so() -> None:
    with Crew(1, work) as crew:
        crew.begin("kill")
        assert "SIGKILL" in collect(crew, 1)["kill"].reason


def test_leaving_ends_what_is_at_work() -> None:
    started = time.monotonic()
    with Crew(1, work) as crew:
        crew.begin("sleep")
        assert crew.finished(0.1) == []
    assert time.monotonic() - started < 20.0
    assert multiprocessing.active_children() == []
