"""The history, newest first: everything that was answered and corrected; any of it can be changed."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QLabel, QListView, QStackedWidget, QVBoxLayout, QWidget

from a3s_desktop.core.types import Answer
from a3s_desktop.i18n import tr
from a3s_desktop.session.listing import HistoryPage
from a3s_desktop.session.state import Change, ChangeKind, HistoryEntry, SessionState
from a3s_desktop.ui.bridge import Bridge
from a3s_desktop.ui.history_delegate import EntryDelegate
from a3s_desktop.ui.history_filter_bar import HistoryFilterBar
from a3s_desktop.ui.history_menu import EntryMenu
from a3s_desktop.ui.history_model import ENTRY_ROLE, HistoryFeed, HistoryModel
from a3s_desktop.ui.history_notice import HistoryNotice
from a3s_desktop.ui.history_text import effect_text, when_text
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.pictures import Pictures
from a3s_desktop.ui.theme import SPACE_4, set_role

__all__ = ["HistoryPanel", "when_text"]


class EntryList(QListView):
    """A list of entries that keeps its place while it is filled anew.

    Signals
    -------
    opened(object), menuWanted(object, QPoint), takeBackWanted(object)
        A `HistoryEntry`: by Enter or a double click; by the menu key or the right button; by Delete.
    """

    opened = Signal(object)
    menuWanted = Signal(object, QPoint)  # noqa: N815 - Qt's naming
    takeBackWanted = Signal(object)  # noqa: N815

    def __init__(self, model: HistoryModel, pictures: Pictures, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entries = model
        self._number: int | None = None  # of the current entry
        self._top = 0  # where its row was in the window
        self.setModel(model)
        self.setItemDelegate(EntryDelegate(pictures, self))
        self.setUniformItemSizes(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setMouseTracking(True)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._on_menu)
        self.doubleClicked.connect(self._on_double_click)
        pictures.changed.connect(self.viewport().update)
        model.modelAboutToBeReset.connect(self._note_place)

    @property
    def current(self) -> HistoryEntry | None:
        """The current entry."""
        entry: HistoryEntry | None = self.currentIndex().data(ENTRY_ROLE)
        return entry

    def go_to(self, row: int) -> None:
        """Make a row current; the entry that was current before stays where it was in the window."""
        index = self._entries.index(min(row, self._entries.rowCount() - 1))
        if not index.isValid():
            return
        self.setCurrentIndex(index)
        entry = self.current
        if entry is not None and entry.number == self._number:
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() + self.visualRect(index).top() - self._top)
        self.scrollTo(index)

    def keyboardSearch(self, search: str) -> None:
        """Letters are keys of the program, not names of rows."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter opens, Delete takes back, the menu key opens the menu."""
        key, entry = event.key(), self.current
        if entry is None:
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.opened.emit(entry)
        elif key == Qt.Key.Key_Delete:
            self.takeBackWanted.emit(entry)
        else:
            super().keyPressEvent(event)

    @Slot()
    def _note_place(self) -> None:
        index = self.currentIndex()
        entry = self.current
        self._number = entry.number if entry is not None else None
        self._top = self.visualRect(index).top() if index.isValid() else 0

    @Slot(QPoint)
    def _on_menu(self, place: QPoint) -> None:
        index = self.indexAt(place)
        entry = index.data(ENTRY_ROLE) if index.isValid() else self.current
        if index.isValid():
            self.setCurrentIndex(index)
        if entry is not None:
            self.menuWanted.emit(entry, self.viewport().mapToGlobal(place))

    @Slot(QModelIndex)
    def _on_double_click(self, index: QModelIndex) -> None:
        entry = index.data(ENTRY_ROLE)
        if entry is not None:
            self.opened.emit(entry)


class HistoryPanel(QWidget):
    """Filter, list, and what the last change of an old answer did.

    Parameters
    ----------
    bridge : Bridge
    loader : ImageLoader

    Signals
    -------
    lookWanted(object)
        A `HistoryEntry` is to be seen large.
    conflictsAppeared()
        Entries lost their effect: the panel should be seen.
    """

    lookWanted = Signal(object)  # noqa: N815 - Qt's naming
    conflictsAppeared = Signal()  # noqa: N815

    def __init__(self, bridge: Bridge, loader: ImageLoader, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._conflicts: frozenset[int] = frozenset()
        self._pictures = Pictures(loader, "history", self)
        self.model = HistoryModel(self)
        self.feed = HistoryFeed(bridge, self.model, self)
        self.filter = HistoryFilterBar()
        self.notice = HistoryNotice()
        self.list = EntryList(self.model, self._pictures)
        self.list.setAccessibleName(tr("Answers and corrections, newest first"))
        self._empty = QLabel()
        self._empty.setTextFormat(Qt.TextFormat.PlainText)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setWordWrap(True)
        self._empty.setMargin(SPACE_4)
        set_role(self._empty, role="muted")
        self._stack = QStackedWidget()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self.list)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.notice)
        layout.addWidget(self.filter)
        layout.addWidget(self._stack, 1)
        self._connect()
        self._show_empty()

    def _connect(self) -> None:
        bridge = self._bridge
        bridge.stateChanged.connect(self._on_state)
        bridge.closed.connect(self._on_closed)
        self.feed.refreshed.connect(self._on_refreshed)
        self.filter.changed.connect(self._on_filter)
        self.notice.showWanted.connect(self.show_without_effect)
        self.notice.undoWanted.connect(bridge.undo)
        self.list.opened.connect(self._on_opened)
        self.list.menuWanted.connect(self._on_menu)
        self.list.takeBackWanted.connect(self._on_take_back)

    @Slot()
    def show_without_effect(self) -> None:
        """List the entries that have no effect now."""
        self.filter.show_without_effect()
        self.list.setFocus()

    def change(self, number: int, answer: Answer | None) -> None:
        """Answer an old question differently, or take an entry back."""
        self.feed.keep_at(number)
        self._bridge.change(number, answer)

    @Slot(object, object)
    def _on_state(self, state: SessionState, change: Change) -> None:
        question = state.question
        pair = frozenset({question.left_cluster, question.right_cluster}) if question else frozenset()
        if change.kind is ChangeKind.OPENED:
            self._pictures.items = self._bridge.items
            self.filter.reset()
            self.notice.clear()
        else:
            self._tell(state, change)
        self._conflicts = frozenset(state.conflicts)
        self.filter.set_state(pair, state.names)
        if change.kind is not ChangeKind.CHANGE:
            # Who answers sees the newest; who reads in the list stays where he is.
            entry = self.list.current if self.list.hasFocus() else None
            self.feed.keep_at(entry.number if entry is not None else None)

    def _tell(self, state: SessionState, change: Change) -> None:
        """What became of later entries."""
        lost = len(frozenset(state.conflicts) - self._conflicts)
        if lost and change.kind is not ChangeKind.MERGE:  # disagreements have a window of their own
            self.notice.say(effect_text(lost), conflicts=True)
            self.conflictsAppeared.emit()
        elif change.kind is ChangeKind.CHANGE:
            self.notice.say(effect_text(0), conflicts=False)
        else:
            self.notice.clear()

    @Slot()
    def _on_filter(self) -> None:
        entry = self.list.current
        self.feed.set_filter(self.filter.wanted(), entry.number if entry is not None else None)

    @Slot(object)
    def _on_refreshed(self, page: HistoryPage) -> None:
        self._pictures.drop()
        self.filter.show_counts(page.total, page.everything)
        focused = self._stack.isAncestorOf(self.focusWidget() or self)
        if page.total:
            self._stack.setCurrentWidget(self.list)
            self.list.go_to(max(page.row, 0))
        else:
            self._show_empty()
            if focused:
                self.filter.search.setFocus()

    def _show_empty(self) -> None:
        narrow = self.feed.wanted.narrow
        self._empty.setText(
            tr("No entry is like this. Choose something else above, or show all.")
            if narrow
            else tr("Your answers and corrections will be listed here.")
        )
        self._stack.setCurrentWidget(self._empty)

    @Slot()
    def _on_closed(self) -> None:
        self._pictures.drop()
        self._pictures.items = None
        self.notice.clear()
        self._conflicts = frozenset()
        self._show_empty()

    @Slot(object)
    def _on_opened(self, entry: HistoryEntry) -> None:
        if entry.right >= 0:
            self.lookWanted.emit(entry)
        else:
            rect = self.list.visualRect(self.list.currentIndex())
            self._on_menu(entry, self.list.viewport().mapToGlobal(rect.center()))

    @Slot(object, QPoint)
    def _on_menu(self, entry: HistoryEntry, place: QPoint) -> None:
        EntryMenu(self._bridge, entry, self.change, self.lookWanted.emit, self._narrow, self).popup(place)

    @Slot(object)
    def _on_take_back(self, entry: HistoryEntry) -> None:
        if not entry.withdrawn:
            self.change(entry.number, None)

    def _narrow(self, entry: HistoryEntry) -> None:
        state = self._bridge.state
        if state is not None:
            self.filter.show_clusters(frozenset(int(state.labels[item]) for item in entry.items))

    def showEvent(self, event: QShowEvent) -> None:
        """What changed while it was hidden."""
        super().showEvent(event)
        self.feed.set_live(True)

    def hideEvent(self, event: QHideEvent) -> None:
        """A hidden list costs nothing."""
        super().hideEvent(event)
        self.feed.set_live(False)

    def changeEvent(self, event: QEvent) -> None:
        """Icons follow the theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "list"):
            self.list.viewport().update()
