"""The first-run tour: four steps over the pair page, each pointing at a part of it. Can be left at any moment.

While it is shown no key is an answer: the overlay takes every key before a shortcut is tried.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, Qt, Signal, Slot
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget
from shiboken6 import isValid

from a3s_desktop.i18n import mark, tr
from a3s_desktop.ui.theme import RADIUS, SPACE_2, SPACE_3, SPACE_4, SPACE_5, set_role, tokens

_CARD_WIDTH = 400


@dataclass(frozen=True, slots=True)
class Step:
    """One step: a title, a few sentences with ``{action}`` keys, and which part of the window it is about."""

    title: str
    text: str
    target: str
    actions: tuple[tuple[str, str], ...] = ()  # field of the text, action id


STEPS: tuple[Step, ...] = (
    Step(
        mark("Two images, one question"),
        mark(
            "Do both images show the same individual? Zoom with the wheel or {zoom_in} and {zoom_out}; both images "
            "move together. The small pictures below are other images of the same cluster."
        ),
        "pair",
        (("zoom_in", "view.zoom_in"), ("zoom_out", "view.zoom_out")),
    ),
    Step(
        mark("Answer with a key"),
        mark(
            "{same} for the same, {different} for different, {skip} when you are not sure. A key counts once both "
            "images are on screen. Every answer is saved at once."
        ),
        "answers",
        (("same", "answer.same"), ("different", "answer.different"), ("skip", "answer.skip")),
    ),
    Step(
        mark("Nothing is final"),
        mark(
            "{undo} takes back the last answer and everything it caused, as far back as you like, also tomorrow. "
            "All answers are listed in the history ({history})."
        ),
        "undo",
        (("undo", "edit.undo"), ("history", "panel.history")),
    ),
    Step(
        mark("See how it grows"),
        mark(
            "The panels show the map of all images and the images of one cluster. {next} moves the keyboard there and "
            "back. {help} opens the help, {keys} the keys."
        ),
        "panels",
        (("next", "window.next_part"), ("help", "help.contents"), ("keys", "settings.keys")),
    ),
)


class Tour(QWidget):
    """An overlay on the window: all is dimmed but the part that the step is about, with a card beside it.

    Parameters
    ----------
    window : QWidget
        Covered as a whole.
    places : callable
        Gives the widgets that a step's target stands for; none, or hidden ones, leave the card in the middle.
    key : callable
        Main key of an action, as the user reads it.

    Signals
    -------
    ended(bool)
        Whether it was seen to its end. The tour destroys itself.
    """

    ended = Signal(bool)

    def __init__(self, window: QWidget, places: Callable[[str], Sequence[QWidget]], key: Callable[[str], str]) -> None:
        super().__init__(window)
        self._window = window
        self._places = places
        self._key = key
        self._step = -1
        self._before = QApplication.focusWidget()
        self.setAccessibleName(tr("Tour"))
        self._card = QFrame(self)
        self._card.setProperty("role", "card")
        column = QVBoxLayout(self._card)
        column.setContentsMargins(SPACE_5, SPACE_4, SPACE_5, SPACE_4)
        column.setSpacing(SPACE_2)
        self.count, self.title, self.text = QLabel(), QLabel(), QLabel()
        for label, role in ((self.count, "small"), (self.title, "heading"), (self.text, "")):
            label.setProperty("role", role)
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            column.addWidget(label)
        column.addSpacing(SPACE_3)
        row = QHBoxLayout()
        row.setSpacing(SPACE_2)
        self.skip_button = QPushButton(tr("Skip the tour"))
        self.back_button = QPushButton(tr("Back"))
        self.next_button = QPushButton()
        set_role(self.skip_button, kind="quiet")
        set_role(self.next_button, kind="primary")
        row.addWidget(self.skip_button)
        row.addStretch(1)
        row.addWidget(self.back_button)
        row.addWidget(self.next_button)
        column.addLayout(row)
        self.skip_button.clicked.connect(self.skip)
        self.back_button.clicked.connect(self.back)
        self.next_button.clicked.connect(self.forward)
        window.installEventFilter(self)

    @property
    def step(self) -> int:
        """Place of the step that is shown, from 0."""
        return self._step

    def begin(self) -> None:
        """Show the first step."""
        self.setGeometry(self._window.rect())
        self.show()
        self.raise_()
        self._show_step(0)

    @Slot()
    def forward(self) -> None:
        """The next step; after the last one the tour ends."""
        if self._step + 1 < len(STEPS):
            self._show_step(self._step + 1)
        else:
            self._end(True)

    @Slot()
    def back(self) -> None:
        """The step before."""
        if self._step > 0:
            self._show_step(self._step - 1)

    @Slot()
    def skip(self) -> None:
        """Leave the tour."""
        self._end(False)

    def _show_step(self, number: int) -> None:
        self._step = number
        step = STEPS[number]
        self.count.setText(tr("Step {number} of {count}", number=number + 1, count=len(STEPS)))
        self.title.setText(tr(step.title))
        self.text.setText(tr(step.text, **{name: self._key(action) for name, action in step.actions}))
        self.back_button.setEnabled(number > 0)
        last = number + 1 == len(STEPS)
        self.next_button.setText(tr("Begin") if last else tr("Next"))
        self.skip_button.setVisible(not last)
        self._card.setAccessibleName(f"{self.count.text()}. {self.title.text()}. {self.text.text()}")
        self.next_button.setAccessibleDescription(f"{self.title.text()}. {self.text.text()}")
        self._place()
        self.next_button.setFocus()
        self.update()

    def _end(self, complete: bool) -> None:
        self._window.removeEventFilter(self)
        # The focus goes first: Qt would look for another place for it while the overlay is being hidden.
        (self._before if _usable(self._before) else self._window).setFocus()
        self.hide()
        self.ended.emit(complete)
        self.deleteLater()

    def _hole(self) -> QRect:
        """What stays bright, in own coordinates."""
        hole = QRect()
        for widget in self._places(STEPS[self._step].target):
            if widget.isVisible():
                hole = hole.united(QRect(widget.mapTo(self._window, QPoint(0, 0)), widget.size()))
        return hole.adjusted(-SPACE_2, -SPACE_2, SPACE_2, SPACE_2).intersected(self.rect()) if hole.isValid() else hole

    def _place(self) -> None:
        """The card beside what it is about, where there is room; else in the middle."""
        layout = self._card.layout()
        width = min(max(_CARD_WIDTH, layout.sizeHint().width()), self.width() - 2 * SPACE_4)
        height = layout.totalHeightForWidth(width) if layout.hasHeightForWidth() else self._card.sizeHint().height()
        self._card.setGeometry(card_place(self._hole(), self.rect(), width, height))

    # Qt

    def event(self, event: QEvent) -> bool:
        """Keys end here: no shortcut of the window is tried."""
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc leaves, Enter goes on, Backspace goes back."""
        if event.key() == Qt.Key.Key_Escape:
            self.skip()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            focus = QApplication.focusWidget()
            (focus if isinstance(focus, QPushButton) and self.isAncestorOf(focus) else self.next_button).click()
        elif event.key() == Qt.Key.Key_Backspace:
            self.back()
        event.accept()

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab stays on the card."""
        buttons = [b for b in (self.skip_button, self.back_button, self.next_button) if b.isVisible() and b.isEnabled()]
        focus = QApplication.focusWidget()
        if not buttons:
            return False
        here = buttons.index(focus) if focus in buttons else -1
        buttons[(here + (1 if forward else -1)) % len(buttons)].setFocus(Qt.FocusReason.TabFocusReason)
        return True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the window's size."""
        if watched is self._window and event.type() == QEvent.Type.Resize:
            self.setGeometry(self._window.rect())
            self._place()
        return False

    def mousePressEvent(self, event) -> None:  # type: ignore[no-untyped-def]
        """What is dimmed cannot be clicked."""
        event.accept()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Dim all but the hole."""
        painter = QPainter(self)
        self.draw(painter)
        painter.end()

    def draw(self, painter: QPainter) -> None:
        """Paint the dimmed window and the frame of what the step is about."""
        theme = tokens()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        shade = QPainterPath()
        shade.addRect(QRectF(self.rect()))
        hole = QRectF(self._hole())
        if hole.isValid():
            inner = QPainterPath()
            inner.addRoundedRect(hole, RADIUS, RADIUS)
            shade = shade.subtracted(inner)
        painter.fillPath(shade, QColor(0, 0, 0, 150))
        if hole.isValid():
            painter.setPen(QPen(QColor(theme.accent), 2))
            painter.drawRoundedRect(hole, RADIUS, RADIUS)


def _usable(widget: QWidget | None) -> TypeGuard[QWidget]:
    return widget is not None and isValid(widget) and widget.isVisible()


def card_place(hole: QRect, room: QRect, width: int, height: int) -> QRect:
    """Where the card goes: above, below, left or right of the hole, whichever has room; else in the middle of it."""
    card = QRect(0, 0, width, height)
    if not hole.isValid():
        card.moveCenter(room.center())
        return card
    gap = SPACE_3
    card.moveCenter(hole.center())
    left = min(max(card.left(), room.left() + gap), room.right() - gap - width)
    top = min(max(card.top(), room.top() + gap), room.bottom() - gap - height)
    choices = (
        (hole.top() - room.top() >= height + 2 * gap, QPoint(left, hole.top() - gap - height)),
        (room.bottom() - hole.bottom() >= height + 2 * gap, QPoint(left, hole.bottom() + gap)),
        (hole.left() - room.left() >= width + 2 * gap, QPoint(hole.left() - gap - width, top)),
        (room.right() - hole.right() >= width + 2 * gap, QPoint(hole.right() + gap, top)),
    )
    card.moveTopLeft(next((place for fits, place in choices if fits), QPoint(left, top)))
    return card
