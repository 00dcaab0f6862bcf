"""What a check found, or a repair did, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from a3s_desktop.i18n import tr
from a3s_desktop.storage.check import Level
from a3s_desktop.ui.dialogs import MessageDialog
from a3s_desktop.ui.theme import icon, tokens

if TYPE_CHECKING:
    from a3s_desktop.storage.check import Finding

_ORDER = (Level.DAMAGED, Level.REPAIRED, Level.NOTE, Level.FINE)
_SIGNS = {Level.DAMAGED: "warning", Level.REPAIRED: "check-circle", Level.NOTE: "info", Level.FINE: "check"}
_LEVEL = Qt.ItemDataRole.UserRole


class FindingsDialog(MessageDialog):
    """See the module.

    Parameters
    ----------
    parent : QWidget
    findings : tuple of Finding
    whole, repaired : bool
        Whether nothing is damaged now; whether it was to be mended.
    is_open : bool
        Whether the project is open in this window.
    """

    def __init__(
        self, parent: QWidget, findings: tuple[Finding, ...], whole: bool, repaired: bool, is_open: bool
    ) -> None:
        message, hint = _words(findings, whole, repaired)
        buttons = [("close", tr("Close"))]
        if not whole:
            buttons.insert(0, ("backups", tr("Backups…")))
        if not whole and not repaired:
            buttons.append(("repair", tr("&Repair")))
        elif not is_open:
            buttons.append(("open", tr("&Open project")))
        primary = buttons[-1][0]
        ordered = sorted(findings, key=lambda one: _ORDER.index(one.level))
        super().__init__(
            parent, tr("Project checked"), message, hint, symbol="check-circle" if whole else "warning",
            buttons=tuple(buttons), primary=primary, details="\n".join(one.line() for one in ordered),
        )  # fmt: skip
        self.setMinimumWidth(680)
        self.list = QListWidget()
        self.list.setProperty("role", "field")
        self.list.setAccessibleName(tr("What was found"))
        self.list.setWordWrap(True)
        self.list.setTextElideMode(Qt.TextElideMode.ElideNone)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        self.list.setResizeMode(QListWidget.ResizeMode.Adjust)
        for one in ordered:
            item = QListWidgetItem(one.text)
            item.setData(_LEVEL, one.level.name)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, one.line())
            self.list.addItem(item)
        self.list.setMinimumHeight(min(14, max(len(ordered), 4)) * (self.fontMetrics().height() + 12))
        self.list.setCurrentRow(0)
        self._draw()
        self.below.addWidget(self.list)

    def changeEvent(self, event: QEvent) -> None:
        """Signs follow the theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "list"):
            self._draw()

    def _draw(self) -> None:
        theme = tokens()
        colours = {
            Level.DAMAGED: theme.danger, Level.REPAIRED: theme.same, Level.NOTE: theme.accent, Level.FINE: theme.muted,
        }  # fmt: skip
        for row in range(self.list.count()):
            level = Level[self.list.item(row).data(_LEVEL)]
            self.list.item(row).setIcon(icon(_SIGNS[level], colours[level]))


def _words(findings: tuple[Finding, ...], whole: bool, repaired: bool) -> tuple[str, str]:
    if not repaired:
        if whole:
            return tr("Everything is in order."), ""
        return tr("Something is damaged."), tr(
            "Repair keeps what is there now as a backup, mends what it can from snapshots and backups, and says what "
            "it did. No answer is thrown away."
        )
    if not whole:
        hint = tr("The list says what; go back to a backup, or ask for help with it.")
        return tr("Something is still damaged."), hint
    if any(one.level is Level.REPAIRED for one in findings):
        return tr("The project was repaired; everything is in order."), ""
    return tr("Nothing had to be repaired; everything is in order."), ""
