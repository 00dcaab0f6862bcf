"""The gallery's cards: a model over the clusters to show, and a delegate that paints one card."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QMimeData, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from a3s_desktop.core.types import IndexArray
from a3s_desktop.i18n import percent, tr
from a3s_desktop.session.overview import ClusterSummary
from a3s_desktop.ui.cluster_order import ClusterTable
from a3s_desktop.ui.pictures import Pictures, cluster_title, draw_meter, images_text, mosaic
from a3s_desktop.ui.plain import plain_tip
from a3s_desktop.ui.row_model import RowModel
from a3s_desktop.ui.theme import RADIUS, SPACE_1, SPACE_2, cluster_colour, icon_pixmap, scaled_font, tokens

CARD = 164  # smallest width of a card with the space around it, logical pixels
CLUSTER_MIME = "application/x-a3s-cluster"
SUMMARY_ROLE = Qt.ItemDataRole.UserRole + 1
_Index = QModelIndex | QPersistentModelIndex


class ClusterCards(RowModel):
    """The clusters that are shown, a row each."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.table = ClusterTable()
        self._rows: IndexArray = np.zeros(0, np.int64)
        self.droppable = True

    def set_rows(self, table: ClusterTable, rows: IndexArray) -> None:
        """Replace all rows."""
        self.beginResetModel()
        self.table, self._rows = table, rows
        self.replace_rows(len(self._rows))
        self.endResetModel()

    def cluster(self, row: int) -> ClusterSummary | None:
        """The cluster of a row."""
        return self.table.clusters[self._rows[row]] if 0 <= row < len(self._rows) else None

    def ids(self) -> IndexArray:
        """Cluster ids in the order of the rows."""
        found: IndexArray = self.table.ids[self._rows]
        return found

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        cluster = self.cluster(index.row()) if index.isValid() else None
        if cluster is None:
            return None
        if role == SUMMARY_ROLE:
            return cluster
        if role == Qt.ItemDataRole.DisplayRole:
            return cluster_title(cluster.id, cluster.name, cluster.size)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return described(cluster)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(described(cluster))
        return None

    # dragging a card onto another one

    def flags(self, index: _Index) -> Qt.ItemFlag:
        flag = Qt.ItemFlag
        if not index.isValid():
            return flag.NoItemFlags
        return flag.ItemIsEnabled | flag.ItemIsSelectable | flag.ItemIsDragEnabled | flag.ItemIsDropEnabled

    def mimeTypes(self) -> list[str]:
        return [CLUSTER_MIME]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        data = QMimeData()
        cluster = self.cluster(indexes[0].row()) if indexes else None
        data.setData(CLUSTER_MIME, str(cluster.id if cluster else -1).encode())
        return data


def described(cluster: ClusterSummary) -> str:
    """A cluster in words."""
    parts = {
        "name": cluster_title(cluster.id, cluster.name, cluster.size),
        "images": images_text(cluster.size),
        "confirmed": percent(cluster.confirmed / max(cluster.size, 1)),
        "doubt": percent(cluster.doubt),
    }
    if cluster.finished:
        return tr("{name}, {images}, {confirmed} confirmed, finished", **parts)
    return tr("{name}, {images}, {confirmed} confirmed, doubt {doubt}", **parts)


class CardDelegate(QStyledItemDelegate):
    """Paints cards.

    Parameters
    ----------
    pictures : Pictures
    view : QWidget
        Its font and grid count.
    """

    def __init__(self, pictures: Pictures, view: QWidget) -> None:
        super().__init__(view)
        self._pictures = pictures
        self.width = CARD
        self.target = -1  # row that a card is dragged over

    def height(self) -> int:
        """Of a cell, for the current text size."""
        base, small = QFontMetrics(scaled_font("base", bold=True)), QFontMetrics(scaled_font("small"))
        return self._frame_height() + base.height() + 2 * small.height() + 6 * SPACE_1 + SPACE_2

    def _frame_height(self) -> int:
        return round((CARD - 3 * SPACE_2) * 0.78)

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:  # noqa: ARG002
        return QSize(self.width, self.height())

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        cluster = index.data(SUMMARY_ROLE)
        if cluster is not None:
            painter.save()
            painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
            self.draw(painter, option, cluster, index.row() == self.target)
            painter.restore()

    def draw(self, painter: QPainter, option: QStyleOptionViewItem, cluster: ClusterSummary, target: bool) -> None:
        """Paint one card."""
        theme = tokens()
        card = option.rect.adjusted(SPACE_1, SPACE_1, -SPACE_1, -SPACE_1)
        state = QStyle.StateFlag
        selected, over = bool(option.state & state.State_Selected), bool(option.state & state.State_MouseOver)
        focus = bool(option.state & state.State_HasFocus)
        edge = theme.accent if selected or focus or target else theme.border
        painter.setPen(QPen(QColor(edge), 2.5 if focus or target else 1.5 if selected else 1))
        painter.setBrush(QColor(theme.accent_soft if selected or target else theme.hover if over else theme.surface))
        painter.drawRoundedRect(card, RADIUS, RADIUS)
        inner = card.adjusted(SPACE_2, SPACE_2, -SPACE_2, -SPACE_1)
        frame = QRect(inner.left(), inner.top(), inner.width(), self._frame_height())
        for place, item in zip(mosaic(frame, len(cluster.cover)), cluster.cover, strict=False):
            self._pictures.draw(painter, place, item, fill=True)
        if cluster.finished:
            self._seal(painter, frame)
        self._texts(painter, inner, frame.bottom() + SPACE_1, cluster)

    def _texts(self, painter: QPainter, inner: QRect, top: int, cluster: ClusterSummary) -> None:
        theme = tokens()
        painter.setFont(scaled_font("base", bold=True))
        metrics = painter.fontMetrics()
        title = cluster_title(cluster.id, cluster.name, cluster.size)
        left = inner.left()
        if cluster.size > 1:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(cluster_colour(cluster.id))
            painter.drawEllipse(left, top + metrics.height() // 2 - 4, 9, 9)
            left += 9 + SPACE_1 + 1
        line = QRect(left, top, inner.right() - left, metrics.height())
        painter.setPen(QColor(theme.text))
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
        painter.drawText(line, flags, metrics.elidedText(title, Qt.TextElideMode.ElideRight, line.width()))
        painter.setFont(scaled_font("small"))
        metrics = painter.fontMetrics()
        painter.setPen(QColor(theme.muted))
        line = QRect(inner.left(), line.bottom() + SPACE_1, inner.width(), metrics.height())
        share = percent(cluster.confirmed / max(cluster.size, 1))
        first = images_text(cluster.size)
        if cluster.size > 1 and cluster.confirmed:
            first = tr("{images}, {share} confirmed", images=first, share=share)
        painter.drawText(line, flags, metrics.elidedText(first, Qt.TextElideMode.ElideRight, line.width()))
        line = line.translated(0, metrics.height() + SPACE_1)
        if cluster.finished:
            painter.drawText(line, flags, tr("finished"))
            return
        used = draw_meter(painter, line.left(), line.bottom() - 2, cluster.doubt, metrics.ascent())
        line.setLeft(line.left() + used + SPACE_2)
        painter.drawText(line, flags, tr("doubt {share}", share=percent(cluster.doubt)))

    @staticmethod
    def _seal(painter: QPainter, frame: QRect) -> None:
        theme = tokens()
        disc = QRect(frame.right() - 25, frame.top() + 4, 22, 22)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.surface))
        painter.drawEllipse(disc)
        ratio = painter.device().devicePixelRatioF()
        painter.drawPixmap(disc.left() + 1, disc.top() + 1, icon_pixmap("check-circle", theme.same, 20, ratio))
