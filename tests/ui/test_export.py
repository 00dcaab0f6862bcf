"""Export and known names through the window: what is asked, what is written, what may be stopped."""

from __future__ import annotations

import csv
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl

from a3s_desktop.errors import Cancelled
from a3s_desktop.session.operations import Merge
from a3s_desktop.settings import SettingsStore
from a3s_desktop.storage.exports.formats import FORMATS
from a3s_desktop.storage.exports.state import ExportOptions, How, Written
from a3s_desktop.ui import export_flow
from a3s_desktop.ui.dialogs import MessageDialog
from a3s_desktop.ui.export_dialog import ExportDialog, ExportRequest
from a3s_desktop.ui.labels_dialog import LabelsDialog
from a3s_desktop.ui.program import Program
from tests.ui.pair_project import make_project


@pytest.fixture(scope="module")
def original(tmp_path_factory) -> Path:
    return make_project(tmp_path_factory.mktemp("export"))


@pytest.fixture
def program(qtbot, original, tmp_path) -> Iterator[Program]:
    """The program with a project open."""
    program = Program(SettingsStore(None), tmp_path / "demos")
    program.settings.change(last_folder=str(tmp_path))
    shutil.copytree(original, tmp_path / "seals")
    with qtbot.waitActive(program.window):
        program.show()
    program.shell.open_project(tmp_path / "seals", False)
    qtbot.waitUntil(lambda: program.label.ready, timeout=20_000)
    yield program
    program.shutdown()
    qtbot.wait(1)


def opened(qtbot, tmp_path) -> ExportDialog:
    dialog = ExportDialog(None, "Seals v1.2", tmp_path, "240 images", tmp_path / "images")
    qtbot.addWidget(dialog)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    dialog.open()
    return dialog


def test_the_target_follows_the_format_until_it_was_typed(qtbot, tmp_path):
    dialog = opened(qtbot, tmp_path)
    assert dialog.path.text() == str(tmp_path / "Seals v1.2.csv")
    dialog.choose("json")
    assert dialog.path.text() == str(tmp_path / "Seals v1.2.json")
    dialog.choose("sidecars")
    assert dialog.path.text() == str(tmp_path / "images")
    dialog.choose("folders")
    assert dialog.path.text() == str(tmp_path / "Seals v1.2 clusters")
    dialog.path.setText(str(tmp_path / "mine.csv"))
    dialog.choose("report")
    assert dialog.path.text() == str(tmp_path / "mine.html")
    dialog.path.setText(str(tmp_path / "own.name"))
    dialog.choose("csv")
    assert dialog.path.text() == str(tmp_path / "own.name")
    dialog.path.setText("relative.csv")
    assert not dialog.export_button.isEnabled()


def test_options_are_those_of_the_format(qtbot, tmp_path):
    dialog = opened(qtbot, tmp_path)
    for one in FORMATS:
        dialog.choose(one.id)
        assert dialog.text.text()
        assert dialog.path.accessibleName() == dialog.target.text()
        assert dialog.how[How.COPY].isVisible() == ("how" in one.options)
        assert dialog.junk.isVisible() == ("junk" in one.options)
        assert dialog.merge.isVisible() == ("merge" in one.options)
    dialog.choose("folders")
    dialog.how[How.SYMLINK].click()
    dialog.junk.click()
    dialog.singles.click()
    with qtbot.waitSignal(dialog.requested) as caught:
        qtbot.mouseClick(dialog.export_button, Qt.MouseButton.LeftButton)
    options = ExportOptions(How.SYMLINK, True, singles=False, junk=True)
    assert caught.args == [ExportRequest("folders", tmp_path / "Seals v1.2 clusters", options)]


def test_arrows_choose_and_return_exports(qtbot, tmp_path):
    dialog = opened(qtbot, tmp_path)
    qtbot.waitUntil(dialog.list.hasFocus)
    qtbot.keyClick(dialog.list, Qt.Key.Key_Down)
    assert dialog.kind == "json"
    dialog.path.setFocus()
    with qtbot.waitSignal(dialog.requested) as caught:
        qtbot.keyClick(dialog.path, Qt.Key.Key_Return)
    assert caught.args[0].format == "json"


def test_folders_are_written_and_can_be_shown(program, qtbot, tmp_path, dialog):
    shown: list[QUrl] = []
    program.export_flow._open_folder = shown.append
    action = program.shortcuts.action("project.show_export")
    assert not action.isEnabled()
    program.shortcuts.action("project.export").trigger()
    form = dialog(ExportDialog)
    form.choose("folders")
    target = tmp_path / "groups"
    form.path.setText(str(target))
    with qtbot.waitSignal(program.export_flow.exported, timeout=20_000):
        qtbot.mouseClick(form.export_button, Qt.MouseButton.LeftButton)
    assert len(list(target.rglob("*.jpg"))) == 36
    assert program.export_flow.show_button.isVisible()
    action.trigger()
    assert [url.toLocalFile() for url in shown] == [str(target)]


def test_side_cars_that_are_there_are_asked_about(program, qtbot, tmp_path, dialog):
    from a3s_desktop.session.operations import Rename

    with qtbot.waitSignal(program.bridge.stateChanged):
        program.bridge.perform(Rename(int(program.bridge.state.labels[0]), "Anna"))
    flow = program.export_flow
    request = ExportRequest("sidecars", tmp_path)
    with qtbot.waitSignal(flow.exported, timeout=20_000):
        flow.start(request)
    flow.start(request)
    question = dialog(MessageDialog)
    assert "there already" in question.message.text()
    with qtbot.waitSignal(flow.exported, timeout=20_000):
        qtbot.mouseClick(question.buttons["replace"], Qt.MouseButton.LeftButton)


def test_a_long_export_is_shown_can_be_stopped_and_blocks_no_answer(program, qtbot, tmp_path, monkeypatch):
    started, stopped = threading.Event(), threading.Event()

    def slow(name, state, out, overwrite, options, task) -> Written:
        task.plan(1)
        task.stage("Copying the images")
        started.set()
        try:
            while True:
                task.step(0.5)
                stopped.wait(0.01)
        except Cancelled:
            stopped.set()
            raise

    monkeypatch.setattr(export_flow, "write_export", slow)
    flow = program.export_flow
    flow.start(ExportRequest("folders", tmp_path / "x"))
    qtbot.waitUntil(lambda: started.is_set() and flow.progress.isVisible(), timeout=20_000)
    program.window.activateWindow()
    qtbot.waitUntil(lambda: program.label.ready and program.window.isActiveWindow())
    answers = program.bridge.state.answers
    qtbot.keyClick(program.window, Qt.Key.Key_F)
    qtbot.waitUntil(lambda: program.bridge.state.answers == answers + 1, timeout=20_000)
    qtbot.mouseClick(flow.progress.cancel_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not flow.progress.isVisible(), timeout=20_000)
    assert stopped.is_set()
    assert "stopped" in program.window.statusBar().currentMessage()


def test_what_is_exported_is_what_the_screen_showed(program, qtbot, tmp_path):
    labels = program.bridge.state.labels
    with qtbot.waitSignal(program.export_flow.exported, timeout=20_000):
        program.export_flow.start(ExportRequest("csv", tmp_path / "x.csv"))
    with open(tmp_path / "x.csv", encoding="utf-8", newline="") as file:
        assert [int(row["cluster"]) for row in csv.DictReader(file)] == labels.tolist()


def test_images_that_were_left_out_are_listed(program, qtbot, tmp_path):
    (Path(program.bridge.items.root) / "0-0.jpg").rename(tmp_path / "away.jpg")
    try:
        with qtbot.waitSignal(program.export_flow.exported, timeout=20_000):
            program.export_flow.start(ExportRequest("folders", tmp_path / "x"))
        progress = program.export_flow.progress
        assert progress.isVisible()
        assert progress.list.item(0).text().startswith("0-0.jpg: ")
        progress.close()
    finally:
        (tmp_path / "away.jpg").rename(Path(program.bridge.items.root) / "0-0.jpg")


def test_known_names_are_looked_at_before_they_are_taken_over(program, qtbot, tmp_path, dialog):
    table = tmp_path / "names.csv"
    table.write_text("file,label\n0-0.jpg,Anna\n0-1.jpg,Anna\n1-0.jpg,Bert\n<b>x</b>.jpg,Cleo\n", encoding="utf-8")
    program.labels_flow.read(str(table))
    form = dialog(LabelsDialog)
    assert "3 images in 2 groups" in form.summary.text()
    assert "<b>x</b>.jpg" in form.list.item(0).text()
    assert program.bridge.state.names == {}
    with qtbot.waitSignal(program.bridge.stateChanged, timeout=20_000):
        qtbot.mouseClick(form.take_button, Qt.MouseButton.LeftButton)
    state = program.bridge.state
    assert sorted(state.names.values()) == ["Anna", "Bert"]
    assert state.undo_text == "Known names of 3 images"
    index = {path: at for at, path in enumerate(program.bridge.items.paths)}
    anna, bert = int(state.labels[index["0-0.jpg"]]), int(state.labels[index["1-0.jpg"]])
    program.bridge.perform(Merge(anna, bert))
    question = dialog(MessageDialog)
    assert "Bert" in question.message.text()
    with qtbot.waitSignal(program.bridge.stateChanged, timeout=20_000):
        qtbot.mouseClick(question.buttons["merge"], Qt.MouseButton.LeftButton)
    assert len(program.bridge.state.names) == 1


def test_names_are_read_from_the_photos_too(program, qtbot, dialog):
    beside = Path(program.bridge.items.root) / "1-1.jpg.xmp"
    program.shortcuts.action("project.labels").trigger()
    dialog(MessageDialog).buttons["photos"].click()
    message = dialog(MessageDialog)
    assert "No photo names a person." in message.message.text()
    message.close()
    beside.write_text(
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        "<r:Description "
        'xmlns:e="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"><e:PersonInImage><r:Bag><r:li>Dora</r:li></r:Bag>'
        "</e:PersonInImage></r:Description></r:RDF></x:xmpmeta>"
    )
    try:
        program.shortcuts.action("project.labels").trigger()
        dialog(MessageDialog).buttons["photos"].click()
        form = dialog(LabelsDialog)
        assert "1 image in 1 group" in form.summary.text()
        with qtbot.waitSignal(program.bridge.stateChanged, timeout=20_000):
            qtbot.mouseClick(form.take_button, Qt.MouseButton.LeftButton)
        assert "Dora" in program.bridge.state.names.values()
    finally:
        beside.unlink()


def test_a_file_without_names_says_so(program, tmp_path, dialog):
    (tmp_path / "x.csv").write_text("a,b\n", encoding="utf-8")
    program.labels_flow.read(str(tmp_path / "gone.csv"))
    message = dialog(MessageDialog)
    assert "gone.csv" in message.message.text()
    message.close()
