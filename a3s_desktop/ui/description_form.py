"""How images without features are described: by the program, by a model, or both; and what a model does not say."""

from __future__ import annotations

import math
import re

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QLineEdit, QSpinBox, QVBoxLayout, QWidget

from a3s_desktop.i18n import mark, tr
from a3s_desktop.storage.embedding_options import LITE0, EmbeddingOptions, ModelOptions
from a3s_desktop.ui.fields import MODEL_FILTER, PathField
from a3s_desktop.ui.form_parts import choices, form_row, heading, indent, new_form, note
from a3s_desktop.ui.theme import SPACE_1

PRESET, BUILT_IN, MODEL, MODEL_ONLY = "preset", "built-in", "model", "model-only"
_WAYS = (
    (PRESET, mark("EfficientNet-Lite0 and the built-in description")),
    (BUILT_IN, mark("The built-in description only")),
    (MODEL, mark("My own ONNX model and the built-in description")),
    (MODEL_ONLY, mark("My own ONNX model only")),
)
_LAYOUTS = (
    ("auto", mark("As the model says")),
    ("nchw", mark("Channels first (NCHW)")),
    ("nhwc", mark("Channels last (NHWC)")),
)
_CHANNELS = (("rgb", mark("Red, green, blue")), ("bgr", mark("Blue, green, red")))


class DescriptionForm(QWidget):
    """Edits `EmbeddingOptions`.

    Signals
    -------
    changed()
    """

    changed = Signal()

    def __init__(self, preset: bool, parent: QWidget | None = None) -> None:
        """``preset``: whether EfficientNet-Lite0 is installed; it is offered, and taken by default, only then."""
        super().__init__(parent)
        self._preset = preset
        self.way = choices([way for way in _WAYS if way[0] != PRESET or preset])
        self.model = PathField(tr("ONNX model"), tr("A file that was exported as .onnx"), pattern=MODEL_FILTER)
        self.side = QSpinBox()
        self.side.setRange(0, 2048)
        self.side.setSpecialValueText(tr("As the model says, else 224"))
        indent(self.side)
        self.mean, self.deviation = QLineEdit(), QLineEdit()
        for edit in (self.mean, self.deviation):
            edit.setPlaceholderText(tr("As the model says, else ImageNet's"))
        self.layout_order = choices(_LAYOUTS)
        self.channels = choices(_CHANNELS)
        self.output = QLineEdit()
        self.output.setPlaceholderText(tr("The first"))
        self.output.setMaxLength(200)
        self._details = QWidget()
        form = new_form(self._details)
        form_row(form, tr("Model file"), self.model)
        form_row(form, tr("Image size"), self.side, tr("Side of the square that images are brought to, in pixels."))
        form_row(form, tr("Mean"), self.mean, tr("Taken off the channels, for values from 0 to 1: 0.485, 0.456, 0.406"))
        form_row(
            form, tr("Deviation"), self.deviation, tr("What the channels are divided by then: 0.229, 0.224, 0.225")
        )
        form_row(form, tr("Layout"), self.layout_order)
        form_row(form, tr("Channel order"), self.channels)
        form_row(form, tr("Output"), self.output, tr("Name of the model's output that holds the features."))
        self.way.setAccessibleName(tr("How images are described"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_1)
        column.addWidget(heading(tr("How images are described")))
        column.addWidget(self.way)
        self.weak = note()
        column.addWidget(self.weak)
        column.addWidget(self._details)
        self.way.currentIndexChanged.connect(self._show_choice)
        self.way.currentIndexChanged.connect(self.changed)
        self.model.changed.connect(self.changed)
        self.side.valueChanged.connect(self.changed)
        for edit in (self.mean, self.deviation, self.output):
            edit.textChanged.connect(self.changed)
        for combo in (self.layout_order, self.channels):
            combo.currentIndexChanged.connect(self.changed)
        self._show_choice()

    def reset(self) -> None:
        """As in a new form."""
        self.way.setCurrentIndex(0)
        self.model.set_path(None)
        self.side.setValue(0)
        for edit in (self.mean, self.deviation, self.output):
            edit.clear()
        self.layout_order.setCurrentIndex(0)
        self.channels.setCurrentIndex(0)

    def options(self) -> EmbeddingOptions:
        """The options as they stand; see `missing` for whether they can be used."""
        way = self.way.currentData()
        if way == BUILT_IN:
            return EmbeddingOptions()
        if way == PRESET:
            return EmbeddingOptions(model=LITE0)
        path = self.model.path()
        return EmbeddingOptions(
            descriptor=way == MODEL,
            model="" if path is None else str(path),
            model_options=ModelOptions(
                size=self.side.value() or None,
                mean=three_numbers(self.mean.text()),
                std=three_numbers(self.deviation.text()),
                layout=self.layout_order.currentData(),
                channels=self.channels.currentData(),
                output=self.output.text().strip(),
            ),
        )

    def missing(self) -> str:
        """What is to be filled in or corrected first; empty where nothing is."""
        if self.way.currentData() not in (MODEL, MODEL_ONLY):
            return ""
        if self.model.path() is None:
            return tr("Choose the file of the ONNX model.")
        for name, edit in ((tr("Mean"), self.mean), (tr("Deviation"), self.deviation)):
            if edit.text().strip() and three_numbers(edit.text()) is None:
                return tr("{field}: give three numbers, one for each channel, such as 0.5, 0.5, 0.5.", field=name)
        return ""

    def used_text(self) -> str:
        """What will describe the images, in a sentence."""
        way = self.way.currentData()
        if way == PRESET:
            return tr("EfficientNet-Lite0 (a small network, on this computer) and the built-in description are used.")
        if way == BUILT_IN:
            return tr("The built-in description is used: shapes, colours and textures.")
        path = self.model.path()
        name = tr("no file yet") if path is None else path.name
        if way == MODEL:
            return tr("Your model ({name}) and the built-in description are used.", name=name)
        return tr("Your model ({name}) is used.", name=name)

    @Slot()
    def _show_choice(self) -> None:
        way = self.way.currentData()
        self._details.setVisible(way in (MODEL, MODEL_ONLY))
        weak = tr("By itself it is weak for animals that are seen turned any way: expect more questions.")
        if not self._preset:
            weak += " " + tr("EfficientNet-Lite0 would do better; it is not installed here.")
        self.weak.setText(weak)
        self.weak.setVisible(way == BUILT_IN)


def three_numbers(text: str) -> tuple[float, float, float] | None:
    """ "0.5, 0.5, 0.5" or "0,5; 0,5; 0,5" or "0.5" for all three; None for what is not three numbers."""
    parts = [part for part in re.split(r"[;\s]+", text.strip().strip("[]()")) if part]
    if len(parts) == 1 and parts[0].count(",") == 2:
        parts = parts[0].split(",")
    try:
        found = [float(part.strip(",").replace(",", ".")) for part in parts]
    except ValueError:
        return None
    if len(found) == 1:
        found *= 3
    if len(found) != 3 or not all(math.isfinite(value) for value in found):
        return None
    return found[0], found[1], found[2]
