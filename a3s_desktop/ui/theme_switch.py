"""The theme menu: system, light, dark; kept in the settings, followed where the system changes it."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication

from a3s_desktop.settings import SettingsStore
from a3s_desktop.ui.shortcuts import Shortcuts
from a3s_desktop.ui.theme import apply_theme


class ThemeSwitch(QObject):
    """Applies the theme whose action is chosen; the actions carry their mode as data."""

    def __init__(self, shortcuts: Shortcuts, settings: SettingsStore, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._shortcuts = shortcuts
        self._settings = settings
        for mode in ("system", "light", "dark"):
            shortcuts.action(f"theme.{mode}").triggered.connect(self._on_chosen)
        QApplication.styleHints().colorSchemeChanged.connect(self._on_system_changed)

    @Slot()
    def _on_chosen(self) -> None:
        action = self.sender()
        if isinstance(action, QAction):
            self._settings.change(theme=str(action.data()))
            self._apply()

    @Slot()
    def _on_system_changed(self) -> None:
        if self._settings.value.theme == "system":
            self._apply()

    def _apply(self) -> None:
        app = QApplication.instance()
        if isinstance(app, QApplication):
            apply_theme(app, self._settings.value.theme)
            self._shortcuts.retheme()
