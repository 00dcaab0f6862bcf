"""Entries of the history as a list model that holds only what was looked at, and the feed that keeps it up to date."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, Qt, QTimer, Signal, Slot

from a3s_desktop.i18n import tr
from a3s_desktop.session.listing import HistoryFilter, HistoryPage
from a3s_desktop.session.state import Change, ChangeKind, HistoryEntry, SessionState
from a3s_desktop.ui.bridge import Bridge
from a3s_desktop.ui.engine_room import Reading
from a3s_desktop.ui.history_text import NamedItems, spoken_text
from a3s_desktop.ui.row_model import RowModel

PAGE = 200  # entries asked for at a time
REFRESH_MS = 120  # several answers in quick succession are fetched once
ENTRY_ROLE = Qt.ItemDataRole.UserRole
_Index = QModelIndex | QPersistentModelIndex


class HistoryModel(RowModel):
    """A row for each entry of a list; the entry is under `ENTRY_ROLE`, None until its page has come.

    Signals
    -------
    missing(int)
        A row was to be shown whose entry is not there yet.
    """

    missing = Signal(int)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.items: NamedItems | None = None  # for the names of files that screen readers say
        self._total = 0
        self._rows: dict[int, HistoryEntry] = {}

    def set_page(self, page: HistoryPage) -> None:
        """Another list, or the same after a change; one of its pages."""
        self.beginResetModel()
        self._total = page.total
        self.replace_rows(page.total)
        self._rows = dict(enumerate(page.entries, page.offset))
        self.endResetModel()

    def add_page(self, page: HistoryPage) -> None:
        """Another page of the same list."""
        self._rows.update(enumerate(page.entries, page.offset))
        if page.entries:
            self.dataChanged.emit(self.index(page.offset), self.index(page.offset + len(page.entries) - 1))

    def clear(self) -> None:
        """No entry."""
        self.set_page(HistoryPage(HistoryFilter(), 0, 0, 0, ()))

    def entry(self, row: int) -> HistoryEntry | None:
        """The entry of a row, if it is there; asks for it otherwise."""
        if 0 <= row < self._total and row not in self._rows:
            self.missing.emit(row)
        return self._rows.get(row)

    def row_of(self, number: int) -> int:
        """Row of an entry among those that are there; -1 where it is not."""
        return next((row for row, entry in self._rows.items() if entry.number == number), -1)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The entry, or a line of text for screen readers."""
        if not index.isValid():
            return None
        if role == ENTRY_ROLE:
            return self.entry(index.row())
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            entry = self._rows.get(index.row())
            return tr("Loading…") if entry is None else spoken_text(entry, self.items)
        return None


class HistoryFeed(QObject):
    """Asks the engine thread for pages of one list; at most one question is on its way.

    Attributes
    ----------
    live : bool
        Whether changes of the session are followed; a hidden list costs nothing.

    Signals
    -------
    refreshed(object)
        The `HistoryPage` that the model was filled with anew.
    """

    refreshed = Signal(object)

    def __init__(self, bridge: Bridge, model: HistoryModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._model = model
        self._wanted = HistoryFilter()
        self._anchor: int | None = None
        self._fresh = False  # whether the answer on its way fills the model anew
        self._waiting = False
        self._again = False
        self._row = -1  # missing
        self._stale = True
        self.live = False
        self._soon = QTimer(self, singleShot=True, interval=REFRESH_MS)
        self._soon.timeout.connect(self.refresh)
        self._more = QTimer(self, singleShot=True, interval=0)
        self._more.timeout.connect(self._ask_missing)
        model.missing.connect(self._on_missing)
        bridge.stateChanged.connect(self._on_state)
        bridge.problem.connect(self._on_problem)
        bridge.closed.connect(self._on_closed)

    @property
    def wanted(self) -> HistoryFilter:
        """The filter in force."""
        return self._wanted

    def set_live(self, live: bool) -> None:
        """Follow the session from now on, or no longer."""
        self.live = live
        if live and self._stale:
            self.refresh()

    def set_filter(self, wanted: HistoryFilter, anchor: int | None = None) -> None:
        """Another list; ``anchor``: the number of an entry that is to be among those that come."""
        self._wanted, self._anchor = wanted, anchor
        self.refresh()

    def keep_at(self, number: int | None) -> None:
        """The entry whose surroundings are wanted when the list is filled anew; None: its beginning."""
        self._anchor = number

    @Slot()
    def refresh(self) -> None:
        """Fill the model anew."""
        if self._bridge.project is None:
            return
        self._soon.stop()
        if self._waiting:
            self._again = True
            return
        self._stale = self._again = False
        self._row = -1
        self._model.items = self._bridge.items
        self._send(fresh=True, offset=0, anchor=self._anchor)

    def _send(self, fresh: bool, offset: int, anchor: int | None) -> None:
        self._fresh, self._waiting = fresh, True
        self._bridge.read(Reading.HISTORY_PAGE, self._wanted, offset, PAGE, anchor, done=self._on_page)

    @Slot(object, object)
    def _on_state(self, _state: SessionState, change: Change) -> None:
        self._stale = True
        if change.kind is ChangeKind.OPENED:
            self._wanted, self._anchor = HistoryFilter(), None
        if self.live:
            self._soon.start()

    @Slot(int)
    def _on_missing(self, row: int) -> None:
        self._row = row
        self._more.start()

    @Slot()
    def _ask_missing(self) -> None:
        if self._row >= 0 and not self._waiting and not self._stale:
            row, self._row = self._row, -1
            self._send(fresh=False, offset=max(0, row - row % PAGE), anchor=None)

    def _on_page(self, page: HistoryPage) -> None:
        if not self._waiting:
            return
        self._waiting = False
        if self._again or page.wanted != self._wanted:
            self.refresh()
        elif self._fresh:
            self._model.set_page(page)
            self.refreshed.emit(page)
        elif page.total != self._model.rowCount():
            self.refresh()
        else:
            self._model.add_page(page)
        self._ask_missing()

    @Slot(object)
    def _on_problem(self, _error: object) -> None:
        self._waiting = False

    @Slot()
    def _on_closed(self) -> None:
        self._waiting = self._again = False
        self._stale = True
        self._row = -1
        self._soon.stop()
        self._model.items = None
        self._model.clear()
