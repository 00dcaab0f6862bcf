"""Image arithmetic off the GUI thread: for each place the newest job counts, older ones that wait are dropped."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal, Slot

_log = logging.getLogger(__name__)


class Darkroom(QObject):
    """Runs small jobs for named places ("tone of the left pane"). All methods are for the GUI thread.

    Parameters
    ----------
    threads : int
        Two, so that a file on a sleeping drive does not hold up the tones of what is on screen.

    Signals
    -------
    done(str, int, object)
        Place, the number that `submit` returned, and the result. Results of jobs that have been replaced are dropped.
    """

    done = Signal(str, int, object)
    _arrived = Signal(str, int, object)

    def __init__(self, threads: int = 2, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: OrderedDict[str, tuple[int, Callable[..., Any], tuple[Any, ...]]] = OrderedDict()
        self._newest: dict[str, int] = {}
        self._count = 0
        self._wanted = threads
        self._threads: list[threading.Thread] = []
        self._wake = threading.Condition()
        self._closed = False
        self._arrived.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def submit(self, place: str, work: Callable[..., Any], *arguments: Any) -> int:
        """Have ``work(*arguments)`` done for a place, instead of what still waits for it; returns the job's number.

        Work that raises gives no result; the error is logged.
        """
        self._count += 1
        self._newest[place] = self._count
        with self._wake:
            if self._closed:
                return self._count
            self._waiting.pop(place, None)
            self._waiting[place] = (self._count, work, arguments)
            self._wake.notify()
        if len(self._threads) < self._wanted:
            thread = threading.Thread(target=self._work, name=f"a3s-darkroom-{len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()
        return self._count

    def drop(self, place: str) -> None:
        """Nothing is wanted for a place any more."""
        self._newest.pop(place, None)
        with self._wake:
            self._waiting.pop(place, None)

    def shutdown(self) -> None:
        """Stop and wait; nothing is delivered any more. Harmless when called twice."""
        with self._wake:
            self._closed = True
            self._waiting.clear()
            self._wake.notify_all()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while True:
            with self._wake:
                while not self._waiting and not self._closed:
                    self._wake.wait()
                if self._closed:
                    return
                place, (number, work, arguments) = self._waiting.popitem(last=False)
            try:
                result = work(*arguments)
            except Exception:
                _log.exception("image work for %s failed", place)
                continue
            del work, arguments  # may hold large images
            self._arrived.emit(place, number, result)

    @Slot(str, int, object)
    def _deliver(self, place: str, number: int, result: object) -> None:
        if not self._closed and self._newest.get(place) == number:
            self.done.emit(place, number, result)
