"""What to export, where to, and how; then how far it is, and where it went."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QCloseEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QButtonGroup,
    QCheckBox,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QPushButton,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from a3s_desktop.i18n import mark, tr
from a3s_desktop.storage.exports.formats import FORMATS, Format, Target, format_of
from a3s_desktop.storage.exports.safe_names import safe_file_name
from a3s_desktop.storage.exports.state import ExportOptions, How
from a3s_desktop.task import Progress
from a3s_desktop.ui.dialogs import wrapped
from a3s_desktop.ui.progress_page import overall, time_left
from a3s_desktop.ui.theme import SPACE_2, SPACE_3, SPACE_4, SPACE_5, set_role

_STEPS = 1000
_HOW = (
    (How.COPY, mark("Copy the images")),
    (How.HARD_LINK, mark("Hard links: no room needed, same drive only")),
    (How.SYMLINK, mark("Symbolic links: no room needed")),
)
_TARGETS = {
    Target.FILE: mark("File to be written"),
    Target.NEW_FOLDER: mark("New folder to be made"),
    Target.FILES_IN_FOLDER: mark("Folder for the side-cars"),
}


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """What was chosen.

    Attributes
    ----------
    format : str
        `Format.id`.
    out : Path
    options : ExportOptions
    overwrite : bool
    """

    format: str
    out: Path
    options: ExportOptions = field(default_factory=ExportOptions)
    overwrite: bool = False

    def agreed(self) -> ExportRequest:
        """The same once it was agreed that what is there is replaced, or added to."""
        return replace(self, overwrite=True, options=replace(self.options, merge=True))


class ExportDialog(QDialog):
    """The choice. Whether something is at the target already is found out by the writer, which then asks.

    Parameters
    ----------
    parent : QWidget or None
    name : str
        Of the project, from which the target's name is made.
    folder : Path
        Where targets are proposed.
    summary : str
    images : Path, optional
        The image folder, proposed for side-cars; default ``folder``.

    Signals
    -------
    requested(object)
        An `ExportRequest`.
    """

    requested = Signal(object)

    def __init__(
        self, parent: QWidget | None, name: str, folder: Path, summary: str, images: Path | None = None
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setWindowTitle(tr("Export"))
        self._name, self._folder, self._images = safe_file_name(name), folder, images or folder
        self._suggested = ""
        layout = QVBoxLayout(self)
        layout.setContentsMargins(SPACE_5, SPACE_5, SPACE_5, SPACE_4)
        layout.setSpacing(SPACE_3)
        layout.addWidget(wrapped(tr("Write the clusters as they are on the screen"), "heading"))
        layout.addWidget(wrapped(summary, "muted"))
        middle = QHBoxLayout()
        middle.setSpacing(SPACE_4)
        middle.addWidget(self._build_list())
        middle.addLayout(self._build_right(), 1)
        layout.addLayout(middle, 1)
        layout.addLayout(self._build_buttons())
        self.list.currentRowChanged.connect(self._change_format)
        self.list.setCurrentRow(0)

    # Building

    def _build_list(self) -> QListWidget:
        self.list = QListWidget()
        self.list.setProperty("role", "field")
        self.list.setAccessibleName(tr("What to write"))
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for one in FORMATS:
            item = QListWidgetItem(tr(one.title))
            item.setToolTip(tr(one.text))
            self.list.addItem(item)
        self.list.setFixedWidth(self.list.sizeHintForColumn(0) + 4 * SPACE_4)
        return self.list

    def _build_right(self) -> QVBoxLayout:
        right = QVBoxLayout()
        right.setSpacing(SPACE_2)
        self.title = wrapped("", "strong")
        self.text = wrapped("", "muted")
        right.addWidget(self.title)
        right.addWidget(self.text)
        right.addSpacing(SPACE_2)
        right.addWidget(self._build_options())
        right.addStretch(1)
        self.target = QLabel()
        right.addWidget(self.target)
        self.path = QLineEdit()
        self.path.textChanged.connect(self._update)
        self.target.setBuddy(self.path)
        self.browse_button = QPushButton(tr("Browse…"))
        self.browse_button.setAutoDefault(False)
        self.browse_button.clicked.connect(self._browse)
        row = QHBoxLayout()
        row.addWidget(self.path, 1)
        row.addWidget(self.browse_button)
        right.addLayout(row)
        return right

    def _build_options(self) -> QWidget:
        self._parts: dict[str, list[QWidget]] = {}
        box = QWidget()
        layout = QVBoxLayout(box)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(SPACE_2)
        self._hows = QButtonGroup(self)
        self.how: dict[How, QRadioButton] = {}
        for how, text in _HOW:
            button = QRadioButton(tr(text))
            self._hows.addButton(button)
            self.how[how] = button
            layout.addWidget(button)
        self.how[How.COPY].setChecked(True)
        self._parts["how"] = list(self.how.values())
        self.by_name = _box(tr("Call folders by the clusters' names"), True)
        self.singles = _box(tr("Single images, too, in one folder"), True)
        self.junk = _box(tr("Junk, too, in one folder"), False)
        self.merge = _box(tr("Add the name to side-cars that are there"), False)
        self.excel = _box(tr("For Excel: begin with a mark, so that ä and 日 are read right"), False)
        for name in ("by_name", "singles", "junk", "merge", "excel"):
            layout.addWidget(getattr(self, name))
            self._parts[name] = [getattr(self, name)]
        return box

    def _build_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.addStretch(1)
        cancel = QPushButton(tr("Cancel"))
        cancel.setAutoDefault(False)
        cancel.clicked.connect(self.close)
        self.export_button = QPushButton(tr("Export"))
        set_role(self.export_button, kind="primary")
        self.export_button.setDefault(True)
        self.export_button.clicked.connect(self._accept)
        row.addWidget(cancel)
        row.addWidget(self.export_button)
        return row

    # What is chosen

    @property
    def kind(self) -> str:
        """Id of the chosen format."""
        return self._format.id

    def choose(self, kind: str) -> None:
        """Choose a format, as a click on it would."""
        self.list.setCurrentRow(FORMATS.index(format_of(kind)))

    @property
    def request(self) -> ExportRequest:
        """All that is chosen."""
        how = next(how for how, button in self.how.items() if button.isChecked())
        options = ExportOptions(
            how,
            self.by_name.isChecked(),
            self.singles.isChecked(),
            self.junk.isChecked(),
            self.merge.isChecked(),
            self.excel.isChecked(),
        )
        return ExportRequest(self.kind, Path(self.path.text()), options)

    @property
    def _format(self) -> Format:
        return FORMATS[max(0, self.list.currentRow())]

    @Slot()
    def _change_format(self) -> None:
        one = self._format
        self.title.setText(tr(one.title))
        self.text.setText(tr(one.text))
        for name, widgets in self._parts.items():
            for widget in widgets:
                widget.setVisible(name in one.options)
        self.target.setText(tr(_TARGETS[one.target]))
        self.path.setAccessibleName(tr(_TARGETS[one.target]))
        self.browse_button.setAccessibleName(tr("Browse: {field}", field=tr(_TARGETS[one.target])))
        self._propose(one)

    def _propose(self, one: Format) -> None:
        """A target for the format; what was typed keeps its folder and its name."""
        text = self.path.text()
        endings = {known.suffix for known in FORMATS if known.suffix}
        if text == self._suggested:
            self._suggested = str(self._proposal(one))
            self.path.setText(self._suggested)
        elif one.target is Target.FILE and Path(text).suffix.lower() in endings:
            self.path.setText(str(Path(text).with_suffix(one.suffix)))

    def _proposal(self, one: Format) -> Path:
        if one.target is Target.FILES_IN_FOLDER:
            return self._images
        ending = {"constraints": tr("answers"), "folders": tr("clusters"), "report": tr("report")}.get(one.id, "")
        return self._folder / (self._name + (f" {ending}" if ending else "") + one.suffix)

    def showEvent(self, event: QShowEvent) -> None:
        """The list has the focus: arrows go through the formats. The size is that of the largest of them."""
        super().showEvent(event)
        self.list.setFocus()
        layout, chosen = self.layout(), self.list.currentRow()
        width = max(self.minimumSizeHint().width(), min(self.fontMetrics().averageCharWidth() * 110, 1100))
        height = 0
        if layout is not None:
            for row in range(self.list.count()):
                self.list.setCurrentRow(row)
                layout.activate()
                height = max(height, layout.totalHeightForWidth(width), layout.totalMinimumSize().height())
            self.list.setCurrentRow(chosen)
        self.resize(width, height + SPACE_4)

    @Slot()
    def _browse(self) -> None:
        one = self._format
        dialog = QFileDialog(self, tr("Export to"), self.path.text())
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if one.target is Target.FILES_IN_FOLDER:
            dialog.setFileMode(QFileDialog.FileMode.Directory)
            dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        else:
            dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
            dialog.setDefaultSuffix(one.suffix.lstrip("."))
            # The writer asks before it replaces a file; asked twice, people stop reading.
            dialog.setOption(QFileDialog.Option.DontConfirmOverwrite)
        dialog.fileSelected.connect(self.path.setText)
        dialog.open()

    @Slot()
    def _update(self) -> None:
        text = self.path.text()
        self.export_button.setEnabled(bool(text.strip()) and Path(text).is_absolute())

    @Slot()
    def _accept(self) -> None:
        request = self.request
        self.close()
        self.requested.emit(request)


class ExportProgress(QDialog):
    """An export under way. It blocks nothing: answers can be given meanwhile.

    Signals
    -------
    cancelled()
    showWanted()
        The folder of what was written is to be shown.
    """

    cancelled = Signal()
    showWanted = Signal()  # noqa: N815 - Qt's naming

    def __init__(self, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Export"))
        self.setMinimumWidth(460)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(SPACE_5, SPACE_5, SPACE_5, SPACE_4)
        layout.setSpacing(SPACE_3)
        self.message = wrapped("", "heading")
        self.detail = wrapped("", "muted")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("Progress"))
        self.list = QListWidget()
        self.list.setProperty("role", "field")
        self.list.setAccessibleName(tr("Images that were left out"))
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        for widget in (self.message, self.bar, self.detail, self.list):
            layout.addWidget(widget)
        row = QHBoxLayout()
        row.addStretch(1)
        self.show_button = QPushButton(tr("Show in folder"))
        self.show_button.clicked.connect(self.showWanted)
        self.cancel_button = QPushButton()
        self.cancel_button.clicked.connect(self.close)
        for button in (self.show_button, self.cancel_button):
            button.setAutoDefault(False)
            row.addWidget(button)
        layout.addLayout(row)
        self._running = False

    def begin(self, what: str) -> None:
        """Start over for another export."""
        self._running = True
        self.message.setText(what)
        self.detail.setText(tr("You can go on answering meanwhile."))
        self.bar.setRange(0, 0)
        self.bar.show()
        self.list.hide()
        self.show_button.hide()
        self.cancel_button.setText(tr("Cancel"))
        self.cancel_button.setEnabled(True)

    @Slot(object)
    def show_progress(self, progress: Progress) -> None:
        """How far it is."""
        if self._running and self.cancel_button.isEnabled():
            self.bar.setRange(0, _STEPS)
            self.bar.setValue(round(overall(progress) * _STEPS))
            left = time_left(progress.seconds_left)
            self.detail.setText(f"{progress.stage} – {left}" if left else progress.stage)

    def finish(self, message: str, detail: str, left_out: tuple[str, ...] = ()) -> None:
        """It is done; what could not be read is listed."""
        self._running = False
        self.message.setText(message)
        self.detail.setText(detail)
        self.bar.hide()
        self.list.clear()
        self.list.addItems(left_out[:1000])
        self.list.setVisible(bool(left_out))
        self.show_button.show()
        self.cancel_button.setText(tr("Close"))
        self.cancel_button.setEnabled(True)
        self.cancel_button.setFocus()
        self.adjustSize()

    def stop(self) -> None:
        """It ended without a result."""
        self._running = False
        self.hide()

    def reject(self) -> None:
        """Escape: as the button."""
        self.close()

    def closeEvent(self, event: QCloseEvent) -> None:
        """While it runs, closing asks it to stop; the dialog goes when it has."""
        if not self._running:
            super().closeEvent(event)
            return
        event.ignore()
        if self.cancel_button.isEnabled():
            self.cancel_button.setEnabled(False)
            self.detail.setText(tr("Stopping…"))
            self.bar.setRange(0, 0)
            self.cancelled.emit()


def _box(text: str, on: bool) -> QCheckBox:
    box = QCheckBox(text)
    box.setChecked(on)
    return box
