"""What few projects need, behind "Advanced": how images are described, which row is which, parts, patterns, method."""

from __future__ import annotations

import re

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QFrame, QLineEdit, QToolButton, QVBoxLayout, QWidget

from a3s_desktop.i18n import tr
from a3s_desktop.storage.embedding_outlook import preset_there
from a3s_desktop.ui.description_form import DescriptionForm
from a3s_desktop.ui.fields import LABEL_FILTER, ORDER_FILTER, PARTS_FILTER, PathField
from a3s_desktop.ui.form_parts import heading, note
from a3s_desktop.ui.options_form import OptionsForm
from a3s_desktop.ui.theme import SPACE_1, SPACE_2, SPACE_3, SPACE_4, set_role
from a3s_desktop.ui.view_weights import ViewWeights


class AdvancedBox(QFrame):
    """A card that opens.

    Signals
    -------
    changed()
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self.button = QToolButton()
        self.button.setText(tr("Advanced"))
        self.button.setCheckable(True)
        self.button.setArrowType(Qt.ArrowType.RightArrow)
        self.button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        set_role(self.button, kind="quiet")
        self.button.toggled.connect(self._toggle)
        self.description = DescriptionForm(preset_there())
        self.order = PathField(
            tr("Order file"), tr("None: names in the feature file, or sorted order"), pattern=ORDER_FILTER
        )
        self.weights = ViewWeights()
        self.parts = PathField(tr("Parts of photos"), tr("None: each photo is one image"), pattern=PARTS_FILTER)
        self.parts_differ = QCheckBox(tr("Two parts of one photo are different"))
        self.include, self.exclude = QLineEdit(), QLineEdit()
        self.include.setPlaceholderText(tr("Take all images, or only those such as: *.jpg; left/*"))
        self.include.setAccessibleName(tr("Only images that fit these patterns"))
        self.exclude.setPlaceholderText(tr("Leave none out, or those such as: *_mask.png; old/*"))
        self.exclude.setAccessibleName(tr("No images that fit these patterns"))
        self.labels = PathField(tr("Labels"), tr("No file with true labels"), pattern=LABEL_FILTER)
        self.options = OptionsForm()
        self._of_rows = _group(
            tr("Which row is which image"),
            tr("Image paths in row order: one a line, or a table (.csv)."),
            self.order,
        )
        self._content = QWidget()
        inner = QVBoxLayout(self._content)
        inner.setContentsMargins(0, 0, 0, SPACE_2)
        inner.setSpacing(SPACE_4)
        for each in (
            self.description,
            self._of_rows,
            self.weights,
            _group(
                tr("Parts of photos"),
                tr("A table with the columns file, x, y, width, height: each rectangle is an image of its own."),
                self.parts,
                self.parts_differ,
            ),
            _group(
                tr("Which images"),
                tr("Patterns with * and ?, divided by semicolons; with a / they are of the path, else of the name."),
                self.include,
                self.exclude,
            ),
            _group(
                tr("True labels"),
                tr("For a trial on data that is sorted already: questions never use them."),
                self.labels,
            ),
            _group(tr("Method"), "", self.options),
        ):
            inner.addWidget(each)
        self._content.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(SPACE_3, SPACE_2, SPACE_4, SPACE_2)
        layout.addWidget(self.button, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addWidget(self._content)
        for field in (self.description, self.order, self.weights, self.parts, self.labels, self.options):
            field.changed.connect(self.changed)
        self.parts.changed.connect(self._show_what_counts)
        self.parts_differ.toggled.connect(self.changed)
        for edit in (self.include, self.exclude):
            edit.textChanged.connect(self.changed)
        self._show_what_counts()
        self.show_for(described=False, features=True)

    def reset(self) -> None:
        """As in a new form; the options of the method stay as they were chosen last."""
        for field in (self.order, self.parts, self.labels):
            field.set_path(None)
        self.parts_differ.setChecked(False)
        self.include.clear()
        self.exclude.clear()
        self.description.reset()

    def show_for(self, *, described: bool, features: bool) -> None:
        """Show what has a meaning: of descriptions where images are described, of rows where there are features."""
        self.description.setVisible(described)
        self._of_rows.setVisible(features)
        if not features:
            self.weights.hide()

    @Slot()
    def open_at_description(self) -> None:
        """Open, with the keys at the way images are described."""
        self.button.setChecked(True)
        self.description.way.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot(bool)
    def _toggle(self, shown: bool) -> None:
        self._content.setVisible(shown)
        self.button.setArrowType(Qt.ArrowType.DownArrow if shown else Qt.ArrowType.RightArrow)

    @Slot()
    def _show_what_counts(self) -> None:
        self.parts_differ.setEnabled(self.parts.path() is not None)


def patterns_of(text: str) -> tuple[str, ...]:
    """Patterns as they are typed, divided by semicolons or line ends."""
    return tuple(part for piece in re.split(r"[;\n]", text) if (part := piece.strip()))


def _group(title: str, text: str, *fields: QWidget) -> QWidget:
    group = QWidget()
    column = QVBoxLayout(group)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(SPACE_1)
    column.addWidget(heading(title))
    if text:
        column.addWidget(note(text))
    for field in fields:
        column.addWidget(field)
    return group
