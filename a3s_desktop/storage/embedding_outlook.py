"""How long describing the images of a project will take on this computer, measured on some of them."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from a3s_desktop.storage import files, lite0
from a3s_desktop.storage.embedding import describe_images, sources_of
from a3s_desktop.storage.embedding_blocks import BlockStore, stamp_of
from a3s_desktop.storage.embedding_options import EmbeddingOptions
from a3s_desktop.storage.keys import split_key
from a3s_desktop.storage.spec import EMBEDDING, ProjectSpec, SpecReport
from a3s_desktop.task import Task

_WARM_UP = 2  # images before the clock runs: the first ones wait for libraries and caches
_ROUNDS = (4, 10)  # images of each round
_ENOUGH = 1.0  # seconds after which no further round is begun
_STEP = 256  # images between two looks at the task


@dataclass(frozen=True, slots=True)
class Outlook:
    """What describing the images of a project amounts to.

    Attributes
    ----------
    images : int
        To be described.
    ready : int
        Those of them that an earlier attempt has described already.
    seconds : float or None
        For the others, about; None where nothing could be measured.
    measured : int
        Images that this was measured on.
    unsaid : tuple of str
        What the model's file does not say and was not given: "size", "numbers" (mean and deviation).
    """

    images: int
    ready: int
    seconds: float | None
    measured: int
    unsaid: tuple[str, ...] = ()


def models_run() -> bool:
    """Whether the package that runs models is installed; it is not imported."""
    return importlib.util.find_spec("onnxruntime") is not None


def preset_there() -> bool:
    """Whether EfficientNet-Lite0 can be used."""
    return models_run() and lite0.weights_file() is not None


def measure(spec: ProjectSpec, report: SpecReport, task: Task | None = None) -> Outlook:
    """Describe a few images as the whole would be, and take the time; nothing of it is kept.

    Parameters
    ----------
    spec, report
        A description of a project whose images are to be described, and the result of `check_spec`, without errors.
    task : Task, optional

    Raises
    ------
    InputError
        The model cannot be run.
    Cancelled
    """
    task = task or Task()
    sources = sources_of(spec.embedding or EmbeddingOptions())
    unsaid = tuple(name for _, source in sources for name in getattr(source, "unsaid", ()))
    blocks = Path(os.path.abspath(spec.folder)) / EMBEDDING / "blocks"
    stores = [BlockStore(blocks, source.name) for _, source in sources]
    unreadable = frozenset(problem.path for problem in report.problems)
    todo, ready = list[str](), 0
    for at, key in enumerate(report.paths):
        if at % _STEP == 0:
            task.check()
        if key in unreadable:
            continue
        stamp = stamp_of(spec.images.joinpath(*split_key(key)[0].split("/"))) if stores[0].columns else None
        if stamp is not None and all(store.has(key, stamp) for store in stores):
            ready += 1
        else:
            todo.append(key)
    seconds, measured = 0.0, 0
    sample = _spread(todo, _WARM_UP + sum(_ROUNDS))
    with files.scratch_folder() as place:
        describe_images(spec.images, sample[:_WARM_UP], sources, Path(place), task)
        rest = sample[_WARM_UP:]
        for count in _ROUNDS:
            some, rest = rest[:count], rest[count:]
            if not some or seconds > _ENOUGH:
                break
            begun = monotonic()
            describe_images(spec.images, some, sources, Path(place), task)
            seconds += monotonic() - begun
            measured += len(some)
    estimate = seconds / measured * len(todo) if measured else (0.0 if not todo else None)
    return Outlook(len(todo) + ready, ready, estimate, measured, unsaid)


def _spread(keys: list[str], count: int) -> list[str]:
    """Some of the keys, from all over the list, in an order that mixes its parts."""
    if len(keys) <= count:
        return keys
    picked = [keys[(2 * at + 1) * len(keys) // (2 * count)] for at in range(count)]
    return picked[::2] + picked[1::2]
