"""Two image panes that zoom and move together and tell when both have been painted."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPointF, Qt, Signal, Slot

from a3s_desktop.ui.adjustments import flipped_point, turned_point
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
            pane.resized.connect(self.apply)
            pane.pictureChanged.connect(self.apply)

    def forget_painted(self) -> None:
        """A new pair: what was painted before does not count."""
        self._painted = [-1, -1]
        self._told = -1

    def reset(self) -> None:
        """Show both whole."""
        self.link.reset()
        self.apply()

    @Slot(bool)
    def set_linked(self, linked: bool) -> None:
        """Lock or unlock the panes to each other."""
        if linked != self.link.linked:
            self.link.set_linked(linked)
            self.linkedChanged.emit(linked)

    @property
    def led(self) -> int:
        """The side that keys and the stage move: the left one, which takes the right one along; unlinked the right."""
        side = 0 if self.link.linked else 1
        return side if self.panes[side].frame() is not None else 1 - side

    def zoom(self, factor: float) -> None:
        """Zoom at the middle (keys and buttons)."""
        frame = self.panes[self.led].frame()
        if frame is not None:
            self.zoom_at(factor, QPointF(frame.pane_width / 2, frame.pane_height / 2))

    def pan(self, right: float, down: float) -> None:
        """Look further right or down, by shares of the pane (keys)."""
        frame = self.panes[self.led].frame()
        if frame is not None:
            self.drag_by(QPointF(-right * frame.pane_width, -down * frame.pane_height))

    @Slot(float, QPointF)
    def zoom_at(self, factor: float, position: QPointF) -> None:
        """Zoom at a point of the stage that covers both panes."""
        self._zoom(self.led, factor, position)

    @Slot(QPointF)
    def drag_by(self, distance: QPointF) -> None:
        """Drag on the stage that covers both panes."""
        self._drag(self.led, distance)

    @Slot(QPointF)
    def toggle_at(self, position: QPointF) -> None:
        """A double click on the stage that covers both panes."""
        self._toggle(self.led, position)

    def turn(self, side: int) -> None:
        """Turn one image a quarter clockwise; what was in the middle of its pane stays there."""
        view, source = self.link.wanted[side], self.panes[side].source
        self.link.place(side, *turned_point(view.x, view.y))
        self.panes[side].set_orientation(source.orientation.turned())
        self.apply()

    def mirror(self, side: int) -> None:
        """Exchange left and right of one image; what was in the middle of its pane stays there."""
        view, source = self.link.wanted[side], self.panes[side].source
        self.link.place(side, *flipped_point(view.x, view.y))
        self.panes[side].set_orientation(source.orientation.flipped())
        self.apply()

    def unturn(self) -> None:
        """Both images as their files say."""
        for side, pane in enumerate(self.panes):
            if pane.source.orientation.mirrored:
                self.mirror(side)
            while not pane.source.orientation.neutral:
                self.turn(side)

    def actual_size(self, side: int = 0) -> None:
        """One image pixel on one screen pixel: on the given side, which takes the other along; unlinked on both."""
        for each in (side,) if self.link.linked else (0, 1):
            frame = self.panes[each].frame()
            if frame is not None:
                factor = frame.actual / self.link.shown(each, frame).zoom
                self.link.zoom(each, frame, factor, frame.pane_width / 2, frame.pane_height / 2)
        self.apply()

    def _zoom(self, side: int, factor: float, position: QPointF) -> None:
        frame = self.panes[side].frame()
        if frame is not None:
            self.link.zoom(side, frame, factor, position.x(), position.y())
            self.apply()

    def _drag(self, side: int, distance: QPointF) -> None:
        frame = self.panes[side].frame()
        if frame is not None:
            self.link.move(side, frame, distance.x(), distance.y())
            self.apply()

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
    def apply(self) -> None:
        """Give both panes their views, as the sizes are now."""
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
    def both_painted(self, number: int) -> None:
        """A stage over both panes has painted the pair."""
        self._note(0, number)
        self._note(1, number)

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
