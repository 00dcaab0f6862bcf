"""The bars of the pair page where there is little room."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from a3s_desktop.settings import SettingsStore
from a3s_desktop.ui.label_bars import AnswerBar
from a3s_desktop.ui.label_parts import AnswerButton, Legend
from a3s_desktop.ui.shortcuts import Shortcuts
from a3s_desktop.ui.theme import ICON, apply_theme, scaled_font


@pytest.fixture(params=[100, 150])
def text_size(qtbot: QtBot, request: pytest.FixtureRequest) -> Iterator[int]:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    apply_theme(app, "light", request.param)
    yield request.param
    apply_theme(app, "light", 100)


def test_no_word_of_an_answer_is_cut_at_the_least_width(qtbot: QtBot, text_size: int) -> None:
    bar = AnswerBar(Shortcuts(SettingsStore(None)))
    qtbot.addWidget(bar)
    bar.show_tools(True, True)
    bar.resize(bar.minimumSizeHint().width(), 200)
    bar.show()
    buttons = [button for button in bar.findChildren(AnswerButton) if button.isVisible()]
    assert [button.text() for button in buttons if button.text()] == ["Same", "Skip", "Different"]
    metrics = QFontMetrics(scaled_font("base", bold=True))
    for button in buttons:
        assert button.geometry().right() <= bar.width()
        assert button.width() >= ICON + metrics.horizontalAdvance(button.text())
        assert button.toolTip()


def test_a_legend_of_one_row_keeps_its_order_and_its_last_entry(qtbot: QtBot) -> None:
    legend = Legend()
    qtbot.addWidget(legend)
    entries = [((key,), f"does {key}" * (4 if key == "C" else 1)) for key in "ABCDEF"]
    legend.set_entries(entries)
    legend.resize(300, 30)
    assert legend.heightForWidth(300) > legend.minimumSizeHint().height()
    legend.set_limit(1)
    assert legend.heightForWidth(300) == legend.minimumSizeHint().height()
    shown = [keys[0] for keys, _text, place in legend._layout(300) if place.right() <= 300]
    assert shown == ["A", "B", "F"]
    assert legend.entries == entries
    assert "does E" in legend.accessibleDescription()
