"""Opens what helps: the help window, the tour, the shortcut editor; and says when another language begins."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtWidgets import QApplication, QDockWidget, QWidget

from a3s_desktop.i18n import LANGUAGES, tr
from a3s_desktop.settings import SettingsStore
from a3s_desktop.ui.dialogs import MessageDialog
from a3s_desktop.ui.help_window import HelpWindow
from a3s_desktop.ui.label_bars import AnswerBar
from a3s_desktop.ui.label_page import LabelPage
from a3s_desktop.ui.label_parts import AnswerButton, ToolIcon
from a3s_desktop.ui.main_window import MainWindow
from a3s_desktop.ui.pair_area import PairArea
from a3s_desktop.ui.shortcut_editor import ShortcutEditor
from a3s_desktop.ui.shortcuts import Shortcuts
from a3s_desktop.ui.tour import Tour

_AFTER_MS = 400  # from the first pair to the tour: the pair is to be seen first


class HelpDesk(QObject):
    """Ties the actions of the help to their windows.

    Parameters
    ----------
    window, label, shortcuts, settings
        Built by ``program.py``.

    Attributes
    ----------
    offers_tour : bool
        Whether the tour begins by itself with the first pair, once for each user. Off unless ``app.main`` says so.
    """

    def __init__(self, window: MainWindow, label: LabelPage, shortcuts: Shortcuts, settings: SettingsStore) -> None:
        super().__init__(window)
        self._window = window
        self._label = label
        self._shortcuts = shortcuts
        self._settings = settings
        self._help: HelpWindow | None = None
        self._tour: Tour | None = None
        self.offers_tour = False
        self._soon = QTimer(self, singleShot=True, interval=_AFTER_MS)
        self._soon.timeout.connect(self._begin_first)
        shortcuts.action("help.contents").triggered.connect(self.show_help)
        shortcuts.action("help.tour").triggered.connect(self.show_tour)
        shortcuts.action("settings.keys").triggered.connect(self.edit_keys)
        label.readyChanged.connect(self._on_ready)

    @property
    def tour(self) -> Tour | None:
        """The tour, while it is shown."""
        return self._tour

    @Slot()
    def show_help(self) -> None:
        """The help, at the page about what is on screen."""
        if self._help is None:
            self._help = HelpWindow(self._shortcuts, self._window)
            self._help.tourWanted.connect(self.show_tour)
            self._help.destroyed.connect(self._on_help_gone)
            self._help.show_page(self._topic())
        self._help.show()
        self._help.raise_()
        self._help.activateWindow()

    @Slot()
    def show_tour(self) -> None:
        """The tour, from its first step."""
        if self._tour is not None:
            return
        if self._help is not None:
            self._help.close()
        self._window.activateWindow()
        self._tour = Tour(self._window, self._places, self._key)
        self._tour.ended.connect(self._on_tour_ended)
        self._tour.begin()

    @Slot()
    def edit_keys(self) -> None:
        """The shortcut editor."""
        folder = Path(self._settings.value.last_folder or Path.home())
        editor = ShortcutEditor(self._window, self._settings.value.effective_keys(), folder)
        editor.saved.connect(self._on_keys)
        editor.open()

    @Slot(str)
    def say_language(self, setting: str) -> None:
        """Another language applies at the next start."""
        name = LANGUAGES.get(setting, tr("the language of the system"))
        MessageDialog(
            self._window,
            tr("Language"),
            tr("From the next start on: {language}.", language=name),
            tr("Close the program and open it again whenever it suits you; every answer is saved."),
            symbol="info",
        ).open()

    @Slot(object)
    def _on_keys(self, keys: dict[str, tuple[str, ...]]) -> None:
        self._settings.change(keys=keys)
        self._shortcuts.rebind()

    @Slot()
    def _on_help_gone(self) -> None:
        self._help = None

    @Slot(bool)
    def _on_tour_ended(self, _complete: bool) -> None:
        self._tour = None
        self._settings.change(tour_done=True)

    @Slot(bool)
    def _on_ready(self, ready: bool) -> None:
        if ready and self.offers_tour and not self._settings.value.tour_done:
            self._soon.start()

    @Slot()
    def _begin_first(self) -> None:
        if self._window.working and QApplication.activeModalWidget() is None and not self._settings.value.tour_done:
            self.offers_tour = False
            self.show_tour()

    def _topic(self) -> str:
        focus = QApplication.focusWidget()
        for dock in self._window.findChildren(QDockWidget):
            if focus is not None and dock.isAncestorOf(focus):
                return {"dock.map": "map", "dock.cluster": "clusters"}.get(dock.objectName(), "answers")
        return "answers" if self._window.working else "first-steps"

    def _key(self, action: str) -> str:
        keys = self._shortcuts.keys(action)
        return keys[0] if keys else tr("(no key)")

    def _places(self, target: str) -> Sequence[QWidget]:
        """The widgets that a step of the tour is about."""
        if not self._window.working:
            return ()
        if target == "panels":
            return [dock for dock in self._window.findChildren(QDockWidget) if not dock.visibleRegion().isEmpty()]
        if target == "pair":
            return self._label.findChildren(PairArea)
        kind = AnswerButton if target == "answers" else ToolIcon
        found: list[QWidget] = []
        for bar in self._label.findChildren(AnswerBar):
            # Undo and redo are the first two tools of the bar.
            found += bar.findChildren(kind)[: None if target == "answers" else 2]
        return found
