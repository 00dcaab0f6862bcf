"""``kill -9`` at random moments of everything that writes; nothing that was acknowledged may be lost.

``python -m tests.e2e.kill_many --kills 500 --seed 0``: most in processes without a window (`tests.durability.kills`), a
share in the real window on a virtual display of its own, while answers come by real key presses.
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from a3s_desktop.demo.project import demo_data
from a3s_desktop.session.opening import open_session
from a3s_desktop.task import Task
from tests.e2e import machine

_KEYS = {"f": "same", "j": "different", "space": "skip"}


class LostAnswerError(AssertionError):
    """An answer whose next pair had been painted is not in the project."""


class Killer:
    """Starts the program, answers, kills it, and looks at what is left.

    Parameters
    ----------
    screen : str
        DISPLAY.
    project : Path
    labels : list of str
        True label of each item.
    folder : Path
        For traces.
    rng : numpy.random.Generator
        Chooses the moments, and a few skips.
    """

    def __init__(self, screen: str, project: Path, labels: list[str], folder: Path, rng: np.random.Generator) -> None:
        self._screen = screen
        self._project = project
        self._labels = labels
        self._folder = folder
        self._rng = rng
        self._kept: list[tuple[int, int, str]] = []  # what was in the project after the last kill
        self.rounds = 0
        self.answers = 0  # given in all rounds
        self.unseen = 0  # on disk at the kill though the next pair was not painted yet: allowed

    def round(self) -> None:
        """One life of the program. Raises `LostAnswerError`."""
        self.rounds += 1
        program = machine.Running(
            self._screen, self._folder / f"kill-{self.rounds}.jsonl", "open", self._project
        )  # fmt: skip
        try:
            given = self._answer_until(program, float(self._rng.uniform(0.0, 2.5)))
            program.kill()
        finally:
            program.close()
        self._check(program, given)

    def _answer_until(self, program: machine.Running, seconds: float) -> list[tuple[int, int, str]]:
        program.first_pair()
        given: list[tuple[int, int, str]] = []
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if not program.ready():
                time.sleep(0.002)
                continue
            pair = program.last("painted")
            left, right = pair["left"], pair["right"]
            key = "f" if self._labels[left] == self._labels[right] else "j"
            if self._rng.random() < 0.1:
                key = "space"
            given.append((left, right, _KEYS[key]))
            program.keys(key)
            # The kill may fall anywhere between the key and the next pair, so it is not waited for beyond the end.
            question = pair["question"]
            while time.monotonic() < end and program.last("painted")["question"] == question:
                time.sleep(0.002)
                program.read()
        return given

    def _check(self, program: machine.Running, given: list[tuple[int, int, str]]) -> None:
        seen = max(event["answers"] for event in program.read() if event["event"] == "painted")
        session, report = open_session(self._project, read_only=False)
        try:
            found = [(entry.left, entry.right, entry.answer.value) for entry in reversed(session.history())]
        finally:
            session.close()
        expected = self._kept + given
        if report.recovered:
            raise LostAnswerError(f"round {self.rounds}: the journal was damaged: {report.recovered}")
        if len(found) < seen or found != expected[: len(found)]:
            raise LostAnswerError(
                f"round {self.rounds}: {seen} answers were seen to be taken, {len(found)} are there\n"
                f"expected {expected[-5:]}\nfound    {found[-5:]}"
            )
        self.answers += len(found) - len(self._kept)
        self.unseen += len(found) - seen
        self._kept = found


def kill_windows(kills: int, seed: int) -> dict[str, Any]:
    """So many lives of the real window on a virtual display of its own; the figures of `tests.durability.kills`."""
    with tempfile.TemporaryDirectory(prefix="a3s-kill-") as name, machine.display() as screen:
        folder = Path(name)
        for variable in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
            os.environ[variable] = str(folder / variable.lower())
        data = demo_data("digits", folder, Task())
        project = folder / "project"
        machine.command(
            "new", project, "--images", data.images, "--features", data.features, "--order", data.order
        )  # fmt: skip
        with data.labels.open(encoding="utf-8") as file:
            labels = [row["label"] for row in csv.DictReader(file)]
        killer = Killer(screen, project, labels, folder, np.random.default_rng(seed))
        found: list[str] = []
        for _ in range(kills):
            try:
                killer.round()
            except LostAnswerError as error:
                found.append(f"lost: {error}")
                break
    return {
        **dict.fromkeys(("after", "steps", "twice", "unopenable", "other"), 0),
        "kills": killer.rounds,
        "answers": killer.answers,
        "unseen": killer.unseen,
        "lost": len(found),
        "findings": found,
    }


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--windows", type=int, help="so many of them meet the real window (default: one in 25)")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    windows = arguments.kills // 25 if arguments.windows is None else min(arguments.windows, arguments.kills)
    missing = machine.missing_tools()
    if missing and windows:
        sys.stdout.write(f"needed for the window and not installed: {', '.join(missing)}\n")
        windows = 0
    command = ["--no-faults", "--kills", arguments.kills, "--windows", windows, "--seed", arguments.seed]
    return subprocess.call([sys.executable, "-m", "tests.durability", *map(str, command)])


if __name__ == "__main__":
    sys.exit(main())
