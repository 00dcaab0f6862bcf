"""Long work as the user sees it: what is done, what is being done, how long it will still take, and a way out."""

from __future__ import annotations

import time

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QProgressBar, QPushButton, QVBoxLayout, QWidget

from a3s_desktop.i18n import decimal, percent, tr
from a3s_desktop.printable import escaped
from a3s_desktop.task import Progress
from a3s_desktop.ui.theme import SPACE_2, SPACE_3, SPACE_4, SPACE_5, SPACE_6, icon_pixmap, tokens

_STEPS = 1000  # of the bar


def overall(progress: Progress) -> float:
    """Share of the whole work that is done, each stage counted alike; the stage's own where there is no plan."""
    if progress.count <= 0:
        return progress.fraction
    return min((progress.index + progress.fraction) / progress.count, 1.0)


def time_left(seconds: float | None) -> str:
    """ "about 2 min left", coarse enough not to flicker; empty where nothing is known."""
    if seconds is None:
        return ""
    if seconds < 5:
        return tr("a few seconds left")
    if seconds < 55:
        return tr("about {seconds} s left", seconds=round(seconds / 5) * 5)
    if seconds < 3600:
        return tr("about {minutes} min left", minutes=max(round(seconds / 60), 1))
    return tr("about {hours} h left", hours=decimal(seconds / 3600))


class ProgressPage(QWidget):
    """Shown while a project is made or opened.

    Signals
    -------
    cancelRequested()
        The user wants to stop. The page shows "Stopping…" until its owner leaves it.
    """

    cancelRequested = Signal()  # noqa: N815 - Qt's naming

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._stages: list[str] = []
        self._started = 0.0
        card = self._card = QFrame()
        card.setProperty("role", "card")
        card.setMaximumWidth(640)
        inner = QVBoxLayout(card)
        inner.setContentsMargins(SPACE_6, SPACE_5, SPACE_6, SPACE_5)
        inner.setSpacing(SPACE_3)
        self.title = _label("title")
        self.title.setWordWrap(True)
        inner.addWidget(self.title)
        self.explanation = _label("muted")
        self.explanation.setWordWrap(True)
        inner.addWidget(self.explanation)
        inner.addSpacing(SPACE_3)
        self._list = QVBoxLayout()
        self._list.setSpacing(SPACE_2)
        inner.addLayout(self._list)
        self.stage = _label("heading")
        inner.addWidget(self.stage)
        self.bar = QProgressBar()
        self.bar.setRange(0, _STEPS)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("Progress"))
        inner.addWidget(self.bar)
        row = QHBoxLayout()
        self.step = _label("muted")
        self.left = _label("muted")
        row.addWidget(self.step)
        row.addStretch(1)
        row.addWidget(self.left)
        inner.addLayout(row)
        inner.addSpacing(SPACE_4)
        foot = QHBoxLayout()
        foot.addStretch(1)
        self.cancel_button = QPushButton(tr("Cancel"))
        self.cancel_button.clicked.connect(self.cancel)
        foot.addWidget(self.cancel_button)
        inner.addLayout(foot)
        outer = QVBoxLayout(self)
        outer.addStretch(2)
        middle = QHBoxLayout()
        middle.addStretch(1)
        middle.addWidget(card, 8)
        middle.addStretch(1)
        outer.addLayout(middle)
        outer.addStretch(3)

    def begin(self, title: str, explanation: str = "") -> None:
        """Start over for a new piece of work."""
        self._stages = []
        while (item := self._list.takeAt(0)) is not None:
            item.widget().deleteLater()
        self.title.setText(escaped(title, lines=True))
        self.explanation.setText(escaped(explanation, lines=True))
        self.explanation.setVisible(bool(explanation))
        self.stage.setText(tr("Starting…"))
        self.step.clear()
        self.left.clear()
        self.bar.setRange(0, 0)  # moving, until something is known
        self.cancel_button.setText(tr("Cancel"))
        self.cancel_button.setEnabled(True)

    @Slot(object)
    def show_progress(self, progress: Progress) -> None:
        """Show a report of the work."""
        if not self.cancel_button.isEnabled():
            return  # "Stopping…" stays
        if not self._stages or self._stages[-1] != progress.stage:
            if self._stages:
                self._tick_off(self._stages[-1], time.monotonic() - self._started)
            self._stages.append(progress.stage)
            self._started = time.monotonic()
        self.stage.setText(tr("{stage}…", stage=progress.stage))
        self.bar.setRange(0, _STEPS)
        self.bar.setValue(round(overall(progress) * _STEPS))
        if progress.count:
            step = {"number": progress.index + 1, "count": progress.count, "share": percent(progress.fraction)}
            text = tr("Step {number} of {count}: {share}", **step) if progress.fraction > 0 else ""
            self.step.setText(text or tr("Step {number} of {count}", **step))
        self.left.setText(time_left(progress.seconds_left))

    @Slot()
    def cancel(self) -> None:
        """Ask for the end, once."""
        if self.cancel_button.isEnabled():
            self.cancel_button.setEnabled(False)
            self.cancel_button.setText(tr("Stopping…"))
            self.stage.setText(tr("Stopping…"))
            self.left.clear()
            self.bar.setRange(0, 0)
            self.cancelRequested.emit()

    def _tick_off(self, stage: str, seconds: float) -> None:
        theme = tokens()
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(SPACE_2)
        tick = QLabel()
        tick.setPixmap(icon_pixmap("check", theme.same, 16, self.devicePixelRatioF()))
        layout.addWidget(tick)
        layout.addWidget(_label("", stage))
        layout.addStretch(1)
        layout.addWidget(_label("muted", tr("{seconds} s", seconds=decimal(seconds))))
        self._list.addWidget(row)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """As many finished stages as fit."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """The oldest stages leave where there is no room for all: rows that are squeezed could not be read."""
        rows = [self._list.itemAt(k).widget() for k in range(self._list.count())]
        inner = self._card.layout()
        for row in rows:
            row.show()
        for row in rows:
            inner.activate()
            if inner.totalHeightForWidth(self._card.width()) <= self.height() - 2 * SPACE_3:
                break
            row.hide()


def _label(role: str, text: str = "") -> QLabel:
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    if role:
        label.setProperty("role", role)
    return label
