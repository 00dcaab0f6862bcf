"""A chain of images, each said to be the same as the next or different from it, as a list to choose a link from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from a3s_desktop.i18n import number, tr
from a3s_desktop.session.state import EntryKind, HistoryEntry
from a3s_desktop.ui.history_text import NamedItems, is_doubtful, when_text
from a3s_desktop.ui.pictures import Pictures
from a3s_desktop.ui.theme import RADIUS_SMALL, SPACE_1, SPACE_2, SPACE_3, icon_pixmap, scaled_font, tokens

PICTURE = 64  # logical pixels
LINK_ROLE = Qt.ItemDataRole.UserRole
_SIGN = 18
_Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class ChainLink:
    """What was said of two images, and the entry that said it (None: it cannot be dropped); or what is new."""

    left: int
    right: int
    same: bool
    entry: HistoryEntry | None
    new: bool = False


def link_text(link: ChainLink) -> str:
    """What a link says, in words."""
    return tr("are the same") if link.same else tr("are different")


def source_text(link: ChainLink) -> str:
    """Where a link comes from."""
    entry = link.entry
    if link.new:
        return tr("new, refused so far")
    if entry is None:
        return tr("known from the start")
    values = {"number": number(entry.number), "time": when_text(entry.when)}
    if entry.kind is EntryKind.CORRECTION:
        return tr("correction no. {number} ({what}), {time}", what=entry.text, **values)
    text = tr("answer no. {number}, {time}", **values)
    return tr("{answer} – doubtful by the images", answer=text) if is_doubtful(entry) else text


class ChainModel(QAbstractListModel):
    """A row for each link."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.items: NamedItems | None = None
        self._links: tuple[ChainLink, ...] = ()

    @property
    def links(self) -> tuple[ChainLink, ...]:
        """The links in order."""
        return self._links

    def set_links(self, links: Sequence[ChainLink]) -> None:
        """Another chain."""
        self.beginResetModel()
        self._links = tuple(links)
        self.endResetModel()

    def rowCount(self, parent: _Index | None = None) -> int:
        """Number of links."""
        return 0 if parent is not None and parent.isValid() else len(self._links)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The link, or a sentence for screen readers."""
        if not index.isValid():
            return None
        link = self._links[index.row()]
        if role == LINK_ROLE:
            return link
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            names = {"left": self.name(link.left), "right": self.name(link.right), "source": source_text(link)}
            if link.same:
                return tr("{left} and {right} are the same: {source}", **names)
            return tr("{left} and {right} are different: {source}", **names)
        return None

    def name(self, item: int) -> str:
        """File name of an item."""
        return self.items.name(item) if self.items is not None else str(item)


class ChainDelegate(QStyledItemDelegate):
    """Both images of a link with the sign between them, and what was said when."""

    def __init__(self, pictures: Pictures, parent: QWidget) -> None:
        super().__init__(parent)
        self._pictures = pictures

    def sizeHint(self, _option: QStyleOptionViewItem, _index: _Index) -> QSize:
        """One height for all rows."""
        text = QFontMetrics(scaled_font("base")).height() + 2 * QFontMetrics(scaled_font("small")).height()
        return QSize(320, max(PICTURE, text + SPACE_2) + 2 * SPACE_2)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Qt's."""
        painter.save()
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        t, state = tokens(), option.state  # type: ignore[attr-defined]
        row: QRect = option.rect  # type: ignore[attr-defined]
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(row, QColor(t.accent_soft))
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(row, QColor(t.hover))
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(QColor(t.accent), 2))
            painter.drawRoundedRect(row.adjusted(2, 1, -2, -1), RADIUS_SMALL, RADIUS_SMALL)
        model = index.model()
        if isinstance(model, ChainModel):
            draw_link(painter, row, model, index.data(LINK_ROLE), self._pictures)
        painter.restore()


def draw_link(painter: QPainter, row: QRect, model: ChainModel, link: ChainLink, pictures: Pictures) -> None:
    """Paint one link into a row."""
    t = tokens()
    top = row.top() + (row.height() - PICTURE) // 2
    left = QRect(row.left() + SPACE_3, top, PICTURE, PICTURE)
    between = QRect(left.right() + 1, top, 36, PICTURE)
    right = QRect(between.right() + 1, top, PICTURE, PICTURE)
    pictures.draw(painter, left, link.left, fill=True)
    pictures.draw(painter, right, link.right, fill=True)
    shade = t.same if link.same else t.different
    symbol = icon_pixmap("same" if link.same else "different", shade, _SIGN, painter.device().devicePixelRatioF())
    painter.drawPixmap(between.center().x() - _SIGN // 2 + 1, between.center().y() - _SIGN // 2 + 1, symbol)
    place = QRect(right.right() + SPACE_3, row.top(), row.right() - right.right() - SPACE_3 - SPACE_2, row.height())
    lines = (
        (scaled_font("base", bold=True), shade, link_text(link)),
        (scaled_font("small"), t.text, source_text(link)),
        (scaled_font("small"), t.muted, f"{model.name(link.left)}  –  {model.name(link.right)}"),
    )
    heights = [QFontMetrics(font).height() for font, *_ in lines]
    at = place.top() + (place.height() - sum(heights) - SPACE_1) // 2
    for (font, ink, text), height in zip(lines, heights, strict=True):
        painter.setFont(font)
        painter.setPen(QColor(ink))
        shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, place.width())
        flags = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
        painter.drawText(QRect(place.left(), at, place.width(), height), flags, shown)
        at += height + SPACE_1 // 2
