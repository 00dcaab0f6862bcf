"""The images of a project by their names alone, where their folder is on another computer."""

from __future__ import annotations

from a3s_desktop.errors import InputError
from a3s_desktop.i18n import tr
from a3s_desktop.storage import files, tables
from a3s_desktop.storage.features import load_features
from a3s_desktop.storage.images import ImageScan
from a3s_desktop.storage.items import is_inside
from a3s_desktop.storage.spec_types import ProjectSpec
from a3s_desktop.task import Task


def named_images(spec: ProjectSpec, task: Task) -> ImageScan:
    """The images that the order file lists, or else a feature file, as if they had been found in a folder.

    Raises
    ------
    InputError
        Neither names them, a name leads out of any folder, or two are the same.
    Cancelled
    """
    if spec.order is not None:
        names: tuple[str, ...] | None = tables.load_order(spec.order)
    else:
        names = next((found for path in spec.features if (found := load_features(path, task).names) is not None), None)
    if names is None:
        raise InputError(
            tr("Nothing says which images the features are of."),
            tr("Give the image folder, or an order file that names them."),
        )
    outside = next((name for name in names if not is_inside(name)), None)
    if outside is not None:
        raise InputError(
            tr("{name} is no path inside an image folder.", name=files.show(outside)),
            tr("Give the image folder, or names relative to it."),
        )
    return ImageScan(tuple(sorted(set(names))), 0, ())
