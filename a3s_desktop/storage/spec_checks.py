"""The single checks of a project to be made, and what they say."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from a3s_desktop.errors import InputError, ProjectError, StorageFailedError
from a3s_desktop.i18n import markn, number, tr, trn
from a3s_desktop.storage import features, files, images, parts, picture
from a3s_desktop.storage.features import FeatureCheck, FeatureFile
from a3s_desktop.storage.images import ImageProblem, ImageScan
from a3s_desktop.storage.keys import split_key
from a3s_desktop.storage.matching import RowMatch
from a3s_desktop.storage.spec_types import ProjectSpec
from a3s_desktop.task import Task

_SLACK = 16 << 20  # bytes left free beside the features
_DESCRIBED = 12_000  # bytes that the description of an image takes


def check_weights(spec: ProjectSpec) -> None:
    weights = spec.initial.weights
    if not weights:
        return
    count = len(spec.features) or 1
    if len(weights) != count:
        raise InputError(
            trn(
                "There are {weights} weights for {n} feature file.",
                "There are {weights} weights for {n} feature files.",
                count,
                weights=len(weights),
            ),
            tr("Give one weight for each feature file."),
        )
    if not all(0.0 < weight < float("inf") for weight in weights):
        raise InputError(
            tr("The weight of a feature file must be a number above 0."), tr("1 is the weight of each by default.")
        )


def items(spec: ProjectSpec, scan: ImageScan, warnings: list[str]) -> tuple[str, ...]:
    """The keys of the items: the images, or the parts of them that a table names."""
    if spec.parts is None:
        return scan.paths
    table = parts.load_parts(spec.parts, scan.paths, str(spec.images))
    if table.unknown:
        warnings.append(
            tr(
                "The table of rectangles names {count} photos that are not in the folder (or fit "
                "several), the first is {unknown}; they are left out.",
                count=number(len(table.unknown)),
                unknown=files.show(table.unknown[0]),
            )
        )
    if not table.keys:
        raise InputError(
            tr("The table of rectangles {parts} names no image of the folder.", parts=files.show(spec.parts)),
            tr("Choose the folder of the photos, and write their names as they are in it."),
        )
    if spec.parts_differ:
        parts.check_pair_count(table.keys)
    photos = {split_key(key)[0] for key in table.keys}
    bare = next((path for path in scan.paths if path not in photos), None)
    if bare is not None:
        warnings.append(
            tr(
                "{number} photos have no rectangle and are left out, the first is {bare}.",
                number=number(len(scan.paths) - len(photos)),
                bare=files.show(bare),
            )
        )
    return table.keys


def remarks(view: FeatureFile, check: FeatureCheck) -> list[str]:
    remarks = list(view.remarks)
    columns = view.values.shape[1]
    if 0 < check.constant < columns:
        remarks.append(
            trn(
                "{path}: {n} of {columns} column is the same for all images and tell nothing apart.",
                "{path}: {n} of {columns} columns are the same for all images and tell nothing apart.",
                check.constant,
                path=files.show(view.path),
                columns=number(columns),
            )
        )
    return remarks


def left_out(spec: ProjectSpec, match: RowMatch) -> list[str]:
    said = []
    if match.rows_without_image:
        count = len(match.rows_without_image)
        said.append(
            trn(
                "{n} row fits no image and is left out, the first is {first}.",
                "{n} rows fit no image and are left out, the first is {first}.",
                count,
                first=match.rows_without_image[0],
            )
        )
    if match.images_without_row:
        count = len(match.images_without_row)
        if spec.unmatched.images == "leave out":
            texts = markn(
                "{n} image has no row and is left out, the first is {first}.",
                "{n} images have no row and are left out, the first is {first}.",
            )
        else:
            texts = markn(
                "{n} image has no row and is described anew, the first is {first}.",
                "{n} images have no row and are described anew, the first is {first}.",
            )
        said.append(trn(*texts, count, first=files.show(match.images_without_row[0])))
    return said


def probe(spec: ProjectSpec, scan: ImageScan, match: RowMatch | None, task: Task) -> list[ImageProblem]:
    """Which photos cannot be shown, said of each item."""
    items = match.paths if match is not None else scan.paths
    photos = tuple(dict.fromkeys(split_key(key)[0] for key in items)) if spec.parts is not None else scan.paths
    found = {problem.path: problem.reason for problem in images.probe_images(spec.images, photos, task)}
    if spec.parts is None:
        return [ImageProblem(path, reason) for path, reason in found.items()]
    sizes: dict[str, tuple[int, int] | None] = {}
    problems: list[ImageProblem] = []
    for at, key in enumerate(items):
        photo, part = split_key(key)
        if photo in found:
            problems.append(ImageProblem(key, found[photo]))
            continue
        if photo not in sizes:
            task.step(at / len(items))
            sizes[photo] = picture.upright_size(files.long_path(spec.images.joinpath(*photo.split("/"))))
        size = sizes[photo]
        if part is not None and size is not None:
            try:
                picture.inside(part, size)
            except picture.PictureError as error:
                problems.append(ImageProblem(key, str(error)))
    return problems


def check_space(spec: ProjectSpec, views: list[FeatureFile], match: RowMatch | None) -> None:
    needed = sum(view.values.shape[0] * view.values.shape[1] * 4 for view in views) + _SLACK
    if match is not None and (not views or match.missing):
        needed += len(match.paths) * _DESCRIBED
    try:
        free = files.free_bytes(Path(os.path.abspath(spec.folder)).parent)
    except StorageFailedError:
        return  # `check_target` has said what is wrong with the folder
    if free < needed:
        raise ProjectError(
            tr(
                "The drive of {folder} has {free} MB free; {needed} MB are needed.",
                folder=files.show(spec.folder),
                free=number(free >> 20),
                needed=number((needed >> 20) + 1),
            ),
            tr("Free some space or choose another drive."),
        )


def too_few(spec: ProjectSpec, scan: ImageScan) -> InputError:
    count = len(scan.paths)
    found = trn("only {n} image", "only {n} images", count) if count else tr("no image")
    if scan.left_out:
        return InputError(
            tr(
                "The image folder {images} holds {found} that the patterns do not leave out; at least "
                "{min_rows} are needed.",
                images=files.show(spec.images),
                found=found,
                min_rows=features.MIN_ROWS,
            ),
            tr("The patterns leave {left_out} images out: correct them.", left_out=number(scan.left_out)),
        )
    return InputError(
        tr(
            "The image folder {images} holds {found}; at least {min_rows} are needed.",
            images=files.show(spec.images),
            found=found,
            min_rows=features.MIN_ROWS,
        ),
        tr("Choose the folder that holds the images; folders inside it are searched too."),
    )


def too_few_left(match: RowMatch) -> InputError:
    """What to say where nearly everything was left out."""
    return InputError(
        tr(
            "Only {count} images are left; at least {min_rows} are needed.",
            count=len(match.paths),
            min_rows=features.MIN_ROWS,
        ),
        tr("Choose the folder and the features that belong together."),
    )


def placeholders(problems: list[ImageProblem]) -> str:
    first = problems[0]
    if len(problems) == 1:
        return tr(
            "{path} cannot be shown ({reason}); a placeholder takes its place.",
            path=files.show(first.path),
            reason=first.reason,
        )
    return tr(
        "{count} files or folders cannot be shown, the first is {path} ({reason}); placeholders take their places.",
        count=number(len(problems)),
        path=files.show(first.path),
        reason=first.reason,
    )


def pairs(paths: tuple[str, ...]) -> tuple[tuple[int, str], ...]:
    count = len(paths)
    rows = np.unique([*range(min(3, count)), *range(max(0, count - 3), count)]).tolist()
    return tuple((int(row), paths[row]) for row in rows)
