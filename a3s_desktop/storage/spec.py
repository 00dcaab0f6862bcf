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
from a3s_desktop.storage.images import ImageProblem, ImageScan
from a3s_desktop.storage.matching import Labels, RowMatch, UnmatchedError
from a3s_desktop.storage.spec_types import ProjectSpec, SpecReport
from a3s_desktop.task import Task

__all__ = ["EMBEDDING", "ProjectSpec", "SpecReport", "check_spec", "check_target"]

T = TypeVar("T")
EMBEDDING = "embedding"  # the folder of a project, or one to be, that holds descriptions of images


def check_spec(spec: ProjectSpec, task: Task | None = None, named: ImageScan | None = None) -> SpecReport:
    """Check everything about a project to be made; writes nothing.

    Problems are collected, not raised, so that a form can show all of them at once.

    Parameters
    ----------
    spec : ProjectSpec
    task : Task, optional
    named : ImageScan, optional
        The images where their folder is not on this computer (`unseen.named_images`); none of them is looked at then.

    Raises
    ------
    Cancelled
        The task was cancelled.
    """
    check = _Check(spec, task or Task(), named)
    check.choices()
    check.data()
    check.fit()
    return check.report()


class _Check:
    """Collects what is found, step by step; a step does what the earlier ones made possible."""

    def __init__(self, spec: ProjectSpec, task: Task, named: ImageScan | None) -> None:
        self._spec = spec
        self._task = task
        self._named = named
        self._errors: list[A3SError] = []
        self._warnings: list[str] = []
        self._problems: list[ImageProblem] = []
        self._scan: ImageScan | None = None
        self._few = False  # fewer images than a project needs
        self._views: list[FeatureFile] = []
        self._unit_norm: list[bool] = []
        self._match: RowMatch | None = None
        self._labels: Labels | None = None

    def _attempt(self, work: Callable[[], T]) -> T | None:
        try:
            return work()
        except A3SError as error:
            self._errors.append(error)
            return None

    def choices(self) -> None:
        """What can be said without looking at the data."""
        spec = self._spec
        self._attempt(lambda: check_target(spec))
        self._attempt(spec.strategy.check)
        self._attempt(lambda: spec_checks.check_weights(spec))
        if spec.embedding is not None:
            self._attempt(spec.embedding.check)
        elif not spec.features:
            self._errors.append(
                InputError(
                    tr("No feature file is given."),
                    tr(
                        "Choose a .npy, .npz, .csv or .parquet file with one row per image, or have the images "
                        "described."
                    ),
                )
            )

    def data(self) -> None:
        """The image folder and the feature files, each by itself."""
        spec, task = self._spec, self._task
        self._scan = self._named or self._attempt(
            lambda: images.scan_images(spec.images, task, spec.include, spec.exclude)
        )
        if self._scan is not None:
            self._problems.extend(self._scan.problems)
            if len(self._scan.paths) < (features.MIN_ROWS if spec.parts is None else 1):  # a photo has many parts
                self._errors.append(spec_checks.too_few(spec, self._scan))
                self._few = True
        least = 1 if self._few else features.MIN_ROWS  # it is said once
        for path in spec.features:
            view = self._attempt(functools.partial(features.load_features, path, task, least))
            if view is None:
                continue
            found = features.examine(view, task)
            self._views.append(view)
            self._unit_norm.append(found.unit_norm)
            self._errors.extend(found.problems)
            self._warnings.extend(spec_checks.remarks(view, found))

    def fit(self) -> None:
        """Images, features and labels together."""
        spec, scan = self._spec, self._scan
        if scan is not None and scan.paths:
            items = self._attempt(lambda: spec_checks.items(spec, scan, self._warnings))
            if items is not None and len(self._views) == len(spec.features):
                self._match = self._attempt(functools.partial(_match, spec, items, self._views))
        match = self._match
        if match is not None:
            self._warnings.extend([*match.warnings, *spec_checks.left_out(spec, match)])
            if len(match.paths) < features.MIN_ROWS and not self._few:
                self._errors.append(spec_checks.too_few_left(match))
            if spec.labels is not None:
                paths, source = match.paths, spec.labels
                self._labels = self._attempt(lambda: matching.load_labels(source, len(paths), paths, str(spec.images)))
        if scan is not None and self._named is None and not self._errors:
            self._problems.extend(spec_checks.probe(spec, scan, match, self._task))
        if self._problems:
            self._warnings.append(spec_checks.placeholders(self._problems))
        if self._views or match is not None:
            self._attempt(lambda: spec_checks.check_space(spec, self._views, match))

    def report(self) -> SpecReport:
        """All of it."""
        match, views, scan = self._match, self._views, self._scan
        unmatched = next((error for error in self._errors if isinstance(error, UnmatchedError)), None)
        spare, without = _lists(unmatched or match)
        return SpecReport(
            errors=tuple(self._errors),
            warnings=tuple(self._warnings),
            problems=tuple(self._problems),
            paths=match.paths if match else (),
            how=match.how if match else "",
            pairs=spec_checks.pairs(match.paths) if match else (),
            images=len(scan.paths) if scan else 0,
            skipped=scan.skipped if scan else 0,
            rows=len(views[0].values) if views else 0,
            columns=tuple(int(view.values.shape[1]) for view in views),
            views=tuple(views),
            match=match,
            labels=self._labels,
            unit_norm=tuple(self._unit_norm),
            rows_without_image=spare,
            images_without_row=without,
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
