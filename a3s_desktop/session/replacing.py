"""Replace the features of a project, say by those of a better model: told before what it would change."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.initialization import initialize, stage_count
from a3s_desktop.core.types import IndexArray, IntArray
from a3s_desktop.errors import A3SError, InputError
from a3s_desktop.i18n import number, tr, trn
from a3s_desktop.session.opening import open_session
from a3s_desktop.session.session import Session
from a3s_desktop.session.state import HistoryEntry, SessionState
from a3s_desktop.storage import features
from a3s_desktop.storage.drafts import Draft, check_space
from a3s_desktop.storage.items import Items
from a3s_desktop.storage.journal_types import MemoryJournal
from a3s_desktop.storage.matching import Unmatched, match_rows
from a3s_desktop.storage.relink import load_contents
from a3s_desktop.task import Task

DOUBTFUL = 0.8
"""Features doubt an answer that they give less than one in five."""

_EDGE_BYTES = 40  # that a neighbour of an image takes in the graph


@dataclass(frozen=True, slots=True)
class ReplaceSpec:
    """The features to be.

    Attributes
    ----------
    features : tuple of Path
        With rows of all the project's images: named, listed in ``order``, or in the project's own order.
    order : Path or None
    """

    features: tuple[Path, ...]
    order: Path | None = None


@dataclass(frozen=True, slots=True)
class Replacement:
    """What new features would change.

    Attributes
    ----------
    images, moved : int
        In all, and those that would be in another cluster.
    clusters, singletons : (int, int)
        Before and after.
    answers : int
        Kept, all of them.
    doubted : tuple of HistoryEntry
        Answers that the new features speak against, most first; ``doubted_before`` counts those of the present ones.
    doubted_before : int
    """

    images: int
    moved: int
    clusters: tuple[int, int]
    singletons: tuple[int, int]
    answers: int
    doubted: tuple[HistoryEntry, ...]
    doubted_before: int

    def text(self) -> str:
        """The change in a few plain sentences."""
        return " ".join(
            (
                trn(
                    "{n} of {images} images would be in another cluster.",
                    "{n} of {images} images would be in other clusters.",
                    self.moved,
                    images=number(self.images),
                ),
                tr(
                    "Clusters: {after} instead of {before}; single images: {single} instead of {single_before}.",
                    after=number(self.clusters[1]),
                    before=number(self.clusters[0]),
                    single=number(self.singletons[1]),
                    single_before=number(self.singletons[0]),
                ),
                trn("The {n} answer stays in force.", "All {n} answers stay in force.", self.answers),
                tr(
                    "The new features speak against {count} of them, the present ones against {before}.",
                    count=number(len(self.doubted)),
                    before=number(self.doubted_before),
                ),
            )
        )


class Replacing:
    """New features of a project, worked out but not in force; a context manager that leaves the project as it was.

    Parameters
    ----------
    folder : Path
        Of a project that is not open; it is locked until `close`.
    spec : ReplaceSpec
    task : Task, optional

    Attributes
    ----------
    report : Replacement

    Raises
    ------
    InputError, ProjectError, StorageFailedError, Cancelled
    """

    def __init__(self, folder: Path, spec: ReplaceSpec, task: Task | None = None) -> None:
        self._spec = spec
        self._session, _ = open_session(folder, task=task)
        assert self._session.workspace is not None
        self._workspace = self._session.workspace
        self._draft: Draft | None = None
        try:
            self._draft = Draft(self._workspace)
            self.report = self._prepare(self._draft, task or Task())
        except BaseException:
            self.close()
            raise

    @property
    def items(self) -> Items:
        """The project's images, for showing what ``report`` is about."""
        return self._workspace.items

    def commit(self) -> None:
        """Let the new features count; the project is to be opened anew. Raises `StorageFailedError`."""
        assert self._draft is not None
        self._draft.commit({"what": "features", "answers": self.report.answers, "at": time.time()})

    def close(self) -> None:
        """Remove what was not committed, and release the project. May be called twice."""
        try:
            if self._draft is not None:
                self._draft.discard()
        finally:
            self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _prepare(self, draft: Draft, task: Task) -> Replacement:
        workspace, session = self._workspace, self._session
        draft.replace_views(len(self._spec.features))
        options = draft.initial_options.for_strategy(workspace.strategy_options.strategy)
        task.plan(3 + stage_count(len(self._spec.features), options))
        task.stage(tr("Checking the files"))
        rows = self._rows(task)
        columns = sum(values.shape[1] for values, _ in rows)
        check_space(workspace.folder, len(workspace.items) * (4 * columns + _EDGE_BYTES * options.neighbors))
        task.stage(tr("Writing the features"))
        views = []
        for path, (values, order) in zip(self._spec.features, rows, strict=True):
            blocks = (values[order[at : at + 4096]] for at in range(0, len(order), 4096))
            views.append(draft.add_view(str(path), len(order), values.shape[1], blocks))
        initial = initialize(views, options, task)
        draft.set_items(workspace.items)
        draft.save_initial(initial)
        sizes, digests = load_contents(workspace)
        draft.save_stage("contents", {"sizes": sizes, "digests": digests}, {})
        task.stage(tr("Going through the answers"))
        journal = MemoryJournal()
        for record in workspace.journal.records():
            journal.append(record.kind, record.payload, record.at)
        then = Session(initial, views, workspace.strategy_options, journal, read_only=True, snapshot_every=0, task=task)
        return compare(session.state, then.state, session.history(), then.history())

    def _rows(self, task: Task) -> list[tuple[npt.NDArray[Any], IndexArray]]:
        """Values of each file, and the row of each item."""
        items = self._workspace.items
        if not self._spec.features:
            raise InputError(tr("No feature file is given."), tr("Choose the features of all images of the project."))
        views = []
        problems: list[A3SError] = []
        for path in self._spec.features:
            view = features.load_features(path, task)
            problems += features.examine(view, task).problems
            views.append(view)
        if problems:
            raise problems[0]
        match = match_rows(items.paths, views, self._spec.order, str(items.root), Unmatched(rows="leave out"))
        at = {path: row for row, path in enumerate(match.paths)}
        order = np.array([at[path] for path in items.paths], np.int64)
        return [
            (view.values, order if rows is None else rows[order]) for view, rows in zip(views, match.rows, strict=True)
        ]


def compare(
    before: SessionState,
    after: SessionState,
    old_entries: Sequence[HistoryEntry],
    new_entries: Sequence[HistoryEntry],
) -> Replacement:
    """What is different between two states of the same images and entries."""
    doubted = sorted((entry for entry in new_entries if entry.doubt >= DOUBTFUL), key=lambda entry: -entry.doubt)
    return Replacement(
        images=before.items,
        moved=moved_between(before.labels, after.labels),
        clusters=(before.clusters, after.clusters),
        singletons=(before.singletons, after.singletons),
        answers=before.answers,
        doubted=tuple(doubted),
        doubted_before=sum(entry.doubt >= DOUBTFUL for entry in old_entries),
    )


def moved_between(before: IntArray, after: IntArray) -> int:
    """Items that are not in the cluster that became of theirs: clusters are paired by what they share, most first."""
    _, old = np.unique(before, return_inverse=True)
    _, new = np.unique(after, return_inverse=True)
    pairs, shared = np.unique(np.stack((old, new), axis=1), axis=0, return_counts=True)
    taken_old, taken_new, stayed = set[int](), set[int](), 0
    for at in np.lexsort((pairs[:, 1], pairs[:, 0], -shared)).tolist():
        a, b = int(pairs[at, 0]), int(pairs[at, 1])
        if a not in taken_old and b not in taken_new:
            taken_old.add(a)
            taken_new.add(b)
            stayed += int(shared[at])
    return len(before) - stayed
