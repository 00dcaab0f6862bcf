"""What runs on the engine thread: the open session and its workspace. No Qt, no locks: one thread calls it."""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from a3s_desktop.core.types import Answer, IntArray
from a3s_desktop.errors import StaleAnswerError
from a3s_desktop.i18n import tr
from a3s_desktop.memory import give_back
from a3s_desktop.session.state import Change, LookAhead, SessionState
from a3s_desktop.task import Task
from a3s_desktop.ui.map_raster import PointGrid

if TYPE_CHECKING:
    from a3s_desktop.session.merging import MergePlan
    from a3s_desktop.session.operations import Operation
    from a3s_desktop.session.session import Session
    from a3s_desktop.storage.items import Items


@dataclass(frozen=True, slots=True)
class Opened:
    """An open project as views may know it.

    Attributes
    ----------
    id : int
        Tells this opening from every other one of the process.
    folder : Path
    name : str
    items : Items
        The images, by item index.
    state, change : SessionState, Change
        What is published first.
    recovered : str
        What was lost and restored where the journal was damaged; empty otherwise.
    warnings : tuple of str
    writer : str
        Who has it open for writing, where it is open here for reading only; empty where that is not known.
    first_layout, better_layout : callable or None
        Work for the background thread, ``work(task=task) -> (id, PointGrid)``: a picture at once, and the one
        to keep.
    """

    id: int
    folder: Path
    name: str
    items: Items
    state: SessionState
    change: Change
    recovered: str
    warnings: tuple[str, ...]
    first_layout: Callable[..., tuple[int, PointGrid]] | None
    better_layout: Callable[..., tuple[int, PointGrid]] | None
    writer: str = ""


class Reading(enum.Enum):
    """What a view may ask of the session; see `Session` and `Overview` for arguments and results."""

    HISTORY = "history"  # (limit) -> tuple of HistoryEntry, newest first
    HISTORY_PAGE = "history page"  # (filter, offset, count, anchor) -> HistoryPage
    TOUCHING = "touching"  # (number of an entry) -> later entries, those of them about the same clusters
    ENTRIES_BEHIND = "entries behind"  # (chain, dropped) -> tuple of HistoryEntry or None
    TIMES = "times"  # (since, until) -> Times of the answers of that span
    AUDIT_PAIR = "audit pair"  # () -> (left, right) or None
    CLUSTERS = "clusters"  # () -> ClusterTable
    MEMBERS = "members"  # (cluster) -> MemberRows, most doubtful first
    CHOSEN = "chosen"  # (items) -> MemberRows, most doubtful first
    JUNK = "junk"  # () -> tuple of items
    NEAREST = "nearest"  # (cluster, count) -> tuple of Home
    MERGE_PLAN = "merge plan"  # (folder of the other project) -> MergePlan
    CONFLICT_COPY = "conflict copy"  # (paths put off) -> ConflictCopy or None: what a sync tool left
    DISAGREEMENTS = "disagreements"  # () -> tuple of Disagreement
    MOVED_BY = "moved by"  # (numbers of entries) -> images that would move if they were taken back
    HOMES = "homes"  # (items or None for all single images) -> tuple of Home
    EXPORT = "export"  # () -> ExportState, immutable
    LABELS = "labels"  # (rows of KnownLabel) -> LabelsPlan
    DOUBTS = "doubts"  # (items or None for all) -> float32 (m,)


class EngineRoom:
    """Every method runs on the engine thread and names the project it is meant for.

    Attributes
    ----------
    author : str
        Whose name is kept with each entry; may be set from any thread.
    """

    def __init__(self) -> None:
        self.author = ""
        self._session: Session | None = None
        self._id = 0
        self._ids = itertools.count(1)

    def open(self, folder: Path, read_only: bool, take_over: bool, task: Task) -> Opened:
        """Open a project instead of the current one. Raises `ProjectError` and its kin."""
        from a3s_desktop.session.opening import open_session
        from a3s_desktop.storage.lock import writer_of

        self.close()
        session, report = open_session(folder, read_only=read_only, task=task, take_over=take_over)
        self._session = session
        self._id = next(self._ids)
        layout = MapLayout(self._id, session.workspace)
        writer = writer_of(session.workspace.folder) if read_only else None
        give_back()
        return Opened(
            id=self._id,
            folder=folder,
            name=session.workspace.name,
            items=session.workspace.items,
            state=session.state,
            change=session.last_change,
            recovered=report.recovered,
            warnings=tuple(report.warnings),
            first_layout=layout.first,
            better_layout=None if layout.known else layout.better,
            writer="" if writer is None else str(writer),
        )

    def close(self) -> None:
        """Close the project, if one is open."""
        session, self._session, self._id = self._session, None, 0
        if session is not None:
            session.close()
            del session
            give_back()

    def answer(self, project: int, question_id: int, answer: Answer) -> tuple[int, SessionState, Change]:
        """Record an answer; on return it is on disk."""
        return (project, *self._of(project).answer(question_id, answer))

    def perform(
        self, project: int, operation: Operation, dropping: Collection[int], task: Task
    ) -> tuple[int, SessionState, Change]:
        """Carry a correction out, taking back the entries that contradict it; on return it is on disk."""
        return (project, *self._of(project).perform(operation, dropping, task))

    def change(
        self, project: int, number: int, answer: Answer | None, also: Collection[int], task: Task
    ) -> tuple[int, SessionState, Change]:
        """Change an old answer, or take an old entry back (None), and ``also`` others."""
        return (project, *self._of(project).change(number, answer, task, also))

    def merge(self, project: int, plan: MergePlan, task: Task) -> tuple[int, SessionState, Change]:
        """Take over what another annotator did."""
        return (project, *self._of(project).merge(plan, task))

    def audit(self, project: int, left: int, right: int, answer: Answer) -> tuple[int, SessionState, Change]:
        """Note what a pair of the random sample is."""
        return (project, *self._of(project).audit(left, right, answer))

    def read(self, project: int, reading: Reading, *args: Any) -> tuple[int, Any]:
        """Something that a view shows and the published state does not hold."""
        from a3s_desktop.session.conflict_copies import next_copy
        from a3s_desktop.session.known_labels import plan_labels
        from a3s_desktop.ui.cluster_order import ClusterTable
        from a3s_desktop.ui.member_rows import MemberRows

        session = self._of(project)
        overview = session.overview

        def ranked(items: IntArray) -> MemberRows:
            rows = MemberRows(items, overview.doubts(items))
            return rows.at(np.lexsort((rows.items, -rows.doubts)))

        readings: dict[Reading, Callable[..., Any]] = {
            Reading.HISTORY: session.history,
            Reading.HISTORY_PAGE: session.listing.page,
            Reading.TOUCHING: session.listing.touching,
            Reading.ENTRIES_BEHIND: session.entries_behind,
            Reading.TIMES: session.listing.times,
            Reading.AUDIT_PAIR: session.audit_pair,
            Reading.CLUSTERS: lambda: ClusterTable(overview.clusters()),
            Reading.MEMBERS: lambda cluster: ranked(session.engine.partition.members(cluster)),
            Reading.CHOSEN: ranked,
            Reading.JUNK: overview.junk,
            Reading.NEAREST: overview.nearest,
            Reading.HOMES: overview.homes,
            Reading.MERGE_PLAN: session.joint.plan,
            Reading.CONFLICT_COPY: partial(next_copy, session),
            Reading.DISAGREEMENTS: session.joint.disagreements,
            Reading.MOVED_BY: session.moved_by,
            Reading.DOUBTS: overview.doubts,
            Reading.EXPORT: session.export_state,
            Reading.LABELS: partial(plan_labels, session.engine),
        }
        return project, readings[reading](*args)

    def undo(self, project: int, task: Task) -> tuple[int, SessionState, Change]:
        """Take the last answer in force back."""
        return (project, *self._of(project).undo(task))

    def redo(self, project: int, task: Task) -> tuple[int, SessionState, Change]:
        """Put the answer that was undone last in force again."""
        return (project, *self._of(project).redo(task))

    def look_ahead(self, project: int) -> tuple[int, LookAhead]:
        """What comes after the current question."""
        return project, self._of(project).look_ahead()

    def _of(self, project: int) -> Session:
        if self._session is None or project != self._id:
            raise StaleAnswerError(tr("The project was closed meanwhile."))
        self._session.author = self.author
        return self._session


class MapLayout:
    """Positions of the map; runs on the background thread, reads memory-mapped files only.

    Parameters
    ----------
    project : int
    workspace : Workspace
    """

    def __init__(self, project: int, workspace: Any) -> None:
        self._project = project
        self._workspace = workspace
        self.known = workspace.load_layout() is not None

    def first(self, task: Task) -> tuple[int, PointGrid]:
        """The stored layout, or the principal components of the first view."""
        from a3s_desktop.core.layout import pca_layout

        task.check()
        stored = self._workspace.load_layout()
        points = stored if stored is not None else pca_layout(self._workspace.views()[0])
        return self._project, PointGrid(points)

    def better(self, task: Task) -> tuple[int, PointGrid]:
        """The layout of the neighbour graph, kept with the project."""
        from a3s_desktop.core.layout import graph_layout, pca_layout

        start = pca_layout(self._workspace.views()[0])
        initial = self._workspace.load_initial()
        layout = graph_layout(initial.graph, start, self._workspace.initial_options.seed, task)
        if not self._workspace.read_only:
            self._workspace.save_layout(layout)
        grid = PointGrid(layout)
        give_back()
        return self._project, grid
