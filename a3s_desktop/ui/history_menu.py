"""What can be done with an entry of the history: answer it differently, take it back, look at it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from a3s_desktop.core.types import Answer
from a3s_desktop.i18n import tr
from a3s_desktop.session.state import EntryKind, HistoryEntry
from a3s_desktop.ui.bridge import Bridge
from a3s_desktop.ui.engine_room import Reading
from a3s_desktop.ui.history_text import ANSWER_TEXTS, later_text
from a3s_desktop.ui.theme import icon

_ICONS = {
    Answer.SAME: "same",
    Answer.DIFFERENT: "different",
    Answer.SKIP: "skip",
    Answer.INCOMPARABLE: "incomparable",
    Answer.JUNK_LEFT: "junk-left",
    Answer.JUNK_RIGHT: "junk-right",
    Answer.JUNK_BOTH: "junk-both",
}
_AUDIT = (Answer.SAME, Answer.DIFFERENT, Answer.SKIP)


class EntryMenu(QMenu):
    """A menu for one entry. Its first line says what depends on the entry, once that is known.

    Parameters
    ----------
    bridge : Bridge
    entry : HistoryEntry
    change : callable
        Called with the number of the entry and the answer chosen; None: it is taken back.
    look, narrow : callable
        Called with the entry: to see it large; to list what is about its clusters.
    """

    def __init__(
        self,
        bridge: Bridge,
        entry: HistoryEntry,
        change: Callable[[int, Answer | None], None],
        look: Callable[[HistoryEntry], None],
        narrow: Callable[[HistoryEntry], None],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._entry = entry
        self._change = change
        self.aboutToHide.connect(self.deleteLater)
        self.setAccessibleName(tr("What to do with entry {number}", number=entry.number))
        self.preview = self.addAction(tr("Counting what depends on this…"))
        self.preview.setEnabled(False)
        self.addSeparator()
        writable = bridge.state is not None and not bridge.state.read_only
        if entry.kind is not EntryKind.CORRECTION:
            for answer in _AUDIT if entry.kind is EntryKind.AUDIT else tuple(Answer):
                self._add_answer(answer, writable)
            self.addSeparator()
        take_back = self._add(tr("Take back"), "undo", partial(change, entry.number, None))
        take_back.setEnabled(writable and not entry.withdrawn)
        if entry.withdrawn and entry.kind is EntryKind.CORRECTION:
            take_back.setText(tr("Taken back; only Undo brings a correction back"))
        self.addSeparator()
        if entry.right >= 0:
            self._add(tr("Look at the images…"), "expand", partial(look, entry))
        if entry.items:
            self._add(tr("List all about these clusters"), "search", partial(narrow, entry))
        bridge.read(Reading.TOUCHING, entry.number, done=self._on_touching)

    def _add_answer(self, answer: Answer, writable: bool) -> None:
        entry = self._entry
        chosen = answer is entry.answer and not entry.withdrawn
        action = self._add(tr(ANSWER_TEXTS[answer]), _ICONS[answer], partial(self._change, entry.number, answer))
        action.setCheckable(True)
        action.setChecked(chosen)
        action.setEnabled(writable and not chosen)

    def _add(self, text: str, symbol: str, slot: Callable[[], None]) -> QAction:
        action = self.addAction(icon(symbol), text)
        action.triggered.connect(lambda _checked=False: slot())
        return action

    @Slot(object)
    def _on_touching(self, counts: tuple[int, int]) -> None:
        self.preview.setText(later_text(*counts))
