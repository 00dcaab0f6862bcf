"""Copies that sync tools leave where two computers changed the same file: found by their names.

Names as the makers document them: Dropbox "journal (Ann's conflicted copy 2026-11-28).sqlite", Nextcloud and ownCloud
"journal (conflicted copy 2026-11-28 101112).sqlite", Syncthing "journal.sync-conflict-20261128-101112-ABCDEFG.sqlite",
OneDrive "journal-HOSTNAME.sqlite", Google Drive "journal (1).sqlite".
"""

from __future__ import annotations

import re
from pathlib import Path

_MARK = (
    r"(?: ?\([^()]{0,80}conflicted copy[^()]{0,80}\)|\.sync-conflict-\d{8}-\d{6}-[A-Z0-9]{1,16}"
    r"| \(\d{1,3}\)|-[A-Za-z0-9][A-Za-z0-9_-]{1,62})"
)
_OWN = re.compile(r".*\.(?:damaged|repaired)\b.*|.*-(?:wal|shm|journal)")


def conflict_copies(folder: Path) -> tuple[Path, ...]:
    """Copies of a project's journal, of its description, and of the whole folder, by name, ascending.

    A folder of another name that ends in "-HOSTNAME" is not told from one that a person named so: it is left out.
    """
    found: list[Path] = []
    for name in ("journal.sqlite", "project.json"):
        stem, _, suffix = name.partition(".")
        pattern = re.compile(re.escape(stem) + _MARK + re.escape(f".{suffix}"), re.IGNORECASE)
        found += [one for one in _in(folder) if pattern.fullmatch(one.name) and not _OWN.fullmatch(one.name)]
    whole = re.compile(re.escape(folder.name) + _MARK.rpartition("|")[0] + ")", re.IGNORECASE)
    found += [one for one in _in(folder.parent) if whole.fullmatch(one.name) and (one / "project.json").is_file()]
    return tuple(sorted(found))


def _in(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []
