"""One folder for each cluster, with its images copied or linked. The whole appears at once, or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from a3s_desktop.core.types import IntArray
from a3s_desktop.errors import InputError, StorageFailedError
from a3s_desktop.i18n import number, tr, trn
from a3s_desktop.storage import files
from a3s_desktop.storage.exports.safe_names import UniqueNames
from a3s_desktop.storage.exports.state import ExportOptions, ExportState, How, TargetExistsError, Written
from a3s_desktop.storage.items import Items, is_inside
from a3s_desktop.storage.keys import Part
from a3s_desktop.storage.picture import PictureError, read_picture
from a3s_desktop.task import Task

MARGIN = 64_000_000
"""Bytes of the drive that must stay free."""

_NO_LINKS = (errno.EPERM, errno.EXDEV, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EINVAL)
_QUALITY = 95


@dataclass(frozen=True, slots=True)
class _Place:
    """An image and where it goes: folder and name below the target."""

    item: int
    source: Path
    part: Part | None
    folder: str
    name: str
    size: int


def write_folders(state: ExportState, out: Path, _overwrite: bool, options: ExportOptions, task: Task) -> Written:
    """Fill the new folder ``out`` with one folder for each cluster.

    Images that are parts of photos are cut out when copied, and lead to their photo when linked. What cannot be read
    is left out and listed.

    Raises
    ------
    TargetExistsError
        ``out`` is there and not empty; it is never emptied.
    InputError
        There is nothing to write, or too little room.
    StorageFailedError, Cancelled
    """
    _check_target(out)
    task.plan(2)
    task.stage(tr("Looking for the images"))
    places, missing = _places(state, options, task)
    if not places:
        raise InputError(
            tr("None of the images is there now.") if missing else tr("There is nothing to export with these options."),
            tr("Connect the drive with the images.") if missing else tr("Take single images in, too."),
        )
    if options.how is How.COPY:
        _check_room(out.parent, sum(place.size for place in places))
    task.stage(tr("Copying the images") if options.how is How.COPY else tr("Linking the images"))
    with files.atomic_folder(out) as temporary:
        for folder in dict.fromkeys(place.folder for place in places):
            files.make_folder(files.long_path(temporary / folder))
        done = 0
        for at, place in enumerate(places):
            task.step(at / len(places))
            try:
                _put(place, temporary, out, options.how, task)
            except (PictureError, InputError) as error:
                missing.append(f"{state.items.paths[place.item]}: {error}")
            else:
                done += 1
        if not done:
            raise InputError(tr("None of the images can be read."), missing[0])
    return Written(out, done, tuple(missing))


def _check_target(out: Path) -> None:
    path = files.long_path(out)
    if not os.path.lexists(path):
        return
    if path.is_symlink() or not path.is_dir() or any(path.iterdir()):
        raise TargetExistsError(
            out,
            tr("{path} is there already and not empty.", path=files.show(out)),
            tr("Choose a new folder: nothing that is there is ever replaced."),
        )


def _groups(state: ExportState, options: ExportOptions) -> Iterator[tuple[str, IntArray]]:
    clusters = state.clusters()
    width = len(str(max((cluster for cluster, _ in clusters), default=0)))
    for cluster, members in clusters:
        name = state.names.get(cluster, "") if options.by_name else ""
        yield name or tr("cluster {number}", number=f"{cluster:0{width}}"), members
    if options.singles and len(state.singles()):
        yield tr("single images"), state.singles()
    if options.junk and len(state.junk()):
        yield tr("junk"), state.junk()


def _places(state: ExportState, options: ExportOptions, task: Task) -> tuple[list[_Place], list[str]]:
    folders = UniqueNames()
    places: list[_Place] = []
    missing: list[str] = []
    groups = list(_groups(state, options))
    for at, (title, members) in enumerate(groups):
        task.step(at / len(groups))
        folder, names = folders.take(title), UniqueNames()
        photos: set[Path] = set()
        for item in members.tolist():
            task.check()
            source, part = _source(state.items, item)
            try:
                size = os.stat(source).st_size
            except OSError as error:
                missing.append(f"{state.items.paths[item]}: {files.cause_of(error)[0]}")
                continue
            if part is not None and options.how is not How.COPY:
                if source in photos:
                    continue  # another part of it is in this cluster: one link is enough
                photos.add(source)
            name = names.take(_name(state.items, item, cut=part is not None and options.how is How.COPY))
            places.append(_Place(item, source, part, folder, name, size))
    return places, missing


def _source(items: Items, item: int) -> tuple[Path, Part | None]:
    if not is_inside(items.paths[item]):  # was checked when the project was opened; nothing may lead out of the folder
        raise InputError(tr("{path} leads out of the image folder.", path=files.show(items.paths[item])))
    return items.photo(item), items.part(item)


def _name(items: Items, item: int, cut: bool) -> str:
    name = PurePosixPath(items.photo(item).name)
    part = items.part(item)
    if not cut or part is None:
        return name.name
    return f"{name.stem} ({part.x}, {part.y}, {part.width} x {part.height}).jpg"


def _check_room(folder: Path, needed: int) -> None:
    free = files.free_bytes(folder)
    if needed + MARGIN > free:
        raise InputError(
            tr(
                "The images need {needed} MB, but only {free} MB are free there.",
                needed=number(-(-(needed + MARGIN) // 1_000_000)),
                free=number(free // 1_000_000),
            ),
            tr("Choose another drive, or link the images instead of copying them."),
        )


def _put(place: _Place, temporary: Path, out: Path, how: How, task: Task) -> None:
    target = files.long_path(temporary / place.folder / place.name)
    if how is How.COPY:
        if place.part is not None:
            _cut_out(place, target)
        else:
            files.copy_plain(place.source, target, task.check)
        return
    try:
        if how is How.HARD_LINK:
            files.hard_link(place.source, target)
        else:
            files.symlink(_leading_to(place.source, out / place.folder), target)
    except OSError as error:
        if error.errno in _NO_LINKS or getattr(error, "winerror", None) == 1314:
            raise StorageFailedError(
                tr("The images cannot be linked there: this drive, or your account, does not allow it."),
                tr("Choose a folder on the images' own drive, or copy the images."),
            ) from error
        raise


def _leading_to(source: Path, folder: Path) -> str:
    """A relative way, which survives when all of it is moved together; an absolute one to another drive."""
    source = Path(os.path.abspath(source))
    try:
        # From where the folder really is: ".." at its end is not where a symbolic link came from.
        return os.path.relpath(source, folder.parent.parent.resolve() / folder.parent.name / folder.name)
    except ValueError:
        return str(source)


def _cut_out(place: _Place, target: Path) -> None:
    from io import BytesIO

    from PIL import Image

    picture = read_picture(place.source, part=place.part)
    memory = BytesIO()
    Image.fromarray(picture.opaque()).save(memory, "JPEG", quality=_QUALITY)
    files.write_scratch(target, memory.getvalue())


def left_out_text(written: Written) -> str:
    """How many images were left out, and the first of them; empty where none was."""
    if not written.left_out:
        return ""
    return trn(
        "{n} image could not be read and was left out: {first}",
        "{n} images could not be read and were left out, the first: {first}",
        len(written.left_out),
        first=written.left_out[0],
    )
