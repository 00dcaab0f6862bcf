"""Single images with their homes as columns."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from a3s_desktop.session.overview import Home
from a3s_desktop.ui.cluster_rows import Row
from a3s_desktop.ui.home_rows import HomeRows

STATE = SimpleNamespace(
    labels=np.array([0, 0, 0, 1, 2, 3, 4, 4], np.int32),  # images 3, 4 and 5 are alone
    is_junk=np.zeros(8, np.bool_),
    finished=frozenset(),
    names={0: "Fox", 9: "nobody"},
)
HOMES = (Home(3, 0, 0.5, 1), Home(4, 4, 0.75, 6), Home(5, -1, 0.5, -1), Home(7, 0, 0.9, 0))
ROWS = [Row(4, 2, "", 6, 0.75, 4), Row(0, 3, "Fox", 1, 0.5, 3), Row(-1, 0, "", -1, 0.5, 5)]


def test_the_likeliest_are_first_and_what_is_not_alone_is_left_out() -> None:
    rows = HomeRows.of(HOMES, STATE)
    assert list(rows) == ROWS
    assert rows[-1] == ROWS[-1]
    assert rows[1:] == ROWS[1:]
    assert rows.images.items.tolist() == [4, 3, 5]
    with pytest.raises(IndexError):
        rows[3]


def test_junk_and_images_that_stay_alone_are_left_out() -> None:
    state = SimpleNamespace(**{**vars(STATE), "is_junk": np.arange(8) == 4, "finished": frozenset({1})})
    assert [row.item for row in HomeRows.of(HOMES, state)] == [5]


def test_they_are_equal_where_all_of_it_is() -> None:
    rows = HomeRows.of(HOMES, STATE)
    assert rows == HomeRows.of(HOMES[::-1], STATE)
    assert rows != HomeRows.of(HOMES[:1], STATE)
    assert rows != HomeRows.of(HOMES, SimpleNamespace(**{**vars(STATE), "names": {}}))
    assert HomeRows.of((), STATE) != rows
    assert not HomeRows.none()
    assert list(HomeRows.none()) == []
