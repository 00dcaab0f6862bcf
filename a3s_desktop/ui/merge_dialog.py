"""Before another person's work is taken over: what is new, what disagrees, how far the two agree; and whose name."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget

from a3s_desktop.i18n import tr
from a3s_desktop.session.merge_words import plan_texts
from a3s_desktop.session.merging import MergePlan
from a3s_desktop.settings import LONGEST_NAME
from a3s_desktop.ui.theme import SPACE_2, SPACE_3, SPACE_4, SPACE_5, set_role


class MergeDialog(QDialog):
    """Shows a plan and asks whether to carry it out.

    Signals
    -------
    accepted()
        Qt's: the work is to be taken over.
    """

    def __init__(self, plan: MergePlan, parent: QWidget) -> None:
        super().__init__(parent)
        self.plan = plan
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setWindowTitle(tr("Merge with a copy"))
        self.setMinimumWidth(520)
        source = plan.source
        heading = tr("{name}, by {author}", name=source.name, author=source.author) if source.author else source.name
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_5, SPACE_5, SPACE_5, SPACE_4)
        column.setSpacing(SPACE_3)
        column.addWidget(_wrapped(heading, "heading"))
        self.texts = plan_texts(plan)
        for text in self.texts:
            column.addWidget(_wrapped(text, ""))
        hint = (
            tr("There is nothing to take over. Both projects stay as they are.")
            if plan.empty
            else tr("The other project is only read. Undo takes the whole merge back in one step.")
        )
        column.addWidget(_wrapped(hint, "muted"))
        row = QHBoxLayout()
        row.setSpacing(SPACE_2)
        row.addStretch(1)
        self.cancel_button = QPushButton(tr("Close") if plan.empty else tr("Cancel"))
        self.cancel_button.setAutoDefault(False)
        self.cancel_button.clicked.connect(self.reject)
        row.addWidget(self.cancel_button)
        self.merge_button = QPushButton(tr("Take over"))
        set_role(self.merge_button, kind="primary")
        self.merge_button.setDefault(True)
        self.merge_button.setVisible(not plan.empty)
        self.merge_button.clicked.connect(self.accept)
        row.addWidget(self.merge_button)
        column.addStretch(1)
        column.addLayout(row)


class AnnotatorDialog(QDialog):
    """Asks for the name that is kept with every answer.

    Signals
    -------
    named(str)
    """

    named = Signal(str)

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setWindowTitle(tr("Annotator's name"))
        self.setMinimumWidth(460)
        self.edit = QLineEdit(name)
        self.edit.setMaxLength(LONGEST_NAME)
        self.edit.setAccessibleName(tr("Annotator's name"))
        self.edit.setPlaceholderText(tr("No name is kept"))
        self.edit.selectAll()
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_5, SPACE_5, SPACE_5, SPACE_4)
        column.setSpacing(SPACE_3)
        column.addWidget(_wrapped(tr("Who gives the answers?"), "heading"))
        column.addWidget(self.edit)
        column.addWidget(
            _wrapped(
                tr(
                    "The name is kept with every answer from now on, in this project and in what is exported from it. "
                    "It tells the work of several people apart. Leave it empty to keep no name."
                ),
                "muted",
            )
        )
        cancel, keep = QPushButton(tr("Cancel")), QPushButton(tr("Keep"))
        cancel.setAutoDefault(False)
        cancel.clicked.connect(self.reject)
        set_role(keep, kind="primary")
        keep.setDefault(True)
        keep.clicked.connect(self._keep)
        row = QHBoxLayout()
        row.setSpacing(SPACE_2)
        row.addStretch(1)
        row.addWidget(cancel)
        row.addWidget(keep)
        column.addLayout(row)

    @Slot()
    def _keep(self) -> None:
        self.named.emit(self.edit.text())
        self.accept()


def _wrapped(text: str, role: str) -> QLabel:
    label = QLabel(text)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setProperty("role", role)
    return label
