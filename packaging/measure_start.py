#!/usr/bin/env python3
"""Measures the packaged program's start against that of an empty PySide6 program, bundled alike.

    python3 packaging/measure_start.py dist/a3s-desktop --python WORK/venv/bin/python [--runs 10]

``--python`` is the interpreter of the build environment (``build.py --work WORK``). Both are started in turn on a
virtual display with a home of their own; the time runs from the start of the process until its window is visible to
the X server. Needs Linux, Xvfb and xdotool.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from prove_linux import display

EMPTY = """
import sys
from PySide6.QtWidgets import QApplication, QLabel, QMainWindow
app = QApplication(sys.argv)
window = QMainWindow()
window.setWindowTitle("Empty program")
window.setCentralWidget(QLabel("Nothing"))
window.show()
app.exec()
"""


def bundle_empty(python: Path, folder: Path) -> Path:
    """The empty program, bundled with the same tools, excludes of network and QML among them."""
    (folder / "empty.py").write_text(EMPTY)
    excluded = ["PySide6.QtNetwork", "PySide6.QtQml", "PySide6.QtQuick", "numpy", "PIL", "tkinter", "ssl", "readline"]
    options = [word for name in excluded for word in ("--exclude-module", name)]
    subprocess.run(
        [python, "-m", "PyInstaller", "--noconfirm", "--onedir", "--log-level", "ERROR", *options, "empty.py"],
        cwd=folder, check=True,
    )  # fmt: skip
    return folder / "dist" / "empty" / "empty"


def start(program: Path, title: str, screen: str, home: Path) -> tuple[float, float, float]:
    """Seconds until the window is visible, CPU seconds by then, and MB of memory three seconds later."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "DISPLAY": screen, "LANG": "C.UTF-8"}
    begun = time.perf_counter()
    said = home / "said.txt"
    with said.open("wb") as file:
        process = subprocess.Popen([program], env=environment, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
    try:
        while True:
            look = subprocess.run(
                ["xdotool", "search", "--onlyvisible", "--name", f"^{title}$"],
                env=environment, capture_output=True, check=False,
            )  # fmt: skip
            if look.stdout.strip():
                break
            if time.perf_counter() - begun > 60 or process.poll() is not None:
                raise RuntimeError(f"{program} showed no window ({process.poll()})\n{said.read_text()}")
            time.sleep(0.005)
        seconds = time.perf_counter() - begun
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(") ")[2].split()
        cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        time.sleep(3)
        pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
        return seconds, cpu, pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    finally:
        process.terminate()
        process.wait(20)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--python", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=10)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="a3s-start-") as folder:
        # Not resolved: the interpreter of an environment is a link, and knows its environment by the link's place.
        empty = bundle_empty(arguments.python.absolute(), Path(folder))
        programs = {
            "A3S Desktop": arguments.bundle.resolve() / "a3s-desktop",
            "Empty program": empty,
        }
        found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in programs}
        with display() as screen:
            for number in range(arguments.runs + 1):
                for name, program in programs.items():
                    home = Path(folder) / f"home-{name.split()[0]}"
                    home.mkdir(exist_ok=True)
                    result = start(program, name, screen, home)
                    if number:  # the first start only warms the disk's cache
                        found[name].append(result)
        medians = {
            name: [statistics.median(values) for values in zip(*rows, strict=True)] for name, rows in found.items()
        }
        for name, (seconds, cpu, megabytes) in medians.items():
            print(f"{name}: window after {seconds:.2f} s ({cpu:.2f} s of CPU), {megabytes:.0f} MB after three seconds")
        ours, other = medians["A3S Desktop"], medians["Empty program"]
        print(f"ratio: {ours[0] / other[0]:.2f} of the time, {ours[1] / other[1]:.2f} of the CPU time")
    return 0 if ours[0] <= 2 * other[0] else 1


if __name__ == "__main__":
    sys.exit(main())
