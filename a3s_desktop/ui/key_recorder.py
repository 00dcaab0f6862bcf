"""A button that waits for one key, with its modifiers, and says which it was."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QPushButton, QWidget

from a3s_desktop.i18n import tr
from a3s_desktop.ui.shortcuts import letter_positions, position_sequence
from a3s_desktop.ui.theme import set_role

_ALONE = {
    Qt.Key.Key_Control, Qt.Key.Key_Shift, Qt.Key.Key_Alt, Qt.Key.Key_Meta, Qt.Key.Key_AltGr, Qt.Key.Key_CapsLock,
    Qt.Key.Key_NumLock, Qt.Key.Key_ScrollLock, Qt.Key.Key_Super_L, Qt.Key.Key_Super_R, Qt.Key.Key_unknown,
}  # fmt: skip
_LEAVES = (Qt.Key.Key_Tab, Qt.Key.Key_Backtab)


def sequence_of(event: QKeyEvent) -> str:
    """The key sequence of a press, in Qt's portable text; "" for a modifier by itself.

    Letters of a non-Latin layout are taken by their place. Shift is left out where it only made the sign ("?"), and
    the number pad counts as the keys it stands for, as Qt matches both.
    """
    by_place = position_sequence(event, letter_positions())
    if by_place:
        return by_place
    key, held = event.key(), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    if key in _ALONE:
        return ""
    text = event.text()
    if text and text.isprintable() and not text.isalnum() and text != " " and not text.isspace():
        held &= ~Qt.KeyboardModifier.ShiftModifier
    return QKeySequence(int(held.value) | int(key)).toString(QKeySequence.SequenceFormat.PortableText)


class KeyRecorder(QPushButton):
    """While it records, every key is the answer: but for Esc, which ends it, and Tab, which leaves it.

    Signals
    -------
    recorded(str)
        A key sequence in Qt's portable text.
    """

    recorded = Signal(str)

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self._idle = text
        self._recording = False
        self.setAutoDefault(False)
        self.clicked.connect(self.start)
        self.setAccessibleDescription(tr("Press this, then the key that the action shall have. Esc ends it."))
        # As wide as the longer text: what stands beside it must not jump.
        self.setText(tr("Press a key… (Esc: no)"))
        self.setMinimumWidth(self.sizeHint().width())
        self.setText(text)

    @property
    def recording(self) -> bool:
        """Whether the next key is the answer."""
        return self._recording

    @Slot()
    def start(self) -> None:
        """Wait for a key."""
        if self.isEnabled() and not self._recording:
            self._recording = True
            self.setText(tr("Press a key… (Esc: no)"))
            set_role(self, kind="primary")
            self.setFocus()

    def stop(self) -> None:
        """Wait no longer."""
        if self._recording:
            self._recording = False
            self.setText(self._idle)
            set_role(self, kind="")

    def event(self, event: QEvent) -> bool:
        """Keys while recording, before anything else can take them."""
        if self._recording and event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        if self._recording and event.type() == QEvent.Type.KeyPress:
            return self._take(event)  # type: ignore[arg-type]
        if self._recording and event.type() == QEvent.Type.KeyRelease:
            return True
        return super().event(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Without the focus there are no keys to wait for."""
        self.stop()
        super().focusOutEvent(event)

    def _take(self, event: QKeyEvent) -> bool:
        if event.key() in _LEAVES:
            self.stop()
            return super().event(event)
        if event.isAutoRepeat():
            return True
        if event.key() == Qt.Key.Key_Escape:
            self.stop()
            return True
        sequence = sequence_of(event)
        if sequence:
            self.stop()
            self.recorded.emit(sequence)
        return True
