"""What is logged reaches the file; what nobody caught is told once, from every thread."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from a3s_desktop.logs import MAX_BYTES, Crash, LogFile, crash_hooks, log_tail, start_logging


@pytest.fixture
def log_file(tmp_path: Path) -> Iterator[LogFile]:
    root = logging.getLogger()
    level = root.level
    log = start_logging(tmp_path / "logs")
    yield log
    log.close()
    root.setLevel(level)


def test_a_message_is_in_the_file(log_file: LogFile) -> None:
    logging.getLogger("a3s_desktop.x").warning("lone surrogate \udce9 and %s", "ä")
    assert log_file.path is not None
    text = log_file.path.read_text(encoding="utf-8")
    assert "ä" in text
    assert "\\udce9" in text
    assert log_tail(log_file.path, 1).endswith("ä")


def test_the_file_is_bounded(log_file: LogFile) -> None:
    for _ in range(30):
        logging.getLogger("a3s_desktop.x").info("y" * 100_000)
    assert log_file.path is not None
    assert all(path.stat().st_size <= MAX_BYTES + 200_000 for path in log_file.path.parent.iterdir())


def test_a_folder_that_cannot_be_made_falls_back(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    log = start_logging(tmp_path / "file" / "logs")
    try:
        assert log.path is None
        assert len(log.handlers) == 1
    finally:
        log.close()
    assert log_tail(None) == ""


def test_an_error_on_a_thread_is_logged_and_told(log_file: LogFile) -> None:
    told: list[Crash] = []

    def work() -> None:
        raise ValueError("the spots are gone")

    with crash_hooks(told.append):
        thread = threading.Thread(target=work, name="counter")
        thread.start()
        thread.join()
    assert [c.summary for c in told] == ["ValueError: the spots are gone"]
    assert "in thread counter" in told[0].details
    assert "Traceback" in told[0].details
    assert log_file.path is not None
    assert "the spots are gone" in log_file.path.read_text(encoding="utf-8")


def test_an_error_while_telling_is_logged(log_file: LogFile) -> None:
    def broken(_crash: Crash) -> None:
        raise RuntimeError("no window")

    before = sys.excepthook
    with crash_hooks(broken):
        sys.excepthook(KeyError, KeyError("k"), None)
    assert sys.excepthook is before
    assert log_file.path is not None
    assert "no window" in log_file.path.read_text(encoding="utf-8")
