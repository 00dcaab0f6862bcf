"""The project folder: made whole or not at all, opened by one writer, readable by all.

::

    <name>.a3s        for file managers: opens the program on this folder (`pointer`)
    project.json      format version, name, where the images are, options, hashes of the features, which epoch counts
    items.json        the images in row order
    features-0.npy    float32 copies of the features, row i = item i; one file per view
    labels.json       true labels (demos and experiments only)
    artifacts/        computed results, by stage and fingerprint; of large projects also the engine's state
    embedding/        descriptions of the images, where the program made them
    journal.sqlite    every answer
    lock              says who has the project open

After images were added or features replaced (`drafts`), the files of the next epoch count: ``items-2.json``,
``features-2-0.npy`` and so on.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.types import FloatArray, InitialOptions, InitialState, StrategyOptions
from a3s_desktop.errors import InputError, ProjectError, ReadOnlyError
from a3s_desktop.i18n import tr
from a3s_desktop.printable import escaped
from a3s_desktop.storage import array_files, files
from a3s_desktop.storage.artifacts import Arrays, ArtifactStore, fingerprint
from a3s_desktop.storage.conflicts import undecided
from a3s_desktop.storage.features import FeatureFile
from a3s_desktop.storage.items import Items, locate
from a3s_desktop.storage.journal import Journal
from a3s_desktop.storage.journal_opening import create_journal, open_journal, read_journal
from a3s_desktop.storage.journal_types import Recovery
from a3s_desktop.storage.lock import FileLock, project_lock
from a3s_desktop.storage.matching import Labels
from a3s_desktop.storage.pointer import pointer_name, pointer_text, project_folder
from a3s_desktop.storage.project_file import (
    PROJECT_FILE,
    epoch_of,
    feature_name,
    items_name,
    project_text,
    read_project_file,
)
from a3s_desktop.storage.project_links import check_links
from a3s_desktop.storage.spec import EMBEDDING, ProjectSpec, SpecReport, check_spec
from a3s_desktop.task import Task

__all__ = ["ProjectSpec", "SpecReport", "Workspace", "check_spec", "create_workspace", "open_workspace"]

JOURNAL_FILE, ARTIFACTS_FOLDER = "journal.sqlite", "artifacts"
_LABELS = "labels.json"
_BLOCK_VALUES = 1 << 20
_LONGEST_NAME = 200
_OF_EPOCH = re.compile(r"items(?:-(\d{1,7}))?\.json|features-(?:(\d{1,7})-)?\d{1,7}\.npy")


class Workspace:
    """An open project folder; a context manager. Made by `create_workspace` and `open_workspace`.

    Attributes
    ----------
    folder : Path
    facts : mapping
        The content of ``project.json``.
    epoch : int
        1; one more after each time that images were added or features replaced.
    name, id : str
        For people; a random id that a copy keeps.
    read_only : bool
    items : Items
    journal : Journal
    initial_options, strategy_options : options of stage one and two
    choices : mapping
        What else was chosen when the project was made (patterns, parts of photos, how images are described).
    warnings : tuple of str
        What is worth telling about the opening (a missing image folder).
    """

    def __init__(self, folder: Path, facts: Mapping[str, Any], items: Items, journal: Journal, lock: FileLock | None):
        self.folder = folder
        self.facts = facts
        self.epoch = epoch_of(facts)
        self.name = escaped(str(facts["name"]))[:_LONGEST_NAME]
        self.id = str(facts["id"])
        self.read_only = lock is None
        self.items = items
        self.journal = journal
        self._written_options: Mapping[str, Any] = facts["initial"]
        self.initial_options: InitialOptions = InitialOptions.from_json(facts["initial"])
        self.strategy_options: StrategyOptions = StrategyOptions.from_json(facts["strategy"])
        self.warnings: tuple[str, ...] = ()
        self.choices: Mapping[str, Any] = facts.get("choices") or {}
        self._features: list[Mapping[str, Any]] = list(facts["features"])
        self._lock = lock
        self._artifacts = ArtifactStore(folder / ARTIFACTS_FOLDER)
        if not items.available:
            self.warnings = (
                tr(
                    "The image folder {root} is not there; placeholders are shown. Connect its drive or put "
                    "it back, then open the project again. Nothing is lost.",
                    root=files.show(items.root),
                ),
            )

        copies = undecided(folder)
        if copies:
            self.warnings += (
                tr(
                    "A sync tool left copies of what was done on another computer: {names}.",
                    names=", ".join(files.show(one.name) for one in copies[:5]),
                ),
            )

    @property
    def recovery(self) -> Recovery:
        """What opening the journal had to repair; its ``text`` is empty where nothing was wrong."""
        return self.journal.recovery

    def views(self) -> list[FloatArray]:
        """The feature matrices, each float32, shape (N, D), memory-mapped read-only; row i is item i.

        Raises
        ------
        ProjectError
            A file is missing or damaged.
        """
        return [self._view(index, facts) for index, facts in enumerate(self._features)]

    def _view(self, index: int, facts: Mapping[str, Any]) -> FloatArray:
        path = self.folder / feature_name(index, self.epoch)
        try:
            values = array_files.load_array(path)
        except (FileNotFoundError, ValueError) as error:
            raise ProjectError(
                tr("The features {path} are missing or damaged.", path=files.show(path)),
                tr("Restore the file from a backup."),
            ) from error
        except OSError as error:
            raise files.read_failed(path, error) from error
        if values.dtype != np.float32 or values.shape != (len(self.items), facts["columns"]):
            raise ProjectError(
                tr(
                    "The features {path} do not fit the project (shape {shape}).",
                    path=files.show(path),
                    shape=values.shape,
                ),
                tr("Restore the file from a backup."),
            )
        return np.asarray(values)

    def labels(self) -> Labels | None:
        """True labels, where the project was made with some. They are for demos; the engine must not see them."""
        path = self.folder / _LABELS
        raw = files.read_bytes(path)
        if not raw:
            return None
        try:
            values = json.loads(raw)
            codes = np.array(values["codes"], np.int32)
            names = tuple(str(name) for name in values["names"])
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise ProjectError(
                tr("The labels {path} are damaged.", path=files.show(path)), tr("Delete the file; it is optional.")
            ) from error
        if self.epoch > 1 and codes.shape != (len(self.items),):
            return None  # of the images that were there at the beginning
        if codes.shape != (len(self.items),) or (len(codes) and not 0 <= codes.min() <= codes.max() < len(names)):
            raise ProjectError(
                tr("The labels {path} do not fit the project.", path=files.show(path)),
                tr("Delete the file; it is optional."),
            )
        return Labels(codes, names)

    # ---------------------------------------------------------------------------------------- computed results

    def load_initial(self) -> InitialState | None:
        """The result of stage one for these features and options; None where it is absent, stale or damaged."""
        found = self.load_stage("initial")
        if found is None:
            return None
        arrays, meta = found
        try:
            state = InitialState.from_arrays(arrays, meta)
        except (KeyError, TypeError, ValueError):
            return None
        return state if len(state.labels) == len(self.items) == state.graph.n else None

    def save_initial(self, state: InitialState) -> None:
        """Keep the result of stage one. Raises `StorageFailedError`, `ReadOnlyError`."""
        self.save_stage("initial", state.arrays(), state.meta())

    def load_layout(self) -> FloatArray | None:
        """The map's layout, float32 (N, 2); None where there is none."""
        found = self.load_stage("layout", mmap=False)  # it is replaced while it is shown
        points = found[0].get("points") if found else None
        if points is None or points.shape != (len(self.items), 2) or points.dtype != np.float32:
            return None
        return points if np.isfinite(points).all() else None

    def save_layout(self, points: FloatArray) -> None:
        """Keep the map's layout. Raises `StorageFailedError`, `ReadOnlyError`."""
        self.save_stage("layout", {"points": np.asarray(points, np.float32)}, {})

    def load_stage(self, stage: str, mmap: bool = True) -> tuple[Arrays, dict[str, Any]] | None:
        """Arrays and meta of a finished stage of these inputs and options, so that interrupted work resumes."""
        return self._artifacts.load(stage, self._key(), mmap)

    def save_stage(self, stage: str, arrays: Mapping[str, npt.NDArray[Any]], meta: Mapping[str, Any]) -> None:
        """Keep a finished stage (lower-case name, JSON-able meta). Raises `StorageFailedError`, `ReadOnlyError`."""
        if self.read_only:
            raise ReadOnlyError(tr("The project is open read-only; nothing was saved."), tr("Open it for writing."))
        self._artifacts.save(stage, self._key(), arrays, meta)

    def drop_stages(self, start: str) -> None:
        """Drop the results of all stages whose names begin so. What cannot be dropped now is dropped another time."""
        self._artifacts.drop(start)

    def stage_folder(self, stage: str) -> Path:
        """Where the result of a stage is kept, if it is there."""
        return self._artifacts.place(stage, self._key())

    def _key(self) -> str:
        # As they were written: an option that a later version adds must not make the results of this one stale.
        return stage_key(self._written_options, self._features, self.epoch)

    # ---------------------------------------------------------------------------------------- the end

    def discard(self) -> None:
        """Close and delete the project: a creation that was cancelled. Descriptions of images stay for the next."""
        if self.read_only:
            raise ReadOnlyError(tr("The project is open read-only; nothing was deleted."))
        self.close()
        try:
            gone = files.temporary_name(self.folder.parent)
            files.rename(self.folder, gone)  # at once: a half-deleted project must not look like one
            if (gone / EMBEDDING).is_dir():  # long work, which the next attempt uses
                files.make_folder(self.folder)
                files.rename(gone / EMBEDDING, self.folder / EMBEDDING)
            files.remove_tree(gone)
        except OSError as error:
            raise files.write_failed(self.folder, error) from error

    def close(self) -> None:
        """Close the journal and release the lock; harmless when called twice."""
        self.journal.close()
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def stage_key(options: Mapping[str, Any], features: list[Mapping[str, Any]], epoch: int) -> str:
    """What the computed results of an epoch are known by."""
    hashes = [facts["sha256"] for facts in features]
    return fingerprint(options, hashes) if epoch == 1 else fingerprint(options, hashes, epoch)


# ------------------------------------------------------------------------------------------------ making


def create_workspace(spec: ProjectSpec, report: SpecReport | None = None, task: Task | None = None) -> Workspace:
    """Make a project folder and open it for writing. On any error or cancellation nothing is left behind.

    Parameters
    ----------
    report : SpecReport, optional
        Result of `check_spec` for ``spec``; checked here where it is not given.

    Raises
    ------
    A3SError
        The first error of the report; `StorageFailedError` where the disk refuses.
    Cancelled
        The task was cancelled.
    """
    task = task or Task()
    report = report if report is not None else check_spec(spec, task)
    if report.errors:
        raise report.errors[0]
    if report.to_compute:
        from a3s_desktop.storage.embedding import prepare

        spec, report = prepare(spec, report, task)
    if report.match is None:
        raise InputError(
            tr("The images could not be matched to the features."), tr("Check the project's settings again.")
        )
    folder = Path(os.path.abspath(spec.folder))
    files.sweep(folder.parent)
    with files.atomic_folder(folder) as temporary:
        described = []
        for index, (view, rows) in enumerate(zip(report.views, report.match.rows, strict=True)):
            share = (index / len(report.views), 1 / len(report.views))
            described.append(_copy_view(temporary / feature_name(index, 1), view, rows, task, share))
        position = {path: index for index, path in enumerate(report.paths)}
        problems = {position[p.path]: p.reason for p in report.problems if p.path in position}
        files.atomic_write_text(temporary / items_name(1), Items(spec.images, report.paths, problems).to_json())
        if report.labels is not None:
            labels = {"codes": report.labels.codes.tolist(), "names": list(report.labels.names)}
            files.atomic_write_text(temporary / _LABELS, json.dumps(labels))
        create_journal(temporary / JOURNAL_FILE)
        files.atomic_write_text(temporary / pointer_name(spec.name.strip() or folder.name), pointer_text())
        files.atomic_write_text(temporary / PROJECT_FILE, project_text(spec, folder, report, described))
        task.check()
        _adopt(folder / EMBEDDING, temporary / EMBEDDING)
    return open_workspace(folder)


def _adopt(found: Path, target: Path) -> None:
    """Take over the descriptions that were computed for the project; their result is its features now."""
    if not found.is_dir():
        return
    files.rename(found, target)
    for path in sorted(target.glob("features-*.npy")):
        with contextlib.suppress(OSError):  # Windows keeps what is mapped
            files.remove_file(path)


def _copy_view(
    target: Path, view: FeatureFile, rows: npt.NDArray[np.int64] | None, task: Task, share: tuple[float, float]
) -> dict[str, Any]:
    """Copy features as float32 in item order, in blocks; returns their description."""
    count, columns = len(view.values) if rows is None else len(rows), view.values.shape[1]
    step = max(1, _BLOCK_VALUES // columns)
    with files.atomic_file(target) as file:
        array_files.write_header(file, (count, columns), np.dtype(np.float32))
        for start in range(0, count, step):
            task.step(share[0] + share[1] * start / count)
            block = view.values[start : start + step] if rows is None else view.values[rows[start : start + step]]
            block = np.ascontiguousarray(block, np.float32)
            if not np.isfinite(block).all():
                raise InputError(
                    tr("{path} changed while it was copied.", path=files.show(view.path)), tr("Try again.")
                )
            files.write_all(file, block.data)
    copied = array_files.load_written(target)
    source = str(view.path)
    return {"source": source, "rows": count, "columns": columns, "sha256": array_files.hash_array(copied)}


# ------------------------------------------------------------------------------------------------ opening


def open_workspace(folder: Path, read_only: bool = False, take_over: bool = False) -> Workspace:
    """Open a project folder.

    Parameters
    ----------
    folder : Path
        The folder, or the ``.a3s`` file in it.
    read_only : bool
        Take no lock and write nothing; possible beside a writer and without permission to write.
    take_over : bool
        Take the lock also from another computer; see `FileLock.acquire`.

    Raises
    ------
    ProjectLockedError
        Another window has it open for writing; it can be opened read-only.
    ProjectVersionError
        A newer version of the program wrote it.
    ProjectError
        It is no project, is damaged, or there is no permission.
    StorageFailedError
        The disk failed.
    """
    folder = project_folder(folder)
    facts = read_project_file(folder)
    lock: FileLock | None = None
    if not read_only:
        if not os.access(folder, os.W_OK):
            raise ProjectError(
                tr("There is no permission to write in the project {folder}.", folder=files.show(folder)),
                tr("Open it read-only, or change the permissions of its folder."),
            )
        check_links(folder)
        lock = project_lock(folder)
        lock.acquire(take_over)
    try:
        where = folder / items_name(epoch_of(facts))
        root = locate(facts["images"]["absolute"], facts["images"]["relative"], folder)
        items = Items.from_json(files.read_bytes(where), root, where)
        if lock is not None:
            files.sweep(folder)
            _sweep_epochs(folder, facts)
        journal = (open_journal if lock is not None else read_journal)(folder / JOURNAL_FILE)
        if lock is not None:
            journal.ask_before_writing(lock.check)
        try:
            return Workspace(folder, facts, items, journal, lock)
        except BaseException:
            journal.close()
            raise
    except OSError as error:
        _release(lock)
        raise ProjectError(
            tr(
                "The project {folder} cannot be read: {cause_of}.",
                folder=files.show(folder),
                cause_of=files.cause_of(error)[0],
            ),
            tr("Check the folder."),
        ) from error
    except BaseException:
        _release(lock)
        raise


def _sweep_epochs(folder: Path, facts: Mapping[str, Any]) -> None:
    """Remove what is of other epochs: older ones, and a change that was never finished."""
    epoch = epoch_of(facts)
    for path in sorted((*folder.glob("items*.json"), *folder.glob("features-*.npy"))):
        found = _OF_EPOCH.fullmatch(path.name)
        if found is not None and int(found[1] or found[2] or 1) != epoch:
            with contextlib.suppress(OSError):  # Windows keeps what is mapped; it goes the next time
                files.remove_file(path)
    key, results = stage_key(facts["initial"], facts["features"], epoch), ArtifactStore(folder / ARTIFACTS_FOLDER)
    for stage in ("initial", "base", "contents", "state"):
        results.drop_others(stage, key)


def _release(lock: FileLock | None) -> None:
    if lock is not None:
        lock.release()
