"""The window: a stack of pages, docks, menus, a status line. It arranges; what happens is decided in ``shell.py``."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QByteArray, QMimeData, QPoint, QRect, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QActionGroup, QCloseEvent, QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QDockWidget, QLabel, QMainWindow, QMenu, QStackedWidget, QTabWidget, QWidget

from a3s_desktop.i18n import LANGUAGES, mark, tr
from a3s_desktop.settings import THEMES, SettingsStore
from a3s_desktop.storage.pointer import is_pointer
from a3s_desktop.ui.parts import first_stop
from a3s_desktop.ui.shortcuts import Shortcuts
from a3s_desktop.ui.theme import SPACE_2, SPACE_3, set_role

COMFORTABLE = QSize(1440, 900)  # logical pixels
_SEEN = 200  # pixels of a window, each way, that must be on a screen
ROOM_FOR_PANELS = 1000  # pixels of width at normal text, from which on panels stand beside the pair at first
STATE_VERSION = 1  # of the docks' arrangement; another one is not restored
_MENUS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        mark("&Project"),
        (
            "project.new", "project.open", "project.demo", "",
            "project.add", "project.replace", "project.locate", "",
            "project.labels", "project.export", "project.show_export", "",
            "project.merge", "project.disagreements", "",
            "project.backups", "project.check", "", "project.close", "app.quit",
        ),
    ),
    (mark("&Edit"), ("edit.undo", "edit.redo")),
    (
        mark("&Answer"),
        (
            "answer.same", "answer.different", "answer.skip", "answer.incomparable", "",
            "answer.junk_left", "answer.junk_right", "answer.junk_both", "", "edit.requeue", "",
            "history.doubtful", "audit.open", "audit.*",
        ),
    ),
    (
        mark("C&lusters"),
        (
            "gallery.all", "gallery.singles", "gallery.junk", "",
            "gallery.open", "gallery.back", "gallery.find", "gallery.order", "",
            "cluster.split", "cluster.each", "cluster.move", "cluster.junk", "cluster.restore", "",
            "cluster.merge", "cluster.accept", "cluster.next", "cluster.name", "cluster.finish",
        ),
    ),
    (
        mark("&Compare"),
        (
            "compare.flip", "compare.overlay", "compare.split", "compare.difference", "",
            "compare.turn_left", "compare.turn_right", "compare.mirror_left", "compare.mirror_right", "",
            "compare.photo", "",
            "compare.tones", "compare.equalise", "compare.original", "", "compare.facts",
        ),
    ),
    (
        mark("&View"),
        (
            "view.fit", "view.actual", "view.zoom_in", "view.zoom_out", "view.link", "",
            "view.legend", "view.blind", "",
            "page.pair", "page.clusters", "",
            "panel.map", "panel.history", "panel.cluster", "panel.progress", "",
            "window.next_part", "window.previous_part", "",
            "theme.*", "window.text_larger", "window.text_smaller", "window.fullscreen", "",
            "language.*", "settings.keys", "settings.annotator", "settings.clear",
        ),
    ),
    (mark("&Help"), ("help.contents", "help.tour", "", "help.about")),
)  # fmt: skip


class MainWindow(QMainWindow):
    """Pages, docks, menus and the status line.

    Parameters
    ----------
    shortcuts : Shortcuts
    settings : SettingsStore
        Keeps geometry and arrangement from one start to the next.

    Attributes
    ----------
    may_close : callable
        Asked when the user closes the window; False keeps it open.

    Signals
    -------
    closing()
        The window closes for good.
    dropped(object)
        A project's folder, or the file in it, was dropped on the window.
    """

    closing = Signal()
    dropped = Signal(object)

    def __init__(self, shortcuts: Shortcuts, settings: SettingsStore) -> None:
        super().__init__()
        self.setObjectName("main")
        self.setWindowTitle("A3S Desktop")
        self.setMinimumSize(880, 560)
        self.setDockOptions(
            QMainWindow.DockOption.AnimatedDocks
            | QMainWindow.DockOption.AllowNestedDocks
            | QMainWindow.DockOption.AllowTabbedDocks
        )
        self.setTabPosition(Qt.DockWidgetArea.AllDockWidgetAreas, QTabWidget.TabPosition.North)
        self.may_close: Callable[[], bool] = _always
        self._shortcuts = shortcuts
        self._settings = settings
        self._arrangement = QByteArray()  # of the docks, while they are not shown
        self._working = False
        self._docks: dict[str, QDockWidget] = {}
        self._tidy = QTimer(self, singleShot=True, interval=0)
        self._tidy.timeout.connect(self._name_once)
        self.pages = QStackedWidget()
        self.setCentralWidget(self.pages)
        self._build_menus()
        self._build_status()
        self._place()
        self.setAcceptDrops(True)
        shortcuts.attach(self)

    # Building

    def add_page(self, page: QWidget) -> None:
        """Add a page to the stack."""
        self.pages.addWidget(page)

    def add_dock(self, name: str, title: str, content: QWidget) -> QDockWidget:
        """Add a panel; ``panel.<name>`` is the action that shows and hides it."""
        dock = QDockWidget(title, self)
        dock.setObjectName(f"dock.{name}")
        dock.setWidget(content)
        dock.setMinimumWidth(240)
        self.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
        action = self._shortcuts.action(f"panel.{name}")
        # Qt's own action tells "shown" from "behind another tab", which the dock's visibility does not.
        dock.toggleViewAction().toggled.connect(action.setChecked)
        action.setChecked(dock.toggleViewAction().isChecked())
        action.triggered.connect(lambda: self._toggle(name))
        for changed in (dock.visibilityChanged, dock.topLevelChanged, dock.dockLocationChanged):
            changed.connect(self._tidy.start)
        self._docks[name] = dock
        return dock

    def dock(self, name: str) -> QDockWidget:
        """A panel by its name. Raises `KeyError` for an unknown one."""
        return self._docks[name]

    def arrange(self) -> None:
        """Put the docks where they belong, then where the user left them; called once, when all are added."""
        docks = self._docks
        if {"map", "history", "cluster"} <= docks.keys():
            self.splitDockWidget(docks["map"], docks["cluster"], Qt.Orientation.Vertical)
            self.tabifyDockWidget(docks["cluster"], docks["history"])
            if "progress" in docks:
                self.tabifyDockWidget(docks["history"], docks["progress"])
            docks["cluster"].raise_()
        settings = self._settings.value
        width = max(300, self.width() // 4)
        self.resizeDocks(list(docks.values()), [width] * len(docks), Qt.Orientation.Horizontal)
        if {"map", "cluster"} <= docks.keys():
            self.resizeDocks([docks["map"], docks["cluster"]], [3, 2], Qt.Orientation.Vertical)
        self._arrangement = _decoded(settings.window_state)
        if self._arrangement.isEmpty():
            if self.width() * 100 < ROOM_FOR_PANELS * settings.text_size:
                for dock in docks.values():  # on a small screen the pair comes first; the View menu has the panels
                    dock.hide()
            self._arrangement = self.saveState(STATE_VERSION)
        for dock in docks.values():
            dock.hide()

    # Showing

    def show_page(self, page: QWidget, working: bool = False) -> None:
        """Show a page; the docks and the menus' project part only while ``working``."""
        if working and not self._working:
            self.restoreState(self._arrangement, STATE_VERSION)
        elif self._working and not working:
            self._arrangement = self.saveState(STATE_VERSION)
            for dock in self._docks.values():
                dock.hide()
            self.statusBar().clearMessage()
        self._working = working
        for name in self._docks:
            self._shortcuts.action(f"panel.{name}").setEnabled(working)
        self.pages.setCurrentWidget(page)
        # A page that takes no keys itself hands them to what it chose, or to its first field.
        stop = page if page.focusPolicy() else page.focusWidget() or first_stop(page) or page
        stop.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def working(self) -> bool:
        """Whether the docks belong to what is shown."""
        return self._working

    def say(self, text: str, milliseconds: int = 5000) -> None:
        """A remark in the status line."""
        self.statusBar().showMessage(text, milliseconds)

    def show_project(self, name: str, read_only: bool = False) -> None:
        """Name the open project; an empty name: none is open."""
        self.setWindowTitle(f"{name} – A3S Desktop" if name else "A3S Desktop")
        self.read_only_label.setVisible(bool(name) and read_only)
        self.saved_label.setVisible(bool(name) and not read_only)

    def show_saved(self, text: str) -> None:
        """Whether everything is on disk."""
        self.saved_label.setText(text)

    def remember(self) -> None:
        """Keep geometry and arrangement for the next start."""
        if self._working:
            self._arrangement = self.saveState(STATE_VERSION)
        self._settings.change(window_geometry=_encoded(self.saveGeometry()), window_state=_encoded(self._arrangement))

    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask, remember, go."""
        if not self.may_close():
            event.ignore()
            return
        self.remember()
        self.closing.emit()
        super().closeEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take what may be a project."""
        if _dropped_path(event.mimeData()) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Tell of what may be a project."""
        path = _dropped_path(event.mimeData())
        if path is not None:
            event.acceptProposedAction()
            self.dropped.emit(path)

    def _build_menus(self) -> None:
        self.menus: dict[str, QMenu] = {}
        for title, names in _MENUS:
            menu = self.menuBar().addMenu(tr(title))
            menu.setToolTipsVisible(False)
            self.menus[title] = menu
            for name in names:
                if not name:
                    menu.addSeparator()
                elif name == "audit.*":
                    sample = menu.addMenu(tr("Sample check"))
                    for each in ("audit.same", "audit.unsure", "audit.different", "audit.back"):
                        sample.addAction(self._shortcuts.action(each))
                elif name.endswith(".*"):
                    menu.addMenu(self._choice_menu(name.removesuffix(".*")))
                else:
                    menu.addAction(self._shortcuts.action(name))

    def _choice_menu(self, setting: str) -> QMenu:
        """One of several: the theme, the language. The actions carry the setting's value as data."""
        title, values = {
            "theme": (tr("Theme"), THEMES),
            "language": (tr("Language"), ("system", *LANGUAGES)),
        }[setting]
        menu = QMenu(title, self)
        group = QActionGroup(self)
        for value in values:
            action = self._shortcuts.action(f"{setting}.{value}")
            action.setData(value)
            action.setChecked(getattr(self._settings.value, setting) == value)
            group.addAction(action)
            menu.addAction(action)
        return menu

    def _build_status(self) -> None:
        bar = self.statusBar()
        bar.setSizeGripEnabled(False)
        bar.setContentsMargins(SPACE_2, 0, SPACE_3, 0)
        self.busy_label = QLabel(tr("Working…"))
        self.busy_label.hide()
        self.read_only_label = QLabel(tr("Read-only"))
        set_role(self.read_only_label, role="key")
        self.read_only_label.setToolTip(tr("The project is open for reading only; answers are not taken."))
        self.read_only_label.hide()
        self.saved_label = QLabel(tr("All answers saved"))
        self.saved_label.hide()
        for label in (self.busy_label, self.read_only_label, self.saved_label):
            bar.addPermanentWidget(label)

    def _toggle(self, name: str) -> None:
        """Bring a panel into sight, from behind another tab too; one that is in sight goes."""
        dock = self._docks[name]
        if dock.isHidden() or dock.visibleRegion().isEmpty():
            dock.show()
            dock.raise_()
        else:
            dock.hide()
        # A checkable action has flipped by itself, which is wrong for a panel that came from behind.
        self._shortcuts.action(f"panel.{name}").setChecked(dock.toggleViewAction().isChecked())

    @Slot()
    def _name_once(self) -> None:
        """A panel behind tabs is named by its tab; a title bar below would say it again."""
        for dock in self._docks.values():
            named = dock.isFloating() or not any(not other.isHidden() for other in self.tabifiedDockWidgets(dock))
            bar = dock.titleBarWidget()
            if named and bar is not None:
                dock.setTitleBarWidget(None)  # type: ignore[arg-type]  # Qt's way back to its own bar
                bar.deleteLater()
            elif not named and bar is None:
                dock.setTitleBarWidget(QWidget())

    def _place(self) -> None:
        """Where the user left the window."""
        if self.restoreGeometry(_decoded(self._settings.value.window_geometry)):
            self.setGeometry(on_screens(self.geometry(), [s.availableGeometry() for s in QGuiApplication.screens()]))
        else:
            self._first_place()

    def _first_place(self) -> None:
        """Without a remembered place: a comfortable size, or the whole of a small screen."""
        screen = QGuiApplication.primaryScreen()
        room = screen.availableGeometry().size() if screen is not None else COMFORTABLE
        self.resize(COMFORTABLE.boundedTo(room))
        if room.width() <= COMFORTABLE.width() or room.height() <= COMFORTABLE.height():
            self.setWindowState(Qt.WindowState.WindowMaximized)


def on_screens(place: QRect, screens: Sequence[QRect]) -> QRect:
    """A window's place, moved and shrunk where it would lie outside of every screen, or mostly so.

    A screen may have gone, or changed its size, since the place was remembered.
    """
    if not screens:
        return place
    best = max(screens, key=lambda screen: _area(screen.intersected(place)))
    seen = best.intersected(place)
    # The upper edge must be within reach, for the title bar is what a window is moved by.
    if best.contains(place) or (seen.width() >= _SEEN and seen.height() >= _SEEN and place.top() >= best.top()):
        return place
    size = place.size().boundedTo(best.size())
    left = min(max(place.left(), best.left()), best.left() + best.width() - size.width())
    top = min(max(place.top(), best.top()), best.top() + best.height() - size.height())
    return QRect(QPoint(left, top), size)


def _dropped_path(data: QMimeData) -> Path | None:
    """The one file or folder that is dropped, where it may be a project."""
    urls = data.urls()
    if len(urls) != 1 or not urls[0].isLocalFile():
        return None
    path = Path(urls[0].toLocalFile())
    return path if is_pointer(path) or path.is_dir() else None


def _area(place: QRect) -> int:
    return place.width() * place.height() if place.isValid() else 0


def _always() -> bool:
    return True


def _encoded(data: QByteArray) -> str:
    return base64.b64encode(data.data()).decode("ascii")


def _decoded(text: str) -> QByteArray:
    try:
        return QByteArray(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        return QByteArray()
