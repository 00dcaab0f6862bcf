"""The images of one cluster: a grid of thumbnails that loads only what is in view; a double click enlarges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSize,
    Qt,
    QTimer,
    Signal,
    Slot,
)
from PySide6.QtGui import QImage, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QLabel,
    QListView,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from a3s_desktop.core.types import IndexArray
from a3s_desktop.i18n import tr, trn
from a3s_desktop.ui.enlarged_view import EnlargedView
from a3s_desktop.ui.image_loader import SOON, ImageLoader
from a3s_desktop.ui.theme import (
    SPACE_2,
    SPACE_4,
    cluster_colour,
    set_role,
    tokens,
)
from a3s_desktop.ui.thumbnails import ITEM_ROLE, THUMB, MembersModel, ThumbnailDelegate, ViewItems

_GROUP = "cluster view"
_OPEN_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class ClusterView(QWidget):
    """See the module.

    Parameters
    ----------
    loader : ImageLoader
    parent : QWidget, optional

    Signals
    -------
    itemEnlarged(int)
        An item was opened in the enlarged view.
    """

    itemEnlarged = Signal(int)

    def __init__(self, loader: ImageLoader, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._loader = loader
        self._cluster: int | None = None
        self._pending: dict[str, QPersistentModelIndex] = {}
        self._enlarged: EnlargedView | None = None
        self._model = MembersModel(self)
        self._list = QListView()
        self._delegate = ThumbnailDelegate(loader, self._list)
        self._build()
        # Scrolling fast passes many images: what has left the view is not worth decoding any more.
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(60)
        self._settle.timeout.connect(self._drop_hidden)
        self._list.verticalScrollBar().valueChanged.connect(self._scrolled)
        self._delegate.wanted.connect(self._want)
        self._list.doubleClicked.connect(self.enlarge)
        loader.loaded.connect(self._loaded)
        loader.failed.connect(self._failed)
        self.clear()

    @property
    def cluster(self) -> int | None:
        """The cluster that is shown."""
        return self._cluster

    @property
    def members(self) -> tuple[int, ...]:
        """The items that are shown, in order."""
        return tuple(self._model.members.tolist())

    @property
    def list_view(self) -> QListView:
        """The grid."""
        return self._list

    def set_items(self, items: ViewItems | None) -> None:
        """Files and names of the project's items; None when the project closes."""
        self.clear()
        self._model.items = items

    def show_cluster(self, cluster: int, members: Sequence[int] | IndexArray) -> None:
        """Show the images of a cluster. The place in the grid is kept where it is the same cluster as before."""
        kept = self._list.verticalScrollBar().value() if cluster == self._cluster else 0
        chosen = self._list.currentIndex().data(ITEM_ROLE) if cluster == self._cluster else None
        self._cluster = cluster
        wanted = np.array(members, np.int64)
        if not np.array_equal(wanted, self._model.members):
            self._forget()
            self._model.set_members(wanted)
            places = np.flatnonzero(wanted == (-1 if chosen is None else chosen))
            if len(places):
                self._list.setCurrentIndex(self._model.index(int(places[0])))
            self._list.doItemsLayout()
            self._list.verticalScrollBar().setValue(kept)
        count = len(self._model.members)
        self._title.setText(tr("Cluster {cluster}", cluster=cluster))
        self._count.setText(trn("{n} image", "{n} images", count))
        self._list.setAccessibleName(tr("Images of cluster {cluster}", cluster=cluster))
        self._list.setAccessibleDescription(self._count.text())
        self._stack.setCurrentWidget(self._page)
        self._dress()

    def clear(self) -> None:
        """Show the hint instead of a cluster."""
        self._cluster = None
        self._forget()
        self._model.set_members(np.zeros(0, np.int64))
        self._stack.setCurrentWidget(self._hint)

    def set_pair(self, left: int | None, right: int | None = None) -> None:
        """Mark the images of the current pair with L and R."""
        self._delegate.badges = {} if left is None or right is None else {left: "L", right: "R"}
        self._list.viewport().update()

    @Slot(QModelIndex)
    def enlarge(self, index: QModelIndex) -> None:
        """Open the enlarged view at a row; the arrow keys then go through the cluster."""
        if not index.isValid() or self._model.items is None:
            return
        if self._enlarged is None:
            self._enlarged = EnlargedView(self._loader, self)
        self._enlarged.show_members(self._model.items, self.members, index.row())
        self.itemEnlarged.emit(int(self._model.members[index.row()]))

    def _build(self) -> None:
        view = self._list
        view.setModel(self._model)
        view.setItemDelegate(self._delegate)
        view.setViewMode(QListView.ViewMode.IconMode)
        view.setMovement(QListView.Movement.Static)
        view.setResizeMode(QListView.ResizeMode.Adjust)
        view.setUniformItemSizes(True)
        view.setLayoutMode(QListView.LayoutMode.Batched)
        view.setBatchSize(2000)  # 10 ms each
        view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)  # else the width jumps as it comes
        view.setFrameShape(QFrame.Shape.NoFrame)
        view.setMouseTracking(True)
        for watched in (view, view.viewport()):
            watched.installEventFilter(self)
        self._dot, self._title, self._count = QLabel(), QLabel(), QLabel()
        self._title.setTextFormat(Qt.TextFormat.PlainText)
        self._dot.setFixedSize(12, 12)
        set_role(self._title, role="heading")
        set_role(self._count, role="muted")
        head = QHBoxLayout()
        head.setContentsMargins(SPACE_2, SPACE_2, SPACE_2, SPACE_2)
        head.setSpacing(SPACE_2)
        for label in (self._dot, self._title, self._count):
            head.addWidget(label)
        head.addStretch(1)
        self._page = QWidget()
        column = QVBoxLayout(self._page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(view, 1)
        self._hint = QLabel(tr("Click a point on the map to see the images of its cluster."))
        self._hint.setWordWrap(True)
        self._hint.setMargin(SPACE_4)
        self._hint.setAlignment(Qt.AlignmentFlag.AlignCenter)
        set_role(self._hint, role="muted")
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._hint)
        self._stack.addWidget(self._page)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and isinstance(event, QResizeEvent):
            if watched is self._list.viewport():
                self._fit(event.size().width())
        # Not the list's own "activated": some desktops send that at a single click, others twice.
        elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() in _OPEN_KEYS:
            self.enlarge(self._list.currentIndex())
            return True
        return super().eventFilter(watched, event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_dot"):
            self._dress()

    def _fit(self, width: int) -> None:
        """As many columns as fit, widened to fill the row."""
        room = max(width - SPACE_2, THUMB)
        columns = max(room // (THUMB + 2 * SPACE_2), 1)
        side = min(room // columns - 2 * SPACE_2, 2 * THUMB) // 8 * 8  # in steps, so that few sizes are decoded
        if side != self._delegate.side or self._list.gridSize().width() != room // columns:
            self._delegate.side = side
            cell = self._delegate.cell()
            self._list.setGridSize(QSize(room // columns, cell.height() + SPACE_2))

    def _dress(self) -> None:
        if self._cluster is not None:
            colour = tokens().outline if len(self._model.members) < 2 else cluster_colour(self._cluster).name()
            self._dot.setStyleSheet(f"background: {colour}; border-radius: 6px;")

    def _forget(self) -> None:
        self._pending.clear()
        self._loader.cancel(_GROUP)

    @Slot(object)
    def _want(self, index: QPersistentModelIndex) -> None:
        item = index.data(ITEM_ROLE)
        if item is not None and self._model.items is not None:
            box = self._delegate.box(self._list.devicePixelRatioF())
            key = self._loader.request(self._model.items.file(item), box, SOON, _GROUP)
            self._pending[key] = index

    @Slot(str, QImage)
    def _loaded(self, key: str, _image: QImage) -> None:
        self._came(key)

    @Slot(str, str)
    def _failed(self, key: str, _reason: str) -> None:
        self._came(key)

    def _came(self, key: str) -> None:
        index = self._pending.pop(key, None)
        if index is not None and index.isValid():
            self._list.update(self._model.index(index.row()))

    @Slot(int)
    def _scrolled(self, _value: int) -> None:
        self._settle.start()

    @Slot()
    def _drop_hidden(self) -> None:
        view = self._list.viewport().rect()
        self._pending = {
            key: index
            for key, index in self._pending.items()
            if index.isValid() and self._list.visualRect(self._model.index(index.row())).intersects(view)
        }
        self._loader.cancel(_GROUP, keep=self._pending)
