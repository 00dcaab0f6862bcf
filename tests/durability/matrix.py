"""Every fault at every call of every scenario; run by ``python -m tests.durability``, which loads the library first."""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from a3s_desktop.errors import A3SError
from a3s_desktop.session.opening import open_session
from tests.durability.scenarios import SCENARIOS, Base, Place, Scenario, network_drive
from tests.durability.shim import FAULTS, Call, Fault, Shim


@dataclass
class Tally:
    """What came of the faults of one kind or in one scenario."""

    runs: int = 0
    faults: int = 0  # calls that failed
    refused: int = 0  # runs in which the program said so
    answers: int = 0  # acknowledged before or in the runs
    lost: int = 0
    unopenable: int = 0
    unclear: int = 0  # messages that do not name the cause
    stuck: int = 0  # did not go on when the fault was gone
    other: int = 0
    findings: list[str] = field(default_factory=list)

    def add(self, more: Tally) -> None:
        for name in ("runs", "faults", "refused", "answers", "lost", "unopenable", "unclear", "stuck", "other"):
            setattr(self, name, getattr(self, name) + getattr(more, name))
        self.findings += more.findings


class Trial:
    """One scenario on a fresh copy of the project, with one fault."""

    def __init__(self, shim: Shim, base: Base, scenario: Scenario, folder: Path) -> None:
        self.shim, self.scenario, self.folder = shim, scenario, folder
        self.tally = Tally()
        folder.mkdir()
        self.place = Place(base, folder)
        if scenario.source:
            shutil.copytree(getattr(base, scenario.source), self.place.project)
        if scenario.opened:
            self.place.session, _ = open_session(self.place.project)
        if scenario.before is not None:
            scenario.before(self.place)
        self.known = self._known(self.place.project) if scenario.source else 0
        self.digest = self.place.live.engine.digest() if scenario.opened else ""

    def tape(self) -> list[Call]:
        """The calls that the scenario makes."""
        self.shim.record()
        try:
            self.scenario.act(self.place)
        finally:
            calls = self.shim.recorded()
            self.place.close()
        return calls

    def run(self, fault: Fault, number: int) -> Tally:
        """Put the fault in, look at what is left, take it away and go on."""
        tally, place = self.tally, self.place
        before = place.session.state if place.session is not None else None
        where = f"{self.scenario.name}, {fault.name} at call {number}"
        raised: BaseException | None = None
        self.shim.arm(fault, number)
        try:
            self.scenario.act(place)
        except Exception as error:  # noqa: BLE001 - every kind is judged below
            raised = error
        tally.faults += self.shim.disarm()
        tally.runs += 1
        try:
            self._judge(fault, raised, where)
            # What was told not to be kept is not there either, unless the drive refuses to this moment.
            over = raised is not None and self.scenario.opened and not fault.lasts
            self._crash_here(raised is None, not over, where)
            if raised is not None:
                self._unchanged(before, where)
                self._go_on(where)
            self._at_the_end(where)
        except Exception:  # noqa: BLE001 - a finding, with its traceback
            self._find("other", f"{where}: {traceback.format_exc()}")
        return tally

    def _find(self, what: str, text: str) -> None:
        setattr(self.tally, what, getattr(self.tally, what) + 1)
        self.tally.findings.append(f"{what}: {text}")
        sys.stderr.write(f"{what}: {text}\n")  # at once: a run may take hours, and be ended

    def _judge(self, fault: Fault, raised: BaseException | None, where: str) -> None:
        if raised is None:
            return
        self.tally.refused += 1
        if not isinstance(raised, A3SError):
            trace = "".join(traceback.format_exception(raised))
            self._find("unclear", f"{where}: {raised!r}\n{trace}")
        elif self.scenario.quiet:
            self._find("other", f"{where}: must not fail: {raised}")
        elif not (any(words in raised.message for words in fault.says) and raised.message.endswith(".")):
            self._find("unclear", f"{where}: {raised.message!r}")

    def _known(self, project: Path) -> int:
        """Records in a project's journal, by a private copy."""
        session, _ = open_session(project, read_only=True) if (project / "artifacts").exists() else (None, None)
        if session is None:
            return 0
        try:
            return session.state.revision
        finally:
            session.close()

    def _crash_here(self, done: bool, spare: bool, where: str) -> None:
        """The program ends right now: a copy of what is on the disk opens, with every answer that was acknowledged."""
        if not (self.place.project / "project.json").exists():
            if self.scenario.source:
                self._find("unopenable", f"{where}: no project is left")
            return
        copy = self.folder / "crashed"
        shutil.copytree(self.place.project, copy)
        least = max(self.known, self._revision()) if done and self.scenario.opened else self.known
        self._opens(copy, least, where, spare)
        shutil.rmtree(copy)

    def _revision(self) -> int:
        session = self.place.session
        return session.state.revision if session is not None else 0

    def _opens(self, project: Path, least: int, where: str, spare: bool = True) -> None:
        try:
            session, report = open_session(project)
        except A3SError as error:
            self._find("unopenable", f"{where}: {error.message}")
            return
        found = session.state.revision
        session.close()
        self.tally.answers += least
        if found < least or report.recovered:
            self._find("lost", f"{where}: {found} of {least} records; {report.recovered}")
        elif found > least + spare:
            self._find("other", f"{where}: {found} records, {least} were acknowledged")

    def _unchanged(self, before: object, where: str) -> None:
        session = self.place.session
        if not self.scenario.opened or session is None:
            return
        if session.state is not before or session.engine.digest() != self.digest:
            self._find("other", f"{where}: the session is not what it was before the failure")

    def _go_on(self, where: str) -> None:
        """The fault is gone: the same thing, in the same session."""
        try:
            self.scenario.act(self.place)
        except Exception as error:  # noqa: BLE001 - a finding
            if self._was_done(error):
                return
            self._find("stuck", f"{where}: {error!r} {getattr(error, 'hint', '')}")

    def _was_done(self, error: BaseException) -> bool:
        """Whether all was in place but for the last synchronisation: what is there is whole, and is not made again."""
        name = self.scenario.name
        if name.startswith("export") or name == "create project":
            return type(error).__name__ in ("TargetExistsError", "InputError", "ProjectError") and (
                self.place.out.exists() or (self.place.project / "project.json").exists()
            )
        return name == "add images" and "already" in str(error)

    def _at_the_end(self, where: str) -> None:
        session = self.place.session
        revision, digest = (session.state.revision, session.engine.digest()) if session is not None else (0, "")
        self.place.close()
        left = [p.name for p in self.folder.rglob(".a3s-new-*")]
        if left and self.tally.refused and not self.tally.findings:
            pass  # swept at the next start
        if not (self.place.project / "project.json").exists():
            if self.scenario.source:
                self._find("unopenable", f"{where}: no project is left at the end")
            return
        self._opens(self.place.project, max(revision, self.known), where)
        if session is not None:
            again, _ = open_session(self.place.project, read_only=True)
            if again.engine.digest() != digest:
                self._find("lost", f"{where}: the project opens in another state")
            again.close()


def positions(calls: list[Call], fault: Fault, most: int, rng: np.random.Generator) -> Iterator[int]:
    """Numbers of the calls at which a fault is put in: all, or a sample that has the first and the last."""
    count = sum(bool(call & fault.calls) for call in calls)
    if count <= most:
        yield from range(count)
        return
    chosen = set(rng.choice(count, most, replace=False).tolist())
    if most > 2:
        chosen |= {0, count - 1}
    yield from sorted(chosen)


def run(most: int, sample: int, seed: int, names: list[str], say: bool, network: bool = False) -> dict[str, object]:
    """The matrix; ``most`` faults of a kind in one scenario; ``sample`` pairs of scenario and fault, if not 0."""
    shim, rng = Shim(), np.random.default_rng(seed)
    by_scenario: dict[str, Tally] = {}
    by_fault = {fault.name: Tally() for fault in FAULTS}
    with contextlib.ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="a3s-faults-"))).resolve()
        base = Base(root / "base")
        stack.enter_context(network_drive(root / "work", network))
        (root / "work").mkdir()
        shim.watch(root / "work")
        scenarios = [scenario for scenario in SCENARIOS if not names or scenario.name in names]
        pairs = [(scenario.name, fault.name) for scenario in scenarios for fault in FAULTS]
        if 0 < sample < len(pairs):
            pairs = [pairs[k] for k in rng.choice(len(pairs), sample, replace=False)]
        wanted, most = set(pairs), 1 if sample else most
        for scenario in scenarios:
            if not any(scenario.name == name for name, _ in wanted):
                continue
            begun = time.monotonic()
            total = by_scenario[scenario.name] = Tally()
            trial = Trial(shim, base, scenario, root / "work" / "tape")
            calls = trial.tape()
            shutil.rmtree(trial.folder)
            for fault in FAULTS:
                if (scenario.name, fault.name) not in wanted:
                    continue
                for number in positions(calls, fault, most, rng):
                    folder = root / "work" / "run"
                    tally = Trial(shim, base, scenario, folder).run(fault, number)
                    total.add(tally)
                    by_fault[fault.name].add(tally)
                    shutil.rmtree(folder)
            if say:
                sys.stderr.write(
                    f"{scenario.name}: {len(calls)} calls, {total.runs} runs, {len(total.findings)} findings, "
                    f"{time.monotonic() - begun:.1f} s\n"
                )
    return {
        "scenarios": {name: asdict(tally) for name, tally in by_scenario.items()},
        "faults": {name: asdict(tally) for name, tally in by_fault.items()},
    }


def main() -> int:
    """Command line; the result is JSON on standard output."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=1 << 30, help="faults of a kind in one scenario")
    parser.add_argument("--sample", type=int, default=0, help="so many pairs of scenario and fault, one call each")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--network", action="store_true", help="as on a drive of the network")
    parser.add_argument("--quiet", action="store_true")
    arguments = parser.parse_args()
    logging.getLogger("a3s_desktop").setLevel(logging.CRITICAL)  # thousands of warnings of faults that are meant
    result = run(
        arguments.most, arguments.sample, arguments.seed, arguments.only, not arguments.quiet, arguments.network
    )
    sys.stdout.write(json.dumps(result) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
