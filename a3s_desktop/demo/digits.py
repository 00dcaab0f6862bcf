"""Real demo data: the handwritten digits that come with scikit-learn, as an image folder."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from PIL import Image

from a3s_desktop.demo.data import DemoData, image_names, make_image_folders, make_parents, write_image, write_tables
from a3s_desktop.errors import InputError
from a3s_desktop.i18n import tr
from a3s_desktop.storage.files import atomic_folder
from a3s_desktop.task import Task

COUNT = 1797


def write_demo(
    folder: Path, *, count: int = COUNT, size: int = 64, seed: int = 0, task: Task | None = None
) -> DemoData:
    """Write the digits (8 x 8 grey levels, enlarged) with features, labels and order.

    The features are the 64 grey levels themselves, 0 to 16: a data set without unit norm.

    Parameters
    ----------
    folder : Path
        Must not exist, or be empty; its parents are made.
    count : int
        How many of the 1,797 digits, drawn at random.
    size : int
        Width and height of an image, pixels.
    seed : int
        Of the order.
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
    if not 3 <= count <= COUNT:
        raise InputError(
            tr(
                "There are {count} digits; between 3 and that many can be written, not {count2}.",
                count=COUNT,
                count2=count,
            )
        )
    if not 8 <= size <= 1024:
        raise InputError(tr("Digits of {size} pixels are not offered; 8 to 1024 are.", size=size))
    task = task or Task()
    task.stage(tr("Writing digits"))
    from sklearn.datasets import load_digits  # takes seconds, so not before it is needed

    pixels, classes = load_digits(return_X_y=True)
    chosen = np.random.default_rng(seed).permutation(COUNT)[:count]
    features = np.asarray(pixels[chosen], dtype=np.float32)
    names = image_names(count, ".png")
    make_parents(folder)
    with atomic_folder(folder) as draft:
        data = DemoData.at(draft)
        make_image_folders(data.images, names)
        for row, name in enumerate(names):
            ink = np.clip(features[row].reshape(8, 8) * (255.0 / 16.0), 0, 255)
            image = Image.fromarray((255.0 - ink).astype(np.uint8))  # dark on white, as on paper
            out = io.BytesIO()
            image.resize((size, size), Image.Resampling.BICUBIC).save(out, "PNG", compress_level=1)
            write_image(data.images / name, out.getvalue())
            if row % 50 == 0:
                task.step(row / count)
        write_tables(data, names, features, [str(k) for k in classes[chosen]])
    return DemoData.at(folder)
