"""Who photo programs say is in a photo: persons and their rectangles, from XMP in the photo or in a side-car beside it.

Understood are the regions of the Metadata Working Group (digiKam, Lightroom, Picasa), those of Microsoft Photo, and
persons without a place (``Iptc4xmpExt:PersonInImage``, which this program writes, too). Pillow reads the packets, by
``defusedxml``, so no entity is ever expanded. The libraries that know XMP itself were no choice: pyexiv2 and its like
are under the GPL and bring 5 MB of machine code, python-xmp-toolkit needs a C library that Windows has not got.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from a3s_desktop.i18n import tr
from a3s_desktop.storage import files
from a3s_desktop.storage.export import field, safe_name, safe_path
from a3s_desktop.storage.keys import Part, split_key
from a3s_desktop.storage.label_file import KnownLabel
from a3s_desktop.task import Task

LARGEST = 4_000_000  # bytes of a packet
_DEPTH = 40
_LEAST_OVERLAP = 0.5  # of a part and a person's rectangle, intersection over union
_NO_PERSON = ("focus", "barcode")
_TURNED = (5, 6, 7, 8)
Share = tuple[float, float, float, float]  # left, top, width, height; of the photo's sides


@dataclass(frozen=True, slots=True)
class Person:
    """A name in a photo.

    Attributes
    ----------
    name : str
    share : tuple of float, or None
        Left, top, width and height as shares of the upright photo; None: somewhere in it.
    """

    name: str
    share: Share | None


def people_in(photo: Path) -> tuple[Person, ...]:
    """The persons that a photo or its side-car names; none where nothing can be read."""
    size, orientation, packets = _packets(photo)
    for packet in packets:  # a side-car is newer than what the photo says
        found = tuple(dict.fromkeys(_people(packet, size, orientation)))
        if found:
            placed = {person.name for person in found if person.share is not None}
            return tuple(person for person in found if person.share is not None or person.name not in placed)
    return ()


def known_people(root: Path, paths: Sequence[str], task: Task) -> tuple[KnownLabel, ...]:
    """What the photos of a project say of its images, as the rows of a list of names.

    A part of a photo is the person whose rectangle covers it best; a whole photo is whoever is in it, and has several
    names where several are.

    Parameters
    ----------
    root : Path
        The image folder.
    paths : sequence of str
        Of the images, relative.
    task : Task
    """
    task.stage(tr("Reading names from the photos"))
    labels: list[KnownLabel] = []
    seen: dict[str, tuple[Person, ...]] = {}
    sizes: dict[str, tuple[int, int] | None] = {}
    for item, path in enumerate(paths):
        task.step(item / max(len(paths), 1))
        name, part = split_key(path)
        photo = root.joinpath(*name.split("/"))
        if name not in seen:
            seen[name] = people_in(photo)
        people: Sequence[Person] = seen[name]
        if people and part is not None:
            if name not in sizes:
                sizes[name] = _upright(photo)
            size = sizes[name]
            people = [] if size is None else _covering(people, part, size)
        where = tr("photo {path}", path=files.show(path))
        labels.extend(KnownLabel(item, path, person.name, "", False, where) for person in people)
    return tuple(labels)


def region_table(root: Path, paths: Sequence[str], task: Task) -> tuple[bytes, int]:
    """All persons that have a rectangle, as a table of parts with names (CSV), and how many they are."""
    task.stage(tr("Reading names from the photos"))
    lines = ["file,x,y,width,height,label"]
    for at, path in enumerate(paths):
        task.step(at / max(len(paths), 1))
        photo = root.joinpath(*path.split("/"))
        people = [person for person in people_in(photo) if person.share is not None]
        size = _upright(photo) if people else None
        for person in people:
            if size is not None and person.share is not None:
                part = ",".join(map(str, _part(person.share, size)))
                lines.append(f"{field(safe_path(path))},{part},{field(safe_name(person.name))}")
    return "\n".join((*lines, "")).encode("utf-8", "backslashreplace"), len(lines) - 1


# ------------------------------------------------------------------------------------------------ packets


def _packets(photo: Path) -> tuple[tuple[int, int], int, list[Any]]:
    """Stored size, orientation, and the packets that speak of a photo, the one that counts most first."""
    from a3s_desktop.storage.picture_opening import opened, orientation_of

    found = [_sidecar(beside) for beside in (photo.with_name(f"{photo.name}.xmp"), photo.with_suffix(".xmp"))]
    size, orientation = (0, 0), 1
    try:
        with opened(photo) as image:
            size = image.size
            orientation = orientation_of(image)
            packet = image.info.get("xmp", b"")
            if packet and len(packet) <= LARGEST:
                found.append(image.getxmp())
    except Exception:  # noqa: BLE001 - decoders and parsers raise anything on damaged files, which then say nothing
        return size, orientation, [packet for packet in found if packet]
    return size, orientation, [packet for packet in found if packet]


def _sidecar(path: Path) -> Any:
    from PIL import Image

    try:
        with open(files.long_path(path), "rb") as file:
            content = file.read(LARGEST + 1)
        carrier = Image.new("1", (1, 1))  # Pillow parses what an image carries
        carrier.info["xmp"] = content
        return carrier.getxmp() if 0 < len(content) <= LARGEST else None
    except Exception:  # noqa: BLE001 - no side-car, or none that can be read
        return None


def _upright(photo: Path) -> tuple[int, int] | None:
    from a3s_desktop.storage.picture import upright_size

    return upright_size(photo)


# ------------------------------------------------------------------------------------------------ regions


def _people(packet: Any, size: tuple[int, int], orientation: int) -> Iterator[Person]:
    nodes = list(_nodes(packet, 0))
    applied = next((_numbers(_flat(node["AppliedToDimensions"]), "wh") for node in nodes
                    if "AppliedToDimensions" in node), None)  # fmt: skip
    upright = orientation in _TURNED and applied is not None and tuple(applied) == (size[1], size[0]) != size
    for node in nodes:
        if "Area" in node and str(node.get("Type", "Face")).lower() not in _NO_PERSON:
            area = _numbers(_flat(node["Area"]), "xywh")
            if area is not None and _text(node.get("Name")):
                x, y, wide, high = area
                share = _checked((x - wide / 2, y - high / 2, wide, high))  # the Working Group gives the middle
                yield Person(_text(node["Name"]), _turned(share, 1 if upright else orientation))
        elif "PersonDisplayName" in node and _text(node["PersonDisplayName"]):
            corner = _four(node.get("Rectangle"))
            yield Person(_text(node["PersonDisplayName"]), None if corner is None else _turned(corner, orientation))
        elif "PersonInImage" in node:
            for name in _listed(node["PersonInImage"]):
                yield Person(name, None)


def _nodes(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    """All structures of a packet; what is wrapped in a description counts as the structure itself."""
    if depth > _DEPTH:
        return
    if isinstance(value, dict):
        flat = _flat(value)
        yield flat
        for child in flat.values():
            yield from _nodes(child, depth + 1)
    elif isinstance(value, list):
        for child in value:
            yield from _nodes(child, depth + 1)


def _flat(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        return {}
    inner = value.get("Description")
    return {**value, **inner} if isinstance(inner, dict) else value


def _listed(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if _text(value):
            yield _text(value)
    elif isinstance(value, list):
        for child in value:
            yield from _listed(child)
    elif isinstance(value, dict):
        for key in ("Bag", "Seq", "Alt", "li", "text"):
            yield from _listed(value.get(key))


def _text(value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("text", "")
    return value.strip() if isinstance(value, str) else ""


def _numbers(node: dict[str, Any], keys: str) -> list[float] | None:
    if str(node.get("unit", "normalized")) not in ("normalized", "pixel"):
        return None
    try:
        values = [float(_text(node.get(key)) or "nan") for key in keys]
    except ValueError:
        return None
    return values if all(math.isfinite(value) for value in values) else None


def _four(value: Any) -> Share | None:
    try:
        x, y, wide, high = (float(part) for part in _text(value).split(","))
    except ValueError:
        return None
    return _checked((x, y, wide, high))


def _checked(share: Share) -> Share | None:
    """Within the photo; None where it has no area there."""
    if not all(math.isfinite(value) for value in share):
        return None
    left, top = max(share[0], 0.0), max(share[1], 0.0)
    right, bottom = min(share[0] + share[2], 1.0), min(share[1] + share[3], 1.0)
    return (left, top, right - left, bottom - top) if right > left and bottom > top else None


def _turned(share: Share | None, orientation: int) -> Share | None:
    """From the stored picture to the upright one, by the EXIF orientation."""
    if share is None or orientation == 1:
        return share
    x, y, wide, high = share
    across, down = 1 - x - wide, 1 - y - high
    return {
        2: (across, y, wide, high),
        3: (across, down, wide, high),
        4: (x, down, wide, high),
        5: (y, x, high, wide),
        6: (down, x, high, wide),
        7: (down, across, high, wide),
        8: (y, across, high, wide),
    }[orientation]


def _part(share: Share, size: tuple[int, int]) -> Part:
    left, top = int(share[0] * size[0]), int(share[1] * size[1])
    return Part(left, top, max(1, round(share[2] * size[0])), max(1, round(share[3] * size[1])))


def _covering(people: Sequence[Person], part: Part, size: tuple[int, int]) -> list[Person]:
    """The person whose rectangle covers a part best, if any does."""
    best, most = None, _LEAST_OVERLAP
    for person in people:
        if person.share is None:
            continue
        other = _part(person.share, size)
        across = min(part.x + part.width, other.x + other.width) - max(part.x, other.x)
        down = min(part.y + part.height, other.y + other.height) - max(part.y, other.y)
        shared = max(across, 0) * max(down, 0)
        overlap = shared / (part.width * part.height + other.width * other.height - shared)
        if overlap >= most:
            best, most = person, overlap
    return [] if best is None else [best]
