"""The program with a clock that can be set while it runs: the file in ``A3S_TEST_CLOCK`` holds seconds to be added."""

from __future__ import annotations

import os
import runpy
import time
from pathlib import Path

_true = time.time
_file = Path(os.environ["A3S_TEST_CLOCK"])


def _shown() -> float:
    return _true() + float(_file.read_text())


time.time = _shown
runpy.run_module("a3s_desktop", run_name="__main__", alter_sys=True)
