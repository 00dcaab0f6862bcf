"""Above and below the clusters page: which view is shown; what can be done, what was done, and Undo."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QEvent, QSize, Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from a3s_desktop.i18n import mark, number, tr
from a3s_desktop.ui.plain import key_off, plain_tip
from a3s_desktop.ui.shortcuts import Shortcuts
from a3s_desktop.ui.theme import SPACE_1, SPACE_2, SPACE_3, set_role

VIEWS = (("gallery.all", mark("Clusters")), ("gallery.singles", mark("Single images")), ("gallery.junk", mark("Junk")))
TOOLS = (
    "gallery.open", "cluster.split", "cluster.each", "cluster.move", "cluster.junk", "cluster.restore",
    "cluster.accept", "cluster.next", "cluster.merge", "cluster.name", "cluster.finish",
)  # fmt: skip
_OF_A_CLUSTER = ("cluster.accept", "cluster.next", "cluster.merge", "cluster.name", "cluster.finish")


class ActionButton(QToolButton):
    """A button of an action, with its key; the action enables and checks it.

    Not by Qt's default action: each change of that one makes a connection more (Qt 6.11), four at every answer.
    """

    def __init__(self, shortcuts: Shortcuts, name: str, text: str = "", with_key: bool = True) -> None:
        super().__init__()
        self.name = name
        self._with_key = with_key
        self._shortcuts = shortcuts
        self._text = text
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._action = shortcuts.action(name)
        self.setCheckable(self._action.isCheckable())
        set_role(self, kind="quiet")
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setIconSize(QSize(16, 16))
        self._action.changed.connect(self.refresh)
        self._action.toggled.connect(self.setChecked)
        self.clicked.connect(self._trigger)
        self.refresh()

    def set_text(self, text: str) -> None:
        """Another text than the action's."""
        self._text = text
        self.refresh()

    @property
    def label(self) -> str:
        """The text with its key, also where only the icon is shown."""
        keys = self._shortcuts.keys(self.name)
        text = self._text or self._action.text()
        return f"{text}  {keys[0]}" if keys and self._with_key else text

    @Slot()
    def refresh(self) -> None:
        """Look as the action does now."""
        action = self._action
        if self.icon().cacheKey() != action.icon().cacheKey():
            self.setIcon(action.icon())
        self.setEnabled(action.isEnabled())
        self.setChecked(action.isChecked())
        self.setText(self.label)
        self.setToolTip(action.toolTip())
        self.setStatusTip(action.statusTip())
        self.setAccessibleName(self._text or key_off(action.text()))

    @Slot()
    def _trigger(self) -> None:
        self._action.trigger()
        self.setChecked(self._action.isChecked())  # the click has checked it, whatever the action makes of it

    def needed(self) -> int:
        """Width with text and icon."""
        return self.fontMetrics().horizontalAdvance(self.label) + 16 + 2 * SPACE_3 + SPACE_2


class ViewBar(QFrame):
    """Which of the three views is shown, and how much is in each."""

    def __init__(self, shortcuts: Shortcuts, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, role="bar")
        row = QHBoxLayout(self)
        row.setContentsMargins(SPACE_2, SPACE_1, SPACE_2, SPACE_1)
        row.setSpacing(SPACE_1)
        self.buttons = {name: ActionButton(shortcuts, name, tr(text), with_key=False) for name, text in VIEWS}
        for button in self.buttons.values():
            row.addWidget(button)
        row.addStretch(1)
        self.pair = ActionButton(shortcuts, "page.pair")
        row.addWidget(self.pair)

    def set_counts(self, clusters: int, singles: int, junk: int) -> None:
        """Numbers beside the views' names."""
        for (name, text), count in zip(VIEWS, (clusters, singles, junk), strict=True):
            self.buttons[name].set_text(tr("{view} ({n})", view=tr(text), n=number(count)))


class ToolBar(QFrame):
    """What can be done with what is selected; below it, what was done last."""

    def __init__(self, shortcuts: Shortcuts, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_role(self, role="foot")
        self.buttons = {name: ActionButton(shortcuts, name) for name in TOOLS}
        self._shown: tuple[str, ...] = ()
        self._rows = (QHBoxLayout(), QHBoxLayout())
        for row in self._rows:
            row.setSpacing(SPACE_1)
            row.setAlignment(Qt.AlignmentFlag.AlignLeft)
        for button in self.buttons.values():
            button.hide()
            self._rows[0].addWidget(button)
        self.selected, self.last = QLabel(), QLabel()
        for label in (self.selected, self.last):
            label.setTextFormat(Qt.TextFormat.PlainText)
            set_role(label, role="small")
        self.last.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.last.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.undo = ActionButton(shortcuts, "edit.undo")
        facts = QHBoxLayout()
        facts.setSpacing(SPACE_2)
        facts.addWidget(self.selected)
        facts.addWidget(self.last, 1)
        facts.addWidget(self.undo)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_2, SPACE_1, SPACE_2, SPACE_1)
        column.setSpacing(0)
        for row in self._rows:
            column.addLayout(row)
        column.addLayout(facts)
        self._said = ""
        self.setMinimumWidth(1)

    def say(self, text: str) -> None:
        """What was done last; all of it is in the tool tip."""
        self._said = text
        self.last.setToolTip(plain_tip(text))
        self.last.setText(self.last.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, self.last.width()))

    def offer(self, names: Iterable[str], texts: dict[str, str]) -> None:
        """Which tools are shown, some under another name."""
        self._shown = tuple(names)
        for name, button in self.buttons.items():
            button.set_text(texts.get(name, ""))
            button.setVisible(name in self._shown)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.layout().activate()
        self.say(self._said)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_shown"):
            self._fit()

    def _fit(self) -> None:
        """In one row where there is room, else in two; else icons alone (their names are in the tool tips)."""
        parts = [[self.buttons[name] for name in self._shown if (name in _OF_A_CLUSTER) is second] for second in
                 (False, True)]  # fmt: skip
        widths = [sum(button.needed() + SPACE_1 for button in part) for part in parts]
        room = self.width() - 2 * SPACE_2
        two = sum(widths) > room >= max(widths)
        style = Qt.ToolButtonStyle
        for second, part in enumerate(parts):
            for button in part:
                if two or sum(widths) <= room:
                    button.setToolButtonStyle(style.ToolButtonTextBesideIcon)
                else:
                    button.setToolButtonStyle(style.ToolButtonIconOnly)
                row = self._rows[1 if second and two else 0]
                if row.indexOf(button) < 0:
                    self._rows[0 if second and two else 1].removeWidget(button)
                    row.addWidget(button)
