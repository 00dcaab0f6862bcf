"""Types a cluster's name in its place: Return keeps it, Escape leaves it; no other key means anything meanwhile."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRect, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from a3s_desktop.i18n import tr
from a3s_desktop.ui.gallery import is_own_key


class NameEditor(QLineEdit):
    """Lies over what shows the name; hidden while nothing is named.

    Signals
    -------
    named(int, str)
        Image of the cluster, the name. The editor stays until `finish`, for a name may be refused.
    """

    named = Signal(int, str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._item = -1
        self._back: QWidget | None = None
        self._asked = False
        self.setAccessibleName(tr("Name of the cluster"))
        self.setPlaceholderText(tr("Name"))
        self.hide()

    def begin(self, item: int, name: str, place: QRect, back: QWidget) -> None:
        """Edit the name of the cluster of an image; the focus goes ``back`` afterwards."""
        self._item, self._back, self._asked = item, back, False
        self.setGeometry(place)
        self.setText(name)
        self.selectAll()
        self.show()
        self.raise_()
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def finish(self) -> None:
        """The name was taken, or is not wanted."""
        if self.isVisible():
            back = self._back
            self.hide()
            if back is not None:
                back.setFocus(Qt.FocusReason.OtherFocusReason)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and is_own_key(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._asked = True
            self.named.emit(self._item, self.text())
        elif event.key() == Qt.Key.Key_Escape:
            self.finish()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Left by mouse or Tab: as Escape; a dialog about the name comes back here."""
        super().focusOutEvent(event)
        reasons = (Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason)
        if event.reason() not in reasons and not self._asked:
            self.hide()
