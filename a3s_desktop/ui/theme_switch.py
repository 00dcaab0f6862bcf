"""The looks that can be chosen: theme, text size, language. Kept in the settings; the system's theme is followed."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QWidget

from a3s_desktop.i18n import LANGUAGES
from a3s_desktop.settings import TEXT_SIZES, THEMES, SettingsStore
from a3s_desktop.ui.shortcuts import Shortcuts
from a3s_desktop.ui.theme import apply_theme


class ThemeSwitch(QObject):
    """Applies theme and text size whose action is chosen, and notes the language for the next start.

    Parameters
    ----------
    shortcuts : Shortcuts
    settings : SettingsStore
    window : QWidget
        Is painted anew in a turn of the event loop of its own.

    Signals
    -------
    languageChosen(str)
        Another language was chosen than the one before; it applies at the next start.
    textSizeChanged(int)
        Size of all text, in per cent.
    """

    languageChosen = Signal(str)  # noqa: N815 - Qt's naming
    textSizeChanged = Signal(int)  # noqa: N815

    def __init__(self, shortcuts: Shortcuts, settings: SettingsStore, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._paint = QTimer(self, singleShot=True, interval=0)
        self._paint.timeout.connect(self._paint_again)
        self._shortcuts = shortcuts
        self._settings = settings
        for mode in THEMES:
            shortcuts.action(f"theme.{mode}").triggered.connect(self._on_theme)
        for code in ("system", *LANGUAGES):
            shortcuts.action(f"language.{code}").triggered.connect(self._on_language)
        shortcuts.action("window.text_larger").triggered.connect(self._on_larger)
        shortcuts.action("window.text_smaller").triggered.connect(self._on_smaller)
        hints = QApplication.styleHints()
        hints.colorSchemeChanged.connect(self._on_system_changed)
        hints.accessibility().contrastPreferenceChanged.connect(self._on_system_changed)
        self._update_sizes()

    @Slot()
    def _on_theme(self) -> None:
        action = self.sender()
        if isinstance(action, QAction):
            self._settings.change(theme=str(action.data()))
            self._apply()

    @Slot()
    def _on_language(self) -> None:
        action = self.sender()
        if isinstance(action, QAction) and action.data() != self._settings.value.language:
            self._settings.change(language=str(action.data()))
            self.languageChosen.emit(str(action.data()))

    @Slot()
    def _on_larger(self) -> None:
        self._step(1)

    @Slot()
    def _on_smaller(self) -> None:
        self._step(-1)

    @Slot()
    def _on_system_changed(self) -> None:
        if self._settings.value.theme in ("system", "contrast"):
            self._apply()

    def _step(self, by: int) -> None:
        place = TEXT_SIZES.index(self._settings.value.text_size) + by
        self._settings.change(text_size=TEXT_SIZES[min(max(place, 0), len(TEXT_SIZES) - 1)])
        self._apply()
        self._update_sizes()
        self.textSizeChanged.emit(self._settings.value.text_size)

    def _update_sizes(self) -> None:
        size = self._settings.value.text_size
        self._shortcuts.action("window.text_larger").setEnabled(size < TEXT_SIZES[-1])
        self._shortcuts.action("window.text_smaller").setEnabled(size > TEXT_SIZES[0])

    def _apply(self) -> None:
        app = QApplication.instance()
        if isinstance(app, QApplication):
            self._window.setUpdatesEnabled(False)  # dressing all that is seen is a turn's work, painting it another
            self._paint.start()
            apply_theme(app, self._settings.value.theme, self._settings.value.text_size)
            self._shortcuts.retheme()

    @Slot()
    def _paint_again(self) -> None:
        self._window.setUpdatesEnabled(True)
