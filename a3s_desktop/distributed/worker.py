"""What Dask's workers call."""

from __future__ import annotations

import functools
import importlib.metadata
import os
import pickle
import platform
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from a3s_desktop import __version__


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


def facts(path: str, content: bytes, program: tuple[str, int]) -> Facts:
    """Facts about the process that calls it; where it is not the ``program`` (`this_process`), it is made ready, too.

    Each of a worker's threads computes by itself, so products are not shared among threads, as in `task.at_once`.
    """
    from threadpoolctl import threadpool_limits

    if this_process() != program:
        threadpool_limits(1, user_api="blas")
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


def run_jobs(packed: bytes, jobs: Sequence[Any]) -> tuple[list[Any], float]:
    """Results of some jobs, and the processor seconds that they took.

    Parameters
    ----------
    packed : bytes
        The function, and the data that all jobs share; see `shared.pack`.
    jobs : sequence
    """
    work = _unpacked(packed)
    begun = time.thread_time()
    return [work(job) for job in jobs], time.thread_time() - begun


@functools.lru_cache(maxsize=1)
def _unpacked(packed: bytes) -> Callable[[Any], Any]:
    work: Callable[[Any], Any] = pickle.loads(packed)
    return work


def forget() -> None:
    """Let go of the files that were worked on last."""
    _unpacked.cache_clear()
