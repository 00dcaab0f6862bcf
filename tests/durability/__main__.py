"""``python -m tests.durability``: the fault matrix and the kill tests, and a table of what came of them.

``--short`` takes a sample that fits into a test run. All calls take an hour or more (``--most 2``: minutes),
500 kills five to fifteen minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.durability import shim

_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"
)  # forked children must not wait for others
_COLUMNS = ("runs", "faults", "refused", "answers", "lost", "unopenable", "unclear", "stuck", "other")
_KILL_COLUMNS = ("kills", "after", "answers", "unseen", "steps", "twice", "lost", "unopenable", "other")
_SHORT = ("answers, undo, corrections, snapshots", "add images", "backup", "first initialization")
_END_COLUMNS = ("faults injected", "answers acknowledged", "lost", "projects unopenable", "other findings")
_BAD = ("lost", "unopenable", "unclear", "stuck", "twice", "other")


def run_part(module: str, library: Path | None, *arguments: object) -> dict[str, Any]:
    """Run one of the parts in a process of its own, with the library loaded."""
    environment = {**(shim.environment(library) if library is not None else os.environ), **_ONE_THREAD}
    done = subprocess.run(
        [sys.executable, "-m", f"tests.durability.{module}", *map(str, arguments)],
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def table(title: str, rows: Mapping[str, Mapping[str, Any]], columns: tuple[str, ...]) -> str:
    """Rows under their names, and their sums."""
    sums = {column: sum(row[column] for row in rows.values()) for column in columns}
    lines = [[title, *columns]]
    lines += [[name, *(str(row[column]) for column in columns)] for name, row in [*rows.items(), ("all", sums)]]
    widths = [max(len(line[k]) for line in lines) for k in range(len(columns) + 1)]
    texts = ["  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) for line in lines]
    return "\n".join([texts[0], "-" * len(texts[0]), *texts[1:-1], "-" * len(texts[0]), texts[-1]])


def findings(rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """All that must not be."""
    return [text for row in rows.values() for text in row["findings"]]


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.durability", description=__doc__)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--windows", type=int, default=0, help="so many of the kills meet the real window (needs Xvfb)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=int, default=1 << 30, help="faults of a kind in one scenario")
    parser.add_argument("--only", nargs="*", default=[], help="scenarios of the matrix")
    parser.add_argument("--short", action="store_true", help="a sample of both, for a test run")
    parser.add_argument(
        "--network", action="store_true", help="as on a drive of the network, where the journal has no write-ahead log"
    )
    parser.add_argument("--no-faults", action="store_true")
    parser.add_argument("--json", type=Path, help="also write the figures there")
    arguments = parser.parse_args()
    wrong: list[str] = []
    result: dict[str, Any] = {}
    where = ("--network",) if arguments.network else ()
    with tempfile.TemporaryDirectory(prefix="a3s-shim-") as folder:
        library = shim.build(Path(folder))
        if library is None:
            say("There is no C compiler (or this is not Linux): no faults, kills at random times only.")
        if library is not None and not arguments.no_faults:
            sample = ("--sample", 40, "--quiet") if arguments.short else ("--most", arguments.most)
            only = ("--only", *arguments.only) if arguments.only else ()
            result["matrix"] = run_part("matrix", library, "--seed", arguments.seed, *sample, *only, *where)
            say(table("scenario", result["matrix"]["scenarios"], _COLUMNS) + "\n")
            say(table("fault", result["matrix"]["faults"], _COLUMNS) + "\n")
            wrong += findings(result["matrix"]["scenarios"])
        kills = (12 if arguments.short else arguments.kills) - arguments.windows
        quiet = (*where, *(("--quiet", "--only", *_SHORT) if arguments.short else ()))
        if kills > 0:
            result["kills"] = run_part("kills", library, "--seed", arguments.seed, "--kills", kills, *quiet)
    if arguments.windows:
        result.setdefault("kills", {})["the real window"] = windows(arguments.windows, arguments.seed)
    if "kills" in result:
        say(table("kill -9 during", result["kills"], _KILL_COLUMNS) + "\n")
        wrong += findings(result["kills"])
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    for text in wrong[:50]:
        say(text)
    say(summary(result) + "\n")
    say(f"{len(wrong)} findings: see above." if wrong else "Nothing was lost, and every project opens.")
    return 1 if wrong else 0


def windows(kills: int, seed: int) -> dict[str, Any]:
    """Kills of the real window; see `tests.e2e.kill_many`."""
    from tests.e2e.kill_many import kill_windows

    return kill_windows(kills, seed)


def summary(result: Mapping[str, Any]) -> str:
    """The end of it all: one table, whose last columns must be nothing but zeros."""
    tallies = {
        "faults of the drive": result.get("matrix", {}).get("scenarios", {}).values(),
        "kill -9": result.get("kills", {}).values(),
    }
    rows = {
        name: {
            "faults injected": _sum(tallies[name], "faults", "kills"),
            "answers acknowledged": _sum(tallies[name], "answers"),
            "lost": _sum(tallies[name], "lost"),
            "projects unopenable": _sum(tallies[name], "unopenable"),
            "other findings": _sum(tallies[name], *(set(_BAD) - {"lost", "unopenable"})),
        }
        for name in tallies
        if tallies[name]
    }
    return table("everything together", rows, _END_COLUMNS)


def _sum(rows: Iterable[Mapping[str, Any]], *names: str) -> int:
    return sum(int(row.get(name, 0)) for row in rows for name in names)


def say(text: str) -> None:
    """A line for the terminal, at once."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
