"""Export as a conversation: where to, and, if the file is there already, whether to replace it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, QStandardPaths, Slot

from a3s_desktop.i18n import tr, trn
from a3s_desktop.settings import SettingsStore
from a3s_desktop.ui.bridge import Bridge
from a3s_desktop.ui.dialogs import ExportDialog, ask
from a3s_desktop.ui.main_window import MainWindow
from a3s_desktop.ui.shortcuts import Shortcuts


class ExportFlow(QObject):
    """Opens the export dialog on its action and sees the export through.

    Parameters
    ----------
    window, bridge, shortcuts, settings
        Built by ``app.py``.
    """

    def __init__(self, window: MainWindow, bridge: Bridge, shortcuts: Shortcuts, settings: SettingsStore) -> None:
        super().__init__(window)
        self._window = window
        self._bridge = bridge
        self._settings = settings
        self._pending: tuple[str, Path] | None = None  # waits for "replace?"
        shortcuts.action("project.export").triggered.connect(self.begin)
        bridge.exported.connect(self._on_exported)
        bridge.exportExists.connect(self._on_exists)

    @Slot()
    def begin(self) -> None:
        """Ask where to."""
        project, state = self._bridge.project, self._bridge.state
        if project is None or state is None:
            return
        documents = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
        places = (self._settings.value.last_folder, documents)
        folder = next((Path(place) for place in places if place and Path(place).is_dir()), Path.home())
        summary = tr(
            "{images} in {clusters} and {singles}, after {answers}.",
            images=trn("{n} image", "{n} images", state.items),
            clusters=trn("{n} cluster", "{n} clusters", state.clusters),
            singles=trn("{n} single image", "{n} single images", state.singletons),
            answers=trn("{n} answer", "{n} answers", state.answers),
        )
        dialog = ExportDialog(self._window, project.name, folder, summary)
        dialog.requested.connect(self._export)
        dialog.open()

    @Slot(str, object)
    def _export(self, kind: str, path: Path) -> None:
        self._settings.change(last_folder=str(path.parent))
        self._bridge.export(kind, path, False)

    @Slot(str, object)
    def _on_exists(self, kind: str, path: Path) -> None:
        self._pending = (kind, path)
        dialog = ask(
            self._window, tr("Export"), tr("{name} exists already.", name=path.name),
            tr("It is in {folder}. Replace it?", folder=path.parent),
            (("close", tr("Keep it")), ("replace", tr("Replace"))), "close", symbol="warning",
        )  # fmt: skip
        dialog.chosen.connect(self._on_choice)

    @Slot(str)
    def _on_choice(self, choice: str) -> None:
        pending, self._pending = self._pending, None
        if choice == "replace" and pending is not None:
            self._bridge.export(*pending, True)

    @Slot(object)
    def _on_exported(self, path: Path) -> None:
        self._window.say(tr("Exported to {path}", path=path), 10000)
