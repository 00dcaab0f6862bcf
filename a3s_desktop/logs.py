"""The log file and what happens when the program breaks: nothing is swallowed, nothing is shown twice.

Qt's own messages are routed here by the window, since only ``ui`` may know Qt; see `qt_level`.
"""

from __future__ import annotations

import contextlib
import faulthandler
import logging
import logging.handlers
import platform
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from a3s_desktop import __version__
from a3s_desktop.printable import escaped

MAX_BYTES = 1_000_000
KEEP = 5
FORMAT = "%(asctime)s %(levelname)-7s %(threadName)s %(name)s: %(message)s"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Crash:
    """A bug that reached the top.

    Attributes
    ----------
    summary : str
        Kind and message of the exception, one line.
    details : str
        Versions and the traceback, to be copied into a report. Contains no image names of its own.
    """

    summary: str
    details: str


@dataclass(slots=True)
class LogFile:
    """What `start_logging` set up; `close` undoes it.

    ``path`` is None where no file could be written; the log then goes to stderr only.
    """

    path: Path | None
    handlers: list[logging.Handler]
    faults: TextIO | None = None

    def close(self) -> None:
        """Detach and close the handlers."""
        root = logging.getLogger()
        for handler in self.handlers:
            root.removeHandler(handler)
            with contextlib.suppress(OSError):  # a full disk: the last lines are lost, the program ends all the same
                handler.close()
        self.handlers.clear()
        if self.faults is not None:
            faulthandler.disable()
            self.faults.close()
            self.faults = None


def start_logging(folder: Path | None, level: int = logging.INFO, *, console: bool = False) -> LogFile:
    """Log to a rotating file in ``folder``.

    Parameters
    ----------
    folder : Path or None
        Created if absent; None logs to stderr only. A folder that cannot be written does not stop the program.
    level : int
    console : bool
        Also log to stderr.

    Notes
    -----
    Hard crashes (in native code) write their traceback to ``crash.log`` beside it, since Python can log no more then.
    """
    root = logging.getLogger()
    root.setLevel(level)
    result = LogFile(None, [])
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / "a3s-desktop.log"
            file_handler = logging.handlers.RotatingFileHandler(
                path, maxBytes=MAX_BYTES, backupCount=KEEP, encoding="utf-8", errors="backslashreplace"
            )
            result.handlers.append(file_handler)
            result.path = path
            result.faults = (folder / "crash.log").open("a", encoding="utf-8")
            faulthandler.enable(result.faults)
        except OSError as error:
            console = True
            _log.warning("no log file in %s: %s", folder, error)
    if console or folder is None:
        result.handlers.append(logging.StreamHandler(sys.stderr))
    for handler in result.handlers:
        handler.setFormatter(_PlainFormatter(FORMAT))
        root.addHandler(handler)
    # platform.platform() would start a program of the system, and read the C library.
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    _log.info("A3S Desktop %s, Python %s, %s", __version__, platform.python_version(), system)
    return result


class _PlainFormatter(logging.Formatter):
    """One line for each entry: what a file name brings along can neither begin another nor act in a terminal.

    A traceback has its lines, moved in, so that none of them can pass for an entry.
    """

    def format(self, record: logging.LogRecord) -> str:
        """One entry."""
        kept, record.exc_text = record.exc_text, None  # what another formatter left there
        try:
            return super().format(record)
        finally:
            record.exc_text = kept

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the standard library's name
        return escaped(super().formatMessage(record))

    def formatException(self, ei: Any) -> str:  # noqa: N802
        return _moved_in(super().formatException(ei))

    def formatStack(self, stack_info: str) -> str:  # noqa: N802
        return _moved_in(super().formatStack(stack_info))


def _moved_in(text: str) -> str:
    return "\n".join(f"  {line}" for line in escaped(text, lines=True).split("\n"))


def describe_crash(
    kind: type[BaseException], error: BaseException | None, trace: TracebackType | None, where: str = ""
) -> Crash:
    """Put an exception into words and details for a report."""
    summary = traceback.format_exception_only(kind, error)[-1].strip()
    head = f"A3S Desktop {__version__}, Python {platform.python_version()}, {platform.platform()}"
    body = "".join(traceback.format_exception(kind, error, trace))
    return Crash(summary, f"{head}\n{where}\n{body}" if where else f"{head}\n{body}")


@contextlib.contextmanager
def crash_hooks(on_crash: Callable[[Crash], None] | None = None) -> Iterator[None]:
    """Log every exception that nobody caught, on any thread, and tell ``on_crash`` of it.

    ``on_crash`` is called on the thread that broke and must do no more than hand the crash over (emit a signal).
    An error inside ``on_crash`` is logged. The former hooks are put back at the end.
    """
    former, former_thread = sys.excepthook, threading.excepthook

    def report(kind: type[BaseException], error: BaseException | None, trace: TracebackType | None, where: str) -> None:
        if issubclass(kind, KeyboardInterrupt):
            former(kind, error or kind(), trace)
            return
        exception = error if error is not None else kind()
        _log.critical("Unexpected error %s", where, exc_info=(kind, exception, trace))
        if on_crash is None:
            return
        try:
            on_crash(describe_crash(kind, error, trace, where))
        except Exception:
            _log.exception("The crash could not be shown")

    def main_hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        report(kind, error, trace, "")

    def thread_hook(args: threading.ExceptHookArgs) -> None:
        if args.exc_type is not SystemExit:
            name = args.thread.name if args.thread is not None else "?"
            report(args.exc_type, args.exc_value, args.exc_traceback, f"in thread {name}")

    sys.excepthook = main_hook
    threading.excepthook = thread_hook
    try:
        yield
    finally:
        sys.excepthook, threading.excepthook = former, former_thread


def log_tail(path: Path | None, lines: int = 60) -> str:
    """The last lines of the log file, for "copy details"; "" where there is none."""
    if path is None:
        return ""
    try:
        with path.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - 200 * lines))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return ""
    return "\n".join(text.splitlines()[-lines:])


def qt_level(name: str) -> int:
    """Logging level for a Qt message type ("QtDebugMsg", "QtWarningMsg", …)."""
    levels = {"QtDebugMsg": logging.DEBUG, "QtInfoMsg": logging.INFO, "QtWarningMsg": logging.WARNING}
    return levels.get(name, logging.ERROR)
