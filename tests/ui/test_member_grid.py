"""The grid of images: what stays selected when its rows change, and dragging of few and of very many."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, Qt

from a3s_desktop.ui import member_grid
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.member_grid import MemberGrid, dragged, dropped
from a3s_desktop.ui.member_rows import MemberRows


class Nowhere:
    """Images that have names only."""

    problems: dict[int, str] = {}  # noqa: RUF012

    def name(self, item: int) -> str:
        return f"{item}.jpg"

    def file(self, item: int) -> Path:
        return Path(f"/nowhere/{item}.jpg")

    def __len__(self) -> int:
        return 1000


def rows(*items: int) -> MemberRows:
    return MemberRows(np.array(items, np.int64), np.zeros(len(items)))


@pytest.fixture
def grid(qtbot):
    loader = ImageLoader(max_bytes=10_000_000)
    grid = MemberGrid(loader, "grid")
    qtbot.addWidget(grid)
    grid.pictures.items = Nowhere()
    grid.resize(600, 400)
    with qtbot.waitExposed(grid):
        grid.show()
    yield grid
    loader.shutdown()


def test_the_selection_goes_with_the_images_into_another_order(grid):
    grid.show_rows(rows(5, 6, 7, 8, 9), keep=False)
    grid.choose([1, 2, 4], 2)
    grid.show_rows(rows(9, 7, 5, 3), keep=True)
    assert sorted(grid.chosen().tolist()) == [7, 9]  # 6 has gone
    assert grid.currentIndex().row() == 1
    assert grid.items == (9, 7, 5, 3)


def test_a_gap_is_closed_by_what_follows_it(grid):
    grid.show_rows(rows(5, 6, 7, 8), keep=False)
    grid.choose([1, 2], 1)
    grid.show_rows(rows(5, 8), keep=True)
    assert grid.chosen().tolist() == [8]
    grid.show_rows(rows(5), keep=True)
    assert grid.chosen().tolist() == [5]
    grid.show_rows(rows(), keep=True)
    assert grid.chosen().tolist() == []


def test_all_stay_selected_in_another_order(grid):
    order = np.random.default_rng(0).permutation(800)
    grid.show_rows(rows(*range(800)), keep=False)
    grid.selectAll()
    assert grid.chosen_count() == 800
    grid.show_rows(rows(*order.tolist()), keep=True)
    assert grid.chosen_count() == 800
    assert (np.sort(grid.chosen()) == np.arange(800)).all()


def test_the_number_of_rows_is_asked_for_what_is_in_sight_only(grid, qtbot, monkeypatch):
    asked = []
    count = type(grid.model()).rowCount
    monkeypatch.setattr(type(grid.model()), "rowCount", lambda self, *of: asked.append(1) or count(self, *of))
    grid.show_rows(MemberRows(np.arange(200_000) % 1000, np.zeros(200_000)), keep=False)
    grid.viewport().repaint()
    assert 0 < len(asked) < 1000


def test_items_come_back_from_a_drop(grid):
    assert dropped(dragged(np.array([4, 900, 2]))).tolist() == [4, 900, 2]
    assert len(dropped(QMimeData())) == 0
    grid.show_rows(rows(5, 6, 7), keep=False)
    index = grid.model().index
    assert dropped(grid.model().mimeData([index(2, 0), index(0, 0)])).tolist() == [7, 5]


@pytest.mark.parametrize("count", [3, 800])
def test_what_is_selected_is_dragged(grid, monkeypatch, count):
    given = []
    many = count > member_grid._EACH

    class Drag(member_grid.QDrag):
        def exec(self, *_actions):
            given.append(dropped(self.mimeData()).tolist())
            assert self.pixmap().size() == grid.visualRect(grid.currentIndex()).size()
            return Qt.DropAction.IgnoreAction

    monkeypatch.setattr(member_grid, "QDrag", Drag)
    monkeypatch.setattr(grid.model(), "mimeData", lambda indexes: given.append([i.row() for i in indexes]))
    grid.show_rows(rows(*range(count)), keep=False)
    grid.selectAll()
    grid.startDrag(Qt.DropAction.CopyAction)
    assert [sorted(part) for part in given] == [list(range(count))]
    assert many == (count == 800)
