"""Computed arrays kept with a project: each result is a folder of ``.npy`` files that appears whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.errors import ProjectError
from a3s_desktop.i18n import tr
from a3s_desktop.storage import array_files, files

Arrays = dict[str, npt.NDArray[Any]]

FORMAT = 1
_META = "meta.json"
_NAME = re.compile(r"[a-z][a-z0-9_.-]{0,63}")
_ALWAYS_HASHED = 32 << 20  # bytes up to which loading verifies the content, not only the size
_logger = logging.getLogger(__name__)


def fingerprint(*parts: object) -> str:
    """Hex SHA-256 of what a result depends on: hashes of its inputs, options as JSON-able values."""
    text = json.dumps([FORMAT, *parts], sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def save_arrays(folder: Path, arrays: Mapping[str, npt.NDArray[Any]], meta: Mapping[str, Any]) -> None:
    """Write arrays and JSON-able ``meta`` into a new folder, atomically.

    Raises
    ------
    StorageFailedError
        The disk refused, or the folder is there already; nothing was kept.
    """
    with files.atomic_folder(folder) as temporary:
        described: dict[str, Any] = {}
        for name, values in arrays.items():
            if not _NAME.fullmatch(name):
                raise ValueError(f"not a name for an array: {name!r}")
            array = np.asarray(values, order="C")
            if array.dtype.hasobject:
                raise TypeError(f"array {name!r} holds objects")
            with files.atomic_file(temporary / f"{name}.npy") as file:
                array_files.write_array(file, array)
            described[name] = {
                "dtype": array.dtype.str,
                "shape": list(array.shape),
                "sha256": array_files.hash_array(array),
            }
        text = json.dumps({"format": FORMAT, "arrays": described, "meta": dict(meta)}, allow_nan=False)
        files.atomic_write_text(temporary / _META, text)


def load_arrays(folder: Path, mmap: bool = True, verify: bool | None = None) -> tuple[Arrays, dict[str, Any]]:
    """Inverse of `save_arrays`.

    Parameters
    ----------
    mmap : bool
        Map the arrays (read-only) instead of reading them.
    verify : bool, optional
        Compare the content with its hash; by default only where that is quick (small arrays).

    Raises
    ------
    ProjectError
        The folder is absent, damaged, or of another format.
    StorageFailedError
        The drive cannot read it now.
    """
    try:
        facts = json.loads(files.long_path(folder / _META).read_bytes())
        if facts["format"] != FORMAT:
            raise ValueError(f"format {facts['format']}")
        arrays = {
            str(name): _load(folder, str(name), description, mmap, verify)
            for name, description in facts["arrays"].items()
        }
        return arrays, dict(facts["meta"])
    except OSError as error:
        if not isinstance(error, FileNotFoundError | NotADirectoryError):
            raise files.read_failed(folder, error) from error  # it may be whole: nothing must be put in its place
        raise ProjectError(
            tr("The saved result {folder} is damaged ({value}).", folder=files.show(folder), value=error.strerror),
            tr("It will be computed again."),
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError, MemoryError) as error:
        raise ProjectError(
            tr(
                "The saved result {folder} is damaged ({value}).",
                folder=files.show(folder),
                value=(str(error) or type(error).__name__)[:120],
            ),
            tr("It will be computed again."),
        ) from error


def _load(folder: Path, name: str, description: Mapping[str, Any], mmap: bool, verify: bool | None) -> npt.NDArray[Any]:
    if not _NAME.fullmatch(name):
        raise ValueError(f"name {name!r}")
    shape = tuple(int(side) for side in description["shape"])
    array = array_files.load_array(folder / f"{name}.npy", mmap)
    if array.dtype.str != description["dtype"] or array.shape != shape:
        raise ValueError(f"array {name!r} has another type or shape")
    if verify is None:
        verify = array.nbytes <= _ALWAYS_HASHED
    if verify and array_files.hash_array(array) != description["sha256"]:
        raise ValueError(f"array {name!r} has changed")
    return np.asarray(array)


class ArtifactStore:
    """The results of one project, each under its name and the fingerprint of what it was computed from.

    Parameters
    ----------
    folder : Path
        Holds the results; made when the first is saved.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def _place(self, stage: str, key: str) -> Path:
        if not _NAME.fullmatch(stage):
            raise ValueError(f"not a name for a stage: {stage!r}")
        return self._folder / f"{stage}-{key[:16]}"

    def load(self, stage: str, key: str, mmap: bool = True) -> tuple[Arrays, dict[str, Any]] | None:
        """A finished result; None where it is absent, of other inputs, or damaged (which is logged).

        Raises
        ------
        StorageFailedError
            The drive cannot read it now.
        """
        place = self._place(stage, key)
        if not place.is_dir():
            return None
        try:
            arrays, meta = load_arrays(place, mmap)
        except ProjectError as error:
            _logger.warning("%s", error.message)
            return None
        if meta.pop("fingerprint", None) != key:
            return None
        return arrays, meta

    def save(
        self,
        stage: str,
        key: str,
        arrays: Mapping[str, npt.NDArray[Any]],
        meta: Mapping[str, Any],
        alone: bool = True,
    ) -> None:
        """Keep a finished result, in the place of one of the same inputs.

        With ``alone`` the stage's results of other inputs are dropped.
        """
        try:
            if not self._folder.is_dir():
                files.make_folder(self._folder)
            place = self._place(stage, key)
            if place.exists():
                files.remove_tree(place)
            save_arrays(place, arrays, {**meta, "fingerprint": key})
            if alone:
                self.drop_others(stage, key)
            files.sweep(self._folder)
        except OSError as error:
            raise files.write_failed(self._folder, error) from error

    def drop(self, start: str) -> None:
        """Drop the results of all stages whose names begin so, as far as the system lets us."""
        for place in sorted(self._folder.glob(f"{start}*")):
            with contextlib.suppress(OSError):
                files.remove_tree(place)

    def place(self, stage: str, key: str) -> Path:
        """The folder of a result, whether it is there or not."""
        return self._place(stage, key)

    def drop_others(self, stage: str, key: str) -> None:
        """Drop a stage's results of other inputs."""
        place = self._place(stage, key)
        for other in sorted(self._folder.glob(f"{stage}-*")):
            if other != place and len(other.name) == len(place.name):
                with contextlib.suppress(OSError):  # Windows keeps what is mapped; it goes the next time
                    files.remove_tree(other)
