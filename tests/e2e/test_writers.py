"""One writer at a time, with real windows of real processes: one that was killed, and another computer's lock."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e import machine
from tests.ui.pair_project import make_project

pytestmark = [
    pytest.mark.xcb,
    pytest.mark.skipif(bool(machine.missing_tools()), reason=f"needs {', '.join(machine.TOOLS)}"),
]


@pytest.fixture(scope="module")
def screen() -> Iterator[str]:
    with machine.display() as name:
        yield name


@pytest.fixture
def start(screen: str, tmp_path: Path) -> Iterator[Callable[[Path], machine.Running]]:
    made: list[machine.Running] = []

    def start_it(project: Path) -> machine.Running:
        made.append(machine.Running(screen, tmp_path / f"{len(made)}.jsonl", "open", project))
        return made[-1]

    yield start_it
    for one in made:
        one.close()


def dialog(program: machine.Running, title: str) -> None:
    """Wait for a dialog and go to it."""
    deadline = time.monotonic() + 60
    while not any(name.startswith(title) for name in program.titles()):
        assert time.monotonic() < deadline, (program.titles(), program.output())
        time.sleep(0.1)
    program.xdotool("search", "--onlyvisible", "--name", title, "windowactivate", "--sync")


def writer(project: Path) -> int:
    return int(json.loads((project / "lock").read_bytes())["pid"])


def test_a_lock_is_free_after_a_kill_and_taken_over_from_a_silent_computer(
    start: Callable[[Path], machine.Running], tmp_path: Path
) -> None:
    project = make_project(tmp_path / "made")
    first = start(project)
    first.first_pair()
    assert writer(project) == first.process.pid
    first.kill()
    assert writer(project) == first.process.pid, "it could not take its name away"

    second = start(project)
    second.first_pair()
    assert writer(project) == second.process.pid
    assert second.quit() == 0
    assert (project / "lock").read_bytes() == b""

    beat = time.time() - 3600
    facts = {"host": "lab-laptop", "pid": 77, "time": beat, "beat": beat, "token": "other"}
    (project / "lock").write_text(json.dumps(facts))
    third = start(project)
    dialog(third, "Project in use")
    third.keys("shift+Tab", "space")
    dialog(third, "Take over the project")
    assert writer(project) == 77
    third.keys("Tab", "space")
    third.first_pair()
    assert writer(project) == third.process.pid
    third.keys("f")
    third.wait(lambda _: third.count("changed", kind="answer") == 1, "answer")
    assert third.quit() == 0
