"""Shows every page, panel and dialog of the real program, for tests that look at all of them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDialog,
    QDockWidget,
    QHeaderView,
    QLineEdit,
    QPlainTextEdit,
    QScrollBar,
    QTabBar,
    QTextEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot

from a3s_desktop.core.types import Answer
from a3s_desktop.errors import InputError
from a3s_desktop.i18n import tr
from a3s_desktop.session.agreement import Agreement
from a3s_desktop.session.disagreements import About, Disagreement
from a3s_desktop.session.history import History, MergeSource
from a3s_desktop.session.merging import MergePlan
from a3s_desktop.session.replacing import Replacement
from a3s_desktop.settings import SettingsStore
from a3s_desktop.task import Progress
from a3s_desktop.ui.clear_dialog import ClearDialog
from a3s_desktop.ui.contradiction_chain import ChainLink
from a3s_desktop.ui.contradiction_dialog import ContradictionDialog
from a3s_desktop.ui.dialogs import show_error
from a3s_desktop.ui.disagreement_dialog import DisagreementDialog
from a3s_desktop.ui.merge_dialog import MergeDialog
from a3s_desktop.ui.program import Program
from a3s_desktop.ui.replace_dialog import ReplaceDialog

INTERACTIVE = (QAbstractButton, QAbstractItemView, QAbstractSlider, QAbstractSpinBox, QComboBox, QLineEdit, QTextEdit,
               QPlainTextEdit)  # fmt: skip


@contextmanager
def running(qtbot: QtBot, folder: Path, project: Path, theme: str = "light") -> Iterator[Program]:
    """The program with a project open and a pair on screen."""
    store = SettingsStore(None)
    store.change(last_folder=str(folder), theme=theme)
    program = Program(store, folder / "demos")
    try:
        with qtbot.waitActive(program.window):
            program.show()
            program.window.activateWindow()
        program.window.resize(1280, 800)
        copy = shutil.copytree(project, folder / "project")  # the walk answers it to the end
        program.shell.open_project(copy)
        qtbot.waitUntil(lambda: program.label.ready, timeout=10_000)
        yield program
    finally:
        program.shutdown()


def screens(program: Program, qtbot: QtBot) -> Iterator[tuple[str, QWidget]]:
    """Every screen, one after the other, as ``(name, top widget)``; each is visible while it is yielded."""
    window, action = program.window, program.shortcuts.action
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    yield "pair", program.label
    bridge = program.bridge
    for dock in window.findChildren(QDockWidget):
        dock.show()
        dock.raise_()
        window.activateWindow()
        qtbot.waitUntil(lambda dock=dock: dock.widget().isVisible() and window.isActiveWindow())
        yield dock.objectName(), dock.widget()
    program.panels.show_cluster(0)
    yield "dock.cluster, filled", window.dock("cluster").widget()
    action("page.clusters").trigger()
    page = program.clusters_page
    qtbot.waitUntil(lambda: bool(page.gallery.ids()), timeout=10_000)
    yield "clusters", page
    page.open_cluster(page.gallery.ids()[0])
    qtbot.waitUntil(lambda: bool(page.pane.items) and bool(page.pane.near.rows), timeout=10_000)
    yield "cluster", page
    page.show_singles()
    qtbot.waitUntil(lambda: page.singles.count.text() != "", timeout=10_000)
    yield "single images", page
    page.show_junk()
    yield "junk", page
    action("page.pair").trigger()
    qtbot.waitUntil(lambda: program.label.isVisible() and program.label.ready, timeout=10_000)
    names = ("project.export", "settings.keys", "settings.annotator", "settings.clear", "help.contents", "help.about")
    for name in names:
        action(name).trigger()
        dialog = _dialog(qtbot)
        if isinstance(dialog, ClearDialog):
            qtbot.waitUntil(lambda dialog=dialog: bool(dialog.boxes), timeout=10_000)
        yield name, dialog
        dialog.close()
        qtbot.waitUntil(lambda: not _dialogs())
    show_error(window, InputError(tr("Row"), tr("Open")))
    yield "error", _dialog(qtbot)
    _dialog(qtbot).close()
    action("help.tour").trigger()
    qtbot.waitUntil(window.isActiveWindow)
    assert program.help.tour is not None
    yield "tour", program.help.tour
    program.help.tour.skip()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    for _ in range(400):
        qtbot.waitUntil(lambda: program.label.ready or bridge.phase == "finished", timeout=10_000)
        question = program.label.question
        if bridge.phase == "finished" or question is None:
            break
        assert bridge.items is not None
        same = bridge.items.name(question.left)[0] == bridge.items.name(question.right)[0]
        bridge.answer(question.id, Answer.SAME if same else Answer.DIFFERENT)
        qtbot.waitUntil(lambda question=question: program.label.question is not question, timeout=10_000)
    yield "finished", program.label
    yield from old_answers(program, qtbot)
    action("project.new").trigger()
    qtbot.waitUntil(program.pages.new.isVisible)
    program.pages.new.advanced_button.setChecked(True)
    yield "new", program.pages.new
    program.shell.show_start()
    yield "start", program.pages.start
    program.pages.progress.begin(tr("Open"), tr("Row"))
    window.show_page(program.pages.progress)
    program.pages.progress.show_progress(Progress(tr("Open"), 0, 3, 0.4, 20.0))
    yield "progress", program.pages.progress


def old_answers(program: Program, qtbot: QtBot) -> Iterator[tuple[str, QWidget]]:
    """The history with its filter, one entry large, and a contradiction."""
    window, panel, items = program.window, program.history, program.bridge.items
    dock = window.dock("history")
    dock.show()
    dock.raise_()
    qtbot.waitUntil(lambda: panel.isVisible() and panel.model.rowCount() > 0, timeout=10_000)
    panel.filter.more.setChecked(True)
    panel.filter.clusters.setCurrentIndex(2)
    panel.notice.say(tr("Row"), conflicts=True)
    yield "history, filtered", panel
    panel.filter.reset()
    panel.notice.clear()
    qtbot.waitUntil(lambda: panel.model.entry(0) is not None, timeout=10_000)
    entry = panel.model.entry(0)
    assert entry is not None
    program.old_answers.look_at(entry)
    look = program.old_answers.second_look
    qtbot.waitUntil(lambda: look.view.seen and look.isActiveWindow(), timeout=10_000)
    yield "second look", look
    look.close()
    assert items is not None
    link = ChainLink(entry.left, entry.right, True, entry)
    dialog = ContradictionDialog(program.loader, items, window)
    dialog.show_chain(ChainLink(entry.left, entry.right, False, None, new=True), [link], 0)
    dialog.open()
    yield "contradiction", _dialog(qtbot)
    dialog.reject()
    said = Disagreement(
        About.PAIR, entry, entry.left, entry.right, True, ((entry.left, entry.right, "same"),), (entry,)
    )
    undecided = DisagreementDialog(program.loader, items, window)
    undecided.show_all([said, replace(said, about=About.TAKEN_BACK)], {}, may_decide=True)
    undecided.show()
    yield "disagreements", _dialog(qtbot)
    undecided.close()
    plan = MergePlan(MergeSource(tr("Row"), "", "", 0), (), {}, 0, 0, 0, Agreement(), "", History())
    MergeDialog(plan, window).open()
    yield "merge", _dialog(qtbot)
    _dialog(qtbot).close()
    ReplaceDialog(Replacement(3, 1, (1, 2), (0, 0), 1, (entry,), 0), items, program.loader, window).open()
    yield "replace", _dialog(qtbot)
    _dialog(qtbot).close()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)


def interactive(top: QWidget) -> list[QWidget]:
    """What a person can use, of what is in sight; parts of Qt's own widgets are left to Qt."""
    found = []
    for widget in (top, *top.findChildren(QWidget)):
        takes_focus = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
        if not (isinstance(widget, INTERACTIVE) or takes_focus) or not widget.isVisible() or _inner(widget):
            continue
        found.append(widget)
    return found


def accessible_name(widget: QWidget) -> str:
    """What a screen reader says first."""
    interface = QAccessible.queryAccessibleInterface(widget)
    return str(interface.text(QAccessible.Text.Name)).strip() if interface is not None else ""


def described(widget: QWidget) -> str:
    """A widget, for messages of tests."""
    chain, parent = [], widget
    while parent is not None and len(chain) < 4:
        name = f"({parent.objectName()})" if parent.objectName() else ""
        chain.append(type(parent).__name__ + name)
        parent = parent.parentWidget()
    return " < ".join(chain)


def _inner(widget: QWidget) -> bool:
    parent = widget.parentWidget()
    if isinstance(widget, QHeaderView | QScrollBar) or widget.objectName().startswith("qt_"):
        return True
    if widget.focusProxy() is not None:  # the focus goes to another widget, which is looked at itself
        return True
    return isinstance(parent, QComboBox | QAbstractSpinBox | QLineEdit | QTabBar | QDockWidget)


def _dialogs() -> list[QDialog]:
    return [w for w in QApplication.topLevelWidgets() if isinstance(w, QDialog) and w.isVisible()]


def _dialog(qtbot: QtBot) -> QDialog:
    qtbot.waitUntil(lambda: bool(_dialogs()))
    dialog = _dialogs()[-1]
    dialog.activateWindow()
    qtbot.waitUntil(dialog.isActiveWindow)
    return dialog
