"""The window stays alive under load (heartbeat): while 20,000 images are initialized, and while answers pour in.

Each load runs in a program of its own, as for a user: the heap of a whole test run is not what is measured. Own CPU
time is the program's and is held to strictly; wall time is also the machine's and is held to loosely here. A figure
beyond the limit is measured once more, since other programs of a busy machine also cost cache and clock.
``python -m tests.ui.window_load`` prints the figures of a quiet machine.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

log = logging.getLogger(__name__)

pytestmark = [pytest.mark.slow, pytest.mark.alone]

ROOT = Path(__file__).parents[2]
CPU = 50.0  # ms
WALL_P99 = 250.0  # ms; single gaps may be another program's
WALL = 1000.0


def measure(load: str) -> dict[str, Any]:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-m", "tests.ui.window_load", "--json", "--only", load]
    run = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=170, check=False)
    assert run.returncode == 0, run.stderr
    facts: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    log.info("%s", facts["text"])
    return facts


def within(facts: dict[str, Any]) -> bool:
    return facts["cpu_max"] < CPU and facts["wall_p99"] < WALL_P99 and facts["wall_max"] < WALL


def judged(load: str) -> dict[str, Any]:
    facts = measure(load)
    if not within(facts):
        facts = measure(load)
    assert within(facts), facts["text"]
    return facts


@pytest.mark.timeout(360)
def test_the_window_lives_while_twenty_thousand_images_are_initialized():
    facts = judged("initialization")
    assert facts["count"] > 200
    assert facts["done"] == 20_000


@pytest.mark.timeout(360)
def test_the_window_lives_while_two_hundred_answers_come_at_ten_a_second():
    assert judged("answers")["done"] > 190
