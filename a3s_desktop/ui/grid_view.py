"""A grid of equal cells over any number of rows: a rubber band from empty ground or from what is not selected yet,
dragging of what is selected, and cells that are widened to fill the lines.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from PySide6.QtCore import (
    QItemSelection,
    QItemSelectionModel,
    QItemSelectionRange,
    QModelIndex,
    QSize,
    Qt,
    QTimer,
    Signal,
    Slot,
)
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QWidget

from a3s_desktop.core.runs import sorted_places
from a3s_desktop.core.types import IndexArray
from a3s_desktop.ui.cell_view import CellView
from a3s_desktop.ui.map_raster import ascending
from a3s_desktop.ui.theme import set_role

_Flag = QItemSelectionModel.SelectionFlag
_MOST_PARTS = 300  # of a selection that is made at once
_SETTLED = 60  # ms without scrolling


class GridView(CellView):
    """See the module.

    Attributes
    ----------
    drags_first : bool
        Dragging begins on any cell; otherwise on selected ones only, and the rubber band on the others.

    Signals
    -------
    opened(QModelIndex)
        A double click.
    settled()
        Scrolling has come to rest.
    fitted(int)
        The width of a cell changed.
    """

    opened = Signal(QModelIndex)
    settled = Signal()
    fitted = Signal(int)

    def __init__(self, least: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.drags_first = False
        self._least = least
        self._height = least
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)  # else the width jumps as it comes
        self.setMouseTracking(True)
        set_role(self, role="field")
        self._rest = QTimer(self, singleShot=True, interval=_SETTLED)
        self._rest.timeout.connect(self.settled)
        self._rest.timeout.connect(self.viewport().update)  # what was asked for meanwhile may have been dropped
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        self.doubleClicked.connect(self.opened)

    # cells

    def set_cell_height(self, height: int) -> None:
        """Height of a cell; its width is fitted to the view."""
        if height != self._height:
            self._height = height
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()
        super().resizeEvent(event)

    def _fit(self) -> None:
        """As many columns as fit, widened to fill the row."""
        room = max(self.viewport().width() - 2, self._least)
        width = room // max(room // self._least, 1)
        if self.gridSize() != QSize(width, self._height):
            self.setGridSize(QSize(width, self._height))
            self.fitted.emit(width)

    # what is selected

    def chosen_rows(self) -> list[int]:
        """Selected rows, ascending."""
        found: list[int] = self.chosen_places().tolist()
        return found

    def chosen_places(self) -> IndexArray:
        """The same as an array."""
        selection = self.selectionModel().selection()
        parts = [selection.at(k) for k in range(selection.count())]
        if len(parts) == 1:
            return np.arange(parts[0].top(), parts[0].bottom() + 1)
        rows = [np.arange(part.top(), part.bottom() + 1) for part in parts]
        return sorted_places(rows)

    def chosen_count(self) -> int:
        """How many rows are selected."""
        selection = self.selectionModel().selection()
        return sum(selection.at(k).height() for k in range(selection.count()))

    def choose(self, rows: Iterable[int], current: int = -1) -> None:
        """Select these rows instead of what was selected; ``current`` gets the keyboard's place."""
        model = self.model()
        wanted = ascending(rows if isinstance(rows, np.ndarray) else np.fromiter(rows, np.int64), model.rowCount())
        starts = np.flatnonzero(np.diff(wanted, prepend=-2) != 1)
        if len(starts) > _MOST_PARTS:
            starts = starts[:0]  # Qt compares every part with every other one: minutes for thousands
        lasts = np.append(starts[1:], len(wanted)) - 1 if len(starts) else starts
        if current >= 0:
            self.selectionModel().setCurrentIndex(model.index(current, 0), _Flag.NoUpdate)
        self._select(zip(wanted[starts].tolist(), wanted[lasts].tolist(), strict=True))

    def selectAll(self) -> None:
        """All rows in one part; Qt's own looks at each."""
        count = self.model().rowCount()
        self._select([(0, count - 1)] if count else [])

    def _select(self, parts: Iterable[tuple[int, int]]) -> None:
        """Parts by their first and last row."""
        selection, model = QItemSelection(), self.model()
        for first, last in parts:
            selection.append(QItemSelectionRange(model.index(first, 0), model.index(last, 0)))
        self.selectionModel().select(selection, _Flag.ClearAndSelect)

    # mouse and keys

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        self.setDragEnabled(index.isValid() and (self.drags_first or self.selectionModel().isSelected(index)))
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape gives the selection up, then it is the page's."""
        if event.key() == Qt.Key.Key_Escape and self.chosen_count() > 1:
            current = self.currentIndex()
            self.choose([current.row()] if current.isValid() else [], current.row())
            return
        super().keyPressEvent(event)

    def keyboardSearch(self, search: str) -> None:
        """Letters are the page's keys; a search field finds."""

    @Slot(int)
    def _scrolled(self, _value: int) -> None:
        self._rest.start()
