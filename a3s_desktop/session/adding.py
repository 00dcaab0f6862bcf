"""Add images to a project: every answer, name, correction and mark is kept, and only the new ones are asked about."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.carrying import with_more_samples
from a3s_desktop.core.fpc import compact
from a3s_desktop.core.later import extended_graph, stage_count
from a3s_desktop.core.placing import place
from a3s_desktop.core.types import FloatArray, InitialOptions, InitialState, IntArray, StrategyOptions
from a3s_desktop.i18n import markn, number, tr, trn
from a3s_desktop.session.opening import open_session
from a3s_desktop.session.operations import PartsDiffer
from a3s_desktop.session.replay import Base
from a3s_desktop.session.session import Session
from a3s_desktop.storage.drafts import Draft, check_space
from a3s_desktop.storage.images import ImageProblem
from a3s_desktop.storage.items import Items
from a3s_desktop.storage.later_images import AddReport, AddSpec, check_addition
from a3s_desktop.storage.parts import same_photo_pairs
from a3s_desktop.storage.relink import load_contents, read_contents
from a3s_desktop.storage.workspace import Workspace, open_workspace
from a3s_desktop.task import Task

_BLOCK_ROWS = 4096
_EDGE_BYTES = 40  # that a neighbour of an image takes in the graph


@dataclass(frozen=True, slots=True)
class Added:
    """What became of the new images.

    Attributes
    ----------
    images : int
    placed : int
        Joined a cluster that was there, as a guess that questions may take back.
    grouped, clusters : int
        Make up new clusters, and how many.
    single : int
    answers : int
        Kept, *same* and *different*.
    problems : tuple of ImageProblem
        New images that cannot be shown.
    """

    images: int
    placed: int
    grouped: int
    clusters: int
    single: int
    answers: int
    problems: tuple[ImageProblem, ...]

    def text(self) -> str:
        """The outcome in a few plain sentences."""
        parts = [
            trn("{n} image was added.", "{n} images were added.", self.images),
            trn(
                "{n} of them was put into a cluster that was there, as a guess.",
                "{n} of them were put into clusters that were there, as a guess.",
                self.placed,
            ),
        ]
        if self.clusters:
            texts = markn(
                "{n} new cluster holds {images} of them, {single} stay single.",
                "{n} new clusters hold {images} of them, {single} stay single.",
            )
            parts.append(trn(*texts, self.clusters, images=number(self.grouped), single=number(self.single)))
        elif self.single:
            parts.append(trn("{n} stays single.", "{n} stay single.", self.single))
        parts.append(trn("{n} answer was kept.", "All {n} answers were kept.", self.answers))
        return " ".join(parts)


def check_images(folder: Path, spec: AddSpec, task: Task | None = None) -> AddReport:
    """Check images to be added to a project; see `check_addition`. Raises `ProjectError` and its kin, `Cancelled`."""
    with open_workspace(folder, read_only=True) as workspace:
        return check_addition(workspace, spec, task)


def add_images(folder: Path, spec: AddSpec, task: Task | None = None) -> Added:
    """Add images to a project that is not open.

    The old items keep their numbers and clusters. Undo does not take the addition back: what the project was before
    stays in its folder ``earlier``. Answers from before can still be taken back; their clusters then stay as guesses.

    Parameters
    ----------
    folder : Path
    spec : AddSpec
    task : Task, optional
        Cancelling it, like any error, leaves the project as it was.

    Raises
    ------
    InputError, ProjectError, StorageFailedError, Cancelled
    """
    task = task or Task()
    session, _ = open_session(folder, task=task)
    try:
        workspace = session.workspace
        assert workspace is not None
        described = not spec.features
        refined = session.initial.graph.similarity is not None
        task.plan(3 + described + stage_count(len(workspace.views()), refined))
        task.stage(tr("Checking the files"))
        report = check_addition(workspace, spec, task)
        if report.errors:
            raise report.errors[0]
        check_space(folder, _needed(workspace, len(report.paths)))
        draft = Draft(workspace)
        try:
            added = _write(session, workspace, draft, report, task)
        finally:
            draft.discard()
        first, differ = len(workspace.items), bool(workspace.choices.get("parts_differ"))
    finally:
        session.close()
    if differ:
        _keep_parts_apart(folder, first)
    return added


def _keep_parts_apart(folder: Path, first: int) -> None:
    """Two parts of one new photo differ, or a new part and an old one, where that was chosen for the project."""
    session, _ = open_session(folder)
    try:
        assert session.workspace is not None
        pairs = tuple(pair for pair in same_photo_pairs(session.workspace.items.paths) if max(pair) >= first)
        if pairs:
            session.perform(PartsDiffer(pairs))
    finally:
        session.close()


def _needed(workspace: Workspace, more: int) -> int:
    count = len(workspace.items) + more
    columns = sum(int(view.shape[1]) for view in workspace.views())
    return 4 * count * columns + _EDGE_BYTES * count * workspace.initial_options.neighbors


def _write(session: Session, workspace: Workspace, draft: Draft, report: AddReport, task: Task) -> Added:
    rows, problems = _rows(workspace, report, task)
    task.stage(tr("Writing the features"))
    old = workspace.views()
    views = []
    for at, (before, new) in enumerate(zip(old, rows, strict=True)):
        source = str(report.views[at].path) if report.views else ""
        count = len(before) + len(new)
        views.append(draft.add_view(source, count, before.shape[1], _blocks(before, new, task)))
    unreadable = {problem.path: problem.reason for problem in problems}
    shown = dict(workspace.items.problems)
    shown.update({at: unreadable[key] for at, key in enumerate(report.paths, len(old[0])) if key in unreadable})
    draft.set_items(Items(report.root, report.kept + report.paths, shown))
    initial, base, homes = extended(session, views, workspace.initial_options, workspace.strategy_options, task)
    draft.save_initial(initial)
    if base is not None:
        draft.save_stage("base", base.arrays, base.to_json())
    sizes, digests = load_contents(workspace)
    new_sizes, new_digests = read_contents(report.root, report.paths, task)
    contents: dict[str, npt.NDArray[Any]] = {
        "sizes": np.concatenate((sizes, new_sizes)),
        "digests": np.concatenate((digests, new_digests)),
    }
    draft.save_stage("contents", contents, {})
    task.check()
    answers = session.state.answers
    change = {"what": "add", "images": len(report.paths), "answers": answers, "at": time.time()}
    draft.commit(change)
    counts = np.unique(homes[homes > session.engine.labels.max(initial=-1)], return_counts=True)[1]
    return Added(
        images=len(report.paths),
        placed=len(homes) - int(counts.sum()),
        grouped=int(counts[counts > 1].sum()),
        clusters=int((counts > 1).sum()),
        single=int((counts == 1).sum()),
        answers=answers,
        problems=tuple(problem for problem in problems if problem.path in set(report.paths)),
    )


def _rows(
    workspace: Workspace, report: AddReport, task: Task
) -> tuple[list[npt.NDArray[Any]], tuple[ImageProblem, ...]]:
    """Features of the new images in their order, and what could not be read of them."""
    if report.views:
        taken = [view.values[rows] for view, rows in zip(report.views, report.rows, strict=True)]
        return taken, report.problems
    from a3s_desktop.storage.embedding import describe_later

    task.stage(tr("Describing images"))
    described, problems = describe_later(workspace.folder, report.root, report.paths, task)
    return [described], (*report.problems, *problems)


def _blocks(before: FloatArray, new: npt.NDArray[Any], task: Task) -> Iterator[npt.NDArray[Any]]:
    count = len(before) + len(new)
    done = 0
    for part in (before, new):
        for start in range(0, len(part), _BLOCK_ROWS):
            block = part[start : start + _BLOCK_ROWS]
            task.step(done / count)
            done += len(block)
            yield block


def extended(
    session: Session,
    views: Sequence[npt.NDArray[Any]],
    initial_options: InitialOptions,
    strategy_options: StrategyOptions,
    task: Task,
) -> tuple[InitialState, Base | None, IntArray]:
    """A session's state with more images.

    Parameters
    ----------
    session : Session
    views : sequence of float32 (N, D_v)
        Features of all images, the old ones first.
    initial_options, strategy_options
        Of the session.
    task : Task
        Gets `later.stage_count` stages and one more.

    Returns
    -------
    initial : InitialState
        With the graph of all images; its clusters are the present ones, with the new images placed.
    base : Base or None
        The engine to go on with; None where the strategy starts anew from those clusters and the answers.
    homes : int32
        The cluster of each new image; those above all present ids are new.
    """
    engine, old = session.engine, session.initial
    options = initial_options.for_strategy(strategy_options.strategy)
    labels = engine.labels.copy()
    graph = extended_graph(old.graph, views, labels, options, task)
    arrays, meta = engine.dump()
    closed = {*engine.finished_clusters(), *labels[engine.junk.samples()].tolist()}
    homes = place(graph, labels, closed, int(meta["next_id"]), options.seed, task)
    together = compact(np.concatenate((labels, homes)))
    sizes = np.bincount(together)
    report = {
        **old.report,
        "samples": graph.n,
        "neighbors": min(options.neighbors, graph.n - 1),
        "edges": len(graph.indices) // 2,
        "miss": graph.miss,
        "clusters": int(np.count_nonzero(sizes > 1)),
        "singletons": int(np.count_nonzero(sizes == 1)),
    }
    initial = InitialState(together, graph, report)
    if strategy_options.strategy != "a3s":
        return initial, None, homes
    return initial, Base(session.start, *with_more_samples(arrays, meta, homes)), homes
