"""Sliders for brightness, contrast and gamma, over a corner of the images; takes no keyboard focus."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QFrame, QGridLayout, QLabel, QPushButton, QSlider, QWidget

from a3s_desktop.i18n import mark, tr
from a3s_desktop.ui.adjustments import LIMIT, Adjustments
from a3s_desktop.ui.shortcuts import Shortcuts
from a3s_desktop.ui.theme import SPACE_2, SPACE_3, set_role

_ROWS = (
    ("brightness", mark("Brightness"), "compare.brighter", "compare.darker"),
    ("contrast", mark("Contrast"), "compare.more_contrast", "compare.less_contrast"),
    ("gamma", mark("Shadows (gamma)"), "compare.more_gamma", "compare.less_gamma"),
)


class TonesPanel(QFrame):
    """Shows and changes the tones.

    Attributes
    ----------
    sliders : dict
        By the name of what they change.

    Signals
    -------
    changed(object)
        The `Adjustments` the person wants.
    """

    changed = Signal(object)

    def __init__(self, shortcuts: Shortcuts, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shortcuts = shortcuts
        self._value = Adjustments()
        self.setProperty("role", "card")
        self.setAccessibleName(tr("Tones"))
        self.sliders: dict[str, QSlider] = {}
        self._numbers: dict[str, QLabel] = {}
        self._keys: dict[str, QLabel] = {}
        grid = QGridLayout(self)
        grid.setContentsMargins(SPACE_3, SPACE_2, SPACE_3, SPACE_2)
        grid.setHorizontalSpacing(SPACE_2)
        grid.setVerticalSpacing(SPACE_2 - 2)
        for row, (name, title, _more, _less) in enumerate(_ROWS):
            slider, value, keys = QSlider(Qt.Orientation.Horizontal), QLabel("0"), QLabel()
            slider.setRange(-LIMIT, LIMIT)
            slider.setFixedWidth(140)
            slider.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            slider.setAccessibleName(tr(title))
            slider.valueChanged.connect(self._on_slider)
            value.setMinimumWidth(value.fontMetrics().horizontalAdvance("+100"))
            value.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            keys.setProperty("role", "small")
            for column, widget in enumerate((QLabel(tr(title)), slider, value, keys)):
                grid.addWidget(widget, row, column)
            self.sliders[name], self._numbers[name], self._keys[name] = slider, value, keys
        self._equalise, self._reset = QCheckBox(), QPushButton()
        self._equalise.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._reset.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        set_role(self._reset, kind="quiet")
        self._equalise.toggled.connect(self._on_equalise)
        self._reset.clicked.connect(shortcuts.action("compare.original").trigger)
        grid.addWidget(self._equalise, len(_ROWS), 0, 1, 2)
        grid.addWidget(self._reset, len(_ROWS), 2, 1, 2)
        shortcuts.rebound.connect(self._take_keys)
        self._take_keys()
        self.hide()

    def show_value(self, value: Adjustments) -> None:
        """Let the sliders stand where the tones are."""
        self._value = value
        for name, slider in self.sliders.items():
            slider.blockSignals(True)
            slider.setValue(getattr(value, name))
            slider.blockSignals(False)
            self._numbers[name].setText(f"{getattr(value, name):+d}" if getattr(value, name) else "0")
        self._equalise.blockSignals(True)
        self._equalise.setChecked(value.equalise)
        self._equalise.blockSignals(False)

    @Slot(int)
    def _on_slider(self, _value: int) -> None:
        numbers: dict[str, Any] = {name: slider.value() for name, slider in self.sliders.items()}
        self.changed.emit(replace(self._value, **numbers))

    @Slot(bool)
    def _on_equalise(self, on: bool) -> None:
        self.changed.emit(replace(self._value, equalise=on))

    @Slot()
    def _take_keys(self) -> None:
        for name, _title, more, less in _ROWS:
            both = [keys[0] for keys in (self._shortcuts.keys(less), self._shortcuts.keys(more)) if keys]
            self._keys[name].setText("  ".join(both))
        for widget, action in ((self._equalise, "compare.equalise"), (self._reset, "compare.original")):
            keys = self._shortcuts.keys(action)
            text = tr(self._shortcuts.spec(action).text)
            widget.setText(f"{text} ({keys[0]})" if keys else text)
