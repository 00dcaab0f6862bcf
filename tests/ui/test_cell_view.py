"""The list of equal cells behaves as Qt's own wrapped list does, and asks for what is in sight only."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QItemSelectionModel, QPoint, QRect, QSize, QStringListModel, Qt
from PySide6.QtGui import QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyledItemDelegate

from a3s_desktop.ui.cell_view import CellView

CELL = QSize(60, 40)
HINT, MOVE, KEY = QAbstractItemView.ScrollHint, QAbstractItemView.CursorAction, Qt.Key
COUNTS = (0, 1, 4, 5, 23, 60)


class Cells(QStyledItemDelegate):
    """Notes which rows are painted, and how."""

    def __init__(self, view):
        super().__init__(view)
        self.painted = {}

    def sizeHint(self, option, index):
        return CELL

    def paint(self, painter: QPainter, option, index):
        self.painted[index.row()] = (QRect(option.rect), option.state)


def dressed(view, qtbot, count):
    qtbot.addWidget(view)
    view.setModel(QStringListModel([str(row) for row in range(count)], view))
    view.setGridSize(CELL)
    view.setItemDelegate(Cells(view))
    view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
    view.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
    view.resize(330, 170)
    with qtbot.waitExposed(view):
        view.show()
    return view


def qts(qtbot, count):
    """Qt's own list, laid out in the same way."""
    view = QListView()
    view.setFlow(QListView.Flow.LeftToRight)
    view.setWrapping(True)
    view.setResizeMode(QListView.ResizeMode.Adjust)
    view.setUniformItemSizes(True)
    view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    dressed(view, qtbot, count)
    view.doItemsLayout()
    return view


@pytest.fixture(params=COUNTS)
def both(qtbot, request):
    return dressed(CellView(), qtbot, request.param), qts(qtbot, request.param)


def rows(view):
    return sorted(index.row() for index in view.selectedIndexes())


def test_cells_are_where_qts_list_has_them(both):
    ours, other = both
    assert ours.verticalScrollBar().maximum() == other.verticalScrollBar().maximum()
    for top in (0, 33, ours.verticalScrollBar().maximum()):
        for view in both:
            view.verticalScrollBar().setValue(top)
        for row in range(ours.model().rowCount()):
            assert ours.visualRect(ours.model().index(row)) == other.visualRect(other.model().index(row))
        for x in range(-5, 330, 13):
            for y in range(-5, 170, 11):
                assert ours.indexAt(QPoint(x, y)).row() == other.indexAt(QPoint(x, y)).row(), (x, y)


def test_the_keyboard_goes_where_it_goes_in_qts_list(both):
    count = both[0].model().rowCount()
    for row in range(count):
        for action in MOVE:
            found = []
            for view in both:
                view.setCurrentIndex(view.model().index(row))
                found.append(view.moveCursor(action, Qt.KeyboardModifier.NoModifier).row())
            assert found[0] == found[1], (row, action)


def test_what_is_out_of_sight_is_scrolled_to(both):
    for row in range(both[0].model().rowCount()):
        for hint in HINT:
            found = []
            for view in both:
                view.verticalScrollBar().setValue(57)
                view.scrollTo(view.model().index(row), hint)
                found.append(view.verticalScrollBar().value())
            assert abs(found[0] - found[1]) <= 1, (row, hint)


def test_keys_and_clicks_select_what_they_select_in_qts_list(both):
    shift, control = Qt.KeyboardModifier.ShiftModifier, Qt.KeyboardModifier.ControlModifier
    for view in both:
        port = view.viewport()
        view.setCurrentIndex(view.model().index(0))
        QTest.mouseClick(port, Qt.MouseButton.LeftButton, pos=QPoint(70, 50))
        for key in (KEY.Key_Right, KEY.Key_Down, KEY.Key_Down, KEY.Key_Left):
            QTest.keyClick(view, key, shift)
        QTest.mouseClick(port, Qt.MouseButton.LeftButton, control, QPoint(10, 10))
    assert rows(both[0]) == rows(both[1])
    for view in both:
        QTest.keyClick(view, KEY.Key_Home)
        QTest.keyClick(view, KEY.Key_End, shift)
    assert rows(both[0]) == rows(both[1])
    for view in both:
        QTest.keyClick(view, KEY.Key_A, control)
    assert rows(both[0]) == rows(both[1]) == list(range(both[0].model().rowCount()))


@pytest.mark.parametrize("band", [((310, 10), (130, 90)), ((100, 10), (290, 160)), ((310, 165), (5, 5))])
def test_the_rubber_band_selects_what_it_touches(qtbot, band):
    both = dressed(CellView(), qtbot, 23), qts(qtbot, 23)
    begin, end = (QPoint(*place) for place in band)
    chosen = []
    for view in both:
        port = view.viewport()
        QTest.mousePress(port, Qt.MouseButton.LeftButton, pos=begin)
        for step in range(1, 5):
            QTest.mouseMove(port, begin + (end - begin) * step / 4)
        chosen.append(rows(view))
        if view is both[0]:
            assert view._band.normalized().contains(QRect(begin, end).normalized().center())
        QTest.mouseRelease(port, Qt.MouseButton.LeftButton, pos=end)
    assert chosen[0] == chosen[1]
    assert chosen[0]
    assert both[0]._band.isNull()


def test_only_cells_in_sight_are_painted_with_their_state(qtbot):
    view = dressed(CellView(), qtbot, 100_000)
    cells = view.itemDelegate()
    view.viewport().setAttribute(Qt.WidgetAttribute.WA_Hover)
    view.activateWindow()
    view.setFocus()
    qtbot.waitUntil(view.hasFocus)
    view.setCurrentIndex(view.model().index(50_001))
    view.selectionModel().select(view.model().index(50_002), QItemSelectionModel.SelectionFlag.Select)
    cells.painted.clear()
    view.viewport().repaint()
    assert 20 <= len(cells.painted) <= 30
    state = type(next(iter(cells.painted.values()))[1])
    assert cells.painted[50_001][1] & state.State_HasFocus
    assert cells.painted[50_001][1] & cells.painted[50_002][1] & state.State_Selected
    assert not cells.painted[50_002][1] & state.State_HasFocus
    rect, _ = cells.painted[50_003]
    assert rect == view.visualRect(view.model().index(50_003))
    QTest.mouseMove(view.viewport(), rect.center())
    qtbot.waitUntil(lambda: bool(cells.painted[50_003][1] & state.State_MouseOver))


def test_scrolling_and_another_width_paint_anew(qtbot):
    view = dressed(CellView(), qtbot, 500)
    cells = view.itemDelegate()
    for act in (lambda: view.verticalScrollBar().setValue(800), lambda: view.resize(260, 170)):
        qtbot.wait(20)
        cells.painted.clear()
        act()
        first = view.verticalScrollBar().value() // CELL.height() * view.columns
        qtbot.waitUntil(lambda first=first: first in cells.painted)
        assert min(cells.painted) == first


def test_a_hundred_thousand_rows_are_not_gone_over(qtbot):
    class Counted(QStringListModel):
        asked = 0

        def data(self, index, role=Qt.ItemDataRole.DisplayRole):
            return None

        def index(self, row, column=0, parent=None):
            Counted.asked += 1
            return super().index(row, column)

    view = dressed(CellView(), qtbot, 0)
    model = Counted(view)
    model.setStringList(["" for _ in range(100_000)])
    view.setModel(model)
    view.setGridSize(QSize(50, 40))
    view.resize(500, 200)
    view.viewport().repaint()
    assert view.columns == view.viewport().width() // 50
    assert Counted.asked < 2000
