"""Jobs for a place: the newest counts, a failure harms nobody."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from a3s_desktop.ui.darkroom import Darkroom


@pytest.fixture
def room(qtbot: QtBot) -> Iterator[Darkroom]:
    room = Darkroom(threads=1)
    yield room
    room.shutdown()


def test_only_the_newest_result_of_a_place_arrives(qtbot: QtBot, room: Darkroom) -> None:
    gate, got, ran = threading.Event(), [], []

    def work(name: str) -> str:
        gate.wait(5)
        ran.append(name)
        return name

    room.done.connect(lambda place, number, result: got.append((place, number, result)))
    for name in ("first", "second", "third"):
        last = room.submit("left", work, name)
    other = room.submit("right", work, "other")
    gate.set()
    qtbot.waitUntil(lambda: len(got) == 2, timeout=5000)
    assert got == [("left", last, "third"), ("right", other, "other")]
    assert "second" not in ran, "what waits and is replaced is not done at all"


def test_what_is_dropped_does_not_arrive(qtbot: QtBot, room: Darkroom) -> None:
    gate, got = threading.Event(), []
    room.done.connect(lambda place, _number, _result: got.append(place))
    room.submit("left", gate.wait, 5)
    room.drop("left")
    room.submit("right", int)
    gate.set()
    qtbot.waitUntil(lambda: bool(got), timeout=5000)
    assert got == ["right"]


def test_an_error_is_logged_and_work_goes_on(qtbot: QtBot, room: Darkroom, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        room.submit("left", int, "no number")
        with qtbot.waitSignal(room.done, timeout=5000) as got:
            room.submit("right", int, "7")
    assert got.args[2] == 7
    assert "image work for left failed" in caplog.text


def test_nothing_is_done_after_the_end(room: Darkroom) -> None:
    room.submit("left", int)
    room.shutdown()
    room.submit("left", int)
    room.shutdown()
