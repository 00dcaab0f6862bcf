"""Copies that sync tools leave where two computers changed the same file: found by their names, and put away.

Names as the makers document them: Dropbox "journal (Ann's conflicted copy 2026-11-28).sqlite", Nextcloud and ownCloud
"journal (conflicted copy 2026-11-28 101112).sqlite", Syncthing "journal.sync-conflict-20261128-101112-ABCDEFG.sqlite",
OneDrive "journal-HOSTNAME.sqlite", Google Drive "journal (1).sqlite".
"""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

from a3s_desktop.errors import StorageFailedError
from a3s_desktop.i18n import tr
from a3s_desktop.storage import files
from a3s_desktop.storage.backup_file import JOURNAL
from a3s_desktop.storage.lock import project_lock
from a3s_desktop.storage.project_file import PROJECT_FILE
from a3s_desktop.storage.sqlite import LOG, UNDO, beside
from a3s_desktop.strict_json import parse_json

NOTES = "conflicts.json"
_MARK = (
    r"(?: ?\([^()]{0,80}conflicted copy[^()]{0,80}\)|\.sync-conflict-\d{8}-\d{6}-[A-Z0-9]{1,16}"
    r"| \(\d{1,3}\)|-[A-Za-z0-9][A-Za-z0-9_-]{1,62})"
)
_OWN = re.compile(r".*\.(?:damaged|repaired|merged)\b.*|.*-(?:wal|shm|journal)")


def conflict_copies(folder: Path) -> tuple[Path, ...]:
    """Copies of a project's journal, of its description, and of the whole folder, by name, ascending.

    A folder of another name that ends in "-HOSTNAME" is not told from one that a person named so: it is left out.
    """
    found: list[Path] = []
    for name in (JOURNAL, PROJECT_FILE):
        stem, _, suffix = name.partition(".")
        pattern = re.compile(re.escape(stem) + _MARK + re.escape(f".{suffix}"), re.IGNORECASE)
        found += [one for one in files.children(folder) if pattern.fullmatch(one.name) and not _OWN.fullmatch(one.name)]
    whole = re.compile(re.escape(folder.name) + _MARK.rpartition("|")[0] + ")", re.IGNORECASE)
    others = files.children(folder.parent)
    found += [one for one in others if whole.fullmatch(one.name) and (one / PROJECT_FILE).is_file()]
    return tuple(sorted(found))


def undecided(folder: Path) -> tuple[Path, ...]:
    """Those of the copies that nobody said to keep apart, or that were changed since."""
    notes = _notes(folder)
    return tuple(copy for copy in conflict_copies(folder) if notes.get(copy.name) != _size(copy))


def holds_answers(copy: Path) -> bool:
    """Whether a copy is a journal or a whole project, which can be merged; a description holds none."""
    return copy.suffix.lower() != Path(PROJECT_FILE).suffix


def keep_apart(folder: Path, copy: Path) -> None:
    """Note that a copy is to stay what and where it is, so that it is not asked about again.

    Raises
    ------
    StorageFailedError
    """
    there = {one.name for one in conflict_copies(folder)}
    notes = {name: size for name, size in _notes(folder).items() if name in there} | {copy.name: _size(copy)}
    files.atomic_write_text(folder / NOTES, json.dumps({"apart": notes}, indent=1))


def set_aside(folder: Path, copy: Path) -> Path:
    """Rename a copy whose answers are in the project now, so that it is none any more; nothing is deleted.

    Returns
    -------
    Path
        A journal stays in the project folder, a whole project beside it.

    Raises
    ------
    ProjectLockedError
        The copy is open in another window.
    StorageFailedError
    """
    stem, suffix = (folder.name, "") if copy.is_dir() else (Path(JOURNAL).stem, Path(JOURNAL).suffix)
    if copy.is_dir():
        lock = project_lock(copy)
        lock.acquire()
        lock.release()
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    number = 0
    while (target := copy.with_name(f"{stem}.merged-{stamp}{f'-{number}' if number else ''}{suffix}")).exists():
        number += 1
    try:
        for companion in (LOG, UNDO, "") if suffix else ("",):  # the file that is looked for is the last
            if beside(copy, companion).exists():
                files.rename_new(beside(copy, companion), beside(target, companion))
        files.sync_folder(target.parent)
    except OSError as error:
        cause, hint = files.cause_of(error)
        raise StorageFailedError(
            tr("The copy {name} was not moved aside: {cause}.", name=files.show(copy.name), cause=cause), hint
        ) from error
    return target


def _notes(folder: Path) -> dict[str, int]:
    try:
        found = parse_json(files.read_bytes(folder / NOTES) or b"{}")["apart"]
        return {str(name): int(size) for name, size in found.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}  # they are asked about once more


def _size(copy: Path) -> int:
    """Bytes of the file, or of the journal of a whole project; -1 where it cannot be told."""
    try:
        return (copy / JOURNAL if copy.is_dir() else copy).stat().st_size
    except OSError:
        return -1
