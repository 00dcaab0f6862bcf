"""Cycles are collected on the GUI thread only, since they may hold Qt objects."""

from __future__ import annotations

import gc
import sys
import threading
import weakref

import pytest

from a3s_desktop.ui.garbage import GarbageCollector


class Node:
    def __init__(self) -> None:
        self.me = self


@pytest.fixture
def collector(qtbot):
    collector = GarbageCollector()
    yield collector
    collector.stop()
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0


def test_a_worker_that_makes_garbage_does_not_collect_it(collector):
    node = weakref.ref(Node())

    def work() -> None:
        for _ in range(30_000):
            Node()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert node() is not None
    assert collector.collect() == 0
    assert node() is None


def test_older_generations_have_their_turn(collector):
    seen = set()
    for _ in range(101):
        keep = [Node() for _ in range(2100)]
        seen.add(collector.collect())
        del keep
    assert seen == {0, 1, 2}


def test_nothing_is_done_while_nothing_happens(collector):
    gc.collect()
    assert collector.collect() == -1


def test_libraries_that_were_loaded_meanwhile_are_not_walked(collector, monkeypatch):
    for number in range(30):
        monkeypatch.setitem(sys.modules, f"a3s_no_module_{number}", None)
    keep = [Node() for _ in range(5000)]
    frozen = gc.get_freeze_count()
    assert collector.collect() == -1
    assert gc.get_freeze_count() >= frozen + len(keep)
    more = [Node() for _ in range(5000)]
    assert collector.collect() >= 0  # but what comes after them is
    assert len(more) == 5000


def test_a_worker_s_data_are_not_walked(collector):
    data = [[number] for number in range(120_000)]
    assert collector.collect() == -1
    assert gc.get_freeze_count() >= len(data)
    first = weakref.ref(Node())
    keep = [Node() for _ in range(5000)]
    assert collector.collect() >= 0
    assert first() is None
    assert len(keep) == 5000


def test_data_that_grow_little_by_little_are_not_walked_either(collector):
    walked: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            walked.append(sum(len(gc.get_objects(older)) for older in range(info["generation"] + 1)))

    gc.callbacks.append(note)
    try:
        data: list[list[int]] = []
        for _ in range(101):
            data += [[number] for number in range(5000)]
            collector.collect()
    finally:
        gc.callbacks.remove(note)
    assert len(walked) > 50
    assert max(walked) <= 110_000  # the limit, and what the test itself makes
