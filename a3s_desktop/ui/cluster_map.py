"""The map of all images: near points look alike, colours are clusters, the current pair is joined by a line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QEvent, QPointF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QColor, QKeyEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from a3s_desktop.core.types import IndexArray
from a3s_desktop.i18n import tr
from a3s_desktop.ui.focus_return import FocusReturn
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.map_colours import ColourBy, legend, look
from a3s_desktop.ui.map_data import SHARE, MapData, MapItems, differing
from a3s_desktop.ui.map_frame import EMPTY, MapFrame
from a3s_desktop.ui.map_hover import MapHover
from a3s_desktop.ui.map_keys import MapKeys
from a3s_desktop.ui.map_marks import PairMark
from a3s_desktop.ui.map_picture import MapPicture, take_picture
from a3s_desktop.ui.map_raster import PointGrid
from a3s_desktop.ui.map_scene import MapScene, ViewMode
from a3s_desktop.ui.map_selecting import MapSelecting
from a3s_desktop.ui.map_selection_bar import SelectionBar
from a3s_desktop.ui.theme import tokens

_NOTE_MS = 5000  # that a passing remark stays


class ClusterMap(QWidget):
    """See the module.

    Parameters
    ----------
    loader : ImageLoader, optional
        For the picture of the hovered point.
    parent : QWidget, optional

    Signals
    -------
    clusterClicked(int)
        A point of this cluster, or its number or name, was clicked; or it was opened by key.
    itemClicked(int)
        The item whose point was clicked; comes after ``clusterClicked``.
    itemHovered(int)
        The item under the pointer; -1: none.
    selectionActed(str, object)
        "open", "split", "junk" or "copy", and the selected items (int64, ascending). The names are on the clipboard
        already.
    moveWanted(object, int)
        The selected items (int64, ascending) belong to the cluster of this item.
    saveWanted()
        The map is to be saved as a picture.
    coloursChosen(object)
        What the colours mean now (`ColourBy`).
    """

    clusterClicked = Signal(int)
    itemClicked = Signal(int)
    itemHovered = Signal(int)
    selectionActed = Signal(str, object)
    moveWanted = Signal(object, int)
    saveWanted = Signal()
    coloursChosen = Signal(object)

    def __init__(self, loader: ImageLoader | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._data = MapData()
        self._by = ColourBy.CLUSTER
        self._pair: tuple[int, int] | None = None
        self._open: int | None = None  # the cluster whose images are open
        self._marked: IndexArray = np.zeros(0, np.int64)  # what the search found
        self._remark = ""
        self._focus = FocusReturn(self)
        self._frame = MapFrame(self._data)
        self._plot = self._frame.scene
        self._plot.names.text = self._data.short_name
        self._selecting = MapSelecting(self._plot, self._data, self._frame.selection, self._frame.lasso, self)
        self._hover = MapHover(self._plot, self._data, self._selecting.lasso, loader, self)
        self._keys = MapKeys(self._plot, self._selecting.lasso, self)
        self._emphasis = QTimer(self, singleShot=True, interval=0)  # a turn of its own, once for all causes
        self._emphasis.timeout.connect(self._emphasise)
        self._note = QTimer(self, singleShot=True, interval=_NOTE_MS)
        self._note.timeout.connect(self._forget_remark)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._frame)
        self.setFocusProxy(self._plot)
        self.setAccessibleName(tr("Map of the images"))
        self._plot.setAccessibleName(tr("Map of the images"))
        self._connect()
        for by in (ColourBy.CONFIRMED, ColourBy.DOUBT):
            self._frame.enable_colours(by, False)
        self._retheme()
        self._frame.show_stage(False)
        self._tell()

    # what is shown

    def set_items(self, items: MapItems | None) -> None:
        """File names and images; what was known of another project's is forgotten."""
        self._data.items = items
        self._data.names = {}
        self.set_confirmed(None)
        self.set_doubt(None)
        self.set_junk(None)
        self._frame.search.stop()
        self.select(())
        self._keys.place(-1)
        self._hover.leave()

    @Slot(object)
    def set_points(self, points: npt.NDArray[Any] | PointGrid | None) -> None:
        """Show a layout, or replace it; the labels are kept where their number fits.

        Parameters
        ----------
        points : float, shape (N, 2), or PointGrid, or None
            A grid that a worker has built saves 30 ms at 100,000 points. None: nothing to show (yet).
        """
        grid = points if isinstance(points, PointGrid) else PointGrid(np.zeros((0, 2)) if points is None else points)
        self._hover.leave()
        self._selecting.lasso.cancel()
        if len(grid) != len(self._plot.places):
            self.select(())
            self._keys.place(-1)
        self._plot.set_grid(grid)
        self._keys.refresh()
        self._recolour()
        self._mark_pair()
        if self._known:
            self._plot.set_clusters(self._data.labels, self._data.sizes, self._not_junk)
        self._selecting.refresh()
        self._frame.show_stage(len(grid) > 0)
        self._tell()

    def set_labels(self, labels: npt.NDArray[Any], moved: npt.NDArray[Any] | None = None) -> None:
        """Recolour.

        Parameters
        ----------
        labels : int32, shape (N,)
            Cluster id of every item.
        moved : int, optional
            Items whose id changed; an empty array says that there is nothing to do.
        """
        before = self._data.labels
        same = moved is not None and len(labels) == len(before)
        if same and moved is not None and len(moved) == 0:
            return
        taken = np.array(labels, np.int32)
        if same and moved is not None and len(moved) < len(before) // SHARE:
            self._refresh(*self._data.move(taken, np.asarray(moved, np.int64)))
            return
        self._data.labels = taken
        self._data.count()
        self._refresh()

    def set_pair(self, left: int | None, right: int | None = None) -> None:
        """Mark the current pair by its items, or none."""
        self._pair = None if left is None or right is None else (int(left), int(right))
        self._emphasis.start()
        self._mark_pair()
        self._tell()

    def set_selected_cluster(self, cluster: int | None) -> None:
        """Raise one more cluster than those of the pair (the one whose images are open)."""
        self._open = cluster
        self._emphasis.start()

    def set_confirmed(self, confirmed: npt.NDArray[np.bool_] | None) -> None:
        """Which items are confirmed, bool, shape (N,); None: not known."""
        former = self._data.confirmed
        self._data.confirmed = None if confirmed is None else np.array(confirmed, np.bool_)
        self._offer(ColourBy.CONFIRMED, former, self._data.confirmed)

    def set_doubt(self, doubt: npt.NDArray[Any] | None) -> None:
        """How doubtful each item's place is, 0 .. 1, shape (N,); None: not known."""
        former = self._data.doubt
        self._data.doubt = None if doubt is None else np.array(doubt, np.float32)
        self._offer(ColourBy.DOUBT, former, self._data.doubt)

    def set_junk(self, junk: npt.NDArray[np.bool_] | None) -> None:
        """Which items are junk, bool, shape (N,); they are drawn as grey crosses and belong to no cluster."""
        changed = self._data.set_junk(junk)
        if changed is not None:
            self._refresh(*changed)

    def set_names(self, names: Mapping[int, str]) -> None:
        """Names of the clusters that have one, by id."""
        self._data.names = dict(names)
        self._plot.names.changed()
        self._tell()

    def set_colour_by(self, by: ColourBy) -> None:
        """Choose what the colours mean; ignored where that is not known."""
        known = {ColourBy.CONFIRMED: self._data.confirmed, ColourBy.DOUBT: self._data.doubt}
        self._by = ColourBy.CLUSTER if by in known and known[by] is None else by
        self._frame.show_colours(self._by)
        self._plot.hulls.coloured = self._by is ColourBy.CLUSTER
        self._plot.hulls.update()
        self._plot.names.changed()
        self._recolour()
        self.coloursChosen.emit(self._by)

    @property
    def colour_by(self) -> ColourBy:
        """What the colours mean now."""
        return self._by

    # selection

    def select(self, items: Iterable[int]) -> None:
        """Select these items instead of what was selected."""
        self._selecting.select(items)

    @property
    def selection(self) -> tuple[int, ...]:
        """The selected items, ascending."""
        return self._selecting.items

    @property
    def selection_bar(self) -> SelectionBar:
        """The bar with what can be done; its owner says what by `SelectionBar.set_actions`."""
        return self._frame.selection

    # the view

    @Slot()
    def whole_map(self) -> None:
        """Show all points, also after the window's size or the layout changes."""
        self._plot.show_mode(ViewMode.WHOLE)

    @Slot()
    def zoom_to_pair(self) -> None:
        """Show the current pair large, and each pair after it; until the user moves the map."""
        if self._on_map() is not None:
            self._plot.show_mode(ViewMode.PAIR)

    @Slot(int)
    def show_item(self, item: int) -> None:
        """Show an image with what is around it, and put the keyboard's place there."""
        if 0 <= item < len(self._plot.places):
            self._plot.show_items(np.array([item]))
            self._plot.setFocus(Qt.FocusReason.OtherFocusReason)
            self._keys.place(item)

    def picture(self) -> MapPicture:
        """What the whole map shows now, for saving it in a worker."""
        return take_picture(self._plot, self._data, self._by, tokens())

    @property
    def plot(self) -> MapScene:
        """The widget that the points are drawn in."""
        return self._plot

    @property
    def status(self) -> str:
        """What the line below the map says."""
        return self._frame.said

    # events

    def _connect(self) -> None:
        frame, plot, scene = self._frame, self._plot, self._plot.scene()
        scene.sigMouseClicked.connect(self._clicked)
        frame.whole.clicked.connect(self.whole_map)
        frame.near.clicked.connect(self.zoom_to_pair)
        frame.colourChosen.connect(self.set_colour_by)
        frame.outlines.toggled.connect(self._show_outlines)
        frame.save.triggered.connect(self.saveWanted)
        frame.search.found.connect(self._found)
        frame.search.itemChosen.connect(self.show_item)
        frame.search.clusterChosen.connect(self._show_cluster)
        self._selecting.changed.connect(self._tell)
        self._selecting.remarked.connect(self._say)
        self._selecting.acted.connect(self.selectionActed)
        self._selecting.moveWanted.connect(self.moveWanted)
        self._hover.hovered.connect(self.itemHovered)
        plot.keyPressed.connect(self._key)
        self._keys.reached.connect(self._hover.reached)
        frame.search.left.connect(self._focus.give_back)
        self._keys.opened.connect(self._choose)
        self._keys.toggled.connect(self._selecting.toggle)
        self._keys.asked.connect(self._asked)

    @Slot(QKeyEvent)
    def _key(self, event: QKeyEvent) -> None:
        if self._keys.press(event):
            event.accept()

    @Slot(str)
    def _asked(self, what: str) -> None:
        if what == "whole":
            self.whole_map()
        elif what == "pair":
            self.zoom_to_pair()
        elif what == "lasso":
            self._frame.lasso.toggle()
        elif what == "find":
            self._frame.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self._frame.search.selectAll()
        elif not self._selecting.back():
            self._focus.give_back()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange) and hasattr(self, "_keys"):
            self._retheme()

    def _retheme(self) -> None:
        self._plot.setBackground(QColor(tokens().surface))
        self._plot.viewport().update()
        self._frame.legend.set_entries(legend(self._data, self._by, tokens()))

    @Slot(object)
    def _clicked(self, event: Any) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        position = QPointF(self._plot.mapFromScene(event.scenePos()))
        item, named = self._plot.item_at(position), self._plot.names.cluster_at(position)
        whole = named >= 0 and self._known and (item < 0 or self._data.labels[item] != named)
        if whole:
            item = int(np.flatnonzero(self._data.labels == named)[0])
        if item >= 0:
            event.accept()
            self._choose(item, whole)

    @Slot(int)
    def _choose(self, item: int, whole: bool = False) -> None:
        """An image was clicked or opened by key, or (``whole``) its cluster's name: a target, or to be opened."""
        if self._selecting.target(item):
            return
        if item < len(self._data.labels):
            self.clusterClicked.emit(int(self._data.labels[item]))
        if not whole:
            self.itemClicked.emit(item)

    # search

    @Slot(object)
    def _found(self, items: list[int]) -> None:
        self._marked = np.asarray(items, np.int64)
        self._emphasis.start()
        self._tell()

    @Slot(int)
    def _show_cluster(self, cluster: int) -> None:
        self._plot.show_items(np.flatnonzero(self._data.labels == cluster))
        self.clusterClicked.emit(cluster)

    # colours, marks, texts

    @property
    def _known(self) -> bool:
        """Whether the labels are of the images on the map."""
        return len(self._data.labels) == len(self._plot.places)

    @property
    def _not_junk(self) -> npt.NDArray[np.bool_] | None:
        junk = self._data.junk
        return None if junk is None or len(junk) != len(self._data.labels) else ~junk

    def _refresh(self, changed: IndexArray | None = None, items: IndexArray | None = None) -> None:
        """After clusters changed: these only, and the items that look different by it; None: all."""
        self._recolour(items)
        self._mark_pair()
        if self._known:
            self._plot.set_clusters(self._data.labels, self._data.sizes, self._not_junk, changed)
        self._tell()

    def _recolour(self, items: IndexArray | None = None) -> None:
        if self._known and items is not None:
            self._plot.points.change_look(items, look(self._data, self._by, items))
        elif self._known:
            self._plot.points.set_look(look(self._data, self._by), self._by)
        self._frame.legend.set_entries(legend(self._data, self._by, tokens()) if self._known else ())
        self._emphasis.start()

    def _offer(self, by: ColourBy, former: npt.NDArray[Any] | None, given: npt.NDArray[Any] | None) -> None:
        """What a choice of colours shows is known now, differently than before, or not any more."""
        self._data.drop_unfit()
        self._frame.enable_colours(by, given is not None)
        if self._by is by:
            changed = differing(former, given)  # every answer tells of all images; few of them are not as before
            if changed is None:
                self.set_colour_by(by)
            elif len(changed):
                self._recolour(changed if SHARE * len(changed) < len(self._data.labels) else None)

    @Slot(bool)
    def _show_outlines(self, on: bool) -> None:
        self._plot.hulls.on = on
        self._plot.hulls.update()
        self._plot.names.changed()

    @Slot()
    def _emphasise(self) -> None:
        """Raise what the search found, else the clusters of the pair and the one that is open."""
        if len(self._marked):
            self._plot.points.set_emphasis(self._marked)
            return
        if not self._known:
            return
        wanted = [self._open] if self._open is not None else []
        if self._on_map() is not None:
            wanted += [int(self._data.labels[item]) for item in self._pair or ()]
        self._plot.hulls.set_strong(frozenset(wanted))
        self._plot.points.set_emphasis(self._data.members(wanted))

    def _on_map(self) -> tuple[int, int] | None:
        """The pair, if both of its points are on the map."""
        if self._pair is None or max(self._pair) >= len(self._plot.places):
            return None
        return self._pair

    def _mark_pair(self) -> None:
        pair = self._on_map()
        self._frame.near.setEnabled(pair is not None)
        self._plot.set_pair(pair)
        if pair is None:
            self._plot.marks.set_pair(None)
            return
        texts = ["L", "R"]
        if self._known:
            texts = [f"{side} {self._data.labels[item]}" for side, item in zip("LR", pair, strict=True)]
        self._plot.marks.set_pair(PairMark(self._plot.point(pair[0]), self._plot.point(pair[1]), *texts))

    def _say(self, text: str) -> None:
        """A passing remark."""
        self._remark = text
        self._note.start()
        self._tell()

    @Slot()
    def _forget_remark(self) -> None:
        self._remark = ""
        self._tell()

    @Slot()
    def _tell(self) -> None:
        facts = self._data.facts(len(self._plot.places), self._on_map())
        self._frame.say(self._remark or self._selecting.hint or self._frame.search.message or facts)
        for widget in (self, self._plot):
            widget.setAccessibleDescription(facts or tr(EMPTY))
