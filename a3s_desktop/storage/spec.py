"""The description of a project to be made, and everything that is checked before anything is written."""

from __future__ import annotations

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
from a3s_desktop.storage import features, files, images, matching
from a3s_desktop.storage.features import FeatureFile
from a3s_desktop.storage.images import ImageProblem
from a3s_desktop.storage.matching import Labels, RowMatch
from a3s_desktop.task import Task

T = TypeVar("T")
_SLACK = 16 << 20  # bytes left free beside the features


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
    order : Path or None
        A file that lists the images in row order.
    labels : Path or None
        True labels, for demos and experiments; the engine never sees them.
    initial, strategy : options of stage one and two
    name : str
        Shown to the user; empty for the folder's name.
    """

    folder: Path
    images: Path
    features: tuple[Path, ...]
    order: Path | None = None
    labels: Path | None = None
    initial: InitialOptions = field(default_factory=InitialOptions)
    strategy: StrategyOptions = field(default_factory=StrategyOptions)
    name: str = ""


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
    scan = attempt(lambda: images.scan_images(spec.images, task))
    if scan is not None and len(scan.paths) < features.MIN_ROWS:
        errors.append(_too_few(spec, len(scan.paths)))
    if not spec.features:
        errors.append(
            InputError("No feature file is given.", "Choose a .npy, .npz or .csv file with one row per image.")
        )
    views: list[FeatureFile] = []
    for path in spec.features:
        view = attempt(functools.partial(features.load_features, path, task))
        if view is not None:
            views.append(view)
    for view in views:
        errors.extend(features.feature_problems(view, task))
    match: RowMatch | None = None
    if scan is not None and scan.paths and views and len(views) == len(spec.features):
        paths, root = scan.paths, str(spec.images)
        match = attempt(lambda: matching.match_rows(paths, views, spec.order, root))
    problems = list(scan.problems) if scan is not None else []
    labels: Labels | None = None
    if match is not None:
        warnings.extend(match.warnings)
        if spec.labels is not None:
            found, source = match.paths, spec.labels
            labels = attempt(lambda: matching.load_labels(source, len(found), found, str(spec.images)))
    if scan is not None and not errors:
        problems.extend(images.probe_images(spec.images, scan.paths, task))
    if problems:
        warnings.append(_placeholders(problems))
    if views:
        attempt(lambda: _check_space(spec, views))
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
    )


def check_target(spec: ProjectSpec) -> None:
    """Raise `ProjectError` where the project folder cannot be made."""
    folder = Path(os.path.abspath(spec.folder))
    where = f"The project folder {files.show(folder)}"
    if os.path.lexists(folder):
        if not folder.is_dir():
            raise ProjectError(f"{where} cannot be made: a file of that name is there.", "Choose another folder.")
        try:
            with os.scandir(folder) as entries:
                filled = any(True for _ in entries)
        except OSError as error:
            raise ProjectError(
                f"{where} cannot be read: {files.cause_of(error)[0]}.", "Choose another folder."
            ) from error
        if filled:
            what = "is a project already" if (folder / "project.json").exists() else "is not empty"
            raise ProjectError(f"{where} {what}.", "Choose a new or empty folder, or open the project that is there.")
    parent = folder.parent
    if not parent.is_dir():
        what = "is a file" if parent.exists() else "does not exist"
        raise ProjectError(
            f"{where} cannot be made: {files.show(parent)} {what}.",
            "Choose a folder that exists, and a new name in it.",
        )
    if not os.access(parent, os.W_OK | os.X_OK):
        raise ProjectError(
            f"{where} cannot be made: there is no permission to write in {files.show(parent)}.",
            "Choose another folder, or change its permissions.",
        )


def _check_space(spec: ProjectSpec, views: list[FeatureFile]) -> None:
    needed = sum(view.values.shape[0] * view.values.shape[1] * 4 for view in views) + _SLACK
    try:
        free = shutil.disk_usage(Path(os.path.abspath(spec.folder)).parent).free
    except OSError:
        return  # `check_target` has said what is wrong with the folder
    if free < needed:
        raise ProjectError(
            f"The drive of {files.show(spec.folder)} has {free >> 20:,} MB free; {(needed >> 20) + 1:,} MB are needed.",
            "Free some space or choose another drive.",
        )


def _too_few(spec: ProjectSpec, count: int) -> InputError:
    found = "no image" if count == 0 else f"only {count} image{'' if count == 1 else 's'}"
    return InputError(
        f"The image folder {files.show(spec.images)} holds {found}; at least {features.MIN_ROWS} are needed.",
        "Choose the folder that holds the images; folders inside it are searched too.",
    )


def _placeholders(problems: list[ImageProblem]) -> str:
    first = problems[0]
    if len(problems) == 1:
        return f"{files.show(first.path)} cannot be shown ({first.reason}); a placeholder takes its place."
    return (
        f"{len(problems):,} files or folders cannot be shown, the first is {files.show(first.path)} ({first.reason}); "
        "placeholders take their places."
    )


def _pairs(paths: tuple[str, ...]) -> tuple[tuple[int, str], ...]:
    count = len(paths)
    rows = np.unique([*range(min(3, count)), *range(max(0, count - 3), count)]).tolist()
    return tuple((int(row), paths[row]) for row in rows)
