"""Long lists: laying out fifty thousand rows asks Python for those in sight only."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from PySide6.QtCore import QAbstractListModel, QModelIndex, Qt
from PySide6.QtWidgets import QAbstractItemView, QApplication, QListView
from pytestqt.qtbot import QtBot

from a3s_desktop.ui.cluster_cards import ClusterCards
from a3s_desktop.ui.cluster_rows import Rows
from a3s_desktop.ui.history_model import HistoryModel
from a3s_desktop.ui.row_model import RowModel
from a3s_desktop.ui.thumbnails import MembersModel

ROWS = 50_000


class Numbers(RowModel):
    """Rows that say their number."""

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        return str(index.row()) if role == Qt.ItemDataRole.DisplayRole else None

    def fill(self, count: int) -> None:
        self.beginResetModel()
        self.replace_rows(count)
        self.endResetModel()


class Naive(QAbstractListModel):
    """What is not to be done."""

    def rowCount(self, parent: QModelIndex | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else 500

    def data(self, index: QModelIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        return str(index.row()) if role == Qt.ItemDataRole.DisplayRole else None


def list_of(qtbot: QtBot, model: QAbstractListModel) -> QListView:
    view = QListView()
    view.setUniformItemSizes(True)
    view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    view.setModel(model)
    view.resize(200, 400)
    qtbot.addWidget(view)
    with qtbot.waitExposed(view):
        view.show()
    return view


def calls_while(work: Any) -> int:
    """How many Python functions are called by it."""
    calls = 0

    def count(_frame: Any, event: str, _arg: Any) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def test_a_list_that_grows_asks_only_for_the_rows_in_sight(qtbot: QtBot) -> None:
    model = Numbers()
    view = list_of(qtbot, model)

    def grow() -> None:
        for count in (ROWS, ROWS + 1):
            model.fill(count)
            view.setCurrentIndex(model.index(0))
            view.doItemsLayout()
            QApplication.processEvents()

    assert calls_while(grow) < 3_000
    assert model.rowCount() == ROWS + 1
    assert view.indexAt(view.viewport().rect().center()).data() not in (None, "")
    view.scrollToBottom()
    assert view.indexAt(view.viewport().rect().bottomLeft()).row() == ROWS
    naive = Naive()
    assert calls_while(list_of(qtbot, naive).doItemsLayout) >= 500, "this is how it would be seen"


def test_rows_come_and_go_with_a_reset_only(qtbot: QtBot) -> None:
    model = Numbers()
    heard: list[str] = []
    model.modelReset.connect(lambda: heard.append("reset"))
    model.rowsInserted.connect(lambda *_: heard.append("inserted"))
    model.rowsRemoved.connect(lambda *_: heard.append("removed"))
    for count in (5, 3, 3, 0):
        model.fill(count)
        assert model.rowCount() == count
    assert heard == ["reset"] * 4
    model.fill(2)
    assert model.index(1).data() == "1"
    assert not model.flags(model.index(1)) & Qt.ItemFlag.ItemIsEditable
    assert model.supportedDropActions() == Qt.DropAction.CopyAction


@pytest.mark.parametrize("kind", [ClusterCards, Rows, HistoryModel, MembersModel])
def test_models_of_lists_that_may_be_long_leave_counting_to_qt(kind: type) -> None:
    assert issubclass(kind, RowModel)
    assert "rowCount" not in vars(kind)
    assert "index" not in vars(kind)
