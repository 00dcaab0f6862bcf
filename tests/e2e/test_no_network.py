"""The program makes no network connection: its commands in a name space without network, every socket reported."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

# Runs inside the program's own process before anything of it is imported. The audit events are raised by the
# interpreter for every socket, whoever opens it from Python. A local (AF_UNIX) address is a path, never a tuple.
_WATCH = """
import os, sys

def watch(event, args):
    if not event.startswith(("socket.connect", "socket.bind", "socket.send", "socket.getaddr", "socket.gethostby")):
        return
    if event in ("socket.connect", "socket.bind", "socket.sendto") and isinstance(args[1], (str, bytes)):
        return
    with open(os.environ["A3S_TEST_SOCKETS"], "a", encoding="utf-8") as file:
        file.write(f"{event} {args[1:]!r}\\n")

def at_end():
    with open(os.environ["A3S_TEST_SOCKETS"] + ".watched", "a", encoding="utf-8") as file:
        file.write(f"{'PySide6.QtNetwork' in sys.modules}\\n")

sys.addaudithook(watch)
import atexit
atexit.register(at_end)
"""


def _without_network() -> list[str]:
    """The words in front of a command that take the network from it; none where the system does not permit that."""
    unshare = shutil.which("unshare")
    for words in (["-n"], ["-r", "-n"]):
        if unshare and not subprocess.run([unshare, *words, "true"], capture_output=True, check=False).returncode:
            return [unshare, *words]
    return []


class Offline:
    """Runs the real program, watched, without network."""

    def __init__(self, folder: Path) -> None:
        self.report = folder / "sockets"
        watch = folder / "watch"
        watch.mkdir()
        (watch / "sitecustomize.py").write_text(_WATCH, encoding="utf-8")
        home = folder / "home"
        home.mkdir()
        self._env = os.environ | {
            "PYTHONPATH": os.pathsep.join([str(watch), str(Path(__file__).parents[2])]),
            "A3S_TEST_SOCKETS": str(self.report),
            "HOME": str(home),
            "QT_QPA_PLATFORM": "offscreen",
        }

    def python(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*_without_network(), sys.executable, *words],
            env=self._env, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip

    def program(self, *words: str) -> None:
        done = self.python("-m", "a3s_desktop", *words)
        assert done.returncode == 0, done.stderr

    def sockets(self) -> str:
        return self.report.read_text(encoding="utf-8") if self.report.exists() else ""

    def qt_network(self) -> list[str]:
        return (self.report.with_name("sockets.watched")).read_text(encoding="utf-8").split()


@pytest.fixture
def offline(tmp_path: Path) -> Offline:
    return Offline(tmp_path)


def test_commands_open_no_socket(offline: Offline, tmp_path: Path) -> None:
    """A project of one's own by commands: made, looked at, checked and exported."""
    images = tmp_path / "images"
    images.mkdir()
    for number in range(12):
        Image.new("RGB", (8, 8), (number * 20, 0, 0)).save(images / f"{number:02}.png")
    np.save(tmp_path / "features.npy", np.random.default_rng(0).normal(size=(12, 5)).astype(np.float32))
    project = str(tmp_path / "project")
    offline.program("new", project, "--images", str(images), "--features", str(tmp_path / "features.npy"))
    offline.program("info", project)
    offline.program("check", project)
    offline.program("export", project, "--out", str(tmp_path / "clusters.csv"))
    assert offline.sockets() == ""
    assert offline.qt_network() == ["False"] * 4


def test_the_watch_sees_a_connection(offline: Offline) -> None:
    """Shown to see what it is for: an attempt is reported, even where it fails."""
    offline.python("-c", "import socket; socket.socket().connect_ex(('127.0.0.1', 9))")
    assert offline.sockets().startswith("socket.connect")
