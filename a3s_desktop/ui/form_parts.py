"""Building blocks of forms: a card with a heading, small notes, lines of a form with a note below."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFormLayout, QFrame, QLabel, QVBoxLayout, QWidget

from a3s_desktop.ui.theme import SPACE_1, SPACE_3, SPACE_4


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


def form_row(form: QFormLayout, name: str, field: QWidget, tip: str = "") -> None:
    """A line of a form; the tip stands below the field, too."""
    field.setAccessibleName(name)
    field.setToolTip(tip)
    form.addRow(name, field)
    if tip:
        form.addRow("", note(tip))
