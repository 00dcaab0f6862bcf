"""What is offered where somebody else has the project open: to look at it, and to take over what seems to be left."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from a3s_desktop.errors import ProjectLockedError
from a3s_desktop.i18n import tr
from a3s_desktop.ui.dialogs import ask

if TYPE_CHECKING:
    from a3s_desktop.ui.main_window import MainWindow


class LockedFlow(QObject):
    """See the module.

    Parameters
    ----------
    window : MainWindow
    open_project : callable
        ``open_project(folder, read_only, take_over)``.
    """

    def __init__(self, window: MainWindow, open_project: Callable[..., None]) -> None:
        super().__init__(window)
        self._window, self._open_project = window, open_project

    def offer(self, folder: Path, error: ProjectLockedError) -> None:
        """Read-only; to take over only where the other computer has been silent for long, and once more confirmed."""
        buttons = [("close", tr("Cancel")), ("read", tr("Open read-only"))]
        hint = f"{error.hint} " if error.hint else ""
        hint += tr("Read-only you can look at it and export it; answers are not taken.")
        if error.stale:
            buttons.insert(1, ("take", tr("Take over…")))
        dialog = ask(self._window, tr("Project in use"), error.message, hint, tuple(buttons), "read", symbol="lock")
        dialog.chosen.connect(partial(self._on_choice, folder))

    def _on_choice(self, folder: Path, choice: str) -> None:
        if choice == "read":
            self._open_project(folder, True, False)
        elif choice == "take":
            dialog = ask(
                self._window, tr("Take over the project"),
                tr("Is it sure that nobody works in “{name}” on the other computer?", name=folder.name),
                tr(
                    "From now on that window keeps no answers. What it kept and this computer has not received yet "
                    "comes as a second copy, which can be merged."
                ),
                (("close", tr("Cancel")), ("take", tr("Take over"))), "close", symbol="warning",
            )  # fmt: skip
            dialog.chosen.connect(partial(self._on_confirmed, folder))

    def _on_confirmed(self, folder: Path, choice: str) -> None:
        if choice == "take":
            self._open_project(folder, False, True)
