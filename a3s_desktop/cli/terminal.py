"""What the command line says and hears: text, progress on stderr, Ctrl+C."""

from __future__ import annotations

import contextlib
import shutil
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Self, TextIO

from a3s_desktop.printable import escaped
from a3s_desktop.task import Progress, Task


class Console:
    """Text for the person or program that gave the command; a context manager.

    Attributes
    ----------
    task : Task
        Its progress is drawn on one line of stderr where that is a terminal, and nowhere else.
    """

    def __init__(self) -> None:
        # A program without a console, as Windows starts it from the menu, has no streams at all.
        self._line = ProgressLine() if sys.stderr is not None and sys.stderr.isatty() else None
        self.task = Task(self._line.show if self._line else None)

    def say(self, text: str) -> None:
        """One line on stdout."""
        self._write(sys.stdout, text)

    def complain(self, text: str) -> None:
        """One sentence on stderr."""
        self._write(sys.stderr, f"a3s-desktop: {text}")

    def note(self, text: str) -> None:
        """One sentence on stderr that is worth reading, but in nobody's way."""
        self.complain(f"Note: {text}")

    def tell(self, text: str) -> None:
        """One line of a log of long work, on stderr."""
        self._write(sys.stderr, text)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._clear()

    def _write(self, stream: TextIO | None, text: str) -> None:
        self._clear()
        if stream is not None:
            stream.write(escaped(text, lines=True) + "\n")
            stream.flush()

    def _clear(self) -> None:
        if self._line is not None:
            self._line.clear()


class ProgressLine:
    """One line that is drawn over and over."""

    def __init__(self) -> None:
        self._shown = ""

    def show(self, progress: Progress) -> None:
        """Draw a report instead of the one before."""
        text = escaped(progress_text(progress))[: shutil.get_terminal_size().columns - 1]
        sys.stderr.write("\r" + text + " " * max(0, len(self._shown) - len(text)))
        sys.stderr.flush()
        self._shown = text

    def clear(self) -> None:
        """Leave an empty line."""
        if self._shown:
            sys.stderr.write("\r" + " " * len(self._shown) + "\r")
            sys.stderr.flush()
            self._shown = ""


def progress_text(progress: Progress) -> str:
    """ "2 of 5 · Comparing images · 40 % · about 12 s left"; what is not known is left out."""
    parts = [progress.stage]
    if progress.count:
        parts.insert(0, f"{progress.index + 1} of {progress.count}")
    if progress.fraction > 0.0:
        parts.append(f"{round(100 * progress.fraction)} %")
    if progress.seconds_left is not None:
        parts.append(f"about {max(1, round(progress.seconds_left))} s left")
    return " · ".join(parts)


@contextlib.contextmanager
def cancel_on_interrupt(task: Task) -> Iterator[None]:
    """The first Ctrl+C asks ``task`` to stop in good order, the second one stops at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        del number, frame
        if task.cancelled:
            raise KeyboardInterrupt
        task.cancel()

    former = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, former)
