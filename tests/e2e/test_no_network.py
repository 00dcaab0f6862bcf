"""The program makes no network connection: what starts it here has no network, and every socket is reported.

The same watch is on all other tests of this folder (`conftest`): those of the real window with real keys, too.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.e2e import machine
from tests.e2e.watched import Watch, in_front, without_network


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*in_front(), sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_commands_open_no_socket(watch: Watch, tmp_path: Path) -> None:
    """A project of one's own by commands: made, looked at, checked and exported."""
    images = tmp_path / "images"
    images.mkdir()
    for number in range(12):
        Image.new("RGB", (8, 8), (number * 20, 0, 0)).save(images / f"{number:02}.png")
    np.save(tmp_path / "features.npy", np.random.default_rng(0).normal(size=(12, 5)).astype(np.float32))
    project = str(tmp_path / "project")
    machine.command("new", project, "--images", images, "--features", tmp_path / "features.npy")
    machine.command("info", project)
    machine.command("check", project)
    machine.command("export", project, "--out", tmp_path / "clusters.csv")
    assert watch.sockets() == ""
    assert watch.qt_network() == [False] * 4


def test_the_watch_sees_a_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shown to see what it is for: who asks is reported, and where the system can, that is the end of the process."""
    watch = Watch(tmp_path)
    for name, value in watch.environment.items():
        monkeypatch.setenv(name, value)
    done = python("import socket; socket.socket().connect_ex(('127.0.0.1', 9))")
    assert watch.sockets().startswith("socket.__new__")
    if watch.filtered() == [True]:
        assert done.returncode == -signal.SIGSYS


def test_the_watch_sees_what_python_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library's own socket, as Qt's would be; a local one is nobody's business."""
    watch = Watch(tmp_path)
    for name, value in watch.environment.items():
        monkeypatch.setenv(name, value)
    assert python("import ctypes; ctypes.CDLL(None).socket(1, 1, 0)").returncode == 0
    done = python("import ctypes; ctypes.CDLL(None).socket(2, 1, 0)")
    if not all(watch.filtered()):
        pytest.skip("this system does not let a process filter its own calls")
    assert done.returncode == -signal.SIGSYS


def test_the_watch_sees_qts_network_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch(tmp_path)
    for name, value in watch.environment.items():
        monkeypatch.setenv(name, value)
    python("import PySide6.QtNetwork")
    assert watch.qt_network() == [True]


def test_there_is_no_network_to_begin_with() -> None:
    if not without_network():
        pytest.skip("this system does not let a user make a name space")
    done = python("print(sorted(name.split(':')[0].strip() for name in list(open('/proc/net/dev'))[2:]))")
    assert done.stdout.strip() == "['lo']"
