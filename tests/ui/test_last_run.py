"""What one run leaves for the next to know."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from a3s_desktop.ui.last_run import FormerEnd, LastRun

_RUN = """
import faulthandler, os, sys
from pathlib import Path
from a3s_desktop.ui.last_run import LastRun
folder, how = Path(sys.argv[1]), sys.argv[2]
faults = open(folder / "crash.log", "a")
faulthandler.enable(faults)
run = LastRun(folder)
run.begin()
if how != "early":
    run.complete()
if how == "clean":
    run.end()
elif how == "crash":
    faulthandler._sigsegv()
os._exit(0)
"""


def former_run(folder: Path, how: str) -> None:
    subprocess.run([sys.executable, "-c", _RUN, str(folder), how], check=how != "crash", capture_output=True)


def next_run(folder: Path) -> FormerEnd:
    run = LastRun(folder)
    former = run.begin()
    run.complete()
    run.end()
    return former


def test_the_first_run_and_a_clean_one_leave_nothing(tmp_path: Path) -> None:
    assert next_run(tmp_path) == FormerEnd()
    former_run(tmp_path, "clean")
    assert next_run(tmp_path) == FormerEnd()
    assert list((tmp_path / "running").iterdir()) == []


def test_a_crash_in_native_code_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "crash.log").write_text("an old one\n", encoding="utf-8")
    former_run(tmp_path, "crash")
    former = next_run(tmp_path)
    assert "Segmentation fault" in former.crash
    assert "an old one" not in former.crash
    assert former.failed_starts == 0
    assert next_run(tmp_path) == FormerEnd()


def test_starts_that_fail_in_a_row_are_counted(tmp_path: Path) -> None:
    for count in (1, 2, 3):
        former_run(tmp_path, "early")
        run = LastRun(tmp_path)
        if count < 3:
            continue
        assert run.begin().failed_starts == 3
        run.complete()
        run.end()
    assert next_run(tmp_path).failed_starts == 0


def test_a_power_cut_after_the_start_is_no_failed_start(tmp_path: Path) -> None:
    former_run(tmp_path, "late")
    assert next_run(tmp_path) == FormerEnd()


def test_a_run_beside_this_one_is_left_alone(tmp_path: Path) -> None:
    one, other = LastRun(tmp_path), LastRun(tmp_path)
    one.begin()
    assert other.begin() == FormerEnd()
    other.end()
    assert len(list((tmp_path / "running").glob("*.json"))) == 1
    one.end()


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"failed": -1, "crash": "x", "complete": 0}', b"[" * 100_000])
def test_a_broken_note_says_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "running").mkdir()
    (tmp_path / "running" / "0.json").write_bytes(content)
    assert next_run(tmp_path) == FormerEnd()
    assert not (tmp_path / "running" / "0.json").exists()


def test_where_nothing_can_be_written_nothing_is_known(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert next_run(tmp_path / "file") == FormerEnd()
    run = LastRun(None)
    assert run.begin() == FormerEnd()
    run.complete()
    run.end()
