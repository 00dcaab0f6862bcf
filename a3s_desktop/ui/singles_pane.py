"""Every single image beside the cluster that it most likely belongs to: accept, go on, or let it stay alone."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from a3s_desktop.i18n import tr, trn
from a3s_desktop.ui.cluster_rows import Row, RowList
from a3s_desktop.ui.enlarged_view import EnlargedView
from a3s_desktop.ui.home_rows import HomeRows
from a3s_desktop.ui.image_loader import NEXT, ImageLoader
from a3s_desktop.ui.pictures import Pictures
from a3s_desktop.ui.theme import SPACE_1, SPACE_2, SPACE_3, SPACE_4, scaled_font, set_role, tokens
from a3s_desktop.ui.thumbnails import ViewItems

_LIST_WIDTH = 270
_MORE = 5  # further images of the home


class Comparison(QWidget):
    """Two pictures side by side, with some more of the right one's cluster."""

    def __init__(self, loader: ImageLoader, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.pictures = Pictures(loader, "single image", self, NEXT)
        self.pictures.changed.connect(self.update)
        self._row: Row | None = None
        self._faces: tuple[int, ...] = ()
        self.setMinimumSize(240, 160)
        self.setAccessibleName(tr("The single image and its most likely home"))

    def show_row(self, row: Row | None, faces: tuple[int, ...]) -> None:
        """The image of ``row`` and images of its home, the first one large."""
        self._row, self._faces = row, faces
        self.setAccessibleDescription("" if row is None else f"{self.pictures.name(row.item)}, {row.title}")
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        painter = QPainter(self)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        if self._row is not None:
            self.draw(painter, self._row)
        painter.end()

    def draw(self, painter: QPainter, row: Row) -> None:
        """Paint all."""
        painter.setFont(scaled_font("base", bold=True))
        line = painter.fontMetrics().height()
        painter.setFont(scaled_font("small"))
        head = line + painter.fontMetrics().height() + SPACE_1
        strip = min(72, self.height() // 6)
        width = (self.width() - SPACE_2) // 2
        height = self.height() - head - strip - SPACE_2
        home = row.title if row.cover >= 0 else tr("nothing is near")
        facts = row.facts if row.cover >= 0 else ""
        flags = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
        for k, (item, title, small) in enumerate(
            ((row.item, self.pictures.name(row.item), tr("single image")), (row.cover, home, facts))
        ):
            left = k * (width + SPACE_2)
            painter.setFont(scaled_font("base", bold=True))
            painter.setPen(QColor(tokens().text))
            title = painter.fontMetrics().elidedText(title, Qt.TextElideMode.ElideMiddle, width)
            painter.drawText(QRect(left, 0, width, line), flags, title)
            painter.setFont(scaled_font("small"))
            painter.setPen(QColor(tokens().muted))
            painter.drawText(QRect(left, line, width, head - line - SPACE_1), flags, small)
            self.pictures.draw(painter, QRect(left, head, width, height), item)
        left = width + SPACE_2
        for item in [face for face in self._faces if face != row.cover][:_MORE]:
            self.pictures.draw(painter, QRect(left, head + height + SPACE_2, strip, strip), item)
            left += strip + SPACE_1


class SinglesPane(QWidget):
    """See the module.

    Signals
    -------
    marked(object)
        The `Row` that is shown, or None.
    """

    marked = Signal(object)

    def __init__(self, loader: ImageLoader, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._loader = loader
        self._enlarged: EnlargedView | None = None
        self._faces: tuple[int, ...] = ()
        self._rows = HomeRows.none()
        self.list = RowList(loader, "single images", tr("Single images"))
        self.comparison = Comparison(loader)
        self.count = QLabel()
        self.count.setContentsMargins(SPACE_3, SPACE_2, SPACE_3, SPACE_2)
        set_role(self.count, role="muted")
        row = QHBoxLayout()
        row.setContentsMargins(SPACE_2, 0, SPACE_4, SPACE_2)
        row.setSpacing(SPACE_4)
        row.addWidget(self.list)
        row.addWidget(self.comparison, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.count)
        column.addLayout(row, 1)
        self.list.chosen.connect(self.marked)
        self.list.opened.connect(self._opened)

    def set_items(self, items: ViewItems | None) -> None:
        """Images of the project."""
        self.list.pictures.items = self.comparison.pictures.items = items
        self._rows = HomeRows.none()
        self.list.show_rows(())
        self.comparison.show_row(None, ())

    def show_rows(self, rows: HomeRows) -> None:
        """All single images, the likeliest first; the mark stays on its image, or goes to what follows it."""
        before, place, top = self._rows, self.list.place, self.list.verticalScrollBar().value()
        if rows != before:
            now = rows.images.places(before.images.items[max(place, 0) :])
            after = now[now >= 0]
            self._rows = rows
            self.list.show_rows(rows)
            self.list.verticalScrollBar().setValue(top)
            self.list.mark(int(after[0]) if len(after) else place)
        self.count.setText(
            trn("{n} single image. Does it belong to the cluster beside it?",
                "{n} single images, the likeliest first. Does each belong to the cluster beside it?", len(rows))
            if len(rows)
            else tr("No single image is left to look at.")
        )  # fmt: skip
        self.comparison.setVisible(len(rows) > 0)

    def show_home(self, row: Row | None, faces: tuple[int, ...]) -> None:
        """Show a single image beside images of its home."""
        self._faces = faces
        self.comparison.show_row(row, faces)

    def next(self) -> None:
        """Go on to the next single image."""
        self.list.mark(self.list.place + 1)

    @Slot()
    def enlarge(self) -> None:
        """Show the pictures as large as the window, one after the other."""
        row, items = self.list.marked(), self.list.pictures.items
        if row is None or items is None:
            return
        if self._enlarged is None:
            self._enlarged = EnlargedView(self._loader, self)
        others = [row.cover, *(face for face in self._faces if face != row.cover)] if row.cover >= 0 else []
        self._enlarged.show_members(items, (row.item, *others), 0)

    @Slot(object)
    def _opened(self, _row: Row) -> None:
        self.enlarge()

    def sizeHint(self) -> QSize:
        """Large."""
        return QSize(800, 500)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The pictures have most of the room."""
        super().resizeEvent(event)
        self.list.setFixedWidth(min(max(_LIST_WIDTH, self.width() // 5), self.width() * 2 // 5))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click beside the list leaves the keys with it."""
        self.list.setFocus(Qt.FocusReason.MouseFocusReason)
        super().mousePressEvent(event)
