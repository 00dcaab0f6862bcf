"""What tells the images of a new project apart: feature files that the user has, or a description by the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QRadioButton, QVBoxLayout, QWidget

from a3s_desktop.i18n import tr, trn
from a3s_desktop.ui.fields import FEATURE_FILTER, PathList
from a3s_desktop.ui.form_parts import note
from a3s_desktop.ui.theme import SPACE_1, SPACE_2, SPACE_5, set_role

if TYPE_CHECKING:
    from a3s_desktop.storage.embedding_outlook import Outlook


class FeatureSource(QWidget):
    """Two choices, each with what belongs to it.

    Signals
    -------
    changed()
    changeRequested()
        The user wants to say how images are described.
    """

    changed = Signal()
    changeRequested = Signal()  # noqa: N815 - Qt's naming

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.have = QRadioButton(tr("I have features"))
        self.have.setChecked(True)
        self.describe = QRadioButton(tr("I have no features: describe the images"))
        self.files = PathList(tr("Feature files"), FEATURE_FILTER)
        self.used = note()
        self.time = note()
        self.change_button = QPushButton(tr("Change…"))
        self.change_button.setAccessibleName(tr("Change how the images are described"))
        self.change_button.setAutoDefault(False)
        set_role(self.change_button, kind="quiet")
        self.change_button.clicked.connect(self.changeRequested)
        self._with_files = QWidget()
        files = QVBoxLayout(self._with_files)
        files.setContentsMargins(SPACE_5, 0, 0, SPACE_1)
        files.setSpacing(SPACE_1)
        files.addWidget(
            note(
                tr(
                    "One row of numbers for each image, as an embedding model gives them: .npy, .npz, .csv, .tsv, "
                    ".parquet or .feather. Several files are several views of the same images."
                )
            )
        )
        files.addWidget(self.files)
        self._with_description = QWidget()
        row = QHBoxLayout(self._with_description)
        row.setContentsMargins(SPACE_5, 0, 0, SPACE_1)
        row.setSpacing(SPACE_2)
        texts = QVBoxLayout()
        texts.setSpacing(SPACE_1)
        texts.addWidget(self.used)
        texts.addWidget(self.time)
        row.addLayout(texts, 1)
        row.addWidget(self.change_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_1)
        column.addWidget(self.have)
        column.addWidget(self._with_files)
        column.addWidget(self.describe)
        column.addWidget(self._with_description)
        self.describe.toggled.connect(self._show_choice)
        self.describe.toggled.connect(self.changed)
        self.files.changed.connect(self.changed)
        self._show_choice()

    @property
    def describing(self) -> bool:
        """Whether the program is to describe the images."""
        return self.describe.isChecked()

    def reset(self) -> None:
        """As in a new form."""
        self.have.setChecked(True)
        self.files.set_paths(())

    @Slot()
    def _show_choice(self) -> None:
        self._with_files.setVisible(not self.describing)
        self._with_description.setVisible(self.describing)


def outlook_text(outlook: Outlook) -> str:
    """How long describing takes, in words."""
    parts = []
    if outlook.ready:
        parts.append(
            trn(
                "{n} image is described already, from an earlier attempt.",
                "{n} images are described already, from an earlier attempt.",
                outlook.ready,
            )
        )
    left = outlook.images - outlook.ready
    if not left:
        return " ".join(parts)
    if outlook.seconds is None:
        parts.append(tr("How long it takes cannot be said beforehand; you can stop and go on at any time."))
    else:
        parts.append(
            trn(
                "Describing {n} image takes {time} on this computer.",
                "Describing {n} images takes {time} on this computer, measured on {measured} of them.",
                left,
                time=duration_text(outlook.seconds),
                measured=outlook.measured,
            )
        )
    return " ".join(parts)


def duration_text(seconds: float) -> str:
    """ "about 3 minutes": coarse, for it is an estimate."""
    if seconds < 10:
        return tr("a few seconds")
    if seconds < 55:
        return tr("about {n} seconds", n=round(seconds / 10) * 10)
    if seconds < 5400:
        return trn("about {n} minute", "about {n} minutes", max(round(seconds / 60), 1))
    return trn("about {n} hour", "about {n} hours", round(seconds / 3600))
