"""A project whose stage one runs on a Dask cluster, for more images than one computer compares in good time."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

from a3s_desktop.core.initialization import stage_count
from a3s_desktop.distributed.cluster import at_work
from a3s_desktop.errors import InputError
from a3s_desktop.i18n import tr
from a3s_desktop.session.opening import first_stage, note_contents
from a3s_desktop.storage import files
from a3s_desktop.storage.workspace import ProjectSpec, SpecReport, Workspace, create_workspace, open_workspace
from a3s_desktop.task import Task


def prepare_project(spec: ProjectSpec, report: SpecReport | None, scheduler: str, task: Task) -> Workspace:
    """Make a project and have a cluster run stage one; the result is a project like any other.

    Unlike `opening.create_project` it keeps what is finished, whatever ends the work: the same call goes on after the
    last step that was kept.

    Parameters
    ----------
    spec : ProjectSpec
        Its folder must be on a drive that all computers of the cluster reach by the same path.
    report : SpecReport or None
        What the check of ``spec`` found, without errors; None to go on with a project that is there (`unfinished`).
    scheduler : str
        Address of the Dask scheduler, ``tcp://HOST:PORT``.
    task : Task

    Returns
    -------
    Workspace
        Open for writing; the caller closes it.

    Raises
    ------
    InputError, ProjectError, StorageFailedError, DaskError, Cancelled
    """
    options = spec.initial.for_strategy(spec.strategy.strategy)
    folder = Path(os.path.abspath(spec.folder))
    task.plan(3 + stage_count(len(spec.features), options))
    task.stage(tr("Connecting to the cluster"))
    with ExitStack() as failing:
        with at_work(scheduler, folder.parent, task):
            task.stage(tr("Copying the features"))
            workspace = open_workspace(folder) if report is None else create_workspace(spec, report, task)
            failing.callback(workspace.close)
            first_stage(workspace, task)
        note_contents(workspace, task)
        failing.pop_all()
    return workspace


def unfinished(spec: ProjectSpec) -> bool:
    """Whether the project is there already, of these features and options, but stage one was never finished.

    Raises
    ------
    InputError
        It is of other features or options.
    ProjectError
        It is damaged, or cannot be read.
    """
    folder = Path(os.path.abspath(spec.folder))
    if not (folder / "project.json").is_file():
        return False
    with open_workspace(folder, read_only=True) as workspace:
        if workspace.load_initial() is not None:
            return False
        sources = [str(view["source"]) for view in workspace.facts["features"]]
        same = workspace.initial_options == spec.initial and workspace.strategy_options == spec.strategy
    if not same or sources != [str(path) for path in spec.features]:
        raise InputError(
            tr("{folder} is an unfinished project of other features or options.", folder=files.show(folder)),
            tr("Choose another folder, or give the same features and options again."),
        )
    return True
