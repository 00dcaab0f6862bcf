"""One open cluster, or any selection of images, or the junk: its images, and beside them the nearest clusters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QEvent, QPoint, QRect, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QStackedLayout, QToolButton, QVBoxLayout, QWidget

from a3s_desktop.core.types import IndexArray
from a3s_desktop.i18n import tr, trn
from a3s_desktop.ui.cluster_order import MemberOrder, by_name
from a3s_desktop.ui.cluster_rows import Row, RowList
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.member_grid import MemberGrid
from a3s_desktop.ui.member_rows import MemberRows
from a3s_desktop.ui.name_editor import NameEditor
from a3s_desktop.ui.pictures import cluster_title, images_text
from a3s_desktop.ui.plain import plain_tip
from a3s_desktop.ui.theme import SPACE_2, SPACE_3, cluster_colour, icon, icon_pixmap, set_role, tokens
from a3s_desktop.ui.thumbnails import ViewItems

_NEAR_WIDTH = 232


class ClusterPane(QWidget):
    """See the module. What is done with the images is decided by the page.

    Parameters
    ----------
    loader : ImageLoader

    Signals
    -------
    backWanted()
    chosen()
        Which images are selected changed.
    """

    backWanted = Signal()
    chosen = Signal()

    def __init__(self, loader: ImageLoader, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._members = MemberRows.of(())
        self._sorting: Iterator[IndexArray | None] = iter(())
        self._turn = QTimer(self, interval=0)
        self._turn.timeout.connect(self._sort_on)
        self._cluster = -1
        self._name = ""
        self._finished = False
        self.grid = MemberGrid(loader, "open cluster")
        self.near = RowList(loader, "nearest clusters", tr("Nearest clusters"))
        self._build()
        self.editor = NameEditor(self)

    def set_items(self, items: ViewItems | None) -> None:
        """Images of the project."""
        self.grid.pictures.items = self.near.pictures.items = items
        self.clear()

    def clear(self) -> None:
        """Nothing is open."""
        self._turn.stop()
        self._cluster, self._members = -1, MemberRows.of(())
        self.editor.finish()
        self.grid.show_rows((), keep=False)
        self.near.show_rows(())

    # what is shown

    def show_cluster(self, cluster: int, name: str, finished: bool, members: Sequence[tuple[int, float]]) -> None:
        """The images of a cluster; ``members`` with their doubts."""
        members = MemberRows.of(members)
        keep = cluster == self._cluster or self._members.shares(members)
        self._cluster, self._name, self._finished = cluster, name, finished
        self._show(members, cluster_title(cluster, name, len(members)), keep, beside=True, doubts=True)

    def show_items(self, title: str, members: Sequence[tuple[int, float]], hint: str = "") -> None:
        """Images of no single cluster: the junk, or what was selected on the map. Doubts below 0 are not shown."""
        members = MemberRows.of(members)
        keep = self._cluster == -1 and len(self._members) > 0
        self._cluster, self._name, self._finished = -1, "", False
        self._empty.setText(hint)
        doubts = bool((members.doubts >= 0).any())
        self._show(members, title, keep, beside=False, doubts=doubts)

    def show_near(self, rows: Sequence[Row]) -> None:
        """The nearest clusters, best first."""
        if list(rows) != list(self.near.rows):
            self.near.show_rows(rows)
        self._near_title.setText(tr("Nearest clusters") if rows else tr("No other cluster is near."))

    def edit_name(self) -> None:
        """Type the name, over the title."""
        if self._cluster >= 0 and len(self._members):
            corner = self.title.mapTo(self, QPoint(0, 0))
            height = self.editor.sizeHint().height()
            top = corner.y() + (self.title.height() - height) // 2
            wanted = max(self.title.width() + self.count.width() + SPACE_3, 340)  # it covers the title
            width = max(min(self.width() - corner.x() - SPACE_3, wanted), 120)
            self.editor.begin(self._members[0][0], self._name, QRect(corner.x(), top, width, height), self.grid)

    @property
    def cluster(self) -> int:
        """The open cluster; -1 for none."""
        return self._cluster

    @property
    def items(self) -> tuple[int, ...]:
        """The images that are shown, in order."""
        return self.grid.items

    @Slot()
    def next_order(self) -> None:
        """Sort in another way."""
        self.order.setCurrentIndex((self.order.currentIndex() + 1) % self.order.count())

    # parts

    def _show(self, members: MemberRows, title: str, keep: bool, *, beside: bool, doubts: bool) -> None:
        self._members = members
        self._title_text = title
        self._elide()
        self.count.setText(images_text(len(members)))
        self.grid.setAccessibleName(tr("Images of {cluster}", cluster=title))
        self.grid.setAccessibleDescription(self.count.text())
        self._side.setVisible(beside)
        self.order.setVisible(doubts)
        self.grid.show_rows(self._ordered(), keep)
        self._stack.setCurrentWidget(self.grid if len(members) else self._empty)
        self._dress()
        self.chosen.emit()

    def _ordered(self) -> MemberRows:
        self._turn.stop()
        if MemberOrder(self.order.currentData()) is MemberOrder.NAME and not self.order.isHidden():
            self._sorting = by_name(self._members.items, self.grid.pictures.name)
            places = next(self._sorting)
            if places is not None:
                return self._members.at(places)
            self._turn.start()  # very many; until they are in order they stay in the other one
        return self._members

    @Slot()
    def _sort_on(self) -> None:
        places = next(self._sorting)
        if places is not None:
            self._turn.stop()
            self.grid.show_rows(self._members.at(places), keep=True)

    def _build(self) -> None:
        self.back = QToolButton()
        self.back.setAccessibleName(tr("Back to all clusters"))
        self.back.setToolTip(tr("Back to all clusters (Esc)"))
        self.back.clicked.connect(self.backWanted)
        set_role(self.back, kind="icon")
        self._dot, self._seal, self.title, self.count = QLabel(), QLabel(), QLabel(), QLabel()
        self._dot.setFixedSize(12, 12)
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        set_role(self.title, role="heading")
        set_role(self.count, role="muted")
        self.order = QComboBox()
        self.order.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.order.setAccessibleName(tr("Order of the images"))
        for order in MemberOrder:
            self.order.addItem(tr(order.value), order)
        self.order.currentIndexChanged.connect(self._reorder)
        head = QHBoxLayout()
        head.setContentsMargins(SPACE_3, SPACE_2, SPACE_3, SPACE_2)
        head.setSpacing(SPACE_2)
        for part in (self.back, self._dot, self.title, self._seal, self.count):
            head.addWidget(part)
        head.addStretch(1)
        head.addWidget(self.order)
        self._empty = QLabel()
        self._empty.setTextFormat(Qt.TextFormat.PlainText)
        self.count.setTextFormat(Qt.TextFormat.PlainText)
        self._empty.setWordWrap(True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        set_role(self._empty, role="muted")
        stage = QWidget()
        self._stack = QStackedLayout(stage)
        self._stack.setContentsMargins(0, 0, 0, 0)
        self._stack.addWidget(self.grid)
        self._stack.addWidget(self._empty)
        self._side = QWidget()
        self._side.setFixedWidth(_NEAR_WIDTH)
        self._near_title = QLabel(tr("Nearest clusters"))
        set_role(self._near_title, role="small")
        side = QVBoxLayout(self._side)
        side.setContentsMargins(0, 0, SPACE_2, 0)
        side.setSpacing(SPACE_2)
        side.addWidget(self._near_title)
        side.addWidget(self.near, 1)
        row = QHBoxLayout()
        row.setSpacing(SPACE_2)
        row.addWidget(stage, 1)
        row.addWidget(self._side)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addLayout(row, 1)
        self._title_text = ""
        self.grid.selectionModel().selectionChanged.connect(self.chosen)
        self._dress()

    @Slot()
    def _reorder(self) -> None:
        self.grid.show_rows(self._ordered(), keep=True)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "_title_text"):
            self._dress()

    def _elide(self) -> None:
        room = max(self.width() - _NEAR_WIDTH - 240, 160)
        text = self.title.fontMetrics().elidedText(self._title_text, Qt.TextElideMode.ElideRight, room)
        self.title.setText(text)
        self.title.setToolTip(plain_tip(self._title_text if text != self._title_text else ""))

    def _dress(self) -> None:
        self.back.setIcon(icon("chevron-left"))
        colour = cluster_colour(self._cluster).name() if self._cluster >= 0 else tokens().outline
        self._dot.setStyleSheet(f"background: {colour}; border-radius: 6px;")
        self._dot.setVisible(self._cluster >= 0)
        self._seal.setPixmap(icon_pixmap("check-circle", tokens().same, 18, self.devicePixelRatioF()))
        self._seal.setToolTip(tr("finished"))
        self._seal.setAccessibleName(tr("finished"))
        self._seal.setVisible(self._finished)


def selection_text(count: int) -> str:
    """ "3 images selected"."""
    return trn("{n} image selected", "{n} images selected", count) if count else ""
