"""The project folder: made whole or not at all, opened by one writer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.types import FloatArray, InitialOptions, InitialState, StrategyOptions
from a3s_desktop.storage.journal_types import JournalProtocol, Recovery
from a3s_desktop.storage.spec import ProjectSpec
from a3s_desktop.task import Task


class Workspace:
    """An open project folder (signatures; filled next).

    Attributes
    ----------
    folder : Path ; name : str ; id : str ; read_only : bool
    items : Items (root, paths, file(i), name(i), problems, len)
    journal : JournalProtocol
    recovery : Recovery      what opening the journal had to repair (text is "" where nothing)
    warnings : tuple of str
    initial_options, strategy_options
    """

    folder: Path
    name: str
    id: str
    read_only: bool
    items: Any
    journal: JournalProtocol
    recovery: Recovery
    warnings: tuple[str, ...]
    initial_options: InitialOptions
    strategy_options: StrategyOptions

    def views(self) -> list[FloatArray]:
        """Feature matrices, each float32 (N, D), memory-mapped, row i = item i."""
        raise NotImplementedError

    def labels(self) -> Any:
        """Labels(codes int32 (N,), names tuple[str, ...]) or None."""
        raise NotImplementedError

    def load_initial(self) -> InitialState | None:
        """The saved result of stage one for these features and options; None where absent, stale or damaged."""
        raise NotImplementedError

    def save_initial(self, state: InitialState) -> None:
        """Save the result of stage one."""
        raise NotImplementedError

    def load_layout(self) -> FloatArray | None:
        """float32 (N, 2) or None."""
        raise NotImplementedError

    def save_layout(self, points: FloatArray) -> None:
        """Save the map's layout."""
        raise NotImplementedError

    def load_stage(self, stage: str) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]] | None:
        """Arrays and meta of a finished stage (neighbours, ...), so that an interrupted initialization resumes."""
        raise NotImplementedError

    def save_stage(self, stage: str, arrays: dict[str, npt.NDArray[np.generic]], meta: dict[str, Any]) -> None:
        """Save a finished stage."""
        raise NotImplementedError

    def discard(self) -> None:
        """Close and delete the whole project folder (a creation that was cancelled)."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the journal and release the lock; harmless when called twice."""
        raise NotImplementedError


def check_spec(spec: ProjectSpec, task: Task | None = None) -> Any:
    """-> SpecReport(errors: tuple[InputError|ProjectError, ...], warnings, ok, paths, how, pairs, problems, ...)."""
    raise NotImplementedError


def create_workspace(spec: ProjectSpec, report: Any = None, task: Task | None = None) -> Workspace:
    """Make the folder (atomically) and open it for writing; ``report`` None: checks first, raises its first error."""
    raise NotImplementedError


def open_workspace(folder: Path, read_only: bool = False) -> Workspace:
    """Open; takes the writer lock unless ``read_only``."""
    raise NotImplementedError
