"""A list whose rows are equal cells, line by line: where they are is arithmetic, whatever their number.

Qt's own list goes over every row whenever its rows or its width change: 100 ms for 700,000. Here nothing does.
"""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import (
    QEvent,
    QItemSelection,
    QItemSelectionModel,
    QItemSelectionRange,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
)
from PySide6.QtGui import QHoverEvent, QMouseEvent, QPainter, QPaintEvent, QRegion, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QStyle,
    QStyleHintReturnMask,
    QStyleOptionRubberBand,
    QStyleOptionViewItem,
    QWidget,
)

_Index = QModelIndex | QPersistentModelIndex
_Hint = QAbstractItemView.ScrollHint
_Move = QAbstractItemView.CursorAction


class CellView(QListView):
    """See the module. Cells are as large as ``gridSize``; as many as fit stand in a line; lines scroll by pixels."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._over = -1  # row under the pointer
        self._pressed = QPoint()  # where the rubber band began, from the first line's corner
        self._band = QRect()  # the rubber band, from the first line's corner

    # where the cells are

    @property
    def columns(self) -> int:
        """Cells in a line."""
        return max(self.viewport().width() // self._cell().width(), 1)

    def visualRect(self, index: _Index) -> QRect:
        return self._rect(index.row()) if index.isValid() else QRect()

    def indexAt(self, point: QPoint) -> QModelIndex:
        return self.model().index(self._row_at(point), 0) if self.model() is not None else QModelIndex()

    def visualRegionForSelection(self, selection: QItemSelection) -> QRegion:
        """What to paint anew: the cells in sight of these rows."""
        region, seen = QRegion(), self._rows_in(self.viewport().rect())
        for part in (selection.at(k) for k in range(selection.count())):
            for row in range(max(part.top(), seen.start), min(part.bottom() + 1, seen.stop)):
                region += self._rect(row)
        return region

    def doItemsLayout(self) -> None:
        """Only the scroll bar's range depends on the number of rows."""
        QAbstractItemView.doItemsLayout(self)

    def updateGeometries(self) -> None:
        bar, high, page = self.verticalScrollBar(), self._cell().height(), self.viewport().height()
        bar.setSingleStep(max(high // 4, 1))
        bar.setPageStep(page)
        bar.setRange(0, max(self._lines() * high - page, 0))
        QAbstractItemView.updateGeometries(self)

    def resizeEvent(self, event: QResizeEvent) -> None:
        QAbstractItemView.resizeEvent(self, event)
        self.viewport().update()  # another number of cells may stand in a line

    def scrollContentsBy(self, dx: int, dy: int) -> None:  # noqa: ARG002
        self.viewport().update()

    def scrollTo(self, index: _Index, hint: _Hint = _Hint.EnsureVisible) -> None:
        if not index.isValid():
            return
        rect, bar, page = self._rect(index.row()), self.verticalScrollBar(), self.viewport().height()
        above, below = rect.top(), rect.bottom() + 1 - page
        if hint is _Hint.PositionAtTop or (hint is _Hint.EnsureVisible and above < 0):
            bar.setValue(bar.value() + above)
        elif hint is _Hint.PositionAtBottom or (hint is _Hint.EnsureVisible and below > 0):
            bar.setValue(bar.value() + min(above, below))  # of a cell that is higher than the view: its head
        elif hint is _Hint.PositionAtCenter:
            bar.setValue(bar.value() + rect.center().y() - page // 2)

    def _cell(self) -> QSize:
        return self.gridSize().expandedTo(QSize(1, 1))

    def _count(self) -> int:
        return self.model().rowCount() if self.model() is not None else 0

    def _lines(self) -> int:
        return -(-self._count() // self.columns)

    def _rect(self, row: int) -> QRect:
        """A cell's place in the viewport."""
        line, column = divmod(row, self.columns)
        cell = self._cell()
        return QRect(QPoint(column * cell.width(), line * cell.height() - self.verticalOffset()), cell)

    def _row_at(self, point: QPoint) -> int:
        """Row of the cell at a place of the viewport; -1 where there is none."""
        cell, columns = self._cell(), self.columns
        column, line = point.x() // cell.width(), (point.y() + self.verticalOffset()) // cell.height()
        row = line * columns + column
        return row if 0 <= column < columns and 0 <= row < self._count() else -1

    def _rows_in(self, rect: QRect) -> range:
        """Rows of all lines that a rectangle of the viewport touches."""
        high, top = self._cell().height(), rect.top() + self.verticalOffset()
        first, last = max(top // high, 0), (top + rect.height() - 1) // high
        return range(first * self.columns, max(min((last + 1) * self.columns, self._count()), 0))

    # what is selected

    def setSelection(self, rect: QRect, command: QItemSelectionModel.SelectionFlag) -> None:
        """By the rubber band what it touches; by key and click all rows from one corner's to the other's."""
        if self.state() == QAbstractItemView.State.DragSelectingState:
            rows = list(self._touched(rect.normalized()))
        else:
            first, last = self._row_at(rect.topLeft()), self._row_at(rect.bottomRight())
            rows = [range(min(first, last), max(first, last) + 1)] if min(first, last) >= 0 else []
        selection, model = QItemSelection(), self.model()
        for part in rows:
            selection.append(QItemSelectionRange(model.index(part[0], 0), model.index(part[-1], 0)))
        self.selectionModel().select(selection, command)

    def _touched(self, rect: QRect) -> Iterator[range]:
        """Rows of the cells that a rectangle of the viewport touches, line by line, whole lines together."""
        wide, columns = self._cell().width(), self.columns
        first, last = max(rect.left() // wide, 0), min(rect.right() // wide, columns - 1)
        rows = self._rows_in(rect)
        if first > last or not len(rows):
            return
        if last - first == columns - 1:
            yield rows
            return
        for start in range(rows.start, rows.stop, columns):
            part = range(start + first, min(start + last + 1, self._count()))
            if len(part):
                yield part

    # keys and mouse

    def moveCursor(self, action: _Move, modifiers: Qt.KeyboardModifier) -> QModelIndex:  # noqa: ARG002
        """Left and right go on in the next line; up and down, also by pages, stay in the column."""
        count, row = self._count(), self.currentIndex().row()
        page = max(self.viewport().height() // self._cell().height() - 1, 1)
        if not count:
            return QModelIndex()
        if row < 0 or action is _Move.MoveHome:
            return self.model().index(0, 0)
        if action is _Move.MoveEnd:
            return self.model().index(count - 1, 0)
        if action is _Move.MoveLeft:
            row = max(row - 1, 0)
        elif action is _Move.MoveRight:
            row = min(row + 1, count - 1)
        else:
            back = action in (_Move.MoveUp, _Move.MovePrevious, _Move.MovePageUp)
            paged = action in (_Move.MovePageUp, _Move.MovePageDown)
            lines = page if paged else 1
            row = self._stepped(row, -lines if back else lines)
        return self.model().index(row, 0)

    def _stepped(self, row: int, lines: int) -> int:
        """The row so many lines below (above: less than 0), or as far as the column goes."""
        line, column = divmod(row, self.columns)
        found = min(max(line + lines, 0), self._lines() - 1) * self.columns + column
        if found == self._count():  # the last cell of all is also below the one at its right
            return found - 1
        return found if found < self._count() else found - self.columns

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = event.position().toPoint() + QPoint(0, self.verticalOffset())
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        if self.state() == QAbstractItemView.State.DragSelectingState:
            self._draw_band(QRect(self._pressed, event.position().toPoint() + QPoint(0, self.verticalOffset())))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        self._draw_band(QRect())

    def _draw_band(self, band: QRect) -> None:
        if band != self._band:
            both = self._band.normalized().united(band.normalized())
            self._band = band
            self.viewport().update(both.translated(0, -self.verticalOffset()).adjusted(-2, -2, 2, 2))

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHoverEvent):
            left = event.type() == QEvent.Type.HoverLeave
            self._over = -1 if left else self._row_at(event.position().toPoint())
        return super().viewportEvent(event)

    # painting

    def paintEvent(self, event: QPaintEvent) -> None:
        option = QStyleOptionViewItem()
        self.initViewItemOption(option)
        state, flag = option.state & ~QStyle.StateFlag.State_MouseOver, QStyle.StateFlag
        model, chosen, delegate = self.model(), self.selectionModel(), self.itemDelegate()
        current = self.currentIndex().row() if self.hasFocus() else -1
        painter = QPainter(self.viewport())
        for row in self._rows_in(event.rect()):
            option.rect = self._rect(row)
            if not option.rect.intersects(event.rect()):
                continue
            index = model.index(row, 0)
            option.state = state
            for on, more in (
                (chosen.isSelected(index), flag.State_Selected),
                (row == current, flag.State_HasFocus),
                (row == self._over, flag.State_MouseOver),
            ):
                if on:
                    option.state |= more
            delegate.paint(painter, option, index)
        if self.state() == QAbstractItemView.State.DragSelectingState and not self._band.isNull():
            self._paint_band(painter)
        painter.end()

    def _paint_band(self, painter: QPainter) -> None:
        option = QStyleOptionRubberBand()
        option.initFrom(self)
        option.opaque = False
        option.rect = self._band.normalized().translated(0, -self.verticalOffset())
        painter.save()
        mask = QStyleHintReturnMask()
        if self.style().styleHint(QStyle.StyleHint.SH_RubberBand_Mask, option, self, mask):
            painter.setClipRegion(mask.region, Qt.ClipOperation.IntersectClip)
        self.style().drawControl(QStyle.ControlElement.CE_RubberBand, option, painter, self)
        painter.restore()
