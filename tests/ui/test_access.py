"""Every screen for people who cannot use a mouse or see the screen well: names, Tab stops, a focus that is seen."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QRadioButton, QWidget
from pytestqt.qtbot import QtBot

from a3s_desktop.ui.theme import apply_theme
from tests.ui.pair_project import make_project
from tests.ui.walk import accessible_name, described, interactive, running, screens


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_project(tmp_path_factory.mktemp("access"))


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_named_reached_by_tab_and_seen(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path, project: Path, theme: str
) -> None:
    nameless, missed, unseen, kinds = [], [], [], set()
    apply_theme(qapp, theme)
    with running(qtbot, tmp_path, project, theme) as program:
        for name, top in screens(program, qtbot):
            widgets = interactive(top)
            kinds |= {type(widget).__name__ for widget in widgets}
            nameless += [f"{name}: {described(w)}" for w in widgets if not accessible_name(w)]
            stops = [w for w in widgets if _is_stop(w)]
            visited = _walk(stops)
            missed += [f"{name}: {described(w)} ({accessible_name(w)})" for w in stops if w not in visited]
            unseen += [f"{name}: {described(w)} ({accessible_name(w)})" for w in stops if not _shows_focus(w, stops)]
    apply_theme(qapp, "light")
    assert not nameless, "without a name:\n" + "\n".join(nameless)
    assert not missed, "not reached by Tab:\n" + "\n".join(missed)
    assert not unseen, "no sign of the focus:\n" + "\n".join(unseen)
    assert len(kinds) > 8, "the walk saw only " + ", ".join(sorted(kinds))


@pytest.mark.parametrize("text", [100, 150])
def test_no_words_are_cut_off(qtbot: QtBot, qapp: QApplication, tmp_path: Path, project: Path, text: int) -> None:
    cut = []
    apply_theme(qapp, "light", text)
    with running(qtbot, tmp_path, project) as program:
        program.window.resize(1280, 720)
        for name, top in screens(program, qtbot):
            if isinstance(top, QDialog):
                qtbot.waitExposed(top).__enter__()
            qapp.processEvents()
            for label in top.findChildren(QLabel):
                if label.isVisible() and label.text() and not label.wordWrap() and label.pixmap().isNull():
                    needed = label.fontMetrics().boundingRect(label.text().split("\n")[0]).height()
                    if label.height() < needed - 2:
                        cut.append(f"{name}: {label.text()[:40]!r} has {label.height()} of {needed} pixels")
    apply_theme(qapp, "light", 100)
    assert not cut, "\n".join(cut)


def _is_stop(widget: QWidget) -> bool:
    if isinstance(widget, QRadioButton) and not widget.isChecked():
        return False  # Tab stops at the chosen one of a group, the arrows go to the others
    return bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus) and widget.isEnabled() and widget.focusProxy() is None


def _walk(stops: list[QWidget]) -> set[QWidget]:
    """Where Tab leads from the first stop of a screen."""
    if not stops:
        return set()
    stops[0].setFocus(Qt.FocusReason.TabFocusReason)
    visited = {stops[0]}
    for _ in range(len(stops) + 60):  # the rest of the window is passed on the way round
        QTest.keyClick(QApplication.focusWidget() or stops[0].window(), Qt.Key.Key_Tab)
        visited.add(QApplication.focusWidget())
    return visited


def _shows_focus(widget: QWidget, stops: list[QWidget]) -> bool:
    if widget.size().isEmpty():
        return True
    other = next((w for w in stops if w is not widget), widget.window())
    other.setFocus(Qt.FocusReason.TabFocusReason)
    before = _picture(widget)
    widget.setFocus(Qt.FocusReason.TabFocusReason)
    return QApplication.focusWidget() is not widget or _picture(widget) != before


def _picture(widget: QWidget) -> bytes:
    image = widget.grab().toImage()
    return b"" if image.isNull() else bytes(image.constBits())
