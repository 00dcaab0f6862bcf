"""Work on the window's thread in steps, between which it sees what was pressed."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Slot

_PAUSE = 5  # ms; without one the next step would follow in the same turn of the event loop


class Turns(QObject):
    """Takes steps one after another, each in a turn of the event loop of its own."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._steps: list[Callable[[], object]] = []
        self._timer = QTimer(self, singleShot=True, interval=_PAUSE)
        self._timer.timeout.connect(self._go_on)

    def take(self, *steps: Callable[[], object]) -> None:
        """Take these steps instead of those that are left."""
        self._steps = list(steps)
        self._timer.start()

    def drop(self) -> None:
        """Take no further step."""
        self._steps = []

    @Slot()
    def _go_on(self) -> None:
        if self._steps:
            self._steps.pop(0)()
            self._timer.start()
