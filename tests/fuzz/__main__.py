"""Coverage-guided fuzzing of every parser: ``python -m tests.fuzz PARSER [--minutes 10]`` or ``--all``.

Needs atheris (``packaging/requirements/fuzz.txt``; Linux and macOS, Python 3.11 to 3.13). Without a parser, the parsers
are listed. Findings are kept, one input for each kind, in the working folder; an input that is worth keeping belongs
into ``tests/fuzz/corpus/PARSER``, which the ordinary tests read again (``test_corpus.py``).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

KEPT = Path(__file__).parent / "corpus"
_READERS = ("a3s_desktop", "json", "zipfile", "csv", "numpy.lib._format_impl")
_PICTURE_READERS = ("PIL", "defusedxml", "xml.etree")  # take a minute to be made ready
_SECONDS_HANGING = 60
_TITLES = ("parser", "minutes", "processor", "executions", "coverage", "inputs", "findings")


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("parser", nargs="*", help="names of parsers; none: list them")
    parser.add_argument("--all", action="store_true", help="all parsers")
    parser.add_argument("--minutes", type=float, default=10.0, help="of each (default 10)")
    parser.add_argument("--together", type=int, default=1, help="how many run at a time (default 1)")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "a3s-fuzz", help="working folder")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        _child(arguments.parser[0], arguments.minutes * 60, arguments.work)
    from tests.fuzz.parsers import PARSERS

    if not arguments.all and not arguments.parser:
        for one in PARSERS.values():
            print(f"{one.name:12} {one.what}")  # noqa: T201
        return 0
    names = list(PARSERS) if arguments.all else arguments.parser
    for name in names:
        if name not in PARSERS:
            parser.error(f"there is no parser {name!r}; without arguments the parsers are listed")
    with ThreadPoolExecutor(arguments.together) as pool:
        rows = list(pool.map(lambda name: _fuzz(name, arguments.minutes * 60, arguments.work), names))
    print("\t".join(_TITLES))  # noqa: T201
    for row in rows:
        print("\t".join(str(row[title]) for title in _TITLES))  # noqa: T201
    return int(any(row["findings"] for row in rows))


def _fuzz(name: str, seconds: float, work: Path) -> dict[str, Any]:
    """Fuzz one parser, beginning anew after each end of the process, and sum up."""
    place = work / name
    for folder in ("findings", "ends"):  # those of an earlier run stay, under another name
        if (place / folder).is_dir():
            (place / folder).rename(place / f"{folder}-until-{time.time_ns()}")
    for folder in ("corpus", "findings", "ends"):
        (place / folder).mkdir(parents=True, exist_ok=True)
    begun, spent, executions, coverage = time.monotonic(), 0.0, 0, 0
    while (left := seconds - (time.monotonic() - begun)) > 1:
        command = [
            sys.executable,
            "-m",
            "tests.fuzz",
            name,
            "--child",
            f"--minutes={left / 60}",
            f"--work={place}",
        ]
        with (place / "log").open("wb") as log:
            spent += _run(command, log)
        if (place / "scratch").is_file():  # libFuzzer ends the process on the spot
            shutil.rmtree((place / "scratch").read_text("utf-8"), ignore_errors=True)
            (place / "scratch").unlink()
        text = (place / "log").read_text("utf-8", "replace")
        counted = [int(number) for number in re.findall(r"^#(\d+)\s", text, re.MULTILINE)]
        covered = [int(number) for number in re.findall(r" cov: (\d+)", text)]
        if not counted:
            print(text[-3000:], file=sys.stderr)  # noqa: T201
            break
        executions, coverage = executions + max(counted), max([coverage, *covered])
    new = [*(place / "findings").glob("*.txt"), *(place / "ends").iterdir()]
    row = {
        "parser": name,
        "minutes": round((time.monotonic() - begun) / 60, 1),
        "processor": round(spent / 60, 1),
        "executions": executions,
        "coverage": coverage,
        "inputs": sum(1 for _ in (place / "corpus").iterdir()),
        "findings": len(new),
    }
    with (work / "results.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({**row, "at": time.strftime("%H:%M:%S"), "new": [p.name for p in new]}) + "\n")
    return row


def _run(command: list[str], log: IO[bytes]) -> float:
    """Run a command to its end; returns the seconds of processor time that it took."""
    process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime


def _child(name: str, seconds: float, place: Path) -> None:
    """Fuzz in this process, which libFuzzer ends."""
    import atheris

    readers = [*_READERS, *(_PICTURE_READERS if name in ("image", "xmp") else ())]
    with atheris.instrument_imports(include=readers, enable_loader_override=False):
        from PIL import Image

        from tests.fuzz.harness import Runner, name_of
        from tests.fuzz.parsers import PARSERS

        Image.init()
    import logging

    logging.disable()
    parser = PARSERS[name]
    memory = Path("/dev/shm")
    scratch = tempfile.mkdtemp(prefix="a3s-fuzz-", dir=memory if memory.is_dir() else None)
    (place / "scratch").write_text(scratch, "utf-8")
    seen = {path.stem for path in (place / "findings").iterdir()}
    seeds = [*parser.seeds(Path(scratch)), *(p.read_bytes() for p in sorted((KEPT / name).glob("*")))]
    for seed in seeds:
        (place / "corpus" / name_of(seed)).write_bytes(seed)
    words = place / "words"
    words.write_text(
        "".join('"' + "".join(f"\\x{byte:02x}" for byte in word) + '"\n' for word in parser.words), "ascii"
    )
    runner = Runner(parser, Path(scratch))

    def one(data: bytes) -> None:
        finding = runner.run(data)
        if finding is not None:
            kind = re.sub(r"[^A-Za-z0-9_.]+", "-", finding.place)
            if kind not in seen:  # one input of each kind; the search goes on
                seen.add(kind)
                (place / "findings" / f"{kind}.txt").write_text(finding.text, "utf-8", "backslashreplace")
                (place / "findings" / f"{kind}.bin").write_bytes(data)

    ends = place / "ends"
    atheris.Setup(
        [
            sys.argv[0],
            f"-max_total_time={max(1, round(seconds))}",
            f"-max_len={parser.longest}",
            *([f"-dict={words}"] if parser.words else []),  # it does not start with an empty one
            f"-timeout={_SECONDS_HANGING}",
            f"-report_slow_units={_SECONDS_HANGING}",
            "-rss_limit_mb=4096",
            f"-artifact_prefix={ends}{os.sep}",
            "-print_final_stats=1",
            "-len_control=20",
            "-reload=0",
            str(place / "corpus"),
        ],
        one,
    )
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
