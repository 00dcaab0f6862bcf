"""Small data to run sessions on: a hand-made stage one, so that no test here waits for scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from a3s_desktop.core.neighbors import nearest_neighbors
from a3s_desktop.core.types import Answer, InitialState, PairGraph, StrategyOptions
from a3s_desktop.session.session import Session
from a3s_desktop.session.state import SessionState
from a3s_desktop.storage.journal_types import JournalProtocol, MemoryJournal
from a3s_desktop.storage.workspace import ProjectSpec
from a3s_desktop.task import Task


@dataclass(frozen=True)
class Data:
    """Features, true classes, and the start of a session on them."""

    views: tuple[npt.NDArray[np.float32], ...]
    classes: npt.NDArray[np.int32]
    initial: InitialState
    options: StrategyOptions = field(default_factory=StrategyOptions)

    def session(self, journal: JournalProtocol | None = None, **more: Any) -> Session:
        """A session on this data; on a journal of its own unless one is given."""
        return Session(self.initial, self.views, self.options, journal or MemoryJournal(), **more)

    def truth(self, state: SessionState) -> Answer:
        """The true answer to the current question."""
        question = state.question
        assert question is not None
        return Answer.SAME if self.classes[question.left] == self.classes[question.right] else Answer.DIFFERENT

    def answer(self, session: Session, answer: Answer | None = None) -> Answer:
        """Give ``answer``, by default the true one, to the current question."""
        said = answer or self.truth(session.state)
        assert session.state.question is not None
        session.answer(session.state.question.id, said)
        return said


def start(features: npt.NDArray[np.float32], k: int = 12) -> InitialState:
    """A stage one of a few lines: log-odds fall linearly with the distance; clusters are chains of near neighbours."""
    n = len(features)
    near, far = nearest_neighbors(features, min(k, n - 1), Task())
    rows = np.repeat(np.arange(n), near.shape[1])
    pairs = np.stack((np.minimum(rows, near.ravel()), np.maximum(rows, near.ravel())), axis=1)
    unique, first = np.unique(pairs, axis=0, return_index=True)
    lengths = far.ravel()[first]
    both = np.concatenate((unique, unique[:, ::-1]))
    distances = np.concatenate((lengths, lengths))
    order = np.lexsort((both[:, 1], both[:, 0]))
    both, distances = both[order], distances[order]
    middle, spread = float(np.quantile(lengths, 0.4)), float(lengths.std()) or 1.0
    logodds = np.clip(2.0 * (middle - distances) / spread, -6.0, 6.0).astype(np.float32)
    indptr = np.concatenate(([0], np.cumsum(np.bincount(both[:, 0], minlength=n)))).astype(np.int64)
    graph = PairGraph(indptr, both[:, 1].astype(np.int32), distances[None].astype(np.float32), logodds, -2.0)
    labels = np.arange(n)
    for a, b in unique[lengths < np.quantile(lengths, 0.12)]:
        labels[labels == labels[b]] = labels[a]
    return InitialState(np.unique(labels, return_inverse=True)[1].astype(np.int32), graph, {})


def make_blobs() -> Data:
    """48 points of 6 overlapping classes in 8 dimensions."""
    rng = np.random.default_rng(5)
    classes = np.repeat(np.arange(6), 8).astype(np.int32)
    centres = rng.normal(0.0, 1.0, (6, 8))
    features = (centres[classes] + rng.normal(0.0, 0.55, (48, 8))).astype(np.float32)
    return Data((features,), classes, start(features))


@pytest.fixture(scope="session")
def blobs() -> Data:
    """The small data; see `make_blobs`."""
    return make_blobs()


@pytest.fixture(scope="session")
def digits() -> Data:
    """Real data that comes with scikit-learn: the first 300 handwritten digits."""
    from sklearn.datasets import load_digits

    pixels, classes = load_digits(return_X_y=True)
    features = pixels[:300].astype(np.float32)
    return Data((features,), classes[:300].astype(np.int32), start(features))


@pytest.fixture(scope="session")
def mk20(shared_data: Path) -> Data:
    """Real person re-identification features: 351 images of 20 people."""
    folder = shared_data / "mk20"
    features = np.load(folder / "features.npy", allow_pickle=False).astype(np.float32)
    classes = np.load(folder / "labels.npy", allow_pickle=False).astype(np.int32)
    return Data((features,), classes, start(features, k=20))


@pytest.fixture
def finish(blobs: Data) -> Callable[[Session], int]:
    """Answers truthfully to the end; returns the number of answers."""

    def run(session: Session) -> int:
        given = 0
        while session.state.question is not None:
            blobs.answer(session)
            given += 1
        return given

    return run


@pytest.fixture
def make_spec(blobs: Data, tmp_path: Path) -> Callable[..., ProjectSpec]:
    """Describes a project of the small data, with images, features and labels written to disk."""
    images = tmp_path / "images"
    images.mkdir()
    for k in range(len(blobs.classes)):
        Image.new("RGB", (8, 8), (5 * k, 40, 90)).save(images / f"{k:03d}.png")
    np.save(tmp_path / "features.npy", blobs.views[0])
    np.save(tmp_path / "labels.npy", blobs.classes)

    def spec(name: str = "project", **more: Any) -> ProjectSpec:
        return ProjectSpec(tmp_path / name, images, (tmp_path / "features.npy",), **more)

    return spec
