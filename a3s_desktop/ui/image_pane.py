"""One image as large as its place allows, with zoom, placeholder and file name."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from a3s_desktop.i18n import tr
from a3s_desktop.ui.adjustments import Orientation
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.pane_drawing import (
    draw_badge,
    draw_caption,
    draw_corners,
    draw_mark,
    draw_picture,
    draw_placeholder,
    draw_remarks,
)
from a3s_desktop.ui.pane_source import PaneSource
from a3s_desktop.ui.plain import plain_tip
from a3s_desktop.ui.theme import scaled_font, tokens
from a3s_desktop.ui.view_link import Frame, View
from a3s_desktop.ui.zoom_surface import ZoomSurface


class ImagePane(ZoomSurface):
    """Shows one image. Zoom and position come from outside (`LinkedPanes`); it asks for them by signals.

    While a stage lies over both panes (see ``compare_stage``), a pane loads for the stage's size and reports nothing.

    Attributes
    ----------
    source : PaneSource
        Loads the picture.

    Signals
    -------
    painted(int)
        The number given to `set_image`, after that image (or the reason why there is none) was really painted.
    resized()
    pictureChanged()
        Another picture, a sharper one, or none.
    lookChanged()
        Anything that a stage over the panes would have to paint anew.
    """

    painted = Signal(int)
    resized = Signal()
    pictureChanged = Signal()  # noqa: N815 - Qt's naming
    lookChanged = Signal()  # noqa: N815

    def __init__(self, loader: ImageLoader, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.source = PaneSource(loader, self)
        self.source.changed.connect(self._on_source)
        self._number = 0
        self._reported = -1
        self._caption = ""
        self._badge = ""
        self._note = ""
        self._facts: tuple[str, ...] = ()
        self._mark: tuple[float, float, float, float] | None = None
        self._view = View()
        self._stage: QSize | None = None  # device pixels of the stage that covers this pane
        self._guest: ImagePane | None = None  # shown in this pane's place while a key is held
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(160, 120)
        self.setAccessibleName(tr("Image"))

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
        self._number, self._reported = number, -1
        self._caption = caption
        self._badge = ""
        self._facts = ()
        self._mark = None
        self.setAccessibleName(tr("Image {name}", name=caption) if caption else tr("No image"))
        self.setToolTip("")
        self.source.set_file(path, reason)
        self._changed()

    def set_badge(self, text: str) -> None:
        """A short note over the image's upper edge ("another image of this cluster")."""
        self._badge = text
        self.update()

    def set_note(self, text: str) -> None:
        """What is done to the image now ("turned", "brighter"), small in a corner; "" for nothing."""
        if text != self._note:
            self._note = text
            self._changed()

    def set_facts(self, lines: tuple[str, ...]) -> None:
        """Facts of the file, over the lower edge of the image so that nothing moves; empty for none."""
        if lines != self._facts:
            self._facts = lines
            self._changed()

    def set_mark(self, area: tuple[float, float, float, float] | None) -> None:
        """Mark a part of the image: left, top, width and height in pixels of the file; None for none."""
        self._mark = area
        self._changed()

    def set_guest(self, guest: ImagePane | None) -> None:
        """Show another pane's image in this place (None: the own one again)."""
        if guest is not self._guest:
            self._guest = guest
            self.update()

    def set_stage(self, size: QSize | None) -> None:
        """Load for a stage of this many device pixels that covers the pane; None: it is uncovered."""
        if size != self._stage:
            self._stage = size
            self.source.set_place(self.fit_box())
            self.update()

    def set_view(self, view: View) -> None:
        """Zoom and position, already clamped to the image."""
        if view != self._view:
            self._view = view
            self.source.set_zoom(view.zoom)
            self._changed()

    def set_orientation(self, orientation: Orientation) -> None:
        """Turn and mirror the image; ends with the next one."""
        if orientation != self.source.orientation:
            self.source.set_orientation(orientation)
            self._changed()

    @property
    def path(self) -> Path | None:
        """The file shown."""
        return self.source.path

    @property
    def reason(self) -> str:
        """Why there is no image, or ""."""
        return self.source.reason

    @property
    def caption(self) -> str:
        """The file name shown."""
        return self._caption

    @property
    def number(self) -> int:
        """The number given to `set_image`."""
        return self._number

    @property
    def note(self) -> str:
        """What is done to the image now."""
        return self._note

    @property
    def facts(self) -> tuple[str, ...]:
        """The facts shown."""
        return self._facts

    @property
    def has_image(self) -> bool:
        """Whether the image is there, sharp enough to be judged (not only asked for)."""
        return self.source.sharp

    def frame(self) -> Frame | None:
        """Sizes for computing views; None while there is no image."""
        size = self.source.size
        if size.isEmpty():
            return None
        box = self.fit_box()
        return Frame(box.width(), box.height(), size.width(), size.height())

    def target(self) -> tuple[float, float, float, float] | None:
        """Where the whole image lies on a stage of the size `fit_box`: left, top, width, height in device pixels."""
        frame = self.frame()
        return None if frame is None else frame.target(frame.clamped(self._view))

    def fit_box(self) -> QSize:
        """Device pixels of the place for the image; what to prefetch for."""
        if self._stage is not None:
            return QSize(self._stage)
        ratio = self.devicePixelRatioF()
        return QSize(max(1, int(self.width() * ratio)), max(1, int(self.stage_height() * ratio)))

    def stage_height(self) -> int:
        """Logical pixels of the place for the image."""
        return max(1, self.height() - self.caption_height())

    def caption_height(self) -> int:
        """Logical pixels under the image for its name."""
        return self.fontMetrics().height() + 8

    @Slot()
    def _on_source(self) -> None:
        self.setToolTip(plain_tip(self.source.note))
        if self.source.reason:
            self.setAccessibleName(
                tr("Image {name} cannot be shown. {reason}", name=self._caption, reason=self.source.reason)
            )
        self.pictureChanged.emit()
        self._changed()

    def _changed(self) -> None:
        self.update()
        self.lookChanged.emit()

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Qt's; see `draw`."""
        painter = QPainter(self)
        self.draw(painter, event.rect())
        painter.end()
        if self.source.settled and self._stage is None and self._reported != self._number:
            self._reported = self._number
            self.painted.emit(self._number)

    def draw(self, painter: QPainter, _dirty: QRect) -> None:
        """Paint the stage, the image or its placeholder, and the caption."""
        t = tokens()
        stage = QRect(0, 0, self.width(), self.stage_height())
        painter.fillRect(self.rect(), QColor(t.window))
        painter.fillRect(stage, QColor(t.stage))
        shown = self._guest or self
        shown.draw_image(painter, stage)
        draw_corners(painter, stage)
        badge = tr("The other image") if self._guest is not None else self._badge
        if badge:
            draw_badge(painter, stage, badge)
        draw_remarks(painter, stage, shown.facts, shown.note)
        self._draw_caption(painter, stage)

    def draw_image(self, painter: QPainter, stage: QRect, opacity: float = 1.0) -> None:
        """Paint the image, its placeholder or "Loading" into a stage of the size of `fit_box`."""
        target, source = self.target(), self.source
        if target is not None and source.pixmap is not None:
            ratio = self.devicePixelRatioF()
            draw_picture(painter, stage, source.pixmap, source.orientation, target, ratio, opacity)
            if self._mark is not None:
                draw_mark(painter, stage, self._mark, source.orientation, source.size, target, ratio)
        elif source.reason:
            draw_placeholder(painter, stage, source.reason, self.devicePixelRatioF())
        elif source.path is not None and source.waited:
            painter.setFont(scaled_font("base"))
            painter.setPen(QColor(tokens().muted))
            painter.drawText(stage, Qt.AlignmentFlag.AlignCenter, tr("Loading …"))

    def _draw_caption(self, painter: QPainter, stage: QRect) -> None:
        row = QRect(2, stage.bottom() + 1, self.width() - 4, self.height() - stage.height())
        size, warn = self.source.size, bool(self.source.note)
        facts = f"{size.width()} × {size.height()}" if not size.isEmpty() else ""
        frame = self.frame()
        if frame is not None and self._view.zoom > 1.005:
            facts = f"{round(100 * frame.fit * self._view.zoom)} %  ·  {facts}"
        if warn:
            what = tr("file cannot be read any more") if self.source.gone else tr("damaged file")
            facts = f"{what}  ·  {facts}"
        draw_caption(painter, row, self._caption, facts, warn=warn)

    def can_drag(self) -> bool:
        """Only an enlarged image moves."""
        return self._view.zoom > 1.0

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A sharper image once the size is settled; the old one is stretched meanwhile."""
        super().resizeEvent(event)
        self.source.set_place(self.fit_box())
        self.resized.emit()
