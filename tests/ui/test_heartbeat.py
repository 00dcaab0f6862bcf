"""The measuring instrument itself: it must see a stall, name it, and see nothing where nothing is."""

from __future__ import annotations

import gc
import threading
import time
import weakref

import numpy as np
from PySide6.QtCore import QObject, QTimer, Slot

from a3s_desktop.ui.heartbeat import Heartbeat


class Sleeper(QObject):
    @Slot()
    def hold_the_window(self) -> None:
        time.sleep(0.2)


def test_a_stall_is_measured_and_named(qtbot):
    sleeper = Sleeper()
    with Heartbeat() as heart:
        QTimer.singleShot(20, sleeper.hold_the_window)
        qtbot.wait(400)
    beats = heart.result()
    assert beats.wall_max >= 190
    assert beats.cpu_max < 100  # it slept, it did not compute
    assert any("hold_the_window" in stall.stack for stall in beats.stalls)
    assert "hold_the_window" in str(beats)


def test_what_a_stalled_worker_had_in_its_hands_is_let_go(qtbot):
    """The stacks that were looked at hold nothing: of initialization it was half a gigabyte."""
    held = []

    def work():
        hands = np.zeros(1000)
        held.append(weakref.ref(hands))
        time.sleep(0.3)
        return float(hands.sum())

    sleeper = Sleeper()
    gc.disable()
    try:
        with Heartbeat() as heart:
            worker = threading.Thread(target=work, name="a3s-background_0")
            worker.start()
            QTimer.singleShot(20, sleeper.hold_the_window)
            qtbot.wait(500)
            worker.join()
            assert held[0]() is None
    finally:
        gc.enable()
    assert any("in work" in stall.workers for stall in heart.result().stalls)


def test_an_idle_window_beats_regularly(qtbot):
    with Heartbeat() as heart:
        qtbot.wait(300)
    beats = heart.result()
    assert beats.count > 10
    assert beats.cpu_max < 50
