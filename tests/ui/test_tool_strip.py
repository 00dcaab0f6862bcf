"""The tools beside the images: as many as fit, the others one click away."""

from __future__ import annotations

import itertools

import pytest
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from a3s_desktop.settings import SettingsStore
from a3s_desktop.ui.label_parts import ToolIcon
from a3s_desktop.ui.shortcuts import Shortcuts
from a3s_desktop.ui.tool_strip import TOOLS, ToolStrip


@pytest.mark.parametrize("height", [80, 200, 330, 420, 700])
def test_no_tool_is_lost_at_any_height(qtbot: QtBot, height: int) -> None:
    shortcuts = Shortcuts(SettingsStore())
    strip = ToolStrip(shortcuts)
    shortcuts.setParent(strip)
    qtbot.addWidget(strip)
    strip.resize(strip.width(), height)
    with qtbot.waitExposed(strip):
        strip.show()
    buttons = [button for button in strip.findChildren(ToolIcon) if button.isVisible()]
    rows = sorted((button.y(), button.y() + button.height()) for button in buttons)
    assert rows[-1][1] <= height
    assert all(first[1] <= second[0] for first, second in itertools.pairwise(rows))
    names = [button.action.objectName() for button in buttons if button.action.objectName()]
    more = next((button for button in buttons if not button.action.objectName()), None)
    hidden = []
    if more is not None:
        more.action.trigger()
        menu = strip.findChild(QMenu)
        hidden = [action.objectName() for action in menu.actions()]
        menu.close()
    assert [*names, *hidden] == [name for name in TOOLS if name]
    assert bool(hidden) == (height < strip.sizeHint().height())
