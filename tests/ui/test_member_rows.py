"""Rows of images as columns, and names put in order in steps."""

from __future__ import annotations

import numpy as np
import pytest

from a3s_desktop.ui import cluster_order
from a3s_desktop.ui.cluster_order import by_name, natural
from a3s_desktop.ui.member_rows import MemberRows

ROWS = ((7, 0.5), (2, 0.25), (9, -1.0))


def test_they_are_a_sequence_of_pairs() -> None:
    rows = MemberRows.of(ROWS)
    assert tuple(rows) == ROWS
    assert (len(rows), rows[0], rows[-1], tuple(rows[1:])) == (3, ROWS[0], ROWS[-1], ROWS[1:])
    assert tuple(rows.at(np.array([2, 0]))) == (ROWS[2], ROWS[0])
    assert len(MemberRows.of(())) == 0


def test_they_are_equal_where_items_order_and_doubts_are() -> None:
    rows = MemberRows.of(ROWS)
    assert rows == MemberRows.of(list(ROWS))
    assert rows != MemberRows.of(ROWS[::-1])
    assert rows != MemberRows.of(ROWS[:2])
    assert rows != MemberRows.of(((7, 0.5), (2, 0.25), (9, 0.0)))


def test_items_are_found_again() -> None:
    rows = MemberRows.of(ROWS)
    assert rows.places(np.array([9, 3, 7, 100])).tolist() == [2, -1, 0, -1]
    assert rows.places(np.zeros(0, np.int64)).tolist() == []
    assert MemberRows.of(()).places(np.array([4])).tolist() == [-1]
    assert rows.shares(MemberRows.of(((2, 0.0), (50, 0.0))))
    assert not rows.shares(MemberRows.of(((50, 0.0),)))
    assert not rows.shares(MemberRows.of(()))
    assert not MemberRows.of(()).shares(rows)


@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 20, 95])
def test_names_in_steps_come_in_the_order_of_one_sort(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(cluster_order, "_BLOCK", 10)
    rng = np.random.default_rng(count)
    names = {item: f"image {rng.integers(0, 30)}" for item in range(200)}
    items = rng.permutation(200)[:count].tolist()
    *steps, places = by_name(np.array(items), names.__getitem__)
    assert places is not None
    assert all(step is None for step in steps)
    assert (len(steps) > 0) == (count > 10)
    assert [items[k] for k in places] == sorted(items, key=lambda item: (natural(names[item]), item))


def test_numbers_in_names_stand_by_their_size() -> None:
    names = ["b", "a10", "a9", "a", "a 9", "a09b", "a9b", "A9c", "9", "10", "", "a9 1", "a100000000000000000000", "ab1"]
    places = next(by_name(np.arange(len(names)), names.__getitem__))
    assert places is not None
    assert sorted(places) == list(range(len(names)))
    order = [names[k] for k in places]
    for first, second in (("9", "10"), ("a9", "a10"), ("a9", "a9b"), ("a9b", "A9c"), ("a10", "ab1"), ("ab1", "b"),
                          ("a10", "a100000000000000000000"), ("", "9"), ("a", "a9")):  # fmt: skip
        assert order.index(first) < order.index(second)
