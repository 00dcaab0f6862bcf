"""Everything that is checked about a project to be made before anything is written."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from a3s_desktop.errors import A3SError, InputError, ProjectError
from a3s_desktop.i18n import tr
from a3s_desktop.storage import features, files, images, matching, spec_checks
from a3s_desktop.storage.features import FeatureFile
from a3s_desktop.storage.matching import Labels, RowMatch, UnmatchedError
from a3s_desktop.storage.spec_types import ProjectSpec, SpecReport
from a3s_desktop.task import Task

__all__ = ["EMBEDDING", "ProjectSpec", "SpecReport", "check_spec", "check_target"]

T = TypeVar("T")
EMBEDDING = "embedding"  # the folder of a project, or one to be, that holds descriptions of images


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
    attempt(lambda: spec_checks.check_weights(spec))
    scan = attempt(lambda: images.scan_images(spec.images, task, spec.include, spec.exclude))
    if scan is not None and len(scan.paths) < features.MIN_ROWS:
        errors.append(spec_checks.too_few(spec, scan))
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
        warnings.extend(spec_checks.remarks(view, check))
    items = attempt(lambda: spec_checks.items(spec, scan, warnings)) if scan is not None and scan.paths else None
    match: RowMatch | None = None
    unmatched: UnmatchedError | None = None
    if items is not None and len(views) == len(spec.features):
        match = attempt(functools.partial(_match, spec, items, views))
        unmatched = next((error for error in errors if isinstance(error, UnmatchedError)), None)
    problems = list(scan.problems) if scan is not None else []
    labels: Labels | None = None
    if match is not None:
        warnings.extend([*match.warnings, *spec_checks.left_out(spec, match)])
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
        problems.extend(spec_checks.probe(spec, scan, match, task))
    if problems:
        warnings.append(spec_checks.placeholders(problems))
    if views or match is not None:
        attempt(lambda: spec_checks.check_space(spec, views, match))
    source_of_lists = unmatched or match
    return SpecReport(
        errors=tuple(errors),
        warnings=tuple(warnings),
        problems=tuple(problems),
        paths=match.paths if match else (),
        how=match.how if match else "",
        pairs=spec_checks.pairs(match.paths) if match else (),
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
