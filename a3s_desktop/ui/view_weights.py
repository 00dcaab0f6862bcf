"""How much each of several feature files counts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QDoubleSpinBox, QVBoxLayout, QWidget

from a3s_desktop.i18n import tr
from a3s_desktop.ui.form_parts import heading, indent, new_form, note
from a3s_desktop.ui.plain import plain_tip
from a3s_desktop.ui.theme import SPACE_1


class ViewWeights(QWidget):
    """One number for each file; hidden while there are fewer than two.

    Signals
    -------
    changed()
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._spins: dict[Path, QDoubleSpinBox] = {}
        self._form = new_form()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_1)
        column.addWidget(heading(tr("How much each feature file counts")))
        column.addWidget(note(tr("1 is usual; a file that is known to be better may count more.")))
        column.addLayout(self._form)
        self.hide()

    def set_files(self, paths: Sequence[Path]) -> None:
        """The files, in their order; weights of files that stay are kept."""
        if list(self._spins) != list(paths):
            kept = {path: spin.value() for path, spin in self._spins.items()}
            while self._form.rowCount():
                self._form.removeRow(0)
            self._spins = {}
            for path in paths:
                spin = QDoubleSpinBox()
                spin.setRange(0.01, 100.0)
                spin.setSingleStep(0.1)
                spin.setMinimumWidth(90)
                indent(spin)
                spin.setValue(kept.get(path, 1.0))
                spin.setAccessibleName(tr("Weight of {file}", file=path.name))
                spin.setToolTip(plain_tip(str(path)))
                spin.valueChanged.connect(self._on_value)
                name = note(path.name)
                name.setToolTip(plain_tip(str(path)))
                self._form.addRow(spin, name)
                self._spins[path] = spin
        self.setVisible(len(paths) > 1)

    def weights(self) -> tuple[float, ...]:
        """One for each file; empty where all count alike."""
        values = tuple(spin.value() for spin in self._spins.values())
        return values if len(values) > 1 and set(values) != {1.0} else ()

    def spin(self, path: Path) -> QDoubleSpinBox:
        """The field of a file."""
        return self._spins[path]

    @Slot()
    def _on_value(self) -> None:
        self.changed.emit()
