"""What every fuzzed parser has in common: how it is run on an input, and what counts as a finding.

A finding is an exception that is not one of the program's own with a sentence, more than `MOST_BYTES` of memory more
than before, more than `MOST_SECONDS` of processor time, or a step outside of the folder that the parser was given:
a file opened for writing there, a program started, a connection opened, a name of a pickle looked up.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from a3s_desktop.errors import A3SError
from a3s_desktop.storage.onnx_file import OnnxFileError
from a3s_desktop.storage.picture import PictureError

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

MOST_BYTES = 1 << 30
MOST_SECONDS = 10.0
LONGEST_SENTENCE = 4000
KNOWN = (A3SError, PictureError, OnnxFileError)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGING = ("os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink", "os.link", "os.truncate", "shutil.rmtree")
_HANDLES = {"os.remove": 1, "os.rmdir": 1}  # where the handle of a folder is among the values
_NEVER = ("socket.connect", "socket.bind", "subprocess.Popen", "os.system", "os.exec", "os.fork", "os.posix_spawn",
          "pickle.find_class", "os.startfile", "ctypes.dlopen")  # fmt: skip


class Outside(BaseException):
    """A parser did something that it must never do; not an `Exception`, so that no reader takes it for damage."""


class NoSentence(Exception):
    """An error of the program's own that says nothing that can be shown."""


@dataclass(frozen=True)
class Parser:
    """One parser under test.

    Attributes
    ----------
    name, what : str
        For the command line; what it reads, in a few words.
    run : callable
        ``run(data, folder)`` gives the input to the reader; ``folder`` is new and empty. Known errors may leave it.
    seeds : callable
        Small inputs that are read well; ``folder`` is for making them.
    words : tuple of bytes
        What the fuzzer may put into inputs.
    longest : int
        Bytes of an input.
    """

    name: str
    what: str
    run: Callable[[bytes, Path], None]
    seeds: Callable[[Path], list[bytes]]
    words: tuple[bytes, ...] = ()
    longest: int = 4096


@dataclass(frozen=True)
class Finding:
    """What was wrong with an input; ``place`` is the same for findings of one kind."""

    place: str
    text: str


@contextlib.contextmanager
def known() -> Iterator[None]:
    """Let the program's own errors pass, so that a parser can go on with its next way to read an input."""
    try:
        yield
    except KNOWN as error:
        check_sentence(error)


def check_sentence(error: Exception) -> None:
    """Raise `NoSentence` where the text of an error is empty, endless, or cannot be shown."""
    text = str(error)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise NoSentence(f"not to be written as UTF-8: {text!r:.300}") from error
    if not text.strip() or len(text) > LONGEST_SENTENCE or any(c < " " for c in text):
        raise NoSentence(f"{len(text)} characters: {text!r:.300}") from error


class Runner:
    """Runs a parser on inputs, each in a folder of its own.

    Parameters
    ----------
    parser : Parser
    base : Path
        Holds the folders; better in memory than on a disk.
    """

    def __init__(self, parser: Parser, base: Path) -> None:
        self.parser = parser
        self._base = base
        self._folders: tuple[Path, ...] = ()
        self._runs = 0
        self._inside = str(base) + os.sep
        self._outside: str | None = None
        self._allowed = _resident() + MOST_BYTES
        self._running = _running()

    def run(self, data: bytes) -> Finding | None:
        """Run the parser on one input."""
        self.close()
        self._runs += 1  # Windows keeps what is still mapped
        given, scratch = self._base / f"given-{self._runs}", self._base / f"scratch-{self._runs}"
        self._folders = (given, scratch)
        for folder in self._folders:
            folder.mkdir()
        before, old = time.process_time(), tempfile.tempdir
        tempfile.tempdir = str(scratch)
        self._outside = None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._running.append(self)
                try:
                    self.parser.run(data, given)
                finally:
                    self._running.clear()
        except KNOWN as error:
            with contextlib.suppress(NoSentence):
                check_sentence(error)
                error = None  # type: ignore[assignment]
            if error is not None:
                return Finding(f"NoSentence {_place(error)}", _whole(error))
        except (Exception, Outside) as error:
            return Finding(f"{type(error).__name__} {_place(error)}", _whole(error))
        finally:
            tempfile.tempdir = old
        return self._excess(time.process_time() - before)

    def close(self) -> None:
        """Remove the folders."""
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)

    def _excess(self, seconds: float) -> Finding | None:
        if self._outside is not None:  # and somebody kept the exception from us
            return Finding(f"Outside {self._outside.split()[0]}", self._outside)
        if seconds > MOST_SECONDS:
            return Finding("Seconds", f"{seconds:.1f} seconds of processor time")
        if _resident_peak() > self._allowed:
            peak = _resident_peak()
            _forget_peak()
            self._allowed = max(self._allowed, _resident_peak() + MOST_BYTES // 2)
            return Finding("Memory", f"{peak >> 20} MB of memory")
        return None

    def look_at(self, event: str, values: tuple[Any, ...]) -> None:
        """Raise `Outside` where the parser does what it must not do; see `sys.addaudithook`."""
        if event == "open":
            path, _, flags = values
            if isinstance(flags, int) and flags & _WRITING:
                self._check(event, path)
        elif event in _CHANGING:
            if any(type(value) is int and value >= 0 for value in values[_HANDLES.get(event, 9) :]):
                return  # below a folder that is open: `shutil.rmtree`, which was looked at itself
            self._check(event, *values[: 2 if event in ("os.rename", "os.link") else 1])
            if event == "os.symlink":
                self._check(event, values[1])
        elif event in _NEVER:
            self._tell(f"{event} {values!r:.200}")

    def _check(self, event: str, *paths: Any) -> None:
        for path in paths:
            if isinstance(path, str | bytes | os.PathLike):
                real = os.path.abspath(os.fsdecode(path))
                if not real.startswith(self._inside) and real != os.devnull:
                    self._tell(f"{event} {real}")

    def _tell(self, what: str) -> None:
        self._outside = self._outside or what
        raise Outside(what)


@functools.cache
def _running() -> list[Runner]:
    """Who runs a parser now; made once, as there is no way to take an audit hook off."""
    running: list[Runner] = []

    def hook(event: str, values: tuple[Any, ...]) -> None:
        if running:
            running[0].look_at(event, values)

    sys.addaudithook(hook)
    return running


def _place(error: BaseException) -> str:
    """The line of the package nearest to an error, and of what was raised below it."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "a3s_desktop" in frame.filename and "tests" not in frame.filename]
    frame = ours[-1] if ours else frames[-1] if frames else None
    return f"{Path(frame.filename).name}:{frame.name}" if frame else "?"


def _whole(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


def _resident() -> int:
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return _resident_peak()


def _resident_peak() -> int:
    if resource is None:
        return 0
    peak = int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return peak if sys.platform == "darwin" else peak * 1024


def _forget_peak() -> None:
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", "ascii")


def name_of(data: bytes) -> str:
    """The file name of an input."""
    return hashlib.sha256(data).hexdigest()[:12]
