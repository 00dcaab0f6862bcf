"""One image as large as its window; arrow keys go through a list of images, Escape closes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QRect, QSize, Qt, Slot
from PySide6.QtGui import QColor, QImage, QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QDialog, QLabel, QVBoxLayout, QWidget

from a3s_desktop.i18n import number, tr
from a3s_desktop.ui.image_loader import NEXT, NOW, ImageLoader
from a3s_desktop.ui.theme import SPACE_2, SPACE_4, set_role, tokens

_GROUP = "enlarged view"
_STEPS = {
    Qt.Key.Key_Left: -1,
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_PageUp: -1,
    Qt.Key.Key_Right: 1,
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_PageDown: 1,
    Qt.Key.Key_Space: 1,
}


class NamedFiles(Protocol):
    """What the view asks of the project's items (``storage.workspace.Items``)."""

    def file(self, item: int) -> Path:
        """Path of the image file."""

    def name(self, item: int) -> str:
        """File name to show."""


class _Canvas(QWidget):
    """Draws an image fitted and centred, or a sentence."""

    def __init__(self) -> None:
        super().__init__()
        self.image: QImage | None = None
        self.sentence = ""
        self.setMinimumSize(160, 120)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        painter = QPainter(self)
        self.draw(painter)
        painter.end()

    def draw(self, painter: QPainter) -> None:
        """Paint all."""
        theme = tokens()
        painter.fillRect(self.rect(), QColor(theme.stage))
        if self.image is None:
            painter.setPen(QColor(theme.muted))
            painter.drawText(
                self.rect().adjusted(SPACE_4, 0, -SPACE_4, 0),
                Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap,
                self.sentence,
            )
            return
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        place = QRect(self.rect().topLeft(), self.image.size().scaled(self.size(), Qt.AspectRatioMode.KeepAspectRatio))
        place.moveCenter(self.rect().center())
        painter.drawImage(place, self.image)


class EnlargedView(QDialog):
    """See the module. Does not block the window that opened it."""

    def __init__(self, loader: ImageLoader, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._loader = loader
        self._items: NamedFiles | None = None
        self._members: tuple[int, ...] = ()
        self._row = 0
        self._key = ""
        self._canvas, self._caption = _Canvas(), QLabel()
        self._caption.setTextFormat(Qt.TextFormat.PlainText)  # a file name is not markup
        self._caption.setAlignment(Qt.AlignmentFlag.AlignCenter)
        set_role(self._caption, role="muted")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, SPACE_2)
        column.addWidget(self._canvas, 1)
        column.addWidget(self._caption)
        self.resize(900, 700)
        loader.loaded.connect(self._loaded)
        loader.failed.connect(self._failed)

    @property
    def item(self) -> int | None:
        """The item that is shown."""
        return self._members[self._row] if self._members else None

    @property
    def image(self) -> QImage | None:
        """The picture on the screen, once there is one."""
        return self._canvas.image

    def show_members(self, items: NamedFiles, members: Sequence[int], row: int) -> None:
        """Open (or come to the front) with the image at ``row`` of ``members``."""
        self._items, self._members = items, tuple(members)
        self.show()
        self.raise_()
        self.activateWindow()
        self.go(row)

    def go(self, row: int) -> None:
        """Show the image at a row; stops at both ends."""
        if self._items is None or not self._members:
            return
        self._row = min(max(row, 0), len(self._members) - 1)
        name = self._items.name(self._members[self._row])
        self.setWindowTitle(name)
        self._caption.setText(
            tr(
                "{name} · {number} of {count}",
                name=name,
                number=number(self._row + 1),
                count=number(len(self._members)),
            )
        )
        self._canvas.setAccessibleName(name)
        self._request()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._request()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = _STEPS.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
        else:
            self.go(self._row + step)

    def done(self, result: int) -> None:
        self._loader.cancel(_GROUP)
        self._key = ""
        super().done(result)

    def _box(self) -> QSize:
        # In steps, so that dragging the window's edge does not decode at every pixel.
        ratio, step = self._canvas.devicePixelRatioF(), 128
        width, height = self._canvas.width() * ratio, self._canvas.height() * ratio
        return QSize(-(-int(width) // step) * step, -(-int(height) // step) * step)

    def _request(self) -> None:
        if self._items is None or not self._members or not self.isVisible():
            return
        path, box = self._items.file(self._members[self._row]), self._box()
        self._key = ImageLoader.key(path, box)
        self._canvas.sentence = self._loader.failure(path, box) or ""
        self._canvas.image = self._loader.get(path, box)
        if self._canvas.image is None and not self._canvas.sentence:
            self._canvas.image = self._loader.best(path)  # blurred until the sharp one comes
            self._loader.cancel(_GROUP, keep={self._key})
            self._loader.request(path, box, NOW - 1, _GROUP)
        for row in (self._row + 1, self._row - 1):
            if 0 <= row < len(self._members):
                self._loader.request(self._items.file(self._members[row]), box, NEXT, _GROUP)
        self._canvas.update()

    @Slot(str, QImage)
    def _loaded(self, key: str, image: QImage) -> None:
        if key == self._key:
            self._canvas.image = image
            self._canvas.update()

    @Slot(str, str)
    def _failed(self, key: str, reason: str) -> None:
        if key == self._key:
            self._canvas.image, self._canvas.sentence = None, reason
            self._canvas.update()
