"""Form fields for files and folders. They hold paths as text and never touch the disk: checking is the worker's."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, QSize, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from a3s_desktop.i18n import mark, tr
from a3s_desktop.ui.plain import plain_tip
from a3s_desktop.ui.theme import SPACE_2, icon

FEATURE_FILTER = mark("Feature files (*.npy *.npz *.csv *.tsv *.parquet *.feather);;All files (*)")
MODEL_FILTER = mark("ONNX models (*.onnx);;All files (*)")
PARTS_FILTER = mark("Tables (*.csv *.tsv);;All files (*)")
ORDER_FILTER = mark("Text files (*.txt *.csv *.tsv);;All files (*)")
LABEL_FILTER = mark("Label files (*.csv *.tsv *.npy);;All files (*)")


def dropped_paths(event: QDragEnterEvent | QDropEvent) -> list[str]:
    """Local files and folders of a drag."""
    mime = event.mimeData()
    return [url.toLocalFile() for url in mime.urls() if url.isLocalFile()] if mime.hasUrls() else []


def path_of(text: str, chosen: str = "") -> Path | None:
    """A path as people type or paste it: in quotation marks, with ~, or as a file:// address; None for nothing.

    Parameters
    ----------
    text : str
    chosen : str
        A path that was chosen, not typed; if ``text`` is still this, it is taken as it is.
    """
    if text and text == chosen:
        return Path(text)
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1]
    if text.lower().startswith("file:"):
        text = QUrl(text).toLocalFile() or text
    if not text:
        return None
    try:
        return Path(text).expanduser()
    except RuntimeError:  # ~somebody who does not exist
        return Path(text)


class PathField(QWidget):
    """A line with a path and a button that opens a file dialog; files can be dropped on it.

    Signals
    -------
    changed()
    """

    changed = Signal()

    def __init__(
        self,
        name: str,
        placeholder: str = "",
        *,
        folder: bool = False,
        pattern: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._name = name
        self._folder = folder
        self._pattern = pattern
        self.start = ""  # where the dialog begins while the field is empty
        self._chosen = ""  # not typed: taken as it is, spaces at its ends included
        self.edit = QLineEdit()
        self.edit.setPlaceholderText(placeholder)
        self.edit.setAccessibleName(name)
        self.edit.setClearButtonEnabled(True)
        self.edit.textChanged.connect(self.changed)
        self.button = QPushButton(tr("Browse…"))
        self.button.setAccessibleName(tr("Browse: {field}", field=name))
        self.button.setAutoDefault(False)
        self.button.clicked.connect(self.browse)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(SPACE_2)
        layout.addWidget(self.edit, 1)
        layout.addWidget(self.button)
        self.setFocusProxy(self.edit)
        self.edit.setAcceptDrops(False)  # else the line takes the text of the drop and adds it to what is there
        self.setAcceptDrops(True)

    def path(self) -> Path | None:
        """The path, or None while the field is empty."""
        return path_of(self.edit.text(), self._chosen)

    def set_path(self, path: Path | str | None) -> None:
        """Fill the field with a path, or with text as somebody might type it."""
        if isinstance(path, Path):
            self.choose(str(path))
        else:
            self.edit.setText(path or "")

    @Slot(str)
    def choose(self, path: str) -> None:
        """Fill the field with a path that is to be taken as it is."""
        self._chosen = path
        self.edit.setText(path)

    @Slot()
    def browse(self) -> None:
        """Open the file dialog."""
        dialog = QFileDialog(self, self._name, self.edit.text().strip() or self.start)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if self._folder:
            dialog.setFileMode(QFileDialog.FileMode.Directory)
            dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        else:
            dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
            dialog.setNameFilter(tr(self._pattern))
        dialog.fileSelected.connect(self.choose)
        dialog.open()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take one file or folder."""
        if len(dropped_paths(event)) == 1:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Take one file or folder."""
        paths = dropped_paths(event)
        if len(paths) == 1:
            self.choose(paths[0])
            event.acceptProposedAction()


class PathList(QWidget):
    """A short list of files; files can be dropped on it.

    Signals
    -------
    changed()
    """

    changed = Signal()

    def __init__(self, name: str, pattern: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self._pattern = pattern
        self.start = ""
        self.list = QListWidget()
        self.list.setAccessibleName(name)
        self.list.setProperty("role", "field")
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.list.setIconSize(QSize(16, 16))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.itemSelectionChanged.connect(self._update)
        self._hint = QLabel(tr("Drop the file here, or add it"))
        self._hint.setProperty("role", "muted")
        self._hint.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        inside = QVBoxLayout(self.list)
        inside.addWidget(self._hint, 0, Qt.AlignmentFlag.AlignCenter)
        self.add_button = QPushButton(tr("Add…"))
        self.add_button.setAutoDefault(False)
        self.add_button.clicked.connect(self.browse)
        self.remove_button = QPushButton(tr("Remove"))
        self.remove_button.setAutoDefault(False)
        self.remove_button.clicked.connect(self.remove_selected)
        buttons = QVBoxLayout()
        buttons.setSpacing(SPACE_2)
        buttons.addWidget(self.add_button)
        buttons.addWidget(self.remove_button)
        buttons.addStretch(1)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(SPACE_2)
        layout.addWidget(self.list, 1)
        layout.addLayout(buttons)
        self.setAcceptDrops(True)
        self.list.setAcceptDrops(False)
        self._update()

    def paths(self) -> tuple[Path, ...]:
        """The files, in their order."""
        return tuple(Path(self.list.item(row).data(Qt.ItemDataRole.UserRole)) for row in range(self.list.count()))

    def set_paths(self, paths: tuple[Path, ...]) -> None:
        """Replace all."""
        self.list.clear()
        self.add(*map(str, paths))

    def add(self, *paths: str) -> None:
        """Append files; those that are there already are left out."""
        known = {str(path) for path in self.paths()}
        for path in paths:
            if path and path not in known:
                item = QListWidgetItem(icon("file"), path)
                item.setData(Qt.ItemDataRole.UserRole, path)
                item.setToolTip(plain_tip(path))
                self.list.addItem(item)
                known.add(path)
        self._update()
        self.changed.emit()

    @Slot()
    def browse(self) -> None:
        """Open the file dialog."""
        last = self.paths()[-1] if self.list.count() else None
        dialog = QFileDialog(self, self._name, str(last.parent) if last else self.start)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setNameFilter(tr(self._pattern))
        dialog.filesSelected.connect(self._on_files)
        dialog.open()

    @Slot()
    def remove_selected(self) -> None:
        """Take the selected files off the list."""
        for item in self.list.selectedItems():
            self.list.takeItem(self.list.row(item))
        self._update()
        self.changed.emit()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take any number of files."""
        if dropped_paths(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Take any number of files."""
        self.add(*dropped_paths(event))
        event.acceptProposedAction()

    @Slot(list)
    def _on_files(self, paths: list[str]) -> None:
        self.add(*paths)

    @Slot()
    def _update(self) -> None:
        self.remove_button.setEnabled(bool(self.list.selectedItems()))
        self._fit()
        self._hint.setVisible(self.list.count() == 0)

    def _fit(self) -> None:
        rows = max(2, min(self.list.count(), 4))
        self.list.setFixedHeight(rows * (self.list.fontMetrics().height() + 10) + 14)

    def changeEvent(self, event: QEvent) -> None:
        """The rows grow with the text; the icons follow the theme."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()
        elif event.type() == QEvent.Type.PaletteChange and hasattr(self, "list"):
            for row in range(self.list.count()):
                self.list.item(row).setIcon(icon("file"))
