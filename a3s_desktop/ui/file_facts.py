"""What is known of an image file besides its picture, in lines to be read. Reads the disk: never on the GUI thread."""

from __future__ import annotations

import datetime
import os
from dataclasses import dataclass
from pathlib import Path

from a3s_desktop.i18n import decimal, number, tr

_EXIF_FOLDER, _EXIF_TAKEN, _EXIF_CHANGED = 0x8769, 0x9003, 0x0132
_UNITS = ("kB", "MB", "GB")


@dataclass(frozen=True, slots=True)
class FileFacts:
    """Facts of one file.

    Attributes
    ----------
    size : int
        Bytes; -1 where the file cannot be read.
    taken : datetime or None
        When the photo was taken, by its own EXIF data.
    changed : datetime or None
        When the file was last written.
    """

    size: int = -1
    taken: datetime.datetime | None = None
    changed: datetime.datetime | None = None


def read_facts(path: Path) -> FileFacts:
    """Look at a file; one that has gone or cannot be read gives facts without values."""
    try:
        found = os.stat(path)
        changed = datetime.datetime.fromtimestamp(found.st_mtime).astimezone()
    except (OSError, ValueError, OverflowError):
        return FileFacts()
    return FileFacts(found.st_size, _taken(path), changed)


def fact_lines(name: str, folder: str, pixels: tuple[int, int] | None, facts: FileFacts) -> tuple[str, ...]:
    """Lines for a person: name, folder, size, date.

    Parameters
    ----------
    name, folder : str
        Of the file; the folder relative to the image folder, "" for that folder itself.
    pixels : (width, height) or None
        None while not known.
    facts : FileFacts
    """
    size = f"{number(pixels[0])} × {number(pixels[1])}" if pixels else ""
    lines = [name, folder or tr("in the image folder itself")]
    if facts.size < 0:
        return (*lines, " · ".join(part for part in (size, tr("the file cannot be read now")) if part))
    lines.append(" · ".join(part for part in (size, byte_text(facts.size)) if part))
    if facts.taken is not None:
        lines.append(tr("taken {date}", date=facts.taken.strftime("%Y-%m-%d %H:%M:%S")))
    elif facts.changed is not None:
        lines.append(tr("file of {date}", date=facts.changed.strftime("%Y-%m-%d %H:%M")))
    return tuple(lines)


def byte_text(count: int) -> str:
    """A number of bytes as people write it: "840 bytes", "3.2 MB"."""
    if count < 1000:
        return tr("{n} bytes", n=count)
    value, unit = count / 1000.0, 0
    while value >= 999.5 and unit + 1 < len(_UNITS):
        value, unit = value / 1000.0, unit + 1
    return f"{decimal(value) if value < 99.5 else number(round(value))} {_UNITS[unit]}"


def _taken(path: Path) -> datetime.datetime | None:
    from a3s_desktop.storage.picture_opening import exif_of, opened

    try:
        with opened(path) as image:
            exif = exif_of(image)
            text = exif.get_ifd(_EXIF_FOLDER).get(_EXIF_TAKEN) or exif.get(_EXIF_CHANGED)
        return datetime.datetime.strptime(str(text).strip("\0 "), "%Y:%m:%d %H:%M:%S") if text else None
    except Exception:  # noqa: BLE001 - decoders raise anything on broken files; a date is only a convenience
        return None
