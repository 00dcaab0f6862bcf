"""Saving the map as a picture: where to, whether to replace, then a worker draws and writes it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QStandardPaths, Slot
from PySide6.QtWidgets import QFileDialog

from a3s_desktop.errors import A3SError
from a3s_desktop.i18n import tr
from a3s_desktop.settings import SettingsStore
from a3s_desktop.storage import files
from a3s_desktop.ui.dialogs import ask, show_error
from a3s_desktop.ui.jobs import Jobs, Worker
from a3s_desktop.ui.main_window import MainWindow
from a3s_desktop.ui.map_panel import MapPanel

if TYPE_CHECKING:
    from a3s_desktop.ui.map_picture import MapPicture


@dataclass(frozen=True, slots=True)
class Saved:
    """Outcome: written, or not because something is there already."""

    path: Path
    written: bool


def write_picture(picture: MapPicture, path: Path, overwrite: bool) -> Saved:
    """Draw a picture into a file, ``.svg`` or else PNG; it appears complete or not at all. Runs on a worker.

    Raises
    ------
    StorageFailedError
    """
    from a3s_desktop.ui.map_png import png_bytes
    from a3s_desktop.ui.map_svg import svg_text

    if not overwrite and os.path.lexists(files.long_path(path)):
        return Saved(path, written=False)
    data = svg_text(picture).encode() if path.suffix.lower() == ".svg" else png_bytes(picture)
    files.atomic_write(path, data, overwrite)
    return Saved(path, written=True)


class MapExport(QObject):
    """Opens the file dialog when the map asks, and sees the saving through.

    Parameters
    ----------
    window, panel, jobs, settings
        Built by ``program.py``.
    """

    def __init__(self, window: MainWindow, panel: MapPanel, jobs: Jobs, settings: SettingsStore) -> None:
        super().__init__(window)
        self._window = window
        self._panel = panel
        self._jobs = jobs
        self._settings = settings
        self._picture: MapPicture | None = None
        self._pending: Path | None = None  # waits for "replace?"
        panel.saveWanted.connect(self.begin)

    @Slot()
    def begin(self) -> None:
        """Freeze the map as it is now and ask where to."""
        self._picture = self._panel.map.picture()
        documents = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
        places = (self._settings.value.last_folder, documents)
        folder = next((place for place in places if place and Path(place).is_dir()), str(Path.home()))
        dialog = QFileDialog(self._window, tr("Save the map as a picture"), folder)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setOption(QFileDialog.Option.DontConfirmOverwrite)  # asked below, in the program's words
        dialog.setNameFilters([tr("Picture (*.png)"), tr("Drawing, can be enlarged and edited (*.svg)")])
        dialog.setDefaultSuffix("png")
        dialog.selectFile("map.png")
        dialog.fileSelected.connect(self.save)
        dialog.finished.connect(dialog.deleteLater)
        dialog.filterSelected.connect(self._fit_suffix)
        dialog.open()

    @Slot(str)
    def _fit_suffix(self, chosen: str) -> None:
        dialog = self.sender()
        if isinstance(dialog, QFileDialog):
            suffix = "svg" if "*.svg" in chosen else "png"
            dialog.setDefaultSuffix(suffix)
            names = dialog.selectedFiles()
            if names:
                dialog.selectFile(str(Path(names[0]).with_suffix(f".{suffix}").name))

    @Slot(str)
    def save(self, name: str) -> None:
        """Save to a file that is not there yet."""
        self._settings.change(last_folder=str(Path(name).parent))
        self._write(Path(name), False)

    def _write(self, path: Path, overwrite: bool) -> None:
        if self._picture is None:
            return
        self._window.say(tr("Saving the map…"))
        self._jobs.submit(
            Worker.BACKGROUND,
            write_picture,
            self._picture,
            path,
            overwrite,
            done=self._on_saved,
            failed=self._on_failed,
        )

    @Slot(object)
    def _on_saved(self, saved: Saved) -> None:
        if saved.written:
            self._picture = None
            self._window.say(tr("Map saved to {path}", path=saved.path), 10000)
            return
        self._pending = saved.path
        dialog = ask(
            self._window, tr("Save the map"), tr("{name} exists already.", name=saved.path.name),
            tr("It is in {folder}. Replace it?", folder=saved.path.parent),
            (("close", tr("Keep it")), ("replace", tr("Replace"))), "close", symbol="warning",
        )  # fmt: skip
        dialog.chosen.connect(self._on_choice)

    @Slot(str)
    def _on_choice(self, choice: str) -> None:
        path, self._pending = self._pending, None
        if choice == "replace" and path is not None:
            self._write(path, True)

    @Slot(object)
    def _on_failed(self, error: BaseException) -> None:
        if isinstance(error, A3SError):
            show_error(self._window, error, tr("Map not saved"))
