"""The two bars of the pair page: above, what is asked and what was reached; below, answers, tools and keys."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from a3s_desktop.actions import ACTIONS
from a3s_desktop.ui.label_parts import AnswerButton, Counters, Legend, ToolIcon
from a3s_desktop.ui.shortcuts import Shortcuts
from a3s_desktop.ui.theme import ICON, SPACE_1, SPACE_2, SPACE_3, SPACE_4, icon_pixmap

_COUNTERS = (("answers", "answers"), ("skipped", "skipped"), ("clusters", "clusters"), ("singles", "single images"))
_ANSWERS = (("answer.same", "same"), ("answer.skip", "plain"), ("answer.different", "different"))
_PAST, _REMARK = 100, 60  # pixels for undo, redo and the symbol of the last answer; for its words
_TOOLS = ("view.fit", "view.actual", "view.zoom_out", "view.zoom_in", "view.link", "view.legend")


class QuestionBar(QFrame):
    """Why this pair is asked, and the counters."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "bar")
        self._kind = QLabel()
        self._kind.setProperty("role", "small")
        self._why = QLabel()
        self._why.setProperty("role", "heading")
        self._why.setWordWrap(True)
        self._why.setTextFormat(Qt.TextFormat.PlainText)
        self._why.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
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

    def set_counts(self, answers: int, skipped: int, clusters: int, singles: int) -> None:
        """The four numbers."""
        for name, value in zip((name for name, _ in _COUNTERS), (answers, skipped, clusters, singles), strict=True):
            self._counters.set_value(name, value)

    @property
    def text(self) -> str:
        """All words, for tests."""
        return f"{self._kind.text()}: {self._why.text()}"

    def count_text(self, name: str) -> str:
        """A number as shown."""
        return self._counters.text(name)


class AnswerBar(QFrame):
    """Undo and what was done last, the three answers, the view tools, the legend."""

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
        self._buttons = {name: AnswerButton(action(name), kind) for name, kind in _ANSWERS}
        self._asking, self._tools = QWidget(), QWidget()
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
        for button in self._buttons.values():
            middle.addWidget(button)
        tools = QHBoxLayout(self._tools)
        tools.setContentsMargins(0, 0, 0, 0)
        tools.setSpacing(2)
        tools.addStretch(1)
        for name in _TOOLS:
            tools.addWidget(ToolIcon(action(name)))
        row = QHBoxLayout()
        row.setSpacing(SPACE_3)
        row.addLayout(past, 1)
        row.addWidget(self._asking)
        row.addWidget(self._tools, 1)
        self._legend = Legend()
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_4, SPACE_2, SPACE_4, SPACE_2)
        column.setSpacing(SPACE_2)
        column.addLayout(row)
        column.addWidget(self._legend)
        shortcuts.rebound.connect(self._take_keys)
        self._take_keys()
        self.show_tools(False, False)

    def show_tools(self, asking: bool, legend: bool) -> None:
        """Answers, view tools and legend are there only while a pair is asked."""
        self._asked = asking
        self._asking.setVisible(asking)
        self._legend.setVisible(asking and legend)
        self._make_room()

    def minimumSizeHint(self) -> QSize:
        """Room for undo, redo and the answers; the rest goes where there is no more."""
        return QSize(self._needed(), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Tools come and go with the width."""
        super().resizeEvent(event)
        self._make_room()

    def _needed(self) -> int:
        return 2 * SPACE_4 + 2 * SPACE_3 + _PAST + self._asking.sizeHint().width()

    def _make_room(self) -> None:
        """The view tools, which the menu has too, and the remark leave before an answer's word is cut."""
        spare = self.width() - self._needed()
        self._tools.setVisible(self._asked and spare >= self._tools.sizeHint().width())
        self._last.setVisible(not self._asked or spare >= self._tools.sizeHint().width() + _REMARK)

    def set_last(self, text: str = "", symbol: str = "", colour: str = "") -> None:
        """What was done last, with its symbol; nothing clears it."""
        self._last.setText(text)
        if symbol:
            self._last_icon.setPixmap(icon_pixmap(symbol, colour, ICON, self.devicePixelRatioF()))
        else:
            self._last_icon.clear()

    def recolour(self) -> None:
        """After a change of theme."""
        for button in self._buttons.values():
            button.recolour()

    @Slot()
    def _take_keys(self) -> None:
        keys = self._shortcuts.keys
        for name, button in self._buttons.items():
            shown = keys(name)
            button.set_key(shown[0] if shown else "")
        zoom = (*keys("view.zoom_in")[:1], *keys("view.zoom_out")[:1], "Wheel")
        entries: list[tuple[tuple[str, ...], str]] = []
        for spec in ACTIONS:
            if spec.id == "view.zoom_in":
                entries.append((zoom, "zoom"))
            elif spec.legend and spec.id != "view.zoom_out" and keys(spec.id):
                entries.append((keys(spec.id)[: 1 if spec.id.startswith("view.") else 2], spec.legend))
        self._legend.set_entries(entries)
