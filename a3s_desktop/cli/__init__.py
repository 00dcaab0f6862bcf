"""The command line. Importing it loads neither Qt nor SciPy nor scikit-learn; each command imports what it needs."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from a3s_desktop.cli.terminal import Console, cancel_on_interrupt
from a3s_desktop.errors import A3SError, Cancelled
from a3s_desktop.storage.files import keep_others_out
from a3s_desktop.storage.pointer import is_pointer

if TYPE_CHECKING:
    import argparse

OK, FAILED, USAGE, CANCELLED = 0, 1, 2, 130

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the program's name; default: those of the process.

    Returns
    -------
    int
        0: done; 1: a known problem, said in one sentence on stderr; 130: cancelled. Wrong usage ends in
        ``SystemExit(2)``, as argparse has it.
    """
    keep_others_out()
    words = list(sys.argv[1:] if argv is None else argv)
    if len(words) == 1 and not words[0].startswith("-") and is_pointer(Path(words[0])):
        words.insert(0, "open")  # a project that was dropped on the program
    # What a desktop starts: the window is there sooner without the parser, which needs NumPy and argparse.
    if not words or (len(words) == 2 and words[0] == "open" and not words[1].startswith("-")):
        from a3s_desktop.cli.showing import show

        _start_logging(verbose=False)
        project = Path(words[1]) if words else None
        return _in_console(lambda _console: show(project))
    return _in_console(_parsed(words))


def _parsed(words: Sequence[str]) -> Callable[[Console], int]:
    from a3s_desktop.cli import windows
    from a3s_desktop.cli.parser import make_parser

    parser = make_parser()
    arguments = parser.parse_args(words)
    if arguments.views_wanted and not arguments.features and not getattr(arguments, "no_embeddings", False):
        more = " or --no-embeddings" if hasattr(arguments, "no_embeddings") else ""
        parser.error(f"at least one feature file is needed (--features FILE{more})")
    if getattr(arguments, "no_embeddings", False) and arguments.features:
        parser.error("--no-embeddings and --features exclude each other")
    _start_logging(arguments.verbose)
    if arguments.self_test is not None:
        arguments.run = windows.self_test
    command: Callable[[argparse.Namespace, Console], int] = arguments.run
    return lambda console: command(arguments, console)


def _in_console(run: Callable[[Console], int]) -> int:
    for stream in (sys.stdout, sys.stderr):
        # File names may hold anything, also what the terminal cannot show.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    with Console() as console:
        return _run(run, console)


def _run(run: Callable[[Console], int], console: Console) -> int:
    try:
        with cancel_on_interrupt(console.task):
            return run(console)
    except (Cancelled, KeyboardInterrupt):
        return CANCELLED
    except A3SError as error:
        console.complain(str(error))
    except BrokenPipeError:
        # Whoever read the output has seen enough; nothing may be written to it at exit either.
        sys.stdout = None
    except MemoryError:
        console.complain("There is not enough memory for this data.")
    except OSError as error:
        name = f" ({error.filename})" if error.filename else ""
        console.complain(f"The system refused: {error.strerror or error}{name}.")
    except Exception as error:
        log.critical("Unexpected error", exc_info=error)
        console.complain(
            f"The program has a fault: {type(error).__name__}: {error}. Run it with --verbose for the details."
        )
    return FAILED


def _start_logging(verbose: bool) -> None:
    """Details go to stderr where they were asked for; else nothing but the commands' own sentences does."""
    package = logging.getLogger("a3s_desktop")
    if not verbose:
        if not package.handlers:
            package.addHandler(logging.NullHandler())
        return
    from a3s_desktop.logs import start_logging

    start_logging(None, logging.INFO)
