"""New project: what to sort, what describes it, where to keep it; checked while it is filled in."""

from __future__ import annotations

import dataclasses
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QStandardPaths, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from a3s_desktop.errors import A3SError
from a3s_desktop.i18n import tr
from a3s_desktop.settings import SettingsStore
from a3s_desktop.storage.spec import ProjectSpec, SpecReport
from a3s_desktop.ui.advanced_box import AdvancedBox, patterns_of
from a3s_desktop.ui.check_panel import CheckPanel
from a3s_desktop.ui.creator import Creator
from a3s_desktop.ui.feature_source import FeatureSource, outlook_text
from a3s_desktop.ui.fields import PathField
from a3s_desktop.ui.form_parts import note, section
from a3s_desktop.ui.theme import SPACE_2, SPACE_3, SPACE_4, SPACE_5, set_role

if TYPE_CHECKING:
    from a3s_desktop.storage.embedding_outlook import Outlook

_RESERVED = {"CON", "PRN", "AUX", "NUL", *(f"{device}{i}" for device in ("COM", "LPT") for i in range(10))}  # Windows
_LONGEST = 200  # bytes of a folder's name; file systems take 255
_SETTLE = 350  # ms without a change before the check starts


def default_location() -> Path:
    """Where projects are kept unless the user says otherwise."""
    documents = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
    return Path(documents or Path.home()) / "A3S projects"


def folder_name(name: str) -> str:
    """A name as a folder name that every file system takes."""
    safe = re.sub(r'[<>:"/\\|?*\x00-\x1f]+', " ", name)
    safe = re.sub(r"\s+", " ", safe).strip(" .")
    if safe.split(".")[0].upper() in _RESERVED:
        safe = f"_{safe}"
    safe = safe[:100].encode("utf-8", "ignore")[:_LONGEST].decode("utf-8", "ignore")
    return safe.rstrip(" .")


class NewProjectPage(QWidget):
    """The form, and beside it what the check says.

    Signals
    -------
    createRequested(object)
        A checked and confirmed `ProjectSpec`.
    backRequested()
    """

    createRequested = Signal(object)  # noqa: N815 - Qt's naming
    backRequested = Signal()  # noqa: N815

    def __init__(self, creator: Creator, settings: SettingsStore, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._creator = creator
        self._settings = settings
        self._fit: ProjectSpec | None = None  # the description that the check has found good
        self._data: tuple[object, ...] = ()  # what the choice about unmatched rows was made for
        self._name_typed = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_SETTLE)
        self._timer.timeout.connect(self._check)
        self.panel = CheckPanel()
        self.panel.setMinimumWidth(330)
        self.panel.confirmationChanged.connect(self._update)
        self.panel.unmatched.chosen.connect(self._on_changed)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        body = QHBoxLayout()
        body.setContentsMargins(SPACE_5, SPACE_4, SPACE_5, SPACE_4)
        body.setSpacing(SPACE_4)
        body.addWidget(self._form(), 3)
        body.addWidget(self.panel, 2)
        outer.addLayout(body, 1)
        outer.addWidget(self._foot())
        creator.checked.connect(self._on_checked)
        creator.checkFailed.connect(self._on_check_failed)
        creator.estimated.connect(self._on_estimated)
        self._on_changed()

    # Filling in

    def reset(self) -> None:
        """Empty the form for another project."""
        self.images.set_path(None)
        self.source.reset()
        self.advanced.reset()
        self.panel.unmatched.reset()
        self.name.clear()
        self._name_typed = False
        self.location.set_path(default_location())
        start = self._settings.value.last_folder
        advanced = self.advanced
        for field in (self.images, self.features, self.order, self.labels, advanced.parts, advanced.description.model):
            field.start = start
        self.images.setFocus()

    def spec(self) -> ProjectSpec | None:
        """The description as it stands; None while something needed is empty."""
        images, location, name = self.images.path(), self.location.path(), self.name.text().strip()
        if images is None or location is None or self._missing():
            return None
        describing, unmatched = self.source.describing, self.panel.unmatched.value
        advanced, parts = self.advanced, self.advanced.parts.path()
        initial = self.options.initial_options()
        return ProjectSpec(
            folder=Path(os.path.abspath(location)) / folder_name(name),
            images=Path(os.path.abspath(images)),
            features=() if describing else self.features.paths(),
            order=None if describing else self.order.path(),
            labels=self.labels.path(),
            initial=initial if describing else dataclasses.replace(initial, weights=advanced.weights.weights()),
            strategy=self.options.strategy_options(),
            name=name,
            include=patterns_of(advanced.include.text()),
            exclude=patterns_of(advanced.exclude.text()),
            parts=parts,
            parts_differ=parts is not None and advanced.parts_differ.isChecked(),
            unmatched=unmatched,
            embedding=advanced.description.options() if self._described else None,
        )

    def check_again(self) -> None:
        """Check anew, for what is on disk may have changed."""
        self._fit = None
        self._on_changed()

    @property
    def _described(self) -> bool:
        """Whether images are to be described: all of them, or those without a row."""
        return self.source.describing or self.panel.unmatched.value.images == "compute"

    # The form

    def _form(self) -> QScrollArea:
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, SPACE_2, 0)
        column.setSpacing(SPACE_2)
        title = QLabel(tr("New project"))
        title.setProperty("role", "title")
        column.addWidget(title)
        self.images = PathField(tr("Image folder"), tr("Folder with the images"), folder=True)
        column.addWidget(
            section(
                tr("Images"),
                tr("Sub-folders included. The images stay where they are; nothing is copied or changed."),
                self.images,
            )
        )
        self.source = FeatureSource()
        self.features = self.source.files
        column.addWidget(section(tr("What tells them apart"), "", self.source))
        self.name = QLineEdit()
        self.name.setPlaceholderText(tr("Name of the project"))
        self.name.setAccessibleName(tr("Name of the project"))
        self.name.setMaxLength(120)
        self.location = PathField(tr("Project location"), tr("Where the project folder is made"), folder=True)
        self.location.set_path(default_location())
        self.where = note()
        column.addWidget(section(tr("Project"), "", self.name, self.location, self.where))
        self.advanced = AdvancedBox()
        self.advanced_button = self.advanced.button
        self.order, self.labels, self.options = self.advanced.order, self.advanced.labels, self.advanced.options
        column.addWidget(self.advanced)
        column.addStretch(1)
        self.images.changed.connect(self._on_images)
        self.name.textEdited.connect(self._on_name_edited)
        self.name.textChanged.connect(self._on_changed)
        for field in (self.source, self.advanced, self.location):
            field.changed.connect(self._on_changed)
        self.source.changeRequested.connect(self.advanced.open_at_description)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setAccessibleName(tr("New project"))
        scroll.setWidget(content)
        for each in (scroll.viewport(), content):
            each.setAutoFillBackground(False)
        return scroll

    def _foot(self) -> QFrame:
        foot = QFrame()
        foot.setProperty("role", "foot")
        row = QHBoxLayout(foot)
        row.setContentsMargins(SPACE_5, SPACE_3, SPACE_5, SPACE_3)
        self.back_button = QPushButton(tr("Back"))
        self.back_button.clicked.connect(self.backRequested)
        row.addWidget(self.back_button)
        row.addStretch(1)
        self.reason = QLabel()
        self.reason.setTextFormat(Qt.TextFormat.PlainText)
        self.reason.setProperty("role", "muted")
        row.addWidget(self.reason)
        row.addSpacing(SPACE_3)
        self.create_button = QPushButton(tr("Create project"))
        set_role(self.create_button, kind="primary")
        self.create_button.clicked.connect(self._create)
        row.addWidget(self.create_button)
        return foot

    # Changes

    @Slot()
    def _on_images(self) -> None:
        path = self.images.path()
        if not self._name_typed:
            self.name.setText(path.name if path is not None else "")
        self._on_changed()

    @Slot()
    def _on_name_edited(self) -> None:
        self._name_typed = bool(self.name.text())

    @Slot()
    def _on_changed(self) -> None:
        self._fit = None
        self._creator.cancel_check()
        self._forget_choice_about_other_data()
        describing = self.source.describing
        if not describing:
            self.advanced.weights.set_files(self.features.paths())
        self.advanced.show_for(described=self._described, features=not describing)
        self.source.used.setText(self.advanced.description.used_text())
        spec = self.spec()
        self.where.setText(tr("Will be made: {folder}", folder=spec.folder) if spec is not None else "")
        self.where.setVisible(spec is not None)
        if spec is None:
            self._timer.stop()
            self.panel.show_waiting(self._missing())
            self.source.time.setText(tr("How long it takes is measured as soon as the images are known."))
        else:
            self.panel.show_waiting(tr("Checking…"))
            self.source.time.setText(tr("How long it takes is being measured…"))
            self._timer.start()
        self._update()

    def _forget_choice_about_other_data(self) -> None:
        """What was chosen for rows and images without the other holds for the data that were shown."""
        advanced = self.advanced
        paths = (self.images.path(), self.source.describing, self.features.paths(), self.order.path())
        data = (*paths, advanced.parts.path(), advanced.include.text(), advanced.exclude.text())
        if data != self._data:
            self._data = data
            self.panel.unmatched.reset()

    def _missing(self) -> str:
        """What is to be filled in next; empty where all is there."""
        if self.images.path() is None:
            return tr("Choose the folder with the images.")
        if not self.source.describing and not self.features.paths():
            return tr("Add the file with the features, or have the images described.")
        if self._described and (text := self.advanced.description.missing()):
            return text
        if not folder_name(self.name.text()):
            return tr("Give the project a name.")
        return tr("Choose where the project is kept.") if self.location.path() is None else ""

    # Checking and creating

    @Slot()
    def _check(self) -> None:
        spec = self.spec()
        if spec is not None and not self._creator.creating:
            self._creator.check(spec)

    @Slot(object, object)
    def _on_checked(self, spec: ProjectSpec, report: SpecReport) -> None:
        if spec != self.spec():
            return  # the form has moved on
        self._fit = spec if report.ok else None
        self.panel.show_report(report)
        if not report.ok:
            self.source.time.setText(tr("How long it takes is measured as soon as the images are known."))
        self._update()

    @Slot(object, object)
    def _on_check_failed(self, spec: ProjectSpec, error: A3SError) -> None:
        if spec == self.spec():
            self._fit = None
            self.panel.show_failure(error)
            self.source.time.clear()
            self._update()

    @Slot(object, object)
    def _on_estimated(self, spec: ProjectSpec, outlook: Outlook) -> None:
        if spec == self.spec():
            text = outlook_text(outlook)
            self.source.time.setText(text)
            self.panel.show_outlook("" if self.source.describing else text, outlook.unsaid)

    @Slot()
    def _update(self) -> None:
        ready = self._fit is not None and self.panel.confirmed
        self.create_button.setEnabled(ready)
        waiting = self._fit is not None and not self.panel.confirmed
        self.reason.setText(tr("Look at the rows and images on the right, then confirm.") if waiting else "")

    @Slot()
    def _create(self) -> None:
        if self._fit is not None and self.panel.confirmed:
            self._settings.change(last_folder=str(self._fit.images.parent))
            self.createRequested.emit(self._fit)
