"""All clusters as cards: sorted, filtered, found by text; a card is opened, or dragged onto another to merge them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QEvent, QModelIndex, QPoint, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent, QKeyEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QSizePolicy,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from a3s_desktop.core.types import IntArray
from a3s_desktop.i18n import number, tr, trn
from a3s_desktop.session.overview import ClusterSummary
from a3s_desktop.ui.cluster_cards import CARD, CLUSTER_MIME, CardDelegate, ClusterCards
from a3s_desktop.ui.cluster_order import ClusterTable, Kind, Order, files_with, folded
from a3s_desktop.ui.grid_view import GridView
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.pictures import Pictures
from a3s_desktop.ui.theme import SPACE_1, SPACE_2, SPACE_3, icon, set_role

_BLOCK = 8192  # file names looked at in one step, about 2 ms
_PAUSE = 120  # ms after the last key


class SearchField(QLineEdit):
    """A field whose Return and Escape are its own, though they are also keys of the page.

    Signals
    -------
    entered(), left()
        Return; Escape in an empty field.
    """

    entered = Signal()
    left = Signal()

    def __init__(self, hint: str, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setPlaceholderText(hint)
        self.setAccessibleName(name)
        self.setClearButtonEnabled(True)
        self.setMaxLength(300)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and is_own_key(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Down):
            self.entered.emit()
        elif event.key() == Qt.Key.Key_Escape:
            if self.text():
                self.clear()
            else:
                self.left.emit()
        else:
            super().keyPressEvent(event)


def is_own_key(event: QKeyEvent) -> bool:
    """Whether a key belongs to the field in which text is typed, not to an action of the page."""
    held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier & ~Qt.KeyboardModifier.ShiftModifier
    function = Qt.Key.Key_F1 <= event.key() <= Qt.Key.Key_F35
    return held == Qt.KeyboardModifier.NoModifier and not function


class CardGrid(GridView):
    """Cards that can be dropped onto each other.

    Signals
    -------
    merged(int, int)
        The first cluster was dropped onto the second.
    """

    merged = Signal(int, int)

    def __init__(self, cards: ClusterCards, pictures: Pictures, parent: QWidget | None = None) -> None:
        super().__init__(CARD, parent)
        self.drags_first = True
        self._cards = cards
        self._delegate = CardDelegate(pictures, self)
        self.setModel(cards)
        self.setItemDelegate(self._delegate)
        self.setAcceptDrops(True)
        self.fitted.connect(self._widened)
        self.set_cell_height(self._delegate.height())

    @Slot(int)
    def _widened(self, width: int) -> None:
        self._delegate.width = width

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_delegate"):
            self.set_cell_height(self._delegate.height())

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasFormat(CLUSTER_MIME):
            event.acceptProposedAction()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        super().dragMoveEvent(event)  # scrolls at the edges
        pair = self._pair(bytes(event.mimeData().data(CLUSTER_MIME).data()), event.position().toPoint())
        self._show_target(self.indexAt(event.position().toPoint()).row() if pair else -1)
        if pair:
            event.acceptProposedAction()
        else:
            event.ignore()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        super().dragLeaveEvent(event)
        self._show_target(-1)

    def dropEvent(self, event: QDropEvent) -> None:
        self._show_target(-1)
        pair = self._pair(bytes(event.mimeData().data(CLUSTER_MIME).data()), event.position().toPoint())
        self.setState(GridView.State.NoState)
        if pair:
            event.acceptProposedAction()
            self.merged.emit(*pair)

    def _pair(self, data: bytes, place: QPoint) -> tuple[int, int] | None:
        target = self._cards.cluster(self.indexAt(place).row())
        if target is None or not data.isdigit() or int(data) == target.id:
            return None
        return int(data), target.id

    def _show_target(self, row: int) -> None:
        if row != self._delegate.target:
            self._delegate.target = row
            self.viewport().update()


class Gallery(QWidget):
    """See the module.

    Parameters
    ----------
    loader : ImageLoader

    Signals
    -------
    opened(int)
        A cluster, by double click.
    merged(int, int)
        One cluster was dropped onto another.
    chosen()
        Which cards are selected changed.
    left()
        Escape in the empty search field.
    """

    opened = Signal(int)
    merged = Signal(int, int)
    chosen = Signal()

    def __init__(self, loader: ImageLoader, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._names: Sequence[str] = ()
        self._labels: IntArray | None = None
        self._by_file: set[int] = set()
        self._found: set[int] = set()  # the same, of the search that is under way
        self._place = 0  # of the search through file names
        self._table = ClusterTable()
        self.pictures = Pictures(loader, "gallery", self)
        self._cards = ClusterCards(self)
        self.grid = CardGrid(self._cards, self.pictures)
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE)
        self._pause.timeout.connect(self._begin_search)
        self._step = QTimer(self, singleShot=True, interval=0)
        self._step.timeout.connect(self._search_on)
        self._build()

    # what is shown

    def set_project(self, items: object | None, names: Sequence[str]) -> None:
        """Images of the project; None when it closes."""
        self.pictures.drop()
        self.pictures.items = items  # type: ignore[assignment]
        self._names = names
        self._labels = None
        self.search.clear()
        self._by_file = set()
        if len(self._table):
            self.set_clusters(ClusterTable(), None)

    def set_clusters(self, table: ClusterTable, labels: IntArray | None) -> None:
        """Show the clusters as they are now; place and selection stay where the clusters are still there."""
        self._table, self._labels = table, labels
        self._arrange(keep=True)
        if self.text:
            self._search_anew()

    @property
    def text(self) -> str:
        """What is looked for, folded."""
        return folded(self.search.text())

    def selected(self) -> list[ClusterSummary]:
        """The selected clusters, in the order of the cards."""
        found = (self._cards.cluster(row) for row in self.grid.chosen_rows())
        return [cluster for cluster in found if cluster is not None]

    def current(self) -> ClusterSummary | None:
        """The cluster that the keyboard is at."""
        return self._cards.cluster(self.grid.currentIndex().row())

    def choose(self, cluster: int) -> None:
        """Put the keyboard at a cluster's card, if it is shown."""
        for row in np.flatnonzero(self._cards.ids() == cluster).tolist():
            self.grid.choose([row], row)
            self.grid.scrollTo(self._cards.index(row))

    def ids(self) -> list[int]:
        """The clusters that are shown, in order."""
        found: list[int] = self._cards.ids().tolist()
        return found

    @Slot()
    def next_order(self) -> None:
        """Sort in another way."""
        self.order.setCurrentIndex((self.order.currentIndex() + 1) % self.order.count())

    # parts

    def _build(self) -> None:
        self.search = SearchField(tr("Name, number or file name"), tr("Find clusters by name, number or file name"))
        self._glass = QAction(icon("search"), "", self.search)  # one that Qt makes may go before its field does
        self.search.addAction(self._glass, QLineEdit.ActionPosition.LeadingPosition)
        self.order, self.kind = QComboBox(), QComboBox()
        self.order.setAccessibleName(tr("Order of the clusters"))
        self.kind.setAccessibleName(tr("Which clusters are shown"))
        for order in Order:
            self.order.addItem(tr(order.value), order)
        for kind in Kind:
            self.kind.addItem(tr(kind.value), kind)
        for box in (self.order, self.kind):
            box.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(8)
            box.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
            box.currentIndexChanged.connect(self._rearrange)
        self.count = QLabel()
        self.count.setTextFormat(Qt.TextFormat.PlainText)
        set_role(self.count, role="muted")
        head = QHBoxLayout()
        head.setContentsMargins(SPACE_3, SPACE_2, SPACE_3, SPACE_2)
        head.setSpacing(SPACE_2)
        self.search.setMinimumWidth(150)
        for part, share in ((self.search, 4), (self.kind, 2), (self.order, 2)):
            head.addWidget(part, share)
        head.addWidget(self.count)
        self.grid.setAccessibleName(tr("Clusters"))
        self._empty = QLabel()
        self._empty.setTextFormat(Qt.TextFormat.PlainText)
        self._empty.setWordWrap(True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        set_role(self._empty, role="muted")
        stage = QWidget()
        self._stack = QStackedLayout(stage)
        self._stack.setContentsMargins(0, 0, 0, 0)
        self._stack.addWidget(self.grid)
        self._stack.addWidget(self._empty)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_1)
        column.addLayout(head)
        column.addWidget(stage, 1)
        self.search.textChanged.connect(self._typed)
        self.search.entered.connect(self._enter)
        self.search.left.connect(self.grid.setFocus)
        self.grid.opened.connect(self._open)
        self.grid.merged.connect(self.merged)
        self.grid.settled.connect(self.pictures.drop)
        self.grid.selectionModel().selectionChanged.connect(self.chosen)
        self.grid.selectionModel().currentChanged.connect(self.chosen)
        self.pictures.changed.connect(self.grid.viewport().update)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_glass"):
            self._glass.setIcon(icon("search"))

    @Slot(QModelIndex)
    def _open(self, index: QModelIndex) -> None:
        cluster = self._cards.cluster(index.row())
        if cluster is not None:
            self.opened.emit(cluster.id)

    @Slot()
    def _enter(self) -> None:
        if self._cards.rowCount():
            self.grid.setFocus(Qt.FocusReason.OtherFocusReason)
            if not self.grid.currentIndex().isValid():
                self.grid.choose([0], 0)

    # order and filter

    @Slot()
    def _rearrange(self) -> None:
        self._arrange(keep=False)

    def _arrange(self, keep: bool) -> None:
        grid, cards = self.grid, self._cards
        top, row = grid.verticalScrollBar().value(), grid.currentIndex().row()
        at = cards.cluster(row)
        chosen = {cluster.id for cluster in self.selected()} if grid.chosen_count() < 1000 else set()
        rows = self._table.arranged(Order(self.order.currentData()), Kind(self.kind.currentData()), self.text,
                                    self._by_file)  # fmt: skip
        self.pictures.drop()
        cards.set_rows(self._table, rows)
        if len(rows):
            current = -1
            if at is not None:
                ids = cards.ids()
                # A cluster that is gone leaves the keyboard where it was.
                current = next(iter(np.flatnonzero(ids == at.id).tolist()), min(row, len(rows) - 1))
                kept = np.flatnonzero(np.isin(ids, list(chosen)))
                grid.choose(kept if len(kept) else [current], current)
            grid.verticalScrollBar().setValue(top if keep else 0)
            if not keep and current > 0:
                grid.scrollTo(cards.index(current), GridView.ScrollHint.EnsureVisible)
        self._tell()
        self.chosen.emit()

    def _tell(self) -> None:
        shown, total = self._cards.rowCount(), len(self._table)
        self.count.setText(
            self._all_text() if shown == total else tr("{n} of {total}", n=number(shown), total=number(total))
        )
        self.grid.setAccessibleDescription(self.count.text())
        self._empty.setText(
            tr("No cluster fits. Change what is looked for, or which clusters are shown.")
            if total
            else tr("There are no clusters: all images are junk.") if self._labels is not None else ""
        )  # fmt: skip
        self._stack.setCurrentWidget(self.grid if shown else self._empty)

    def _all_text(self) -> str:
        """All there is, counted as everywhere else in the program: a single image is no cluster."""
        singles = self._table.singles
        clusters = trn("{n} cluster", "{n} clusters", len(self._table) - singles)
        if not singles:
            return clusters
        return tr("{clusters}, {singles}", clusters=clusters,
                  singles=trn("{n} single image", "{n} single images", singles))  # fmt: skip

    # search through file names, in steps

    @Slot()
    def _typed(self) -> None:
        self._step.stop()
        self._by_file = set()
        self._pause.start()

    @Slot()
    def _begin_search(self) -> None:
        self._arrange(keep=False)
        self._search_anew()

    def _search_anew(self) -> None:
        self._pause.stop()
        self._place, self._found = 0, set()
        if self.text and self._labels is not None:
            self._step.start()

    @Slot()
    def _search_on(self) -> None:
        if self._labels is None:
            return
        stop = min(self._place + _BLOCK, len(self._names), len(self._labels))
        found = files_with(self._names, self.text, self._place, stop)
        self._found.update(self._labels[found].tolist())
        self._place = stop
        if stop < min(len(self._names), len(self._labels)):
            self._step.start()
        elif self._found != self._by_file:
            self._by_file = self._found
            self._arrange(keep=True)
