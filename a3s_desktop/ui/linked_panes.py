"""Two image panes that zoom and move together and tell when both have been painted."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPointF, Qt, Signal, Slot

from a3s_desktop.ui.image_pane import ImagePane
from a3s_desktop.ui.view_link import View, ViewLink


class LinkedPanes(QObject):
    """Lets two panes zoom and move together, and says when both have been painted.

    Signals
    -------
    painted(int)
        The number of the pair, once both panes have painted it.
    linkedChanged(bool)
    """

    painted = Signal(int)
    linkedChanged = Signal(bool)  # noqa: N815 - Qt's naming

    def __init__(self, left: ImagePane, right: ImagePane, linked: bool = True, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.panes = (left, right)
        self.link = ViewLink(linked)
        self._painted = [-1, -1]
        self._told = -1
        queued = Qt.ConnectionType.QueuedConnection
        left.wheelZoomed.connect(self._zoom_left)
        right.wheelZoomed.connect(self._zoom_right)
        left.dragged.connect(self._drag_left)
        right.dragged.connect(self._drag_right)
        left.doubleClicked.connect(self._toggle_left)
        right.doubleClicked.connect(self._toggle_right)
        left.painted.connect(self._left_painted, queued)  # emitted inside a paint event: act after it
        right.painted.connect(self._right_painted, queued)
        for pane in self.panes:
            pane.resized.connect(self._apply)
            pane.pictureChanged.connect(self._apply)

    def forget_painted(self) -> None:
        """A new pair: what was painted before does not count."""
        self._painted = [-1, -1]
        self._told = -1

    def reset(self) -> None:
        """Show both whole."""
        self.link.reset()
        self._apply()

    @Slot(bool)
    def set_linked(self, linked: bool) -> None:
        """Lock or unlock the panes to each other."""
        if linked != self.link.linked:
            self.link.set_linked(linked)
            self.linkedChanged.emit(linked)

    def zoom(self, factor: float) -> None:
        """Zoom both at their middles (keys and buttons)."""
        for side, pane in enumerate(self.panes):
            frame = pane.frame()
            if frame is not None:
                self.link.zoom(side, frame, factor, frame.pane_width / 2, frame.pane_height / 2)
                if self.link.linked:
                    break
        self._apply()

    def actual_size(self, side: int = 0, position: QPointF | None = None) -> None:
        """One image pixel on one screen pixel, on the given side."""
        frame = self.panes[side].frame()
        if frame is None:
            return
        at = position or QPointF(frame.pane_width / 2, frame.pane_height / 2)
        view = self.link.shown(side, frame)
        self.link.zoom(side, frame, max(frame.actual, 1.0) / view.zoom, at.x(), at.y())
        self._apply()

    def _zoom(self, side: int, factor: float, position: QPointF) -> None:
        frame = self.panes[side].frame()
        if frame is not None:
            self.link.zoom(side, frame, factor, position.x(), position.y())
            self._apply()

    def _drag(self, side: int, distance: QPointF) -> None:
        frame = self.panes[side].frame()
        if frame is not None:
            self.link.move(side, frame, distance.x(), distance.y())
            self._apply()

    def _toggle(self, side: int, position: QPointF) -> None:
        frame = self.panes[side].frame()
        if frame is None:
            return
        if self.link.shown(side, frame).zoom > 1.01:
            self.reset()
        else:
            goal = frame.actual if frame.actual > 1.3 else 2.5
            self._zoom(side, goal, position)

    @Slot()
    def _apply(self) -> None:
        for side, pane in enumerate(self.panes):
            frame = pane.frame()
            pane.set_view(self.link.shown(side, frame) if frame is not None else View())

    @Slot(float, QPointF)
    def _zoom_left(self, factor: float, position: QPointF) -> None:
        self._zoom(0, factor, position)

    @Slot(float, QPointF)
    def _zoom_right(self, factor: float, position: QPointF) -> None:
        self._zoom(1, factor, position)

    @Slot(QPointF)
    def _drag_left(self, distance: QPointF) -> None:
        self._drag(0, distance)

    @Slot(QPointF)
    def _drag_right(self, distance: QPointF) -> None:
        self._drag(1, distance)

    @Slot(QPointF)
    def _toggle_left(self, position: QPointF) -> None:
        self._toggle(0, position)

    @Slot(QPointF)
    def _toggle_right(self, position: QPointF) -> None:
        self._toggle(1, position)

    @Slot(int)
    def _left_painted(self, number: int) -> None:
        self._note(0, number)

    @Slot(int)
    def _right_painted(self, number: int) -> None:
        self._note(1, number)

    def _note(self, side: int, number: int) -> None:
        self._painted[side] = number
        if self._painted[0] == self._painted[1] != self._told and self._painted[0] >= 0:
            self._told = number
            self.painted.emit(number)
