"""The pair: two columns of image, cluster title and strip, in a frame that flashes in the colour of the answer."""

from __future__ import annotations

from PySide6.QtCore import QEasingCurve, QEvent, QPoint, QRect, QSize, Qt, QVariantAnimation, Signal, Slot
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QRegion, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from a3s_desktop.i18n import tr, trn
from a3s_desktop.ui.compare_stage import CompareStage
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.image_pane import ImagePane
from a3s_desktop.ui.member_strip import MemberStrip
from a3s_desktop.ui.plain import plain_tip
from a3s_desktop.ui.shortcuts import Shortcuts
from a3s_desktop.ui.theme import SPACE_1, SPACE_2, cluster_colour, scaled_font, set_role, tokens
from a3s_desktop.ui.tones_panel import TonesPanel
from a3s_desktop.ui.tool_strip import ToolStrip

FRAME = 10  # logical pixels around the pair; the flash is painted only here
GUTTER = 10
FLASH_MS = 420
STRIP, STRIP_LARGE, ROOMY = 70, 94, 760  # height of the strips; from which height of the area on they are large


class ClusterTitle(QWidget):
    """A coloured dot as on the map, the cluster's number, its size; stands before the strip of its members."""

    SHARE, MOST = 0.24, 240  # of the column's width, for names; not more pixels than that

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._dot = QLabel()
        self._dot.setFixedSize(10, 10)
        self._name = QLabel()
        self._size = QLabel()
        self._size.setProperty("role", "small")
        self._cluster = -1
        first = QHBoxLayout()
        first.setSpacing(SPACE_2 - 2)
        first.addWidget(self._dot)
        first.addWidget(self._name, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(2, 0, SPACE_1, 0)
        column.setSpacing(1)
        column.addStretch(1)
        column.addLayout(first)
        column.addWidget(self._size)
        column.addStretch(1)
        set_role(self._name, role="strong")
        self._title = ""
        self.set_room(0)

    def set_cluster(self, cluster: int, size: int, name: str = "") -> None:
        """Show a cluster by its name or number; one of size 1 without a name is called a single image."""
        self._cluster = cluster if size > 1 else -1
        title = name or (tr("Cluster {cluster}", cluster=cluster) if size > 1 else tr("Single image"))
        self._title = title
        self._name.setToolTip(plain_tip(name))
        self._name.setTextFormat(Qt.TextFormat.PlainText)
        self._elide()
        self._size.setText(trn("{n} image", "{n} images", size) if size > 1 else tr("no cluster yet"))
        self.recolour()

    def set_room(self, column: int) -> None:
        """Take a share of a column so wide; never less than an unnamed cluster needs, the same for every pair."""
        self._column = column
        metrics = QFontMetrics(scaled_font("base", bold=True))
        small = QFontMetrics(scaled_font("small"))
        longest = (tr("Cluster {cluster}", cluster=8888), tr("Single image"))
        words = [metrics.horizontalAdvance(text) for text in longest]
        words.append(small.horizontalAdvance(tr("no cluster yet")))
        self._around = 10 + 2 * SPACE_2
        self.setFixedWidth(max(128, max(words) + self._around + 2, min(round(column * self.SHARE), self.MOST)))
        self._elide()

    def changeEvent(self, event: QEvent) -> None:
        """Another size of text needs another width."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_column"):
            self.set_room(self._column)

    def _elide(self) -> None:
        room = self.width() - self._around
        self._name.setText(self._name.fontMetrics().elidedText(self._title, Qt.TextElideMode.ElideRight, room))

    @property
    def text(self) -> str:
        """What it says."""
        return f"{self._name.text()}, {self._size.text()}"

    def recolour(self) -> None:
        """After a change of theme."""
        # Single images are grey on the map too.
        colour = cluster_colour(self._cluster).name() if self._cluster >= 0 else tokens().outline
        self._dot.setStyleSheet(f"background: {colour}; border-radius: 5px;")


class PairColumn(QWidget):
    """One side of the pair.

    Signals
    -------
    memberChosen(int)
        A member of the strip was clicked (-1: back to the pair's own image).
    """

    memberChosen = Signal(int)  # noqa: N815 - Qt's naming

    def __init__(self, loader: ImageLoader, side: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = ClusterTitle()
        self.pane = ImagePane(loader)
        self.pane.setObjectName(f"pane.{side}")
        self.strip = MemberStrip(loader, STRIP)
        self.strip.setObjectName(f"strip.{side}")
        self.strip.chosen.connect(self.memberChosen)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.pane, 1)
        foot = QHBoxLayout()
        foot.setSpacing(0)
        foot.addWidget(self.title)
        foot.addWidget(self.strip, 1)
        column.addLayout(foot)


class PairArea(QWidget):
    """Both columns, equally wide to the pixel, so that an image decoded ahead fits either side; tools beside them.

    Attributes
    ----------
    left, right : PairColumn
    tools : ToolStrip
    stage : CompareStage
        Over both panes' images while they are compared in one place.
    tones : TonesPanel
    """

    def __init__(self, loader: ImageLoader, shortcuts: Shortcuts, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.left = PairColumn(loader, "left")
        self.right = PairColumn(loader, "right")
        self.tools = ToolStrip(shortcuts)
        self._row = QHBoxLayout(self)
        self._row.setSpacing(GUTTER)
        self._row.addWidget(self.tools)
        self._row.addWidget(self.left, 1)
        self._row.addWidget(self.right, 1)
        self.stage = CompareStage(self.left.pane, self.right.pane, loader.darkroom, self)
        self.tones = TonesPanel(shortcuts, self)
        for column in self.columns:
            column.pane.resized.connect(self._cover, Qt.ConnectionType.QueuedConnection)  # both have their places then
        self._flash = QColor()
        self._strength = 0.0
        self._fade = QVariantAnimation(self)
        self._fade.setStartValue(1.0)
        self._fade.setEndValue(0.0)
        self._fade.setDuration(FLASH_MS)
        self._fade.setEasingCurve(QEasingCurve.Type.InQuad)
        self._fade.valueChanged.connect(self._on_fade)
        self._even()

    @property
    def columns(self) -> tuple[PairColumn, PairColumn]:
        """Left and right."""
        return self.left, self.right

    def show_tones(self, shown: bool) -> None:
        """The sliders, in the upper right corner of the images."""
        self.tones.setVisible(shown)
        self._cover()

    @Slot()
    def _cover(self) -> None:
        """The stage over the image parts of both panes, the sliders over the stage."""
        left, right = self.left.pane, self.right.pane
        start, end = left.mapTo(self, QPoint(0, 0)), right.mapTo(self, QPoint(right.width(), right.stage_height()))
        self.stage.setGeometry(QRect(start, QSize(end.x() - start.x(), end.y() - start.y())))
        self.tones.adjustSize()
        self.tones.move(end.x() - self.tones.width() - SPACE_2, start.y() + SPACE_2)
        self.tones.raise_()

    def paint_now(self) -> None:
        """Paint the pair before anything else in the window has its turn (map, panels), where its images are there."""
        if self.isVisible() and all(column.pane.source.settled for column in self.columns):
            self.repaint()

    def flash(self, colour: str) -> None:
        """Let the frame light up and fade. Costs a few thin rectangles a frame; nothing waits for it."""
        self._flash = QColor(colour)
        self._fade.stop()
        self._fade.start()

    @property
    def flashing(self) -> bool:
        """Whether the frame is lit now."""
        return self._strength > 0.0

    def stop_flash(self) -> None:
        """Dark at once (for pictures of the window)."""
        self._fade.stop()
        self._on_fade(0.0)

    @Slot("QVariant")
    def _on_fade(self, value: float) -> None:
        self._strength = float(value)
        inner = self.rect().adjusted(FRAME, FRAME, -FRAME, -FRAME)
        self.update(QRegion(self.rect()) - QRegion(inner))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt's; see `draw`."""
        painter = QPainter(self)
        self.draw(painter)
        painter.end()

    def draw(self, painter: QPainter) -> None:
        """Paint the lit frame: strong at the rim, fading inwards."""
        ground = QColor(tokens().window)
        painter.fillRect(self.rect(), ground)
        if self._strength <= 0.0:
            return
        # Opaque rectangles, one inside the other: transparent rings would cost five times as much, at every frame.
        steps = (1.0, 1.0, 1.0, 0.8, 0.55, 0.35, 0.2, 0.1, 0.0)
        for inset, weight in enumerate(steps):
            colour = _mixed(ground, self._flash, self._strength * weight)
            painter.fillRect(self.rect().adjusted(inset, inset, -inset, -inset), colour)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep both columns equal."""
        super().resizeEvent(event)
        self._even()
        roomy = self.height() >= ROOMY
        for column in self.columns:
            column.strip.set_row_height(STRIP_LARGE if roomy else STRIP)
            column.title.set_room((self.width() - 2 * FRAME - 2 * GUTTER - self.tools.width()) // 2)

    def _even(self) -> None:
        odd = (self.width() - 2 * FRAME - 2 * GUTTER - self.tools.width()) % 2
        margins = (FRAME, FRAME, FRAME + odd, FRAME)
        self._row.setContentsMargins(*margins)


def _mixed(ground: QColor, colour: QColor, share: float) -> QColor:
    def part(below: int, above: int) -> int:
        return round(below + (above - below) * share)

    return QColor(
        part(ground.red(), colour.red()), part(ground.green(), colour.green()), part(ground.blue(), colour.blue())
    )
