"""Building blocks of forms: a card with a heading, small notes, lines of a form with a note below."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractSpinBox, QComboBox, QFormLayout, QFrame, QLabel, QVBoxLayout, QWidget

from a3s_desktop.i18n import tr
from a3s_desktop.ui.plain import plain_tip
from a3s_desktop.ui.theme import SPACE_1, SPACE_2, SPACE_3, SPACE_4


def note(text: str = "") -> QLabel:
    """A small text that may take several lines."""
    label = QLabel(text)
    label.setProperty("role", "small")
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    return label


def heading(text: str) -> QLabel:
    """The title of a part of a form."""
    label = QLabel(text)
    label.setProperty("role", "heading")
    return label


def section(title: str, text: str, *fields: QWidget) -> QFrame:
    """A card with a heading, a note and fields below each other."""
    card = QFrame()
    card.setProperty("role", "card")
    layout = QVBoxLayout(card)
    layout.setContentsMargins(SPACE_4, SPACE_3, SPACE_4, SPACE_3)
    layout.setSpacing(SPACE_1)
    layout.addWidget(heading(title))
    if text:
        layout.addWidget(note(text))
    for field in fields:
        layout.addSpacing(SPACE_1)
        layout.addWidget(field)
    return card


def new_form(parent: QWidget | None = None) -> QFormLayout:
    """A layout of names and fields that makes do with little width."""
    form = QFormLayout(parent)
    form.setContentsMargins(0, 0, 0, 0)
    form.setHorizontalSpacing(SPACE_4)
    form.setVerticalSpacing(SPACE_2)
    form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
    return form


def form_row(form: QFormLayout, name: str, field: QWidget, tip: str = "") -> None:
    """A line of a form; the tip stands below it, too."""
    field.setAccessibleName(name)
    field.setToolTip(plain_tip(tip))
    form.addRow(name, field)
    if tip:
        form.addRow(note(tip))


def choices(entries: Sequence[tuple[str, str]], value: str = "") -> QComboBox:
    """A list of (key, text marked for translation) to choose from; long texts do not make the form wide."""
    combo = QComboBox()
    for key, text in entries:
        combo.addItem(tr(text), key)
    combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    combo.setMinimumContentsLength(14)
    combo.setCurrentIndex(max(combo.findData(value), 0))
    return combo


def indent(spin: QAbstractSpinBox) -> None:
    """Put the number of a field as far from its border as the text of others; the style sheet cannot."""
    spin.lineEdit().setTextMargins(SPACE_2, 0, SPACE_2, 0)
