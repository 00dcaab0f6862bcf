"""Draws entries of the history: the two images with the sign between them, or what was corrected, and the words."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from a3s_desktop.i18n import number
from a3s_desktop.session.state import HistoryEntry
from a3s_desktop.ui.history_model import ENTRY_ROLE
from a3s_desktop.ui.history_text import colour, detail_text, remark, sign
from a3s_desktop.ui.pictures import Pictures
from a3s_desktop.ui.theme import RADIUS_SMALL, SPACE_1, SPACE_2, SPACE_3, icon_pixmap, scaled_font, tokens

THUMB = 48  # logical pixels
_SMALL_THUMB, _ROOMY = 38, 280  # in a row narrower than this
_SIGN = 18
_Index = QModelIndex | QPersistentModelIndex


class EntryDelegate(QStyledItemDelegate):
    """Left image, sign, right image, then what was said, its number and time, and what is remarkable about it."""

    def __init__(self, pictures: Pictures, parent: QWidget) -> None:
        super().__init__(parent)
        self._pictures = pictures

    def sizeHint(self, _option: QStyleOptionViewItem, _index: _Index) -> QSize:
        """One height for all rows, so that a list of any length is laid out at once."""
        small = QFontMetrics(scaled_font("small")).height()
        return QSize(200, max(THUMB, QFontMetrics(_title_font()).height() + 2 * small) + 2 * SPACE_2)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Qt's; see `draw`."""
        painter.save()
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        row: QRect = option.rect  # type: ignore[attr-defined]
        self.draw_ground(painter, option, row)
        entry = index.data(ENTRY_ROLE)
        if entry is not None:
            self.draw(painter, row, entry)
        painter.restore()

    @staticmethod
    def draw_ground(painter: QPainter, option: QStyleOptionViewItem, row: QRect) -> None:
        """The row's ground: selected, under the mouse, focused."""
        t, state = tokens(), option.state  # type: ignore[attr-defined]
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(row, QColor(t.accent_soft))
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(row, QColor(t.hover))
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(QColor(t.accent), 2))
            painter.drawRoundedRect(row.adjusted(2, 1, -2, -1), RADIUS_SMALL, RADIUS_SMALL)

    def draw(self, painter: QPainter, row: QRect, entry: HistoryEntry) -> None:
        """Paint one entry into a row."""
        t = tokens()
        roomy = row.width() >= _ROOMY
        side, gap = (THUMB, SPACE_3) if roomy else (_SMALL_THUMB, SPACE_2)
        top = row.top() + (row.height() - side) // 2
        left = QRect(row.left() + gap, top, side, side)
        between = QRect(left.right() + 1, top, _SIGN + (10 if roomy else 4), side)
        right = QRect(between.right() + 1, top, side, side)
        if entry.withdrawn or entry.conflict or entry.held:
            painter.setOpacity(0.45)
        shown = (entry.left, entry.right) if entry.items else ()
        for item, place in zip(shown, (left, right), strict=False):
            if item >= 0:
                self._pictures.draw(painter, place, item, fill=True)
        painter.setOpacity(1.0)
        if entry.count > 2 and len(entry.items) > 1:
            _draw_more(painter, right, entry.count - 2)
        middle = between if entry.left >= 0 else left.united(right)
        symbol = icon_pixmap(sign(entry), colour(entry, t), _SIGN, painter.device().devicePixelRatioF())
        painter.drawPixmap(middle.center().x() - _SIGN // 2 + 1, middle.center().y() - _SIGN // 2 + 1, symbol)
        text = QRect(right.right() + gap, row.top(), row.right() - right.right() - gap - SPACE_1, row.height())
        self._draw_words(painter, text, entry)

    def _draw_words(self, painter: QPainter, place: QRect, entry: HistoryEntry) -> None:
        t = tokens()
        title, small = _title_font(), scaled_font("small")
        if entry.withdrawn:
            title.setStrikeOut(True)
        noted = remark(entry)
        shade = t.muted if entry.withdrawn or entry.conflict else colour(entry, t)
        lines = [(title, shade, line) for line in _two_lines(entry.text, title, place.width(), bool(noted))]
        if noted:
            lines.append((small, t.danger if entry.conflict else t.muted if entry.withdrawn else t.warning, noted))
        lines.append((small, t.muted, detail_text(entry)))
        heights = [QFontMetrics(font).height() for font, *_ in lines]
        top = place.top() + (place.height() - sum(heights)) // 2
        for (font, ink, text), height in zip(lines, heights, strict=True):
            painter.setFont(font)
            painter.setPen(QColor(ink))
            shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, max(0, place.width()))
            flags = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
            painter.drawText(QRect(place.left(), top, place.width(), height), flags, shown)
            top += height


def _title_font() -> QFont:
    return scaled_font("base", bold=True)


def _two_lines(text: str, font: QFont, width: int, single: bool) -> list[str]:
    """A title, broken between words where one line does not hold it."""
    metrics, words = QFontMetrics(font), text.split(" ")
    if single or metrics.horizontalAdvance(text) <= width or len(words) == 1:
        return [text]
    count = len(words) - 1
    while count > 1 and metrics.horizontalAdvance(" ".join(words[:count])) > width:
        count -= 1
    return [" ".join(words[:count]), " ".join(words[count:])]


def _draw_more(painter: QPainter, place: QRect, count: int) -> None:
    """How many images there are besides those that are drawn."""
    painter.setFont(scaled_font("small", bold=True))
    text = f"+{number(count)}"
    width = painter.fontMetrics().horizontalAdvance(text) + SPACE_2
    height = painter.fontMetrics().height()
    badge = QRect(place.right() - width + 1, place.bottom() - height + 1, width, height)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(tokens().text))
    painter.drawRoundedRect(badge, RADIUS_SMALL, RADIUS_SMALL)
    painter.setPen(QColor(tokens().surface))
    painter.drawText(badge, Qt.AlignmentFlag.AlignCenter, text)
