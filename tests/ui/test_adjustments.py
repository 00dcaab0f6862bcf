"""Tones and orientation: exact on pixels, never out of range, and no trace in the image they start from."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QImage

from a3s_desktop.ui.adjustments import (
    Adjustments,
    Orientation,
    as_pixels,
    curve,
    developed,
    equalising_curve,
    flipped_point,
    turned_point,
)

NUMBERS = st.integers(-100, 100)
ANY = st.builds(Adjustments, NUMBERS, NUMBERS, NUMBERS, st.booleans())
PLAIN = st.builds(Adjustments, NUMBERS, NUMBERS, NUMBERS)


def noise(width: int = 31, height: int = 17, seed: int = 0, low: int = 0, high: int = 256) -> QImage:
    rng = np.random.default_rng(seed)
    bands = np.full((height, width, 4), 255, np.uint8)
    bands[..., :3] = rng.integers(low, high, (height, width, 3))
    return QImage(bands.tobytes(), width, height, width * 4, QImage.Format.Format_RGB32).copy()


def bands_of(image: QImage) -> np.ndarray:
    return as_pixels(image).copy().view(np.uint8).reshape(image.height(), image.width(), 4)


@given(PLAIN)
def test_a_curve_never_falls(adjustments: Adjustments) -> None:
    assert (np.diff(curve(adjustments).astype(int)) >= 0).all()


def test_each_number_does_what_its_name_says() -> None:
    same = np.arange(256)
    assert (curve(Adjustments()) == same).all()
    assert (curve(Adjustments(brightness=20)) >= same).all()
    assert curve(Adjustments(brightness=-20))[128] < 128
    more = curve(Adjustments(contrast=50)).astype(int)
    assert more[64] < 64
    assert more[192] > 192
    lighter = curve(Adjustments(gamma=50))
    assert lighter[60] > 60
    assert (lighter[0], lighter[255]) == (0, 255)


@given(PLAIN)
def test_every_pixel_follows_the_curve(adjustments: Adjustments) -> None:
    image = noise()
    result = developed(image, adjustments)
    assert (bands_of(result)[..., :3] == curve(adjustments)[bands_of(image)[..., :3]]).all()
    assert (bands_of(result)[..., 3] == 255).all()


@given(ANY)
def test_the_image_itself_is_untouched_and_transparent_pixels_stay_valid(adjustments: Adjustments) -> None:
    image = noise(40, 40).convertToFormat(QImage.Format.Format_ARGB32)
    for x in range(40):
        colour = image.pixelColor(x, 3)
        colour.setAlpha(6 * x)
        image.setPixelColor(x, 3, colour)
    image = image.convertToFormat(QImage.Format.Format_ARGB32_Premultiplied)
    before = image.copy()
    result = bands_of(developed(image, adjustments))
    assert image == before
    assert (result[..., 3] == bands_of(before)[..., 3]).all()
    assert (result[..., :3] <= result[..., 3:]).all()


def test_equalising_uses_the_whole_range_and_leaves_hues() -> None:
    dull = noise(200, 200, low=100, high=140)
    result = developed(dull, Adjustments(equalise=True))
    bands = bands_of(result)[..., :3].astype(int)
    assert bands.max() > 240
    assert bands.min() < 15
    grey = QImage(4, 1, QImage.Format.Format_RGB32)
    for x, value in enumerate((100, 101, 102, 103)):
        grey.setPixel(x, 0, 0xFF000000 | value * 0x010101)
    spread = bands_of(developed(grey, Adjustments(equalise=True)))[0, :, :3]
    assert (spread == spread[:, :1]).all(), "grey stays grey"
    assert (np.diff(spread[:, 0].astype(int)) > 50).all()


@pytest.mark.parametrize("histogram", [np.zeros(256, int), np.eye(1, 256, 77, dtype=int)[0] * 500])
def test_one_tone_cannot_be_spread(histogram: np.ndarray) -> None:
    assert (equalising_curve(histogram) == np.arange(256)).all()


def test_the_size_and_note_of_the_file_are_kept() -> None:
    image = noise()
    image.setText("source", "4000x3000")
    image.setText("note", "cut")
    result = developed(image, Adjustments(brightness=10))
    assert (result.text("source"), result.text("note")) == ("4000x3000", "cut")
    assert developed(image, Adjustments()) is image


@given(st.lists(st.sampled_from(["turn", "mirror"]), max_size=9))
def test_orientations_are_what_the_steps_do_to_an_image(steps: list[str]) -> None:
    seen, orientation = np.arange(6).reshape(2, 3), Orientation()
    x, y = 0.2, 0.3
    for step in steps:
        seen = np.rot90(seen, -1) if step == "turn" else seen[:, ::-1]
        orientation = orientation.turned() if step == "turn" else orientation.flipped()
        x, y = turned_point(x, y) if step == "turn" else flipped_point(x, y)
    start = np.arange(6).reshape(2, 3)
    start = start[:, ::-1] if orientation.mirrored else start
    assert (np.rot90(start, -orientation.turns) == seen).all()
    a, b = (1 - 0.2, 0.3) if orientation.mirrored else (0.2, 0.3)
    for _ in range(orientation.turns):
        a, b = turned_point(a, b)
    assert (x, y) == pytest.approx((a, b))


@given(PLAIN, st.sampled_from(["brightness", "contrast", "gamma"]), st.integers(-300, 300))
def test_steps_stop_at_the_limits(adjustments: Adjustments, name: str, by: int) -> None:
    value = getattr(adjustments.stepped(name, by), name)
    assert value == min(max(getattr(adjustments, name) + by, -100), 100)
