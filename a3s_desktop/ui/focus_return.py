"""Where the focus came from when a part of the window was entered, and the way back."""

from __future__ import annotations

import shiboken6
from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QApplication, QWidget


class FocusReturn(QObject):
    """Remembers which widget outside had the focus before ``part`` got it.

    Parameters
    ----------
    part : QWidget
        The part of the window; also the parent.
    """

    def __init__(self, part: QWidget) -> None:
        super().__init__(part)
        self._came_from: QWidget | None = None
        QApplication.instance().focusChanged.connect(self._focus_moved)

    @Slot()
    def give_back(self) -> None:
        """Return the focus, so that the keys are again those of what had it; at least take it away from the part."""
        back, self._came_from = self._came_from, None
        if back is not None and shiboken6.isValid(back) and back.isVisible():
            back.setFocus(Qt.FocusReason.OtherFocusReason)
        elif (here := QApplication.focusWidget()) is not None and self._part().isAncestorOf(here):
            here.clearFocus()

    @Slot(QWidget, QWidget)
    def _focus_moved(self, before: QWidget | None, now: QWidget | None) -> None:
        part = self._part()
        if now is not None and before is not None and part.isAncestorOf(now) and not part.isAncestorOf(before):
            self._came_from = before

    def _part(self) -> QWidget:
        # Asked for, not kept: a cycle of references would leave the part to the garbage collector.
        part = self.parent()
        assert isinstance(part, QWidget)
        return part
