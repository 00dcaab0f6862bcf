"""Linked zoom and pan: anchored at the pointer, the same relative part for images of any two sizes."""

from __future__ import annotations

import math

from hypothesis import assume, given
from hypothesis import strategies as st

from a3s_desktop.ui.view_link import Frame, View, ViewLink

SIZES = st.integers(1, 20_000)
PANES = st.integers(50, 3000)
FRAMES = st.builds(Frame, PANES, PANES, SIZES, SIZES)
FACTORS = st.floats(1.01, 4.0)
SHARES = st.floats(0.0, 1.0)


def near(a: float, b: float, tolerance: float = 1e-6) -> bool:
    return math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)


@given(FRAMES, FACTORS, SHARES, SHARES)
def test_the_point_under_the_pointer_stays(frame: Frame, factor: float, u: float, v: float) -> None:
    link = ViewLink()
    px, py = u * frame.pane_width, v * frame.pane_height
    link.zoom(0, frame, factor, frame.pane_width / 2, frame.pane_height / 2)
    before = link.shown(0, frame)
    link.zoom(0, frame, factor, px, py)
    after = link.shown(0, frame)
    wide, high = frame.shares(after.zoom)
    wide_before, high_before = frame.shares(before.zoom)
    x0, y0 = frame.point(before, px, py)
    x1, y1 = frame.point(after, px, py)
    # Where the whole width or height shows there is nothing to anchor: it stays in the middle.
    if wide_before < 1:
        assert near(x0, x1)
    if high_before < 1:
        assert near(y0, y1)
    assert wide <= wide_before
    assert high <= high_before


@given(FRAMES, st.lists(st.tuples(st.booleans(), st.floats(0.2, 5), SHARES, SHARES), max_size=12))
def test_no_empty_ground_is_shown(frame: Frame, steps: list[tuple[bool, float, float, float]]) -> None:
    link = ViewLink()
    for zooming, amount, u, v in steps:
        if zooming:
            link.zoom(0, frame, amount, u * frame.pane_width, v * frame.pane_height)
        else:
            link.move(0, frame, (u - 0.5) * 3000, (v - 0.5) * 3000)
        view = link.shown(0, frame)
        left, top, width, height = frame.target(view)
        assert 1.0 <= view.zoom <= frame.max_zoom
        for start, length, room in ((left, width, frame.pane_width), (top, height, frame.pane_height)):
            if length >= room:
                assert start <= 1e-6 * length
                assert start + length >= room - 1e-6 * length
            else:
                assert near(start, (room - length) / 2, 1e-5)


@given(FRAMES, FRAMES, FACTORS, SHARES, SHARES)
def test_both_sides_look_at_the_same_relative_place(a: Frame, b: Frame, factor: float, u: float, v: float) -> None:
    link = ViewLink()
    link.zoom(0, a, factor, u * a.pane_width, v * a.pane_height)
    left, right = link.shown(0, a), link.shown(1, b)
    assume(factor <= min(a.max_zoom, b.max_zoom))
    assert near(left.zoom, right.zoom)
    if max(a.shares(left.zoom)) < 1 and max(b.shares(right.zoom)) < 1:
        expected = b.clamped(left)
        assert near(expected.x, right.x)
        assert near(expected.y, right.y)


def test_one_pixel_of_difference_is_no_difference() -> None:
    a, b = Frame(600, 400, 4000, 3000), Frame(600, 400, 4001, 2999)
    link = ViewLink()
    link.zoom(0, a, 4.0, 100, 350)
    left, right = link.shown(0, a), link.shown(1, b)
    assert near(left.x, right.x, 1e-2)
    assert near(left.y, right.y, 1e-2)


def test_unlinked_sides_go_their_own_way_and_keep_the_offset_when_linked_again() -> None:
    frame = Frame(600, 600, 3000, 3000)
    link = ViewLink()
    link.zoom(0, frame, 4.0, 300, 300)
    link.set_linked(False)
    link.move(1, frame, 120, 0)
    offset = link.shown(1, frame).x - link.shown(0, frame).x
    assert offset != 0
    link.set_linked(True)
    link.move(0, frame, -60, 30)
    assert near(link.shown(1, frame).x - link.shown(0, frame).x, offset)
    assert near(link.shown(1, frame).y, link.shown(0, frame).y)
    link.reset()
    assert link.shown(0, frame) == link.shown(1, frame) == View()


def test_dragging_where_one_image_fits_still_moves_the_other() -> None:
    wide, tall = Frame(600, 600, 4000, 1000), Frame(600, 600, 1000, 4000)
    link = ViewLink()
    link.zoom(0, wide, 2.0, 300, 300)
    before = link.shown(1, tall).y
    link.move(0, wide, 0, 100)
    assert link.shown(0, wide).y == 0.5
    assert link.shown(1, tall).y != before


def test_actual_size_is_one_pixel_for_one() -> None:
    frame = Frame(800, 600, 4000, 3000)
    link = ViewLink()
    link.zoom(0, frame, frame.actual, 400, 300)
    _, _, width, height = frame.target(link.shown(0, frame))
    assert near(width, 4000)
    assert near(height, 3000)


def test_a_side_that_is_turned_keeps_its_offset_to_the_other() -> None:
    frame = Frame(600, 600, 3000, 3000)
    link = ViewLink()
    link.zoom(0, frame, 4.0, 100, 200)
    left, right = link.shown(0, frame), link.shown(1, frame)
    link.place(0, 1 - left.y, left.x)
    assert link.linked
    assert link.shown(1, frame) == right, "the other image stays"
    turned = link.shown(0, frame)
    link.move(0, frame, 30, -20)
    assert near(link.shown(1, frame).x - right.x, link.shown(0, frame).x - turned.x)
    assert near(link.shown(1, frame).y - right.y, link.shown(0, frame).y - turned.y)
