"""The two bars of the pair page: above, what is asked and what was reached; below, answers, tools and keys."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from a3s_desktop.actions import ACTIONS
from a3s_desktop.core.outlook import Outlook
from a3s_desktop.i18n import mark, tr
from a3s_desktop.ui.figures import range_text
from a3s_desktop.ui.label_consequence import ConsequenceLine
from a3s_desktop.ui.label_parts import SYMBOLS, TIGHT, WORDS, AnswerButton, Counters, Legend, ToolIcon
from a3s_desktop.ui.shortcuts import Shortcuts
from a3s_desktop.ui.theme import ICON, SPACE_1, SPACE_2, SPACE_3, SPACE_4, icon_pixmap

_COUNTERS = (
    ("answers", mark("answers"), "88,888"),
    ("left", mark("questions left"), "888–8,888"),
    ("clusters", mark("clusters"), "88,888"),
    ("singles", mark("single images"), "88,888"),
)
_ANSWERS = (("answer.same", "same"), ("answer.skip", "plain"), ("answer.different", "different"))
# Left out of the legend where room is scarce: they stand beside the images with their keys in the tool tips.
_BESIDE = ("view.fit", "view.actual", "view.link")
# As long as the questions get; never shown.
_LONG = mark("Are the 10000 images of cluster 10000 all the same? These two stand far apart in it.")
_PAST, _REMARK = 100, 60  # pixels for undo, redo and the symbol of the last answer; for its words
# Entries of the legend with the keys of several actions; the others have one action each.
_TOGETHER = {
    "answer.junk_left": ("answer.junk_left", "answer.junk_right", "answer.junk_both"),
    "view.zoom_in": ("view.zoom_in", "view.zoom_out"),
    "view.left": ("view.left", "view.right", "view.up", "view.down"),
    "compare.turn_left": ("compare.turn_left", "compare.turn_right"),
}


class QuestionBar(QFrame):
    """Why this pair is asked, and the counters.

    Its height depends on its width only: room for a long question is kept, so that the images below never jump.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "bar")
        self._kind = QLabel()
        self._kind.setProperty("role", "small")
        self._why = QLabel()
        self._why.setProperty("role", "heading")
        self._why.setWordWrap(True)
        self._why.setTextFormat(Qt.TextFormat.PlainText)
        self._why.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._why.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._lines = 1
        self._counters = Counters(_COUNTERS)
        words = QVBoxLayout()
        words.setSpacing(1)
        words.addWidget(self._kind)
        words.addWidget(self._why)
        row = QHBoxLayout(self)
        row.setContentsMargins(SPACE_4, SPACE_2, SPACE_4, SPACE_2)
        row.setSpacing(SPACE_4)
        row.addLayout(words, 1)
        row.addWidget(self._counters)
        self.setMinimumHeight(58)

    def set_question(self, kind: str, why: str) -> None:
        """A short kind of question above, the question itself below."""
        self._kind.setText(kind)
        self._why.setText(why)
        self._keep_room(self._lines)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Room for a long question at this width."""
        super().resizeEvent(event)
        self._keep_room(1)

    def _keep_room(self, lines: int) -> None:
        metrics = self._why.fontMetrics()
        # The layout gives the label its new width only after this.
        width = max(120, self.width() - self._counters.sizeHint().width() - 3 * SPACE_4)
        for text in (tr(_LONG), self._why.text()):
            high = metrics.boundingRect(QRect(0, 0, width, 10_000), Qt.TextFlag.TextWordWrap, text).height()
            lines = max(lines, round(high / metrics.lineSpacing()))
        self._lines = lines
        self._why.setFixedHeight(lines * metrics.lineSpacing() + 2)

    def set_counts(self, answers: int, outlook: Outlook | None, clusters: int, singles: int) -> None:
        """The numbers; how many questions are left is said only where it is known."""
        for name, value in (("answers", answers), ("clusters", clusters), ("singles", singles)):
            self._counters.set_value(name, value)
        self._counters.set_text("left", range_text(outlook) if outlook is not None else "")

    @property
    def text(self) -> str:
        """All words, for tests."""
        return f"{self._kind.text()}: {self._why.text()}"

    def count_text(self, name: str) -> str:
        """A number as shown."""
        return self._counters.text(name)


class AnswerBar(QFrame):
    """What the answers would do, undo and what was done last, the answers, the legend.

    Every answer of the table of actions has a button. The three of the daily work come first and keep their words; the
    rarer ones are reduced to symbol and key where the page is narrow.
    """

    def __init__(self, shortcuts: Shortcuts, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "foot")
        self._shortcuts = shortcuts
        action = shortcuts.action
        self._last_icon, self._last = QLabel(), QLabel()
        self._last.setProperty("role", "small")
        self._last.setTextFormat(Qt.TextFormat.PlainText)
        self._last.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._asked = False
        self._room = WORDS  # what the answers' buttons have room for
        self._main = {name: AnswerButton(action(name), kind) for name, kind in _ANSWERS}
        rare = [spec.id for spec in ACTIONS if spec.id.startswith("answer.") and spec.id not in self._main]
        self._rare = {name: AnswerButton(action(name), "plain", compact=True) for name in rare}
        self._buttons = self._main | self._rare
        self._asking = QWidget()
        past = QHBoxLayout()
        past.setSpacing(SPACE_1)
        for name in ("edit.undo", "edit.redo"):
            past.addWidget(ToolIcon(action(name)))
        past.addSpacing(SPACE_1)
        past.addWidget(self._last_icon)
        past.addWidget(self._last, 1)
        middle = QHBoxLayout(self._asking)
        middle.setContentsMargins(0, 0, 0, 0)
        middle.setSpacing(SPACE_2)
        for name, button in self._buttons.items():
            if name in rare[:1]:
                middle.addSpacing(SPACE_2)
            middle.addWidget(button)
        row = QHBoxLayout()
        row.setSpacing(SPACE_3)
        row.addLayout(past, 1)
        row.addWidget(self._asking)
        if not rare:
            row.addStretch(1)
        self._legend = Legend()
        self.effects = ConsequenceLine()
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_4, SPACE_1, SPACE_4, SPACE_2)
        column.setSpacing(SPACE_1)
        column.addWidget(self.effects)
        column.addLayout(row)
        column.addWidget(self._legend)
        shortcuts.rebound.connect(self._take_keys)
        self._take_keys()
        self.show_tools(False, False)

    def show_tools(self, asking: bool, legend: bool) -> None:
        """Answers and legend are there only while a pair is asked."""
        self._asked = asking
        self._asking.setVisible(asking)
        self.effects.setVisible(asking)
        self._legend.setVisible(asking and legend)
        self._make_room()

    def save_height(self, short: bool) -> None:
        """Whether the page is low: one row of keys then, for the images' sake. The help lists all."""
        self._legend.set_limit(1 if short else 0)

    def minimumSizeHint(self) -> QSize:
        """Room for undo, redo and the answers, the rarer ones as symbols; the rest goes where there is no more."""
        return QSize(self._needed(TIGHT), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Words come and go with the width."""
        super().resizeEvent(event)
        self._make_room()

    def _needed(self, room: int) -> int:
        widths = [button.width_for(room) for button in self._buttons.values()]
        gaps = (len(widths) - 1 + 2 * bool(self._rare)) * SPACE_2
        return 2 * SPACE_4 + 2 * SPACE_3 + _PAST + sum(widths) + gaps

    def _make_room(self) -> None:
        """The remark, then words and keys of the rarer answers leave before a daily answer's word is cut."""
        spare = self.width() - self._needed(WORDS)
        self._last.setVisible(not self._asked or spare >= _REMARK)
        room = WORDS if spare >= 0 else SYMBOLS if self.width() >= self._needed(SYMBOLS) else TIGHT
        if self._room != room:
            self._room = room
            for button in self._buttons.values():
                button.set_room(room)
            self._fill_legend()

    def set_last(self, text: str = "", symbol: str = "", colour: str = "") -> None:
        """What was done last, with its symbol; nothing clears it."""
        self._last.setText(text)
        if symbol:
            self._last_icon.setPixmap(icon_pixmap(symbol, colour, ICON, self.devicePixelRatioF()))
        else:
            self._last_icon.clear()

    def recolour(self) -> None:
        """After a change of theme."""
        self.effects.recolour()
        for button in self._buttons.values():
            button.recolour()

    @Slot()
    def _take_keys(self) -> None:
        keys = self._shortcuts.keys
        for name, button in self._buttons.items():
            shown = keys(name)
            button.set_key(shown[0] if shown else "")
        self._fill_legend()

    def _fill_legend(self) -> None:
        """Keys and words; those of the rarer answers only while their buttons do not say them."""
        keys = self._shortcuts.keys
        entries: list[tuple[tuple[str, ...], str]] = []
        elsewhere = {name for names in _TOGETHER.values() for name in names[1:]}
        words = {"answer.junk_left": mark("junk left, right, both"), "answer.incomparable": mark("not comparable")}
        elsewhere |= set(_BESIDE) if self._room != WORDS else self._rare.keys()
        for spec in ACTIONS:
            names = _TOGETHER.get(spec.id, (spec.id,))
            caps = tuple(key for name in names for key in keys(name)[: 2 if name in self._main else 1])
            if spec.id == "view.left":
                caps = _arrows(caps)
            text = words.get(spec.id, spec.legend)
            if text and caps and spec.id not in elsewhere:
                entries.append((caps, tr(text)))
        self._legend.set_entries(entries)


def _arrows(caps: tuple[str, ...]) -> tuple[str, ...]:
    """The four arrows with the same modifiers as one cap, else each as it is."""
    held = {cap.rpartition("+")[0] for cap in caps}
    arrows = [cap.rpartition("+")[2] for cap in caps]
    return (f"{held.pop()}+{''.join(arrows)}",) if len(held) == 1 and arrows == list("←→↑↓") else caps
