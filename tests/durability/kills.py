"""``kill -9`` at random moments of everything that writes, in processes without a window.

Each process is forked from this one (so that a kill takes a fraction of a second), says through a pipe what it was
told is stored, and is killed after a random time, or, where the library of `shim` is loaded, at a random call.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any
from unittest import mock

import numpy as np

from a3s_desktop.core import initialization
from a3s_desktop.core.types import Answer
from a3s_desktop.errors import A3SError
from a3s_desktop.session.opening import open_session
from a3s_desktop.session.session import Session
from a3s_desktop.storage import files
from tests.durability.scenarios import SCENARIOS, Base, Place, network_drive
from tests.durability.shim import CHANGES, KILL, Fault, Shim
from tests.session.test_adding import OLD

LIVES = 25  # of one project, before it begins anew
_DEATH = Fault("kill", CHANGES, 0, KILL)
# Steps of stage one, and the function of `initialization` that each of them is computed by.
STEPS = {
    "compared": "nearest_neighbors",
    "learnt": "pseudo_labels",
    "linked": "union_edges",
    "weighed": "refined_graph",
    "grouped": "fpc",
}


@dataclass
class Toll:
    """What came of the kills of one kind."""

    kills: int = 0
    after: int = 0  # the work was finished before the kill
    answers: int = 0  # acknowledged
    unseen: int = 0  # stored, not yet acknowledged: allowed, at most one in a life
    lost: int = 0
    unopenable: int = 0
    steps: int = 0  # of stage one that were finished before the kill, and not computed again
    twice: int = 0
    other: int = 0
    findings: list[str] = field(default_factory=list)

    def find(self, what: str, text: str) -> None:
        setattr(self, what, getattr(self, what) + 1)
        self.findings.append(f"{what}: {text}")


class Lives:
    """Starts processes and ends them.

    Parameters
    ----------
    folder : Path
    shim : Shim or None
    rng : numpy.random.Generator
    """

    def __init__(self, folder: Path, shim: Shim | None, rng: np.random.Generator) -> None:
        self.folder, self.shim, self.rng = folder, shim, rng
        self._lengths: dict[str, tuple[float, int]] = {}

    def live(self, name: str, work: Callable[[IO[str]], None]) -> tuple[list[str], bool]:
        """Run ``work`` in a process of its own that is killed; returns what it said, and whether it was through.

        The first life of a name is whole, and measures how long it is.
        """
        seconds, calls = self._lengths.get(name, (0.0, 0))
        by_call = self.shim is not None and calls > 0 and self.rng.random() < 0.5
        number = int(self.rng.integers(0, calls)) if by_call else -1
        wait = -1.0 if by_call or not seconds else float(self.rng.uniform(0.0, seconds))
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            self._child(work, writer, number)
        os.close(writer)
        with os.fdopen(reader, "r", encoding="utf-8") as pipe:
            first = pipe.readline()
            begun = time.monotonic()
            if wait >= 0.0:
                time.sleep(wait)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            lines = pipe.read().split("\n")
        os.waitpid(pid, 0)
        said = [line for line in lines[:-1] if line]
        failed = [line for line in said if line.startswith("failed ")]
        if failed or first != "ready\n":
            raise RuntimeError(f"{name}: {first!r} {json.loads(failed[0][7:]) if failed else ''}")
        through = next((line for line in said if line.startswith("through ")), None)
        if not seconds and through is not None:
            self._lengths[name] = (time.monotonic() - begun) * 1.05, int(through.split()[1])
        return said, through is not None

    def _child(self, work: Callable[[IO[str]], None], writer: int, number: int) -> None:
        with os.fdopen(writer, "w", buffering=1, encoding="utf-8") as pipe:
            try:
                work(_Reporter(pipe, self.shim, number))  # type: ignore[arg-type]
            except BaseException:  # noqa: BLE001 - told to the parent, which raises
                pipe.write("failed " + json.dumps(traceback.format_exc()) + "\n")
            else:
                calls = len(self.shim.recorded()) if self.shim is not None and number < 0 else 0
                pipe.write(f"through {calls}\n")
        os._exit(0)


class _Reporter:
    """The child's end of the pipe; its first line starts the time, and arms the death."""

    def __init__(self, pipe: IO[str], shim: Shim | None, number: int) -> None:
        self._pipe, self._shim, self._number = pipe, shim, number

    def ready(self) -> None:
        self._pipe.write("ready\n")
        if self._shim is not None and self._number >= 0:
            self._shim.arm(_DEATH, self._number)
        elif self._shim is not None:
            self._shim.record()

    def acknowledge(self, session: Session) -> None:
        self._pipe.write(f"at {session.state.revision} {session.engine.digest()}\n")


def annotate(session: Session, rng: np.random.Generator) -> None:
    """Something that an annotator does: mostly answers, then undo and redo, corrections and old answers changed."""
    from a3s_desktop.session.operations import Finish, Junk, Rename, SplitOff

    state, chance = session.state, rng.random()
    history = session.history(40)
    if chance < 0.15 and state.can_undo:
        session.undo()
    elif chance < 0.22 and state.can_redo:
        session.redo()
    elif chance < 0.40:
        item = int(rng.integers(0, state.items))
        cluster = int(state.labels[item])
        operation = (Finish(cluster), Junk((item,)), Rename(cluster, f"n{rng.integers(0, 99)}"), SplitOff((item,)))
        with contextlib.suppress(A3SError):  # nothing to do, or it contradicts
            session.perform(operation[int(rng.integers(0, 4))])
    elif chance < 0.50 and history:
        with contextlib.suppress(A3SError):
            session.change(history[int(rng.integers(0, len(history)))].number, None)
    elif state.question is not None:
        session.answer(state.question.id, (Answer.SAME, Answer.DIFFERENT, Answer.SKIP)[int(rng.integers(0, 3))])
    elif state.can_undo:
        session.undo()


class Annotating:
    """Answers, undo, corrections and snapshots in one project that lives on from kill to kill."""

    name = "answers, undo, corrections, snapshots"

    def __init__(self, base: Base, lives: Lives, toll: Toll) -> None:
        self.base, self.lives, self.toll = base, lives, toll
        self.place = Place(base, lives.folder / "annotating")
        self._begin()

    def _begin(self) -> None:
        shutil.rmtree(self.place.folder, ignore_errors=True)
        self.place.folder.mkdir()
        shutil.copytree(self.base.project, self.place.project)
        self.stored = _look(self.place.project)[0]

    def kill(self, seed: int) -> None:
        if self.toll.kills % LIVES == LIVES - 1:
            self._begin()

        def work(pipe: Any) -> None:
            session, _ = open_session(self.place.project)
            session._snapshot_every = 5
            rng = np.random.default_rng(seed)
            pipe.ready()
            for _ in range(60):
                before = session.state
                annotate(session, rng)
                if session.state is not before:
                    pipe.acknowledge(session)
                session.look_ahead()
            session.close()

        said, through = self.lives.live(self.name, work)
        self.toll.kills += 1
        self.toll.after += through
        told = {int(line.split()[1]): line.split()[2] for line in said if line.startswith("at ")}
        least = max([self.stored, *told])
        self.toll.answers += max(0, least - self.stored)
        stored, digest = self._check(least)
        if stored in told and told[stored] != digest:
            self.toll.find("lost", f"kill {self.toll.kills}: another state than the one that was shown")
        self.toll.unseen += stored - least
        self.stored = stored

    def _check(self, least: int) -> tuple[int, str]:
        try:
            stored, digest, recovered = _look(self.place.project)
        except A3SError as error:
            self.toll.find("unopenable", f"kill {self.toll.kills}: {error.message}")
            self._begin()
            return self.stored, ""
        if recovered or not least <= stored <= least + 1:
            self.toll.find("lost", f"kill {self.toll.kills}: {stored} of {least} records. {recovered}")
        return stored, digest


def _look(project: Path) -> tuple[int, str, str]:
    """Records, digest of the state, and what had to be repaired, of a project that is opened for writing."""
    session, report = open_session(project)
    try:
        return session.state.revision, session.engine.digest(), report.recovered
    finally:
        session.close()


class Once:
    """One of the scenarios on a copy of the project, killed in the middle; then done again."""

    def __init__(self, name: str, base: Base, lives: Lives, toll: Toll) -> None:
        self.scenario = next(s for s in SCENARIOS if s.name == name)
        self.name, self.base, self.lives, self.toll = name, base, lives, toll
        self.reference: dict[str, bytes] | None = None
        self.known = (
            0 if name in ("create project", "first initialization") else _look(base.other.parent / "project")[0]
        )

    def kill(self, _seed: int) -> None:
        folder = self.lives.folder / "once"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        place = Place(self.base, folder)
        if self.scenario.source:
            shutil.copytree(getattr(self.base, self.scenario.source), place.project)

        def work(pipe: Any) -> None:
            if self.scenario.opened:
                place.session, _ = open_session(place.project)
            if self.scenario.before is not None:
                self.scenario.before(place)
            pipe.ready()
            self.scenario.act(place)
            if place.session is not None:
                pipe.acknowledge(place.session)
            place.close()

        said, through = self.lives.live(self.name, work)
        self.toll.kills += 1
        self.toll.after += through
        where = f"{self.name}, kill {self.toll.kills}"
        told = max([self.known, *(int(line.split()[1]) for line in said if line.startswith("at "))])
        self._leavings(place, where)
        try:
            self._opens(place, told, where)
            self._again(place, where)
        except A3SError as error:
            self.toll.find("unopenable", f"{where}: {error.message}")

    def _leavings(self, place: Place, where: str) -> None:
        """An export is whole or not there; the first one, which was through, is what it must be."""
        if not self.name.startswith("export") or not place.out.exists():
            return
        if place.out.is_file():
            found = {"": place.out.read_bytes()}
        else:
            names = (path for path in place.out.rglob("*") if path.is_file() and files.TEMPORARY not in path.name)
            found = {str(path.relative_to(place.out)): path.read_bytes() for path in names}
        if self.reference is None:
            self.reference = found
        elif not self._same(found):
            self.toll.find("other", f"{where}: a part of an export is there")

    def _same(self, found: dict[str, bytes]) -> bool:
        assert self.reference is not None
        if self.name == "export sidecars":  # many files, each whole
            return all(self.reference.get(name) == data for name, data in found.items())
        return found.keys() == self.reference.keys() and all(
            len(data) == len(self.reference[name]) for name, data in found.items()
        )

    def _opens(self, place: Place, told: int, where: str) -> None:
        if not place.project.exists():
            if self.name != "create project":
                self.toll.find("unopenable", f"{where}: no project is left")
            return
        with self._counted(place.project, where):
            stored, _, recovered = _look(place.project)
        self.toll.answers += told
        if recovered or not told <= stored <= told + 1:
            self.toll.find("lost", f"{where}: {stored} of {told} records. {recovered}")

    @contextlib.contextmanager
    def _counted(self, project: Path, where: str) -> Iterator[None]:
        """Whether steps of stage one that were finished are computed again."""
        if (project / "artifacts").is_dir():
            found = [re.match(r"step-([a-z]+)", path.name) for path in (project / "artifacts").iterdir()]
            done = {match[1] for match in found if match}
            if any(path.name.startswith("initial-") for path in (project / "artifacts").iterdir()):
                done = set(STEPS)
        else:
            done = set()
        with contextlib.ExitStack() as stack:
            spies = {
                step: stack.enter_context(
                    mock.patch.object(initialization, name, wraps=getattr(initialization, name))
                )
                for step, name in STEPS.items()
            }  # fmt: skip
            yield
        for step, spy in spies.items():
            if step in done and spy.called:
                self.toll.find("twice", f"{where}: {step} was computed again")
            elif step in done and self.name in ("first initialization", "create project"):
                self.toll.steps += 1

    def _again(self, place: Place, where: str) -> None:
        """What was interrupted can be done now."""
        if self.name == "create project" and place.project.exists():
            return
        files.sweep(place.folder, now=time.time() + 1000)
        try:
            if self.scenario.opened:
                place.session, _ = open_session(place.project)
            if self.name.startswith("export") and place.out.exists():
                return
            if self.scenario.before is not None:
                self.scenario.before(place)
            self.scenario.act(place)
        except A3SError as error:
            if not self._was_done(place, error):
                self.toll.find("other", f"{where}: cannot be done again: {error.message}")
        finally:
            place.close()

    def _was_done(self, place: Place, error: A3SError) -> bool:
        if self.name == "add images":
            session, _ = open_session(place.project, read_only=True)
            session.close()
            return session.state.items > OLD
        return self.name == "merge projects" and "nothing new" in error.message


# How many of the kills go to what; names are those of `SCENARIOS`.
SHARES = {
    Annotating.name: 0.30,
    "snapshot": 0.06,
    "add images": 0.10,
    "replace features": 0.05,
    "export csv": 0.04,
    "export folders": 0.06,
    "export sidecars": 0.04,
    "export report": 0.04,
    "merge projects": 0.07,
    "backup": 0.06,
    "restore a backup": 0.04,
    "first initialization": 0.08,
    "create project": 0.06,
}


def run(kills: int, seed: int, names: list[str], say: bool, network: bool = False) -> dict[str, Any]:
    """All kills, in a seeded order; ``names``: of `SHARES`, all if there are none."""
    rng = np.random.default_rng(seed)
    try:
        shim = Shim()
    except OSError:
        shim = None
    shares = {name: share for name, share in SHARES.items() if not names or name in names}
    tolls = {name: Toll() for name in shares}
    with contextlib.ExitStack() as stack:
        place = tempfile.TemporaryDirectory(prefix="a3s-kills-", ignore_cleanup_errors=True)
        root = Path(stack.enter_context(place)).resolve()
        base = Base(root / "base")
        stack.enter_context(network_drive(root / "work", network))
        (root / "work").mkdir()
        if shim is not None:
            shim.watch(root / "work")
        lives = Lives(root / "work", shim, rng)
        makers: dict[str, Any] = {}
        for each, toll in tolls.items():
            make = Annotating if each == Annotating.name else None
            makers[each] = make(base, lives, toll) if make else Once(each, base, lives, toll)
        weights = np.array(list(shares.values()))
        # The first life of each is not killed: it says how long it takes, and what it leaves.
        order = [*shares, *rng.choice(list(shares), kills, p=weights / weights.sum()).tolist()]
        begun = time.monotonic()
        for number, each in enumerate(order):
            toll = tolls[each]
            try:
                makers[each].kill(int(rng.integers(0, 1 << 30)))
            except Exception:  # noqa: BLE001 - a finding, with its traceback
                toll.find("other", f"{each}: {traceback.format_exc()}")
            if number < len(shares):
                toll.kills, toll.after = 0, 0
            if say and number % 50 == 49:
                sys.stderr.write(f"{number + 1} lives, {time.monotonic() - begun:.0f} s\n")
    return {name: asdict(toll) for name, toll in tolls.items()}


def main() -> int:
    """Command line; the result is JSON on standard output."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--network", action="store_true", help="as on a drive of the network")
    parser.add_argument("--quiet", action="store_true")
    arguments = parser.parse_args()
    logging.getLogger("a3s_desktop").setLevel(logging.CRITICAL)
    result = run(arguments.kills, arguments.seed, arguments.only, not arguments.quiet, arguments.network)
    sys.stdout.write(json.dumps(result) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
