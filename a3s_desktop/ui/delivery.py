"""Brings the result of a reading to the view that asked for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import shiboken6
from PySide6.QtCore import QObject

if TYPE_CHECKING:
    from a3s_desktop.ui.bridge import Bridge


class Delivery:
    """Passes a result on, if its project is still open and the view that asked is still there.

    Parameters
    ----------
    bridge : Bridge
    arrived : callable
        Called first, whatever becomes of the result.
    project : int
        That was asked about.
    done : callable
        Called with the result.
    """

    def __init__(self, bridge: Bridge, arrived: Callable[[], None], project: int, done: Callable[[Any], None]) -> None:
        self._bridge = bridge
        self._arrived = arrived
        self._project = project
        self._done = done

    def deliver(self, result: tuple[int, Any]) -> None:
        """On the GUI thread: project and result."""
        self._arrived()
        opened = self._bridge.project
        owner = getattr(self._done, "__self__", None)
        gone = isinstance(owner, QObject) and not shiboken6.isValid(owner)
        if opened is not None and opened.id == self._project and not gone:
            self._done(result[1])
