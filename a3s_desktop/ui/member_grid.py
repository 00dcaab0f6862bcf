"""A grid of images with their doubt, many of which can be selected; for a cluster, a selection, the junk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QMimeData,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Slot,
)
from PySide6.QtGui import QColor, QDrag, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from a3s_desktop.core.types import IndexArray
from a3s_desktop.i18n import percent, tr
from a3s_desktop.ui.enlarged_view import EnlargedView
from a3s_desktop.ui.grid_view import GridView
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.member_rows import MemberRows
from a3s_desktop.ui.pictures import Pictures, draw_meter
from a3s_desktop.ui.plain import plain_tip
from a3s_desktop.ui.theme import RADIUS_SMALL, SPACE_1, SPACE_2, scaled_font, tokens

_EACH = 300  # selected images that Qt may go over one by one when they are dragged
CELL = 128  # smallest width of a cell, logical pixels
ITEMS_MIME = "application/x-a3s-items"
MEMBER_ROLE = Qt.ItemDataRole.UserRole + 1
_Index = QModelIndex | QPersistentModelIndex


class Members(QAbstractListModel):
    """Items with the doubt about each (below 0: not to be shown), a row each.

    Not a `RowModel`: a `GridView` asks only for the rows in sight, and rows that Qt keeps take memory and a moment.
    """

    def __init__(self, pictures: Pictures, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pictures = pictures
        self.rows = MemberRows.of(())

    def set_rows(self, rows: Sequence[tuple[int, float]]) -> None:
        """Replace all rows."""
        self.beginResetModel()
        self.rows = MemberRows.of(rows)
        self.endResetModel()

    def rowCount(self, parent: _Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self.rows)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        item, doubt = self.rows[index.row()]
        if role == MEMBER_ROLE:
            return item, doubt
        name = self._pictures.name(item)
        if role == Qt.ItemDataRole.DisplayRole:
            return name
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return name if doubt < 0 else tr("{name}, doubt {share}", name=name, share=percent(doubt))
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(name)
        return None

    def flags(self, index: _Index) -> Qt.ItemFlag:
        flag = Qt.ItemFlag
        return flag.ItemIsEnabled | flag.ItemIsSelectable | flag.ItemIsDragEnabled if index.isValid() else flag(0)

    def supportedDropActions(self) -> Qt.DropAction:
        """What is dragged away stays here, too."""
        return Qt.DropAction.CopyAction

    def mimeTypes(self) -> list[str]:
        return [ITEMS_MIME]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        return dragged(self.rows.items[[index.row() for index in indexes]])


def dragged(items: IndexArray) -> QMimeData:
    """Items on their way by drag and drop."""
    data = QMimeData()
    data.setData(ITEMS_MIME, items.astype(np.int64).tobytes())
    return data


def dropped(data: QMimeData) -> IndexArray:
    """Items that were dropped; none where there are no such data."""
    given = data.data(ITEMS_MIME).data()
    return np.frombuffer(given[: len(given) // 8 * 8], np.int64)


class MemberDelegate(QStyledItemDelegate):
    """Paints an image with its file name and its doubt."""

    def __init__(self, pictures: Pictures, view: QWidget) -> None:
        super().__init__(view)
        self._pictures = pictures
        self.width = CELL

    def height(self) -> int:
        """Of a cell, for the current width and text size."""
        return self.width - 2 * SPACE_1 + QFontMetrics(scaled_font("small")).height() + SPACE_2

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:  # noqa: ARG002
        return QSize(self.width, self.height())

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        member = index.data(MEMBER_ROLE)
        if member is not None:
            painter.save()
            painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
            self.draw(painter, option, *member)
            painter.restore()

    def draw(self, painter: QPainter, option: QStyleOptionViewItem, item: int, doubt: float) -> None:
        """Paint one cell."""
        theme, state = tokens(), QStyle.StateFlag
        cell = option.rect.adjusted(2, 2, -2, -2)
        selected, over = bool(option.state & state.State_Selected), bool(option.state & state.State_MouseOver)
        focus = bool(option.state & state.State_HasFocus)
        if selected or over or focus:
            painter.setPen(QPen(QColor(theme.accent), 2.5 if focus else 1.5) if selected or focus
                           else Qt.PenStyle.NoPen)  # fmt: skip
            painter.setBrush(QColor(theme.accent_soft if selected else theme.hover if over else theme.surface))
            painter.drawRoundedRect(cell, RADIUS_SMALL + 2, RADIUS_SMALL + 2)
        side = cell.width() - 2 * SPACE_1
        frame = QRect(cell.left() + SPACE_1, cell.top() + SPACE_1, side, side - SPACE_1)
        self._pictures.draw(painter, frame, item)
        painter.setFont(scaled_font("small"))
        metrics = painter.fontMetrics()
        line = QRect(frame.left(), frame.bottom() + 3, frame.width(), metrics.height())
        if doubt >= 0:
            used = draw_meter(painter, line.left(), line.bottom() - 2, doubt, metrics.ascent())
            line.setLeft(line.left() + used + SPACE_1 + 2)
        painter.setPen(QColor(theme.text))
        text = metrics.elidedText(self._pictures.name(item), Qt.TextElideMode.ElideMiddle, line.width())
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, text)


class MemberGrid(GridView):
    """See the module.

    Parameters
    ----------
    loader : ImageLoader
    group : str
        What the loader knows this grid's requests by.
    """

    def __init__(self, loader: ImageLoader, group: str, parent: QWidget | None = None) -> None:
        super().__init__(CELL, parent)
        self.pictures = Pictures(loader, group, self)
        self._loader = loader
        self._members = Members(self.pictures, self)
        self._delegate = MemberDelegate(self.pictures, self)
        self._enlarged: EnlargedView | None = None
        self.setModel(self._members)
        self.setItemDelegate(self._delegate)
        self.fitted.connect(self._widened)
        self.settled.connect(self.pictures.drop)
        self.opened.connect(self.enlarge)
        self.pictures.changed.connect(self.viewport().update)
        self.set_cell_height(self._delegate.height())

    @property
    def items(self) -> tuple[int, ...]:
        """The items that are shown, in order."""
        return tuple(self._members.rows.items.tolist())

    @property
    def rows(self) -> MemberRows:
        """The items that are shown, in order, with their doubts."""
        return self._members.rows

    def show_rows(self, rows: Sequence[tuple[int, float]], keep: bool) -> None:
        """Show these; ``keep``: selection and place stay, and a gap is closed by what follows."""
        new, before = MemberRows.of(rows), self._members.rows
        if new == before:
            return
        row, top = self.currentIndex().row(), self.verticalScrollBar().value()
        chosen = self.chosen_places()
        self.pictures.drop()
        self._members.set_rows(new)
        if not len(new):
            return
        if keep and row >= 0:
            # The image at the keyboard's place, or the first one after it that is still here.
            now = new.places(before.items)
            later, kept = now[row:] >= 0, now[chosen]
            kept = kept[kept >= 0]
            current = int(now[row + later.argmax()]) if later.any() else len(new) - 1
            self.choose(kept if len(kept) else [current], current)
        elif self.hasFocus() or not keep:
            self.choose([], 0)
        self.verticalScrollBar().setValue(top if keep else 0)

    def chosen(self) -> IndexArray:
        """The selected items."""
        return self._members.rows.items[self.chosen_places()]

    @Slot(QModelIndex)
    def enlarge(self, index: QModelIndex) -> None:
        """Show an image as large as the window; the arrow keys then go through the others."""
        if not index.isValid() or self.pictures.items is None:
            return
        if self._enlarged is None:
            self._enlarged = EnlargedView(self._loader, self)
        self._enlarged.show_members(self.pictures.items, self.items, index.row())

    def startDrag(self, actions: Qt.DropAction) -> None:
        """Very many images are taken along at once, and shown by the one at the keyboard's place."""
        if self.chosen_count() <= _EACH:
            super().startDrag(actions)
            return
        drag, cell = QDrag(self), self.visualRect(self.currentIndex())
        drag.setMimeData(dragged(self.chosen()))
        drag.setPixmap(self.viewport().grab(cell))
        drag.setHotSpot(cell.center() - cell.topLeft())
        drag.exec(actions, Qt.DropAction.CopyAction)

    @Slot(int)
    def _widened(self, width: int) -> None:
        self._delegate.width = width
        self.set_cell_height(self._delegate.height())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_delegate"):
            self.set_cell_height(self._delegate.height())
