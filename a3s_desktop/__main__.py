"""``python -m a3s_desktop``, and the entry point ``a3s-desktop``."""

from __future__ import annotations

import sys

from a3s_desktop.cli import main

__all__ = ["main"]

if __name__ == "__main__":
    if getattr(sys, "frozen", False):
        # In a packaged program the processes of a benchmark come through here.
        import multiprocessing

        multiprocessing.freeze_support()
    sys.exit(main())
