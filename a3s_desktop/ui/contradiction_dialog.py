"""A contradiction as pictures: what is new and was refused, and the chain of what was said before and forbids it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QHBoxLayout,
    QLabel,
    QListView,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from a3s_desktop.i18n import tr, trn
from a3s_desktop.session.entries import CorrectionKind
from a3s_desktop.session.state import EntryKind
from a3s_desktop.ui.contradiction_chain import PICTURE, ChainDelegate, ChainLink, ChainModel, draw_link
from a3s_desktop.ui.history_text import NamedItems
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.pictures import Pictures
from a3s_desktop.ui.theme import SPACE_1, SPACE_2, SPACE_3, SPACE_4, SPACE_5, set_role


class _ChainList(QListView):
    """Delete and Enter drop the current link."""

    dropWanted = Signal()  # noqa: N815 - Qt's naming

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt's."""
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.dropWanted.emit()
        else:
            super().keyPressEvent(event)

    def keyboardSearch(self, search: str) -> None:
        """Rows have no names to be typed."""


class _Refused(QWidget):
    """The new link, drawn as those of the chain are."""

    def __init__(self, model: ChainModel, pictures: Pictures) -> None:
        super().__init__()
        self._model, self._pictures = model, pictures
        self.link: ChainLink | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        pictures.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """As high as a picture."""
        return QSize(320, PICTURE + 2 * SPACE_2)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's."""
        if self.link is not None:
            painter = QPainter(self)
            painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
            draw_link(painter, self.rect(), self._model, self.link, self._pictures)
            painter.end()


class ContradictionDialog(QDialog):
    """See the module. It stays open while one chain after the other is dealt with.

    Parameters
    ----------
    loader : ImageLoader
    items : NamedItems
        Of the project.

    Signals
    -------
    dropWanted(object)
        The `ChainLink` that is to be dropped.
    kept()
        Everything stays as it was.
    """

    dropWanted = Signal(object)  # noqa: N815 - Qt's naming
    kept = Signal()

    def __init__(self, loader: ImageLoader, items: NamedItems, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setWindowTitle(tr("Contradiction"))
        self.setMinimumWidth(560)
        self._done = False
        self._waiting = False
        pictures = Pictures(loader, "contradiction", self)
        pictures.items = items  # type: ignore[assignment]
        self.model = ChainModel(self)
        self.model.items = items
        self._heading = _wrapped("heading")
        self._new = _wrapped("strong")
        self.refused = _Refused(self.model, pictures)
        self._because = _wrapped("")
        self.list = _ChainList()
        self.list.setModel(self.model)
        self.list.setItemDelegate(ChainDelegate(pictures, self.list))
        self.list.setUniformItemSizes(True)
        self.list.setMouseTracking(True)
        self.list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setAccessibleName(tr("What was said before, link by link"))
        set_role(self.list, role="field")
        pictures.changed.connect(self.list.viewport().update)
        self._hint = _wrapped("muted")
        self.drop_button = QPushButton(tr("Drop the selected link"))
        self.drop_button.setAutoDefault(False)
        self.keep_button = QPushButton(tr("Keep everything"))
        self.keep_button.setDefault(True)
        set_role(self.keep_button, kind="primary")
        self._lay_out()
        self.list.selectionModel().currentChanged.connect(self._on_current)
        self.list.dropWanted.connect(self._drop)
        self.drop_button.clicked.connect(self._drop)
        self.keep_button.clicked.connect(self.reject)

    def _lay_out(self) -> None:
        buttons = QHBoxLayout()
        buttons.setSpacing(SPACE_2)
        buttons.addStretch(1)
        buttons.addWidget(self.drop_button)
        buttons.addWidget(self.keep_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_5, SPACE_5, SPACE_5, SPACE_4)
        column.setSpacing(SPACE_3)
        for widget in (self._heading, self._new, self.refused, self._because):
            column.addWidget(widget)
        column.addWidget(self.list, 1)
        column.addWidget(self._hint)
        column.addLayout(buttons)

    def show_chain(self, new: ChainLink, chain: Sequence[ChainLink], dropped: int) -> None:
        """Show a refused link and what forbids it; ``dropped``: how many links were dropped for it already."""
        self.refused.link = new
        names = {"left": self.model.name(new.left), "right": self.model.name(new.right)}
        self.refused.setAccessibleName(
            tr("Refused: {left} and {right} are the same", **names)
            if new.same
            else tr("Refused: {left} and {right} are different", **names)
        )
        self.refused.update()
        if dropped:
            heading = trn(
                "There is another contradiction, after {n} link was dropped.",
                "There is another contradiction, after {n} links were dropped.",
                dropped,
            )
        else:
            heading = tr("This contradicts what was said before.")
        self._heading.setText(heading)
        self._new.setText(
            tr("You want these two to be the same:") if new.same else tr("You want these two to be different:")
        )
        self._because.setText(
            trn("{n} earlier link says the opposite:", "{n} earlier links together say the opposite:", len(chain))
        )
        self.model.set_links(chain)
        doubts = [link.entry.doubt if link.entry is not None else -1.0 for link in chain]
        likeliest = doubts.index(max(doubts)) if doubts else 0
        self.list.setCurrentIndex(self.model.index(likeliest))
        self.list.scrollTo(self.model.index(likeliest), QAbstractItemView.ScrollHint.PositionAtCenter)
        row = self.list.sizeHintForRow(0)
        self.list.setMinimumHeight(row * min(max(len(chain), 2), 3) + 2 * SPACE_1)
        if not self.isVisible():
            most = self.parentWidget().height() if self.parentWidget() is not None else 700
            self.resize(640, min(most - 2 * SPACE_5, 312 + row * max(len(chain), 2)))
        self._waiting = False
        self.list.setFocus()
        self._on_current(self.list.currentIndex())

    @property
    def current(self) -> ChainLink | None:
        """The link that is selected."""
        index = self.list.currentIndex()
        return self.model.links[index.row()] if index.isValid() else None

    def finish(self) -> None:
        """Close: what was refused is done now."""
        self._done = True
        self.done(0)

    def reject(self) -> None:
        """Escape, the window's close button, "Keep everything"."""
        if not self._done:
            self._done = True
            self.done(0)
            self.kept.emit()

    @Slot()
    def _drop(self) -> None:
        link = self.current
        if link is not None and link.entry is not None and not self._waiting:
            self._waiting = True  # until the next chain, or the end
            self.drop_button.setEnabled(False)
            self.dropWanted.emit(link)

    @Slot(QModelIndex)
    def _on_current(self, _index: QModelIndex) -> None:
        link = self.current
        entry = link.entry if link is not None else None
        self.drop_button.setEnabled(entry is not None and not self._waiting)
        if entry is None:
            text = tr("This link cannot be dropped.")
        elif entry.kind is EntryKind.CORRECTION and entry.what == CorrectionKind.LABELS.value:
            text = tr("Dropping it takes these images out of the list of names; all others stay. Undo brings it back.")
        elif entry.kind is EntryKind.CORRECTION:
            text = tr("Dropping it takes the whole correction back: {what}. Undo brings it back.", what=entry.text)
        else:
            text = tr("Dropping it takes this answer back; the new one then counts. Undo brings it back.")
        self._hint.setText(text)


def _wrapped(role: str) -> QLabel:
    label = QLabel()
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setProperty("role", role)
    return label
