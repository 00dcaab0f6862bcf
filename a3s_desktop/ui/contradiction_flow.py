"""From a refused correction to one that is carried out, or left: chain after chain, until nothing contradicts."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from a3s_desktop.core.types import Answer
from a3s_desktop.errors import A3SError, ContradictionError
from a3s_desktop.session.state import Change, HistoryEntry, SessionState
from a3s_desktop.ui.bridge import Bridge
from a3s_desktop.ui.contradiction_chain import ChainLink
from a3s_desktop.ui.contradiction_dialog import ContradictionDialog
from a3s_desktop.ui.engine_room import Reading
from a3s_desktop.ui.image_loader import ImageLoader


class ContradictionFlow(QObject):
    """Opens the dialog when the bridge tells of a contradiction, and carries out what is chosen in it.

    Nothing is dropped before the whole correction succeeds: dropped links and correction are one step, one undo.

    Parameters
    ----------
    window : QWidget
    bridge : Bridge
    loader : ImageLoader
    """

    def __init__(self, window: QWidget, bridge: Bridge, loader: ImageLoader) -> None:
        super().__init__(window)
        self._window, self._bridge, self._loader = window, bridge, loader
        self._dialog: ContradictionDialog | None = None
        self._chain: tuple[tuple[int, int, str], ...] = ()
        self._operation: object = None
        self._dropping: tuple[int, ...] = ()
        bridge.failed.connect(self._on_failed)
        bridge.stateChanged.connect(self._on_state)
        bridge.closed.connect(self._close)

    @property
    def dialog(self) -> ContradictionDialog | None:
        """The open dialog."""
        return self._dialog

    @Slot(object)
    def _on_failed(self, error: A3SError) -> None:
        if not isinstance(error, ContradictionError) or not error.chain:
            self._close()
            return
        performed = self._bridge.performed
        self._operation, self._dropping = performed if performed is not None else (None, ())
        self._chain = tuple(error.chain)
        self._bridge.read(Reading.ENTRIES_BEHIND, self._chain, self._dropping, done=self._on_entries)

    @Slot(object)
    def _on_entries(self, entries: tuple[HistoryEntry | None, ...]) -> None:
        items = self._bridge.items
        if items is None or len(entries) != len(self._chain):
            return
        chain = [
            ChainLink(left, right, said == Answer.SAME.value, entry)
            for (left, right, said), entry in zip(self._chain, entries, strict=True)
        ]
        # The chain leads from one image of the refused pair to the other, and says the opposite of it.
        new = ChainLink(chain[0].left, chain[-1].right, not all(link.same for link in chain), None, new=True)
        first = self._dialog is None
        if self._dialog is None:
            self._dialog = ContradictionDialog(self._loader, items, self._window)
            self._dialog.dropWanted.connect(self._on_drop)
            self._dialog.kept.connect(self._on_kept)
        self._dialog.show_chain(new, chain, len(self._dropping))
        if first:
            self._dialog.open()

    @Slot(object)
    def _on_drop(self, link: ChainLink) -> None:
        if link.entry is None:
            return
        if self._operation is not None:
            self._bridge.perform(self._operation, (*self._dropping, link.entry.number))  # type: ignore[arg-type]
        else:
            # What was refused was an answer: once this is gone it can be given again.
            self._bridge.change(link.entry.number, None)

    @Slot()
    def _on_kept(self) -> None:
        self._dialog = None

    @Slot(object, object)
    def _on_state(self, _state: SessionState, _change: Change) -> None:
        self._close()

    @Slot()
    def _close(self) -> None:
        dialog, self._dialog = self._dialog, None
        if dialog is not None:
            dialog.finish()
