"""Points to pixels: the grid and the discs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from a3s_desktop.ui import map_raster
from a3s_desktop.ui.map_raster import (
    LEVELS,
    PointGrid,
    Projection,
    ascending,
    disc,
    draw,
    draw_outlined,
    point_radius,
)


@given(st.integers(1, 300), st.integers(0, 10_000), st.floats(0.01, 3))
def test_nearest_equals_a_search_over_all(n: int, seed: int, radius: float) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 2)).astype(np.float32)
    x, y = (float(v) for v in rng.normal(size=2) * 1.5)
    gaps = np.hypot(points[:, 0] - np.float32(x), points[:, 1] - np.float32(y))
    best = int(gaps.argmin())
    found = PointGrid(points).nearest(x, y, radius)
    if gaps[best] < radius * 0.999:
        assert gaps[found] == pytest.approx(gaps[best], rel=1e-4, abs=1e-6)
    elif gaps[best] > radius * 1.001:
        assert found == -1


@given(st.integers(1, 300), st.integers(0, 10_000))
def test_within_holds_all_points_of_the_rectangle(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 2)).astype(np.float32)
    (x0, x1), (y0, y1) = np.sort(rng.normal(size=(2, 2)), axis=1)
    grid = PointGrid(points)
    found = set(grid.order[grid.within(x0, y0, x1, y1)].tolist())
    inside = (points[:, 0] >= x0) & (points[:, 0] <= x1) & (points[:, 1] >= y0) & (points[:, 1] <= y1)
    assert set(np.flatnonzero(inside).tolist()) <= found


@pytest.mark.parametrize(
    "points",
    [np.zeros((0, 2)), np.ones((1, 2)), np.full((50, 2), 1e6), np.array([[np.nan, 1], [2, np.inf], [3, 4]])],
)
def test_odd_points_are_sorted_all_the_same(points: np.ndarray) -> None:
    grid = PointGrid(points)
    assert len(grid) == len(points)
    assert np.isfinite(grid.x).all()
    assert np.isfinite(grid.bounds).all()
    assert sorted(grid.order.tolist()) == list(range(len(points)))
    whole = grid.within(*(v + d for v, d in zip(grid.bounds, (-1, -1, 1, 1), strict=True)))
    assert len(grid.order[whole]) == len(points)
    if len(points):
        assert grid.nearest(float(grid.x[0]), float(grid.y[0]), 1.0) >= 0


def test_a_disc_fades_at_its_edge_and_is_full_within() -> None:
    stamp = {(dy, dx): level for level, dy, dx in disc(3.0)}
    assert stamp[0, 0] == LEVELS - 1
    assert stamp[0, 2] == LEVELS - 1
    assert stamp[0, 3] < LEVELS - 1
    assert (0, 5) not in stamp
    assert [level for level, _, _ in disc(3.0)] == sorted(stamp.values())


@given(st.integers(0, 400), st.integers(0, 10_000), st.floats(0.5, 4))
def test_two_ways_of_drawing_give_one_picture(n: int, seed: int, radius: float) -> None:
    rng = np.random.default_rng(seed)
    px, py = rng.uniform(-10, 70, n), rng.uniform(-10, 50, n)
    slots = rng.integers(1, 18, n).astype(np.uint8)
    pictures = []
    kept = map_raster._GROW_FACTOR
    try:
        for factor in (0, 10**9):
            map_raster._GROW_FACTOR = factor
            pictures.append(draw(px, py, slots, (61, 43), disc(radius), 18))
    finally:
        map_raster._GROW_FACTOR = kept
    np.testing.assert_array_equal(*pictures)
    assert pictures[0].shape == (43, 64)
    assert not pictures[0][:, 61:].any()


def test_a_disc_is_drawn_where_it_belongs_and_cut_at_the_edge() -> None:
    picture = draw(np.array([10.5, 0.2]), np.array([5.5, 0.2]), np.array([3, 4], np.uint8), (20, 12), disc(2.0), 18)
    assert picture[5, 10] == (LEVELS - 1) * 18 + 3
    assert picture[0, 0] == (LEVELS - 1) * 18 + 4
    assert picture[11, 19] == 0


def test_projection_and_its_visible_part() -> None:
    projection = Projection(10.0, 100.0, -10.0, 50.0, 200, 100)
    px, py = projection.pixels(np.float32([0, 1]), np.float32([0, 1]))
    assert px.tolist() == [100, 110]
    assert py.tolist() == [50, 40]
    assert projection.visible(0) == (-10, -5, 10, 5)


def test_points_shrink_with_their_number_and_grow_with_the_zoom() -> None:
    sizes = [point_radius(n, 800_000, 1, 1) for n in (10, 1_000, 10_000, 1_000_000)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] <= 5.5
    assert sizes[-1] >= 0.9
    assert point_radius(10_000, 800_000, 8, 1) > sizes[2]
    assert point_radius(10, 800_000, 1, 2) == 11


@pytest.mark.parametrize("some", [0, 1, 5, 300, 5000])
def test_numbers_come_once_and_ascending(some: int) -> None:
    numbers = np.random.default_rng(some).integers(0, 1000, some).astype(np.int32)
    found = ascending(numbers, 1000)
    assert found.dtype == np.int64
    assert found.tolist() == sorted(set(numbers.tolist()))


@pytest.mark.parametrize("size", [(60, 40), (61, 33)])
def test_outlined_points_are_two_pictures(size: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    px, py = rng.uniform(-8, 70, (2, 3000)).astype(np.float32)
    at = py.astype(int) * 1000 + px.astype(int)
    slots = (at % 5 + 1).astype(np.uint8)  # one colour in each pixel: which of two wins is not the question
    under, over = disc(2.5, 1.0), disc(1.25)
    below, above = draw_outlined(px, py, slots, size, under, over, 7)
    np.testing.assert_array_equal(below, draw(px, py, np.ones_like(slots), size, under, 2))
    np.testing.assert_array_equal(above, draw(px, py, slots, size, over, 7))
