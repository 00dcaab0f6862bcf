"""The engine's state with all that was derived from it, kept beside the journal, so that opening loads arrays.

Deriving what a strategy knows of clusters takes as long as the making of some thousand answers; of a large project it
is kept when the project is opened without it, and when it is closed after many answers. Snapshots in the journal are
small and made while somebody answers; they hold what cannot be derived.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import numpy.typing as npt

from a3s_desktop.errors import A3SError, StorageFailedError
from a3s_desktop.session.entries import Entry, RecordedCorrection
from a3s_desktop.storage.artifacts import Arrays
from a3s_desktop.storage.journal_types import Snapshot

log = logging.getLogger(__name__)

STAGE = "state"
FORMAT = 4

KEPT_FROM = 5_000
"""Images from which on it is kept: deriving takes less than a second of fewer."""

_PER_ANSWER = 50  # images whose share of deriving, or of a correction, takes as long as an answer
_NEAR = (50, 200)  # answers given again at an opening, at least and at most, where deriving would take longer


class Stages(Protocol):
    """Where results are kept; a `Workspace` is one."""

    def load_stage(self, stage: str, mmap: bool = True) -> tuple[Arrays, dict[str, Any]] | None:
        """Arrays and meta of a stage; None where it is not there."""
        ...

    def save_stage(self, stage: str, arrays: Mapping[str, npt.NDArray[Any]], meta: Mapping[str, Any]) -> None:
        """Keep a stage."""
        ...


class KeptState:
    """The one state that is kept of a project.

    Parameters
    ----------
    stages : Stages
    items : int
        Images of the project.
    """

    def __init__(self, stages: Stages, items: int) -> None:
        self._stages = stages
        self._items = items
        self._digest: str | None = None

    @property
    def wanted(self) -> bool:
        """Whether the project is so large that its state is kept."""
        return self._items >= KEPT_FROM

    def is_near(self, since: Iterable[Entry]) -> bool:
        """Whether the entries since the kept state are given again in no time: few, and none about very many images."""
        answers = 0
        for entry in since:
            answers += 1
            if isinstance(entry, RecordedCorrection):
                answers += len(entry.correction.samples()) // _PER_ANSWER
        return answers <= min(max(self._items // 1000, _NEAR[0]), _NEAR[1])

    @property
    def worth(self) -> int:
        """Answers that are given again in less time than deriving takes."""
        return self._items // _PER_ANSWER

    @property
    def digest(self) -> str | None:
        """That of the last entry in the state that was loaded or saved last; None where there is none."""
        return self._digest

    def load(self) -> Snapshot | None:
        """The kept state; None where there is none, or of another version of the program."""
        self._digest = None
        if not self.wanted:
            return None
        try:
            found = self._stages.load_stage(STAGE, mmap=False)  # it is replaced while the engine works
        except StorageFailedError as error:
            log.warning("%s The state is derived again.", error.message)
            return None
        if found is None or found[1].get("state") != FORMAT:
            return None
        self._digest = str(found[1].get("digest"))
        return Snapshot(0, *found)

    def save(self, arrays: Mapping[str, npt.NDArray[Any]], meta: Mapping[str, Any]) -> None:
        """Keep a state in place of the one before. A drive that refuses costs time at the next opening, no more."""
        try:
            self._stages.save_stage(STAGE, arrays, {**meta, "state": FORMAT})
        except A3SError as error:
            log.warning("The state was not kept: %s", error.message)
        else:
            self._digest = str(meta["digest"])
