"""One entry of the history, large: its two images side by side, what was said of them, and how doubtful it is."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from a3s_desktop.i18n import tr
from a3s_desktop.session.state import HistoryEntry
from a3s_desktop.storage.items import Items
from a3s_desktop.ui.history_text import colour, detail_text, doubt_text, later_text, sign
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.image_pane import ImagePane
from a3s_desktop.ui.linked_panes import LinkedPanes
from a3s_desktop.ui.theme import SPACE_2, SPACE_3, icon_pixmap, set_role, tokens

_SIGN = 26


class EntryView(QWidget):
    """See the module.

    Signals
    -------
    seenChanged(bool)
        Whether both images of the entry have been painted.
    """

    seenChanged = Signal(bool)  # noqa: N815 - Qt's naming

    def __init__(self, loader: ImageLoader, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.entry: HistoryEntry | None = None
        self.seen = False
        self._number = 0  # of the pair shown, for telling when it was painted
        self._sign = QLabel()
        self._title = QLabel()
        set_role(self._title, role="title")
        self._detail = QLabel()
        set_role(self._detail, role="muted")
        self._doubt = QLabel()
        self._doubt.setWordWrap(True)
        self._later = QLabel(" ")
        self._title.setTextFormat(Qt.TextFormat.PlainText)
        self._detail.setTextFormat(Qt.TextFormat.PlainText)
        self._doubt.setTextFormat(Qt.TextFormat.PlainText)
        self._later.setTextFormat(Qt.TextFormat.PlainText)
        self._later.setWordWrap(True)
        set_role(self._later, role="muted")
        self.left, self.right = ImagePane(loader), ImagePane(loader)
        self.panes = LinkedPanes(self.left, self.right, True, self)
        self.panes.painted.connect(self._on_painted)
        head = QHBoxLayout()
        head.setSpacing(SPACE_2)
        head.addWidget(self._sign)
        head.addWidget(self._title)
        head.addWidget(self._detail, 0, Qt.AlignmentFlag.AlignBottom)
        head.addStretch(1)
        images = QHBoxLayout()
        images.setSpacing(SPACE_2)
        images.addWidget(self.left, 1)
        images.addWidget(self.right, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_2)
        column.addLayout(head)
        column.addWidget(self._doubt)
        column.addLayout(images, 1)
        column.addWidget(self._later)
        column.setSpacing(SPACE_3)

    def show_entry(self, entry: HistoryEntry | None, items: Items | None) -> None:
        """Show an entry; None shows nothing."""
        same_pair = entry is not None and self.entry is not None and entry.items == self.entry.items
        self.entry = entry
        self.recolour()
        self._title.setText(entry.text if entry is not None else "")
        self._detail.setText(detail_text(entry) if entry is not None else "")
        self._doubt.setText(doubt_text(entry) if entry is not None else "")
        self._later.setText(" ")
        if same_pair:
            return
        self._set_seen(False)
        self._number += 1
        self.panes.forget_painted()
        self.panes.reset()
        for pane, item in ((self.left, 0), (self.right, 1)):
            if entry is None or items is None or item >= len(entry.items):
                pane.set_image(None, "", self._number)
            else:
                index = entry.items[item]
                pane.set_image(items.file(index), items.name(index), self._number, items.problems.get(index, ""))

    @Slot(object)
    def show_later(self, counts: tuple[int, int]) -> None:
        """What depends on the entry."""
        self._later.setText(tr("If you change it: {what}", what=later_text(*counts)))

    def recolour(self) -> None:
        """After a change of theme, or of the entry."""
        if self.entry is None:
            self._sign.clear()
        else:
            shade = colour(self.entry, tokens())
            self._sign.setPixmap(icon_pixmap(sign(self.entry), shade, _SIGN, self.devicePixelRatioF()))

    def _set_seen(self, seen: bool) -> None:
        if seen != self.seen:
            self.seen = seen
            self.seenChanged.emit(seen)

    @Slot(int)
    def _on_painted(self, number: int) -> None:
        if number == self._number and self.entry is not None:
            self._set_seen(True)
