"""New project: what to sort, what describes it, where to keep it; checked while it is filled in."""

from __future__ import annotations

import re
from pathlib import Path

from PySide6.QtCore import QStandardPaths, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from a3s_desktop.errors import A3SError
from a3s_desktop.i18n import tr
from a3s_desktop.settings import SettingsStore
from a3s_desktop.storage.spec import ProjectSpec, SpecReport
from a3s_desktop.ui.check_panel import CheckPanel
from a3s_desktop.ui.creator import Creator
from a3s_desktop.ui.fields import FEATURE_FILTER, LABEL_FILTER, ORDER_FILTER, PathField, PathList
from a3s_desktop.ui.options_form import OptionsForm
from a3s_desktop.ui.theme import SPACE_1, SPACE_2, SPACE_3, SPACE_4, SPACE_5, set_role

_RESERVED = {"CON", "PRN", "AUX", "NUL", *(f"{device}{i}" for device in ("COM", "LPT") for i in range(10))}  # Windows
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
    return safe[:100].rstrip(" .")


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
        self._name_typed = False
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_SETTLE)
        self._timer.timeout.connect(self._check)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        body = QHBoxLayout()
        body.setContentsMargins(SPACE_5, SPACE_4, SPACE_5, SPACE_4)
        body.setSpacing(SPACE_4)
        body.addWidget(self._form(), 3)
        self.panel = CheckPanel()
        self.panel.setMinimumWidth(330)
        self.panel.confirmationChanged.connect(self._update)
        body.addWidget(self.panel, 2)
        outer.addLayout(body, 1)
        outer.addWidget(self._foot())
        creator.checked.connect(self._on_checked)
        creator.checkFailed.connect(self._on_check_failed)
        self._update()

    # Filling in

    def reset(self) -> None:
        """Empty the form for another project."""
        self.images.set_path(None)
        self.features.set_paths(())
        self.order.set_path(None)
        self.labels.set_path(None)
        self.name.clear()
        self._name_typed = False
        self.location.set_path(default_location())
        start = self._settings.value.last_folder
        for field in (self.images, self.features, self.order, self.labels):
            field.start = start
        self.images.setFocus()

    def spec(self) -> ProjectSpec | None:
        """The description as it stands; None while something needed is empty."""
        images, location, name = self.images.path(), self.location.path(), self.name.text().strip()
        if images is None or location is None or not self.features.paths() or not folder_name(name):
            return None
        return ProjectSpec(
            folder=location / folder_name(name),
            images=images,
            features=self.features.paths(),
            order=self.order.path(),
            labels=self.labels.path(),
            initial=self.options.initial_options(),
            strategy=self.options.strategy_options(),
            name=name,
        )

    def check_again(self) -> None:
        """Check anew, for what is on disk may have changed."""
        self._fit = None
        self._on_changed()

    # The form

    def _form(self) -> QScrollArea:
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, SPACE_2, 0)
        column.setSpacing(SPACE_2)
        title = QLabel(tr("New project"))
        title.setProperty("role", "title")
        column.addWidget(title)
        self.images = PathField(tr("Image folder"), tr("Folder with the images, sub-folders included"), folder=True)
        column.addWidget(
            _section(tr("Images"), tr("They stay where they are; nothing is copied or changed."), self.images)
        )
        self.features = PathList(tr("Feature files"), FEATURE_FILTER)
        column.addWidget(
            _section(
                tr("Embeddings"),
                tr(
                    "One row of numbers for each image, as an embedding model gives them: .npy, .npz or .csv. "
                    "Several files are several views of the same images."
                ),
                self.features,
            )
        )
        self.order = PathField(
            tr("Order file"), tr("None: names in the feature file, or sorted order"), pattern=ORDER_FILTER
        )
        column.addWidget(
            _section(
                tr("Which row is which image"),
                tr("Image paths in row order: one a line, or a table (.csv)."),
                self.order,
            )
        )
        self.name = QLineEdit()
        self.name.setPlaceholderText(tr("Name of the project"))
        self.name.setAccessibleName(tr("Name of the project"))
        self.name.setMaxLength(120)
        self.location = PathField(tr("Project location"), tr("Where the project folder is made"), folder=True)
        self.location.set_path(default_location())
        self.where = QLabel()
        self.where.setProperty("role", "small")
        self.where.setTextFormat(Qt.TextFormat.PlainText)
        self.where.setWordWrap(True)
        column.addWidget(_section(tr("Project"), "", self.name, self.location, self.where))
        column.addWidget(self._advanced())
        column.addStretch(1)
        self.images.changed.connect(self._on_images)
        self.name.textEdited.connect(self._on_name_edited)
        self.name.textChanged.connect(self._on_changed)
        for field in (self.features, self.order, self.labels, self.location):
            field.changed.connect(self._on_changed)
        self.options.changed.connect(self._on_changed)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(content)
        for each in (scroll.viewport(), content):
            each.setAutoFillBackground(False)
        return scroll

    def _advanced(self) -> QFrame:
        self.advanced_button = QToolButton()
        self.advanced_button.setText(tr("Advanced"))
        self.advanced_button.setCheckable(True)
        self.advanced_button.setArrowType(Qt.ArrowType.RightArrow)
        self.advanced_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        set_role(self.advanced_button, kind="quiet")
        self.labels = PathField(tr("Labels"), tr("No file with true labels"), pattern=LABEL_FILTER)
        note = QLabel(tr("True labels, for a trial on data that is sorted already: questions never use them."))
        note.setProperty("role", "small")
        note.setWordWrap(True)
        self.options = OptionsForm()
        self._advanced_content = QWidget()
        inner = QVBoxLayout(self._advanced_content)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(SPACE_2)
        inner.addWidget(self.labels)
        inner.addWidget(note)
        inner.addWidget(self.options)
        self._advanced_content.hide()
        self.advanced_button.toggled.connect(self._toggle_advanced)
        card = QFrame()
        card.setProperty("role", "card")
        layout = QVBoxLayout(card)
        layout.setContentsMargins(SPACE_3, SPACE_2, SPACE_4, SPACE_2)
        layout.addWidget(self.advanced_button, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addWidget(self._advanced_content)
        return card

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
        spec = self.spec()
        self.where.setText(tr("Will be made: {folder}", folder=spec.folder) if spec is not None else "")
        if spec is None:
            self._timer.stop()
            self.panel.show_waiting(self._missing())
        else:
            self.panel.show_waiting(tr("Checking…"))
            self._timer.start()
        self._update()

    def _missing(self) -> str:
        if self.images.path() is None:
            return tr("Choose the folder with the images.")
        if not self.features.paths():
            return tr("Add the file with the embeddings.")
        return (
            tr("Give the project a name.")
            if not folder_name(self.name.text())
            else tr("Choose where the project is kept.")
        )

    @Slot(bool)
    def _toggle_advanced(self, shown: bool) -> None:
        self._advanced_content.setVisible(shown)
        self.advanced_button.setArrowType(Qt.ArrowType.DownArrow if shown else Qt.ArrowType.RightArrow)

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
        self._update()

    @Slot(object, object)
    def _on_check_failed(self, spec: ProjectSpec, error: A3SError) -> None:
        if spec == self.spec():
            self.panel.show_failure(error)
            self._update()

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


def _section(title: str, text: str, *fields: QWidget) -> QFrame:
    card = QFrame()
    card.setProperty("role", "card")
    layout = QVBoxLayout(card)
    layout.setContentsMargins(SPACE_4, SPACE_3, SPACE_4, SPACE_3)
    layout.setSpacing(SPACE_1)
    heading = QLabel(title)
    heading.setProperty("role", "heading")
    layout.addWidget(heading)
    if text:
        note = QLabel(text)
        note.setProperty("role", "small")
        note.setWordWrap(True)
        layout.addWidget(note)
    for field in fields:
        layout.addSpacing(SPACE_1)
        layout.addWidget(field)
    return card
