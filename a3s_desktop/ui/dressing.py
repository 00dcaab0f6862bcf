"""A new style sheet on all widgets without a standstill: what is seen at once, the rest in turns.

`QApplication.setStyleSheet` dresses every widget once for itself and once more for every ancestor: in our window some
5,000 times for 740 widgets, of which 70 are seen. Here Qt is made to forget the old sheet's rules first, so that it
finds nothing to dress; then each widget is dressed once, those that are seen before the next frame.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, QTimer, Slot
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

__all__ = ["dress"]

_TURN = 0.006  # seconds of work in a turn of the event loop
_PAUSE = 5  # ms between two turns: the window is painted in its new colours first


def dress(app: QApplication, sheet: str) -> None:
    """Set the application's style sheet; a widget that nobody sees gets it a little later, or when it is shown."""
    for late in app.findChildren(_Rest):
        late.stop()
    if not app.styleSheet():
        app.setStyleSheet(sheet)
        return
    style = app.style()
    style.unpolish(app)  # forgets all rules, so that the next line finds nobody to dress
    app.setStyleSheet(sheet)
    style.polish(app)
    seen: list[QWidget] = []
    hidden: list[QWidget] = []
    for widget in app.allWidgets():
        if widget.testAttribute(Qt.WidgetAttribute.WA_WState_Polished):
            (seen if widget.isVisible() else hidden).append(widget)
    for widget in seen:
        widget.style().polish(widget)
        widget.update()
    _Rest(seen, hidden, app)


class _Rest(QObject):
    """What can wait: telling the widgets that are seen, and dressing those that are hidden.

    Nothing is shown in the old colours: a widget that is shown before its turn is dressed before it is painted.
    """

    def __init__(self, seen: Sequence[QWidget], hidden: Sequence[QWidget], parent: QObject) -> None:
        super().__init__(parent)
        self._undressed = set(hidden)
        for widget in hidden:
            if widget.parentWidget() not in self._undressed:  # what is inside is shown with it
                widget.installEventFilter(self)
        self._steps = self._work(seen, hidden)
        self._turn = QTimer(self)
        self._turn.timeout.connect(self._do_some)
        self._turn.start(_PAUSE)

    def stop(self) -> None:
        """Leave what is not done yet."""
        self._turn.stop()
        self._undressed.clear()
        self._steps = iter(())
        self.deleteLater()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A hidden part of the window is shown before its turn."""
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget):
            for widget in (watched, *watched.findChildren(QWidget)):
                self._dress(widget)
        return False

    @Slot()
    def _do_some(self) -> None:
        end = time.perf_counter() + _TURN
        while time.perf_counter() < end:
            if next(self._steps, self) is self:
                self.stop()
                return

    def _work(self, seen: Sequence[QWidget], hidden: Sequence[QWidget]) -> Iterator[None]:
        for widget in seen:
            if isValid(widget):
                _tell(widget)
            yield
        for widget in hidden:
            self._dress(widget)
            yield

    def _dress(self, widget: QWidget) -> None:
        if widget in self._undressed:
            self._undressed.discard(widget)
            if isValid(widget):
                widget.style().polish(widget)
                _tell(widget)


def _tell(widget: QWidget) -> None:
    QCoreApplication.sendEvent(widget, QEvent(QEvent.Type.StyleChange))
