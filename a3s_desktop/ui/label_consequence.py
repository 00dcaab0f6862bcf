"""One line of the pair page that says what *same* and *different* would do, before the key is pressed.

It has its place whether or not there is something to say, so nothing jumps. Where an answer would move many images the
line asks, in the same place, to press the key once more.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, QTimer, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QWidget

from a3s_desktop.core.types import Answer
from a3s_desktop.i18n import number, tr, trn
from a3s_desktop.session.state import Consequence, QuestionView
from a3s_desktop.ui.elided_label import ElidedLabel
from a3s_desktop.ui.theme import ICON, SPACE_1, SPACE_2, SPACE_3, icon_pixmap, set_role, tokens

READ_MS = 300
"""A demand to confirm must have been there so long before a key confirms it: a double tap does not."""

_WORTH_SAYING = 3  # questions saved: fewer are within the estimate's noise
_SIDES = (Answer.SAME, Answer.DIFFERENT)


def effect_text(found: Consequence) -> str:
    """What an answer would do, in a few words.

    Parameters
    ----------
    found : Consequence
        Without ``after``: not tried out yet.
    """
    parts = [_sizes_text(found)]
    if found.elsewhere:
        parts.append(trn("{n} other image moves too", "{n} other images move too", found.elsewhere))
    saves = found.saves or 0
    if saves >= _WORTH_SAYING:
        count = _about(saves)
        parts.append(trn("saves about {n} question", "saves about {n} questions", count))
    elif saves <= -_WORTH_SAYING:
        count = _about(-saves)
        parts.append(trn("brings up about {n} question", "brings up about {n} questions", count))
    return "; ".join(parts)


def _sizes_text(found: Consequence) -> str:
    before, after = found.before, found.after
    if len(before) == 1 and len(after) == 1:
        return trn("the {n} image stays together", "the {n} images stay together", before[0])
    if before == after:
        return tr("stays two")
    if not after:
        return tr("the {images} become two clusters", images=trn("{n} image", "{n} images", sum(before)))
    if before == (1, 1):
        return tr("the two single images become one cluster")
    if len(after) == 1 and sum(after) == sum(before):
        return tr("{sizes} images become one", sizes=_sum_text(before))
    return tr("{sizes} images become {parts}", sizes=_sum_text(before), parts=_sum_text(after))


def _sum_text(sizes: Sequence[int]) -> str:
    shown = [number(size) for size in sizes[:4]]
    return " + ".join([*shown, "…"] if len(sizes) > 4 else shown)


def _about(count: int) -> int:
    """A number that does not look more exact than it is."""
    if count < 10:
        return count
    step = 5 if count < 50 else 10 if count < 200 else 50
    return round(count / step) * step


def guessed(question: QuestionView) -> tuple[Consequence, ...]:
    """What is known before the answers were tried out: the sizes."""
    left, right = question.left_size, question.right_size
    if question.left_cluster == question.right_cluster:
        whole = (left,)
        return (
            Consequence(Answer.SAME, whole, whole, 0, 0, None),
            Consequence(Answer.DIFFERENT, whole, (), left // 2, 0, None),
        )
    two = (max(left, right), min(left, right))
    return (
        Consequence(Answer.SAME, two, (left + right,), two[1], 0, None),
        Consequence(Answer.DIFFERENT, two, two, 0, 0, None),
    )


class ConsequenceLine(QFrame):
    """What the two answers would do, side by side; or the demand to confirm one of them.

    Signals
    -------
    asked(bool)
        Whether a confirmation is waited for now.
    """

    asked = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._found: dict[Answer, Consequence] = {}
        self._armed: Answer | None = None
        self._read = QTimer(self, singleShot=True, interval=READ_MS)
        self._symbols = {answer: QLabel() for answer in _SIDES}
        self._texts = {answer: ElidedLabel() for answer in _SIDES}
        self._warning, self._demand = QLabel(), ElidedLabel("strong")
        row = QHBoxLayout(self)
        row.setContentsMargins(SPACE_2, 0, SPACE_2, 0)
        row.setSpacing(SPACE_1)
        for answer in _SIDES:
            self._texts[answer].setContentsMargins(0, 0, SPACE_3, 0)
            row.addWidget(self._symbols[answer])
            row.addWidget(self._texts[answer], 1)
        row.addWidget(self._warning)
        row.addWidget(self._demand, 1)
        self._show()
        self.recolour()

    def set_question(self, question: QuestionView | None) -> None:
        """A new pair, or none."""
        self.disarm()
        self._found = {one.answer: one for one in guessed(question)} if question is not None else {}
        self._show()

    def set_found(self, found: Sequence[Consequence]) -> None:
        """The answers to the present question have been tried out."""
        self._found.update({one.answer: one for one in found})
        self._show()

    def needs_confirmation(self, answer: Answer, least: int, key: str) -> bool:
        """Whether an answer has to be given once more; the first time the line then asks for it.

        Parameters
        ----------
        answer : Answer
        least : int
            Images moved from which on it is asked; 0: never.
        key : str
            As the person reads it.
        """
        found = self._found.get(answer)
        moved = found.moved if found is not None else 0
        if not least or moved < least or found is None:
            self.disarm()
            return False
        if self._armed is answer:
            return self._read.isActive()  # too soon: nobody can have read it
        self._armed = answer
        self._read.start()
        effect = effect_text(found)
        if key:
            text = tr("{key} once more confirms: {effect}. Esc goes back.", key=key, effect=effect)
        else:
            text = tr("The same answer once more confirms: {effect}. Esc goes back.", effect=effect)
        self._demand.set_text(text)
        self._show()
        self.asked.emit(True)
        return True

    def disarm(self) -> bool:
        """Wait for no confirmation any more; whether one was waited for."""
        armed, self._armed = self._armed, None
        self._read.stop()
        if armed is None:
            return False
        self._show()
        self.asked.emit(False)
        return True

    @property
    def armed(self) -> Answer | None:
        """The answer that waits to be confirmed."""
        return self._armed

    def text(self, answer: Answer) -> str:
        """What is said of an answer."""
        return self._texts[answer].text()

    @property
    def demand(self) -> str:
        """What has to be confirmed; empty where nothing has."""
        return self._demand.text() if self._armed is not None else ""

    def recolour(self) -> None:
        """After a change of theme."""
        t, ratio = tokens(), self.devicePixelRatioF()
        for answer, colour in zip(_SIDES, (t.same, t.different), strict=True):
            self._symbols[answer].setPixmap(icon_pixmap(answer.value, colour, ICON, ratio))
        self._warning.setPixmap(icon_pixmap("warning", t.warning, ICON, ratio))

    def sizeHint(self) -> QSize:
        """One line of text with the symbols, and room for a frame around a demand."""
        return QSize(400, max(ICON, self.fontMetrics().lineSpacing()) + 6)

    def minimumSizeHint(self) -> QSize:
        """As high as always."""
        return QSize(100, self.sizeHint().height())

    @Slot()
    def _show(self) -> None:
        demanded = self._armed is not None
        for answer in _SIDES:
            found = self._found.get(answer)
            effect = effect_text(found) if found is not None else ""
            word = {Answer.SAME: tr("Same: {effect}"), Answer.DIFFERENT: tr("Different: {effect}")}[answer]
            self._texts[answer].set_text(word.format(effect=effect) if effect else "")
            self._symbols[answer].setVisible(bool(effect) and not demanded)
            self._texts[answer].setVisible(not demanded)
        self._warning.setVisible(demanded)
        self._demand.setVisible(demanded)
        set_role(self, role="banner-warning" if demanded else "plain")
