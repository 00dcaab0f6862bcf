"""F6 and Shift+F6: the keyboard goes from one part of the window to the next, as on every system's own programs."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QApplication, QDockWidget, QMainWindow, QWidget

from a3s_desktop.ui.shortcuts import Shortcuts


class PartSwitch(QObject):
    """Moves the focus between the page and the panels that are in sight.

    Parameters
    ----------
    window : QMainWindow
        Its central widget and its docks are the parts.
    shortcuts : Shortcuts
    """

    def __init__(self, window: QMainWindow, shortcuts: Shortcuts) -> None:
        super().__init__(window)
        self._window = window
        shortcuts.action("window.next_part").triggered.connect(self._next)
        shortcuts.action("window.previous_part").triggered.connect(self._previous)

    def parts(self) -> list[QWidget]:
        """The page, then the panels in sight, from top to bottom and left to right."""
        docks = [dock for dock in self._window.findChildren(QDockWidget) if not dock.visibleRegion().isEmpty()]
        docks.sort(key=lambda dock: (dock.x(), dock.y()))
        widgets = [self._window.centralWidget(), *(dock.widget() for dock in docks)]
        return [widget for widget in widgets if widget is not None]

    @Slot()
    def _next(self) -> None:
        self._move(1)

    @Slot()
    def _previous(self) -> None:
        self._move(-1)

    def _move(self, by: int) -> None:
        parts = self.parts()
        focus = QApplication.focusWidget()
        here = next((i for i, part in enumerate(parts) if focus is part or part.isAncestorOf(focus or part)), 0)
        for step in range(1, len(parts)):
            target = first_stop(parts[(here + by * step) % len(parts)])
            if target is not None:
                target.setFocus(Qt.FocusReason.ShortcutFocusReason)
                return


def first_stop(part: QWidget) -> QWidget | None:
    """The first widget of a part that the keyboard can be in; None where there is none."""
    if _takes_focus(part):
        return part
    inside = [widget for widget in part.findChildren(QWidget) if _takes_focus(widget) and widget.isVisibleTo(part)]
    order = [widget for widget in _tab_order(part) if widget in inside]
    return next(iter(order or inside), None)


def _takes_focus(widget: QWidget) -> bool:
    return bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus) and widget.isEnabled() and not widget.isHidden()


def _tab_order(part: QWidget) -> list[QWidget]:
    chain, widget = [], part.nextInFocusChain()
    while widget is not None and widget is not part:
        chain.append(widget)
        widget = widget.nextInFocusChain()
    return chain
