"""Copies the names of selected images to the clipboard; of very many, some in each turn of the event loop."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QMimeData, QObject, QTimer, Signal, Slot
from PySide6.QtGui import QGuiApplication

from a3s_desktop.core.types import IndexArray

_BLOCK = 4096  # names in one turn, about 10 ms


class NameCopy(QObject):
    """See the module. So few that one turn is enough are copied at once.

    Signals
    -------
    copied(object)
        The names of these items (int64) are on the clipboard, a line each.
    """

    copied = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._items: IndexArray = np.zeros(0, np.int64)
        self._name: Callable[[int], str] = str
        self._done = 0
        self._parts: list[bytes] = []  # a block each: to let go of very many short texts takes long, too
        self._turn = QTimer(self, interval=0)
        self._turn.timeout.connect(self._go_on)

    @property
    def busy(self) -> bool:
        """Whether names are still being gathered."""
        return self._turn.isActive()

    def begin(self, items: IndexArray, name: Callable[[int], str]) -> None:
        """Copy the names of these items instead of those that are being copied; ``name`` tells them."""
        self._items, self._name, self._done, self._parts = items, name, 0, []
        if len(items) <= _BLOCK:
            self._go_on()
        else:
            self._turn.start()

    @Slot()
    def _go_on(self) -> None:
        some = self._items[self._done : self._done + _BLOCK].tolist()
        self._done += len(some)
        if some:
            self._parts.append("\n".join(map(self._name, some)).encode("utf-8", "replace"))
            if len(self._items) > _BLOCK:  # the clipboard takes a turn of its own
                return
        self._turn.stop()
        items, text = self._items, QMimeData()
        text.setData("text/plain", b"\n".join(self._parts))
        self._items, self._parts = items[:0], []
        QGuiApplication.clipboard().setMimeData(text)
        self.copied.emit(items)
