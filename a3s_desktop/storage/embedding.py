"""Features for images that have none: described by the built-in descriptor, by a model, or both.

Everything computed is kept in the folder ``embedding`` of the project to be, so that work that was stopped goes on
where it was, and images that come later are described alike::

    blocks/           what each source said of each image (`embedding_blocks`)
    projection/       how it was brought to few columns
    features-0.npy    the result, until the project has its copy
"""

from __future__ import annotations

import dataclasses
import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from a3s_desktop.core import descriptor, imputation, projection
from a3s_desktop.core.types import FloatArray
from a3s_desktop.errors import A3SError, InputError
from a3s_desktop.i18n import mark, tr
from a3s_desktop.storage import array_files, artifacts, files
from a3s_desktop.storage.embedding_blocks import BlockStore, Stamp, stamp_of
from a3s_desktop.storage.embedding_options import EmbeddingOptions
from a3s_desktop.storage.features import FeatureFile
from a3s_desktop.storage.images import ImageProblem
from a3s_desktop.storage.keys import split_key
from a3s_desktop.storage.picture import PictureError, read_picture
from a3s_desktop.storage.spec import EMBEDDING, ProjectSpec, SpecReport, check_target
from a3s_desktop.task import Task

BLOCK = 256  # images of a block: what may be lost when the program is killed
_BATCH = 2  # images described at a time: what cancelling waits for
_PATIENCE = 0.03  # seconds between two looks at the task while an image is read
_READERS = 2
_AHEAD = 8  # images decoded ahead
_CHUNK = 512  # rows put together at a time
_STAGES = (mark("Describing images"), mark("Finding what tells images apart"))


class Source(Protocol):
    """Something that describes images."""

    name: str
    size: int

    def describe(self, images: npt.NDArray[np.uint8], /) -> FloatArray:
        """Rows of images of shape (B, size, size, 3)."""


@dataclass(slots=True)
class _BuiltIn:
    name: str = f"builtin{descriptor.VERSION}"
    size: int = descriptor.SIDE

    def describe(self, images: npt.NDArray[np.uint8], /) -> FloatArray:
        return descriptor.describe(images)


@dataclass(frozen=True, slots=True)
class Described:
    """What was computed.

    Attributes
    ----------
    stores : tuple of (float, BlockStore)
        Weight and rows of each source.
    problems : tuple of ImageProblem
        Images that could not be read; they have no rows.
    """

    stores: tuple[tuple[float, BlockStore], ...]
    problems: tuple[ImageProblem, ...]


def sources_of(options: EmbeddingOptions) -> list[tuple[float, Source]]:
    """Weight and source of each description, ready to run.

    Raises
    ------
    InputError
        The model, or the package that runs it, is not there or cannot be used.
    """
    found: list[tuple[float, Source]] = []
    if options.model:
        from a3s_desktop.storage.onnx_model import OnnxModel

        found.append((1.0, OnnxModel(options.model, options.model_options)))
    if options.descriptor:
        found.append((options.descriptor_weight if found else 1.0, _BuiltIn()))
    return found


def prepare(spec: ProjectSpec, report: SpecReport, task: Task | None = None) -> tuple[ProjectSpec, SpecReport]:
    """Compute what the features lack, in the project's folder; returns the spec and report as if it had been given.

    Finished blocks stay when the task is cancelled, and are used the next time.

    Parameters
    ----------
    spec, report
        A description of a project and the result of `check_spec`; nothing is done where nothing is to be computed.
    task : Task, optional
        Gets two stages.

    Raises
    ------
    A3SError
        The first error of the report; `InputError` where too few images could be read; `StorageFailedError`.
    Cancelled
        The task was cancelled.
    """
    task = task or Task()
    if report.errors:
        raise report.errors[0]
    if not report.to_compute:
        return spec, report
    check_target(spec)
    options = spec.embedding or EmbeddingOptions()
    folder = Path(os.path.abspath(spec.folder)) / EMBEDDING
    keys = report.paths
    task.stage(tr(_STAGES[0]))
    known = frozenset(problem.path for problem in report.problems)
    described = describe_images(spec.images, keys, sources_of(options), folder / "blocks", task, known)
    if len(keys) - len(described.problems) < 3:
        raise InputError(
            tr("Fewer than three of the images can be read, so there is nothing to compare."),
            tr("Check the image folder."),
        )
    task.stage(tr(_STAGES[1]))
    views = _completed(report, described, options, folder, task) if report.views else None
    if views is None:
        views = [_reduced(described, keys, options, folder, task)]
    assert report.match is not None
    listed = {problem.path for problem in report.problems}
    problems = (*report.problems, *(problem for problem in described.problems if problem.path not in listed))
    return (
        dataclasses.replace(spec, features=tuple(view.path for view in views)),
        dataclasses.replace(
            report,
            views=tuple(views),
            match=dataclasses.replace(report.match, rows=(None,) * len(views)),
            rows=len(keys),
            columns=tuple(int(view.values.shape[1]) for view in views),
            problems=problems,
        ),
    )


def describe_later(
    project: Path, root: Path, keys: Sequence[str], task: Task | None = None
) -> tuple[FloatArray, tuple[ImageProblem, ...]]:
    """Describe images that come later as those of a project were described, and keep what was computed.

    Parameters
    ----------
    project, root : Path
        The project's folder and the image folder.
    keys : sequence of str
    task : Task, optional

    Returns
    -------
    rows : float32, shape (len(keys), D)
        Of images that could not be read: a direction by chance, which resembles nothing.
    problems : tuple of ImageProblem

    Raises
    ------
    ProjectError
        The project has no such descriptions, or they are damaged.
    InputError
        The model is not there any more.
    Cancelled
    """
    task = task or Task()
    arrays, meta = artifacts.load_arrays(project / EMBEDDING / "projection")
    options = EmbeddingOptions.from_json(meta["options"])
    described = describe_images(root, keys, sources_of(options), project / EMBEDDING / "blocks", task)
    learned = projection.Projection(arrays["mean"], arrays["axes"])
    return _placed(described, keys, learned, task, len(keys)), described.problems


# ------------------------------------------------------------------------------------------------ reading images


def describe_images(
    root: Path,
    keys: Sequence[str],
    sources: Sequence[tuple[float, Source]],
    folder: Path,
    task: Task,
    unreadable: frozenset[str] = frozenset(),
) -> Described:
    """Describe all images that no block describes yet.

    Parameters
    ----------
    root : Path
        The image folder.
    keys : sequence of str
        Images, or parts of images.
    sources
        Weight and source of each description.
    folder : Path
        Of the blocks.
    task : Task
    unreadable : frozenset of str
        Keys that are known not to be readable; they are not tried.
    """
    stores = [BlockStore(folder, source.name) for _, source in sources]
    stamps = {photo: stamp_of(root.joinpath(*photo.split("/"))) for photo in {split_key(key)[0] for key in keys}}
    problems: list[ImageProblem] = []
    wanted: list[tuple[str, Stamp]] = []
    for key in keys:
        stamp = stamps[split_key(key)[0]]
        for store in stores:
            if stamp is None or not store.has(key, stamp):
                store.forget(iter((key,)))
        if key in unreadable:
            continue
        if stamp is None:
            problems.append(ImageProblem(key, tr("the file is missing")))
        elif not all(store.has(key, stamp) for store in stores):
            wanted.append((key, stamp))
    work = _Work(root, [source for _, source in sources], stores, task)
    problems += work.run(wanted, len(keys))
    problems += [ImageProblem(key, tr("it cannot be read")) for key in keys if key in unreadable]
    return Described(tuple(zip((weight for weight, _ in sources), stores, strict=True)), tuple(problems))


class _Work:
    """Decodes ahead in threads of its own, describes in this one, saves block by block."""

    def __init__(self, root: Path, sources: list[Source], stores: list[BlockStore], task: Task) -> None:
        self._root = root
        self._sources = sources
        self._stores = stores
        self._task = task
        self._keys: list[str] = []
        self._stamps: list[Stamp] = []
        self._rows: list[list[FloatArray]] = [[] for _ in sources]

    def run(self, wanted: list[tuple[str, Stamp]], total: int) -> list[ImageProblem]:
        """Describe what is wanted; returns what could not be read."""
        problems: list[ImageProblem] = []
        done = total - len(wanted)
        batch: list[tuple[str, Stamp, list[npt.NDArray[np.uint8]]]] = []
        pool = ThreadPoolExecutor(_READERS, "a3s-describe")
        try:
            waiting: deque[tuple[str, Stamp, Future[list[npt.NDArray[np.uint8]]]]] = deque()
            rest = iter(wanted)
            for key, stamp in rest:
                waiting.append((key, stamp, pool.submit(self._squares, key)))
                if len(waiting) >= _AHEAD:
                    break
            while waiting:
                self._task.step(done / total)
                key, stamp, future = waiting.popleft()
                try:
                    batch.append((key, stamp, self._wait(future)))
                except PictureError as error:
                    problems.append(ImageProblem(key, str(error)))
                done += 1
                following = next(rest, None)
                if following is not None:
                    waiting.append((*following, pool.submit(self._squares, following[0])))
                if len(batch) >= _BATCH or not waiting:
                    self._describe(batch)
                    batch = []
                if len(self._keys) >= BLOCK or not waiting:
                    self._save()
        except BaseException as error:
            pool.shutdown(wait=False, cancel_futures=True)
            if not isinstance(error, A3SError):
                self._save()  # cancelled: what was described is kept
            raise
        pool.shutdown()
        return problems

    def _wait(self, future: Future[list[npt.NDArray[np.uint8]]]) -> list[npt.NDArray[np.uint8]]:
        """What a thread reads, unless the task is cancelled before."""
        while True:
            try:
                return future.result(_PATIENCE)
            except TimeoutError:
                self._task.check()

    def _squares(self, key: str) -> list[npt.NDArray[np.uint8]]:
        """An image as each source wants it: a square, whatever the shape was."""
        from PIL import Image

        photo, part = split_key(key)
        largest = max(source.size for source in self._sources)
        picture = read_picture(self._root.joinpath(*photo.split("/")), (2 * largest, 2 * largest), part)
        image = Image.fromarray(picture.opaque())
        return [
            np.asarray(image.resize((source.size,) * 2, Image.Resampling.BILINEAR, reducing_gap=2.0))
            for source in self._sources
        ]

    def _describe(self, batch: list[tuple[str, Stamp, list[npt.NDArray[np.uint8]]]]) -> None:
        if not batch:
            return
        for at, source in enumerate(self._sources):
            self._rows[at].append(source.describe(np.stack([squares[at] for _, _, squares in batch])))
        self._keys += [key for key, _, _ in batch]
        self._stamps += [stamp for _, stamp, _ in batch]

    def _save(self) -> None:
        if self._keys:
            for store, rows in zip(self._stores, self._rows, strict=True):
                store.save(self._keys, self._stamps, np.concatenate(rows))
        self._keys, self._stamps, self._rows = [], [], [[] for _ in self._sources]


# ------------------------------------------------------------------------------------------------ features


def _blocks(described: Described, keys: Sequence[str]) -> Iterator[tuple[FloatArray, list[int]]]:
    """Weighted rows of all sources side by side, in blocks, and the item of each row; unknown items are left out."""
    for start in range(0, len(keys), _CHUNK):
        chunk = keys[start : start + _CHUNK]
        parts, known = [], np.ones(len(chunk), bool)
        for weight, store in described.stores:
            rows, there = store.rows(chunk)
            parts.append(np.float32(weight) * rows)
            known &= there
        yield np.concatenate(parts, axis=1)[known], (np.flatnonzero(known) + start).tolist()


def _projected(
    described: Described, keys: Sequence[str], dimensions: int, task: Task
) -> tuple[projection.Projection, FloatArray]:
    """The projection learned from all images that could be read, and the rows of all images."""
    width = sum(store.columns for _, store in described.stores)

    def rows() -> Iterator[FloatArray]:
        for block, _ in _blocks(described, keys):
            task.check()
            yield block

    learned = projection.learn(rows, width, dimensions)
    task.step(0.7)
    return learned, _placed(described, keys, learned, task, 0)


def _placed(
    described: Described, keys: Sequence[str], learned: projection.Projection, task: Task, seed: int
) -> FloatArray:
    """Rows of all images; one that could not be read gets a direction of its own by chance: it resembles nothing."""
    chance = np.random.default_rng(seed).normal(size=(len(keys), learned.axes.shape[1]))
    result = descriptor.unit(chance)
    for block, items in _blocks(described, keys):
        task.check()
        if items:
            result[items] = learned.apply(block)
    return result


def _reduced(
    described: Described, keys: Sequence[str], options: EmbeddingOptions, folder: Path, task: Task
) -> FeatureFile:
    learned, rows = _projected(described, keys, options.dimensions, task)
    place = folder / "projection"
    if place.exists():
        files.remove_tree(place)
    artifacts.save_arrays(place, {"mean": learned.mean, "axes": learned.axes}, {"options": options.to_json()})
    return _kept(folder / "features-0.npy", rows)


def _completed(
    report: SpecReport, described: Described, options: EmbeddingOptions, folder: Path, task: Task
) -> list[FeatureFile]:
    """Given features with rows for the images that have none.

    By the model itself where it plainly made the others (as many columns), else estimated: the mean of the features of
    the images that look most alike by the description.
    """
    assert report.match is not None
    keys = report.paths
    result = []
    alike: FloatArray | None = None
    for number, (view, rows) in enumerate(zip(report.views, report.match.rows, strict=True)):
        values = np.empty((len(keys), view.values.shape[1]), np.float32)
        at = rows if rows is not None else np.arange(len(keys))
        has = at >= 0
        values[has] = view.values[at[has]]
        lacking = np.flatnonzero(~has)
        exact = options.model and described.stores[0][1].columns == values.shape[1]
        if exact and len(lacking):
            store = described.stores[0][1]
            there, known = store.rows([keys[item] for item in lacking])
            lengths = 1.0 if report.unit_norm[number] else store.lengths([keys[item] for item in lacking])[:, None]
            values[lacking[known]] = (there * lengths)[known]
            lacking = lacking[~known]
        if len(lacking):
            if alike is None:
                _, alike = _projected(described, keys, options.dimensions, task)
            values[lacking] = imputation.from_alike(alike, values, np.flatnonzero(has), lacking)
        result.append(_kept(folder / f"features-{number}.npy", values))
    return result


def _kept(path: Path, rows: FloatArray) -> FeatureFile:
    with files.atomic_file(path) as file:
        array_files.write_array(file, rows)
    return FeatureFile(array_files.load_written(path), None, path)
