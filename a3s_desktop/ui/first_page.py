"""The window with its start page, and no more than that needs: it is there before the rest of the program is loaded.

Everything else (`program.py`, with NumPy, Pillow and some two hundred modules) takes four times as long as this. It is
imported on a thread of its own while the start page is shown already, and then built in small steps, so that the window
never stands still. What the user asks for in that second is noted, and done when the rest is there.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication

from a3s_desktop.actions import ACTIONS
from a3s_desktop.settings import SettingsStore
from a3s_desktop.storage.pointer import project_folder
from a3s_desktop.ui.main_window import MainWindow
from a3s_desktop.ui.recent import blank_card
from a3s_desktop.ui.shortcuts import Shortcuts
from a3s_desktop.ui.start_page import StartPage

if TYPE_CHECKING:
    from a3s_desktop.ui.program import Program

_PAINT_MS = 30  # from the first showing to the work that would hold the first picture up


class FirstPage(QObject):
    """What is on the screen first.

    Parameters
    ----------
    settings : SettingsStore

    Attributes
    ----------
    shortcuts, window, start
        Taken over by `Program`.
    """

    def __init__(self, settings: SettingsStore) -> None:
        super().__init__()
        self.settings = settings
        self.shortcuts = Shortcuts(settings, icons=False)
        self.window = MainWindow(self.shortcuts, settings)
        self.start = StartPage(self.shortcuts)
        self.window.add_page(self.start)
        self.start.set_cards([blank_card(Path(folder)) for folder in settings.value.recent])
        self.window.show_project("")
        self.window.show_page(self.start)
        self._wish: Callable[[Program], object] | None = None
        self._actions: list[QAction] = []
        for spec in ACTIONS:
            if not spec.checkable and spec.id != "app.quit":
                action = self.shortcuts.action(spec.id)
                action.setProperty("a3s.id", spec.id)
                action.triggered.connect(self._note_action)
                self._actions.append(action)
        self.shortcuts.action("app.quit").triggered.connect(self.window.close)
        self.start.projectChosen.connect(self._note_project)
        self.start.demoRequested.connect(self._note_demo)
        self.window.dropped.connect(self.open)
        self._program: Program | None = None
        app = QApplication.instance()
        if sys.platform == "darwin" and app is not None:
            app.installEventFilter(self)

    def show(self) -> None:
        """Show the window."""
        self.window.show()
        self.window.activateWindow()

    @Slot(object)
    def open(self, path: Path, read_only: bool = False) -> None:
        """Open a project by its folder or by the ``.a3s`` file in it, now or as soon as that can be done."""
        folder = project_folder(path)
        if self._program is not None:
            self._program.shell.open_project(folder, read_only)
        else:
            self.wish_for(lambda program: program.shell.open_project(folder, read_only))

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """macOS tells a program by an event which file was opened with it."""
        if event.type() == QEvent.Type.FileOpen:
            self.open(Path(event.file()))  # type: ignore[attr-defined]
            return True
        return False

    def wish_for(self, wish: Callable[[Program], object]) -> None:
        """What is to be done when the rest is there; a later wish replaces an earlier one."""
        self._wish = wish
        self.window.setCursor(Qt.CursorShape.BusyCursor)

    def hand_over(self, program: Program) -> None:
        """The rest is there: from now on it listens, and does what was wished for."""
        for action in self._actions:
            action.triggered.disconnect(self._note_action)
        self.shortcuts.action("app.quit").triggered.disconnect(self.window.close)
        self.start.projectChosen.disconnect(self._note_project)
        self.start.demoRequested.disconnect(self._note_demo)
        self._actions = []
        self._program = program
        self.window.unsetCursor()
        if self._wish is not None:
            self._wish(program)

    @Slot()
    def _note_action(self) -> None:
        name = str(self.sender().property("a3s.id"))
        self.wish_for(lambda program: program.shortcuts.action(name).trigger())

    @Slot(object, bool)
    def _note_project(self, folder: Path, read_only: bool) -> None:
        self.open(folder, read_only)

    @Slot(str)
    def _note_demo(self, name: str) -> None:
        self.wish_for(lambda program: program.shell.open_demo(name))


class Loading(QObject):
    """Imports the rest on a thread, then builds it a step at a time.

    Parameters
    ----------
    build : callable
        Called on the GUI thread after the import; gives the steps, each of which is one short piece of work.
    done : callable
        Called on the GUI thread after the last step.
    """

    _imported = Signal()

    def __init__(self, build: Callable[[], Iterator[None]], done: Callable[[], None]) -> None:
        super().__init__()
        self._build, self._done = build, done
        self._steps: Iterator[None] | None = None
        self._finished = self._over = False
        self._imported.connect(self._begin, Qt.ConnectionType.QueuedConnection)
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._step)
        self._thread = threading.Thread(target=self._import, name="loading")
        self._soon = QTimer(self, singleShot=True, interval=_PAINT_MS)
        self._soon.timeout.connect(self._thread.start)

    def start(self) -> None:
        """Begin, once the window has been painted."""
        self._soon.start()

    def finish(self) -> None:
        """Do at once what is left; where nothing has begun, do nothing. The thread has ended afterwards."""
        self._over = True
        self._soon.stop()
        self._timer.stop()
        if self._thread.ident is not None:
            self._thread.join()
        while self._steps is not None and not self._finished:
            self._step()

    def _import(self) -> None:
        import a3s_desktop.ui.program  # noqa: F401 - for its effect

        self._imported.emit()

    @Slot()
    def _begin(self) -> None:
        if not self._over:
            self._steps = self._build()
            self._timer.start()

    @Slot()
    def _step(self) -> None:
        assert self._steps is not None
        try:
            next(self._steps)
        except StopIteration:
            self._finished = True
            self._timer.stop()
            self._done()
