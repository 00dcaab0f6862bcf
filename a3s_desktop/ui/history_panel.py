"""The answers in force, newest first, each with its two images."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    QTimer,
    Signal,
    Slot,
)
from PySide6.QtGui import QColor, QImage, QPainter, QPixmap, QPixmapCache, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLabel,
    QListView,
    QStackedWidget,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from a3s_desktop.core.types import Answer
from a3s_desktop.i18n import tr, trc
from a3s_desktop.session.state import Change, HistoryEntry, SessionState
from a3s_desktop.ui.bridge import Bridge
from a3s_desktop.ui.image_loader import SOON, ImageLoader
from a3s_desktop.ui.theme import SPACE_2, SPACE_3, SPACE_4, icon_pixmap, scaled_font, tokens

LIMIT = 500
_THUMB = 48
_ROW = 64
_GROUP = "history"
_REFRESH_MS = 120  # several answers in quick succession are fetched once
_Index = QModelIndex | QPersistentModelIndex


class HistoryModel(QAbstractListModel):
    """Entries as a list model; the entry itself is under ``UserRole``."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entries: tuple[HistoryEntry, ...] = ()

    def set_entries(self, entries: Sequence[HistoryEntry]) -> None:
        """Replace all."""
        self.beginResetModel()
        self._entries = tuple(entries)
        self.endResetModel()

    def rowCount(self, parent: _Index | None = None) -> int:
        """Number of entries."""
        return 0 if parent is not None and parent.isValid() else len(self._entries)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The entry, or a line of text (also for screen readers)."""
        if not index.isValid():
            return None
        entry = self._entries[index.row()]
        if role == Qt.ItemDataRole.UserRole:
            return entry
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return f"{entry.number}: {entry.text}, {when_text(entry.when)}"
        return None


class HistoryPanel(QWidget):
    """List of answers; fetches itself after every change while it is shown.

    Signals
    -------
    pairChosen(int, int)
        The two items of an entry that was double-clicked (or Enter).
    """

    pairChosen = Signal(int, int)  # noqa: N815 - Qt's naming

    def __init__(self, bridge: Bridge, loader: ImageLoader, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._loader = loader
        self._stale = True
        self._keys: set[str] = set()
        self._model = HistoryModel(self)
        self._list = QListView()
        self._list.setModel(self._model)
        self._list.setItemDelegate(_EntryDelegate(self))
        self._list.setUniformItemSizes(True)
        self._list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self._list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self._list.setAccessibleName(tr("Answers, newest first"))
        self._list.activated.connect(self._on_activated)
        self._empty = QLabel(tr("Your answers will be listed here."))
        self._empty.setProperty("role", "muted")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setWordWrap(True)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._list)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._stack)
        self._refresh = QTimer(self, singleShot=True, interval=_REFRESH_MS)
        self._refresh.timeout.connect(self._fetch)
        bridge.stateChanged.connect(self._on_state)
        bridge.historyReady.connect(self._on_history)
        bridge.closed.connect(self._on_closed)
        queued = Qt.ConnectionType.QueuedConnection
        loader.loaded.connect(self._on_loaded, queued)

    @property
    def model(self) -> HistoryModel:
        """The entries shown."""
        return self._model

    def thumbnail(self, item: int) -> QPixmap | None:
        """The small image of an item if it is there; asks for it otherwise."""
        items = self._bridge.items
        if items is None or item in items.problems:
            return None
        side = round(_THUMB * self.devicePixelRatioF() * 1.5)
        box, path = QSize(side, side), items.file(item)
        image = self._loader.get(path, box)
        if image is None:
            if self._loader.failure(path, box) is None:
                self._keys.add(self._loader.request(path, box, SOON // 2, _GROUP))
            return None
        name = f"a3s-{image.cacheKey()}"
        pixmap = QPixmap()
        if not QPixmapCache.find(name, pixmap):
            pixmap = QPixmap.fromImage(image)
            QPixmapCache.insert(name, pixmap)
        return pixmap

    @Slot(object, object)
    def _on_state(self, _state: SessionState, _change: Change) -> None:
        self._stale = True
        if self.isVisible():
            self._refresh.start()

    @Slot()
    def _fetch(self) -> None:
        if self._bridge.state is not None:
            self._stale = False
            self._bridge.request_history(LIMIT)

    @Slot(object)
    def _on_history(self, entries: Sequence[HistoryEntry]) -> None:
        at = self._list.verticalScrollBar().value()
        self._loader.cancel(_GROUP)
        self._keys.clear()
        self._model.set_entries(entries)
        self._list.verticalScrollBar().setValue(at)
        self._stack.setCurrentWidget(self._list if entries else self._empty)

    @Slot()
    def _on_closed(self) -> None:
        self._refresh.stop()
        self._stale = True
        self._model.set_entries(())
        self._stack.setCurrentWidget(self._empty)

    @Slot(str, QImage)
    def _on_loaded(self, key: str, _image: QImage) -> None:
        if key in self._keys:
            self._keys.discard(key)
            self._list.viewport().update()

    @Slot(QModelIndex)
    def _on_activated(self, index: QModelIndex) -> None:
        entry = index.data(Qt.ItemDataRole.UserRole)
        if entry.right >= 0:
            self.pairChosen.emit(entry.left, entry.right)

    def showEvent(self, event: QShowEvent) -> None:
        """What changed while it was hidden."""
        super().showEvent(event)
        if self._stale:
            self._refresh.start()

    def changeEvent(self, event: QEvent) -> None:
        """Icons follow the theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_list"):
            self._list.viewport().update()


class _EntryDelegate(QStyledItemDelegate):
    """Left image, answer sign, right image, then number, answer and time."""

    def __init__(self, panel: HistoryPanel) -> None:
        super().__init__(panel)
        self._panel = panel

    def sizeHint(self, _option: QStyleOptionViewItem, _index: _Index) -> QSize:
        """One fixed row height."""
        return QSize(240, _ROW)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        """Qt's; see `draw`."""
        painter.save()
        self.draw(painter, option, index.data(Qt.ItemDataRole.UserRole))
        painter.restore()

    def draw(self, painter: QPainter, option: QStyleOptionViewItem, entry: HistoryEntry) -> None:
        """Paint one entry."""
        t = tokens()
        row: QRect = option.rect  # type: ignore[attr-defined]
        state = option.state  # type: ignore[attr-defined]
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(row, QColor(t.accent_soft))
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(row, QColor(t.hover))
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        top = row.top() + (row.height() - _THUMB) // 2
        left = QRect(row.left() + SPACE_3, top, _THUMB, _THUMB)
        sign = QRect(left.right() + 1, top, 28, _THUMB)
        right = QRect(sign.right() + 1, top, _THUMB, _THUMB)
        for item, place in ((entry.left, left), (entry.right, right)):
            pixmap = self._panel.thumbnail(item) if item >= 0 else None
            painter.fillRect(place, QColor(t.stage))
            if pixmap is not None:
                side = min(pixmap.width(), pixmap.height())
                part = QRectF((pixmap.width() - side) / 2, (pixmap.height() - side) * 0.35, side, side)
                painter.drawPixmap(QRectF(place), pixmap, part)
        colour = {Answer.SAME: t.same, Answer.DIFFERENT: t.different}.get(entry.answer or Answer.SKIP, t.skip)
        symbol = icon_pixmap(_icon(entry), colour, 18, self._panel.devicePixelRatioF())
        painter.drawPixmap(sign.center() - QPoint(8, 8), symbol)
        text = QRect(right.right() + SPACE_3, top, row.right() - right.right() - SPACE_4 - SPACE_2, _THUMB)
        upper, lower = text.adjusted(0, 4, 0, -_THUMB // 2), text.adjusted(0, _THUMB // 2, 0, -4)
        painter.setFont(scaled_font("base", bold=True))
        painter.setPen(QColor(colour))
        painter.drawText(upper, Qt.AlignmentFlag.AlignVCenter, entry.text)
        painter.setFont(scaled_font("small"))
        painter.setPen(QColor(t.muted))
        line = painter.fontMetrics().elidedText(
            f"#{entry.number}  ·  {when_text(entry.when)}", Qt.TextElideMode.ElideRight, text.width()
        )
        painter.drawText(lower, Qt.AlignmentFlag.AlignVCenter, line)


def _icon(entry: HistoryEntry) -> str:
    known = {Answer.SAME: "same", Answer.DIFFERENT: "different"}
    return known.get(entry.answer or Answer.SKIP, "skip")


def when_text(when: float) -> str:
    """A POSIX time as local time of day, with the date where it is not today."""
    moment = datetime.datetime.fromtimestamp(when).astimezone()
    today = datetime.datetime.now().astimezone().date()
    return moment.strftime("%H:%M" if moment.date() == today else trc("date and time", "%Y-%m-%d %H:%M"))
