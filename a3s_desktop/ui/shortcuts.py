"""The one owner of all QActions: built from ``actions.py``, keyed by the settings, also by position on the keyboard.

Letters are matched in three ways. By the letter typed: Qt's own shortcut. By Qt's guess of the Latin letter, where the
system knows a second, Latin layout. And by position (native scan code), where a layout gives no Latin letter at all.
The last happens in the window's ``ShortcutOverride``: a widget in which text is typed accepts that event first, so a
key can never be an answer while somebody writes a name.

A held key counts once. Qt cannot be left alone with that: on X11 the first repeat of a held key is not marked as one,
and with a non-Latin layout none is (Qt 6.11). There a repeat is a release and a press at the same moment.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence, QWindow
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QTabBar,
    QTextEdit,
    QWidget,
)

from a3s_desktop.actions import ACTIONS, ActionSpec, Scope, by_id, clashes, normal_key
from a3s_desktop.i18n import tr, trc
from a3s_desktop.settings import SettingsStore
from a3s_desktop.ui.held_keys import HeldKeys
from a3s_desktop.ui.theme import icon, tokens

_TEXT_WIDGETS = (QLineEdit, QTextEdit, QPlainTextEdit, QAbstractSpinBox)
_ARROW_WIDGETS = (QAbstractItemView, QAbstractSlider, QComboBox, QTabBar)
_SAME_MS = 1  # between the release and the press of a repeat; nobody's finger is that fast
_ARROWS = (
    Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down,
    Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown,
)  # fmt: skip
_ARROW_SIGNS = {"left": "←", "right": "→", "up": "↑", "down": "↓"}  # short, and the same in every language
_MODIFIERS = (
    (Qt.KeyboardModifier.ControlModifier, "Ctrl"),
    (Qt.KeyboardModifier.AltModifier, "Alt"),
    (Qt.KeyboardModifier.ShiftModifier, "Shift"),
    (Qt.KeyboardModifier.MetaModifier, "Meta"),
)

# Places of the letters A-Z on a US keyboard, as the three systems number them.
_ROWS = ("QWERTYUIOP", "ASDFGHJKL", "ZXCVBNM")
_MAC = {
    "A": 0, "S": 1, "D": 2, "F": 3, "H": 4, "G": 5, "Z": 6, "X": 7, "C": 8, "V": 9, "B": 11, "Q": 12, "W": 13, "E": 14,
    "R": 15, "Y": 16, "T": 17, "O": 31, "U": 32, "I": 34, "P": 35, "L": 37, "J": 38, "K": 40, "N": 45, "M": 46,
}  # fmt: skip


def letter_positions(platform: str = sys.platform) -> dict[int, str]:
    """Native code of each letter's place on a US keyboard.

    Linux (X11 and Wayland) numbers keys by evdev code + 8, Windows by scan code set 1; on macOS Qt gives no scan code,
    the virtual key code is the place.
    """
    if platform == "darwin":
        return {code: letter for letter, code in _MAC.items()}
    starts = (24, 38, 52) if platform != "win32" else (16, 30, 44)
    return {start + i: letter for start, row in zip(starts, _ROWS, strict=True) for i, letter in enumerate(row)}


def position_sequence(event: QKeyEvent, positions: dict[int, str], platform: str = sys.platform) -> str:
    """The key sequence an event means by position, or "" where the letter typed must decide.

    Only keys that gave a letter of a non-Latin script are taken by position: on Latin layouts (AZERTY, Dvorak) the
    letter printed on the key is what the legend shows.
    """
    key = int(event.key())
    if not 0x80 <= key < 0x01000000:
        return ""
    code = event.nativeVirtualKey() if platform == "darwin" else event.nativeScanCode()
    letter = positions.get(int(code))
    if letter is None:
        return ""
    held = event.modifiers()
    return "+".join([*(name for flag, name in _MODIFIERS if held & flag), letter])


def native_text(sequence: str) -> str:
    """A key sequence as the user's system writes it."""
    portable = normal_key(sequence)
    if portable in _ARROW_SIGNS:
        return _ARROW_SIGNS[portable]
    if portable == "space":
        return trc("key on the keyboard", "Space")  # Qt's word is long in some languages, and this one is on a button
    text = QKeySequence(sequence).toString(QKeySequence.SequenceFormat.NativeText)
    held, plus, key = text.rpartition("+")
    last = portable.rpartition("+")[2]
    return f"{held}{plus}{_ARROW_SIGNS[last]}" if plus and key and last in _ARROW_SIGNS else text


_STEP = 12  # icons drawn at a time


class Shortcuts(QObject):
    """Builds and keeps the QActions.

    Parameters
    ----------
    settings : SettingsStore
        Read for the user's keys; call `rebind` after they changed.
    icons : bool
        Whether the icons are drawn at once. Eighty take longer than all else here: the first page leaves them to
        `draw_icons`.

    Notes
    -----
    Use ``action(id)`` for menus and buttons, connect to its ``triggered``. The main window calls `attach` once: the
    actions of window scope are added to it and position keys begin to work. The pair page adds the pair actions.
    """

    rebound = Signal()
    held = Signal(str, bool)  # id of an action with ``hold``: begins, ends

    def __init__(self, settings: SettingsStore, parent: QObject | None = None, icons: bool = True) -> None:
        super().__init__(parent)
        self._settings = settings
        self._icons = icons
        self._dressed = ""  # the theme that they are of
        self._drawing: Iterator[None] = iter(())
        self._turn = QTimer(self, interval=0)
        self._turn.timeout.connect(self._draw_some)
        self._specs = by_id()
        self._actions: dict[str, QAction] = {}
        self._by_position: dict[str, list[QAction]] = {}
        self._native: dict[str, tuple[str, ...]] = {}  # asked for some fifty times at each answer
        self._positions = letter_positions()
        self._window: QWidget | None = None
        self._handle: QWindow | None = None
        self._released = (0, 0)  # native code and time (ms) of the last key release
        self._held = HeldKeys(self)
        self._held.changed.connect(self.held)
        for spec in ACTIONS:
            self._actions[spec.id] = self._build(spec)
        self.rebind()

    def action(self, name: str) -> QAction:
        """The QAction of an action id. Raises `KeyError` for an unknown one."""
        return self._actions[name]

    def spec(self, name: str) -> ActionSpec:
        """The row of ``actions.py``."""
        return self._specs[name]

    def actions(self, scope: Scope) -> list[QAction]:
        """All actions of one scope, in the order of the table."""
        return [self._actions[spec.id] for spec in ACTIONS if spec.scope is scope]

    def keys(self, name: str) -> tuple[str, ...]:
        """Keys of an action as the user reads them, the main one first."""
        return self._native[name]

    def clashes(self) -> dict[str, tuple[str, ...]]:
        """Key sequences bound twice; see `actions.clashes`."""
        return clashes(self._settings.value.effective_keys())

    def attach(self, window: QWidget) -> None:
        """Make the window-wide actions and the position keys work in ``window``."""
        self._window = window
        window.addActions(self.actions(Scope.WINDOW))
        window.installEventFilter(self)

    def rebind(self) -> None:
        """Take over the keys of the settings."""
        self._by_position = {}
        for name, keys in self._settings.value.effective_keys().items():
            action = self._actions[name]
            action.setShortcuts([QKeySequence(key) for key in keys])
            self._native[name] = tuple(native_text(key) for key in keys)
            self._describe(action, self._specs[name], self._native[name])
            if self._specs[name].positions:
                for key in keys:
                    self._by_position.setdefault(normal_key(key), []).append(action)
        self.rebound.emit()

    def set_live(self, scope: Scope, live: bool) -> None:
        """Whether the keys of a page's actions work now; menus show them either way.

        An action in the menu bar would otherwise answer to its key on every page.
        """
        context = Qt.ShortcutContext.WindowShortcut if live else Qt.ShortcutContext.WidgetShortcut
        for action in self.actions(scope):
            action.setShortcutContext(context)

    def end_hold(self) -> None:
        """End an action that lasts while its key is held, though the key may still be down."""
        self._held.stop()

    def retheme(self) -> None:
        """Draw the icons anew in the colours of the current theme, some in each turn of the event loop."""
        if self._icons and self._dressed != tokens().name:  # Qt tells of one change of theme several times
            self._drawing = self.draw_icons()
            self._turn.start()
            self._draw_some()

    @Slot()
    def _draw_some(self) -> None:
        if next(self._drawing, self) is self:
            self._turn.stop()

    def draw_icons(self) -> Iterator[None]:
        """Draw the icons in short steps; from its end on they follow the theme."""
        self._dressed = tokens().name
        for number, (name, action) in enumerate(self._actions.items()):
            if self._specs[name].icon:
                action.setIcon(icon(self._specs[name].icon))
            if number % _STEP == 0:
                yield
        self._icons = True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Repeats of held keys, position keys, and arrow keys that belong to a list which has the focus."""
        kind = event.type()
        if watched is self._handle and self._handle is not None:
            if kind == QEvent.Type.KeyRelease:
                self._released = (event.nativeScanCode(), event.timestamp())  # type: ignore[attr-defined]
                self._held.release(event)  # type: ignore[arg-type]
            elif kind == QEvent.Type.FocusOut:
                self._held.stop()
            elif kind == QEvent.Type.ShortcutOverride:
                self._held.press(event)  # type: ignore[arg-type]
                if self._is_hidden_repeat(event):  # type: ignore[arg-type]
                    event.accept()  # no shortcut is tried; the key goes to the widget that has the focus
                    return True
        elif kind == QEvent.Type.Show and watched is self._window:
            self._watch_handle()
        elif kind == QEvent.Type.ShortcutOverride and watched is self._window:
            self._override(event)  # type: ignore[arg-type]
        elif kind == QEvent.Type.StyleChange and watched is self._window:
            self.retheme()
        return False

    def _watch_handle(self) -> None:
        # The native window sees every key, whatever widget has the focus and takes it.
        handle = self._window.windowHandle() if self._window is not None else None
        if handle is not None and handle is not self._handle:
            self._handle = handle
            handle.installEventFilter(self)

    def _is_hidden_repeat(self, event: QKeyEvent) -> bool:
        """Whether a press is a repeat that is not marked as one, and must not fire an action that does not repeat."""
        code, when = self._released
        if event.isAutoRepeat() or not code or event.nativeScanCode() != code or event.timestamp() - when > _SAME_MS:
            return False
        pressed = QKeySequence(event.keyCombination())
        return not any(action.autoRepeat() and pressed in action.shortcuts() for action in self._actions.values())

    def _override(self, event: QKeyEvent) -> None:
        focus = QApplication.focusWidget()
        plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
        if plain and event.key() in _ARROWS and isinstance(focus, _ARROW_WIDGETS):
            event.accept()  # moves in the list; the shortcut is not tried
            return
        if isinstance(focus, _TEXT_WIDGETS):
            return
        sequence = position_sequence(event, self._positions)
        actions = self._by_position.get(normal_key(sequence), []) if sequence else []
        if not actions:
            return
        event.accept()
        live = next((action for action in actions if self._live(action)), None)
        if live is not None and not event.isAutoRepeat():
            live.trigger()

    def _live(self, action: QAction) -> bool:
        """Whether Qt would let the action's own key work now: enabled, and on a widget that is shown."""
        owners = [owner for owner in action.associatedObjects() if isinstance(owner, QWidget)]
        return action.isEnabled() and any(owner.isVisible() for owner in owners)

    def _build(self, spec: ActionSpec) -> QAction:
        action = QAction(tr(spec.text), self)
        action.setObjectName(spec.id)
        action.setCheckable(spec.checkable)
        action.setAutoRepeat(spec.repeat)
        if spec.hold:
            action.triggered.connect(partial(self._held.begin, spec.id))
        action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        action.setProperty("icon_name", spec.icon)
        if spec.icon and self._icons:
            action.setIcon(icon(spec.icon))
        action.setMenuRole(_menu_role(spec.id))
        return action

    @staticmethod
    def _describe(action: QAction, spec: ActionSpec, native: tuple[str, ...]) -> None:
        shown = f" ({native[0]})" if native else ""
        action.setToolTip(f"{tr(spec.tip) or tr(spec.text).rstrip('…')}{shown}")
        action.setStatusTip(tr(spec.tip))


def _menu_role(name: str) -> QAction.MenuRole:
    roles = {"app.quit": QAction.MenuRole.QuitRole, "help.about": QAction.MenuRole.AboutRole}
    return roles.get(name, QAction.MenuRole.NoRole)
