"""Starts the window: application, settings, log, crash handling; `program.py` builds what is in it."""

from __future__ import annotations

import logging
import os
import signal
import sys
from pathlib import Path
from typing import Any

import platformdirs
from PySide6.QtCore import (
    QEvent,
    QLibraryInfo,
    QLocale,
    QMessageLogContext,
    QtMsgType,
    QTranslator,
    qInstallMessageHandler,
)
from PySide6.QtWidgets import QApplication

from a3s_desktop import __version__, i18n
from a3s_desktop.logs import crash_hooks, qt_level, start_logging
from a3s_desktop.resources import resource
from a3s_desktop.settings import SettingsStore
from a3s_desktop.ui.auto_demo import auto_demo
from a3s_desktop.ui.program import Program
from a3s_desktop.ui.theme import apply_theme, icon

__all__ = ["Program", "auto_demo", "main", "make_application", "speak"]

NAME = "a3s-desktop"
TRACE_VARIABLE = "A3S_TRACE_FILE"  # see trace.py
# The GUI thread asks for the interpreter after every Qt call; a worker that computes in Python gives it up this often.
_SWITCH = 0.001  # seconds

log = logging.getLogger(__name__)


def make_application(arguments: list[str] | None = None) -> QApplication:
    """The QApplication, named and dressed; the existing one where there is one."""
    existing = QApplication.instance()
    app = existing if isinstance(existing, QApplication) else QApplication(arguments or sys.argv[:1])
    app.setApplicationName(NAME)
    app.setApplicationDisplayName("A3S Desktop")
    app.setApplicationVersion(__version__)
    app.setDesktopFileName(NAME)
    app.setWindowIcon(icon("app", size=256))
    return app


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


def main(project: Path | None = None, read_only: bool = False, demo: str | None = None) -> int:
    """Run the program until its window is closed.

    Parameters
    ----------
    project : Path, optional
        Opened at the start.
    read_only : bool
        How ``project`` is opened.
    demo : str, optional
        Name of a demo to be opened: made first, with progress, where it is not there yet.

    Returns
    -------
    int
        Exit code.
    """
    log_file = start_logging(Path(platformdirs.user_log_dir(NAME, appauthor=False)))
    former = sys.getswitchinterval()
    handlers: dict[signal.Signals, Any] = {}
    sys.setswitchinterval(_SWITCH)
    qInstallMessageHandler(_log_qt)
    try:
        app = make_application()
        settings = SettingsStore(Path(platformdirs.user_config_dir(NAME, appauthor=False)) / "settings.json")
        for problem in settings.problems:
            log.warning("%s", problem)
        speak(app, settings.value.language)
        apply_theme(app, settings.value.theme, settings.value.text_size)
        trace = os.environ.get(TRACE_VARIABLE)
        program = Program(settings, demo_folder(), log_file.path, Path(trace) if trace else None, thumbnail_file())
        program.help.offers_tour = not trace  # a traced run measures; nobody is there to be shown around
        handlers = {number: signal.signal(number, _quit) for number in (signal.SIGINT, signal.SIGTERM)}
        with crash_hooks(program.crashes.report):
            program.show()
            if project is not None:
                program.shell.open_project(Path(os.path.abspath(project)), read_only)
            elif demo is not None:
                program.shell.open_demo(demo)
            code = int(app.exec())
            program.shutdown()
            app.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        return code
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        sys.setswitchinterval(former)
        qInstallMessageHandler(None)
        log_file.close()


def demo_folder() -> Path:
    """Where the demos' images and projects are kept."""
    return Path(platformdirs.user_data_dir(NAME, appauthor=False)) / "demos"


def thumbnail_file() -> Path:
    """Where small copies of images are kept, for all projects together."""
    return Path(platformdirs.user_cache_dir(NAME, appauthor=False)) / "thumbnails.sqlite"


def _quit(_number: int, _frame: object) -> None:
    """Ctrl+C in the terminal: as if the window were closed. Python notices at the next tick of a timer."""
    QApplication.quit()


def _log_qt(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    category = f"{context.category}: " if context.category else ""
    logging.getLogger("qt").log(qt_level(kind.name), "%s%s", category, message)
