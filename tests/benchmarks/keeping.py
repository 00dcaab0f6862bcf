"""What checking and backing up cost: ``python -m tests.benchmarks.keeping --entries 50000``.

A project with so many real answers is made (``--project`` keeps it, or takes the one that is there). Then, each once:

* ``check``: wall and CPU time; the same after an answer was damaged, with repair.
* a backup: wall and CPU time, its size; what a preview of it costs, and going back to it.
* the latency of an answer (from the call to its return, when it is on disk and the next question is known) without and
  with backups under way: median and 99th percentile of ``--answers`` each, in turns of 50, so that both meet the same
  machine; and their ratio. Backups follow each other without a pause meanwhile, far more often than in real work.
"""

from __future__ import annotations

import argparse
import contextlib
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from a3s_desktop.core.types import Answer, Reason
from a3s_desktop.session.checking import check_project, is_whole
from a3s_desktop.session.entries import RecordedAnswer
from a3s_desktop.session.history import ANSWER, UNDO
from a3s_desktop.session.opening import open_session
from a3s_desktop.session.restoring import list_rows, look_at_now, look_into, restore
from a3s_desktop.session.session import Session
from a3s_desktop.storage.backup import list_backups, make_backup
from a3s_desktop.storage.journal_opening import create_journal
from a3s_desktop.storage.journal_types import CHAIN_START, encode_payload, link
from a3s_desktop.storage.salvage import RawRecord
from a3s_desktop.task import Task
from tests.benchmarks.long_work import make_project

_TURN = 50  # answers before the other way comes again
_AHEAD = 100  # answers between two looks ahead while the project is filled: snapshots are taken then


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


@contextlib.contextmanager
def timed(what: str) -> Iterator[None]:
    """Print what something took."""
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    _say(f"{what:<46} {time.perf_counter() - wall:8.2f} s  CPU {time.process_time() - cpu:8.2f} s")


def answer(session: Session, truth: np.ndarray) -> None:
    """The true answer to the present question."""
    question = session.state.question
    if question is None:
        raise SystemExit("The questions ran out; take more --items.")
    same = truth[question.left] == truth[question.right]
    session.answer(question.id, Answer.SAME if same else Answer.DIFFERENT)


def taken_back(folder: Path, count: int) -> None:
    """Begin the journal with so many entries that were taken back at once: half answers, half undo."""
    records, chain = [], CHAIN_START
    payload = encode_payload(RecordedAnswer(0, 1, Answer.SKIP, Reason.MERGE, 0.0).payload())
    for seq in range(1, count + 1):
        kind, text = (ANSWER, payload) if seq % 2 else (UNDO, encode_payload({}))
        chain = link(chain, seq, kind, text, float(seq))
        records.append(RawRecord(seq, kind, text, float(seq), chain))
    path = folder / "journal.sqlite"
    path.unlink()
    create_journal(path, records)


def fill(folder: Path, truth: np.ndarray, entries: int) -> None:
    """Answer until the journal has so many entries."""
    session, _ = open_session(folder)
    with contextlib.closing(session):
        at = session.workspace.journal.last
        began = time.monotonic()
        while at < entries:
            answer(session, truth)
            at += 1
            if at % _AHEAD == 0:
                session.look_ahead()
            if at % 5000 == 0:
                _say(f"{at:,} entries after {time.monotonic() - began:.0f} s")


def latencies(session: Session, truth: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Seconds of each answer without and with backups under way, and how many backups were made."""
    folder = session.workspace.folder
    wanted, idle, stop = threading.Event(), threading.Event(), threading.Event()
    made = 0

    def backups() -> None:
        nonlocal made
        while not stop.is_set():
            if wanted.is_set():
                idle.clear()
                make_backup(folder, "time")
                made += 1
            else:
                idle.set()
                wanted.wait(0.05)

    thread = threading.Thread(target=backups)
    thread.start()
    taken: dict[bool, list[float]] = {False: [], True: []}
    for turn in range(2 * count // _TURN):
        busy = bool(turn % 2)
        if busy:
            wanted.set()
            while idle.is_set():
                time.sleep(0.001)
        else:
            wanted.clear()
            idle.wait()
        for _ in range(_TURN):
            began = time.perf_counter()
            answer(session, truth)
            taken[busy].append(time.perf_counter() - began)
            session.look_ahead()  # as the window does, while the person looks
    stop.set()
    wanted.set()
    thread.join()
    return np.array(taken[False]), np.array(taken[True]), made


def say_latencies(without: np.ndarray, during: np.ndarray, made: int) -> None:
    """The figures, in milliseconds."""
    _say(f"latency of {len(without):,} answers each, {made} backups under way beside the second:")
    for name, share in (("median", 50), ("p99", 99)):
        a, b = (1000 * float(np.percentile(values, share)) for values in (without, during))
        _say(f"  {name:<7} without {a:8.2f} ms   during {b:8.2f} ms   ratio {b / a:5.2f}")


def damage(folder: Path) -> None:
    """Take an answer out of the middle of the journal."""
    with contextlib.closing(sqlite3.connect(folder / "journal.sqlite")) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        middle = connection.execute("SELECT max(seq) / 2 FROM records").fetchone()[0]
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("DELETE FROM records WHERE seq = ?", (middle,))
        for _, sql in triggers:
            connection.execute(sql)
        connection.commit()


def measure(folder: Path, truth: np.ndarray, count: int) -> None:
    """All figures of a filled project."""
    steps: tuple[tuple[str, Callable[[], object]], ...] = (
        ("check of a whole project", lambda: check_project(folder)),
        ("a backup", lambda: make_backup(folder, "request")),
    )
    for what, step in steps:
        with timed(what):
            found = step()
        if isinstance(found, tuple) and not is_whole(found):
            raise SystemExit("\n".join(one.line() for one in found))
    newest = list_backups(folder)[0][0]
    _say(f"  of {newest.records:,} entries: {newest.size / 1e6:.2f} MB")
    with timed("list of the backups"):
        listing = list_rows(folder, Task())
    with timed("a look at what is there now"):
        present = look_at_now(folder, Task())
    with timed("preview of a backup"):
        look_into(newest, listing, present, Task())
    session, _ = open_session(folder)
    with contextlib.closing(session):
        say_latencies(*latencies(session, truth, count))
    with timed("going back to a backup"):
        restore(folder, newest, Task())
    damage(folder)
    with timed("check and repair of a journal with a gap"):
        found = check_project(folder, repair=True)
    _say("\n".join(f"  {one.line()}" for one in found if one.level.name != "FINE"))
    if not is_whole(found):
        raise SystemExit("It was not repaired.")


def main(arguments: list[str] | None = None) -> int:
    """The program."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--entries", type=int, default=50_000)
    parser.add_argument("--items", type=int, default=1_500)
    parser.add_argument("--strategy", default="cobra", help="cobra asks about every two groups, so it does not run out")
    parser.add_argument("--in-force", type=int, help="entries that are not taken back again (default: all of them)")
    parser.add_argument("--answers", type=int, default=1000, help="answers timed each way")
    parser.add_argument("--project", type=Path, help="folder to make the project in, or with one of an earlier run")
    options = parser.parse_args(arguments)
    with contextlib.ExitStack() as stack:
        place = options.project or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        if not (place / "truth.npy").is_file():
            folder, truth = make_project(place, options.items, options.strategy)
            if options.in_force is not None:
                taken_back(folder, (options.entries - options.in_force) // 2 * 2)
            np.save(place / "truth.npy", truth)
        folder, truth = place / "project", np.load(place / "truth.npy")
        fill(folder, truth, options.entries)
        measure(folder, truth, options.answers)
    return 0


if __name__ == "__main__":
    sys.exit(main())
