"""A sample of the fault matrix and of the kill tests; all of both: ``python -m tests.durability``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.durability import shim

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = shim.build(tmp_path_factory.mktemp("shim"))
    if found is None:
        pytest.skip("needs Linux and a C compiler")
    return found


@pytest.mark.skipif(sys.platform == "win32", reason="no fork and no SIGKILL there")
def test_a_sample_of_faults_and_kills(tmp_path: Path) -> None:
    target = tmp_path / "figures.json"
    done = subprocess.run(
        [sys.executable, "-m", "tests.durability", "--short", "--json", str(target)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
    figures = json.loads(target.read_text(encoding="utf-8"))
    assert sum(row["kills"] for row in figures["kills"].values()) == 12
    if "matrix" in figures:  # there is a compiler
        rows = figures["matrix"]["faults"].values()
        assert sum(row["faults"] for row in rows) >= 25
        assert sum(row["refused"] for row in rows) >= 12


def test_the_same_on_a_drive_of_the_network(library: Path) -> None:
    faults = broken(library, "", "matrix", "--network", "--sample", "12", "--only", "skip", "open", "snapshot")
    kills = broken(library, "", "kills", "--network", "--kills", "6", "--only", "answers, undo, corrections, snapshots")
    rows = [*faults["scenarios"].values(), *kills.values()]
    assert [text for row in rows for text in row["findings"]] == []
    assert sum(row.get("faults", 0) for row in rows) >= 10
    assert sum(row.get("kills", 0) for row in rows) == 6


def test_the_window_says_it_and_goes_on(library: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/durability/window_full.py"],
        cwd=ROOT, env=shim.environment(library), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
    assert "3 passed" in done.stdout


# ------------------------------------------------------------------------------------------------ the tests' own test

NO_DOUBT = (
    "from a3s_desktop.storage import sqlite; from a3s_desktop.storage.journal import Journal\n"
    "Journal._doubt = lambda self, error: sqlite.failed(self._path, error)\n"
)
NOT_WRITTEN = (
    "from a3s_desktop.storage.journal import Journal\n"
    "real = Journal.append\n"
    "Journal.append = lambda self, *a, **k: real(self, *a, **k) if self._last < 20 else self._last + 1\n"
)


def broken(library: Path, change: str, module: str, *arguments: str) -> dict[str, dict[str, Any]]:
    """Run a part on a program that was made worse; its figures."""
    code = f"import sys\n{change}\nfrom tests.durability.{module} import main\nsys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code, "--quiet", *arguments],
        cwd=ROOT, env={**shim.environment(library), "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return dict(json.loads(done.stdout))


def test_the_matrix_sees_a_record_that_was_said_not_to_be_kept(library: Path) -> None:
    figures = broken(library, NO_DOUBT, "matrix", "--most", "6", "--only", "skip")
    assert figures["scenarios"]["skip"]["other"] > 0


def test_the_kills_see_a_lost_answer(library: Path) -> None:
    figures = broken(library, NOT_WRITTEN, "kills", "--kills", "1", "--only", "answers, undo, corrections, snapshots")
    assert sum(row["lost"] for row in figures.values()) > 0
