"""The next epoch of a project: files written beside those that count, which come to count all at once.

A project whose images or features change gets new files under names of their own; then ``project.json`` is replaced,
which is one rename. Killed before it, the project is the old one, after it the new one. Answers are not touched.

What the project was before stays in its folder ``earlier``, a whole project that can be opened by itself.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.types import FloatArray, InitialOptions, InitialState
from a3s_desktop.errors import ProjectError, ReadOnlyError
from a3s_desktop.i18n import number, tr
from a3s_desktop.storage import array_files, files, sqlite
from a3s_desktop.storage.artifacts import ArtifactStore
from a3s_desktop.storage.backup import backup_before
from a3s_desktop.storage.items import Items
from a3s_desktop.storage.project_file import LATER_VERSION, PROJECT_FILE, feature_name, images_facts, items_name
from a3s_desktop.storage.workspace import ARTIFACTS_FOLDER, JOURNAL_FILE, Workspace, stage_key

EARLIER = "earlier"
_SLACK = 16 << 20  # bytes left free beside the new files


class Draft:
    """What a project is to become. Made from an open one; ends with `commit` or `discard`.

    Parameters
    ----------
    workspace : Workspace
        Open for writing, and to be opened anew after the commit.
    """

    def __init__(self, workspace: Workspace) -> None:
        if workspace.read_only:
            raise ReadOnlyError(tr("The project is open read-only; nothing was changed."), tr("Open it for writing."))
        self._workspace = workspace
        self._folder = workspace.folder
        self.epoch = workspace.epoch + 1
        self._facts: dict[str, Any] = {**workspace.facts, "version": LATER_VERSION, "epoch": self.epoch, "features": []}
        self._artifacts = ArtifactStore(self._folder / ARTIFACTS_FOLDER)
        self._written: list[Path] = []
        self._stages: list[Path] = []

    @property
    def initial_options(self) -> InitialOptions:
        """The options of stage one from now on."""
        return InitialOptions.from_json(self._facts["initial"])

    def replace_views(self, count: int) -> None:
        """Note that the features are others from now on: so many files, which no description here made."""
        if count != len(self._workspace.facts["features"]):
            self._facts["initial"] = {**self._facts["initial"], "weights": []}
        self._facts["choices"] = {**self._workspace.choices, "embedding": None}

    def add_view(self, source: str, count: int, columns: int, blocks: Iterable[npt.NDArray[Any]]) -> FloatArray:
        """Write the next feature file; returns it, float32 (count, columns), memory-mapped.

        Raises
        ------
        StorageFailedError
        """
        path = self._folder / feature_name(len(self._facts["features"]), self.epoch)
        self._written.append(path)
        with files.atomic_file(path) as file:
            array_files.write_header(file, (count, columns), np.dtype(np.float32))
            for block in blocks:
                files.write_all(file, np.ascontiguousarray(block, np.float32).data)
        values = array_files.load_written(path)
        self._facts["features"].append(
            {"source": source, "rows": count, "columns": columns, "sha256": array_files.hash_array(values)}
        )
        return np.asarray(values)

    def set_items(self, items: Items) -> None:
        """Write the list of images, and take over where they are. Raises `StorageFailedError`."""
        path = self._folder / items_name(self.epoch)
        self._written.append(path)
        files.atomic_write_text(path, items.to_json())
        if items.root != self._workspace.items.root:
            self._facts["images"] = images_facts(items.root, self._folder)

    def save_initial(self, state: InitialState) -> None:
        """Keep the result of stage one; all features must have been added. Raises `StorageFailedError`."""
        self.save_stage("initial", state.arrays(), state.meta())

    def save_stage(self, stage: str, arrays: Mapping[str, npt.NDArray[Any]], meta: Mapping[str, Any]) -> None:
        """Keep a computed result; see `Workspace.save_stage`."""
        self._stages.append(self._artifacts.place(stage, self._key()))
        self._artifacts.save(stage, self._key(), arrays, meta, alone=False)

    def commit(self, change: Mapping[str, Any]) -> None:
        """Make it count.

        Parameters
        ----------
        change : mapping
            JSON-able: what was changed, for the list of changes in ``project.json``.

        Raises
        ------
        StorageFailedError
            The project is what it was, or whole and new, where only the drive did not say that it is sure.
        """
        self._facts["changes"] = [*self._facts.get("changes", ()), dict(change)]
        keep_earlier(self._workspace)
        backup_before(self._folder, str(change.get("what", "change")))
        text = json.dumps(self._facts, ensure_ascii=True, indent=1)
        # A failure may come after the rename: from here on nothing is removed, opening the project sweeps what is over.
        self._written, self._stages = [], []
        files.atomic_write_text(self._folder / PROJECT_FILE, text)

    def discard(self) -> None:
        """Remove what was written; harmless after a commit."""
        for path in self._written:
            with contextlib.suppress(OSError):  # swept when the project is opened
                files.remove_file(path)
        for folder in self._stages:
            with contextlib.suppress(OSError):
                files.remove_tree(folder)
        self._written, self._stages = [], []

    def _key(self) -> str:
        return stage_key(self._facts["initial"], self._facts["features"], self.epoch)


def check_space(folder: Path, needed: int) -> None:
    """Raise `ProjectError` where the drive has no room for so many bytes more."""
    free = files.free_bytes(folder)
    if free < needed + _SLACK:
        raise ProjectError(
            tr(
                "The drive of {folder} has {free} MB free; {needed} MB are needed.",
                folder=files.show(folder),
                free=number(free >> 20),
                needed=number(((needed + _SLACK) >> 20) + 1),
            ),
            tr("Free some space or choose another drive."),
        )


def keep_earlier(workspace: Workspace) -> None:
    """Keep the project as it is now in its folder ``earlier``, in the place of what was kept there before.

    Large files are not copied where the drive can give one file two names.

    Raises
    ------
    StorageFailedError
    """
    folder, place = workspace.folder, workspace.folder / EARLIER
    facts = {**workspace.facts, "images": images_facts(workspace.items.root, place)}
    old = files.temporary_name(folder)
    try:
        if place.exists():
            files.rename(place, old)
        with files.atomic_folder(place) as temporary:
            for index in range(len(workspace.facts["features"])):
                name = feature_name(index, workspace.epoch)
                _link(folder / name, temporary / name)
            name = items_name(workspace.epoch)
            _link(folder / name, temporary / name)
            files.make_folder(temporary / ARTIFACTS_FOLDER)
            for stage in ("initial", "base", "contents"):
                kept = workspace.stage_folder(stage)
                if kept.is_dir():
                    target = temporary / ARTIFACTS_FOLDER / kept.name
                    files.make_folder(target)
                    for entry in sorted(kept.iterdir()):
                        _link(entry, target / entry.name)
            _copy_journal(folder / JOURNAL_FILE, temporary / JOURNAL_FILE)
            files.atomic_write_text(temporary / PROJECT_FILE, json.dumps(facts, ensure_ascii=True, indent=1))
        files.remove_tree(old)
    except OSError as error:
        _put_back(old, place)
        raise files.write_failed(place, error) from error
    except BaseException:
        _put_back(old, place)
        raise


def _put_back(old: Path, place: Path) -> None:
    if old.exists() and not place.exists():
        with contextlib.suppress(OSError):
            files.rename(old, place)


def _link(source: Path, target: Path) -> None:
    try:
        files.hard_link(source, files.long_path(target))
    except OSError:  # a drive without hard links
        files.copy_file(source, target)


def _copy_journal(source: Path, target: Path) -> None:
    try:
        with contextlib.closing(sqlite.connect(source)) as old, contextlib.closing(sqlite.connect(target)) as new:
            old.backup(new)
    except sqlite3.Error as error:
        raise sqlite.failed(target, error) from error
