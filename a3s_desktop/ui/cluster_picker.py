"""Chooses a cluster: the nearest ones first, any other by name or number; by keyboard alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from a3s_desktop.core.types import IndexArray
from a3s_desktop.i18n import tr
from a3s_desktop.ui.cluster_order import folded
from a3s_desktop.ui.cluster_rows import Row, RowList
from a3s_desktop.ui.gallery import SearchField
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.theme import SPACE_2, SPACE_4, set_role
from a3s_desktop.ui.thumbnails import ViewItems

MOST = 300  # rows that are shown at once
_TO_THE_LIST = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


class ClusterRows:
    """All clusters that can be chosen, as columns: of tens of thousands, rows are made of those that are shown.

    Parameters
    ----------
    clusters, sizes, covers : int, shape (k,)
        Largest first.
    names : mapping of int to str
        Of the clusters that have one; may hold others.
    """

    def __init__(self, clusters: IndexArray, sizes: IndexArray, covers: IndexArray, names: Mapping[int, str]) -> None:
        self._clusters, self._sizes, self._covers, self._names = clusters, sizes, covers, names

    def largest(self, count: int, without: Collection[int]) -> list[Row]:
        """The first ones."""
        most = count + len(without)
        return self._rows(np.arange(min(most, len(self._clusters))), without)[:count]

    def found(self, text: str, without: Collection[int]) -> list[Row]:
        """Those whose number is a folded text, or whose name holds it; largest first."""
        wanted = [cluster for cluster, name in self._names.items() if text in folded(name)]
        if text.isdecimal():
            wanted.append(int(text[:18]))
        return self._rows(np.flatnonzero(np.isin(self._clusters, np.array(wanted, np.int64))), without)

    def _rows(self, places: IndexArray, without: Collection[int]) -> list[Row]:
        columns = (column[places].tolist() for column in (self._clusters, self._sizes, self._covers))
        return [Row(c, size, self._names.get(c, ""), cover) for c, size, cover in zip(*columns, strict=True)
                if c not in without]  # fmt: skip


class ClusterPicker(QDialog):
    """See the module.

    Parameters
    ----------
    parent : QWidget or None
    loader : ImageLoader
    items : ViewItems
    title, button : str
    rows : ClusterRows

    Signals
    -------
    picked(object)
        The `Row` that was chosen.
    """

    picked = Signal(object)

    def __init__(
        self, parent: QWidget | None, loader: ImageLoader, items: ViewItems, title: str, button: str,
        rows: ClusterRows,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setWindowTitle(title)
        self.resize(460, 520)
        self._all = rows
        self._near: list[Row] = []
        self.search = SearchField(tr("Name or number"), tr("Find a cluster by name or number"))
        self.list = RowList(loader, "cluster picker", tr("Clusters to choose from"))
        self.list.pictures.items = items
        self.empty = QLabel(tr("No cluster has this name or number."))
        set_role(self.empty, role="muted")
        self.empty.hide()
        self.button = QPushButton(button)
        self.button.setDefault(True)
        set_role(self.button, kind="primary")
        cancel = QPushButton(tr("Cancel"))
        cancel.setAutoDefault(False)
        heading = QLabel(title)
        heading.setWordWrap(True)
        heading.setTextFormat(Qt.TextFormat.PlainText)
        set_role(heading, role="heading")
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(cancel)
        buttons.addWidget(self.button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(SPACE_4, SPACE_4, SPACE_4, SPACE_4)
        layout.setSpacing(SPACE_2)
        for part in (heading, self.search, self.empty):
            layout.addWidget(part)
        layout.addWidget(self.list, 1)
        layout.addLayout(buttons)
        self.search.installEventFilter(self)
        self.search.textChanged.connect(self._filter)
        self.search.entered.connect(self._pick)
        self.search.left.connect(self.reject)
        self.list.opened.connect(self._pick)
        self.button.clicked.connect(self._pick)
        cancel.clicked.connect(self.reject)
        self._filter()
        self.search.setFocus()

    @Slot(object)
    def show_near(self, near: Sequence[Row]) -> None:
        """Put these first; the mark stays where the person has put it."""
        moved = self.list.place > 0
        kept = self.list.marked()
        self._near = list(near)
        self._filter()
        if moved and kept is not None:
            places = [k for k, row in enumerate(self.list.rows) if row.cluster == kept.cluster]
            self.list.mark(places[0] if places else 0)

    @Slot()
    def _filter(self) -> None:
        text = folded(self.search.text())
        near = {row.cluster for row in self._near}
        rows = [*self._near, *(self._all.found(text, near) if text else self._all.largest(MOST, near))]
        if text:
            exact = [row for row in rows if str(row.cluster) == text or folded(row.name) == text]
            known = {row.cluster for row in exact}
            rows = exact + [row for row in rows if row.name and text in folded(row.name) and row.cluster not in known]
        self.list.show_rows(rows[:MOST])
        self.empty.setVisible(not rows)
        self.button.setEnabled(bool(rows))

    @Slot()
    def _pick(self) -> None:
        row = self.list.marked()
        if row is not None:
            self.accept()
            self.picked.emit(row)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Up and down go through the list while the text is typed."""
        if (
            watched is self.search
            and event.type() == QEvent.Type.KeyPress
            and isinstance(event, QKeyEvent)
            and event.key() in _TO_THE_LIST
        ):
            step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -8}.get(Qt.Key(event.key()), 8)
            self.list.mark(self.list.place + step)
            return True
        return super().eventFilter(watched, event)
