"""Both images of the pair in one place: one over the other, side against side at a movable line, or their difference.

The stage lies over the image parts of both panes and paints what they have loaded; names and strips stay where they
are. It is invisible while the images are shown side by side.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QWidget

from a3s_desktop.i18n import decimal, percent, tr
from a3s_desktop.ui.darkroom import Darkroom
from a3s_desktop.ui.difference import Layer, difference
from a3s_desktop.ui.image_pane import ImagePane
from a3s_desktop.ui.pane_drawing import draw_badge, draw_corners, draw_remarks
from a3s_desktop.ui.theme import tokens
from a3s_desktop.ui.zoom_surface import ZoomSurface

AMOUNT_STEP = 0.05
_GAIN = 8.0  # what differences are multiplied by at most
_GRIP = 14  # logical pixels beside the line of the split where it can be taken
_PLACE = "difference"


class Mode(enum.Enum):
    """How the pair is shown."""

    SIDES = "side by side"
    OVERLAY = "overlay"
    SPLIT = "split"
    DIFFERENCE = "difference"


_AMOUNTS = {Mode.SIDES: 0.0, Mode.OVERLAY: 0.5, Mode.SPLIT: 0.5, Mode.DIFFERENCE: 1 / 3}


class CompareStage(ZoomSurface):
    """Paints the pictures of two panes in one place.

    Parameters
    ----------
    left, right : ImagePane
    darkroom : Darkroom
        Where differences are computed.

    Signals
    -------
    painted(int)
        The number of the pair, after both its images (or why there are none) were painted here.
    """

    painted = Signal(int)

    def __init__(self, left: ImagePane, right: ImagePane, darkroom: Darkroom, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._panes = (left, right)
        self._darkroom = darkroom
        self._mode = Mode.SIDES
        self._amounts = dict(_AMOUNTS)
        self._keys = ""
        self._held = False
        self._sliding = False
        self._reported = -1
        self._asked: tuple[object, ...] = ()  # what the difference that was asked for last is made of
        self._job = 0
        self._result: QImage | None = None
        self._made: tuple[object, ...] = ()  # what `_result` is made of
        self.setMouseTracking(True)
        self.setAccessibleName(tr("Both images in one place"))
        darkroom.done.connect(self._on_done)
        for pane in self._panes:
            pane.lookChanged.connect(self._refresh)
        self.hide()

    # What is shown

    @property
    def mode(self) -> Mode:
        """How the pair is shown."""
        return self._mode

    @property
    def amount(self) -> float:
        """Opacity of the right image, place of the line, or strength of the difference: 0 .. 1."""
        return self._amounts[self._mode]

    @property
    def device_size(self) -> QSize:
        """Its size in device pixels."""
        ratio = self.devicePixelRatioF()
        return QSize(max(1, int(self.width() * ratio)), max(1, int(self.height() * ratio)))

    def set_mode(self, mode: Mode) -> None:
        """Show the pair so; side by side hides the stage."""
        if mode is self._mode:
            return
        self._mode = mode
        self._forget()
        self._reported = -1
        self.setVisible(mode is not Mode.SIDES)
        self._cover()
        self.update()

    def set_keys(self, keys: Sequence[str]) -> None:
        """The keys that change the amount, to be said beside it."""
        self._keys = f"   {' '.join(keys)}" if keys else ""
        self._refresh()

    def change_amount(self, by: float) -> None:
        """More or less of the right image, the line further right or left, a stronger or weaker difference."""
        self._set_amount(self.amount + by)

    def set_held(self, held: bool) -> None:
        """Show one image alone while a key is held: the one that is seen less."""
        if held != self._held:
            self._held = held
            self.update()

    def new_pair(self) -> None:
        """Half and half again, so that neither image can be overlooked."""
        for mode in (Mode.OVERLAY, Mode.SPLIT):
            self._amounts[mode] = _AMOUNTS[mode]
        self._reported = -1
        self._forget()

    def can_drag(self) -> bool:
        """Only enlarged images move."""
        return any(pane.can_drag() for pane in self._panes)

    def _set_amount(self, amount: float) -> None:
        self._amounts[self._mode] = round(min(max(amount, 0.0), 1.0), 4)
        self.update()

    def _cover(self) -> None:
        size = None if self._mode is Mode.SIDES else self.device_size
        for pane in self._panes:
            pane.set_stage(size)

    def _forget(self) -> None:
        self._result = None
        self._asked = self._made = ()
        self._darkroom.drop(_PLACE)

    @Slot()
    def _refresh(self) -> None:
        if self._mode is not Mode.SIDES:
            self.update()

    # Painting

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's; see `draw`."""
        painter = QPainter(self)
        done = self.draw(painter)
        painter.end()
        number = self._panes[0].number
        if done and self._reported != number == self._panes[1].number:
            self._reported = number
            self.painted.emit(number)

    def draw(self, painter: QPainter) -> bool:
        """Paint all; whether both images can be judged now."""
        left, right = self._panes
        stage = self.rect()
        painter.fillRect(stage, QColor(tokens().stage))
        whole = all(pane.source.pixmap is not None for pane in self._panes)
        done = all(pane.source.settled for pane in self._panes)
        badge = ""
        if not whole:
            self._draw_halves(painter, stage)
        elif self._held:
            other = left if self._mode is Mode.OVERLAY and self.amount > 0.5 else right
            other.draw_image(painter, stage)
            badge = tr("Right image alone") if other is right else tr("Left image alone")
        elif self._mode is Mode.OVERLAY:
            left.draw_image(painter, stage)
            right.draw_image(painter, stage, self.amount)
            badge = tr("Right image over left: {share}", share=percent(self.amount)) + self._keys
        elif self._mode is Mode.SPLIT:
            self._draw_halves(painter, stage, self._line())
            self._draw_line(painter, stage)
            badge = tr("Left | Right") + self._keys
        else:
            done = self._draw_difference(painter) and done
            gain = decimal(self._gain())
            badge = tr("Difference × {gain}: black where both are the same", gain=gain) + self._keys
        draw_corners(painter, stage)
        if badge:
            draw_badge(painter, stage, badge)
        half = QRect(stage.left(), stage.top(), stage.width() // 2, stage.height())
        draw_remarks(painter, half, left.facts, left.note)
        draw_remarks(painter, half.translated(half.width(), 0), right.facts, right.note, right=True)
        return done

    def _draw_halves(self, painter: QPainter, stage: QRect, line: int | None = None) -> None:
        """Each image on its side of the line; in halves of its own, with what there is to say, where one is missing."""
        at = stage.width() // 2 if line is None else line
        for pane, part in zip(
            self._panes,
            (QRect(0, 0, at, stage.height()), QRect(at, 0, stage.width() - at, stage.height())),
            strict=True,
        ):
            painter.save()
            painter.setClipRect(part)
            # A placeholder is written in the middle of its half, an image lies where it lies on the whole stage.
            pane.draw_image(painter, stage if pane.source.pixmap is not None else part)
            painter.restore()

    def _draw_line(self, painter: QPainter, stage: QRect) -> None:
        x, y = self._line(), stage.center().y()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(0, 0, 0, 130), 4))
        painter.drawLine(x, 0, x, stage.height())
        painter.setPen(QPen(QColor("#FFFFFF"), 2))
        painter.drawLine(x, 0, x, stage.height())
        painter.setBrush(QColor("#FFFFFF"))
        painter.setPen(QPen(QColor(0, 0, 0, 130), 1))
        painter.drawEllipse(QRectF(x - 13, y - 13, 26, 26))
        painter.setPen(QPen(QColor("#20242C"), 2))
        for way in (-1, 1):
            painter.drawPolyline([QPoint(x + way * 4, y - 5), QPoint(x + way * 9, y), QPoint(x + way * 4, y + 5)])
        painter.restore()

    def _line(self) -> int:
        return round(self.width() * self._amounts[Mode.SPLIT])

    # The difference

    def _gain(self) -> float:
        return float(_GAIN ** self._amounts[Mode.DIFFERENCE])

    def _draw_difference(self, painter: QPainter) -> bool:
        """Paint the newest difference there is, ask for the right one; whether it is the right one."""
        wanted = self._wanted()
        if wanted and wanted != self._asked:
            self._asked = wanted
            layers = [
                Layer(pane.source.image, pane.source.orientation, target)
                for pane in self._panes
                if pane.source.image is not None and (target := pane.target()) is not None
            ]
            size, ground = self.device_size, QColor(tokens().stage).rgb() & 0xFFFFFF
            self._job = self._darkroom.submit(
                _PLACE, difference, *layers, size.width(), size.height(), self._gain(), ground
            )
        if self._result is not None:
            painter.save()
            ratio = self.devicePixelRatioF()
            painter.scale(1 / ratio, 1 / ratio)
            painter.drawImage(0, 0, self._result)
            painter.restore()
        return bool(wanted) and wanted == self._made

    def _wanted(self) -> tuple[object, ...]:
        parts: list[object] = [self.device_size.width(), self.device_size.height(), self._gain(), tokens().stage]
        for pane in self._panes:
            image, target = pane.source.image, pane.target()
            if image is None or target is None:
                return ()
            parts += [image.cacheKey(), pane.source.orientation, target]
        return tuple(parts)

    @Slot(str, int, object)
    def _on_done(self, place: str, number: int, result: QImage) -> None:
        if place == _PLACE and number == self._job:
            self._result, self._made = result, self._asked
            self.update()

    # The mouse, and the size

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take the line of the split, or drag the images."""
        self._sliding = event.button() == Qt.MouseButton.LeftButton and self._on_line(event)
        if not self._sliding:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move the line or the images."""
        if self._sliding:
            self._set_amount(event.position().x() / max(1, self.width()))
            return
        super().mouseMoveEvent(event)
        if event.buttons() == Qt.MouseButton.NoButton:
            self.setCursor(Qt.CursorShape.SplitHCursor if self._on_line(event) else Qt.CursorShape.ArrowCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let go."""
        self._sliding = False
        super().mouseReleaseEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """On the line: back to the middle."""
        if self._on_line(event):
            self._set_amount(_AMOUNTS[Mode.SPLIT])
        else:
            super().mouseDoubleClickEvent(event)

    def _on_line(self, event: QMouseEvent) -> bool:
        return self._mode is Mode.SPLIT and abs(event.position().x() - self._line()) <= _GRIP

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The panes load for the new size."""
        super().resizeEvent(event)
        self._cover()
