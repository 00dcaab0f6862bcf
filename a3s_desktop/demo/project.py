"""A demo as a project that is ready to be opened."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from a3s_desktop.demo import digits, ladybirds
from a3s_desktop.demo.data import DemoData, make_parents
from a3s_desktop.errors import InputError, ProjectError
from a3s_desktop.i18n import mark, tr
from a3s_desktop.session.opening import create_project
from a3s_desktop.storage.spec import ProjectSpec
from a3s_desktop.task import Task


def _ladybirds(folder: Path, task: Task) -> DemoData:
    return ladybirds.write_demo(folder, task=task)


def _digits(folder: Path, task: Task) -> DemoData:
    return digits.write_demo(folder, task=task)


_WRITERS: Mapping[str, Callable[[Path, Task], DemoData]] = {"ladybirds": _ladybirds, "digits": _digits}
DEMOS = tuple(_WRITERS)
_TITLES = {"ladybirds": mark("Ladybirds (demo)"), "digits": mark("Digits (demo)")}


def demo_data(name: str, folder: Path, task: Task) -> DemoData:
    """The data of a demo in ``folder``/``name``; written where it is not there yet.

    Raises
    ------
    InputError
        There is no demo of that name.
    ProjectError
        Something else is in the way.
    StorageFailedError, Cancelled
    """
    if name not in _WRITERS:
        raise InputError(
            tr("There is no demo called {name}.", name=repr(name)), tr("There are: {value}.", value=", ".join(DEMOS))
        )
    data = DemoData.at(folder / name)
    if data.complete:
        return data
    if data.folder.exists() and (not data.folder.is_dir() or any(data.folder.iterdir())):
        raise ProjectError(
            tr("{folder} holds something that is not the whole demo.", folder=data.folder),
            tr("Move it away, and start the demo again."),
        )
    return _WRITERS[name](data.folder, task)


def demo_project(name: str, folder: Path, task: Task) -> Path:
    """The project of a demo below ``folder``; made where it is not there yet, else left as it is, answers and all.

    Parameters
    ----------
    name : str
        One of `DEMOS`.
    folder : Path
        Data go to ``folder``/``name``, the project to ``folder``/``name``-project.
    task : Task

    Returns
    -------
    Path
        The project folder.

    Raises
    ------
    InputError, ProjectError, StorageFailedError, Cancelled
    """
    project = folder / f"{name}-project"
    if (project / "project.json").is_file():
        return project
    data = demo_data(name, folder, task)
    make_parents(project)
    spec = ProjectSpec(
        folder=project,
        images=data.images,
        features=(data.features,),
        order=data.order,
        labels=data.labels,
        name=tr(_TITLES[name]),
    )
    create_project(spec, task).close()
    return project
