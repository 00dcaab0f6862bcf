"""Images that were moved: found again below another folder, by their path in it, else by what they hold."""

from __future__ import annotations

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.errors import InputError
from a3s_desktop.i18n import tr, trn
from a3s_desktop.storage import files, images
from a3s_desktop.storage.items import Items
from a3s_desktop.storage.keys import part_key, split_key
from a3s_desktop.storage.project_file import PROJECT_FILE, images_facts, items_name
from a3s_desktop.storage.workspace import Workspace
from a3s_desktop.task import Task

Contents = tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]
"""For each item the size of its file in bytes (-1: not known) and a hash of its two ends, uint8 (N, 16)."""

_END = 16 << 10  # bytes of either end that are hashed


@dataclass(frozen=True, slots=True)
class Located:
    """What is below a folder of a project's images.

    Attributes
    ----------
    root : Path
        The image folder to be.
    paths : tuple of str
        The key of each item; it changes where a file was renamed or moved inside.
    by_path, by_content : int
        Photos found where they were below the root, and elsewhere below it by what they hold.
    missing : tuple of str
        Photos that were not found; they stay in the project, as placeholders.
    """

    root: Path
    paths: tuple[str, ...]
    by_path: int
    by_content: int
    missing: tuple[str, ...]

    def text(self) -> str:
        """The outcome in plain sentences."""
        parts = [trn("{n} image was found.", "{n} images were found.", self.by_path + self.by_content)]
        if self.by_content:
            parts.append(
                trn(
                    "{n} of them has another name or place and was known by its content.",
                    "{n} of them have other names or places and were known by their content.",
                    self.by_content,
                )
            )
        if self.missing:
            parts.append(
                trn(
                    "{n} is missing and has a placeholder, the first is {first}. Nothing was dropped.",
                    "{n} are missing and have placeholders, the first is {first}. Nothing was dropped.",
                    len(self.missing),
                    first=files.show(self.missing[0]),
                )
            )
        return " ".join(parts)


def content_of(path: Path) -> tuple[int, bytes] | None:
    """Size and hash of the two ends of a file; None where it cannot be read."""
    try:
        with open(files.long_path(path), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            digest = hashlib.blake2b(file.read(_END), digest_size=16)
            file.seek(max(0, size - _END))
            digest.update(file.read(_END))
    except (OSError, ValueError):  # the latter: a name that no file here can have
        return None
    return size, digest.digest()


def read_contents(root: Path, keys: Iterable[str], task: Task) -> Contents:
    """What files hold, by which they are known again when they are moved. The task gets no stage of its own."""
    keys = tuple(keys)
    sizes, digests = np.full(len(keys), -1, np.int64), np.zeros((len(keys), 16), np.uint8)
    known: dict[str, tuple[int, bytes] | None] = {}
    for at, key in enumerate(keys):
        if at % 64 == 0:
            task.step(at / len(keys))
        photo = split_key(key)[0]
        if photo not in known:
            known[photo] = content_of(root.joinpath(*photo.split("/")))
        found = known[photo]
        if found is not None:
            sizes[at], digests[at] = found[0], np.frombuffer(found[1], np.uint8)
    return sizes, digests


def load_contents(workspace: Workspace) -> Contents:
    """What is known of the items' files."""
    count = len(workspace.items)
    found = workspace.load_stage("contents", mmap=False)
    if found is not None:
        kinds = {name: (array.dtype.str, array.shape) for name, array in found[0].items()}
        if kinds.get("sizes") == ("<i8", (count,)) and kinds.get("digests") == ("|u1", (count, 16)):
            return found[0]["sizes"], found[0]["digests"]
    return np.full(count, -1, np.int64), np.zeros((count, 16), np.uint8)


def find_images(workspace: Workspace, folder: Path, task: Task | None = None) -> Located:
    """Look for a project's images below a folder; writes nothing.

    Parameters
    ----------
    workspace : Workspace
    folder : Path
        Where the image folder is now, or the folder that holds it.
    task : Task, optional

    Raises
    ------
    InputError
        The folder cannot be read, or none of the images is in it.
    Cancelled
    """
    task = task or Task()
    items = workspace.items
    folder = Path(os.path.abspath(folder))
    photos = list(dict.fromkeys(split_key(key)[0] for key in items.paths))
    scan = images.scan_images(folder, task)
    root, there = folder, set(scan.paths)
    inside = f"{items.root.name}/"
    if not any(photo in there for photo in photos) and any(inside + photo in there for photo in photos):
        root, there = folder / items.root.name, {p[len(inside) :] for p in scan.paths if p.startswith(inside)}
    home = {photo: photo for photo in photos if photo in there or _is_file(root, photo)}
    by_path = len(home)
    lost = [photo for photo in photos if photo not in home]
    home.update(_by_content(workspace, root, lost, sorted(there - set(home)), task))
    if not home:
        raise InputError(
            tr("None of the project's images is in {folder}.", folder=files.show(folder)),
            tr("Choose the folder that the images are in now; folders inside it are searched too."),
        )
    paths = tuple(_renamed(key, home) for key in items.paths)
    missing = tuple(photo for photo in photos if photo not in home)
    return Located(root, paths, by_path, len(home) - by_path, missing)


def relink(workspace: Workspace, located: Located) -> None:
    """Make a project's images be where they were found. The project is to be opened anew.

    Raises
    ------
    StorageFailedError
    """
    folder = workspace.folder
    facts: dict[str, Any] = {**workspace.facts, "images": images_facts(located.root, folder)}
    if located.paths != workspace.items.paths:
        items = Items(located.root, located.paths, workspace.items.problems)
        files.atomic_write_text(folder / items_name(workspace.epoch), items.to_json())
    files.atomic_write_text(folder / PROJECT_FILE, json.dumps(facts, ensure_ascii=True, indent=1))


def _is_file(root: Path, photo: str) -> bool:
    return files.long_path(root.joinpath(*photo.split("/"))).is_file()


def _renamed(key: str, home: dict[str, str]) -> str:
    photo, part = split_key(key)
    photo = home.get(photo, photo)
    return photo if part is None else part_key(photo, part)


def _by_content(workspace: Workspace, root: Path, lost: list[str], spare: list[str], task: Task) -> dict[str, str]:
    """New place of photos that are not where they were, among files that are nobody's; of equal files in order."""
    if not lost or not spare:
        return {}
    sizes, digests = load_contents(workspace)
    wanted: dict[tuple[int, bytes], list[str]] = defaultdict(list)
    of_photo: dict[str, int] = {}
    for at, key in enumerate(workspace.items.paths):
        of_photo.setdefault(split_key(key)[0], at)
    for photo in lost:
        at = of_photo[photo]
        if sizes[at] >= 0:
            wanted[int(sizes[at]), digests[at].tobytes()].append(photo)
    known_sizes = {size for size, _ in wanted}
    found: dict[str, str] = {}
    for done, path in enumerate(spare):
        task.step(done / len(spare))
        place = root.joinpath(*path.split("/"))
        try:
            if files.long_path(place).stat().st_size not in known_sizes:
                continue
        except OSError:
            continue
        content = content_of(place)
        if content is not None and wanted.get(content):
            found[wanted[content].pop(0)] = path
    return found
