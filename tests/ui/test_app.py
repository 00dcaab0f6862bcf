"""From the command line to the window and out again: what is set up is taken down."""

from __future__ import annotations

import gc
import json
import logging
import signal
import sys
import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QDockWidget, QMenu

from a3s_desktop.storage.places import user_places
from a3s_desktop.ui.app import TRACE_VARIABLE, main
from a3s_desktop.ui.dialogs import MessageDialog
from a3s_desktop.ui.last_run import LastRun
from a3s_desktop.ui.main_window import MainWindow
from tests.ui.pair_project import make_project


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    return make_project(tmp_path_factory.mktemp("app"))


def windows() -> list[MainWindow]:
    return [w for w in QApplication.topLevelWidgets() if isinstance(w, MainWindow) and w.isVisible()]


def when(condition, then) -> QTimer:
    """Do something in the running program once a condition holds."""
    timer = QTimer()
    timer.setInterval(20)

    def look() -> None:
        if condition():
            timer.stop()
            then()

    timer.timeout.connect(look)
    timer.start()
    return timer


def what_is_set_up() -> list[object]:
    signals = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    return [sys.excepthook, threading.excepthook, sys.getswitchinterval(), *logging.getLogger().handlers, *signals]


def painted(trace: Path) -> bool:
    return trace.exists() and '"painted"' in trace.read_text()


def test_open_look_and_leave(qapp, project, tmp_path, monkeypatch):
    trace = tmp_path / "trace.jsonl"
    monkeypatch.setenv(TRACE_VARIABLE, str(trace))
    hooks = what_is_set_up()
    timer = when(lambda: painted(trace), lambda: windows()[0].close())
    assert main(project=project) == 0
    timer.stop()
    assert what_is_set_up() == hooks
    assert gc.isenabled()
    events = [json.loads(line) for line in trace.read_text().splitlines()]
    assert [event["event"] for event in events][:3] == ["window", "changed", "painted"]
    assert events[2]["answers"] == 0


def test_a_bug_in_a_slot_opens_the_crash_dialog_and_is_logged(qapp, tmp_path, qtbot):
    seen = []

    def break_something() -> None:
        raise ZeroDivisionError("a bug in a slot")

    def look() -> None:
        dialogs = [w for w in QApplication.topLevelWidgets() if isinstance(w, MessageDialog) and w.isVisible()]
        if dialogs:
            seen.append(dialogs[0]._details)
            dialogs[0].buttons["quit"].click()

    first = when(lambda: bool(windows()), break_something)
    second = QTimer()
    second.setInterval(20)
    second.timeout.connect(look)
    second.start()
    with qtbot.captureExceptions() as caught:
        assert main() == 0
    first.stop()
    second.stop()
    assert not caught  # the program's own hook had it
    assert "a bug in a slot" in seen[0]
    assert "ZeroDivisionError" in seen[0]


def test_safe_mode_has_no_map_and_keeps_no_settings(qapp, project, tmp_path, monkeypatch, user_folders):
    trace = tmp_path / "trace.jsonl"
    monkeypatch.setenv(TRACE_VARIABLE, str(trace))
    config = user_places().settings
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('{"version": 1, "theme": "dark"}', encoding="utf-8")
    seen = {}

    def look() -> None:
        window = windows()[0]
        seen["docks"] = sorted(dock.objectName() for dock in window.findChildren(QDockWidget))
        bars = [menu.actions() for menu in window.findChildren(QMenu)]
        seen["map"] = [a.isEnabled() for bar in bars for a in bar if a.text().replace("&", "") == "Map"]
        window.close()

    timer = when(lambda: painted(trace), look)
    assert main(project=project, safe_mode=True) == 0
    timer.stop()
    assert len(seen["docks"]) == 3
    assert seen["map"] == [False]
    assert config.read_text(encoding="utf-8") == '{"version": 1, "theme": "dark"}'


def test_after_two_failed_starts_safe_mode_is_offered(qapp, project, tmp_path, monkeypatch, user_folders):
    trace = tmp_path / "trace.jsonl"
    monkeypatch.setenv(TRACE_VARIABLE, str(trace))
    logs = user_places().logs
    for _ in range(2):
        run = LastRun(logs)
        run.begin()
        run._lock.release()  # as the system does when a process ends

    def dialogs() -> list[MessageDialog]:
        return [w for w in QApplication.topLevelWidgets() if isinstance(w, MessageDialog) and w.isVisible()]

    asked = when(dialogs, lambda: dialogs()[0].buttons["safe"].click())
    timer = when(lambda: painted(trace), lambda: windows()[0].close())
    assert main(project=project) == 0
    for each in (asked, timer):
        each.stop()
    assert LastRun(logs).begin().failed_starts == 0
