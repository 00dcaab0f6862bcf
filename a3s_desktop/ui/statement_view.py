"""One statement about one or two images, drawn: the pictures, what is said of them, and by whom."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from a3s_desktop.ui.contradiction_chain import PICTURE
from a3s_desktop.ui.pictures import Pictures
from a3s_desktop.ui.theme import SPACE_1, SPACE_2, SPACE_3, icon_pixmap, scaled_font, tokens

_SIGN = 18
_BETWEEN = 36


class StatementView(QWidget):
    """See the module.

    Parameters
    ----------
    pictures : Pictures
    """

    def __init__(self, pictures: Pictures, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pictures = pictures
        self._items: tuple[int, ...] = ()
        self._sign, self._shade = "", ""
        self._lines: tuple[str, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        pictures.changed.connect(self.update)

    def say(self, items: tuple[int, ...], sign: str, shade: str, lines: tuple[str, ...]) -> None:
        """Show a statement.

        Parameters
        ----------
        items : tuple of int
            One image or two.
        sign, shade : str
            Icon between the two, and the token of its colour; empty: none.
        lines : tuple of str
            What is said, and by whom.
        """
        self._items, self._sign, self._shade, self._lines = items, sign, shade, lines
        self.setAccessibleName(". ".join(line for line in lines if line))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """As high as a picture, or its words."""
        words = QFontMetrics(scaled_font("base")).height() + 2 * QFontMetrics(scaled_font("small")).height()
        return QSize(320, max(PICTURE, words + SPACE_2) + 2 * SPACE_2)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's."""
        painter = QPainter(self)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        theme, row = tokens(), self.rect()
        shade = getattr(theme, self._shade, theme.text)
        top, left = row.top() + (row.height() - PICTURE) // 2, row.left() + SPACE_3
        for at, item in enumerate(self._items):
            if at:
                self._draw_sign(painter, QRect(left, top, _BETWEEN, PICTURE), shade)
                left += _BETWEEN
            self._pictures.draw(painter, QRect(left, top, PICTURE, PICTURE), item, fill=True)
            left += PICTURE
        left += SPACE_3 if self._items else 0
        fonts = (scaled_font("base", bold=True), scaled_font("small"), scaled_font("small"))
        inks = (shade, theme.text, theme.muted)
        lines = [line for line in zip(fonts, inks, self._lines, strict=False) if line[2]]
        heights = [QFontMetrics(font).height() for font, *_ in lines]
        at = row.top() + (row.height() - sum(heights) - SPACE_1) // 2
        for (font, ink, text), height in zip(lines, heights, strict=True):
            place = QRect(left, at, max(0, row.right() - left - SPACE_2), height)
            painter.setFont(font)
            painter.setPen(QColor(ink))
            shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, place.width())
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, shown)
            at += height + SPACE_1 // 2
        painter.end()

    def _draw_sign(self, painter: QPainter, place: QRect, shade: str) -> None:
        if self._sign:
            symbol = icon_pixmap(self._sign, shade, _SIGN, painter.device().devicePixelRatioF())
            painter.drawPixmap(place.center().x() - _SIGN // 2 + 1, place.center().y() - _SIGN // 2 + 1, symbol)
