"""One image as large as its place allows, with zoom, placeholder and file name."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, QSizeF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QImage,
    QMouseEvent,
    QNativeGestureEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from a3s_desktop.ui.image_decode import image_note, source_size
from a3s_desktop.ui.image_loader import NOW, ImageLoader
from a3s_desktop.ui.pane_drawing import draw_badge, draw_caption, draw_corners, draw_placeholder
from a3s_desktop.ui.theme import scaled_font, tokens
from a3s_desktop.ui.view_link import STEP, Frame, View

_SMOOTH_UP_TO = 20.0  # device pixels per image pixel; beyond, single pixels are shown as squares
_WAIT_MS = 180  # before "Loading" is written, so that a fast load does not flicker
_RESIZE_MS = 120


class ImagePane(QWidget):
    """Shows one image. Zoom and position come from outside (`LinkedPanes`); it asks for them by signals.

    Signals
    -------
    painted(int)
        The number given to `set_image`, after that image (or the reason why there is none) was really painted.
    wheelZoomed(float, QPointF)
        Factor, position in device pixels.
    dragged(QPointF)
        Distance in device pixels.
    doubleClicked(QPointF)
    resized()
    """

    painted = Signal(int)
    wheelZoomed = Signal(float, QPointF)  # noqa: N815 - Qt's naming
    dragged = Signal(QPointF)
    doubleClicked = Signal(QPointF)  # noqa: N815
    resized = Signal()
    pictureChanged = Signal()  # noqa: N815

    def __init__(self, loader: ImageLoader, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._loader = loader
        self._group = f"pane-{id(self)}"
        self._path: Path | None = None
        self._number = 0
        self._reported = -1
        self._caption = ""
        self._reason = ""
        self._badge = ""
        self._image: QImage | None = None
        self._pixmap: QPixmap | None = None
        self._source = QSize()
        self._preview = False  # a smaller version is stretched until the right one comes; it does not count as seen
        self._waited = False
        self._wanted_key = ""
        self._box = QSize()
        self._view = View()
        self._drag: QPointF | None = None
        self._wait = QTimer(self, singleShot=True, interval=_WAIT_MS)
        self._wait.timeout.connect(self._on_waited)
        self._settle = QTimer(self, singleShot=True, interval=_RESIZE_MS)
        self._settle.timeout.connect(self._ask_again)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(160, 120)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName("Image")
        loader.loaded.connect(self._on_loaded, Qt.ConnectionType.QueuedConnection)
        loader.failed.connect(self._on_failed, Qt.ConnectionType.QueuedConnection)

    # What is shown

    def set_image(self, path: Path | None, caption: str = "", number: int = 0, reason: str = "") -> None:
        """Show a file.

        Parameters
        ----------
        path : Path or None
            None shows nothing.
        caption : str
            File name under the image; shortened in the middle where it does not fit.
        number : int
            Comes back with ``painted``.
        reason : str
            A problem of this file that is known already; shown without reading it.
        """
        same = path == self._path and self._pixmap is not None and not self._preview
        self._number, self._reported = number, -1
        self._caption = caption
        self._badge = ""
        self._loader.cancel(self._group)
        self._wanted_key = ""
        self.setAccessibleName(f"Image {caption}" if caption else "No image")
        self.setToolTip("")
        if not same:
            self._path = path
            self._image = self._pixmap = None
            self._source = QSize()
            self._preview = self._waited = False
            self._reason = reason
            if path is not None and not reason:
                self._ask(self.fit_box(), first=True)
        self.update()

    def set_badge(self, text: str) -> None:
        """A short note over the image's upper edge ("another image of this cluster")."""
        self._badge = text
        self.update()

    def set_view(self, view: View) -> None:
        """Zoom and position, already clamped to the image."""
        if view != self._view:
            self._view = view
            self.update()
            self._settle.start()

    @property
    def path(self) -> Path | None:
        """The file shown."""
        return self._path

    @property
    def reason(self) -> str:
        """Why there is no image, or ""."""
        return self._reason

    @property
    def caption(self) -> str:
        """The file name shown."""
        return self._caption

    @property
    def has_image(self) -> bool:
        """Whether the image is there, sharp enough to be judged (not only asked for)."""
        return self._pixmap is not None and not self._preview

    def frame(self) -> Frame | None:
        """Sizes for computing views; None while there is no image."""
        if self._source.isEmpty():
            return None
        box = self.fit_box()
        return Frame(box.width(), box.height(), self._source.width(), self._source.height())

    def fit_box(self) -> QSize:
        """Device pixels of the place for the image; what to prefetch for."""
        ratio = self.devicePixelRatioF()
        return QSize(max(1, int(self.width() * ratio)), max(1, int(self._stage_height() * ratio)))

    def source_size(self) -> QSize:
        """Pixels of the original, upright; empty while not known."""
        return QSize(self._source)

    # Loading

    def _ask(self, box: QSize, first: bool = False) -> None:
        path = self._path
        if path is None:
            return
        self._box = box
        self._wanted_key = self._loader.key(path, box)
        image = self._loader.get(path, box)
        if image is not None:
            self._take(image)
            return
        reason = self._loader.failure(path, box)
        if reason is not None:
            self._refuse(reason)
            return
        if first:
            smaller = self._loader.best(path)
            if smaller is not None:
                self._take(smaller, preview=True)
            self._wait.start()
        self._loader.request(path, box, NOW, self._group)

    @Slot()
    def _ask_again(self) -> None:
        """After a change of size or zoom: a sharper version, where the file has one."""
        if self._path is None or self._reason or self._image is None:
            return
        box = self.fit_box()
        frame = self.frame()
        if frame is not None and self._view.zoom > 1.01:
            needed = self._view.zoom * frame.fit * self._source.width()
            step = self._source.width()
            while step / 2 >= needed and step / 2 >= box.width():
                step //= 2
            height = max(1, round(step * self._source.height() / self._source.width()))
            if step > self._image.width():
                box = QSize(step, height)
            else:
                return  # sharp enough
        elif self._image.size() == self._fitted(box):
            return
        if box != self._box:
            self._ask(box)

    def _fitted(self, box: QSize) -> QSize:
        if self._source.width() <= box.width() and self._source.height() <= box.height():
            return self._source
        return self._source.scaled(box, Qt.AspectRatioMode.KeepAspectRatio)

    @Slot(str, QImage)
    def _on_loaded(self, key: str, image: QImage) -> None:
        if key == self._wanted_key:
            self._take(image)

    @Slot(str, str)
    def _on_failed(self, key: str, reason: str) -> None:
        if key == self._wanted_key and (self._pixmap is None or self._preview):
            self._image = self._pixmap = None
            self._preview = False
            self._refuse(reason)

    def _take(self, image: QImage, *, preview: bool = False) -> None:
        self._wait.stop()
        self._preview = preview
        self._image = image
        self._pixmap = QPixmap.fromImage(image)
        self._source = source_size(image)
        self.setToolTip(image_note(image))
        self.pictureChanged.emit()
        self.update()

    def _refuse(self, reason: str) -> None:
        self._wait.stop()
        self._reason = reason
        self.setAccessibleName(f"Image {self._caption} cannot be shown. {reason}")
        self.update()

    @Slot()
    def _on_waited(self) -> None:
        self._waited = True
        self.update()

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt's; see `draw`."""
        painter = QPainter(self)
        self.draw(painter, event.rect())
        painter.end()
        ready = self._path is None or self.has_image or bool(self._reason)
        if ready and self._reported != self._number:
            self._reported = self._number
            self.painted.emit(self._number)

    def draw(self, painter: QPainter, _dirty: QRect) -> None:
        """Paint the stage, the image or its placeholder, and the caption."""
        t = tokens()
        stage = QRect(0, 0, self.width(), self._stage_height())
        painter.fillRect(self.rect(), QColor(t.window))
        painter.fillRect(stage, QColor(t.stage))
        if self._pixmap is not None:
            self._draw_image(painter, stage)
        elif self._reason:
            draw_placeholder(painter, stage, self._reason, self.devicePixelRatioF())
        elif self._path is not None and self._waited:
            painter.setFont(scaled_font("base"))
            painter.setPen(QColor(t.muted))
            painter.drawText(stage, Qt.AlignmentFlag.AlignCenter, "Loading …")
        draw_corners(painter, stage)
        if self._badge:
            draw_badge(painter, stage, self._badge)
        self._draw_caption(painter, stage)

    def _draw_image(self, painter: QPainter, stage: QRect) -> None:
        frame, pixmap = self.frame(), self._pixmap
        if frame is None or pixmap is None:
            return
        ratio = self.devicePixelRatioF()
        left, top, width, height = frame.target(frame.clamped(self._view))
        # Whole device pixels: an image decoded for exactly this place is then copied, not resampled.
        target = QRectF(round(left), round(top), round(width), round(height))
        exact = abs(pixmap.width() - target.width()) <= 1 and abs(pixmap.height() - target.height()) <= 1
        if exact:
            target.setSize(QSizeF(pixmap.size()))
        scale = width / self._source.width()
        painter.save()
        painter.setClipRect(stage)
        painter.scale(1 / ratio, 1 / ratio)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, not exact and scale < _SMOOTH_UP_TO)
        painter.drawPixmap(target, pixmap, QRectF(pixmap.rect()))
        painter.restore()

    def _draw_caption(self, painter: QPainter, stage: QRect) -> None:
        row = QRect(2, stage.bottom() + 1, self.width() - 4, self.height() - stage.height())
        note = image_note(self._image) if self._image is not None else ""
        facts = f"{self._source.width()} × {self._source.height()}" if not self._source.isEmpty() else ""
        frame = self.frame()
        if frame is not None and self._view.zoom > 1.005:
            facts = f"{round(100 * frame.fit * self._view.zoom)} %  ·  {facts}"
        draw_caption(painter, row, self._caption, f"damaged file  ·  {facts}" if note else facts, warn=bool(note))

    def _stage_height(self) -> int:
        return max(1, self.height() - self.caption_height())

    def caption_height(self) -> int:
        """Logical pixels under the image for its name."""
        return self.fontMetrics().height() + 8

    # The mouse

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
            if self._view.zoom > 1.0:
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

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A sharper image once the size is settled; the old one is stretched meanwhile."""
        super().resizeEvent(event)
        if self._path is not None and self._image is None and not self._reason:
            self._ask(self.fit_box(), first=True)  # nothing to stretch: the first layout of the window
        self._settle.start()
        self.resized.emit()
