"""What the mouse does on an image: wheel and pinch zoom at the pointer, dragging moves, a double click enlarges."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QMouseEvent, QNativeGestureEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from a3s_desktop.ui.view_link import STEP


class ZoomSurface(QWidget):
    """Turns mouse and touch pad into signals; takes no focus.

    Signals
    -------
    wheelZoomed(float, QPointF)
        Factor, position in device pixels.
    dragged(QPointF)
        Distance in device pixels.
    doubleClicked(QPointF)
    """

    wheelZoomed = Signal(float, QPointF)  # noqa: N815 - Qt's naming
    dragged = Signal(QPointF)
    doubleClicked = Signal(QPointF)  # noqa: N815

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._drag: QPointF | None = None
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def can_drag(self) -> bool:
        """Whether dragging would move anything (for the shape of the pointer)."""
        return True

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom at the pointer."""
        pixels, angle = event.pixelDelta().y(), event.angleDelta().y()
        notches = angle / 120 if angle else pixels / 60
        if notches:
            self.wheelZoomed.emit(STEP**notches, event.position() * self.devicePixelRatioF())
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin to drag."""
        if event.button() in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            self._drag = event.position()
            if self.can_drag():
                self.setCursor(Qt.CursorShape.ClosedHandCursor)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag the image."""
        if self._drag is not None:
            self.dragged.emit((event.position() - self._drag) * self.devicePixelRatioF())
            self._drag = event.position()

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:
        """End of a drag."""
        self._drag = None
        self.unsetCursor()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Whole or actual size."""
        self.doubleClicked.emit(event.position() * self.devicePixelRatioF())

    def event(self, event: QEvent) -> bool:
        """Pinch on a touch pad."""
        if isinstance(event, QNativeGestureEvent) and event.gestureType() is Qt.NativeGestureType.ZoomNativeGesture:
            self.wheelZoomed.emit(1.0 + event.value(), event.position() * self.devicePixelRatioF())
            return True
        return super().event(event)
