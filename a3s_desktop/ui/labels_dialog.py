"""What a list of known names would do, before it does it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QListWidget, QPushButton, QVBoxLayout, QWidget

from a3s_desktop.i18n import number, tr, trn
from a3s_desktop.session.known_labels import LabelsPlan, conflict_text
from a3s_desktop.ui.dialogs import wrapped
from a3s_desktop.ui.theme import SPACE_3, SPACE_4, SPACE_5, set_role

MOST = 2000  # lines of the list


class LabelsDialog(QDialog):
    """Counts, and what speaks against some of the names; those are left out.

    Parameters
    ----------
    parent : QWidget or None
    name : str
        Of the file.
    plan : LabelsPlan
    paths : sequence of str
        The images'.

    Signals
    -------
    agreed()
    """

    agreed = Signal()

    def __init__(self, parent: QWidget | None, name: str, plan: LabelsPlan, paths: Sequence[str]) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setWindowTitle(tr("Known names"))
        self.setMinimumWidth(620)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(SPACE_5, SPACE_5, SPACE_5, SPACE_4)
        layout.setSpacing(SPACE_3)
        layout.addWidget(wrapped(tr("Names from {name}", name=name), "heading"))
        self.summary = wrapped(_summary(plan), "")
        layout.addWidget(self.summary)
        if plan.operation is not None:
            layout.addWidget(
                wrapped(
                    tr(
                        "These images become confirmed: those of one name are the same, those of two names are "
                        "different. The program never unites two of these groups by itself. One undo takes all of it "
                        "back."
                    ),
                    "muted",
                )
            )
        self.list = QListWidget()
        if plan.conflicts:
            head = QLabel(
                trn("{n} conflict; what it is about is left out:", "{n} conflicts; what they are about is left out:",
                    len(plan.conflicts))
            )  # fmt: skip
            head.setTextFormat(Qt.TextFormat.PlainText)
            set_role(head, role="strong")
            layout.addWidget(head)
            self.list.setProperty("role", "field")
            self.list.setAccessibleName(tr("Conflicts"))
            self.list.setWordWrap(True)
            self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
            self.list.addItems([conflict_text(conflict, paths) for conflict in plan.conflicts[:MOST]])
            if len(plan.conflicts) > MOST:
                self.list.addItem(tr("… and {n} more.", n=number(len(plan.conflicts) - MOST)))
            layout.addWidget(self.list, 1)
        row = QHBoxLayout()
        row.addStretch(1)
        self.cancel_button = QPushButton(tr("Cancel"))
        self.cancel_button.setAutoDefault(False)
        self.cancel_button.clicked.connect(self.close)
        self.take_button = QPushButton(tr("Take over the others") if plan.conflicts else tr("Take over"))
        self.take_button.setEnabled(plan.operation is not None)
        set_role(self.take_button, kind="primary")
        self.take_button.setDefault(not plan.conflicts)
        self.take_button.setAutoDefault(False)
        self.take_button.clicked.connect(self._agree)
        row.addWidget(self.cancel_button)
        row.addWidget(self.take_button)
        layout.addLayout(row)

    def showEvent(self, event: QShowEvent) -> None:
        """With conflicts the list has the focus: they are to be read."""
        super().showEvent(event)
        (self.list if self.list.count() else self.take_button).setFocus()

    @Slot()
    def _agree(self) -> None:
        self.close()
        self.agreed.emit()


def _summary(plan: LabelsPlan) -> str:
    if plan.operation is None:
        return tr("Nothing can be taken over from this file.")
    return tr(
        "{images} in {groups} would be taken over.",
        images=trn("{n} image", "{n} images", plan.images),
        groups=trn("{n} group", "{n} groups", plan.names),
    )
