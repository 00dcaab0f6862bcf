"""The first screen: go on with a project, make one, open one, or try the demo."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from a3s_desktop.i18n import tr
from a3s_desktop.ui.recent import ProjectCard
from a3s_desktop.ui.recent_list import RecentList, RecentModel
from a3s_desktop.ui.shortcuts import Shortcuts
from a3s_desktop.ui.theme import (
    ICON,
    SPACE_1,
    SPACE_2,
    SPACE_3,
    SPACE_4,
    SPACE_5,
    SPACE_6,
    icon,
    icon_pixmap,
    set_role,
    tokens,
)

if TYPE_CHECKING:
    from a3s_desktop.ui.image_loader import ImageLoader


class StartPage(QWidget):
    """What to begin with.

    Parameters
    ----------
    shortcuts : Shortcuts
    loader : ImageLoader, optional
        Of the projects' pictures; may follow by `use_loader`, since it takes longer to be there than the page.

    Signals
    -------
    projectChosen(object, bool)
        Folder, read only.
    forgetRequested(object)
        Folder of a project to be taken off the list.
    backupsRequested(object)
        Folder of a project whose backups are to be shown.
    demoRequested(str)
        "ladybirds" or "digits".
    """

    projectChosen = Signal(object, bool)  # noqa: N815 - Qt's naming
    forgetRequested = Signal(object)  # noqa: N815
    backupsRequested = Signal(object)  # noqa: N815
    demoRequested = Signal(str)  # noqa: N815

    def __init__(self, shortcuts: Shortcuts, loader: ImageLoader | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shortcuts = shortcuts
        self.model = RecentModel(self)
        self.list = RecentList()
        self.list.setModel(self.model)
        self.list.chosen.connect(self._on_chosen)
        self.list.forget.connect(self._on_forget)
        self.list.backups.connect(self._on_backups)
        if loader is not None:
            self.use_loader(loader)
        outer = QHBoxLayout(self)
        outer.setContentsMargins(SPACE_6, SPACE_6, SPACE_6, SPACE_6)
        outer.addStretch(1)
        content = QWidget()
        content.setMaximumWidth(1160)
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_5)
        outer.addWidget(content, 12)
        outer.addStretch(1)
        column.addStretch(1)
        column.addLayout(self._headline())
        body = QHBoxLayout()
        body.setSpacing(SPACE_5)
        body.addWidget(self._choices())
        body.addWidget(self._recent(), 1)
        column.addLayout(body, 12)
        column.addStretch(1)
        self.set_cards([])

    def use_loader(self, loader: ImageLoader) -> None:
        """Show pictures from now on."""
        self.list.cards.loader = loader
        loader.loaded.connect(self._on_loaded)
        self.list.viewport().update()

    def set_cards(self, cards: list[ProjectCard]) -> None:
        """Show these recent projects; details of each may follow by `update_card`."""
        self.model.set_cards(cards)
        self._stack.setCurrentIndex(0 if cards else 1)

    @Slot(object)
    def update_card(self, card: ProjectCard) -> None:
        """Show what was found out about a project."""
        self.model.update(card)

    def _headline(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(SPACE_4)
        self._logo = QLabel()
        row.addWidget(self._logo)
        column = QVBoxLayout()
        column.setSpacing(2)
        column.addWidget(_label("A3S Desktop", "display"))
        column.addWidget(_label(tr("Sort images by identity, with few answers. None is ever lost."), "muted"))
        row.addLayout(column)
        row.addStretch(1)
        return row

    def _choices(self) -> QFrame:
        card = QFrame()
        card.setProperty("role", "card")
        card.setMinimumWidth(290)  # and as wide as its longest button, in any language and text size
        card.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        layout = QVBoxLayout(card)
        layout.setContentsMargins(SPACE_4, SPACE_4, SPACE_4, SPACE_4)
        layout.setSpacing(SPACE_2)
        self.new_button = self._button("project.new", tr("New project…"), primary=True)
        self.open_button = self._button("project.open", tr("Open project…"))
        for button, text in (
            (self.new_button, tr("From an image folder and its embeddings (.npy, .npz or .csv).")),
            (self.open_button, tr("A folder made by this program, also from another computer.")),
        ):
            layout.addWidget(button)
            layout.addWidget(_note(text))
            layout.addSpacing(SPACE_3)
        line = QFrame()
        line.setProperty("role", "line")
        layout.addWidget(line)
        layout.addSpacing(SPACE_3)
        layout.addWidget(_label(tr("Try it without data"), "heading"))
        self.demo_buttons: dict[str, QPushButton] = {}
        for name, title, text in (
            (
                "ladybirds",
                tr("Demo: ladybirds"),
                tr("240 drawn photos of 24 beetles, to be told apart by their spots."),
            ),
            ("digits", tr("Demo: handwritten digits"), tr("1,797 scanned digits, a real data set.")),
        ):
            button = QPushButton(title)
            button.setProperty("demo", name)
            button.clicked.connect(self._on_demo)
            self.demo_buttons[name] = button
            layout.addWidget(button)
            layout.addWidget(_note(text))
        layout.addStretch(1)
        self._retheme()
        return card

    def _button(self, action_id: str, text: str, primary: bool = False) -> QPushButton:
        action = self._shortcuts.action(action_id)
        button = QPushButton(text)
        button.setToolTip(action.toolTip())
        button.clicked.connect(action.trigger)
        if primary:
            set_role(button, kind="primary")
        return button

    def _recent(self) -> QFrame:
        card = QFrame()
        card.setProperty("role", "card")
        layout = QVBoxLayout(card)
        layout.setContentsMargins(SPACE_3, SPACE_4, SPACE_3, SPACE_3)
        heading = _label(tr("Recent projects"), "heading")
        heading.setContentsMargins(SPACE_2, 0, 0, 0)
        layout.addWidget(heading)
        self._stack = QStackedLayout()
        layout.addLayout(self._stack, 1)
        self._stack.addWidget(self.list)
        empty = QWidget()
        column = QVBoxLayout(empty)
        column.addStretch(1)
        self._empty_picture = QLabel()
        self._empty_picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.addWidget(self._empty_picture)
        text = _label(tr("Your projects will be listed here.\nThe ladybirds make a good first one."), "muted")
        text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column.addWidget(text)
        column.addStretch(1)
        self._stack.addWidget(empty)
        self._draw_empty()
        return card

    def changeEvent(self, event) -> None:  # type: ignore[no-untyped-def]
        """Icons follow the theme."""
        if event.type() == event.Type.PaletteChange and hasattr(self, "_empty_picture"):
            self._retheme()
            self._draw_empty()
        super().changeEvent(event)

    def _retheme(self) -> None:
        theme = tokens()
        ratio = self.devicePixelRatioF()
        self._logo.setPixmap(icon_pixmap("app", theme.accent, 52, ratio))
        self.new_button.setIcon(icon("plus", theme.on_accent))
        self.open_button.setIcon(icon("folder"))
        for button in self.demo_buttons.values():
            button.setIcon(icon("sparkle"))
            button.setIconSize(QSize(ICON, ICON))

    def _draw_empty(self) -> None:
        self._empty_picture.setPixmap(icon_pixmap("image", tokens().outline, 44, self.devicePixelRatioF()))

    @Slot()
    def _on_demo(self) -> None:
        self.demoRequested.emit(str(self.sender().property("demo")))

    @Slot(object, bool)
    def _on_chosen(self, card: ProjectCard, read_only: bool) -> None:
        self.projectChosen.emit(Path(card.folder), read_only)

    @Slot(object)
    def _on_forget(self, card: ProjectCard) -> None:
        self.forgetRequested.emit(Path(card.folder))

    @Slot(object)
    def _on_backups(self, card: ProjectCard) -> None:
        self.backupsRequested.emit(Path(card.folder))

    @Slot()
    def _on_loaded(self) -> None:
        if self.isVisible():
            self.list.viewport().update()


def _label(text: str, role: str) -> QLabel:
    label = QLabel(text)
    label.setProperty("role", role)
    label.setTextFormat(Qt.TextFormat.PlainText)
    return label


def _note(text: str) -> QLabel:
    label = _label(text, "small")
    label.setWordWrap(True)
    label.setContentsMargins(SPACE_1, 0, SPACE_1, 0)
    return label
