"""The backups of a project: a list, what the one that is marked holds, and the way back to it."""

from __future__ import annotations

import datetime
import time
from pathlib import Path

from PySide6.QtCore import QEvent, QSize, Qt, Signal, Slot
from PySide6.QtGui import QBrush, QColor, QIcon, QResizeEvent
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QProgressBar,
    QPushButton,
    QStackedWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from a3s_desktop.i18n import number, tr, trc, trn
from a3s_desktop.session.restoring import Listing, Preview, Row, reason_text
from a3s_desktop.ui.backup_preview import BackupPreview
from a3s_desktop.ui.dialogs import wrapped
from a3s_desktop.ui.elided_label import ElidedLabel
from a3s_desktop.ui.file_facts import byte_text
from a3s_desktop.ui.recent_list import ago
from a3s_desktop.ui.theme import SPACE_2, SPACE_3, SPACE_4, SPACE_5, icon, set_role, tokens

_ROOM = QSize(960, 660)  # at normal text,
_LINE = 20  # of which a line is at most so high
_WAITING, _NOTHING, _LIST = range(3)
_MADE, _AGE, _WHY, _ANSWERS, _IMAGES, _CLUSTERS, _NAMES, _SIZE = _COLUMNS = range(8)
_UNKNOWN = "–"


class BackupsDialog(QDialog):
    """See the module. What is shown comes from outside, piece by piece; it never touches the disk.

    Parameters
    ----------
    parent : QWidget
    name : str
        Of the project, until more is known.
    folder : Path

    Signals
    -------
    marked(object)
        The `Row` that the preview is wanted of.
    restoreWanted(object)
        The `Backup` to go back to; the dialog is closed.
    """

    marked = Signal(object)
    restoreWanted = Signal(object)  # noqa: N815 - Qt's naming

    def __init__(self, parent: QWidget, name: str, folder: Path) -> None:
        super().__init__(parent)
        self._items: dict[Path, QTreeWidgetItem] = {}
        self._rows: dict[Path, Row] = {}
        self._previews: dict[Path, Preview] = {}
        self._problems: dict[Path, str] = {}
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setWindowTitle(tr("Backups"))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(SPACE_5, SPACE_4, SPACE_5, SPACE_4)
        layout.setSpacing(SPACE_3)
        self.title = ElidedLabel("heading", name, Qt.TextElideMode.ElideMiddle)
        head = QVBoxLayout()
        head.setSpacing(2)
        head.addWidget(self.title)
        head.addWidget(ElidedLabel("muted", str(folder), Qt.TextElideMode.ElideMiddle))
        layout.addLayout(head)
        self.stack = QStackedWidget()
        for page in (self._waiting(), self._nothing(), self._list()):
            self.stack.addWidget(page)
        layout.addWidget(self.stack, 1)
        layout.addLayout(self._foot())
        self._update()
        room = _ROOM * (self.fontMetrics().height() / _LINE) if self.fontMetrics().height() > _LINE else _ROOM
        self.resize(room.boundedTo(self.screen().availableSize() * 0.92))

    # Showing

    def show_listing(self, listing: Listing) -> None:
        """The list; the newest that can be restored is marked."""
        self.title.set_text(listing.name)
        self._rows = {row.path: row for row in listing.rows}
        now = time.time()
        for row in listing.rows:
            item = QTreeWidgetItem(self.table)
            item.setData(0, Qt.ItemDataRole.UserRole, row)
            for column in range(_ANSWERS, _SIZE + 1):
                item.setTextAlignment(column, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            item.setText(_MADE, _moment(row.made))
            item.setText(_AGE, ago(row.made, now))
            item.setText(_SIZE, byte_text(row.size))
            self._items[row.path] = item
            if row.problem:
                self._problems[row.path] = row.problem
            self._fill(row.path)
        self.stack.setCurrentIndex(_LIST if listing.rows else _NOTHING)
        self._spread()
        if listing.rows:
            first = next((row.path for row in listing.rows if not row.problem), listing.rows[0].path)
            self.table.setCurrentItem(self._items[first])
            self.table.setFocus()
        else:
            self.close_button.setFocus()
        self._update()

    def show_preview(self, path: Path, preview: Preview) -> None:
        """What a backup holds."""
        self._previews[path] = preview
        self._fill(path)
        self._update()

    def show_problem(self, path: Path, problem: str) -> None:
        """Why a backup cannot be used."""
        self._problems[path] = problem
        self._fill(path)
        self._update()

    def current(self) -> Row | None:
        """The row that is marked."""
        item = self.table.currentItem()
        return item.data(0, Qt.ItemDataRole.UserRole) if item is not None else None

    def wanted(self) -> Row | None:
        """Whose content is to be found out next: that of the marked one, then from the top."""
        rows = [self.current(), *self._rows.values()]
        known = self._previews.keys() | self._problems.keys()
        return next((row for row in rows if row is not None and row.path not in known), None)

    # Building

    def _waiting(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.addStretch(1)
        column.addWidget(_centred(tr("Looking for backups…")))
        bar = QProgressBar()
        bar.setTextVisible(False)
        bar.setRange(0, 0)
        bar.setMaximumWidth(320)
        bar.setAccessibleName(tr("Progress"))
        row = QHBoxLayout()
        row.addWidget(bar)
        column.addLayout(row)
        column.addStretch(1)
        return page

    def _nothing(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(SPACE_5, 0, SPACE_5, 0)
        self._picture = QLabel()
        self._picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.nothing = _centred(tr("There is no backup of this project yet."))
        more = _centred(
            tr(
                "One is made every ten minutes or 500 entries while you work, before anything risky, and when the "
                "project is closed. The last ten are kept."
            )
        )
        set_role(more, role="muted")
        column.addStretch(1)
        for widget in (self._picture, self.nothing, more):
            column.addWidget(widget)
        self._draw_nothing()
        column.addStretch(1)
        return page

    def _list(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_3)
        self.table = QTreeWidget()
        self.table.setProperty("role", "field")
        self.table.setAccessibleName(tr("Backups, newest first"))
        self.table.setHeaderLabels(
            [tr("Made"), tr("Age"), tr("Why"), tr("Answers"), tr("Images"), tr("Clusters"), tr("Names"), tr("Size")]
        )
        self.table.setRootIsDecorated(False)
        self.table.setUniformRowHeights(True)
        self.table.setAllColumnsShowFocus(True)
        header = self.table.header()
        header.setSectionsMovable(False)
        header.setStretchLastSection(False)
        for place in _COLUMNS:
            header.setSectionResizeMode(place, QHeaderView.ResizeMode.ResizeToContents)
            side = Qt.AlignmentFlag.AlignRight if place >= _ANSWERS else Qt.AlignmentFlag.AlignLeft
            self.table.headerItem().setTextAlignment(place, side | Qt.AlignmentFlag.AlignVCenter)
        self.table.currentItemChanged.connect(self._on_marked)
        column.addWidget(self.table, 4)
        self.preview = BackupPreview()
        column.addWidget(self.preview, 3)
        return page

    def _foot(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(SPACE_3)
        self.note = wrapped("", "muted")
        row.addWidget(self.note, 1)
        self.close_button = QPushButton(tr("Close"))
        self.close_button.setAutoDefault(False)
        self.close_button.clicked.connect(self.reject)
        self.restore_button = QPushButton(tr("&Restore"))
        set_role(self.restore_button, kind="primary")
        self.restore_button.setDefault(True)
        self.restore_button.clicked.connect(self._restore)
        row.addWidget(self.close_button)
        row.addWidget(self.restore_button)
        return row

    # Inner workings

    def _fill(self, path: Path) -> None:
        """One row, with all that is known of it by now."""
        row, item = self._rows[path], self._items[path]
        preview, problem = self._previews.get(path), self._problems.get(path, "")
        told = row.backup.contents if row.backup is not None else None
        unknown = _UNKNOWN if problem or preview is not None else "…"
        answers = preview.answers if preview is not None else told.answers if told is not None else None
        images = preview.images if preview is not None else told.images if told is not None else None
        names = told.named if told is not None else len(preview.names) if preview is not None else None
        clusters = told.clusters if told is not None else None
        for column, count in ((_ANSWERS, answers), (_IMAGES, images or None), (_CLUSTERS, clusters), (_NAMES, names)):
            item.setText(column, unknown if count is None or problem else number(count))
        why = tr("Damaged") if problem else reason_text(row.backup.reason) if row.backup is not None else ""
        item.setText(_WHY, why)
        theme = tokens()
        item.setIcon(_WHY, icon("warning", theme.danger) if problem else QIcon())
        for column in _COLUMNS:
            colour = QBrush(QColor(theme.muted)) if problem and column != _WHY else QBrush()
            item.setForeground(column, QBrush(QColor(theme.danger)) if problem and column == _WHY else colour)
        item.setData(0, Qt.ItemDataRole.AccessibleTextRole, self._spoken(item, answers))

    def _spoken(self, item: QTreeWidgetItem, answers: int | None) -> str:
        parts = [item.text(_MADE), item.text(_AGE), item.text(_WHY)]
        if answers is not None:
            parts.append(trn("{n} answer", "{n} answers", answers))
        return ", ".join(parts)

    def _update(self) -> None:
        """The preview, the button and the sentence beside it, for the row that is marked."""
        row = self.current()
        preview = self._previews.get(row.path) if row is not None else None
        problem = self._problems.get(row.path, "") if row is not None else ""
        if row is not None:
            self.preview.show_row(row, preview, problem)
        usable = preview is not None and not preview.refused and not preview.same_as_now and not problem
        self.restore_button.setEnabled(usable)
        self.restore_button.setVisible(self.stack.currentIndex() != _NOTHING)
        self.note.setText(
            tr("What is there now is kept as a backup first, so that you can come back to it.") if usable else ""
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The reasons take what the other columns leave."""
        super().resizeEvent(event)
        self._spread()

    def _spread(self) -> None:
        """A column that stretches is cut where the others leave too little; then the table scrolls instead."""
        header, table = self.table.header(), self.table
        header.setSectionResizeMode(_WHY, QHeaderView.ResizeMode.ResizeToContents)
        header.resizeSections()
        if header.length() < table.viewport().width():
            header.setSectionResizeMode(_WHY, QHeaderView.ResizeMode.Stretch)

    def changeEvent(self, event: QEvent) -> None:
        """Pictures and colours follow the theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "restore_button"):
            self._draw_nothing()
            for path in self._items:
                self._fill(path)
        if event.type() in (QEvent.Type.StyleChange, QEvent.Type.FontChange) and hasattr(self, "restore_button"):
            self._spread()

    def _draw_nothing(self) -> None:
        self._picture.setPixmap(icon("history", tokens().outline, 44).pixmap(44, 44))

    @Slot()
    def _on_marked(self) -> None:
        self._update()
        row = self.current()
        if row is not None:
            self.marked.emit(row)

    @Slot()
    def _restore(self) -> None:
        row = self.current()
        if row is not None and row.backup is not None and self.restore_button.isEnabled():
            self.accept()
            self.restoreWanted.emit(row.backup)


def _moment(when: float) -> str:
    if not when:
        return _UNKNOWN
    return datetime.datetime.fromtimestamp(when).astimezone().strftime(trc("date and time", "%Y-%m-%d %H:%M"))


def _centred(text: str) -> QLabel:
    label = wrapped(text, "")
    label.setAlignment(Qt.AlignmentFlag.AlignCenter)
    label.setContentsMargins(0, SPACE_2, 0, 0)
    return label
