"""Corrections by hand from any view: asked about where they are large, carried out by the bridge."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from a3s_desktop.core.types import IndexArray
from a3s_desktop.errors import A3SError, NameTakenError
from a3s_desktop.i18n import tr, trn
from a3s_desktop.session.operations import Finish, Junk, Merge, Move, Operation, Rename, Reopen, Restore, SplitOff
from a3s_desktop.session.overview import Home
from a3s_desktop.session.state import SessionState
from a3s_desktop.settings import SettingsStore
from a3s_desktop.ui.bridge import Bridge
from a3s_desktop.ui.cluster_picker import ClusterPicker, ClusterRows
from a3s_desktop.ui.cluster_rows import Row
from a3s_desktop.ui.dialogs import ask
from a3s_desktop.ui.engine_room import Reading
from a3s_desktop.ui.fetch import Fetch
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.map_raster import flags
from a3s_desktop.ui.merge_preview import FACES, MergePreview
from a3s_desktop.ui.one_line import shortened

_NEAREST = 12
_ASKED = 200  # images whose likely homes are asked for, to propose where many belong
_Items = Sequence[int] | IndexArray


class Corrections(QObject):
    """What views call to set something right; clusters are named by their current ids.

    Parameters
    ----------
    bridge : Bridge
    loader : ImageLoader
    settings : SettingsStore
    window : QWidget
        Parent of the questions.

    Signals
    -------
    refused(str)
        Nothing was done: a sentence for the status line.
    """

    refused = Signal(str)

    def __init__(self, bridge: Bridge, loader: ImageLoader, settings: SettingsStore, window: QWidget) -> None:
        super().__init__(window)
        self._bridge, self._loader, self._settings, self._window = bridge, loader, settings, window
        self._naming: tuple[int, int] | None = None  # revision, cluster of the last new name
        self._picker: ClusterPicker | None = None
        self._nearest = Fetch(bridge, Reading.NEAREST, self)
        self._homes = Fetch(bridge, Reading.HOMES, self)
        self._nearest.came.connect(self._near_came)
        self._homes.came.connect(self._homes_came)
        bridge.failed.connect(self._failed)
        bridge.closed.connect(self._closed)

    @property
    def possible(self) -> bool:
        """Whether anything can be changed now."""
        return self._bridge.can_correct

    # operations

    def merge(self, first: int, second: int, preview: bool = True) -> None:
        """Make two clusters one; without ``preview`` only a large merge is asked about."""
        state = self._bridge.state
        if state is None:
            return
        if first == second:
            self.refused.emit(tr("A cluster cannot be merged with itself."))
            return
        sizes = [int(np.count_nonzero(state.labels == cluster)) for cluster in (first, second)]
        if not all(sizes):
            self.refused.emit(tr("This cluster is no longer there."))
        elif preview or self._large(min(sizes)):
            self._preview(first, second)
        else:
            self._bridge.perform(Merge(first, second))

    def split(self, items: _Items, each: bool = False) -> None:
        """Take images out of their clusters, together or (``each``) one by one."""
        text = (
            trn("Take {n} image out, to be a cluster of its own?", "Take {n} images out, each a cluster of its own?",
                len(items))
            if each
            else trn("Split {n} image off?", "Split {n} images off as one cluster?", len(items))
        )  # fmt: skip
        self._perform(SplitOff(_numbers(items), each), len(items), text, tr("Split off"))

    def junk(self, items: _Items) -> None:
        """Take images out of the sorting."""
        text = trn("Make {n} image junk?", "Make {n} images junk?", len(items))
        self._perform(Junk(_numbers(items)), len(items), text, tr("Junk"))

    def restore(self, items: _Items) -> None:
        """Take images back from the junk."""
        text = trn("Take {n} image back from junk?", "Take {n} images back from junk?", len(items))
        self._perform(Restore(_numbers(items)), len(items), text, tr("Restore"))

    def move(self, items: _Items, target: int) -> None:
        """Put images into the cluster of the image ``target``."""
        state = self._bridge.state
        if state is None:
            return
        cluster = int(state.labels[target])
        row = self.row(state, cluster)
        text = trn("Move {n} image to {cluster}?", "Move {n} images to {cluster}?", len(items), cluster=row.title)
        self._perform(Move(_numbers(items), cluster), len(items), text, tr("Move"))

    def rename(self, cluster: int, name: str) -> None:
        """Give a cluster a name; where another one has it, merging the two is proposed."""
        state = self._bridge.state
        if state is not None and self.possible:
            self._naming = (state.revision, cluster)
            self._bridge.perform(Rename(cluster, name))

    def finish(self, cluster: int) -> None:
        """Mark a cluster as finished, or open it again."""
        state = self._bridge.state
        if state is not None:
            self._bridge.perform(Reopen(cluster) if cluster in state.finished else Finish(cluster))

    # choosing a cluster

    def pick_move(self, chosen: IndexArray) -> None:
        """Ask where images belong, then move them."""
        state = self._bridge.state
        if not len(chosen):
            self.refused.emit(tr("No image is selected."))
        elif state is not None and self.possible:
            own = int(state.labels[chosen[0]])
            alone = bool((state.labels[chosen] == own).all())  # they are of one cluster; and all of it is chosen:
            whole = alone and np.count_nonzero(state.labels == own) == np.count_nonzero(
                flags(chosen, len(state.labels))
            )
            title = trn("Move {n} image to", "Move {n} images to", len(chosen))
            self._pick(state, title, tr("Move"), {own} if whole else set())
            assert self._picker is not None
            self._picker.picked.connect(partial(self._picked_move, chosen))
            self._homes.ask(tuple(chosen[:_ASKED].tolist()))

    def pick_merge(self, cluster: int) -> None:
        """Ask what a cluster is to be merged with, then show what comes of it."""
        state = self._bridge.state
        if state is not None and self.possible:
            row = self.row(state, cluster)
            single = row.size == 1 and not row.name and self._bridge.items is not None
            name = self._bridge.items.name(row.cover) if single else row.title
            title = tr("Merge {cluster} with", cluster=shortened(name))
            self._pick(state, title, tr("Merge…"), {cluster})
            assert self._picker is not None
            self._picker.picked.connect(partial(self._picked_merge, self.faces(state, cluster)[0]))
            self._nearest.ask(cluster, _NEAREST)

    def _pick(self, state: SessionState, title: str, button: str, without: set[int]) -> None:
        items = self._bridge.items
        if items is None:
            return
        if self._picker is not None:
            self._picker.reject()
        picker = ClusterPicker(self._window, self._loader, items, title, button, self._all_rows(state, without))
        picker.finished.connect(self._picker_gone)
        self._picker = picker
        picker.open()

    @staticmethod
    def _all_rows(state: SessionState, without: set[int]) -> ClusterRows:
        sizes = np.bincount(state.labels)
        sizes[state.labels[state.is_junk]] = 0
        covers = np.zeros(len(sizes), np.int64)
        covers[state.labels[::-1]] = np.arange(len(state.labels))[::-1]
        ids = np.flatnonzero(sizes)
        ids = ids[~np.isin(ids, list(without))]
        ids = ids[np.argsort(-sizes[ids], kind="stable")]
        return ClusterRows(ids, sizes[ids], covers[ids], state.names)

    @Slot(object)
    def _near_came(self, homes: tuple[Home, ...]) -> None:
        state = self._bridge.state
        if self._picker is not None and state is not None:
            self._picker.show_near(self.rows(state, homes))

    @Slot(object)
    def _homes_came(self, homes: tuple[Home, ...]) -> None:
        """Of many images, the clusters that most of them resemble."""
        found: dict[int, list[Home]] = {}
        for home in homes:
            if home.cluster >= 0:
                found.setdefault(home.cluster, []).append(home)
        best = sorted(found.values(), key=lambda group: (-sum(h.likeness for h in group), group[0].cluster))
        total = max(len(homes), 1)
        self._near_came(
            tuple(Home(-1, g[0].cluster, sum(h.likeness for h in g) / total, g[0].cover) for g in best[:_NEAREST])
        )

    def _picked_move(self, chosen: IndexArray, row: Row) -> None:
        self.move(chosen, row.cover)

    def _picked_merge(self, item: int, row: Row) -> None:
        state = self._bridge.state
        if state is not None:
            self.merge(int(state.labels[item]), int(state.labels[row.cover]))

    # for views

    @staticmethod
    def row(state: SessionState, cluster: int, likeness: float = -1.0, cover: int = -1, item: int = -1) -> Row:
        """A cluster as a row of a list."""
        members = np.flatnonzero(state.labels == cluster)
        if cover < 0 and len(members):
            cover = int(members[0])
        return Row(cluster, len(members), state.names.get(cluster, ""), cover, likeness, item)

    @classmethod
    def rows(cls, state: SessionState, homes: tuple[Home, ...]) -> list[Row]:
        """Clusters by likeness; those that are gone meanwhile are left out."""
        found = [cls.row(state, int(state.labels[h.cover]), h.likeness, h.cover) for h in homes if h.cover >= 0]
        return list({row.cluster: row for row in reversed(found)}.values())[::-1]

    @staticmethod
    def faces(state: SessionState, cluster: int) -> tuple[int, ...]:
        """Images that stand for a cluster, confirmed ones first."""
        members = np.flatnonzero(state.labels == cluster)
        order = np.argsort(~state.confirmed[members], kind="stable")
        return tuple(members[order][:FACES].tolist())

    # inner workings

    def _large(self, count: int) -> bool:
        limit = self._settings.value.confirm_from
        return bool(limit) and count >= limit

    def _perform(self, operation: Operation, count: int, question: str, button: str) -> None:
        if not count:
            self.refused.emit(tr("No image is selected."))
        elif self._large(count):
            dialog = ask(
                self._window, button, question, tr("This is one step: Undo takes all of it back."),
                (("close", tr("Cancel")), ("do", button)), "do",
            )  # fmt: skip
            dialog.chosen.connect(partial(self._answered, operation))
        else:
            self._bridge.perform(operation)

    def _answered(self, operation: Operation, choice: str) -> None:
        if choice == "do":
            self._bridge.perform(operation)

    def _preview(self, first: int, second: int, remark: str = "") -> None:
        state, items = self._bridge.state, self._bridge.items
        if state is None or items is None:
            return
        faces = self.faces(state, first), self.faces(state, second)
        sides = (self.row(state, first), faces[0]), (self.row(state, second), faces[1])
        preview = MergePreview(self._window, self._loader, items, sides, remark)
        preview.agreed.connect(partial(self._agreed, faces[0][0], faces[1][0]))
        preview.open()

    def _agreed(self, first: int, second: int) -> None:
        state = self._bridge.state
        if state is not None:
            self._bridge.perform(Merge(int(state.labels[first]), int(state.labels[second])))

    @Slot(object)
    def _failed(self, error: A3SError) -> None:
        state, naming = self._bridge.state, self._naming
        self._naming = None
        if isinstance(error, NameTakenError) and naming is not None and state is not None:
            remark = tr("{problem} If they are the same, merge them; else cancel and choose another name.",
                        problem=error.message)  # fmt: skip
            self._preview(naming[1], error.cluster, remark)

    @Slot()
    def _picker_gone(self) -> None:
        self._picker = None

    @Slot()
    def _closed(self) -> None:
        self._naming = None
        if self._picker is not None:
            self._picker.reject()


def _numbers(items: _Items) -> tuple[int, ...]:
    return tuple(items.tolist() if isinstance(items, np.ndarray) else items)
