"""A virtual display, the real program on it, and a keyboard. Used by the end-to-end tests and by ``kill_many.py``."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.e2e.watched import in_front

TOOLS = ("Xvfb", "xdotool", "openbox")
_START = 60.0  # seconds that a busy machine may take to show the first pair


def missing_tools() -> list[str]:
    """Programs that are needed and not there."""
    return [tool for tool in TOOLS if shutil.which(tool) is None]


@contextlib.contextmanager
def display(size: str = "1280x800", depth: int = 24, extra: tuple[str, ...] = ()) -> Iterator[str]:
    """A fresh X server with a window manager; gives the value for DISPLAY.

    ``depth``: bits of a pixel. ``extra``: further words for the server.
    """
    reader, writer = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writer), "-screen", "0", f"{size}x{depth}", "-nolisten", "tcp", *extra],
        pass_fds=(writer,),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(writer)
    number = b""
    # To the newline: closed earlier, the server would die of the broken pipe.
    while not number.endswith(b"\n"):
        part = os.read(reader, 16)
        if not part:
            raise RuntimeError("Xvfb did not start")
        number += part
    os.close(reader)
    name = f":{number.decode().strip()}"
    manager = subprocess.Popen(
        ["openbox"], env={**os.environ, "DISPLAY": name}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield name
    finally:
        for process in (manager, server):
            process.terminate()
        for process in (manager, server):
            process.wait(timeout=10)


def command(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the program that needs no display; raises where it fails."""
    done = subprocess.run(
        [*in_front(), sys.executable, "-m", "a3s_desktop", *map(str, arguments)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{arguments}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


class Running:
    """The program in its own process, followed by its trace file.

    Parameters
    ----------
    screen : str
        DISPLAY.
    trace : Path
        A new file for each start.
    arguments
        Of the command line.
    module : str
        What ``python -m`` runs.
    environment : mapping, optional
        What is different in the program's environment; None takes a variable away.
    before : sequence of str
        Words in front of the command.
    """

    def __init__(
        self,
        screen: str,
        trace: Path,
        *arguments: object,
        module: str = "a3s_desktop",
        environment: Mapping[str, str | None] | None = None,
        before: Sequence[str] = (),
    ) -> None:
        self._screen = screen
        self._trace = trace
        self._offset = 0
        self._tail = b""
        self.events: list[dict[str, Any]] = []
        wanted = {
            **os.environ,
            "DISPLAY": screen,
            "QT_QPA_PLATFORM": "xcb",
            "A3S_TRACE_FILE": str(trace),
            "PYTHONUNBUFFERED": "1",
            **(environment or {}),
        }
        self._log = trace.with_suffix(".log").open("wb")
        self.process = subprocess.Popen(
            [*before, *in_front(), sys.executable, "-X", "faulthandler", "-m", module, *map(str, arguments)],
            env={name: value for name, value in wanted.items() if value is not None},
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )

    # Seeing

    def read(self) -> list[dict[str, Any]]:
        """Take in what was written since; returns all events so far."""
        if self._trace.exists():
            with self._trace.open("rb") as file:
                file.seek(self._offset)
                data = file.read()
            self._offset += len(data)
            *lines, self._tail = (self._tail + data).split(b"\n")
            self.events += [json.loads(line) for line in lines if line]
        return self.events

    def wait(self, condition: Callable[[list[dict[str, Any]]], bool], what: str, seconds: float = _START) -> None:
        """Wait for something in the trace; raises with the program's output where it does not come."""
        end = time.monotonic() + seconds
        while not condition(self.read()):
            if self.process.poll() is not None:
                raise RuntimeError(f"the program ended ({self.process.returncode}) before {what}\n{self.output()}")
            if time.monotonic() > end:
                raise TimeoutError(f"no {what} in {seconds} s\n{self.events[-5:]}\n{self.output()}")
            time.sleep(0.005)

    def last(self, event: str) -> dict[str, Any]:
        """The newest event of a kind."""
        return next(e for e in reversed(self.events) if e["event"] == event)

    def ready(self) -> bool:
        """Whether the pair that was painted last would take an answer."""
        for event in reversed(self.read()):
            if event["event"] == "ready":
                return bool(self.last("painted")["question"] == event["question"])
            if event["event"] == "changed":
                return False
        return False

    def count(self, event: str, **values: object) -> int:
        """Number of events so far of a kind, with these values."""
        return sum(e["event"] == event and all(e.get(k) == v for k, v in values.items()) for e in self.read())

    def output(self) -> str:
        """What the program wrote to its standard streams."""
        return self._trace.with_suffix(".log").read_text(errors="replace")

    # Doing

    def first_pair(self) -> None:
        """Wait until the first pair can be answered."""
        self.wait(lambda _events: self.ready(), "first pair")

    def keys(self, *names: str) -> None:
        """Press keys, as a keyboard would."""
        self.xdotool("key", "--clearmodifiers", *names)

    def type(self, text: str) -> None:
        """Type a text."""
        self.xdotool("type", "--delay", "8", text)

    def xdotool(self, *arguments: str) -> str:
        """Run xdotool on the program's display."""
        return subprocess.run(
            ["xdotool", *arguments],
            env={**os.environ, "DISPLAY": self._screen},
            capture_output=True,
            text=True,
            check=True,
            timeout=30,
        ).stdout

    def titles(self) -> list[str]:
        """Titles of the visible windows."""
        found = subprocess.run(
            ["xdotool", "search", "--onlyvisible", "--name", "."],
            env={**os.environ, "DISPLAY": self._screen},
            capture_output=True,
            text=True,
            check=False,
        ).stdout.split()
        names = []
        for window in found:
            with contextlib.suppress(subprocess.CalledProcessError):  # closed meanwhile
                names.append(self.xdotool("getwindowname", window).strip())
        return names

    def picture(self, path: Path) -> None:
        """What is on the screen, as PNG."""
        subprocess.run(["scrot", "-o", str(path)], env={**os.environ, "DISPLAY": self._screen}, check=True)

    def quit(self) -> int:
        """Ctrl+Q, as a user would; returns the exit code."""
        self.keys("ctrl+q")
        return self.process.wait(timeout=60)

    def kill(self) -> None:
        """No chance to say goodbye."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def close(self) -> None:
        """Whatever happened, leave no process behind."""
        if self.process.poll() is None:
            self.kill()
        self._log.close()
