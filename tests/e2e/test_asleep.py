"""A long day of a real machine: it sleeps and wakes, its clock is set, its display changes or goes."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from a3s_desktop.errors import ProjectLockedError
from a3s_desktop.storage.lock import project_lock
from tests.e2e import machine
from tests.ui.pair_project import PHOTOS, make_project

pytestmark = [
    pytest.mark.xcb,
    pytest.mark.timeout(400),  # several starts of the program
    pytest.mark.skipif(
        bool(machine.missing_tools()) or not sys.platform.startswith("linux"),
        reason=f"needs {', '.join(machine.TOOLS)} on Linux",
    ),
]


@pytest.fixture(scope="module")
def screen() -> Iterator[str]:
    with machine.display() as name:
        yield name


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path)


def press(program: machine.Running) -> int:
    """Answer the pair on the screen; the number of answers that there will be."""
    pair = program.last("painted")
    program.keys("f" if pair["left"] // PHOTOS == pair["right"] // PHOTOS else "j")
    return int(pair["answers"]) + 1


def next_pair(program: machine.Running, answers: int) -> None:
    program.wait(lambda _: program.ready() and program.last("painted")["answers"] >= answers, f"answer {answers}")
    assert program.last("painted")["answers"] == answers


@contextlib.contextmanager
def asleep(program: machine.Running) -> Iterator[None]:
    """The program stands still, as everything does while the machine sleeps."""
    program.process.send_signal(signal.SIGSTOP)
    stat = Path(f"/proc/{program.process.pid}/stat")
    while stat.read_text().rpartition(")")[2].split()[0] != "T":
        time.sleep(0.001)
    try:
        yield
    finally:
        program.process.send_signal(signal.SIGCONT)


def stutter(process: subprocess.Popen[bytes]) -> int:
    """Let a program stand still again and again until it ends, so that every part of its work is met; its exit code."""
    while process.poll() is None:
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.004)
        process.send_signal(signal.SIGCONT)
        time.sleep(0.012)
    return process.returncode


def commanded(*words: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "a3s_desktop", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


def answers_on_disk(project: Path) -> int:
    return int(json.loads(machine.command("info", project, "--json").stdout)["answers"])


def test_a_machine_that_sleeps_at_any_moment_loses_no_answer_and_doubles_none(screen, project, tmp_path):
    rng = np.random.default_rng(6)
    program = machine.Running(screen, tmp_path / "trace.jsonl", "open", project)
    try:
        for _ in range(3):  # while it starts and reads the project
            with asleep(program):
                pass
            time.sleep(float(rng.uniform(0.0, 0.3)))
        program.first_pair()
        given = 0
        for _ in range(8):  # between the key and the next pair: storing, decoding ahead, painting
            given = press(program)
            time.sleep(float(rng.uniform(0.0, 0.08)))
            with asleep(program):
                pass
            next_pair(program, given)
        with asleep(program):  # somebody tries keys on a window that does not move
            for _ in range(4):
                program.keys("f")
        given += 1
        program.wait(lambda _: program.ready() and program.last("painted")["answers"] >= given, "the pair after it")
        assert program.last("painted")["answers"] == given, "only the pair that was in sight is answered"
        assert program.quit() == 0
    finally:
        program.close()
    assert answers_on_disk(project) == given
    assert "Traceback" not in program.output()


def test_making_a_project_backing_it_up_and_closing_it_go_on_after_every_sleep(screen, project, tmp_path):
    images, features = project.parent / "images", project.parent / "features.npy"
    other = tmp_path / "other"
    with commanded("new", other, "--images", images, "--features", features) as making:
        assert stutter(making) == 0, making.stdout.read()
    undisturbed = json.loads(machine.command("info", project, "--json").stdout)
    assert json.loads(machine.command("info", other, "--json").stdout)["clusters"] == undisturbed["clusters"]

    program = machine.Running(screen, tmp_path / "trace.jsonl", "open", other)
    try:
        program.first_pair()
        for _ in range(3):
            given = press(program)
            next_pair(program, given)
        with commanded("backup", other) as backing_up:  # beside the window, which goes on
            assert stutter(backing_up) == 0, backing_up.stdout.read()
        next_pair(program, press(program))
        program.keys("ctrl+q")
        assert stutter(program.process) == 0, program.output()  # the state of the engine and a backup are kept
    finally:
        program.close()
    assert answers_on_disk(other) == given + 1
    machine.command("check", other)
    kept = machine.command("backup", other, "--list").stdout
    assert f"request: {given} entries" in kept, kept
    assert "Traceback" not in program.output()


def test_a_clock_that_jumps_while_it_works_confuses_nothing(screen, project, tmp_path):
    clock = tmp_path / "clock"
    clock.write_text("0")
    program = machine.Running(
        screen,
        tmp_path / "trace.jsonl",
        "open",
        project,
        module="tests.e2e.set_clock",
        environment={"A3S_TEST_CLOCK": str(clock)},
    )
    try:
        program.first_pair()
        given = 0
        for days in (0, 365, -365, 1 / 24, -1 / 24):  # a wrong year, set right too far, an hour forth and back
            with asleep(program):
                clock.write_text(str(days * 86_400))
            for _ in range(2):
                given = press(program)
                next_pair(program, given)
        stamps = [event["at"] for event in program.read() if event["event"] == "changed"]
        assert max(stamps) - min(stamps) > 700 * 86_400, "the program did see the clock jump"
        with pytest.raises(ProjectLockedError):
            project_lock(project).acquire()
        program.keys("ctrl+z")
        program.wait(lambda _: program.ready() and program.last("painted")["answers"] == given - 1, "undo")
        assert program.quit() == 0
    finally:
        program.close()
    assert answers_on_disk(project) == given - 1
    program = machine.Running(screen, tmp_path / "again.jsonl", "open", project)  # with the clock put right
    try:
        program.first_pair()
        assert program.last("painted")["answers"] == given - 1
        next_pair(program, press(program))
        assert program.quit() == 0
    finally:
        program.close()
    assert "Traceback" not in program.output()


def test_a_display_that_goes_away_costs_no_answer(screen, project, tmp_path):
    gone = machine.display()
    program = machine.Running(gone.__enter__(), tmp_path / "trace.jsonl", "open", project)
    try:
        try:
            program.first_pair()
            given = 0
            for _ in range(4):
                given = press(program)
                next_pair(program, given)
            pair = program.last("painted")
        finally:
            gone.__exit__(None, None, None)
        assert program.process.wait(timeout=60) in (0, 1), program.output()  # no crash: of that the next start tells
    finally:
        program.close()
    assert answers_on_disk(project) == given
    program = machine.Running(screen, tmp_path / "again.jsonl", "open", project)
    try:
        program.first_pair()
        again = program.last("painted")
        assert (again["left"], again["right"], again["answers"]) == (pair["left"], pair["right"], given)
        assert program.quit() == 0
    finally:
        program.close()


@pytest.mark.skipif(shutil.which("xrandr") is None, reason="needs xrandr")
@pytest.mark.parametrize("scaled", [False, True], ids=["same scale", "the new screen has twice the scale"])
def test_the_pair_stays_while_screens_come_and_go(project, tmp_path, scaled):

    def screens(*words: str) -> None:
        subprocess.run(["xrandr", *words], env={**os.environ, "DISPLAY": wide}, check=True, capture_output=True)

    with machine.display("1800x900") as wide:
        screens("--setmonitor", "left", "900/240x900/240+0+0", "screen")
        screens("--setmonitor", "right", "900/240x900/240+900+0", "none")
        environment = {"QT_USE_PHYSICAL_DPI": "1"} if scaled else {}
        program = machine.Running(wide, tmp_path / "trace.jsonl", "open", project, environment=environment)
        try:
            program.first_pair()
            pair = program.last("painted")
            window = str(program.last("window")["id"])
            program.xdotool("windowmove", "--sync", window, "900", "0")
            screens("--delmonitor", "right")
            program.xdotool("windowmove", window, "0", "0")  # as the system does with windows of a screen that went
            screens("--setmonitor", "right", "900/120x900/120+900+0", "none")  # another one, twice as fine
            program.xdotool("windowmove", window, "900", "0")
            program.xdotool("windowfocus", "--sync", window)
            program.wait(lambda _: program.ready(), "the pair again")
            again = program.last("painted")
            assert (again["left"], again["right"], again["question"]) == (pair["left"], pair["right"], pair["question"])
            next_pair(program, press(program))
            assert program.quit() == 0
        finally:
            program.close()
    assert answers_on_disk(project) == 1
    assert "Traceback" not in program.output()
