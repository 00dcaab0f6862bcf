"""Form fields hold paths as they were given, from typing, dialogs and drops."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent

from a3s_desktop.ui.fields import PathField, PathList
from a3s_desktop.ui.new_project import folder_name


def drop(widget, *paths: Path) -> None:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    widget.dropEvent(
        QDropEvent(
            QPointF(1, 1), Qt.DropAction.CopyAction, mime, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        )
    )


def test_a_path_may_be_quoted_padded_or_empty(qtbot):
    field = PathField("Image folder", folder=True)
    qtbot.addWidget(field)
    assert field.path() is None
    field.set_path('  "/data/my seals"  ')
    assert field.path() == Path("/data/my seals")
    field.set_path(None)
    assert field.path() is None


def test_one_file_can_be_dropped_on_a_field_many_on_a_list(qtbot, tmp_path):
    field, several = PathField("Image folder"), PathList("Features", "*")
    qtbot.addWidget(field)
    qtbot.addWidget(several)
    with qtbot.waitSignal(field.changed):
        drop(field, tmp_path / "Ünïcode 🦭")
    assert field.path() == tmp_path / "Ünïcode 🦭"
    drop(several, tmp_path / "a.npy", tmp_path / "b.npy", tmp_path / "a.npy")
    assert several.paths() == (tmp_path / "a.npy", tmp_path / "b.npy")


def test_files_can_be_taken_off_the_list(qtbot, tmp_path):
    several = PathList("Features", "*")
    qtbot.addWidget(several)
    several.add("/a.npy", "/b.npy")
    assert not several.remove_button.isEnabled()
    several.list.setCurrentRow(0)
    with qtbot.waitSignal(several.changed):
        several.remove_button.click()
    assert several.paths() == (Path("/b.npy"),)


def test_a_name_becomes_a_folder_name_of_every_file_system():
    assert folder_name("Ringed seals") == "Ringed seals"
    assert folder_name(' a/b\\c:"d"? ') == "a b c d"
    assert folder_name("con") == "_con"
    assert folder_name("...") == ""
    assert folder_name("x" * 300 + ".") == "x" * 100
    assert folder_name("🦭 Ünï") == "🦭 Ünï"
