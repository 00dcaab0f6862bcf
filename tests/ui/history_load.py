"""Changes an answer far back in the real window, with the heartbeat on: how long it takes, and whether it stands still.

``python -m tests.ui.history_load --features FILE --labels FILE`` measures it off the screen on given features (each
row gets a tiny image), or on drawn classes (``--items``). A folder given with ``--keep`` is used again.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

from a3s_desktop.core.types import Answer
from a3s_desktop.session.listing import HistoryPage
from a3s_desktop.session.opening import create_project, open_session
from a3s_desktop.session.state import HistoryEntry
from a3s_desktop.settings import SettingsStore
from a3s_desktop.storage.spec import ProjectSpec
from a3s_desktop.task import Task
from a3s_desktop.ui.app import make_application
from a3s_desktop.ui.engine_room import Reading
from a3s_desktop.ui.heartbeat import Beats, Heartbeat
from a3s_desktop.ui.program import Program
from a3s_desktop.ui.theme import apply_theme
from tests.ui.window_load import wait


def drawn_classes(items: int, columns: int = 128) -> tuple[np.ndarray, np.ndarray]:
    """Features of classes of ten on average that overlap, and the classes."""
    rng = np.random.default_rng(0)
    classes = rng.integers(0, items // 10, items)
    centres = rng.normal(size=(items // 10, columns))
    features = centres[classes] + rng.normal(0.0, 0.8, (items, columns))
    return (features / np.linalg.norm(features, axis=1, keepdims=True)).astype(np.float32), classes


def make_project(folder: Path, features: np.ndarray) -> Path:
    """A project of these features, a tiny image for each row."""
    images = folder / "images"
    images.mkdir(parents=True)
    first = images / "000000.png"
    Image.new("RGB", (8, 8), (200, 60, 40)).save(first)
    data = first.read_bytes()
    for number in range(1, len(features)):
        (images / f"{number:06d}.png").write_bytes(data)
    file = folder / "features.npy"
    np.save(file, features)
    project = folder / "project"
    create_project(ProjectSpec(project, images, (file,)), Task()).close()
    return project


def answer(project: Path, classes: np.ndarray, answers: int) -> float:
    """Answer by the classes until there are so many answers; seconds for each."""
    session, _ = open_session(project)
    started, before = time.perf_counter(), session.state.answers
    while session.state.question is not None and session.state.answers < answers:
        question = session.state.question
        same = classes[question.left] == classes[question.right]
        session.answer(question.id, Answer.SAME if same else Answer.DIFFERENT)
        session.look_ahead()
    given = session.state.answers - before
    session.close()
    return (time.perf_counter() - started) / max(given, 1)


def say(text: str) -> None:
    """A line of the result."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def timed(program: Program, act: object, what: str) -> Beats:
    """Run an operation of the bridge to its end; prints seconds and beats."""
    bridge = program.bridge
    wait(lambda: bridge.phase in ("asking", "finished"), 60)
    started, cpu = time.perf_counter(), time.process_time()
    with Heartbeat() as heart:
        act()  # type: ignore[operator]
        wait(lambda: bridge.phase != "storing", 900)
        seconds, worked = time.perf_counter() - started, time.process_time() - cpu
        wait(lambda: program.label.ready or bridge.phase == "finished", 60)
    beats = heart.result()
    say(f"{what}: {seconds:.1f} s ({worked:.1f} s of computing); {beats}")
    return beats


def find(program: Program, number: int) -> HistoryEntry:
    """An entry by its number."""
    pages: list[HistoryPage] = []
    program.bridge.read(Reading.HISTORY_PAGE, None, 0, 1, number, done=pages.append)
    wait(lambda: bool(pages), 60)
    return pages[0].entries[0]


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--features", type=Path)
    parser.add_argument("--labels", type=Path)
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--back", type=int, default=1000)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    app = make_application()
    apply_theme(app, "light")
    if options.features is not None:
        features, classes = np.load(options.features), np.load(options.labels)
    else:
        features, classes = drawn_classes(options.items)
    folder = options.keep or Path(tempfile.mkdtemp(prefix="a3s-history-"))
    project = folder / "project"
    if not project.exists():
        started = time.perf_counter()
        make_project(folder, features)
        say(f"{len(features)} images; made in {time.perf_counter() - started:.0f} s")
    each = answer(project, classes, options.back + 50)
    say(f"{1000 * each:.0f} ms for an answer and the look ahead")
    program = Program(SettingsStore(None), folder)
    program.help.offers_tour = False
    program.show()
    # Answers that this process has not seen itself have no marks: they are given again once after opening.
    program.shell.open_project(project)
    wait(lambda: program.label.ready or program.bridge.phase == "finished", 300)
    dock = program.window.dock("history")
    dock.show()
    dock.raise_()
    wait(lambda: program.history.model.rowCount() > 0, 60)
    count = program.history.model.rowCount()
    entry = find(program, max(1, count - options.back))
    other = Answer.DIFFERENT if entry.answer is Answer.SAME else Answer.SAME
    timed(program, lambda: program.history.change(entry.number, other), f"change of entry {entry.number} of {count}")
    state = program.bridge.state
    assert state is not None
    say(f"{len(state.conflicts)} entries without effect")
    timed(program, program.bridge.undo, "undo of the change")
    timed(program, program.bridge.redo, "redo of the change")
    timed(program, program.old_answers.show_doubtful, "doubtful answers")
    program.shutdown()
    app.processEvents()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
