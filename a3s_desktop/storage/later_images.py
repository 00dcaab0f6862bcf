"""Images that come to a project later: everything is checked before anything is written."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from a3s_desktop.core.neighbors import has_unit_norm
from a3s_desktop.core.types import IndexArray
from a3s_desktop.errors import A3SError, InputError
from a3s_desktop.i18n import number, tr, trn
from a3s_desktop.storage import features, files, images, parts, spec_checks
from a3s_desktop.storage.features import FeatureFile
from a3s_desktop.storage.images import ImageProblem
from a3s_desktop.storage.keys import split_key
from a3s_desktop.storage.matching import Unmatched, match_rows
from a3s_desktop.storage.spec import EMBEDDING
from a3s_desktop.storage.workspace import Workspace
from a3s_desktop.task import Task

T = TypeVar("T")
_SAMPLE = 1000  # rows that tell whether features have unit norm


@dataclass(frozen=True, slots=True)
class AddSpec:
    """What is to be added.

    Attributes
    ----------
    images : Path
        A folder with new images; those that the project has already are left alone.
    features : tuple of Path
        One file for each of the project's, with rows of the new images; rows of others are passed over. None where the
        project describes its images itself.
    order : Path or None
        A file that lists the images in row order.
    parts : Path or None
        A table of rectangles, for a project whose items are parts of photos.
    leave_out : bool
        New images without a row are left out; otherwise they are in the way.
    """

    images: Path
    features: tuple[Path, ...] = ()
    order: Path | None = None
    parts: Path | None = None
    leave_out: bool = False


@dataclass(frozen=True, slots=True)
class AddReport:
    """What the check of an `AddSpec` found.

    Attributes
    ----------
    errors : tuple of A3SError
    warnings : tuple of str
    problems : tuple of ImageProblem
        New images that cannot be shown; they are carried as placeholders.
    root : Path
        The image folder from now on: the project's, or one that holds both.
    kept : tuple of str
        The keys of the project's items below it, in their order.
    paths : tuple of str
        The keys of the new items, in the order in which they are appended.
    known : int
        Images of the folder that the project has already.
    how : str
        How rows were matched, as in `RowMatch`; "described" without features.
    pairs : tuple of (int, str)
        Row and image of the first and last three.
    views : tuple of FeatureFile
    rows : tuple of int64 arrays
        For each file the rows of the new items.
    """

    errors: tuple[A3SError, ...] = ()
    warnings: tuple[str, ...] = ()
    problems: tuple[ImageProblem, ...] = ()
    root: Path = Path()
    kept: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    known: int = 0
    how: str = ""
    pairs: tuple[tuple[int, str], ...] = ()
    views: tuple[FeatureFile, ...] = ()
    rows: tuple[IndexArray, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the images can be added."""
        return not self.errors


def check_addition(workspace: Workspace, spec: AddSpec, task: Task | None = None) -> AddReport:
    """Check everything about images to be added; writes nothing, collects problems.

    Raises
    ------
    Cancelled
        The task was cancelled.
    """
    check = _Check(workspace, spec, task or Task())
    check.run()
    return check.report()


class _Check:
    def __init__(self, workspace: Workspace, spec: AddSpec, task: Task) -> None:
        self._workspace, self._spec, self._task = workspace, spec, task
        self._errors: list[A3SError] = []
        self._warnings: list[str] = []
        self._problems: list[ImageProblem] = []
        self._root, self._kept = workspace.items.root, workspace.items.paths
        self._paths: tuple[str, ...] = ()
        self._known = 0
        self._how = ""
        self._views: list[FeatureFile] = []
        self._rows: tuple[IndexArray, ...] = ()

    def _attempt(self, work: Callable[[], T]) -> T | None:
        try:
            return work()
        except A3SError as error:
            self._errors.append(error)
            return None

    def run(self) -> None:
        self._attempt(self._source)
        fresh = self._attempt(self._fresh)
        self._attempt(self._load)
        if fresh and not self._errors:
            self._attempt(functools.partial(self._match, fresh))
        if self._paths and not self._errors:
            self._probe()

    def report(self) -> AddReport:
        return AddReport(
            tuple(self._errors),
            tuple(self._warnings),
            tuple(self._problems),
            self._root,
            self._kept,
            self._paths,
            self._known,
            self._how,
            spec_checks.pairs(self._paths) if self._paths else (),
            tuple(self._views),
            self._rows,
        )

    def _source(self) -> None:
        """Where the features of the new images are to come from."""
        given, wanted = len(self._spec.features), len(self._workspace.views())
        made_here = bool(self._workspace.choices.get("embedding"))
        described = made_here and (self._workspace.folder / EMBEDDING / "projection").is_dir()
        if given and given != wanted:
            raise InputError(
                trn(
                    "The project has {n} feature file; {given} were given.",
                    "The project has {n} feature files; {given} were given.",
                    wanted,
                    given=given,
                ),
                tr("Give one file for each of them, in the same order."),
            )
        if not given and not described:
            raise InputError(
                tr("No features of the new images were given."),
                tr("This project was made from feature files: compute those of the new images by the same model."),
            )

    def _fresh(self) -> tuple[str, ...]:
        """The keys of the folder's items that the project does not have."""
        choices, spec = self._workspace.choices, self._spec
        folder = Path(os.path.abspath(spec.images))
        include, exclude = (tuple(choices.get(name) or ()) for name in ("include", "exclude"))
        scan = images.scan_images(folder, self._task, include, exclude)
        self._root, self._kept = _common_root(self._workspace.items.root, self._kept, folder)
        inside = folder.relative_to(self._root).as_posix()
        prefix = "" if inside == "." else f"{inside}/"
        found = tuple(prefix + path for path in scan.paths)
        self._problems += [ImageProblem(prefix + problem.path, problem.reason) for problem in scan.problems]
        if choices.get("parts"):
            if spec.parts is None:
                raise InputError(
                    tr("The items of this project are parts of photos; the rectangles of the new ones are missing."),
                    tr("Give the table of rectangles of the new photos."),
                )
            found = parts.load_parts(spec.parts, found, str(self._root)).keys
        have = set(self._kept)
        fresh = tuple(key for key in found if key not in have)
        self._known = len(found) - len(fresh)
        if not fresh:
            text = trn(
                "{folder} holds no new image ({n} is in the project already).",
                "{folder} holds no new image ({n} are in the project already).",
                self._known,
                folder=files.show(folder),
            )
            raise InputError(text, tr("Choose the folder that holds the new images."))
        if choices.get("parts_differ"):
            parts.check_pair_count((*self._kept, *fresh))
        return fresh

    def _load(self) -> None:
        for path, old in zip(self._spec.features, self._workspace.views(), strict=False):
            view = features.load_features(path, self._task, least=1)
            found = features.examine(view, self._task)
            self._errors.extend(found.problems)
            if view.values.shape[1] != old.shape[1]:
                raise InputError(
                    tr(
                        "{path} has {columns} columns, the project's features have {wanted}.",
                        path=files.show(path),
                        columns=number(view.values.shape[1]),
                        wanted=number(old.shape[1]),
                    ),
                    tr("Compute the features of the new images by the model that made the others."),
                )
            if has_unit_norm(old[:: max(1, len(old) // _SAMPLE)]) != found.unit_norm and not found.problems:
                raise InputError(
                    tr("The rows of {path} are not of the same length as the project's.", path=files.show(path)),
                    tr("Scale them as the others were: compute them by the same program."),
                )
            self._views.append(view)

    def _match(self, fresh: Sequence[str]) -> None:
        if not self._views:
            self._paths, self._how = tuple(fresh), "described"
            return
        spec = self._spec
        unmatched = Unmatched(rows="leave out", images="leave out") if spec.leave_out else Unmatched(rows="leave out")
        match = match_rows(fresh, self._views, spec.order, str(self._root), unmatched)
        if not match.paths:
            raise InputError(
                tr("No row of the features is of a new image."), tr("Choose the features of the new images.")
            )
        self._warnings += match.warnings
        if match.images_without_row:
            self._warnings.append(
                trn(
                    "{n} new image has no row and is left out, the first is {first}.",
                    "{n} new images have no row and are left out, the first is {first}.",
                    len(match.images_without_row),
                    first=files.show(match.images_without_row[0]),
                )
            )
        every = np.arange(len(match.paths), dtype=np.int64)
        self._paths, self._how = match.paths, match.how
        self._rows = tuple(every if rows is None else rows for rows in match.rows)

    def _probe(self) -> None:
        photos = tuple(dict.fromkeys(split_key(key)[0] for key in self._paths))
        found = {problem.path: problem.reason for problem in images.probe_images(self._root, photos, self._task)}
        bad = [ImageProblem(key, found[photo]) for key in self._paths if (photo := split_key(key)[0]) in found]
        self._problems += bad
        if self._problems:
            self._warnings.append(spec_checks.placeholders(self._problems))


def _common_root(root: Path, keys: tuple[str, ...], folder: Path) -> tuple[Path, tuple[str, ...]]:
    """A folder that holds the image folder and another one, and the keys below it.

    Raises
    ------
    InputError
        Only a whole drive holds both.
    """
    if folder == root or root in folder.parents:
        return root, keys
    try:
        common = Path(os.path.commonpath((root, folder)))
    except ValueError:
        common = Path(folder.anchor)
    if common == Path(common.anchor) or common == Path.home().parent:
        raise InputError(
            tr(
                "{folder} and the project's image folder {root} have no folder in common.",
                folder=files.show(folder),
                root=files.show(root),
            ),
            tr("Move or copy the new images into the image folder or beside it."),
        )
    prefix = root.relative_to(common).as_posix()
    return common, keys if prefix == "." else tuple(f"{prefix}/{key}" for key in keys)
