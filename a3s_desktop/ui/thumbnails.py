"""A model of items and a delegate that draws them as thumbnails, for virtual grids."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np
from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from a3s_desktop.core.types import IndexArray
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.plain import plain_tip
from a3s_desktop.ui.row_model import RowModel
from a3s_desktop.ui.theme import RADIUS_SMALL, SPACE_1, SPACE_2, icon_pixmap, scaled_font, tokens

THUMB = 92  # smallest side of a thumbnail, logical pixels; a grid widens it to fill the row
ITEM_ROLE = Qt.ItemDataRole.UserRole + 1
_Index = QModelIndex | QPersistentModelIndex


class ViewItems(Protocol):
    """What the view asks of the project's items (``storage.workspace.Items``)."""

    def file(self, item: int) -> Path:
        """Path of the image file."""

    def name(self, item: int) -> str:
        """File name to show."""


class MembersModel(RowModel):
    """The members of one cluster, a row each. Holds the numbers only; names are asked for when shown."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.items: ViewItems | None = None
        self._members = np.zeros(0, np.int64)

    @property
    def members(self) -> IndexArray:
        """Items in the order of the rows."""
        return self._members

    def set_members(self, members: IndexArray) -> None:
        """Replace all rows."""
        self.beginResetModel()
        self._members = members
        self.replace_rows(len(self._members))
        self.endResetModel()

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or self.items is None:
            return None
        item = int(self._members[index.row()])
        if role == ITEM_ROLE:
            return item
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self.items.name(item)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(self.items.name(item))
        return None


class ThumbnailDelegate(QStyledItemDelegate):
    """Draws a thumbnail with its caption; says which images it lacks.

    Signals
    -------
    wanted(object)
        A persistent index whose image is not decoded yet.
    """

    wanted = Signal(object)

    def __init__(self, loader: ImageLoader, parent: QWidget) -> None:
        super().__init__(parent)
        self._loader = loader
        self.side = THUMB  # of a thumbnail, logical pixels
        self.badges: dict[int, str] = {}  # item -> "L" or "R"

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:  # noqa: ARG002
        return self.cell()

    def cell(self) -> QSize:
        """Size of a cell of the grid."""
        metrics = option_metrics(self.parent())
        return QSize(self.side + SPACE_2, self.side + SPACE_2 + SPACE_1 + metrics)

    def box(self, ratio: float) -> QSize:
        """Device pixels that an image is asked for."""
        return QSize(round(self.side * ratio), round(self.side * ratio))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        painter.save()
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        self.draw(painter, option, index)
        painter.restore()

    def draw(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Paint one cell."""
        model, theme = index.model(), tokens()
        item = index.data(ITEM_ROLE)
        if item is None or not isinstance(model, MembersModel) or model.items is None:
            return
        frame = QRect(option.rect.left() + SPACE_1, option.rect.top() + SPACE_1, self.side, self.side)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        if selected or option.state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.accent_soft if selected else theme.hover))
            painter.drawRoundedRect(option.rect.adjusted(0, 0, -1, -1), RADIUS_SMALL + 2, RADIUS_SMALL + 2)
        shape = QPainterPath()
        shape.addRoundedRect(frame, RADIUS_SMALL, RADIUS_SMALL)
        painter.fillPath(shape, QColor(theme.stage))
        painter.setClipPath(shape)
        self._draw_image(painter, frame, model.items.file(item), index)
        painter.setClipping(False)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(QColor(theme.accent), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPath(shape)
        if item in self.badges:
            self._draw_badge(painter, frame, self.badges[item])
        painter.setPen(QColor(theme.text))
        painter.setFont(scaled_font("small"))
        caption = QRect(frame.left(), frame.bottom() + 1, frame.width(), option.rect.bottom() - frame.bottom())
        text = painter.fontMetrics().elidedText(model.items.name(item), Qt.TextElideMode.ElideMiddle, caption.width())
        painter.drawText(caption, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextSingleLine, text)

    def _draw_image(self, painter: QPainter, frame: QRect, path: Path, index: _Index) -> None:
        ratio = painter.device().devicePixelRatioF()
        box = self.box(ratio)
        image = self._loader.get(path, box)
        if image is None and self._loader.failure(path, box) is not None:
            mark = icon_pixmap("image-off", tokens().muted, 28, ratio)
            painter.drawPixmap(frame.center().x() - 14, frame.center().y() - 14, mark)
            return
        if image is None:
            self.wanted.emit(QPersistentModelIndex(index))
            image = self._loader.best(path)  # of another size, until the right one comes
        if image is not None:
            fitted = image.size().scaled(frame.size(), Qt.AspectRatioMode.KeepAspectRatio)
            place = QRect(frame.topLeft(), fitted)
            place.moveCenter(frame.center())
            painter.drawImage(place, image)

    @staticmethod
    def _draw_badge(painter: QPainter, frame: QRect, text: str) -> None:
        theme = tokens()
        badge = QRect(frame.left() + 5, frame.top() + 5, 20, 20)
        painter.setPen(QPen(QColor(theme.surface), 1.5))
        painter.setBrush(QColor(theme.text))
        painter.drawRoundedRect(badge, 6, 6)
        painter.setPen(QColor(theme.surface))
        painter.setFont(scaled_font("small", bold=True))
        painter.drawText(badge, Qt.AlignmentFlag.AlignCenter, text)


def option_metrics(widget: QObject | None) -> int:
    """Height of a caption in logical pixels."""
    height = widget.fontMetrics().height() if isinstance(widget, QWidget) else 16
    return height + SPACE_1
