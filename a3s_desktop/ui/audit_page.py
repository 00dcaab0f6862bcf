"""The sample check: pairs drawn at random from the clusters, to estimate how many of them are right.

Its answers measure and change nothing, and the answers that drive the clustering do not count here.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QHideEvent, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QStackedWidget, QVBoxLayout, QWidget

from a3s_desktop.actions import Scope
from a3s_desktop.core.types import Answer
from a3s_desktop.errors import A3SError
from a3s_desktop.i18n import tr, trn
from a3s_desktop.session.audit import Precision
from a3s_desktop.session.state import Change, SessionState
from a3s_desktop.settings import SettingsStore
from a3s_desktop.ui.bridge import Bridge, BridgePhase
from a3s_desktop.ui.engine_room import Reading
from a3s_desktop.ui.figures import precision_text
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.image_pane import ImagePane
from a3s_desktop.ui.label_parts import SYMBOLS, WORDS, AnswerButton, Banner
from a3s_desktop.ui.linked_panes import LinkedPanes
from a3s_desktop.ui.shortcuts import Shortcuts
from a3s_desktop.ui.theme import SPACE_1, SPACE_2, SPACE_3, SPACE_4, icon_pixmap, tokens

_ANSWERS = {
    "audit.same": (Answer.SAME, "same"),
    "audit.unsure": (Answer.SKIP, "plain"),
    "audit.different": (Answer.DIFFERENT, "different"),
}
ENOUGH = 100
"""Pairs that a sample is worth: the interval is then some five per cent wide where nearly all are right."""


class AuditPage(QWidget):
    """Shows one pair of the sample after the other.

    Parameters
    ----------
    bridge : Bridge
    loader : ImageLoader
    shortcuts : Shortcuts
    settings : SettingsStore

    Signals
    -------
    backWanted()
    readyChanged(bool)
        Whether an answer would be taken now.
    """

    backWanted = Signal()  # noqa: N815 - Qt's naming
    readyChanged = Signal(bool)  # noqa: N815

    def __init__(
        self,
        bridge: Bridge,
        loader: ImageLoader,
        shortcuts: Shortcuts,
        settings: SettingsStore,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._bridge, self._shortcuts, self._settings = bridge, shortcuts, settings
        self._pair: tuple[int, int] | None = None
        self._number = 0
        self._waiting = False  # for the next pair
        self._settled = False
        self._ready = False
        self._moment = QTimer(self, singleShot=True)
        self._moment.timeout.connect(self._on_settled)
        self._panes = (ImagePane(loader), ImagePane(loader))
        self._linked = LinkedPanes(*self._panes, settings.value.linked, self)
        self._build()
        bridge.stateChanged.connect(self._on_state)
        bridge.phaseChanged.connect(self._update)
        bridge.closed.connect(self._clear)
        bridge.failed.connect(self._on_failed)
        self._linked.painted.connect(self._on_painted)
        self.addActions(shortcuts.actions(Scope.AUDIT))
        shortcuts.set_live(Scope.AUDIT, False)
        for name, (answer, _) in _ANSWERS.items():
            shortcuts.action(name).triggered.connect(partial(self._say, answer))
        shortcuts.action("audit.back").triggered.connect(self.backWanted)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Sample check"))
        self._update()

    @property
    def ready(self) -> bool:
        """Whether an answer would be taken now."""
        return self._ready

    @property
    def pair(self) -> tuple[int, int] | None:
        """The images on screen."""
        return self._pair

    @property
    def text(self) -> str:
        """What is said of the result."""
        return f"{self._result.text()} {self._detail.text()}"

    # Building

    def _build(self) -> None:
        head, foot = QFrame(), QFrame()
        head.setProperty("role", "bar")
        foot.setProperty("role", "foot")
        kind = QLabel(tr("Sample check  ·  changes no cluster"))
        kind.setProperty("role", "small")
        question = QLabel(tr("Do these two images show the same individual?"))
        question.setProperty("role", "heading")
        self._result, self._detail = QLabel(), QLabel()
        self._result.setProperty("role", "heading")
        self._detail.setProperty("role", "small")
        words, result = QVBoxLayout(), QVBoxLayout()
        for column, labels in ((words, (kind, question)), (result, (self._detail, self._result))):
            column.setSpacing(1)
            for label in labels:
                label.setTextFormat(Qt.TextFormat.PlainText)
                column.addWidget(label)
        for label in (self._result, self._detail):
            label.setAlignment(Qt.AlignmentFlag.AlignRight)
        row = QHBoxLayout(head)
        row.setContentsMargins(SPACE_4, SPACE_2, SPACE_4, SPACE_2)
        row.addLayout(words, 1)
        row.addLayout(result)
        self._banner = Banner()
        pair = QWidget()
        images = QHBoxLayout(pair)
        images.setContentsMargins(SPACE_3, SPACE_3, SPACE_3, SPACE_3)
        images.setSpacing(SPACE_3)
        for pane in self._panes:
            images.addWidget(pane, 1)
        self._nothing = QLabel()
        self._nothing.setProperty("role", "title")
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._nothing.setWordWrap(True)
        self._stack = QStackedWidget()
        self._stack.addWidget(pair)
        self._stack.addWidget(self._nothing)
        action = self._shortcuts.action
        self._back = AnswerButton(action("audit.back"), "quiet", compact=True)
        self._buttons = [AnswerButton(action(name), kind) for name, (_, kind) in _ANSWERS.items()]
        self._symbol = QLabel()
        self._hint = QLabel(tr("Drawn at random from all pairs that share a cluster."))
        self._hint.setProperty("role", "small")
        self._hint.setWordWrap(True)
        remark, below, lines = QHBoxLayout(), QHBoxLayout(), QVBoxLayout(foot)
        remark.setSpacing(SPACE_1)
        remark.addWidget(self._symbol)
        remark.addWidget(self._hint, 1)
        lines.setContentsMargins(SPACE_4, SPACE_2, SPACE_4, SPACE_2)
        lines.setSpacing(SPACE_1)
        lines.addLayout(remark)
        lines.addLayout(below)
        below.setSpacing(SPACE_2)
        below.addWidget(self._back)
        below.addStretch(1)
        for button in self._buttons:
            below.addWidget(button)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(head)
        whole.addWidget(self._banner)
        whole.addWidget(self._stack, 1)
        whole.addWidget(foot)
        self._shortcuts.rebound.connect(self._take_keys)
        self._take_keys()
        self._recolour()

    @Slot()
    def _take_keys(self) -> None:
        for button, name in zip([self._back, *self._buttons], ["audit.back", *_ANSWERS], strict=True):
            keys = self._shortcuts.keys(name)
            button.set_key(keys[0] if keys else "")

    def _recolour(self) -> None:
        for button in (self._back, *self._buttons):
            button.recolour()
        self._symbol.setPixmap(icon_pixmap("info", tokens().muted, 16, self.devicePixelRatioF()))

    # From the bridge

    @Slot(object, object)
    def _on_state(self, state: SessionState, _change: Change) -> None:
        self._banner.say("")
        self._show_result(state.audit)
        if self.isVisible():
            self._ask()

    @Slot(object)
    def _on_failed(self, error: A3SError) -> None:
        if self.isVisible():
            self._banner.say(str(error), "banner-danger")
            self._update()

    @Slot()
    def _clear(self) -> None:
        self._pair, self._waiting, self._settled = None, False, False
        for pane in self._panes:
            pane.set_image(None)
        self._update()

    def _ask(self) -> None:
        """The next pair; whatever was on screen can no longer be answered."""
        self._pair, self._settled, self._waiting = None, False, True
        self._moment.stop()
        self._update()
        self._bridge.read(Reading.AUDIT_PAIR, done=self._on_pair)

    def _on_pair(self, pair: tuple[int, int] | None) -> None:
        items = self._bridge.items
        if not self._waiting or items is None:
            return
        self._waiting = False
        self._pair = pair
        state = self._bridge.state
        if pair is None or (state is not None and state.read_only):
            if pair is None:
                text = tr("No pair is left to look at: there is no cluster with two images that was not shown yet.")
            else:
                text = tr("The project is open read-only: a sample cannot be checked here.")
            self._pair = None
            self._nothing.setText(text)
            self._stack.setCurrentWidget(self._nothing)
            return
        self._stack.setCurrentIndex(0)
        self._number += 1
        self._linked.forget_painted()
        self._linked.reset()
        for pane, item in zip(self._panes, pair, strict=True):
            pane.set_image(items.file(item), items.name(item), self._number, items.problems.get(item, ""))

    # Answering

    @Slot(int)
    def _on_painted(self, number: int) -> None:
        if self._pair is not None and number == self._number and not self._settled:
            self._moment.start(self._settings.value.settle_ms)

    @Slot()
    def _on_settled(self) -> None:
        self._settled = True
        self._update()

    def _say(self, answer: Answer, _checked: bool = False) -> None:
        if self._ready and self._pair is not None:
            left, right = self._pair
            self._bridge.audit(left, right, answer)
            self._update()

    @Slot()
    def _update(self) -> None:
        quiet = self._bridge.phase in (BridgePhase.ASKING, BridgePhase.FINISHED)
        ready = self._settled and self._pair is not None and quiet and self.isVisible()
        for name in _ANSWERS:
            self._shortcuts.action(name).setEnabled(ready)
        self._shortcuts.action("audit.back").setEnabled(self.isVisible())
        if ready != self._ready:
            self._ready = ready
            self.readyChanged.emit(ready)

    def _show_result(self, found: Precision) -> None:
        count = found.same + found.different
        if found.estimate is None:
            self._result.setText(tr("No pair checked yet"))
        else:
            self._result.setText(tr("Right: {share}", share=precision_text(found)))
        detail = trn("{n} pair of about {enough} checked", "{n} pairs of about {enough} checked", count, enough=ENOUGH)
        if count >= ENOUGH:
            detail = trn("{n} pair checked", "{n} pairs checked", count)
        if found.unsure:
            detail = tr("{checked}, {unsure} unclear", checked=detail, unsure=found.unsure)
        self._detail.setText(detail)
        self._result.setToolTip(
            tr("Share of the pairs within clusters that are one individual, with its 95% interval.")
        )

    # Qt

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The way back is a symbol with its key before an answer's word is cut."""
        super().resizeEvent(event)
        needed = sum(button.width_for(WORDS) + SPACE_2 for button in (self._back, *self._buttons)) + 2 * SPACE_4
        self._back.set_room(WORDS if needed <= self.width() else SYMBOLS)

    def showEvent(self, event: QShowEvent) -> None:
        """A pair is drawn."""
        super().showEvent(event)
        self._shortcuts.set_live(Scope.AUDIT, True)
        if self._bridge.state is not None:
            self._show_result(self._bridge.state.audit)
            self._ask()

    def hideEvent(self, event: QHideEvent) -> None:
        """What is not in sight cannot be answered."""
        super().hideEvent(event)
        self._shortcuts.set_live(Scope.AUDIT, False)
        self._waiting = False
        self._update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keys of answers that are off end here instead of reaching something else."""
        if event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_F, Qt.Key.Key_J):
            event.accept()
            return
        super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        """Icons follow the theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_symbol"):
            self._recolour()
