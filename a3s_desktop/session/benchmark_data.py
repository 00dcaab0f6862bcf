"""What a benchmark runs on: folders with a ``dataset.json``, and made-up face-like features of any size."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from a3s_desktop.core.types import FloatArray, IntArray
from a3s_desktop.errors import InputError
from a3s_desktop.storage import array_files, files
from a3s_desktop.storage.features import check_features, load_features
from a3s_desktop.storage.matching import load_labels
from a3s_desktop.storage.names import can_be_path
from a3s_desktop.strict_json import parse_json

DESCRIPTION = "dataset.json"
FACE_WIDTH = 512
_PER_CLASS = 68.07  # samples of a class in the 100,000 faces of the paper's largest run (1,469 classes)
_SPREAD = {"easy": (0.8, 1.25), "hard": (1.0, 1.6)}
_BLOCK = 8192  # rows made at a time
_FACE_SEED = 20240
_BUDGETS = {"mk20": 120, "people200": 200}  # beyond, nothing of interest happens: the paper's run on mk20 ends at 83
_BUDGET = 1200
_BUDGET_SHARE = 0.031  # answers for a sample in the paper's largest run (3,100 for 100,000)


@dataclass(frozen=True, slots=True)
class Case:
    """One data set in one choice of views.

    Attributes
    ----------
    dataset : str
    name : str
        Of the case within the data set.
    features : tuple of Path
        One file for each view.
    labels : Path
    samples, classes : int
    note : str
        How the data came to be, where that is not a folder of files.
    """

    dataset: str
    name: str
    features: tuple[Path, ...]
    labels: Path
    samples: int
    classes: int
    note: str = ""

    @property
    def title(self) -> str:
        """Unique among the cases of a benchmark: "mk100", "handwritten · 4 views"."""
        return self.dataset if self.name == self.dataset else f"{self.dataset} · {self.name}"

    @property
    def budget(self) -> int:
        """Answers of a run where nothing else is asked for."""
        usual = min(_BUDGETS.get(self.dataset, _BUDGET), self.samples)
        return max(usual, round(_BUDGET_SHARE * self.samples))

    def load(self) -> tuple[list[npt.NDArray[Any]], IntArray]:
        """Views, each (N, D_v), and true classes, int32 (N,). Raises `InputError`."""
        views = [np.asarray(load_features(path).values) for path in self.features]
        return views, load_labels(self.labels, len(views[0])).codes

    def to_json(self) -> dict[str, Any]:
        """The facts for the report."""
        return {
            "case": self.title,
            "dataset": self.dataset,
            "name": self.name,
            "samples": self.samples,
            "classes": self.classes,
            "views": [path.name for path in self.features],
            "note": self.note,
        }


def read_cases(folder: Path, wanted: Collection[str] = ()) -> list[Case]:
    """All cases of the data sets in a folder, and of the folder itself where it is one.

    Parameters
    ----------
    folder : Path
    wanted : collection of str
        Names of data sets ("mk100") or of single cases ("handwritten/fou"); empty: all.

    Raises
    ------
    InputError
        A description, a feature file or a labels file is not usable, or a name is not known.
    """
    if not folder.is_dir():
        raise InputError(f"The folder {files.show(folder)} does not exist.")
    descriptions = sorted(path for path in (folder, *folder.iterdir()) if (path / DESCRIPTION).is_file())
    found = [(path, _description(path / DESCRIPTION)) for path in descriptions]
    if not found:
        raise InputError(
            f"No folder in {files.show(folder)} has a {DESCRIPTION}.", "A benchmark runs on folders that have one."
        )
    cases: list[Case] = []
    known: set[str] = set()
    for path, description in found:
        for name, views in description["cases"]:
            names = {description["name"], f"{description['name']}/{name}"}
            known |= names
            if not wanted or names & set(wanted):
                cases.append(_case(path, description, name, views))
    for name in wanted:
        if name not in known:
            raise InputError(f"There is no data set {name!r}.", f"Choose among: {', '.join(sorted(known))}.")
    titles = [case.title for case in cases]
    for title in titles:
        if titles.count(title) > 1:
            raise InputError(f"Two data sets are called {title!r}.", f"Change the name in one {DESCRIPTION}.")
    return cases


def _description(path: Path) -> dict[str, Any]:
    """Name, labels and cases [(name, [view, ...]), ...] of a data set, checked."""
    try:
        given = parse_json(path.read_text(encoding="utf-8"))
        cases = [(_text(case["name"]), [_text(view) for view in case["features"]]) for case in given["cases"]]
        checked = {"name": _text(given["name"]), "labels": _text(given["labels"]), "cases": cases}
    except OSError as error:
        raise InputError(f"{files.show(path)} cannot be read: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        what = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)[:120]
        raise InputError(
            f"{files.show(path)} does not describe a data set ({what}).",
            "It needs a name, labels, and cases with a name and features each.",
        ) from error
    if not cases or not all(views for _, views in cases):
        raise InputError(f"{files.show(path)} has no case, or one without features.")
    return checked


def _text(value: object) -> str:
    if not isinstance(value, str) or not can_be_path(value):
        raise ValueError(f"{value!r} is no text")
    return value


def _case(folder: Path, description: Mapping[str, Any], name: str, views: Sequence[str]) -> Case:
    loaded = [load_features(folder / view) for view in views]
    for file in loaded:
        check_features(file)
        if len(file.values) != len(loaded[0].values):
            raise InputError(
                f"{files.show(file.path)} has {len(file.values):,} rows, but {files.show(loaded[0].path)} has "
                f"{len(loaded[0].values):,}.",
                "Views of one data set describe the same images in the same order.",
            )
    labels = folder / description["labels"]
    codes = load_labels(labels, len(loaded[0].values)).codes
    return Case(
        description["name"], name, tuple(folder / view for view in views), labels, len(codes), len(np.unique(codes))
    )


# ------------------------------------------------------------------------------------------------ face-like data


def face_case(samples: int, kind: str, folder: Path) -> Case:
    """Make face-like data, and write it into ``folder`` as a case that any process can load.

    Raises
    ------
    InputError
        The number of samples or the kind is out of range.
    StorageFailedError
    """
    features, labels = face_like(samples, kind)
    name = f"face-like {kind} {samples:,}"
    places = [folder / f"faces-{kind}-{samples}-{part}.npy" for part in ("features", "labels")]
    for place, values in zip(places, (features, labels), strict=True):
        with files.atomic_file(place) as file:
            array_files.write_array(file, values)
    low, high = _SPREAD[kind]
    note = f"made by the program: {FACE_WIDTH} columns, spread {low} to {high}, seed {_FACE_SEED}"
    return Case(name, name, (places[0],), places[1], samples, int(labels.max()) + 1, note)


def face_like(
    samples: int, kind: str = "easy", seed: int = _FACE_SEED, out: FloatArray | None = None
) -> tuple[FloatArray, IntArray]:
    """A stand-in for embeddings of faces (MS1M of the paper), with as many samples in a class.

    Centres of the classes are uniform on the sphere of 512 dimensions; the sizes are log-normal (σ 0.35). A sample is
    normalise(centre + s·ε/√D) with ε ~ N(0, I) and s uniform in [0.8, 1.25] (easy) or [1.0, 1.6] (hard); then noise of
    σ 0.04 is added to every coordinate, as the authors of the paper do, and it is normalised again. Rows are in random
    order.

    Parameters
    ----------
    samples : int
        N, at least 137: two classes.
    kind : {"easy", "hard"}
    seed : int
    out : float32, shape (N, 512), optional
        Where to put the features; may be memory-mapped. Memory beyond it is that of a block of rows and the centres.

    Returns
    -------
    features : float32, shape (N, 512), of unit norm
    labels : int32, shape (N,)
    """
    if kind not in _SPREAD:
        raise InputError(f"Face-like data is {' or '.join(_SPREAD)}, not {kind!r}.")
    classes = math.floor(samples / _PER_CLASS)
    if classes < 2:
        raise InputError(f"Face-like data needs at least {math.ceil(2 * _PER_CLASS)} samples, not {samples}.")
    rng = np.random.default_rng([seed, samples])
    weights = rng.lognormal(0.0, 0.35, classes)
    bounds = np.round(np.cumsum(weights) / weights.sum() * samples).astype(np.int64)
    sizes = np.maximum(np.diff(bounds, prepend=0), 1)
    sizes[np.argmax(sizes)] += samples - sizes.sum()
    labels = rng.permutation(np.repeat(np.arange(classes, dtype=np.int32), sizes))
    centres = _unit(rng.standard_normal((classes, FACE_WIDTH), np.float32))
    features = np.empty((samples, FACE_WIDTH), np.float32) if out is None else out
    low, high = _SPREAD[kind]
    for start in range(0, samples, _BLOCK):
        rows = labels[start : start + _BLOCK]
        shape = (len(rows), FACE_WIDTH)
        spread = rng.uniform(low, high, (len(rows), 1)).astype(np.float32) / np.float32(math.sqrt(FACE_WIDTH))
        block = _unit(centres[rows] + spread * rng.standard_normal(shape, np.float32))
        features[start : start + _BLOCK] = _unit(block + np.float32(0.04) * rng.standard_normal(shape, np.float32))
    return features, labels


def _unit(rows: FloatArray) -> FloatArray:
    return np.asarray(rows / np.sqrt(np.einsum("nd,nd->n", rows, rows))[:, None], np.float32)
