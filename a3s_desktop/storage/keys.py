"""The keys of items: a photo's path, or a rectangle of it.

The key of a part is the photo's path with the rectangle behind it, as in W3C Media Fragments:
``folder/photo.jpg#xywh=40,20,400,300``. A file that really has such a name comes first.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

_KEY = re.compile(r"(.+)#xywh=(\d{1,9}),(\d{1,9}),(\d{1,9}),(\d{1,9})", re.DOTALL)


class Part(NamedTuple):
    """A rectangle of an upright photo, in its pixels."""

    x: int
    y: int
    width: int
    height: int


def part_key(photo: str, part: Part) -> str:
    """The key of a part of a photo."""
    return f"{photo}#xywh={part.x},{part.y},{part.width},{part.height}"


def split_key(key: str) -> tuple[str, Part | None]:
    """Photo and rectangle of a key; the key itself and None where it has no rectangle."""
    found = _KEY.fullmatch(key) if "#xywh=" in key else None
    if found is None:
        return key, None
    x, y, width, height = (int(number) for number in found.groups()[1:])
    return (found[1], Part(x, y, width, height)) if width and height else (key, None)


def locate_part(path: Path) -> tuple[Path, Part | None]:
    """The file that a path with or without a rectangle means."""
    name, part = split_key(path.name)
    if part is None or path.exists():
        return path, None
    return path.with_name(name), part
