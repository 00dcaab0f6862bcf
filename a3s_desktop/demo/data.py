"""What a demo leaves on disk: an image folder, features, labels, and the order of the rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from a3s_desktop.storage.array_files import write_array
from a3s_desktop.storage.files import (
    atomic_file,
    atomic_write_text,
    make_folder,
    make_folders,
    open_new,
    write_all,
)

Array = npt.NDArray[np.float32]
FILES_IN_A_FOLDER = 5000


@dataclass(frozen=True, slots=True)
class DemoData:
    """Where the parts of a demo are.

    Attributes
    ----------
    folder : Path
        Holds all the others.
    images : Path
        The image folder.
    features : Path
        ``.npy``, float32, one row for each image.
    labels : Path
        ``.csv`` with the columns file,label in row order: the truth.
    order : Path
        The images' paths in row order, one a line.
    """

    folder: Path
    images: Path
    features: Path
    labels: Path
    order: Path

    @classmethod
    def at(cls, folder: Path) -> DemoData:
        """The parts' places in a demo's folder."""
        return cls(folder, folder / "images", folder / "features.npy", folder / "labels.csv", folder / "order.txt")

    @property
    def complete(self) -> bool:
        """Whether everything is there."""
        return self.images.is_dir() and all(path.is_file() for path in (self.features, self.labels, self.order))


def make_parents(folder: Path) -> None:
    """Make the folders above ``folder``. Raises `StorageFailedError`."""
    make_folders(folder.parent)


def image_names(count: int, suffix: str) -> list[str]:
    """Names as a camera gives them, which say nothing of what is to be seen; in folders of a few thousand.

    Returns
    -------
    list of str
        Paths relative to the image folder, sorted.
    """
    digits = max(4, len(str(count)))
    names = [f"IMG_{k + 1:0{digits}d}{suffix}" for k in range(count)]
    if count <= FILES_IN_A_FOLDER:
        return names
    return [f"{100 + k // FILES_IN_A_FOLDER:03d}CAMERA/{name}" for k, name in enumerate(names)]


def make_image_folders(images: Path, names: Sequence[str]) -> None:
    """Make the image folder and the folders inside that ``names`` are in."""
    make_folder(images)
    for inner in sorted({name.rpartition("/")[0] for name in names} - {""}):
        make_folder(images / inner)


def write_image(path: Path, data: bytes) -> None:
    """Write one image. Not synchronised by itself: the demo's folder appears under its name only when all is there."""
    with open_new(path) as file:
        write_all(file, data)


def write_tables(data: DemoData, names: Sequence[str], features: Array, labels: Sequence[str]) -> None:
    """Write features, labels and order of the images ``names``, all in row order."""
    with atomic_file(data.features) as file:
        write_array(file, features)
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(["file", "label"])
    writer.writerows(zip(names, labels, strict=True))
    atomic_write_text(data.labels, table.getvalue())
    atomic_write_text(data.order, "".join(name + "\n" for name in names))
