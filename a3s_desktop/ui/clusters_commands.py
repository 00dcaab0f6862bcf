"""What can be done on the clusters page with what is selected there, and the keys that do it."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, QPoint, QRect, Qt, Slot

from a3s_desktop.core.types import IndexArray
from a3s_desktop.i18n import tr, trn
from a3s_desktop.session.overview import ClusterSummary
from a3s_desktop.ui.bridge import Bridge
from a3s_desktop.ui.cluster_cards import CARD
from a3s_desktop.ui.cluster_pane import selection_text
from a3s_desktop.ui.cluster_rows import Row
from a3s_desktop.ui.corrections import Corrections
from a3s_desktop.ui.shortcuts import Shortcuts

if TYPE_CHECKING:
    from a3s_desktop.ui.clusters_page import ClustersPage


class Mode(enum.Enum):
    """What the page shows."""

    ALL = "all"
    CLUSTER = "cluster"
    ITEMS = "items"  # some images of several clusters
    SINGLES = "singles"
    JUNK = "junk"


class ClusterCommands(QObject):
    """Ties the page's actions to its views; decides which of them can be used.

    Parameters
    ----------
    page : ClustersPage
    bridge, shortcuts, corrections
        Of the program.
    """

    def __init__(self, page: ClustersPage, bridge: Bridge, shortcuts: Shortcuts, corrections: Corrections) -> None:
        super().__init__(page)
        self._page, self._bridge, self._shortcuts, self._do = page, bridge, shortcuts, corrections
        for name, done in (
            ("gallery.open", self._open_chosen), ("gallery.back", page.show_all), ("gallery.all", page.show_all),
            ("gallery.singles", page.show_singles), ("gallery.junk", page.show_junk), ("gallery.find", self._find),
            ("gallery.order", self._next_order), ("cluster.split", self._split), ("cluster.each", self._each),
            ("cluster.move", self._move), ("cluster.junk", self._junk), ("cluster.restore", self._restore),
            ("cluster.merge", self._merge), ("cluster.accept", self._accept), ("cluster.next", self._next),
            ("cluster.name", self._name), ("cluster.finish", self._finish),
        ):  # fmt: skip
            shortcuts.action(name).triggered.connect(done)
        for changed in (
            bridge.phaseChanged, bridge.failed, page.gallery.chosen, page.pane.chosen, page.pane.near.chosen,
        ):  # fmt: skip
            changed.connect(self.update)
        page.gallery.merged.connect(corrections.merge)
        page.pane.near.opened.connect(self._open_row)
        page.pane.near.dropped.connect(self._dropped)
        page.editor.named.connect(self._named)
        page.pane.editor.named.connect(self._named)
        self.update()

    @Slot()
    def update(self) -> None:
        """Enable what can be used with what is selected now."""
        mode, ready = self._page.mode, self._do.possible
        action = self._shortcuts.action
        count = self._page.pane.grid.chosen_count() if mode in (Mode.CLUSTER, Mode.ITEMS, Mode.JUNK) else 0
        cards = self._page.gallery.grid.chosen_count() if mode is Mode.ALL else 0
        row = self._page.singles.list.marked() if mode is Mode.SINGLES else None
        near = self._page.pane.near.marked() if mode is Mode.CLUSTER else None
        some, one = count > 0, self._cluster_chosen() is not None
        members = mode in (Mode.CLUSTER, Mode.ITEMS)
        enabled = {
            "gallery.open": some or cards > 0 or row is not None,
            "gallery.back": mode is not Mode.ALL,
            "gallery.order": mode in (Mode.ALL, Mode.CLUSTER, Mode.ITEMS),
            "cluster.split": ready and members and some,
            "cluster.each": ready and members and some,
            "cluster.move": ready and ((mode is not Mode.ALL and some) or row is not None),
            "cluster.junk": ready and ((members and some) or row is not None),
            "cluster.restore": ready and mode is Mode.JUNK and some,
            "cluster.merge": ready and (mode is Mode.CLUSTER or 0 < cards < 3),
            "cluster.accept": ready and (near is not None or (row is not None and row.cover >= 0)),
            "cluster.next": row is not None,
            "cluster.name": ready and one and mode is not Mode.SINGLES,
            "cluster.finish": ready and one,
        }
        for name, on in enabled.items():
            action(name).setEnabled(on)
        for name, modes in (("all", (Mode.ALL, Mode.CLUSTER, Mode.ITEMS)), ("singles", (Mode.SINGLES,)),
                            ("junk", (Mode.JUNK,))):  # fmt: skip
            action(f"gallery.{name}").setChecked(mode in modes)
        state, cluster = self._bridge.state, self._cluster_chosen()
        done = state is not None and cluster is not None and cluster in state.finished
        action("cluster.finish").setChecked(done)
        self._offer(mode, done)
        self._page.tools.selected.setText(
            trn("{n} cluster selected", "{n} clusters selected", cards) if cards else selection_text(count)
        )

    def _offer(self, mode: Mode, done: bool) -> None:
        finish = tr("Open for questions again") if done else tr("Mark finished")
        members = ("cluster.split", "cluster.each", "cluster.move", "cluster.junk")
        texts = {"cluster.finish": finish}
        if mode is Mode.ALL:
            names: tuple[str, ...] = ("gallery.open", "cluster.merge", "cluster.name", "cluster.finish")
        elif mode is Mode.CLUSTER:
            names = (*members, "cluster.accept", "cluster.merge", "cluster.name", "cluster.finish")
            texts["cluster.accept"] = tr("Merge with the nearest")
        elif mode is Mode.SINGLES:
            names = ("cluster.accept", "cluster.next", "cluster.finish", "cluster.move", "cluster.junk")
            texts |= {"cluster.accept": tr("It belongs there"), "cluster.finish": tr("It stays alone")}
        else:
            names = members if mode is Mode.ITEMS else ("cluster.restore", "cluster.move")
        self._page.tools.offer(names, texts)

    def _cluster_chosen(self) -> int | None:
        """The one cluster that a command about a cluster means."""
        state = self._bridge.state
        if self._page.mode is Mode.CLUSTER and self._page.pane.cluster >= 0:
            return self._page.pane.cluster
        if self._page.mode is Mode.SINGLES and state is not None:
            row = self._page.singles.list.marked()
            return None if row is None else int(state.labels[row.item])
        cards = self._cards()
        return self._now(cards[0]) if len(cards) == 1 else None

    def _cards(self) -> list[ClusterSummary]:
        """The selected cards where they are so few that a command can mean them."""
        gallery = self._page.gallery
        return gallery.selected() if self._page.mode is Mode.ALL and gallery.grid.chosen_count() < 3 else []

    def _now(self, cluster: ClusterSummary) -> int:
        """Where a card's images are now."""
        state = self._bridge.state
        return int(state.labels[cluster.cover[0]]) if state is not None and cluster.cover else cluster.id

    def _chosen(self) -> IndexArray:
        row = self._page.singles.list.marked() if self._page.mode is Mode.SINGLES else None
        return np.array([row.item]) if row is not None else self._page.pane.grid.chosen()

    # what the person does

    @Slot()
    def _open_chosen(self) -> None:
        if self._page.mode is Mode.ALL:
            current = self._page.gallery.current()
            if current is not None:
                self._page.open_cluster(self._now(current))
        elif self._page.mode is Mode.SINGLES:
            self._page.singles.enlarge()
        elif self._page.pane.near.hasFocus():
            self._open_row(self._page.pane.near.marked())
        else:
            self._page.pane.grid.enlarge(self._page.pane.grid.currentIndex())

    @Slot(object)
    def _open_row(self, row: Row | None) -> None:
        state = self._bridge.state
        if row is not None and state is not None:
            self._page.open_cluster(int(state.labels[row.cover]))

    @Slot()
    def _find(self) -> None:
        if self._page.mode is not Mode.ALL:
            self._page.show_all()
        self._page.gallery.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._page.gallery.search.selectAll()

    @Slot()
    def _next_order(self) -> None:
        (self._page.gallery if self._page.mode is Mode.ALL else self._page.pane).next_order()

    @Slot()
    def _split(self) -> None:
        self._do.split(self._page.pane.grid.chosen())

    @Slot()
    def _each(self) -> None:
        self._do.split(self._page.pane.grid.chosen(), each=True)

    @Slot()
    def _move(self) -> None:
        self._do.pick_move(self._chosen())

    @Slot()
    def _junk(self) -> None:
        self._do.junk(self._chosen())

    @Slot()
    def _restore(self) -> None:
        self._do.restore(self._page.pane.grid.chosen())

    @Slot()
    def _merge(self) -> None:
        cards = self._cards()
        if len(cards) == 2:
            self._do.merge(self._now(cards[0]), self._now(cards[1]))
        elif (cluster := self._cluster_chosen()) is not None:
            self._do.pick_merge(cluster)

    @Slot()
    def _accept(self) -> None:
        state = self._bridge.state
        if state is None:
            return
        if self._page.mode is Mode.SINGLES:
            row = self._page.singles.list.marked()
            if row is not None and row.cover >= 0:
                self._do.move((row.item,), row.cover)
        elif self._page.mode is Mode.CLUSTER:
            near = self._page.pane.near.marked()
            if near is not None:
                self._do.merge(self._page.pane.cluster, int(state.labels[near.cover]), preview=False)

    @Slot()
    def _next(self) -> None:
        self._page.singles.next()

    @Slot()
    def _finish(self) -> None:
        cluster = self._cluster_chosen()
        if cluster is not None:
            self._do.finish(cluster)
        self.update()  # the check mark has flipped by itself

    @Slot()
    def _name(self) -> None:
        if self._page.mode is Mode.CLUSTER:
            self._page.pane.edit_name()
            return
        grid, state = self._page.gallery.grid, self._bridge.state
        cards = self._cards()
        if state is None or len(cards) != 1:
            return
        grid.scrollTo(grid.currentIndex())
        rect = grid.visualRect(grid.currentIndex())
        corner = grid.viewport().mapTo(self._page.gallery, rect.topLeft() + QPoint(4, 0))
        height = self._page.editor.sizeHint().height()
        place = QRect(corner.x(), corner.y() + round(CARD * 0.66), max(rect.width() - 8, 120), height)
        self._page.editor.begin(cards[0].cover[0], cards[0].name, place, grid)

    @Slot(int, str)
    def _named(self, item: int, name: str) -> None:
        state = self._bridge.state
        if state is None:
            return
        cluster = int(state.labels[item])
        if name.strip() == state.names.get(cluster, "") and name.strip():
            self._page.editor.finish()
            self._page.pane.editor.finish()
        else:
            self._do.rename(cluster, name)

    @Slot(object, object)
    def _dropped(self, items: IndexArray, row: Row) -> None:
        self._do.move(items, row.cover)
