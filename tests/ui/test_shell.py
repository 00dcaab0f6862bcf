"""The window as a whole, every object real: which page comes when, and that nothing stops the user or loses work."""

from __future__ import annotations

import csv
import gc
import shutil
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication, QMenu

from a3s_desktop.actions import ACTIONS
from a3s_desktop.core.engine import Engine
from a3s_desktop.core.types import Answer
from a3s_desktop.logs import describe_crash
from a3s_desktop.session.opening import open_session
from a3s_desktop.settings import SettingsStore
from a3s_desktop.storage.workspace import open_workspace
from a3s_desktop.ui import main_window
from a3s_desktop.ui.dialogs import MessageDialog
from a3s_desktop.ui.export_dialog import ExportDialog, ExportRequest
from a3s_desktop.ui.jobs import Worker
from a3s_desktop.ui.program import Program
from a3s_desktop.ui.theme import apply_theme
from tests.ui.pair_project import make_project


@pytest.fixture(scope="module")
def original(tmp_path_factory) -> Path:
    return make_project(tmp_path_factory.mktemp("shell"))


@pytest.fixture
def project(original, tmp_path) -> Path:
    return shutil.copytree(original, tmp_path / "seals")


class Desk:
    """A running program, and the waiting of a test."""

    def __init__(self, qtbot, settings: SettingsStore, folder: Path) -> None:
        self.qtbot = qtbot
        self.program = Program(settings, folder / "demos")
        self.window = self.program.window
        with qtbot.waitActive(self.window):
            self.program.show()

    def until(self, condition: Callable[[], bool], timeout: int = 20_000) -> None:
        self.qtbot.waitUntil(condition, timeout=timeout)

    def page(self) -> object:
        return self.window.pages.currentWidget()

    def trigger(self, name: str) -> None:
        self.program.shortcuts.action(name).trigger()

    def open(self, project: Path, read_only: bool = False) -> None:
        self.program.shell.open_project(project, read_only)
        self.until(lambda: self.page() is self.program.pages.label)

    def dialog(self, kind: type = MessageDialog):
        def shown():
            return [w for w in QApplication.topLevelWidgets() if isinstance(w, kind) and w.isVisible()]

        self.until(lambda: bool(shown()))
        return shown()[-1]

    def answer(self) -> None:
        """The true answer, by key."""
        label, bridge = self.program.label, self.program.bridge
        self.until(lambda: label.ready)
        self.window.activateWindow()  # off the screen nobody gives the focus back when a dialog closes
        self.until(self.window.isActiveWindow)
        question, items = label.question, bridge.items
        same = items.name(question.left)[0] == items.name(question.right)[0]
        self.qtbot.keyClick(self.window, Qt.Key.Key_F if same else Qt.Key.Key_J)
        self.until(lambda: bridge.phase == "finished" or (label.ready and label.question.id != question.id))


@pytest.fixture
def settings() -> SettingsStore:
    return SettingsStore(None)


@pytest.fixture
def start(qtbot, settings, tmp_path, monkeypatch) -> Iterator[Callable[[], Desk]]:
    monkeypatch.setattr(main_window, "ROOM_FOR_PANELS", 0)  # Qt's screen without a display is 800 pixels wide
    desks: list[Desk] = []

    def make() -> Desk:
        desks.append(Desk(qtbot, settings, tmp_path))
        return desks[-1]

    yield make
    for desk in desks:
        desk.program.shutdown()
    qtbot.wait(1)


@pytest.fixture
def desk(start) -> Desk:
    return start()


def test_every_action_is_in_a_menu_with_its_key(desk):
    found = {}

    def walk(menu: QMenu) -> None:
        for action in menu.actions():
            if action.menu() is not None:
                walk(action.menu())
            else:
                found[action.objectName()] = action

    for action in desk.window.menuBar().actions():
        walk(action.menu())
    # What a held key repeats (moving an image, a bit brighter) is for keys; the shortcut editor and the help list it.
    assert {spec.id for spec in ACTIONS if not spec.repeat} <= set(found) - {""} <= {spec.id for spec in ACTIONS}
    for spec in ACTIONS:
        if spec.id in found:
            assert bool(found[spec.id].shortcuts()) == bool(spec.keys), spec.id


def test_start_open_close(desk, project, settings):
    assert desk.page() is desk.program.pages.start
    assert not desk.window.dock("map").isVisible()
    assert not desk.program.shortcuts.action("project.export").isEnabled()
    desk.open(project)
    assert desk.window.dock("map").isVisible()
    assert desk.window.windowTitle().startswith("project")
    assert settings.value.recent == (str(project),)
    desk.until(lambda: desk.program.label.ready)
    desk.trigger("project.close")
    assert desk.page() is desk.program.pages.start
    assert not desk.window.dock("map").isVisible()
    desk.until(lambda: desk.program.pages.start.model.index(0).data() == "project")
    desk.until(lambda: not desk.program.jobs.busy(Worker.ENGINE))  # the list may be there before all is put away
    open_workspace(project).close()  # the lock is free again


def test_answers_undo_and_the_map_follow(desk, project):
    desk.open(project)
    desk.until(lambda: len(desk.program.map.plot.places) == 36)
    for _ in range(5):
        desk.answer()
    assert desk.program.bridge.state.answers == 5
    desk.qtbot.keyClick(desk.window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    desk.until(lambda: desk.program.bridge.state.answers == 4 and desk.program.label.ready)
    assert "Undo" in desk.window.statusBar().currentMessage()
    assert desk.program.map._pair == (desk.program.label.question.left, desk.program.label.question.right)
    cluster = int(desk.program.bridge.state.labels[desk.program.label.question.left])
    desk.program.map.clusterClicked.emit(cluster)
    members = [i for i, c in enumerate(desk.program.bridge.state.labels) if c == cluster]
    assert list(desk.program.clusters.members) == members


def test_a_panel_behind_a_tab_comes_forward_and_is_named_once(desk, project):
    desk.open(project)
    docks = {name: desk.window.dock(name) for name in ("map", "cluster", "history")}
    desk.window.dock("progress").hide()
    desk.until(lambda: docks["history"].titleBarWidget() is not None)
    assert docks["map"].titleBarWidget() is None
    history = desk.program.shortcuts.action("panel.history")
    assert docks["history"].visibleRegion().isEmpty()  # behind the images of the cluster
    history.trigger()
    desk.until(lambda: not docks["history"].visibleRegion().isEmpty())
    assert history.isChecked()
    history.trigger()
    desk.until(docks["history"].isHidden)
    assert not history.isChecked()
    desk.until(lambda: docks["cluster"].titleBarWidget() is None)  # no tab is left that would name it


def test_the_proposed_export_folder_is_there(desk, project, tmp_path):
    desk.program.settings.change(last_folder=str(tmp_path / "gone"))
    desk.open(project)
    desk.trigger("project.export")
    dialog = desk.dialog(ExportDialog)
    assert Path(dialog.path.text()).parent.is_dir()
    dialog.close()


def test_a_shown_cluster_is_followed_through_merges(desk, project):
    desk.open(project)
    desk.until(lambda: desk.program.label.ready)
    item = desk.program.label.question.left
    desk.program.panels.show_cluster(int(desk.program.bridge.state.labels[item]))
    followed = desk.program.clusters.members[0]
    while desk.program.bridge.phase != "finished":
        desk.answer()
    labels = desk.program.bridge.state.labels
    assert list(desk.program.clusters.members) == [i for i in range(36) if labels[i] == labels[followed]]
    assert desk.program.bridge.state.question is None
    assert desk.window.dock("map").isVisible()


def test_the_arrangement_comes_back(start, project):
    first = start()
    first.open(project)
    first.window.resize(900, 640)
    first.trigger("panel.map")
    assert not first.window.dock("map").isVisible()
    first.window.close()
    first.program.shutdown()
    second = start()
    assert second.window.size().height() == 640
    second.open(project)
    assert not second.window.dock("map").isVisible()
    assert second.window.dock("history").toggleViewAction().isChecked()
    assert not second.program.shortcuts.action("panel.map").isChecked()
    second.trigger("panel.map")
    assert second.window.dock("map").isVisible()


def test_on_a_small_screen_the_pair_comes_first(start, project, monkeypatch):
    monkeypatch.setattr(main_window, "ROOM_FOR_PANELS", 10_000)
    desk = start()
    desk.open(project)
    assert not any(desk.window.dock(name).isVisible() for name in ("map", "cluster", "history", "progress"))
    desk.trigger("panel.map")
    assert desk.window.dock("map").isVisible()


def test_spoilt_window_state_is_no_obstacle(start, settings):
    settings.change(window_geometry="!!", window_state="AAAA")
    assert start().window.isVisible()


def test_a_project_in_use_is_offered_read_only(desk, project, qtbot):
    holder = open_workspace(project)
    try:
        desk.program.shell.open_project(project)
        dialog = desk.dialog()
        assert desk.page() is desk.program.pages.start
        qtbot.mouseClick(dialog.buttons["read"], Qt.MouseButton.LeftButton)
        desk.until(lambda: desk.page() is desk.program.pages.label)
        assert desk.program.bridge.state.read_only
        assert desk.window.read_only_label.isVisible()
        assert not desk.program.shortcuts.action("edit.undo").isEnabled()
    finally:
        holder.close()


def test_a_missing_recent_project_can_be_taken_off_the_list(desk, settings, tmp_path, qtbot):
    gone = tmp_path / "gone"
    settings.replace(settings.value.with_recent(gone))
    desk.program.shell.show_start()
    model = desk.program.pages.start.model
    desk.until(lambda: "not found" in (model.index(0).data(Qt.ItemDataRole.ToolTipRole) or ""))
    desk.program.shell.open_project(gone)
    dialog = desk.dialog()
    assert "gone" in dialog.message.text()
    qtbot.mouseClick(dialog.buttons["forget"], Qt.MouseButton.LeftButton)
    assert settings.value.recent == ()
    assert model.rowCount() == 0


def fill_form(desk: Desk, project: Path, tmp_path: Path) -> None:
    desk.trigger("project.new")
    page = desk.program.pages.new
    items = open_workspace(project, read_only=True)
    page.images.set_path(items.items.root)
    items.close()
    page.features.add(str(project / "features-0.npy"))
    page.location.set_path(tmp_path)
    page.name.setText("fresh")
    desk.until(lambda: page.panel.headline.text() == "Everything fits")
    page.panel.confirm.click()


def test_a_new_project_is_made_and_opened(desk, project, tmp_path, qtbot):
    fill_form(desk, project, tmp_path)
    qtbot.mouseClick(desk.program.pages.new.create_button, Qt.MouseButton.LeftButton)
    assert desk.page() is desk.program.pages.progress
    desk.until(lambda: desk.page() is desk.program.pages.label)
    assert desk.program.bridge.project.name == "fresh"
    desk.until(lambda: desk.program.label.ready)


def test_cancel_returns_to_the_form_with_nothing_half_made(desk, project, tmp_path, qtbot):
    fill_form(desk, project, tmp_path)
    qtbot.mouseClick(desk.program.pages.new.create_button, Qt.MouseButton.LeftButton)
    desk.program.pages.progress.cancel_button.click()
    desk.until(lambda: desk.page() is desk.program.pages.new)
    assert not (tmp_path / "fresh").exists()
    assert desk.program.pages.new.name.text() == "fresh"
    desk.until(lambda: desk.program.pages.new.panel.headline.text() == "Everything fits")


def test_closing_while_a_project_is_made_asks_and_leaves_nothing(desk, project, tmp_path, qtbot):
    fill_form(desk, project, tmp_path)
    qtbot.mouseClick(desk.program.pages.new.create_button, Qt.MouseButton.LeftButton)
    desk.window.close()
    assert desk.window.isVisible()
    dialog = desk.dialog()
    assert "still being made" in dialog.message.text()
    if desk.program.creator.creating:
        qtbot.mouseClick(dialog.buttons["quit"], Qt.MouseButton.LeftButton)
        desk.until(lambda: not desk.window.isVisible())
        desk.program.shutdown()
        assert not (tmp_path / "fresh").exists() or (tmp_path / "fresh" / "project.json").exists()


def test_closing_right_after_an_answer_keeps_it(desk, project):
    desk.open(project)
    desk.until(lambda: desk.program.label.ready)
    question = desk.program.label.question
    desk.program.bridge.answer(question.id, Answer.DIFFERENT)
    desk.window.close()
    desk.program.shutdown()
    session, _ = open_session(project)
    assert [(e.left, e.right, e.answer) for e in session.history()] == [
        (question.left, question.right, Answer.DIFFERENT)
    ]
    session.close()


def test_export_asks_before_it_replaces(desk, project, tmp_path, qtbot):
    desk.open(project)
    target = tmp_path / "groups.csv"
    target.write_text("precious")
    desk.trigger("project.export")
    dialog = desk.dialog(ExportDialog)
    dialog.path.setText(str(target))
    qtbot.mouseClick(dialog.export_button, Qt.MouseButton.LeftButton)
    question = desk.dialog(MessageDialog)
    assert "exists already" in question.message.text()
    qtbot.keyClick(question, Qt.Key.Key_Return)  # the default keeps it
    assert target.read_text() == "precious"
    desk.trigger("project.export")
    dialog = desk.dialog(ExportDialog)
    dialog.path.setText(str(target))
    qtbot.mouseClick(dialog.export_button, Qt.MouseButton.LeftButton)
    question = desk.dialog(MessageDialog)
    with qtbot.waitSignal(desk.program.export_flow.exported):
        qtbot.mouseClick(question.buttons["replace"], Qt.MouseButton.LeftButton)
    with target.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["cluster"]) for row in rows] == desk.program.bridge.state.labels.tolist()


def test_an_export_that_fails_says_why(desk, project, tmp_path, qtbot):
    desk.open(project)
    desk.program.export_flow.start(ExportRequest("csv", tmp_path / "no such folder" / "x.csv"))
    dialog = desk.dialog()
    assert "x.csv" in dialog.message.text()
    assert dialog.hint.text()
    dialog.close()
    desk.answer()  # and everything goes on


def test_themes(desk, settings):
    app = QApplication.instance()
    try:
        desk.trigger("theme.dark")
        assert settings.value.theme == "dark"
        assert app.palette().color(QPalette.ColorRole.Window).lightness() < 60
        desk.trigger("theme.light")
        assert app.palette().color(QPalette.ColorRole.Window).lightness() > 200
        assert desk.program.shortcuts.action("theme.light").isChecked()
        assert not desk.program.shortcuts.action("theme.dark").isChecked()
    finally:
        apply_theme(app, "light")


def test_a_new_look_is_painted_in_a_turn_of_its_own(desk, qtbot):
    window = desk.program.window
    for action in ("theme.dark", "window.text_larger", "window.text_smaller", "theme.light"):
        desk.trigger(action)
        assert not window.updatesEnabled()
        qtbot.waitUntil(window.updatesEnabled)


def test_a_bug_is_told_once_and_the_window_lives_on(desk, project, qtbot):
    crash = describe_crash(ValueError, ValueError("a bug"), None)
    desk.program.crashes.report(crash)
    desk.program.crashes.report(crash)
    dialog = desk.dialog()
    assert len([w for w in QApplication.topLevelWidgets() if isinstance(w, MessageDialog) and w.isVisible()]) == 1
    qtbot.mouseClick(dialog.buttons["close"], Qt.MouseButton.LeftButton)
    desk.open(project)
    desk.answer()


def test_opening_another_project_closes_the_first(desk, project, original):
    desk.open(project)
    desk.program.shell.open_project(original, read_only=True)
    desk.until(lambda: desk.program.bridge.project is not None and desk.program.bridge.project.folder == original)
    open_workspace(project).close()


def test_the_demo_is_made_with_progress_and_opened(desk, qtbot):
    stages = []
    desk.program.creator.progressed.connect(lambda progress: stages.append(progress.stage))
    desk.program.pages.start.demo_buttons["digits"].click()
    assert desk.page() is desk.program.pages.progress
    desk.until(lambda: desk.page() is desk.program.pages.label, timeout=90_000)
    assert len(set(stages)) > 3
    assert len(desk.program.bridge.items) == 1_797


def test_a_closed_project_leaves_no_engine_behind(desk, project):
    """Nothing collects what is in reference cycles of large data: a second project would need the memory twice."""
    desk.program.garbage.stop()  # what is frozen would not be listed
    before = {id(one) for one in gc.get_objects() if isinstance(one, Engine)}
    gc.disable()
    try:
        desk.open(project)
        for _ in range(3):
            desk.answer()
        desk.program.clusters_desk.show_clusters()
        desk.program.clusters_desk.show_pair()
        desk.until(lambda: desk.program.label.ready)
        alive = [weakref.ref(one) for one in gc.get_objects() if isinstance(one, Engine) and id(one) not in before]
        assert alive
        desk.trigger("project.close")
        desk.until(lambda: desk.program.bridge.project is None)
        desk.until(lambda: all(one() is None for one in alive))
    finally:
        gc.enable()
