"""What is exported: one immutable picture of a project, taken on the session's thread and written on any other."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.types import FloatArray, IntArray
from a3s_desktop.errors import StorageFailedError
from a3s_desktop.i18n import tr
from a3s_desktop.storage import files
from a3s_desktop.storage.items import Items


@dataclass(frozen=True, slots=True)
class Link:
    """One thing that was said of two images.

    Attributes
    ----------
    left, right : int
        Item indices.
    same : bool
    when : float
        POSIX seconds.
    how : str
        "asked", "correction" or "known labels". What only follows from these is not listed.
    author : str
        Empty where it is not known.
    """

    left: int
    right: int
    same: bool
    when: float
    how: str
    author: str = ""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What held after so many answers."""

    answers: int
    clusters: int
    singles: int


@dataclass(frozen=True, slots=True, eq=False)
class ExportState:
    """A project as the screen shows it at one moment.

    Attributes
    ----------
    name : str
        Of the project.
    items : Items
    labels : int32, shape (N,)
    names : mapping of int to str
        Cluster id -> name.
    confirmed, is_junk : bool, shape (N,)
    finished : frozenset of int
        Clusters that are marked as finished.
    confidence : float32, shape (N,)
        1 (sure) to 0: one minus the doubt.
    links : tuple of Link
        Answers and corrections in force, oldest first.
    times : tuple of float
        When each answer in force was given, oldest first.
    curve : tuple of CurvePoint
        What is known of the way to here, oldest first.
    facts : tuple of (str, str)
        Settings of the project, for people.
    """

    name: str
    items: Items
    labels: IntArray
    names: Mapping[int, str]
    confirmed: npt.NDArray[np.bool_]
    is_junk: npt.NDArray[np.bool_]
    finished: frozenset[int] = frozenset()
    confidence: FloatArray | None = None
    links: tuple[Link, ...] = ()
    times: tuple[float, ...] = ()
    curve: tuple[CurvePoint, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()

    def clusters(self) -> list[tuple[int, IntArray]]:
        """(id, members) of the clusters of two or more, named ones first, then by size; junk is in none."""
        return [(cluster, members) for cluster, members in self._groups() if len(members) > 1 or cluster in self.names]

    def singles(self) -> IntArray:
        """Images alone in a cluster without a name, ascending."""
        return np.array(
            sorted(int(m[0]) for cluster, m in self._groups() if len(m) == 1 and cluster not in self.names), np.int32
        )

    def junk(self) -> IntArray:
        """The images that left the clustering, ascending."""
        return np.flatnonzero(self.is_junk).astype(np.int32)

    def _groups(self) -> list[tuple[int, IntArray]]:
        kept = np.flatnonzero(~self.is_junk).astype(np.int32)
        order = kept[np.argsort(self.labels[kept], kind="stable")]
        ids, starts = np.unique(self.labels[order], return_index=True)
        groups = list(zip(ids.tolist(), np.split(order, starts[1:]), strict=True)) if len(order) else []
        return sorted(groups, key=lambda group: (group[0] not in self.names, -len(group[1]), group[0]))


class How(enum.StrEnum):
    """How images get into an exported folder."""

    COPY = "copy"
    HARD_LINK = "hard link"
    SYMLINK = "symlink"


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What can be chosen; each format uses its own part.

    Attributes
    ----------
    how : How
        Of folders.
    by_name : bool
        Folders are called after the cluster's name, where it has one; else by its number.
    singles, junk : bool
        Whether images that are alone, and junk, are in folders, too.
    merge : bool
        Side-cars that are there already get the name added; otherwise they stop the export.
    excel : bool
        CSV files begin with a mark by which Excel reads their letters right.
    """

    how: How = How.COPY
    by_name: bool = True
    singles: bool = True
    junk: bool = False
    merge: bool = False
    excel: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """Outcome of an export.

    Attributes
    ----------
    path : Path
        The file or folder that was written.
    count : int
        Images, rows or side-cars in it.
    left_out : tuple of str
        Images that could not be read, one line each.
    """

    path: Path
    count: int
    left_out: tuple[str, ...] = field(default=())


class TargetExistsError(StorageFailedError):
    """Something is at the target already; nothing was written.

    Attributes
    ----------
    path : Path
    names : tuple of str
        What is there, where it is more than one thing.
    """

    def __init__(self, path: Path, message: str = "", hint: str = "", names: tuple[str, ...] = ()) -> None:
        super().__init__(
            message or tr("{path} is there already.", path=files.show(path)), hint or tr("Choose another name.")
        )
        self.path = path
        self.names = names
