"""Freed memory goes back to the system."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import numpy as np
import pytest

from a3s_desktop.memory import give_back


def resident() -> int:
    """Memory of this process that is no file's, bytes."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon:"))


@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="only glibc can be told to"
)
def test_what_was_freed_in_pieces_goes_back() -> None:
    before = resident()
    pieces = [np.full(100_000, 1, np.uint8) for _ in range(3000)]
    kept = pieces[::50]  # between the others, so that freeing alone gives nothing back
    pieces.clear()
    give_back()
    assert resident() - before < 60_000_000
    assert all(piece[0] == 1 for piece in kept)
