"""Synthetic photo-ID data: ladybirds that differ by their spots, photographed again and again.

The users' own job, without questions of licence or privacy: tell individuals apart by natural marks.
"""

from __future__ import annotations

import io
import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import numpy as np
import numpy.typing as npt

from a3s_desktop.demo.backgrounds import backgrounds
from a3s_desktop.demo.beetle import TEXTURE, Pose, paint, photograph
from a3s_desktop.demo.camera import backdrop, develop, pose
from a3s_desktop.demo.data import DemoData, image_names, make_image_folders, make_parents, write_image, write_tables
from a3s_desktop.demo.individuals import Individual, individuals
from a3s_desktop.errors import InputError
from a3s_desktop.i18n import tr
from a3s_desktop.storage.files import atomic_folder
from a3s_desktop.task import Task

Array = npt.NDArray[np.float32]

# The stand-in for an embedding model. Fixed: the same animals give the same features in every project.
DIMENSIONS = 128
_MODEL_SEED = 20240721
SEED = 3  # of the demo that ships
# Set so that the demo is a fair task. Means over seeds 2-6 with 24 individuals x 10 photographs: ARI .67 after stage
# one, .70 of K-means that is told the true number, .97 after 150 answers (.99 for the demo that ships).
NOISE = 1.10  # of a typical photograph, relative to the spread between individuals
NOISE_SPREAD = 0.30  # some photographs are much worse than others (sigma of a log-normal)
NUISANCE = 0.60  # what the model takes from pose and light, relative to the spread between individuals


def embed(rng: np.random.Generator, patterns: Array, poses: list[Pose]) -> Array:
    """What an embedding model would say of each photograph.

    A fixed random projection of the animal's pattern, plus what pose and light contribute (shared by all animals, so
    it pulls photographs of one animal apart along few directions), plus noise whose size differs from photograph to
    photograph; then unit norm.

    Parameters
    ----------
    rng : numpy.random.Generator
    patterns : float32, shape (N, P)
        The pattern of the individual on each photograph.
    poses : list of Pose, length N

    Returns
    -------
    float32, shape (N, DIMENSIONS)
        Rows of unit norm.
    """
    model = np.random.default_rng(_MODEL_SEED)
    n, size = patterns.shape
    spread = 6.0  # typical length of a pattern, centred
    project = model.standard_normal((size, DIMENSIONS)) / (spread * math.sqrt(DIMENSIONS))
    view = np.asarray([[p.turn / 0.45, p.tilt / 0.22, p.lean / 0.26, p.hardness * 4 - 2] for p in poses])
    nuisance = model.standard_normal((view.shape[1], DIMENSIONS)) / math.sqrt(DIMENSIONS * view.shape[1])
    scale = NOISE * np.exp(rng.normal(0.0, NOISE_SPREAD, (n, 1)))
    noise = rng.standard_normal((n, DIMENSIONS)) / math.sqrt(DIMENSIONS)
    values = patterns @ project + NUISANCE * (view @ nuisance) + scale * noise
    values /= np.linalg.norm(values, axis=1, keepdims=True)
    return np.asarray(values, dtype=np.float32)


class _Studio:
    """Takes the photographs of one demo; safe to use from several threads, one individual at a time each."""

    def __init__(self, animals: Sequence[Individual], poses: Sequence[Pose], size: tuple[int, int], seed: int) -> None:
        self._animals = animals
        self._poses = poses
        self._size = size
        self._seed = seed
        self._detail = int(np.clip(round(0.8 * size[1]), 48, TEXTURE))
        width, height = size
        rng = np.random.default_rng([seed, 3])
        self._stock = backgrounds(rng, round(1.3 * width), round(1.3 * height), 24)

    def shoot(self, animal: int, rows: Sequence[int], names: Sequence[str], images: Path, task: Task) -> int:
        """Write all photographs of one individual; returns how many."""
        painted = paint(self._animals[animal].coat, self._detail)
        width, height = self._size
        for row in rows:
            task.check()
            rng = np.random.default_rng([self._seed, 4, row])
            ground = backdrop(rng, self._stock, width, height)
            image = develop(rng, photograph(painted, self._poses[row], ground))
            data = io.BytesIO()
            image.save(data, "JPEG", quality=int(rng.integers(86, 94)))
            write_image(images / names[row], data.getvalue())
        return len(rows)


def write_demo(
    folder: Path,
    *,
    individuals_count: int = 24,
    photos: int = 10,
    size: tuple[int, int] = (480, 360),
    seed: int = SEED,
    task: Task | None = None,
) -> DemoData:
    """Write a folder of ladybird photographs with features, labels and order.

    Animals, features and labels depend on the seed and the numbers alone, pictures on the size, too; neither depends
    on the number of processors.

    Parameters
    ----------
    folder : Path
        Must not exist, or be empty; its parents are made.
    individuals_count, photos : int
        Number of animals, and of photographs of each.
    size : tuple of int
        Width and height of a photograph, pixels.
    seed : int
    task : Task, optional
        Gets one stage. Cancelling leaves nothing behind.

    Returns
    -------
    DemoData

    Raises
    ------
    InputError
        A number out of range.
    StorageFailedError
        The folder is not empty or cannot be written.
    Cancelled
    """
    if individuals_count < 2 or photos < 2:
        raise InputError(tr("A demo needs at least two individuals with two photographs each."))
    if min(size) < 32 or max(size) > 4000:
        raise InputError(
            tr("Photographs of {size} x {size2} pixels are not offered; 32 to 4000 are.", size=size[0], size2=size[1])
        )
    task = task or Task()
    task.stage(tr("Photographing ladybirds"))
    animals = individuals(np.random.default_rng([seed, 0]), individuals_count)
    rng = np.random.default_rng([seed, 1])
    who = np.repeat(np.arange(individuals_count), photos)
    rng.shuffle(who)
    poses = [pose(rng, *size) for _ in who]
    patterns = np.stack([animal.pattern for animal in animals])
    features = embed(np.random.default_rng([seed, 2]), patterns[who], poses)
    names = image_names(len(who), ".jpg")
    digits = len(str(individuals_count))
    labels = [f"ladybird-{k + 1:0{digits}d}" for k in who.tolist()]

    make_parents(folder)
    with atomic_folder(folder) as draft:
        data = DemoData.at(draft)
        make_image_folders(data.images, names)
        studio = _Studio(animals, poses, size, seed)
        _shoot_all(studio, who, names, data.images, task)
        write_tables(data, names, features, labels)
    return DemoData.at(folder)


def _shoot_all(studio: _Studio, who: npt.NDArray[np.int64], names: Sequence[str], images: Path, task: Task) -> None:
    rows = np.argsort(who, kind="stable")
    parts = np.split(rows, np.flatnonzero(np.diff(who[rows])) + 1)
    # Drawing is arrays and Pillow, which leave the interpreter to others most of the time.
    with ThreadPoolExecutor(max(1, min(4, os.cpu_count() or 1)), thread_name_prefix="studio") as pool:
        waiting = [
            pool.submit(studio.shoot, animal, part.tolist(), names, images, task) for animal, part in enumerate(parts)
        ]
        done = 0
        try:
            for shot in as_completed(waiting):
                done += shot.result()
                task.step(done / len(who))
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
