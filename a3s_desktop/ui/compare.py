"""Everything a person can do to see the pair better. It changes how images are shown, never files or answers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Slot

from a3s_desktop.actions import ACTIONS
from a3s_desktop.i18n import tr
from a3s_desktop.storage.keys import split_key
from a3s_desktop.ui.adjustments import STEP as TONE_STEP
from a3s_desktop.ui.adjustments import Adjustments
from a3s_desktop.ui.compare_stage import AMOUNT_STEP, Mode
from a3s_desktop.ui.file_facts import FileFacts, fact_lines, read_facts
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.linked_panes import LinkedPanes
from a3s_desktop.ui.pair_area import PairArea
from a3s_desktop.ui.shortcuts import Shortcuts
from a3s_desktop.ui.view_link import STEP

if TYPE_CHECKING:
    from a3s_desktop.storage.items import Items

_PAN = 0.12  # of the pane, for one key press
_MODES = {
    "compare.overlay": Mode.OVERLAY,
    "compare.split": Mode.SPLIT,
    "compare.difference": Mode.DIFFERENCE,
}
_TONES = {
    "compare.brighter": ("brightness", TONE_STEP),
    "compare.darker": ("brightness", -TONE_STEP),
    "compare.more_contrast": ("contrast", TONE_STEP),
    "compare.less_contrast": ("contrast", -TONE_STEP),
    "compare.more_gamma": ("gamma", TONE_STEP),
    "compare.less_gamma": ("gamma", -TONE_STEP),
}
_MOVES = {
    "view.left": (-_PAN, 0.0),
    "view.right": (_PAN, 0.0),
    "view.up": (0.0, -_PAN),
    "view.down": (0.0, _PAN),
}
# Live without a pair, too: they are about the page.
_ALWAYS = ("view.legend", "view.blind")


class Compare(QObject):
    """Connects the actions for looking with the two panes and the stage over them.

    Tones stay from pair to pair, and so does the way the pair is shown; turned and mirrored images and the zoom end
    with their pair.

    Parameters
    ----------
    area : PairArea
    panes : LinkedPanes
    loader : ImageLoader
    shortcuts : Shortcuts
    """

    def __init__(
        self, area: PairArea, panes: LinkedPanes, loader: ImageLoader, shortcuts: Shortcuts, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._area = area
        self._panes = panes
        self._loader = loader
        self._shortcuts = shortcuts
        self._adjustments = Adjustments()
        self._items: Items | None = None
        self._shown = [-1, -1]  # items in the panes
        self._facts = [FileFacts(), FileFacts()]
        self._connect()

    @property
    def adjustments(self) -> Adjustments:
        """The tones in force."""
        return self._adjustments

    def set_live(self, live: bool) -> None:
        """Whether there is a pair to look at."""
        for spec in ACTIONS:
            if spec.id.startswith(("view.", "compare.")) and spec.id not in (*_ALWAYS, "compare.photo"):
                self._shortcuts.action(spec.id).setEnabled(live)
        if not live:
            self._shortcuts.end_hold()
            self._shortcuts.action("compare.photo").setEnabled(False)

    def new_pair(self) -> None:
        """Before the images of another question are shown."""
        self._shortcuts.end_hold()
        self._shown = [-1, -1]
        self._shortcuts.action("compare.photo").setChecked(False)
        self._area.stage.new_pair()

    def show(self, side: int, items: Items, item: int, number: int) -> None:
        """Show an item on a side; ``number`` comes back when it has been painted."""
        pane = self._area.columns[side].pane
        self._items = items
        self._shown[side] = item
        self._facts[side] = FileFacts()
        pane.set_image(items.file(item), items.name(item), number, items.problems.get(item, ""))
        self._ask_facts(side)
        self._note()
        # The name tells: the disk is not asked on this thread.
        parts = [item >= 0 and split_key(items.paths[item])[1] is not None for item in self._shown]
        self._shortcuts.action("compare.photo").setEnabled(any(parts))
        if self._shortcuts.action("compare.photo").isChecked():
            self._show_photo(side)

    def clear(self) -> None:
        """No pair any more."""
        self._items = None
        self._shown = [-1, -1]
        for side, column in enumerate(self._area.columns):
            self._loader.darkroom.drop(_place(side))
            column.pane.set_image(None)

    def leave(self) -> bool:
        """Back to side by side (Esc); whether there was something to leave."""
        if self._area.stage.mode is Mode.SIDES:
            return False
        self._set_mode(Mode.SIDES)
        return True

    # Actions

    def _connect(self) -> None:
        action, panes, stage = self._shortcuts.action, self._panes, self._area.stage
        simple = {
            "view.fit": panes.reset,
            "view.actual": self._actual,
            "view.zoom_in": partial(panes.zoom, STEP),
            "view.zoom_out": partial(panes.zoom, 1 / STEP),
            "compare.more": partial(stage.change_amount, AMOUNT_STEP),
            "compare.less": partial(stage.change_amount, -AMOUNT_STEP),
            "compare.original": self._original,
        }
        simple |= {name: partial(panes.pan, *by) for name, by in _MOVES.items()}
        simple |= {name: partial(self._step, *by) for name, by in _TONES.items()}
        for side, word in enumerate(("left", "right")):
            simple[f"compare.turn_{word}"] = partial(self._turn, side)
            simple[f"compare.mirror_{word}"] = partial(self._mirror, side)
        for name, slot in simple.items():
            action(name).triggered.connect(lambda _checked=False, slot=slot: slot())
        for name, mode in _MODES.items():
            action(name).toggled.connect(partial(self._on_mode, mode))
        action("compare.photo").toggled.connect(self._on_photo)
        action("compare.tones").toggled.connect(self._area.show_tones)
        action("compare.equalise").toggled.connect(self._on_equalise)
        action("compare.facts").toggled.connect(self._on_facts_wanted)
        self._shortcuts.held.connect(self._on_held)
        self._shortcuts.rebound.connect(self._take_keys)
        self._take_keys()
        self._area.tones.changed.connect(self._adjust)
        self._loader.darkroom.done.connect(self._on_facts)
        # Emitted inside a paint event: act after it.
        stage.painted.connect(panes.both_painted, Qt.ConnectionType.QueuedConnection)
        stage.wheelZoomed.connect(panes.zoom_at)
        stage.dragged.connect(panes.drag_by)
        stage.doubleClicked.connect(panes.toggle_at)
        for column in self._area.columns:
            column.pane.pictureChanged.connect(self._show_facts)

    def _actual(self) -> None:
        self._panes.actual_size(1 if self._area.right.pane.underMouse() else 0)

    def _on_mode(self, mode: Mode, on: bool) -> None:
        if on:
            self._set_mode(mode)
        elif self._area.stage.mode is mode:
            self._set_mode(Mode.SIDES)

    def _set_mode(self, mode: Mode) -> None:
        self._area.stage.set_mode(mode)
        for name, each in _MODES.items():
            self._shortcuts.action(name).setChecked(each is mode)
        self._panes.apply()

    @Slot(str, bool)
    def _on_held(self, name: str, held: bool) -> None:
        if name == "compare.flip":
            self._flip(held)

    def _flip(self, held: bool) -> None:
        left, right = (column.pane for column in self._area.columns)
        left.set_guest(right if held else None)
        right.set_guest(left if held else None)
        self._area.stage.set_held(held)

    def _turn(self, side: int) -> None:
        self._panes.turn(side)
        self._note()

    def _mirror(self, side: int) -> None:
        self._panes.mirror(side)
        self._note()

    # Whole photos of images that are parts of one

    @Slot(bool)
    def _on_photo(self, whole: bool) -> None:
        items = self._items
        for side, item in enumerate(self._shown):
            pane = self._area.columns[side].pane
            if items is None or item < 0:
                continue
            if whole:
                self._show_photo(side)
            else:
                pane.set_image(items.file(item), items.name(item), pane.number, items.problems.get(item, ""))
        self._panes.reset()
        self._note()
        self._show_facts()

    def _show_photo(self, side: int) -> None:
        items, item, pane = self._items, self._shown[side], self._area.columns[side].pane
        part = items.part(item) if items is not None else None
        if items is not None and part is not None:
            pane.set_image(items.photo(item), items.name(item), pane.number)
            pane.set_mark((part.x, part.y, part.width, part.height))

    # Tones

    def _step(self, name: str, by: int) -> None:
        self._adjust(self._adjustments.stepped(name, by))

    @Slot(bool)
    def _on_equalise(self, on: bool) -> None:
        self._adjust(replace(self._adjustments, equalise=on))

    def _original(self) -> None:
        self._panes.unturn()
        self._adjust(Adjustments())

    @Slot(object)
    def _adjust(self, adjustments: Adjustments) -> None:
        self._adjustments = adjustments
        self._shortcuts.action("compare.equalise").setChecked(adjustments.equalise)
        for column in self._area.columns:
            column.pane.source.set_adjustments(adjustments)
        self._area.tones.show_value(adjustments)
        self._note()

    @Slot()
    def _note(self) -> None:
        """Say on each image that it is not shown as it is, and which key ends that."""
        keys = self._shortcuts.keys("compare.original")
        for column in self._area.columns:
            orientation = column.pane.source.orientation
            parts = [] if self._adjustments.neutral else [tr("tones changed")]
            if orientation.turns:
                # Said as if it were mirrored last, which is how it is read.
                turns = -orientation.turns % 4 if orientation.mirrored else orientation.turns
                parts.append(tr("turned {angle}°", angle=90 * turns))
            if orientation.mirrored:
                parts.append(tr("mirrored"))
            if parts and keys:
                parts.append(tr("{key}: as the file is", key=keys[0]))
            column.pane.set_note("  ·  ".join(parts))

    @Slot()
    def _take_keys(self) -> None:
        keys = [key for name in ("compare.more", "compare.less") for key in self._shortcuts.keys(name)[:1]]
        self._area.stage.set_keys(keys)
        self._note()

    # Facts of the files

    @Slot(bool)
    def _on_facts_wanted(self, _wanted: bool) -> None:
        for side in (0, 1):
            self._ask_facts(side)
        self._show_facts()

    def _ask_facts(self, side: int) -> None:
        if self._shortcuts.action("compare.facts").isChecked() and self._items is not None and self._shown[side] >= 0:
            self._loader.darkroom.submit(_place(side), read_facts, self._items.photo(self._shown[side]))

    @Slot(str, int, object)
    def _on_facts(self, place: str, _number: int, facts: FileFacts) -> None:
        for side in (0, 1):
            if place == _place(side):
                self._facts[side] = facts
                self._show_facts()

    @Slot()
    def _show_facts(self) -> None:
        wanted = self._shortcuts.action("compare.facts").isChecked()
        for side, column in enumerate(self._area.columns):
            lines: tuple[str, ...] = ()
            facts, item = self._facts[side], self._shown[side]
            if wanted and self._items is not None and item >= 0 and facts != FileFacts():
                source = column.pane.source
                size = source.orientation.size(source.size)
                pixels = None if size.isEmpty() else (size.width(), size.height())
                folder = PurePosixPath(self._items.paths[item]).parent.as_posix()
                lines = fact_lines(self._items.name(item), "" if folder == "." else folder, pixels, facts)
            column.pane.set_facts(lines)


def _place(side: int) -> str:
    return f"facts-{side}"
