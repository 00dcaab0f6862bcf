"""Keeps the network from a program that a test starts, and notes every attempt to use one.

Three ways at once, since none sees all: a name space without network (``unshare -n``), the interpreter's audit events
(which say who it was), and a filter of system calls that ends the process at any socket but a local one, whoever asks
for it: Python, Qt, or a library below them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

REPORT = "A3S_TEST_SOCKETS"
ROOT = Path(__file__).resolve().parents[2]

# Runs inside the program's own process before anything of it is imported. A local (AF_UNIX) address is a path, never a
# tuple. The filter is a program of the kernel's packet filter: load, compare and jump, return.
_WATCH = '''
import atexit, ctypes, os, platform, struct, sys

REPORT = os.environ["A3S_TEST_SOCKETS"]

def note(name, text):
    with open(REPORT + name, "a", encoding="utf-8") as file:
        file.write(text + "\\n")

def watch(event, args):
    if event == "socket.__new__" and len(args) > 1 and args[1] in (-1, 1):
        return
    if not event.startswith(("socket.__new__", "socket.connect", "socket.bind", "socket.send", "socket.getaddr",
                             "socket.gethostby")):
        return
    if event in ("socket.connect", "socket.bind", "socket.sendto") and isinstance(args[1], (str, bytes)):
        return
    note("", f"{event} {args[1:]!r}")

def forbid():
    """The number of socket(2), and AF_UNIX = 1, by architecture; whether the filter is on."""
    arch, number = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}.get(platform.machine(), (0, 0))
    if not sys.platform.startswith("linux") or not arch:
        return False
    load, equal, end, allow, kill = 0x20, 0x15, 0x06, 0x7FFF0000, 0x80000000
    code = [(load, 0, 0, 4), (equal, 0, 5, arch), (load, 0, 0, 0), (equal, 0, 3, number), (load, 0, 0, 16),
            (equal, 1, 0, 1), (end, 0, 0, kill), (end, 0, 0, allow)]
    memory = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in code))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(code), ctypes.addressof(memory)))
    libc = ctypes.CDLL(None, use_errno=True)
    keep = libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    return keep == 0 and libc.prctl(22, 2, program, 0, 0) == 0  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER

def at_end():
    try:
        with open("/proc/self/maps", encoding="utf-8") as file:
            loaded = "Qt6Network" in file.read()
    except OSError:
        loaded = "PySide6.QtNetwork" in sys.modules
    note(".ended", f"QtNetwork {loaded}")

sys.addaudithook(watch)
note(".begun", f"filter {forbid()}")
atexit.register(at_end)
'''


def without_network() -> list[str]:
    """The words in front of a command that take the network from it; none where the system does not permit that."""
    unshare = shutil.which("unshare")
    for words in (["-n"], ["-r", "-n"]):
        if unshare and not subprocess.run([unshare, *words, "true"], capture_output=True, check=False).returncode:
            return [unshare, *words]
    return []


def in_front() -> list[str]:
    """As `without_network`, where a watch was set up; else nothing."""
    return without_network() if REPORT in os.environ else []


class Watch:
    """The environment of a program that is watched, and what came of it.

    Parameters
    ----------
    folder : Path
        For the watch's own files.
    """

    def __init__(self, folder: Path) -> None:
        self._report = folder / "sockets"
        place = folder / "watch"
        place.mkdir(parents=True)
        (place / "sitecustomize.py").write_text(_WATCH, encoding="utf-8")
        self.environment = {
            "PYTHONPATH": os.pathsep.join([str(place), str(ROOT)]),
            REPORT: str(self._report),
        }

    def sockets(self) -> str:
        """What was tried, a line each."""
        return self._read("")

    def filtered(self) -> list[bool]:
        """For each process that began: whether the system ends it at any socket but a local one."""
        return [line == "filter True" for line in self._read(".begun").splitlines()]

    def qt_network(self) -> list[bool]:
        """For each process that came to its end: whether Qt's network library was loaded."""
        return [line == "QtNetwork True" for line in self._read(".ended").splitlines()]

    def _read(self, suffix: str) -> str:
        path = self._report.with_name(self._report.name + suffix)
        return path.read_text(encoding="utf-8") if path.exists() else ""
