"""What Dask's workers call."""

from __future__ import annotations

import ctypes
import functools
import importlib.metadata
import os
import pickle
import platform
import socket
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from a3s_desktop import __version__

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of glibc's mallopt
_KEPT = 32 << 20  # bytes; more than that is given back, as glibc does by itself


@dataclass(frozen=True, slots=True)
class Facts:
    """What must be the same on all computers, and whether this one sees the project.

    Attributes
    ----------
    versions : tuple of (str, str)
        Of the program, Python (without the last number), and libraries.
    sees : bool
        The file that the program wrote into the project is there.
    """

    versions: tuple[tuple[str, str], ...]
    sees: bool


def facts(path: str, content: bytes) -> Facts:
    """Facts about the process that calls it; ``content`` is what the program wrote into the file ``path``."""
    try:
        sees = Path(path).read_bytes() == content
    except OSError:
        sees = False
    python = ".".join(platform.python_version_tuple()[:2])
    libraries = tuple((name, importlib.metadata.version(name)) for name in ("numpy", "scipy", "distributed"))
    return Facts((("a3s-desktop", __version__), ("python", python), *libraries), sees)


def this_process() -> tuple[str, int]:
    """Names this process among those of all computers."""
    return socket.gethostname(), os.getpid()


def run_jobs(packed: bytes, jobs: Sequence[Any], program: tuple[str, int]) -> tuple[list[Any], float]:
    """Results of some jobs, and the processor seconds that they took.

    Parameters
    ----------
    packed : bytes
        The function, and the data that all jobs share; see `shared.pack`.
    jobs : sequence
    program : (str, int)
        The process that they are for (`this_process`); another one is made ready first.
    """
    if this_process() != program:
        _make_ready()
    work = _unpacked(packed)
    begun = time.thread_time()
    return [work(job) for job in jobs], time.thread_time() - begun


@functools.cache
def _make_ready() -> None:
    """Set this process up for much arithmetic, once.

    Each of a worker's threads computes by itself, so products are not shared among threads, as in `task.at_once`. And
    Dask tells the C library to give memory back at once, which doubles the time of the jobs: every array that lives for
    a moment is new memory then, filled with zeros page by page.
    """
    from threadpoolctl import threadpool_limits

    threadpool_limits(1, user_api="blas")
    system: str = sys.platform  # as text: each branch is checked on every system
    if system == "linux":
        library = ctypes.CDLL(None)
        if hasattr(library, "mallopt"):  # glibc's
            library.mallopt(_TRIM_THRESHOLD, _KEPT)
            library.mallopt(_MMAP_THRESHOLD, _KEPT)


@functools.lru_cache(maxsize=1)
def _unpacked(packed: bytes) -> Callable[[Any], Any]:
    work: Callable[[Any], Any] = pickle.loads(packed)
    return work


def forget() -> None:
    """Let go of the files that were worked on last."""
    _unpacked.cache_clear()
