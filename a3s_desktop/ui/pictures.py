"""Pictures for views that paint them: drawn where they are decoded, asked for where they are not."""

from __future__ import annotations

from PySide6.QtCore import QObject, QRect, QRectF, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QColor, QImage, QPainter, QPainterPath

from a3s_desktop.i18n import tr, trn
from a3s_desktop.ui.image_loader import SOON, ImageLoader
from a3s_desktop.ui.theme import RADIUS_SMALL, icon_pixmap, tokens
from a3s_desktop.ui.thumbnails import ViewItems

_TOGETHER = 30  # ms; pictures that arrive within this time are painted together
_STEP = 16  # pixels; sides are rounded up to it, so that few sizes are decoded


class Pictures(QObject):
    """Draws items' pictures for one view.

    Parameters
    ----------
    loader : ImageLoader
    group : str
        What the loader knows this view's requests by.
    priority : int
        Of the requests.

    Attributes
    ----------
    items : ViewItems or None
        Of the open project.

    Signals
    -------
    changed()
        Some pictures came: the view is to be painted again.
    """

    changed = Signal()

    def __init__(self, loader: ImageLoader, group: str, parent: QObject | None = None, priority: int = SOON) -> None:
        super().__init__(parent)
        self.items: ViewItems | None = None
        self._loader = loader
        self._group = group
        self._priority = priority
        self._waiting: set[str] = set()
        self._soon = QTimer(self, singleShot=True, interval=_TOGETHER)
        self._soon.timeout.connect(self.changed)
        loader.loaded.connect(self._loaded)
        loader.failed.connect(self._failed)

    def name(self, item: int) -> str:
        """File name of an item; empty while no project is open."""
        return self.items.name(item) if self.items is not None and item >= 0 else ""

    def draw(self, painter: QPainter, frame: QRect, item: int, *, fill: bool = False) -> None:
        """Paint a picture into a rounded frame: whole, or (``fill``) cut to fill it."""
        shape = QPainterPath()
        shape.addRoundedRect(frame, RADIUS_SMALL, RADIUS_SMALL)
        painter.fillPath(shape, QColor(tokens().stage))
        if self.items is None or item < 0:
            return
        ratio = painter.device().devicePixelRatioF()
        side = -(-round(max(frame.width(), frame.height()) * ratio * (1.4 if fill else 1.0)) // _STEP) * _STEP
        box, path = QSize(side, side), self.items.file(item)
        image = self._loader.get(path, box)
        if image is None and self._loader.failure(path, box) is not None:
            size = max(min(28, frame.width() - 4, frame.height() - 4), 8)
            mark = icon_pixmap("image-off", tokens().muted, size, ratio)
            painter.drawPixmap(frame.center().x() - size // 2, frame.center().y() - size // 2, mark)
            return
        if image is None:
            self._waiting.add(self._loader.request(path, box, self._priority, self._group))
            image = self._loader.best(path)  # of another size, until the right one comes
        if image is not None:
            painter.save()
            painter.setClipPath(shape, Qt.ClipOperation.IntersectClip)
            _paint(painter, frame, image, fill)
            painter.restore()

    def drop(self) -> None:
        """What was asked for is no longer in view; what is in view is asked for again when it is painted."""
        self._waiting.clear()
        self._loader.cancel(self._group)

    @Slot(str, QImage)
    def _loaded(self, key: str, _image: QImage) -> None:
        self._came(key)

    @Slot(str, str)
    def _failed(self, key: str, _reason: str) -> None:
        self._came(key)

    def _came(self, key: str) -> None:
        if key in self._waiting:
            self._waiting.discard(key)
            if not self._soon.isActive():
                self._soon.start()


def _paint(painter: QPainter, frame: QRect, image: QImage, fill: bool) -> None:
    if fill:
        part = QSize(frame.size()).scaled(image.size(), Qt.AspectRatioMode.KeepAspectRatio)
        source = QRect((image.width() - part.width()) // 2, (image.height() - part.height()) // 2, part.width(),
                       part.height())  # fmt: skip
        painter.drawImage(QRectF(frame), image, QRectF(source))
        return
    place = QRect(frame.topLeft(), image.size().scaled(frame.size(), Qt.AspectRatioMode.KeepAspectRatio))
    place.moveCenter(frame.center())
    painter.drawImage(place, image)


def mosaic(frame: QRect, count: int, gap: int = 2) -> list[QRect]:
    """Places of one to four pictures in a frame."""
    half_w, half_h = (frame.width() - gap) // 2, (frame.height() - gap) // 2
    right, lower = frame.left() + half_w + gap, frame.top() + half_h + gap
    if count <= 1:
        return [frame]
    left_half = QRect(frame.left(), frame.top(), half_w, frame.height())
    if count == 2:
        return [left_half, QRect(right, frame.top(), half_w, frame.height())]
    corners = [QRect(x, y, half_w, half_h) for y in (frame.top(), lower) for x in (frame.left(), right)]
    return [left_half, corners[1], corners[3]] if count == 3 else corners


def draw_meter(painter: QPainter, left: int, bottom: int, share: float, height: int) -> int:
    """Five bars of growing height, filled up to a share: doubt without colour. Returns the width used."""
    theme, width, gap = tokens(), 3, 2
    filled = round(min(max(share, 0.0), 1.0) * 5)
    for k in range(5):
        tall = max(round(height * (k + 2) / 6), 2)
        painter.fillRect(left + k * (width + gap), bottom - tall, width, tall,
                         QColor(theme.text if k < filled else theme.border))  # fmt: skip
    return 5 * width + 4 * gap


def cluster_title(cluster: int, name: str, size: int) -> str:
    """What a cluster is called: its name, else its number; a single image so."""
    if name:
        return name
    return tr("Cluster {cluster}", cluster=cluster) if size > 1 else tr("Single image {cluster}", cluster=cluster)


def images_text(count: int) -> str:
    """ "12 images"."""
    return trn("{n} image", "{n} images", count)
