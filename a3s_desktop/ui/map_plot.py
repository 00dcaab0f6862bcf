"""The plot that the map is drawn in: bare, square in scale, and aware of what "all of it" and "the pair" are."""

from __future__ import annotations

from typing import Protocol

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QFrame

_PAIR_SHARE = 0.12  # of the map's side is shown around a pair, at least, so that its neighbours are in view


class PointerTool(Protocol):
    """What may take the mouse from the plot; each method says whether it did."""

    def press(self, at: QPointF, button: Qt.MouseButton, held: Qt.KeyboardModifier, /) -> bool:
        """A button went down."""

    def move(self, at: QPointF, /) -> bool:
        """The pointer moved."""

    def release(self, at: QPointF, held: Qt.KeyboardModifier, /) -> bool:
        """The button went up."""

    def double(self, at: QPointF, held: Qt.KeyboardModifier, /) -> bool:
        """A double click."""


class MapPlot(pg.GraphicsView):  # type: ignore[misc]
    """A bare view box: pyqtgraph's whole plot, with axes and menus, takes 40 ms longer to make.

    Keys, the new size, focus and the leaving pointer are handed on as signals.

    Attributes
    ----------
    tool : PointerTool or None
        Is asked first about everything that the mouse does.
    keys : frozenset of int
        Keys that are the map's own while it has the focus: no shortcut of the window is tried for them, alone or with
        Shift. The arrows answer the pair elsewhere; here they go from image to image.
    """

    left = Signal()
    resized = Signal()
    focused = Signal(bool)
    keyPressed = Signal(QKeyEvent)

    def __init__(self) -> None:
        super().__init__(background=None)
        self._box = pg.ViewBox(lockAspect=True, enableMenu=False, defaultPadding=0.0)
        self._box.disableAutoRange()
        self.setCentralItem(self._box)
        self.enableMouse(False)  # the view box handles it
        self.tool: PointerTool | None = None
        self.keys: frozenset[int] = frozenset()
        self._extent = (0.0, 0.0, 0.0, 0.0)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click must not take the keys from the pair

    def getViewBox(self) -> pg.ViewBox:
        """What holds the range that is shown."""
        return self._box

    def set_extent(self, extent: tuple[float, float, float, float]) -> None:
        """``x0, y0, x1, y1`` of all points; bounds how far the view can go away and come near."""
        self._extent = extent
        whole = self.whole()
        side = max(whole.width(), whole.height())
        middle = whole.center()
        self.getViewBox().setLimits(
            xMin=middle.x() - 2 * side,
            xMax=middle.x() + 2 * side,
            yMin=middle.y() - 2 * side,
            yMax=middle.y() + 2 * side,
            minXRange=side / 5000,
        )

    def whole(self) -> QRectF:
        """The rectangle of all points with a margin; never empty."""
        x0, y0, x1, y1 = self._extent
        side = max(x1 - x0, y1 - y0)
        side = side if side > 0 else 1.0
        wide, high = (max(length, 0.02 * side) + 0.12 * side for length in (x1 - x0, y1 - y0))
        return QRectF((x0 + x1 - wide) / 2, (y0 + y1 - high) / 2, wide, high)

    def show_whole(self) -> None:
        """Show all points."""
        self.getViewBox().setRange(self.whole(), padding=0)

    def settle(self) -> None:
        """Take over a new range at once; else that happens at the next paint, and places on the screen are stale."""
        self.getViewBox().updateMatrix()

    def show_around(self, rect: QRectF, share: float = _PAIR_SHARE) -> None:
        """Show a rectangle of the map with a margin, and at least ``share`` of the map's side."""
        whole = self.whole()
        side = max(share * max(whole.width(), whole.height()), 1.3 * max(rect.width(), rect.height()))
        middle = rect.center()
        self.getViewBox().setRange(QRectF(middle.x() - side / 2, middle.y() - side / 2, side, side), padding=0)

    def shift(self, columns: float, lines: float) -> None:
        """Move the view by shares of its size; positive is right and down."""
        box = self.getViewBox()
        rect = box.viewRect()
        box.translateBy(x=columns * rect.width(), y=-lines * rect.height())

    def show_pair(self, first: QPointF, second: QPointF) -> None:
        """Show two points and what is near them."""
        rect, whole = QRectF(first, second).normalized(), self.whole()
        side = max(
            _PAIR_SHARE * max(whole.width(), whole.height()),
            1.6 * max(rect.width(), rect.height()),
        )
        middle = rect.center()
        self.getViewBox().setRange(QRectF(middle.x() - side / 2, middle.y() - side / 2, side, side), padding=0)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.left.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.resized.emit()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and self._is_own(event):  # type: ignore[arg-type]
            event.accept()
            return True
        return bool(super().event(event))

    def _is_own(self, event: QKeyEvent) -> bool:
        extra = event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)
        return not extra and int(event.key()) in self.keys

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.focused.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.focused.emit(False)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self.tool is not None and self.tool.press(event.position(), event.button(), event.modifiers()):
            event.accept()
            return
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self.tool is not None and self.tool.move(event.position()):
            event.accept()
            return
        super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self.tool is not None and self.tool.release(event.position(), event.modifiers()):
            event.accept()
            return
        super().mouseReleaseEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self.tool is not None and self.tool.double(event.position(), event.modifiers()):
            event.accept()
            return
        super().mouseDoubleClickEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()
        self.keyPressed.emit(event)
