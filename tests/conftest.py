"""What every test stands on: no screen, no traces in the user's folders, no threads left behind."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.examples import USUAL

ROOT = Path(__file__).resolve().parent.parent
USER_FOLDERS = (
    "XDG_CONFIG_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "APPDATA",
    "LOCALAPPDATA",
)

# Before anything loads Qt. A3S_TEST_PLATFORM=xcb runs the window's tests on a display instead.
os.environ["QT_QPA_PLATFORM"] = os.environ.get("A3S_TEST_PLATFORM", "offscreen")
# Sizes and grabbed pictures must not depend on the screen of the developer's machine.
for _name in ("QT_SCALE_FACTOR", "QT_AUTO_SCREEN_SCALE_FACTOR", "QT_STYLE_OVERRIDE", "QT_QPA_PLATFORMTHEME"):
    os.environ.pop(_name, None)

settings.register_profile("default", deadline=None, max_examples=USUAL, suppress_health_check=[HealthCheck.too_slow])
_default = settings.get_profile("default")
settings.register_profile("thorough", parent=_default, max_examples=1000)
# The same commit, the same verdict: new examples are looked for by everyone's own runs, and by thorough ones.
settings.register_profile("repeatable", parent=_default, derandomize=True, print_blob=True)
settings.load_profile(os.environ.get("A3S_HYPOTHESIS", "default"))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real feature files beside the project; tests that need it are skipped where it is absent."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the real feature files (../shared/data) are not on this machine")
    return folder


@pytest.fixture(autouse=True)
def user_folders(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings, caches and logs of the test go to a folder of its own, never to the user's.

    Programs that a test starts inherit it.
    """
    home = tmp_path_factory.mktemp("user")
    for name in USER_FOLDERS:
        monkeypatch.setenv(name, str(home / name.lower()))
    if sys.platform == "darwin":  # its folders hang on the home folder alone
        monkeypatch.setenv("HOME", str(home))
    return home


@pytest.fixture(autouse=True)
def no_thread_left() -> Iterator[None]:
    """Fail a test that leaves a thread running: at exit such a thread is "QThread destroyed while still running"."""
    before = set(threading.enumerate())
    yield
    deadline = time.monotonic() + 3.0
    left = _new_threads(before)
    while left and time.monotonic() < deadline:
        left[0].join(timeout=0.05)
        left = _new_threads(before)
    if left:
        pytest.fail("threads left running: " + ", ".join(thread.name for thread in left), pytrace=False)


def _new_threads(before: set[threading.Thread]) -> list[threading.Thread]:
    # Threads of Qt's pools show up as dummies once they have run Python code; they belong to Qt, which parks them.
    return [
        thread
        for thread in threading.enumerate()
        if thread not in before and thread.is_alive() and not isinstance(thread, threading._DummyThread)
    ]


@pytest.hookimpl(wrapper=True)
def pytest_report_to_serializable() -> Generator[None, object, object]:
    """A report may hold names of files that are no text; what carries it between processes knows only text."""
    return _readable((yield))


def _readable(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_readable(key): _readable(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_readable(each) for each in value)
    return value
