"""What new features would change: in sentences, and the answers that they speak against as pictures."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QSize, Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from a3s_desktop.i18n import tr, trn
from a3s_desktop.session.listing import HistoryFilter, HistoryPage
from a3s_desktop.session.replacing import Replacement
from a3s_desktop.storage.items import Items
from a3s_desktop.ui.dialogs import wrapped
from a3s_desktop.ui.doubtful_view import EntryView
from a3s_desktop.ui.history_model import HistoryModel
from a3s_desktop.ui.history_panel import EntryList
from a3s_desktop.ui.image_loader import ImageLoader
from a3s_desktop.ui.pictures import Pictures
from a3s_desktop.ui.theme import SPACE_2, SPACE_3, SPACE_4, SPACE_5, set_role


class ReplaceDialog(QDialog):
    """Shows the change and asks whether to make it. The project is closed meanwhile, so no answer is changed here.

    Parameters
    ----------
    report : Replacement
    items : Items
        Of the project.
    loader : ImageLoader
    parent : QWidget

    Signals
    -------
    decided(bool)
        Whether to replace; once, however the dialog is closed.
    """

    decided = Signal(bool)

    def __init__(self, report: Replacement, items: Items, loader: ImageLoader, parent: QWidget) -> None:
        super().__init__(parent)
        self._items = items
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setWindowTitle(tr("Replace features"))
        self.setMinimumWidth(560)
        self.text = wrapped(report.text(), "")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(SPACE_5, SPACE_5, SPACE_5, SPACE_4)
        layout.setSpacing(SPACE_3)
        layout.addWidget(wrapped(tr("This is what the new features would change."), "heading"))
        layout.addWidget(self.text)
        self.list: EntryList | None = None
        if report.doubted:
            layout.addLayout(self._doubted(report, loader), 1)
        layout.addLayout(self._buttons())

    def showEvent(self, event: QShowEvent) -> None:
        """At least as high as its text needs."""
        super().showEvent(event)
        layout = self.layout()
        if layout is not None:
            layout.activate()
            self.setMinimumHeight(max(layout.totalHeightForWidth(self.width()), layout.totalMinimumSize().height()))

    def sizeHint(self) -> QSize:
        """Nearly the window where there are pictures."""
        window = self.parentWidget()
        return window.size() * 0.9 if self.list is not None and window is not None else super().sizeHint()

    def _doubted(self, report: Replacement, loader: ImageLoader) -> QVBoxLayout:
        pictures = Pictures(loader, "replace", self)
        pictures.items = self._items
        model = HistoryModel(self)
        model.items = self._items
        model.set_page(HistoryPage(HistoryFilter(), len(report.doubted), report.answers, 0, report.doubted))
        self.list, self.view = EntryList(model, pictures), EntryView(loader)
        self.list.setFixedWidth(300)
        self.list.setAccessibleName(tr("Answers that the new features speak against, most first"))
        set_role(self.list, role="field")
        self.list.selectionModel().currentChanged.connect(self._show)
        row = QHBoxLayout()
        row.setSpacing(SPACE_4)
        row.addWidget(self.list)
        row.addWidget(self.view, 1)
        column = QVBoxLayout()
        column.setSpacing(SPACE_2)
        column.addWidget(
            wrapped(
                trn(
                    "This is the answer they speak against. Look at it: is it right, or are the new features?",
                    "These are the {n} answers they speak against, most first. Look at them: are they right, or are "
                    "the new features?",
                    len(report.doubted),
                ),
                "muted",
            )
        )
        column.addLayout(row, 1)
        self.list.go_to(0)
        return column

    def _buttons(self) -> QHBoxLayout:
        self.keep_button = QPushButton(tr("Keep the present ones"))
        self.replace_button = QPushButton(tr("Replace features"))
        row = QHBoxLayout()
        row.setSpacing(SPACE_2)
        row.addStretch(1)
        for button, slot in ((self.keep_button, self.reject), (self.replace_button, self.accept)):
            button.setAutoDefault(False)
            button.clicked.connect(slot)
            row.addWidget(button)
        set_role(self.keep_button, kind="primary")
        self.keep_button.setDefault(True)
        return row

    def done(self, result: int) -> None:
        """However it is closed, the one who asked gets an answer."""
        super().done(result)
        self.decided.emit(result == QDialog.DialogCode.Accepted)

    @Slot(QModelIndex)
    def _show(self, _index: QModelIndex) -> None:
        if self.list is not None:
            self.view.show_entry(self.list.current, self._items)
