"""Python's cycle collector, run on the GUI thread only.

A cycle may hold Qt objects, which must not be destroyed on another thread; left to itself the collector runs on
whichever thread happens to allocate. What is alive after the start is frozen, so that no collection walks the half
million objects of the libraries, which would hold the window for a tenth of a second. The same is done whenever
libraries were loaded since, as the computing ones are by the first project, and whenever a collection would walk so
many objects that most of them must be a worker's data; reference counts free that, frozen or not.
"""

from __future__ import annotations

import gc
import sys

from PySide6.QtCore import QObject, QTimer, Slot

_INTERVAL = 1000  # ms
_YOUNG = 2000  # new objects that are worth a look
_MANY = 100_000  # objects that are too many to walk: 10 ms
_LOADED = 20  # new modules that make a library
_OLDER = 10  # collections of one generation before the next one has its turn


class GarbageCollector(QObject):
    """Switches automatic collection off and collects by a timer; `stop` puts things back."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._was_enabled = gc.isenabled()
        self._passes = [0, 0]
        gc.disable()
        self.settle()
        self._timer = QTimer(self)
        self._timer.setInterval(_INTERVAL)
        self._timer.timeout.connect(self.collect)
        self._timer.start()

    @Slot()
    def collect(self) -> int:
        """Collect the young generation if it has grown, the older ones now and then; the generation, or -1 for none."""
        young = gc.get_count()[0]
        if young < _YOUNG:
            return -1
        generation = 0
        for older, passes in enumerate(self._passes):
            self._passes[older] = passes + 1
            if passes + 1 < _OLDER:
                break
            self._passes[older] = 0
            generation = older + 1
        walked = young + sum(len(gc.get_objects(older)) for older in range(1, generation + 1))
        if walked > _MANY or len(sys.modules) > self._modules + _LOADED:
            self.settle()
            return -1
        gc.collect(generation)
        return generation

    def settle(self) -> None:
        """What is alive now stays for long."""
        self._modules = len(sys.modules)
        gc.freeze()

    def stop(self) -> None:
        """Back to Python's own ways."""
        self._timer.stop()
        gc.unfreeze()
        if self._was_enabled:
            gc.enable()
