"""Where two annotators disagree: one after the other, as pictures, with what each decision would do."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QListView,
    QListWidget,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from a3s_desktop.i18n import tr, trn
from a3s_desktop.session.disagreements import About, Disagreement
from a3s_desktop.session.merge_words import disagreement_text
from a3s_desktop.session.state import HistoryEntry
from a3s_desktop.ui.contradiction_chain import ChainDelegate, ChainLink, ChainModel
from a3s_desktop.ui.history_text import when_text
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.pictures import Pictures
from a3s_desktop.ui.statement_view import StatementView
from a3s_desktop.ui.theme import SPACE_1, SPACE_2, SPACE_3, SPACE_4, set_role
from a3s_desktop.ui.thumbnails import ViewItems

_SOON = 120  # ms; what a decision would do is asked for when the selection rests


class DisagreementDialog(QDialog):
    """See the module. Not modal: pairs can be answered meanwhile.

    Parameters
    ----------
    loader : ImageLoader
    items : ViewItems
        Of the project.
    parent : QWidget

    Signals
    -------
    oursChosen(object), theirsChosen(object, object)
        `Disagreement`; and the `ChainLink` to be dropped for it, or None.
    foreseeWanted(object)
        Numbers of entries: how many images would move if they were taken back?
    """

    oursChosen = Signal(object)  # noqa: N815 - Qt's naming
    theirsChosen = Signal(object, object)  # noqa: N815
    foreseeWanted = Signal(object)  # noqa: N815

    def __init__(self, loader: ImageLoader, items: ViewItems, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Disagreements"))
        self.resize(980, 600)
        self._items = items
        self._found: tuple[Disagreement, ...] = ()
        self._may_decide = True
        self._sizes: dict[int, int] = {}
        pictures = Pictures(loader, "disagreements", self)
        pictures.items = items
        self.count = _wrapped("heading")
        self.list = QListWidget()
        self.list.setAccessibleName(tr("Disagreements"))
        self.list.setWordWrap(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setMinimumWidth(280)
        set_role(self.list, role="field")
        self.theirs_title, self.theirs = _wrapped("heading"), StatementView(pictures)
        self.ours_title, self.ours = _wrapped("heading"), StatementView(pictures)
        self.model = ChainModel(self)
        self.model.items = items
        self.chain = QListView()
        self.chain.setModel(self.model)
        self.chain.setItemDelegate(ChainDelegate(pictures, self.chain))
        self.chain.setUniformItemSizes(True)
        self.chain.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.chain.setAccessibleName(tr("What was said here, link by link"))
        set_role(self.chain, role="field")
        pictures.changed.connect(self.chain.viewport().update)
        self.hint = _wrapped("muted")
        self.ours_button = QPushButton(tr("Ours stays   {key}", key="1"))
        self.ours_button.setAccessibleName(tr("Ours stays"))
        self.theirs_button = QPushButton(tr("Theirs counts   {key}", key="2"))
        self.theirs_button.setAccessibleName(tr("Theirs counts"))
        self.later_button = QPushButton(tr("Later   {key}", key="3"))
        self.later_button.setAccessibleName(tr("Decide later"))
        self._soon = QTimer(self, singleShot=True, interval=_SOON)
        self._soon.timeout.connect(self._foresee)
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        buttons = QHBoxLayout()
        buttons.setSpacing(SPACE_2)
        for button in (self.ours_button, self.theirs_button, self.later_button):
            button.setAutoDefault(False)
            buttons.addWidget(button)
        buttons.addStretch(1)
        close = QPushButton(tr("Close"))
        close.setAutoDefault(False)
        close.clicked.connect(self.close)
        buttons.addWidget(close)
        detail = QVBoxLayout()
        detail.setSpacing(SPACE_2)
        for widget in (self.theirs_title, self.theirs, self.ours_title, self.ours):
            detail.addWidget(widget)
        detail.addWidget(self.chain, 1)
        detail.addStretch(0)
        detail.addWidget(self.hint)
        page = QWidget()
        row = QHBoxLayout(page)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(SPACE_4)
        row.addWidget(self.list, 2)
        row.addLayout(detail, 3)
        self.nothing = _wrapped("muted")
        self.nothing.setText(tr("Nothing is left to decide."))
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedWidget()
        self._stack.addWidget(page)
        self._stack.addWidget(self.nothing)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_4, SPACE_4, SPACE_4, SPACE_3)
        column.setSpacing(SPACE_3)
        column.addWidget(self.count)
        column.addWidget(self._stack, 1)
        column.addLayout(buttons)

    def _connect(self) -> None:
        self.list.currentRowChanged.connect(self._on_row)
        self.chain.selectionModel().currentChanged.connect(self._on_link)
        self.ours_button.clicked.connect(self.keep_ours)
        self.theirs_button.clicked.connect(self.take_theirs)
        self.later_button.clicked.connect(self.decide_later)
        for key, slot in (("1", self.keep_ours), ("2", self.take_theirs), ("3", self.decide_later)):
            QShortcut(QKeySequence(key), self).activated.connect(slot)

    def show_all(self, found: Sequence[Disagreement], sizes: dict[int, int], may_decide: bool) -> None:
        """Show what is undecided now; the same one stays current where it is still there.

        Parameters
        ----------
        found : sequence of Disagreement
        sizes : dict of int to int
            Cluster id -> number of images.
        may_decide : bool
            Whether the project is open for writing.
        """
        before, row = self.current, self.list.currentRow()
        self._found, self._sizes, self._may_decide = tuple(found), sizes, may_decide
        self.list.blockSignals(True)
        self.list.clear()
        self.list.addItems([disagreement_text(one, self._items.name) for one in found])
        self.list.blockSignals(False)
        self.count.setText(trn("{n} disagreement is undecided.", "{n} disagreements are undecided.", len(found)))
        self.count.setVisible(bool(found))
        self._stack.setCurrentIndex(0 if found else 1)
        numbers = [one.entry.number for one in found]
        if before is not None and before.entry.number in numbers:
            row = numbers.index(before.entry.number)
        if found:
            self.list.setCurrentRow(min(max(row, 0), len(found) - 1))
        self._on_row(self.list.currentRow())

    @property
    def current(self) -> Disagreement | None:
        """The one that is shown."""
        row = self.list.currentRow()
        return self._found[row] if 0 <= row < len(self._found) else None

    @property
    def link(self) -> ChainLink | None:
        """The link of ours that would be dropped."""
        index = self.chain.currentIndex()
        return self.model.links[index.row()] if index.isValid() and self.model.links else None

    def foreseen(self, numbers: tuple[int, ...], moved: int) -> None:
        """Told how many images would move."""
        if numbers and numbers == self._withdrawn():
            self.hint.setText(trn("If theirs counts, {n} image moves.", "If theirs counts, {n} images move.", moved))

    @Slot()
    def keep_ours(self) -> None:
        """What was said here stays."""
        if self.current is not None and self.ours_button.isEnabled():
            self._wait()
            self.oursChosen.emit(self.current)

    @Slot()
    def take_theirs(self) -> None:
        """What the other said counts."""
        if self.current is not None and self.theirs_button.isEnabled():
            link = self.link
            self._wait()
            self.theirsChosen.emit(self.current, link)

    @Slot()
    def decide_later(self) -> None:
        """On to the next one; this one stays."""
        if self._found:
            self.list.setCurrentRow((self.list.currentRow() + 1) % len(self._found))

    # The one that is shown

    @Slot(int)
    def _on_row(self, _row: int) -> None:
        one = self.current
        if one is None:
            self._update_buttons()
            return
        pair = tuple(item for item in (one.left, one.right) if item >= 0)
        self.theirs_title.setText(
            tr("{author} says:", author=one.entry.author) if one.entry.author else tr("The other one says:")
        )
        self.ours_title.setText(tr("Said here:"))
        links: list[ChainLink] = []
        if one.about is About.PAIR:
            said = (tr("the same"), "same") if one.same else (tr("different"), "different")
            self.theirs.say(pair, said[1], said[1], (said[0], _source(one.entry), self._names(pair)))
            links = [
                ChainLink(left, right, answer == "same", entry)
                for (left, right, answer), entry in zip(one.chain, one.behind, strict=True)
            ]
        elif one.about is About.TAKEN_BACK:
            ours = next((entry for entry in one.behind if entry is not None), None)
            self.theirs.say(pair, "undo", "accent", (tr("taken back"), _source(one.entry), self._names(pair)))
            self.ours.say(pair, "", "text", (ours.text if ours else "", _source(ours), self._names(pair)))
        elif one.about is About.NAME:
            self.theirs.say(
                pair, "", "accent", (one.theirs or tr("no name"), _source(one.entry), self._size(one.cluster))
            )
            self.ours.say(pair, "", "text", (one.ours or tr("no name"), self._size(one.cluster), ""))
        else:
            self.theirs.say(pair[:1], "", "accent", (one.theirs, _source(one.entry), self._size(one.cluster)))
            self.ours.say(pair[1:], "", "text", (one.theirs, self._size(one.other), ""))
        if len(links) > 1:
            self.ours_title.setText(tr("Said here. If theirs counts, the selected link is dropped:"))
        self.model.set_links(links)
        self.chain.setVisible(bool(links))
        self.ours.setVisible(not links)
        if links:
            doubts = [link.entry.doubt if link.entry is not None else -1.0 for link in links]
            self.chain.setCurrentIndex(self.model.index(doubts.index(max(doubts))))
            self.chain.setMinimumHeight(self.chain.sizeHintForRow(0) + 2 * SPACE_1)
        self._say_hint(one)
        self._update_buttons()
        self._soon.start()

    def _say_hint(self, one: Disagreement) -> None:
        if one.about is About.NAME:
            self.hint.setText(tr("A name moves no image."))
        elif one.about is About.SAME_NAME:
            total = self._sizes.get(one.cluster, 0) + self._sizes.get(one.other, 0)
            self.hint.setText(
                trn(
                    "Are these two the same? If theirs counts, they become one cluster of {n} image.",
                    "Are these two the same? If theirs counts, they become one cluster of {n} images.",
                    total,
                )
            )
        else:
            self.hint.setText(" ")

    @Slot(QModelIndex)
    def _on_link(self, _index: QModelIndex) -> None:
        self._update_buttons()
        self._soon.start()

    @Slot()
    def _foresee(self) -> None:
        numbers = self._withdrawn()
        if numbers and self.isVisible():
            self.foreseeWanted.emit(numbers)

    def _withdrawn(self) -> tuple[int, ...]:
        """What would be taken back if theirs counted."""
        one, link = self.current, self.link
        if one is None:
            return ()
        if one.about is About.TAKEN_BACK:
            return (*(entry.number for entry in one.behind if entry is not None), one.entry.number)
        return (link.entry.number,) if one.about is About.PAIR and link is not None and link.entry is not None else ()

    def _wait(self) -> None:
        """No second decision before the first has been carried out."""
        self.ours_button.setEnabled(False)
        self.theirs_button.setEnabled(False)

    def _update_buttons(self) -> None:
        one = self.current
        may = one is not None and self._may_decide
        self.ours_button.setEnabled(may)
        self.theirs_button.setEnabled(may and (one.about in (About.NAME, About.SAME_NAME) or bool(self._withdrawn())))
        self.later_button.setEnabled(len(self._found) > 1)

    def _names(self, items: tuple[int, ...]) -> str:
        return "  –  ".join(self._items.name(item) for item in items)

    def _size(self, cluster: int) -> str:
        return trn("cluster of {n} image", "cluster of {n} images", self._sizes.get(cluster, 0))


def _source(entry: HistoryEntry | None) -> str:
    if entry is None:
        return ""
    when = when_text(entry.when)
    return tr("{author}, {time}", author=entry.author, time=when) if entry.author else when


def _wrapped(role: str) -> QLabel:
    label = QLabel()
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setProperty("role", role)
    return label
