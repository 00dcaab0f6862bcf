"""The description of a project to be made, and everything that is checked before anything is written."""

from __future__ import annotations

import dataclasses
import functools
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np

from a3s_desktop.core.types import InitialOptions, StrategyOptions
from a3s_desktop.errors import A3SError, InputError, ProjectError
from a3s_desktop.i18n import markn, number, tr, trn
from a3s_desktop.storage import features, files, images, matching, parts
from a3s_desktop.storage.embedding_options import EmbeddingOptions
from a3s_desktop.storage.features import FeatureCheck, FeatureFile
from a3s_desktop.storage.images import ImageProblem, ImageScan
from a3s_desktop.storage.keys import split_key
from a3s_desktop.storage.matching import Labels, RowMatch, Unmatched, UnmatchedError
from a3s_desktop.task import Task

T = TypeVar("T")
EMBEDDING = "embedding"  # the folder of a project, or one to be, that holds descriptions of images
_SLACK = 16 << 20  # bytes left free beside the features
_DESCRIBED = 12_000  # bytes that the description of an image takes


@dataclass(frozen=True, slots=True)
class ProjectSpec:
    """What the user asked for.

    Attributes
    ----------
    folder : Path
        The project folder to be made; must not exist, or be empty.
    images : Path
        The image folder.
    features : tuple of Path
        Feature files, one for each view.
        None where the images are to be described by ``embedding``.
    order : Path or None
        A file that lists the images in row order.
    labels : Path or None
        True labels, for demos and experiments; the engine never sees them.
    initial, strategy : options of stage one and two
    name : str
        Shown to the user; empty for the folder's name.
    include, exclude : tuple of str
        Patterns of images to be taken and left out; see `images.scan_images`.
    parts : Path or None
        A table of rectangles: these parts of the photos are the items, photos without one are left out.
    parts_differ : bool
        Two parts of one photo show two individuals (see `parts.same_photo_pairs`).
    unmatched : Unmatched
        What to do with rows without an image and images without a row.
    embedding : EmbeddingOptions
        How images are described where there are no features, or some lack a row.
    """

    folder: Path
    images: Path
    features: tuple[Path, ...]
    order: Path | None = None
    labels: Path | None = None
    initial: InitialOptions = field(default_factory=InitialOptions)
    strategy: StrategyOptions = field(default_factory=StrategyOptions)
    name: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    parts: Path | None = None
    parts_differ: bool = False
    unmatched: Unmatched = field(default_factory=Unmatched)
    embedding: EmbeddingOptions | None = None


@dataclass(frozen=True, slots=True)
class SpecReport:
    """What the check of a `ProjectSpec` found.

    Attributes
    ----------
    errors : tuple of A3SError
        Everything that is in the way, in the order of the form; empty where the project can be made.
    warnings : tuple of str
        Sentences worth reading that are not in the way.
    problems : tuple of ImageProblem
        Images that cannot be shown (they are carried as placeholders), folders that could not be read.
    paths : tuple of str
        Images in row order; empty where they could not be matched.
    how : str
        "order file", "names" or "sorted"; a "sorted" match is to be confirmed by the user.
    pairs : tuple of (int, str)
        Row and image of the first and last three, for that confirmation.
    images, skipped : int
        Images found in the folder; other files.
    rows, columns : int, tuple of int
        Rows of the features; columns of each feature file.
    views : tuple of FeatureFile
    match : RowMatch or None
    labels : Labels or None
    unit_norm : tuple of bool
        For each feature file, whether all rows have length 1.
    rows_without_image, images_without_row : tuple of str
        All of them, whether they are in the way, left out or to be computed.
    """

    errors: tuple[A3SError, ...] = ()
    warnings: tuple[str, ...] = ()
    problems: tuple[ImageProblem, ...] = ()
    paths: tuple[str, ...] = ()
    how: str = ""
    pairs: tuple[tuple[int, str], ...] = ()
    images: int = 0
    skipped: int = 0
    rows: int = 0
    columns: tuple[int, ...] = ()
    views: tuple[FeatureFile, ...] = ()
    match: RowMatch | None = None
    labels: Labels | None = None
    unit_norm: tuple[bool, ...] = ()
    rows_without_image: tuple[str, ...] = ()
    images_without_row: tuple[str, ...] = ()

    @property
    def to_compute(self) -> bool:
        """Whether images are to be described before the project can be made (see `embedding.prepare`)."""
        return self.match is not None and (not self.views or self.match.missing)

    @property
    def ok(self) -> bool:
        """Whether the project can be made."""
        return not self.errors


def check_spec(spec: ProjectSpec, task: Task | None = None) -> SpecReport:
    """Check everything about a project to be made; writes nothing.

    Problems are collected, not raised, so that a form can show all of them at once.

    Raises
    ------
    Cancelled
        The task was cancelled.
    """
    task = task or Task()
    errors: list[A3SError] = []
    warnings: list[str] = []

    def attempt(work: Callable[[], T]) -> T | None:
        try:
            return work()
        except A3SError as error:
            errors.append(error)
            return None

    attempt(lambda: check_target(spec))
    attempt(spec.strategy.check)
    attempt(lambda: _check_weights(spec))
    scan = attempt(lambda: images.scan_images(spec.images, task, spec.include, spec.exclude))
    if scan is not None and len(scan.paths) < features.MIN_ROWS:
        errors.append(_too_few(spec, scan))
    if spec.embedding is not None:
        attempt(spec.embedding.check)
    elif not spec.features:
        errors.append(
            InputError(
                tr("No feature file is given."),
                tr("Choose a .npy, .npz, .csv or .parquet file with one row per image, or have the images described."),
            )
        )
    views: list[FeatureFile] = []
    for path in spec.features:
        view = attempt(functools.partial(features.load_features, path, task))
        if view is not None:
            views.append(view)
    checks = [features.examine(view, task) for view in views]
    for view, check in zip(views, checks, strict=True):
        errors.extend(check.problems)
        warnings.extend(_remarks(view, check))
    items = attempt(lambda: _items(spec, scan, warnings)) if scan is not None and scan.paths else None
    match: RowMatch | None = None
    unmatched: UnmatchedError | None = None
    if items is not None and len(views) == len(spec.features):
        match = attempt(functools.partial(_match, spec, items, views))
        unmatched = next((error for error in errors if isinstance(error, UnmatchedError)), None)
    problems = list(scan.problems) if scan is not None else []
    labels: Labels | None = None
    if match is not None:
        warnings.extend([*match.warnings, *_left_out(spec, match)])
        if len(match.paths) < features.MIN_ROWS:
            errors.append(
                InputError(
                    tr(
                        "Only {count} images are left; at least {min_rows} are needed.",
                        count=len(match.paths),
                        min_rows=features.MIN_ROWS,
                    )
                )
            )
        if spec.labels is not None:
            found, source = match.paths, spec.labels
            labels = attempt(lambda: matching.load_labels(source, len(found), found, str(spec.images)))
    if scan is not None and not errors:
        problems.extend(_probe(spec, scan, match, task))
    if problems:
        warnings.append(_placeholders(problems))
    if views or match is not None:
        attempt(lambda: _check_space(spec, views, match))
    source_of_lists = unmatched or match
    return SpecReport(
        errors=tuple(errors),
        warnings=tuple(warnings),
        problems=tuple(problems),
        paths=match.paths if match else (),
        how=match.how if match else "",
        pairs=_pairs(match.paths) if match else (),
        images=len(scan.paths) if scan else 0,
        skipped=scan.skipped if scan else 0,
        rows=len(views[0].values) if views else 0,
        columns=tuple(int(view.values.shape[1]) for view in views),
        views=tuple(views),
        match=match,
        labels=labels,
        unit_norm=tuple(check.unit_norm for check in checks),
        rows_without_image=_lists(source_of_lists)[0],
        images_without_row=_lists(source_of_lists)[1],
    )


def _lists(source: UnmatchedError | RowMatch | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if source is None:
        return (), ()
    if isinstance(source, UnmatchedError):
        return source.rows, source.images
    return source.rows_without_image, source.images_without_row


def _check_weights(spec: ProjectSpec) -> None:
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


def _items(spec: ProjectSpec, scan: ImageScan, warnings: list[str]) -> tuple[str, ...]:
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


def _match(spec: ProjectSpec, items: tuple[str, ...], views: list[FeatureFile]) -> RowMatch:
    if not views:
        return RowMatch(items, "described", (), ())
    match = matching.match_rows(items, views, spec.order, str(spec.images), spec.unmatched)
    if match.missing and spec.embedding is None:
        raise InputError(
            tr("It was not said how the images without a row are to be described."),
            tr("Choose the built-in description or a model, or leave these images out."),
        )
    if spec.parts is not None and match.how == "sorted":
        return dataclasses.replace(match, how="order file")  # the table of rectangles says the order
    return match


def _remarks(view: FeatureFile, check: FeatureCheck) -> list[str]:
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


def _left_out(spec: ProjectSpec, match: RowMatch) -> list[str]:
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


def _probe(spec: ProjectSpec, scan: ImageScan, match: RowMatch | None, task: Task) -> list[ImageProblem]:
    """Which photos cannot be shown, said of each item."""
    items = match.paths if match is not None else scan.paths
    photos = tuple(dict.fromkeys(split_key(key)[0] for key in items)) if spec.parts is not None else scan.paths
    found = {problem.path: problem.reason for problem in images.probe_images(spec.images, photos, task)}
    if spec.parts is None:
        return [ImageProblem(path, reason) for path, reason in found.items()]
    return [ImageProblem(key, found[photo]) for key in items if (photo := split_key(key)[0]) in found]


def check_target(spec: ProjectSpec) -> None:
    """Raise `ProjectError` where the project folder cannot be made."""
    folder = Path(os.path.abspath(spec.folder))
    where = tr("The project folder {folder}", folder=files.show(folder))
    if os.path.lexists(folder):
        if not folder.is_dir():
            raise ProjectError(
                tr("{where} cannot be made: a file of that name is there.", where=where), tr("Choose another folder.")
            )
        try:
            with os.scandir(folder) as entries:  # descriptions of images may wait there to be used
                filled = any(entry.name != EMBEDDING for entry in entries)
        except OSError as error:
            raise ProjectError(
                tr("{where} cannot be read: {cause}.", where=where, cause=files.cause_of(error)[0]),
                tr("Choose another folder."),
            ) from error
        if filled:
            if (folder / "project.json").exists():
                text = tr("{where} is a project already.", where=where)
            else:
                text = tr("{where} is not empty.", where=where)
            raise ProjectError(text, tr("Choose a new or empty folder, or open the project that is there."))
    parent = folder.parent
    if not parent.is_dir():
        what = tr("is a file") if parent.exists() else tr("does not exist")
        raise ProjectError(
            tr("{where} cannot be made: {parent} {what}.", where=where, parent=files.show(parent), what=what),
            tr("Choose a folder that exists, and a new name in it."),
        )
    if not os.access(parent, os.W_OK | os.X_OK):
        raise ProjectError(
            tr(
                "{where} cannot be made: there is no permission to write in {parent}.",
                where=where,
                parent=files.show(parent),
            ),
            tr("Choose another folder, or change its permissions."),
        )


def _check_space(spec: ProjectSpec, views: list[FeatureFile], match: RowMatch | None) -> None:
    needed = sum(view.values.shape[0] * view.values.shape[1] * 4 for view in views) + _SLACK
    if match is not None and (not views or match.missing):
        needed += len(match.paths) * _DESCRIBED
    try:
        free = shutil.disk_usage(Path(os.path.abspath(spec.folder)).parent).free
    except OSError:
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


def _too_few(spec: ProjectSpec, scan: ImageScan) -> InputError:
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


def _placeholders(problems: list[ImageProblem]) -> str:
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


def _pairs(paths: tuple[str, ...]) -> tuple[tuple[int, str], ...]:
    count = len(paths)
    rows = np.unique([*range(min(3, count)), *range(max(0, count - 3), count)]).tolist()
    return tuple((int(row), paths[row]) for row in rows)
