"""The built-in description: same in, same out; alike near, unlike far; and what brings it to few columns."""

from __future__ import annotations

import numpy as np
import pytest

from a3s_desktop.core import descriptor, imputation, projection
from a3s_desktop.core.descriptor import SIDE, describe, unit


def pictures(count: int, seed: int = 0) -> np.ndarray:
    """Smooth coloured patterns, one for each seed and number."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    found = []
    for _ in range(count):
        waves = [np.sin(rng.uniform(3, 25) * x + rng.uniform(3, 25) * y + rng.uniform(0, 6)) for _ in range(3)]
        found.append(np.dstack([127 + rng.uniform(40, 120) * wave for wave in waves]))
    return np.clip(np.stack(found), 0, 255).astype(np.uint8)


def test_rows_do_not_depend_on_the_batch() -> None:
    images = pictures(5)
    together = describe(images)
    assert together.dtype == np.float32
    assert together.shape == (5, descriptor.columns())
    one_by_one = np.concatenate([describe(image[None]) for image in images])
    assert (together == one_by_one).all()


def test_a_changed_photo_is_nearer_than_another_one() -> None:
    images = pictures(8)
    rng = np.random.default_rng(1)
    changed = np.clip(images * 0.9 + 8 + rng.normal(0, 6, images.shape), 0, 255).astype(np.uint8)
    likeness = unit(describe(images)) @ unit(describe(np.roll(changed, 3, axis=2))).T
    assert (likeness.argmax(axis=1) == np.arange(8)).all()


@pytest.mark.parametrize("shade", [0, 255])
def test_an_even_image_has_finite_numbers(shade: int) -> None:
    row = describe(np.full((1, SIDE, SIDE, 3), shade, np.uint8))
    assert np.isfinite(row).all()
    assert np.linalg.norm(row) > 0


def test_colours_that_are_swapped_are_seen() -> None:
    image = np.zeros((1, SIDE, SIDE, 3), np.uint8)
    image[..., 0] = 200
    likeness = unit(describe(image)) @ unit(describe(image[..., ::-1])).T
    assert likeness[0, 0] < 0.9


def test_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="shape"):
        describe(np.zeros((1, 64, 64, 3), np.uint8))


# ------------------------------------------------------------------------------------------------ projection


def in_blocks(rows: np.ndarray) -> projection.Blocks:
    return lambda: (rows[at : at + 70] for at in range(0, len(rows), 70))


def test_axes_are_half_whitened() -> None:
    rng = np.random.default_rng(0)
    rows = (rng.normal(size=(4000, 6)) * [9, 4, 1, 0.5, 0.2, 0.1] + 3).astype(np.float32)
    learned = projection.learn(in_blocks(rows), 6, 3)
    spread = ((rows - learned.mean) @ learned.axes).var(axis=0)
    assert spread == pytest.approx([9, 4, 1], rel=0.05)  # the square root of the variance
    assert np.linalg.norm(learned.apply(rows), axis=1) == pytest.approx(np.ones(4000), rel=1e-5)


@pytest.mark.parametrize(("count", "width"), [(60, 900), (2500, 700)])
def test_few_rows_and_many_columns_give_the_principal_axes(count: int, width: int) -> None:
    rng = np.random.default_rng(2)
    mix = rng.normal(size=(40, width)) * (0.8 ** np.arange(40))[:, None]
    rows = (rng.normal(size=(count, 40)) @ mix + 0.01 * rng.normal(size=(count, width))).astype(np.float32)
    learned = projection.learn(in_blocks(rows), width, 12)
    values, vectors = np.linalg.eigh(np.cov(rows.T.astype(np.float64)))
    axes = learned.axes / np.linalg.norm(learned.axes, axis=0)
    assert np.linalg.svd(axes.T @ vectors[:, ::-1][:, :12])[1].min() > 0.999
    assert np.linalg.norm(learned.axes, axis=0) ** -4.0 == pytest.approx(values[::-1][:12], rel=1e-3)


def test_equal_rows_give_finite_numbers() -> None:
    rows = np.ones((20, 8), np.float32)
    assert np.isfinite(projection.learn(in_blocks(rows), 8, 4).apply(rows)).all()


# ------------------------------------------------------------------------------------------------ estimates


def test_an_estimate_is_near_the_rows_of_its_kind() -> None:
    rng = np.random.default_rng(3)
    kinds = np.repeat(np.arange(6), 10)
    other = unit(rng.normal(size=(6, 20))[kinds] + 0.3 * rng.normal(size=(60, 20)))
    values = (3 * unit(rng.normal(size=(6, 30))[kinds] + 0.3 * rng.normal(size=(60, 30)))).astype(np.float32)
    lacking = np.arange(0, 60, 10)
    known = np.setdiff1d(np.arange(60), lacking)
    rows = imputation.from_alike(other, values, known, lacking)
    nearest = known[(rows @ values[known].T).argmax(axis=1)]
    assert (kinds[nearest] == kinds[lacking]).all()
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.full(6, 3.0), rel=1e-4)
    assert not any((row == values).all(axis=1).any() for row in rows)
