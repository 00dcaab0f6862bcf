"""Guards of the PySide6 pin: releases exist that abort the program after a few thousand calls."""

from __future__ import annotations

import sys

import pytest
from PySide6.QtCore import qVersion
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot


def test_void_calls_keep_the_references_to_none(qtbot: QtBot) -> None:
    """PySide6 6.12.0 loses one reference to None on each void call before Python 3.12 and aborts after about 5,000."""
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.update()
    before = sys.getrefcount(None)
    for _ in range(500):
        widget.update()
    assert sys.getrefcount(None) > before - 50


@pytest.mark.parametrize("bad", ["6.11.0", "6.11.1"])
def test_releases_with_broken_docks_are_not_used(bad: str) -> None:
    assert qVersion() != bad
