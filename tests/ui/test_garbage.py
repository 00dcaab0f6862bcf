"""Cycles are collected on the GUI thread only, since they may hold Qt objects."""

from __future__ import annotations

import gc
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
