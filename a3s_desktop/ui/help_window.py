"""The help: an index that can be searched, and short pages with the user's own keys in them."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QSplitter,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from a3s_desktop.i18n import tr
from a3s_desktop.ui.help_text import Page, as_html, pages, plain
from a3s_desktop.ui.shortcuts import Shortcuts
from a3s_desktop.ui.theme import SPACE_2, SPACE_3, SPACE_4, tokens

_ROOM = QSize(940, 680)


class HelpWindow(QDialog):
    """A window of its own beside the program's; Esc closes it.

    Signals
    -------
    tourWanted()
    """

    tourWanted = Signal()  # noqa: N815 - Qt's naming

    def __init__(self, shortcuts: Shortcuts, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Help"))
        self._shortcuts = shortcuts
        self._pages: tuple[Page, ...] = pages()
        self._words = {page.name: plain(page, shortcuts.keys).casefold() for page in self._pages}
        self._shown = ""
        layout = QHBoxLayout(self)
        layout.setContentsMargins(SPACE_4, SPACE_4, SPACE_4, SPACE_4)
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.setChildrenCollapsible(False)
        splitter.setHandleWidth(SPACE_3)
        splitter.setProperty("role", "plain")
        splitter.addWidget(self._index())
        splitter.addWidget(self._page())
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([250, 650])
        layout.addWidget(splitter)
        shortcuts.rebound.connect(self._on_rebound)
        self.show_page("first-steps")
        self.index.setFocus()

    def sizeHint(self) -> QSize:
        """Room to read, as far as the screen has it."""
        return _ROOM.boundedTo(self.screen().availableSize() * 0.9)

    def _index(self) -> QWidget:
        side = QWidget()
        column = QVBoxLayout(side)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_2)
        self.search = QLineEdit()
        self.search.setPlaceholderText(tr("Search the help"))
        self.search.setAccessibleName(tr("Search the help"))
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter)
        self.search.returnPressed.connect(self.find_next)
        column.addWidget(self.search)
        self.index = QListWidget()
        self.index.setAccessibleName(tr("Pages of the help"))
        self.index.setProperty("role", "field")
        self.index.setMinimumWidth(180)
        self.index.setSpacing(2)
        self.index.setWordWrap(True)
        for page in self._pages:
            item = QListWidgetItem(page.title)
            item.setData(Qt.ItemDataRole.UserRole, page.name)
            self.index.addItem(item)
        self.index.currentItemChanged.connect(self._on_chosen)
        column.addWidget(self.index, 1)
        self.nothing = QLabel(tr("No page has these words."))
        self.nothing.setProperty("role", "muted")
        self.nothing.setWordWrap(True)
        self.nothing.hide()
        column.addWidget(self.nothing)
        self.tour_button = QPushButton(tr("Show the tour"))
        self.tour_button.setAutoDefault(False)
        self.tour_button.clicked.connect(self.tourWanted)
        column.addWidget(self.tour_button)
        return side

    def _page(self) -> QTextBrowser:
        self.browser = QTextBrowser()
        self.browser.setAccessibleName(tr("Help page"))
        self.browser.setProperty("role", "field")
        self.browser.setOpenLinks(False)
        self.browser.document().setDocumentMargin(SPACE_4)
        self.browser.anchorClicked.connect(self._on_link)
        return self.browser

    @property
    def page(self) -> str:
        """Name of the page that is shown."""
        return self._shown

    def show_page(self, name: str) -> None:
        """Show a page by its name; an unknown one is left alone."""
        for row in range(self.index.count()):
            if self.index.item(row).data(Qt.ItemDataRole.UserRole) == name:
                self.index.item(row).setHidden(False)
                self.index.setCurrentRow(row)
                self._show(name)

    @Slot()
    def find_next(self) -> None:
        """The next place on the page that has the words of the search."""
        words = self.search.text().strip()
        if not words:
            return
        if not self.browser.find(words):
            self.browser.moveCursor(QTextCursor.MoveOperation.Start)
            self.browser.find(words)

    def changeEvent(self, event: QEvent) -> None:
        """Colours follow the theme, sizes the text size."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and self._shown:
            self._render()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """F3 finds on."""
        if event.key() == Qt.Key.Key_F3:
            self.find_next()
            return
        super().keyPressEvent(event)

    @Slot(str)
    def _filter(self, text: str) -> None:
        wanted = text.strip().casefold()
        first = None
        for row in range(self.index.count()):
            item = self.index.item(row)
            found = wanted in self._words[item.data(Qt.ItemDataRole.UserRole)]
            item.setHidden(not found)
            if found and first is None:
                first = item
        self.nothing.setVisible(first is None)
        current = self.index.currentItem()
        if first is not None and (current is None or current.isHidden()):
            self.index.setCurrentItem(first)
        if wanted:
            self.browser.moveCursor(QTextCursor.MoveOperation.Start)
            self.find_next()

    @Slot()
    def _on_chosen(self) -> None:
        item = self.index.currentItem()
        if item is not None:
            self._show(str(item.data(Qt.ItemDataRole.UserRole)))

    @Slot(QUrl)
    def _on_link(self, url: QUrl) -> None:
        self.search.clear()
        self.show_page(url.path())

    @Slot()
    def _on_rebound(self) -> None:
        self._words = {page.name: plain(page, self._shortcuts.keys).casefold() for page in self._pages}
        self._render()

    def _show(self, name: str) -> None:
        if name != self._shown:
            self._shown = name
            self._render()

    def _render(self) -> None:
        page = next(page for page in self._pages if page.name == self._shown)
        size = self.font().pointSizeF()
        self.browser.setHtml(as_html(page, self._shortcuts.keys, tokens(), size))
