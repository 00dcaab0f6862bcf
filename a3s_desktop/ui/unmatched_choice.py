"""Rows that fit no image and images that have no row: which they are, and what is to be done with them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QComboBox, QFrame, QLabel, QListWidget, QVBoxLayout, QWidget

from a3s_desktop.i18n import number, tr, trn
from a3s_desktop.storage.files import show
from a3s_desktop.storage.matching import Unmatched
from a3s_desktop.ui.plain import plain_tip
from a3s_desktop.ui.theme import SPACE_1, SPACE_2, SPACE_3

LISTED = 1000  # names in a list; more would not be read
_ROWS = 4  # of a list that are in sight


class UnmatchedChoice(QWidget):
    """Two lists, each with a choice; those that are empty are hidden.

    Signals
    -------
    chosen()
    """

    chosen = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows = _Side(
            tr("What to do with rows without an image"),
            (("stop", tr("Choose what to do…")), ("leave out", tr("Leave these rows out"))),
        )
        self.images = _Side(
            tr("What to do with images without a row"),
            (
                ("stop", tr("Choose what to do…")),
                ("leave out", tr("Leave these images out")),
                ("compute", tr("Have these images described")),
            ),
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_2)
        for side in (self.rows, self.images):
            column.addWidget(side)
            side.choice.activated.connect(self.chosen)
        self.show_lists((), ())

    @property
    def value(self) -> Unmatched:
        """What was chosen."""
        return Unmatched(rows=self.rows.choice.currentData(), images=self.images.choice.currentData())

    def reset(self) -> None:
        """Nothing is chosen any more."""
        for side in (self.rows, self.images):
            side.choice.setCurrentIndex(0)
        self.show_lists((), ())

    def show_lists(self, rows: Sequence[str], images: Sequence[str]) -> None:
        """Show what is without the other."""
        self.rows.show_names(
            trn("{n} row without an image", "{n} rows without an image", len(rows)) if rows else "", rows
        )
        self.images.show_names(
            trn("{n} image without a row", "{n} images without a row", len(images)) if images else "", images
        )
        self.setVisible(bool(rows or images))


class _Side(QFrame):
    def __init__(self, name: str, choices: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self.setProperty("role", "banner-warning")
        self._names: tuple[str, ...] = ()
        self.title = QLabel()
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.list = QListWidget()
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setUniformItemSizes(True)
        self.choice = QComboBox()
        self.choice.setAccessibleName(name)
        for key, text in choices:
            self.choice.addItem(text, key)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_3, SPACE_2, SPACE_3, SPACE_2)
        column.setSpacing(SPACE_1)
        column.addWidget(self.title)
        column.addWidget(self.list)
        column.addWidget(self.choice)

    def show_names(self, title: str, names: Sequence[str]) -> None:
        self.setVisible(bool(names))
        self.title.setText(title)
        self.list.setAccessibleName(title)
        if tuple(names) != self._names:
            self._names = tuple(names)
            self.list.clear()
            self.list.addItems([show(name)[1:-1] for name in names[:LISTED]])
            if len(names) > LISTED:
                self.list.addItem(tr("… and {n} more.", n=number(len(names) - LISTED)))
            for row in range(self.list.count()):
                item = self.list.item(row)
                item.setToolTip(plain_tip(item.text()))
        self._fit()

    def _fit(self) -> None:
        rows = max(1, min(self.list.count(), _ROWS))
        self.list.setFixedHeight(rows * max(self.list.sizeHintForRow(0), self.list.fontMetrics().height()) + 8)

    def changeEvent(self, event: QEvent) -> None:
        """The rows grow with the text."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange) and hasattr(self, "list"):
            self._fit()
