"""The loader: the urgent first, stale requests dropped, memory bounded, an orderly end."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from a3s_desktop.ui import small_copies
from a3s_desktop.ui.image_decode import DecodeError
from a3s_desktop.ui.image_loader import NOW, SOON, ImageLoader

BOX = QSize(100, 100)
ONE = 100 * 100 * 4


class Decoder:
    """Stands for the disk: fast images by name, held back until the gate opens."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.order: list[str] = []
        self.started = threading.Semaphore(0)

    def __call__(self, path: Path, box: QSize) -> QImage:
        self.order.append(path.name)
        self.started.release()
        self.gate.wait(10)
        if path.name.startswith("bad"):
            raise DecodeError("The file is empty.")
        if path.name.startswith("bug"):
            raise ZeroDivisionError
        image = QImage(box, QImage.Format.Format_RGB32)
        image.fill(0xFF00FF00)
        image.setText("source", f"{box.width() * 4}x{box.height() * 4}")
        return image


@pytest.fixture
def decoder(monkeypatch: pytest.MonkeyPatch) -> Decoder:
    decoder = Decoder()
    monkeypatch.setattr(small_copies, "decode", decoder)
    return decoder


@pytest.fixture
def loader(qtbot: QtBot, decoder: Decoder) -> Iterator[ImageLoader]:
    loader = ImageLoader(max_bytes=5 * ONE)
    yield loader
    decoder.gate.set()
    loader.shutdown()


def test_an_image_arrives_on_the_gui_thread_and_is_kept(qtbot: QtBot, loader: ImageLoader) -> None:
    threads: list[threading.Thread] = []
    loader.loaded.connect(lambda *_: threads.append(threading.current_thread()))
    with qtbot.waitSignal(loader.loaded) as got:
        key = loader.request(Path("a"), BOX)
    assert got.args[0] == key == loader.key(Path("a"), BOX)
    assert loader.get(Path("a"), BOX) == got.args[1]
    assert loader.get(Path("a"), QSize(50, 50)) is None
    assert threads == [threading.main_thread()]


def test_what_is_known_is_told_again_without_decoding(qtbot: QtBot, loader: ImageLoader, decoder: Decoder) -> None:
    for _ in range(2):
        with qtbot.waitSignals([loader.loaded, loader.failed]):
            loader.request(Path("a"), BOX)
            loader.request(Path("bad"), BOX)
    assert sorted(decoder.order) == ["a", "bad"]
    assert loader.failure(Path("bad"), BOX) == "The file is empty."


def test_a_bug_in_a_decoder_is_a_placeholder(
    qtbot: QtBot, loader: ImageLoader, caplog: pytest.LogCaptureFixture
) -> None:
    with qtbot.waitSignal(loader.failed) as got:
        loader.request(Path("bug"), BOX)
    assert "error in the program" in got.args[1]
    assert "ZeroDivisionError" in caplog.text


def occupy(qtbot: QtBot, loader: ImageLoader, decoder: Decoder, count: int = 2) -> None:
    """Let the ordinary threads hang in a decode."""
    decoder.gate.clear()
    for i in range(count):
        loader.request(Path(f"busy{i}"), BOX, SOON)
    qtbot.waitUntil(lambda: len(decoder.order) == count)
    for _ in range(count):
        assert decoder.started.acquire(timeout=5)


def test_only_the_pair_does_not_wait_for_the_window(qtbot: QtBot, loader: ImageLoader, decoder: Decoder) -> None:
    """Who paints a hundred pictures is not held up by their decoding."""
    with qtbot.waitSignal(loader.loaded):
        loader.request(Path("thumbnail"), BOX, SOON)
        assert not decoder.started.acquire(timeout=0.1)
    loader.request(Path("pair"), BOX, NOW)
    assert decoder.started.acquire(timeout=5)


def test_the_urgent_come_first(qtbot: QtBot, loader: ImageLoader, decoder: Decoder) -> None:
    occupy(qtbot, loader, decoder)
    loader.request(Path("late"), BOX, 10)
    loader.request(Path("soon"), BOX, 20)
    loader.request(Path("raised"), BOX, 5)
    loader.request(Path("raised"), BOX, 30)
    decoder.gate.set()
    qtbot.waitUntil(lambda: len(decoder.order) == 5)
    assert decoder.order[2:] == ["raised", "soon", "late"] or set(decoder.order[2:4]) == {"raised", "soon"}


def test_the_pair_overtakes_thumbnails_that_have_begun(qtbot: QtBot, loader: ImageLoader, decoder: Decoder) -> None:
    occupy(qtbot, loader, decoder)
    loader.request(Path("thumbnail"), BOX, SOON)
    loader.request(Path("pair"), BOX, NOW)
    assert decoder.started.acquire(timeout=5)
    assert decoder.order[-1] == "pair"
    assert "thumbnail" not in decoder.order


def test_stale_requests_are_dropped(qtbot: QtBot, loader: ImageLoader, decoder: Decoder) -> None:
    occupy(qtbot, loader, decoder)
    loader.request(Path("stale"), BOX, SOON, "gallery")
    kept = loader.request(Path("kept"), BOX, SOON, "gallery")
    loader.request(Path("shared"), BOX, SOON, "gallery")
    loader.request(Path("shared"), BOX, SOON, "strip")
    loader.cancel("gallery", keep=[kept])
    decoder.gate.set()
    qtbot.waitUntil(lambda: loader.get(Path("shared"), BOX) is not None and loader.get(Path("kept"), BOX) is not None)
    assert "stale" not in decoder.order
    with qtbot.waitSignal(loader.loaded):
        loader.request(Path("stale"), BOX)  # can be asked for again


def test_prefetch_replaces_what_it_waited_for(qtbot: QtBot, loader: ImageLoader, decoder: Decoder) -> None:
    occupy(qtbot, loader, decoder)
    loader.prefetch([Path("a"), Path("b")], BOX)
    loader.prefetch([Path("b"), Path("c")], BOX)
    decoder.gate.set()
    qtbot.waitUntil(lambda: all(loader.get(Path(n), BOX) is not None for n in "bc"))
    assert "a" not in decoder.order


def test_memory_is_bounded_and_the_least_used_goes(qtbot: QtBot, loader: ImageLoader) -> None:
    for name in "abcde":
        with qtbot.waitSignal(loader.loaded):
            loader.request(Path(name), BOX)
    loader.get(Path("a"), BOX)
    with qtbot.waitSignal(loader.loaded):
        loader.request(Path("f"), BOX)
    assert loader.cached_bytes == 5 * ONE
    assert loader.get(Path("b"), BOX) is None
    assert loader.get(Path("a"), BOX) is not None
    with qtbot.waitSignal(loader.loaded):
        loader.request(Path("huge"), QSize(400, 400))
    assert loader.get(Path("huge"), QSize(400, 400)) is not None, "one image over the bound is still shown"
    loader.set_max_bytes(ONE)
    assert loader.cached_bytes <= ONE
    loader.clear()
    assert loader.cached_bytes == 0


def test_a_thumbnail_is_made_of_an_image_that_is_there(qtbot: QtBot, loader: ImageLoader, decoder: Decoder) -> None:
    with qtbot.waitSignal(loader.loaded):
        loader.request(Path("a"), BOX)
    with qtbot.waitSignal(loader.loaded) as got:
        loader.request(Path("a"), QSize(20, 20))
    assert got.args[1].size() == QSize(20, 20)
    assert decoder.order == ["a"]
    assert loader.best(Path("a")).size() == BOX


def test_the_end_waits_and_is_silent(qtbot: QtBot, loader: ImageLoader, decoder: Decoder) -> None:
    occupy(qtbot, loader, decoder)
    loader.request(Path("never"), BOX)
    got: list[object] = []
    loader.loaded.connect(lambda *_: got.append(1))
    threading.Timer(0.05, decoder.gate.set).start()
    loader.shutdown()
    loader.shutdown()
    qtbot.wait(20)
    assert got == []
    assert "never" not in decoder.order
    assert not any(t.name.startswith("a3s-decode") and t.is_alive() for t in threading.enumerate())
