"""The clusters page: all clusters, one of them, the single images, the junk; what the session says, and the keys."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QFocusEvent, QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from a3s_desktop.actions import Scope
from a3s_desktop.core.types import IndexArray
from a3s_desktop.i18n import tr, trn
from a3s_desktop.session.overview import Home
from a3s_desktop.session.state import Change, ChangeKind, SessionState
from a3s_desktop.ui.bridge import Bridge
from a3s_desktop.ui.cluster_bars import ToolBar, ViewBar
from a3s_desktop.ui.cluster_order import ClusterTable
from a3s_desktop.ui.cluster_pane import ClusterPane
from a3s_desktop.ui.cluster_rows import Row
from a3s_desktop.ui.clusters_commands import ClusterCommands, Mode
from a3s_desktop.ui.corrections import Corrections
from a3s_desktop.ui.engine_room import Opened, Reading
from a3s_desktop.ui.fetch import Fetch
from a3s_desktop.ui.gallery import Gallery
from a3s_desktop.ui.home_rows import HomeRows
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.member_rows import MemberRows
from a3s_desktop.ui.name_editor import NameEditor
from a3s_desktop.ui.shortcuts import Shortcuts
from a3s_desktop.ui.singles_pane import SinglesPane

_NEAREST = 12


class ClustersPage(QWidget):
    """See the module. It reads the session only while it is in sight.

    Parameters
    ----------
    bridge : Bridge
    loader : ImageLoader
    shortcuts : Shortcuts
    corrections : Corrections

    Signals
    -------
    updated()
        What the session said last is shown.
    """

    updated = Signal()

    def __init__(
        self, bridge: Bridge, loader: ImageLoader, shortcuts: Shortcuts, corrections: Corrections,
        parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._bridge, self._shortcuts, self._do = bridge, shortcuts, corrections
        self._mode = Mode.ALL
        self._stale = True
        self._watched: IndexArray = np.zeros(0, np.int64)  # the images of `Mode.ITEMS`
        self.gallery, self.pane, self.singles = Gallery(loader), ClusterPane(loader), SinglesPane(loader)
        self.editor = NameEditor(self.gallery)
        self.head, self.tools = ViewBar(shortcuts), ToolBar(shortcuts)
        self._stack = QStackedWidget()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.head)
        column.addWidget(self._stack, 1)
        column.addWidget(self.tools)
        for view in (self.gallery, self.pane, self.singles):
            self._stack.addWidget(view)
        self.setAccessibleName(tr("Clusters"))
        self._fetches = {
            reading: Fetch(bridge, reading, self)
            for reading in (Reading.CLUSTERS, Reading.MEMBERS, Reading.NEAREST, Reading.HOMES, Reading.CHOSEN)
        }
        self._connect()
        self.commands = ClusterCommands(self, bridge, shortcuts, corrections)

    @property
    def mode(self) -> Mode:
        """What is shown."""
        return self._mode

    # what is shown

    @Slot()
    def show_all(self) -> None:
        """All clusters; the keyboard is at the one that was open."""
        cluster = self.pane.cluster
        self._enter(Mode.ALL)
        if cluster >= 0:
            self.gallery.choose(cluster)

    @Slot(int)
    def open_cluster(self, cluster: int) -> None:
        """The images of a cluster."""
        state = self._bridge.state
        if state is None or not np.any(state.labels == cluster):
            return
        self.pane.clear()
        self._open = cluster
        self._enter(Mode.CLUSTER)

    def open_items(self, items: Sequence[int] | IndexArray) -> None:
        """Some images, wherever they belong."""
        if len(items):
            self.pane.clear()
            self._watched = np.array(items, np.int64)
            self._enter(Mode.ITEMS)

    @Slot()
    def show_singles(self) -> None:
        """The single images with their likely homes."""
        self._enter(Mode.SINGLES)

    @Slot()
    def show_junk(self) -> None:
        """The images that were taken out."""
        self.pane.clear()
        self._enter(Mode.JUNK)

    def _enter(self, mode: Mode) -> None:
        self._mode = mode
        self.editor.finish()
        view = {Mode.ALL: self.gallery, Mode.SINGLES: self.singles}.get(mode, self.pane)
        self._stack.setCurrentWidget(view)
        self.refresh()
        if self.isVisible():
            self.setFocus(Qt.FocusReason.OtherFocusReason)
        self.commands.update()

    @Slot()
    def refresh(self) -> None:
        """Read anew what is shown; put off while the page is not in sight."""
        state = self._bridge.state
        self._stale = not self.isVisible()
        if self._stale or state is None:
            return
        ask = self._fetches
        if self._mode is Mode.ALL:
            ask[Reading.CLUSTERS].ask()
        elif self._mode is Mode.SINGLES:
            ask[Reading.HOMES].ask(None)
        elif self._mode is Mode.JUNK:
            self._show_junk(state)
        elif self._mode is Mode.ITEMS:
            self._watched = self._watched[~state.is_junk[self._watched]]
            ask[Reading.CHOSEN].ask(self._watched.astype(np.int32))
        elif self._follow(state):
            ask[Reading.MEMBERS].ask(self._open)
            ask[Reading.NEAREST].ask(self._open, _NEAREST)

    def _follow(self, state: SessionState) -> bool:
        """Find the open cluster again: by its id, else where most of its images are; False: there is none any more."""
        items = self.pane.grid.rows.items
        shown = items[~state.is_junk[items]]
        if len(items) and not np.any(state.labels[shown] == self._open):
            if not len(shown):
                self._enter(Mode.ALL)
                return False
            self._open = int(np.bincount(state.labels[shown]).argmax())
        return True

    # from the session

    def _connect(self) -> None:
        bridge = self._bridge
        bridge.opened.connect(self._on_opened)
        bridge.closed.connect(self._on_closed)
        bridge.stateChanged.connect(self._on_state)
        for reading, slot in (
            (Reading.CLUSTERS, self._on_clusters), (Reading.MEMBERS, self._on_members),
            (Reading.NEAREST, self._on_nearest), (Reading.HOMES, self._on_homes), (Reading.CHOSEN, self._on_chosen),
        ):  # fmt: skip
            self._fetches[reading].came.connect(slot)
        self.addActions(self._shortcuts.actions(Scope.CLUSTERS))
        self.gallery.opened.connect(self.open_cluster)
        self.pane.backWanted.connect(self.show_all)
        self.singles.marked.connect(self._on_marked)
        self._open = -1

    @Slot(object)
    def _on_opened(self, opened: Opened) -> None:
        items = opened.items
        self.gallery.set_project(items, items.paths)
        self.pane.set_items(items)
        self.singles.set_items(items)
        self.tools.say("")
        self._watched = self._watched[:0]
        self._enter(Mode.ALL)

    @Slot()
    def _on_closed(self) -> None:
        self.gallery.set_project(None, ())
        self.pane.set_items(None)
        self.singles.set_items(None)
        self._watched = self._watched[:0]
        self._mode = Mode.ALL

    @Slot(object, object)
    def _on_state(self, state: SessionState, change: Change) -> None:
        self.head.set_counts(state.clusters, state.singletons, state.junk)
        if change.kind is not ChangeKind.OPENED:
            moved = trn("{n} image moved", "{n} images moved", len(change.moved)) if len(change.moved) else ""
            self.tools.say("  ·  ".join(part for part in (change.text, moved) if part))
            for editor in (self.editor, self.pane.editor):
                editor.finish()
        self.refresh()
        self.commands.update()

    @Slot(object)
    def _on_clusters(self, clusters: ClusterTable) -> None:
        state = self._bridge.state
        if state is not None and self._mode is Mode.ALL:
            first = not self.gallery.ids()
            self.gallery.set_clusters(clusters, state.labels)
            if first and self.gallery.current() is None and len(clusters):
                self.gallery.choose(self.gallery.ids()[0] if self.gallery.ids() else -1)
            self.updated.emit()

    @Slot(object)
    def _on_members(self, members: MemberRows) -> None:
        state = self._bridge.state
        if state is None or self._mode is not Mode.CLUSTER:
            return
        if len(members):
            cluster = int(state.labels[members[0][0]])
            self._open = cluster
            self.pane.show_cluster(cluster, state.names.get(cluster, ""), cluster in state.finished, members)
            self.updated.emit()
        elif not len(self.pane.grid.rows):
            self._enter(Mode.ALL)  # it went before it was shown

    @Slot(object)
    def _on_nearest(self, homes: tuple[Home, ...]) -> None:
        state = self._bridge.state
        if state is not None and self._mode is Mode.CLUSTER:
            self.pane.show_near(self._do.rows(state, homes))
            self.updated.emit()

    @Slot(object)
    def _on_homes(self, homes: tuple[Home, ...]) -> None:
        state = self._bridge.state
        if state is None or self._mode is not Mode.SINGLES:
            return
        self.singles.show_rows(HomeRows.of(homes, state))
        self.commands.update()
        self.updated.emit()

    @Slot(object)
    def _on_chosen(self, rows: MemberRows) -> None:
        if self._mode is not Mode.ITEMS or len(rows) != len(self._watched):
            return
        title = trn("{n} chosen image", "{n} chosen images", len(self._watched))
        hint = tr("All of these images are junk now.")
        self.pane.show_items(title, rows, hint)
        self.updated.emit()

    def _show_junk(self, state: SessionState) -> None:
        junk = np.flatnonzero(state.is_junk)
        self.pane.show_items(tr("Junk"), MemberRows(junk, np.full(len(junk), -1.0)), tr("No image is junk."))
        self.updated.emit()

    @Slot(object)
    def _on_marked(self, row: Row | None) -> None:
        state = self._bridge.state
        faces = self._do.faces(state, row.cluster) if state is not None and row is not None and row.cover >= 0 else ()
        self.singles.show_home(row, faces)
        self.commands.update()

    # events

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape goes back to all clusters."""
        if event.key() == Qt.Key.Key_Escape and self._mode is not Mode.ALL:
            self.show_all()
            return
        super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """The keys go to the cards or images; no proxy, which would take the rest of the page out of Tab's way."""
        home = {Mode.ALL: self.gallery.grid, Mode.SINGLES: self.singles.list}.get(self._mode, self.pane.grid)
        home.setFocus(event.reason())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self.refresh()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.editor.finish()
        self.pane.editor.finish()
