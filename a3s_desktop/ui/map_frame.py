"""What stands around the map: search, colours and tools above it; legend, selection and status below it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QMenu,
    QSizePolicy,
    QStackedLayout,
    QToolButton,
    QVBoxLayout,
    QWidget,
    QWidgetAction,
)

from a3s_desktop.i18n import mark, tr
from a3s_desktop.ui.map_colours import ColourBy
from a3s_desktop.ui.map_data import MapData
from a3s_desktop.ui.map_legend import MapLegend
from a3s_desktop.ui.map_scene import MapScene
from a3s_desktop.ui.map_search import MapSearch
from a3s_desktop.ui.map_selection_bar import SelectionBar
from a3s_desktop.ui.plain import plain_tip
from a3s_desktop.ui.theme import SPACE_1, SPACE_2, SPACE_4, icon, set_role, tokens

EMPTY = mark("The map appears here as soon as the images have been compared.")
_KEYS = (
    (mark("Arrows"), mark("go from image to image")),
    (mark("Ctrl + arrows"), mark("move the map")),
    (mark("+ and -"), mark("zoom")),
    (mark("Home"), mark("whole map")),
    (mark("P"), mark("zoom to pair")),
    (mark("Enter"), mark("open the cluster")),
    (mark("S"), mark("select the image")),
    (mark("Shift + S"), mark("select its cluster")),
    (mark("L"), mark("lasso")),
    (mark("/"), mark("find")),
    (mark("Shift + drag"), mark("draw around images")),
    (mark("Esc"), mark("clear the selection")),
)


class MapFrame(QWidget):
    """Builds and places the parts; what they do is decided in ``cluster_map.py``.

    Attributes
    ----------
    scene, search, colours, lasso, legend, selection, status, whole, near : QWidget
        The parts.
    outlines, save : QAction
        Of the menu.

    Signals
    -------
    colourChosen(object)
        A `ColourBy`.
    """

    colourChosen = Signal(object)

    def __init__(self, data: MapData, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._dressed = ""
        self.scene = MapScene()
        self.search = MapSearch(data, self)
        self.legend = MapLegend()
        self.selection = SelectionBar()
        self.colours = self._build_colours()
        self.lasso = self._button(
            tr("Lasso"), tr("Draw around images, or click corner by corner (L, or Shift and drag)")
        )
        self.lasso.setCheckable(True)
        self.more = self._button(tr("More"), tr("Outlines, keys, save as a picture"))
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.more.setStyleSheet("QToolButton::menu-indicator { image: none; }")  # the dots say it already
        self.outlines, self.save = self._build_menu()
        for button in (self.lasso, self.more):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.whole = self._button(tr("Whole map"), tr("Show all images (Home)"))
        self.near = self._button(tr("Zoom to pair"), tr("Show the current pair large (P)"))
        self.empty = QLabel(tr(EMPTY))
        self.empty.setWordWrap(True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.empty.setMargin(SPACE_4)
        set_role(self.empty, role="muted")
        self.status = QLabel()
        self.said = ""  # all of what the status line says
        self.status.setTextFormat(Qt.TextFormat.PlainText)
        self.status.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        set_role(self.status, role="small")
        self._place()
        self._retheme()

    def say(self, text: str) -> None:
        """Show a text in the status line; all of it is in the tool tip."""
        self.said = text
        self.status.setToolTip(plain_tip(text))
        self._elide()

    def show_stage(self, there: bool) -> None:
        """The map, or the sentence that there is none yet."""
        self._stack.setCurrentWidget(self.scene if there else self.empty)
        for part in (self.search, self.colours, self.lasso, self.more, self.whole):
            part.setEnabled(there)

    def enable_colours(self, by: ColourBy, on: bool) -> None:
        """Whether a choice of colours can be made; one that cannot says why in its tool tip."""
        model = self.colours.model()
        row = list(ColourBy).index(by)
        item = model.item(row)  # type: ignore[attr-defined]  # a QStandardItemModel
        item.setEnabled(on)
        item.setToolTip("" if on else tr("Not known for this project yet"))

    def show_colours(self, by: ColourBy) -> None:
        """Show which choice is in force."""
        self.colours.setCurrentIndex(list(ColourBy).index(by))

    def _build_colours(self) -> QComboBox:
        box = QComboBox()
        box.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        box.setAccessibleName(tr("Colour by"))
        box.setToolTip(tr("What the colours mean"))
        box.setStyleSheet("QComboBox, QComboBox:focus { padding: 1px 6px; } QComboBox::drop-down { width: 18px; }")
        for by in ColourBy:
            box.addItem(tr(by.value))
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        box.currentIndexChanged.connect(self._colour_chosen)
        return box

    def _build_menu(self) -> tuple[QAction, QAction]:
        menu = QMenu(self.more)
        outlines = menu.addAction(tr("Cluster outlines and numbers"))
        outlines.setCheckable(True)
        outlines.setChecked(True)
        save = menu.addAction(tr("Save as a picture…"))
        self._keys = menu.addMenu(tr("Keys on the map"))
        self._keys.aboutToShow.connect(self._fill_keys)
        self.more.setMenu(menu)
        return outlines, save

    @Slot()
    def _fill_keys(self) -> None:
        """The list of keys; made when it is first asked for."""
        if self._keys.actions():
            return
        table = QWidget()
        grid = QGridLayout(table)
        grid.setHorizontalSpacing(SPACE_4)
        for row, (key, text) in enumerate(_KEYS):
            cap = QLabel(tr(key))
            set_role(cap, role="key")
            grid.addWidget(cap, row, 0, Qt.AlignmentFlag.AlignLeft)
            grid.addWidget(QLabel(tr(text)), row, 1)
        holder = QWidgetAction(self._keys)
        holder.setDefaultWidget(table)
        self._keys.addAction(holder)

    @Slot(int)
    def _colour_chosen(self, row: int) -> None:
        self.colourChosen.emit(list(ColourBy)[row])

    def _button(self, name: str, tip: str) -> QToolButton:
        button = QToolButton()
        button.setAccessibleName(name)
        button.setToolTip(plain_tip(tip))
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Space belongs to the pair
        set_role(button, kind="icon")
        return button

    def _place(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(SPACE_2, SPACE_1, SPACE_1, SPACE_1)
        head.setSpacing(SPACE_1)
        head.addWidget(self.search, 1)
        for part in (self.lasso, self.more):
            head.addWidget(part)
        key = QHBoxLayout()
        key.setContentsMargins(SPACE_2, SPACE_1, SPACE_1, 0)
        key.setSpacing(0)
        key.addWidget(self.colours)
        key.addWidget(self.legend, 1)
        stage = QWidget()
        self._stack = QStackedLayout()
        self._stack.addWidget(self.empty)
        self._stack.addWidget(self.scene)
        over = QGridLayout(stage)
        over.setContentsMargins(0, 0, 0, 0)
        over.addLayout(self._stack, 0, 0)
        # Over the map's foot, not below it: else the map would change its size, and jump, with every selection.
        over.addWidget(self.selection, 0, 0, Qt.AlignmentFlag.AlignBottom)
        foot = QHBoxLayout()
        foot.setContentsMargins(SPACE_2, 0, SPACE_1, SPACE_1)
        foot.setSpacing(SPACE_1)
        foot.addWidget(self.status, 1)
        foot.addWidget(self.whole)
        foot.addWidget(self.near)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(stage, 1)
        column.addLayout(key)
        column.addLayout(foot)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange) and hasattr(self, "_stack"):
            self._retheme()

    def _retheme(self) -> None:
        if self._dressed == tokens().name:  # Qt tells of one change of theme several times
            return
        self._dressed = tokens().name
        icons: tuple[tuple[QToolButton, str], ...] = (
            (self.lasso, "lasso"), (self.more, "more"), (self.whole, "fit"), (self.near, "link"),
        )  # fmt: skip
        for button, name in icons:
            button.setIcon(icon(name))
        self.search.retheme()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.layout().activate()
        self._elide()

    def _elide(self) -> None:
        """As many whole facts as there is room for; all of them are in the tool tip."""
        metrics, width = self.status.fontMetrics(), max(self.status.width(), 40)
        parts = self.said.split(" · ")
        while len(parts) > 1 and metrics.horizontalAdvance(" · ".join(parts)) > width:
            parts.pop()
        self.status.setText(metrics.elidedText(" · ".join(parts), Qt.TextElideMode.ElideRight, width))
