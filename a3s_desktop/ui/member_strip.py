"""The other members of a cluster in one row of small images; a click shows one large."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from a3s_desktop.i18n import tr, trn
from a3s_desktop.ui.image_loader import SOON, ImageLoader
from a3s_desktop.ui.theme import RADIUS_SMALL, scaled_font, tokens

_GAP = 6
_PAD = 4
_LATER_MS = 50  # before thumbnails are decoded: the pair itself comes first, and needs the processors
_REST = 28  # width of the number of members that do not fit


@dataclass(frozen=True, slots=True)
class Member:
    """One image of the strip: item number, file, name, and a known problem or ""."""

    item: int
    path: Path
    name: str
    problem: str = ""


class MemberStrip(QWidget):
    """Thumbnails side by side; as many as fit.

    Signals
    -------
    chosen(int)
        The item clicked on; -1 when the one that is chosen is clicked again.
    """

    chosen = Signal(int)

    def __init__(self, loader: ImageLoader, height: int = 76, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._loader = loader
        self._group = f"strip-{id(self)}"
        self._members: tuple[Member, ...] = ()
        self._empty_text = ""
        self._pixmaps: dict[int, QPixmap] = {}
        self._keys: dict[str, int] = {}
        self._hovered = -1
        self._current = -1
        self._later = QTimer(self, singleShot=True, interval=_LATER_MS)
        self._later.timeout.connect(self._fetch)
        self.setFixedHeight(height)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(tr("Other images of the cluster"))
        loader.loaded.connect(self._on_loaded, Qt.ConnectionType.QueuedConnection)
        loader.failed.connect(self._on_failed, Qt.ConnectionType.QueuedConnection)

    def set_members(self, members: Sequence[Member], empty_text: str = "") -> None:
        """Show these, best first; ``empty_text`` says why there are none."""
        wanted = tuple(members)
        self._current = self._hovered = -1
        self._empty_text = empty_text
        if wanted != self._members:
            self._members = wanted
            kept = {m.item for m in wanted}
            self._pixmaps = {item: pixmap for item, pixmap in self._pixmaps.items() if item in kept}
            self._loader.cancel(self._group)
            self._keys.clear()
            self._fetch(ask=False)
            self._later.start()
        self.setAccessibleDescription(trn("{n} image", "{n} images", len(wanted)) if wanted else empty_text)
        self.update()

    def set_row_height(self, height: int) -> None:
        """Larger or smaller thumbnails; they are fetched anew, sharp for their size."""
        if height != self.height():
            self.setFixedHeight(height)
            self._pixmaps.clear()
            self._keys.clear()
            self._fetch()

    def set_current(self, item: int) -> None:
        """Mark the member that is shown large; -1 for none."""
        self._current = item
        self.update()

    @property
    def members(self) -> tuple[Member, ...]:
        """What the strip holds (not all may fit)."""
        return self._members

    def cell(self, index: int) -> QRect:
        """Place of a thumbnail."""
        side = self.height() - 2 * _PAD
        return QRect(index * (side + _GAP) + 2, _PAD, side, side)

    def fitting(self) -> int:
        """How many thumbnails fit now."""
        step = self.height() - 2 * _PAD + _GAP
        room = max(0, (self.width() - 4 + _GAP) // step)
        if room < len(self._members) and self.width() - room * step < _REST:
            room = max(0, room - 1)  # a place for "+5"
        return min(len(self._members), room)

    def _box(self) -> QSize:
        # Twice the cell: thumbnails fill their square, so the longer side of the image is cut.
        side = round((self.height() - 2 * _PAD) * self.devicePixelRatioF() * 1.5)
        return QSize(side, side)

    @Slot()
    def _fetch(self, ask: bool = True) -> None:
        """Take what is decoded, and ask for the rest."""
        box = self._box()
        for at, member in enumerate(self._members[: self.fitting()]):
            if member.item in self._pixmaps or member.problem:
                continue
            image = self._loader.get(member.path, box)
            if image is not None:
                self._pixmaps[member.item] = QPixmap.fromImage(image)
            elif ask and self._loader.failure(member.path, box) is None:
                key = self._loader.request(member.path, box, SOON - at, self._group)
                self._keys[key] = member.item

    @Slot(str, QImage)
    def _on_loaded(self, key: str, image: QImage) -> None:
        item = self._keys.pop(key, None)
        if item is not None:
            self._pixmaps[item] = QPixmap.fromImage(image)
            self.update()

    @Slot(str, str)
    def _on_failed(self, key: str, _reason: str) -> None:
        if self._keys.pop(key, None) is not None:
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's; see `draw`."""
        painter = QPainter(self)
        self.draw(painter)
        painter.end()

    def draw(self, painter: QPainter) -> None:
        """Paint the row."""
        t = tokens()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        shown = self.fitting()
        if not shown:
            painter.setPen(QColor(t.muted))
            painter.setFont(scaled_font("small"))
            painter.drawText(self.rect().adjusted(2, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, self._empty_text)
            return
        for i, member in enumerate(self._members[:shown]):
            cell = self.cell(i)
            pixmap = self._pixmaps.get(member.item)
            painter.fillRect(cell, QColor(t.stage))
            if pixmap is not None:
                painter.drawPixmap(QRectF(cell), pixmap, _square(pixmap))
            elif member.problem or (member.path and self._loader.failure(member.path, self._box())):
                painter.setPen(QColor(t.muted))
                painter.setFont(scaled_font("small"))
                painter.drawText(cell, Qt.AlignmentFlag.AlignCenter, "✕")
            if member.item == self._current or i == self._hovered:
                colour = t.accent if member.item == self._current else t.outline
                painter.setPen(QPen(QColor(colour), 2))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRoundedRect(QRectF(cell).adjusted(-2, -2, 2, 2), RADIUS_SMALL, RADIUS_SMALL)
        hidden = len(self._members) - shown
        rest = QRect(self.cell(shown).left(), 0, self.width() - self.cell(shown).left(), self.height())
        if hidden and rest.width() >= _REST - 4:
            painter.setPen(QColor(t.muted))
            painter.setFont(scaled_font("small"))
            painter.drawText(rest, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, f"+{hidden}")

    def _at(self, point: QPoint) -> int:
        return next((i for i in range(self.fitting()) if self.cell(i).contains(point)), -1)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Mark what a click would show."""
        at = self._at(event.position().toPoint())
        if at != self._hovered:
            self._hovered = at
            self.setCursor(Qt.CursorShape.PointingHandCursor if at >= 0 else Qt.CursorShape.ArrowCursor)
            self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose."""
        at = self._at(event.position().toPoint())
        if at >= 0 and event.button() == Qt.MouseButton.LeftButton:
            item = self._members[at].item
            self.chosen.emit(-1 if item == self._current else item)

    def leaveEvent(self, event: QEvent) -> None:
        """Unmark."""
        super().leaveEvent(event)
        self._hovered = -1
        self.update()

    def event(self, event: QEvent) -> bool:
        """The file name as a tool tip, as plain text: names may contain markup."""
        if event.type() == QEvent.Type.ToolTip:
            at = self._at(event.pos())  # type: ignore[attr-defined]
            if at >= 0:
                name = self._members[at].name.replace("&", "&amp;").replace("<", "&lt;")
                QToolTip.showText(event.globalPos(), f"<qt>{name}</qt>", self)  # type: ignore[attr-defined]
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """More may fit now."""
        super().resizeEvent(event)
        self._fetch()


def _square(pixmap: QPixmap) -> QRectF:
    """The middle square of a pixmap, a little above the middle for upright ones (faces, heads)."""
    width, height = pixmap.width(), pixmap.height()
    side = min(width, height)
    return QRectF((width - side) / 2, (height - side) * 0.35, side, side)
