"""A process that is killed while it answers loses nothing that it had been told is stored."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from a3s_desktop.session.opening import create_project, open_session
from a3s_desktop.storage.workspace import ProjectSpec
from a3s_desktop.task import Task

ROOT = Path(__file__).resolve().parents[2]
KILLS = 8

ANNOTATOR = """
import sys
import numpy as np
from a3s_desktop.core.types import Answer
from a3s_desktop.session.opening import open_session

session, _ = open_session(sys.argv[1])
session._snapshot_every = 7
rng = np.random.default_rng(int(sys.argv[2]))
print("ready", flush=True)
while True:
    state = session.state
    chance = rng.random()
    if state.question is None or (chance < 0.2 and state.can_undo):
        session.undo()
    elif chance < 0.3 and state.can_redo:
        session.redo()
    else:
        session.answer(state.question.id, (Answer.SAME, Answer.DIFFERENT, Answer.SKIP)[rng.integers(0, 3)])
    print(session.state.revision, session.engine.digest(), flush=True)
    session.look_ahead()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
def test_killed_at_random_moments(make_spec: Callable[..., ProjectSpec]) -> None:
    spec = make_spec()
    create_project(spec, Task()).close()
    rng = np.random.default_rng(11)
    acknowledged = 0
    for kill in range(KILLS):
        with subprocess.Popen(
            [sys.executable, "-c", ANNOTATOR, str(spec.folder), str(kill)],
            env=dict(os.environ, PYTHONPATH=str(ROOT)), stdout=subprocess.PIPE, text=True,
        ) as process:  # fmt: skip
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            time.sleep(float(rng.uniform(0.0, 0.25)))
            process.kill()
            told = [line.split() for line in process.stdout.read().splitlines() if len(line.split()) == 2]
        digests = {int(revision): digest for revision, digest in told if len(digest) == 64}
        acknowledged = max([acknowledged, *digests])
        session, report = open_session(spec.folder)
        stored = session.state.revision
        # What was told is there; at most the one operation that was just being told came on top.
        assert acknowledged <= stored <= acknowledged + 1
        assert (report.recovered, report.warnings) == ("", ())
        if stored in digests:
            assert session.engine.digest() == digests[stored]
        acknowledged = stored
        session.close()
    assert acknowledged > KILLS
