"""What a record costs with and without a write-ahead log: ``python -m tests.benchmarks.network_journal``.

Two journals side by side on the drive of ``--folder``, one taken to be on the network; records in turns of 20, so that
both meet the same machine. Milliseconds from the call to its return, when the record is on the disk: median and 99th
percentile, and what of it is the processor's. A real drive of the network adds its own way to and fro.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from a3s_desktop.storage.journal import Journal
from a3s_desktop.storage.journal_opening import create_journal, open_journal
from tests.durability.scenarios import network_drive

_TURN = 20


def measure(journal: Journal, count: int) -> list[tuple[float, float]]:
    """Wall and CPU seconds of records like those of answers."""
    found = []
    for _ in range(count):
        wall, work = time.perf_counter(), time.thread_time()
        journal.append("answer", {"left": journal.last, "right": 2 * journal.last, "answer": "same", "author": "Ann"})
        found.append((time.perf_counter() - wall, time.thread_time() - work))
    return found


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1000, help="of each kind")
    parser.add_argument("--folder", type=Path, help="on the drive in question (default: the system's temporary files)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="a3s-network-", dir=arguments.folder) as name:
        journals = {}
        for kind in ("log", "network"):
            path = Path(name) / f"{kind}.sqlite"
            with network_drive(Path(name), kind == "network"):
                create_journal(path)
                journals[kind] = open_journal(path)
        found: dict[str, list[tuple[float, float]]] = {kind: [] for kind in journals}
        for _ in range(arguments.records // _TURN):
            for kind, journal in journals.items():
                found[kind] += measure(journal, _TURN)
        for kind, journal in journals.items():
            wall, work = (np.array(values) * 1e3 for values in zip(*found[kind], strict=True))
            sys.stdout.write(
                f"{kind}: median {np.median(wall):.2f} ms, p99 {np.percentile(wall, 99):.2f} ms, "
                f"CPU {np.median(work):.2f} ms, {len(wall)} records\n"
            )
            journal.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
