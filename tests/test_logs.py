"""What is logged reaches the file; what nobody caught is told once, from every thread."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from a3s_desktop.logs import MAX_BYTES, Crash, LogFile, crash_hooks, log_tail, start_logging, without_names


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


@pytest.mark.parametrize(
    "line",
    [
        "InputError: cannot read '/home/anna/Wale/IMG 12.jpg' (cut)",
        r"OSError: [Errno 13] C:\\Users\\anna\\Wale\\IMG 12.jpg",
        r"OSError: \\\\server\\anna\\Wale",
        "2026-01-01 INFO MainThread a3s_desktop.ui.bridge: opened /home/anna/Wale p1",
        "2026-01-01 WARNING decoding failed: Wale-anna.JPEG",
        "NameTakenError: The name “anna Wale” is taken.",
        "NameTakenError: Der Name „anna Wale“ ist vergeben.",
        'File "/home/anna/Wale/lib/python3.11/site-packages/numpy/core.py", line 3',
    ],
)
def test_details_name_no_image_folder_or_project(line: str) -> None:
    bare = without_names(line)
    assert "anna" not in bare
    assert "Wale" not in bare


def test_details_keep_what_helps_to_find_a_bug() -> None:
    text = """A3S Desktop 1.2, Python 3.11.7, Linux-6.1-x86_64
Traceback (most recent call last):
  File "/opt/x/a3s_desktop/ui/shell.py", line 31, in open_project
    return self._rooms[number]
KeyError: 17"""
    assert without_names(text) == text.replace("/opt/x/", "")
