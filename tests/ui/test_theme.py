"""Both themes are readable (WCAG AA), complete, and keep a cluster's colour."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from a3s_desktop.ui.theme import (
    CONTRAST_DARK,
    CONTRAST_LIGHT,
    DARK,
    ICON,
    LIGHT,
    Tokens,
    apply_theme,
    cluster_colour,
    cluster_colours,
    contrast,
    icon,
    palette,
    style_sheet,
    tokens,
)

ALL = [LIGHT, DARK, CONTRAST_LIGHT, CONTRAST_DARK]
TEXT = [
    ("text", "window"), ("text", "surface"), ("text", "raised"), ("text", "hover"), ("text", "pressed"),
    ("text", "stage"), ("text", "accent_soft"), ("text", "warning_soft"), ("text", "danger_soft"),
    ("muted", "window"), ("muted", "surface"), ("muted", "raised"), ("muted", "stage"),
    ("accent", "surface"), ("accent", "window"), ("on_accent", "accent"), ("on_same", "same"),
    ("on_different", "different"), ("same", "surface"), ("different", "surface"), ("same", "same_soft"),
    ("different", "different_soft"), ("warning", "warning_soft"), ("danger", "danger_soft"), ("danger", "surface"),
]  # fmt: skip


@pytest.mark.parametrize("t", ALL, ids=lambda t: t.name)
@pytest.mark.parametrize(("ink", "ground"), TEXT)
def test_text_has_enough_contrast(t: Tokens, ink: str, ground: str) -> None:
    assert contrast(getattr(t, ink), getattr(t, ground)) >= (7.0 if t.strong else 4.5)


@pytest.mark.parametrize("t", ALL, ids=lambda t: t.name)
def test_lines_that_mean_something_and_clusters_have_enough_contrast(t: Tokens) -> None:
    for ground in (t.window, t.surface):
        assert contrast(t.outline, ground) >= 3.0
        assert not t.strong or contrast(t.border, ground) >= 4.5
        assert all(contrast(colour.name(), ground) >= 3.0 for colour in cluster_colours(t))


@pytest.mark.parametrize("t", ALL, ids=lambda t: t.name)
def test_no_token_is_left_in_the_style_sheet(t: Tokens) -> None:
    text = style_sheet(t, 10.0).partition("*/")[2]
    assert "@" not in text
    assert t.accent in text


def test_a_theme_is_applied_and_changed(qtbot: QtBot, qapp: QApplication) -> None:
    for mode, t in (("dark", DARK), ("contrast", CONTRAST_DARK), ("light", LIGHT)):
        assert apply_theme(qapp, mode) == t
        assert tokens() == t
        assert qapp.palette().color(QPalette.ColorRole.Window).name() == t.window.lower()


def test_system_without_an_opinion_is_light(qtbot: QtBot, qapp: QApplication) -> None:
    assert apply_theme(qapp, "system") == LIGHT


def test_text_grows_with_the_setting(qtbot: QtBot, qapp: QApplication) -> None:
    apply_theme(qapp, "light", 100)
    plain = qapp.font().pointSizeF()
    apply_theme(qapp, "light", 150)
    assert qapp.font().pointSizeF() == pytest.approx(plain * 1.5)
    apply_theme(qapp, "dark")
    assert qapp.font().pointSizeF() == pytest.approx(plain * 1.5), "another theme keeps the size"
    apply_theme(qapp, "light", 100)


def test_disabled_text_is_paler() -> None:
    colours = palette(DARK)
    role, group = QPalette.ColorRole.WindowText, QPalette.ColorGroup
    assert colours.color(group.Disabled, role) != colours.color(group.Active, role)


def test_a_cluster_keeps_its_colour() -> None:
    assert cluster_colour(31, DARK) == cluster_colour(31, DARK)
    assert len({cluster_colour(i, LIGHT).name() for i in range(len(cluster_colours(LIGHT)))}) == len(
        cluster_colours(LIGHT)
    )


def test_icons_are_drawn_in_the_theme_s_colour(qtbot: QtBot, qapp: QApplication) -> None:
    apply_theme(qapp, "dark")
    image = icon("grid").pixmap(ICON, ICON).toImage()
    points = [image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height())]
    assert max(colour.lightness() for colour in points if colour.alpha() > 200) > 200
    assert icon("no such icon").isNull()
    apply_theme(qapp, "light")
