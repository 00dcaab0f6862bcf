"""A reading of the session that a view keeps up to date, without asking for it more often than it can be had."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Signal, Slot

from a3s_desktop.ui.bridge import Bridge
from a3s_desktop.ui.engine_room import Reading


class Fetch(QObject):
    """At most one reading is on its way; what is asked meanwhile is asked once more when that one is back.

    Parameters
    ----------
    bridge : Bridge
    reading : Reading

    Signals
    -------
    came(object)
        The result of the newest question; older ones are dropped.
    """

    came = Signal(object)

    def __init__(self, bridge: Bridge, reading: Reading, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._reading = reading
        self._args: tuple[Any, ...] = ()
        self._on_its_way = False
        self._again = False
        bridge.closed.connect(self.forget)
        bridge.problem.connect(self._failed)

    @property
    def waiting(self) -> bool:
        """Whether an answer is still to come."""
        return self._on_its_way

    def ask(self, *args: Any) -> None:
        """Ask now, or as soon as the question that is on its way is answered."""
        self._args = args
        if self._on_its_way:
            self._again = True
        elif self._bridge.project is not None:
            self._send()

    @Slot()
    def forget(self) -> None:
        """Nothing is expected any more."""
        self._on_its_way = self._again = False

    def _send(self) -> None:
        self._on_its_way, self._again = True, False
        self._bridge.read(self._reading, *self._args, done=self._came)

    def _came(self, result: Any) -> None:
        if not self._on_its_way:
            return
        self._on_its_way = False
        if self._again:
            self._send()
        else:
            self.came.emit(result)

    @Slot(object)
    def _failed(self, _error: object) -> None:
        self.forget()
