"""A small floating card: a picture, its file name, its cluster. It never takes the pointer or the focus."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint, QSize, Qt, Slot
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget

from a3s_desktop.ui.image_loader import NOW, ImageLoader
from a3s_desktop.ui.theme import SPACE_1, SPACE_2, icon_pixmap, set_role, tokens

PICTURE = 132  # logical pixels
_GROUP = "hover card"


class HoverCard(QFrame):
    """See the module; ``parent`` is the widget it floats on."""

    def __init__(self, loader: ImageLoader | None, parent: QWidget) -> None:
        super().__init__(parent)
        self._loader = loader
        self._key = ""
        self._picture = QLabel()
        self._picture.setFixedSize(PICTURE, PICTURE)
        self._picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._name, self._cluster = QLabel(), QLabel()
        for label in (self._name, self._cluster):
            label.setTextFormat(Qt.TextFormat.PlainText)  # file names are not markup
            label.setFixedWidth(PICTURE)
        set_role(self, role="card")
        set_role(self._cluster, role="small")
        box = QVBoxLayout(self)
        box.setContentsMargins(SPACE_2, SPACE_2, SPACE_2, SPACE_2)
        box.setSpacing(SPACE_1)
        for label in (self._picture, self._name, self._cluster):
            box.addWidget(label)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()
        if loader is not None:
            loader.loaded.connect(self._loaded)
            loader.failed.connect(self._failed)

    def show_item(self, path: Path | None, name: str, cluster: str, at: QPoint) -> None:
        """Show beside a place of the parent.

        Parameters
        ----------
        path : Path or None
            The image file; None where there is none.
        name, cluster : str
            The two lines of text.
        at : QPoint
            The pointer, in the parent's coordinates.
        """
        self._name.setText(self._name.fontMetrics().elidedText(name, Qt.TextElideMode.ElideMiddle, PICTURE))
        self._cluster.setText(self._cluster.fontMetrics().elidedText(cluster, Qt.TextElideMode.ElideRight, PICTURE))
        self._request(path)
        self.adjustSize()
        self.move(self._place(at))
        self.show()
        self.raise_()

    def dismiss(self) -> None:
        """Hide and forget."""
        self._key = ""
        if self._loader is not None:
            self._loader.cancel(_GROUP)
        self.hide()

    def _place(self, at: QPoint) -> QPoint:
        outer, gap = self.parentWidget().size(), 16
        x = at.x() + gap if at.x() + gap + self.width() <= outer.width() else at.x() - gap - self.width()
        y = at.y() + gap if at.y() + gap + self.height() <= outer.height() else at.y() - gap - self.height()
        return QPoint(
            max(0, min(x, outer.width() - self.width())),
            max(0, min(y, outer.height() - self.height())),
        )

    def _request(self, path: Path | None) -> None:
        if path is None or self._loader is None:
            self._key = ""
            self._picture.hide()
            return
        self._picture.show()
        side = round(PICTURE * self.devicePixelRatioF())
        box = QSize(side, side)
        key = ImageLoader.key(path, box)
        if key == self._key:
            return
        self._key = key
        ready = self._loader.get(path, box)
        if ready is not None:
            self._show(ready)
            return
        self._picture.setPixmap(QPixmap())
        self._loader.cancel(_GROUP)
        self._loader.request(path, box, NOW - 1, _GROUP)

    @Slot(str, QImage)
    def _loaded(self, key: str, image: QImage) -> None:
        if key == self._key:
            self._show(image)

    @Slot(str, str)
    def _failed(self, key: str, _reason: str) -> None:
        if key == self._key:
            self._picture.setPixmap(icon_pixmap("image-off", tokens().muted, 32, self.devicePixelRatioF()))

    def _show(self, image: QImage) -> None:
        ratio = self.devicePixelRatioF()
        side = round(PICTURE * ratio)  # small originals are enlarged, so that all cards look alike
        pixmap = QPixmap.fromImage(image).scaled(
            side, side, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
        )
        pixmap.setDevicePixelRatio(ratio)
        self._picture.setPixmap(pixmap)
