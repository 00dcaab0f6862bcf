"""What the points look like."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from PySide6.QtGui import QColor

from a3s_desktop.ui.map_colours import GREY, STEPS, ColourBy, Shape, legend, look, palette
from a3s_desktop.ui.map_data import MapData
from a3s_desktop.ui.map_raster import LEVELS
from a3s_desktop.ui.theme import DARK, LIGHT, Tokens, contrast


def data(labels: list[int]) -> MapData:
    made = MapData(np.array(labels, np.int32))
    made.count()
    return made


def test_a_merge_a_split_and_their_undoing_leave_other_colours_alone() -> None:
    before = look(data([4, 4, 9, 9, 7]), ColourBy.CLUSTER).slots
    merged = look(data([4, 4, 4, 4, 7]), ColourBy.CLUSTER).slots
    split = look(data([4, 4, 9, 9, 7, 12, 12][:5]), ColourBy.CLUSTER).slots
    assert merged[:2].tolist() == before[:2].tolist()
    assert merged[2] == before[0]
    assert split.tolist() == before.tolist()
    assert before[4] == GREY


def test_confirmed_and_automatic_differ_in_shape_too() -> None:
    made = data([1, 1, 2])
    made.confirmed = np.array([True, False, False])
    seen = look(made, ColourBy.CONFIRMED)
    assert seen.shapes.tolist() == [Shape.DISC, Shape.RING, Shape.RING]
    assert seen.slots[0] != seen.slots[1]


def test_doubt_goes_up_the_scale_and_odd_values_do_no_harm() -> None:
    made = data([1] * 7)
    made.doubt = np.array([0.0, 0.3, 0.99, 1.0, 7.0, -3.0, np.nan], np.float32)
    slots = look(made, ColourBy.DOUBT).slots.tolist()
    first, last = GREY + 1, GREY + STEPS
    assert slots == [first, first + 2, last, last, last, first, GREY]


def test_junk_is_a_grey_cross_whatever_the_colours_mean_and_counts_for_nothing() -> None:
    made = data([1, 1, 1, 5])
    made.confirmed, made.doubt = np.ones(4, np.bool_), np.zeros(4, np.float32)
    made.junk = np.array([False, True, False, True])
    made.count()
    for by in ColourBy:
        seen = look(made, by)
        assert seen.shapes.tolist() == [0, Shape.CROSS, 0, Shape.CROSS]
        assert seen.slots[1] == seen.slots[3] == GREY
    assert (made.clusters, made.singles, made.junk_count) == (1, 0, 2)
    assert made.cluster_text(1) == "Junk"
    assert made.cluster_text(0) == "Cluster 1 · 2 images"


def test_what_is_not_known_falls_back_to_clusters() -> None:
    made = data([1, 1, 2])
    for by in (ColourBy.CONFIRMED, ColourBy.DOUBT):
        assert look(made, by).slots.tolist() == look(made, ColourBy.CLUSTER).slots.tolist()


@pytest.mark.parametrize("theme", [DARK, LIGHT])
@pytest.mark.parametrize("by", list(ColourBy))
def test_the_raster_has_room_for_every_palette(by: ColourBy, theme: Tokens) -> None:
    assert len(palette(by, theme)) * LEVELS <= 256


def seen_by(colour: str, matrix: np.ndarray) -> np.ndarray:
    """L*a*b* of a colour as somebody with a colour-vision deficiency sees it (matrix in linear RGB)."""
    rgb = np.array(QColor(colour).getRgbF()[:3])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(matrix @ linear, 0, 1)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ linear
    f = np.cbrt(xyz / np.array([0.9505, 1.0, 1.089]))
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


# Machado, Oliveira, Fernandes (2009), severity 1.0: protanopia, deuteranopia, tritanopia.
DEFICIENCIES = (
    np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
    np.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]),
)


@pytest.mark.parametrize("theme", [DARK, LIGHT])
@pytest.mark.parametrize("matrix", DEFICIENCIES)
def test_confirmed_and_the_ends_of_doubt_are_told_apart_by_all_eyes(theme: Tokens, matrix: np.ndarray) -> None:
    confirmed, doubt = palette(ColourBy.CONFIRMED, theme), palette(ColourBy.DOUBT, theme)[GREY + 1 :]
    assert np.linalg.norm(seen_by(confirmed[1], matrix) - seen_by(confirmed[2], matrix)) > 20
    assert np.linalg.norm(seen_by(doubt[0], matrix) - seen_by(doubt[-1], matrix)) > 40
    lightness = [seen_by(colour, matrix)[0] for colour in doubt]
    steps = np.diff(lightness) if theme.dark else -np.diff(lightness)
    assert (steps > 0).all()  # doubt can be read in grey


@pytest.mark.parametrize("theme", [DARK, LIGHT])
def test_all_colours_stand_out_from_the_ground(theme: Tokens) -> None:
    for by in (ColourBy.CLUSTER, ColourBy.CONFIRMED):
        assert all(contrast(colour, theme.surface) >= 3 for colour in palette(by, theme)[1:])


@pytest.mark.parametrize("theme", [DARK, LIGHT])
def test_the_first_clusters_are_told_apart_with_normal_eyes(theme: Tokens) -> None:
    colours = palette(ColourBy.CLUSTER, theme)[GREY + 1 :]
    assert len(set(colours)) == len(colours)
    gaps = [np.linalg.norm(seen_by(a, np.eye(3)) - seen_by(b, np.eye(3))) for a, b in combinations(colours[:8], 2)]
    assert min(gaps) > 12


def test_the_legend_names_what_there_is_and_nothing_else() -> None:
    made = data([1, 1, 2])
    assert [entry.text for entry in legend(made, ColourBy.CLUSTER, LIGHT)] == ["cluster", "single image"]
    assert legend(data([]), ColourBy.CLUSTER, LIGHT) == ()
    made.confirmed = np.array([True, False, False])
    made.junk = np.array([False, False, True])
    made.count()
    entries = legend(made, ColourBy.CONFIRMED, LIGHT)
    assert [(entry.text, entry.shape) for entry in entries] == [
        ("1 confirmed", Shape.DISC),
        ("1 automatic", Shape.RING),
        ("1 junk", Shape.CROSS),
    ]


def test_names_are_shown_on_one_line_and_not_endlessly() -> None:
    made = data([1, 1, 2])
    made.names = {1: "Old\n Tom " + "x" * 10_000, 2: "  "}
    assert made.short_name(1).startswith("Old Tom xxx")
    assert len(made.short_name(1)) <= 60
    assert made.cluster_name(2) == "Cluster 2"


def test_what_comes_before_the_labels_is_kept_for_them_and_another_projects_is_not() -> None:
    made = data([])
    made.confirmed, made.junk = np.array([True, False]), np.array([False, True])
    made.count()
    assert not len(look(made, ColourBy.CONFIRMED).slots)
    made.labels = np.array([3, 3], np.int32)
    made.count()
    assert look(made, ColourBy.CONFIRMED).shapes.tolist() == [Shape.DISC, Shape.CROSS]
    made.labels = np.array([3, 3, 3], np.int32)
    made.count()
    assert made.confirmed is None
