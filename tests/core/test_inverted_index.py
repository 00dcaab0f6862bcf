"""Approximate neighbours: nearly all of the true ones, in bounded memory, resumable part by part."""

from __future__ import annotations

import numpy as np
import pytest

from a3s_desktop.core import initialization
from a3s_desktop.core.inverted_index import approximate_neighbors, make_cells
from a3s_desktop.core.neighbors import nearest_neighbors
from a3s_desktop.core.types import InitialOptions
from a3s_desktop.errors import Cancelled
from a3s_desktop.task import Task

ROWS, CLASSES, WIDTH = 3000, 60, 32


@pytest.fixture(scope="module")
def features() -> np.ndarray:
    rng = np.random.default_rng(3)
    centres = rng.standard_normal((CLASSES, WIDTH))
    table = centres[rng.integers(CLASSES, size=ROWS)] + 0.5 * rng.standard_normal((ROWS, WIDTH))
    return (table / np.linalg.norm(table, axis=1)[:, None]).astype(np.float32)


def _whole(_name, work):
    return work()


def test_nearly_all_true_neighbours_are_found_and_the_share_is_told(features):
    exact, distances = nearest_neighbors(features, 20, Task())
    found, far, recall, cells = approximate_neighbors(features, 20, 0, Task(), _whole)
    truth = np.mean([np.isin(a, b).mean() for a, b in zip(exact, found, strict=True)])
    assert truth > 0.9
    assert cells.shape == (ROWS,)
    assert recall == pytest.approx(truth, abs=0.05)
    assert (found != np.arange(ROWS)[:, None]).all()
    assert all(len(set(row)) == 20 for row in found.tolist())
    assert (np.diff(far, axis=1) >= 0).all()
    true_far = np.linalg.norm(features[:, None] - features[found[:, :3]], axis=2)
    np.testing.assert_allclose(far[:, :3], true_far, atol=2e-3)
    assert (far[:, -1] >= distances[:, -1] - 2e-3).all()


def test_half_precision_finds_the_same_neighbours(features):
    found = approximate_neighbors(features, 10, 0, Task(), _whole)[0]
    half = approximate_neighbors(features.astype(np.float16), 10, 0, Task(), _whole)[0]
    assert np.mean([np.isin(a, b).mean() for a, b in zip(found, half, strict=True)]) > 0.95


@pytest.mark.parametrize(
    "table",
    [np.ones((3000, 4), np.float32), np.repeat(np.eye(3, dtype=np.float32), 1000, axis=0)],
    ids=["all equal", "three points"],
)
def test_equal_samples_do_not_fill_a_cell(table):
    cells = make_cells(table, 0, Task())
    assert np.diff(cells.starts).max() <= 512
    found, far, *_ = approximate_neighbors(table, 50, 0, Task(), _whole)
    assert (far < 1e-3).all()
    assert all(len(set(row)) == 50 for row in found.tolist())


def test_interrupted_search_goes_on_where_it_was(features):
    kept: dict[str, dict[str, np.ndarray]] = {}
    made: list[str] = []

    def keep(name, work):
        if name not in kept:
            kept[name] = work()
            made.append(name)
            if len(made) == 13:  # the cells and 12 of 20 parts: 60 %
                raise Cancelled
        return kept[name]

    with pytest.raises(Cancelled):
        approximate_neighbors(features, 20, 0, Task(), keep)
    before = len(made)
    found, far, *_ = approximate_neighbors(features, 20, 0, Task(), keep)
    assert len(made) - before == 8
    whole = approximate_neighbors(features, 20, 0, Task(), _whole)
    np.testing.assert_array_equal(found, whole[0])
    np.testing.assert_array_equal(far, whole[1])


def test_stage_one_tells_the_recall_where_it_is_approximate(features, monkeypatch):
    monkeypatch.setattr(initialization, "EXACT_UP_TO", 1000)
    near = initialization.initialize([features], InitialOptions(neighbors=20, refine=True), Task())
    assert 0.9 < near.report["recall"][0] <= 1.0
    monkeypatch.undo()
    exact = initialization.initialize([features], InitialOptions(neighbors=20, refine=True), Task())
    assert exact.report["recall"] == [1.0]
