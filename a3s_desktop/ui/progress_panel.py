"""What was reached, at which speed, and how much is left; with the session's curve."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QTimer, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from a3s_desktop.core.outlook import Outlook
from a3s_desktop.i18n import decimal, mark, number, tr
from a3s_desktop.session.listing import Times
from a3s_desktop.session.state import Change, ChangeKind, SessionState
from a3s_desktop.ui.bridge import Bridge
from a3s_desktop.ui.engine_room import Reading
from a3s_desktop.ui.figures import midnight, per_minute, precision_texts, range_text, rounded
from a3s_desktop.ui.progress_curve import Point, ProgressCurve
from a3s_desktop.ui.shortcuts import Shortcuts
from a3s_desktop.ui.theme import SPACE_2, SPACE_3

_SOON_MS = 150  # from a change to the reading of the times: a burst of undos asks once

_ROWS = (
    ("left", mark("Questions left")),
    ("range", mark("Likely range")),
    ("answers", mark("Answers")),
    ("today", mark("Today")),
    ("rate", mark("Per minute")),
    ("useful", mark("Changed something")),
    ("clusters", mark("Clusters")),
    ("singles", mark("Single images")),
    ("junk", mark("Junk")),
    ("skipped", mark("Skipped pairs")),
    ("incomparable", mark("Not comparable")),
    ("right", mark("Sample: pairs right")),
    ("interval", mark("95% interval")),
)


class ProgressPanel(QWidget):
    """The figures of the progress, as a panel.

    Parameters
    ----------
    bridge : Bridge
    shortcuts : Shortcuts
    """

    def __init__(self, bridge: Bridge, shortcuts: Shortcuts, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._soon = QTimer(self, singleShot=True, interval=_SOON_MS)
        self._soon.timeout.connect(self._read_times)
        self._names: dict[str, QLabel] = {}
        self._values: dict[str, QLabel] = {}
        self.curve = ProgressCurve()
        grid = QGridLayout()
        grid.setHorizontalSpacing(SPACE_3)
        grid.setVerticalSpacing(3)
        grid.setColumnStretch(0, 1)
        for row, (name, text) in enumerate(_ROWS):
            label, value = QLabel(tr(text)), QLabel()
            label.setProperty("role", "muted")
            label.setWordWrap(True)  # large text in a narrow panel
            value.setAlignment(Qt.AlignmentFlag.AlignRight)
            value.setTextFormat(Qt.TextFormat.PlainText)
            value.setAccessibleName(tr(text))
            grid.addWidget(label, row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(value, row, 1)
            self._names[name], self._values[name] = label, value
        self._values["left"].setProperty("role", "value")
        self._buttons = [QPushButton(tr("Check a sample…")), QPushButton(tr("Ask skipped pairs again"))]
        for button, name in zip(self._buttons, ("audit.open", "edit.requeue"), strict=True):
            action = shortcuts.action(name)
            button.clicked.connect(action.trigger)
            action.changed.connect(self._follow)
        self._actions = [shortcuts.action(name) for name in ("audit.open", "edit.requeue")]
        # Rows come and go; the panels beside must not be pushed about by that.
        inner, scroll, whole = QWidget(), QScrollArea(), QVBoxLayout(self)
        self._scroll = scroll
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(inner)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(scroll)
        column = QVBoxLayout(inner)
        column.setContentsMargins(SPACE_3, SPACE_3, SPACE_3, SPACE_3)
        column.setSpacing(SPACE_2)
        column.addLayout(grid)
        column.addWidget(self.curve, 1)
        for button in self._buttons:
            column.addWidget(button)
        self.setAccessibleName(tr("Progress"))
        bridge.stateChanged.connect(self._on_state)
        bridge.closed.connect(self._clear)
        self._clear()
        self._follow()

    def minimumSizeHint(self) -> QSize:
        """No figure is beyond the edge; up and down there is the scroll bar."""
        bar = self._scroll.verticalScrollBar().sizeHint().width()
        return QSize(self._scroll.widget().minimumSizeHint().width() + bar, super().minimumSizeHint().height())

    def text(self, name: str) -> str:
        """A figure as shown; "" where it is not."""
        return self._values[name].text() if not self._values[name].isHidden() else ""

    def _set(self, name: str, text: str) -> None:
        self._values[name].setText(text)
        for label in (self._names[name], self._values[name]):
            label.setVisible(bool(text))

    @Slot(object, object)
    def _on_state(self, state: SessionState, change: Change) -> None:
        if change.kind is ChangeKind.OPENED:
            self.curve.clear()
        self.curve.add(Point(state.answers, state.clusters, state.singletons))
        outlook = state.outlook
        self._set("left", _left_text(outlook))
        self._set("range", range_text(outlook) if outlook is not None and outlook.high else "")
        self._values["left"].setToolTip(
            tr("Until no answer is expected to change a cluster. An estimate; it changes as the program learns.")
        )
        self._set("answers", number(state.answers))
        self._values["answers"].setToolTip(
            tr("{same} same, {different} different", same=number(state.same), different=number(state.different))
        )
        useful = tr("{useful} of the last {recent}", useful=number(state.useful), recent=number(state.recent))
        self._set("useful", useful if state.recent else "")
        self._set("clusters", number(state.clusters))
        self._set("singles", number(state.singletons))
        self._set("junk", number(state.junk) if state.junk else "")
        self._set("skipped", number(state.skipped) if state.skipped else "")
        self._set("incomparable", number(state.incomparable) if state.incomparable else "")
        share, interval = precision_texts(state.audit)
        self._set("right", share)
        self._set("interval", interval)
        self._soon.start()

    @Slot()
    def _read_times(self) -> None:
        if self.isVisible():
            self._bridge.read(Reading.TIMES, midnight(), midnight(1), done=self._on_times)

    def _on_times(self, times: Times) -> None:
        rate = per_minute(times.newest)
        self._set("today", number(times.count))
        self._set("rate", decimal(rate, 0 if rate >= 10 else 1) if rate is not None else "")

    @Slot()
    def _clear(self) -> None:
        self._soon.stop()
        for name in self._values:
            self._set(name, "")
        self.curve.clear()

    @Slot()
    def _follow(self) -> None:
        for button, action in zip(self._buttons, self._actions, strict=True):
            button.setText(action.text())
            button.setEnabled(action.isEnabled())
            button.setToolTip(action.toolTip())
        # Without skipped pairs the room is the curve's.
        self._buttons[1].setVisible(self._actions[1].isEnabled())

    def showEvent(self, event: QShowEvent) -> None:
        """The times are read when somebody looks."""
        super().showEvent(event)
        self._soon.start()


def _left_text(outlook: Outlook | None) -> str:
    if outlook is None:
        return ""
    return tr("about {n}", n=number(rounded(outlook.middle))) if outlook.high else tr("none")
