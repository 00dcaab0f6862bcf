"""Known names from a file: choose it, look at what it would do, take it over."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QFileDialog

from a3s_desktop.errors import A3SError, InputError, KnownApartError
from a3s_desktop.i18n import tr
from a3s_desktop.session.known_labels import LabelsPlan
from a3s_desktop.session.operations import Merge
from a3s_desktop.settings import SettingsStore
from a3s_desktop.storage.label_file import load_known_labels
from a3s_desktop.storage.person_names import known_people
from a3s_desktop.task import Task
from a3s_desktop.ui.bridge import Bridge
from a3s_desktop.ui.dialogs import ask, show_error
from a3s_desktop.ui.engine_room import Reading
from a3s_desktop.ui.jobs import Jobs, Worker
from a3s_desktop.ui.labels_dialog import LabelsDialog
from a3s_desktop.ui.main_window import MainWindow
from a3s_desktop.ui.shortcuts import Shortcuts

if TYPE_CHECKING:
    from a3s_desktop.session.operations import Operation


class LabelsFlow(QObject):
    """Opens on its action; also asks once more where a merge goes against such a list.

    Parameters
    ----------
    window, bridge, jobs, shortcuts, settings
        Built by ``program.py``.
    """

    def __init__(
        self, window: MainWindow, bridge: Bridge, jobs: Jobs, shortcuts: Shortcuts, settings: SettingsStore
    ) -> None:
        super().__init__(window)
        self._window, self._bridge, self._jobs, self._settings = window, bridge, jobs, settings
        self._file = Path()
        self._project = -1  # that the file is read for
        self._plan: LabelsPlan | None = None
        self._refused: tuple[Operation, tuple[int, ...]] | None = None
        shortcuts.action("project.labels").triggered.connect(self.begin)
        bridge.failed.connect(self._on_refused)

    @Slot()
    def begin(self) -> None:
        """Ask where the names come from."""
        if self._bridge.project is None:
            return
        dialog = ask(
            self._window,
            tr("Known names"),
            tr("Where are the names?"),
            tr(
                "In a table with a row for each image, or in the photos: digiKam, Lightroom and other photo programs "
                "note there, or in XMP files beside them, who is where."
            ),
            (("close", tr("Cancel")), ("photos", tr("In the photos")), ("table", tr("In a table…"))),
            "table",
        )
        dialog.chosen.connect(self._on_source)

    @Slot(str)
    def _on_source(self, choice: str) -> None:
        if choice == "table":
            self._ask_file()
        elif choice == "photos":
            self.read_photos()

    def _ask_file(self) -> None:
        dialog = QFileDialog(self._window, tr("Known names"), self._settings.value.last_folder)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([tr("Tables of names (*.csv *.tsv *.json)"), tr("All files (*)")])
        dialog.fileSelected.connect(self.read)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def read_photos(self) -> None:
        """Read what the photos say in the background, then show what it would do."""
        project = self._bridge.project
        if project is None:
            return
        self._file, self._project = project.items.root, project.id
        self._jobs.submit(
            Worker.BACKGROUND, known_people, project.items.root, project.items.paths, Task(),
            done=self._on_rows, failed=self._on_failed,
        )  # fmt: skip

    @Slot(str)
    def read(self, name: str) -> None:
        """Read a file in the background, then show what it would do."""
        project = self._bridge.project
        if project is None:
            return
        self._file, self._project = Path(name), project.id
        self._settings.change(last_folder=str(self._file.parent))
        self._jobs.submit(
            Worker.BACKGROUND, load_known_labels, self._file, project.items.paths, str(project.items.root),
            done=self._on_rows, failed=self._on_failed,
        )  # fmt: skip

    @Slot(object)
    def _on_rows(self, rows: Any) -> None:
        project = self._bridge.project
        if project is None or project.id != self._project:
            return
        if not rows:
            message = tr("No photo names a person.")
            hint = tr("Note persons in your photo program, or take the names from a table.")
            show_error(self._window, InputError(message, hint), tr("Known names"))
        else:
            self._bridge.read(Reading.LABELS, rows, done=self._on_plan)

    @Slot(object)
    def _on_plan(self, plan: LabelsPlan) -> None:
        items = self._bridge.items
        if items is None:
            return
        self._plan = plan
        dialog = LabelsDialog(self._window, self._file.name, plan, items.paths)
        dialog.agreed.connect(self._on_agreed)
        dialog.open()

    @Slot()
    def _on_agreed(self) -> None:
        plan, self._plan = self._plan, None
        if plan is not None and plan.operation is not None:
            self._bridge.perform(plan.operation)

    @Slot(object)
    def _on_failed(self, error: BaseException) -> None:
        if isinstance(error, A3SError):
            show_error(self._window, error, tr("Known names"))

    # A merge against a list

    @Slot(object)
    def _on_refused(self, error: A3SError) -> None:
        performed = self._bridge.performed
        if isinstance(error, KnownApartError) and performed is not None:
            self._refused = performed
            dialog = ask(
                self._window, tr("Merge"), error.message, error.hint,
                (("close", tr("Cancel")), ("merge", tr("Merge all the same"))), "close", symbol="warning",
            )  # fmt: skip
            dialog.chosen.connect(self._on_choice)

    @Slot(str)
    def _on_choice(self, choice: str) -> None:
        refused, self._refused = self._refused, None
        if choice == "merge" and refused is not None and isinstance(refused[0], Merge):
            self._bridge.perform(replace(refused[0], sure=True), refused[1])
