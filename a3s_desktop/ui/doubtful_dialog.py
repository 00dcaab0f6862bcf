"""A second look at answers: the doubtful ones, most doubtful first, or any from the history; large, by keyboard.

The keys are those of the pair page. Enter keeps an answer: it leaves the list of doubtful ones until the project is
opened again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QEvent, QModelIndex, QObject, QSize, Qt, Slot
from PySide6.QtGui import QHideEvent, QKeyEvent, QKeySequence, QShowEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from a3s_desktop.actions import normal_key
from a3s_desktop.core.types import Answer
from a3s_desktop.i18n import number, tr, trn
from a3s_desktop.session.listing import HistoryFilter, HistoryPage
from a3s_desktop.session.state import ChangeKind, EntryKind, HistoryEntry
from a3s_desktop.ui.bridge import Bridge, BridgePhase
from a3s_desktop.ui.doubtful_view import EntryView
from a3s_desktop.ui.engine_room import Reading
from a3s_desktop.ui.history_model import HistoryFeed, HistoryModel
from a3s_desktop.ui.history_notice import HistoryNotice
from a3s_desktop.ui.history_panel import EntryList
from a3s_desktop.ui.history_text import ANSWER_TEXTS, effect_text
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.pictures import Pictures
from a3s_desktop.ui.shortcuts import Shortcuts, letter_positions, position_sequence
from a3s_desktop.ui.theme import SPACE_2, SPACE_3, SPACE_4, set_role

_ANSWERS = {
    "answer.same": Answer.SAME,
    "answer.different": Answer.DIFFERENT,
    "answer.skip": Answer.SKIP,
    "answer.incomparable": Answer.INCOMPARABLE,
}
_KINDS = {"answer.same": "same", "answer.different": "different"}
_STEPS = {Qt.Key.Key_PageDown: 1, Qt.Key.Key_PageUp: -1}


class SecondLook(QDialog):
    """See the module. One window, made once; it does not block the others.

    Parameters
    ----------
    bridge : Bridge
    loader : ImageLoader
    shortcuts : Shortcuts
        Whose keys answers have.
    parent : QWidget
    """

    def __init__(self, bridge: Bridge, loader: ImageLoader, shortcuts: Shortcuts, parent: QWidget) -> None:
        super().__init__(parent)
        self._bridge, self._shortcuts = bridge, shortcuts
        self._positions = letter_positions()
        self._looked_at: frozenset[tuple[int, int, Answer]] = frozenset()
        self._doubtful = True
        self._row = 0
        self._conflicts: frozenset[int] = frozenset()
        self._pictures = Pictures(loader, "second look", self)
        self.model = HistoryModel(self)
        self.feed = HistoryFeed(bridge, self.model, self)
        self.list = EntryList(self.model, self._pictures)
        self.view = EntryView(loader)
        self.notice = HistoryNotice()
        self.buttons: dict[str, QPushButton] = {}
        self._count = QLabel()
        set_role(self._count, role="small")
        self._empty = QLabel()
        self._empty.setTextFormat(Qt.TextFormat.PlainText)
        self._empty.setWordWrap(True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        set_role(self._empty, role="heading")
        self.again_button = QPushButton(tr("Show those again that were kept"))
        self._build()
        self._connect()

    # Opening

    def show_doubtful(self) -> None:
        """The doubtful answers, most doubtful first."""
        self._doubtful = True
        self.setWindowTitle(tr("Doubtful answers"))
        self.list.setAccessibleName(tr("Doubtful answers, most doubtful first"))
        self._row = 0
        self._ask(None)
        self._come_up()

    @Slot(object)
    def show_entry(self, entry: HistoryEntry) -> None:
        """One entry among all, newest first."""
        self._doubtful = False
        self.setWindowTitle(tr("A second look"))
        self.list.setAccessibleName(tr("Answers and corrections, newest first"))
        self._row = -1
        self._ask(entry.number)
        self._come_up()

    def _ask(self, anchor: int | None) -> None:
        wanted = HistoryFilter()
        if self._doubtful:
            wanted = HistoryFilter(doubtful=True, by_doubt=True, looked_at=self._looked_at)
        self.feed.set_filter(wanted, anchor)

    def _come_up(self) -> None:
        self._pictures.items = self._bridge.items
        self.notice.clear()
        state = self._bridge.state
        self._conflicts = frozenset(state.conflicts) if state is not None else frozenset()
        if not self.testAttribute(Qt.WidgetAttribute.WA_Resized):
            self.resize(self.sizeHint())  # by itself Qt takes the least height of the texts, without the pictures
        self.show()
        self.raise_()
        self.activateWindow()
        self.list.setFocus()

    # What the person does

    def keep(self) -> None:
        """It was looked at and is right: on to the next."""
        entry = self.view.entry
        if entry is None or not self.view.seen:
            return
        if self._doubtful and entry.answer is not None:
            self._looked_at |= {(entry.left, entry.right, entry.answer)}
            self._row = self.list.currentIndex().row()
            self._ask(None)
        else:
            self.list.go_to(self.list.currentIndex().row() + 1)

    def say(self, answer: Answer | None) -> None:
        """Answer anew; the same answer as before keeps it. None takes the entry back."""
        entry = self.view.entry
        if entry is None or not self.view.seen or not self._may_change(entry, answer):
            return
        if answer is entry.answer and not entry.withdrawn:
            self.keep()
            return
        self._row = self.list.currentIndex().row()
        self.feed.keep_at(None if self._doubtful else entry.number)
        self._bridge.change(entry.number, answer)

    def _may_change(self, entry: HistoryEntry, answer: Answer | None) -> bool:
        state = self._bridge.state
        idle = self._bridge.phase in (BridgePhase.ASKING, BridgePhase.FINISHED)
        if state is None or state.read_only or not idle:
            return False
        if answer is None:
            return not entry.withdrawn
        if entry.kind is EntryKind.AUDIT:
            return answer is not Answer.INCOMPARABLE
        return entry.kind is EntryKind.ANSWER

    # Building

    def _build(self) -> None:
        side = QVBoxLayout()
        side.setSpacing(SPACE_2)
        side.addWidget(self._count)
        side.addWidget(self.list, 1)
        self.list.setFixedWidth(300)
        set_role(self.list, role="field")
        page, empty = QWidget(), QWidget()
        main = QVBoxLayout(page)
        main.setContentsMargins(0, 0, 0, 0)
        main.setSpacing(SPACE_3)
        row = QHBoxLayout()
        row.setSpacing(SPACE_4)
        row.addLayout(side)
        row.addWidget(self.view, 1)
        main.addLayout(row, 1)
        main.addLayout(self._answer_row())  # as wide as the window: large text needs it
        column = QVBoxLayout(empty)
        column.addStretch(1)
        column.addWidget(self._empty)
        column.addWidget(self.again_button, 0, Qt.AlignmentFlag.AlignCenter)
        column.addStretch(1)
        self._stack = QStackedWidget()
        self._stack.addWidget(empty)
        self._stack.addWidget(page)
        close = QPushButton(tr("Close"))
        close.setAutoDefault(False)
        close.clicked.connect(self.close)
        self._close_button = close
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(SPACE_4, SPACE_4, SPACE_4, SPACE_3)
        layout.setSpacing(SPACE_3)
        layout.addWidget(self.notice)
        layout.addWidget(self._stack, 1)
        layout.addLayout(foot)
        self._page = page

    def _answer_row(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(SPACE_2)
        self._add_button(row, "keep", tr("Keep"), self.keep)
        for name, answer in _ANSWERS.items():
            self._add_button(row, name, tr(ANSWER_TEXTS[answer]), partial(self.say, answer))
        self._add_button(row, "withdraw", tr("Take back"), partial(self.say, None))
        row.insertStretch(0, 1)
        return row

    def _add_button(self, row: QHBoxLayout, name: str, text: str, slot: Callable[[], None]) -> None:
        button = QPushButton(text)
        button.setAutoDefault(False)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Space is an answer here, as on the pair page
        button.setObjectName(f"look.{name}")
        button.clicked.connect(lambda _checked=False: slot())
        set_role(button, kind="primary" if name == "keep" else _KINDS.get(name, ""))
        self.buttons[name] = button
        row.addWidget(button)

    def _connect(self) -> None:
        self.list.selectionModel().currentChanged.connect(self._on_current)
        self.list.opened.connect(self._on_enter)
        self.list.takeBackWanted.connect(self._on_delete)
        self.list.installEventFilter(self)
        self.model.dataChanged.connect(self._show_current)
        self.feed.refreshed.connect(self._on_refreshed)
        self.view.seenChanged.connect(self._update_buttons)
        self.again_button.clicked.connect(self._show_again)
        self.notice.undoWanted.connect(self._bridge.undo)
        self.notice.show_button.hide()
        self._shortcuts.rebound.connect(self._name_buttons)
        self._bridge.phaseChanged.connect(self._update_buttons)
        self._bridge.stateChanged.connect(self._on_state)
        self._bridge.closed.connect(self._on_closed)
        self._name_buttons()

    @Slot()
    def _name_buttons(self) -> None:
        keys = {name: self._shortcuts.keys(name) for name in _ANSWERS}
        fixed = {"keep": (tr("Enter"),), "withdraw": (tr("Delete"),)}
        texts = {"keep": tr("Keep"), "withdraw": tr("Take back")} | {
            name: tr(ANSWER_TEXTS[answer]) for name, answer in _ANSWERS.items()
        }
        for name, button in self.buttons.items():
            key = (keys | fixed)[name]
            button.setText(f"{texts[name]}   {key[0]}" if key else texts[name])
            button.setAccessibleName(texts[name])

    # From the list and the bridge

    @Slot(object)
    def _on_refreshed(self, page: HistoryPage) -> None:
        self._pictures.drop()
        if not page.total:
            self._show_empty()
            return
        self._stack.setCurrentWidget(self._page)
        self.list.go_to(page.row if page.row >= 0 else max(self._row, 0))
        self._show_current()
        if not self._close_button.hasFocus():
            self.list.setFocus()

    def _show_empty(self) -> None:
        self.view.show_entry(None, None)
        kept = len(self._looked_at)
        if self._doubtful and kept:
            text = trn(
                "No doubtful answer is left; {n} was looked at and kept.",
                "No doubtful answer is left; {n} were looked at and kept.",
                kept,
            )
        elif self._doubtful:
            text = tr("No answer is doubtful: the images agree with all of them.")
        else:
            text = tr("Nothing was answered yet.")
        self._empty.setText(text)
        self.again_button.setVisible(self._doubtful and bool(kept))
        self._stack.setCurrentIndex(0)
        self._close_button.setFocus()

    @Slot(QModelIndex, QModelIndex)
    def _on_current(self, _index: QModelIndex, _before: QModelIndex) -> None:
        self._show_current()

    @Slot()
    def _show_current(self) -> None:
        entry = self.list.current
        if entry is None:
            return
        changed = entry != self.view.entry
        self.view.show_entry(entry, self._bridge.items)
        self._count.setText(
            tr("{row} of {total}", row=number(self.list.currentIndex().row() + 1), total=number(self.model.rowCount()))
        )
        self._update_buttons()
        if changed:
            self._bridge.read(Reading.TOUCHING, entry.number, done=self.view.show_later)

    @Slot()
    def _update_buttons(self) -> None:
        entry = self.view.entry
        ready = entry is not None and self.view.seen
        self.buttons["keep"].setEnabled(ready)
        for name, answer in _ANSWERS.items():
            self.buttons[name].setEnabled(ready and entry is not None and self._may_change(entry, answer))
        self.buttons["withdraw"].setEnabled(ready and entry is not None and self._may_change(entry, None))

    @Slot(object, object)
    def _on_state(self, state: object, change: object) -> None:
        kind, conflicts = change.kind, frozenset(state.conflicts)  # type: ignore[attr-defined]
        if kind is ChangeKind.OPENED:
            self._looked_at = frozenset()
        elif kind is ChangeKind.CHANGE:
            lost = len(conflicts - self._conflicts)
            self.notice.say(effect_text(lost), conflicts=bool(lost))
            self.notice.show_button.hide()
        else:
            self.notice.clear()
        self._conflicts = conflicts

    @Slot()
    def _on_closed(self) -> None:
        self._looked_at = frozenset()
        self._pictures.drop()
        self._pictures.items = None
        self.view.show_entry(None, None)
        self.close()

    @Slot()
    def _show_again(self) -> None:
        self._looked_at = frozenset()
        self._row = 0
        self._ask(None)

    @Slot(object)
    def _on_enter(self, _entry: HistoryEntry) -> None:
        self.keep()

    @Slot(object)
    def _on_delete(self, _entry: HistoryEntry) -> None:
        self.say(None)

    # Keys

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The answers' keys, before the list takes them."""
        if watched is self.list and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._key(event)
        return super().eventFilter(watched, event)

    def _key(self, event: QKeyEvent) -> bool:
        step = _STEPS.get(Qt.Key(event.key()))
        if step is not None:
            self.list.go_to(max(0, self.list.currentIndex().row() + step))
            return True
        pressed = QKeySequence(event.keyCombination())
        placed = normal_key(position_sequence(event, self._positions))
        slots: dict[str, Callable[[], None]] = {"edit.undo": self._bridge.undo, "edit.redo": self._bridge.redo}
        slots |= {name: partial(self.say, answer) for name, answer in _ANSWERS.items()}
        for name, slot in slots.items():
            action = self._shortcuts.action(name)
            keys = [normal_key(key.toString(QKeySequence.SequenceFormat.PortableText)) for key in action.shortcuts()]
            if pressed in action.shortcuts() or (placed and placed in keys):
                if not event.isAutoRepeat():
                    slot()
                return True
        return False

    def showEvent(self, event: QShowEvent) -> None:
        """Follow the session while it is seen."""
        super().showEvent(event)
        self.feed.set_live(True)

    def hideEvent(self, event: QHideEvent) -> None:
        """A hidden list costs nothing."""
        super().hideEvent(event)
        self.feed.set_live(False)

    def changeEvent(self, event: QEvent) -> None:
        """Icons follow the theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "view"):
            self.view.recolour()

    def sizeHint(self) -> QSize:
        """Nearly the window."""
        window = self.parentWidget()
        return QSize(1180, 680) if window is None else window.size() * 0.94
