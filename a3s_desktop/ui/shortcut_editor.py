"""The keys of every action: seen, searched, recorded, taken away; a key given twice is marked and cannot be saved."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QEvent, QSize, Qt, Signal, Slot
from PySide6.QtGui import QAction, QBrush, QColor, QIcon, QKeySequence, QPixmap, QShortcut
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMenu,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from a3s_desktop.actions import by_id, clashes, effective_keys, grouped, normal_key
from a3s_desktop.errors import A3SError
from a3s_desktop.i18n import tr, trn
from a3s_desktop.ui.dialogs import show_error
from a3s_desktop.ui.key_maps import PRESETS, Keys, matching_preset, overrides, preset_keys, read_keys, write_keys
from a3s_desktop.ui.key_recorder import KeyRecorder
from a3s_desktop.ui.shortcuts import native_text
from a3s_desktop.ui.theme import ICON, SPACE_2, SPACE_3, SPACE_4, SPACE_5, icon, scaled_font, set_role, tokens

ACTION_ROLE = Qt.ItemDataRole.UserRole
_ROOM = QSize(860, 640)


class ShortcutEditor(QDialog):
    """Edits a copy of the keys; nothing changes before "Save".

    Parameters
    ----------
    keys : mapping of action id to key sequences
        The keys in force.
    folder : Path
        Where file dialogs begin.

    Signals
    -------
    saved(object)
        The keys that differ from the defaults, as the settings keep them.
    """

    saved = Signal(object)

    def __init__(self, parent: QWidget | None, keys: Mapping[str, tuple[str, ...]], folder: Path) -> None:
        self._rows: dict[str, QTreeWidgetItem] = {}  # first: changes of the palette may come from here on
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setWindowTitle(tr("Keyboard shortcuts"))
        self.keys: Keys = {name: tuple(each) for name, each in keys.items()}
        self._folder = folder
        self._specs = by_id()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(SPACE_5, SPACE_4, SPACE_5, SPACE_4)
        layout.setSpacing(SPACE_3)
        layout.addLayout(self._head())
        layout.addWidget(self._table(), 1)
        layout.addLayout(self._row_buttons())
        layout.addLayout(self._clash_row())
        layout.addLayout(self._foot())
        self._fill()
        self._refresh()
        self.table.setCurrentItem(self._rows["answer.same"])
        self.table.setFocus()

    def sizeHint(self) -> QSize:
        """Room for the table, as far as the screen has it."""
        return _ROOM.boundedTo(self.screen().availableSize() * 0.9)

    # Building

    def _head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(SPACE_3)
        self.search = QLineEdit()
        self.search.setPlaceholderText(tr("Find an action or a key"))
        self.search.setAccessibleName(tr("Find an action or a key"))
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter)
        row.addWidget(self.search, 1)
        label = QLabel(tr("Keys &for"))
        self.presets = QComboBox()
        self.presets.setAccessibleName(tr("Ready-made sets of keys"))
        for preset in PRESETS:
            self.presets.addItem(tr(preset.text), preset.name)
        self.presets.addItem(tr("My own"), "")
        self.presets.activated.connect(self._take_preset)
        label.setBuddy(self.presets)
        row.addWidget(label)
        row.addWidget(self.presets)
        return row

    def _table(self) -> QTreeWidget:
        self.table = QTreeWidget()
        self.table.setColumnCount(3)
        self.table.setHeaderLabels([tr("Action"), tr("Keys"), tr("Remark")])
        self.table.setAccessibleName(tr("Actions and their keys"))
        self.table.setProperty("role", "field")
        self.table.setRootIsDecorated(False)
        self.table.setItemsExpandable(False)
        self.table.setIndentation(SPACE_3)
        self.table.setUniformRowHeights(True)
        self.table.setAllColumnsShowFocus(True)
        self.table.setIconSize(QSize(ICON, ICON))
        header = self.table.header()
        header.setSectionsMovable(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(2, QHeaderView.ResizeMode.Stretch)
        header.setStretchLastSection(False)
        self.table.currentItemChanged.connect(self._update_buttons)
        self.table.itemActivated.connect(self._on_activated)  # Enter, or a double click
        shortcut = QShortcut(QKeySequence(Qt.Key.Key_Delete), self.table)
        shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
        shortcut.activated.connect(self._remove)
        return self.table

    def _row_buttons(self) -> QHBoxLayout:
        """Of the action that is marked; those of all actions stand at the foot, or the row would be too wide."""
        row = QHBoxLayout()
        row.setSpacing(SPACE_2)
        self.recorder = KeyRecorder(tr("&Add a key"))
        self.recorder.recorded.connect(self._add)
        self.remove_button = _button(tr("&Remove a key"), self._remove)
        self.reset_button = _button(tr("Reset t&his action"), self._reset)
        self.reset_all_button = _button(tr("Reset a&ll"), self._reset_all)
        self.import_button = _button(tr("&Import…"), self._import)
        self.export_button = _button(tr("&Export…"), self._export)
        for button in (self.recorder, self.remove_button, self.reset_button):
            row.addWidget(button)
        row.addStretch(1)
        return row

    def _clash_row(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(SPACE_3)
        self._symbol = QLabel()
        self.sentence = QLabel()
        self.sentence.setWordWrap(True)
        self.sentence.setTextFormat(Qt.TextFormat.PlainText)
        self.sentence.setMinimumHeight(2 * self.sentence.fontMetrics().height())  # nothing jumps when it speaks
        self.settle_button = _button("", self._settle)
        row.addWidget(self._symbol)
        row.addWidget(self.sentence, 1)
        row.addWidget(self.settle_button)
        return row

    def _foot(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(SPACE_2)
        for button in (self.reset_all_button, self.import_button, self.export_button):
            row.addWidget(button)
        row.addStretch(1)
        row.addWidget(_button(tr("Cancel"), self.reject))
        self.save_button = _button(tr("&Save"), self._save)
        set_role(self.save_button, kind="primary")
        row.addWidget(self.save_button)
        return row

    def _fill(self) -> None:
        height = self.fontMetrics().height() + SPACE_2 + 2
        nothing = QPixmap(ICON, ICON)
        nothing.fill(Qt.GlobalColor.transparent)
        blank = QIcon(nothing)  # names without a picture stand in line with the others
        for title, specs in grouped():
            group = QTreeWidgetItem([tr(title)])
            group.setFlags(Qt.ItemFlag.ItemIsEnabled)
            group.setFirstColumnSpanned(True)
            group.setFont(0, scaled_font("base", bold=True))
            group.setSizeHint(0, QSize(0, height))
            self.table.addTopLevelItem(group)
            for spec in specs:
                item = QTreeWidgetItem(group, [tr(spec.text).rstrip("…"), "", ""])
                item.setData(0, ACTION_ROLE, spec.id)
                item.setToolTip(0, tr(spec.tip))
                item.setIcon(0, icon(spec.icon) if spec.icon else blank)
                item.setSizeHint(0, QSize(0, height))
                self._rows[spec.id] = item
            group.setExpanded(True)

    # Showing

    def changeEvent(self, event: QEvent) -> None:
        """Pictures follow the theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._rows:
            for action, item in self._rows.items():
                if self._specs[action].icon:
                    item.setIcon(0, icon(self._specs[action].icon))
            self._refresh()

    def clashes(self) -> dict[str, tuple[str, ...]]:
        """Keys that are given twice, with the actions that share them."""
        return clashes(self.keys)

    def action_name(self, action: str) -> str:
        """An action as the user reads it."""
        return tr(self._specs[action].text).rstrip("…")

    def current_action(self) -> str:
        """Id of the action of the row with the focus; "" on a group."""
        item = self.table.currentItem()
        return str(item.data(0, ACTION_ROLE) or "") if item is not None else ""

    def _refresh(self) -> None:
        """All rows, the sentence and the buttons, after any change of the keys."""
        shared: dict[str, set[str]] = {}
        for actions in self.clashes().values():
            for action in actions:
                shared.setdefault(action, set()).update(set(actions) - {action})
        theme, plain = tokens(), QBrush()
        warning = icon("warning", theme.danger)
        changed = overrides(self.keys)
        for action, item in self._rows.items():
            others = sorted(self.action_name(other) for other in shared.get(action, ()))
            shown = "   ".join(native_text(key) for key in self.keys[action])
            if others:
                remark = tr("Same key as {actions}", actions=", ".join(f"“{other}”" for other in others))
            else:
                remark = tr("Changed") if action in changed else ""
            item.setText(1, shown)
            item.setText(2, remark)
            item.setIcon(2, warning if others else icon(""))
            for column in range(3):
                item.setForeground(column, QBrush(QColor(theme.danger)) if others else plain)
            keys = shown or tr("no key")
            item.setData(0, Qt.ItemDataRole.AccessibleTextRole, f"{item.text(0)}: {keys}. {remark}".strip())
        self.presets.setCurrentIndex(max(self.presets.findData(matching_preset(self.keys)), 0))
        self._say_clash()
        self._update_buttons()

    def _say_clash(self) -> None:
        found = self.clashes()
        theme = tokens()
        if found:
            key, actions = next(iter(found.items()))
            names = tr(" and ").join(f"“{self.action_name(action)}”" for action in actions)
            text = tr("The key {key} is given to {actions}. One key can do one thing only.", key=self._shown(key),
                      actions=names)  # fmt: skip
            if len(found) > 1:
                text += " " + trn("{n} more key is given twice.", "{n} more keys are given twice.", len(found) - 1)
            self._say(text, "warning", theme.danger)
        elif self.sentence.property("role") == "error":
            self._say("")
        self.save_button.setEnabled(not found)
        self.save_button.setToolTip(tr("A key is given twice; settle that first.") if found else "")

    def _say(self, text: str, symbol: str = "", colour: str = "") -> None:
        self.sentence.setText(text)
        set_role(self.sentence, role="error" if symbol == "warning" else "muted")
        self._symbol.setPixmap(icon(symbol, colour).pixmap(ICON, ICON))

    def _shown(self, key: str) -> str:
        """A normalised key as its row shows it."""
        return next((native_text(k) for keys in self.keys.values() for k in keys if normal_key(k) == key), key)

    @Slot()
    def _update_buttons(self) -> None:
        action = self.current_action()
        self.recorder.setEnabled(bool(action))
        self.remove_button.setEnabled(bool(action) and bool(self.keys[action]))
        self.reset_button.setEnabled(action in overrides(self.keys))
        self.reset_all_button.setEnabled(bool(overrides(self.keys)))
        mine = [key for key, actions in self.clashes().items() if action in actions]
        self.settle_button.setVisible(bool(mine))
        if mine:
            self.settle_button.setText(
                tr("Keep {key} for “{action}” only", key=self._shown(mine[0]), action=self.action_name(action))
            )

    @Slot(str)
    def _filter(self, text: str) -> None:
        wanted = text.strip().casefold()
        for row in range(self.table.topLevelItemCount()):
            group = self.table.topLevelItem(row)
            shown = 0
            for place in range(group.childCount()):
                item = group.child(place)
                keys = item.text(1).casefold().split()
                found = not wanted or wanted in item.text(0).casefold() or wanted in keys
                item.setHidden(not found)
                shown += found
            group.setHidden(not shown)

    # Changing

    @Slot(str)
    def _add(self, sequence: str) -> None:
        action = self.current_action()
        if not action:
            return
        known = {normal_key(key) for key in self.keys[action]}
        if normal_key(sequence) not in known:
            self.keys[action] = (*self.keys[action], sequence)
        self._refresh()
        self.table.setFocus()

    @Slot()
    def _remove(self) -> None:
        action = self.current_action()
        keys = self.keys.get(action, ())
        if len(keys) == 1:
            self._take_away(action, keys[0])
        elif keys:
            menu = QMenu(self)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            for key in keys:
                entry = menu.addAction(tr("Remove {key}", key=native_text(key)))
                entry.setData((action, key))
            menu.triggered.connect(self._on_remove)
            menu.popup(self.remove_button.mapToGlobal(self.remove_button.rect().bottomLeft()))

    @Slot(QAction)
    def _on_remove(self, entry: QAction) -> None:
        self._take_away(*entry.data())

    def _take_away(self, action: str, key: str) -> None:
        self.keys[action] = tuple(each for each in self.keys[action] if normal_key(each) != normal_key(key))
        self._refresh()

    @Slot()
    def _settle(self) -> None:
        """The key stays with the action of this row, the others lose it."""
        mine = self.current_action()
        key, actions = next((key, actions) for key, actions in self.clashes().items() if mine in actions)
        for action in actions:
            if action != mine:
                self._take_away(action, key)
        self.table.setFocus()

    @Slot()
    def _reset(self) -> None:
        action = self.current_action()
        if action:
            self.keys[action] = self._specs[action].keys
            self._refresh()

    @Slot()
    def _reset_all(self) -> None:
        self.keys = effective_keys({})
        self._refresh()

    @Slot()
    def _take_preset(self) -> None:
        name = self.presets.currentData()
        if name:
            self.keys = preset_keys(name)
        self._refresh()

    @Slot(QTreeWidgetItem)
    def _on_activated(self, _item: QTreeWidgetItem) -> None:
        self.recorder.start()

    # Files

    @Slot()
    def _import(self) -> None:
        dialog = self._file_dialog(tr("Import keys"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(self.import_from)
        dialog.open()

    @Slot()
    def _export(self) -> None:
        dialog = self._file_dialog(tr("Export keys"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("json")
        dialog.selectFile("a3s-keys.json")
        dialog.fileSelected.connect(self.export_to)
        dialog.open()

    def _file_dialog(self, title: str) -> QFileDialog:
        dialog = QFileDialog(self, title, str(self._folder))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setNameFilter(tr("Keys (*.json);;All files (*)"))
        return dialog

    @Slot(str)
    def import_from(self, path: str) -> None:
        """Take the keys of a file into the table; they count once they are saved."""
        try:
            self.keys, remarks = read_keys(Path(path))
        except A3SError as error:
            show_error(self, error, tr("Keys not imported"))
            return
        self._say(" ".join([tr("The keys of {name} are in the table.", name=Path(path).name), *remarks]))
        self._refresh()

    @Slot(str)
    def export_to(self, path: str) -> None:
        """Write the keys of the table to a file."""
        try:
            write_keys(Path(path), self.keys)
        except A3SError as error:
            show_error(self, error, tr("Keys not exported"))
            return
        self._say(tr("Written to {path}.", path=path))
        self._say_clash()

    @Slot()
    def _save(self) -> None:
        if not self.clashes():
            self.saved.emit(overrides(self.keys))
            self.accept()


def _button(text: str, slot) -> QPushButton:  # type: ignore[no-untyped-def]
    button = QPushButton(text)
    button.setAutoDefault(False)  # Enter belongs to the table
    button.clicked.connect(slot)
    return button
