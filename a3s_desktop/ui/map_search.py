"""Search on the map: by file name, by the name or number of a cluster."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QListWidget, QListWidgetItem, QWidget

from a3s_desktop.i18n import tr, trn
from a3s_desktop.ui.map_data import MapData
from a3s_desktop.ui.plain import plain_tip
from a3s_desktop.ui.theme import SPACE_1, icon, set_role

SHOWN = 30  # rows of the list
MARKED = 5000  # images that are marked on the map
_BLOCK = 8192  # names looked at in one step, about 2 ms
_PAUSE = 120  # ms after the last key


def folded(text: str) -> str:
    """A text as it is compared: composed, without case, on one line."""
    return unicodedata.normalize("NFC", " ".join(text.split())).casefold()


@dataclass(slots=True)
class Finding:
    """A search under way.

    Attributes
    ----------
    wanted : str
        Folded.
    clusters, items : list of int
        What was found so far; at most `MARKED` items.
    total : int
        Images found.
    place : int
        The first name not looked at yet.
    """

    wanted: str
    clusters: list[int]
    items: list[int]
    total: int = 0
    place: int = 0


def find_clusters(data: MapData, wanted: str) -> list[int]:
    """Clusters whose number is asked for ("12", "cluster 12") or whose name holds the text; at most ten."""
    found: list[int] = []
    number = wanted.removeprefix(folded(tr("Cluster {number}", number=""))).strip()
    if number.isdecimal() and int(number) < len(data.sizes) and data.sizes[int(number)] > 0:
        found.append(int(number))
    for cluster, name in data.names.items():
        inside = 0 <= cluster < len(data.sizes) and data.sizes[cluster] > 0
        if len(found) < 10 and inside and cluster not in found and wanted in folded(name):
            found.append(cluster)
    return found


def find_step(finding: Finding, paths: Sequence[str], block: int = _BLOCK) -> bool:
    """Look at some more file names, or at whole paths where a folder is asked for; False: all were looked at."""
    wanted = finding.wanted
    whole = "/" in wanted
    stop = min(finding.place + block, len(paths))
    for place in range(finding.place, stop):
        path = paths[place] if whole else paths[place].rpartition("/")[2]
        text = path.casefold() if path.isascii() else unicodedata.normalize("NFC", path).casefold()
        if wanted in text:
            finding.total += 1
            if len(finding.items) < MARKED:
                finding.items.append(place)
    finding.place = stop
    return stop < len(paths)


class MapSearch(QLineEdit):
    """The field; its list floats on ``stage``.

    Parameters
    ----------
    data : MapData
        Names, clusters; read when a search begins.
    stage : QWidget
        Widget that the list lies on, right below the field; holds the field too.

    Attributes
    ----------
    results : QListWidget
        Clusters, then images.

    Signals
    -------
    found(object)
        Items to be marked (list of int); empty: none.
    itemChosen(int), clusterChosen(int)
        What the user went to.
    left()
        Escape in an empty field.
    """

    found = Signal(object)
    itemChosen = Signal(int)
    clusterChosen = Signal(int)
    left = Signal()

    def __init__(self, data: MapData, stage: QWidget) -> None:
        super().__init__()
        self._data = data
        self._finding: Finding | None = None
        self.setPlaceholderText(tr("Find image or cluster"))
        self.setAccessibleName(tr("Find an image by its name, or a cluster by its name or number"))
        self.setToolTip(
            tr("Find an image by its file name (folder/name finds folders too), or a cluster by name or number.")
        )
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setClearButtonEnabled(True)
        self.setMinimumWidth(70)
        self._glass = QAction(icon("search"), "", self)  # one that Qt makes may go before its field does
        self.addAction(self._glass, QLineEdit.ActionPosition.LeadingPosition)
        self.results = QListWidget(stage)
        self.results.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.results.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.results.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.results.setAccessibleName(tr("Found"))
        set_role(self.results, role="field")
        self.results.hide()
        self.results.itemClicked.connect(self._go)
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE)
        self._pause.timeout.connect(self._begin)
        self._work = QTimer(self, interval=0)
        self._work.timeout.connect(self._step)
        self.textChanged.connect(self._typed)

    @property
    def searching(self) -> bool:
        """Whether names are still being looked at."""
        return self._pause.isActive() or self._work.isActive()

    @property
    def message(self) -> str:
        """What was found, in words; empty while nothing is searched for."""
        finding = self._finding
        if finding is None or self.searching:
            return ""
        if not finding.total and not finding.clusters:
            return tr("Nothing found")
        return trn("{n} image found", "{n} images found", finding.total)

    @Slot()
    def stop(self) -> None:
        """Forget the search."""
        self.blockSignals(True)
        self.clear()
        self.blockSignals(False)
        self._forget()

    def retheme(self) -> None:
        """Draw the icon anew."""
        self._glass.setIcon(icon("search"))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key in (Qt.Key.Key_Down, Qt.Key.Key_Up) and self.results.isVisible():
            step = 1 if key == Qt.Key.Key_Down else -1
            self.results.setCurrentRow((self.results.currentRow() + step) % max(self.results.count(), 1))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if self._pause.isActive():
                self._pause.stop()
                self._begin()
            while self._work.isActive() and not self.results.count():
                self._step()
            if self.results.currentItem() is not None:
                self._go(self.results.currentItem())
        elif key == Qt.Key.Key_Escape and (self.text() or self.results.isVisible()):
            self.stop()
        elif key == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)
            return
        event.accept()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusOut:
            QTimer.singleShot(0, self, self._hide_list)  # after a click into the list has been seen
        elif event.type() == QEvent.Type.FocusIn and self._finding is not None and self.results.count():
            self._show_list()
        return bool(super().event(event))

    @Slot()
    def _hide_list(self) -> None:
        if not self.hasFocus():
            self.results.hide()

    @Slot(str)
    def _typed(self, _text: str) -> None:
        self._work.stop()
        if folded(self.text()):
            self._pause.start()
        else:
            self._forget()

    def _forget(self) -> None:
        self._pause.stop()
        self._work.stop()
        self._finding = None
        self.results.clear()
        self.results.hide()
        self.found.emit([])

    @Slot()
    def _begin(self) -> None:
        wanted = folded(self.text())
        self._finding = Finding(wanted, find_clusters(self._data, wanted), [])
        self.results.clear()
        for cluster in self._finding.clusters:
            size = int(self._data.sizes[cluster])
            count = trn("{n} image", "{n} images", size)
            self._row(f"{self._data.cluster_name(cluster)} · {count}", "cluster", cluster)
        self._work.start()

    @Slot()
    def _step(self) -> None:
        finding = self._finding
        if finding is None:
            self._work.stop()
            return
        before = len(finding.items)
        if not find_step(finding, self._paths()):
            self._work.stop()
        for item in finding.items[before:]:
            if self.results.count() >= SHOWN:
                break
            folder, _, name = self._paths()[item].rpartition("/")
            self._row(f"{name}  ·  {folder}" if folder else name, "item", item)
        if not self._work.isActive():
            self._finish(finding)

    def _finish(self, finding: Finding) -> None:
        if self.results.count():
            self.results.setCurrentRow(0)
            if self.hasFocus():
                self._show_list()
        else:
            self.results.hide()
        self.found.emit(list(finding.items))

    def _paths(self) -> Sequence[str]:
        items = self._data.items
        if items is None:
            return ()
        paths = getattr(items, "paths", None)
        if paths is not None and len(paths) and isinstance(paths[0], str):
            return paths  # type: ignore[no-any-return]
        return [items.name(item) for item in range(len(items))]

    def _row(self, text: str, kind: str, number: int) -> None:
        # A path may hold anything; the list shows one line of it.
        row = QListWidgetItem("".join(c if c.isprintable() else "�" for c in text))
        row.setData(Qt.ItemDataRole.UserRole, (kind, number))
        row.setToolTip(plain_tip(row.text()))
        self.results.addItem(row)

    @Slot(QListWidgetItem)
    def _go(self, row: QListWidgetItem) -> None:
        kind, number = row.data(Qt.ItemDataRole.UserRole)
        self.results.hide()
        if kind == "cluster":
            self.clusterChosen.emit(number)
        else:
            self.itemChosen.emit(number)

    def _show_list(self) -> None:
        stage = self.results.parentWidget()  # not kept: the two would keep each other alive
        assert stage is not None
        corner = self.mapTo(stage, QPoint(0, self.height() + SPACE_1))
        height = self.results.sizeHintForRow(0) * min(self.results.count(), 8) + 2 * self.results.frameWidth() + 6
        width = min(max(self.width(), 260), stage.width() - corner.x() - SPACE_1)
        self.results.setGeometry(corner.x(), corner.y(), width, min(height, stage.height() - corner.y() - SPACE_1))
        self.results.show()
        self.results.raise_()
