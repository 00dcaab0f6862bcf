"""A list of clusters, a row each with its picture: the nearest clusters, the choice of a target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import (
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QColor, QDragEnterEvent, QDragMoveEvent, QDropEvent, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from a3s_desktop.i18n import percent, tr
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.member_grid import ITEMS_MIME, dropped
from a3s_desktop.ui.pictures import Pictures, cluster_title, images_text
from a3s_desktop.ui.plain import plain_tip
from a3s_desktop.ui.row_model import RowModel
from a3s_desktop.ui.theme import RADIUS_SMALL, SPACE_1, SPACE_2, scaled_font, set_role, tokens

ROW_ROLE = Qt.ItemDataRole.UserRole + 1
_Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class Row:
    """A cluster of a list.

    Attributes
    ----------
    cluster, size : int
    name : str
    cover : int
        An image of it: what a choice means, since ids may change meanwhile.
    likeness : float
        To what is being looked at; below 0: not known.
    item : int
        The single image whose home the cluster may be; -1: the row is about the cluster alone.
    """

    cluster: int
    size: int
    name: str
    cover: int
    likeness: float = -1.0
    item: int = -1

    @property
    def title(self) -> str:
        """What it is called."""
        return cluster_title(self.cluster, self.name, self.size)

    @property
    def facts(self) -> str:
        """Its size and how near it is."""
        if self.likeness < 0:
            return images_text(self.size)
        return tr("{images}, alike {share}", images=images_text(self.size), share=percent(self.likeness))


class Rows(RowModel):
    """The rows."""

    def __init__(self, pictures: Pictures, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pictures = pictures
        self.rows: Sequence[Row] = ()

    def set_rows(self, rows: Sequence[Row]) -> None:
        """Replace all rows; they are not changed afterwards."""
        self.beginResetModel()
        self.rows = rows
        self.replace_rows(len(self.rows))
        self.endResetModel()

    def flags(self, index: _Index) -> Qt.ItemFlag:
        flag = Qt.ItemFlag
        return flag.ItemIsEnabled | flag.ItemIsSelectable | flag.ItemIsDropEnabled if index.isValid() else flag(0)

    def mimeTypes(self) -> list[str]:
        return [ITEMS_MIME]

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        row = self.rows[index.row()]
        if role == ROW_ROLE:
            return row
        texts = [row.title, row.facts]
        if row.item >= 0:
            name = self._pictures.name(row.item)
            texts = [name, tr("to {cluster}: {facts}", cluster=row.title, facts=row.facts) if row.cover >= 0
                     else tr("nothing is near")]  # fmt: skip
        if role == Qt.ItemDataRole.DisplayRole:
            return texts[0]
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return ", ".join(texts)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(", ".join(texts))
        return texts[1] if role == Qt.ItemDataRole.StatusTipRole else None


class RowDelegate(QStyledItemDelegate):
    """Paints picture, title and facts of a row; the single image before its home."""

    def __init__(self, pictures: Pictures, view: QWidget) -> None:
        super().__init__(view)
        self._pictures = pictures

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:  # noqa: ARG002
        lines = QFontMetrics(scaled_font("base")).height() + QFontMetrics(scaled_font("small")).height()
        return QSize(120, max(lines, 44) + 2 * SPACE_1 + 4)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        row = index.data(ROW_ROLE)
        if row is not None:
            painter.save()
            painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
            facts = index.data(Qt.ItemDataRole.StatusTipRole)
            self.draw(painter, option, row, str(index.data(Qt.ItemDataRole.DisplayRole)), facts)
            painter.restore()

    def draw(self, painter: QPainter, option: QStyleOptionViewItem, row: Row, title: str, facts: str) -> None:
        """Paint one row."""
        theme, state = tokens(), QStyle.StateFlag
        cell = option.rect.adjusted(2, 1, -2, -1)
        selected, over = bool(option.state & state.State_Selected), bool(option.state & state.State_MouseOver)
        focus = bool(option.state & state.State_HasFocus)
        if selected or over or focus:
            painter.setPen(QPen(QColor(theme.accent), 2 if focus else 1) if selected or focus else Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.accent_soft if selected else theme.hover))
            painter.drawRoundedRect(cell, RADIUS_SMALL + 2, RADIUS_SMALL + 2)
        side, left = cell.height() - 2 * SPACE_1, cell.left() + SPACE_1
        for item in (row.item, row.cover):
            if item >= 0:
                self._pictures.draw(painter, QRect(left, cell.top() + SPACE_1, side, side), item, fill=True)
                left += side + SPACE_1
        left += SPACE_1
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
        half = cell.height() // 2
        for text, font, colour, line in (
            (title, scaled_font("base", bold=row.item < 0), theme.text,
             QRect(left, cell.top() + 1, cell.right() - left - SPACE_2, half)),
            (facts, scaled_font("small"), theme.muted,
             QRect(left, cell.top() + half, cell.right() - left - SPACE_2, half - 2)),
        ):  # fmt: skip
            painter.setFont(font)
            painter.setPen(QColor(colour))
            painter.drawText(line, flags, painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight,
                                                                          line.width()))  # fmt: skip


class RowList(QListView):
    """See the module.

    Signals
    -------
    chosen(object)
        The row that the keyboard is at (`Row` or None).
    opened(object)
        A `Row`, by double click.
    dropped(object, object)
        Items (int64) were dropped onto a `Row`.
    """

    chosen = Signal(object)
    opened = Signal(object)
    dropped = Signal(object, object)

    def __init__(self, loader: ImageLoader, group: str, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.pictures = Pictures(loader, group, self)
        self._rows = Rows(self.pictures, self)
        self.setModel(self._rows)
        self.setItemDelegate(RowDelegate(self.pictures, self))
        self.setUniformItemSizes(True)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMouseTracking(True)
        self.setAcceptDrops(True)
        self.setAccessibleName(name)
        set_role(self, role="field")
        self.selectionModel().currentChanged.connect(self._changed)
        self.doubleClicked.connect(self._double)
        self.pictures.changed.connect(self.viewport().update)

    @property
    def rows(self) -> Sequence[Row]:
        """What is shown."""
        return self._rows.rows

    def show_rows(self, rows: Sequence[Row]) -> None:
        """Show these, which are not changed afterwards; the first one is marked."""
        self.pictures.drop()
        self._rows.set_rows(rows)
        self.mark(0)

    def mark(self, place: int) -> None:
        """Put the keyboard's place on a row; beyond the last one: on that."""
        if self.rows:
            self.setCurrentIndex(self._rows.index(max(0, min(place, len(self.rows) - 1))))
        else:
            self.chosen.emit(None)

    @property
    def place(self) -> int:
        """Number of the marked row; -1 for none."""
        return self.currentIndex().row()

    def marked(self) -> Row | None:
        """The row that the keyboard is at."""
        return self.rows[self.place] if 0 <= self.place < len(self.rows) else None

    def keyboardSearch(self, search: str) -> None:
        """Letters are the page's keys."""

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasFormat(ITEMS_MIME):
            event.acceptProposedAction()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        if index.isValid() and event.mimeData().hasFormat(ITEMS_MIME):
            self.setCurrentIndex(index)
            event.acceptProposedAction()
        else:
            event.ignore()

    def dropEvent(self, event: QDropEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        items = dropped(event.mimeData())
        self.setState(QListView.State.NoState)
        if index.isValid() and len(items):
            event.acceptProposedAction()
            self.dropped.emit(items, self.rows[index.row()])

    @Slot()
    def _changed(self) -> None:
        self.chosen.emit(self.marked())

    @Slot(QModelIndex)
    def _double(self, index: QModelIndex) -> None:
        if index.isValid():
            self.opened.emit(self.rows[index.row()])
