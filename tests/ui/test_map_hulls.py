"""Outlines of clusters."""

from __future__ import annotations

import numpy as np
import pytest

from a3s_desktop.ui.map_hulls import LEAST, HullStore, outlines


def inside(corners: np.ndarray, point: np.ndarray) -> bool:
    """Whether a point is inside a convex polygon with corners in anticlockwise order."""
    edges = np.roll(corners, -1, axis=0) - corners
    to = point - corners
    return bool((edges[:, 0] * to[:, 1] - edges[:, 1] * to[:, 0] >= -1e-4).all())


def discs(sizes: list[int], seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes).astype(np.int32)
    angle, distance = rng.uniform(0, 7, len(labels)), np.sqrt(rng.uniform(0, 1, len(labels)))
    points = np.stack([np.cos(angle), np.sin(angle)], axis=1) * distance[:, None] + labels[:, None] * 5.0
    return points.astype(np.float32), labels


def done(store: HullStore) -> HullStore:
    while store.pending:
        store.step()
    return store


def test_an_outline_holds_its_images_closely_and_small_clusters_have_none() -> None:
    points, labels = discs([40, 2, 7])
    hulls = outlines(points[:, 0], points[:, 1], labels, 0.1)
    assert hulls.clusters.tolist() == [0, 2]
    assert hulls.sizes.tolist() == [40, 7]
    for corners, cluster in zip(hulls.corners, hulls.clusters, strict=True):
        assert all(inside(corners, point) for point in points[labels == cluster])
        assert not inside(corners, np.array([cluster * 5.0 + 1.5, cluster * 5.0]))
    assert hulls.radii[0] == pytest.approx(1.1, abs=0.15)


def test_a_stray_image_does_not_pull_the_outline_across_the_map() -> None:
    points, labels = discs([30, 30])
    points[3] = (50, 50)
    hulls = outlines(points[:, 0], points[:, 1], labels, 0.1)
    assert not inside(hulls.corners[0], points[3])
    assert hulls.radii[0] < 1.5


def test_images_in_one_place_get_a_round_outline_around_it() -> None:
    hulls = outlines(np.full(5, 3.0, np.float32), np.full(5, 4.0, np.float32), np.zeros(5, np.int32), 0.5)
    assert hulls.radii[0] == pytest.approx(0.5, abs=0.02)
    assert inside(hulls.corners[0], np.array([3.0, 4.0]))


def test_nothing_gives_nothing() -> None:
    empty = np.zeros(0, np.float32)
    assert len(outlines(empty, empty, np.zeros(0, np.int32), 1.0)) == 0
    store = HullStore(empty, empty)
    store.set_labels(np.zeros(0, np.int32), np.zeros(0, np.int64), None, None)
    assert not store.pending
    store.step()
    assert len(store.hulls) == 0


def test_a_merge_and_a_split_give_the_same_outlines_as_a_new_start() -> None:
    points, labels = discs([20, 12, 9, 5, 5])
    store = HullStore(points[:, 0].copy(), points[:, 1].copy())
    store.set_labels(labels, np.bincount(labels), None, None)
    done(store)
    assert store.hulls.clusters.tolist() == [0, 1, 2, 3, 4]
    changed = labels.copy()
    changed[labels == 4] = 3  # a merge
    changed[:8] = 6  # a split
    store.set_labels(changed, np.bincount(changed), None, np.array([0, 3, 4, 6]))
    done(store)
    fresh = HullStore(points[:, 0].copy(), points[:, 1].copy())
    fresh.set_labels(changed, np.bincount(changed), None, None)
    done(fresh)
    assert sorted(store.hulls.clusters.tolist()) == [0, 1, 2, 3, 6]
    np.testing.assert_array_equal(store.hulls.clusters, fresh.hulls.clusters)
    np.testing.assert_allclose(store.hulls.corners, fresh.hulls.corners)


def test_junk_is_not_outlined() -> None:
    points, labels = discs([10, 4])
    shown = np.ones(14, np.bool_)
    shown[10 : 10 + 4 - LEAST + 1] = False
    store = HullStore(points[:, 0].copy(), points[:, 1].copy())
    store.set_labels(labels, np.bincount(labels[shown], minlength=2), shown, None)
    assert done(store).hulls.clusters.tolist() == [0]


def test_a_change_while_the_work_is_under_way_is_not_lost() -> None:
    points, labels = discs([3000, 3000, 3000])
    store = HullStore(points[:, 0].copy(), points[:, 1].copy())
    store.set_labels(labels, np.bincount(labels), None, None)
    store.step()
    assert store.pending
    changed = labels.copy()
    changed[labels == 2] = 0
    store.set_labels(changed, np.bincount(changed), None, np.array([0, 2]))
    done(store)
    assert sorted(store.hulls.clusters.tolist()) == [0, 1]
    assert store.hulls.sizes.tolist() == [6000, 3000]
