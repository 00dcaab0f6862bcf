"""The list of recent projects on the start page: model, painting, what can be done with one."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFocusEvent,
    QFontMetrics,
    QImage,
    QKeyEvent,
    QPainter,
    QPainterPath,
    QPen,
)
from PySide6.QtWidgets import QListView, QMenu, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from a3s_desktop.i18n import markn, tr, trn
from a3s_desktop.printable import escaped
from a3s_desktop.ui.plain import plain_tip
from a3s_desktop.ui.recent import ProjectCard
from a3s_desktop.ui.theme import (
    RADIUS_SMALL,
    SPACE_1,
    SPACE_2,
    SPACE_3,
    SPACE_4,
    icon,
    icon_pixmap,
    scaled_font,
    tokens,
)

if TYPE_CHECKING:
    from a3s_desktop.ui.image_loader import ImageLoader

CARD_ROLE = Qt.ItemDataRole.UserRole
_THUMB = 68
_ROW = _THUMB + 2 * SPACE_3
_Index = QModelIndex | QPersistentModelIndex


def ago(when: float, now: float) -> str:
    """How long ago, in words; ``when`` and ``now`` are POSIX times."""
    seconds = max(now - when, 0.0)
    for size, texts in (
        (86400 * 365, markn("{n} year ago", "{n} years ago")),
        (86400 * 30, markn("{n} month ago", "{n} months ago")),
        (86400, markn("{n} day ago", "{n} days ago")),
        (3600, markn("{n} hour ago", "{n} hours ago")),
        (60, markn("{n} minute ago", "{n} minutes ago")),
    ):
        count = int(seconds // size)
        if count:
            return trn(*texts, count)
    return tr("just now")


def facts(card: ProjectCard, now: float) -> str:
    """The card's third line."""
    if card.problem:
        return card.problem
    parts = [trn("{n} image", "{n} images", card.images)] if card.images else []
    if card.answers is not None:
        parts.append(trn("{n} answer", "{n} answers", card.answers))
    if card.used:
        parts.append(ago(card.used, now))
    return " · ".join(parts)


class RecentModel(QAbstractListModel):
    """The recent projects, the newest first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._cards: list[ProjectCard] = []

    def set_cards(self, cards: list[ProjectCard]) -> None:
        """Replace all."""
        self.beginResetModel()
        self._cards = list(cards)
        self.endResetModel()

    def update(self, card: ProjectCard) -> None:
        """Replace what is known of one project."""
        for row, known in enumerate(self._cards):
            if known.folder == card.folder:
                self._cards[row] = card
                self.dataChanged.emit(self.index(row), self.index(row))

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """Number of projects."""
        return 0 if parent.isValid() else len(self._cards)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """A card, or its texts."""
        if not index.isValid():
            return None
        card = self._cards[index.row()]
        if role == CARD_ROLE:
            return card
        if role == Qt.ItemDataRole.DisplayRole:
            return card.name
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(f"{card.folder}\n{card.problem}".strip())
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{card.name}, {facts(card, time.time())}, {escaped(str(card.folder))}"
        return None


class CardDelegate(QStyledItemDelegate):
    """Paints a recent project: thumbnail, name, folder, facts.

    Attributes
    ----------
    loader : ImageLoader or None
        Until there is one, a sign stands for each picture.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.loader: ImageLoader | None = None

    def sizeHint(self, option: QStyleOptionViewItem, _index: _Index) -> QSize:
        """One height for all."""
        return QSize(option.rect.width(), _ROW)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Delegates to `draw`, so that tests can look at it."""
        self.draw(painter, option, index.data(CARD_ROLE))

    def draw(self, painter: QPainter, option: QStyleOptionViewItem, card: ProjectCard) -> None:
        """Paint one card."""
        theme = tokens()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = option.rect.adjusted(SPACE_1, 2, -SPACE_1, -2)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        if selected or hovered:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.accent_soft if selected else theme.hover))
            painter.drawRoundedRect(area, RADIUS_SMALL + 2, RADIUS_SMALL + 2)
        if selected and option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(QColor(theme.accent), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(area.adjusted(1, 1, -1, -1), RADIUS_SMALL + 2, RADIUS_SMALL + 2)
        thumb = QRect(area.left() + SPACE_2, area.top() + (area.height() - _THUMB) // 2, _THUMB, _THUMB)
        self._thumbnail(painter, thumb, card)
        self._text(painter, area.adjusted(_THUMB + SPACE_2 + SPACE_4, SPACE_2, -SPACE_3, -SPACE_2), card)
        painter.restore()

    def _thumbnail(self, painter: QPainter, area: QRect, card: ProjectCard) -> None:
        theme = tokens()
        image: QImage | None = None
        if card.picture is not None and self.loader is not None:
            box = QSize(_THUMB, _THUMB) * 2
            image = self.loader.get(card.picture, box)
            if image is None:
                self.loader.request(card.picture, box)
        path = QPainterPath()
        path.addRoundedRect(area, RADIUS_SMALL, RADIUS_SMALL)
        painter.fillPath(path, QColor(theme.stage))
        if image is None or image.isNull():
            name = "warning" if card.problem else "image"
            symbol = icon_pixmap(name, theme.warning if card.problem else theme.muted, 26, 2.0)
            painter.drawPixmap(area.center().x() - 13, area.center().y() - 13, symbol)
            return
        painter.save()
        painter.setClipPath(path)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        side = min(image.width(), image.height())
        source = QRect((image.width() - side) // 2, (image.height() - side) // 2, side, side)
        painter.drawImage(area, image, source)
        painter.restore()

    def _text(self, painter: QPainter, area: QRect, card: ProjectCard) -> None:
        theme = tokens()
        lines = (
            (card.name, scaled_font("heading", bold=True), theme.text, Qt.TextElideMode.ElideRight),
            (escaped(str(card.folder)), scaled_font("base"), theme.muted, Qt.TextElideMode.ElideMiddle),
            (
                facts(card, time.time()), scaled_font("base"),
                theme.warning if card.problem else theme.muted, Qt.TextElideMode.ElideRight,
            ),
        )  # fmt: skip
        heights = [QFontMetrics(font).height() for _, font, _, _ in lines]
        gap = 3
        top = area.top() + (area.height() - sum(heights) - gap * (len(lines) - 1)) // 2
        for (text, font, colour, elide), height in zip(lines, heights, strict=True):
            painter.setFont(font)
            painter.setPen(QColor(colour))
            shown = QFontMetrics(font).elidedText(text, elide, area.width())
            painter.drawText(QRect(area.left(), top, area.width(), height), Qt.AlignmentFlag.AlignVCenter, shown)
            top += height + gap


class RecentList(QListView):
    """The list of recent projects; Enter opens, Delete forgets, the menu key tells what else can be done.

    Signals
    -------
    chosen(object, bool)
        A `ProjectCard` to be opened, and whether only to read.
    forget(object)
        A `ProjectCard` to be taken off the list; its folder is left alone.
    backups(object)
        A `ProjectCard` whose backups are to be shown.
    """

    chosen = Signal(object, bool)
    forget = Signal(object)
    backups = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.cards = CardDelegate(self)
        self.setItemDelegate(self.cards)
        self.setMouseTracking(True)
        self.setUniformItemSizes(True)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(tr("Recent projects"))
        self.clicked.connect(self._open)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """The keyboard arrives at a project, not at none."""
        if not self.currentIndex().isValid() and self.model() is not None and self.model().rowCount():
            self.setCurrentIndex(self.model().index(0, 0))
        super().focusInEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter opens, Delete forgets."""
        if self.currentIndex().isValid():
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._open(self.currentIndex())
                return
            if event.key() == Qt.Key.Key_Delete:
                self.forget.emit(self.currentIndex().data(CARD_ROLE))
                return
        super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """What can be done with a project of the list."""
        index = self.indexAt(event.pos())
        if not index.isValid():
            return
        self.setCurrentIndex(index)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(icon("folder"), tr("Open")).triggered.connect(self._open_current)
        menu.addAction(icon("lock"), tr("Open read-only")).triggered.connect(self._open_current_read_only)
        menu.addAction(icon("history"), tr("Backups…")).triggered.connect(self._show_backups)
        menu.addSeparator()
        menu.addAction(icon("close"), tr("Remove from this list")).triggered.connect(self._forget_current)
        menu.popup(event.globalPos())

    @Slot(QModelIndex)
    def _open(self, index: _Index) -> None:
        self.chosen.emit(index.data(CARD_ROLE), False)

    @Slot()
    def _open_current(self) -> None:
        self.chosen.emit(self.currentIndex().data(CARD_ROLE), False)

    @Slot()
    def _open_current_read_only(self) -> None:
        self.chosen.emit(self.currentIndex().data(CARD_ROLE), True)

    @Slot()
    def _show_backups(self) -> None:
        self.backups.emit(self.currentIndex().data(CARD_ROLE))

    @Slot()
    def _forget_current(self) -> None:
        self.forget.emit(self.currentIndex().data(CARD_ROLE))
