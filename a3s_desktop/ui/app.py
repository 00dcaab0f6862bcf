"""Starts the window: application, settings, log, crash handling; `program.py` builds what is in it."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import (
    QEvent,
    QLibraryInfo,
    QLocale,
    QMessageLogContext,
    QtMsgType,
    QTranslator,
    qInstallMessageHandler,
)
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from a3s_desktop import __version__, i18n
from a3s_desktop.errors import InputError
from a3s_desktop.i18n import number, tr
from a3s_desktop.logs import crash_hooks, qt_level, start_logging
from a3s_desktop.resources import resource
from a3s_desktop.settings import SettingsStore
from a3s_desktop.storage.places import NAME, Places, user_places
from a3s_desktop.ui.first_page import FirstPage, Loading
from a3s_desktop.ui.last_run import FormerEnd, LastRun
from a3s_desktop.ui.qt_files import keep_in
from a3s_desktop.ui.theme import apply_theme

if TYPE_CHECKING:
    from a3s_desktop.logs import Crash
    from a3s_desktop.ui.program import Program

__all__ = ["main", "make_application", "speak"]

TRACE_VARIABLE = "A3S_TRACE_FILE"  # see trace.py
_DEPTH = 15  # bits of a pixel from which on Qt can draw on an X11 display; below it would leave a black window
_FAILED_STARTS = 2  # in a row, after which safe mode is offered
# The GUI thread asks for the interpreter after every Qt call; a worker that computes in Python gives it up this often.
SWITCH_INTERVAL = 0.001
"""Seconds after which a thread that computes lets the window's have the interpreter."""

log = logging.getLogger(__name__)


def make_application(arguments: list[str] | None = None) -> QApplication:
    """The QApplication, named and dressed; the existing one where there is one."""
    existing = QApplication.instance()
    app = existing if isinstance(existing, QApplication) else QApplication(arguments or sys.argv[:1])
    app.setApplicationName(NAME)
    app.setApplicationDisplayName("A3S Desktop")
    app.setApplicationVersion(__version__)
    app.setDesktopFileName(NAME)
    app.setWindowIcon(QIcon(str(resource("icons", "app.svg"))))  # drawn in the sizes that the desktop asks for
    return app


def check_display(app: QApplication) -> None:
    """Raise `InputError` where the window could not be seen, so that nobody answers what is not shown."""
    if app.platformName() == "xcb" and app.primaryScreen().depth() < _DEPTH:
        raise InputError(
            tr(
                "This display has too few colours ({bits} bits): nothing can be drawn on it.",
                bits=number(app.primaryScreen().depth()),
            ),
            tr("Set the display, or the remote desktop, to 15 bits or more."),
        )


def speak(app: QApplication, setting: str) -> str:
    """Choose the program's language, and Qt's for its own dialogs; before the window is built. Returns its code."""
    chosen = i18n.use(i18n.preferred(setting, QLocale.system().name()), resource("locale"))
    QLocale.setDefault(QLocale(chosen) if setting != "system" else QLocale.system())
    translator = QTranslator(app)
    if chosen != "en" and translator.load(
        f"qtbase_{chosen}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    ):
        app.installTranslator(translator)
    return chosen


def main(project: Path | None = None, read_only: bool = False, demo: str | None = None, safe_mode: bool = False) -> int:
    """Run the program until its window is closed.

    Parameters
    ----------
    project : Path, optional
        Opened at the start: a project folder, or the ``.a3s`` file in it.
    read_only : bool
        How ``project`` is opened.
    demo : str, optional
        Name of a demo to be opened: made first, with progress, where it is not there yet.
    safe_mode : bool
        With the settings that a new user has, of which nothing is kept, and without the map. Offered by itself after
        two starts that failed.

    Returns
    -------
    int
        Exit code.

    Raises
    ------
    InputError
        The display cannot show the window.
    """
    places = user_places()
    log_file = start_logging(places.logs)
    last_run = LastRun(places.logs if log_file.path is not None else None)
    former = last_run.begin()
    interval = sys.getswitchinterval()
    handlers: dict[signal.Signals, Any] = {}
    sys.setswitchinterval(SWITCH_INTERVAL)
    qInstallMessageHandler(_log_qt)
    try:
        keep_in(places.qt_settings.parent)
        app = make_application()
        try:
            check_display(app)
        except InputError:
            last_run.end()  # it is not the program that failed
            raise
        safe_mode = safe_mode or (former.failed_starts >= _FAILED_STARTS and _wants_safe_mode())
        settings = SettingsStore(None if safe_mode else places.settings)
        for problem in settings.problems:
            log.warning("%s", problem)
        speak(app, settings.value.language)
        apply_theme(app, settings.value.theme, settings.value.text_size)
        trace = os.environ.get(TRACE_VARIABLE)
        run = _Run(settings, places, log_file.path, Path(trace) if trace else None, last_run, former, safe_mode)
        if project is not None:
            run.first.open(project, read_only)
        elif demo is not None:
            run.first.wish_for(lambda program: program.shell.open_demo(demo))
        handlers = {number: signal.signal(number, _quit) for number in (signal.SIGINT, signal.SIGTERM)}
        with crash_hooks(run.report):
            run.begin()
            code = int(app.exec())
            run.end()
            last_run.end()
            app.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        return code
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        sys.setswitchinterval(interval)
        qInstallMessageHandler(None)
        log_file.close()


class _Run:
    """The first page, and the program that comes behind it."""

    def __init__(
        self,
        settings: SettingsStore,
        places: Places,
        log_file: Path | None,
        trace_file: Path | None,
        last_run: LastRun,
        former: FormerEnd,
        safe_mode: bool,
    ) -> None:
        self.first = FirstPage(settings)
        self._last_run, self._former, self._safe_mode = last_run, former, safe_mode
        self._demos = places.demos
        self._files = {"log_file": log_file, "trace_file": trace_file, "thumbnail_file": places.thumbnails}
        self._settings = settings
        self._program: Program | None = None
        self._crashes: list[Crash] = []
        self._complete = False
        self._loading = Loading(self._build, self._done)

    def begin(self) -> None:
        self.first.show()
        self._loading.start()

    def end(self) -> None:
        self._loading.finish()
        if self._program is not None:
            self._program.shutdown()
        else:
            self.first.window.deleteLater()

    def report(self, crash: Crash) -> None:
        if self._program is not None and self._complete:
            self._program.crashes.report(crash)
        else:
            self._crashes.append(crash)  # logged already; shown as soon as that is possible

    def _build(self) -> Iterator[None]:
        from a3s_desktop.ui.program import Program

        self._program = Program(
            self._settings, self._demos, **self._files, first=self.first, with_map=not self._safe_mode
        )
        return self._program.build()

    def _done(self) -> None:
        program = self._program
        assert program is not None
        self._complete = True
        self._last_run.complete()
        for crash in self._crashes:
            program.crashes.report(crash)
        program.crashes.tell_former(self._former)
        if program.trace is not None:
            program.help.offers_tour = False  # a traced run measures; nobody is there to be shown around
            program.trace.window(int(program.window.winId()))


def _wants_safe_mode() -> bool:
    """Ask, before anything else is built."""
    from a3s_desktop.ui.dialogs import MessageDialog

    choices: list[str] = []
    dialog = MessageDialog(
        None,
        tr("A3S Desktop – safe mode"),
        tr("The program did not come to start twice in a row."),
        tr("In safe mode it starts with the settings of a new user and without the map. Your projects are safe."),
        buttons=(("close", tr("Start as usual")), ("safe", tr("Start in safe mode"))),
        primary="safe",
    )
    dialog.chosen.connect(choices.append)
    dialog.exec()
    return choices == ["safe"]


def _quit(_number: int, _frame: object) -> None:
    """Ctrl+C in the terminal: as if the window were closed. Python notices at the next tick of a timer."""
    QApplication.quit()


def _log_qt(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    category = f"{context.category}: " if context.category else ""
    logging.getLogger("qt").log(qt_level(kind.name), "%s%s", category, message)
    if message.partition(":")[0] == "The X11 connection broke":  # what Qt says last when Xlib has lost its display
        # Xlib calls exit() next, which takes the data of native libraries from under the threads that work with them:
        # now and then a crash, of which the next start would tell. Every answer is on the disk already.
        logging.shutdown()
        os._exit(1)
