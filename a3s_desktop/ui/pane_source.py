"""The picture of one pane: decoded for its place, sharper when enlarged, with the wanted tones. No painting here."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QImage, QPixmap

from a3s_desktop.ui.adjustments import Adjustments, Orientation, developed
from a3s_desktop.ui.image_decode import fitted, image_note, source_size
from a3s_desktop.ui.image_loader import NOW, ImageLoader

_WAIT_MS = 180  # before "Loading" is written, so that a fast load does not flicker
_RESIZE_MS = 120


class PaneSource(QObject):
    """Loads one file at a time and keeps what is there to be painted.

    Attributes
    ----------
    path : Path or None
    reason : str
        Why there is no picture, or "".
    pixmap : QPixmap or None
        As the file has it: not turned.
    image : QImage or None
        What the pixmap was made of, for arithmetic.
    orientation : Orientation
        How it is to be painted; neutral again with the next file.
    size : QSize
        Pixels of the original, turned; empty while not known.
    waited : bool
        Whether it takes so long that this should be said.

    Signals
    -------
    changed()
        Another picture, a sharper one, or the reason why there is none.
    """

    changed = Signal()

    def __init__(self, loader: ImageLoader, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._loader = loader
        self._group = f"pane-{id(self)}"
        self.path: Path | None = None
        self.reason = ""
        self.pixmap: QPixmap | None = None
        self.image: QImage | None = None
        self.orientation = Orientation()
        self.size = QSize()
        self.waited = False
        self._decoded: QImage | None = None
        self._gone = ""  # why a sharper version could not be read
        self._preview = False  # a smaller version is stretched until the right one comes; it does not count as seen
        self._coming = False  # whether the picture that is being developed is such a preview
        self._adjustments = Adjustments()
        self._developing = 0  # number of the job that makes the tones; 0: none
        self._wanted_key = ""
        self._place = QSize()
        self._zoom = 1.0
        self._box = QSize()
        self._wait = QTimer(self, singleShot=True, interval=_WAIT_MS)
        self._wait.timeout.connect(self._on_waited)
        self._settle = QTimer(self, singleShot=True, interval=_RESIZE_MS)
        self._settle.timeout.connect(self._ask_again)
        loader.loaded.connect(self._on_loaded, Qt.ConnectionType.QueuedConnection)
        loader.failed.connect(self._on_failed, Qt.ConnectionType.QueuedConnection)
        loader.darkroom.done.connect(self._on_developed)

    @property
    def sharp(self) -> bool:
        """Whether the picture is there, sharp enough to be judged (not only asked for)."""
        return self.pixmap is not None and not self._preview

    @property
    def settled(self) -> bool:
        """Whether there is nothing to wait for: a sharp picture, a reason why there is none, or no file at all."""
        return self.path is None or self.sharp or bool(self.reason)

    @property
    def note(self) -> str:
        """What a viewer should know of the file (cut off; gone since it was read), or ""."""
        return self._gone or (image_note(self._decoded) if self._decoded is not None else "")

    @property
    def gone(self) -> bool:
        """Whether the file could not be read again: what is shown is in memory only, and gets no sharper."""
        return bool(self._gone)

    def set_file(self, path: Path | None, reason: str = "") -> None:
        """Another file (None: none); ``reason``: a problem known already, the file is then not read.

        A picture of the same file that is shown well stays.
        """
        self._loader.cancel(self._group)
        self._wanted_key = ""
        self.orientation = Orientation()
        if path == self.path and self.sharp:
            if self._decoded is not None:
                self.size = source_size(self._decoded)
            self._settle.start()
            return
        self._loader.darkroom.drop(self._group)
        self._developing = 0
        self._gone = ""
        self.path = path
        self.reason = reason
        self.pixmap = self.image = self._decoded = None
        self.size = QSize()
        self._preview = self.waited = False
        self._wait.stop()
        if path is not None and not reason:
            self._ask(self._place, first=True)

    def set_place(self, box: QSize) -> None:
        """Device pixels to fit into; a fitting version is fetched once the size has settled."""
        self._place = QSize(box)
        if self.path is not None and self._decoded is None and not self.reason:
            self._ask(box, first=True)  # nothing to stretch meanwhile: the first layout of the window
        self._settle.start()

    def set_zoom(self, zoom: float) -> None:
        """How much it is enlarged; a sharper version is fetched once that has settled."""
        if zoom != self._zoom:
            self._zoom = zoom
            self._settle.start()

    def set_orientation(self, orientation: Orientation) -> None:
        """Turn and mirror, until the next file."""
        if orientation.upright != self.orientation.upright:
            self.size = self.size.transposed()
            self._settle.start()
        self.orientation = orientation

    def set_adjustments(self, adjustments: Adjustments) -> None:
        """Other tones, for this file and those that follow."""
        if adjustments != self._adjustments:
            self._adjustments = adjustments
            if self._decoded is not None:
                self._develop(preview=self._preview)

    # Loading

    def _ask(self, box: QSize, first: bool = False) -> None:
        path = self.path
        if path is None or box.isEmpty():
            return
        if not self.orientation.upright:
            box = box.transposed()  # what the decoder gives is not turned yet
        self._box = box
        self._wanted_key = self._loader.key(path, box)
        image = self._loader.get(path, box)
        if image is not None:
            self._take(image)
            return
        reason = self._loader.failure(path, box)
        if reason is not None:
            self._on_failed(self._wanted_key, reason)
            return
        if first:
            smaller = self._loader.best(path)
            if smaller is not None:
                self._take(smaller, preview=True)
            self._wait.start()
        self._loader.request(path, box, NOW, self._group)

    @Slot()
    def _ask_again(self) -> None:
        """After a change of size or zoom: a fitting or sharper version, where the file has one."""
        if self.path is None or self.reason or self._decoded is None or self.size.isEmpty():
            return
        box, have = self._place, self.orientation.size(self._decoded.size())
        fit = min(box.width() / self.size.width(), box.height() / self.size.height())
        if self._zoom > 1.01:
            needed = self._zoom * fit * self.size.width()
            step = self.size.width()
            while step / 2 >= needed and step / 2 >= box.width():
                step //= 2
            if step <= have.width():
                return  # sharp enough
            box = QSize(step, max(1, round(step * self.size.height() / self.size.width())))
        elif have == fitted(self.size, box):
            return
        if (box if self.orientation.upright else box.transposed()) != self._box:
            self._ask(box)

    @Slot(str, QImage)
    def _on_loaded(self, key: str, image: QImage) -> None:
        if key == self._wanted_key:
            self._take(image)

    @Slot(str, str)
    def _on_failed(self, key: str, reason: str) -> None:
        if key != self._wanted_key:
            return
        if self.sharp:
            self._gone = reason
            self.changed.emit()
        else:
            self.pixmap = self.image = self._decoded = None
            self._preview = False
            self._refuse(reason)

    def _take(self, image: QImage, *, preview: bool = False) -> None:
        self._wait.stop()
        self._decoded = image
        self.size = self.orientation.size(source_size(image))
        self._develop(preview=preview)

    def _develop(self, *, preview: bool) -> None:
        """The decoded image with the wanted tones: at once where it is shown as it is, else off this thread."""
        self._coming = preview
        if self._decoded is None:
            return
        if self._adjustments.neutral:
            self._loader.darkroom.drop(self._group)
            self._developing = 0
            self._show(self._decoded)
        else:
            self._developing = self._loader.darkroom.submit(self._group, developed, self._decoded, self._adjustments)

    @Slot(str, int, object)
    def _on_developed(self, place: str, number: int, image: QImage) -> None:
        if place == self._group and number == self._developing:
            self._developing = 0
            self._show(image)

    def _show(self, image: QImage) -> None:
        self._preview = self._coming
        self.image = image
        self.pixmap = QPixmap.fromImage(image)
        self.changed.emit()

    def _refuse(self, reason: str) -> None:
        self._wait.stop()
        self.reason = reason
        self.changed.emit()

    @Slot()
    def _on_waited(self) -> None:
        self.waited = True
        self.changed.emit()
