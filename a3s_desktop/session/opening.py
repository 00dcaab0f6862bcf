"""From a description to a project, and from a project folder to a running session."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from a3s_desktop.core.initialization import initialize, stage_count
from a3s_desktop.core.types import InitialState
from a3s_desktop.errors import ProjectError, StorageFailedError
from a3s_desktop.i18n import percent, tr
from a3s_desktop.memory import give_back
from a3s_desktop.session import kept_state
from a3s_desktop.session.history import CORRECT
from a3s_desktop.session.operations import parts_differ
from a3s_desktop.session.replay import Base
from a3s_desktop.session.session import Session
from a3s_desktop.storage.artifacts import Arrays
from a3s_desktop.storage.embedding import prepare
from a3s_desktop.storage.parts import same_photo_pairs
from a3s_desktop.storage.relink import Located, find_images, load_contents, read_contents, relink
from a3s_desktop.storage.workspace import (
    ProjectSpec,
    SpecReport,
    Workspace,
    check_spec,
    create_workspace,
    open_workspace,
)
from a3s_desktop.task import Task

log = logging.getLogger(__name__)

_STEP = "step-"


@dataclass(frozen=True, slots=True)
class OpenReport:
    """What was remarkable about opening a project.

    Attributes
    ----------
    recovered : str
        What was damaged, restored and lost, for the user; empty where nothing was.
    warnings : tuple of str
        In plain words.
    """

    recovered: str
    warnings: tuple[str, ...]


def create_project(spec: ProjectSpec, task: Task, report: SpecReport | None = None) -> Workspace:
    """Check, make the folder, run stage one and keep its result: a project that is ready for its first question.

    Parameters
    ----------
    spec : ProjectSpec
    task : Task
        Cancelling it, like any error, leaves no folder behind.
    report : SpecReport, optional
        The result of `check_spec` where it was shown to the user before.

    Returns
    -------
    Workspace
        Open for writing; the caller closes it.

    Raises
    ------
    InputError, ProjectError, StorageFailedError, Cancelled
    """
    stages = 2 + stage_count(max(1, len(spec.features)), spec.initial.for_strategy(spec.strategy.strategy))
    checks = int(report is None)
    if report is None:
        task.plan(1 + stages + 2 * (spec.embedding is not None))
        task.stage(tr("Checking the files"))
        report = check_spec(spec, task)
    if report.errors:
        raise report.errors[0]
    task.plan(checks + stages + 2 * report.to_compute, checks)
    spec, report = prepare(spec, report, task)
    task.stage(tr("Copying the features"))
    workspace = create_workspace(spec, report, task)
    try:
        first_stage(workspace, task)
        note_contents(workspace, task)
    except BaseException:
        workspace.discard()
        raise
    return workspace


def open_session(
    folder: Path, read_only: bool = False, task: Task | None = None, take_over: bool = False
) -> tuple[Session, OpenReport]:
    """Open a project at the very pair where it was left.

    Where stage one was never finished (the program was killed while it ran), it is run now.

    Parameters
    ----------
    folder : Path
    read_only : bool
        Take no lock and refuse changes.
    task : Task, optional
    take_over : bool
        Also from another computer that has given no sign of life for long; the user has confirmed it.

    Returns
    -------
    session : Session
        Owns the project: `Session.close` releases it.
    report : OpenReport

    Raises
    ------
    ProjectError
        With its kin: locked by another process, of an unknown version, without the rights that are needed.
    Cancelled
    """
    task = task or Task()
    workspace = open_workspace(folder, read_only, take_over)
    try:
        initial = workspace.load_initial()
        if initial is None:
            if read_only:
                raise ProjectError(
                    tr("The project {name} was never initialized to the end.", name=repr(workspace.name)),
                    tr("Open it for writing once, then this is done."),
                )
            log.warning("Stage one of %s is missing or does not fit its features; it is run again.", folder)
            options = workspace.initial_options.for_strategy(workspace.strategy_options.strategy)
            task.plan(stage_count(len(workspace.views()), options) + 1)
            initial = first_stage(workspace, task)
        elif not read_only:
            workspace.drop_stages(_STEP)  # the program ended between the result and this
        task.stage(tr("Restoring the answers") if workspace.journal.last else tr("Looking for the first pair"))
        session = Session(
            initial,
            workspace.views(),
            workspace.strategy_options,
            workspace.journal,
            workspace=workspace,
            base=load_base(workspace),
            read_only=read_only,
            task=task,
        )
    except BaseException:
        workspace.close()
        raise
    remarks = () if workspace.journal.last else how_it_began(initial)
    return session, OpenReport(workspace.recovery.text, (*workspace.warnings, *session.warnings, *remarks))


def how_it_began(initial: InitialState) -> tuple[str, ...]:
    """What is to be known of a first clustering that did not look at everything; nothing of one that did."""
    remarks = [str(initial.report["note"])] if initial.report.get("note") else []
    recall = min(initial.report.get("recall", [1.0]))
    if recall < 1.0:
        remarks.append(
            tr("Of the most similar images, {share} were found (measured on a sample).", share=percent(recall, 1))
        )
    return tuple(remarks)


def locate_images(folder: Path, images: Path, task: Task | None = None) -> Located:
    """Tell a project that is not open where its images are now; all of them are looked for, none is dropped.

    Raises
    ------
    InputError, ProjectError, StorageFailedError, Cancelled
    """
    task = task or Task()
    task.plan(2)
    with open_workspace(folder) as workspace:
        task.stage(tr("Looking for the images"))
        located = find_images(workspace, images, task)
        task.stage(tr("Noting what the image files hold"))
        before = load_contents(workspace)
        sizes, digests = read_contents(located.root, located.paths, task)
        unknown = sizes < 0
        sizes[unknown], digests[unknown] = before[0][unknown], before[1][unknown]
        workspace.save_stage("contents", {"sizes": sizes, "digests": digests}, {})
        relink(workspace, located)
    return located


def note_contents(workspace: Workspace, task: Task) -> None:
    """Keep what the image files hold, by which they are known again; one stage of the task."""
    task.stage(tr("Noting what the image files hold"))
    sizes, digests = read_contents(workspace.items.root, workspace.items.paths, task)
    workspace.save_stage("contents", {"sizes": sizes, "digests": digests}, {})


def first_stage(workspace: Workspace, task: Task) -> InitialState:
    """Stage one, from the last step that was kept, its result kept in the project; `stage_count` stages.

    Raises
    ------
    ProjectError, StorageFailedError, DaskError, Cancelled
    """
    options = workspace.initial_options.for_strategy(workspace.strategy_options.strategy)
    initial = initialize(workspace.views(), options, task, partial(_keep_step, workspace))
    _keep_parts_apart(workspace)
    workspace.save_initial(initial)
    workspace.drop_stages(_STEP)
    give_back()
    return initial


def open_once(folder: Path, items: int) -> None:
    """Open a new project of so many images and close it, where that keeps what its first pair is chosen from.

    Not for the window, where the project is opened next anyway.

    Raises
    ------
    ProjectError, StorageFailedError
    """
    if items >= kept_state.KEPT_FROM:
        open_session(folder)[0].close()


def _keep_step(workspace: Workspace, name: str, work: Callable[[], Arrays]) -> Arrays:
    """A step of stage one: what was kept of it before the program ended, or what ``work`` computes."""
    found = workspace.load_stage(_STEP + name, mmap=False)
    if found is not None:
        return found[0]
    arrays = work()
    try:
        workspace.save_stage(_STEP + name, arrays, {})
    except StorageFailedError as error:  # it only saves time, if the program ends before the result is kept
        log.warning("A step of stage one was not kept: %s", error.message)
    return arrays


def _keep_parts_apart(workspace: Workspace) -> None:
    """What was chosen of parts of one photo, as the first entry of the history: seen there, and to be taken back.

    Before the result of stage one is kept: where that is there, the entry is, too.
    """
    if not workspace.choices.get("parts_differ") or workspace.journal.last:
        return
    pairs = same_photo_pairs(workspace.items.paths)
    if pairs:
        entry = parts_differ(pairs, time.time())
        workspace.journal.append(CORRECT, entry.payload(), entry.when)


def load_base(workspace: Workspace) -> Base | None:
    """What the engine was carried over from when images were added; None where none were, or it is damaged."""
    found = workspace.load_stage("base")
    if found is None:
        return None
    try:
        return Base.from_json(*found)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        log.warning("What was kept when images were added to %s is damaged: %s", workspace.folder, error)
        return None
