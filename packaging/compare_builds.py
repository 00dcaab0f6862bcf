#!/usr/bin/env python3
"""Compares the contents of two builds: ``compare_builds.py contents.txt other/contents.txt``.

The same source on the same system must give the same files with the same bytes, but for `EXCEPTIONS`.
"""

from __future__ import annotations

import sys
from fnmatch import fnmatch
from pathlib import Path

EXCEPTIONS = {
    "doc/pictures/*": "pictures of the running program show its speed and the time of day",
}


def read(path: Path) -> dict[str, str]:
    """Path inside the bundle, and what is known of the file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return {line.partition("  ")[2] if line.startswith("link ") else line.split(maxsplit=2)[2]: line for line in lines}


def main() -> int:
    first, second = (read(Path(name)) for name in sys.argv[1:3])
    only = sorted(first.keys() ^ second.keys())
    different = sorted(path for path in first.keys() & second.keys() if first[path] != second[path])
    excused = [path for path in different if any(fnmatch(path, pattern) for pattern in EXCEPTIONS)]
    wrong = [path for path in different if path not in excused]
    print(f"{len(first)} and {len(second)} files")
    print(f"in one only: {len(only)}; different: {len(wrong)}; different and excused: {len(excused)}")
    for path in (*only, *wrong):
        print(f"  {path}")
    return 1 if only or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
