"""Memory that was freed goes back to the system."""

from __future__ import annotations

import sys


def give_back() -> None:
    """Have the C library give back what it keeps of freed memory, where it can be told to (glibc on Linux).

    Making and dropping the engine of a large project leaves gigabytes in pieces, which it would keep for later: the
    next project would come on top of them. To be called after such work, not during it: it takes a tenth of a second.
    """
    system: str = sys.platform  # as text: each branch is checked on every system
    if system == "linux":
        import ctypes

        library = ctypes.CDLL(None)
        if hasattr(library, "malloc_trim"):
            library.malloc_trim(0)
