"""Actions that last while their key is held. Qt's actions know only the press.

On X11 a held key sends releases and presses in pairs, not all of them marked as repeats; a release therefore counts
only when no press of the same key comes at the same moment.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtGui import QKeyEvent

_SAME_MS = 1  # between the release and the press of a repeat
_WAIT_MS = 30  # for the press that makes a release a repeat


class HeldKeys(QObject):
    """Knows which action is held. Told of keys by `Shortcuts`, in the order of the native window's events.

    Signals
    -------
    changed(str, bool)
        An action begins or ends.
    """

    changed = Signal(str, bool)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._down = 0  # native code of the key pressed last, while it is down
        self._action = ""
        self._code = 0  # of the key that holds the action; 0: begun without a key, ends by being triggered again
        self._released_at = 0
        self._end = QTimer(self, singleShot=True, interval=_WAIT_MS)
        self._end.timeout.connect(self.stop)

    def press(self, event: QKeyEvent) -> None:
        """A key goes down, or repeats."""
        code = _code(event)
        if code and code == self._code and event.timestamp() - self._released_at <= _SAME_MS:
            self._end.stop()
        self._down = code

    def release(self, event: QKeyEvent) -> None:
        """A key goes up, or repeats."""
        code = _code(event)
        if event.isAutoRepeat():
            return
        if code == self._down:
            self._down = 0
        if code and code == self._code:
            self._released_at = event.timestamp()
            self._end.start()

    def begin(self, action: str) -> None:
        """An action was triggered: by a key it lasts until that is let go, by the mouse until it is triggered again."""
        if self._action == action and not self._code:
            self.stop()
            return
        self._end.stop()
        self._code = self._down
        if self._action != action:
            self.stop()
            self._code = self._down
            self._action = action
            self.changed.emit(action, True)

    @Slot()
    def stop(self) -> None:
        """Nothing is held any more (the window lost the keyboard)."""
        self._end.stop()
        action, self._action, self._code = self._action, "", 0
        if action:
            self.changed.emit(action, False)


def _code(event: QKeyEvent) -> int:
    """Which key it is, whatever modifiers or layout make of it; keys that a program sends have no place."""
    return int(event.nativeScanCode() or event.key())
